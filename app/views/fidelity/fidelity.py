"""Report that compares the simulation with published figures: all values in tables, some also as charts."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QCoreApplication, QObject, QSize, Qt, QThread, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QImage,
    QKeySequence,
    QPainter,
    QResizeEvent,
    QShortcut,
    QShowEvent,
    QTextDocument,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QProgressBar,
    QSplitter,
    QTextBrowser,
    QWidget,
)

from app.views.fidelity.report import (
    CLASS_LABELS,
    FAILOVER_STEP_PREFIX,
    PASS_VERDICT,
    VERDICT_LABELS,
    FigurePanelDrawing,
    build_legend_html,
    build_table_html,
    get_step_name,
    list_cells,
)
from app.widgets import theme
from app.widgets.key_button import build_back_button
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import set_accessible_box_name
from app.words import formatting
from app.words.language import mark, tr
from engine.overrides import override
from engine.planning.figures import FIGURE_BUILDERS, Figure, FigureLine, FigurePanel
from engine.published import whitepaper_failover
from engine.published.fidelity import KNOWN_FAILURES, SECTIONS
from engine.published.figure_rows import FigureClass, FigureRow, annotate_row
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S

# --- figures computed from the rows ----------------------------------------------------------------------


ERRORS, TABLE_6, MANY_DATABASES = mark("All errors"), mark("Table 6"), mark("Many databases")
"""Names of the figures that are computed from the rows."""

FIGURE_CLASSES = (FigureClass.CALIBRATED, FigureClass.SHARED, FigureClass.PREDICTED, FigureClass.INPUT)
"""Classes of published values, in the order of their lines in the chart of all errors."""


def build_figures(rows: Sequence[FigureRow]) -> dict[str, Figure]:
    """Return name -> chart, for the charts that can be computed from *rows*."""
    figures = {
        ERRORS: _build_error_figure(rows),
        TABLE_6: _build_table_6(rows),
        MANY_DATABASES: _build_many_databases(rows),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def _build_error_figure(rows: Sequence[FigureRow]) -> Figure | None:
    numbers = [row for row in rows if row.error_percent is not None]
    if not numbers:
        return None
    lines = []
    for kind in FIGURE_CLASSES:
        own_rows = [(index, row) for index, row in enumerate(numbers, start=1) if row.kind is kind]
        if own_rows:
            lines.append(
                FigureLine(
                    str(kind),
                    tuple(float(place) for place, _ in own_rows),
                    tuple(float(row.error_percent or 0.0) for _, row in own_rows),
                    has_points=True,
                    labels=tuple(
                        f"{row.id}: "
                        f"{formatting.format_percent((row.error_percent or 0.0) / 100.0, shows_plus=True)}, {row.what}"
                        for _, row in own_rows
                    ),
                )
            )
    ends = (0.0, float(len(numbers)) + 1.0)
    lines += [FigureLine(f"{deviation:+g}%", ends, (deviation, deviation)) for deviation in (10.0, -10.0)]
    return Figure(
        tr("All figures: deviation of Mirrordrill"),
        tr("All publications"),
        tr("Limits: 3% for calibrated values, 10% for predicted values, 15% for CPU."),
        tr("Figures by section"),
        (FigurePanel(tr("Error"), "%", tuple(lines)),),
        logarithmic_x=False,
    )


def _build_table_6(rows: Iterable[FigureRow]) -> Figure | None:
    figure_rows = [row for row in rows if row.id.startswith("T6.") and row.band is not None]
    if not figure_rows:
        return None
    causes = list(dict.fromkeys(row.id.split(".")[1] for row in figure_rows))
    lines = []
    for load, shift in (("idle", -0.12), ("loaded", 0.12)):
        own_rows = [row for row in figure_rows if row.id.endswith(load)]
        x = tuple(causes.index(row.id.split(".")[1]) + shift for row in own_rows)
        lines.append(
            FigureLine(
                "Mirrordrill, no load" if load == "idle" else "Mirrordrill, normal load",
                x,
                tuple(float(row.ours) for row in own_rows),
                has_points=True,
                spread=tuple(row.band for row in own_rows if row.band is not None),
                labels=tuple(row.what for row in own_rows),
            )
        )
        lines.append(
            FigureLine(
                "published",
                x,
                tuple(float(row.published) for row in own_rows),
                has_points=True,
                is_measured=True,
            )
        )
    return Figure(
        tr("Table 6: failover time by cause"),
        "Database Mirroring Best Practices and Performance Considerations",
        tr("Load lengthens every failover. The bars show the 5th to 95th percentile of 200 runs."),
        "",
        (FigurePanel(tr("Failover time"), "s", tuple(lines)),),
        logarithmic_x=False,
        categories=tuple(causes),
    )


MANY_DATABASES_PANELS = (
    ("tps", mark("Requests"), "/s"),
    ("cpu", mark("Principal CPU"), "%"),
    ("mirror-cpu", mark("Mirror CPU"), "%"),
)


def _build_many_databases(rows: Iterable[FigureRow]) -> Figure | None:
    cells = {match.groups(): row for row in rows if (match := re.fullmatch(r"MANY\.(\d+)\.(.+)", row.id))}
    numbers = sorted({int(databases) for databases, _ in cells})
    if not numbers:
        return None
    x = tuple(float(number) for number in numbers)
    panels = []
    for name, title, unit in MANY_DATABASES_PANELS:
        own_rows = [cells[str(number), name] for number in numbers]
        ours = FigureLine("Mirrordrill", x, tuple(float(row.ours) for row in own_rows))
        published = tuple(float(row.published) for row in own_rows)
        panels.append(
            FigurePanel(
                title, unit, (ours, FigureLine("published", x, published, has_points=True, is_measured=True))
            )
        )
    return Figure(
        tr("Many databases: throughput and CPU"),
        "Mirroring a Large Number of Databases in a Single SQL Server Instance",
        tr("Throughput and CPU usage grow almost linearly with the number of databases."),
        tr("Mirrored databases"),
        tuple(panels),
        logarithmic_x=False,
    )


ALL_SECTIONS: Final = mark("All sections")
FIGURE_ORDER: Final = (ERRORS, TABLE_6, *FIGURE_BUILDERS, MANY_DATABASES)
"""Names of figures in the order of the list."""
SECTION_MARGIN_PX: Final = 24
"""Margin next to the longest section title for the frame and a scroll bar."""
FIGURE_MARGINS_WIDTH_PX: Final = 60
"""Total width of the margins on both sides of a figure, in pixels."""


class StepResult(Struct, frozen=True):
    """Result of a computation step: rows of a section, or charts with their names.

    A preparation step has no result.
    """

    rows: tuple[FigureRow, ...] = ()
    figures: tuple[tuple[str, Figure], ...] = ()


class FidelityStep(Struct, frozen=True):
    """Step of the report's computation. Each step takes well under a second."""

    name: str
    compute: Callable[[], StepResult]


