"""Going back: how it is written into the journal, and what somebody who goes back knows already.

A run that has gone back is the journal up to that moment, a line `rewind FROM …`, and what was done since. The line
carries what was learnt in the future that is given up: opened hints stay opened (and paid for), answers stay given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.drill.goals import Opened
from engine.drill.questions import Answer
from engine.drill.schema import Scenario
from engine.inputs import InputProblem, format_time
from engine.model import Tick


@dataclass(frozen=True, slots=True)
class Known:
    """Something that was learnt: a layer of a hint, an answer, or a question whose time ran out."""

    what: str
    """hint, answer or missed."""
    name: str
    """Of the hint's goal, or of the question."""
    number: int = 0
    """Layer or choice, from 1."""

    def __str__(self) -> str:
        return f"{self.what}:{self.name}" + (f":{self.number}" if self.number else "")


def line(
    from_tick: Tick,
    hints: tuple[Sequence[Opened], Sequence[Opened]],
    answers: tuple[Mapping[str, Answer], Mapping[str, Answer]],
) -> str:
    """The input line for coming back from *from_tick*. Hints and answers: (as they were there, as they are here)."""
    here = {(opened.goal, opened.layer) for opened in hints[1]}
    known = [Known("hint", o.goal, o.layer) for o in hints[0] if (o.goal, o.layer) not in here]
    for name, answer in answers[0].items():
        before = answers[1][name]
        if before.choice is None and before.missed_tick is None:
            if answer.choice is not None:
                known.append(Known("answer", name, answer.choice))
            elif answer.missed_tick is not None:
                known.append(Known("missed", name))
    return " ".join(["rewind", format_time(from_tick), *map(str, dict.fromkeys(known))])


def known_in(text: str, scenario: Scenario) -> list[Known]:
    """What the words of a rewind line tell. Raises InputProblem for words that no such scenario gives."""
    layers = {("hint", hint.goal): 3 for hint in scenario.hints}
    choices = {("answer", inquiry.name): len(inquiry.texts) for inquiry in scenario.inquiries}
    missed = {("missed", inquiry.name): 0 for inquiry in scenario.inquiries}
    most = {**layers, **choices, **missed}
    found = []
    for word in text.split():
        what, _, rest = word.partition(":")
        name, _, number = rest.partition(":")
        known = Known(what, name, int(number) if number.isdecimal() else 0)
        if not min(1, most.get((what, name), -1)) <= known.number <= most.get((what, name), -1):
            raise InputProblem(f"rewind: {word!r} is nothing that can be known in this drill")
        found.append(known)
    return found
