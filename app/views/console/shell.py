"""PowerShell prompt on a cluster node, with a transcript and an input line."""

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.screen_reader import HistoryLine
from app.words.language import tr
from engine.events import Event, PowerShellData, get_data
from engine.inputs import Input

PROMPT: Final = "PS C:\\>"
TRANSCRIPT_LINES_MAX: Final = 5_000
"""Maximum number of lines of the transcript. The oldest lines are removed."""


class ShellWindow(QWidget):
    """PowerShell prompt of one node. Every typed line becomes an input line `ps NODE …`."""

    requested = Signal(str)
    """Signal: input line without its time."""

    def __init__(self, node: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.server = node
        self._band = QLabel(f"<b>{node}</b> · PowerShell")
        self.transcript = QPlainTextEdit(readOnly=True)
        self.transcript.setMaximumBlockCount(TRANSCRIPT_LINES_MAX)
        self.transcript.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.transcript.setAccessibleName(tr("PowerShell output of {node}").format(node=node))
        self.transcript.setPlaceholderText(
            tr("Type a cmdlet below, for example Get-ClusterNode. The output appears here.")
        )
        self.line = HistoryLine()
        self.line.setAccessibleName(tr("PowerShell command on {node}").format(node=node))
        self.line.setPlaceholderText("Get-ClusterNode")
        self.line.line_entered.connect(self._send)
        self._prompt = QLabel(PROMPT)
        entry = build_row(self._prompt, (self.line, 1), margins=(6, 2, 6, 2))
        build_widget_column(self._band, (self.transcript, 1), entry, parent=self, margins=0, spacing=0)
        self.setFocusProxy(self.line)
        self._show_theme()
        theme.call_after_events(self, theme.APPEARANCE_EVENTS, self._show_theme)

    def send_typed_line(self) -> None:
        """Send the typed line."""
        self.line.send_line()

    def _send(self, line: str) -> None:
        self.requested.emit(Input(0, "ps", (self.server, line)).line_without_time)

    def show_output(self, event: Event) -> None:
        """Append a command and its output to the transcript."""
        if (line := get_data(event, PowerShellData)) is not None:
            self._append(f"{PROMPT} {line.command}", line.output, "bad" if line.refused else "")

    def show_refusal(self, line: str, reason: str) -> None:
        """Append a line that could not be executed, with the reason."""
        self._append(f"{PROMPT} {line}", reason, "bad")

    def clear(self) -> None:
        """Clear the transcript after a jump to another time."""
        self.transcript.clear()

    def _append(self, command: str, output: str, color_name: str) -> None:
        cursor = self.transcript.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        colors = theme.get_theme_tokens(self.palette())
        if not self.transcript.document().isEmpty():
            cursor.insertBlock()
        for text, color in (
            (command, colors.get_color("muted")),
            (output, colors.get_color(color_name or "text")),
        ):
            look = QTextCharFormat()
            look.setForeground(color)
            if text is not command:
                cursor.insertBlock()
            cursor.insertText(text, look)
        self.transcript.setTextCursor(cursor)
        self.transcript.ensureCursorVisible()

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        ground, text = colors.get_color("text"), colors.get_color("surface")
        self._band.setStyleSheet(f"background: {ground.name()}; color: {text.name()}; padding: 2px 8px;")
        for part in (self.transcript, self.line, self._prompt):
            part.setFont(theme.build_fixed_font())
