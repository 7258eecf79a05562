"""Verdict on a run: its biggest mistake in one sentence, and the best alternative, without Qt."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import mark, tr, trn
from app.words.localization import describe_input, localize, shorten_line
from engine.constants import TICKS_PER_S
from engine.drill.authoring import condition_context
from engine.drill.judging.report_types import Report
from engine.drill.judging.review import Outage, Review
from engine.drill.par.lessons import (
    choose_explaining_inputs,
    find_biggest_lesson,
    find_lessons,
    has_ended_last_chance,
    is_action,
)
from engine.drill.par.regret import find_retry_start
from engine.drill.par.regret_analysis import WAITING, LastChance, RegretAnalysis, RunSegment
from engine.inputs import Input, InputError
from engine.model import Tick
from engine.tables import read_table
from engine.verbs.input_lines import parse_input_line

COMMAND_CHARACTERS_MAX: Final = 110
"""Maximum characters of a command that is quoted in a sentence.

The debrief shows the full command elsewhere.
"""

STATEMENT_SENTENCES: Final = tuple(
    (row["pattern"], row["text"]) for row in read_table("app.view_models.debrief", "statements.tsv")
)
"""(pattern, sentence) to describe a SQL batch.

Patterns are matched against the uppercase batch. If several patterns match, the pattern whose match is last
in the batch determines the sentence.
"""

REMARK_SENTENCES: Final = {
    "finish": mark("You ended the drill."),
    "hint": mark("You opened a hint."),
    "rewind": mark("You rewound the run."),
    "answer": mark("You answered a question: {action}."),
}
"""Verb of an input that does not change the world -> sentence that describes the input."""


def describe_action(line: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence about an input of the player. *choices*: question -> its choices."""
    action = shorten_line(describe_input(line, choices), COMMAND_CHARACTERS_MAX)
    try:
        item = parse_input_line(line)
    except InputError:
        return tr("You ran: {action}.").format(action=action)
    if item.verb in REMARK_SENTENCES:
        return tr(REMARK_SENTENCES[item.verb]).format(action=action)
    if item.verb in ("sql", "ps"):
        return _describe_statement(item) or tr("You ran: {action}.").format(action=action)
    return tr("You chose: {action}.").format(action=action)


def _describe_statement(input_: Input) -> str:
    server = input_.args[0].partition("#")[0]
    text = condition_context.normalize_sql(input_.args[1], keep_literals=False)
    statements = [
        (match.end(), sentence)
        for pattern, sentence in STATEMENT_SENTENCES
        for match in re.finditer(pattern, text)
    ]
    return tr(max(statements)[1]).format(server=server) if statements and input_.verb == "sql" else ""


STEPS_MAX: Final = 3
"""Maximum number of steps of the best continuation on the first screen."""

OUTAGES_MAX: Final = 3
"""Maximum number of outages that are described if the run has no mistake."""

SELECT_OR_FROM_PATTERN: Final = re.compile(r"(?i)\b(SELECT|FROM)\b")
COLUMN_LIST_CHARACTERS_MAX: Final = 12
"""Maximum characters of a column list that a step shows. Longer lists are replaced with "…"."""

ChoicesByQuestion = Mapping[str, Sequence[str]]
"""Question -> its choices."""


class ContinuationStep(Struct, frozen=True):
    """Step of the best continuation."""

    time_text: str
    """Time of the step, as text."""
    text: str


class RetryPoint(Struct, frozen=True):
    """Time at which a retry starts, and the sentence that the player sees then."""

    begin_tick: Tick
    """Tick at which the retry begins."""
    notice: str
    """Sentence that the player sees when the retry starts."""

    @property
    def begin_s(self) -> float:
        """Time in seconds at which the retry begins."""
        return self.begin_tick / TICKS_PER_S


