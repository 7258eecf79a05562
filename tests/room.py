"""Memory use of objects by counting them, independent of clock, allocator and machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

UNCOUNTED_TYPES = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""Types of the program itself, whose objects are not counted."""


def measure_memory_bytes(roots: Iterable[Any], visited: set[int] | None = None) -> int:
    """Return the bytes of all objects that are reachable from *roots* and not in *visited*. Add them to
    *visited*.
    """
    visited = set() if visited is None else visited
    waiting, total_bytes = list(roots), 0
    while waiting:
        item = waiting.pop()
        if id(item) in visited or isinstance(item, UNCOUNTED_TYPES):
            continue
        visited.add(id(item))
        total_bytes += sys.getsizeof(item)
        waiting += gc.get_referents(item)
        if (
            isinstance(item, np.ndarray) and item.base is not None
        ):  # Count the array that the view belongs to.
            waiting.append(item.base)
    return total_bytes
