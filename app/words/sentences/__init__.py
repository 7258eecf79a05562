"""Sentences that the engine puts together, in the language of the interface: `said("lost SERVER_A")`.

The engine speaks English and knows no languages, so that a run is the same in every one. The tables beside this file
hold its sentences as templates; a sentence is matched against them when it is shown, and only where the interface is
not English. What matches nothing is shown as it is. What stays English on purpose: see `app.words.language`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from app.words import engine_words, formatting, language
from app.words.language import tr
from app.words.new_sentences import said as spoken
from app.words.sentences import checks, findings, happenings, planning, reasons, refusals
from engine.verbs import VERBS
from engine.words import Argument, Sentence

QUOTED: Final = frozenset({"trace", "errorlog", "sql", "sql_done", "alert", "hint", "question", "score"})
"""Kinds of events whose texts are SQL Server's, the trainee's or the author's."""

CACHED: Final = 20_000
"""Sentences kept with their translation: more than all lists show of a long run. A few MB at most."""

_NUMBER: Final = r"-?\d[\d.,]*(?:e[+-]?\d+)?"
_NUMBERS: Final = (
    "n", "of", "kb", "mb", "to_mb", "gb", "s", "to_s", "minutes", "points", "max", "cost", "target", "limit", "least",
    "most",
)  # fmt: skip
_NAMES: Final = ("server", "other", "client", "database", "verb", "drive", "word", "seed", "port")

_AMOUNTS: Final = ("figure", "other_figure", "size", "other_size", "share", "rate", "wait")
"""Parts that are numbers with their units."""

NEEDED: Final = frozenset({"why", "what", "problem", "step", "told", "guard", "seen"})
"""Parts that are sentences of ours themselves: the template fits only if they do."""
WELCOME: Final = frozenset({"said", "where", "rule", "better", "loss"})
"""Parts that may be: translated if they are, else shown as they are. So no other part is ever looked up: a name that
looks like a word stays a name."""
LISTS: Final = {"whys": True, "saids": False, "ways": False}
"""Parts that are several sentences with semicolons or commas between; whether each has to be one of ours."""

_ONE_LOSS: Final = r"(?:(?! -\d[\d.]*: | Better: ).)+?"
"""Of several losses in a row, not more than one."""

PATTERNS: Final = {
    **dict.fromkeys(_NUMBERS, _NUMBER),
    **dict.fromkeys(_AMOUNTS, rf"(?:{_NUMBER}|endless)(?: [A-Za-z%]+)?|for ever"),
    **dict.fromkeys(_NAMES, r"\S+?"),
    "state": "[A-Z_]+",
    "batch": r"(?i:alter|backup|create|dbcc|declare|drop|exec|execute|grant|if|restore|select|set|shutdown|use)\b.+?",
    "better": _ONE_LOSS,
    "loss": _ONE_LOSS,
    "input": rf"(?:{'|'.join(VERBS)})(?: [^;:\n]+)?",
    "place": r"[^;\n]+:\d+:\d+(?:: [^;\n ]+)?",
    "quoted": r"'[^']*'|\"[^\"]*\"",
}
"""What may stand for a field; anything at all for the others."""

_FIELD: Final = re.compile(r"\{(\w+)\}")
_BETWEEN: Final = re.compile(r"(?<=[.?!”]) (?=\S)|; |\n")
JOINED_MAX: Final = 12
"""Sentences that are tried together, as one template may hold several."""
DEPTH_MAX: Final = 3
"""Sentences inside of sentences. The engine's have no more levels."""
LENGTH_MAX, SENTENCES_MAX, SENTENCE_LENGTH_MAX = 4_000, 60, 1_000
"""Characters and sentences of a text, and characters of a sentence: what is beyond them nobody reads, or it is a note
that somebody has made to hold the window up, and is shown as it is."""


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with fields, ready to be matched."""

    text: str
    pattern: re.Pattern[str]
    landmark: str
    """Its longest piece without a field: a quick test."""


def said(text: str) -> str:
    """A sentence of the engine's, or several, in the language of the interface; *text* itself where it is not ours."""
    if isinstance(text, Sentence):
        return spoken(_with_sentences(text))
    return text if language.current() == language.ENGLISH else _said(text, language.current())


def _with_sentences(text: Sentence) -> Sentence:
    """*text* with what the protocol's rooms still put together as plain text in the language of the interface."""
    if language.current() == language.ENGLISH:
        return text
    kept = Sentence(text)
    kept.template = text.template
    kept.args = tuple((name, _argument(name, value)) for name, value in text.args)
    return kept