class VerdictModel(Struct, frozen=True):
    """Contents of the verdict on the run, the right card of the debrief."""

    card_heading: str
    """Heading of the card."""
    color_name: str
    sentence: str
    steps_heading: str = ""
    """Heading of the steps; empty without steps."""
    steps: tuple[ContinuationStep, ...] = ()
    lines: tuple[str, ...] = ()
    """Sentences that are shown if there are no steps; empty if there are steps."""
    retry_point: RetryPoint | None = None
    """Point at which a retry starts; None if there is nothing to retry."""
    lesson: RunSegment | None = None
    """Biggest mistake; None if the run has none."""
    lessons: tuple[RunSegment, ...] = field(default=())
    """All mistakes of the run that are worth practicing, in order of time."""


def judge_run(
    report: Report,
    review: Review | None,
    regret_analysis: RegretAnalysis | None,
    lessons: Sequence[RunSegment] | None = None,
    provisional: bool = False,
) -> VerdictModel | None:
    """Return the verdict on a run; None until it can be computed.

    *lessons*: mistakes, each with a better continuation that a person could have typed in time. If None, the
    mistakes of *regret_analysis* are used.
    """
    if not report["score"]["scored"]:
        return None if review is None else _build_unscored_verdict(review)
    if regret_analysis is None:
        return None
    lessons_of_run = tuple(find_lessons(regret_analysis) if lessons is None else lessons)
    biggest = find_biggest_lesson(lessons_of_run)
    if biggest is None:
        return (
            None
            if provisional or review is None
            else _build_flawless_verdict(report, review, regret_analysis)
        )
    return build_lesson_verdict(biggest, regret_analysis.last_chance, get_choices(report), lessons_of_run)


def get_choices(report: Report) -> dict[str, list[str]]:
    """Return question -> its choices."""
    return {row["name"]: row["choices"] for row in report.get("questions", ())}


def build_lesson_verdict(
    lesson: RunSegment,
    last_chance: LastChance | None,
    choices: ChoicesByQuestion,
    lessons: tuple[RunSegment, ...],
) -> VerdictModel:
    """Return the verdict on a run whose biggest mistake is *lesson*.

    *last_chance*: last time at which all goals could still be reached. *lessons*: all mistakes of the run.
    """
    steps = tuple(describe_step(item, choices) for item in choose_explaining_inputs(lesson.best, STEPS_MAX))
    heading = tr("Better:") if steps else tr("Better: do nothing more.")
    if (
        not steps and lesson.line == "finish"
    ):  # the player could not act, for example while a question was open
        heading = tr("Better: do not end the drill yet.")
    return VerdictModel(
        tr("Biggest mistake, at {moment}").format(
            moment=formatting.format_run_time(lesson.tick / TICKS_PER_S)
        ),
        "bad",
        f"{describe_mistake(lesson, choices)} {describe_cost(lesson, last_chance)}",
        heading,
        steps,
        retry_point=find_retry_point(lesson, choices),
        lesson=lesson,
        lessons=lessons,
    )


def describe_mistake(lesson: RunSegment, choices: ChoicesByQuestion) -> str:
    """Return a sentence about the mistake *lesson*: the wrong action, or the action that is missing."""
    if lesson.line != WAITING:
        return describe_action(lesson.line, choices)
    start, end = (formatting.format_run_time(tick / TICKS_PER_S) for tick in (lesson.tick, lesson.until))
    return tr("You did not act from {start} to {end}.").format(start=start, end=end)


def describe_cost(lesson: RunSegment, last_chance: LastChance | None) -> str:
    """Return a sentence about the cost of *lesson*: goals that became unreachable, or lost points."""
    if last_chance is not None and has_ended_last_chance(lesson, last_chance) and last_chance.missed_goals:
        first, more_count = last_chance.missed_goals[0][0], len(last_chance.missed_goals) - 1
        if not more_count:
            return tr("This goal could no longer be met: {goal}.").format(goal=first)
        return trn(
            "This goal could no longer be met: {goal} (and {n} more).",
            "This goal could no longer be met: {goal} (and {n} more).",
            more_count,
        ).format(goal=first, n=more_count)
    points = formatting.format_plain_number(round(lesson.regret, 1))
    return tr("This mistake cost {points} of {before} possible points.").format(
        points=points, before=formatting.format_plain_number(round(lesson.before, 1))
    )


