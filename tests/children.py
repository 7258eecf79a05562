"""Parts of a window, found as Qt finds them: by class and object name."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QGraphicsView

from app.views.topology.scene import TopologyScene

Part = TypeVar("Part", bound=QObject)


def find_child(parent: QObject, kind: type[Part], name: str = "") -> Part:
    """Return the first part of this class and, if given, of this name."""
    child_object = parent.findChild(kind, name) if name else parent.findChild(kind)
    assert isinstance(child_object, kind), f"{parent} has no {kind.__name__} {name}"
    return child_object


def get_scene(view: QGraphicsView) -> TopologyScene:
    """Return the cards and links on the canvas."""
    scene = view.scene()
    assert isinstance(scene, TopologyScene)
    return scene
