"""Summary of a scenario in figures and names, for users who do not know its author and inspect it before it runs."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from engine import arithmetic
from engine.drill.authoring.schema import BLANK_LETTERS, Scenario
from engine.verbs.lines import parse_line, parse_script

_IMAGE: Final = re.compile(r"!\[|<\s*+img\b|\bdata:image/", re.IGNORECASE)
_LINK: Final = re.compile(
    r"(?:(?<![a-z0-9+.-])[a-z0-9+.-]++://|\bwww\.|\bmailto:)[^\s<>\"')\]]++|\\\\\w[^\s\"']*", re.IGNORECASE
)
"""Addresses of the network, also as Windows writes a share."""
LINKS_MAX: Final = 20
"""Links that are shown one by one. Assumed: more are not read."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Contents:
    """Nothing in here has run; all texts are plain, with invisible characters refused by the loader."""

    name: str
    title: str
    author: str | None
    """Author that the file names. Unverified, because a file can contain any name."""
    sources: tuple[str, ...]
    """The papers that it names. Unverified as well."""
    sha256: str
    """Of the file's text; the same as is kept with each run of it."""
    characters: int
    counts: tuple[tuple[str, int], ...]
    """Tables of the file and how many of each, those that are there."""
    verbs: tuple[tuple[str, int], ...]
    """Verbs that the scenario itself applies, on the timeline and before the start, with their counts. The most
    frequent is first.
    """
    texts: tuple[tuple[str, int], ...]
    """Key of the file -> characters of the texts under it that are shown; the longest first."""
    images: int
    """Places that name a picture. A scenario can bring none along, and none is ever loaded."""
    links: tuple[str, ...]
    """Addresses that stand in its texts. They are shown as text and lead nowhere."""
    length_s: float | None
    """None: until the learner ends it."""


def contents(scenario: Scenario) -> Contents:
    """Return the contents of a loaded scenario, whose lines are valid."""
    deeds = [inject.do for inject in scenario.timeline]
    verbs = verbs_of((*deeds, *(preparation.do for preparation in scenario.before)))
    tables = {
        "servers": len(scenario.servers),
        "databases": arithmetic.total(database.count for database in scenario.databases),
        "clients": len(scenario.clients),
        "timeline": len(scenario.timeline),
        "goals": len(scenario.goals),
        "forbidden states": len(scenario.forbidden),
        "questions": len(scenario.inquiries),
        "hints": len(scenario.hints),
        "steps of the solution": len(scenario.solution),
        "rules of the score": len(scenario.rubric),
    }
    sizes = {key: sum(map(len, _texts(value))) for key, value in _list_visible_texts(scenario)}
    return Contents(
        name=scenario.name,
        title=scenario.title,
        author=scenario.author,
        sources=tuple(f"{source.paper}, {source.section}" for source in scenario.sources),
        sha256=sha256(scenario.text),
        characters=len(scenario.text),
        counts=tuple((what, count) for what, count in tables.items() if count),
        verbs=verbs,
        texts=tuple((key, size) for key, size in sorted(sizes.items(), key=lambda pair: -pair[1]) if size),
        images=len(_IMAGE.findall(scenario.text)),
        links=tuple(dict.fromkeys(_LINK.findall(scenario.text)))[: LINKS_MAX + 1],
        length_s=scenario.length,
    )


def sha256(text: str) -> str:
    """Return the SHA-256 that identifies a file, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def verbs_of(lines: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the verbs of input lines, with or without a time, and their number; most frequent first."""
    counted = Counter(map(_verb, lines))
    return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def escape_invisible(text: str) -> str:
    """Escape every invisible or direction-changing character of *text* as ⟨U+202E⟩."""
    unseen = [sign for sign in dict.fromkeys(text) if sign not in "\n\t" and _is_invisible(sign)]
    return text.translate({ord(sign): f"⟨U+{ord(sign):04X}⟩" for sign in unseen}) if unseen else text


def _is_invisible(sign: str) -> bool:
    return unicodedata.category(sign) in _UNSEEN or sign in BLANK_LETTERS


def _list_visible_texts(scenario: Scenario) -> Iterator[tuple[str, object]]:
    """Yield the keys of texts that people read, with their texts."""
    kept = scenario.model_dump(by_alias=True)
    for key in ("brief", "role", "goal", "forbidden", "question", "predict", "hint", "solution", "timeline",
                "facilitator", "fidelity"):  # fmt: skip
        yield key, kept.get(key)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)


def _verb(line: str) -> str:
    """Return the verb of a line with or without its time."""
    inputs, problems = parse_script(line)
    return inputs[0].verb if inputs and not problems else parse_line(line).verb
