"""Accessibility interfaces for objects for which Qt has none or a faulty one."""

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget

Make = Callable[[str, QObject], QAccessibleInterface | None]
"""Function that returns the interface of an object as one of a class, or None.

Qt asks for each class of an object, the most derived first.
"""

MENDED: Final = ("QScrollArea", "QAbstractScrollArea")
"""Classes whose Qt interface is corrected; lists, tables and texts match earlier by their own names."""

_KEPT: Final[dict[int, QAccessibleInterface]] = {}
"""Interfaces by number, kept until their object is destroyed, because Qt keeps no Python object alive."""
_NUMBERS: Final = count()
_ASKED: Final[list[Make]] = []


def register_factory(make: Make) -> None:
    """Let Qt ask *make* before it creates an interface itself."""

    def create_interface(name: str, target: QObject) -> QAccessibleInterface | None:
        interface = make(name, target)
        if interface is not None:
            number = next(_NUMBERS)
            _KEPT[number] = interface
            # Deferred: Qt deletes the interface with its object, and must do so first.
            target.destroyed.connect(lambda: QTimer.singleShot(0, lambda: _KEPT.pop(number, None)))
        return interface

    _ASKED.append(create_interface)
    QAccessible.installFactory(create_interface)


class _Area(QAccessibleWidget):
    """Widgets in a scroll area, by the normal rules."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area, QAccessible.Role.Client)


def _create_area_interface(name: str, target: QObject) -> QAccessibleInterface | None:
    return _Area(target) if name in MENDED and isinstance(target, QAbstractScrollArea) else None


@cache
def register_scroll_areas() -> None:
    """Replace Qt's accessible interface of scroll areas.

    Qt's own interface reads beyond the end of its children and crashes (Qt 6.11) if a screen reader asks for a
    scroll bar that has just gone, for example while it walks through a page that closes.
    """
    register_factory(_create_area_interface)
