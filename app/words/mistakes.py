"""Mistakes as text. Without Qt."""

from __future__ import annotations

from app.words.formatting import moment
from app.words.language import tr
from app.words.localization import localize
from engine.drill.judging.mistakes import Mistake


def cause(mistake: Mistake) -> str:
    """Describe the cause of a mistake: the earlier action or event with its time, or the omission; "" if none."""
    words = localize(mistake.cause)
    if mistake.omission or not words:
        return words
    if mistake.cause_tick is None:
        return tr("After: {cause}").format(cause=words)
    return tr("After: {cause}, at {moment}").format(cause=words, moment=moment(mistake.cause_tick))
