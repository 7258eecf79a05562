"""Function that runs a generator of work steps to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Done = TypeVar("Done")
Rest = TypeVar("Rest")


def run_to_completion(steps: Generator[Rest, None, Done]) -> Done:
    """Run all *steps* without a pause and return their result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Done = end.value
            return found
