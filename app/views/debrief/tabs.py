"""Tabs of the debrief: value curve, timeline, points, commands, outages, evidence and export."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.view_models.debrief.model import DebriefModel
from app.view_models.run_timeline import TimelineSpan
from app.view_models.value_curve import list_refused_batches
from app.views.debrief import outage_widgets, regret_widgets
from app.views.debrief.debrief_widgets import (
    PointsLabel,
    build_card,
    build_code_label,
    build_label,
    build_muted_label,
    build_table,
)
from app.views.debrief.failovers import FailoverPanel, build_attempt_label, describe_missing_parts
from app.views.debrief.mistakes import StartRetry, build_mistakes
from app.views.debrief.reflection import build_reflection_checkbox, build_reflection_widgets
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.timeline_strip import TimelineStrip
from app.words import formatting
from app.words.formatting import format_run_tick
from app.words.language import mark, tr
from app.words.localization import describe_input, localize, shorten_line
from engine.constants import TICKS_PER_S
from engine.drill.judging.refusals import is_refusal_error
from engine.drill.judging.replay_timeline import DOWN, UNPROTECTED, DatabaseLanes
from engine.drill.judging.report import compute_calibration
from engine.drill.judging.report_types import Calibration, ItemJson, Report, ReportRow
from engine.drill.judging.review import ReferenceComparison
from engine.drill.par.regret_analysis import SegmentWithBest

STEP_LENGTH_MAX: Final = 220
"""Maximum number of displayed characters of a reference step. Exported files contain the full text."""


def build_reference(
    solution: ReferenceComparison, choices_by_question: Mapping[str, Sequence[str]], narrow: bool = False
) -> list[QWidget]:
    """Return a table of the reference steps, with reasons and the time at which the trainee did the same.

    *choices_by_question*: question -> its choices.
    """
    rows: list[tuple[str | QWidget, ...]] = []
    for step in solution.steps:
        done_text = (
            tr("at {moment}").format(moment=format_run_tick(step.done_tick))
            if step.done_tick is not None
            else tr("never")
        )
        rows.append(
            (
                build_muted_label(format_run_tick(step.tick)),
                _build_step(describe_input(step.line, choices_by_question), step.why),
                done_text,
            )
        )
    parts: list[QWidget] = [
        build_table((tr("time"), tr("action and reason"), tr("your action")), rows, (0, 1, 0), narrow)
    ]
    if solution.besides:
        parts.append(build_label(tr("Your actions outside the reference solution"), 1.0, bold=True))
        later_steps = [
            (
                build_muted_label(format_run_tick(item.tick)),
                build_code_label(
                    shorten_line(describe_input(item.line_without_time, choices_by_question), STEP_LENGTH_MAX)
                ),
            )
            for item in solution.besides
        ]
        parts.append(build_table((tr("time"), tr("action")), later_steps, (0, 1), narrow))
    return parts


def _build_step(line: str, reason: str) -> QWidget:
    line_label = build_code_label(shorten_line(line, STEP_LENGTH_MAX))
    if not reason:
        return line_label
    box = QWidget()
    build_widget_column(line_label, build_muted_label(reason), parent=box, margins=0, spacing=1)
    return box


def build_question(row: ReportRow) -> QWidget:
    """Build a widget with a question, the trainee's answer and the right answers."""
    box = QWidget()
    layout = build_widget_column(
        build_label(f"{formatting.format_run_time(row['asked_t_s'], 1)}  {row['text']}", 1.0, bold=True),
        parent=box,
        margins=0,
        spacing=2,
    )
    right = row.get("right") or ()
    for number, text in enumerate(row["choices"], start=1):
        mark = "✓" if number in right else "✗" if number == row.get("choice") else "·"
        yours = _format_answer(row) if number == row.get("choice") else ""
        layout.addWidget(build_label(f"{mark}  {text}{yours}"))
    if row.get("choice") is None:
        layout.addWidget(build_label(tr("No answer.")))
    if row.get("why"):
        layout.addWidget(build_muted_label(str(row["why"])))
    return box


def _format_answer(row: ReportRow) -> str:
    if row.get("sure_percent") is None:
        return "  " + tr("(your answer)")
    return "  " + tr("(your answer, {percent}% sure)").format(percent=f"{row['sure_percent']:g}")


def build_confidence(rows: Iterable[ReportRow], narrow: bool = False) -> list[QWidget]:
    """Compare the trainee's confidence with the share of right answers.

    Return an empty list if no answer states a confidence.
    """
    answer_calibration = compute_calibration(rows)
    return [] if answer_calibration is None else build_calibration(answer_calibration, narrow)


