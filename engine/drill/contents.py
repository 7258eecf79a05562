"""What a scenario holds, in figures and names, for somebody who does not know its author: looked at before it runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass

from engine.drill.schema import Scenario
from engine.inputs import parse_line, parse_script


@dataclass(frozen=True, slots=True)
class Contents:
    """Nothing in here has run; all texts are plain, with invisible characters refused by the loader."""

    name: str
    title: str
    authors: tuple[str, ...]
    """The papers it is drawn from: a file has no other author. Unverified, as anybody may write anything there."""
    sha256: str
    """Of the file's text; the same as is kept with each run of it."""
    characters: int
    counts: tuple[tuple[str, int], ...]
    """Tables of the file and how many of each, those that are there."""
    verbs: tuple[tuple[str, int], ...]
    """What the scenario itself does, on the timeline and before the start, and how often; most often first."""
    length_s: float | None
    """None: until somebody ends it."""


def contents(scenario: Scenario) -> Contents:
    """The contents of a scenario that has been loaded (its lines are known to be understood)."""
    deeds = [inject.do for inject in scenario.timeline]
    verbs = Counter(_verb(line) for line in (*deeds, *(preparation.do for preparation in scenario.before)))
    tables = {
        "servers": len(scenario.servers),
        "databases": sum(database.count for database in scenario.databases),
        "clients": len(scenario.clients),
        "timeline": len(scenario.timeline),
        "goals": len(scenario.goals),
        "forbidden states": len(scenario.forbidden),
        "questions": len(scenario.inquiries),
        "hints": len(scenario.hints),
        "steps of the solution": len(scenario.solution),
        "rules of the score": len(scenario.rubric),
    }
    return Contents(
        name=scenario.name,
        title=scenario.title,
        authors=tuple(f"{source.paper}, {source.section}" for source in scenario.sources),
        sha256=hashlib.sha256(scenario.text.encode()).hexdigest(),
        characters=len(scenario.text),
        counts=tuple((what, count) for what, count in tables.items() if count),
        verbs=tuple(sorted(verbs.items(), key=lambda pair: (-pair[1], pair[0]))),
        length_s=scenario.length,
    )


def _verb(line: str) -> str:
    """The verb of a line with or without its time."""
    inputs, problems = parse_script(line)
    return inputs[0].verb if inputs and not problems else parse_line(line).verb
