"""View that imitates Failover Cluster Manager."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLabel, QMenu, QMessageBox, QWidget

from app.view_models import cluster_manager
from app.view_models.cluster_manager import ClusterAction, ClusterRow
from app.widgets import theme
from app.widgets.bars import build_menu_button, enable_context_menu
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import set_accessible_box_name
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words.language import mark, tr
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

TREE_KIND_LABELS: Final = {
    "node": mark("node"),
    "role": mark("role"),
    "resource": mark("resource"),
    "witness": mark("witness"),
}
CLUSTER_COLUMNS: Final[tuple[TableColumn[cluster_manager.ClusterRow], ...]] = (
    TableColumn(title=mark("Name"), text=lambda row: ("   " if row.kind == "resource" else "") + row.name,
           bold=lambda row: row.kind == "role", sample="AG1_AGL1 address", spoken=lambda row: row.name),
    TableColumn(title=mark("Type"), text=lambda row: tr(TREE_KIND_LABELS[row.kind]), sample=mark("resource")),
    TableColumn(title=mark("Status"), text=lambda row: row.state,
           color_name=lambda row: row.color_name, sample="OfflinePending"),
    TableColumn(title=mark("Owner node"), text=lambda row: row.owner, sample="NODE_1234"),
    TableColumn(title=mark("Votes and owners"), text=lambda row: row.details, tip=lambda row: row.details),
)  # fmt: skip


class ClusterManager(QWidget):
    """Manager with all actions of the cluster, including harmful ones.

    Irreversible actions ask for confirmation.
    """

    requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._drawn_state: tuple[object, ...] = ()
        self.nodes = QComboBox()
        set_accessible_box_name(self.nodes, tr("Node to which Failover Cluster Manager is connected"))
        self.nodes.currentIndexChanged.connect(lambda _: self._draw())
        self.title = QLabel(wordWrap=True)
        self.title.setContentsMargins(8, 2, 8, 2)
        self.model = TableModel(CLUSTER_COLUMNS)
        self.table = TableView(self.model, tr("Failover Cluster Manager"))
        self.table.setSelectionMode(TableView.SelectionMode.SingleSelection)
        enable_context_menu(self.table, self.fill_menu)
        self.setFocusProxy(self.table)
        bar = build_row(
            (self.nodes, 1),
            build_menu_button(tr("Actions ▾"), tr("Actions for this row"), self.fill_menu),
            margins=(6, 4, 6, 0),
        )
        build_widget_column(bar, self.title, (self.table, 1), parent=self, margins=0, spacing=3)
        theme.call_after_events(self, theme.SHOW_EVENTS, self._draw)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show another run, or another time of the same run."""
        self._drawn_state = ()
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        if self.isVisible():
            object_ids = (*map(id, world.nodes.values()), *map(id, world.computers.values()))
            if object_ids != self._drawn_state:
                self._drawn_state = object_ids
                self._draw()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The view reads the cluster database instead."""

    @Slot(str)
    def show_server(self, node: str) -> None:
        """Connect the manager to *node*. A name that is not a cluster node has no effect."""
        self._draw()
        index = self.nodes.findText(node)
        if index >= 0:
            self.nodes.setCurrentIndex(index)

    # --- display ------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        if self._world is None:
            return
        names = cluster_manager.list_usable_nodes(self._world)
        if names != [self.nodes.itemText(index) for index in range(self.nodes.count())]:
            before = self.nodes.currentText()
            self.nodes.blockSignals(True)
            self.nodes.clear()
            self.nodes.addItems(names)
            self.nodes.setCurrentIndex(names.index(before) if before in names else 0 if names else -1)
            self.nodes.blockSignals(False)
        self.title.setText(cluster_manager.format_cluster_title(self._world, self.nodes.currentText()))
        self.model.update_rows(cluster_manager.list_cluster_rows(self._world, self.nodes.currentText()))

    # --- actions ------------------------------------------------------------------------------------------

    @property
    def selected_row(self) -> ClusterRow | None:
        """Selected row, or None."""
        index = self.table.currentIndex()
        return self.model.rows[index.row()] if index.isValid() else None

    def fill_menu(self, menu: QMenu) -> bool:
        """Fill *menu* with the actions of the selected row. Return False if there are none."""
        if self._world is None or self.selected_row is None:
            return False
        actions = cluster_manager.list_cluster_actions(
            self._world, self.nodes.currentText(), self.selected_row
        )
        for action in actions:
            menu.addAction(action.label).triggered.connect(
                lambda _=False, action=action: self._run_action(action)
            )
        return bool(actions)

    def _run_action(self, action: ClusterAction) -> None:
        if action.warning:
            yes = QMessageBox.StandardButton.Yes
            answer = QMessageBox.warning(
                self, tr("Failover Cluster Manager"), action.warning, yes | QMessageBox.StandardButton.No,
                QMessageBox.StandardButton.No,
            )  # fmt: skip
            if answer != yes:
                return
        self.requested.emit(action.line)
