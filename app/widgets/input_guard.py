"""Guard against input that was meant for the previous content of the screen.

Keys and clicks on a widget that has just appeared have no effect. The second click of a double click on a
button has no effect either. Enter presses the focused button on every platform.
"""

import time
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QWidget

from engine.overrides import override

GUARD_TIME_S: float = 0.5
"""Time in seconds during which a new widget ignores keys and clicks.

Assumed: a person reacts after 0.2 to 0.3 s, so an earlier key or click was meant for something else.
"""

_PRESS_TYPES: Final = frozenset({QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick})
_GUARDED_TYPES: Final = _PRESS_TYPES | {QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride}
_INPUT_EVENT_CLASSES: Final = frozenset({QMouseEvent, QKeyEvent})
_GUARD_END_PROPERTY: Final = "fresh until"


class InputGuard(QObject):
    """Event filter that drops keys and clicks that were meant for the previous content of the screen.

    It receives every key and click before the widget does.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._until_s = 0.0
        """Time at which the newest widget stops being guarded."""
        self._key_s = 0.0
        """Time of the last key press."""
        self._pressed_at = -1
        self._pressed: list[QObject] = []
        """Receivers of the last press: a widget, then the widgets around it, in order of delivery."""
        app.installEventFilter(self)

    @property
    def since_last_key_s(self) -> float:
        """Wall time since the last key press."""
        return time.monotonic() - self._key_s

    def record_appearance(self, widget: QWidget) -> None:
        """Record that *widget* and its children have just appeared or changed their meaning."""
        until_s = time.monotonic() + GUARD_TIME_S
        widget.setProperty(_GUARD_END_PROPERTY, until_s)
        self._until_s = max(self._until_s, until_s)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # fast path for all other events of the program, because `event.type()` is slow
        if type(event) not in _INPUT_EVENT_CLASSES:
            return False
        kind = event.type()
        if kind not in _GUARDED_TYPES or not isinstance(watched, QWidget):
            return False
        now_s = time.monotonic()
        if kind is QEvent.Type.KeyPress:
            self._key_s = now_s
        if now_s < self._until_s and _has_appeared_recently(watched, now_s):
            event.accept()
            return True
        if isinstance(event, QKeyEvent) and kind is QEvent.Type.KeyPress:
            return isinstance(watched, QPushButton) and _click_on_enter(watched, event)
        return (
            isinstance(event, QMouseEvent) and kind in _PRESS_TYPES and self._is_second_click(watched, event)
        )

    def _is_second_click(self, watched: QWidget, event: QMouseEvent) -> bool:
        """Return True if *event* is the second click of a double click and *watched* should ignore it."""
        if event.type() is QEvent.Type.MouseButtonPress:
            if event.timestamp() != self._pressed_at:
                self._pressed_at, self._pressed = event.timestamp(), []
            self._pressed.append(watched)
            return False
        if not isinstance(watched, QAbstractButton):
            return False
        is_elsewhere = not any(watched is pressed for pressed in self._pressed)
        return is_elsewhere or (isinstance(watched, QPushButton) and not watched.isCheckable())


def _click_on_enter(button: QPushButton, event: QKeyEvent) -> bool:
    """Click *button* if the key is Enter and the button is enabled, as in a dialog.

    Return True if it was clicked.
    """
    is_unmodified = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and not event.isAutoRepeat()
    if (
        event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        or not is_unmodified
        or not button.isEnabled()
    ):
        return False
    button.click()
    return True


def _has_appeared_recently(widget: QWidget, now_s: float) -> bool:
    """Return True if the widget, or a parent of it in the same window, has just appeared."""
    ancestor: QWidget | None = widget
    while ancestor is not None:
        until_s = ancestor.property(_GUARD_END_PROPERTY)
        if until_s is not None and now_s < until_s:
            return True
        ancestor = None if ancestor.isWindow() else ancestor.parentWidget()
    return False


def get_input_guard() -> InputGuard:
    """Return the guard of the program. Install it at the first call."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app.findChild(InputGuard) or InputGuard(app)
