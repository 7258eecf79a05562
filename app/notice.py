"""A line across the window that says what could not be done, or why something is done now."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from app import theme
from app.language import tr
from app.reader import say


class Notice(QFrame):
    """Hidden until there is something to say; stays until it is closed or replaced."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = "warn"
        self._mark, self._text = QLabel(), QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = QToolButton()
        self._close.setToolTip(tr("Close this notice"))
        self._close.setAccessibleName(tr("Close this notice"))
        self._close.clicked.connect(self.clear)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 6, 5)
        row.addWidget(self._mark)
        row.addWidget(self._text, 1)
        row.addWidget(self._close)
        self.hide()

    @property
    def text(self) -> str:
        """What is said now; empty when nothing is."""
        return "" if self.isHidden() else self._text.text()

    @Slot(str)
    def warn(self, text: str) -> None:
        """Something could not be done."""
        self._say(text, "warn")

    @Slot(str)
    def tell(self, text: str) -> None:
        """Something worth knowing."""
        self._say(text, "info")

    @Slot()
    def clear(self) -> None:
        self.hide()

    def _say(self, text: str, tone: str) -> None:
        self._tone = tone
        self._text.setText(text)
        self.setAccessibleName(text)
        self._show_theme()
        self.show()
        say(self, text, urgent=tone == "warn")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and not self.isHidden():
            self._show_theme()

    def _show_theme(self) -> None:
        colours = theme.tokens(self.palette())
        tone = getattr(colours, self._tone)
        self._close.setIcon(theme.icon("close", colours))
        side = self.fontMetrics().height()
        self._mark.setPixmap(theme.pixmap("warning" if self._tone == "warn" else "note", tone, side))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = theme.tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), getattr(colours, f"{self._tone}_soft"))
        painter.setPen(getattr(colours, self._tone))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())
