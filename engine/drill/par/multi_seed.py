"""Scores of a plan with other random seeds, for which its actions are converted to reactions.

A reaction follows an observation instead of the clock. The method follows Go-Explore (Ecoffet and others,
First return, then explore, Nature 590, 2021). An archive keeps the best plan of each kind, and other seeds
test whether a plan succeeded only by luck.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from msgspec import Struct

from engine.drill.authoring.schema import Scenario
from engine.drill.par.observability import (
    MONITOR_INTERVAL_S,
    find_announced_ticks,
    find_next_whole_second,
    is_observable,
)
from engine.drill.par.search_drill import RETRY_ATTEMPTS_MAX, SearchDrill, find_unlock_tick, is_accepted
from engine.drill.par.trials import PlayedPlan
from engine.drill.running.solution import find_default_end
from engine.events import Event
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks

PLAN_KINDS_MAX: Final = 4
"""Maximum number of kinds of plans that are replayed with other seeds; the best are chosen. Assumed."""

TRIGGER_WAIT_S_MAX: Final = 60.0
"""Maximum seconds that a reaction waits for its trigger beyond the planned time. Assumed.

Then the reaction is applied without the trigger.
"""

TRIGGER_EVENT_KINDS: Final = frozenset(
    {"detected", "failover", "state", "role", "witness", "cluster", "alert", "sql_done", "powershell"}
)
"""Kinds of events that can trigger a reaction. Events of these kinds do not repeat periodically."""

UNREACHED_TICK: Final = sys.maxsize
"""Tick of a reaction that is not due yet."""


class Reaction(Struct, frozen=True):
    """Action with its trigger, so that it can be applied in a run in which events occur at other times."""

    input_: Input
    """Input of the plan."""
    hidden_event_count: int
    """Number of hidden timeline events before the action. The reaction waits for a symptom of the last of
    them.
    """
    keeps_time: bool
    """True if the trigger was known from the start (an announced time, or a lock that opens). Then the
    reaction keeps its time.
    """
    trigger_text: str
    """Text of the event that triggers the reaction, without numbers; empty for another trigger.

    The other triggers are the first symptom of the fault, and the question that the reaction answers.
    """
    occurrence: int
    """Number of the event with *trigger_text* since the last hidden timeline event, from 1."""
    delay: Tick
    """Delay after the trigger."""
    delay_after_symptom: Tick
    """Delay after the first symptom of the last hidden timeline event, or after the start if there is none."""
    retries: bool
    """True if the reaction is retried after a refusal. False if the plan's own run refused it, too."""


