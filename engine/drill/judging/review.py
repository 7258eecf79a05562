"""All facts of a debrief: goals, events, causes, costs, and the reference."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from engine.availability.estimates import Estimate
from engine.constants import TICKS_PER_S
from engine.drill.authoring import facts
from engine.drill.judging import difference, report
from engine.drill.judging.counterfactual import ActionImpact, is_inspection, measure_action_impacts
from engine.drill.judging.difference import FirstDifference, OutcomeRow
from engine.drill.judging.mistakes import Mistake, find_mistakes
from engine.drill.judging.replay_timeline import (
    DOWN,
    HOLDS,
    Lanes,
    Marker,
    PreconditionHistory,
    StateSpan,
    list_markers,
    record_all_lanes,
)
from engine.drill.running.comparison import INSTANCE, find_technology
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_solution_in_slices
from engine.drill.time.cooperative_tasks import Slices, scale_progress
from engine.events import AvailabilityData, Event, select_data
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from engine.localization import LocalizableMessage, build_message, format_run_time, join_messages, mark
from engine.model import Failover, Tick

PHASES: Final = (
    ("failed", "detected", build_message("detection")),
    ("detected", "redo_done", build_message("redo")),
    ("redo_done", "decided", build_message("quorum")),
    ("decided", "online", build_message("role change")),
    ("online", "undo_done", build_message("undo")),
)
"""Phases of a failover: from step, to step, name. During undo, clients work already."""

INSTANCE_PHASES: Final = (
    PHASES[0],
    ("detected", "online", build_message("start and recovery on the new node")),
)
"""Phases of a failover of a failover cluster instance. Its redo is part of the recovery."""

ORDERED: Final = {"detection": build_message("until the command")}
"""Phases that have another name in a failover that a person requested."""


class Phase(Struct, frozen=True):
    """Phase of a failover with its duration."""

    name: str
    from_tick: Tick
    to_tick: Tick


class FailoverReview(Struct, frozen=True):
    """Failover next to its published row, or the reason why no row is comparable."""

    database: str
    kind: str
    cause: str
    from_server: str
    to_server: str
    phases: tuple[Phase, ...]
    took_s: float | None
    """Seconds from detection to the new principal, as the white paper measures them; None if not completed."""
    published_s: float | None
    published_ref: str
    unlike: str
    """Differences from the conditions of the white paper; empty if the failover is comparable with its figures."""
    estimate: Estimate | None = None
    """Availability group: estimate by the published formulas, from the state just before the failure."""


class Outage(Struct, frozen=True):
    """Span without service, with the obstacles of an automatic failover during it."""

    database: str
    span: StateSpan
    server: str
    """Last server on which the database was open."""
    failed_over: bool
    by: str
    """Kind of the failover that ended the outage: automatic, manual or forced; empty if none did."""
    against: tuple[tuple[PreconditionHistory, Tick], ...]
    """Unmet preconditions, each with the tick since when."""
    summary: str
    """Sentence that names the server that took over."""
    verdict: str
    """Sentence that also names the obstacles of an automatic failover."""


class LostTransactions(Struct, frozen=True):
    """Committed transactions that are permanently lost."""

    tick: Tick
    database: str
    server: str
    """Server on which the database is open without them."""
    transactions: int
    kb: float


class PlannedStep(Struct, frozen=True):
    """Step of the reference: its time there, its reason, and its time in this run (None means never)."""

    tick: Tick
    line: str
    why: str
    looks: bool
    """True if the step changes nothing."""
    done_tick: Tick | None


class Reference(Struct, frozen=True):
    """Reference solution next to this run, with the same seed."""

    steps: tuple[PlannedStep, ...]
    besides: tuple[Input, ...]
    """Actions of this run that are not in the reference."""
    outcomes: tuple[OutcomeRow, ...]
    """Outcomes of this run (left) and of the reference (right)."""
    parted: FirstDifference | None
    """First event that differs from the reference; None without a difference."""


class Review(Struct, frozen=True):
    """Data of a debrief for any page, file or printer."""

    title: str
    planned: tuple[str, ...]
    """Goals of the drill."""
    ended: str
    """Sentence about the end of the run."""
    total: float | None
    """Points; None if the run has no score."""
    happened: tuple[Marker, ...]
    lanes: Mapping[str, Lanes]
    failovers: tuple[FailoverReview, ...]
    outages: tuple[Outage, ...]
    lost: tuple[LostTransactions, ...]
    """Lost transactions with their causes."""
    mistakes: tuple[Mistake, ...]
    reference: Reference | None

    def as_json(self) -> dict[str, object]:
        """Return the review in JSON types; fields with "tick" in their names are in ticks of 10 ms."""
        fields: dict[str, object] = report.to_json_types(asdict(self))
        fields["mistakes"] = [report.to_json_types(mistake.as_json()) for mistake in self.mistakes]
        return fields


def review_run(drill: Drill) -> Review:
    """Review *drill* by replaying it and the reference. An exam in progress cannot be reviewed."""
    return run_to_completion(build_review(drill))


def build_review(drill: Drill) -> Slices[Review]:
    """Run `review_run` in slices."""
    lanes = yield from scale_progress(record_all_lanes(drill), 0.0, 0.4)
    reference = yield from scale_progress(_build_reference(drill), 0.4, 0.6)
    impacts: tuple[ActionImpact, ...] = (
        (yield from scale_progress(measure_action_impacts(drill), 0.6, 1.0)) if drill.finished else ()
    )
    steps = [] if reference is None else [s for s in reference.steps if not s.line.startswith("answer ")]
    omitted = [step for step in steps if step.done_tick is None]
    plan = [(s.tick, s.line) for s in omitted if not s.looks]
    score = drill.compute_score()
    return Review(
        title=drill.scenario.title,
        planned=tuple(goal.text for goal in drill.scenario.goals),
        ended=drill.ended_by.value if drill.ended_by else build_message("abandoned"),
        total=score.total if score.scored else None,
        happened=tuple(list_markers(drill.events)),
        lanes=lanes,
        failovers=tuple(_review_failovers(drill, lanes)),
        outages=tuple(outage for lane in lanes.values() for outage in _list_outages(drill, lane)),
        lost=tuple(_find_losses(drill.events)),
        mistakes=tuple(find_mistakes(drill, lanes, plan, impacts)),
        reference=reference,
    )


# --- failovers ----------------------------------------------------------------------------------------------


def _review_failovers(drill: Drill, lanes: Mapping[str, Lanes]) -> list[FailoverReview]:
    reviews = []
    for index, failover in enumerate(drill.world.failovers):
        if failover.online_tick is None:
            continue  # an attempt that failed: the debrief lists it among the events
        technology = find_technology(drill.world, failover)
        stamps = {step: getattr(failover, f"{step}_tick") for step in report.STEPS}
        phases = tuple(
            Phase(
                name if failover.kind == "automatic" else ORDERED.get(name, name), stamps[start], stamps[end]
            )
            for start, end, name in (INSTANCE_PHASES if technology == INSTANCE else PHASES)
            if stamps[start] is not None and stamps[end] is not None and stamps[end] >= stamps[start]
        )
        online, published = failover.online_tick, drill.published.get(index)
        took_s = None if online is None else (online - failover.detected_tick) / TICKS_PER_S
        reviews.append(
            FailoverReview(
                failover.database,
                failover.kind,
                failover.cause,
                failover.from_server,
                failover.to_server,
                phases,
                took_s,
                published[0] if published is not None else None,
                published[1] if published is not None else "",
                drill.unlike.get(index, ""),
                next(
                    (
                        estimate
                        for tick, estimate in lanes[failover.database].estimates
                        if tick == failover.failed_tick and estimate.server == failover.to_server
                    ),
                    None,
                ),
            )
        )
    return reviews


def _find_losses(events: Iterable[Event]) -> list[LostTransactions]:
    """Return the losses of committed transactions, in order of time."""
    return [
        LostTransactions(
            event.tick,
            event.database or "",
            event.server or "",
            round(change.lost_transactions),
            change.lost_kb or 0.0,
        )
        for event, change in select_data(events, AvailabilityData)
        if change.lost_transactions
    ]


# --- reasons why there was no automatic failover ---------------------------------------------------


TAKEOVER_TEXTS: Final = {
    "automatic": mark("{server} took over automatically."),
    "manual": mark("{server} took over on command (manual failover)."),
    "forced": mark("{server} took over on command (forced failover)."),
    "role-move": mark("{server} took over because a command moved its role."),
}


STARTED: Final = mark("{server} took over after a command brought the role online.")
START: Final = re.compile(r"\bstart-cluster(?:group|resource)\b", re.IGNORECASE)


def _was_started(drill: Drill, failover: Failover) -> bool:
    """Return whether a person started the role of an instance that had moved and stayed offline."""
    return find_technology(drill.world, failover) == INSTANCE and any(
        failover.detected_tick < item.tick <= (failover.online_tick or 0)
        and (item.verb == "start-role" or (item.verb == "ps" and START.search(item.args[-1]) is not None))
        for item in drill.journal
    )


def _list_outages(drill: Drill, lanes: Lanes) -> list[Outage]:
    return [
        _build_outage(drill, lanes, span) for span in lanes.service if span.what == DOWN and span.ticks > 0
    ]


def _build_outage(drill: Drill, lanes: Lanes, span: StateSpan) -> Outage:
    server = next((s.what for s in reversed(lanes.where) if s.from_tick <= span.from_tick and s.what), "")
    ending_failover = _find_ending_failover(drill, lanes.database, span)
    automatic = ending_failover is not None and ending_failover.kind == "automatic"
    blockers = (
        ()
        if automatic
        else tuple(
            _find_blocking_preconditions(
                lanes, span, span.to_tick if ending_failover is None else ending_failover.detected_tick
            )
        )
    )
    if automatic and ending_failover is not None:
        takeover_text = (
            STARTED if _was_started(drill, ending_failover) else TAKEOVER_TEXTS[ending_failover.kind]
        )
        verdict = outcome = build_message(takeover_text, server=ending_failover.to_server)
    elif ending_failover is not None:
        outcome = build_message(TAKEOVER_TEXTS[ending_failover.kind], server=ending_failover.to_server)
        verdict = (
            outcome
            if ending_failover.kind in ("manual", "role-move")
            else join_messages(" ", (outcome, _format_blockers(lanes, blockers)))
        )
    else:
        outcome = build_message("No failover.")
        verdict = join_messages(" ", (outcome, _format_blockers(lanes, blockers)))
    kind = ending_failover.kind if ending_failover is not None else ""
    return Outage(lanes.database, span, server, automatic, kind, blockers, outcome, verdict)


def _find_ending_failover(drill: Drill, database: str, span: StateSpan) -> Failover | None:
    """Return the failover that ended an outage.

    A cluster role may count as online just after its database serves again.
    """
    failovers = [
        failover
        for failover in drill.world.failovers
        if failover.database == database and failover.online_tick is not None
    ]
    inner_failovers = (
        failover for failover in failovers if span.from_tick <= (failover.online_tick or 0) <= span.to_tick
    )
    start_tick = (
        failover
        for failover in failovers
        if span.from_tick <= failover.failed_tick < span.to_tick <= (failover.online_tick or 0)
    )
    return next(inner_failovers, None) or next(start_tick, None)


def _find_blocking_preconditions(
    lanes: Lanes, outage: StateSpan, end: Tick
) -> list[tuple[PreconditionHistory, Tick]]:
    """Return (precondition, tick since when) for each precondition that blocked a failover from the loss to *end*.

    These are the ones that were never met. If each was met at some time, they are those that were not met at
    the end. Of several targets, the one with the fewest unmet preconditions counts.
    """
    preconditions = (guard for guard in lanes.preconditions if guard.begins)
    noticed = sorted(span.from_tick for guard in preconditions for span in guard.spans if span.what == HOLDS)
    start = next((tick for tick in noticed if outage.from_tick <= tick < end), outage.from_tick)
    failed_throughout, at_the_end = [], []
    for guard in lanes.preconditions:
        spans = [span for span in guard.spans if span.to_tick > start and span.from_tick < end]
        at_the_loss = guard.find_span(start)
        if not spans and at_the_loss is not None and at_the_loss.to_tick == start:
            spans = [at_the_loss]  # the session was removed in the same tick in which the loss was noticed
        if spans and all(span.what != HOLDS for span in spans):
            failed_throughout.append((guard, spans[0].from_tick))
        elif spans and spans[-1].what != HOLDS:
            at_the_end.append((guard, spans[-1].from_tick))
    stood = failed_throughout or at_the_end
    targets = list(dict.fromkeys(guard.target for guard in lanes.preconditions if guard.target))
    nearest = min(targets, key=lambda name: len([g for g, _ in stood if g.target == name]), default="")
    return [(guard, since_tick) for guard, since_tick in stood if guard.target in ("", nearest)]


def _format_blockers(
    lanes: Lanes, blockers: Sequence[tuple[PreconditionHistory, Tick]]
) -> LocalizableMessage:
    if not blockers and lanes.preconditions:
        return build_message("A failover was possible but not needed: the original server recovered first.")
    if not blockers:
        return build_message("No server was able to take over, or the outage was too short for a failover.")
    messages = (_format_blocker(guard, since_tick) for guard, since_tick in blockers)
    return build_message(
        "Automatic failover was impossible. Not met: {whys}.", whys=join_messages("; ", messages)
    )


def _format_blocker(guard: PreconditionHistory, since_tick: Tick) -> LocalizableMessage:
    if since_tick <= 0:
        return build_message("{guard} (never; see {seen})", guard=guard.name, seen=guard.seen_in)
    return build_message(
        "{guard} (not since {moment}; see {seen})",
        guard=guard.name,
        moment=format_run_time(since_tick / TICKS_PER_S, 1),
        seen=guard.seen_in,
    )


# --- the reference ------------------------------------------------------------------------------------------


def _build_reference(drill: Drill) -> Slices[Reference | None]:
    """Build the reference; None if the drill has no playable solution. Runs in slices."""
    if not drill.scenario.solution:
        return None
    reference_run = Drill(drill.scenario, drill.seed)
    try:
        yield from play_solution_in_slices(reference_run)
    except InputError:
        return None
    own_inputs = [item for item in drill.journal if item.verb not in ("rewind", "finish", "note", "hint")]
    steps = []
    for item, step in zip(reference_run.journal, drill.scenario.solution, strict=False):
        match = next((own_input for own_input in own_inputs if is_same_action(own_input, item)), None)
        if match is not None:
            own_inputs.remove(match)
        done_tick = None if match is None else match.tick
        steps.append(PlannedStep(item.tick, item.line_without_time, step.why, is_inspection(item), done_tick))
    return Reference(
        tuple(steps),
        tuple(own_inputs),
        tuple(difference.compare_outcomes(drill, reference_run)),
        difference.find_first_difference(drill, reference_run),
    )


def is_same_action(left_input: Input, right_input: Input) -> bool:
    """Return whether two inputs do the same: they have the same text, or both only query the same server."""
    if left_input.verb != right_input.verb:
        return False
    if left_input.verb != "sql":
        return left_input.args == right_input.args
    if len({item.args[0].partition("#")[0] for item in (left_input, right_input)}) > 1:
        return False
    texts = [
        _strip_batch(facts.normalize_sql(item.args[1], keep_literals=True))
        for item in (left_input, right_input)
    ]
    return texts[0] == texts[1] or (is_inspection(left_input) and is_inspection(right_input))


def _strip_batch(text: str) -> str:
    """Strip parts without effect from a batch: the semicolon at its end, USE master before it."""
    return text.removeprefix("USE MASTER").lstrip("; ").removeprefix("GO ").rstrip("; ")
