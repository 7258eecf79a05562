"""The score of a drill: every point with its reason, its moments and what would have been better.

Points for outcome and conduct are earned by finishing: as long as a goal is missing only the goals count, so that
doing nothing is never worth more than doing it badly, and nobody who did not finish ranks above one who did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring import batches, facts
from engine.drill.authoring.schema import (
    AnyRule,
    CallsRule,
    ConditionRule,
    ConductRule,
    DiagnosisRule,
    DowntimeRule,
    ExposedRule,
    ForbiddenRule,
    Goal,
    GoalsRule,
    LostRule,
    PredictionRule,
    Scenario,
    StatusRule,
)
from engine.drill.judging import given_up_failover, reverted_actions
from engine.drill.judging.course import Course
from engine.drill.judging.shapes import ItemJson, LossJson
from engine.drill.running.questions import LATER, Inquiry, counts, verdict
from engine.drill.team.calls import fault_of, orders
from engine.drill.team.rights import shown
from engine.drill.time.event_log import of
from engine.events import Event
from engine.model import Tick, ticks
from engine.words import Sentence, joined, lasting, mark, run_time, say

TOTAL_MAX: Final = 100.0
"""What a run can be worth at most."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Points that one thing cost: how many, when it was, what it was, and what would have been better."""

    points: float
    tick: Tick | None
    """None: it has no one moment."""
    why: str
    better: str
    cause: str = ""
    """What brought it about, where that is known at once: the command that was refused."""
    condition: str = ""
    """The condition by which it was seen, where there is one."""

    def as_json(self) -> LossJson:
        at_s = None if self.tick is None else self.tick / TICKS_PER_S
        return {
            "points": self.points,
            "at_s": at_s,
            "why": self.why,
            "better": self.better,
            "cause": self.cause,
        }


@dataclass(frozen=True, slots=True)
class Item:
    """Points of one rule (negative: a deduction), why, when, and the better way where points are missing."""

    name: str
    points: float
    max: float
    why: str
    at_s: tuple[float, ...] = ()
    better: str = ""
    losses: tuple[Loss, ...] = ()
    """What took the points that are missing."""
    counted: bool = True
    """False: the run gave no occasion for it, so it is worth what the rest is worth."""

    def as_json(self) -> ItemJson:
        return {
            "name": self.name,
            "points": self.points,
            "max": self.max,
            "why": self.why,
            "at_s": list(self.at_s),
            "better": self.better,
            "losses": [loss.as_json() for loss in self.losses],
        }


@dataclass(frozen=True, slots=True)
class Score:
    """0 to 100 points and where they come from. *scored* is False where the scenario has no rubric."""

    total: float
    items: tuple[Item, ...]
    finished: bool
    scored: bool = True


UNSCORED: Final = Score(0.0, (), finished=False, scored=False)


def score(course: Course) -> Score:
    """What the run is worth as it stands."""
    if not course.scenario.scored:
        return UNSCORED
    reached = len(_met(course))
    finished = reached == len(course.scenario.goals) and not course.left_early
    items = _shared_out([_item(course, rule) for rule in course.scenario.rubric])
    if not finished:
        items = [
            item if isinstance(rule, GoalsRule) else _withheld(course, item, reached)
            for item, rule in zip(items, course.scenario.rubric, strict=True)
        ]
    pairs = zip(items, course.scenario.rubric, strict=True)
    besides_goals = arithmetic.total(item.points for item, rule in pairs if not isinstance(rule, GoalsRule))
    for deducted in DEDUCTED:
        taken = deducted(course, besides_goals)
        besides_goals += arithmetic.total(item.points for item in taken)
        items += taken
    return Score(_all_of(item.points for item in items), tuple(items), finished)


def ceiling(course: Course, enough: float = TOTAL_MAX) -> float:
    """What no way to go on is worth more than: what is lost stays lost, and all else may still be earned. *enough*: how
    much more than this it is does not matter."""
    goals = [goal for goal in course.scenario.goals if course.goals[goal.name].missed_tick is None]
    of_goals = total_of_goals(course.scenario, goals)
    if len(goals) < len(course.scenario.goals) or of_goals >= enough:
        return of_goals
    rules = [rule for rule in course.scenario.rubric if not isinstance(rule, GoalsRule)]
    besides_goals = arithmetic.total(
        rule.points if rule.kind in MAY_RISE else _rounded(rule, RULES[rule.kind](course, rule).points)
        for rule in rules
    )
    for deducted in DEDUCTED:
        besides_goals += arithmetic.total(item.points for item in deducted(course, besides_goals))
    return _all_of((of_goals, besides_goals))


