"""Warnings page: each partner stores its own thresholds, so both must be set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.views.monitor.readout import UNKNOWN
from app.widgets.number_locale import number_locale
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import Alert, World

WARNINGS: Final = (
    # alert ID, text, unit, suggested value (the manual's examples)
    (2, mark("Unsent log exceeds"), "KB", 10_000),
    (3, mark("Unrestored log exceeds"), "KB", 10_000),
    (1, mark("Oldest unsent transaction is older than"), "min", 30),
    (4, mark("Mirror commit overhead exceeds"), "ms", 1_000),
)
"""Warnings in the order of the Warnings page. Documented."""

WORDS_UNITS: Final = 17
"""Width in line heights at which the labels next to the fields wrap."""

NOT_ENABLED: Final = mark("Not enabled")


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """Warning with its threshold at each partner."""

    alert_id: int
    words: str
    unit: str
    thresholds: tuple[str, ...]
    raised: str
    """Time and server of the last alert."""


def alert_at(world: World, server: str, database: str, alert_id: int) -> Alert | None:
    """Return the threshold that *server* keeps, enabled or not."""
    alerts = world.instances[server].alerts
    return next((a for a in alerts if a.database == database and a.alert_id == alert_id), None)


def lines_of(
    world: World, database: str, servers: Sequence[str], raised: dict[int, str]
) -> list[ThresholdLine]:
    """Return the page for one database; what cannot be asked is unknown."""
    return [
        ThresholdLine(
            alert_id,
            words,
            unit,
            tuple(_threshold(world, server, database, alert_id, unit) for server in servers),
            raised.get(alert_id, ""),
        )
        for alert_id, words, unit, _ in WARNINGS
    ]


def _threshold(world: World, server: str, database: str, alert_id: int, unit: str) -> str:
    if not tsql.reachable(world, server):
        return tr(UNKNOWN)
    alert = alert_at(world, server, database, alert_id)
    return f"{formatting.number(alert.threshold)} {unit}" if alert and alert.enabled else tr(NOT_ENABLED)


def columns_for(servers: Sequence[str]) -> list[TableColumn]:
    """Return the columns for these servers."""

    def build_column(index: int, server: str) -> TableColumn:
        return TableColumn(
            title=tr("At {server}").format(server=server),
            as_is=True,
            text=lambda line: line.thresholds[index] if index < len(line.thresholds) else "",
            tone=lambda line: "muted" if line.thresholds[index] in (tr(NOT_ENABLED), tr(UNKNOWN)) else None,
            sample="10,000 KB",
        )

    return [
        TableColumn(title=mark("Warning"), text=lambda line: tr(line.words), tip=lambda line: tr(line.words),
               sample="\n".join(words for _, words, _, _ in WARNINGS)),
        *(build_column(index, server) for index, server in enumerate(servers)),
        TableColumn(title=mark("Last raised"), text=lambda line: line.raised, tone=lambda line: "warn",
               sample="1:00:00 SERVER_A"),
    ]  # fmt: skip


class Warnings(QWidget):
    """List of warnings, and a button to change them."""

    wanted = Signal(str, str)
    """(server, batch): T-SQL that sets a threshold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TableModel([], self)
        self._world: World | None = None
        self._database = ""
        self._servers: list[str] = []
        self._raised: dict[str, dict[int, str]] = {}
        self._button = QPushButton(tr("Set thresholds…"))
        self._button.clicked.connect(self._set)
        note = QLabel(
            tr(
                "Each partner has its own thresholds. Set them on both, because after a failover "
                "the thresholds of the new principal apply."
            )
        )
        note.setProperty("muted", True)
        note.setWordWrap(True)
        below = QVBoxLayout()
        below.setContentsMargins(6, 0, 6, 4)
        below.addWidget(note)
        below.addWidget(self._button, 0, Qt.AlignmentFlag.AlignRight)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(TableView(self.model, tr("Warnings")), 1)
        layout.addLayout(below)

    def forget(self) -> None:
        """Forget all raised alerts."""
        self._raised.clear()

    def note(self, event: Event) -> None:
        """Note an event of kind "alert"."""
        at = f"{formatting.run_time(event.tick / TICKS_PER_S)} {event.server}"
        self._raised.setdefault(event.database or "", {})[event.get("alert_id")] = at

    def show_world(self, world: World, database: str, servers: list[str]) -> None:
        """Show the thresholds of a database."""
        self._world, self._database = world, database
        lines = lines_of(world, database, servers, self._raised.get(database, {}))
        if servers != self._servers:
            self._servers = servers
            self.model.replace(lines, columns_for(servers))
        else:
            self.model.update(lines)
        self._button.setEnabled(bool(servers))

    def _set(self) -> None:
        if self._world is None:
            return
        servers = [server for server in self._servers if tsql.reachable(self._world, server)]
        dialog = ThresholdsDialog(self._world, self._database, servers, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            for server, batch in dialog.batches():
                self.wanted.emit(server, batch)
        dialog.deleteLater()


def _build_wrapped_label(text: str) -> QLabel:
    """Return a label of as many lines as it takes: in a grid of one-line fields Qt would give it one line's room."""
    label = QLabel(text, wordWrap=True)
    width = min(label.fontMetrics().horizontalAdvance(text) + 2, WORDS_UNITS * label.fontMetrics().height())
    label.setMinimumSize(width, label.heightForWidth(width))
    return label


class ThresholdsDialog(QDialog):
    """A threshold for each warning at each partner."""

    def __init__(
        self, world: World, database: str, servers: Sequence[str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Set warning thresholds for {database}").format(database=database))
        self._database = database
        self.fields: dict[tuple[str, int], tuple[QCheckBox, QSpinBox]] = {}
        self._former_values: dict[tuple[str, int], tuple[bool, int]] = {}
        grid = QGridLayout()
        for column, server in enumerate(servers, start=1):
            grid.addWidget(QLabel(f"<b>{server}</b>"), 0, column)
        for row, (alert_id, words, unit, first) in enumerate(WARNINGS, start=1):
            grid.addWidget(_build_wrapped_label(tr(words)), row, 0)
            for column, server in enumerate(servers, start=1):
                alert = alert_at(world, server, database, alert_id)
                grid.addWidget(self._field((server, alert_id), alert, unit, first), row, column)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(grid)
        layout.addWidget(buttons)

    def _field(self, key: tuple[str, int], alert: Alert | None, unit: str, default_value: int) -> QWidget:
        enabled, value = QCheckBox(), QSpinBox()
        enabled.setAccessibleName(tr("Enabled at {server}").format(server=key[0]))
        value.setRange(0, 1_000_000_000)
        value.setLocale(number_locale())
        value.setGroupSeparatorShown(True)
        value.setSuffix(f" {unit}")
        value.setValue(round(alert.threshold) if alert else default_value)
        enabled.setChecked(bool(alert and alert.enabled))
        value.setEnabled(enabled.isChecked())
        enabled.toggled.connect(value.setEnabled)
        self.fields[key] = enabled, value
        self._former_values[key] = enabled.isChecked(), value.value()
        both = QWidget()
        layout = QHBoxLayout(both)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(enabled)
        layout.addWidget(value, 1)
        return both

    def batches(self) -> list[tuple[str, str]]:
        """Return (server, T-SQL) for every threshold that was changed."""
        found = []
        name = self._database.replace("'", "''")
        for (server, alert_id), (enabled, value) in self.fields.items():
            if (enabled.isChecked(), value.value()) != self._former_values[server, alert_id]:
                numbers = f"{alert_id}, {value.value()}, {int(enabled.isChecked())}"
                found.append((server, f"EXEC msdb.dbo.sp_dbmmonitorchangealert N'{name}', {numbers}"))
        return found