def build_calibration(calibration: Calibration, narrow: bool = False) -> list[QWidget]:
    """Return the Brier score, and a table with the share of right answers for each confidence."""
    curve = [
        (
            f"{point['sure_percent']:g}{formatting.format_percent_sign()}",
            f"{point['right_percent']:.0f}{formatting.format_percent_sign()}",
            str(point["answers"]),
        )
        for point in calibration["curve"]
    ]
    return [
        build_label(formatting.format_brier(calibration)),
        build_table((tr("confidence"), tr("correct"), tr("answers")), curve, (0, 0, 0), narrow),
    ]


def build_commands(report: Report, narrow: bool = False) -> QWidget | None:
    """Return a table of all batches with the server's messages, or None without batches."""
    rows = list(_build_batches(report))
    return (
        build_table((tr("time"), tr("server"), tr("batch"), ""), rows, (0, 0, 1, 0), narrow) if rows else None
    )


def _build_batches(report: Report) -> Iterator[tuple[str | QWidget, ...]]:
    """Yield a row for each batch: time, server, text with error messages, and outcome."""
    for batch in report.get("sql") or ():
        errors = [m for m in batch.get("messages") or () if int(m.get("severity") or 0) > 10]
        message = "".join(f"\nMsg {m['number']}: {m['text']}" for m in errors)
        text = " ".join(str(batch.get("batch", "")).split())
        refused = any(
            is_refusal_error(int(m["number"])) for m in errors
        )  # the score counts refusals by the same rule
        outcome_label = build_muted_label(
            tr("✗ refused") if refused else tr("✗ failed") if errors else tr("✓ done")
        )
        yield (
            build_muted_label(formatting.format_run_time(batch["t_s"], 1)),
            str(batch["server"]),
            build_code_label(f"{text}{message}"),
            outcome_label,
        )


FAILOVERS_SHOWN_MAX: Final = 6
TIMES_SHOWN_MAX: Final = 6
"""Maximum number of times listed for one score item. More times would be unreadable."""

EXPORT_LABELS: Final = (
    ("html", mark("Web page (HTML)…")),
    ("pdf", mark("Print (PDF, one page and an annex)…")),
    ("csv", mark("Tables (CSV)…")),
    ("json", mark("Data for replay (JSON)…")),
    ("runbook", mark("Runbook of your commands (SQL)…")),
    ("reference", mark("Runbook of the reference solution (SQL)…")),
)
"""Kind of file, and the label of the button that exports it."""


class TabCallbacks(Struct, frozen=True):
    """Callbacks of the buttons in the tabs."""

    retry: StartRetry
    select_time: Callable[[float], None]
    """Callback that selects a time in seconds. The page then offers a retry from this time."""
    watch_run: Callable[[float], None]
    watch_best: Callable[[SegmentWithBest], None]
    watch_solution: Callable[[], object]
    analyze: Callable[[], object]
    """Callback that searches for better continuations."""
    export: Callable[[str], object]
    set_reflection: Callable[[bool], object]


def build_scroll_area(parts: Sequence[QWidget]) -> QScrollArea:
    """Return a scroll area with *parts* in a column."""
    widget = QWidget()
    column = build_widget_column(parent=widget, margins=(14, 10, 14, 12), spacing=10)
    for part in parts:
        grows = part.sizePolicy().expandingDirections() & Qt.Orientation.Vertical
        column.addWidget(part, 1 if grows else 0)
    column.addStretch()
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    area.setProperty("plain", "true")
    area.setWidget(widget)
    widget.setAutoFillBackground(False)
    return area


# --- one function for each tab ------------------------------------------------------------------------------


def build_score_tab(model: DebriefModel, callbacks: TabCallbacks) -> list[QWidget]:
    """Return the curve of the best reachable score, and the costliest actions and waits."""
    if model.regret_analysis is None:
        return [
            build_muted_label(
                tr("Analyzing…") if model.is_analyzing else tr("No analysis is available for this run.")
            )
        ]
    verdict = model.build_verdict()
    return regret_widgets.build_regret_widgets(
        model.regret_analysis, verdict.lessons if verdict is not None else (), model.has_solution, model.can_retry,
        callbacks.retry, callbacks.select_time, callbacks.watch_best, model.choices,
        model.is_provisional, None if model.is_analyzing else callbacks.analyze, list_refused_batches(model.report),
    )  # fmt: skip


