"""Course of groups and clusters: its parts and drills in order, and the subject of each drill. Without Qt."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

FILE: Final = "course.toml"


@dataclass(frozen=True, slots=True)
class Lesson:
    """Drill of the course."""

    place: int
    """Position from 1, through all parts."""
    part: int
    """Number of the part, from 1."""
    part_title: str
    """Title in English, translated for display."""
    drill: str
    teaches: str


@lru_cache(maxsize=1)
def lessons() -> dict[str, Lesson]:
    """Name of the drill -> its lesson, in the order of the course."""
    parts = tomllib.loads(resources.files("engine.drill.judging").joinpath(FILE).read_text(encoding="utf-8"))[
        "part"
    ]
    rows = [
        (number, part["title"], drill, teaches)
        for number, part in enumerate(parts, start=1)
        for drill, teaches in part["drills"]
    ]
    return {row[2]: Lesson(place, *row) for place, row in enumerate(rows, start=1)}


def get_position(drill: str) -> int:
    """Return the position of the drill in the course. Drills outside the course come after all others."""
    lesson = lessons().get(drill)
    return lesson.place if lesson is not None else len(lessons()) + 1
