"""Object Explorer panel: the tree, its context menus, and the age of the displayed answers."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHeaderView, QLabel, QMenu, QTreeView, QWidget

from app.view_models.topology_builder import HasWorld
from app.views.object_explorer import explorer_items, scripts
from app.views.object_explorer.properties import MirroringPropertiesDialog
from app.views.object_explorer.tree import NODE_ROLE, ExplorerModel, ExplorerNode, get_node
from app.widgets import keys, theme
from app.widgets.bars import ButtonBar, build_menu_button
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import make_selected_row_current
from app.words.language import mark, tr
from engine.events import Event, SqlDoneData, select_data
from engine.model import World

CONNECTION_SUFFIX: Final = "explorer"
"""Suffix in the names of the connections that run the tree's statements."""

SERVICE_ACTIONS: Final = (
    (mark("&Start"), "start-service"),
    (mark("S&top"), "stop-service"),
    (mark("&Restart"), "restart-service"),
)
AGENT_ACTIONS: Final = ((mark("&Start"), "start-agent"), (mark("S&top"), "stop-agent"))


INDENTATION_LINES: Final = 0.75
"""Indentation of a level in line heights.

It is small, so that a narrow dock shows the state after a database name.
"""


class ObjectExplorer(QWidget):
    """Tree of servers and their objects. Labels show the last answer until the user refreshes them."""

    requested = Signal(str)
    """Signal: input line without its time."""
    query_wanted = Signal(str, str)
    """Signal (server, text): open a query window on the server with this text, which may be empty."""
    log_wanted = Signal(str)
    """Signal: server whose ERRORLOG the user wants to read."""
    monitor_wanted = Signal(str, str)
    """Signal (server, database): open Database Mirroring Monitor."""
    dashboard_wanted = Signal(str, str)
    """Signal (server, availability group): open the Always On dashboard."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._error = ""
        self.pages: list[MirroringPropertiesDialog] = []
        """Open property pages."""
        self.tree = ExplorerModel(self)
        self.view = QTreeView()
        self.view.setModel(self.tree)
        # with SelectRows, Qt's accessibility bridge selects wrong rows
        self.view.setSelectionBehavior(QTreeView.SelectionBehavior.SelectItems)
        make_selected_row_current(self.view)
        # a name can be dragged into a query, as in Management Studio
        self.view.setDragDropMode(QTreeView.DragDropMode.DragOnly)
        self.view.setHeaderHidden(True)
        self.view.setAccessibleName(tr("Object Explorer"))
        self.view.setUniformRowHeights(True)
        # scroll horizontally, because a truncated state is useless
        self.view.header().setStretchLastSection(False)
        self.view.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setFocusProxy(self.view)
        self.age = QLabel(wordWrap=True, margin=6)
        self.tools = {
            "explorer.refresh": self._build_action(tr("Re&fresh"), self.refresh_current_server),
            "explorer.query": self._build_action(tr("&New query"), self._open_query),
            "explorer.properties": self._build_action(tr("&Mirroring…"), self._open_page),
        }
        """Actions by command name."""
        keys.bind_shortcuts(self.tools, keys.resolve_keys(keys.SSMS_SCHEME))
        self._lay_out()
        self._connect()
        self._show_theme()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)

    def _build_action(self, text: str, callback: Callable[[], object]) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda _=False: callback())
        self.addAction(action)
        return action

    def _lay_out(self) -> None:
        bar = ButtonBar(tr("Object Explorer"))
        bar.add_actions([self.tools["explorer.refresh"], self.tools["explorer.query"]])
        layout = build_row(
            (self.age, 1),
            build_menu_button(tr("Actions ▾"), tr("Actions for this row"), self._fill_button_menu),
            margins=(0, 0, 4, 0),
        )
        build_widget_column(bar, (self.view, 1), layout, parent=self, margins=0, spacing=0)

    def _connect(self) -> None:
        self.view.expanded.connect(self._on_expanded)
        self.view.collapsed.connect(lambda index: self.tree.opened.discard(index.data(NODE_ROLE).path))
        self.view.activated.connect(self._on_activated)
        self.view.customContextMenuRequested.connect(self._open_context_menu)
        self.view.selectionModel().currentChanged.connect(lambda *_: self._on_current_changed())
        self.tree.request_failed.connect(self._on_failed)
        self.tree.rows_added.connect(self._restore_expansion)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasWorld) -> None:
        """Show another run, or another time of the same run. Query every server again."""
        self._world = drill.world
        self._error = ""
        for page in list(self.pages):
            page.close()
        path = self._get_current_path()
        self.tree.rebuild(drill.world)
        self._select_path(path or (next(iter(drill.world.instances), ""),))
        self._show_age()

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        self.tree.show_world(world)
        for page in self.pages:
            page.show_world(world)
        self._show_age()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Handle the results of statements from this tree. Other events do not change it."""
        events = list(events)
        for page in self.pages:
            page.add_events(events)
        for _, done_data in select_data(events, SqlDoneData):
            if done_data.window.endswith(f"#{CONNECTION_SUFFIX}"):
                messages = [message for message in done_data.messages if message["severity"] > 10]
                self._error = f"Msg {messages[0]['number']}: {messages[0]['text']}" if messages else ""
                if not messages:
                    self._refresh_current_folder()
                self._show_age()

    # --- tree ---------------------------------------------------------------------------------------------

    def refresh_current_server(self) -> None:
        """Query the server of the current row again (F5)."""
        path = self._get_current_path()
        self._error = ""
        self.tree.refresh(self.view.currentIndex())
        self._select_path(path)
        self._show_age()

    @property
    def current_node(self) -> ExplorerNode | None:
        """Node of the current row, or None."""
        index = self.view.currentIndex()
        return index.data(NODE_ROLE) if index.isValid() else None

    def _get_current_path(self) -> tuple[str, ...]:
        return self.current_node.path if self.current_node is not None else ()

    def _select_path(self, path: tuple[str, ...]) -> None:
        """Select the row of *path*, or the nearest existing row above it."""
        while path:
            item = self.tree.find_item(path)
            if item is not None:
                self.view.setCurrentIndex(item.index())
                return
            path = path[:-1]

    def _on_expanded(self, index: QModelIndex) -> None:
        self.tree.opened.add(index.data(NODE_ROLE).path)
        self.tree.load_folder(index)

    def _restore_expansion(self) -> None:
        """Expand recreated rows that were expanded before."""
        for path in sorted(self.tree.opened, key=len):
            item = self.tree.find_item(path)
            if item is not None and not self.view.isExpanded(item.index()):
                self.view.expand(item.index())
        self._show_age()

    def _refresh_current_folder(self) -> None:
        item = self.tree.itemFromIndex(self.view.currentIndex())
        parent = item.parent() if item is not None else None
        if parent is not None and get_node(parent).folder is not None:
            path = self._get_current_path()
            self.tree.refresh(parent.index())
            self._select_path(path)

    def _on_failed(self, server: str, number: int) -> None:
        self._error = tr("Cannot connect to {server} (error {number}).").format(server=server, number=number)
        self.age.setToolTip(explorer_items.format_client_message(number, server))

    def _on_current_changed(self) -> None:
        node = self.current_node
        self.tools["explorer.query"].setEnabled(node is not None)
        self.tools["explorer.properties"].setEnabled(node is not None and node.kind == "database")
        self.tools["explorer.refresh"].setEnabled(node is not None)
        self._error = ""
        self._show_age()

    def _on_activated(self, index: QModelIndex) -> None:
        if index.data(NODE_ROLE).kind == "log":
            self.log_wanted.emit(index.data(NODE_ROLE).server)

    def _show_age(self) -> None:
        query = self.tree.find_request(self.view.currentIndex())
        colors = theme.get_theme_tokens(self.palette())
        if self._error:
            self.age.setStyleSheet(f"color: {colors.bad.name()}")
            self.age.setText(self._error)
        elif query is not None and self._world is not None:
            answer_kind, tick = query
            self.age.setToolTip(tr("F5 queries the server again"))
            self.age.setStyleSheet(f"color: {colors.muted.name()}")
            self.age.setText(
                tr("{what}, as of {ago}").format(
                    what=answer_kind, ago=explorer_items.format_age(tick, self._world.tick)
                )
            )
        else:
            self.age.clear()

    # --- context menu -------------------------------------------------------------------------------------

    def _open_context_menu(self, position: QPoint) -> None:
        index = self.view.indexAt(position)
        if index.isValid():
            self.view.setCurrentIndex(index)
        elif self.view.currentIndex().isValid():
            position = self.view.visualRect(
                self.view.currentIndex()
            ).bottomLeft()  # a key opened the menu, so it appears at the current row
        if self.current_node is not None:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.fill_menu(menu, self.current_node)
            menu.popup(self.view.viewport().mapToGlobal(position))

    def _fill_button_menu(self, menu: QMenu) -> None:
        """Fill the menu of the Actions button: Expand or Collapse, then the context menu of the row.

        Screen readers cannot expand rows otherwise.
        """
        index = self.view.currentIndex()
        if self.current_node is None:
            return
        if self.tree.hasChildren(index):
            is_open = self.view.isExpanded(index)
            menu.addAction(tr("&Collapse") if is_open else tr("E&xpand")).triggered.connect(
                lambda _=False: self.view.setExpanded(index, not is_open)
            )
            menu.addSeparator()
        self.fill_menu(menu, self.current_node)

    def fill_menu(self, menu: QMenu, node: ExplorerNode) -> None:
        """Fill *menu* with the commands for *node*, in the order of Management Studio."""
        server, name = node.server, node.name
        if node.kind not in ("log", "problem"):
            menu.addAction(self.tools["explorer.query"])
        self._add_scripts(menu, node)
        if node.kind == "database":
            tasks = menu.addMenu(tr("&Tasks"))
            tasks.addAction(self.tools["explorer.properties"])
            monitor = partial(self.monitor_wanted.emit, server, name)
            _add_actions(tasks, [(tr("Launch Database Mirroring M&onitor…"), monitor)])
        elif node.kind == "server":
            _add_actions(menu, self._build_verb_actions(SERVICE_ACTIONS, server))
            _add_actions(menu, [(tr("View SQL Server &Log"), partial(self.log_wanted.emit, server))])
        elif node.kind == "folder" and name == "agent":
            _add_actions(menu, self._build_verb_actions(AGENT_ACTIONS, server))
        elif node.kind == "job":
            _add_actions(menu, [
                (tr("&Start Job"), partial(self._send, server, scripts.script_start_job(name))),
                (tr("&Enable"), partial(self._send, server, scripts.script_enable_job(name, True))),
                (tr("&Disable"), partial(self._send, server, scripts.script_enable_job(name, False))),
            ])  # fmt: skip
        elif node.kind == "availability group":
            _add_actions(menu, [
                (tr("&Failover…"), partial(self.query_wanted.emit, server, scripts.script_failover(name))),
                (tr("Show &Dashboard"), partial(self.dashboard_wanted.emit, server, name)),
            ])  # fmt: skip
        elif node.kind == "availability database":
            _add_actions(menu, [
                (tr("&Suspend Data Movement…"),
                 partial(self._send, server, scripts.script_data_movement(name, "SUSPEND"))),
                (tr("&Resume Data Movement…"),
                 partial(self._send, server, scripts.script_data_movement(name, "RESUME"))),
            ])  # fmt: skip
        elif node.kind == "log":
            _add_actions(menu, [(tr("View SQL Server &Log"), partial(self.log_wanted.emit, server))])
        menu.addSeparator()
        menu.addAction(self.tools["explorer.refresh"])

    def _add_scripts(self, menu: QMenu, node: ExplorerNode) -> None:
        """Add the "Script as" menu.

        It needs data from the server, so it is omitted if the server does not respond.
        """
        if self._world is None or explorer_items.find_connection_error(self._world, node.server) is not None:
            return
        found_scripts = scripts.list_object_scripts(self._world, node.server, node.kind, node.name)
        if found_scripts:
            title = tr("Mirroring") if node.kind == "database" else node.kind.title()
            inner = menu.addMenu(tr("S&cript {title} as").format(title=title))
            _add_actions(
                inner,
                [
                    (words, partial(self.query_wanted.emit, node.server, text))
                    for words, text in found_scripts
                ],
            )

    def _build_verb_actions(
        self, verbs: Iterable[tuple[str, str]], server: str
    ) -> list[tuple[str, Callable[[], object]]]:
        return [(tr(words), partial(self.requested.emit, f"{verb} {server}")) for words, verb in verbs]

    def _send(self, server: str, statement: str) -> None:
        self.requested.emit(f"sql {server}#{CONNECTION_SUFFIX} {statement}")

    def _open_query(self) -> None:
        node = self.current_node
        if node is not None:
            use = f"USE {scripts.quote_name(node.name)}\nGO\n" if "database" in node.kind else ""
            self.query_wanted.emit(node.server, use)

    def _open_page(self) -> None:
        node = self.current_node
        if node is None or node.kind != "database" or self._world is None:
            return
        page = MirroringPropertiesDialog(node.server, node.name, self)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.requested.connect(self.requested)
        page.destroyed.connect(
            lambda _=None, page=page: self.pages.remove(page) if page in self.pages else None
        )
        self.pages.append(page)
        page.show_world(self._world)
        page.show()

    # --- appearance ---------------------------------------------------------------------------------------

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        height = self.fontMetrics().height()
        self.view.setIconSize(QSize(height, height))
        self.view.setIndentation(round(INDENTATION_LINES * height))
        self.tree.recolor(colors.dark)
        self.tools["explorer.refresh"].setIcon(theme.load_icon("retry", colors))
        self.tools["explorer.query"].setIcon(theme.load_icon("sql", colors))
        self._show_age()


def _add_actions(menu: QMenu, actions: Iterable[tuple[str, Callable[[], object]]]) -> None:
    """Add a separator if *menu* has actions, and an action for each (text, function)."""
    if menu.actions():
        menu.addSeparator()
    for text, do in actions:
        action = menu.addAction(text)
        action.triggered.connect(lambda _=False, do=do: do())
