"""Console: tabs with SQL windows, their tools, and the exchange of batches with the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QMenu, QSplitter, QWidget

from app.views.console import history
from app.views.console.history import QueryHistory
from app.views.console.outcome import (
    QUERY_WINDOW_PATTERN,
    BatchOutcome,
    TraineeBatchFilter,
    summarize_outcome,
)
from app.views.console.query import QueryWindow
from app.views.console.shell import ShellWindow
from app.views.console.tabs import (
    ClosedWindow,
    ConsoleTool,
    ConsoleToolBar,
    QueryTabs,
    build_tool_actions,
    parse_server_name,
    update_tool_icons,
)
from app.widgets import theme
from app.widgets.layouts import build_widget_column
from app.widgets.screen_reader import forward_focus
from app.widgets.shared_actions import add_heading
from app.words.language import tr
from engine import tsql
from engine.drill.time.event_log import select_events
from engine.events import Event, SqlData, SqlDoneData
from engine.inputs import Input, InputError
from engine.model import World
from engine.overrides import override
from engine.verbs.input_lines import parse_input_line

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill


EDITOR_MENU_TOOLS: Final = ("run", "parse", "cancel", "connection", "zoom")
"""Tools in the context menu of the editor."""
SIDE_BY_SIDE_MIN_LINES: Final = 52.0
"""Minimum width in line heights to show query windows and history side by side."""


class QueryConsole(QWidget):
    """View with query windows for the servers of the drill and PowerShell windows for its nodes."""

    requested = Signal(str)
    """Signal: an input line without its time."""
    drafts_changed = Signal()
    message_ready = Signal(str)
    """Signal: reason why a key had no effect, if no query window can show it."""
    result_expected = Signal()
    """Signal: the result of an input from the command line will appear in this view."""
    busy_close_wanted = Signal(object)
    """Signal: the user wants to close a window whose query still runs.

    The owner asks for confirmation and closes the window.
    """
    zoom_wanted = Signal()
    file_wanted = Signal(str)
    """Signal: file operation of the front window: "open" a script, "save" the text, or save the "results"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._drill: Drill | None = None
        self._batches = TraineeBatchFilter()
        self._sending = ""
        """Window whose batch or `ps` line is being sent now."""
        self._as_text = False
        self.tabs = QueryTabs()
        self.tabs.currentChanged.connect(lambda _: self._refresh_actions())
        self.tabs.window_opened.connect(self._connect_window)
        self.tabs.shell_opened.connect(lambda shell: shell.requested.connect(self._send_to_shell))
        self.tabs.window_closing.connect(self._on_closing)
        self.tabs.drafts_changed.connect(self.drafts_changed)
        self.tabs.close_wanted.connect(self._request_close)
        self.history = QueryHistory()
        self.history.hide()
        self.history.batch_chosen.connect(self._open_text)
        self.history.rerun_wanted.connect(self._run_text)
        self.history.close_wanted.connect(self._toggle_history)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self.tabs)
        split.addWidget(self.history)
        split.setSizes([600, 320])
        split.setChildrenCollapsible(False)
        build_widget_column(split, parent=self, margins=0)
        self._new_menu = QMenu(self)
        self._new_menu.setObjectName("new")
        self._new_menu.aboutToShow.connect(self._fill_new_menu)
        self._server_menu = QMenu(self)
        self._server_menu.setObjectName("servers")
        self._snippet_menu = history.build_snippet_menu(self._insert, self)
        self.tools = build_tool_actions(self, self._list_tools())
        """Tools by name, also for menus and the palette of the main window."""
        self._bar = ConsoleToolBar(self.tools, self._new_menu)
        self.tabs.setCornerWidget(self._bar, Qt.Corner.TopRightCorner)
        self._refresh_actions()
        theme.call_after_events(self, theme.SIZE_EVENTS, self._arrange_history)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        """Show the run at another time. Keep the texts, but remove results that are later than this time."""
        self._world, self._drill = drill.world, drill
        self._batches = TraineeBatchFilter(drill.journal)
        self.tabs.set_world(drill.world)
        self.tabs.show_waits(drill.permissions.shows_truth)
        self.tabs.close_other_servers(drill.world.instances)
        for window in self.list_windows():
            window.clear_results()
            self._refresh(window)
        for shell in self.tabs.list_shells():
            shell.clear()
        self.history.show_batches([])
        self._apply_events(select_events(drill.events, "sql", "sql_done"))
        self._show_shell_output(select_events(drill.events, "powershell"))
        first_instance = next(iter(drill.world.instances), None)
        if not self.list_windows() and first_instance is not None:
            self.tabs.open_window(first_instance, "", take_focus=False)
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        self.tabs.show_world(world)

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Show the batches and PowerShell output that *events* report."""
        of_console = [event for event in events if event.kind in ("sql", "sql_done", "powershell")]
        self._apply_events(event for event in of_console if event.kind != "powershell")
        self._show_shell_output(event for event in of_console if event.kind == "powershell")

    def _show_shell_output(self, events: Iterable[Event]) -> None:
        """Show PowerShell output in the open windows."""
        shells = {shell.server: shell for shell in self.tabs.list_shells()}
        for event in events:
            if event.server in shells:
                shells[event.server].show_output(event)

    def _apply_events(self, events: Iterable[Event]) -> None:
        """Show the last result of each window, and add all batches to the history."""
        outcomes: dict[str, BatchOutcome] = {}
        running: dict[str, int] = {}
        for event in events:
            if isinstance(event.data, SqlData):
                started = self._batches.record_start(event, event.data)
                if started is not None:
                    self.history.add_batch(started)
                    running[started.window] = started.tick
            elif isinstance(event.data, SqlDoneData):
                batch = self._batches.finish_batch(event, event.data)
                if batch is not None and batch.outcome is not None:
                    running.pop(batch.window, None)
                    outcomes[batch.window] = batch.outcome
                    batch.outcome = summarize_outcome(batch.outcome)
        if outcomes:
            self.history.update_rows()
        for name in {**outcomes, **running}:
            window = self.tabs.find_window(name)
            if window is None:
                continue
            if name in outcomes:
                window.show_finished(outcomes[name])
            if name in running:
                window.show_running(running[name])
            self._refresh(window)

    # --- windows ------------------------------------------------------------------------------------------

    @property
    def front_window(self) -> QueryWindow | None:
        """Query window in front, or None."""
        return self.tabs.front_window

    def list_windows(self) -> list[QueryWindow]:
        """Return the open query windows."""
        return self.tabs.list_windows()

    def list_drafts(self) -> dict[str, str]:
        """Return window name -> text of the open query windows."""
        return self.tabs.list_drafts()

    def begin_run(self, world: World, drafts: Mapping[str, str], closed: Sequence[ClosedWindow]) -> None:
        """Start another run with the windows in *drafts* (window name -> text).

        *closed*: texts of windows that were closed in the previous run and can be reopened.
        """
        self._world = world
        self.tabs.set_world(world)
        self.tabs.store_closed_windows(closed)
        self.tabs.show_drafts(drafts, world.instances)

    def open_query(self, server: str | None, text: str = "") -> QueryWindow | None:
        """Open a new query window with *text* on the instance *server*. Return None for an unknown instance."""
        if server is None or self._world is None or server not in self._world.instances:
            return None
        return self.tabs.open_on_server(server, text)

    def open_shell(self, node: str) -> None:
        """Bring the PowerShell window on *node* to the front."""
        if self._world is not None and node in self._world.nodes:
            self._close_covering_history()
            shell = self._get_shell(node)
            self.tabs.setCurrentWidget(shell)
            shell.line.setFocus()
            self._refresh_actions()

    def _get_shell(self, node: str) -> ShellWindow:
        """Return the PowerShell window on *node*. Create it with the earlier output if necessary."""
        servers = {shell.server for shell in self.tabs.list_shells()}
        shell = self.tabs.get_shell(node)
        if node not in servers and self._drill is not None:
            for event in select_events(self._drill.events, "powershell"):
                if event.server == node:
                    shell.show_output(event)
        return shell

    def open_server_window(self, server: str) -> None:
        """Bring the query window on *server* to the front.

        If *server* has no instance, bring its PowerShell window to the front.
        """
        known_window = next((window for window in self.tabs.list_windows() if window.server == server), None)
        if known_window is not None:
            self._close_covering_history()
            self.tabs.setCurrentWidget(known_window)
            known_window.editor.setFocus()
        elif self.open_query(server) is None:
            self.open_shell(server)

    def prepare_window(self, line: str) -> None:
        """Prepare the window that will show the result of *line*, an input from the command line."""
        try:
            item = parse_input_line(line)
        except InputError:
            return
        self._sending = ""
        if self._world is None or item.verb not in ("sql", "ps"):
            return
        name, text = item.args
        if item.verb == "ps" and name in self._world.nodes:
            self.tabs.setCurrentWidget(self._get_shell(name))
        elif (
            item.verb == "sql"
            and QUERY_WINDOW_PATTERN.fullmatch(name)
            and parse_server_name(name) in self._world.instances
        ):
            window = self.tabs.find_window(name) or self.tabs.open_window(name, text, take_focus=False)
            self.tabs.setCurrentWidget(window)
            if not window.is_busy:
                window.show_sent()
                self._refresh(window)
                self._sending = name
        else:
            return
        self._close_covering_history()
        self.result_expected.emit()

    def clear_expected_result(self) -> None:
        """Stop expecting a result, so that a later refusal is not attributed to the last sent line."""
        self._sending = ""

    def _open_text(self, name: str, text: str) -> None:
        self._close_covering_history()
        window = self.tabs.find_window(name)
        if window is None:
            self.open_query(parse_server_name(name), text)
        else:
            self.tabs.setCurrentWidget(window)
            window.editor.replace_all(text)
            window.editor.setFocus()

    def _connect_window(self, window: QueryWindow) -> None:
        window.results.show_as_text(self._as_text)
        window.database_wanted.connect(lambda name: self._use_database(window, name))
        window.editor.menu_actions = [self.tools[name] for name in EDITOR_MENU_TOOLS]
        window.results.grid_actions = [self.tools["file"]]
        window.parsing_ended.connect(lambda: self._refresh(window))
        self._refresh_actions()

    def _on_closing(self, window: QueryWindow) -> None:
        if window.is_busy:
            self.requested.emit(f"cancel {window.window_id}")

    # --- execution of batches -----------------------------------------------------------------------------

    def run_front_text(self) -> None:
        """Execute the text of the front window. If the text is empty, show a message."""
        window = self.front_window
        if self.tabs.front_shell is not None:
            self.tabs.front_shell.send_typed_line()
        elif window is None:
            self.message_ready.emit(tr("No SQL window is open. Press Ctrl+N to open one."))
        elif window.is_busy:
            window.editor.message_ready.emit(tr("A query is executing in this window: Alt+Break cancels it."))
        elif not window.editor.text_to_run.strip():
            window.editor.message_ready.emit(
                tr("There is nothing to execute in this window. Type a statement first.")
            )
        else:
            self._send_batch(window, window.editor.text_to_run)

    def _use_database(self, window: QueryWindow, database: str) -> None:
        """Send USE for *database*, which the user selected in the database list."""
        if window.is_busy:
            window.editor.message_ready.emit(tr("A query is executing in this window: Alt+Break cancels it."))
        else:
            self._send_batch(window, f"USE [{database.replace(']', ']]')}]")

    def check_syntax(self) -> None:
        """Check the syntax of the text in the front window."""
        window = self.front_window
        if window is not None and not window.is_busy and window.editor.text_to_run.strip():
            window.start_parsing(tsql.check_syntax_in_steps(window.editor.text_to_run))
            self._refresh(window)

    def cancel_query(self) -> None:
        """Cancel the query of the front window."""
        window = self.front_window
        if window is not None and window.state == "parsing":
            window.stop_parsing()
            self._refresh(window)
        elif window is not None and window.is_busy:
            self.requested.emit(f"cancel {window.window_id}")

    def _run_text(self, name: str, text: str) -> None:
        """Run *text* in the window *name*. If this window is closed or busy, open a new window."""
        self._close_covering_history()
        window = self.tabs.find_window(name)
        if window is None or window.is_busy:
            window = self.open_query(parse_server_name(name), text)
        if window is not None:
            self._send_batch(window, text)

    def _send_batch(self, window: QueryWindow, text: str) -> None:
        window.show_sent()
        self._refresh(window)
        self._sending = window.window_id
        self.requested.emit(Input(0, "sql", (window.window_id, text.strip("\n"))).line_without_time)
        self._sending = ""

    def _send_to_shell(self, line: str) -> None:
        self._sending = line
        self.requested.emit(line)
        self._sending = ""

    @Slot(str)
    def show_refusal(self, reason: str, window_id: str = "") -> None:
        """Show *reason* in the window whose input line was refused.

        *window_id*: name of this window. If *window_id* is empty, use the window that sent the last line.
        If the refused line does not come from this view, do nothing.
        """
        verb, _, arguments = self._sending.partition(" ")
        if verb == "ps":
            node, _, command = arguments.partition(" ")
            self.tabs.get_shell(node).show_refusal(command, reason)
        window = self.tabs.find_window(window_id or self._sending)
        if window is not None and window.state == "sent":
            window.show_refused(reason)
            self._refresh(window)

    # --- tools --------------------------------------------------------------------------------------------

    def show_as_text(self, as_text: bool) -> None:
        """Show the results in every window as text (Ctrl+T), or in grids (Ctrl+D) if *as_text* is False."""
        self._as_text = as_text
        for window in self.list_windows():
            window.results.show_as_text(as_text)
        self._refresh_actions()

    def _list_tools(self) -> Iterator[ConsoleTool]:
        yield ConsoleTool("run", tr("&Execute"), "play", self.run_front_text)
        yield ConsoleTool("cancel", tr("&Cancel the query"), "stop", self.cancel_query)
        yield ConsoleTool("parse", tr("&Parse without executing"), "check", self.check_syntax)
        yield ConsoleTool("new", tr("New &query on this server"), "", self._open_default_query)
        yield ConsoleTool("open", tr("&Open a script…"), "", lambda: self.file_wanted.emit("open"))
        yield ConsoleTool(
            "save", tr("Save this text as a &script…"), "", lambda: self.file_wanted.emit("save")
        )
        yield ConsoleTool("text", tr("Results to &text"), "text", lambda: self.show_as_text(True))
        yield ConsoleTool("grid", tr("Results to &grid"), "grid", lambda: self.show_as_text(False))
        yield ConsoleTool(
            "file", tr("Save results to a &file…"), "", lambda: self.file_wanted.emit("results")
        )
        yield ConsoleTool(
            "results",
            tr("Show or hide &results"),
            "",
            self._bind_to_current_window(QueryWindow.toggle_results),
        )
        yield ConsoleTool("focus", tr("Next pane"), "", self._bind_to_current_window(QueryWindow.cycle_focus))
        yield ConsoleTool(
            "focus_back", tr("Previous pane"), "", self._bind_to_current_window(QueryWindow.cycle_focus_back)
        )
        yield ConsoleTool("places", tr("Fill in template para&meters…"), "", self._fill_placeholders)
        yield ConsoleTool("snippets", tr("&Insert a statement"), "snippet", self._open_snippet_menu)
        yield ConsoleTool("history", tr("Batch &history"), "history", self._toggle_history)
        yield ConsoleTool("connection", tr("Change connectio&n…"), "", self._open_reconnect_menu)
        yield ConsoleTool("database", tr("Go to the list of data&bases"), "", self._open_database_list)
        yield ConsoleTool("zoom", tr("Ma&ximize or restore"), "fit", self.zoom_wanted.emit)
        yield ConsoleTool("who", tr("Connections (sp_&who)"), "", self._run_sp_who)
        yield ConsoleTool("about", tr("&Describe the selected object (sp_help)"), "", self._run_sp_help)
        yield ConsoleTool("next", tr("Next window"), "", self.tabs.show_adjacent_window)
        yield ConsoleTool("before", tr("Previous window"), "", lambda: self.tabs.show_adjacent_window(-1))
        yield ConsoleTool("close", tr("C&lose window"), "", self._close_current)

    def _run_sp_who(self) -> None:
        """Run sp_who, as Ctrl+1 does in Management Studio.

        The text of the window stays, only its results change.
        """
        if self.front_window is not None and not self.front_window.is_busy:
            self._send_batch(self.front_window, "EXEC sp_who")

    def _run_sp_help(self) -> None:
        """Run sp_help, as Alt+F1 does in Management Studio, for the selection or for all objects."""
        if self.front_window is not None and not self.front_window.is_busy:
            name = " ".join(self.front_window.editor.get_selected_text().split()).replace("'", "''")
            self._send_batch(self.front_window, f"EXEC sp_help N'{name}'" if name else "EXEC sp_help")

    def _open_default_query(self) -> None:
        if self.front_window is not None:
            self.open_query(self.front_window.server)
        elif self._world is not None:
            self.open_query(next(iter(self._world.instances), None))

    def _fill_new_menu(self) -> None:
        self._new_menu.clear()
        for server in self._world.instances if self._world is not None else ():
            action = self._new_menu.addAction(self.tabs.build_server_icon(server), server)
            action.triggered.connect(lambda _=False, server=server: self.open_query(server))
        for node in self._world.nodes if self._world is not None else ():
            action = self._new_menu.addAction(tr("PowerShell on {node}").format(node=node))
            action.triggered.connect(lambda _=False, node=node: self.open_shell(node))
        if self.tabs.closed:
            add_heading(self._new_menu, tr("Closed windows"))
        for number, closed_window in enumerate(self.tabs.closed):
            first = closed_window.text.strip().splitlines()[0]
            text = f"{closed_window.server}: {first[:50]}" + (
                f"  ({closed_window.drill})" if closed_window.drill else ""
            )
            action = self._new_menu.addAction(self.tabs.build_server_icon(closed_window.server), text)
            action.triggered.connect(lambda _=False, number=number: self.tabs.reopen_window(number))

    def _open_reconnect_menu(self) -> None:
        """Open a menu of servers to which the front window can reconnect.

        Do nothing while a query runs in it.
        """
        window = self.front_window
        if window is None or window.is_busy or self._world is None:
            return
        self._server_menu.clear()
        for server in self._world.instances:
            if server != window.server:
                action = self._server_menu.addAction(self.tabs.build_server_icon(server), server)
                action.triggered.connect(
                    lambda _=False, window=window, server=server: self.tabs.change_connection(window, server)
                )
        for target in self.tabs.list_connection_targets(window):
            action = self._server_menu.addAction(target)
            line = Input(0, "change-connection", (window.window_id, target)).line_without_time
            action.triggered.connect(lambda _=False, line=line: self.requested.emit(line))
        self._server_menu.popup(self._bar.mapToGlobal(self._bar.rect().bottomLeft()))

    def _open_snippet_menu(self) -> None:
        point = self._bar.mapToGlobal(self._bar.rect().bottomLeft())
        self._snippet_menu.popup(point)

    def _insert(self, text: str) -> None:
        if self.front_window is None:
            self._open_default_query()
        if self.front_window is not None:
            self.front_window.editor.insert_snippet(text)

    def _fill_placeholders(self) -> None:
        window = self.front_window
        if window is None:
            return
        placeholders = history.list_parameters(window.editor.toPlainText())
        if not placeholders:
            window.editor.message_ready.emit(tr("This text has no template parameters."))
            return
        dialog = history.TemplateParametersDialog(placeholders, self)
        if dialog.exec() == QDialog.DialogCode.Accepted:
            window.editor.replace_all(history.fill_placeholders(window.editor.toPlainText(), dialog.values))
        dialog.deleteLater()

    def _toggle_history(self) -> None:
        self.history.setVisible(self.history.isHidden())
        self._arrange_history()
        if self.history.isVisible():
            self.history.table.setFocus()
        else:
            self.tabs.focus_front_window()
        self._refresh_actions()

    def _close_covering_history(self) -> None:
        """Close the history if it covers the query windows."""
        if self.tabs.isHidden():
            self._toggle_history()

    def _arrange_history(self) -> None:
        """Show the history next to the windows if there is space, otherwise instead of the windows."""
        narrow = self.width() < SIDE_BY_SIDE_MIN_LINES * self.fontMetrics().height()
        self.tabs.setVisible(self.history.isHidden() or not narrow)

    def _close_current(self) -> None:
        if self.front_window is not None:
            self._request_close(self.front_window)
        elif self.tabs.front_shell is not None:
            self.tabs.close_shell(self.tabs.front_shell)

    def _request_close(self, window: QueryWindow) -> None:
        """Close a window. If its query still runs, ask first. The text can be reopened."""
        if window.is_busy:
            self.busy_close_wanted.emit(window)
        else:
            self.tabs.close_window(window)

    def _open_database_list(self) -> None:
        if self.front_window is not None:
            self.front_window.databases.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.front_window.databases.showPopup()

    def _bind_to_current_window(self, callback: Callable[[QueryWindow], None]) -> Callable[[], None]:
        return lambda: callback(self.front_window) if self.front_window is not None else None

    # --- appearance ---------------------------------------------------------------------------------------

    def _refresh(self, window: QueryWindow) -> None:
        self.tabs.update_tab_icon(window)
        self._refresh_actions()

    def _refresh_actions(self) -> None:
        window, shell = self.front_window, self.tabs.front_shell
        part = window.editor if window is not None else shell.line if shell is not None else None
        forward_focus(self, part)
        self.tools["run"].setEnabled(shell is not None or (window is not None and not window.is_busy))
        self.tools["parse"].setEnabled(window is not None and not window.is_busy)
        self.tools["cancel"].setEnabled(window is not None and window.is_busy)
        self.tools["text"].setChecked(self._as_text)
        self.tools["history"].setChecked(not self.history.isHidden())

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            update_tool_icons(self.tools, self.palette())
            for window in self.list_windows():
                self._refresh(window)
