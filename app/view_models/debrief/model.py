"""Contents of the debrief of one run, as far as they are known, without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.learning.reflection import Reflection
from app.view_models.course import (
    NO_RETURN,
    RunTimeline,
    TimelineMarker,
    asynchronous,
    clients_of,
    course_of,
    find_synchronized_databases,
)
from app.view_models.debrief.summary import Summary, find_protection, summarize
from app.view_models.debrief.verdict import (
    STEPS_MAX,
    Asked,
    Step,
    Verdict,
    ask_choices,
    describe_cost,
    describe_mistake,
    describe_step,
    judge_run,
)
from app.view_models.value_curve import format_first_step
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.review import Review, is_same_action
from engine.drill.judging.shapes import Report
from engine.drill.par.account import WAITING, Account, RunSegment
from engine.drill.par.lessons import Judgement, choose_steps, is_action, is_good_answer
from engine.verbs.lines import parse_line

HINT, WAIT, ANSWER, AGAIN, WATCH, PLAY, SKIP, NEXT, BACK = (
    "hint", "wait", "answer", "again", "watch", "play", "skip", "next", "back",
)  # fmt: skip
"""Names of the buttons."""


@dataclass(frozen=True, slots=True)
class LessonCard:
    """Contents of the lesson bar: heading, tone, sentences, steps and available buttons."""

    heading: str
    tone: str
    lines: tuple[str, ...]
    steps: tuple[Step, ...]
    buttons: tuple[str, ...]
    primary: str = ""


def ask_lesson(lesson: RunSegment, number: int, count: int, choices: Asked) -> LessonCard:
    """Return the question: the position, the action of the run, and its cost."""
    heading = tr("Mistake {number} of {count}, at {moment}: what would you do?").format(
        number=number, count=count, moment=formatting.run_time(lesson.tick / TICKS_PER_S)
    )
    task = tr("Find a better action with any tool of the desk. Queries cost nothing, and nothing is scored.")
    mistake = tr("In your run: {mistake} {cost}").format(
        mistake=describe_mistake(lesson, choices), cost=describe_cost(lesson, None)
    )
    wait = (WAIT,) if lesson.line != WAITING else ()
    return LessonCard(heading, "info", (mistake, task), (), (HINT, *wait, ANSWER, SKIP))


def reject_answer(lesson: RunSegment, judgement: Judgement) -> LessonCard:
    """Return the reason why an answer is not good enough."""
    if judgement.idle:
        heading = tr("That has no effect here.")
        return LessonCard(heading, "warn", (tr("Try another action."),), (), (HINT, ANSWER, AGAIN, SKIP))
    lost = formatting.plain_number(round(lesson.before - judgement.value, 1))
    heading = tr("Not the best: that costs {points} points.").format(points=lost)
    lines = (tr("Return to the position and try again."),)
    return LessonCard(heading, "warn", lines, (), (AGAIN, HINT, ANSWER, SKIP), AGAIN)


def judge_answer(
    lesson: RunSegment, judgement: Judgement, has_another: bool, review: Review | None, choices: Asked
) -> LessonCard:
    """Return the value of an answer. *has_another*: another lesson follows."""
    if judgement.idle or not is_good_answer(lesson, judgement):
        return reject_answer(lesson, judgement)
    points = formatting.plain_number(round(judgement.value, 1))
    heading = tr("Correct: {points} points are still possible.").format(points=points)
    return _reveal(lesson, heading, "ok", has_another, review, choices)


def reveal_answer(lesson: RunSegment, has_another: bool, review: Review | None, choices: Asked) -> LessonCard:
    """Return the best continuation, if the player gives no answer."""
    points = formatting.plain_number(round(lesson.before, 1))
    heading = tr("Best continuation ({points} points):").format(points=points)
    return _reveal(lesson, heading, "info", has_another, review, choices)


def find_hint(lesson: RunSegment, choices: Asked) -> str:
    """Return the place of the first action in the best continuation, but not the action."""
    first = next((item for item in lesson.best if is_action(item.line_without_time)), None)
    if first is None:
        return tr("Hint: no action is needed here.")
    place = first.args[0].partition("#")[0] if first.args else ""
    at = formatting.run_time(first.tick / TICKS_PER_S)
    if not place:
        return tr("Hint: the best continuation acts at {at}.").format(at=at)
    return tr("Hint: the best continuation acts on {place}, at {at}.").format(place=place, at=at)


def _reveal(
    lesson: RunSegment, heading: str, tone: str, has_another: bool, review: Review | None, choices: Asked
) -> LessonCard:
    steps = tuple(describe_step(item, choices) for item in choose_steps(lesson.best, STEPS_MAX))
    reason = find_reason(lesson, review)
    lines = (tr("Why: {reason}").format(reason=reason),) if reason else ()
    last = NEXT if has_another else BACK
    return LessonCard(heading, tone, lines, steps, (WATCH, PLAY, last), last)


def find_reason(lesson: RunSegment, review: Review | None) -> str:
    """Return the reference's reason for the same action, or the advice of the rule that the player broke."""
    if review is None:
        return ""
    actions = [item for item in lesson.best if is_action(item.line_without_time)]
    steps = review.reference.steps if review.reference is not None else ()
    for item in actions:
        for step in steps:
            if step.why and is_same_action(parse_line(step.line), item):
                return step.why
    advice: Sequence[str] = [
        localize(each.better)
        for each in review.mistakes
        if each.better and each.cause_tick is not None and lesson.tick <= each.cause_tick <= lesson.until
    ]
    return next(iter(advice), "")


@dataclass(frozen=True, slots=True)
class DebriefModel:
    """Run, review and account of one debrief. Review and account arrive later than the report."""

    report: Report
    scenario: Scenario | None = None
    """Scenario; None if this version cannot use it, so that nothing can be retried."""
    review: Review | None = None
    account: Account | None = None
    lessons: tuple[RunSegment, ...] | None = None
    provisional: bool = False
    """True if a better account follows."""
    analyzing: bool = False
    """True while review or account is being computed."""
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
        """Choices of each question."""
        return ask_choices(self.report)

    def summary(self) -> Summary:
        """Return score, grade and figures."""
        return summarize(self.report, self.scenario)

    def verdict(self) -> Verdict | None:
        """Return the biggest mistake and the best continuation; None while they are not known."""
        return judge_run(self.report, self.review, self.account, self.lessons, self.provisional)

    def course(self) -> RunTimeline:
        """Return the timeline of the run, with the point of no return if it is known."""
        databases = list(self.report["availability"]["databases"])
        mirrored = databases if self.scenario is None else find_synchronized_databases(self.scenario)
        behind = () if self.scenario is None else asynchronous(self.scenario)
        shared = find_protection(self.scenario) in ("", "fci")
        clients = clients_of(self.report)
        course = course_of(self.report["events"], databases, mirrored, clients, behind, not shared)
        chance = self.account.last_chance if self.account is not None else None
        if chance is not None:
            until = tr("the last chance to meet all goals, {act}").format(
                act=format_first_step(chance, self.choices)
            )
            course.add_marker(TimelineMarker(chance.tick / TICKS_PER_S, NO_RETURN, until))
        return course
