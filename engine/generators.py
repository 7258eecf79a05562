"""Run work that is divided into steps to its end at once."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Done = TypeVar("Done")
Rest = TypeVar("Rest")


def run_to_completion(steps: Generator[Rest, None, Done]) -> Done:
    """Return the result of *steps*, run without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Done = end.value
            return found
