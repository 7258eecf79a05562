"""Score of a drill: the points of each rule with reason, times and a better alternative.

Points for outcome and conduct require a completed drill. While a goal is not met, only the goals count.
Therefore doing nothing never scores more than a poor solution, and an incomplete run never ranks above a
complete run.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring import quantities
from engine.drill.authoring.schema import (
    AnyRule,
    CallsRule,
    ConditionRule,
    ConductRule,
    DiagnosisRule,
    DowntimeRule,
    ForbiddenRule,
    Goal,
    GoalsRule,
    LostTransactionsRule,
    PredictionRule,
    Scenario,
    StatusRule,
    UnprotectedRule,
)
from engine.drill.judging import disabled_failovers, pointless_actions
from engine.drill.judging.refusals import (
    NO_PRINCIPAL_ADVICE,
    PRINCIPAL_ONLY_ERROR,
    REFUSAL_ADVICE,
    find_refusals,
    was_database_serving,
)
from engine.drill.judging.scored_run import Loss, RubricItem, ScoredRun
from engine.drill.running.questions import JUDGED_LATER_REPLY, Inquiry, format_verdict, is_inquiry_counted
from engine.drill.team.calls import describe_call_error, list_valid_orders
from engine.drill.team.rights import find_role_name
from engine.drill.time.event_log import select_events
from engine.events import AvailabilityData, Event
from engine.localization import (
    LocalizableMessage,
    build_message,
    format_duration,
    format_run_time,
    join_messages,
    mark,
)
from engine.model import Tick, to_ticks

SCORE_TOTAL_MAX: Final = 100.0
"""Maximum total score of a run."""


class Score(Struct, frozen=True):
    """Score from 0 to 100 points, with its items. *scored* is False if the scenario has no rubric."""

    total: float
    items: tuple[RubricItem, ...]
    finished: bool
    scored: bool = True


UNSCORED: Final = Score(0.0, (), finished=False, scored=False)


def score_run(run: ScoredRun) -> Score:
    """Score the run in its current state."""
    if not run.scenario.scored:
        return UNSCORED
    reached = len(_list_met_goals(run))
    finished = reached == len(run.scenario.goals) and not run.left_early
    items = _redistribute_uncounted([_build_item(run, rule) for rule in run.scenario.rubric])
    if not finished:
        items = [
            item if isinstance(rule, GoalsRule) else _remove_points(run, item, reached)
            for item, rule in zip(items, run.scenario.rubric, strict=True)
        ]
    pairs = zip(items, run.scenario.rubric, strict=True)
    besides_goals = arithmetic.add_in_order(
        item.points for item, rule in pairs if not isinstance(rule, GoalsRule)
    )
    for deducted in DEDUCTION_FUNCTIONS:
        rubric_items = deducted(run, besides_goals)
        besides_goals += arithmetic.add_in_order(item.points for item in rubric_items)
        items += rubric_items
    return Score(_clamp_total(item.points for item in items), tuple(items), finished)


def compute_upper_bound(run: ScoredRun, threshold: float = SCORE_TOTAL_MAX) -> float:
    """Return an upper bound of the total score: lost points stay lost, and all others can still be earned.

    If the bound is above *threshold*, any value from *threshold* to the bound may be returned.
    """
    goals = [goal for goal in run.scenario.goals if run.goals[goal.name].missed_tick is None]
    of_goals = compute_goal_total(run.scenario, goals)
    if len(goals) < len(run.scenario.goals) or of_goals >= threshold:
        return of_goals
    rules = [rule for rule in run.scenario.rubric if not isinstance(rule, GoalsRule)]
    besides_goals = arithmetic.add_in_order(
        rule.points
        if rule.kind in RISING_RULE_KINDS
        else _round_points(rule, RULE_SCORERS[rule.kind](run, rule).points)
        for rule in rules
    )
    for deducted in DEDUCTION_FUNCTIONS:
        besides_goals += arithmetic.add_in_order(item.points for item in deducted(run, besides_goals))
    return _clamp_total((of_goals, besides_goals))


def compute_goal_total(scenario: Scenario, met_goals: Sequence[Goal]) -> float:
    """Return the total score of an unfinished run, in which only points for goals count."""
    rules = [rule for rule in scenario.rubric if isinstance(rule, GoalsRule)]
    return _clamp_total(
        _round_points(rule, _compute_goal_points(scenario, rule, met_goals)) for rule in rules
    )


def _clamp_total(points: Iterable[float]) -> float:
    return round(max(0.0, min(SCORE_TOTAL_MAX, arithmetic.add_in_order(points))), 1)


def _round_points(rule: AnyRule, points: float) -> float:
    """Round *points* to one decimal, and limit them to the range from 0 to the points of *rule*."""
    return round(max(0.0, min(rule.points, points)), 1)


def _list_met_goals(run: ScoredRun) -> list[Goal]:
    return [goal for goal in run.scenario.goals if run.goals[goal.name].is_reached]


def _remove_points(run: ScoredRun, item: RubricItem, reached: int) -> RubricItem:
    """Return *item* without points, because the drill is unfinished and the rule does not score goals.

    *reached*: number of goals met.
    """
    goals = len(run.scenario.goals)
    missing = build_message("Not counted: only {n} of {of} goals met.", n=reached, of=goals)
    if reached == goals:
        missing = build_message("Not counted: the drill ended before its faults occurred.")
    reasons = join_messages(" ", (item.reason, missing))
    return RubricItem(item.name, 0.0, item.max, reasons, item.at_s, item.better, item.losses)


class RuleResult(Struct, frozen=True):
    """Result of one rule: points, reason, and the losses that explain missing points."""

    points: float
    reason: str
    loss_ticks: Sequence[Tick] = ()
    """Times at which points were lost."""
    losses: Sequence[Loss] = ()
    counted: bool = True
    """False if the run gave no opportunity to earn the points."""


def _redistribute_uncounted(items: list[RubricItem]) -> list[RubricItem]:
    """Give each uncounted item a share of its points: the average share that the counted items earned."""
    counted_items = [item for item in items if item.counted]
    share = arithmetic.add_in_order(item.points for item in counted_items) / max(
        1e-9, arithmetic.add_in_order(item.max for item in counted_items)
    )
    return [item if item.counted else replace(item, points=round(item.max * share, 1)) for item in items]


def _build_item(run: ScoredRun, rule: AnyRule) -> RubricItem:
    result = RULE_SCORERS[rule.kind](run, rule)
    if not result.counted:
        return RubricItem(rule.name, 0.0, rule.points, result.reason, counted=False)
    points = _round_points(rule, result.points)
    times_s = tuple(tick / TICKS_PER_S for tick in result.loss_ticks)
    if points >= rule.points:
        return RubricItem(rule.name, points, rule.points, result.reason, times_s)
    missing = round(rule.points - points, 1)
    losses = tuple(result.losses) or (Loss(missing, None, result.reason, rule.better),)
    return RubricItem(rule.name, points, rule.points, result.reason, times_s, rule.better, losses)


def _score_goals(run: ScoredRun, rule: GoalsRule) -> RuleResult:
    weights, met_goals = _sum_weights(run.scenario.goals), _list_met_goals(run)
    missing = [goal for goal in run.scenario.goals if not run.goals[goal.name].is_reached]
    met_ticks = [tick for goal in met_goals if (tick := run.goals[goal.name].met_tick) is not None]
    message = build_message("{n} of {of} goals met.", n=len(met_goals), of=len(run.scenario.goals))
    if missing:
        missing_text = build_message(
            "Missing: {goals}.", goals=join_messages("; ", (goal.text for goal in missing))
        )
        message = join_messages(" ", (message, missing_text))
    losses = [
        Loss(
            round(rule.points * goal.weight / weights, 1),
            run.goals[goal.name].missed_tick,
            build_message("Not met: {goal}.", goal=goal.text),
            rule.better,
        )
        for goal in missing
    ]
    return RuleResult(_compute_goal_points(run.scenario, rule, met_goals), message, met_ticks, losses)


def _compute_goal_points(scenario: Scenario, rule: GoalsRule, met_goals: Sequence[Goal]) -> float:
    return rule.points * _sum_weights(met_goals) / _sum_weights(scenario.goals)


def _sum_weights(goals: Iterable[Goal]) -> float:
    return arithmetic.add_in_order(goal.weight for goal in goals)


def score_linearly(points: float, value: float, target: float, limit: float) -> float:
    """Return all *points* up to *target*, none from *limit* on, and a linear share in between."""
    return points * min(1.0, max(0.0, (limit - value) / (limit - target)))


def _sum_availability(run: ScoredRun, database: str | None, name: str) -> float:
    names = [database] if database else list(run.world.availability)
    return float(
        arithmetic.add_in_order(
            getattr(quantities.compute_availability(run.world, account_name), name) for account_name in names
        )
    )


def _find_single_database(run: ScoredRun, database: str | None) -> str:
    """Return the only database that a rule concerns; "" if there are several.

    *database*: database that the rule names; None if it concerns all databases.
    """
    names = [database] if database else list(run.world.availability)
    return names[0] if len(names) == 1 else ""


def _find_event_ticks(
    run: ScoredRun, database: str | None, kind: str, is_match: Callable[[Event], object] = lambda e: True
) -> list[Tick]:
    return [e.tick for e in select_events(run.events, kind) if database in (None, e.database) and is_match(e)]


DOWNTIME_TEXT: Final = mark(
    "{database} was down for {time} (full points up to {target}, no points at {limit} or more)."
)
TOTAL_DOWNTIME_TEXT: Final = mark(
    "Total downtime of the databases: {time} (full points up to {target}, no points at {limit} or more)."
)
UNPROTECTED_TEXT: Final = mark(
    "{database} was unprotected for {time} (full points up to {target}, no points at {limit} or more)."
)
TOTAL_UNPROTECTED_TEXT: Final = mark(
    "Total unprotected time of the databases: {time} (full points up to {target}, no points at {limit} or "
    "more)."
)


def _score_duration(
    run: ScoredRun, rule: DowntimeRule | UnprotectedRule, t_s: float, templates: tuple[str, str]
) -> tuple[float, LocalizableMessage]:
    """Return points and reason for a duration in seconds.

    *templates*: texts of the reason, for one database and for several databases.
    """
    single_database = _find_single_database(run, rule.database)
    message = build_message(
        templates[0] if single_database else templates[1],
        database=single_database,
        time=format_duration(t_s),
        target=format_duration(rule.target),
        limit=format_duration(rule.limit),
    )
    return score_linearly(rule.points, t_s, rule.target, rule.limit), message


def _is_service_change(event: Event) -> bool:
    return isinstance(event.data, AvailabilityData) and event.data.serving is not None


def _is_transaction_loss(event: Event) -> bool:
    return isinstance(event.data, AvailabilityData) and bool(event.data.lost_transactions)


def _score_downtime(run: ScoredRun, rule: DowntimeRule) -> RuleResult:
    down_s = _sum_availability(run, rule.database, "down_ticks") / TICKS_PER_S
    event_ticks = _find_event_ticks(run, rule.database, "availability", _is_service_change)
    return RuleResult(*_score_duration(run, rule, down_s, (DOWNTIME_TEXT, TOTAL_DOWNTIME_TEXT)), event_ticks)


def _score_unprotected_time(run: ScoredRun, rule: UnprotectedRule) -> RuleResult:
    exposed_s = _sum_availability(run, rule.database, "exposed_ticks") / TICKS_PER_S
    event_ticks = _find_event_ticks(run, rule.database, "state")
    return RuleResult(
        *_score_duration(run, rule, exposed_s, (UNPROTECTED_TEXT, TOTAL_UNPROTECTED_TEXT)), event_ticks
    )


def _score_losses(run: ScoredRun, rule: LostTransactionsRule) -> RuleResult:
    lost_transactions = _sum_availability(run, rule.database, "lost_transactions")
    event_ticks = _find_event_ticks(run, rule.database, "availability", _is_transaction_loss)
    message = build_message(
        "Committed transactions lost: {n:g} (full points up to {target:g}, no points at {limit:g} or more).",
        n=lost_transactions,
        target=rule.target,
        limit=rule.limit,
    )
    points = score_linearly(rule.points, lost_transactions, rule.target, rule.limit)
    return RuleResult(points, message, event_ticks)


def _score_condition(run: ScoredRun, rule: ConditionRule) -> RuleResult:
    holds = run.is_condition_met(rule.when)
    message = build_message("Condition met at the end: {condition}.", condition=rule.when)
    if not holds:
        message = build_message("Condition not met at the end: {condition}.", condition=rule.when)
    return RuleResult(rule.points if holds else 0.0, message)


def _score_forbidden(run: ScoredRun, rule: ForbiddenRule) -> RuleResult:
    broken_states = [state for state in run.scenario.forbidden if f"forbidden:{state.name}" in run.first_held]
    if not broken_states:
        return RuleResult(rule.points, build_message("No forbidden state was reached."))
    broken_ticks = [
        tick for state in broken_states if (tick := run.first_held[f"forbidden:{state.name}"]) is not None
    ]
    share = round(rule.points / len(broken_states), 1)
    losses = [
        Loss(share, tick, f"{state.text}.", state.better)
        for state, tick in zip(broken_states, broken_ticks, strict=True)
    ]
    message = join_messages(" ", (f"{state.text}: {state.better}" for state in broken_states))
    return RuleResult(0.0, message, broken_ticks, losses)


def _score_diagnosis(run: ScoredRun, rule: DiagnosisRule) -> RuleResult:
    return _score_answers(run, rule, run.scenario.questions)


def _score_prediction(run: ScoredRun, rule: PredictionRule) -> RuleResult:
    return _score_answers(run, rule, run.scenario.predictions)


def _score_answers(run: ScoredRun, rule: AnyRule, inquiries: Sequence[Inquiry]) -> RuleResult:
    """Score correct answers by weight.

    Before the end of the drill, the result may hide which answers are correct.
    """
    if not run.has_ended and not run.answers_at_once:
        return RuleResult(0.0, JUDGED_LATER_REPLY)
    counted_answers = [
        inquiry
        for inquiry in inquiries
        if not run.has_ended or is_inquiry_counted(inquiry, run.answers[inquiry.name], run.was_abandoned)
    ]
    if not counted_answers:
        return RuleResult(0.0, NO_OPPORTUNITY, counted=False)
    weights = arithmetic.add_in_order(inquiry.weight for inquiry in counted_answers)
    points, verdicts, answer_ticks, losses = 0.0, [], [], []
    for inquiry in counted_answers:
        answer = run.answers[inquiry.name]
        if not run.has_ended and (answer.asked_tick is None or answer.open):
            continue
        share = rule.points * inquiry.weight / weights
        verdict = format_verdict(inquiry, answer)
        verdicts.append(verdict)
        tick = answer.answered_tick if answer.answered_tick is not None else answer.asked_tick
        answer_ticks += [tick] if tick is not None else []
        if answer.correct:
            points += share
        else:
            unasked = answer.asked_tick is None
            losses.append(Loss(round(share, 1), tick, verdict, rule.better, was_not_asked=unasked))
    return RuleResult(
        points, join_messages(" ", verdicts) if verdicts else JUDGED_LATER_REPLY, answer_ticks, losses
    )


NO_OPPORTUNITY: Final = build_message(
    "This part was not counted in this run. You get the same percentage as in the other parts."
)


def _score_conduct(run: ScoredRun, rule: ConductRule) -> RuleResult:
    losses = []
    for refused in find_refusals(run.events):
        advice = REFUSAL_ADVICE.get(
            refused.number, build_message("read the error message before you send the next command.")
        )
        if refused.number == PRINCIPAL_ONLY_ERROR and not was_database_serving(run.events, refused):
            advice = NO_PRINCIPAL_ADVICE
        refusal = build_message(
            "{server} rejected a command with error {n}.", server=refused.server, n=refused.number
        )
        cause = build_message("{batch} on {server}", batch=refused.batch, server=refused.server)
        losses.append(Loss(rule.refused, refused.tick, refusal, advice, cause))
    for number, price in enumerate(rule.prices):
        first = run.first_held.get(f"price:{rule.name}:{number}")
        if first is not None:
            losses.append(Loss(price.price, first, price.why, price.better, condition=price.when))
    if not losses:
        return RuleResult(rule.points, build_message("No command was rejected, and none was harmful."))
    loss_texts = (
        build_message(
            "-{points:g}: {loss} Better: {better}", points=loss.points, loss=loss.reason, better=loss.better
        )
        for loss in losses
    )
    message = join_messages(" ", loss_texts)
    ticks = [loss.tick for loss in losses if loss.tick is not None]
    return RuleResult(
        rule.points - arithmetic.add_in_order(loss.points for loss in losses), message, ticks, losses
    )


def _score_calls(run: ScoredRun, rule: CallsRule) -> RuleResult:
    """Score the share of orders that were read back correctly and confirmed before execution."""
    given_orders = list_valid_orders(run.calls)
    closed_orders = [given_order for given_order in given_orders if given_order.closed]
    order_count = max(rule.least, len(given_orders))
    message = build_message(
        "{n} of {of} orders were read back correctly and confirmed.", n=len(closed_orders), of=order_count
    )
    team, points_each = run.scenario.team, rule.points / order_count
    losses = [
        Loss(
            round(points_each, 1),
            given_order.tick,
            build_message(
                "{role} to {other}, “{text}”: {fault}.",
                role=find_role_name(team, given_order.by),
                other=find_role_name(team, given_order.to),
                text=given_order.text,
                fault=describe_call_error(given_order),
            ),
            rule.better,
        )
        for given_order in given_orders
        if not given_order.closed
    ]
    if len(given_orders) < rule.least:
        missing = rule.least - len(given_orders)
        text = build_message("Number of required orders that were not given: {n}.", n=missing)
        losses.append(Loss(round(points_each * missing, 1), None, text, rule.better))
    return RuleResult(
        points_each * len(closed_orders), message, [given_order.tick for given_order in given_orders], losses
    )


def _score_status(run: ScoredRun, rule: StatusRule) -> RuleResult:
    """Score the share of status requests that were answered correctly and in time."""
    within_ticks = to_ticks(rule.within)
    status_questions = [
        team_call
        for team_call in run.calls
        if team_call.kind == "question" and team_call.text
        and (team_call.status_tick is not None or run.world.tick >= team_call.tick + within_ticks)
    ]  # fmt: skip
    if not status_questions:
        return RuleResult(0.0, build_message("No role asked another role for a status."), counted=False)
    if not run.has_ended and not run.answers_at_once:
        return RuleResult(0.0, JUDGED_LATER_REPLY)
    losses = []
    team, points_each = run.scenario.team, rule.points / len(status_questions)
    for call in status_questions:
        fault = ""
        if call.status_tick is None:
            fault = build_message("no answer")
        elif not call.true:
            fault = build_message("“{fact}” was not true at that time", fact=call.status)
        elif call.status_tick > call.tick + within_ticks:
            duration = format_duration((call.status_tick - call.tick) / TICKS_PER_S)
            fault = build_message("the answer took too long ({time})", time=duration)
        if fault:
            message = build_message("{role} asked {other}, “{text}”: {fault}.", role=find_role_name(team, call.by),
                       other=find_role_name(team, call.to), text=call.text, fault=fault)  # fmt: skip
            losses.append(Loss(round(points_each, 1), call.tick, message, rule.better))
    right = len(status_questions) - len(losses)
    reason = build_message(
        "{n} of {of} status requests were answered correctly and on time.", n=right, of=len(status_questions)
    )
    return RuleResult(points_each * right, reason, [question.tick for question in status_questions], losses)


DISABLED_FAILOVER_ITEM, HINTS_ITEM = build_message("Automatic failover disabled"), build_message("Hints")
POINTLESS_ACTIONS_ITEM, REWINDS_ITEM = build_message("Unnecessary faults"), build_message("Rewinds")

DEDUCTION_NAMES: Final[dict[str, str]] = {
    name: name for name in (DISABLED_FAILOVER_ITEM, HINTS_ITEM, POINTLESS_ACTIONS_ITEM, REWINDS_ITEM)
}
"""Names of the score items that the program adds to the rubric of the author.

