"""Mistakes in words. No Qt."""

from __future__ import annotations

from app.words.formatting import moment
from app.words.language import tr
from app.words.localization import localize
from engine.drill.judging.mistakes import Mistake


def cause(mistake: Mistake) -> str:
    """What was done or happened before it, and when, or what was never done; empty if it came from nothing."""
    words = localize(mistake.cause)
    if mistake.omission or not words:
        return words
    if mistake.cause_tick is None:
        return tr("After: {cause}").format(cause=words)
    return tr("After: {cause}, at {moment}").format(cause=words, moment=moment(mistake.cause_tick))
