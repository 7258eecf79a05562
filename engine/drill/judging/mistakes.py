"""Mistakes of a run: time, cause, lost points, better alternative, and start of a retry."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.authoring.schema import AnyRule, DowntimeRule, LostTransactionsRule, UnprotectedRule
from engine.drill.judging import counterfactual
from engine.drill.judging.counterfactual import ActionImpact, is_inspection
from engine.drill.judging.replay_timeline import DOWN, UNPROTECTED, DatabaseLanes, StateSpan
from engine.drill.judging.report_types import LOSS_LABELS
from engine.drill.judging.score import DISABLED_FAILOVER_ITEM
from engine.drill.judging.scored_run import Loss, RubricItem
from engine.drill.running.drill import Drill
from engine.events import AvailabilityData, SqlDoneData, select_data
from engine.inputs import Input
from engine.localization import build_message
from engine.model import Tick, to_ticks
from engine.verbs import REMARK_VERBS
from engine.verbs.input_lines import describe_input, describe_line, parse_input_line

RAN_PATTERN: Final = re.compile(r'(?<!not )\bran "([^"]+)"(?: on (\w+))?', re.IGNORECASE)
"""Pattern of `ran "statement" on SERVER` in a condition: the statement and its server."""

FAILOVER_CLAUSES: Final = ("FAILOVER", "FORCE_SERVICE")
"""Texts of statements that start a failover."""

CAUSE_DELAY_TICKS_MAX: Final = to_ticks(2.0)
"""Maximum ticks from an action to the detection of its effect by a condition.

