"""Every failover split into its phases, beside the published times of the same kind of failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QLabel,
    QScrollArea,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import formatting, theme
from app.tables import Column, TableModel, TableView
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import Failover, World
from engine.published.table6 import FAILOVER_S, REFERENCE

if TYPE_CHECKING:
    from engine.drill.drill import Drill

PHASES: Final[tuple[tuple[str, str, str, str, str | int], ...]] = (
    # name, from step, to step, what happens, token of the theme or number of a series colour
    ("detection", "failed", "detected", "until the partner is missed", "idle"),
    ("redo", "detected", "redo_done", "the mirror applies what it has", 1),
    ("decision", "redo_done", "decided", "partners and witness agree", 2),
    ("role change", "decided", "online", "recovery, and the database opens", 0),
    ("undo", "online", "undo_done", "what was not committed is rolled back; clients work already", 3),
)
"""In their order. Failover time, as the paper measures it, is redo + decision + role change."""

STEPS: Final = (
    ("failed", "Failed"),
    ("detected", "Detected"),
    ("redo_done", "Redo done"),
    ("decided", "Decided"),
    ("online", "Online"),
    ("undo_done", "Undo done"),
)

CLOSE_SHARE: Final = 0.1
"""A difference up to here is shown as good. Ours: the paper's values are single samples."""

BAR_COLUMN: Final = 1
BAR_WIDTH_PX: Final = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A failover as the panel shows it at *now_tick*."""

    failover: Failover
    now_tick: int
    longest_ticks: int
    """Length of the longest one in the list: what a whole bar stands for."""
    published: tuple[float, str] | None
    unlike: str | None

    @property
    def phases(self) -> Iterator[tuple[str, int, bool]]:
        """(name, ticks, done) of each phase that has begun."""
        for name, first, last, _, _ in PHASES:
            start, end = tick_of(self.failover, first), tick_of(self.failover, last)
            if start is None or (end is None and self.failover.cancelled):
                return
            yield name, (self.now_tick if end is None else end) - start, end is not None
            if end is None:
                return

    @property
    def failover_s(self) -> float | None:
        """From detection until the role was taken."""
        online = self.failover.online_tick
        return None if online is None else (online - self.failover.detected_tick) / TICKS_PER_S

    @property
    def difference(self) -> float | None:
        """Share by which this run's time is above the published one."""
        if self.failover_s is None or self.published is None:
            return None
        return self.failover_s / self.published[0] - 1.0

    @property
    def summary(self) -> str:
        parts = [
            f"{name} {formatting.seconds(ticks / TICKS_PER_S)}{'' if done else ' so far'}"
            for name, ticks, done in self.phases
        ]
        return ", ".join([*parts, *(["cancelled"] if self.failover.cancelled else [])])


def tick_of(failover: Failover, step: str) -> int | None:
    """Tick of a step of STEPS; None while it has not come."""
    tick: int | None = getattr(failover, f"{step}_tick")
    return tick


def rows_of(failovers: Sequence[Failover], drill: Drill, now_tick: int) -> list[Row]:
    """A row for each failover, the last one on top."""
    rows = [
        Row(failover, now_tick, 0, drill.published.get(place), drill.unlike.get(place))
        for place, failover in enumerate(failovers)
    ]
    longest = max((sum(ticks for _, ticks, _ in row.phases) for row in rows), default=0)
    return [
        Row(row.failover, row.now_tick, max(longest, 1), row.published, row.unlike) for row in reversed(rows)
    ]


def _title(row: Row) -> str:
    found = row.failover
    at = formatting.run_time(found.failed_tick / TICKS_PER_S)
    cause = f", {found.cause}" if found.cause != found.kind else ""
    return f"{at}  {found.database}: {found.kind}{cause}"


COLUMNS: Final = (
    Column(title="Failover", text=_title, tip=lambda row: f"{row.failover.from_server} → {row.failover.to_server}",
           sample="1:00:00  Sales: automatic, pull-cable"),
    Column(title="Phases", text=lambda row: row.summary, tip=lambda row: row.summary.replace(", ", "\n")),
    Column(title="Time", right=True, sample="1 min 12 s", bold=lambda row: True,
           text=lambda row: "cancelled" if row.failover.cancelled else formatting.seconds(row.failover_s),
           tip=lambda row: "from detection until the role was taken"),
)  # fmt: skip