def list_fidelity_steps() -> tuple[FidelityStep, ...]:
    """Return all steps: first sections and curves, which are quick, then the failovers by cause."""
    sections = {name: FidelityStep(name, partial(_build_rows, name)) for name in SECTIONS}
    curves = [FidelityStep(name, partial(_build_figure, name)) for name in FIGURE_BUILDERS]
    slow = next(name for name, make in SECTIONS.items() if make is whitepaper_failover.build_rows)
    seeds = [
        FidelityStep(f"{FAILOVER_STEP_PREFIX}{cause}", partial(_compute_failovers, cause, loaded))
        for cause in PUBLISHED_FAILOVER_TIMES_S
        for loaded in (False, True)
    ]
    quick = [step for name, step in sections.items() if name != slow]
    return (*quick, *curves, *seeds, sections[slow])


def _build_rows(section: str) -> StepResult:
    return StepResult(rows=tuple(annotate_row(row, section, KNOWN_FAILURES) for row in SECTIONS[section]()))


def _build_figure(name: str) -> StepResult:
    return StepResult(figures=((name, FIGURE_BUILDERS[name]()),))


def _compute_failovers(cause: str, loaded: bool) -> StepResult:
    whitepaper_failover.simulate_failovers(
        cause, loaded
    )  # the rows of the failover section read these results from the cache
    return StepResult()


