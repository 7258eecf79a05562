"""Room for what is larger than its place: with large text on a small screen everything can still be reached."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QSizePolicy, QStackedWidget, QWidget


def scrolling(widget: QWidget) -> QScrollArea:
    """*widget* in a frame that shrinks further than it does, with scroll bars from there on."""
    area = _Following()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setWidget(widget)
    widget.setAutoFillBackground(False)
    area.viewport().setAutoFillBackground(False)
    return area


class _Following(QScrollArea):
    """What gets the keyboard comes into sight, however it got it."""

    def __init__(self) -> None:
        super().__init__()
        later = Qt.ConnectionType.QueuedConnection
        QApplication.instance().focusChanged.connect(self._follow, later)  # type: ignore[union-attr]
        self.verticalScrollBar().rangeChanged.connect(self._follow, later)

    @Slot()
    def _follow(self) -> None:
        widget = QApplication.focusWidget()
        by_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton  # who clicks sees it, and holds it
        if widget is not None and self.isAncestorOf(widget) and not by_mouse:
            self.ensureWidgetVisible(widget)


class Pages(QStackedWidget):
    """One page at a time; those that are not on screen ask for no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self._give_room)
        self.widgetRemoved.connect(self._give_room)

    def addWidget(self, page: QWidget) -> int:
        at = super().addWidget(page)
        self._give_room()
        return at

    def _give_room(self) -> None:
        for at in range(self.count()):
            page, asks = self.widget(at), at == self.currentIndex()
            policy = QSizePolicy.Policy.Preferred if asks else QSizePolicy.Policy.Ignored
            if page is not None:
                page.setSizePolicy(policy, policy)


def fit_on_screen(window: QWidget, width: int, height: int) -> None:
    """Make *window* that large, or as large as its screen has room for."""
    room = window.screen().availableGeometry()
    window.resize(min(width, room.width()), min(height, room.height()))
