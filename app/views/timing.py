"""Panel of failover times, compared with published times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QScrollArea,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.view_models.failover_moment.failover_view import FailoverPhase, measure_phases
from app.view_models.failover_moment.phases import PHASES, PhaseKind
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.running.published_comparison import MIRRORING
from engine.events import Event
from engine.model import Failover, World
from engine.overrides import override
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S, REFERENCE

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

GOOD_DIFFERENCE_MAX: Final = 0.1
"""Maximum relative difference that is shown as good.

Assumed, because the values of the white paper are single samples.
"""


class TimingRow(Struct, frozen=True):
    """Row of a failover at *now_tick*."""

    failover: Failover
    now_tick: int
    longest_ticks: int
    """Length of the longest listed failover, which has a bar of full width."""
    published: tuple[float, str] | None
    """Published time in seconds and its reference, or None."""
    incomparable_reason: str | None
    """Reason why the failover is not comparable with published times, or None."""

    all_phases: tuple[FailoverPhase, ...]
    """Phases of the failover, including phases that have not begun."""

    @property
    def begun_phases(self) -> Iterator[tuple[PhaseKind, int, bool]]:
        """(phase, ticks, done) for each phase that has begun."""
        for phase in self.all_phases:
            if phase.start_tick is None or (phase.end_tick is None and self.failover.canceled):
                return
            yield phase.kind, phase.get_duration_ticks(self.now_tick), phase.end_tick is not None

    @property
    def failover_s(self) -> float | None:
        """Time in seconds from detection to the new role, or None."""
        online = self.failover.online_tick
        return None if online is None else (online - self.failover.detected_tick) / TICKS_PER_S

    @property
    def difference(self) -> float | None:
        """Relative difference between the time of this run and the published time, or None."""
        if self.failover_s is None or self.published is None:
            return None
        return self.failover_s / self.published[0] - 1.0

    @property
    def summary(self) -> str:
        """Phases with their times as text."""
        parts = [
            (tr("{phase} {time}") if is_done else tr("{phase} {time} so far")).format(
                phase=tr(kind.name), time=formatting.format_seconds(ticks / TICKS_PER_S)
            )
            for kind, ticks, is_done in self.begun_phases
        ]
        return ", ".join([*parts, *([localize(self.failover.why)] if self.failover.canceled else [])])


def build_timing_rows(failovers: Sequence[Failover], drill: Drill, now_tick: int) -> list[TimingRow]:
    """Return a row for each failover, newest first."""
    rows = [
        TimingRow(
            failover,
            now_tick,
            0,
            drill.published.get(index),
            drill.unlike.get(index),
            measure_phases(drill, failover),
        )
        for index, failover in enumerate(failovers)
    ]
    longest = max((sum(ticks for _, ticks, _ in row.begun_phases) for row in rows), default=0)
    return [replace(row, longest_ticks=max(longest, 1)) for row in reversed(rows)]


def _format_title(row: TimingRow) -> str:
    failover = row.failover
    time = formatting.format_run_time(failover.failed_tick / TICKS_PER_S)
    cause = f", {failover.cause}" if failover.cause not in (failover.kind, "unknown") else ""
    return f"{time}  {failover.database}: {formatting.get_failover_kind_name(failover.kind)}{cause}"


FAILOVER_COLUMNS: Final[tuple[TableColumn[TimingRow], ...]] = (
    TableColumn(title=mark("Failover"), text=_format_title,
           tip=lambda row: f"{row.failover.from_server} → {row.failover.to_server}",
           sample="1:00:00  Sales: automatic, pull-cable"),
    TableColumn(title=mark("Phases"), text=lambda row: row.summary, tip=lambda row: row.summary.replace(", ", "\n")),
    TableColumn(title=mark("Time"), is_number=True, sample="59.99 s\ncanceled", bold=lambda row: True,
           text=lambda row: tr("canceled") if row.failover.canceled else formatting.format_seconds(row.failover_s),
           tip=lambda row: tr("from detection to the role change")),
)  # fmt: skip


# --- details of one failover ----


PhaseStep = tuple[str, int | None, int | None, int | None]
"""(name, end tick, ticks since the failure, duration in ticks) of a phase."""


def list_phase_steps(row: TimingRow | None) -> list[PhaseStep]:
    """Return (name, end tick, ticks since the failure, duration in ticks) for each phase."""
    if row is None:
        return []
    first_failed_tick = row.failover.failed_tick
    return [
        (
            phase.kind.name,
            phase.end_tick,
            None if phase.end_tick is None else phase.end_tick - first_failed_tick,
            None if phase.end_tick is None else phase.get_duration_ticks(phase.end_tick),
        )
        for phase in row.all_phases
    ]


def _format_ticks(value: int | None) -> str:
    return formatting.NO_VALUE if value is None else formatting.format_seconds(value / TICKS_PER_S)


def _format_time(step: PhaseStep) -> str:
    return (
        ""
        if step[1] is None
        else tr("at {time}").format(time=formatting.format_run_time(step[1] / TICKS_PER_S, 2))
    )


STEP_COLUMNS: Final[tuple[TableColumn[PhaseStep], ...]] = (
    TableColumn(
        title=mark("Phase"),
        text=lambda step: tr(step[0]),
        sample="\n".join(kind.name for kinds in PHASES.values() for kind in kinds),
        tip=_format_time,
    ),
    TableColumn(
        title=mark("After"),
        text=lambda step: _format_ticks(step[2]),
        is_number=True,
        sample="12.34 s",
        tip=lambda step: tr("from the failure to the end of the phase"),
    ),
    TableColumn(
        title=mark("Duration"),
        text=lambda step: _format_ticks(step[3]),
        is_number=True,
        sample="12.34 s",
        tip=lambda step: tr("length of the phase"),
    ),
)


class PublishedTimesRow(Struct, frozen=True):
    """Row of the comparison: label, and texts for both columns (idle, loaded) of the white paper's Table 6."""

    text: str
    idle: str
    loaded: str
    color_name: str | None = None


