"""Contents of the debrief of one run, without Qt. Parts that are still being computed are None."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from app.learning.reflection import Reflection
from app.view_models.debrief.verdict import (
    STEPS_MAX,
    ChoicesByQuestion,
    ContinuationStep,
    VerdictModel,
    describe_cost,
    describe_mistake,
    describe_step,
    get_choices,
    judge_run,
)
from app.view_models.run_timeline import (
    CLIENTS_IDLE,
    DOWN,
    POINT_OF_NO_RETURN_KIND,
    RunTimeline,
    TimelineMarker,
    build_timeline,
    find_protection,
    list_clients,
    start_timeline,
)
from app.view_models.value_curve import format_first_step
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report_types import Report, ReportRow
from engine.drill.judging.review import Review, is_same_action
from engine.drill.par.lessons import AnswerJudgment, choose_explaining_inputs, is_action, is_good_answer
from engine.drill.par.regret_analysis import WAITING, RegretAnalysis, RunSegment
from engine.verbs.input_lines import parse_input_line

GRADES: Final = (
    (95.0, mark("Excellent"), "ok"),
    (80.0, mark("Good"), "ok"),
    (60.0, mark("Passed"), "warn"),
    (0.0, mark("Not passed"), "bad"),
)
"""(lowest score, name, color name) of each grade. `app/learning/skill_estimates.py` uses the same limits."""


class Grade(Struct, frozen=True):
    """Grade of a score: its name and its color name (ok, warn or bad)."""

    text: str
    color_name: str


class SummaryFigure(Struct, frozen=True):
    """Figure of a run in the summary of the debrief.

    *color_name*: empty for a normal value. *detail*: True if the figure explains the figure above it.
    """

    key: str
    """Name of the figure in a report."""
    label: str
    value: str
    color_name: str = ""
    detail: bool = False
    tip: str = ""


class SummaryModel(Struct, frozen=True):
    """Contents of the run's summary, the left card of the debrief."""

    title: str
    facts: str
    """Mode, seed, and the way in which the run ended."""
    score: float | None
    """Score; None if nothing is scored."""
    grade: Grade | None
    figures: tuple[SummaryFigure, ...]

    @property
    def passed_well(self) -> bool:
        """True if the result is so good that the next drill is a better suggestion than another attempt."""
        return self.grade is not None and self.grade.color_name == "ok"


END_LABELS: Final = {
    "goals": mark("all goals met"),
    "time": mark("time is up"),
    "forbidden": mark("forbidden state reached"),
    "asked": mark("ended by you"),
    "instructor": mark("ended by the instructor"),
    None: mark("abandoned"),
}
"""Value of `ended_by` in a report -> text."""


def summarize_run(report: Report, scenario: Scenario | None) -> SummaryModel:
    """Return the figures of a run from its report. *scenario* is None if this version cannot load it."""
    score = report["score"]
    total = score["total"] if score["scored"] else None
    return SummaryModel(
        str(report.get("title") or report["scenario"]),
        describe_end(report),
        total,
        None if total is None else find_grade(total, score["finished"]),
        tuple(_list_figures(report, scenario)),
    )


def find_grade(total: float, finished: bool) -> Grade:
    """Return the grade of the score *total*.

    *finished*: True if the run reached all goals. Otherwise, the grade is that of a failed drill.
    """
    text, color_name = next(
        (text, tone)
        for points_min, text, tone in GRADES
        if total >= points_min and (finished or not points_min)
    )
    return Grade(tr(text), color_name)


def describe_end(report: Report) -> str:
    """Return mode, seed, and the way in which the run ended."""
    return tr("{mode} · seed {seed} · {ended} at {moment}").format(
        mode=formatting.get_mode_name(report["mode"]),
        seed=report["seed"],
        ended=tr(END_LABELS.get(report.get("ended_by"), END_LABELS[None])),
        moment=formatting.format_run_time(report["ended_at_s"]),
    )


