"""Recorded rows of one partner, as sp_dbmmonitorresults lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from app.views.monitor.readout import STATES, WITNESS_STATES, hms, oldest_s, restore_s, send_s
from app.widgets.flow import FlowLayout
from app.widgets.reader import name_box
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.constants import TICKS_PER_S
from engine.messages import SqlError
from engine.mirroring.monitor import results
from engine.mirroring.monitor_rows import MonitorRow
from engine.model import World

MODES: Final = (
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
"""@mode of sp_dbmmonitorresults. Documented."""


def _number(title: str, value: Callable[[MonitorRow], float]) -> TableColumn:
    return TableColumn(
        title=title, text=lambda found: formatting.number(value(found[1])), right=True, sample="100,000"
    )


def _time(title: str, value: Callable[[MonitorRow], float | None]) -> TableColumn:
    return TableColumn(title=title, text=lambda found: hms(value(found[1])), right=True, sample="00:00:00")


def columns() -> list[TableColumn]:
    """Return the columns of the history dialog, then the transactions; rows are (date, recorded row). Documented."""
    return [
        TableColumn(title=mark("Time recorded"), text=lambda found: found[0], sample="2005-10-22 12:00:41"),
        TableColumn(
            title=mark("Role"),
            text=lambda found: tr(found[1].role.name.capitalize()),
            sample=mark("Principal"),
        ),
        TableColumn(
            title=mark("Mirroring state"),
            text=lambda found: tr(STATES[found[1].state][0]),
            tone=lambda found: STATES[found[1].state][1],
            sample=mark("Synchronizing"),
        ),
        TableColumn(
            title=mark("Witness connection"),
            text=lambda found: tr(WITNESS_STATES[found[1].witness_state][0]),
            sample=mark("Disconnected"),
        ),
        _number(mark("Unsent log (KB)"), lambda row: row.unsent_kb),
        _time(mark("Time to send"), send_s),
        _number(mark("Send rate (KB/s)"), lambda row: row.send_rate_kb_per_s),
        _number(mark("New transaction rate (KB/s)"), lambda row: row.log_rate_kb_per_s),
        _time(mark("Oldest unsent transaction"), oldest_s),
        _number(mark("Unrestored log (KB)"), lambda row: row.unrestored_kb),
        _time(mark("Time to restore"), restore_s),
        _number(mark("Restore rate (KB/s)"), lambda row: row.restore_rate_kb_per_s),
        _number(mark("Mirror commit overhead (ms)"), lambda row: row.average_delay_ms),
        _number(mark("Transactions/s"), lambda row: row.transactions_per_s),
    ]


class MonitorHistoryPage(QWidget):
    """Rows, newest first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown_span: tuple[float, float] | None = None
        self.model = TableModel(columns(), self)
        self.table = TableView(self.model, tr("Recorded rows"))
        self.servers, self.modes = QComboBox(), QComboBox()
        name_box(self.servers, tr("Server instance"))
        name_box(self.modes, tr("Records to show"))
        for words, mode in MODES:
            self.modes.addItem(tr(words), mode)
        self.note = QLabel()
        self.note.setProperty("muted", True)
        bar = FlowLayout(4)
        bar.setContentsMargins(4, 4, 4, 0)
        for part in (self.servers, self.modes, self.note):
            bar.addWidget(part)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(bar)
        layout.addWidget(self.table, 1)

    def show_time(self, t_s: float | None) -> None:
        """Select the last row recorded by *t_s* (seconds since the start); None: no row."""
        self.table.clearSelection()
        for place, (_, row) in enumerate(self.model.rows):
            if t_s is not None and row.tick <= t_s * TICKS_PER_S:
                self.table.selectRow(place)
                return

    def show_between(self, span: tuple[float, float] | None) -> None:
        """List only rows recorded in this span (seconds), or all, from the next update on."""
        self._shown_span = span

    def show_world(self, world: World, database: str, servers: list[str]) -> None:
        """Show the recorded rows of a database."""
        if servers != [self.servers.itemText(index) for index in range(self.servers.count())]:
            self.servers.clear()
            self.servers.addItems(servers)
        server = self.servers.currentText()
        rows: list[MonitorRow] = []
        self.note.setText("")
        if server and tsql.reachable(world, server):
            try:
                rows = results(world, server, database, self.modes.currentData())
            except SqlError as refusal:
                self.note.setText(tr("Msg {number}: no records.").format(number=refusal.number))
        elif server:
            self.note.setText(tr("Not connected to {server}").format(server=server))
        if self._shown_span is not None:
            low, high = (t_s * TICKS_PER_S for t_s in self._shown_span)
            rows = [row for row in rows if low <= row.tick <= high]
        start = world.settings.start_time
        self.model.update([(formatting.server_time(start, row.tick, decimals=0), row) for row in rows])