class PhaseBar(QStyledItemDelegate):
    """Paints the phases of a row as one stacked bar."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        view = self.parent()
        assert isinstance(view, TableView)
        row: Row = view.table.rows[index.row()]
        colours = theme.tokens(view.palette())
        place = QRectF(option.rect).adjusted(4.0, 4.0, -4.0, -4.0)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, colours.selection)
        paint_phases(painter, place, row, row.longest_ticks, colours)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(BAR_WIDTH_PX, super().sizeHint(option, index).height())


def paint_phases(painter: QPainter, place: QRectF, row: Row, whole_ticks: int, colours: theme.Tokens) -> None:
    """Paint the phases of *row* into *place*, which stands for *whole_ticks*; one that is under way is hatched."""
    x = place.left()
    for (name, ticks, done), (_, _, _, _, colour) in zip(row.phases, PHASES, strict=False):
        width = place.width() * ticks / whole_ticks
        part = QRectF(x, place.top(), max(width, 1.0), place.height())
        pattern = Qt.BrushStyle.SolidPattern if done else Qt.BrushStyle.BDiagPattern
        painter.fillRect(part, QBrush(phase_colour(colours, colour), pattern))
        if painter.fontMetrics().horizontalAdvance(name) + 6 <= part.width():
            painter.setPen(colours.on_accent if done else colours.text)
            painter.drawText(part, Qt.AlignmentFlag.AlignCenter, name)
        x += width


def phase_colour(colours: theme.Tokens, which: str | int) -> QColor:
    found: QColor = colours.series[which] if isinstance(which, int) else getattr(colours, which)
    return found


# --- details of one failover --------------------------------------------------------------------------------


def _steps(row: Row | None) -> list[tuple[str, int | None, int | None, int | None]]:
    """(words, tick, tick after the failure, ticks since the step before) of each step."""
    if row is None:
        return []
    found: list[tuple[str, int | None, int | None, int | None]] = []
    before: int | None = None
    for step, words in STEPS:
        tick = tick_of(row.failover, step)
        since = None if tick is None or before is None else tick - before
        after = None if tick is None else tick - row.failover.failed_tick
        found.append((words, tick, after, since))
        before = tick
    return found


def _ticks(value: int | None) -> str:
    return formatting.NOTHING if value is None else formatting.seconds(value / TICKS_PER_S)


def _at(step: tuple[str, int | None, int | None, int | None]) -> str:
    return "" if step[1] is None else f"at {formatting.run_time(step[1] / TICKS_PER_S, 2)}"


STEP_COLUMNS: Final = (
    Column(title="Step", text=lambda step: step[0], sample="Redo done", tip=_at),
    Column(title="After", text=lambda step: _ticks(step[2]), right=True, sample="12.34 s",
           tip=lambda step: "since the failure"),
    Column(title="Took", text=lambda step: _ticks(step[3]), right=True, sample="12.34 s",
           tip=lambda step: "since the step before"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """One line of the comparison: its words, and the texts for both columns of Table 6."""

    words: str
    idle: str
    loaded: str
    tone: str | None = None


def _comparison(row: Row | None) -> list[Compared]:
    """Published, this run, difference; nothing for a cause that Table 6 does not have."""
    if row is None or row.failover.cause not in FAILOVER_S:
        return []
    _, idle_s, loaded_s = FAILOVER_S[row.failover.cause]
    close = row.difference is not None and abs(row.difference) <= CLOSE_SHARE
    lines = [Compared("Published", formatting.seconds(idle_s, 1), formatting.seconds(loaded_s, 1))]
    for words, text, tone in (
        ("This run", formatting.seconds(row.failover_s), None),
        ("Difference", formatting.percent(row.difference, sign=True), "ok" if close else "warn"),
    ):
        shown = text if row.published is not None else formatting.NOTHING
        idle, loaded = (formatting.NOTHING, shown) if row.failover.under_load else (shown, formatting.NOTHING)
        lines.append(Compared(words, idle, loaded, tone if row.published is not None else None))
    return lines


COMPARISON_COLUMNS: Final = (
    Column(title="Table 6", text=lambda line: line.words, sample="Difference"),
    Column(title="No load", text=lambda line: line.idle, right=True, sample="-12.3 %", tone=lambda line: line.tone),
    Column(title="Load", text=lambda line: line.loaded, right=True, sample="-12.3 %", tone=lambda line: line.tone),
)  # fmt: skip


def verdict(row: Row | None) -> str:
    """What is to be said of the comparison, or why there is none."""
    if row is None:
        return "No failover has happened yet."
    if row.failover.cancelled:
        return "Not compared: the failover was cancelled."
    if row.unlike:
        return f"Not compared: {row.unlike}."
    if row.published is None:
        return ""
    name = FAILOVER_S[row.failover.cause][0]
    return f"{name}. Single samples, from detection until the role is taken. {REFERENCE}."


class Timing(QWidget):
    """The list of failovers, and for the chosen one its steps and its published twin."""

    requested = Signal(str)
    time_selected = Signal(float)
    """A double click wants to see when this failover began (seconds since the start)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: Drill | None = None
        self._seen: tuple[Any, ...] = ()
        self.model = TableModel(COLUMNS, self)
        self.table = TableView(self.model, "Failovers")
        self.table.horizontalHeader().hide()
        self.table.setItemDelegateForColumn(BAR_COLUMN, PhaseBar(self.table))
        self.table.horizontalHeader().setStretchLastSection(False)
        self.table.horizontalHeader().setSectionResizeMode(
            BAR_COLUMN, self.table.horizontalHeader().ResizeMode.Stretch
        )
        self.table.horizontalHeader().setMinimumSectionSize(40)
        self.table.selectionModel().selectionChanged.connect(lambda: self._show_chosen())
        self.table.doubleClicked.connect(self._choose_time)
        self.steps = TableModel(STEP_COLUMNS, self)
        self.comparison = TableModel(COMPARISON_COLUMNS, self)
        self.phases = Phases()
        self.verdict = QLabel()
        self.verdict.setWordWrap(True)
        self.verdict.setProperty("muted", True)
        self.verdict.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.verdict.setContentsMargins(6, 2, 6, 2)
        self._lay_out()
        self._show_chosen()

    def _lay_out(self) -> None:
        right = QWidget()
        beside = QVBoxLayout(right)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(2)
        compared = TableView(self.comparison, "Published times")
        compared.show_rows(3)
        beside.addWidget(compared)
        words = QScrollArea()
        words.setWidgetResizable(True)
        words.setFrameShape(QScrollArea.Shape.NoFrame)
        words.setWidget(self.verdict)
        words.setMinimumHeight(0)
        beside.addWidget(words, 1)
        tables = QSplitter(Qt.Orientation.Horizontal)
        tables.addWidget(TableView(self.steps, "Steps of the failover"))
        tables.addWidget(right)
        tables.setSizes([215, 215])
        tables.setChildrenCollapsible(False)
        details = QWidget()
        below = QVBoxLayout(details)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(2)
        below.addWidget(self.phases)
        below.addWidget(tables, 1)
        split = QSplitter(Qt.Orientation.Vertical)
        split.addWidget(self.table)
        split.addWidget(details)
        split.setSizes([50, 240])
        split.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(split, 1)

    # --- contract of views --------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        self._drill = drill
        self._seen = ()
        self.model.replace([])
        self.show_world(drill.world)
        self._show_chosen()

    @Slot(object)
    def show_world(self, world: World) -> None:
        if self._drill is None:
            return
        running = any(f.undo_done_tick is None and not f.cancelled for f in world.failovers)
        seen = (tuple(world.failovers), len(self._drill.published), len(self._drill.unlike),
                world.tick if running else 0)  # fmt: skip
        if seen == self._seen:
            return
        self._seen = seen
        before = self.model.rowCount()
        self.model.update(rows_of(world.failovers, self._drill, world.tick))
        if self.model.rowCount() != before and self.model.rowCount():
            self.table.selectRow(0)
        self._show_chosen()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Failovers are read from the world, which has their ticks."""

    # --- details ------------------------------------------------------------------------------------------

    @property
    def chosen(self) -> Row | None:
        """The failover whose details are shown."""
        index = self.table.currentIndex()
        return self.model.rows[index.row()] if index.isValid() else None

    def _show_chosen(self) -> None:
        self.phases.show_row(self.chosen)
        self.steps.update(_steps(self.chosen))
        self.comparison.update(_comparison(self.chosen))
        self.verdict.setText(verdict(self.chosen))

    def _choose_time(self) -> None:
        if self.chosen is not None:
            self.time_selected.emit(self.chosen.failover.failed_tick / TICKS_PER_S)


class Phases(QWidget):
    """The chosen failover at its own scale: a bar, and below it what each colour is and how long it took."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row: Row | None = None
        self._bar = _Bar()
        self._words = QLabel()
        self._words.setAccessibleName("Phases of the chosen failover")
        self._words.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 3, 6, 2)
        layout.setSpacing(2)
        layout.addWidget(self._bar)
        layout.addWidget(self._words)
        self.show_row(None)

    def show_row(self, row: Row | None) -> None:
        self._row = row
        colours = theme.tokens(self.palette())
        took = {name: ticks / TICKS_PER_S for name, ticks, _ in row.phases} if row else {}
        parts = []
        for name, _, _, _, colour in PHASES:
            square = f'<span style="color:{phase_colour(colours, colour).name()}">■</span>'
            value = f" <b>{formatting.seconds(took[name])}</b>" if name in took else ""
            parts.append(f"{square}&nbsp;{name}{value}".replace(" ", "&nbsp;").replace("span&nbsp;", "span "))
        self._words.setText(" &nbsp; ".join(parts))
        self._words.setToolTip("\n".join(f"{name}: {help_text}" for name, _, _, help_text, _ in PHASES))
        self._bar.show_row(row)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.show_row(self._row)


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._row: Row | None = None

    def show_row(self, row: Row | None) -> None:
        self._row = row
        self.setVisible(row is not None)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(BAR_WIDTH_PX, self.fontMetrics().height() + 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._row is not None:
            painter = QPainter(self)
            whole = sum(ticks for _, ticks, _ in self._row.phases)
            paint_phases(painter, QRectF(self.rect()), self._row, max(whole, 1), theme.tokens(self.palette()))
            painter.end()