def describe_result(report: Report) -> str:
    """Return the result as text: reached goals, end and duration of the run, then its mode and seed."""
    end = tr(END_LABELS.get(report.get("ended_by"), END_LABELS[None]))
    goals = report.get("goals", ())
    met_count = sum(bool(goal["met"]) for goal in goals)
    text = end
    if met_count < len(goals):
        missed = tr("Goal not met; {ended}") if len(goals) == 1 else tr("{met} of {all} goals met; {ended}")
        text = missed.format(met=met_count, all=len(goals), ended=end)
    length = formatting.format_seconds(report["ended_at_s"], 1)
    return tr("{what}, after {length}. {mode}, seed {seed}.").format(
        what=f"{text[:1].upper()}{text[1:]}",
        length=length,
        mode=formatting.get_mode_name(report["mode"]).capitalize(),
        seed=report["seed"],
    )


# --- figures ------------------------------------------------------------------------------------------------

UNPROTECTED_TIME_LABELS: Final = {
    "mirroring": mark("No synchronized mirror"),
    "ag": mark("No synchronized secondary"),
    "fci": mark("No standby node"),
    "mixed": mark("Time unprotected"),
}
"""Technology -> label of the time in which no copy could have taken over without data loss."""


def _list_figures(report: Report, scenario: Scenario | None) -> Iterator[SummaryFigure]:
    yield from _list_downtime_figures(report)
    availability = report["availability"]
    lost_count = int(availability["lost_transactions"])
    yield SummaryFigure(
        "lost_transactions",
        tr("Transactions lost"),
        formatting.format_number(lost_count),
        "bad" if lost_count else "ok",
    )
    if availability["lost_kb"]:
        size = formatting.format_kb(availability["lost_kb"])
        yield SummaryFigure("lost_kb", tr("log never sent"), size, "bad", detail=True)
    protection = find_protection(scenario)
    if protection:
        exposed_s = availability["exposed_s"]
        value = formatting.format_seconds(exposed_s, 1)
        tip = tr("Only time in which the database was online is counted")
        yield SummaryFigure(
            "exposed_s",
            tr(UNPROTECTED_TIME_LABELS[protection]),
            value,
            "warn" if exposed_s else "ok",
            tip=tip,
        )
    goals = report.get("goals", ())
    if goals:
        met_count = sum(bool(goal["met"]) for goal in goals)
        value = tr("{met} of {all}").format(met=met_count, all=len(goals))
        yield SummaryFigure("goals", tr("Goals met"), value, "ok" if met_count == len(goals) else "bad")
    yield from _list_failover_figures(report)


def _list_downtime_figures(report: Report) -> Iterator[SummaryFigure]:
    """Yield the downtime of the database and, if there are clients, the downtime of the clients."""
    count = len(report["availability"]["databases"])
    tip = tr("Sum of {n} databases").format(n=count) if count > 1 else ""
    database_s = report["availability"]["downtime_s"]
    database = formatting.format_seconds(database_s)
    over_text = tr("over {time}")
    last_service = _get_last_service_state(report)
    if last_service == DOWN:
        database = over_text.format(time=database)
    color_name = "bad" if last_service == DOWN else ""
    if not report.get("clients") or not report["clients"]["databases"]:
        yield SummaryFigure("downtime_s", tr("Downtime"), database, color_name, tip=tip)
        return
    yield SummaryFigure("", tr("Downtime"), "", tip=tip)
    yield SummaryFigure("downtime_s", tr("database"), database, color_name, detail=True, tip=tip)
    clients = formatting.format_seconds(report["clients"]["downtime_s"])
    is_unavailable = last_service in (DOWN, CLIENTS_IDLE)
    clients = over_text.format(time=clients) if is_unavailable else clients
    yield SummaryFigure(
        "clients_s", tr("clients"), clients, "bad" if is_unavailable else "", detail=True, tip=tip
    )


def _get_last_service_state(report: Report) -> str:
    """Return the state of the service at the end of the run."""
    databases = list(report["availability"]["databases"])
    course = build_timeline(report["events"], databases, (), list_clients(report))
    spans = course.list_service_spans(float(report["ended_at_s"]))
    return spans[-1].state if spans else ""


