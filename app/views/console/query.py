"""Query window: the server's colored band, the editor, the results and the status line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace
from pygments.lexers import TransactSqlLexer
from pygments.token import Token, _TokenType
from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAction,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QComboBox, QLabel, QSplitter, QWidget

from app.views.console.outcome import BatchOutcome
from app.views.console.results import QueryResults
from app.widgets import theme
from app.widgets.code_edit import CodeEditor, FindCompletions
from app.widgets.highlight import SyntaxHighlighter
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import has_keyboard_focus
from app.widgets.tables import escape_tip
from app.widgets.theme import ThemeTokens
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.constants import PRODUCT_VERSIONS, TICKS_PER_S
from engine.messages import Message
from engine.overrides import override

if TYPE_CHECKING:
    from engine.tsql.batches.work import ResumableComputation


_MIRRORING_KEYWORD_TEXT: Final = """
AES ALGORITHM AUTHENTICATION CERTIFICATE DATABASE_MIRRORING DELAY DISABLED ENCRYPTION ENDPOINT FAILOVER
FORCE_SERVICE_ALLOW_DATA_LOSS IMMEDIATE LISTENER_IP LISTENER_PORT LOG LOGIN MOVE NEGOTIATE NORECOVERY NOWAIT
PARTNER PAYLOAD RC4 RECOVERY REPLACE REQUIRED RESUME SAFETY STARTED STOPPED SUPPORTED SUSPEND TCP TIMEOUT
WITNESS
"""
MIRRORING_KEYWORDS: Final = frozenset(_MIRRORING_KEYWORD_TEXT.split())
"""Keywords of mirroring statements that Pygments treats as names."""

TOKEN_COLORS: Final[tuple[tuple[_TokenType, str], ...]] = (
    (Token.Keyword, "keyword"),
    (Token.Name.Function, "function"),
    (Token.Name.Builtin, "function"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Comment, "comment"),
)
"""Kind of token -> theme color. The first match applies. Other tokens have the normal text color."""


def get_token_color(kind: _TokenType, text: str) -> str | None:
    """Return the name of the theme color for a T-SQL token, or None for the normal text color."""
    if kind in Token.Name and text.upper() in MIRRORING_KEYWORDS:
        return "keyword"
    return next((color_name for family, color_name in TOKEN_COLORS if kind in family), None)


def create_sql_highlighter(document: QTextDocument, colors: ThemeTokens) -> SyntaxHighlighter:
    """Create a highlighter that colors T-SQL in *document*."""
    before = ""

    def find_color_name(kind: _TokenType, text: str) -> str | None:
        nonlocal before
        # a word after a dot, as in sys.database_mirroring, is a name
        color_name = get_token_color(kind, text) if before != "." else None
        before = text
        return color_name

    return SyntaxHighlighter(
        document, colors, TransactSqlLexer(stripnl=False, ensurenl=False), find_color_name
    )


_COMMENT_PATTERN: Final = re.compile(r"^(\s*)--")
_CHORD_HINT: Final = mark(
    "(Ctrl+K) was pressed. Waiting for the second key: Ctrl+C comments, Ctrl+U uncomments."
)


class SqlEditor(CodeEditor):
    """Editor for one batch or several batches separated by GO."""

    def __init__(self, complete: FindCompletions, parent: QWidget | None = None) -> None:
        super().__init__(complete, create_sql_highlighter, parent)
        self._chord = False
        self.menu_actions: list[QAction] = []
        """Additional actions for the context menu."""
        self.setAccessibleName("T-SQL")
        self.add_keys(
            {
                "Ctrl+Shift+U": lambda: self._change_selection(str.upper),
                "Ctrl+Shift+L": lambda: self._change_selection(str.lower),
            }
        )

    # --- interface for the query window -------------------------------------------------------------------

    @property
    def text_to_run(self) -> str:
        """Text that F5 runs: the selection, or the whole text without a selection."""
        return self.get_selected_text().strip() or self.toPlainText()

    @property
    def first_line(self) -> int:
        """Line number at which `text_to_run` begins, counted from 1."""
        cursor = self.textCursor()
        if not self.get_selected_text().strip():
            return 1
        text = self.get_selected_text()
        skipped = text[: len(text) - len(text.lstrip())].count("\n")
        return self.document().findBlock(cursor.selectionStart()).blockNumber() + 1 + skipped

    def insert_snippet(self, text: str) -> None:
        """Insert *text* at the cursor, on a separate line."""
        cursor = self.textCursor()
        if cursor.block().text().strip() and not cursor.hasSelection():
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
            text = "\n" + text
        cursor.insertText(text)
        self.setTextCursor(cursor)
        self.setFocus()

    # --- keys ---------------------------------------------------------------------------------------------

    @override
    def event(self, event: QEvent) -> bool:
        # The editor handles Ctrl+K and the next key, even if they are also shortcuts of the window.
        is_chord_key = isinstance(event, QKeyEvent) and (self._chord or self._is_chord_start(event))
        if is_chord_key and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._chord:
            self._end_chord(event)
        elif self._is_chord_start(event):
            self._chord = True
            self.message_ready.emit(tr(_CHORD_HINT))
        else:
            super().keyPressEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        first_action = menu.actions()[0] if menu.actions() else None
        if first_action is not None:
            menu.insertActions(first_action, self.menu_actions)
            menu.insertSeparator(first_action)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._chord = False
        super().focusOutEvent(event)

    @staticmethod
    def _is_chord_start(event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_K and event.modifiers() == Qt.KeyboardModifier.ControlModifier

    def _end_chord(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Control, Qt.Key.Key_Shift):
            return
        self._chord = False
        self.message_ready.emit("")
        if event.key() == Qt.Key.Key_C:
            self.change_lines(lambda line: f"--{line}" if line.strip() else line)
        elif event.key() == Qt.Key.Key_U:
            self.change_lines(lambda line: _COMMENT_PATTERN.sub(r"\1", line))
        elif event.key() != Qt.Key.Key_Escape:
            keys = QKeySequence(event.keyCombination()).toString(QKeySequence.SequenceFormat.NativeText)
            self.message_ready.emit(tr("(Ctrl+K, {keys}) is not a command.").format(keys=keys))

    def _change_selection(self, change: Callable[[str], str]) -> None:
        cursor = self.textCursor()
        start, text = cursor.selectionStart(), change(self.get_selected_text())
        if text:
            cursor.insertText(text)
            cursor.setPosition(start)
            cursor.setPosition(start + len(text), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)


DATABASE_SELECTOR_WIDTH_MIN_PX: Final = 120
"""Minimum width of the database list when large text leaves little space. The open list shows full names."""


class DatabaseSelector(QComboBox):
    """List to select the database of the connection. A selection sends a request to the server."""

    database_wanted = Signal(str)
    """Signal: name of the selected database."""
    editor_focus_wanted = Signal()
    """Signal: Escape was pressed or a name was selected, so the editor should get the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self.setAccessibleName(tr("Database"))
        self.setToolTip(escape_tip(tr("Database of this connection (Ctrl+U)")))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.setMinimumWidth(DATABASE_SELECTOR_WIDTH_MIN_PX)
        self.setProperty("small", "true")
        self.textActivated.connect(self._choose)

    def show_databases(self, names: Sequence[str], current: str) -> None:
        """Offer *names* and select *current*, even if that database no longer exists."""
        listed = [*names, *([current] if current and current not in names else [])]
        if listed != self._names:
            self._names = listed
            self.clear()
            self.addItems(listed)
        if self.currentText() != current and not self.view().isVisible():
            self.setCurrentIndex(self.findText(current, Qt.MatchFlag.MatchExactly))

    def _choose(self, name: str) -> None:
        self.editor_focus_wanted.emit()
        self.database_wanted.emit(name)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.editor_focus_wanted.emit()
        else:
            super().keyPressEvent(event)


