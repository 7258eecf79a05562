"""The slim bar of buttons on top of a panel: reached by Tab, and no hindrance to a narrow dock."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolBar, QToolButton, QWidget

from app import theme
from app.language import tr


class Bar(QToolBar):
    """Buttons with text; what does not fit goes behind an arrow at its end."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setMovable(False)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fit()
        self._show_arrow()

    def put(self, actions: Iterable[QAction | None]) -> None:
        """Add buttons for *actions*; None is a line."""
        for action in actions:
            if action is None:
                self.addSeparator()
                continue
            self.addAction(action)
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()
        elif event.type() == QEvent.Type.PaletteChange:
            self._show_arrow()

    def _show_arrow(self) -> None:
        """Qt's own arrow is black in every theme."""
        arrow = self.findChild(QToolButton, "qt_toolbar_ext_button")
        if arrow is not None:
            arrow.setIcon(theme.icon("more", theme.tokens(self.palette())))
            arrow.setStyleSheet("padding: 0px;")  # it is narrow
            arrow.setAccessibleName(tr("More buttons"))

    def _fit(self) -> None:
        side = self.fontMetrics().height()
        self.setIconSize(QSize(side, side))