def _list_failover_figures(report: Report) -> Iterator[SummaryFigure]:
    """Yield the duration of the failover, and a comparable published duration if there is one.

    Yield nothing unless the run has exactly one failover.
    """
    rows: list[ReportRow] = list(report["failovers"])
    if len(rows) != 1 or rows[0]["failover_s"] is None:
        return
    row = rows[0]
    yield SummaryFigure("failover_s", tr("Failover"), formatting.format_seconds(row["failover_s"]))
    if row.get("published_s") is not None:
        published = formatting.format_seconds(row["published_s"], 1)
        yield SummaryFigure(
            "published_s",
            tr("published (Best Practices, Table 6)"),
            published,
            detail=True,
            tip=row["published_ref"],
        )


HINT, WAIT, ANSWER, TRY_AGAIN, WATCH, PLAY, SKIP, NEXT, BACK = (
    "hint", "wait", "answer", "again", "watch", "play", "skip", "next", "back",
)  # fmt: skip
"""Names of the buttons."""


class LessonCard(Struct, frozen=True):
    """Card of the lesson bar, in which the player practices a mistake of the run.

    *lines*: sentences. *steps*: steps of the best continuation. *buttons*: names of the available buttons.
    """

    heading: str
    color_name: str
    lines: tuple[str, ...]
    steps: tuple[ContinuationStep, ...]
    buttons: tuple[str, ...]
    highlighted_button: str = ""
    """Name of the highlighted button; empty if there is none."""


def build_question_card(
    lesson: RunSegment, number: int, count: int, choices: ChoicesByQuestion
) -> LessonCard:
    """Return the card that shows mistake *number* of *count* with its cost, and asks for a better action."""
    heading = tr("Mistake {number} of {count}, at {moment}: what would you do?").format(
        number=number, count=count, moment=formatting.format_run_time(lesson.tick / TICKS_PER_S)
    )
    task = tr(
        "Find a better action with any tool in the window. Queries cost nothing, and nothing here is scored."
    )
    mistake = tr("In your run: {mistake} {cost}").format(
        mistake=describe_mistake(lesson, choices), cost=describe_cost(lesson, None)
    )
    wait = (WAIT,) if lesson.line != WAITING else ()
    return LessonCard(heading, "info", (mistake, task), (), (HINT, *wait, ANSWER, SKIP))


def build_rejection_card(lesson: RunSegment, judgment: AnswerJudgment) -> LessonCard:
    """Return the card that rejects a player's answer, with the reason."""
    if judgment.is_noop:
        heading = tr("This action has no effect here.")
        return LessonCard(heading, "warn", (tr("Try another action."),), (), (HINT, ANSWER, TRY_AGAIN, SKIP))
    lost_points = formatting.format_plain_number(round(lesson.before - judgment.value, 1))
    heading = tr("Not the best choice: it costs {points} points.").format(points=lost_points)
    lines = (tr("Press “Try again” to return to the time of the mistake."),)
    return LessonCard(heading, "warn", lines, (), (TRY_AGAIN, HINT, ANSWER, SKIP), TRY_AGAIN)


def build_judgment_card(
    lesson: RunSegment,
    judgment: AnswerJudgment,
    has_another: bool,
    review: Review | None,
    choices: ChoicesByQuestion,
) -> LessonCard:
    """Return the card that judges a player's answer. *has_another*: True if another mistake follows."""
    if judgment.is_noop or not is_good_answer(lesson, judgment):
        return build_rejection_card(lesson, judgment)
    points = formatting.format_plain_number(round(judgment.value, 1))
    heading = tr("Correct: {points} points are still possible.").format(points=points)
    return _build_continuation_card(lesson, heading, "ok", has_another, review, choices)


def build_solution_card(
    lesson: RunSegment, has_another: bool, review: Review | None, choices: ChoicesByQuestion
) -> LessonCard:
    """Return the card that shows the best continuation to a player who gives up.

    *has_another*: True if another mistake follows.
    """
    points = formatting.format_plain_number(round(lesson.before, 1))
    heading = tr("Best continuation ({points} points):").format(points=points)
    return _build_continuation_card(lesson, heading, "info", has_another, review, choices)


