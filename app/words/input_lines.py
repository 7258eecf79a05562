"""Input lines as people read them. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.words.sentences import said
from engine.verbs.told import told_line


def short(line: str, letters: int) -> str:
    """*line* without its line ends, cut off after so many *letters*."""
    text = " ".join(line.split())
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def worded(line: str, asked: Mapping[str, Sequence[str]]) -> str:
    """As a person would say it; what is no input line as it is. *asked*: question -> its choices."""
    return said(told_line(line, asked))
