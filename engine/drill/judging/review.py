"""Review of a run for the debrief: goals, events, causes, costs, and the comparison with the reference."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from engine.availability.estimates import GroupFailoverEstimate
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.judging import difference, report
from engine.drill.judging.counterfactual import ActionImpact, is_inspection, measure_action_impacts
from engine.drill.judging.difference import FirstDifference, OutcomeRow
from engine.drill.judging.mistakes import Mistake, find_mistakes
from engine.drill.judging.replay_timeline import (
    DOWN,
    MET,
    DatabaseLanes,
    Marker,
    PreconditionHistory,
    StateSpan,
    list_markers,
    record_all_lanes,
)
from engine.drill.running.drill import Drill
from engine.drill.running.published_comparison import INSTANCE, find_technology
from engine.drill.running.solution import play_solution_in_slices
from engine.drill.time.cooperative_tasks import CooperativeTask, scale_progress
from engine.events import AvailabilityData, Event, SqlDoneData, select_data
from engine.generators import run_to_completion
from engine.inputs import Input, InputError
from engine.localization import LocalizableMessage, build_message, format_run_time, join_messages, mark
from engine.model import Failover, Tick

FAILOVER_PHASES: Final = (
    ("failed", "detected", build_message("detection")),
    ("detected", "redo_done", build_message("redo")),
    ("redo_done", "decided", build_message("quorum")),
    ("decided", "online", build_message("role change")),
    ("online", "undo_done", build_message("undo")),
)
"""(first step, last step, name) of each phase of a failover. During undo, clients already work."""

INSTANCE_FAILOVER_PHASES: Final = (
    FAILOVER_PHASES[0],
    ("detected", "online", build_message("start and recovery on the new node")),
)
"""Like FAILOVER_PHASES, for a failover cluster instance, where redo is part of the recovery."""

REQUESTED_PHASE_NAMES: Final = {"detection": build_message("wait for the command")}
"""Phase -> its name in a failover that a person requested."""


class FailoverPhaseDuration(Struct, frozen=True):
    """Duration of one phase of a failover."""

    name: str
    from_tick: Tick
    to_tick: Tick


class FailoverReview(Struct, frozen=True):
    """Failover compared with its published duration, or the reason why no published duration is comparable."""

    database: str
    kind: str
    cause: str
    """Cause of the failover, for example power-off or manual."""
    from_server: str
    to_server: str
    phases: tuple[FailoverPhaseDuration, ...]
    took_s: float | None
    """Seconds from detection to the new principal; None if not completed.

    The white paper defines the duration of a failover in this way.
    """
    published_s: float | None
    published_ref: str
    """Reference to the comparable row of the published table; empty if no row is comparable."""
    unlike: str
    """Differences from the white paper's conditions; empty if the published durations are comparable."""
    estimate: GroupFailoverEstimate | None = None
    """Estimate by the published formulas from the state just before the failure.

    None unless an availability group failed over.
    """


class Outage(Struct, frozen=True):
    """Time span without service, with the preconditions that prevented an automatic failover."""

    database: str
    span: StateSpan
    server: str
    """Last server on which the database was open before the outage."""
    failed_over: bool
    """True if an automatic failover ended the outage."""
    by: str
    """Kind of the failover that ended the outage, for example automatic, manual or forced; empty if none did."""
    against: tuple[tuple[PreconditionHistory, Tick], ...]
    """(unmet precondition, tick since which it was unmet)."""
    summary: str
    """Sentence that names the failover that ended the outage, or states that there was none."""
    verdict: str
    """Text of `summary`, followed by the unmet preconditions of an automatic failover."""


class LostTransactions(Struct, frozen=True):
    """Committed transactions that are permanently lost."""

    tick: Tick
    database: str
    server: str
    """Server whose copy is now open and lacks these transactions."""
    transactions: int
    kb: float