def build_hint(lesson: RunSegment, choices: ChoicesByQuestion) -> str:
    """Return a hint: the target of the first action in the best continuation, without the action itself."""
    first = next((item for item in lesson.best if is_action(item.line_without_time)), None)
    if first is None:
        return tr("Hint: no action is needed here.")
    target = first.args[0].partition("#")[0] if first.args else ""
    time = formatting.format_run_time(first.tick / TICKS_PER_S)
    if not target:
        return tr("Hint: the best next action is at {at}.").format(at=time)
    return tr("Hint: the best next action is on {place}, at {at}.").format(place=target, at=time)


def _build_continuation_card(
    lesson: RunSegment,
    heading: str,
    color_name: str,
    has_another: bool,
    review: Review | None,
    choices: ChoicesByQuestion,
) -> LessonCard:
    steps = tuple(describe_step(item, choices) for item in choose_explaining_inputs(lesson.best, STEPS_MAX))
    reason = find_reason(lesson, review)
    lines = (tr("Why: {reason}").format(reason=reason),) if reason else ()
    last = NEXT if has_another else BACK
    return LessonCard(heading, color_name, lines, steps, (WATCH, PLAY, last), last)


def find_reason(lesson: RunSegment, review: Review | None) -> str:
    """Return the reason for the best action of *lesson*; empty if there is none.

    If a step of the reference solution has the same action, return the reason of this step. Otherwise, return
    the advice of the rule that the player broke.
    """
    if review is None:
        return ""
    actions = [item for item in lesson.best if is_action(item.line_without_time)]
    steps = review.reference.steps if review.reference is not None else ()
    for item in actions:
        for step in steps:
            if step.why and is_same_action(parse_input_line(step.line), item):
                return step.why
    advice: Sequence[str] = [
        localize(mistake.better)
        for mistake in review.mistakes
        if mistake.better
        and mistake.cause_tick is not None
        and lesson.tick <= mistake.cause_tick <= lesson.until
    ]
    return next(iter(advice), "")


class DebriefModel(Struct, frozen=True):
    """Contents of a debrief. The report is available at once; review and regret analysis follow later."""

    report: Report
    scenario: Scenario | None = None
    """Scenario of the run; None if this version cannot load it, so that the run cannot be retried."""
    review: Review | None = None
    regret_analysis: RegretAnalysis | None = None
    lessons: tuple[RunSegment, ...] | None = None
    is_provisional: bool = False
    """True if a more exact regret analysis follows."""
    is_analyzing: bool = False
    """True while the review or the regret analysis is being computed."""
    reflection: Reflection | None = None
    next_title: str = ""
    """Title of the suggested next drill; empty if there is none."""

    @property
    def can_retry(self) -> bool:
        """True if the run can be retried."""
        return self.scenario is not None

    @property
    def has_solution(self) -> bool:
        """True if the drill has a reference solution."""
        return self.scenario is not None and bool(self.scenario.solution)

    @property
    def choices(self) -> dict[str, list[str]]:
        """Question -> its choices."""
        return get_choices(self.report)

    def build_summary(self) -> SummaryModel:
        """Return score, grade and figures."""
        return summarize_run(self.report, self.scenario)

    def build_verdict(self) -> VerdictModel | None:
        """Return the biggest mistake and the best continuation; None while they are unknown."""
        return judge_run(self.report, self.review, self.regret_analysis, self.lessons, self.is_provisional)

    def build_timeline(self) -> RunTimeline:
        """Return the timeline of the run. It contains the point of no return, if already computed."""
        databases = list(self.report["availability"]["databases"])
        clients = list_clients(self.report)
        if self.scenario is None:
            course = RunTimeline(databases, databases, clients=clients)
        else:
            course = start_timeline(self.scenario, databases, clients)
        course.add_events(self.report["events"])
        chance = self.regret_analysis.last_chance if self.regret_analysis is not None else None
        if chance is not None:
            last_chance_text = tr("last chance to meet all goals: {act}").format(
                act=format_first_step(chance, self.choices)
            )
            course.add_marker(
                TimelineMarker(chance.tick / TICKS_PER_S, POINT_OF_NO_RETURN_KIND, last_chance_text)
            )
        return course
