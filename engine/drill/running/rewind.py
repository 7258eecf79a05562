"""Rewinds: their line in the journal, and the knowledge that the trainee keeps.

The journal of a rewound run contains the inputs up to the new position, a line `rewind FROM …`, and the
later inputs. The line contains the facts that the trainee learned in the discarded future: opened hints
stay open and paid for, and answers stay given.

This module also hides the true state in exams.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.drill.authoring.schema import Scenario
from engine.drill.running.state import DrillState
from engine.events import Event, FaultData, get_data
from engine.inputs import Input, InputError, format_time
from engine.localization import build_message
from engine.model import World
from engine.verbs import VERBS


class LearnedFact(Struct, frozen=True):
    """Fact that the trainee learned: a hint layer, an answer, or a question that was missed."""

    kind: str
    """Kind of fact: hint, answer or missed."""
    name: str
    """Name of the hint's goal or of the question."""
    number: int = 0
    """Hint layer or choice, from 1; 0 for a missed question."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" + (f":{self.number}" if self.number else "")


def format_rewind_line(
    abandoned_run: DrillState, resumed_run: DrillState, other_runs: Iterable[DrillState] = ()
) -> str:
    """Format the input line for a rewind from *abandoned_run* to *resumed_run*.

    The line contains the hints and answers that *abandoned_run* and *other_runs* have revealed.
    """
    facts = [
        fact for drill in (abandoned_run, *other_runs) for fact in _find_learned_facts(drill, resumed_run)
    ]
    return " ".join(["rewind", format_time(abandoned_run.tick), *dict.fromkeys(map(str, facts))])


def _find_learned_facts(abandoned_run: DrillState, resumed_run: DrillState) -> Iterator[LearnedFact]:
    opened_layers = {(hint.goal, hint.layer) for hint in resumed_run.hints}
    yield from (
        LearnedFact("hint", h.goal, h.layer)
        for h in abandoned_run.hints
        if (h.goal, h.layer) not in opened_layers
    )
    for name, answer in abandoned_run.answers.items():
        before = resumed_run.answers[name]
        if before.choice is not None or before.missed_tick is not None:
            continue
        if answer.choice is not None:
            yield LearnedFact("answer", name, answer.choice)
        elif answer.missed_tick is not None:
            yield LearnedFact("missed", name)


def parse_learned_facts(text: str, scenario: Scenario) -> list[LearnedFact]:
    """Parse the facts in a rewind line. Raises InputError if the text does not fit the scenario."""
    layers = {("hint", hint.goal): 3 for hint in scenario.hints}
    choices = {("answer", inquiry.name): len(inquiry.texts) for inquiry in scenario.inquiries}
    missed = {("missed", inquiry.name): 0 for inquiry in scenario.inquiries}
    limits = {**layers, **choices, **missed}
    facts = []
    for word in text.split():
        fact_kind, _, value_text = word.partition(":")
        name, _, number = value_text.partition(":")
        fact = LearnedFact(fact_kind, name, int(number[:9]) if number.isdecimal() else 0)
        if not min(1, limits.get((fact_kind, name), -1)) <= fact.number <= limits.get((fact_kind, name), -1):
            raise InputError(build_message("rewind: unknown word {word!r}", word=word))
        facts.append(fact)
    return facts


# --- hiding of the true state in exams ----------------------------------------------------------------------

# In an exam, information comes only from servers, the brief and the trainee's own actions. Only the functions
# of this section enforce this rule. Every part of the program that shows the true state must call one of them
# first.

TRUTH_REFUSAL: Final = build_message(
    "during an exam you get information only from the servers: query them, or let time pass"
)
"""Refusal of a request for the true state during an exam. The text is the same for every state."""


def require_visible_truth(drill: DrillState) -> None:
    """Raise InputError if *drill* currently hides the true state."""
    if drill.is_truth_hidden:
        raise InputError(TRUTH_REFUSAL)


def should_hide_refusal(drill: DrillState, input_: Input) -> bool:
    """Return whether a refusal of *input_*, a repair or fault without effect, would reveal the true state."""
    return drill.is_truth_hidden and VERBS[input_.verb].is_in_ledger


def build_neutral_event(world: World, input_: Input) -> Event:
    """Build the event of an action whose effect is hidden. The event does not depend on the effect."""
    server = input_.args[0] if input_.args and input_.args[0] in world.instances else None
    return Event(world.tick, FaultData(verb=input_.verb, args=list(input_.args)), input_.command_text, server)


def hide_effects(events: Iterable[Event], input_: Input) -> list[Event]:
    """Return the *events* without the no-effect mark of the action *input_*.

    The mark would reveal the previous state.
    """
    return [
        replace(event, text=input_.command_text, data=replace(fault, no_effect=None))
        if (fault := get_data(event, FaultData)) and fault.no_effect
        else event
        for event in events
    ]
