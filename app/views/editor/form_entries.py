"""Entries of one list of a scenario, with their commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QGridLayout, QListWidget, QPushButton, QSizePolicy, QWidget

from app.words.language import mark, tr
from engine.overrides import override

ENTRIES_SHOWN: Final = 5
ENTRIES_SHOWN_NARROW: Final = 3
"""Minimum visible rows."""
_ALT, _CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
ENTRY_KEYS: Final = {
    "add": (mark("Add"), QKeyCombination(Qt.Key.Key_Insert)),
    "copy": (mark("Duplicate"), QKeyCombination(_CTRL, Qt.Key.Key_D)),
    "remove": (mark("Remove"), QKeyCombination(Qt.Key.Key_Delete)),
    "up": (mark("Move up"), QKeyCombination(_ALT, Qt.Key.Key_Up)),
    "down": (mark("Move down"), QKeyCombination(_ALT, Qt.Key.Key_Down)),
}
"""Commands for an entry: their buttons, and their keys in the list."""


class FormEntries(QWidget):
    """List with buttons and equivalent keys; the owner implements the commands."""

    chosen = Signal(int)
    """Signal: index of the selected entry."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = QListWidget()
        self.doings = {name: QPushButton(tr(title)) for name, (title, _) in ENTRY_KEYS.items()}
        self._buttons = QGridLayout()
        self._buttons.setSpacing(4)
        for name, button in self.doings.items():
            title, key = ENTRY_KEYS[name]
            button.setProperty("small", "true")
            button.setAutoDefault(False)
            keys = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            button.setToolTip(f"{tr(title)} ({keys})")
            button.setAccessibleName(tr(title))
        for name, arrow in (("up", "↑"), ("down", "↓")):
            self.doings[name].setText(arrow)
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.rows, 0, 0)
        self.narrow = True
        self.make_narrow(False)
        self.rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.rows.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.rows.currentRowChanged.connect(lambda at: self.chosen.emit(at) if at >= 0 else None)
        self.rows.installEventFilter(self)

    def make_narrow(self, narrow: bool) -> None:
        """Use fewer rows with the buttons below them, on a narrow page."""
        if narrow == self.narrow:
            return
        self.narrow = narrow
        self._layout.removeItem(self._buttons)
        for button in self.doings.values():
            self._buttons.removeWidget(button)
        for at, (name, button) in enumerate(self.doings.items()):
            if narrow:
                self._buttons.addWidget(button, 0, at)
            elif name in ("up", "down"):
                self._buttons.addWidget(button, 3, at - 3)
            else:
                self._buttons.addWidget(button, at, 0, 1, 2)
        self._buttons.setRowStretch(4, 0 if narrow else 1)
        self._layout.addLayout(self._buttons, 1 if narrow else 0, 0 if narrow else 1)
        self._fit()

    def _fit(self) -> None:
        shown = ENTRIES_SHOWN_NARROW if self.narrow else ENTRIES_SHOWN
        self.rows.setMinimumHeight(shown * (self.fontMetrics().height() + 4) + 8)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def show_entries(self, title: str, labels: Sequence[str], selected_index: int) -> None:
        """Show one row for each of *said*; *chosen* is selected, or the last if there are fewer."""
        self.rows.blockSignals(True)
        while self.rows.count() > len(labels):
            self.rows.takeItem(self.rows.count() - 1)
        for at, text in enumerate(labels):
            if at >= self.rows.count():
                self.rows.addItem("")
            self.rows.item(at).setText(text)
            self.rows.item(at).setToolTip(text)
        self.rows.setCurrentRow(min(selected_index, len(labels) - 1))
        self.rows.blockSignals(False)
        self.rows.setAccessibleName(title)
        self.doings["add"].setAccessibleName(tr("Add to {section}").format(section=title))
        self.doings["remove"].setAccessibleName(tr("Remove from {section}").format(section=title))
        at = self.rows.currentRow()
        for name, on in (
            ("copy", bool(labels)),
            ("remove", bool(labels)),
            ("up", at > 0),
            ("down", 0 <= at < len(labels) - 1),
        ):
            self.doings[name].setEnabled(on)

    def order_behind(self, previous_widget: QWidget) -> QWidget:
        """Set the Tab order from *before* to the list and its buttons; return the last of them."""
        for widget in (self.rows, *self.doings.values()):
            self.setTabOrder(previous_widget, widget)
            previous_widget = widget
        return previous_widget

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            for name, (_, key) in ENTRY_KEYS.items():
                if event.keyCombination() == key:
                    self.doings[name].click()
                    return True
        return super().eventFilter(watched, event)
