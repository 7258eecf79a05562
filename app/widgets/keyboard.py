"""Position of the keyboard focus."""

from __future__ import annotations

from typing import cast

from PySide6.QtWidgets import QWidget


def has_keys(view: QWidget) -> bool:
    """Return whether the keyboard is in *view*, or was when its window was last in front."""
    focus = view.window().focusWidget()
    return focus is not None and view.isAncestorOf(focus)  # Qt counts a widget as an ancestor of itself


def hand_keys(view: QWidget, part: QWidget | None) -> None:
    """Give the keyboard to *part* whenever *view* gets it; None: *view* keeps it."""
    view.setFocusProxy(cast(QWidget, part))  # the stubs do not allow None
