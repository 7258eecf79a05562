"""Accessibility interfaces for objects for which Qt has no interface or a faulty one."""

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget

CreateInterface = Callable[[str, QObject], QAccessibleInterface | None]
"""Function of a class name and an object that returns the accessible interface of the object, or None.

For each object, Qt tries the name of its most derived class first, then the names of its base classes.
"""

REPLACED_CLASSES: Final = ("QScrollArea", "QAbstractScrollArea")
"""Classes whose Qt interface is replaced. Lists, tables and texts have their own interfaces."""

_INTERFACES: Final[dict[int, QAccessibleInterface]] = {}
"""Sequence number -> accessible interface.

The dictionary keeps each interface alive until the object it describes is destroyed, because Qt does not own
Python objects.
"""
_INTERFACE_NUMBERS: Final = count()
_INTERFACE_FACTORIES: Final[list[CreateInterface]] = []


def register_interface_factory(factory: CreateInterface) -> None:
    """Make Qt call *factory* before it creates an interface itself."""

    def create_interface(name: str, target: QObject) -> QAccessibleInterface | None:
        interface = factory(name, target)
        if interface is not None:
            number = next(_INTERFACE_NUMBERS)
            _INTERFACES[number] = interface
            # The removal is deferred, because Qt must first delete the interface together with its object.
            target.destroyed.connect(lambda: QTimer.singleShot(0, lambda: _INTERFACES.pop(number, None)))
        return interface

    _INTERFACE_FACTORIES.append(create_interface)
    QAccessible.installFactory(create_interface)


class _ScrollAreaInterface(QAccessibleWidget):
    """Accessible interface of a scroll area that behaves like the interface of any other widget."""

    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area, QAccessible.Role.Client)


def _create_area_interface(name: str, target: QObject) -> QAccessibleInterface | None:
    return (
        _ScrollAreaInterface(target)
        if name in REPLACED_CLASSES and isinstance(target, QAbstractScrollArea)
        else None
    )


@cache
def register_scroll_area_interface() -> None:
    """Replace Qt's accessible interface of scroll areas.

    Qt 6.11 crashes when a screen reader queries a scroll bar that was just removed, for example on a closing
    page.
    Qt's interface reads beyond the end of the list of child widgets.
    """
    register_interface_factory(_create_area_interface)
