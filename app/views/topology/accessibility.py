"""Canvas for screen readers: each card, link and note is a child of the topology with its own text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface, QAccessibleObject
from PySide6.QtWidgets import QAccessibleWidget

from app.views.topology.canvas import TopologyCanvas
from app.widgets.interfaces import register_factory

if TYPE_CHECKING:
    from app.views.topology.scene import Item

NO_INTERFACE: QAccessibleInterface = None  # type: ignore[assignment]
"""Qt's value for no interface, which the type stubs lack."""


class VoicedCanvas(TopologyCanvas):
    """Canvas whose items a screen reader can visit."""

    @property
    def summary(self) -> str:
        """Description of the whole picture."""
        raise NotImplementedError

    def voices(self) -> list[AccessibleItem]:
        """Return the items in reading order."""
        raise NotImplementedError


class AccessibleItem(QObject):
    """QObject that represents a canvas item for screen readers, because an item is not a QObject."""

    def __init__(self, view: VoicedCanvas, item: Item) -> None:
        super().__init__(view)
        self.view = view
        self.item = item


class _ItemInterface(QAccessibleObject):
    """Name, place and state of one item."""

    def __init__(self, voice: AccessibleItem) -> None:
        super().__init__(voice)
        self._voice = voice

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self._voice.view)

    def child(self, index: int) -> QAccessibleInterface:
        return NO_INTERFACE

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.Graphic

    def text(self, kind: QAccessible.Text) -> str:
        face = self._voice.item.face
        if kind == QAccessible.Text.Name:
            return str(face.spoken)
        return ""

    def rect(self) -> QRect:
        view, item = self._voice.view, self._voice.item
        box = view.mapFromScene(item.sceneBoundingRect()).boundingRect()
        return QRect(view.viewport().mapToGlobal(box.topLeft()), box.size())

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = state.selectable = True
        chosen = self._voice.item.isSelected()
        state.selected = state.focused = chosen
        return state


class _ViewInterface(QAccessibleWidget):
    """The topology with its items as children."""

    def __init__(self, view: VoicedCanvas) -> None:
        super().__init__(view, QAccessible.Role.Chart, view.accessibleName())
        self._view = view

    def text(self, kind: QAccessible.Text) -> str:
        return str(self._view.summary) if kind == QAccessible.Text.Description else super().text(kind)

    def childCount(self) -> int:
        return len(self._view.voices())

    def child(self, index: int) -> QAccessibleInterface:
        voices = self._view.voices()
        if not 0 <= index < len(voices):  # the item was removed a moment ago
            return NO_INTERFACE
        return QAccessible.queryAccessibleInterface(voices[index])

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        voices = self._view.voices()
        return next((place for place, voice in enumerate(voices) if voice is child.object()), -1)


def _interface_of(_: str, target: QObject) -> QAccessibleInterface | None:
    if isinstance(target, AccessibleItem):
        return _ItemInterface(target)
    return _ViewInterface(target) if isinstance(target, VoicedCanvas) else None


@cache
def install() -> None:
    """Register this factory with Qt; once per process."""
    register_factory(_interface_of)