def _format_product(version: int) -> str:
    """Format a product version as the status line of Management Studio does, for example 9.0 or 10.0."""
    major, minor, *_ = PRODUCT_VERSIONS[version][0].split(".")
    return f"{major}.{int(minor)}"


STATUS_FONT_SCALE: Final = 0.88

CONNECTION_STATE_STYLES: Final = {
    # connection state: (symbol, name of a theme color, text)
    "ready": ("●", "ok", mark("Connected.")),
    "disconnected": ("○", "idle", mark("Not connected. Execute opens the connection.")),
    "sent": ("…", "info", mark("Sent. Waiting for the simulation to continue.")),
    "running": ("▶", "info", mark("Executing query…")),
    "parsing": ("…", "info", mark("Parsing…")),
    "done": ("✓", "ok", mark("Query executed successfully.")),
    "failed": ("!", "bad", mark("Query completed with errors.")),
    "cancelled": ("■", "warn", mark("Query was canceled.")),
    "parsed": ("✓", "ok", mark("Parsed without errors.")),
}


PAUSED_TEXTS: Final = {
    "sent": mark("Sent. The clock is paused: start it (Pause key) to execute the query."),
    "running": mark("Executing… The clock is paused: start it (Pause key) to continue."),
}
"""State of a query -> status text while the clock is paused, when no result can arrive."""

