"""Reasons why a run accepts no input line now."""

from __future__ import annotations

from typing import Final

from app.words.language import mark
from engine.verbs import VERBS

READ_ONLY: Final = mark("You are viewing {moment}. To act, return to now or continue from here.")
NO_RUN: Final = mark("Open a run first to use this command.")
OVER: Final = mark("This run has ended. You can view it but not change it.")
NOT_YET: Final = mark("A run is being replayed. Wait, or cancel it.")
ANSWER_FIRST: Final = mark("The clock is paused until you answer the question in the brief.")


def sentence(text: str) -> str:
    """Begin *text* with a capital and end it with a full stop; the name of a verb stays as it is typed."""
    text = text.strip()
    begins_with_verb = text.partition(" ")[0].rstrip(":") in VERBS
    start = text[:1] if begins_with_verb else text[:1].upper()
    return f"{start}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
