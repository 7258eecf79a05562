"""Marker type for keyword arguments that are fields of a struct."""

from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class FieldOf(Generic[Owner]):
    """Value of a field of *Owner*, passed as a keyword argument. A mypy plugin checks the name and the type."""
