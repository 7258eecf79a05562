"""Marker type of keyword arguments that are fields of a struct."""

from __future__ import annotations

from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class FieldOf(Generic[Owner]):
    """Value of a field of *Owner*, as a keyword argument; a plugin of mypy checks its name and its type."""
