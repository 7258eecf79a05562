"""Search for parts of a window by class and object name."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QGraphicsView

from app.views.topology.scene import TopologyScene

Part = TypeVar("Part", bound=QObject)


def find_child(parent: QObject, kind: type[Part], name: str = "") -> Part:
    """Return the first child of this class. With *name*, the child must also have this object name."""
    child_object = parent.findChild(kind, name) if name else parent.findChild(kind)
    assert isinstance(child_object, kind), f"{parent} has no {kind.__name__} {name}"
    return child_object


def get_scene(view: QGraphicsView) -> TopologyScene:
    """Return the scene with the cards and links of the canvas."""
    scene = view.scene()
    assert isinstance(scene, TopologyScene)
    return scene