class PlannedStep(Struct, frozen=True):
    """Step of the reference solution, compared with this run."""

    tick: Tick
    """Time of the step in the reference."""
    line: str
    why: str
    """Reason that the author gives for the step."""
    looks: bool
    """True if the step only inspects something."""
    done_tick: Tick | None
    """Time of the same action in this run; None if the run lacks it."""


class ReferenceComparison(Struct, frozen=True):
    """Comparison of a run with the reference solution. Both have the same seed."""

    steps: tuple[PlannedStep, ...]
    besides: tuple[Input, ...]
    """Actions of this run that the reference does not contain."""
    outcomes: tuple[OutcomeRow, ...]
    """Outcomes of this run (left), and of the reference (right)."""
    parted: FirstDifference | None
    """First event in which this run differs from the reference; None if there is no difference."""


class Review(Struct, frozen=True):
    """Review of a run: all data of its debrief, for the screen and for all exports."""

    title: str
    planned: tuple[str, ...]
    """Goals of the drill."""
    ended: str
    """Sentence about the way in which the run ended."""
    total: float | None
    """Points; None if the run has no score."""
    happened: tuple[Marker, ...]
    """Markers of the timeline."""
    lanes: Mapping[str, DatabaseLanes]
    """Database -> history of its service, protection and state."""
    failovers: tuple[FailoverReview, ...]
    outages: tuple[Outage, ...]
    lost: tuple[LostTransactions, ...]
    """Losses of committed transactions, in order of time."""
    mistakes: tuple[Mistake, ...]
    reference: ReferenceComparison | None

    def as_json(self) -> dict[str, object]:
        """Return the review as JSON types. Fields with "tick" in their names are in ticks of 10 ms."""
        fields: dict[str, object] = report.to_json_types(asdict(self))
        fields["mistakes"] = [report.to_json_types(mistake.as_json()) for mistake in self.mistakes]
        return fields


def review_run(drill: Drill) -> Review:
    """Review *drill* by replaying it and the reference solution. An exam in progress cannot be reviewed."""
    return run_to_completion(review_run_in_slices(drill))


def review_run_in_slices(drill: Drill) -> CooperativeTask[Review]:
    """Build the result of `review_run` in slices."""
    lanes = yield from scale_progress(record_all_lanes(drill), 0.0, 0.4)
    reference = yield from scale_progress(_compare_with_reference(drill), 0.4, 0.6)
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
        lost=tuple(_find_lost_transactions(drill.events)),
        mistakes=tuple(find_mistakes(drill, lanes, plan, impacts)),
        reference=reference,
    )


# --- failovers ----------------------------------------------------------------------------------------------