def total_of_goals(scenario: Scenario, met: Sequence[Goal]) -> float:
    """The total of a run that has not finished: nothing else counts."""
    rules = [rule for rule in scenario.rubric if isinstance(rule, GoalsRule)]
    return _all_of(_rounded(rule, _for_goals(scenario, rule, met)) for rule in rules)


def _all_of(points: Iterable[float]) -> float:
    return round(max(0.0, min(TOTAL_MAX, arithmetic.total(points))), 1)


def _rounded(rule: AnyRule, points: float) -> float:
    """*points* as a rule gives them."""
    return round(max(0.0, min(rule.points, points)), 1)


def _met(course: Course) -> list[Goal]:
    return [goal for goal in course.scenario.goals if course.goals[goal.name].met]


def _withheld(course: Course, item: Item, reached: int) -> Item:
    """What an unfinished drill earns by a rule that is not about goals: nothing yet."""
    goals = len(course.scenario.goals)
    missing = say("Counts once all goals are reached ({n} of {of} are).", n=reached, of=goals)
    if reached == goals:
        missing = say("Does not count: the drill ended before its faults had happened.")
    why = joined(" ", (item.why, missing))
    return Item(item.name, 0.0, item.max, why, item.at_s, item.better, item.losses)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a rule gives: points, why, the moments that speak of it, and what each missing point was lost by."""

    points: float
    why: str
    at: Sequence[Tick] = ()
    losses: Sequence[Loss] = ()
    counted: bool = True
    """False: the run gave no occasion to earn them."""


def _shared_out(items: list[Item]) -> list[Item]:
    """What the run gave no occasion for takes the share of its points that the rest has of its own."""
    rest = [item for item in items if item.counted]
    share = arithmetic.total(item.points for item in rest) / max(
        1e-9, arithmetic.total(item.max for item in rest)
    )
    return [item if item.counted else replace(item, points=round(item.max * share, 1)) for item in items]


def _item(course: Course, rule: AnyRule) -> Item:
    judged = RULES[rule.kind](course, rule)
    if not judged.counted:
        return Item(rule.name, 0.0, rule.points, judged.why, counted=False)
    points = _rounded(rule, judged.points)
    moments = tuple(tick / TICKS_PER_S for tick in judged.at)
    if points >= rule.points:
        return Item(rule.name, points, rule.points, judged.why, moments)
    missing = round(rule.points - points, 1)
    losses = tuple(judged.losses) or (Loss(missing, None, judged.why, rule.better),)
    return Item(rule.name, points, rule.points, judged.why, moments, rule.better, losses)


def _goals(course: Course, rule: GoalsRule) -> Judged:
    weights, met = _weight(course.scenario.goals), _met(course)
    missing = [goal for goal in course.scenario.goals if not course.goals[goal.name].met]
    at = [tick for goal in met if (tick := course.goals[goal.name].met_tick) is not None]
    why = say("{n} of {of} goals reached.", n=len(met), of=len(course.scenario.goals))
    if missing:
        left = say("Missing: {goals}.", goals=joined("; ", (goal.text for goal in missing)))
        why = joined(" ", (why, left))
    losses = [
        Loss(
            round(rule.points * goal.weight / weights, 1),
            course.goals[goal.name].missed_tick,
            say("Not reached: {goal}.", goal=goal.text),
            rule.better,
        )
        for goal in missing
    ]
    return Judged(_for_goals(course.scenario, rule, met), why, at, losses)


def _for_goals(scenario: Scenario, rule: GoalsRule, met: Sequence[Goal]) -> float:
    return rule.points * _weight(met) / _weight(scenario.goals)


def _weight(goals: Iterable[Goal]) -> float:
    return arithmetic.total(goal.weight for goal in goals)


def graded(points: float, value: float, target: float, limit: float) -> float:
    """All *points* up to *target*, none from *limit* on, in a straight line between."""
    return points * min(1.0, max(0.0, (limit - value) / (limit - target)))


def _measured(course: Course, database: str | None, name: str) -> float:
    names = [database] if database else list(course.world.availability)
    return float(arithmetic.total(getattr(facts.account(course.world, each), name) for each in names))


def _only(course: Course, database: str | None) -> str:
    """The one database of a rule; empty if there are several."""
    names = [database] if database else list(course.world.availability)
    return names[0] if len(names) == 1 else ""


def _moments(
    course: Course, database: str | None, kind: str, wanted: Callable[[Event], object] = lambda e: True
) -> list[Tick]:
    return [e.tick for e in of(course.events, kind) if database in (None, e.database) and wanted(e)]


DOWN: Final = mark("{database} was down for {time}; full points up to {target}, none after {limit}.")
ALL_DOWN: Final = mark(
    "Together the databases were down for {time}; full points up to {target}, none after {limit}."
)
UNPROTECTED: Final = mark(
    "{database} ran unprotected for {time}; full points up to {target}, none after {limit}."
)
ALL_UNPROTECTED: Final = mark(
    "Together the databases ran unprotected for {time}; full points up to {target}, none after {limit}."
)


def _by_time(
    course: Course, rule: DowntimeRule | ExposedRule, t_s: float, said: tuple[str, str]
) -> tuple[float, Sentence]:
    """Points for so many seconds, and why; *said* of one database, and of several."""
    only = _only(course, rule.database)
    why = say(
        said[0] if only else said[1],
        database=only,
        time=lasting(t_s),
        target=lasting(rule.target),
        limit=lasting(rule.limit),
    )
    return graded(rule.points, t_s, rule.target, rule.limit), why


def _downtime(course: Course, rule: DowntimeRule) -> Judged:
    down_s = _measured(course, rule.database, "down_ticks") / TICKS_PER_S
    at = _moments(course, rule.database, "availability", lambda e: e.get("serving") is not None)
    return Judged(*_by_time(course, rule, down_s, (DOWN, ALL_DOWN)), at)


def _exposed(course: Course, rule: ExposedRule) -> Judged:
    exposed_s = _measured(course, rule.database, "exposed_ticks") / TICKS_PER_S
    at = _moments(course, rule.database, "state")
    return Judged(*_by_time(course, rule, exposed_s, (UNPROTECTED, ALL_UNPROTECTED)), at)


def _lost(course: Course, rule: LostRule) -> Judged:
    lost = _measured(course, rule.database, "lost_transactions")
    at = _moments(course, rule.database, "availability", lambda e: e.get("lost_transactions"))
    why = say(
        "Committed transactions lost: {n:g}; full points up to {target:g}, none from {limit:g} on.",
        n=lost,
        target=rule.target,
        limit=rule.limit,
    )
    return Judged(graded(rule.points, lost, rule.target, rule.limit), why, at)


def _condition(course: Course, rule: ConditionRule) -> Judged:
    holds = course.holds_now(rule.when)
    why = say("This held at the end: {condition}.", condition=rule.when)
    if not holds:
        why = say("This did not hold at the end: {condition}.", condition=rule.when)
    return Judged(rule.points if holds else 0.0, why)


def _forbidden(course: Course, rule: ForbiddenRule) -> Judged:
    broken = [state for state in course.scenario.forbidden if f"forbidden:{state.name}" in course.first_held]
    if not broken:
        return Judged(rule.points, say("No forbidden state was reached."))
    at = [tick for state in broken if (tick := course.first_held[f"forbidden:{state.name}"]) is not None]
    share = round(rule.points / len(broken), 1)
    losses = [
        Loss(share, tick, f"{state.text}.", state.better) for state, tick in zip(broken, at, strict=True)
    ]
    why = joined(" ", (f"{state.text}: {state.better}" for state in broken))
    return Judged(0.0, why, at, losses)


def _diagnosis(course: Course, rule: DiagnosisRule) -> Judged:
    return _answered(course, rule, course.scenario.questions)


def _prediction(course: Course, rule: PredictionRule) -> Judged:
    return _answered(course, rule, course.scenario.predictions)


def _answered(course: Course, rule: AnyRule, inquiries: Sequence[Inquiry]) -> Judged:
    """Points by weight for right answers. While the drill runs nothing is told that could be used."""
    if not course.over and not course.answers_at_once:
        return Judged(0.0, LATER)
    counted = [
        inquiry
        for inquiry in inquiries
        if not course.over or counts(inquiry, course.answers[inquiry.name], course.given_up)
    ]
    if not counted:
        return Judged(0.0, NO_OCCASION, counted=False)
    weights = arithmetic.total(inquiry.weight for inquiry in counted)
    points, said, at, losses = 0.0, [], [], []
    for inquiry in counted:
        answer = course.answers[inquiry.name]
        if not course.over and (answer.asked_tick is None or answer.open):
            continue
        share = rule.points * inquiry.weight / weights
        told = verdict(inquiry, answer)
        said.append(told)
        moment = answer.answered_tick if answer.answered_tick is not None else answer.asked_tick
        at += [moment] if moment is not None else []
        if answer.correct:
            points += share
        else:
            losses.append(Loss(round(share, 1), moment, told, rule.better))
    return Judged(points, joined(" ", said) if said else LATER, at, losses)


NO_OCCASION: Final = say(
    "Not counted, as the run took another course: these points follow the other parts of the score."
)

REFUSAL_RANGES: Final = ((1400, 1500), (3101, 3121), (5011, 5012))
"""Errors that say "this command was wrong here": mirroring, RESTORE, no such database. Looking (954, 955, …) and
mistyping (102, 156, …) cost nothing but time."""

REFUSAL_ADVICE: Final[dict[int, str]] = {
    1404: say("wait until the mirror has finished its current task."),
    1406: say("service can no longer be forced safely; remove the session and recover the copy."),
    1408: say("restore the log backups that the future mirror lacks, WITH NORECOVERY."),
    1412: say("restore the log backups that the future mirror lacks, WITH NORECOVERY."),
    1416: say("the database is not mirrored on this server."),
    1418: say("check endpoint and port of the other server first."),
    1422: say("wait for SYNCHRONIZED."),
    1426: say("a witness can be set while all three servers are connected."),
    1431: say("without quorum the session cannot be changed; SET PARTNER OFF needs none."),
    1439: say("the session has no witness."),
    1447: say("both partners have to be connected first."),
    1455: say("service can be forced only on the mirror, and only while the principal is lost."),
    1456: say("the other server has to be connected first."),
    1462: say("redo has stopped on an error; repair that first."),
    1470: say("run this on the principal."),
    1475: say("back the log up on the principal and restore it on the mirror."),
    1477: say("FAILOVER needs safety FULL."),
    1478: say("restore the log backup that is missing on the future mirror."),
    3104: say("the session has to be removed (SET PARTNER OFF) before RESTORE."),
    3117: say("only a RESTORING database can be recovered."),
    3118: say("there is no such database on this server."),
    5011: say("there is no such database on this server."),
}
"""What the refusal should have told."""


ON_THE_PRINCIPAL: Final = 1470
"""The statement works only on the principal."""
NO_PRINCIPAL: Final = say(
    "the principal is lost, so FAILOVER cannot work; bring the principal back, or force service on the mirror."
)


def _was_serving(events: Sequence[Event], refused: Event) -> bool:
    """Some database was served when *refused* happened, as far as its batch names one."""
    batch, serving = str(refused.get("batch")).lower(), True
    for event in events:
        if event.tick > refused.tick:
            break
        if event.kind == "availability" and str(event.database).lower() in batch:
            serving = bool(event.get("serving"))
    return serving


def is_refusal(number: int) -> bool:
    """A server that was reached refused the command with the error *number*; other errors are no wrong command."""
    return any(first <= number < end for first, end in REFUSAL_RANGES)


def refusals(events: Sequence[Event]) -> list[tuple[Event, int]]:
    """Every batch of the trainee in which a server refused something as wrong, with the error's number."""
    found = []
    for event in events:
        if event.kind == "sql_done" and not batches.in_story(str(event.get("window", ""))):
            wrong = [n for n in batches.errors(event) if is_refusal(n)]
            found += [(event, wrong[0])] if wrong else []
    return found


