"""Position of the keyboard focus."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.overrides import override


def has_keys(view: QWidget) -> bool:
    """Return whether the focus is in *view*, or was when its window was last active."""
    focus = view.window().focusWidget()
    return focus is not None and view.isAncestorOf(focus)  # Qt counts a widget as an ancestor of itself


def hand_keys(view: QWidget, part: QWidget | None) -> None:
    """Pass the focus to *part* whenever *view* gets it; None: *view* keeps it."""
    view.setFocusProxy(cast(QWidget, part))  # the stubs do not allow None


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
