"""List of databases of a SQL window's connection, as in the toolbar of Management Studio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox

from app.widgets.tables import plain_tip
from app.words.language import tr
from engine.overrides import override

LEAST_PX: Final = 120
"""Minimum width of the box if large text leaves no more room. The list shows the full name."""


class DatabaseBox(QComboBox):
    """Database of the connection; a new choice sends a request to the server."""

    wanted = Signal(str)
    """The name of a database."""
    left = Signal()
    """Signal: Escape or a choice returns the focus to the text."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self.setAccessibleName(tr("Database"))
        self.setToolTip(plain_tip(tr("Database of this connection (Ctrl+U)")))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.setMinimumWidth(LEAST_PX)
        self.setProperty("small", "true")
        self.textActivated.connect(self._choose)

    def show_databases(self, names: Sequence[str], current: str) -> None:
        """Show the *names*; *current* is selected, also if it is none of them any more."""
        listed = [*names, *([current] if current and current not in names else [])]
        if listed != self._names:
            self._names = listed
            self.clear()
            self.addItems(listed)
        if self.currentText() != current and not self.view().isVisible():
            self.setCurrentIndex(self.findText(current, Qt.MatchFlag.MatchExactly))

    def _choose(self, name: str) -> None:
        self.left.emit()
        self.wanted.emit(name)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
