"""Small toolbar on the canvas: actions of the selected object, and zoom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QPalette
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QMenu, QToolButton, QWidget

from app.widgets import theme
from app.widgets.bars import hang
from app.words.language import tr

_ICONS = {
    "note": "note",
    "spotlight": "spotlight",
    "find": "find",
    "fit": "fit",
    "larger": "zoom-in",
    "smaller": "zoom-out",
    "rearrange": "retry",
}


MARGIN_PX: Final = 6
OPENS: Final = "▾"


class CanvasTools(QFrame):
    """Toolbar in a corner of the canvas."""

    def __init__(self, parent: QWidget, actions: dict[str, QAction], fill: Callable[[QMenu], None]) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)  # may lie over a card
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._actions = actions
        self._act = QToolButton()
        self._label_texts = OPENS
        self._act.setToolTip(tr("Actions for the selected item (Enter or right-click)"))
        menu = QMenu(self)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: fill(menu))
        hang(menu, self._act)
        self._act.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 2, 2)
        row.setSpacing(0)
        row.addWidget(self._act)
        self._buttons = [self._button(action) for action in actions.values()]
        for button in self._buttons:
            row.addWidget(button)
        self.show_target(None)
        self.show_theme()

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton()
        button.setDefaultAction(action)
        # the canvas keeps the keyboard focus; its keys do the same
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def show_target(self, title: str | None) -> None:
        """Show the name of the selected object."""
        self._act.setEnabled(title is not None)
        self._label_texts = tr("Actions: {title} ▾").format(title=title) if title else tr("No selection")
        self._act.setAccessibleName(self._label_texts)
        self.move_to_corner()

    def show_theme(self) -> None:
        """Apply the icons of the theme."""
        colors = theme.tokens(self.palette())
        side = round(QFontMetrics(QApplication.font()).height() * 1.05)  # its own font may not be updated yet
        for name, action in self._actions.items():
            action.setIcon(theme.icon(_ICONS[name], colors))
        for button in self._buttons:
            button.setIconSize(QSize(side, side))
        self.move_to_corner()

    def move_to_corner(self) -> None:
        """Move to the lower right corner, which cards leave free; texts without room are hidden."""
        parent = self.parentWidget()
        self._act.setText(self._label_texts)
        self.adjustSize()
        if parent is not None:
            if self.width() > parent.width() - 2 * MARGIN_PX:
                self._act.setText(OPENS)
                self.adjustSize()
            right, lower = parent.width() - self.width(), parent.height() - self.height()
            self.move(right - MARGIN_PX, lower - MARGIN_PX)


def zoom_actions(owner: QWidget, doing: Sequence[tuple[str, str, Callable[[], None]]]) -> dict[str, QAction]:
    """Build actions by name from (name, text with its key, description)."""
    actions: dict[str, QAction] = {}
    for name, text, do in doing:
        actions[name] = QAction(text, owner)
        actions[name].triggered.connect(lambda _=False, do=do: do())
    return actions
