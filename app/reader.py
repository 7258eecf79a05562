"""Towards screen readers: the one way to have something said."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QComboBox, QWidget


def say(widget: QWidget, text: str, urgent: bool = False) -> None:
    """Have a screen reader say *text*; if *urgent* at once, whatever it is saying.

    An announcement, as the alerts of Qt are not handed on by its bridge to Linux.
    """
    if text and QAccessible.isActive():
        event = QAccessibleAnnouncementEvent(widget, text)
        if urgent:
            event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
        QAccessible.updateAccessibility(event)


def name_box(box: QComboBox, name: str) -> None:
    """Say what a choice is about: on Linux its name is what is chosen, so it stands in the description as well."""
    box.setAccessibleName(name)
    box.setAccessibleDescription(name)
