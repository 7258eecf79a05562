"""Search box on the canvas for the name of an object."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app.widgets import theme
from app.words.language import tr
from engine.overrides import override


class FindBox(QLineEdit):
    """Search box: typing selects the first match, Enter the next, Esc closes the box."""

    found = Signal(str)
    """Signal: one of the offered names."""

    def __init__(self, parent: QWidget, names: Callable[[], list[str]]) -> None:
        super().__init__(parent)
        self._canvas = parent
        self._names = names
        self._match_index = 0
        self.setPlaceholderText(tr("Find a server, application or database"))
        self.setAccessibleName(tr("Find in the topology"))
        self.textEdited.connect(lambda _: self._find(0))
        self.returnPressed.connect(lambda: self._find(self._match_index + 1))
        self.place = QLabel(self)
        """Label with the number of the match and the number of matches, or a note that there are none."""
        self.hide()

    def open(self) -> None:
        """Show the box and focus its field."""
        width = min(self._canvas.width() - 16, self.fontMetrics().averageCharWidth() * 44)
        self.resize(width, self.sizeHint().height())
        self.move((self._canvas.width() - width) // 2, 8)
        self.show()
        self.setFocus()
        self.selectAll()
        self._show_status("", "muted")

    def _find(self, index: int) -> None:
        text = self.text().strip().casefold()
        fitting = [name for name in self._names() if text and text in name.casefold()]
        self._match_index = index % len(fitting) if fitting else 0
        told = "" if not text else tr("no match")
        if fitting:
            told = tr("{number} of {count}").format(number=self._match_index + 1, count=len(fitting))
        self._show_status(told, "muted" if fitting else "bad")
        if fitting:
            self.found.emit(fitting[self._match_index])

    def _show_status(self, text: str, tone: str) -> None:
        self.place.setText(text)
        self.place.setStyleSheet(f"color: {theme.tokens(self.palette()).named(tone).name()};")
        self.place.adjustSize()
        self._move_status_label()
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _move_status_label(self) -> None:
        self.place.move(self.width() - self.place.width() - 8, (self.height() - self.place.height()) // 2)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._move_status_label()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            self._canvas.setFocus()
        else:
            super().keyPressEvent(event)
            event.accept()  # otherwise Enter reaches the canvas and opens a menu there