def _conduct(course: Course, rule: ConductRule) -> Judged:
    losses = []
    for event, number in refusals(course.events):
        advice = REFUSAL_ADVICE.get(number, say("read the message before the next command."))
        if number == ON_THE_PRINCIPAL and not _was_serving(course.events, event):
            advice = NO_PRINCIPAL
        server = event.server or ""
        said = say("{server} refused a command with {n}.", server=server, n=number)
        batch = " ".join(str(event.get("batch")).split())
        cause = say("{batch} on {server}", batch=batch, server=server)
        losses.append(Loss(rule.refused, event.tick, said, advice, cause))
    for number, price in enumerate(rule.prices):
        first = course.first_held.get(f"price:{rule.name}:{number}")
        if first is not None:
            losses.append(Loss(price.price, first, price.why, price.better, condition=price.when))
    if not losses:
        return Judged(rule.points, say("No command was refused or harmful."))
    why = joined(
        " ",
        (
            say("-{points:g}: {loss} Better: {better}", points=loss.points, loss=loss.why, better=loss.better)
            for loss in losses
        ),
    )
    moments = [loss.tick for loss in losses if loss.tick is not None]
    return Judged(rule.points - arithmetic.total(loss.points for loss in losses), why, moments, losses)


def _calls(course: Course, rule: CallsRule) -> Judged:
    """Points for the share of orders whose loop was closed."""
    given = orders(course.calls)
    closed = [one for one in given if one.closed]
    of = max(rule.least, len(given))
    why = say("{n} of {of} orders were read back correctly and confirmed.", n=len(closed), of=of)
    team, each = course.scenario.team, rule.points / of
    losses = [
        Loss(
            round(each, 1),
            one.tick,
            say(
                "{role} to {other}, “{text}”: {fault}.",
                role=shown(team, one.by),
                other=shown(team, one.to),
                text=one.text,
                fault=fault_of(one),
            ),
            rule.better,
        )
        for one in given
        if not one.closed
    ]
    if len(given) < rule.least:
        missing = rule.least - len(given)
        said = say("{n} order(s) that the drill needs were not given.", n=missing)
        losses.append(Loss(round(each * missing, 1), None, said, rule.better))
    return Judged(each * len(closed), why, [one.tick for one in given], losses)


