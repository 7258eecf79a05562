"""Input line that recalls earlier lines with the arrow keys."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.overrides import override


class HistoryLine(QLineEdit):
    """Input line: Enter sends it, Up and Down recall earlier lines."""

    line_entered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sent_lines: list[str] = []
        self._position = 0
        self.returnPressed.connect(self.send)

    def send(self) -> None:
        """Send the text unless it is blank, and keep it for the arrow keys."""
        line = self.text().strip()
        if line:
            self._sent_lines.append(line)
            self._position = len(self._sent_lines)
            self.clear()
            self.line_entered.emit(line)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and self._sent_lines:
            self._position = min(len(self._sent_lines), max(0, self._position + step))
            recalled = self._sent_lines[self._position :][:1]
            self.setText(recalled[0] if recalled else "")
        else:
            super().keyPressEvent(event)
