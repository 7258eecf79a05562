"""Tabs of the query windows. The texts of closed windows can be reopened."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QIcon, QKeySequence, QPalette, QPixmap, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QMenu, QTabBar, QTabWidget, QToolButton, QWidget

from app.views.console.query import ConnectionStatus, QueryWindow
from app.views.console.shell import ShellWindow
from app.widgets import keys, theme
from app.widgets.bars import attach_menu
from app.widgets.layouts import build_row
from app.widgets.screen_reader import has_keyboard_focus
from app.words.language import tr
from engine import tsql
from engine.model import World
from engine.overrides import override

BUTTON_TOOLS: Final = ("run", "cancel", "parse", "text", "snippets", "history", "zoom")
"""Tools that have a button next to the tabs."""
OVERFLOW_ORDER: Final = ("text", "history", "snippets", "parse", "zoom")
"""Tools whose buttons move into an overflow menu if space is short, least used first."""


class ConsoleTool(Struct, frozen=True):
    """Tool of the console. Its shortcuts are in `app.widgets.keys` under `query.` plus its name."""

    name: str
    text: str
    icon: str
    callback: Callable[[], object]


def build_tool_actions(owner: QWidget, tools: Iterable[ConsoleTool]) -> dict[str, QAction]:
    """Return tool name -> action. The actions work while the focus is anywhere inside *owner*."""
    actions = {}
    for act in tools:
        action = actions[act.name] = QAction(act.text, owner)
        its_keys = keys.COMMANDS_BY_NAME[f"query.{act.name}"].ssms
        action.setShortcuts([QKeySequence(key) for key in its_keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        text = act.text.replace("&", "")
        action.setToolTip(f"{text} ({its_keys[0]})" if its_keys else text)
        action.setProperty("drawing", act.icon)  # "icon" is already a property of QAction
        action.triggered.connect(lambda _=False, do=act.callback: do())
        owner.addAction(action)
    actions["text"].setCheckable(True)
    actions["history"].setCheckable(True)
    update_tool_icons(actions, owner.palette())
    return actions


def update_tool_icons(actions: Mapping[str, QAction], palette: QPalette) -> None:
    """Set the icons of *actions* in the colors of the current theme."""
    for action in actions.values():
        if action.property("drawing"):
            action.setIcon(theme.load_icon(action.property("drawing"), theme.get_theme_tokens(palette)))


class ConsoleToolBar(QWidget):
    """Buttons next to the tabs. Rarely used buttons move into an overflow menu if space is short."""

    def __init__(self, actions: Mapping[str, QAction], new_menu: QMenu) -> None:
        super().__init__()
        self._actions = actions
        self.buttons = {name: QToolButton() for name in BUTTON_TOOLS}
        for name, button in self.buttons.items():
            button.setDefaultAction(actions[name])
        self.buttons["run"].setText(tr("Execute"))
        self.buttons["run"].setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.new = new_button = QToolButton()
        new_button.setAccessibleName(tr("New query"))
        new_button.setToolTip(tr("New query on another server (Ctrl+N: on the server of this window)"))
        self.more = QToolButton()
        self.more.setText("»")
        self.more.setToolTip(tr("More buttons"))
        self.more.setAccessibleName(tr("More buttons"))
        overflow_menu = QMenu(self)
        overflow_menu.aboutToShow.connect(lambda: self._fill_overflow_menu(overflow_menu))
        attach_menu(new_menu, new_button)
        attach_menu(overflow_menu, self.more)
        build_row(*self.buttons.values(), self.more, new_button, parent=self, margins=(2, 0, 2, 0), spacing=0)
        self.more.hide()

    def shrink_to(self, max_width_px: int) -> None:
        """Shrink to at most *max_width_px* pixels, if possible."""
        height = self.fontMetrics().height()
        for button in self.buttons.values():
            button.setIconSize(QSize(height, height))
            button.show()
        self.more.hide()
        self.new.setText(tr("New query ▾"))
        for name in OVERFLOW_ORDER:
            if self.sizeHint().width() <= max_width_px:
                return
            self.more.show()
            self.buttons[name].hide()
        if self.sizeHint().width() > max_width_px:
            self.new.setText("+ ▾")

    def _fill_overflow_menu(self, menu: QMenu) -> None:
        menu.clear()
        menu.addActions([self._actions[name] for name, button in self.buttons.items() if button.isHidden()])


class TabCloseButton(QToolButton):
    """Close button of a tab."""

    def __init__(self) -> None:
        super().__init__()
        self.setIconSize(QSize(10, 10))
        self.setToolTip(tr("Close this window (Ctrl+F4)"))
        self.setAccessibleName(tr("Close this window"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_theme()
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._show_theme)

    def _show_theme(self) -> None:
        self.setIcon(theme.load_icon("close", theme.get_theme_tokens(self.palette())))


BUTTONS_WIDTH_SHARE_MIN: Final = 0.45
"""Minimum width of the tool buttons next to the tabs, as a share of the total width.