def _status(course: Course, rule: StatusRule) -> Judged:
    """Points for the share of questions that were answered in time by what was so."""
    within = ticks(rule.within)
    asked = [
        one
        for one in course.calls
        if one.kind == "question" and one.text
        and (one.status_tick is not None or course.world.tick >= one.tick + within)
    ]  # fmt: skip
    if not asked:
        return Judged(0.0, say("Nobody asked for the state."), counted=False)
    if not course.over and not course.answers_at_once:
        return Judged(0.0, LATER)
    losses = []
    team, each = course.scenario.team, rule.points / len(asked)
    for one in asked:
        fault = ""
        if one.status_tick is None:
            fault = say("no answer")
        elif not one.true:
            fault = say("“{fact}” was not so at that moment", fact=one.status)
        elif one.status_tick > one.tick + within:
            took = lasting((one.status_tick - one.tick) / TICKS_PER_S)
            fault = say("the answer took {time}", time=took)
        if fault:
            said = say("{role} asked {other}, “{text}”: {fault}.", role=shown(team, one.by),
                       other=shown(team, one.to), text=one.text, fault=fault)  # fmt: skip
            losses.append(Loss(round(each, 1), one.tick, said, rule.better))
    right = len(asked) - len(losses)
    why = say("{n} of {of} questions were answered in time and truly.", n=right, of=len(asked))
    return Judged(each * right, why, [one.tick for one in asked], losses)


