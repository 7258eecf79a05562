"""Support for screen readers: announcements, and row selection without a keyboard."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QMenu, QWidget


def announce(widget: QWidget, text: str, urgent: bool = False) -> None:
    """Let a screen reader say *text*; with *urgent* interrupt it.

    Uses an announcement, because Qt does not forward alerts on Linux.
    """
    if text and QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(widget, text)
        if urgent:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


def name_box(box: QComboBox, name: str) -> None:
    """Name a combo box for screen readers: on Linux the name is its current value, so the description has it too."""
    box.setAccessibleName(name)
    box.setAccessibleDescription(name)


def follow_selection(view: QAbstractItemView) -> None:
    """Make the only selected row the current row.

    A selection by a screen reader's own action does not move the current row, but the page shows and changes the
    current row.
    """
    selection = view.selectionModel()

    def follow() -> None:
        current = view.currentIndex()
        chosen = selection.selection()
        if chosen.count() == 1 and chosen.first().height() == 1 and not chosen.contains(current):
            column = current.column() if current.isValid() else chosen.first().left()
            first = chosen.first()
            index = view.model().index(first.top(), column, first.parent())
            selection.setCurrentIndex(index, selection.SelectionFlag.NoUpdate)

    # Deferred: keys and mouse move the selection first and the current row after it.
    later = QTimer(view, singleShot=True, interval=0)
    later.timeout.connect(follow)
    selection.selectionChanged.connect(lambda *_: later.start() if QAccessible.isActive() else None)


def close_when_chosen(menu: QMenu) -> None:
    """Close *menu* after one of its entries was used; an action by a screen reader would leave it open."""
    menu.triggered.connect(lambda _: menu.hide())
