"""View that imitates the Always On dashboard of Management Studio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QSplitter, QWidget

from app.view_models import dashboard
from app.view_models.dashboard import (
    SEVERITY_COLORS,
    DatabaseRow,
    GroupDashboard,
    ReplicaRow,
    format_issues,
    get_worst_severity,
)
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.events import Event
from engine.model import World, to_ticks
from engine.protocol.group_policies import FailoverPrecondition, list_preconditions

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

REFRESH_INTERVAL_TICKS: Final = to_ticks(10.0)
"""Refresh interval of log positions and queues while nothing else changes. Assumed. Management Studio
refreshes every 30 s.
"""

HEADER_HEIGHT_ROWS: Final = 2
"""Height of a table's header and scroll bar, in row heights."""

_ISSUES_COLUMN: Final[TableColumn[ReplicaRow | DatabaseRow]] = TableColumn(
    title=mark("Issues"),
    text=lambda row: format_issues(row.issues) or tr("Healthy"),
    color_name=lambda row: SEVERITY_COLORS[get_worst_severity(row.issues)],
    tip=lambda row: format_issues(row.issues),
    sample="Availability replica",
)


def _format_number(value: float | None) -> str:
    return formatting.NO_VALUE if value is None else formatting.format_number(value, 0)


def _build_column(title: str, name: str) -> TableColumn[DatabaseRow]:
    """Return a table column that shows the column *name* of sys.dm_hadr_database_replica_states."""

    def format_text(row: DatabaseRow) -> str:
        value = row.positions.get(name)
        return formatting.NO_VALUE if value is None else str(value)

    numbers = name.endswith(("_size", "_rate"))
    return TableColumn(
        title=title,
        text=format_text,
        is_number=numbers,
        is_name=not numbers,
        sample="" if numbers else "2026-01-01 10:00:00.000",
    )


REPLICA_COLUMNS: Final[tuple[TableColumn[ReplicaRow], ...]] = (
    TableColumn(title=mark("Name"), text=lambda row: row.name, sample="NODE_1234"),
    TableColumn(title=mark("Role"), text=lambda row: row.role, sample=mark("Secondary")),
    TableColumn(title=mark("Failover Mode"), text=lambda row: row.failover),
    TableColumn(title=mark("Synchronization State"), text=lambda row: row.state, sample="Not synchronizing"),
    _ISSUES_COLUMN,
    TableColumn(
        title=mark("Availability Mode"), text=lambda row: row.mode, sample=mark("Asynchronous commit")
    ),
)
DATABASE_COLUMNS: Final[tuple[TableColumn[DatabaseRow], ...]] = (
    TableColumn(title=mark("Name"), text=lambda row: row.name, sample="Database"),
    TableColumn(title=mark("Replica"), text=lambda row: row.replica, sample="NODE_1234"),
    TableColumn(title=mark("Synchronization State"), text=lambda row: row.state, sample="Not synchronizing"),
    TableColumn(
        title=mark("Failover Readiness"), text=lambda row: row.readiness, sample=mark("No data loss")
    ),
    _ISSUES_COLUMN,
    TableColumn(title=mark("Suspended"), text=lambda row: row.suspended, sample="PARTNER"),
    TableColumn(
        title=mark("Estimated Recovery Time (seconds)"),
        text=lambda row: _format_number(row.recovery_s),
        is_number=True,
        tip=lambda row: tr(
            "Redo queue size divided by redo rate: the time that redo needs before the database opens."
        ),
    ),
    TableColumn(
        title=mark("Estimated Data Loss (seconds)"),
        text=lambda row: _format_number(row.data_loss_s),
        is_number=True,
        tip=lambda row: tr("Last commit time of the primary minus the last commit time of this replica."),
    ),
    _build_column(mark("Log Send Queue Size (KB)"), "log_send_queue_size"),
    _build_column(mark("Log Send Rate (KB/s)"), "log_send_rate"),
    _build_column(mark("Redo Queue Size (KB)"), "redo_queue_size"),
    _build_column(mark("Redo Rate (KB/s)"), "redo_rate"),
    *(
        column
        for part in ("Commit", "Hardened", "Received", "Redone", "Sent")
        for column in (
            _build_column(f"Last {part} LSN", f"last_{part.lower()}_lsn"),
            _build_column(f"Last {part} Time", f"last_{part.lower()}_time"),
        )
    ),
    _build_column("End of Log LSN", "end_of_log_lsn"),
    _build_column("Recovery LSN", "recovery_lsn"),
    _build_column("Truncation LSN", "truncation_lsn"),
)
"""Columns of the database table: documented ones, and those of Add/Remove Columns in Management Studio.

[DOC: Always On dashboard]
"""
REQUIREMENT_COLUMNS: Final[tuple[TableColumn[FailoverPrecondition], ...]] = (
    TableColumn(title=mark("Requirement for automatic failover"), text=lambda row: localize(row.name),
           tip=lambda row: localize(row.name), sample="every database was synchronized on the target …"),
    TableColumn(title=mark("Target"), text=lambda row: row.target or tr("all"), sample="NODE_1234"),
    TableColumn(title=mark("Met"), text=lambda row: tr("yes") if row.holds else tr("no"),
           color_name=lambda row: "ok" if row.holds else "bad"),
    TableColumn(title=mark("Now"), text=lambda row: localize(row.now), tip=lambda row: localize(row.now),
           sample="NODE_1 AUTOMATIC"),
    TableColumn(title=mark("Where to check"), text=lambda row: localize(row.seen_in),
           tip=lambda row: localize(row.seen_in)),
)  # fmt: skip


