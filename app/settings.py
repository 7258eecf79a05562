"""Settings of the window on this machine, each key with its type and default, kept by QSettings.

What belongs to the learner (runs, results, unsaved queries) lies in the profile, see `app.storage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QByteArray, QSettings

Value = TypeVar("Value", bool, float, str, QByteArray)


@dataclass(frozen=True, slots=True)
class Key(Generic[Value]):
    """A setting's name and its value until somebody chooses another."""

    name: str
    default: Value


THEME: Final = Key("look/theme", "system")
FONT_SCALE: Final = Key("look/font_scale", 1.0)
LANGUAGE: Final = Key("look/language", "system")
REDUCED_MOTION: Final = Key("look/reduced_motion", False)
GEOMETRY: Final = Key("window/geometry", QByteArray())
LAYOUT_PROFILE: Final = Key("window/layout_profile", "learner")
PLACES: Final = Key("topology/places", "{}")
"""JSON: scenario -> card -> [x, y], where somebody has put it."""
RECENT: Final = Key("files/recent", "[]")
"""JSON: paths of scenario files, the one opened last first."""
BEFORE_PRESENTING: Final = Key("window/before_presenting", "")
"""Layout profile and text scale to go back to; empty while nobody presents."""
TOUR_SEEN: Final = Key("help/tour_seen", False)
NOTES: Final = Key("topology/notes", "{}")
"""JSON: scenario -> [[text, x, y]], what somebody has stuck on the canvas."""


def layout_key(profile: str) -> Key[QByteArray]:
    """Where the docks of a layout profile stood."""
    return Key(f"window/layout/{profile}", QByteArray())


FONT_SCALES: Final = (0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0)


class WindowSettings:
    """Typed access. A stored value of another type counts as none."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings(
            QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window"
        )

    def get(self, key: Key[Value]) -> Value:
        stored = self._store.value(key.name)
        kind = type(key.default)
        if isinstance(stored, str) and kind in (bool, float):
            stored = _read(stored, kind)
        return stored if isinstance(stored, kind) else key.default

    def set(self, key: Key[Value], value: Value) -> None:
        self._store.setValue(key.name, str(value) if isinstance(value, (bool, float)) else value)

    def remove(self, key: Key[Value]) -> None:
        """Back to the default."""
        self._store.remove(key.name)

    def sync(self) -> None:
        """Write to disk now."""
        self._store.sync()


def _read(text: str, kind: type) -> bool | float | None:
    if kind is bool:
        return {"True": True, "False": False}.get(text)
    try:
        return float(text)
    except ValueError:
        return None
