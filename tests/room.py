"""Memory of objects, counted: no clock, no allocator, the same figure on every machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

NOT_COUNTED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
"""The program itself."""


def room(roots: Iterable[Any], visited: set[int] | None = None) -> int:
    """Bytes of all that *roots* reach and that is not in *visited*, which has it afterwards."""
    visited = set() if visited is None else visited
    waiting, taken = list(roots), 0
    while waiting:
        one = waiting.pop()
        if id(one) in visited or isinstance(one, NOT_COUNTED):
            continue
        visited.add(id(one))
        taken += sys.getsizeof(one)
        waiting += gc.get_referents(one)
        if isinstance(one, np.ndarray) and one.base is not None:  # what it is a view of
            waiting.append(one.base)
    return taken
