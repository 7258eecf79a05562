"""Input lines in readable form. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.words.localization import localize
from engine.verbs.input_descriptions import describe_line


def short(line: str, letters: int) -> str:
    """Return *line* without its line ends, cut off after so many *letters*."""
    text = " ".join(line.split())
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def describe_input(line: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Describe an input for people; return other text unchanged. *asked*: question -> its choices."""
    return localize(describe_line(line, choices))
