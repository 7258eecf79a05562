"""Scroll area for contents larger than the available space. Everything is reachable even with large text."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QWidget,
)

from engine.overrides import override

LAPTOP_WINDOW_SIZE: Final = QSize(1000, 540)
"""Space for a window on a screen of 1024 x 600 pixels with title bar and taskbar. Assumed."""


SIZE_UNLIMITED: Final = 16_777_215
"""Qt's value for "no maximum size" (QWIDGETSIZE_MAX), which PySide does not provide."""


def wrap_in_scroll_area(widget: QWidget) -> ScrollContainer:
    """Return a scroll area that contains *widget*."""
    area = ScrollContainer()
    area.set_content(widget)
    return area


class ScrollContainer(QScrollArea):
    """Scroll area that can become smaller than its content.

    It scrolls to a widget that receives the keyboard focus.
    """

    def __init__(self) -> None:
        super().__init__()
        _connect_focus_tracking()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.verticalScrollBar().rangeChanged.connect(
            self.scroll_to_focus, Qt.ConnectionType.QueuedConnection
        )

    def set_content(self, widget: QWidget) -> None:
        """Set the content to *widget*."""
        self.setWidget(widget)
        widget.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)

    @Slot()
    def scroll_to_focus(self) -> None:
        """Scroll to the focused widget, if it is inside the area."""
        widget, content = QApplication.focusWidget(), self.widget()
        # a clicked widget is already visible; scrolling would move it away from the pointer
        by_mouse = QApplication.mouseButtons() != Qt.MouseButton.NoButton
        if widget is not None and content is not None and self.isAncestorOf(widget) and not by_mouse:
            self.ensureWidgetVisible(
                widget
            )  # if the widget is larger than the viewport, this shows its cursor
            rect = QRect(widget.mapTo(content, QPoint()), widget.size())
            room = self.viewport().size()
            if rect.bottom() < room.height():
                self.verticalScrollBar().setValue(0)  # also show the heading above the widget
            elif rect.width() <= room.width() and rect.height() <= room.height():
                for corner in (rect.bottomRight() + QPoint(1, 1), rect.topLeft()):
                    self.ensureVisible(corner.x(), corner.y(), 0, 0)


_FOCUS_HANDLER_PROPERTY: Final = "focus is followed"
"""Property of the application that marks the installed focus handler. One handler serves all areas."""


def _connect_focus_tracking() -> None:
    app = QApplication.instance()
    if isinstance(app, QApplication) and not app.property(_FOCUS_HANDLER_PROPERTY):
        app.setProperty(_FOCUS_HANDLER_PROPERTY, True)
        # scroll only after the layouts are finished
        app.focusChanged.connect(lambda *_: QTimer.singleShot(0, _scroll_to_focus))


def _scroll_to_focus() -> None:
    widget = QApplication.focusWidget()
    while widget is not None:
        widget = widget.parentWidget()
        if isinstance(widget, ScrollContainer):
            widget.scroll_to_focus()


class PageStack(QStackedWidget):
    """Stack of pages in which hidden pages request no space."""

    page_shown = Signal(QWidget, str)
    """Signal: new visible page, and its title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self._resize_to_page)
        self.widgetRemoved.connect(self._resize_to_page)

    def show_page(self, page: QWidget, title: str) -> None:
        """Show *page*, and add it to the stack if it is new. Close an open menu."""
        menu = QApplication.activePopupWidget()
        if isinstance(menu, QMenu):
            menu.hide()
        if self.indexOf(page) < 0:
            self.addWidget(page)
        self.setCurrentWidget(page)
        self.page_shown.emit(page, title)

    @override
    def addWidget(self, page: QWidget) -> int:
        index = super().addWidget(page)
        self._resize_to_page()
        return index

    def heightForWidth(self, width: int) -> int:
        """Return the minimum height of the visible page.

        Qt would use the preferred height of tables and panels. The page would then scroll before any widget
        shrinks.
        """
        page = self.currentWidget()
        layout = page.layout() if page is not None else None
        return layout.totalMinimumHeightForWidth(width) if layout is not None else -1

    def _resize_to_page(self) -> None:
        for index in range(self.count()):
            page, asks = self.widget(index), index == self.currentIndex()
            policy = QSizePolicy.Policy.Preferred if asks else QSizePolicy.Policy.Ignored
            if page is not None:
                page.setSizePolicy(policy, policy)


def fit_on_screen(window: QWidget, width: int, height: int) -> None:
    """Resize *window* to *width* and *height*, limited to the available space on its screen."""
    window.resize(QSize(width, height).boundedTo(compute_available_size(window)))


def compute_available_size(window: QWidget) -> QSize:
    """Return the space on the screen of *window* without its title bar."""
    room = window.screen().availableGeometry().size()
    bar = window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight, None, window)
    return QSize(room.width(), room.height() - bar)


def set_readable_minimum_size(window: QWidget, width_lines: int, height_lines: int) -> None:
    """Set the minimum size of *window* in line heights, limited to the space on its screen."""
    line = window.fontMetrics().height()
    room = compute_available_size(window).boundedTo(LAPTOP_WINDOW_SIZE)
    window.setMinimumSize(QSize(width_lines * line, height_lines * line).boundedTo(room))
