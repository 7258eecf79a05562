"""Assertions that narrow a type."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar("Found")


def require(value: Found | None) -> Found:
    """Not None: else the test fails here."""
    assert value is not None
    return value
