"""Everything that a debrief tells: what was planned, what happened, why, what it cost, and what the reference did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from engine.availability.estimates import Estimate
from engine.constants import TICKS_PER_S
from engine.drill.authoring import batches
from engine.drill.judging import difference, report
from engine.drill.judging.counterfactual import Deed, looks, weighing
from engine.drill.judging.difference import FirstDifference, OutcomeRow
from engine.drill.judging.markers import Marker, markers
from engine.drill.judging.mistakes import Mistake, mistakes
from engine.drill.judging.watch import DOWN, HOLDS, Lanes, Precondition, Span, watching
from engine.drill.running.drill import Drill
from engine.drill.running.solution import solving
from engine.drill.time.slices import Slices, part
from engine.inputs import Input, InputProblem
from engine.model import Tick
from engine.stepwise import at_once
from engine.words import Sentence, joined, mark, run_time, say

PHASES: Final = (
    ("failed", "detected", say("detection")),
    ("detected", "redo_done", say("redo")),
    ("redo_done", "decided", say("decision")),
    ("decided", "online", say("role change")),
    ("online", "undo_done", say("undo")),
)
"""From step, to step, name: what a failover's time goes into. Undo runs while clients work again."""

ORDERED: Final = {"detection": say("until the command")}
"""Phases by another name where a failover was ordered."""


@dataclass(frozen=True, slots=True)
class Phase:
    name: str
    from_tick: Tick
    to_tick: Tick


@dataclass(frozen=True, slots=True)
class FailoverReview:
    """One failover beside the published row, or the reason why there is none for it."""

    database: str
    kind: str
    cause: str
    from_server: str
    to_server: str
    phases: tuple[Phase, ...]
    took_s: float | None
    """From detection to the new principal, as in the paper; None if it was not completed."""
    published_s: float | None
    published_ref: str
    unlike: str
    """What sets it apart from the paper's conditions; empty if it may be compared."""
    estimate: Estimate | None = None
    """What the published formulas gave just before, in an availability group."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A stretch without service, and what stood against an automatic failover meanwhile."""

    database: str
    span: Span
    server: str
    """Which had served it."""
    failed_over: bool
    by: str
    """Kind of the failover that ended it: automatic, manual or forced; empty if none did."""
    against: tuple[tuple[Precondition, Tick], ...]
    """Preconditions that did not hold, and since when."""
    told: str
    """Who took over, in a sentence."""
    verdict: str
    """The same, and what stood against an automatic failover."""


