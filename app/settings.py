"""Settings of the window, each with its name, type and default. QSettings stores them in the profile folder.

Data of the learner (runs, results, drafts) is stored in the profile's database, see `app.storage`.
"""

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

from msgspec import Struct
from PySide6.QtCore import QByteArray, QSettings

from app.files import atomic_write
from app.files.folders import get_profile_folder, is_special_file, make_file_private
from app.words.language import tr

Value = TypeVar("Value", bool, float, str, QByteArray)


class WindowSettingKey(Struct, Generic[Value], frozen=True):
    """Setting of the window: its name in the settings file, and its default value."""

    name: str
    default: Value
    bounds: tuple[float, float] | None = None
    """Minimum and maximum of a number. A value out of range is ignored."""


THEME: Final = WindowSettingKey("look/theme", "system")
FONT_SCALES: Final = (0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)
WIDE_SCREEN_PX, WIDE_SCREEN_TEXT_SCALE = 1800, 1.2
"""Width of a screen in pixels from which the first start uses this text scale.

Larger text is better than wide margins.
"""
FONT_SCALE: Final = WindowSettingKey("look/font_scale", 1.0, bounds=(FONT_SCALES[0], FONT_SCALES[-1]))
LANGUAGE: Final = WindowSettingKey("look/language", "system")
REDUCED_MOTION: Final = WindowSettingKey("look/reduced_motion", False)
ALWAYS, PRESENTING, NEVER = "always", "presenting", "never"
FAILOVER_STAGING: Final = WindowSettingKey("look/failover_moment", ALWAYS)
"""Runs in which failovers are shown on the stage: ALWAYS (except exams), PRESENTING or NEVER."""
WINDOW_GEOMETRY: Final = WindowSettingKey("window/geometry", QByteArray())
LAYOUT_PROFILE: Final = WindowSettingKey("window/layout_profile", "learner")
CARD_POSITIONS: Final = WindowSettingKey("topology/places", "{}")
"""Setting with JSON: scenario -> card -> [x, y], the position to which the user has moved the card."""
RECENT_FILES: Final = WindowSettingKey("files/recent", "[]")
"""Setting with a JSON list of paths of recent files, newest first."""
STATE_BEFORE_PRESENTING: Final = WindowSettingKey("window/before_presenting", "")
"""Layout and text scale before the presenter mode; empty while the mode is off."""
THEME_BEFORE_CONTRAST: Final = WindowSettingKey("look/before_contrast", "")
"""Theme before the change to high contrast. Pressing the key for high contrast again restores this theme."""
PLAYER_NAME: Final = WindowSettingKey("export/player", "")
"""Name on exported debriefs; empty for the name of the user account."""
REFLECT_FIRST: Final = WindowSettingKey("debrief/reflect_first", False)
"""True if the program asks for a reflection on a run before it shows the points."""
CLASS_SEAT: Final = WindowSettingKey("class/seat", "")
"""Setting with JSON: code, name and consent of the last class, and whether the seat is still in the class."""
HOSTED_CLASS_DATABASE: Final = WindowSettingKey("class/held", "")
"""Path of the database of the class that this window hosts; empty after the class was closed."""
INTRODUCTION_SEEN: Final = WindowSettingKey("help/tour_seen", False)
TOPOLOGY_NOTES: Final = WindowSettingKey("topology/notes", "{}")
"""Setting with JSON: scenario -> [[text, x, y]], the notes on the topology."""


def build_layout_key(profile: str) -> WindowSettingKey[QByteArray]:
    """Return the setting that stores the dock layout *profile*."""
    return WindowSettingKey(f"window/layout/{profile}", QByteArray())


COORDINATE_MAX: Final = 100_000.0
"""Maximum coordinate of cards and notes, in units of the topology. Assumed."""

SETTINGS_FILE_NAME: Final = "window.ini"
UNSAVED_FILE_NAME: Final = ":/nowhere/window.ini"
"""File name for settings that are lost when the window closes.

The name belongs to a Qt resource, which Qt cannot write.
"""


