"""The SQL windows: tabs bound to servers, their tools, and the way of a batch to the engine and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import QDialog, QMenu, QSplitter, QTabBar, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.views.console import snippets
from app.views.console.history import Entry, History
from app.views.console.outcome import from_event
from app.views.console.query import Connection, QueryWindow
from app.views.console.tools import Act, build_actions, build_bar, close_button, show_icons
from engine import tsql
from engine.events import Event
from engine.inputs import Input, parse_line
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.drill import Drill

CLOSED_KEPT: Final = 10
"""Texts of closed windows that can be had back."""


class Console(QWidget):
    """Query windows on any server of the drill."""

    requested = Signal(str)
    """One input line without its time."""
    drafts_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._sent: dict[str, str] = {}
        """Window: the batch that it has sent and whose start is not yet told."""
        self._sending = ""
        """Window whose batch is on its way at this moment."""
        self._entries: dict[str, Entry] = {}
        """Window: the batch that runs in it."""
        self._closed: list[tuple[str, str]] = []
        self._elsewhere: dict[str, str] = {}
        """Window: text of windows whose server this drill does not have."""
        self._as_text = False
        self.tabs = QTabWidget()
        self.tabs.setMovable(True)
        self.tabs.setDocumentMode(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.currentChanged.connect(lambda _: self._refresh_actions())
        self.history = History()
        self.history.hide()
        self.history.chosen.connect(self._open_text)
        self.history.again.connect(self._run_text)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.tabs)
        split.addWidget(self.history)
        split.setSizes([600, 320])
        split.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(split)
        self._new_menu = QMenu(self)
        self._new_menu.aboutToShow.connect(self._fill_new_menu)
        self._snippet_menu = snippets.menu(self._insert, self)
        self.tools = build_actions(self, self._acts())
        """Every tool by its name: the actions that menus and the palette of the main window may show, too."""
        self._bar = build_bar(self.tools, self._new_menu)
        self.tabs.setCornerWidget(self._bar, Qt.Corner.TopRightCorner)
        self._refresh_actions()

    # --- contract of views --------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """A new run, or the same at another moment: texts stay, what was shown of a lost future goes."""
        self._world = drill.world
        self._put_away(drill.world.servers)
        for window in self.windows():
            window.forget()
        self._sent.clear()
        self._entries.clear()
        self.history.replace([])
        self._replay(drill)
        if not self.windows():
            self.new_query(next(iter(drill.world.servers), None))
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        self._world = world
        for window in self.windows():
            window.show_connection(self._connection(window))
            window.show_time(world.tick)

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.kind == "sql":
                self._started(event)
            elif event.kind == "sql_done":
                self._ended(event)

    # --- windows ------------------------------------------------------------------------------------------

    def windows(self) -> list[QueryWindow]:
        return [self.window_at(index) for index in range(self.tabs.count())]

    def window_at(self, index: int) -> QueryWindow:
        window = self.tabs.widget(index)
        assert isinstance(window, QueryWindow)
        return window

    @property
    def current(self) -> QueryWindow | None:
        """The query window in front."""
        return self.window_at(self.tabs.currentIndex()) if self.tabs.count() else None

    def new_query(self, server: str | None, text: str = "") -> QueryWindow | None:
        """Open one more window on *server*, with *text* in it; nothing happens without a server."""
        if server is None:
            return None
        used = {window.window_id for window in self.windows()}
        numbers = (f"{server}#{number}" if number > 1 else server for number in range(1, len(used) + 2))
        return self._open_window(next(name for name in numbers if name not in used), text)

    def close_window(self, window: QueryWindow) -> None:
        """Close it; a running batch is cancelled, the text can be had back from the menu of new queries."""
        if window.busy:
            self.requested.emit(f"cancel {window.window_id}")
        if window.editor.toPlainText().strip():
            self._closed = [(window.server, window.editor.toPlainText()), *self._closed][:CLOSED_KEPT]
        self.tabs.removeTab(self.tabs.indexOf(window))
        window.deleteLater()
        self.drafts_changed.emit()

    def drafts(self) -> dict[str, str]:
        """Window: its text, for all windows that are open, and those that wait for a drill with their server."""
        texts = {window.window_id: window.editor.toPlainText() for window in self.windows()}
        return {**self._elsewhere, **texts}

    def restore_drafts(self, drafts: dict[str, str]) -> None:
        """Open these windows with their texts; windows that are open get the text that was kept."""
        front = self.current
        servers = self._world.servers if self._world is not None else None
        for name, text in drafts.items():
            if servers is not None and name.partition("#")[0] not in servers:
                self._elsewhere[name] = text
                continue
            window = self._window(name) or self._open_window(name, "")
            if window.editor.toPlainText() != text:
                window.editor.setPlainText(text)
        if front is not None:
            self.tabs.setCurrentWidget(front)

    def _put_away(self, servers: Mapping[str, Any]) -> None:
        """Windows of servers that this drill does not have wait; those that waited for one of *servers* return."""
        for window in self.windows():
            if window.server not in servers:
                self._elsewhere[window.window_id] = window.editor.toPlainText()
                self.tabs.removeTab(self.tabs.indexOf(window))
                window.deleteLater()
        for name in [name for name in self._elsewhere if name.partition("#")[0] in servers]:
            self._open_window(name, self._elsewhere.pop(name))

    def _open_window(self, name: str, text: str) -> QueryWindow:
        window = QueryWindow(name, lambda text, position: self._complete(name, text, position))
        window.editor.setPlainText(text)
        window.results.show_as_text(self._as_text)
        window.text_changed.connect(self.drafts_changed)
        index = self.tabs.addTab(window, self._icon(window), name)
        close = close_button(self.palette())
        close.clicked.connect(lambda: self.close_window(window))
        self.tabs.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, close)
        self.tabs.setCurrentIndex(index)
        if self._world is not None:
            window.show_connection(self._connection(window))
        window.editor.setFocus()
        self.drafts_changed.emit()
        self._refresh_actions()
        return window

    def _window(self, name: str) -> QueryWindow | None:
        return next((window for window in self.windows() if window.window_id == name), None)

    def _open_text(self, name: str, text: str) -> None:
        window = self._window(name)
        if window is None:
            self.new_query(name.partition("#")[0], text)
        else:
            self.tabs.setCurrentWidget(window)
            window.editor.replace_all(text)
            window.editor.setFocus()

    # --- a batch's way ------------------------------------------------------------------------------------

    def run(self) -> None:
        window = self.current
        if window is not None and not window.busy and window.editor.chosen_text.strip():
            self._send(window, window.editor.chosen_text)

    def parse(self) -> None:
        window = self.current
        if window is not None and not window.busy and window.editor.chosen_text.strip():
            window.parsed(tsql.parse_only(window.editor.chosen_text))

    def cancel(self) -> None:
        window = self.current
        if window is not None and window.busy:
            self.requested.emit(f"cancel {window.window_id}")

    def _run_text(self, name: str, text: str) -> None:
        """Run *text* where it ran before, or in a new window if that is closed or busy."""
        window = self._window(name)
        if window is None or window.busy:
            window = self.new_query(name.partition("#")[0], text)
        if window is not None:
            self._send(window, text)

    def _send(self, window: QueryWindow, text: str) -> None:
        line = Input(0, "sql", (window.window_id, text.strip("\n"))).words
        self._sent[window.window_id] = parse_line(line).args[1]  # as the engine will tell it
        window.sent()
        self._refresh(window)
        self._sending = window.window_id
        self.requested.emit(line)
        self._sending = ""

    def _started(self, event: Event) -> None:
        name = event.get("window")
        if self._sent.get(name) != event.text:
            return  # of the scenario or of somebody else: nothing that this desk has asked for
        del self._sent[name]
        entry = self._entries[name] = Entry(event.tick, name, event.text, event.get("batch"))
        self.history.append(entry)
        window = self._window(name)
        if window is not None:
            window.running(event.tick)
            self._refresh(window)

    def _ended(self, event: Event) -> None:
        entry = self._entries.get(event.get("window"))
        if entry is None or entry.run != event.get("run"):
            return
        del self._entries[entry.window]
        entry.outcome = from_event(event)
        self.history.refresh()
        window = self._window(entry.window)
        if window is not None:
            window.ended(entry.outcome)
            self._refresh(window)

    @Slot(str)
    def show_refusal(self, why: str) -> None:
        """The line that was just asked for could not be done; it may have been a batch of ours."""
        window = self._window(self._sending)
        if window is not None and self._sent.pop(self._sending, None) is not None:
            window.refused(why)
            self._refresh(window)

    def _replay(self, drill: Drill) -> None:
        """Fill the history, and each window with what it showed last, from what has happened so far."""
        mine = Counter(item.args for item in drill.journal if item.verb == "sql")
        for event in drill.events:
            batch = (event.get("window"), event.text)
            if event.kind == "sql" and mine[batch]:
                mine[batch] -= 1
                self._sent[batch[0]] = batch[1]
            self.add_events([event])

    # --- tools --------------------------------------------------------------------------------------------

    def show_as_text(self, yes: bool) -> None:
        """Results to text (Ctrl+T) or to a grid (Ctrl+D), in every window."""
        self._as_text = yes
        for window in self.windows():
            window.results.show_as_text(yes)
        self._refresh_actions()

    def _acts(self) -> Iterator[Act]:
        yield Act("run", "&Execute", "play", ("F5", "Ctrl+E", "Ctrl+Shift+E", "Alt+X"), self.run)
        yield Act("cancel", "&Cancel the query", "stop", ("Alt+Pause", "Alt+Cancel", "Esc"), self.cancel)
        yield Act("parse", "&Parse, without running it", "check", ("Ctrl+F5",), self.parse)
        yield Act("new", "&New query on this server", "", ("Ctrl+N",), self._new_here)
        yield Act("text", "Results to &text", "text", ("Ctrl+T",), lambda: self.show_as_text(True))
        yield Act(
            "grid", "Results to &grid", "grid", ("Ctrl+D", "Ctrl+Shift+D"), lambda: self.show_as_text(False)
        )
        yield Act("results", "&Show or hide results", "", ("Ctrl+R",), self._with_current("toggle_results"))
        yield Act("focus", "Next pane", "", ("F6", "Shift+F6"), self._with_current("cycle_focus"))
        yield Act("places", "Fill in template &parameters…", "", ("Ctrl+Shift+M",), self._fill_places)
        yield Act("snippets", "&Insert a statement", "snippet", ("Ctrl+Alt+T",), self._pop_snippets)
        yield Act("history", "&History of batches", "history", ("Ctrl+Alt+H",), self._toggle_history)
        yield Act("next", "Next window", "", ("Ctrl+F6",), self._next_window)
        yield Act("close", "C&lose window", "", ("Ctrl+F4",), self._close_current)

    def _new_here(self) -> None:
        if self.current is not None:
            self.new_query(self.current.server)
        elif self._world is not None:
            self.new_query(next(iter(self._world.servers), None))

    def _fill_new_menu(self) -> None:
        self._new_menu.clear()
        for server in self._world.servers if self._world is not None else ():
            action = self._new_menu.addAction(self._square(server), server)
            action.triggered.connect(lambda _=False, server=server: self.new_query(server))
        if self._closed:
            self._new_menu.addSection("Closed windows")
        for number, (server, text) in enumerate(self._closed):
            first = text.strip().splitlines()[0]
            action = self._new_menu.addAction(self._square(server), f"{server}: {first[:50]}")
            action.triggered.connect(lambda _=False, number=number: self._reopen(number))

    def _reopen(self, number: int) -> None:
        server, text = self._closed.pop(number)
        self.new_query(server, text)

    def _pop_snippets(self) -> None:
        below = self._bar.mapToGlobal(self._bar.rect().bottomLeft())
        self._snippet_menu.popup(below)

    def _insert(self, text: str) -> None:
        if self.current is None:
            self._new_here()
        if self.current is not None:
            self.current.editor.insert_snippet(text)

    def _fill_places(self) -> None:
        window = self.current
        wanted = snippets.places(window.editor.toPlainText()) if window is not None else []
        if window is None or not wanted:
            return
        dialog = snippets.PlacesDialog(wanted, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            window.editor.replace_all(snippets.filled(window.editor.toPlainText(), dialog.values))
        dialog.deleteLater()

    def _toggle_history(self) -> None:
        self.history.setVisible(self.history.isHidden())
        if self.history.isVisible():
            self.history.table.setFocus()
        self._refresh_actions()

    def _next_window(self) -> None:
        if self.tabs.count():
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())
            self.window_at(self.tabs.currentIndex()).editor.setFocus()

    def _close_current(self) -> None:
        if self.current is not None:
            self.close_window(self.current)

    def _with_current(self, method: str) -> Callable[[], None]:
        return lambda: getattr(self.current, method)() if self.current is not None else None

    # --- looks --------------------------------------------------------------------------------------------

    def _refresh(self, window: QueryWindow) -> None:
        self.tabs.setTabIcon(self.tabs.indexOf(window), self._icon(window))
        self._refresh_actions()

    def _refresh_actions(self) -> None:
        window = self.current
        self.tools["run"].setEnabled(window is not None and not window.busy)
        self.tools["parse"].setEnabled(window is not None and not window.busy)
        self.tools["cancel"].setEnabled(window is not None and window.busy)
        self.tools["text"].setChecked(self._as_text)
        self.tools["history"].setChecked(not self.history.isHidden())

    def _icon(self, window: QueryWindow) -> QIcon:
        if window.busy:
            return QIcon(theme.pixmap("play", self._colour(window.server), 16))
        return self._square(window.server)

    def _square(self, server: str) -> QIcon:
        """A mark in the server's colour."""
        mark = QPixmap(12, 12)
        mark.fill(self._colour(server))
        return QIcon(mark)

    def _colour(self, server: str) -> QColor:
        return theme.tokens(self.palette()).server(self._number(server))

    def _number(self, server: str) -> int:
        names = list(self._world.servers) if self._world is not None else []
        return names.index(server) if server in names else 0

    def _connection(self, window: QueryWindow) -> Connection:
        assert self._world is not None
        there = self._world.servers[window.server]
        kept = self._world.sessions.get(window.window_id)
        session = kept.session if kept is not None else None
        return Connection(
            server=window.server,
            number=self._number(window.server),
            version=there.version,
            login=f"{session.login} ({session.spid})" if session else "",
            database=session.database if session else "",
        )

    def _complete(self, window: str, text: str, position: int) -> list[str]:
        return tsql.complete(self._world, window, text, position) if self._world is not None else []

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            show_icons(self.tools, self.palette())
            for window in self.windows():
                self._refresh(window)
