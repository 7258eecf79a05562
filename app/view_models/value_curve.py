"""Texts and colors of the value curve, which shows the points lost by each action and wait. Without Qt."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec.structs import replace

from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import mark, tr
from app.words.localization import describe_input, shorten_line
from engine.constants import TICKS_PER_S
from engine.drill.judging.report_types import Report
from engine.drill.par.regret_analysis import SEGMENT_LABELS, WAITING, LastChance, RegretAnalysis, RunSegment
from engine.inputs import Input
from engine.model import Tick, to_ticks

LOSS_BY_LABEL: Final = {name: points for points, name in SEGMENT_LABELS}
"""Label of an action or wait -> minimum number of lost points."""
SHOWN_LOSS_MIN: Final = LOSS_BY_LABEL["good"]
"""Minimum loss of an action or wait that is marked as a loss, in points."""

SEGMENT_STYLES: Final = {
    "brilliant": (mark("brilliant"), "info"),
    "best": (mark("best"), "ok"),
    "good": (mark("minor loss"), "ok"),
    "inaccuracy": (mark("inaccuracy"), "warn"),
    "mistake": (mark("mistake"), "warn"),
    "blunder": (mark("blunder"), "bad"),
}
"""Label of an action or wait -> displayed name and color name."""

ACTION_LENGTH_MAX: Final = 220
"""Maximum number of characters of a displayed action."""

INFO_SEVERITY_MAX: Final = 10
"""Highest severity of a message that is not an error."""

GRID_LINE_POINTS: Final = (0, 25, 50, 75, 100)
"""Scores (in points) at which the drawing of the curve has a horizontal line."""


def format_points(points: float) -> str:
    """Format points, with one decimal only if needed."""
    return formatting.format_plain_number(round(points, 1))


# --- the curve ----------------------------------------------------------------------------------------------


def list_legend_entries() -> tuple[tuple[str, str], ...]:
    """Return (color name, text) for each color of the curve.

    The color name is empty where no points are lost.
    """
    labels = {name: formatting.format_plain_number(points) for points, name in SEGMENT_LABELS}
    return (
        ("", tr("no loss")),
        ("ok", tr("best or minor loss: fewer than {inaccuracy} points lost").format(**labels)),
        (
            "warn",
            tr("inaccuracy: {inaccuracy} points lost or more, mistake: {mistake} or more").format(**labels),
        ),
        ("bad", tr("blunder: {blunder} points lost or more").format(**labels)),
    )


def merge_waits(run_segments: Sequence[RunSegment]) -> list[RunSegment]:
    """Return *run_segments*, with consecutive waits merged if each lost only a few points."""
    segments: list[RunSegment] = []
    for move in run_segments:
        before = segments[-1] if segments else None
        waits = before is not None and before.line == move.line == WAITING
        if (
            before is not None
            and waits
            and before.regret > 0.0
            and 0.0 < move.regret < LOSS_BY_LABEL["inaccuracy"]
        ):
            loss = before.before - move.after
            label = next((name for points, name in SEGMENT_LABELS if loss >= points), "best")
            first_segment = before if before.plan else move
            segments[-1] = replace(
                first_segment, until=move.until, before=before.before, after=move.after, label=label
            )
        else:
            segments.append(move)
    return segments


def find_marked_segments(regret_analysis: RegretAnalysis) -> list[RunSegment]:
    """Return the segments that the curve marks: every action, and each wait that lost points."""
    return [
        move
        for move in merge_waits(regret_analysis.moves)
        if move.line != WAITING or move.regret >= SHOWN_LOSS_MIN
    ]


def list_falling_parts(regret_analysis: RegretAnalysis) -> Iterator[tuple[str, list[tuple[Tick, float]]]]:
    """Yield (color name, corners) for each falling part of the curve. A corner is a pair (tick, points)."""
    waits = [move for move in regret_analysis.moves if move.line == WAITING]
    for stop in find_marked_segments(regret_analysis):
        if stop.regret >= SHOWN_LOSS_MIN:
            segments = [move for move in waits if stop.tick <= move.tick < stop.until] or [stop]
            ends = [((move.tick, move.before), (move.until, move.after)) for move in segments]
            yield SEGMENT_STYLES[stop.label][1], list(chain(*ends))


def get_end_tick(regret_analysis: RegretAnalysis) -> Tick:
    """Return the end tick of the curve: at least 1, so that even the curve of an empty run has a length."""
    return max((tick for tick, _ in regret_analysis.curve), default=1) or 1


def describe_curve(regret_analysis: RegretAnalysis) -> str:
    """Return a text for screen readers: the start value of the curve and each change."""
    text = tr("{moment}: {points} points")
    falls = [
        point
        for n, point in enumerate(regret_analysis.curve)
        if not n or point[1] != regret_analysis.curve[n - 1][1]
    ]
    return "; ".join(
        text.format(moment=format_run_tick(tick), points=format_points(value)) for tick, value in falls
    )


def explain_curve() -> str:
    """Return a text that explains the curve."""
    return tr(
        "The line shows the best score that was still possible at each time, according to your "
        "run, the reference solution and a search. Drops mark points that you can no longer win: "
        "dots are actions, thick lines are waiting. After the point of no return, no known "
        "continuation meets all goals."
    )


def format_uncertainty() -> str:
    """Return the sentence about uncertainty that applies to every value curve."""
    return tr("A better continuation may exist.")


def format_certainty(regret_analysis: RegretAnalysis) -> str:
    """Return a sentence that says whether more points could have been possible than the curve shows."""
    doubt = regret_analysis.largest_gap
    if doubt is None:
        return tr("Proven: at no time was a higher score possible than the line shows.")
    text = tr("At {moment} the best known score is {known} points; up to {most} may be possible.")
    points_text = text.format(
        moment=format_run_tick(doubt.tick),
        known=format_points(doubt.value),
        most=format_points(doubt.upper_bound),
    )
    return f"{format_uncertainty()} {points_text}"


def format_point_of_no_return_time(tick: Tick) -> str:
    """Format *tick*, the time of the point of no return."""
    return tr("point of no return at {moment}").format(moment=format_run_tick(tick))


# --- actions and waits --------------------------------------------------------------------------------------


def format_accuracy(regret_analysis: RegretAnalysis) -> str:
    """Return a sentence with the accuracy of the player's actions, in percent."""
    return tr("Accuracy {accuracy}%.").format(
        accuracy=formatting.format_plain_number(round(regret_analysis.accuracy))
    )


