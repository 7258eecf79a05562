"""Database Mirroring Monitor with status, warnings and history of a database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QGridLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QWidget,
)

from app.views.monitor.monitor_contents import (
    STATE_ICONS,
    UNKNOWN_TEXT,
    StatusPageContents,
    build_status_page,
    list_mirrored_databases,
    list_partners,
)
from app.views.monitor.status import MonitorHistoryPage, MonitorStatusPage
from app.widgets import theme
from app.widgets.layouts import build_dialog_buttons, build_row, build_widget_column
from app.widgets.number_locale import build_number_locale
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.constants import TICKS_PER_S
from engine.drill.time.event_log import select_events
from engine.events import AlertData, Event
from engine.model import Alert, World

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

MONITOR_WARNINGS: Final = (
    # alert ID, text, unit, suggested value (from examples of the manual)
    (2, mark("Unsent log exceeds the threshold"), "KB", 10_000),
    (3, mark("Unrestored log exceeds the threshold"), "KB", 10_000),
    (1, mark("Age of oldest unsent transaction exceeds the threshold"), "min", 30),
    (4, mark("Mirror commit overhead exceeds the threshold"), "ms", 1_000),
)
"""Warnings in the order of the Warnings page. Documented order."""

LABEL_WIDTH_LINES: Final = 17
"""Width in line heights at which labels next to the fields wrap."""

NOT_ENABLED_TEXT: Final = mark("Not enabled")


class WarningRow(Struct, frozen=True):
    """Row of a warning, with its threshold at each partner."""

    alert_id: int
    text: str
    unit: str
    thresholds: tuple[str, ...]
    last_alert: str
    """Time and server of the last alert, or an empty string."""


def find_stored_alert(world: World, server: str, database: str, alert_id: int) -> Alert | None:
    """Return the alert threshold that *server* stores, even if disabled, or None if it stores none."""
    alerts = world.instances[server].alerts
    return next((a for a in alerts if a.database == database and a.alert_id == alert_id), None)


def list_warning_rows(
    world: World, database: str, servers: Sequence[str], last_alerts: dict[int, str]
) -> list[WarningRow]:
    """Return the rows of the Warnings page. The thresholds of unreachable servers are unknown.

    *last_alerts*: ID of a warning -> time and server of the last alert.
    """
    return [
        WarningRow(
            alert_id,
            words,
            unit,
            tuple(_format_threshold(world, server, database, alert_id, unit) for server in servers),
            last_alerts.get(alert_id, ""),
        )
        for alert_id, words, unit, _ in MONITOR_WARNINGS
    ]


def _format_threshold(world: World, server: str, database: str, alert_id: int, unit: str) -> str:
    if not tsql.is_reachable(world, server):
        return tr(UNKNOWN_TEXT)
    alert = find_stored_alert(world, server, database, alert_id)
    return (
        f"{formatting.format_number(alert.threshold)} {unit}"
        if alert and alert.enabled
        else tr(NOT_ENABLED_TEXT)
    )


def build_warning_columns(servers: Sequence[str]) -> list[TableColumn[WarningRow]]:
    """Return the columns of the Warnings page, including a column for each server."""

    def build_column(index: int, server: str) -> TableColumn[WarningRow]:
        return TableColumn(
            title=tr("At {server}").format(server=server),
            is_name=True,
            text=lambda line: line.thresholds[index] if index < len(line.thresholds) else "",
            color_name=lambda line: (
                "muted" if line.thresholds[index] in (tr(NOT_ENABLED_TEXT), tr(UNKNOWN_TEXT)) else None
            ),
            sample="10,000 KB",
        )

    return [
        TableColumn(title=mark("Warning"), text=lambda line: tr(line.text), tip=lambda line: tr(line.text),
               sample="\n".join(words for _, words, _, _ in MONITOR_WARNINGS)),
        *(build_column(index, server) for index, server in enumerate(servers)),
        TableColumn(title=mark("Last raised"), text=lambda line: line.last_alert, color_name=lambda line: "warn",
               sample="1:00:00 SERVER_A"),
    ]  # fmt: skip


class WarningsPage(QWidget):
    """Warnings page: a list of warnings, and a button to change their thresholds."""

    batch_wanted = Signal(str, str)
    """Signal (server, batch): T-SQL that sets a threshold."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TableModel([], self)
        self._world: World | None = None
        self._database = ""
        self._servers: list[str] = []
        self._raised: dict[str, dict[int, str]] = {}
        self._button = QPushButton(tr("Set thresholds…"))
        self._button.clicked.connect(self._set_thresholds)
        note = QLabel(
            tr(
                "Each partner has its own thresholds. Set them on both, because after a failover "
                "the thresholds of the new principal apply."
            )
        )
        note.setProperty("muted", True)
        note.setWordWrap(True)
        layout = build_widget_column(
            note, (self._button, 0, Qt.AlignmentFlag.AlignRight), margins=(6, 0, 6, 4)
        )
        build_widget_column((TableView(self.model, tr("Warnings")), 1), layout, parent=self, margins=0)

    def clear_alerts(self) -> None:
        """Clear the times of all alerts."""
        self._raised.clear()

    def record_alert(self, event: Event, alert: AlertData) -> None:
        """Record the time and the server of an alert."""
        place_text = f"{formatting.format_run_time(event.tick / TICKS_PER_S)} {event.server}"
        self._raised.setdefault(event.database or "", {})[alert.alert_id] = place_text

    def show_world(self, world: World, database: str, servers: list[str]) -> None:
        """Show the thresholds of *database* on *servers*."""
        self._world, self._database = world, database
        lines = list_warning_rows(world, database, servers, self._raised.get(database, {}))
        if servers != self._servers:
            self._servers = servers
            self.model.replace_rows(lines, build_warning_columns(servers))
        else:
            self.model.update_rows(lines)
        self._button.setEnabled(bool(servers))

    def _set_thresholds(self) -> None:
        if self._world is None:
            return
        servers = [server for server in self._servers if tsql.is_reachable(self._world, server)]
        dialog = ThresholdsDialog(self._world, self._database, servers, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            for server, batch in dialog.list_batches():
                self.batch_wanted.emit(server, batch)
        dialog.deleteLater()


def _build_wrapped_label(text: str) -> QLabel:
    """Return a label that wraps. Without a minimum size, Qt would give it a single line in the grid."""
    label = QLabel(text, wordWrap=True)
    width = min(
        label.fontMetrics().horizontalAdvance(text) + 2, LABEL_WIDTH_LINES * label.fontMetrics().height()
    )
    label.setMinimumSize(width, label.heightForWidth(width))
    return label


class ThresholdsDialog(QDialog):
    """Dialog with a threshold for each warning at each partner."""

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
        for row, (alert_id, words, unit, first) in enumerate(MONITOR_WARNINGS, start=1):
            grid.addWidget(_build_wrapped_label(tr(words)), row, 0)
            for column, server in enumerate(servers, start=1):
                alert = find_stored_alert(world, server, database, alert_id)
                grid.addWidget(self._build_field((server, alert_id), alert, unit, first), row, column)
        build_widget_column(grid, build_dialog_buttons(self), parent=self)

    def _build_field(
        self, key: tuple[str, int], alert: Alert | None, unit: str, default_value: int
    ) -> QWidget:
        enabled, value = QCheckBox(), QSpinBox()
        enabled.setAccessibleName(tr("Warning enabled on {server}").format(server=key[0]))
        value.setRange(0, 1_000_000_000)
        value.setLocale(build_number_locale())
        value.setGroupSeparatorShown(True)
        value.setSuffix(f" {unit}")
        value.setValue(round(alert.threshold) if alert else default_value)
        enabled.setChecked(bool(alert and alert.enabled))
        value.setEnabled(enabled.isChecked())
        enabled.toggled.connect(value.setEnabled)
        self.fields[key] = enabled, value
        self._former_values[key] = enabled.isChecked(), value.value()
        widget = QWidget()
        build_row(enabled, (value, 1), parent=widget, margins=0)
        return widget

    def list_batches(self) -> list[tuple[str, str]]:
        """Return (server, T-SQL) for every changed threshold."""
        batches = []
        name = self._database.replace("'", "''")
        for (server, alert_id), (enabled, value) in self.fields.items():
            if (enabled.isChecked(), value.value()) != self._former_values[server, alert_id]:
                numbers = f"{alert_id}, {value.value()}, {int(enabled.isChecked())}"
                batches.append((server, f"EXEC msdb.dbo.sp_dbmmonitorchangealert N'{name}', {numbers}"))
        return batches


REFRESH_INTERVAL_S: Final = 30.0
"""Simulated interval of the automatic refresh. Documented: 30 s, at least 15 s."""

CONNECTION_SUFFIX: Final = "#monitor"
"""Suffix of the monitor's connection names (SERVER#monitor), which distinguishes them from query windows."""


class MirroringMonitor(QWidget):
    """View of the rows that the partners recorded.

    A refresh is an input that makes both partners record a row.
    """

    requested = Signal(str)
    time_selected = Signal(object)
    """Signal: time of the selected row in seconds since the start."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._drawn_state: tuple[object, ...] = ()
        self._requested_tick: int | None = None
        self.databases = QComboBox()
        set_accessible_box_name(self.databases, tr("Mirrored databases"))
        self.databases.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.databases.setMinimumContentsLength(20)
        self.databases.currentIndexChanged.connect(lambda _: self._draw())
        self.status, self.warnings, self.history = MonitorStatusPage(), WarningsPage(), MonitorHistoryPage()
        self.warnings.batch_wanted.connect(self._send_batch)
        self.history.servers.currentTextChanged.connect(lambda _: self._draw())
        self.history.modes.currentTextChanged.connect(lambda _: self._draw())
        self.history.table.clicked.connect(self._choose_time)
        self.history.table.activated.connect(self._choose_time)
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.addTab(self.status, tr("Status"))
        self.tabs.addTab(self.warnings, tr("Warnings"))
        self.tabs.addTab(self.history, tr("History"))
        self.tabs.currentChanged.connect(lambda _: self._draw())
        self.banner = QLabel(wordWrap=True)
        self.automatic_refresh = QCheckBox(tr("Every {period:.0f} s").format(period=REFRESH_INTERVAL_S))
        self.automatic_refresh.setToolTip(
            tr("Refresh automatically while this panel is visible (simulated time)")
        )
        self._refresh = QAction(tr("Refresh"), self)
        self._refresh.setShortcut(QKeySequence("F5"))
        self._refresh.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._refresh.triggered.connect(self.request_monitor_rows)
        self.addAction(self._refresh)
        self.setFocusProxy(self.databases)
        self._lay_out()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)
        theme.call_after_events(self, theme.SHOW_EVENTS, self._draw)

    def _lay_out(self) -> None:
        self._button = QPushButton()
        """Button with an icon only, because the title of a database needs the space."""
        self._button.setAccessibleName(tr("Refresh"))
        self._button.setToolTip(tr("Update the status of both partners now (F5)"))
        self._button.clicked.connect(self.request_monitor_rows)
        self._show_theme()
        bar = build_row((self.databases, 1), self._button, margins=(6, 4, 4, 0))
        corner = QWidget()
        build_row(self.automatic_refresh, parent=corner, margins=(0, 0, 10, 0))
        self.tabs.setCornerWidget(corner)
        self.banner.setContentsMargins(8, 0, 4, 0)
        build_widget_column(bar, self.banner, (self.tabs, 1), parent=self, margins=0, spacing=3)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._world = drill.world
        self._requested_tick = None
        self._drawn_state = ()
        self.warnings.clear_alerts()
        self.add_events(select_events(drill.events, "alert"))
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        if not self.isVisible():
            return
        object_ids = (
            world.tick // TICKS_PER_S,
            tuple(map(id, world.monitor.values())),
            tuple(world.instances.values()),
        )
        if object_ids != self._drawn_state:  # true once per simulated second, and after an action of the user
            self._drawn_state = object_ids
            self._draw()
        due_tick = (
            0.0 if self._requested_tick is None else self._requested_tick + REFRESH_INTERVAL_S * TICKS_PER_S
        )
        if self.automatic_refresh.isChecked() and world.tick >= due_tick:
            self._requested_tick = world.tick
            # only a visible view gets here, because a hidden view must not request anything
            QTimer.singleShot(0, self, self.request_monitor_rows)

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Record the alerts that *events* report."""
        for event in events:
            if isinstance(event.data, AlertData):
                self.warnings.record_alert(event, event.data)

    # --- display ------------------------------------------------------------------------------------------

    @property
    def database(self) -> str | None:
        """Name of the displayed database, or None."""
        name: str | None = self.databases.currentData()
        return name

    @Slot(str)
    def show_database(self, database: str) -> None:
        """Select *database*."""
        if self.databases.findData(database) < 0:
            self._draw()  # fill the list, which a hidden view has not filled yet
        self.databases.setCurrentIndex(max(0, self.databases.findData(database)))

    @Slot(object)
    def show_time(self, t_s: float | None) -> None:
        """Select the last history row that was recorded at or before *t_s* (seconds since the start)."""
        self.history.show_time(t_s)

    @Slot(object)
    def show_time_range(self, span: tuple[float, float] | None) -> None:
        """Show only history rows that were recorded in this time range. None means all rows."""
        self.history.show_time_range(span)
        self._draw()

    def _choose_time(self) -> None:
        index = self.history.table.currentIndex()
        if index.isValid():
            self.time_selected.emit(self.history.model.rows[index.row()][1].tick / TICKS_PER_S)

    def request_monitor_rows(self) -> None:
        """Make every reachable partner record a row with its state."""
        if self._world is None or self.database is None:
            return
        self._requested_tick = self._world.tick
        name = self.database.replace("'", "''")
        for server in list_partners(self._world, self.database):
            if tsql.is_reachable(self._world, server):
                self._send_batch(server, f"EXEC msdb.dbo.sp_dbmmonitorupdate N'{name}'")

    def _send_batch(self, server: str, batch: str) -> None:
        self.requested.emit(f"sql {server}{CONNECTION_SUFFIX} {batch}")

    def _draw(self) -> None:
        world = self._world
        if world is None:
            return
        readouts = {name: build_status_page(world, name) for name in list_mirrored_databases(world)}
        self._fill_databases(readouts)
        selected_readout = readouts.get(self.database or "")
        self.banner.setText(_format_age(world, selected_readout) if readouts else _format_empty(world))
        page = self.tabs.currentWidget()
        if page is self.status:
            self.status.show_contents(selected_readout)
        elif isinstance(page, (WarningsPage, MonitorHistoryPage)):
            # list the servers in the order of the drill, which does not change with the roles
            servers = list_partners(world, selected_readout.database) if selected_readout else []
            page.show_world(world, selected_readout.database if selected_readout else "", servers)

    def _fill_databases(self, readouts: dict[str, StatusPageContents]) -> None:
        names = [self.databases.itemData(index) for index in range(self.databases.count())]
        self.databases.blockSignals(True)
        if names != list(readouts):
            before = self.database
            self.databases.clear()
            for name in readouts:
                self.databases.addItem(name, name)
            self.databases.setCurrentIndex(list(readouts).index(before) if before in readouts else 0)
        colors = theme.get_theme_tokens(self.palette())
        for index, state in enumerate(readouts.values()):
            if self.databases.itemText(index) != state.title:
                self.databases.setItemText(index, state.title)
            color = colors.get_color(state.color_name)
            self.databases.setItemIcon(index, theme.load_icon(STATE_ICONS[state.color_name], colors, color))
        self.databases.setToolTip(self.databases.currentText())  # the box may cut off large text
        self.databases.blockSignals(False)

    def _show_theme(self) -> None:
        height = self.fontMetrics().height()
        self._button.setIcon(theme.load_icon("retry", theme.get_theme_tokens(self.palette())))
        self._button.setIconSize(QSize(height, height))
        self.databases.setIconSize(QSize(height, height))
        self._draw()  # redraw the state icons in the new colors


def _format_empty(world: World) -> str:
    if world.replicas:
        return tr("No mirrored database. Availability groups are shown in the Always On dashboard.")
    return tr("No mirrored database.")


def _format_age(world: World, readout: StatusPageContents | None) -> str:
    if readout is None:
        return ""
    if readout.age_s is None:
        return tr("No records. Refresh (F5) queries both partners.")
    tick = readout.now_tick - round(readout.age_s * TICKS_PER_S)
    server_time = formatting.format_server_time(world.settings.start_time, tick, decimals=0)
    old = "  " + tr("<b>Outdated: refresh to see the current status.</b>") if readout.is_stale else ""
    return tr("Recorded {at} ({time} ago).{old}").format(
        at=server_time, time=formatting.format_seconds(readout.age_s, 0), old=old
    )
