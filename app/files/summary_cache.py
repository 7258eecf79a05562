"""Cache of scenario summaries, stored next to the profile. Parsing all scenarios would delay every start.

All contents of the cache can be computed again. If the file is missing or invalid, the program reads the
summaries in assets, and parses the other scenarios. `python -m tests.error_numbers --summaries` updates the
file in assets.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final

from app.files import atomic_write
from app.files.folders import make_file_private
from app.files.learning_paths import find_technology, find_version
from app.files.scenario_files import ScenarioFile
from app.files.scenario_summary import CACHE_FILE_NAME, ScenarioSummary, load_summaries
from app.words.language import tr
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report import get_program_version

_PUNCTUATION: Final = ".,;:!?()[]'\"`“”*"
"""Characters that are stripped from both ends of a word in the search index."""


def read_summaries(
    files: Iterable[ScenarioFile], folder: Path | None, memory_cache: dict[str, ScenarioSummary] | None = None
) -> tuple[list[ScenarioSummary], list[str]]:
    """Return a summary of each file, in order, and a message for each unplayable file.

    Summaries of known texts come from the cache file in *folder* and from *memory_cache*. New summaries are
    added to both. If *folder* or *memory_cache* is None, this cache is not used.
    """
    stored = load_summaries(folder) if folder is not None else {}
    summaries_by_file = {**(memory_cache or {}), **stored}
    version = get_program_version()
    summaries: dict[str, ScenarioSummary] = {}
    problems: list[str] = []
    keys = {compute_cache_key(file, version): file for file in files}
    if any(file.shipped and key not in summaries_by_file for key, file in keys.items()):
        summaries_by_file = {**load_summaries(Path(str(resources.files("assets")))), **summaries_by_file}
    for key, file in keys.items():
        try:
            summaries[key] = summaries_by_file.get(key) or build_summary(
                file.load(), file.shipped, file.origin
            )
        except ScenarioError as problem:
            problems.append(
                tr("{file} cannot be played: {why}").format(file=file.file, why=problem.problems[0])
            )
    if folder is not None and summaries != stored:
        _save_cache(summaries, folder)
    if memory_cache is not None:
        memory_cache.clear()
        memory_cache.update(summaries)
    return list(summaries.values()), problems


def build_summary(scenario: Scenario, shipped: bool, origin: str = "") -> ScenarioSummary:
    """Build the summary of a scenario for lists."""
    return ScenarioSummary(
        name=scenario.name,
        title=scenario.title,
        summary=scenario.summary,
        level=scenario.level,
        minutes=scenario.minutes,
        skills=scenario.skills,
        brief=scenario.brief,
        sources=tuple(f"{source.paper}: {source.section}" for source in scenario.sources),
        scored=scenario.scored,
        shipped=shipped,
        origin=origin,
        technology=find_technology(scenario, shipped),
        version=find_version(scenario),
        words=_list_search_words(scenario, shipped),
    )


@lru_cache(maxsize=1)
def read_error_numbers() -> dict[str, list[int]]:
    """Return the error numbers in the reference solution of each drill, by name of the drill.

    `python -m tests.error_numbers` generates the file.
    """
    text = resources.files("assets").joinpath("error_numbers.json").read_text(encoding="utf-8")
    numbers_by_drill: dict[str, list[int]] = json.loads(text)
    return numbers_by_drill


def _list_search_words(scenario: Scenario, shipped: bool) -> str:
    """Return the error numbers, and the distinct lowercase words of all texts that the drill search covers."""
    texts = [
        *(map(str, read_error_numbers().get(scenario.name, ())) if shipped else ()),
        scenario.brief,
        *(goal.text for goal in scenario.goals),
        *(text for inquiry in scenario.inquiries for text in (inquiry.text, *inquiry.texts)),
        *(text for hint in scenario.hints for text in (hint.look, hint.means, hint.type)),
        *(text for step in scenario.solution for text in (step.do, step.why)),
    ]
    words = (word.strip(_PUNCTUATION) for text in texts for word in text.lower().split())
    return " ".join(dict.fromkeys(word for word in words if len(word) > 1))


def compute_cache_key(file: ScenarioFile, version: str) -> str:
    """Return the cache key of a file. It depends on the file's text and name, and on the program version."""
    parts = (version, file.name, str(file.shipped), file.origin, file.text)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def format_cache(summaries_by_key: dict[str, ScenarioSummary]) -> str:
    """Return the text of a cache file, with one line for each scenario."""
    lines = (f"{json.dumps(key)}: {json.dumps(asdict(summary))}" for key, summary in summaries_by_key.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _save_cache(summaries_by_key: dict[str, ScenarioSummary], folder: Path) -> None:
    # on a full disk or in a read-only folder, the next start parses the scenarios again
    with suppress(OSError):
        atomic_write.write_atomically(folder / CACHE_FILE_NAME, format_cache(summaries_by_key))
        make_file_private(folder / CACHE_FILE_NAME)
