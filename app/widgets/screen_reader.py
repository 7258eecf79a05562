"""Support for screen readers and keyboard use: announcements, row selection and focus."""

from typing import cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLineEdit, QMenu, QWidget

from engine.overrides import override


def has_keyboard_focus(view: QWidget) -> bool:
    """Return True if the focus is in *view*, or was there when its window was last active."""
    focus = view.window().focusWidget()
    return focus is not None and view.isAncestorOf(focus)  # in Qt, a widget is an ancestor of itself


def forward_focus(view: QWidget, part: QWidget | None) -> None:
    """Pass the focus to *part* whenever *view* receives it. None means that *view* keeps the focus."""
    view.setFocusProxy(cast(QWidget, part))  # the stubs do not allow None


def find_focus_target(view: QWidget) -> QWidget:
    """Return the widget in *view* that should receive the keyboard focus.

    This is the view if it accepts keys, or else its table, or else the first widget in Tab order.
    """
    if view.focusProxy() is not None or view.focusPolicy() != Qt.FocusPolicy.NoFocus:
        return view
    childs = [
        child
        for child in view.findChildren(QWidget)
        if child.isVisible() and child.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    return next((child for child in childs if isinstance(child, QAbstractItemView)), (*childs, view)[0])


class HistoryLine(QLineEdit):
    """Input field that sends its line on Enter. Up and Down recall earlier lines."""

    line_entered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sent_lines: list[str] = []
        self._position = 0
        self.returnPressed.connect(self.send_line)

    def send_line(self) -> None:
        """Send the text unless it is blank, and store it for Up and Down."""
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


def announce_text(widget: QWidget, text: str, is_urgent: bool = False) -> None:
    """Make a screen reader say *text*. If *is_urgent*, interrupt its current speech.

    An announcement event is used, because Qt does not forward alert events on Linux.
    """
    if text and QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(widget, text)
        if is_urgent:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


def set_accessible_box_name(box: QComboBox, name: str) -> None:
    """Set the accessible name and description of a combo box.

    Both are needed, because screen readers on Linux read the selected value instead of the name.
    """
    box.setAccessibleName(name)
    box.setAccessibleDescription(name)


def make_selected_row_current(view: QAbstractItemView) -> None:
    """Make the selected row the current row if exactly one row is selected.

    Pages use the current row, but a selection by a screen reader does not change it.
    """
    selection = view.selectionModel()

    def follow() -> None:
        current = view.currentIndex()
        item_selection = selection.selection()
        if (
            item_selection.count() == 1
            and item_selection.first().height() == 1
            and not item_selection.contains(current)
        ):
            column = current.column() if current.isValid() else item_selection.first().left()
            first_range = item_selection.first()
            index = view.model().index(first_range.top(), column, first_range.parent())
            selection.setCurrentIndex(index, selection.SelectionFlag.NoUpdate)

    # The timer delays `follow`, because keys and mouse change the selection before the current row.
    timer = QTimer(view, singleShot=True, interval=0)
    timer.timeout.connect(follow)
    selection.selectionChanged.connect(lambda *_: timer.start() if QAccessible.isActive() else None)


def close_menu_after_use(menu: QMenu) -> None:
    """Make *menu* close whenever one of its entries is used, even if a screen reader triggers the entry."""
    menu.triggered.connect(lambda _: menu.hide())