def build_timeline_tab(model: DebriefModel, callbacks: TabCallbacks) -> list[QWidget]:
    """Return the timeline of service, protection and states, and each failover with its phases."""
    report, review, course = model.report, model.review, model.build_timeline()
    strip = TimelineStrip(is_on_page=True)
    strip.show_timeline(course, float(report["ended_at_s"]), is_live=False)
    strip.time_clicked.connect(callbacks.select_time)
    if review is not None and review.lanes and course.has_protection:
        states = _list_states(review.lanes)
        if any(span.state != "NONE" for _, spans in states for span in spans):
            strip.show_extra_lanes(states)
    words = [
        tr("Availability, protection, and the state of the copies as reported by the principal or primary.")
    ]
    if not course.has_protection:
        words = [tr("Availability of the databases.")]
    if model.can_retry:
        words.append(tr("Click a time, or use the arrow keys and Enter, to retry from there."))
    parts: list[QWidget] = [strip, build_muted_label(" ".join(words))]
    if report["failovers"]:
        parts.append(build_card(tr("Failovers and published times"), *_build_failovers(model)))
    if report.get("attempts"):
        parts.append(
            build_card(
                tr("Failed failover attempts"), *[build_attempt_label(row) for row in report["attempts"]]
            )
        )
    return parts


def build_points_tab(
    model: DebriefModel, callbacks: TabCallbacks, narrow: bool, asks_first: bool
) -> list[QWidget]:
    """Return the points per rubric item, and the questions.

    *asks_first*: state of the check box that turns the reflection form on for later runs.
    """
    report, review = model.report, model.review
    parts: list[QWidget] = []
    if model.reflection is not None:
        parts.append(
            build_card(
                tr("Your self-assessment"),
                *build_reflection_widgets(model.reflection, report["score"]["total"]),
            )
        )
    if review is not None:
        widgets = build_mistakes(review.mistakes, model.can_retry, callbacks.retry, callbacks.watch_run)
        if widgets:
            parts.append(build_card(tr("Deductions"), *widgets))
    if report["score"]["scored"]:
        ask = build_reflection_checkbox(asks_first)
        ask.toggled.connect(callbacks.set_reflection)
        parts.append(build_card(tr("Score by rule"), _build_score_items(model, callbacks), ask))
    requested_questions = [row for row in report.get("questions", ()) if row.get("asked_t_s") is not None]
    if requested_questions:
        questions = [build_question(row) for row in requested_questions]
        parts.append(build_card(tr("Questions"), *questions, *build_confidence(requested_questions, narrow)))
    return parts or [build_muted_label(tr("No score in free play."))]


def build_commands_tab(model: DebriefModel, callbacks: TabCallbacks, narrow: bool) -> list[QWidget]:
    """Return the executed commands and the reference solution."""
    parts: list[QWidget] = []
    listed = build_commands(model.report, narrow)
    parts.append(build_muted_label(tr("No commands were run.")) if listed is None else listed)
    review = model.review
    if review is not None and review.reference is not None:
        watch = QPushButton(tr("Watch step by step"))
        watch.clicked.connect(lambda _=False: callbacks.watch_solution())
        rows = build_reference(review.reference, model.choices, narrow)
        parts.append(build_card(tr("Reference solution"), _build_row(watch), *rows))
    return parts


def build_outages_tab(model: DebriefModel, narrow: bool) -> list[QWidget]:
    """Return the goals, the outages and losses with their causes, and a comparison with the reference."""
    report, review = model.report, model.review
    parts: list[QWidget] = []
    if report.get("failed_parts"):
        parts.append(build_muted_label(describe_missing_parts(report["failed_parts"])))
    if goals := outage_widgets.build_goals(report):
        parts.append(build_card(tr("Goals"), *goals))
    if review is None:
        parts.append(build_muted_label(_format_pending_analysis(model)))
    else:
        parts.append(build_card(tr("What happened, and why"), *outage_widgets.build_outages(review, report)))
    if figures := outage_widgets.build_figures(model.report, review, model.build_summary(), narrow):
        parts.append(build_card(tr("Figures"), *figures))
    return parts


def build_evidence_tab(model: DebriefModel, narrow: bool) -> list[QWidget]:
    """Return the requirements of automatic failover, and the views in which each can be checked."""
    if model.review is None:
        return [build_muted_label(_format_pending_analysis(model))]
    guards = outage_widgets.build_preconditions(model.review, narrow)
    if not guards:
        return [build_muted_label(tr("No outages to explain."))]
    return [build_card(tr("Preconditions of automatic failover"), *guards)]


