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
"""Network addresses, including Windows shares."""
LINKS_MAX: Final = 20
"""Maximum number of listed links. Assumed: nobody reads more."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a scenario that has not run; all texts are plain, because the loader rejects invisible characters."""

    name: str
    title: str
    author: str | None
    """Author that the file names. Unverified, because a file can contain any name."""
    sources: tuple[str, ...]
    """Papers that the file names. Unverified as well."""
    sha256: str
    """SHA-256 of the file's text, which is also stored with each run of it."""
    characters: int
    counts: tuple[tuple[str, int], ...]
    """Tables of the file with their counts."""
    verbs: tuple[tuple[str, int], ...]
    """Verbs on the timeline and before the start with their counts, the most frequent first."""
    texts: tuple[tuple[str, int], ...]
    """Key of the file -> characters of its displayed texts; the longest first."""
    images: int
    """Number of references to pictures. A scenario contains none, and none is loaded."""
    links: tuple[str, ...]
    """Addresses in its texts, shown as text only."""
    length_s: float | None
    """Length of the drill; None: the learner ends it."""


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
