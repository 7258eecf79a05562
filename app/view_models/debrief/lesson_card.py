"""A mistake as a question, and its answer with the reason, without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.view_models.debrief.verdict import (
    STEPS_MAX,
    Asked,
    Step,
    describe_cost,
    describe_mistake,
    describe_step,
)
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.judging.review import Review, is_same_action
from engine.drill.par.account import WAITING, RunSegment
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