def build_export_tab(model: DebriefModel, callbacks: TabCallbacks) -> list[QWidget]:
    """Return an export button for each kind of file."""
    box = QWidget()
    flow = FlowLayout(8, box)
    for kind, text in EXPORT_LABELS:
        if kind != "reference" or model.has_solution:
            button = QPushButton(tr(text))
            button.clicked.connect(lambda _=False, kind=kind: callbacks.export(kind))
            button.setEnabled(model.scenario is not None)
            flow.addWidget(button)
    return [build_label(tr("The files contain the same figures and texts as this page.")), box]


# --- private helpers ----------------------------------------------------------------------------------------


def _format_pending_analysis(model: DebriefModel) -> str:
    return tr("Preparing…") if model.is_analyzing else tr("This run cannot be analyzed.")


def _build_row(button: QPushButton) -> QWidget:
    box = QWidget()
    build_row(button, 0, parent=box, margins=0)
    return box


def _build_failovers(model: DebriefModel) -> list[QWidget]:
    """Return a panel for each failover. If there are too many, summarize all of them in a last line."""
    rows = model.report["failovers"]
    reviews = model.review.failovers if model.review is not None else ()
    unlike = [review.unlike for review in reviews] + [""] * (len(rows) - len(reviews))
    estimates = [review.estimate for review in reviews] + [None] * (len(rows) - len(reviews))
    panels: list[QWidget] = [
        FailoverPanel(row, reason, estimate)
        for row, reason, estimate in list(zip(rows, unlike, estimates, strict=False))[:FAILOVERS_SHOWN_MAX]
    ]
    if len(rows) > FAILOVERS_SHOWN_MAX:
        times = [row["failover_s"] for row in rows if row["failover_s"] is not None]
        text = tr("{count} failovers in total, taking {least} to {most}.")
        shortest, longest = (
            formatting.format_seconds(pick(times)) if times else formatting.NO_VALUE for pick in (min, max)
        )
        panels.append(build_muted_label(text.format(count=len(rows), least=shortest, most=longest)))
    return panels


def _list_states(lanes: Mapping[str, DatabaseLanes]) -> list[tuple[str, list[TimelineSpan]]]:
    """Return one row for the timeline: the states of the database that was down or unprotected the longest."""

    def measure_harm(lane: DatabaseLanes) -> int:
        harmful_spans = [
            span for span in (*lane.service, *lane.protection) if span.what in (DOWN, UNPROTECTED)
        ]
        return sum(span.ticks for span in harmful_spans)

    worst = max(lanes.values(), key=measure_harm)
    spans = [TimelineSpan(s.from_tick / TICKS_PER_S, s.to_tick / TICKS_PER_S, s.what) for s in worst.state]
    return [(tr("state"), spans)]


def _build_score_items(model: DebriefModel, callbacks: TabCallbacks) -> QWidget:
    box = QWidget()
    column = build_widget_column(parent=box, margins=0, spacing=14)
    for item in model.report["score"]["items"]:
        row = build_row(
            (PointsLabel(float(item["points"]), float(item["max"])), 0, Qt.AlignmentFlag.AlignTop),
            (_build_score_item(item, model.can_retry, callbacks), 1),
            spacing=18,
        )
        column.addLayout(row)
    return box


def _build_score_item(item: ItemJson, can_retry: bool, callbacks: TabCallbacks) -> QVBoxLayout:
    layout = build_widget_column(
        build_label(localize(item["name"]), 1.0, bold=True), build_label(localize(item["why"])), spacing=2
    )
    if item.get("better"):
        layout.addWidget(build_label(tr("Better: {better}").format(better=localize(item["better"]))))
    times_s = list(dict.fromkeys(item.get("at_s") or ()))[:TIMES_SHOWN_MAX]
    if times_s:
        row = FlowLayout(6)
        row.addWidget(build_muted_label(tr("At")))
        for t_s in times_s:
            button = QPushButton(formatting.format_run_time(t_s, 1))
            button.setProperty("small", "true")
            button.setToolTip(tr("Choose this time for a retry"))
            button.setEnabled(can_retry)
            button.clicked.connect(lambda _=False, t_s=t_s: callbacks.select_time(t_s))
            row.addWidget(button)
        layout.addLayout(row)
    return layout