DISARMED, HINTS = say("Automatic failover disabled"), say("Hints")
NEEDLESS, REWINDS = say("Needless faults"), say("Rewinds")

DEDUCTIONS: Final[dict[str, str]] = {name: name for name in (DISARMED, HINTS, NEEDLESS, REWINDS)}
"""Items of a score that no author named; a report that was read back has their texts."""


def _disarmed(course: Course, besides_goals: float) -> list[Item]:
    """Automatic failover that was given up; never more than was earned besides the goals."""
    done = given_up_failover.found(course.events, course.scenario)
    if not done:
        return []
    taken = round(min(given_up_failover.PRICE * len(done), given_up_failover.PRICE_MAX, besides_goals), 1)
    deeds = joined("; ", (each.what for each in done))
    why = say("Automatic failover was disabled by command: {deeds}.", deeds=deeds)
    better = say("keep witness, safety FULL and session: without them there is no automatic failover.")
    losses = tuple(
        Loss(
            round(taken / len(done), 1),
            each.tick,
            say("Automatic failover was disabled by command."),
            better,
            each.what,
        )
        for each in done
    )
    moments = tuple(each.tick / TICKS_PER_S for each in done)
    return [Item(DISARMED, 0.0 - taken, 0.0, why, moments, better, losses)]


