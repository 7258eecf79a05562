"""Tree model of Object Explorer. It requests items when a folder is first opened or refreshed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF, QStandardItem, QStandardItemModel

from app.views.object_explorer import explorer_items
from app.views.object_explorer.explorer_items import FOLDERS, ExplorerFolder, ExplorerItem
from app.views.object_explorer.scripts import quote_name
from app.widgets import theme
from app.widgets.tables import escape_tip
from app.words.language import tr
from engine.constants import CLIENT_LOGIN_TIMEOUT_S
from engine.model import World, to_ticks
from engine.overrides import override

ICON_NAMES: Final = {
    "server": "server",
    "folder": "folder",
    "database": "database",
    "system database": "database",
    "login": "user",
    "certificate": "certificate",
    "endpoint": "cable",
    "linked server": "server",
    "job": "job",
    "log": "text",
    "availability group": "grid",
    "availability replica": "server",
    "availability database": "database",
    "listener": "cable",
    "problem": "warning",
}
"""Kind of item -> name of the icon."""

_ICON_SIZES_PX: Final = (16, 20, 24, 32, 48)
_SHAPE_BY_COLOR_NAME: Final = {
    # color name: outline in a unit square; the shapes are distinguishable without color
    "ok": ((0.15, 0.0), (1.0, 0.5), (0.15, 1.0)),  # triangle: running
    "bad": ((0.05, 0.05), (0.95, 0.05), (0.95, 0.95), (0.05, 0.95)),  # square: stopped
    "warn": ((0.5, 0.0), (1.0, 0.95), (0.0, 0.95)),  # triangle pointing up: warning
    "info": ((0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)),  # diamond: in progress
}


@lru_cache(maxsize=256)
def build_item_icon(kind: str, color_name: str, dark: bool) -> QIcon:
    """Return the icon of *kind* with the status symbol of *color_name*.

    The colors "text" and "idle" have no symbol.
    """
    colors = theme.build_dark_theme() if dark else theme.build_light_theme()
    ground = colors.idle if color_name == "idle" else colors.accent if kind == "folder" else colors.text
    kind_icon = QIcon()
    for icon_px in _ICON_SIZES_PX:
        pixmap = theme.render_pixmap(ICON_NAMES[kind], ground, icon_px)
        if color_name in _SHAPE_BY_COLOR_NAME and kind != "problem":
            _add_status_symbol(
                pixmap, _SHAPE_BY_COLOR_NAME[color_name], colors.get_color(color_name), colors.surface
            )
        kind_icon.addPixmap(pixmap)
    return kind_icon


def _add_status_symbol(
    pixmap: QPixmap, shape: tuple[tuple[float, float], ...], color: QColor, border_color: QColor
) -> None:
    sign_px = pixmap.width() * 0.62
    corner = QRectF(pixmap.width() - sign_px, pixmap.height() - sign_px, sign_px - 1, sign_px - 1)
    outline = QPolygonF(
        [QPointF(corner.x() + x * corner.width(), corner.y() + y * corner.height()) for x, y in shape]
    )
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(border_color, max(1.0, sign_px / 6), Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setBrush(color)
    painter.drawPolygon(outline)
    painter.end()


Path = tuple[str, ...]

NODE_ROLE: Final = Qt.ItemDataRole.UserRole + 1
_REGULAR_NAME_PATTERN: Final = re.compile(r"[A-Za-z_][\w$#@]*")
"""Pattern of a name that does not need square brackets."""


class ExplorerNode(Struct):
    """Data of a row: an object, and the time at which its server reported it."""

    path: Path
    kind: str
    """"server", "folder", "problem", or the kind of an item."""
    name: str
    label: str
    folder: ExplorerFolder | None = None
    requested_tick: int | None = None
    """Tick of the row's last request. None if the row came with the answer for its parent."""
    is_loaded: bool = False
    """True if the items of the folder are loaded."""
    color_name: str = "text"

    @property
    def server(self) -> str:
        """Server of the node."""
        return self.path[0]

    @property
    def title(self) -> str:
        """Title in the form `Databases of SERVER_A`."""
        if self.kind == "server":
            return self.name
        return tr("{what} of {server}").format(
            what=tr(self.folder.title) if self.folder is not None else self.name, server=self.server
        )


