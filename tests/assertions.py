"""Assertions that narrow the type of a value."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


def require(value: Found | None) -> Found:
    """Return *value*; fail the test if it is None."""
    assert value is not None
    return value
