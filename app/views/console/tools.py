"""Actions of a query window with their keys, and the toolbar that shows some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence, QPalette
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app.widgets import keys, theme
from app.widgets.bars import hang
from app.words.language import tr
from engine.overrides import override

IN_BAR: Final = ("run", "cancel", "parse", "text", "snippets", "history", "zoom")
RARE: Final = ("text", "history", "snippets", "parse", "zoom")
"""Actions that move behind an arrow if there is no room, least used first."""


@dataclass(frozen=True, slots=True)
class ConsoleTool:
    """Tool; its keys are in `app.widgets.keys` under `query.` and its name."""

    name: str
    text: str
    icon: str
    do: Callable[[], object]


def build_actions(owner: QWidget, acts: Iterable[ConsoleTool]) -> dict[str, QAction]:
    """Return actions that work while the keyboard is anywhere inside *owner*."""
    actions = {}
    for act in acts:
        action = actions[act.name] = QAction(act.text, owner)
        its_keys = keys.BY_NAME[f"query.{act.name}"].ssms
        action.setShortcuts([QKeySequence(key) for key in its_keys])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        said = act.text.replace("&", "")
        action.setToolTip(f"{said} ({its_keys[0]})" if its_keys else said)
        action.setProperty("drawing", act.icon)  # "icon" is a property of QAction itself
        action.triggered.connect(lambda _=False, do=act.do: do())
        owner.addAction(action)
    actions["text"].setCheckable(True)
    actions["history"].setCheckable(True)
    show_icons(actions, owner.palette())
    return actions


def show_icons(actions: Mapping[str, QAction], palette: QPalette) -> None:
    """Show icons in the colors of the current theme."""
    for action in actions.values():
        if action.property("drawing"):
            action.setIcon(theme.icon(action.property("drawing"), theme.tokens(palette)))


class ToolBar(QWidget):
    """Buttons next to the tabs; rarely used ones move behind an arrow if space is short."""

    def __init__(self, actions: Mapping[str, QAction], new_menu: QMenu) -> None:
        super().__init__()
        self._actions = actions
        self.buttons = {name: QToolButton() for name in IN_BAR}
        for name, button in self.buttons.items():
            button.setDefaultAction(actions[name])
        self.buttons["run"].setText(tr("Execute"))
        self.buttons["run"].setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.new = new = QToolButton()
        new.setAccessibleName(tr("New query"))
        new.setToolTip(tr("New query on another server (Ctrl+N: on the server of this window)"))
        self.more = QToolButton()
        self.more.setText("»")
        self.more.setToolTip(tr("More buttons"))
        self.more.setAccessibleName(tr("More buttons"))
        rest = QMenu(self)
        rest.aboutToShow.connect(lambda: self._fill(rest))
        hang(new_menu, new)
        hang(rest, self.more)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 0, 2, 0)
        layout.setSpacing(0)
        for button in (*self.buttons.values(), self.more, new):
            layout.addWidget(button)
        self.more.hide()

    def fit(self, room: int) -> None:
        """Take no more than *room* pixels, if it can be."""
        side = self.fontMetrics().height()
        for button in self.buttons.values():
            button.setIconSize(QSize(side, side))
            button.show()
        self.more.hide()
        self.new.setText(tr("New query ▾"))
        for name in RARE:
            if self.sizeHint().width() <= room:
                return
            self.more.show()
            self.buttons[name].hide()
        if self.sizeHint().width() > room:
            self.new.setText("+ ▾")

    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        menu.addActions([self._actions[name] for name, button in self.buttons.items() if button.isHidden()])


class CloseButton(QToolButton):
    """Close button of a tab."""

    def __init__(self) -> None:
        super().__init__()
        self.setIconSize(QSize(10, 10))
        self.setToolTip(tr("Close this window (Ctrl+F4)"))
        self.setAccessibleName(tr("Close this window"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._show_theme()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_theme()

    def _show_theme(self) -> None:
        self.setIcon(theme.icon("close", theme.tokens(self.palette())))
