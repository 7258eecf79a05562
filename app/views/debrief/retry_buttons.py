"""Buttons that retry a run from a moment, with the time that is left there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton

from app.widgets.flow import FlowLayout
from app.words import formatting
from app.words.formatting import moment
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.model import Tick

Retry = Callable[[float, str], None]
"""Function that takes the moment in seconds, and the notice for it."""


def retry_button(begin: Tick, due_tick: Tick, action: str, retry: Retry) -> QPushButton:
    """Build a button for a retry from *begin* on, early enough to act by *at*; *what* is the due action."""
    left = formatting.seconds((due_tick - begin) / TICKS_PER_S, 0)
    text, said = tr("Retry from {moment}"), ""
    if due_tick > begin:
        text = tr("Retry {left} before this ({moment})")
        said = tr("{left} until {at}: {what}").format(left=left, at=moment(due_tick), what=action)
    button = QPushButton(text.format(left=left, moment=moment(begin)))
    button.setToolTip(tr("Enough time to look and type. The clock is paused until you press Run."))
    button.clicked.connect(lambda _=False: retry(begin / TICKS_PER_S, said))
    return button


def buttons(*row: QPushButton) -> FlowLayout:
    """Return small buttons, side by side."""
    layout = FlowLayout(8)
    layout.setContentsMargins(0, 4, 0, 0)
    for button in row:
        button.setProperty("small", "true")
        layout.addWidget(button)
    return layout
