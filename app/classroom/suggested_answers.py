"""Suggested answers to a question of a seat, from the hints and the author's notes of the drill. No Qt."""

import re
from collections import Counter
from collections.abc import Container
from typing import Final

from engine.drill.authoring.schema import Scenario

SUGGESTED_ANSWERS_MAX: Final = 3
STEM_LENGTH: Final = 5
"""Number of initial letters by which two forms of a word are compared: "synchronized" and "synchronizing".

Assumed.
"""


def _list_stems(text: str) -> set[str]:
    """Return the stems of significant words: words with at least four letters, and names with digits."""
    words = re.findall(r"[\w#@$]+", text.lower())
    return {word[:STEM_LENGTH] if word.isalpha() else word for word in words if len(word) > 3}


def suggest_answers(scenario: Scenario, question: str, met_goals: Container[str] = ()) -> list[str]:
    """Return the texts that share the most and the rarest words with *question*, best first.

    Among equal texts, those about unmet goals come first. If no text shares a word, return the first hint for
    the next goal.

    Args:
        scenario: drill with hints and notes.
        question: question of the seat, possibly empty.
        met_goals: names of the goals that the seat has met.
    """
    hints = [
        text for hint in scenario.hints if hint.goal not in met_goals for text in (hint.look, hint.means)
    ]
    notes = (scenario.facilitator or "").split("\n\n")
    texts = list(dict.fromkeys(text for passage in (*hints, *notes) if (text := " ".join(passage.split()))))
    frequency = Counter(stem for text in texts for stem in _list_stems(text))
    stems = _list_stems(question)
    scores = {text: sum(1.0 / frequency[stem] for stem in stems & _list_stems(text)) for text in texts}
    candidates = sorted((text for text in texts if scores[text] > 0.0), key=lambda text: -scores[text])
    return (candidates or hints[:1])[:SUGGESTED_ANSWERS_MAX]
