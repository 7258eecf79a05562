"""Function that runs a generator of work steps to its end, without pauses between the steps."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Item = TypeVar("Item")


def run_to_completion(steps: Generator[Item, None, Result]) -> Result:
    """Run all *steps* without pauses, and return the result of the generator."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