def format_segment_loss(segment: RunSegment) -> str:
    """Return the label of the segment and the points that it lost."""
    called = tr(SEGMENT_STYLES[segment.label][0])
    return f"{called}, −{format_points(segment.regret)}" if segment.regret >= SHOWN_LOSS_MIN else called


def format_segment(
    segment: RunSegment,
    choices_by_question: Mapping[str, Sequence[str]],
    last_chance: LastChance | None = None,
    refused: Container[tuple[Tick, str]] = (),
) -> str:
    """Return the time and the action of a segment.

    *choices_by_question*: question -> its choices. *last_chance*: last chance of the run to reach all goals.
    *refused*: time and line of each command that a server refused.
    """
    if segment.line != WAITING:
        text = f"{format_run_tick(segment.tick)}  {format_line(segment.line, choices_by_question)}"
        if (segment.tick, segment.line) in refused:
            return tr("{command}, refused by the server").format(command=text)
        return text
    if last_chance is not None and is_last_chance(segment, last_chance):
        return tr("{moment}  last chance missed").format(moment=format_run_tick(segment.tick))
    return tr("{start} to {end}  waiting").format(
        start=format_run_tick(segment.tick), end=format_run_tick(segment.until)
    )


def list_refused_batches(report: Report) -> frozenset[tuple[Tick, str]]:
    """Return (tick, line) of the batches that a server refused: those with an error and without a result."""
    return frozenset(
        (to_ticks(row["t_s"]), Input(0, "sql", (row["window"], row["batch"])).line_without_time)
        for row in report.get("sql") or ()
        if not row.get("results")
        and any(message["severity"] > INFO_SEVERITY_MAX for message in row.get("messages") or ())
    )


def is_last_chance(segment: RunSegment, last_chance: LastChance) -> bool:
    """Return whether *segment*, an action or a wait, ended the last chance to reach all goals."""
    return (segment.tick, segment.line, segment.best) == (
        last_chance.tick,
        last_chance.line,
        last_chance.remaining_actions,
    )


def format_point_of_no_return(
    last_chance: LastChance, choices_by_question: Mapping[str, Sequence[str]]
) -> str:
    """Return a sentence with the point of no return, and the action or the missed first step that caused it."""
    text = tr("Point of no return: {moment}. Later, the goals could no longer be met. Your action: {act}.")
    if last_chance.line == WAITING:
        text = tr(
            "Point of no return: {moment}. Later, the goals could no longer be met. Last chance: {act}."
        )
    return text.format(
        moment=format_run_tick(last_chance.tick), act=format_last_chance(last_chance, choices_by_question)
    )


def format_last_chance(last_chance: LastChance, choices_by_question: Mapping[str, Sequence[str]]) -> str:
    """Return the action that ended the last chance or, after a wait, the step that was missed."""
    return (
        format_first_step(last_chance, choices_by_question)
        if last_chance.line == WAITING
        else format_line(last_chance.line, choices_by_question)
    )


def format_missed_goals(last_chance: LastChance) -> str:
    """Return a sentence with the goals that were no longer reachable after the last chance."""
    goals = ", ".join(
        f"“{goal}”"
        if last_tick is None
        else tr("“{goal}” by {moment}").format(
            goal=goal, moment=formatting.format_run_time(last_tick / TICKS_PER_S)
        )
        for goal, last_tick in last_chance.missed_goals
    )
    if last_chance.line == WAITING:
        return tr("If these steps begin one second later, they no longer meet {goals}.").format(goals=goals)
    return tr("After this action, these steps no longer meet {goals}.").format(goals=goals)


def format_first_step(last_chance: LastChance, choices_by_question: Mapping[str, Sequence[str]]) -> str:
    """Return the first action of a plan that still reached all goals, or a text that no action was needed."""
    return (
        format_input(last_chance.remaining_actions[0], choices_by_question)
        if last_chance.remaining_actions
        else tr("do nothing more")
    )


def format_input(input_: Input, choices_by_question: Mapping[str, Sequence[str]]) -> str:
    """Return a readable description of an input."""
    return format_line(input_.line_without_time, choices_by_question)


def format_line(line: str, choices_by_question: Mapping[str, Sequence[str]]) -> str:
    """Return a readable description of an input line."""
    return shorten_line(describe_input(line, choices_by_question), ACTION_LENGTH_MAX)