A report read from a file contains the same names.
"""


def _deduct_disabled_failovers(run: ScoredRun, besides_goals: float) -> list[RubricItem]:
    """Deduct points for commands that disabled automatic failover.

    *besides_goals*: points earned besides goals, the most that can be deducted.
    """
    disabled = disabled_failovers.find_disabling_commands(run.events, run.scenario)
    if not disabled:
        return []
    commands_cost = disabled_failovers.DEDUCTION_PER_COMMAND * len(disabled)
    deduction = round(min(commands_cost, disabled_failovers.DEDUCTION_MAX, besides_goals), 1)
    commands_text = join_messages("; ", (failover.command for failover in disabled))
    message = build_message("You disabled automatic failover: {deeds}.", deeds=commands_text)
    better = build_message(
        "keep the witness, safety FULL and the session. Automatic failover needs all of them."
    )
    losses = tuple(
        Loss(
            round(deduction / len(disabled), 1),
            failover.tick,
            build_message("You disabled automatic failover."),
            better,
            failover.command,
        )
        for failover in disabled
    )
    times_s = tuple(failover.tick / TICKS_PER_S for failover in disabled)
    return [RubricItem(DISABLED_FAILOVER_ITEM, 0.0 - deduction, 0.0, message, times_s, better, losses)]


def _deduct_hints(run: ScoredRun, besides_goals: float) -> list[RubricItem]:
    """Deduct the announced cost of the opened hints.

    *besides_goals*: points earned besides goals, the most that can be deducted.
    """
    cost = arithmetic.add_in_order(hint.cost for hint in run.hints)
    if not run.hints:
        return []
    deduction = round(min(cost, besides_goals), 1)
    message = build_message("Hints used: {n}. Points: −{cost:g}.", n=len(run.hints), cost=cost)
    times_s = tuple(hint.tick / TICKS_PER_S for hint in run.hints)
    return [RubricItem(HINTS_ITEM, 0.0 - deduction, 0.0, message, times_s)]


def _deduct_pointless_actions(run: ScoredRun, besides_goals: float) -> list[RubricItem]:
    """Deduct points for faults and commands that had no purpose.

    *besides_goals*: points earned besides goals, the most that can be deducted.
    """
    pointless = pointless_actions.find_pointless_actions(run.world, run.journal, run.events, run.scenario)
    if not pointless:
        return []
    actions_cost = pointless_actions.DEDUCTION_PER_ACTION * len(pointless)
    deduction = round(min(actions_cost, pointless_actions.DEDUCTION_MAX, besides_goals), 1)
    message = build_message(
        "Unnecessary: {deeds}.", deeds=join_messages("; ", (action.action for action in pointless))
    )
    better = build_message(
        "use T-SQL, the monitor and the error logs to investigate. You do not need to break anything."
    )
    losses = tuple(
        Loss(
            round(deduction / len(pointless), 1),
            action.tick,
            build_message("{deed} was not necessary.", deed=action.action),
            better,
        )
        for action in pointless
    )
    times_s = tuple(action.tick / TICKS_PER_S for action in pointless)
    return [RubricItem(POINTLESS_ACTIONS_ITEM, 0.0 - deduction, 0.0, message, times_s, better, losses)]


REWINDS_COST_MAX: Final = 10.0
"""Maximum deduction for all rewinds. Assumed: trainees should rewind, because they learn from it."""


def _deduct_rewinds(run: ScoredRun, besides_goals: float) -> list[RubricItem]:
    """Deduct points for rewinds, after which the trainee knows the future.

    *besides_goals*: points earned besides goals, the most that can be deducted.
    """
    if not run.rewinds:
        return []
    rewind_texts = join_messages(
        ", ",
        (
            build_message(
                "from {start} to {end}",
                start=format_run_time(a / TICKS_PER_S, 1),
                end=format_run_time(b / TICKS_PER_S, 1),
            )
            for a, b in run.rewinds
        ),
    )
    times_s = tuple(target_tick / TICKS_PER_S for _, target_tick in run.rewinds)
    deduction = round(min(run.rewind_cost * len(run.rewinds), REWINDS_COST_MAX, besides_goals), 1)
    message = build_message("Rewinds: {n} ({ways}).", n=len(run.rewinds), ways=rewind_texts)
    return [RubricItem(REWINDS_ITEM, 0.0 - deduction, 0.0, message, times_s)]


DEDUCTION_FUNCTIONS: Final = (
    _deduct_disabled_failovers,
    _deduct_hints,
    _deduct_pointless_actions,
    _deduct_rewinds,
)
"""Deduction functions in the order in which they are applied.

They can deduct the points of all rules except goals. Each deducts at most the points that are left.
"""

RULE_SCORERS: Final[dict[str, Callable[[ScoredRun, Any], RuleResult]]] = {
    "goals": _score_goals,
    "downtime": _score_downtime,
    "exposed": _score_unprotected_time,
    "lost_transactions": _score_losses,
    "condition": _score_condition,
    "forbidden": _score_forbidden,
    "diagnosis": _score_diagnosis,
    "prediction": _score_prediction,
    "conduct": _score_conduct,
    "calls": _score_calls,
    "status": _score_status,
}
"""Kind of rule -> function that scores it."""

RISING_RULE_KINDS: Final = ("condition", "diagnosis", "prediction", "calls", "status")
"""Kinds of rules whose points can still increase during a run. Points lost under other rules stay lost."""