def build_published_times_rows(row: TimingRow | None) -> list[PublishedTimesRow]:
    """Return rows with the published time, the time of this run and the difference.

    Return none if the white paper's Table 6 has no such failover.
    """
    if row is None or row.failover.cause not in PUBLISHED_FAILOVER_TIMES_S:
        return []
    if {phase.kind for phase in row.all_phases[1:]} - set(PHASES[MIRRORING]):
        return []  # Table 6 has no times for availability groups and failover cluster instances
    _, idle_s, loaded_s = PUBLISHED_FAILOVER_TIMES_S[row.failover.cause]
    close = row.difference is not None and abs(row.difference) <= GOOD_DIFFERENCE_MAX
    lines = [
        PublishedTimesRow(
            tr("Published"), formatting.format_seconds(idle_s, 1), formatting.format_seconds(loaded_s, 1)
        )
    ]
    for words, text, color_name in (
        (tr("This run"), formatting.format_seconds(row.failover_s), None),
        (
            tr("Difference"),
            formatting.format_percent(row.difference, shows_plus=True),
            "ok" if close else "warn",
        ),
    ):
        shown_text = text if row.published is not None else formatting.NO_VALUE
        idle, loaded = (
            (formatting.NO_VALUE, shown_text)
            if row.failover.under_load
            else (shown_text, formatting.NO_VALUE)
        )
        lines.append(
            PublishedTimesRow(words, idle, loaded, color_name if row.published is not None else None)
        )
    return lines


COMPARISON_COLUMNS: Final[tuple[TableColumn[PublishedTimesRow], ...]] = (
    TableColumn(title=mark("Table 6"), text=lambda line: line.text,
           sample="\n".join((mark("Published"), mark("This run"), mark("Difference")))),
    TableColumn(title=mark("No load"), text=lambda line: line.idle, is_number=True, sample="-12.3%",
           color_name=lambda line: line.color_name),
    TableColumn(title=mark("Load"), text=lambda line: line.loaded, is_number=True, sample="-12.3%",
           color_name=lambda line: line.color_name),
)  # fmt: skip


def format_comparison(row: TimingRow | None) -> str:
    """Return a note about the comparison, or the reason why there is no comparison."""
    if row is None:
        return ""
    if row.failover.canceled:
        return tr("Not compared: the attempt failed ({why}).").format(why=localize(row.failover.why))
    if row.incomparable_reason:
        return tr("Not compared: {why}.").format(why=localize(row.incomparable_reason))
    if row.published is None:
        return ""
    name = PUBLISHED_FAILOVER_TIMES_S[row.failover.cause][0]
    text = tr("{name}. Individual measurements, from detection to the role change. {source}.")
    return text.format(name=name, source=REFERENCE)


BAR_WIDTH_PX: Final = 200


class PhaseBarDelegate(QStyledItemDelegate):
    """Delegate that paints the phases of a row as one stacked bar."""

    @override
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        view = self.parent()
        assert isinstance(view, TableView)
        row: TimingRow = view.table.rows[index.row()]
        colors = theme.get_theme_tokens(view.palette())
        box = QRectF(option.rect).adjusted(4.0, 4.0, -4.0, -4.0)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colors.selection)
        paint_phases(painter, box, row, row.longest_ticks, colors)

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(BAR_WIDTH_PX, super().sizeHint(option, index).height())


