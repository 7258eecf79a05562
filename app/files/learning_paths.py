"""Six learning paths with their drills in teaching order, and the technology of every drill. Without Qt."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from app.words.language import mark

if TYPE_CHECKING:
    from engine.drill.authoring.scenario import Scenario

PATHS_FILE: Final = "learning_paths.toml"

PATH_TITLES: Final = (
    mark("Mirroring"),
    mark("Availability groups"),
    mark("Failover clusters"),
    mark("Applications and clients"),
    mark("Restore and disaster recovery"),
    mark("Teams"),
)
"""Titles of the learning paths, repeated from the file of paths so that translators find them."""

MIRRORING: Final = "mirroring"


class LearningPath(Struct, frozen=True):
    """Learning path of the start page."""

    key: str
    """Technology of the drills in the path, as reports name it."""
    title: str
    """Title in English, translated for display."""
    drills: tuple[str, ...]
    """Names of the shipped drills, in teaching order."""


@lru_cache(maxsize=1)
def load_learning_paths() -> dict[str, LearningPath]:
    """Return the paths by key, in the order of the start page."""
    text = resources.files("engine.drill.judging").joinpath(PATHS_FILE).read_text(encoding="utf-8")
    return {
        key: LearningPath(key, table["title"], tuple(table["drills"]))
        for key, table in tomllib.loads(text).items()
    }


@lru_cache(maxsize=1)
def _list_positions() -> dict[str, tuple[str, int]]:
    """Return the path key and the position in the path, from 1, of each shipped drill."""
    return {
        name: (path.key, index)
        for path in load_learning_paths().values()
        for index, name in enumerate(path.drills, start=1)
    }


def get_position_in_path(drill: str) -> int:
    """Return the position of *drill* in its path, from 1. Drills without a path come after all others."""
    return _list_positions().get(drill, ("", len(_list_positions()) + 1))[1]


def find_technology(scenario: Scenario, shipped: bool) -> str:
    """Return the technology of a drill: the key of its learning path, such as mirroring, ag, fci or team.

    For a drill without a path, derive the technology from its contents.
    """
    if shipped and scenario.name in _list_positions():
        return _list_positions()[scenario.name][0]
    if scenario.team:
        return "team"
    if scenario.instances:
        return "fci"
    if scenario.groups or scenario.clusters:
        return "ag"
    return MIRRORING


def find_version(scenario: Scenario) -> str:
    """Return the newest SQL Server version of the instances, as a year."""
    years = [server.version for server in scenario.servers if server.sql]
    return str(max([*years, *(instance.version for instance in scenario.instances)]))
