"""Reasons why a run accepts no input line now."""

from __future__ import annotations

from typing import Final

from app.words.language import mark
from engine.verbs import VERBS

READ_ONLY: Final = mark("You are looking back at {moment}: return to now, or continue from here, to act.")
NO_RUN: Final = mark("No run is open for this command.")
OVER: Final = mark("This run is over: you can look back at it, but no longer act in it.")
NOT_YET: Final = mark("A run is being replayed: wait, or cancel.")
ANSWER_FIRST: Final = mark("The clock is paused until you answer the question in the brief.")


def sentence(text: str) -> str:
    """Begin *text* with a capital and end it with a full stop; the name of a verb stays as it is typed."""
    text = text.strip()
    begins_with_verb = text.partition(" ")[0].rstrip(":") in VERBS
    start = text[:1] if begins_with_verb else text[:1].upper()
    return f"{start}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