The number of tabs does not change it.
"""
CLOSED_TEXTS_MAX: Final = 10
"""Maximum number of texts of closed windows that can be reopened."""


class ClosedWindow(Struct, frozen=True):
    """Server and text of a closed window."""

    server: str
    text: str
    drill: str = ""
    """Title of the drill, if the window belongs to another run."""


def parse_server_name(window: str) -> str:
    """Return the server of a window name, for example SERVER_A of SERVER_A#2."""
    return window.partition("#")[0]


class QueryTabs(QTabWidget):
    """Tabs with query windows, titled with their names in input lines, and PowerShell windows."""

    window_opened = Signal(object)
    shell_opened = Signal(object)
    """Signal: new PowerShell window."""
    window_closing = Signal(object)
    """Signal: the window is about to be removed."""
    drafts_changed = Signal()
    text_closed = Signal(str)
    """Signal: name of a closed window that had text. `reopen_window(0)` restores it."""
    close_wanted = Signal(object)
    """Signal: query window whose close button was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self.closed: list[ClosedWindow] = []
        """Texts of closed windows, of this or other runs, the latest first."""
        self._paused = False
        self._tells_waits = True
        self._files: dict[str, str] = {}
        """Window -> name of the file from which its text was read or to which it was saved."""
        self.setMovable(True)
        self.setDocumentMode(True)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        theme.call_after_events(self, theme.FONT_EVENTS, self._lay_out_bar)

    # --- windows ------------------------------------------------------------------------------------------

    @property
    def front_window(self) -> QueryWindow | None:
        """Query window in front, or None."""
        front = self.currentWidget()
        return front if isinstance(front, QueryWindow) else None

    @property
    def front_shell(self) -> ShellWindow | None:
        """PowerShell window in front, or None."""
        front = self.currentWidget()
        return front if isinstance(front, ShellWindow) else None

    def list_windows(self) -> list[QueryWindow]:
        """Return all query windows."""
        pages = (self.widget(index) for index in range(self.count()))
        return [page for page in pages if isinstance(page, QueryWindow)]

    def list_shells(self) -> list[ShellWindow]:
        """Return all PowerShell windows."""
        pages = (self.widget(index) for index in range(self.count()))
        return [page for page in pages if isinstance(page, ShellWindow)]

    def get_shell(self, node: str) -> ShellWindow:
        """Return the PowerShell window on *node*. Open it if necessary."""
        window = next((shell for shell in self.list_shells() if shell.server == node), None)
        if window is not None:
            return window
        shell = ShellWindow(node)
        index = self.addTab(shell, f"{node} – PowerShell")
        close = TabCloseButton()
        close.clicked.connect(lambda: self.close_shell(shell))
        self.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        self.shell_opened.emit(shell)
        return shell

    def close_shell(self, shell: ShellWindow) -> None:
        """Close a PowerShell window, which contains no text that could be lost."""
        had_keys = has_keyboard_focus(shell)
        self.removeTab(self.indexOf(shell))
        shell.deleteLater()
        if had_keys:
            self.focus_front_window()

    def focus_front_window(self) -> None:
        """Focus the front window."""
        if self.front_window is not None:
            self.front_window.editor.setFocus()
        elif self.front_shell is not None:
            self.front_shell.line.setFocus()

    def find_window(self, name: str) -> QueryWindow | None:
        """Return the query window *name*, or None if it is not open."""
        return next((window for window in self.list_windows() if window.window_id == name), None)

    def open_on_server(self, server: str, text: str = "") -> QueryWindow:
        """Open another window on *server* with the first unused window name, and return it."""
        used = {window.window_id for window in self.list_windows()}
        numbers = (f"{server}#{number}" if number > 1 else server for number in range(1, len(used) + 2))
        return self.open_window(next(name for name in numbers if name not in used), text)

    def open_window(self, name: str, text: str, take_focus: bool = True) -> QueryWindow:
        """Open the window *name* with *text* in front and return it.

        Focus its editor if *take_focus* is True.
        """
        window = QueryWindow(name, lambda text, position: self._list_completions(name, text, position))
        window.editor.setPlainText(text)
        window.text_changed.connect(self.drafts_changed)
        index = self.addTab(window, self.build_tab_icon(window), name)
        close = TabCloseButton()
        close.clicked.connect(lambda: self.close_wanted.emit(window))
        self.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        self.setCurrentIndex(index)
        if self._world is not None:
            window.show_connection(self._get_connection(window, self._world))
        if take_focus:
            window.editor.setFocus()
        self.window_opened.emit(window)
        self.drafts_changed.emit()
        return window

    def close_window(self, window: QueryWindow) -> None:
        """Close a window and focus the new front window. The text can be reopened."""
        had_keys = has_keyboard_focus(window)
        text = window.editor.toPlainText()
        self.window_closing.emit(window)
        if text.strip():
            self.store_closed_windows([ClosedWindow(window.server, text)])
        self._remove(window)
        if had_keys:
            self.focus_front_window()
        self.drafts_changed.emit()
        if text.strip():
            self.text_closed.emit(window.window_id)

    def show_file_name(self, window: QueryWindow, file: str) -> None:
        """Show the name of the opened or saved file in the tab."""
        self._files[window.window_id] = file
        self.setTabText(self.indexOf(window), f"{file} – {window.window_id}")
        window.editor.document().setModified(False)
        self._lay_out_bar()

    def change_connection(self, window: QueryWindow, server: str) -> QueryWindow:
        """Replace *window* by a new window on *server* with the same tab position and text, and return it.

        The old connection is closed. Cursor and selection stay, so that the selected text can be executed on
        the new server.
        """
        position, text = self.indexOf(window), window.editor.toPlainText()
        old_cursor = window.editor.textCursor()
        self.window_closing.emit(window)
        self._remove(window)
        new_window = self.open_on_server(server, text)
        cursor = new_window.editor.textCursor()
        cursor.setPosition(old_cursor.anchor())
        cursor.setPosition(old_cursor.position(), QTextCursor.MoveMode.KeepAnchor)
        new_window.editor.setTextCursor(cursor)
        self.tabBar().moveTab(self.indexOf(new_window), position)
        new_window.editor.setFocus()
        return new_window

    def list_connection_targets(self, window: QueryWindow) -> list[str]:
        """Return connection strings for the server of *window* and for each listener.

        Each appears with and without read intent.
        """
        world = self._world
        if world is None or not world.listeners:
            return []
        window_state = world.sessions.get(window.window_id)
        session = window_state.session if window_state is not None else None
        grouped = sorted({database for group in world.groups.values() for database in group.databases})
        used = session.database if session is not None else ""
        database = used if used in grouped else grouped[0]
        own_address = f"Server={window.server}"
        strings = [own_address, f"{own_address};Database={database};ApplicationIntent=ReadOnly"]
        for listener in sorted(world.listeners):
            listener_address = f"Server={listener};Database={database}"
            strings += [listener_address, f"{listener_address};ApplicationIntent=ReadOnly"]
        return strings

    def reopen_window(self, number: int) -> None:
        """Reopen a closed window. If this run lacks the window's server, use the first server.

        *number*: index in the list of closed windows.
        """
        window = self.closed.pop(number)
        servers = list(self._world.instances) if self._world is not None else []
        if servers:
            self.open_on_server(window.server if window.server in servers else servers[0], window.text)

    def store_closed_windows(self, closed: Sequence[ClosedWindow]) -> None:
        """Store the texts of closed windows for reopening. Of equal texts, keep only the newest."""
        other_windows = [
            window for window in self.closed if all(window.text != new_window.text for new_window in closed)
        ]
        self.closed = [*closed, *other_windows][:CLOSED_TEXTS_MAX]

    def show_adjacent_window(self, offset: int = 1) -> None:
        """Show the next tab, or the previous tab if *offset* is −1."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + offset) % self.count())
            self.focus_front_window()

    def _remove(self, window: QueryWindow) -> None:
        self._files.pop(window.window_id, None)
        self.removeTab(self.indexOf(window))
        window.deleteLater()

    # --- texts --------------------------------------------------------------------------------------------

    def list_drafts(self) -> dict[str, str]:
        """Return window name -> text of the open windows."""
        return {window.window_id: window.editor.toPlainText() for window in self.list_windows()}

    def show_drafts(self, drafts: Mapping[str, str], servers: Container[str]) -> None:
        """Replace all windows by windows with the texts of *drafts*.

        Omit windows whose server is not in *servers*.
        """
        for window in self.list_windows():
            self._remove(window)
        for shell in self.list_shells():
            self.close_shell(shell)
        for name, text in drafts.items():
            if parse_server_name(name) in servers:
                self.open_window(name, text, take_focus=False)
        if self.count():
            self.setCurrentIndex(0)

    def close_other_servers(self, servers: Container[str]) -> None:
        """Close the windows of servers that are not in *servers*. Their texts can be reopened."""
        for window in [window for window in self.list_windows() if window.server not in servers]:
            if window.editor.toPlainText().strip():
                self.store_closed_windows([ClosedWindow(window.server, window.editor.toPlainText())])
            self._remove(window)
        for shell in self.list_shells():
            if self._world is None or shell.server not in self._world.nodes:
                self.close_shell(shell)

    # --- state of the world -------------------------------------------------------------------------------

    def set_world(self, world: World) -> None:
        """Set the current world, which completion and connections use."""
        self._world = world

    def show_waits(self, visible: bool) -> None:
        """Set whether the windows show the wait of a batch.

        In an exam, only the server's system views show waits.
        """
        self._tells_waits = visible

    def show_world(self, world: World) -> None:
        """Update the connections and the elapsed time of waiting batches."""
        self._world = world
        for window in self.list_windows():
            window.show_connection(self._get_connection(window, world))
            window.show_time(world.tick)

    def show_running(self, running: bool) -> None:
        """Set whether the clock runs. While it is paused, the windows say that no result can arrive."""
        self._paused = not running
        if self._world is not None:
            self.show_world(self._world)

    def _get_connection(self, window: QueryWindow, world: World) -> ConnectionStatus:
        window_state = world.sessions.get(window.window_id)
        session = window_state.session if window_state is not None else None
        run = world.batches.get(window.window_id) if self._tells_waits else None
        copies = sorted(database for server, database in world.copies if server == window.server)
        source = window_state.target.source if window_state is not None else ""
        return ConnectionStatus(
            server=f"{source} → {session.server}" if session and source in world.listeners else window.server,
            server_number=self._get_number(window.server),
            version=world.instances[window.server].version,
            login=f"{session.login} ({session.spid})" if session else "",
            database=session.database if session else "",
            databases=("master", *copies),
            paused=self._paused,
            wait=run.waiting if run is not None else "",
            blockers=run.blocked[0] if run is not None and run.waiting == "lock" else (),
        )

    def _list_completions(self, window: str, text: str, position: int) -> list[str]:
        return tsql.list_candidates(self._world, window, text, position) if self._world is not None else []

    # --- appearance ---------------------------------------------------------------------------------------

    def update_tab_icon(self, window: QueryWindow) -> None:
        """Update the tab's icon: a square in the server's color, or the symbol of a running query."""
        self.setTabIcon(self.indexOf(window), self.build_tab_icon(window))

    def build_tab_icon(self, window: QueryWindow) -> QIcon:
        """Return the icon of a tab."""
        if window.is_busy:
            return QIcon(
                theme.render_pixmap("play", self.get_server_color(window.server, self.palette()), 16)
            )
        return self.build_server_icon(window.server)

    def build_server_icon(self, server: str) -> QIcon:
        """Return an icon with a square in the server's color."""
        mark = QPixmap(12, 12)
        mark.fill(self.get_server_color(server, self.palette()))
        return QIcon(mark)

    def get_server_color(self, server: str, palette: QPalette) -> QColor:
        """Return the color of a server."""
        return theme.get_theme_tokens(palette).get_server_color(self._get_number(server))

    def _get_number(self, server: str) -> int:
        names = list(self._world.instances) if self._world is not None else []
        return names.index(server) if server in names else 0

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        bar = self.cornerWidget(Qt.Corner.TopRightCorner)
        if isinstance(bar, ConsoleToolBar):
            bar.shrink_to(
                max(
                    self.width() - self.tabBar().sizeHint().width(),
                    round(BUTTONS_WIDTH_SHARE_MIN * self.width()),
                )
            )
        super().resizeEvent(event)

    @override
    def tabInserted(self, index: int) -> None:
        super().tabInserted(index)
        self._lay_out_bar()

    @override
    def tabRemoved(self, index: int) -> None:
        super().tabRemoved(index)
        self._lay_out_bar()

    def _lay_out_bar(self) -> None:
        """Lay out the button bar in the space next to the tabs. Qt does this only when the size changes."""
        self.resizeEvent(QResizeEvent(self.size(), self.size()))