Conditions are checked every second, and a batch takes time.
"""

COUNTERFACTUAL_REASON: Final = build_message("This mistake decided the result.")
"""Reason of a mistake that no rule covers: the run would score more without the action."""

COUNTERFACTUAL_GAIN_MIN: Final = 1.0
"""Minimum gain without an action, in points, for which the action counts as a mistake."""


class Mistake(Struct, frozen=True):
    """Action or omission that cost points, with its cause and a better alternative."""

    tick: Tick
    rule: str
    """Name of the rubric item that lost the points."""
    what: str
    """Reason for the lost points."""
    cause: str
    """Action or event that caused the loss, or the missing action; empty if there is no specific cause."""
    points: float
    """Points that were lost."""
    better: str
    """Advice for the full points."""
    retry_tick: Tick
    """Time at which a retry begins, before any action at this tick (`seek(…, before_inputs=True)`)."""
    cause_tick: Tick | None = None
    """Time of the cause; for a missing action, its time in the reference."""
    cause_impact: ActionImpact | None = None
    """Comparison with the run without the causing action; None if there is no such action, or it was not
    tested.
    """
    is_omission: bool = False
    """True if the cause is a missing action."""

    @property
    def size(self) -> str:
        """Label by the lost points: "blunder", "mistake" or "inaccuracy"."""
        return next((name for points, name in LOSS_LABELS if self.points >= points), LOSS_LABELS[-1][1])

    def as_json(self) -> dict[str, object]:
        """Return the mistake as names and values, for `to_json_types`."""
        return {
            "at_s": self.tick / TICKS_PER_S,
            "rule": self.rule,
            "what": self.what,
            "cause": self.cause,
            "cause_s": None if self.cause_tick is None else self.cause_tick / TICKS_PER_S,
            "points": self.points,
            "size": self.size,
            "better": self.better,
            "retry_s": self.retry_tick / TICKS_PER_S,
            "without": self.cause_impact,
        }


def find_mistakes(
    drill: Drill,
    lanes: Mapping[str, DatabaseLanes],
    missing_steps: Sequence[tuple[Tick, str]],
    impacts: Sequence[ActionImpact] = (),
) -> list[Mistake]:
    """Return all mistakes: first those with a costly cause, by cost; then the others, in order of time.

    *lanes*: database -> history. *missing_steps*: (tick, text) of the reference's actions that this run
    lacks. *impacts*: impacts of the run's actions on its result.
    """
    rules = {rule.name: rule for rule in drill.scenario.rubric}
    deeds_by_place = {move.place: move for move in impacts}
    items = drill.compute_score().items
    advice = {
        loss.cause: loss.better
        for item in items
        if item.name == DISABLED_FAILOVER_ITEM
        for loss in item.losses
    }
    mistake_list = []
    for item in items:
        for loss in item.losses:
            if loss.points > 0.0 and not loss.was_not_asked:
                mistake = _build_mistake(
                    drill, item, loss, rules.get(item.name), lanes, missing_steps, deeds_by_place
                )
                mistake_list.append(_add_failover_advice(mistake, rules.get(item.name), advice))
    explained = {mistake.cause_impact.place for mistake in mistake_list if mistake.cause_impact is not None}
    mistake_list += [
        Mistake(
            move.tick,
            "",
            COUNTERFACTUAL_REASON,
            move.what,
            move.points,
            "",
            _find_retry_tick(drill, move.place),
            move.tick,
            move,
        )
        for move in impacts
        if move.points >= COUNTERFACTUAL_GAIN_MIN and move.place not in explained
    ]
    return sorted(
        mistake_list, key=lambda m: (-(m.cause_impact.points if m.cause_impact else 0.0), m.tick, -m.points)
    )


def _build_mistake(
    drill: Drill,
    item: RubricItem,
    loss: Loss,
    rule: AnyRule | None,
    lanes: Mapping[str, DatabaseLanes],
    plan: Sequence[tuple[Tick, str]],
    impacts_by_index: Mapping[int, ActionImpact],
) -> Mistake:
    longest = _find_longest_span(rule, lanes)
    loss_tick = longest.from_tick if longest else drill.tick if loss.tick is None else loss.tick
    if isinstance(rule, LostTransactionsRule):
        loss_tick = next(
            (
                event.tick
                for event, change in select_data(drill.events, AvailabilityData)
                if change.lost_transactions
            ),
            loss_tick,
        )
    index = (
        _find_costliest_action(item.name, impacts_by_index)
        if longest is not None or loss.tick is None
        else _find_causing_action(drill, loss_tick, loss)
    )
    if index is None and isinstance(rule, DowntimeRule):
        index = _find_action_prolonging_outage(impacts_by_index)
    if isinstance(rule, LostTransactionsRule):
        index = _find_causing_action(drill, loss_tick)
    retry_tick = counterfactual.find_retry_tick(loss_tick, None, drill.journal)
    mistake = Mistake(loss_tick, item.name, loss.reason, loss.cause, loss.points, loss.better, retry_tick)
    if index is not None:
        action = drill.journal[index]
        with_cause = replace(mistake, cause=loss.cause or describe_input(action), cause_tick=action.tick)
        return replace(
            with_cause, retry_tick=_find_retry_tick(drill, index), cause_impact=impacts_by_index.get(index)
        )
    if rule is not None and rule.kind in ("goals", "condition") and plan:
        tick, line = plan[0]
        step = parse_input_line(line, min(tick, loss_tick))
        choices = {inquiry.name: inquiry.texts for inquiry in drill.scenario.inquiries}
        cause = build_message("Missing action: {line}", line=describe_input(step, choices))
        retry_tick = min(
            counterfactual.find_retry_tick(step.tick, step, drill.journal),
            _find_retry_tick_before_harm(drill),
        )
        return replace(mistake, cause=cause, cause_tick=step.tick, is_omission=True, retry_tick=retry_tick)
    if loss.cause:
        return mistake
    before, event_tick = _find_preceding_event(drill, loss_tick)
    if event_tick is not None and event_tick >= retry_tick:  # a retry must begin before the cause
        retry_tick = counterfactual.find_retry_tick(event_tick, None, drill.journal)
    return replace(mistake, cause=before, cause_tick=event_tick, retry_tick=retry_tick)


def _find_retry_tick_before_harm(drill: Drill) -> Tick:
    """Return the latest retry time before the first harmful command; `drill.tick` if there is none.

    After a harmful command, a missing step may no longer be possible.
    """
    losses = [loss for item in drill.compute_score().items for loss in item.losses if loss.condition]
    indexes = [
        _find_condition_statement(drill, loss.tick, loss.condition)
        for loss in losses
        if loss.tick is not None
    ]
    return min((_find_retry_tick(drill, index) for index in indexes if index is not None), default=drill.tick)


def _find_retry_tick(drill: Drill, index: int) -> Tick:
    action = drill.journal[index]
    return counterfactual.find_retry_tick(action.tick, action, drill.journal[:index])


def _find_costliest_action(item: str, impacts_by_index: Mapping[int, ActionImpact]) -> int | None:
    """Return the journal index of the action that cost the most points of the rubric item *item*.

    The result is None if no tested action cost at least COUNTERFACTUAL_GAIN_MIN points of it.
    """
    best = max(
        impacts_by_index.values(),
        key=lambda deed: (deed.get_gained_points(item), deed.points, -deed.place),
        default=None,
    )
    return (
        best.place if best is not None and best.get_gained_points(item) >= COUNTERFACTUAL_GAIN_MIN else None
    )


def _find_action_prolonging_outage(impacts_by_index: Mapping[int, ActionImpact]) -> int | None:
    """Return the index of the action that prolonged the downtime most; None if no action at least doubled it."""
    best = min(
        impacts_by_index.values(), key=lambda deed: (_get_downtimes_s(deed)[1], deed.place), default=None
    )
    if best is None:
        return None
    own_outage, theirs = _get_downtimes_s(best)
    return best.place if theirs < own_outage / 2.0 else None


def _get_downtimes_s(impact: ActionImpact) -> tuple[float, float]:
    """Return (downtime with the action, downtime without it), in seconds."""
    return next(((row.left, row.right) for row in impact.outcomes if row.name == "downtime_s"), (0.0, 0.0))


def _add_failover_advice(mistake: Mistake, rule: AnyRule | None, advice: Mapping[str, str]) -> Mistake:
    """Replace the advice of *mistake* if its cause is a command that disabled automatic failover.

    *rule*: rule of the mistake; only a downtime rule leads to a replacement. *advice*: command -> new
    advice.
    """
    if isinstance(rule, DowntimeRule) and mistake.cause_impact is not None:
        return replace(mistake, better=advice.get(mistake.cause_impact.what, mistake.better))
    return mistake


def _find_causing_action(drill: Drill, tick: Tick, loss: Loss | None = None) -> int | None:
    """Return the journal index of the input that caused the event at *tick*; None if there is none.

    Candidates, in this order: a statement that the condition of *loss* names; the command of a failover that
    ended at *tick*; a statement that ended at *tick*; the last action shortly before.
    """
    if loss is not None and (index := _find_condition_statement(drill, tick, loss.condition)) is not None:
        return index
    window = range(tick - TICKS_PER_S, tick + 1)
    ordered = [
        (f.to_server if f.kind == "forced" else f.from_server, f.detected_tick, FAILOVER_CLAUSES)
        for f in drill.world.failovers
        if f.kind in ("manual", "forced") and f.online_tick in window
    ]
    statements = [
        (event.server, batch.started_tick, (batch.batch,))
        for event, batch in select_data(drill.events, SqlDoneData)
        if event.tick in window and not condition_context.is_timeline_window(batch.window)
    ]
    if loss is not None and loss.cause:
        statements.sort(key=lambda row: f"{' '.join(row[2][0].split())} on {row[0]}" == loss.cause)
    for server, action_tick, texts in [*ordered[-1:], *reversed(statements)]:
        index = _find_statement(drill, server or "", action_tick, texts)
        if index is not None:
            return index
    return _find_last_action(drill, lambda item: tick - CAUSE_DELAY_TICKS_MAX <= item.tick <= tick)


def _find_condition_statement(drill: Drill, tick: Tick, condition: str) -> int | None:
    """Return the index of the last statement up to *tick* that *condition* tests with `ran`.

    The result is None if there is none.
    """
    for text, server in RAN_PATTERN.findall(condition):
        statement = _find_statement(drill, server, tick, (text,))
        if statement is not None:
            return statement
    return None


def _find_statement(drill: Drill, server: str, tick: Tick, texts: Sequence[str]) -> int | None:
    """Return the index of the last statement up to *tick* on *server* that contains one of *texts*.

    If there is none, return the last statement up to *tick* on *server* with any text. An empty
    *server* means any server, and then a text must match. Texts are compared because several statements
    may have the same tick.
    """
    normalized_texts = [condition_context.normalize_sql(text, keep_literals=True) for text in texts]

    def is_sent_to_server(input_: Input) -> bool:
        target_server = input_.args[0].partition("#")[0] if input_.verb == "sql" else None
        return target_server is not None and server in ("", target_server) and input_.tick <= tick

    def has_text(input_: Input) -> bool:
        return is_sent_to_server(input_) and any(
            text in condition_context.normalize_sql(input_.args[1], keep_literals=True)
            for text in normalized_texts
        )

    last_action = _find_last_action(drill, has_text)
    return (
        last_action if last_action is not None or not server else _find_last_action(drill, is_sent_to_server)
    )


def _find_last_action(drill: Drill, predicate: Callable[[Input], bool]) -> int | None:
    """Return the index of the last action in the journal that meets *predicate*; None if there is none."""
    numbered = reversed(list(enumerate(drill.journal)))
    return next(
        (
            n
            for n, item in numbered
            if item.verb not in REMARK_VERBS and not is_inspection(item) and predicate(item)
        ),
        None,
    )


def _find_longest_span(rule: AnyRule | None, lanes: Mapping[str, DatabaseLanes]) -> StateSpan | None:
    """Return the longest time span that costs points under *rule*; None if the rule does not score durations."""
    if not isinstance(rule, (DowntimeRule, UnprotectedRule)):
        return None
    rule_lanes = [lane for name, lane in lanes.items() if rule.database in (None, name)]
    down = isinstance(rule, DowntimeRule)
    spans = (span for lane in rule_lanes for span in (lane.service if down else lane.protection))
    return max(
        (s for s in spans if s.what == (DOWN if down else UNPROTECTED)), key=lambda s: s.ticks, default=None
    )


_CAUSE_KINDS: Final = ("fault", "chore", "sql")
"""Kinds of events that can be the cause of a mistake."""


def _find_preceding_event(drill: Drill, tick: Tick) -> tuple[str, Tick | None]:
    """Return text and time of the last action or fault at or before *tick*; ("", None) if there is none."""
    before = [event for event in drill.events if event.kind in _CAUSE_KINDS and event.tick <= tick]
    if not before:
        return "", None
    last_event = before[-1]
    description = describe_line(last_event.text) if last_event.kind == "fault" else last_event.text
    if last_event.kind == "sql" and last_event.server:
        description = build_message(
            "{batch} on {server}", batch=" ".join(last_event.text.split()), server=last_event.server
        )
    return description, last_event.tick
