"""Why a run takes no line now."""

from __future__ import annotations

from typing import Final

from app.words.language import mark

READ_ONLY: Final = mark("You are looking back at {moment}: return to now, or continue from here, to act.")
NO_RUN: Final = mark("No run is open for this command.")
OVER: Final = mark("This run is over: you can look back at it, but no longer act in it.")
NOT_YET: Final = mark("A run is being replayed: wait, or cancel.")
ANSWER_FIRST: Final = mark("The clock is paused until you answer the question in the brief.")


def sentence(text: str) -> str:
    """*text* as a sentence: a capital at the start, a full stop at the end."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