def select_archived_plans(plans: Iterable[PlayedPlan]) -> list[PlayedPlan]:
    """Return the best plans of PLAN_KINDS_MAX kinds.

    Plans with the same actions after the same timeline events are one kind. If several plans of a kind share
    its best score, the first of them acts earliest, and may have been in time only by luck. Therefore the
    middle one is also returned.
    """
    kinds: dict[tuple[tuple[str, int], ...], list[PlayedPlan]] = {}
    for plan in sorted(plans, key=_get_archive_sort_key):
        kind = sorted(
            (item.line_without_time, reaction_time)
            for item, reaction_time in zip(plan.actions, plan.timeline_counts, strict=True)
        )
        kinds.setdefault(tuple(kind), []).append(plan)
    best = list(kinds.values())[:PLAN_KINDS_MAX]
    equals = [[plan for plan in kind if plan.score == kind[0].score] for kind in best]
    return list(dict.fromkeys([*(kind[0] for kind in best), *(equal[len(equal) // 2] for equal in equals)]))


def build_reactions(scenario: Scenario, seed: int, actions: Sequence[Input]) -> tuple[Reaction, ...]:
    """Convert the *actions* of a plan to reactions, by playing the plan."""
    run, accepted = SearchDrill(scenario, seed), []
    for item in actions:
        run.advance_to(item.tick)
        accepted.append(is_accepted(run, item.line_without_time))
        with suppress(InputError):
            run.apply_line(item.line_without_time)
    run.advance_to(find_default_end(run, run.tick))
    return tuple(_build_reaction(run, item, patient) for item, patient in zip(actions, accepted, strict=True))


def play_reactions(run: SearchDrill, plan: Sequence[Reaction]) -> float:
    """Play *run* with the reactions of *plan*, and return the score.

    Each reaction is applied when it is due, in order. A refused reaction waits until it is accepted, or until
    RETRY_ATTEMPTS_MAX attempts have failed. Questions are answered when they are asked.
    """
    end = find_default_end(run, max((reaction.input_.tick for reaction in plan), default=0))
    planned = find_announced_ticks(run.scenario)
    answers = [reaction for reaction in plan if reaction.input_.verb == "answer"]
    actions = [reaction for reaction in plan if reaction.input_.verb != "answer"]
    refusals, noticed = 0, 0
    retry_tick: Tick | None = 0
    """Tick of the next retry after a refusal; None means the next retry follows the next observation."""
    while (answers or actions) and run.tick < end and not run.finished:
        if retry_tick is None and any(map(is_observable, run.events[noticed:])):
            retry_tick = find_next_whole_second(run.tick)
        first_act = [] if retry_tick is None else actions[:1]
        dues = [
            (_find_due_tick(run, reaction_choice, planned, 0), reaction_choice) for reaction_choice in answers
        ]
        dues += [
            (_find_due_tick(run, reaction_choice, planned, retry_tick or 0), reaction_choice)
            for reaction_choice in first_act
        ]
        due_tick, reaction = min(dues, key=_get_due_tick, default=(end, None))
        if reaction is None or run.tick < due_tick:
            run.advance_to(min(due_tick, end), to_event=True)
        elif (
            reaction.retries
            and refusals < RETRY_ATTEMPTS_MAX
            and not is_accepted(run, reaction.input_.line_without_time)
        ):
            unlock_tick = find_unlock_tick(run, reaction.input_)
            retry_tick = unlock_tick if run.tick < unlock_tick else None
            refusals, noticed = refusals + 1, len(run.events)
        else:
            with suppress(InputError):
                run.apply_line(reaction.input_.line_without_time)
            if reaction in first_act:
                refusals, retry_tick = 0, 0
            (actions if reaction in first_act else answers).remove(reaction)
    run.advance_to(find_default_end(run, run.tick))
    return run.compute_total()


# --- internal -----------------------------------------------------------------------------------------------


def _build_reaction(run: SearchDrill, input_: Input, patient: bool) -> Reaction:
    """Build the reaction for *input_* from the events of the plan's *run*.

    *patient*: True to retry the reaction after a refusal.
    """
    planned = find_announced_ticks(run.scenario)
    story = [tick for tick in _find_hidden_ticks(run, planned) if tick <= input_.tick]
    symptom = _find_symptom_tick(story, run.events)
    if input_.verb == "answer":
        asked_tick = run.answers[input_.args[0]].asked_tick or 0
        return Reaction(
            input_, len(story), False, "", 0, input_.tick - asked_tick, input_.tick - symptom, False
        )
    known_ticks = [tick for tick in (*planned, find_unlock_tick(run, input_)) if tick <= input_.tick]
    clues = [
        (event.tick, _normalize_event_text(event)) for event in _filter_events_after(story, run.events)
        if event.kind in TRIGGER_EVENT_KINDS and is_observable(event) and event.tick < input_.tick
    ]  # fmt: skip
    last, clue = clues[-1] if clues else (symptom, "")
    last = max(last, symptom)
    occurrence = [name for _, name in clues].count(clue)
    by_clock = max(known_ticks, default=0) >= last
    return Reaction(
        input_, len(story), by_clock, clue, occurrence, input_.tick - last, input_.tick - symptom, patient
    )


def _find_due_tick(
    run: SearchDrill, reaction: Reaction, planned: frozenset[Tick], earliest_tick: Tick
) -> Tick:
    """Return the tick at which the reaction is due, given the observations so far.

    The result is UNREACHED_TICK if events that must precede the reaction have not occurred. It is at least
    *earliest_tick*, except for an answer. *planned*: ticks of announced timeline events.
    """
    if reaction.input_.verb == "answer":
        asked_tick = run.answers[reaction.input_.args[0]].asked_tick
        return UNREACHED_TICK if asked_tick is None else asked_tick + reaction.delay
    story = _find_hidden_ticks(run, planned)[: reaction.hidden_event_count]
    if len(story) < reaction.hidden_event_count:
        return UNREACHED_TICK
    symptom = _find_symptom_tick(story, run.events)
    earliest_tick = max(earliest_tick, symptom)
    if reaction.keeps_time:
        return max(earliest_tick, reaction.input_.tick)
    if not reaction.trigger_text:
        return max(earliest_tick, symptom + reaction.delay)
    found_ticks = (
        event.tick
        for event in _filter_events_after(story, run.events)
        if _normalize_event_text(event) == reaction.trigger_text
    )
    tick = next(islice(found_ticks, reaction.occurrence - 1, None), None)
    late_tick = symptom + reaction.delay_after_symptom + to_ticks(TRIGGER_WAIT_S_MAX)
    return max(earliest_tick, late_tick if tick is None else tick + reaction.delay)


def _get_due_tick(entry: tuple[Tick, Reaction]) -> Tick:
    return entry[0]


def _find_hidden_ticks(run: SearchDrill, planned: frozenset[Tick]) -> list[Tick]:
    """Return the ticks of timeline events that were not announced. *planned*: ticks of announced events."""
    return [tick for tick in run.story_ticks if tick not in planned]


def _filter_events_after(timeline_events: Sequence[Tick], events: Iterable[Event]) -> Iterable[Event]:
    """Return the events after the last timeline event in *timeline_events*."""
    return (event for event in events if not timeline_events or event.tick > timeline_events[-1])


def _find_symptom_tick(timeline_events: Sequence[Tick], events: Iterable[Event]) -> Tick:
    """Return the tick of the first symptom of the last timeline event; 0 if *timeline_events* is empty.

    The result is at most MONITOR_INTERVAL_S after the event, because the Database Mirroring Monitor
    then shows the change.
    """
    if not timeline_events:
        return 0
    latest = timeline_events[-1] + to_ticks(MONITOR_INTERVAL_S)
    return min(
        next(
            (event.tick for event in _filter_events_after(timeline_events, events) if is_observable(event)),
            latest,
        ),
        latest,
    )


def _normalize_event_text(event: Event) -> str:
    """Return kind, server, database and text of the event without numbers, which differ between seeds."""
    return re.sub(r"\d+", "", f"{event.kind} {event.server} {event.database} {event.text}")


def _get_archive_sort_key(plan: PlayedPlan) -> tuple[object, ...]:
    """Return the sort key of a plan. The best plan has the smallest key."""
    return plan.key