def _review_failovers(drill: Drill, lanes: Mapping[str, DatabaseLanes]) -> list[FailoverReview]:
    reviews = []
    for index, failover in enumerate(drill.world.failovers):
        if failover.online_tick is None:
            continue  # a failover that was not completed; the debrief lists it among the events
        technology = find_technology(drill.world, failover)
        stamps = {step: getattr(failover, f"{step}_tick") for step in report.FAILOVER_STEPS}
        phases = tuple(
            FailoverPhaseDuration(
                name if failover.kind == "automatic" else REQUESTED_PHASE_NAMES.get(name, name),
                stamps[start],
                stamps[end],
            )
            for start, end, name in (INSTANCE_FAILOVER_PHASES if technology == INSTANCE else FAILOVER_PHASES)
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


def _find_lost_transactions(events: Iterable[Event]) -> list[LostTransactions]:
    """Return all losses of committed transactions, in order of time."""
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
"""Kind of failover -> sentence about the server that took over."""


STARTED_BY_COMMAND_TEXT: Final = mark("{server} took over after a command brought the role online.")
"""Sentence about a failover that needed a command to bring the role online."""
START_COMMAND_PATTERN: Final = re.compile(r"\bstart-cluster(?:group|resource)\b", re.IGNORECASE)
"""Pattern of PowerShell commands that bring a role or resource online."""


def _was_role_started(drill: Drill, failover: Failover) -> bool:
    """Return whether a person started the cluster role, which had stayed offline after the failover.

    The result is False if *failover* is not that of a failover cluster instance.
    """
    return find_technology(drill.world, failover) == INSTANCE and any(
        failover.detected_tick < item.tick <= (failover.online_tick or 0)
        and (
            item.verb == "start-role"
            or (item.verb == "ps" and START_COMMAND_PATTERN.search(item.args[-1]) is not None)
        )
        for item in drill.journal
    )


def _list_outages(drill: Drill, lanes: DatabaseLanes) -> list[Outage]:
    return [
        _build_outage(drill, lanes, span) for span in lanes.service if span.what == DOWN and span.ticks > 0
    ]


def _build_outage(drill: Drill, lanes: DatabaseLanes, span: StateSpan) -> Outage:
    server = next((s.what for s in reversed(lanes.where) if s.from_tick <= span.from_tick and s.what), "")
    ending_failover = _find_ending_failover(drill, lanes.database, span)
    automatic = ending_failover is not None and ending_failover.kind == "automatic"
    recovered_first = ending_failover is None and _could_fail_over(lanes.preconditions, span)
    blockers = (
        ()
        if automatic or recovered_first
        else tuple(
            _find_blocking_preconditions(
                lanes, span, span.to_tick if ending_failover is None else ending_failover.detected_tick
            )
        )
    )
    if automatic and ending_failover is not None:
        takeover_text = (
            STARTED_BY_COMMAND_TEXT
            if _was_role_started(drill, ending_failover)
            else TAKEOVER_TEXTS[ending_failover.kind]
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
    """Return the failover that ended the outage *span*; None if no failover ended it.

    A cluster role may be recorded as online shortly after its database is in service again.
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


def _could_fail_over(preconditions: Sequence[PreconditionHistory], outage: StateSpan) -> bool:
    """Return whether all preconditions of a failover to a target were met at the same time during an outage."""
    targets = {guard.target for guard in preconditions if guard.target} or {""}
    starts = [outage.from_tick, *(span.from_tick for guard in preconditions for span in guard.spans)]
    ticks = sorted({tick for tick in starts if outage.from_tick <= tick < outage.to_tick})
    return any(
        all(
            (span := guard.find_span(tick)) is not None and span.what == MET
            for guard in preconditions
            if guard.target in ("", target)
        )
        for target in targets
        for tick in ticks
        if preconditions
    )


def _find_blocking_preconditions(
    lanes: DatabaseLanes, outage: StateSpan, end: Tick
) -> list[tuple[PreconditionHistory, Tick]]:
    """Return (precondition, tick since which it was unmet) for each precondition that blocked a failover.

    A precondition blocked it if it was unmet from the detection of the loss to *end*. If there is none,
    the preconditions that were unmet at *end* are returned. If there are several possible targets, only
    the target with the fewest unmet preconditions counts.
    """
    preconditions = (guard for guard in lanes.preconditions if guard.begins)
    noticed = sorted(span.from_tick for guard in preconditions for span in guard.spans if span.what == MET)
    start = next((tick for tick in noticed if outage.from_tick <= tick < end), outage.from_tick)
    failed_throughout, at_the_end = [], []
    for guard in lanes.preconditions:
        spans = [span for span in guard.spans if span.to_tick > start and span.from_tick < end]
        at_the_loss = guard.find_span(start)
        if not spans and at_the_loss is not None and at_the_loss.to_tick == start:
            spans = [at_the_loss]  # the session was removed in the tick in which the loss was detected
        if spans and all(span.what != MET for span in spans):
            failed_throughout.append((guard, spans[0].from_tick))
        elif spans and spans[-1].what != MET:
            at_the_end.append((guard, spans[-1].from_tick))
    stood = failed_throughout or at_the_end
    targets = list(dict.fromkeys(guard.target for guard in lanes.preconditions if guard.target))
    nearest = min(targets, key=lambda name: len([g for g, _ in stood if g.target == name]), default="")
    return [(guard, since_tick) for guard, since_tick in stood if guard.target in ("", nearest)]


def _format_blockers(
    lanes: DatabaseLanes, blockers: Sequence[tuple[PreconditionHistory, Tick]]
) -> LocalizableMessage:
    if not blockers and lanes.preconditions:
        return build_message(
            "All preconditions were met for a time, but the original server recovered before a failover completed."
        )
    if not blockers:
        return build_message("No server was able to take over, or the outage was too short for a failover.")
    messages = (_format_blocker(guard, since_tick) for guard, since_tick in blockers)
    return build_message(
        "Automatic failover was impossible. Not met: {whys}.", whys=join_messages("; ", messages)
    )


def _format_blocker(precondition: PreconditionHistory, since_tick: Tick) -> LocalizableMessage:
    if since_tick <= 0:
        return build_message(
            "{guard} (never met; see {seen})", guard=precondition.name, seen=precondition.seen_in
        )
    return build_message(
        "{guard} (not met since {moment}; see {seen})",
        guard=precondition.name,
        moment=format_run_time(since_tick / TICKS_PER_S, 1),
        seen=precondition.seen_in,
    )


# --- the reference ------------------------------------------------------------------------------------------


def _compare_with_reference(drill: Drill) -> CooperativeTask[ReferenceComparison | None]:
    """Build the comparison with the reference; None if the drill has no playable solution. Runs in slices."""
    if not drill.scenario.solution:
        return None
    reference_run = Drill(drill.scenario, drill.seed)
    try:
        yield from play_solution_in_slices(reference_run)
    except InputError:
        return None
    own_inputs = [item for item in drill.journal if item.verb not in ("rewind", "finish", "note", "hint")]
    failed_batches, expected_failures = _find_failed_batches(drill), _find_failed_batches(reference_run)
    steps = []
    for item, step in zip(reference_run.journal, drill.scenario.solution, strict=False):
        done_inputs = (
            own_input
            for own_input in own_inputs
            if own_input.args not in failed_batches or item.args in expected_failures
        )
        match = next((own_input for own_input in done_inputs if is_same_action(own_input, item)), None)
        if match is not None:
            own_inputs.remove(match)
        done_tick = None if match is None else match.tick
        steps.append(PlannedStep(item.tick, item.line_without_time, step.why, is_inspection(item), done_tick))
    return ReferenceComparison(
        tuple(steps),
        tuple(own_inputs),
        tuple(difference.compare_outcomes(drill, reference_run)),
        difference.find_first_difference(drill, reference_run),
    )


INFORMATION_SEVERITY_MAX: Final = 10
"""Maximum severity of a message that is not an error, as in `engine.messages`."""


def _find_failed_batches(drill: Drill) -> set[tuple[str, ...]]:
    """Return the batches that ended with an error each time, as arguments of the input `sql`."""
    outcomes = [
        (
            (batch.window, batch.batch),
            any(row["severity"] > INFORMATION_SEVERITY_MAX for row in batch.messages),
        )
        for _, batch in select_data(drill.events, SqlDoneData)
    ]
    succeeded = {arguments for arguments, has_failed in outcomes if not has_failed}
    return {arguments for arguments, _ in outcomes if arguments not in succeeded}


def is_same_action(left_input: Input, right_input: Input) -> bool:
    """Return whether two inputs are the same action.

    They have the same text, or both only query the same server.
    """
    if left_input.verb != right_input.verb:
        return False
    if left_input.verb != "sql":
        return left_input.args == right_input.args
    if len({item.args[0].partition("#")[0] for item in (left_input, right_input)}) > 1:
        return False
    texts = [
        _remove_ineffective_parts(condition_context.normalize_sql(item.args[1], keep_literals=True))
        for item in (left_input, right_input)
    ]
    return texts[0] == texts[1] or (is_inspection(left_input) and is_inspection(right_input))


def _remove_ineffective_parts(text: str) -> str:
    """Return a batch without parts that have no effect: semicolons and USE master."""
    return text.removeprefix("USE MASTER").lstrip("; ").removeprefix("GO ").rstrip("; ")