def _hints(course: Course, besides_goals: float) -> list[Item]:
    """Hints cost what was said beforehand, and never more than was earned besides the goals."""
    cost = arithmetic.total(hint.cost for hint in course.hints)
    if not course.hints:
        return []
    taken = round(min(cost, besides_goals), 1)
    why = say(
        "{n} layer(s) of hints opened, {cost:g} point(s) by their price.", n=len(course.hints), cost=cost
    )
    moments = tuple(hint.tick / TICKS_PER_S for hint in course.hints)
    return [Item(HINTS, 0.0 - taken, 0.0, why, moments)]


def _needless(course: Course, besides_goals: float) -> list[Item]:
    """What was broken, or told and taken back, for nothing; like hints never more than was earned besides the goals."""
    done = reverted_actions.found(course.world, course.journal, course.events, course.scenario)
    if not done:
        return []
    taken = round(min(reverted_actions.PRICE * len(done), reverted_actions.PRICE_MAX, besides_goals), 1)
    why = say("Done for nothing: {deeds}.", deeds=joined("; ", (each.what for each in done)))
    better = say(
        "use T-SQL, the monitor and the error logs to investigate; nothing has to be broken for that."
    )
    losses = tuple(
        Loss(round(taken / len(done), 1), each.tick, say("{deed} was for nothing.", deed=each.what), better)
        for each in done
    )
    moments = tuple(each.tick / TICKS_PER_S for each in done)
    return [Item(NEEDLESS, 0.0 - taken, 0.0, why, moments, better, losses)]


REWINDS_COST_MAX: Final = 10.0
"""Points that all ways back together cost at most. Assumed: who learns from going back must not stop doing it."""


def _rewinds(course: Course, besides_goals: float) -> list[Item]:
    """Going back tells what comes: a run with it is worth less than the same one without."""
    if not course.rewinds:
        return []
    ways = joined(
        ", ",
        (
            say("from {start} to {end}", start=run_time(a / TICKS_PER_S, 1), end=run_time(b / TICKS_PER_S, 1))
            for a, b in course.rewinds
        ),
    )
    moments = tuple(to / TICKS_PER_S for _, to in course.rewinds)
    taken = round(min(course.rewind_cost * len(course.rewinds), REWINDS_COST_MAX, besides_goals), 1)
    why = say("Rewound {n} time(s): {ways}.", n=len(course.rewinds), ways=ways)
    return [Item(REWINDS, 0.0 - taken, 0.0, why, moments)]


DEDUCTED: Final = (_disarmed, _hints, _needless, _rewinds)
"""In their order: each takes no more than the ones before have left."""

RULES: Final[dict[str, Callable[[Course, Any], Judged]]] = {
    "goals": _goals,
    "downtime": _downtime,
    "exposed": _exposed,
    "lost_transactions": _lost,
    "condition": _condition,
    "forbidden": _forbidden,
    "diagnosis": _diagnosis,
    "prediction": _prediction,
    "conduct": _conduct,
    "calls": _calls,
    "status": _status,
}
"""How each kind of rule is judged."""

MAY_RISE: Final = ("condition", "diagnosis", "prediction", "calls", "status")
"""Kinds of rules by which a run may be worth more later than it is now; what others take never comes back."""
