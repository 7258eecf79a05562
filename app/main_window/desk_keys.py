"""Keys that reach the desk because no panel of it wants them: Space pauses, F5 executes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.widgets import keys
from engine.overrides import override


class DeskKeys(QObject):
    """Sees what the panels of the desk have left: text, buttons and lists keep their own keys."""

    def __init__(
        self,
        window: QWidget,
        desk_page: QWidget,
        wanted: Callable[[], bool],
        acts: Mapping[str, Callable[[], object]],
    ) -> None:
        """Create the keys.

        *wanted*: the desk is shown. *acts*: rows of `app.widgets.keys` -> functions.
        """
        super().__init__(window)
        self._wanted = wanted
        self._acts = {key: do for name, do in acts.items() for key in keys.keys_of(keys.SSMS).get(name, ())}
        for place in (window, desk_page):
            place.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._wanted():
            held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            do = self._acts.get(keys.as_text(event.key())) if not held.value else None
            if do is not None:
                if not event.isAutoRepeat():
                    do()
                return True
        return super().eventFilter(watched, event)
