"""Observations that a seat could have made up to a given time in a run.

They come from events that the seat can see, never from the list of faults.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.authoring.schema import Scenario
from engine.drill.authoring.schema.tasks import Inject
from engine.drill.judging.counterfactual import is_inspection
from engine.drill.team.calls import MESSAGE_HANDLERS
from engine.drill.team.rights import COMMON_VERBS
from engine.events import Event, FaultData, SqlDoneData
from engine.inputs import Input
from engine.model import Tick, to_ticks
from engine.verbs import VERBS

OBSERVABLE_KINDS: Final = frozenset({
    "detected", "failover", "state", "role", "witness", "trace", "errorlog", "client", "alert", "question",
    "cluster", "powershell",
})  # fmt: skip
"""Kinds of events that reach the DBA without a query: from a query window, a log, the monitor, Failover
Cluster Manager or a client.
"""

MONITOR_INTERVAL_S: Final = 60.0
"""Seconds after which the Database Mirroring Monitor shows a change, even without an event. Its job runs once
a minute by default (sp_dbmmonitoraddmonitoring, update_period).
"""


def is_observable(event: Event) -> bool:
    """Return whether the seat observes *event*. Responses of servers to the seat's own queries also count."""
    if isinstance(event.data, SqlDoneData):
        return not condition_context.is_timeline_window(event.data.window)
    return event.kind in OBSERVABLE_KINDS


def find_next_whole_second(tick: Tick) -> Tick:
    """Return the first whole second after *tick*. A seat never acts in the same tick as its observation."""
    return (tick // TICKS_PER_S + 1) * TICKS_PER_S


def needs_no_evidence(input_: Input) -> bool:
    """Return whether an action is allowed without an observation before it.

    Such actions are answers to questions, messages to team roles, and inspections.
    """
    return input_.verb in COMMON_VERBS or is_inspection(input_)


def find_announced_ticks(scenario: Scenario) -> frozenset[Tick]:
    """Return the ticks of the timeline at which only announced events occur.

    The brief announces work at a fixed time, such as a load that begins or a promised repair. Faults, a
    colleague's batches, and entries at a random time or on a condition are hidden until they cause a symptom.
    """
    fixed = {
        (to_ticks(inject.at), _is_planned(inject)) for inject in scenario.timeline if inject.at is not None
    }
    return frozenset(tick for tick, planned in fixed if planned and (tick, False) not in fixed)


def _is_planned(inject: Inject) -> bool:
    verb_name, *arguments = inject.do.split(maxsplit=2)
    name = arguments[0] if verb_name.startswith("@") and arguments else verb_name
    verb = VERBS.get(name)
    return verb is not None and (verb.name in MESSAGE_HANDLERS or verb.group in ("load", "chore", "repair"))


def lacks_evidence(
    scenario: Scenario, timeline_ticks: Sequence[Tick], events: Iterable[Event], tick: Tick
) -> bool:
    """Return whether an action at *tick* would react to something that the seat cannot have observed yet.

    *timeline_ticks*: ticks of timeline events. After each hidden event, an action must wait for a
    symptom. Before the first hidden event, the seat may act only if the brief states the task
    (`early`). If no event of the scenario is hidden, the result is False.
    """
    if all(inject.at is not None and _is_planned(inject) for inject in scenario.timeline):
        return False
    announced_ticks = find_announced_ticks(scenario)
    past_ticks = [
        story_tick
        for story_tick in timeline_ticks
        if story_tick <= tick and story_tick not in announced_ticks
    ]
    if not past_ticks:
        return not scenario.early
    since_tick = past_ticks[-1]
    return tick < since_tick + to_ticks(MONITOR_INTERVAL_S) and not _has_symptom(events, since_tick, tick)


def _has_symptom(events: Iterable[Event], hidden_tick: Tick, tick: Tick) -> bool:
    """Return whether the seat observes an effect of the hidden event at *hidden_tick* until *tick*.

    At *hidden_tick* itself, only events after the fault event count as symptoms.
    """
    has_started = False
    for event in events:
        if event.tick == hidden_tick and isinstance(event.data, FaultData):
            has_started = True
        elif hidden_tick + (not has_started) <= event.tick <= tick and is_observable(event):
            return True
    return False


def find_premature_inputs(
    scenario: Scenario, timeline_ticks: Sequence[Tick], events: Sequence[Event], journal: Iterable[Input]
) -> list[Input]:
    """Return the actions of a run that came before any symptom that justifies them."""
    return [
        item
        for item in journal
        if not needs_no_evidence(item)
        and lacks_evidence(
            scenario, timeline_ticks, (e for e in events if _precedes_input(e, item)), item.tick
        )
    ]


def _precedes_input(event: Event, input_: Input) -> bool:
    """Return whether *event* came before *input_*.

    At the same tick, only a question of the timeline precedes the input; other events may be results of the
    input.
    """
    return event.tick < input_.tick or (event.tick == input_.tick and event.kind == "question")
