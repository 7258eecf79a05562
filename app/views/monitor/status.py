"""Status and History pages of the monitor. Status shows both partners, the unsent and the unrestored log."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QFormLayout, QGroupBox, QLabel, QScrollArea, QWidget

from app.views.monitor.monitor_contents import (
    MIRRORING_STATE_STYLES,
    STATE_ICONS,
    UNKNOWN_TEXT,
    WAITING_TEXT,
    WITNESS_ICONS,
    WITNESS_STATES,
    PartnerRow,
    StatusPageContents,
    compute_oldest_unsent_s,
    estimate_restore_s,
    estimate_send_s,
    format_hms,
    format_log_titles,
    list_mirror_lines,
    list_principal_lines,
    list_session_lines,
)
from app.widgets import theme
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import build_widget_column
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.mirroring.monitor import MonitorRow, list_monitor_results
from engine.model import World

NARROW_WIDTH_LINES: Final = 38.0
"""Width of the page in line heights below which the grid of partners uses short titles."""

VALUE_LENGTH_MAX: Final = 16
"""Maximum number of characters of a value that stays on one line."""

VALUE_SAMPLE: Final = "100,000 KB/s"
"""Sample text for the width of a value next to its label."""

PARTNER_COLUMNS: Final[tuple[TableColumn[PartnerRow], ...]] = (
    TableColumn(title=mark("Server instance"), text=lambda p: p.server, sample="SERVER_A01", bold=lambda p: True),
    TableColumn(title=mark("Current role"), text=lambda p: p.role, sample=mark("Principal"),
           color_name=lambda p: "muted" if p.role == tr(UNKNOWN_TEXT) else None),
    TableColumn(title=mark("Mirroring state"), text=lambda p: p.state[0], color_name=lambda p: p.state[1],
           tip=lambda p: p.state[0], icon_name=lambda p: STATE_ICONS.get(p.state[1]), sample=mark("Waiting for data…")),
    TableColumn(title=mark("Witness connection"), text=lambda p: p.witness[0], color_name=lambda p: p.witness[1],
           icon_name=lambda p: WITNESS_ICONS.get(p.witness[1]), sample=mark("Disconnected")),
)  # fmt: skip


NARROW_COLUMNS: Final[tuple[TableColumn[PartnerRow], ...]] = tuple(
    replace(column, title=title)
    for column, title in zip(
        PARTNER_COLUMNS, (mark("Server"), mark("Role"), mark("State"), mark("Witness")), strict=True
    )
)
"""Columns with short titles, for a narrow dock."""


class LabeledValues(QWidget):
    """Form with labels and values. Unknown values are gray."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = QFormLayout(self)
        self._form.setContentsMargins(8, 4, 8, 6)
        self._form.setVerticalSpacing(2)
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._values: dict[str, QLabel] = {}
        self.shown_lines: list[tuple[str, str]] = []
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._recolor)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._wrap_labels)

    def compute_needed_px(self) -> int:
        """Return the width at which every label and a large value fit on one line."""
        metrics = self.fontMetrics()
        label = max((metrics.horizontalAdvance(f"{label}:") for label in self._values), default=0)
        return label + metrics.horizontalAdvance(VALUE_SAMPLE) + 2 * metrics.height()

    def show_lines(self, lines: list[tuple[str, str]]) -> None:
        """Show (label, value) lines."""
        if lines == self.shown_lines:
            return
        self.shown_lines = lines
        for label, value in lines:
            if label not in self._values:
                field = self._values[label] = QLabel()
                field.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._form.addRow(f"{label}:", field)
            self._values[label].setText(value)
            self._values[label].setWordWrap(len(value) > VALUE_LENGTH_MAX)
            self._values[label].setAccessibleName(f"{label}: {value}")
        self._recolor()
        self._wrap_labels()

    def _wrap_labels(self) -> None:
        """Wrap labels that are too wide. Qt would also wrap shorter labels."""
        margins = self._form.contentsMargins()
        room = self.width() - margins.left() - margins.right()
        for field in self._values.values():
            label = self._form.labelForField(field)
            if isinstance(label, QLabel):
                label.setWordWrap(label.fontMetrics().horizontalAdvance(label.text()) > room)

    def _recolor(self) -> None:
        muted = theme.get_theme_tokens(self.palette()).muted.name()
        for field in self._values.values():
            is_known = field.text() not in (tr(UNKNOWN_TEXT), tr(WAITING_TEXT))
            field.setStyleSheet("font-weight: 600;" if is_known else f"color: {muted};")


