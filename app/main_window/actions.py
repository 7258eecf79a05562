"""The window's own actions, named as in `app.widgets.keys`, with icons; menus, bars and the palette share them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from app.widgets import docks, keys, theme
from app.widgets.theme import ThemeTokens
from app.words.language import tr
from engine.overrides import override

GROUPS: Final = ("drill", "time", "fault", "view", "teach", "help")
"""First part of the action names of the window; other groups of `app.widgets.keys` belong to single views."""
ONLY_ON_DESK: Final = {
    "drill.restart",
    "drill.hint",
    "drill.note",
    "drill.act",
    "drill.finish",
    "view.say",
    "view.zoom",
} | {f"view.{name}" for name in docks.NAMES}
"""Actions without meaning outside a drill, in addition to those of time and faults."""
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


class Actions(QObject):
    """All actions of the window by name; each is connected when its part of the window is created."""

    def __init__(self, owner: QWidget) -> None:
        """Create actions that work anywhere in the window of *owner*."""
        super().__init__(owner)
        self.by_name: dict[str, QAction] = {}
        for row in keys.COMMANDS:
            if not row.fixed and row.name.partition(".")[0] in GROUPS:
                action = self.by_name[row.name] = QAction(tr(row.text), owner)
                action.setObjectName(row.name)
                owner.addAction(action)

    def connect_to(self, acts: Mapping[str, Callable[[], object]]) -> None:
        """Connect each action to its function. *acts*: name of an action -> function."""
        for name, do in acts.items():
            self.by_name[name].triggered.connect(lambda _=False, do=do: do())

    def show_page(self, on_desk: bool) -> None:
        """Disable actions that need a drill on screen."""
        for name, action in self.by_name.items():
            if name.partition(".")[0] in ("time", "fault") or name in ONLY_ON_DESK:
                action.setEnabled(on_desk)

    def show_theme(self, colors: ThemeTokens) -> None:
        """Show icons in the colors of the current theme, and tooltips that name the keys."""
        for name, drawing in ICONS.items():
            self.by_name[name].setIcon(theme.icon(drawing, colors))
        show_keys(self.by_name.values())


def show_keys(actions: Iterable[QAction]) -> None:
    """Show tooltips that name the key."""
    for action in actions:
        shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        text = action.text().rstrip("…")
        action.setToolTip(f"{text} ({shortcut})" if shortcut else text)


class DeskKeys(QObject):
    """Handler of keys that the panels of the desk have not used; texts, buttons and lists keep their own keys."""

    def __init__(
        self,
        window: QWidget,
        desk_page: QWidget,
        wanted: Callable[[], bool],
        acts: Mapping[str, Callable[[], object]],
    ) -> None:
        """Create the keys. *wanted*: predicate, whether the desk is shown.

        *acts*: row of `app.widgets.keys` -> function.
        """
        super().__init__(window)
        self._wanted = wanted
        self._acts = {key: do for name, do in acts.items() for key in keys.keys_of(keys.SSMS).get(name, ())}
        for widget in (window, desk_page):
            widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._wanted():
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            do = self._acts.get(keys.as_text(event.key())) if not modifiers.value else None
            if do is not None:
                if not event.isAutoRepeat():
                    do()
                return True
        return super().eventFilter(watched, event)
