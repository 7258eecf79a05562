"""Signature of an exported debrief: the player's name and the time of the run."""

from __future__ import annotations

import getpass
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app import settings
from app.widgets.ask_text import ask_text
from app.words.language import tr

if TYPE_CHECKING:
    from app.settings import WindowSettings


def get_player_name(store: WindowSettings) -> str:
    """Return the name that the user has entered, or else the name of the user account."""
    chosen_name = store.get(settings.PLAYER_NAME)
    if chosen_name:
        return chosen_name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the account has no user name
        return ""


def ask_for_player_name(parent: QWidget, store: WindowSettings) -> None:
    """Ask for the name to print in this and later debriefs."""
    name = ask_text(
        parent, tr("Name on debriefs"), tr("Your name on exported debriefs:"), get_player_name(store)
    )
    if name is not None:
        store.set(settings.PLAYER_NAME, " ".join(name.split()))


def format_local_time(time: datetime | None = None) -> str:
    """Format *time* as date and time in this computer's time zone. None formats the current time."""
    return (time.astimezone() if time is not None else datetime.now().astimezone()).strftime("%Y-%m-%d %H:%M")