_LOG_WAIT_TEXT: Final = mark(
    "Executing… The commit waits for the log to be hardened, on this server or on a synchronous copy."
)
WAIT_TEXTS: Final = {
    "delay": mark("Executing… WAITFOR is still running."),
    "lock": mark("Executing… Blocked by session {sessions}."),
    "commit": _LOG_WAIT_TEXT,
    "log": _LOG_WAIT_TEXT,
}
"""Kind of wait -> status text."""


DEFAULT_DATABASE: Final = "master"
"""Default database of a new connection."""
PARSE_WORK_PER_TURN_MAX: Final = 8_000
"""Work limit of one parsing step in units of engine/tsql/batches/work.py, about 8 ms."""


class ConnectionStatus(Struct, frozen=True):
    """Contents of a query window's status line: its connection, and the wait of its batch."""

    server: str
    server_number: int
    """Position of the server in the drill, which determines its color."""
    version: int
    login: str = ""
    database: str = ""
    databases: tuple[str, ...] = ()
    """Database names to offer in the list."""
    paused: bool = False
    """True while the clock is paused."""
    wait: str = ""
    """Kind of wait of the batch, a key of `WAIT_TEXTS`. Empty if the batch does not wait."""
    blockers: tuple[int, ...] = ()
    """IDs of the sessions that hold the lock for which the batch waits."""


def _drop_transient_fields(status: ConnectionStatus) -> ConnectionStatus:
    """Return *status* without the fields that can change while a batch runs."""
    return replace(status, databases=(), paused=False, wait="", blockers=())


EDITOR_RESULTS_SHARES: Final = (2, 3)
"""Height shares of editor and results. A grid needs space for a header and a scroll bar."""