@dataclass(frozen=True, slots=True)
class LostWork:
    """Committed transactions that are gone for good."""

    tick: Tick
    database: str
    server: str
    """That serves without them."""
    transactions: int
    kb: float


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of the reference: when it came there, why, and when it was done here; None: never."""

    tick: Tick
    line: str
    why: str
    looks: bool
    """It changes nothing."""
    done_tick: Tick | None


@dataclass(frozen=True, slots=True)
class Reference:
    """The reference solution beside this run, with the same seed."""

    steps: tuple[PlannedStep, ...]
    besides: tuple[Input, ...]
    """What was done here and not there."""
    outcomes: tuple[OutcomeRow, ...]
    """Left: this run; right: the reference."""
    parted: FirstDifference | None


@dataclass(frozen=True, slots=True)
class Review:
    """The data of a debrief, for any page, file or printer to show."""

    title: str
    planned: tuple[str, ...]
    """The goals."""
    ended: str
    total: float | None
    """Points; None where nothing is scored."""
    happened: tuple[Marker, ...]
    lanes: Mapping[str, Lanes]
    failovers: tuple[FailoverReview, ...]
    outages: tuple[Outage, ...]
    lost: tuple[LostWork, ...]
    mistakes: tuple[Mistake, ...]
    reference: Reference | None

    def as_json(self) -> dict[str, object]:
        """All of it in types that JSON knows; times in ticks of 10 ms where a name says tick."""
        plain: dict[str, object] = report.plain(asdict(self))
        plain["mistakes"] = [mistake.as_json() for mistake in self.mistakes]
        return plain


def review(drill: Drill) -> Review:
    """Look back on *drill*: it is played again, and so is the reference. Not for an exam that is not over."""
    return at_once(reviewing(drill))


def reviewing(drill: Drill) -> Slices[Review]:
    """`review` in slices."""
    lanes = yield from part(watching(drill), 0.0, 0.4)
    reference = yield from part(_reference(drill), 0.4, 0.6)
    deeds: tuple[Deed, ...] = (yield from part(weighing(drill), 0.6, 1.0)) if drill.finished else ()
    steps = [] if reference is None else [s for s in reference.steps if not s.line.startswith("answer ")]
    omitted = [step for step in steps if step.done_tick is None]
    plan = [(s.tick, s.line) for s in omitted if not s.looks]
    score = drill.score()
    return Review(
        title=drill.scenario.title,
        planned=tuple(goal.text for goal in drill.scenario.goals),
        ended=drill.ended_by.value if drill.ended_by else say("it was abandoned"),
        total=score.total if score.scored else None,
        happened=tuple(markers(drill.events)),
        lanes=lanes,
        failovers=tuple(_failovers(drill, lanes)),
        outages=tuple(outage for lane in lanes.values() for outage in _outages(drill, lane)),
        lost=tuple(_lost(drill)),
        mistakes=tuple(mistakes(drill, lanes, plan, deeds)),
        reference=reference,
    )


# --- failovers ----------------------------------------------------------------------------------------------


def _failovers(drill: Drill, lanes: Mapping[str, Lanes]) -> list[FailoverReview]:
    found = []
    for place, failover in enumerate(drill.world.failovers):
        if failover.online_tick is None:
            continue  # an attempt: the debrief tells it among the events
        stamps = {step: getattr(failover, f"{step}_tick") for step in report.STEPS}
        phases = tuple(
            Phase(
                name if failover.kind == "automatic" else ORDERED.get(name, name), stamps[start], stamps[end]
            )
            for start, end, name in PHASES
            if stamps[start] is not None and stamps[end] is not None and stamps[end] >= stamps[start]
        )
        online, published = failover.online_tick, drill.published.get(place)
        took = None if online is None else (online - failover.detected_tick) / TICKS_PER_S
        found.append(
            FailoverReview(
                failover.database,
                failover.kind,
                failover.cause,
                failover.from_server,
                failover.to_server,
                phases,
                took,
                published[0] if published is not None else None,
                published[1] if published is not None else "",
                drill.unlike.get(place, ""),
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
    return found


def _lost(drill: Drill) -> list[LostWork]:
    return [
        LostWork(
            event.tick,
            event.database or "",
            event.server or "",
            round(event.get("lost_transactions")),
            float(event.get("lost_kb", 0.0)),
        )
        for event in drill.events
        if event.get("lost_transactions")
    ]


# --- why there was no automatic failover --------------------------------------------------------------------


TOOK_OVER: Final = {
    "automatic": mark("{server} took over automatically."),
    "manual": mark("{server} took over by command (manual)."),
    "forced": mark("{server} took over by command (forced)."),
    "role-move": mark("{server} took over because its role was moved there."),
}


def _outages(drill: Drill, lanes: Lanes) -> list[Outage]:
    return [_outage(drill, lanes, span) for span in lanes.service if span.what == DOWN and span.ticks > 0]


def _outage(drill: Drill, lanes: Lanes, span: Span) -> Outage:
    server = next((s.what for s in reversed(lanes.where) if s.from_tick <= span.from_tick and s.what), "")
    done = next(
        (
            failover
            for failover in drill.world.failovers
            if failover.database == lanes.database
            and failover.online_tick is not None
            and span.from_tick <= failover.online_tick <= span.to_tick
        ),
        None,
    )
    automatic = done is not None and done.kind == "automatic"
    against = (
        ()
        if automatic
        else tuple(_against(lanes, span, span.to_tick if done is None else done.detected_tick))
    )
    if automatic and done is not None:
        verdict = told = say(TOOK_OVER[done.kind], server=done.to_server)
    elif done is not None:
        told = say(TOOK_OVER[done.kind], server=done.to_server)
        verdict = (
            told if done.kind in ("manual", "role-move") else joined(" ", (told, _reasons(lanes, against)))
        )
    else:
        told = say("There was no failover.")
        verdict = joined(" ", (told, _reasons(lanes, against)))
    by = done.kind if done is not None else ""
    return Outage(lanes.database, span, server, automatic, by, against, told, verdict)


def _against(lanes: Lanes, outage: Span, end: Tick) -> list[tuple[Precondition, Tick]]:
    """Preconditions that stood against a failover from the loss of the principal to *end*, and since when.

    Those that never held meanwhile; if each held at some time, those that did not at the end of it. Of several targets
    the one that came nearest.
    """
    lost = (guard for guard in lanes.preconditions if guard.begins)
    noticed = sorted(span.from_tick for guard in lost for span in guard.spans if span.what == HOLDS)
    start = next((tick for tick in noticed if outage.from_tick <= tick < end), outage.from_tick)
    never, at_the_end = [], []
    for guard in lanes.preconditions:
        inside = [span for span in guard.spans if span.to_tick > start and span.from_tick < end]
        at_the_loss = guard.at(start)
        if not inside and at_the_loss is not None and at_the_loss.to_tick == start:
            inside = [at_the_loss]  # the session was removed in the tick in which the loss was noticed
        if inside and all(span.what != HOLDS for span in inside):
            never.append((guard, inside[0].from_tick))
        elif inside and inside[-1].what != HOLDS:
            at_the_end.append((guard, inside[-1].from_tick))
    stood = never or at_the_end
    targets = list(dict.fromkeys(guard.target for guard in lanes.preconditions if guard.target))
    nearest = min(targets, key=lambda name: len([g for g, _ in stood if g.target == name]), default="")
    return [(guard, since) for guard, since in stood if guard.target in ("", nearest)]


def _reasons(lanes: Lanes, against: Sequence[tuple[Precondition, Tick]]) -> Sentence:
    if not against and lanes.preconditions:
        return say("Nothing stood against one: service was back where it had been before a failover began.")
    if not against:
        return say("The database was not mirrored then, or the outage was too short for a failover.")
    said = (_failed(guard, since) for guard, since in against)
    return say("Automatic failover was not possible: {whys}.", whys=joined("; ", said))


def _failed(guard: Precondition, since: Tick) -> Sentence:
    if since <= 0:
        return say(
            "“{guard}” did not hold from the start (seen in {seen})", guard=guard.name, seen=guard.seen_in
        )
    return say(
        "“{guard}” did not hold from {moment} on (seen in {seen})",
        guard=guard.name,
        moment=run_time(since / TICKS_PER_S, 1),
        seen=guard.seen_in,
    )


# --- the reference ------------------------------------------------------------------------------------------


def _reference(drill: Drill) -> Slices[Reference | None]:
    """None without a reference that can be played."""
    if not drill.scenario.solution:
        return None
    other = Drill(drill.scenario, drill.seed)
    try:
        yield from solving(other)
    except InputProblem:
        return None
    done = [item for item in drill.journal if item.verb not in ("rewind", "finish", "note", "hint")]
    steps = []
    for item, step in zip(other.journal, drill.scenario.solution, strict=False):
        match = next((mine for mine in done if same_act(mine, item)), None)
        if match is not None:
            done.remove(match)
        done_tick = None if match is None else match.tick
        steps.append(PlannedStep(item.tick, item.words, step.why, looks(item), done_tick))
    return Reference(
        tuple(steps),
        tuple(done),
        tuple(difference.outcomes(drill, other)),
        difference.first_difference(drill, other),
    )


def same_act(one: Input, other: Input) -> bool:
    """Whether two inputs do the same: the same words, or both only look at the same server."""
    if one.verb != other.verb:
        return False
    if one.verb != "sql":
        return one.args == other.args
    if len({item.args[0].partition("#")[0] for item in (one, other)}) > 1:
        return False
    texts = [_core(batches.plain(item.args[1], keep_literals=True)) for item in (one, other)]
    return texts[0] == texts[1] or (looks(one) and looks(other))


def _core(text: str) -> str:
    """A batch without what changes nothing about its effect: the semicolon at its end, USE master before it."""
    return text.removeprefix("USE MASTER").lstrip("; ").removeprefix("GO ").rstrip("; ")