class GroupDashboardView(QWidget):
    """Read-only dashboard of an availability group, as the selected server knows it.

    A secondary knows only its own replica.
    """

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._truth = True
        self._is_chosen = False
        self._drawn_state: tuple[object, ...] = ()
        self.servers, self.groups = QComboBox(), QComboBox()
        set_accessible_box_name(self.servers, tr("Server instance"))
        set_accessible_box_name(self.groups, tr("Availability group"))
        for box in (self.servers, self.groups):
            box.currentIndexChanged.connect(lambda _: self._choose())
        self.summary = QLabel(wordWrap=True)
        self.summary.setContentsMargins(8, 2, 8, 2)
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.replicas, self.databases, self.why = (
            TableModel(REPLICA_COLUMNS),
            TableModel(DATABASE_COLUMNS),
            TableModel(REQUIREMENT_COLUMNS),
        )
        self.tables = [
            TableView(self.replicas, tr("Availability replicas")),
            TableView(self.databases, tr("Availability databases")),
            TableView(self.why, tr("Automatic failover requirements")),
        ]
        self.setFocusProxy(self.servers)
        self._lay_out()
        theme.call_after_events(self, theme.SHOW_EVENTS, self._draw)

    def _lay_out(self) -> None:
        bar = build_row((self.servers, 1), (self.groups, 1), margins=(6, 4, 6, 0))
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._split, self._rows = split, list[int]()
        for table in self.tables:
            split.addWidget(table)
        build_widget_column(bar, self.summary, (split, 1), parent=self, margins=0, spacing=3)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._truth, self._drawn_state, self._is_chosen = drill.permissions.shows_truth, (), False
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        if self.isVisible():
            object_ids = (
                tuple(map(id, world.copies.values())),
                tuple(map(id, world.nodes.values())),
                tuple(map(id, world.replicas.values())),
                tuple(map(id, world.contacts.values())),
                tuple(map(id, world.instances.values())),
                tuple(map(id, world.computers.values())),
                world.tick // REFRESH_INTERVAL_TICKS,
            )
            if object_ids != self._drawn_state:
                self._drawn_state = object_ids
                self._draw()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The view reads the world instead."""

    def _choose(self) -> None:
        self._is_chosen = True
        self._draw()

    def show_group(self, server: str, group: str) -> None:
        """Show the knowledge of *server* about the availability group *group*, if *server* has a replica."""
        self._is_chosen = True
        self.show_server(server)
        self.groups.setCurrentIndex(max(0, self.groups.findText(group)))

    @Slot(str)
    def show_server(self, server: str) -> None:
        """Show the dashboard as *server* knows it. A name without a replica has no effect."""
        self._draw()
        index = self.servers.findText(server)
        if index >= 0:
            self.servers.setCurrentIndex(index)

    # --- display ------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        world = self._world
        if world is None:
            return
        _fill_box(self.servers, dashboard.list_replica_servers(world))
        server = self.servers.currentText()
        groups = dashboard.find_groups(world, server) if server else {}
        # until the user selects a server, show the first one that answers
        if not groups and not self._is_chosen:
            for index in range(self.servers.count()):
                if server_groups := dashboard.find_groups(world, self.servers.itemText(index)):
                    server, groups = self.servers.itemText(index), server_groups
                    blocked = self.servers.blockSignals(True)
                    self.servers.setCurrentIndex(index)
                    self.servers.blockSignals(blocked)
                    break
        _fill_box(self.groups, list(groups))
        chosen_group = groups.get(self.groups.currentText())
        board = dashboard.build_dashboard(world, *chosen_group) if chosen_group is not None else None
        self.summary.setText(_format_summary(server, board))
        self.replicas.update_rows(board.replicas if board is not None else ())
        self.databases.update_rows(board.databases if board is not None else ())
        # The table of preconditions combines facts that no single server has, so it needs the true state.
        first = board.databases[0].name if board is not None and board.databases and self._truth else ""
        self.why.update_rows(list_preconditions(world, first) if first else ())
        self.tables[-1].setVisible(self._truth)
        self._share_height()

    def _share_height(self) -> None:
        """Divide the height between the tables by their row counts.

        While the row counts stay the same, keep the user's splitter position.
        """
        rows = [table.model().rowCount() for table in self.tables]
        if rows != self._rows:
            self._rows = rows
            self._split.setSizes([100 * (HEADER_HEIGHT_ROWS + count) for count in rows])


def _fill_box(box: QComboBox, names: list[str]) -> None:
    if names != [box.itemText(index) for index in range(box.count())]:
        before = box.currentText()
        box.blockSignals(True)
        box.clear()
        box.addItems(names)
        box.setCurrentIndex(names.index(before) if before in names else 0 if names else -1)
        box.blockSignals(False)


def _format_summary(server: str, dashboard: GroupDashboard | None) -> str:
    if not server:
        return tr("This drill has no availability group.")
    if dashboard is None:
        return tr("Cannot connect to {server}, or it has no availability group.").format(server=server)
    summary_text = tr(
        "{group}: {health}. Primary instance {primary}, failover mode {failover}, cluster {cluster} ({quorum}), "
        "listener {listener}. {issues}"
    )
    return summary_text.format(
        group=dashboard.group,
        health=tr(dashboard.health),
        primary=dashboard.primary,
        failover=dashboard.failover,
        cluster=dashboard.cluster,
        quorum=dashboard.quorum,
        listener=dashboard.listener,
        issues=format_issues(dashboard.issues),
    ).rstrip()