class MonitorStatusPage(QScrollArea):
    """Status page of one database."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.partners = TableModel(PARTNER_COLUMNS, self)
        self.principal, self.mirror, self.session = LabeledValues(), LabeledValues(), LabeledValues()
        grid = TableView(self.partners, tr("Partners"))
        grid.show_rows(2)
        self._logs = logs = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.logs = QGroupBox(tr("Principal log")), QGroupBox(tr("Mirror log"))
        for box, lines in zip(self.logs, (self.principal, self.mirror), strict=True):
            build_widget_column(lines, 1, parent=box, margins=0)
            logs.addWidget(box, 1)
        page = QWidget()
        build_widget_column(grid, logs, self.session, 1, parent=page, margins=4, spacing=4)
        page.setMinimumWidth(1)  # the page is never wider than the view, so lines wrap
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidget(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the two logs side by side, or in a column if the page is narrow."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        room = self.viewport().width()
        wide = room >= self.principal.compute_needed_px() + self.mirror.compute_needed_px()
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self._logs.direction() != direction:
            self._logs.setDirection(direction)
        columns = (
            PARTNER_COLUMNS if room >= NARROW_WIDTH_LINES * self.fontMetrics().height() else NARROW_COLUMNS
        )
        if columns != self.partners.columns:
            self.partners.show_columns(columns)

    def show_contents(self, contents: StatusPageContents | None) -> None:
        """Show *contents*. None clears the page."""
        self.partners.update_rows(list(contents.partners) if contents else [])
        for box, title in zip(self.logs, format_log_titles(contents) if contents else (), strict=False):
            box.setTitle(title)
        self.principal.show_lines(list_principal_lines(contents) if contents else [])
        self.mirror.show_lines(list_mirror_lines(contents) if contents else [])
        self.session.show_lines(list_session_lines(contents) if contents else [])
        self._arrange()


RECORD_RANGES: Final = (
    (mark("Last two hours"), 1),
    (mark("Last four hours"), 2),
    (mark("Last eight hours"), 3),
    (mark("Last day"), 4),
    (mark("Last two days"), 5),
    (mark("Last 100 records"), 6),
    (mark("Last 500 records"), 7),
    (mark("Last 1,000 records"), 8),
    (mark("All records"), 9),
)
"""(label, value) for each @mode argument of sp_dbmmonitorresults. Documented."""


MonitorHistoryRow = tuple[str, MonitorRow]
"""Row of the history: (date, recorded row)."""


def _build_number_column(title: str, value: Callable[[MonitorRow], float]) -> TableColumn[MonitorHistoryRow]:
    return TableColumn(
        title=title,
        text=lambda row: formatting.format_number(value(row[1])),
        is_number=True,
        sample="100,000",
    )


def _build_time_column(
    title: str, value: Callable[[MonitorRow], float | None]
) -> TableColumn[MonitorHistoryRow]:
    return TableColumn(
        title=title, text=lambda row: format_hms(value(row[1])), is_number=True, sample="00:00:00"
    )


def build_history_columns() -> list[TableColumn[MonitorHistoryRow]]:
    """Return the columns of the documented history dialog, and a column for transactions."""
    return [
        TableColumn(title=mark("Time recorded"), text=lambda row: row[0], sample="2005-10-22 12:00:41"),
        TableColumn(
            title=mark("Role"),
            text=lambda row: tr(row[1].role.name.capitalize()),
            sample=mark("Principal"),
        ),
        TableColumn(
            title=mark("Mirroring state"),
            text=lambda row: tr(MIRRORING_STATE_STYLES[row[1].state][0]),
            color_name=lambda row: MIRRORING_STATE_STYLES[row[1].state][1],
            sample=mark("Synchronizing"),
        ),
        TableColumn(
            title=mark("Witness connection"),
            text=lambda row: tr(WITNESS_STATES[row[1].witness_state][0]),
            sample=mark("Disconnected"),
        ),
        _build_number_column(mark("Unsent log (KB)"), lambda row: row.unsent_kb),
        _build_time_column(mark("Time to send"), estimate_send_s),
        _build_number_column(mark("Send rate (KB/s)"), lambda row: row.send_rate_kb_per_s),
        _build_number_column(mark("New transaction rate (KB/s)"), lambda row: row.log_rate_kb_per_s),
        _build_time_column(mark("Oldest unsent transaction"), compute_oldest_unsent_s),
        _build_number_column(mark("Unrestored log (KB)"), lambda row: row.unrestored_kb),
        _build_time_column(mark("Time to restore"), estimate_restore_s),
        _build_number_column(mark("Restore rate (KB/s)"), lambda row: row.restore_rate_kb_per_s),
        _build_number_column(mark("Mirror commit overhead (ms)"), lambda row: row.average_delay_ms),
        _build_number_column(mark("Transactions/s"), lambda row: row.transactions_per_s),
    ]


class MonitorHistoryPage(QWidget):
    """History page with the recorded rows, newest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown_span: tuple[float, float] | None = None
        self.model = TableModel(build_history_columns(), self)
        self.table = TableView(self.model, tr("Recorded rows"))
        self.servers, self.modes = QComboBox(), QComboBox()
        set_accessible_box_name(self.servers, tr("Server instance"))
        set_accessible_box_name(self.modes, tr("Records to show"))
        for words, mode in RECORD_RANGES:
            self.modes.addItem(tr(words), mode)
        self.note = QLabel()
        self.note.setProperty("muted", True)
        bar = FlowLayout(4)
        bar.setContentsMargins(4, 4, 4, 0)
        for part in (self.servers, self.modes, self.note):
            bar.addWidget(part)
        build_widget_column(bar, (self.table, 1), parent=self, margins=0)

    def show_time(self, t_s: float | None) -> None:
        """Select the last row that was recorded at or before *t_s*. None selects no row.

        *t_s*: seconds since the start.
        """
        self.table.clearSelection()
        for index, (_, row) in enumerate(self.model.rows):
            if t_s is not None and row.tick <= t_s * TICKS_PER_S:
                self.table.selectRow(index)
                return

    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """Set the time range of the rows to list (seconds). None means all. The next update applies it."""
        self._shown_span = span

    def show_world(self, world: World, database: str, servers: list[str]) -> None:
        """Show the rows of *database* that the selected server recorded."""
        if servers != [self.servers.itemText(index) for index in range(self.servers.count())]:
            self.servers.clear()
            self.servers.addItems(servers)
        server = self.servers.currentText()
        rows: list[MonitorRow] = []
        self.note.setText("")
        if server and tsql.is_reachable(world, server):
            try:
                rows = list_monitor_results(world, server, database, self.modes.currentData())
            except SqlError as refusal:
                self.note.setText(tr("Msg {number}: no records.").format(number=refusal.number))
        elif server:
            self.note.setText(tr("Not connected to {server}").format(server=server))
        if self._shown_span is not None:
            low, high = (t_s * TICKS_PER_S for t_s in self._shown_span)
            rows = [row for row in rows if low <= row.tick <= high]
        start = world.settings.start_time
        self.model.update_rows(
            [(formatting.format_server_time(start, row.tick, decimals=0), row) for row in rows]
        )