def _argument(name: str, value: Argument) -> Argument:
    if isinstance(value, Sentence):
        return _with_sentences(value)
    if isinstance(value, str) and (name in NEEDED | WELCOME or name.startswith("part_")):
        return said(value)
    return value


def of_event(kind: str, text: str) -> str:
    """The text of an event: what a server or a person has said is left as it was said."""
    return said(text) if isinstance(text, Sentence) or kind not in QUOTED else text


def ours(text: str) -> bool:
    """Whether the tables hold every sentence of *text*, in whatever language."""
    return isinstance(text, Sentence) or all(found is not None for _, found, _ in _pieces(text, 0))


@lru_cache(CACHED)
def _said(text: str, _language: str) -> str:
    return _joined(text, 0)


def _joined(text: str, depth: int) -> str:
    pieces = _pieces(text, depth)
    return "".join(f"{piece if found is None else found}{between}" for piece, found, between in pieces)


def _pieces(text: str, depth: int) -> Iterator[tuple[str, str | None, str]]:
    """As many sentences as fit one template together: what was said, its translation, what stands after it."""
    gaps = list(_BETWEEN.finditer(text)) if len(text) <= LENGTH_MAX else []
    if len(gaps) > SENTENCES_MAX or depth > DEPTH_MAX:
        gaps = []
    starts = [0, *(gap.end() for gap in gaps)]
    ends = [*(gap.start() for gap in gaps), len(text)]
    first = 0
    while first < len(ends):
        longest = min(len(ends), first + JOINED_MAX) - 1
        for last in range(longest, first - 1, -1):
            found = _whole(text[starts[first] : ends[last]], depth)
            if found is not None:
                break
        between = text[ends[last] : starts[last + 1]] if last + 1 < len(ends) else ""
        yield text[starts[first] : ends[last]], found, between
        first = last + 1


def _whole(text: str, depth: int) -> str | None:
    """The translation of *text* if it is one sentence of ours."""
    fixed, templates = tables()
    if text in fixed:
        return tr(text)
    if len(text) > SENTENCE_LENGTH_MAX or depth > DEPTH_MAX:
        return None
    for template in templates:
        if template.landmark in text and (match := template.pattern.fullmatch(text)) is not None:
            parts = {name: _part(name, value, depth + 1) for name, value in match.groupdict().items()}
            if None not in parts.values():
                return tr(template.text).format(**parts)
    return None


def _part(name: str, value: str, depth: int) -> str | None:
    """What is put into the translated template; None if it ought to be a sentence of ours and is not."""
    if name in LISTS:
        between = ", " if name == "ways" else "; "
        each = value.split(between)
        found = [_whole(one, depth) for one in each]
        if LISTS[name] and None in found:
            return None
        return between.join(one or was for one, was in zip(found, each, strict=True))
    if name in NEEDED:
        return _whole(value, depth)
    if name in WELCOME:
        return _joined(value, depth)
    return _amount(value) if name in (*_AMOUNTS, *_NUMBERS) else value


def _amount(value: str) -> str:
    """1.5 MB, 3.2 days, for ever."""
    number, _, unit = value.partition(" ")
    if number[:1] not in "-0123456789":
        return _whole(value, DEPTH_MAX) or value
    return " ".join([formatting.local(number), *([_whole(unit, DEPTH_MAX) or unit] if unit else [])])


@cache
def tables() -> tuple[frozenset[str], tuple[Template, ...]]:
    """Sentences without fields, and templates in the order of trying.

    Those with sentences inside go first, as what they need is a strict test; then those with more words of their own.
    """
    texts = {
        text
        for table in (happenings, refusals, reasons, findings, planning, checks)
        for text in table.SENTENCES
    }
    fixed = engine_words.PRECONDITIONS | {text for text in texts if not _FIELD.search(text)}
    nested = NEEDED | LISTS.keys() | WELCOME

    def order(text: str) -> tuple[bool, int, str]:
        return not nested & set(_FIELD.findall(text)), -len(_FIELD.sub("", text)), text

    return fixed, tuple(_template(text) for text in sorted(texts - fixed, key=order))


def _template(text: str) -> Template:
    pieces = _FIELD.split(text)  # words, name, words, name, …, words
    pattern = "".join(
        f"(?P<{piece}>{PATTERNS.get(piece, '.+?')})" if place % 2 else re.escape(piece)
        for place, piece in enumerate(pieces)
    )
    return Template(text, re.compile(pattern, re.DOTALL), max(pieces[::2], key=len))