def paint_phases(
    painter: QPainter, rect: QRectF, row: TimingRow, whole_ticks: int, colors: theme.ThemeTokens
) -> None:
    """Paint the phases of *row* into *rect*, whose width represents *whole_ticks*.

    A phase in progress is hatched.
    """
    x = rect.left()
    for kind, ticks, is_done in row.begun_phases:
        width = rect.width() * ticks / whole_ticks
        part = QRectF(x, rect.top(), max(width, 1.0), rect.height())
        pattern = Qt.BrushStyle.SolidPattern if is_done else Qt.BrushStyle.BDiagPattern
        painter.fillRect(part, QBrush(get_phase_color(colors, kind.color), pattern))
        words = tr(kind.name)
        if painter.fontMetrics().horizontalAdvance(words) + 6 <= part.width():
            painter.setPen(colors.on_accent if is_done else colors.text)
            painter.drawText(part, Qt.AlignmentFlag.AlignCenter, words)
        x += width


def get_phase_color(colors: theme.ThemeTokens, series_or_name: str | int) -> QColor:
    """Return the color of a phase, given the index of a series color or the name of a theme color."""
    color: QColor = (
        colors.series[series_or_name] if isinstance(series_or_name, int) else colors.get_color(series_or_name)
    )
    return color


class PhaseDetails(QWidget):
    """Widget with the phases of the selected failover: a bar of full width, and a legend with durations."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: TimingRow | None = None
        self._bar = _PhaseBarWidget()
        self._text = QLabel(wordWrap=True)
        build_widget_column(self._bar, self._text, parent=self, margins=(6, 3, 6, 2), spacing=2)
        self.show_failover(None)

    def show_failover(self, row: TimingRow | None) -> None:
        """Show the phases of a failover. None clears the widget."""
        self._row = row
        colors = theme.get_theme_tokens(self.palette())
        seconds_by_phase = (
            {kind.name: ticks / TICKS_PER_S for kind, ticks, _ in row.begun_phases} if row else {}
        )
        kinds = [phase.kind for phase in row.all_phases] if row else []
        parts = []
        for kind in kinds:
            square = f'<span style="color:{get_phase_color(colors, kind.color).name()}">■</span>'
            value = (
                f" <b>{formatting.format_seconds(seconds_by_phase[kind.name])}</b>"
                if kind.name in seconds_by_phase
                else ""
            )
            parts.append(
                f"{square}&nbsp;{tr(kind.name)}{value}".replace(" ", "&nbsp;").replace("span&nbsp;", "span ")
            )
        self._text.setText(" &nbsp; ".join(parts))
        self._text.setToolTip("\n".join(f"{tr(kind.name)}: {tr(kind.help)}" for kind in kinds))
        self._bar.show_row(row)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.show_failover(self._row)


class _PhaseBarWidget(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._row: TimingRow | None = None

    def show_row(self, row: TimingRow | None) -> None:
        self._row = row
        self.setVisible(row is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(BAR_WIDTH_PX, self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is not None:
            painter = QPainter(self)
            total_ticks = sum(ticks for _, ticks, _ in self._row.begun_phases)
            paint_phases(
                painter,
                QRectF(self.rect()),
                self._row,
                max(total_ticks, 1),
                theme.get_theme_tokens(self.palette()),
            )
            painter.end()


BAR_COLUMN: Final = 1
LIST_ROWS_INITIAL: Final = 3
"""Initial number of visible rows of the list."""
NO_FAILOVER_TEXT: Final = mark(
    "No failover yet. The phases and steps of each failover appear here, with the published "
    "times for the same kind of failure."
)

SIDE_BY_SIDE_MIN_LINES: Final = 34
"""Minimum width in line heights to show both tables side by side."""


class TimingPanel(QWidget):
    """View with a list of failovers, and the steps and published times of the selected failover."""

    requested = Signal(str)
    time_selected = Signal(float)
    """Signal: start time of a double-clicked failover (seconds since the start)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._shown_state: tuple[object, ...] = ()
        self._shown_span: tuple[float, float] | None = None
        self.model = TableModel(FAILOVER_COLUMNS, self)
        self.table = TableView(self.model, tr("Failovers"))
        self.table.horizontalHeader().hide()
        self.table.setItemDelegateForColumn(BAR_COLUMN, PhaseBarDelegate(self.table))
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setSectionResizeMode(
            BAR_COLUMN, self.table.horizontalHeader().ResizeMode.Stretch
        )
        self.table.horizontalHeader().setMinimumSectionSize(40)
        self.table.selectionModel().selectionChanged.connect(lambda: self._show_chosen())
        self.table.doubleClicked.connect(self._choose_time)
        self.steps = TableModel(STEP_COLUMNS, self)
        self.comparison = TableModel(COMPARISON_COLUMNS, self)
        self.phases = PhaseDetails()
        self.verdict = QLabel(wordWrap=True)
        self.verdict.setProperty("muted", True)
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.verdict.setContentsMargins(6, 2, 6, 2)
        self._lay_out()
        self._show_chosen()

    def _lay_out(self) -> None:
        self.setFocusProxy(self.table)
        steps = TableView(self.steps, tr("Steps of the failover"))
        steps.show_rows(max(map(len, PHASES.values())) - 1)
        self._compared = TableView(self.comparison, tr("Published times"))
        self._compared.show_rows(3)
        layout = build_widget_column(self._compared, (self.verdict, 1), spacing=2)
        self._tables = tables = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        tables.setSpacing(4)
        tables.addWidget(steps, 1, Qt.AlignmentFlag.AlignTop)
        tables.addLayout(layout, 1)
        widget = QWidget()
        build_widget_column(self.phases, (tables, 1), parent=widget, margins=0, spacing=2)
        details = QScrollArea(widgetResizable=True)
        details.setFrameShape(QScrollArea.Shape.NoFrame)
        details.setWidget(widget)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.addWidget(self.table)
        self._split.addWidget(details)
        self._split.setChildrenCollapsible(False)
        self._empty = QLabel(tr(NO_FAILOVER_TEXT), wordWrap=True)
        self._empty.setProperty("muted", True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(24)
        build_widget_column((self._split, 1), (self._empty, 1), parent=self, margins=0, spacing=2)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < SIDE_BY_SIDE_MIN_LINES * self.fontMetrics().height()
        direction = QBoxLayout.Direction
        self._tables.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._drill = drill
        self._shown_state = ()
        self.model.replace_rows([])
        self.show_world(drill.world)
        self._show_chosen()

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        if self._drill is None:
            return
        running = any(f.undo_done_tick is None and not f.canceled for f in world.failovers)
        object_ids = (tuple(world.failovers), len(self._drill.published), len(self._drill.unlike),
                world.tick if running else 0)  # fmt: skip
        if object_ids == self._shown_state:
            return
        self._shown_state = object_ids
        before = self.model.rowCount()
        rows = build_timing_rows(world.failovers, self._drill, world.tick)
        self.model.update_rows([row for row in rows if self._is_inside(row)])
        if self.model.rowCount() != before and self.model.rowCount():
            self.table.selectRow(0)
        self._show_chosen()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The view reads the failovers of the world instead."""

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Select the failover that was in progress at *t_s* (seconds since the start), if any."""
        for index, row in enumerate(self.model.rows):
            if t_s is not None and row.failover.failed_tick <= t_s * TICKS_PER_S <= _get_end_tick(row):
                self.table.selectRow(index)

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """List only failovers that overlap the time range *span* (seconds since the start). None lists all."""
        self._shown_span, self._shown_state = span, ()
        if self._drill is not None:
            self.show_world(self._drill.world)

    def _is_inside(self, row: TimingRow) -> bool:
        if self._shown_span is None:
            return True
        from_tick, to_tick = (t_s * TICKS_PER_S for t_s in self._shown_span)
        return row.failover.failed_tick <= to_tick and _get_end_tick(row) >= from_tick

    # --- details ------------------------------------------------------------------------------------------

    @property
    def selected_row(self) -> TimingRow | None:
        """Row of the selected failover, or None."""
        index = self.table.currentIndex()
        return self.model.rows[index.row()] if index.isValid() else None

    def _show_chosen(self) -> None:
        has_rows = self.model.rowCount() > 0
        if has_rows and self._split.isHidden():
            rows = LIST_ROWS_INITIAL * self.table.verticalHeader().defaultSectionSize()
            self._split.setSizes([rows, 10 * rows])
        self._split.setVisible(has_rows)
        self._empty.setVisible(not has_rows)
        self.phases.show_failover(self.selected_row)
        self.steps.update_rows(list_phase_steps(self.selected_row))
        self.comparison.update_rows(build_published_times_rows(self.selected_row))
        self._compared.setVisible(self.comparison.rowCount() > 0)
        self.verdict.setText(format_comparison(self.selected_row))

    def _choose_time(self) -> None:
        if self.selected_row is not None:
            self.time_selected.emit(self.selected_row.failover.failed_tick / TICKS_PER_S)


def _get_end_tick(row: TimingRow) -> int:
    """Return the end tick of undo, or the current tick while undo has not ended."""
    return row.now_tick if row.failover.undo_done_tick is None else row.failover.undo_done_tick
