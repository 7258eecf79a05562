"""Marker type for keyword arguments that are fields of a struct."""

from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class FieldOf(Generic[Owner]):
    """Type of a keyword argument that is a field of *Owner*.

    A mypy plugin checks the name and type of the field.
    """
