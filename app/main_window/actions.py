"""The window's own actions, named as in `app.widgets.keys`, with icons; menus, bars and the palette share them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.widgets import keys, theme
from app.widgets.theme import Tokens
from app.words.language import tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow

ICONS: Final = {
    "drill.open": "home",
    "drill.restart": "retry",
    "drill.hint": "hint",
    "drill.note": "note",
    "drill.finish": "finish",
    "time.play": "play",
    "time.step": "step",
    "time.next_event": "next-event",
    "time.next_state": "next-state",
    "time.faster": "faster",
    "time.slower": "slower",
    "fault.revert_all": "revert",
    "view.theme": "theme",
    "help.here": "help",
    "help.sheet": "book",
}
"""Name of an action -> its drawing in assets/icons."""


def build(owner: QWidget, doing: Mapping[str, Callable[[], Any]]) -> dict[str, QAction]:
    """An action for each name in *doing*, which work anywhere in the window of *owner*."""
    actions: dict[str, QAction] = {}
    for name, do in doing.items():
        action = actions[name] = QAction(tr(keys.BY_NAME[name].text), owner)
        action.setObjectName(name)
        action.triggered.connect(lambda _=False, do=do: do())
        owner.addAction(action)
    return actions


def add(window: MainWindow, doing: Mapping[str, Callable[[], Any]]) -> dict[str, QAction]:
    """Actions of a part of *window*, with their keys, in menus and palette like those of the window itself."""
    added = build(window, doing)
    window.actions_by_name |= added
    window.appearance.bind(added)
    return added


def show_keys(actions: Iterable[QAction]) -> None:
    """Tool tips that name the key."""
    for action in actions:
        shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        text = action.text().rstrip("…")
        action.setToolTip(f"{text} ({shortcut})" if shortcut else text)


def show_icons(actions: Mapping[str, QAction], colours: Tokens) -> None:
    """Icons in the colours of the theme in use."""
    for name, action in actions.items():
        if name in ICONS:
            action.setIcon(theme.icon(ICONS[name], colours))