class FidelityWorker(QThread):
    """Thread that runs the steps of *todo*. `stop` ends it after the current step."""

    step_started = Signal(int, str)
    """Signal: number of finished steps, and the name of the step that begins."""
    result_ready = Signal(object)

    def __init__(self, steps: Sequence[FidelityStep], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._todo = tuple(steps)
        self.done = 0

    @override
    def run(self) -> None:
        for step in self._todo[self.done :]:
            if self.isInterruptionRequested():
                return
            self.step_started.emit(self.done, step.name)
            self.result_ready.emit(step.compute())
            self.done += 1

    @property
    def is_complete(self) -> bool:
        """True if all steps are done."""
        return self.done == len(self._todo)

    def stop(self) -> None:
        """Request the end of the thread and wait for it."""
        self.requestInterruption()
        self.wait()


class FidelityView(QWidget):
    """Page with the report that compares the simulation with published figures.

    The computation starts when the page is first shown and runs in the background.
    """

    closed = Signal()

    def __init__(
        self, parent: QWidget | None = None, todo: Callable[[], Sequence[FidelityStep]] = list_fidelity_steps
    ) -> None:
        """Create the page. *todo* returns the steps of the computation."""
        super().__init__(parent)
        self.setWindowTitle(tr("Fidelity"))
        self.setAccessibleName(tr("Fidelity"))
        self._steps = tuple(todo())
        self.worker = FidelityWorker(self._steps, self)
        self.rows: list[FigureRow] = []
        """All rows by section, without the filter."""
        self.figures: dict[str, Figure] = {}
        self._listed: list[str] = []
        """Names of the figures in the list."""
        self.parts = QListWidget()
        """Sections and, below them, figures."""
        self.parts.setAccessibleName(tr("Sections and figures"))
        self.page = QTextBrowser(openLinks=False)
        self.page.setAccessibleName(tr("Rows of the comparison"))
        self.page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verdict = _build_choice(tr("Verdict"), mark("All verdicts"), VERDICT_LABELS.items())
        self.kind = _build_choice(tr("Class"), mark("All classes"), CLASS_LABELS.items())
        self.search = QLineEdit(placeholderText=tr("Search all columns (Ctrl+F)"), clearButtonEnabled=True)
        self.search.setAccessibleName(tr("Find"))
        self.shown, self.summary = QLabel(), QLabel(wordWrap=True)
        self.shown.setProperty("muted", "true")
        self.progress = QProgressBar(maximum=len(self._steps), textVisible=False)
        self.progress.setAccessibleName(tr("Progress"))
        self._update_timer = QTimer(self, singleShot=True, interval=0)
        self._lay_out()
        self._list_parts()
        self.parts.currentRowChanged.connect(self._update_timer.start)
        self.verdict.currentIndexChanged.connect(self._update_timer.start)
        self.kind.currentIndexChanged.connect(self._update_timer.start)
        self.search.textChanged.connect(self._update_timer.start)
        self._update_timer.timeout.connect(self.show_selected_part)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        self.worker.step_started.connect(self._on_began)
        self.worker.result_ready.connect(self._on_result)
        self.worker.finished.connect(self._on_finished)
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.worker.stop)
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._list_parts, self._update_timer.start)

    @override
    def sizeHint(self) -> QSize:
        return QSize(1240, 690)

    def stop(self) -> None:
        """Stop the computation and wait for its thread. It resumes when the page is shown again."""
        self.worker.stop()

    # --- results --------------------------------------------------------------------------------------------

    @Slot(int, str)
    def _on_began(self, step_count: int, name: str) -> None:
        self.progress.setValue(step_count)
        self._write_summary(tr("Computing {name} …").format(name=get_step_name(name)))

    @Slot(object)
    def _on_result(self, result: StepResult) -> None:
        index_by_section = {name: index for index, name in enumerate(SECTIONS)}
        self.rows = sorted([*self.rows, *result.rows], key=lambda row: index_by_section[row.section])
        self.figures |= dict(result.figures) | (build_figures(self.rows) if result.rows else {})
        self._list_parts()
        self._update_timer.start()

    @Slot()
    def _on_finished(self) -> None:
        self.progress.setVisible(not self.worker.is_complete)
        self._write_summary("" if self.worker.is_complete else tr("Stopped."))

    def _write_summary(self, current_step: str) -> None:
        failed = [row for row in self.rows if row.verdict != PASS_VERDICT]
        explained = sum(row.reason is not None for row in failed)
        colors = theme.get_theme_tokens(self.palette())
        parts = []
        if self.rows:
            counts_text = tr("{all} rows: {passed} pass, {failed} fail")
            passed = len(self.rows) - len(failed)
            parts.append(
                f"<b>{counts_text.format(all=len(self.rows), passed=passed, failed=len(failed))}</b>"
            )
        if failed:
            color_name = colors.text if explained == len(failed) else colors.bad
            known_text = tr("failures with a known reason: {n}").format(n=explained)
            parts.append(f'<span style="color:{color_name.name()}">{known_text}</span>')
        parts += [f'<span style="color:{colors.muted.name()}">{current_step}</span>'] if current_step else []
        self.summary.setText("&nbsp;&nbsp;&nbsp;".join(parts))

    # --- display --------------------------------------------------------------------------------------------

    @property
    def figure_names(self) -> list[str]:
        """Names of the computed figures, in the order of FIGURE_ORDER."""
        return sorted(
            self.figures,
            key=lambda name: FIGURE_ORDER.index(name) if name in FIGURE_ORDER else len(FIGURE_ORDER),
        )

    def _list_parts(self) -> None:
        """List the sections with their counts of passed rows, and the figures. Keep the selection."""
        colors, selected = theme.get_theme_tokens(self.palette()), self._get_selected_figure_name()
        row = self.parts.currentRow()
        blocked = self.parts.blockSignals(True)
        self.parts.clear()
        for name in (ALL_SECTIONS, *SECTIONS):
            rows = [row for row in self.rows if name in (ALL_SECTIONS, row.section)]
            failed = [row for row in rows if row.verdict != PASS_VERDICT]
            self.parts.addItem(f"{tr(name)}\n{_format_counts(len(rows) - len(failed), len(rows))}")
            color_name = "bad" if any(row.reason is None for row in failed) else "warn" if failed else "text"
            self.parts.item(self.parts.count() - 1).setForeground(QColor(colors.get_color(color_name)))
        self._listed = self.figure_names
        self.parts.addItems([tr(name) for name in self._listed])
        self.parts.setCurrentRow(
            1 + len(SECTIONS) + self.figure_names.index(selected) if selected else max(0, row)
        )
        self.parts.blockSignals(blocked)
        words = (word for name in (ALL_SECTIONS, *SECTIONS) for word in tr(name).split())
        self.parts.setMinimumWidth(max(map(self.fontMetrics().horizontalAdvance, words)) + SECTION_MARGIN_PX)

    def _get_selected_figure_name(self) -> str:
        """Return the name of the selected figure, or an empty string if a section is selected."""
        position = self.parts.currentRow() - len(SECTIONS) - 1
        return self._listed[position] if position >= 0 else ""

    def filter_rows(self) -> list[FigureRow]:
        """Return the rows of the selected section that pass the filters."""
        section = (ALL_SECTIONS, *SECTIONS)[max(0, self.parts.currentRow())]
        verdict, kind = self.verdict.currentData(), self.kind.currentData()
        words = self.search.text().casefold().split()
        return [
            row
            for row in self.rows
            if section in (ALL_SECTIONS, row.section)
            and verdict in (None, row.verdict)
            and kind in (None, row.kind)
            and all(word in " ".join((row.section, *list_cells(row))).casefold() for word in words)
        ]

    def show_selected_part(self) -> None:
        """Show the selected figure, or the rows of the selected section."""
        colors, figure = (
            theme.get_theme_tokens(self.palette()),
            self.figures.get(self._get_selected_figure_name()),
        )
        position = self.page.verticalScrollBar().value()
        if figure is None:
            rows = self.filter_rows()
            self.page.setHtml(build_table_html(rows, colors))
            text = tr("{shown} of {every} rows") if len(rows) != len(self.rows) else tr("{every} rows")
            self.shown.setText(text.format(shown=len(rows), every=len(self.rows)))
        else:
            self._show_figure(figure)
            self.shown.setText("")
        self.page.verticalScrollBar().setValue(position)

    def _show_figure(self, figure: Figure) -> None:
        colors, view = theme.get_theme_tokens(self.palette()), self.page.viewport().size()
        line = self.fontMetrics().height()
        width, ratio = max(300, view.width() - FIGURE_MARGINS_WIDTH_PX), self.devicePixelRatioF()
        height = max(7 * line, (view.height() - 9 * line) // len(figure.panels) - 3 * line)
        document = self.page.document()
        document.clear()
        parts = [f"<h3>{figure.title}</h3><p>{tr(figure.conclusion)} {figure.source}.</p>"]
        for number, panel in enumerate(figure.panels):
            drawing = FigurePanelDrawing(figure, panel, colors, (width, height), round(0.85 * line))
            image = QImage(QSize(width, height) * ratio, QImage.Format.Format_ARGB32_Premultiplied)
            image.fill(Qt.GlobalColor.transparent)
            painter = QPainter(image)
            QSvgRenderer(drawing.draw().encode()).render(painter)
            painter.end()
            name = f"panel-{number}"
            document.addResource(QTextDocument.ResourceType.ImageResource, QUrl(name), image)
            parts.append(
                f"<p>{build_legend_html(figure, panel, colors)}</p><img src='{name}' width='{width}'/>"
            )
        parts.append(f"<p align='center'>{tr(figure.x_title)}</p>" if figure.x_title else "")
        self.page.setHtml("".join(parts))

    # --- appearance -----------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.progress.setFixedWidth(180)
        bar = build_row((self.search, 1), self.verdict, self.kind, self.shown)
        right = QWidget()
        build_widget_column(bar, (self.page, 1), parent=right, margins=0)
        split = QSplitter(childrenCollapsible=False)
        split.addWidget(self.parts)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setSizes([260, 900])
        self.parts.setWordWrap(True)
        # otherwise the entries would keep the line breaks of the list's first width
        self.parts.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.parts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.parts.setSpacing(1)
        button = build_back_button(tr("Back"), self, self.closed)
        head = build_row(button, (self.summary, 1), self.progress)
        build_widget_column(head, (split, 1), parent=self, margins=(14, 10, 14, 12))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._update_timer.start()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.worker.is_complete and not self.worker.isRunning():
            self.worker.start()

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.stop()
        super().closeEvent(event)
        self.closed.emit()


def _build_choice(name: str, all_label: str, entries: Iterable[tuple[str, str]]) -> QComboBox:
    box = QComboBox()
    box.addItem(tr(all_label), None)
    for data, text in entries:
        words = tr(text)
        box.addItem(words[:1].upper() + words[1:], data)
    set_accessible_box_name(box, name)
    return box


def _format_counts(passed: int, total: int) -> str:
    if not total:
        return "…"
    failed = total - passed
    if not failed:
        return tr("{passed} of {all} pass").format(passed=passed, all=total)
    return tr("{passed} of {all} pass, {failed} fail").format(passed=passed, all=total, failed=failed)
