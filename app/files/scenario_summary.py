"""Summary of a scenario for lists, and reading of the cache file next to the profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.files.folders import is_special_file
from app.files.learning_paths import MIRRORING, load_learning_paths
from app.words.language import mark
from engine.json_text import parse_json

CACHE_FILE_NAME: Final = "summaries.json"
CACHE_BYTES_MAX: Final = 20_000_000
"""Maximum size of the cache file in bytes. A larger file was not written by this program."""

DIFFICULTY_LEVELS: Final = (mark("beginner"), mark("intermediate"), mark("advanced"), mark("expert"))


@dataclass(frozen=True, slots=True)
class ScenarioSummary:
    """Facts about a scenario that are known without playing it."""

    name: str
    title: str
    summary: str
    level: str
    minutes: int
    skills: tuple[str, ...]
    brief: str
    sources: tuple[str, ...]
    scored: bool
    shipped: bool
    origin: str = ""
    """Title of the bundle that contains the scenario; empty for shipped scenarios and the user's scenarios."""
    technology: str = MIRRORING
    """Technology of the scenario, as `find_technology` returns it."""
    version: str = ""
    """Newest SQL Server version of the scenario's instances, as a year."""
    words: str = ""
    """Distinct lowercase words of brief, goals, questions, hints and accepted commands, used by the search."""


def get_sort_key(summary: ScenarioSummary) -> tuple[bool, int, int, str]:
    """Return the sort key of a scenario list: free play first, then level, minutes and title."""
    return summary.scored, DIFFICULTY_LEVELS.index(summary.level), summary.minutes, summary.title


_FIELD_TYPES: Final = {
    "name": str, "title": str, "summary": str, "level": str, "minutes": int, "skills": list, "brief": str,
    "sources": list, "scored": bool, "shipped": bool, "origin": str, "technology": str, "version": str,
    "words": str,
}  # fmt: skip
"""Field of an entry in the cache file -> its type. A validation library would delay the start."""


def load_summaries(folder: Path) -> dict[str, ScenarioSummary]:
    """Return cache key -> summary from the cache file in *folder*; empty if the file is invalid."""
    if is_special_file(folder / CACHE_FILE_NAME):
        return {}
    try:
        with (folder / CACHE_FILE_NAME).open("rb") as file:
            document = parse_json(file.read(CACHE_BYTES_MAX))
        return {key: _read_summary(entry) for key, entry in document.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _read_summary(entry: Mapping[str, Any]) -> ScenarioSummary:
    """Convert an entry of the cache file to a summary. Raises ValueError for an invalid entry."""
    if {name: type(value) for name, value in entry.items()} != _FIELD_TYPES:
        raise ValueError("not a summary")
    words = (*entry["skills"], *entry["sources"])
    if entry["technology"] not in load_learning_paths():
        raise ValueError("not a summary")
    if entry["level"] not in DIFFICULTY_LEVELS or any(type(word) is not str for word in words):
        raise ValueError("not a summary")
    return ScenarioSummary(**{**entry, "skills": tuple(entry["skills"]), "sources": tuple(entry["sources"])})