def describe_step(input_: Input, choices: ChoicesByQuestion) -> ContinuationStep:
    """Describe an input of a continuation as a step.

    For a statement, name its server and omit long column lists.
    """
    text = describe_input(input_.line_without_time, choices)
    if input_.verb in ("sql", "ps"):
        statement = omit_columns(" ".join(input_.args[1].split()))
        text = tr("On {server}: {statement}").format(
            server=input_.args[0].partition("#")[0], statement=statement
        )
    return ContinuationStep(
        formatting.format_run_time(input_.tick / TICKS_PER_S), shorten_line(text, COMMAND_CHARACTERS_MAX)
    )


def omit_columns(statement: str) -> str:
    """Return *statement* with "…" in place of each long column list between SELECT and FROM."""
    parts = SELECT_OR_FROM_PATTERN.split(statement)
    for index in range(1, len(parts) - 2, 2):
        keywords = (parts[index].upper(), parts[index + 2].upper())
        if keywords == ("SELECT", "FROM") and len(parts[index + 1].strip()) >= COLUMN_LIST_CHARACTERS_MAX:
            parts[index + 1] = " … "
    return "".join(parts)


def find_retry_point(lesson: RunSegment, choices: ChoicesByQuestion) -> RetryPoint:
    """Return the time at which a retry starts, early enough for a person to act before the mistake.

    No time is planned for queries, because the player can run them before starting the clock.
    """
    actions = tuple(item for item in lesson.best if is_action(item.line_without_time))
    begin, _ = find_retry_start(
        replace(lesson, plan=lesson.plan[: lesson.shared_input_count] + (actions or lesson.best))
    )
    if lesson.line == WAITING:
        return RetryPoint(begin, describe_mistake(lesson, choices))
    remaining_text = formatting.format_seconds((lesson.tick - begin) / TICKS_PER_S, 0)
    notice = tr("Your mistake follows at {at} ({left} from now): {mistake}").format(
        at=format_run_tick(lesson.tick), left=remaining_text, mistake=describe_mistake(lesson, choices)
    )
    return RetryPoint(begin, notice)


# --- runs without a mistake ---------------------------------------------------------------------------------


def _build_flawless_verdict(report: Report, review: Review, regret_analysis: RegretAnalysis) -> VerdictModel:
    """Return the verdict on a run without a serious mistake.

    It compares the score with the best known score, and lists the outages.
    """
    total = float(report["score"]["total"] or 0.0)
    best = max((value for _, value in regret_analysis.curve), default=total)
    clean = max(best, total) - total < 0.5
    words = mark("You scored {score} of {best} possible points.")
    if clean:
        words = mark("You scored {score} points. No better result is known.")
    sentence = tr(words).format(
        score=formatting.format_plain_number(total),
        best=formatting.format_plain_number(round(max(best, total), 1)),
    )
    lead = tr("No mistakes") if clean else tr("No serious mistake")
    return VerdictModel(lead, "ok", sentence, lines=tuple(describe_outages(review)))


def _build_unscored_verdict(review: Review) -> VerdictModel:
    """Return the verdict on a run without a score: its outages, or that there were none."""
    lines = tuple(describe_outages(review))
    return VerdictModel(tr("Free play"), "", tr("No score in free play."), lines=lines)


def describe_outages(review: Review) -> list[str]:
    """Return a sentence for each of the first outages, or a sentence that there were none."""
    outages = review.outages[:OUTAGES_MAX]
    return [_describe_outage(outage) for outage in outages] or [tr("No downtime.")]


def _describe_outage(outage: Outage) -> str:
    return tr("{moment}  {database} was down for {time}. {why}").format(
        moment=formatting.format_run_time(outage.span.from_tick / TICKS_PER_S),
        database=outage.database,
        time=formatting.format_seconds(outage.span.ticks / TICKS_PER_S),
        why=localize(outage.summary),
    )