class ExplorerModel(QStandardItemModel):
    """Tree model with the rows of all servers. The view maintains the paths of expanded rows."""

    request_failed = Signal(str, int)
    """Signal (server, error number): a request failed."""
    rows_added = Signal()
    """Signal: rows were added, and the view may have to expand them."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.opened: set[Path] = set()
        self._world: World | None = None
        self._dark = False
        self._waiting: dict[Path, int] = {}
        """Row of a silent server -> tick at which the login times out."""

    # --- dragging -----------------------------------------------------------------------------------------

    @override
    def mimeTypes(self) -> list[str]:
        return ["text/plain"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Return the names of the rows as text for a drop into a query. Quote them if T-SQL requires it."""
        data = QMimeData()
        names = [
            index.data(NODE_ROLE).name
            for index in indexes
            if index.data(NODE_ROLE).kind not in ("folder", "problem")
        ]
        data.setText(
            ", ".join(name if _REGULAR_NAME_PATTERN.fullmatch(name) else quote_name(name) for name in names)
        )
        return data

    # --- time ---------------------------------------------------------------------------------------------

    def rebuild(self, world: World) -> None:
        """Rebuild the tree and query every server of *world*."""
        self._world = world
        self._waiting.clear()
        opened_roots = {path[0] for path in self.opened}
        for name in world.instances:
            if name not in opened_roots:
                self.opened |= {(name,), (name, "databases")}
        self.clear()
        for name in world.instances:
            self.appendRow(self._build_row(ExplorerNode((name,), "server", name, name)))
        for index in range(self.rowCount()):
            self._query_server(self.item(index))

    def show_world(self, world: World) -> None:
        """Set the current world. Update only the rows that wait for the answer of a server."""
        self._world = world
        for path, due_s in list(self._waiting.items()):
            number = explorer_items.find_connection_error(world, path[0])
            if number == explorer_items.TIMEOUT_ERROR and world.tick < due_s:
                continue
            del self._waiting[path]
            item = self.find_item(path)
            if item is not None:
                self._show_answer(item, number)

    # --- requests -----------------------------------------------------------------------------------------

    def refresh(self, index: QModelIndex) -> None:
        """Query the server of this row again, for the row and all expanded rows below it."""
        item = self.itemFromIndex(index)
        if item is not None and get_node(item).kind == "problem":
            item = item.parent()
        if item is not None:
            self._query_server(item)

    def load_folder(self, index: QModelIndex) -> None:
        """Load the folder of an expanded row, if it is not loaded yet."""
        item = self.itemFromIndex(index)
        if item is not None and get_node(item).folder is not None and not get_node(item).is_loaded:
            self._query_server(item)

    def _query_server(self, item: QStandardItem) -> None:
        node = get_node(item)
        number = explorer_items.find_connection_error(self.world, node.server)
        if number == explorer_items.TIMEOUT_ERROR:
            self._waiting[node.path] = self.world.tick + to_ticks(CLIENT_LOGIN_TIMEOUT_S)
            item.setText(tr("{label} (expanding...)").format(label=node.label))
        else:
            self._show_answer(item, number)

    def _show_answer(self, item: QStandardItem, number: int | None) -> None:
        """Show the answer to a request, or an error if *number* is not None."""
        node = get_node(item)
        self._mark_server(node.server, number)
        if number is not None:
            item.setText(node.label)
            self._show_failure(item, number)
        elif node.kind == "server":
            server = self.world.instances[node.server]
            self._fill_item(
                item, [folder for folder in FOLDERS if folder.is_available(self.world, server)], ()
            )
        elif node.folder is not None:
            server = self.world.instances[node.server]
            self._set_appearance(item, explorer_items.format_folder_title(node.folder, server), "text", "")
            items = node.folder.list_items
            self._fill_item(item, node.folder.folders, items(self.world, server) if items is not None else ())
        else:
            self._update_item(item)
        if number is not None:
            self.request_failed.emit(node.server, number)

    def _fill_item(
        self, item: QStandardItem, folders: Iterable[ExplorerFolder], items: Iterable[ExplorerItem]
    ) -> None:
        node = get_node(item)
        item.removeRows(0, item.rowCount())
        node.requested_tick, node.is_loaded = self.world.tick, True
        for folder in folders:
            item.appendRow(self._build_folder_row(node.path, folder))
        for explorer_item in items:
            path = (*node.path, f"{explorer_item.kind}:{explorer_item.name}")
            row = self._build_row(
                ExplorerNode(
                    path,
                    explorer_item.kind,
                    explorer_item.name,
                    explorer_item.label,
                    color_name=explorer_item.color_name,
                ),
                explorer_item.tip,
            )
            item.appendRow(row)
            for folder in explorer_item.folders:
                row.appendRow(self._build_folder_row(path, folder))
        self.rows_added.emit()

    def _update_item(self, item: QStandardItem) -> None:
        """Update one object. Remove its row if the server no longer has the object."""
        node, parent_item = get_node(item), item.parent()
        folder = get_node(parent_item).folder
        assert folder is not None, "objects lie in folders"
        listed_items = (
            folder.list_items(self.world, self.world.instances[node.server])
            if folder.list_items is not None
            else ()
        )
        explorer_item = next(
            (
                explorer_item
                for explorer_item in listed_items
                if (explorer_item.kind, explorer_item.name) == (node.kind, node.name)
            ),
            None,
        )
        if explorer_item is None:
            parent_item.removeRow(item.row())
            return
        node.requested_tick = self.world.tick
        self._set_appearance(item, explorer_item.label, explorer_item.color_name, explorer_item.tip)

    def _show_failure(self, item: QStandardItem, number: int) -> None:
        """Show an error in place of the contents of a server or folder."""
        node = get_node(item)
        if node.kind == "server" or node.folder is not None:
            item.removeRows(0, item.rowCount())
            node.requested_tick, node.is_loaded = self.world.tick, False
            label = tr("Cannot connect to {server}.").format(server=node.server)
            problem = ExplorerNode((*node.path, "problem"), "problem", "problem", label)
            item.appendRow(
                self._build_row(problem, explorer_items.format_client_message(number, node.server))
            )

    def _mark_server(self, name: str, number: int | None) -> None:
        item, server = self.find_item((name,)), self.world.instances[name]
        assert item is not None, "every server has a row"
        if number is None:
            self._set_appearance(
                item,
                explorer_items.format_server_label(self.world, server),
                "ok",
                f"SQL Server {server.version}, {server.edition} Edition",
            )
        else:
            self._set_appearance(
                item,
                tr("{name} (not available)").format(name=name),
                "bad",
                explorer_items.format_client_message(number, name),
            )

    # --- rows ---------------------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """Current world."""
        assert self._world is not None, "nothing can be asked before `start`"
        return self._world

    def find_item(self, path: Path) -> QStandardItem | None:
        """Return the item at *path*, or None."""
        return next((item for item in self._iterate_items() if get_node(item).path == path), None)

    def find_request(self, index: QModelIndex) -> tuple[str, int] | None:
        """Return title and tick of the request whose answer contains this row, or None."""
        item = self.itemFromIndex(index)
        while item is not None:
            node = get_node(item)
            if node.requested_tick is not None:
                return node.title, node.requested_tick
            item = item.parent()
        return None

    def recolor(self, dark: bool) -> None:
        """Redraw the icons for the dark or the light theme."""
        self._dark = dark
        for item in self._iterate_items():
            node = get_node(item)
            item.setIcon(build_item_icon(node.kind, node.color_name, dark))

    def _iterate_items(self) -> Iterator[QStandardItem]:
        waiting = [self.item(index) for index in range(self.rowCount())]
        while waiting:
            item = waiting.pop()
            yield item
            waiting += [item.child(index) for index in range(item.rowCount())]

    def _build_folder_row(self, parent_path: Path, folder: ExplorerFolder) -> QStandardItem:
        title = explorer_items.format_folder_title(folder, self.world.instances[parent_path[0]])
        node = ExplorerNode((*parent_path, folder.name), "folder", folder.name, title, folder)
        row = self._build_row(node)
        if folder.list_items is None:
            node.is_loaded = True  # a folder of folders needs no request
            for inner in folder.folders:
                row.appendRow(self._build_folder_row(node.path, inner))
        else:
            # a placeholder row makes the folder expandable
            row.appendRow(self._build_row(ExplorerNode((*node.path, "nothing"), "problem", "nothing", "")))
        return row

    def _build_row(self, node: ExplorerNode, tip: str = "") -> QStandardItem:
        row = QStandardItem(build_item_icon(node.kind, node.color_name, self._dark), node.label)
        row.setEditable(False)
        row.setData(node, NODE_ROLE)
        row.setToolTip(escape_tip(tip))
        return row

    def _set_appearance(self, item: QStandardItem, label: str, color_name: str, tip: str) -> None:
        node = get_node(item)
        node.label, node.color_name = label, color_name
        item.setText(label)
        item.setToolTip(escape_tip(tip))
        item.setIcon(build_item_icon(node.kind, color_name, self._dark))


def get_node(item: QStandardItem) -> ExplorerNode:
    """Return the node of an item."""
    node: ExplorerNode = item.data(NODE_ROLE)
    return node