class QueryWindow(QWidget):
    """Query window on one server. *window* is its name in input lines, for example SERVER_A#2."""

    text_changed = Signal()
    announcement_ready = Signal(str)
    """Signal: text that a screen reader should announce."""
    database_wanted = Signal(str)
    parsing_ended = Signal()
    """Signal: parsing has ended."""

    def __init__(self, window: str, complete: FindCompletions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.window_id = window
        self.server = window.partition("#")[0]
        self.state = "ready"
        self.started_tick: int | None = None
        self._connection = ConnectionStatus(self.server, 0, 0)
        self._is_current = True
        """True if the client has used the connection since it was last shown as open.

        A client notices a lost login only when it uses the connection.
        """
        self._first_line = 1
        self._parsing: ResumableComputation[list[Message]] | None = None
        self._parse_timer = QTimer(self, singleShot=True)
        self._parse_timer.timeout.connect(self._continue_parsing)
        self._last_facts = ""
        self._parts: list[str] = []
        self.databases = DatabaseSelector()
        self.databases.database_wanted.connect(self.database_wanted)
        self._band = QLabel(textFormat=Qt.TextFormat.RichText)
        self._band.setObjectName("band")
        self.editor = SqlEditor(complete)
        self.results = QueryResults()
        self.results.hide()
        self.results.line_chosen.connect(lambda line: self.editor.go_to_line(self._first_line + line - 1))
        self.editor.textChanged.connect(self.text_changed)
        self.editor.message_ready.connect(self._show_status)
        self.databases.editor_focus_wanted.connect(self.editor.setFocus)
        self._split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._split.setObjectName("split")
        self._split.addWidget(self.editor)
        self._split.addWidget(self.results)
        self._has_shared_height = False
        """True after the first division of the height. From then on the user moves the border."""
        self._state, self._status_values = QLabel(), QLabel()
        self._state.setObjectName("state")
        self._status_values.setObjectName("facts")
        self._status_values.setTextFormat(Qt.TextFormat.PlainText)  # a database name may contain HTML
        self._lay_out()
        self.set_state("disconnected")
        theme.call_after_events(self, theme.SIZE_EVENTS, self._fit_status_values)

    def _lay_out(self) -> None:
        status = build_row((self._state, 1), self._status_values, margins=(6, 2, 6, 2))
        head = build_row((self._band, 1), self.databases, margins=0, spacing=0)
        build_widget_column(head, (self._split, 1), status, parent=self, margins=0, spacing=0)
        for shrinks in (
            self._state,
            self._status_values,
            self._band,
        ):  # these texts may be cut off, because their most important part comes first
            shrinks.setMinimumWidth(60)
        self._shrink_fonts()

    def _show_results(self) -> None:
        self.results.show()
        if not self._has_shared_height:
            self._has_shared_height = True
            height = self._split.height()  # QSplitter distributes only the space above the minimum sizes
            self._split.setSizes(
                [height * share // sum(EDITOR_RESULTS_SHARES) for share in EDITOR_RESULTS_SHARES]
            )

    # --- states of a batch --------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """True if a batch runs."""
        return self.state in ("sent", "running", "parsing")

    def show_sent(self) -> None:
        """Show that the batch was sent. The visible results belong to the previous batch."""
        self._first_line = self.editor.first_line
        self.results.show_outcome(None)
        self.set_state("sent")

    def show_running(self, started_tick: int) -> None:
        """Show that a batch has run since *started_tick*."""
        self.started_tick = started_tick
        self.set_state("running")

    def show_finished(self, outcome: BatchOutcome) -> None:
        """Show the result of the batch."""
        self.started_tick = None
        self._is_current = True
        self.results.show_outcome(outcome)
        self._show_results()
        elapsed_text = formatting.format_hms(outcome.elapsed_ticks / TICKS_PER_S)
        rows = trn("{n} row", "{n} rows", outcome.row_count).format(
            n=formatting.format_number(outcome.row_count)
        )
        state = "cancelled" if outcome.canceled else "failed" if outcome.failed else "done"
        self.set_state(state, f"{elapsed_text}   {rows}")
        self._announce(f"{tr(CONNECTION_STATE_STYLES[state][2])} {outcome.summary}".strip())

    def _announce(self, text: str) -> None:
        """Announce the end of a batch to a screen reader, because the focus stays in the editor."""
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.editor, text))
        self.announcement_ready.emit(text)

    def show_refused(self, reason: str) -> None:
        """Show that the simulation refused the batch."""
        self._show_messages_only([Message(0, 16, 1, 1, reason)])
        self.set_state("failed")

    def start_parsing(self, parsing: ResumableComputation[list[Message]]) -> None:
        """Start *parsing*, a syntax check of the text that does not run the batch.

        A long text takes several turns of the event loop.
        """
        self._first_line = self.editor.first_line
        self._parsing = parsing
        self.set_state("parsing")
        self._continue_parsing()

    def stop_parsing(self) -> None:
        """Stop the running syntax check."""
        self._parsing = None
        self._parse_timer.stop()
        self.set_state("cancelled")

    def _continue_parsing(self) -> None:
        if self._parsing is None:
            return
        if not self._parsing.continue_to(self._parsing.spent + PARSE_WORK_PER_TURN_MAX):
            self._parse_timer.start(0)
            return
        messages, self._parsing = self._parsing.get_result(), None
        self._show_messages_only(messages)
        self.set_state("failed" if any(message.is_error for message in messages) else "parsed")
        self.parsing_ended.emit()

    def clear_results(self) -> None:
        """Clear the results after a jump to another time, at which the batch may not have run."""
        self.started_tick = None
        self._is_current = True
        self._parsing = None
        self.results.show_outcome(None)
        self.results.hide()
        self.set_state("ready" if self._connection.login else "disconnected")

    def show_connection(self, connection: ConnectionStatus) -> None:
        """Show the connection state as the client knows it.

        A broken idle connection looks open until its next use.
        """
        before = self._connection
        if not connection.login and not self._is_current:
            connection = replace(connection, login=before.login, database=before.database)
        self._is_current = self._is_current and not connection.login
        if connection == before:
            return
        self._connection = connection
        self.databases.show_databases(connection.databases, connection.database or DEFAULT_DATABASE)
        self._show_status("")
        if _drop_transient_fields(connection) == _drop_transient_fields(before):
            return
        self._paint_band()
        self._show_status_values(self._last_facts)
        if self.state in ("ready", "disconnected"):
            self.set_state("ready" if connection.login else "disconnected")

    def show_time(self, tick: int) -> None:
        """Update the elapsed time in the status line while a batch runs."""
        if self.started_tick is not None:
            self._show_status_values(formatting.format_hms((tick - self.started_tick) / TICKS_PER_S))

    def toggle_results(self) -> None:
        """Show or hide the results."""
        had_focus = has_keyboard_focus(self.results)
        if self.results.isHidden():
            self._show_results()
        else:
            self.results.hide()
        if had_focus:
            self.editor.setFocus()

    def cycle_focus(self, step: int = 1) -> None:
        """Move the focus by *step* in the order editor, results, messages (F6).

        From any other widget, move the focus to the editor.
        """
        indexes = [index for index in range(self.results.count()) if self.results.isTabVisible(index)]
        stops = [-1, *([] if self.results.isHidden() else indexes)]
        focus_index = self.results.currentIndex() if has_keyboard_focus(self.results) else -1
        is_elsewhere = focus_index < 0 and not has_keyboard_focus(self.editor)
        next_index = -1 if is_elsewhere else stops[(stops.index(focus_index) + step) % len(stops)]
        if next_index < 0:
            self.editor.setFocus()
        else:
            self.results.setCurrentIndex(next_index)
            self.results.focus_page()

    def cycle_focus_back(self) -> None:
        """Move the focus by one step in the opposite order of `cycle_focus` (Shift+F6)."""
        self.cycle_focus(-1)

    # --- status line and band -----------------------------------------------------------------------------

    def set_state(self, state: str, status_values: str = "") -> None:
        """Set the state. Show its text on the left of the status line and *status_values* on the right."""
        self.state = state
        self._show_status("")
        self._show_status_values(status_values)

    def _show_status(self, text: str) -> None:
        """Show *text*, or the text of the state if *text* is empty."""
        sign, color_name, words = CONNECTION_STATE_STYLES[self.state]
        if self._connection.paused and self.state in PAUSED_TEXTS:
            words = PAUSED_TEXTS[self.state]
        elif self._connection.wait in WAIT_TEXTS and self.state == "running":
            words = WAIT_TEXTS[self._connection.wait]
        words = tr(words).format(sessions=", ".join(map(str, self._connection.blockers)))
        color = theme.get_theme_tokens(self.palette()).get_color(color_name)
        self._state.setText(text or f'<b style="color:{color.name()}">{sign}</b> {words}')

    def _show_status_values(self, suffix: str = "") -> None:
        connection = self._connection
        self._last_facts = suffix
        server = (
            f"{connection.server} ({_format_product(connection.version)})"
            if connection.version
            else connection.server
        )
        self._parts = [part for part in (server, connection.login, connection.database, suffix) if part]
        self._status_values.setToolTip(escape_tip("   ".join(self._parts)))
        self._fit_status_values()

    def _fit_status_values(self) -> None:
        """Show as many status values as fit next to the state text.

        The last values are the most important.
        """
        room = self.width() - self._state.sizeHint().width() - 24
        parts = list(self._parts)
        while (
            len(parts) > 1 and self._status_values.fontMetrics().horizontalAdvance("   ".join(parts)) > room
        ):
            parts.pop(1 if len(parts) > 2 else 0)
        text = "   ".join(parts)
        while text and self._status_values.fontMetrics().horizontalAdvance(text) > room:
            # If time and rows do not fit, show only the rows, or nothing. The tooltip shows all values.
            text = text.partition("   ")[2]
        self._status_values.setText(text)

    def _shrink_fonts(self) -> None:
        """Use a smaller font, so that all status values fit into a window 1366 pixels wide."""
        for label in (self._state, self._status_values):
            label.setFont(theme.resize_font(self.font(), STATUS_FONT_SCALE))

    def _paint_band(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        ground, text = colors.get_server_color(self._connection.server_number), colors.on_accent
        self._band.setStyleSheet(f"background: {ground.name()}; color: {text.name()}; padding: 2px 8px;")
        database = f" · {self._connection.database}" if self._connection.database else ""
        version = f" · SQL Server {self._connection.version}" if self._connection.version else ""
        self._band.setText(f"<b>{self._connection.server}</b>{database}{version}")
        self._band.setToolTip(escape_tip(f"{self._connection.server}{database}{version}"))

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._paint_band()
            self._show_status("")
        elif event.type() == QEvent.Type.FontChange:
            self._shrink_fonts()

    def _show_messages_only(self, messages: list[Message]) -> None:
        outcome = BatchOutcome(self.server, self.window_id, "", tuple(messages), (), 0, 0)
        self.results.show_outcome(outcome)
        self._show_results()
