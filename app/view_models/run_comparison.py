"""Comparison of two finished runs from their reports: figures, score items and actions, without Qt."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import describe_input, localize
from engine.drill.judging.report_types import ItemJson, Report
from engine.drill.judging.score import DEDUCTION_NAMES

BETTER, WORSE = "better", "worse"


class ComparisonRow(Struct, frozen=True):
    """Figure of two compared runs. *difference*: value of the right run minus value of the left run."""

    figure: str
    """Name of the compared figure."""
    left: str
    """Value in the left run."""
    right: str
    """Value in the right run."""
    difference: str = ""
    verdict: str = ""
    """BETTER or WORSE, if the right run is better or worse than the left run; otherwise empty."""

    @property
    def is_equal(self) -> bool:
        """Return whether both runs have equal values."""
        return self.left == self.right


class ComparedAction(Struct, frozen=True):
    """Row of the action list: the actions of both runs at one time."""

    t_s: float
    left: str
    """Action in the left run at this time; empty if there is none."""
    right: str
    """Action in the right run at this time; empty if there is none."""


class _ComparedFigure(Struct, frozen=True):
    name: str
    read_value: Callable[[Report], float | None]
    """Function that reads the figure from a report."""
    format_value: Callable[[float], str]
    """Function that formats a value of the figure."""
    is_higher_better: bool | None = False
    """True if a higher value is better, False if a lower value is better; None if neither is better."""


def _create_sum_reader(name: str) -> Callable[[Report], float]:
    return lambda report: float(report["availability"][name])


def _format_count(value: float) -> str:
    return formatting.format_number(round(value))


def _find_longest_failover_s(report: Report) -> float | None:
    times = [row["failover_s"] for row in report["failovers"] if row["failover_s"] is not None]
    return max(times, default=None)


FIGURES: Final = (
    _ComparedFigure(
        mark("points"),
        lambda report: report["score"]["total"] if report["score"]["scored"] else None,
        formatting.format_plain_number,
        is_higher_better=True,
    ),
    _ComparedFigure(
        mark("goals met"),
        lambda report: sum(bool(goal["met"]) for goal in report["goals"]) if report["goals"] else None,
        _format_count,
        is_higher_better=True,
    ),
    _ComparedFigure(mark("downtime"), _create_sum_reader("downtime_s"), formatting.format_seconds),
    _ComparedFigure(mark("unprotected"), _create_sum_reader("exposed_s"), formatting.format_seconds),
    _ComparedFigure(
        mark("committed transactions lost"), _create_sum_reader("lost_transactions"), _format_count
    ),
    _ComparedFigure(mark("log lost"), _create_sum_reader("lost_kb"), formatting.format_kb),
    _ComparedFigure(
        mark("failovers"), lambda report: len(report["failovers"]), _format_count, is_higher_better=None
    ),
    _ComparedFigure(mark("longest failover"), _find_longest_failover_s, formatting.format_seconds),
    _ComparedFigure(
        mark("hints"),
        lambda report: sum(event["kind"] == "hint" for event in report["events"]),
        _format_count,
    ),
    _ComparedFigure(mark("rewound"), lambda report: len(report["rewinds"]), _format_count),
    _ComparedFigure(
        mark("commands and actions"),
        lambda report: len(report["inputs"]),
        _format_count,
        is_higher_better=None,
    ),
    _ComparedFigure(
        mark("length of the run"),
        lambda report: float(report["ended_at_s"]),
        formatting.format_seconds,
        is_higher_better=None,
    ),
)
"""Figures that are compared for any two runs. `tr` translates the names."""


def compare_figures(left_report: Report, right_report: Report) -> list[ComparisonRow]:
    """Return the figures of both runs. A figure that neither run has is omitted."""
    rows = [
        ComparisonRow(
            tr("mode"), *(formatting.get_mode_name(report["mode"]) for report in (left_report, right_report))
        ),
        ComparisonRow(tr("seed"), *(str(report["seed"]) for report in (left_report, right_report))),
    ]
    if left_report["scenario"] != right_report["scenario"]:
        rows.insert(
            0,
            ComparisonRow(
                tr("drill"), *(str(report.get("title", "")) for report in (left_report, right_report))
            ),
        )
    return rows + [row for figure in FIGURES for row in _compare_figure(figure, left_report, right_report)]


def _compare_figure(
    figure: _ComparedFigure, left_report: Report, right_report: Report
) -> Iterator[ComparisonRow]:
    left_value, right_value = figure.read_value(left_report), figure.read_value(right_report)
    if left_value is not None or right_value is not None:
        left_text, right_text = (
            formatting.NO_VALUE if value is None else figure.format_value(value)
            for value in (left_value, right_value)
        )
        difference, verdict = _format_difference(
            left_value, right_value, figure.format_value, figure.is_higher_better
        )
        yield ComparisonRow(tr(figure.name), left_text, right_text, difference, verdict)


def compare_score_items(left_report: Report, right_report: Report) -> list[ComparisonRow]:
    """Return every score item that either run has, in the order of the left run."""
    items = [
        {item["name"]: item for item in report["score"]["items"]} for report in (left_report, right_report)
    ]
    rows = []
    for name in dict.fromkeys([*items[0], *items[1]]):
        left_item, right_item = (items_by_name.get(name) for items_by_name in items)
        left_points, right_points = (
            None if item is None else float(item["points"]) for item in (left_item, right_item)
        )
        difference, verdict = _format_difference(
            left_points, right_points, formatting.format_plain_number, True
        )
        rows.append(
            ComparisonRow(
                localize(DEDUCTION_NAMES.get(name, name)),
                _format_item(left_item),
                _format_item(right_item),
                difference,
                verdict,
            )
        )
    return rows


def _format_item(item: ItemJson | None) -> str:
    if item is None:
        return formatting.NO_VALUE
    points_max = float(item["max"])
    earned_text = formatting.format_plain_number(float(item["points"]))
    return (
        tr("{points} of {most}").format(points=earned_text, most=formatting.format_plain_number(points_max))
        if points_max
        else earned_text
    )


def _format_difference(
    left_value: float | None,
    right_value: float | None,
    format_value: Callable[[float], str],
    more_is_better: bool | None,
) -> tuple[str, str]:
    """Return the difference as text, and whether the right run is BETTER or WORSE than the left run.

    Both texts are empty if the values are equal or one is missing. The second is also empty if neither value
    is better.
    """
    if left_value is None or right_value is None or format_value(left_value) == format_value(right_value):
        return "", ""
    delta = right_value - left_value
    verdict = "" if more_is_better is None else BETTER if (delta > 0) == more_is_better else WORSE
    return ("+" if delta > 0 else "−") + format_value(abs(delta)), verdict


def list_compared_actions(left_report: Report, right_report: Report) -> list[ComparedAction]:
    """Return the actions of both runs in order of time. Simultaneous actions share a row."""
    actions_by_time: dict[tuple[float, int], list[str]] = {}
    for index, report in enumerate((left_report, right_report)):
        counts_by_time: dict[float, int] = {}
        for t_s, words in _list_actions(report):
            number = counts_by_time[t_s] = counts_by_time.get(t_s, -1) + 1
            actions_by_time.setdefault((t_s, number), ["", ""])[index] = words
    return [ComparedAction(t_s, *action_pair) for (t_s, _), action_pair in sorted(actions_by_time.items())]


def _list_actions(report: Report) -> Iterator[tuple[float, str]]:
    choices_by_question = {row["name"]: row["choices"] for row in report.get("questions", ())}
    for line in report["inputs"]:
        time, _, act = line.partition(" ")
        yield float(time), describe_input(act, choices_by_question)


def format_remark(left_report: Report, right_report: Report) -> str:
    """Return a remark on how far the runs are comparable: same drill, same seed, or neither."""
    if left_report["scenario"] != right_report["scenario"]:
        return tr("Two different drills: only common figures are compared.")
    if left_report["seed"] != right_report["seed"]:
        return tr("Different seeds: event times, names and sizes may differ.")
    return tr("Same seed: identical event times, names and sizes.")
