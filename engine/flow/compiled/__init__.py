"""Entry points of the flow's step.

They run in C from a prebuilt or locally compiled library, otherwise in plain Python. Both run the code of
`kernel.py` and give the same bits. The first call of an entry point loads the library, so a program that runs
no flow does not load it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.flow.compiled.loader import Kernel, KernelFunction

ENTRY_POINTS: Final = ("advance", "note_crossings", "stream_crossings", "read_source", "read_stream")
"""Names of the functions of `kernel.py` that Python calls."""

advance: Callable[..., int]
note_crossings: Callable[..., bool]
stream_crossings: Callable[..., int]
read_source: Callable[..., None]
read_stream: Callable[..., None]


_kernel: Kernel | None = None
report_fallback: Callable[[str], None] | None = None
"""Callback that receives the reason when plain Python is used because no library works. None: no report."""


def load_kernel() -> Kernel:
    """Return the kernel functions in use, compiled or in plain Python. The first call loads them."""
    global _kernel
    if _kernel is None:
        from engine.flow.compiled.loader import load_functions

        _kernel = load_functions(ENTRY_POINTS)
        globals().update(_kernel.functions)
        if _kernel.reason and report_fallback is not None:
            report_fallback(_kernel.reason)
    return _kernel


def __getattr__(name: str) -> KernelFunction:
    if name not in ENTRY_POINTS:
        raise AttributeError(name)
    return load_kernel().functions[name]