class WindowSettings:
    """Settings with typed access. A stored value of another type is ignored."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._obstacle = _find_obstacle(get_profile_folder() / SETTINGS_FILE_NAME) if store is None else None
        if self._obstacle is not None:
            store = QSettings(UNSAVED_FILE_NAME, QSettings.Format.IniFormat)
            store.clear()  # removes settings that Qt remembers from an earlier window of this process
        self._store = store or _open_profile_settings()
        self.changed: Callable[[], object] = lambda: None
        """Function that is called after each change."""

    @property
    def write_problem(self) -> str:
        """Problem with writing the settings, as a sentence; empty if they can be written.

        Reading this property writes them.
        """
        if self._obstacle is not None:
            text = tr(
                "{file} is not a file. The window starts with default settings and does not save changes."
            )
            return text.format(file=self._obstacle)
        # Qt keeps the error status of an object; a new object can write again.
        settings = QSettings(self._store.fileName(), self._store.format())
        settings.sync()
        if settings.status() is not QSettings.Status.AccessError:
            return ""
        text = tr(
            "Cannot write {file}, so layout, theme, shortcuts and recent files are not saved. "
            "Free some disk space, or get write permission for the file and its folder."
        )
        return text.format(file=self._store.fileName())

    def get(self, key: WindowSettingKey[Value]) -> Value:
        """Return the value of a setting, or its default."""
        stored = self._store.value(key.name)
        kind = type(key.default)
        if isinstance(stored, str) and kind in (bool, float):
            stored = _parse_value(stored, kind)
        if isinstance(stored, float) and key.bounds is not None:
            minimum, maximum = key.bounds
            if not minimum <= stored <= maximum:  # also rejects NaN
                return key.default
        return stored if isinstance(stored, kind) else key.default

    def has_value(self, key: WindowSettingKey[Value]) -> bool:
        """Return whether a value is stored, even if it is invalid."""
        return self._store.contains(key.name)

    def read_json(self, key: WindowSettingKey[str]) -> object:
        """Parse the text of a setting as JSON.

        Return None if the text is invalid or nested too deeply, or if it contains NaN or infinity.
        """
        try:
            return json.loads(self.get(key), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return None

    def set(self, key: WindowSettingKey[Value], value: Value) -> None:
        """Store the value of a setting."""
        self._store.setValue(key.name, str(value) if isinstance(value, (bool, float)) else value)
        self.changed()

    def remove(self, key: WindowSettingKey[Value]) -> None:
        """Remove the stored value, so that the default applies."""
        self._store.remove(key.name)
        self.changed()

    def sync(self) -> None:
        """Write the settings to disk now."""
        self._store.sync()


def _find_obstacle(file: Path) -> Path | None:
    """Return the special file that prevents saving the settings: *file* itself or Qt's lock file for it.

    None: both are regular files or do not exist.
    """
    return next(filter(is_special_file, (file, file.with_name(file.name + ".lock"))), None)


def _open_profile_settings() -> QSettings:
    """Open the settings file in the profile folder, so that nothing is written outside that folder.

    Version 0.1.0 stored the settings at the system's location. Such settings are moved once.
    """
    file = get_profile_folder() / SETTINGS_FILE_NAME
    _remove_objects(file)
    is_first_start = not file.exists()
    make_file_private(file)
    store = QSettings(str(file), QSettings.Format.IniFormat)
    before = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window")
    before.setFallbacksEnabled(False)
    if is_first_start and Path(before.fileName()).is_file() and before.allKeys():
        for name in before.allKeys():
            store.setValue(name, before.value(name))
        store.sync()
        if store.status() is QSettings.Status.NoError:
            with contextlib.suppress(OSError):  # on an error, the old file remains, but it is not read again
                Path(before.fileName()).unlink()
                Path(before.fileName()).parent.rmdir()
    return store


def _remove_objects(file: Path) -> None:
    """Remove values that Qt would convert to objects, because a damaged object would end the process.

    This program writes no objects.
    """
    try:
        text = file.read_bytes() if file.stat().st_size <= SETTINGS_BYTES_MAX else b""
    except OSError:
        return  # Qt reports this problem
    lines = re.sub(rb"\\\r?\n", b"", text).splitlines(keepends=True)
    harmless = [line for line in lines if not _OBJECT_VALUE_PATTERN.search(_unescape(line))]
    if len(harmless) < len(lines) or (not text and file.stat().st_size):
        with contextlib.suppress(OSError):
            atomic_write.write_atomically(file, b"".join(harmless))


SETTINGS_BYTES_MAX: Final = 4_000_000
"""Maximum size of the settings file in bytes. Assumed: a hundred times the usual size."""
_OBJECT_VALUE_PATTERN: Final = re.compile(rb"@(?:Variant|DateTime)\(")
"""Pattern of values that QSettings decodes with QDataStream."""


def _unescape(line: bytes) -> bytes:
    """Unescape a line as QSettings does: remove quotes, and decode numeric characters."""
    plain_line = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), line)
    return re.sub(rb"\\([0-7]{1,3})", lambda match: bytes([int(match[1], 8) & 255]), plain_line).replace(
        b'"', b""
    )


def _refuse_constant(literal: str) -> None:
    raise ValueError(literal)


def _parse_value(text: str, kind: type) -> bool | float | None:
    if kind is bool:
        return {"True": True, "False": False}.get(text)
    try:
        return float(text)
    except ValueError:
        return None
