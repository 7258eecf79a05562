"""Tests of window settings in the profile folder. The program moves those of the first version there once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QWidget

from app import settings
from app.main_window.files import RecentFilesMenu
from app.settings import PLAYER_NAME, WindowSettings
from tests.disk import limit_file_size


@pytest.fixture
def old_settings(tmp_path: Path) -> QSettings:
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "config"))
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window")


def test_settings_are_written_only_into_the_profile_folder(
    old_settings: QSettings, profile_folder: Path
) -> None:
    store = WindowSettings()
    store.set(settings.THEME, "dark")
    store.sync()
    assert "dark" in (profile_folder / settings.SETTINGS_FILE_NAME).read_text()
    assert not Path(old_settings.fileName()).exists()
    assert WindowSettings().get(settings.THEME) == "dark"


def test_settings_of_the_first_version_are_moved_once(old_settings: QSettings, profile_folder: Path) -> None:
    old_settings.setValue(settings.THEME.name, "dark")
    old_settings.setValue(settings.FONT_SCALE.name, "1.5")
    old_settings.sync()
    store = WindowSettings()
    assert (store.get(settings.THEME), store.get(settings.FONT_SCALE)) == ("dark", 1.5)
    assert not Path(old_settings.fileName()).exists()
    store.remove(settings.THEME)
    store.sync()
    settings_again = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window")
    settings_again.setValue(settings.THEME.name, "light")  # Version 0.1.0 was started again.
    settings_again.sync()
    assert WindowSettings().get(settings.THEME) == settings.THEME.default


@pytest.mark.parametrize(
    "stored", ["nan", "inf", "-inf", "0", "-1", "1e308", "", "\u202e", "x" * 100_000, "[]"]
)
def test_an_impossible_text_size_is_ignored(stored: str, profile_folder: Path) -> None:
    """With an infinite text size, the fonts of the window became infinitely large."""
    file = QSettings(str(profile_folder / settings.SETTINGS_FILE_NAME), QSettings.Format.IniFormat)
    file.setValue(settings.FONT_SCALE.name, stored)
    file.sync()
    assert WindowSettings().get(settings.FONT_SCALE) == 1.0


@pytest.mark.parametrize("stored", ["", "null", "[NaN]", "[" * 100_000, "{", '{"a": -Infinity}'])
def test_invalid_json_is_ignored(stored: str, profile_folder: Path) -> None:
    store = WindowSettings()
    store.set(settings.CARD_POSITIONS, stored)
    assert store.read_json(settings.CARD_POSITIONS) is None


def test_recent_file_names_are_validated(qapp: QApplication, profile_folder: Path) -> None:
    store = WindowSettings()
    store.set(settings.RECENT_FILES, json.dumps(["a\0b", 5, None, "x\u202e<b>.toml", *map(str, range(50))]))
    parent = QWidget()
    recent = RecentFilesMenu(store, parent)
    assert [file.name for file in recent.list_files()] == ["x\u202e<b>.toml", *map(str, range(6))]
    recent.menu.aboutToShow.emit()
    first = recent.menu.actions()[0]
    assert first.text() == "&1  x⟨U+202E⟩<b>.toml"
    assert "<b>" not in first.toolTip()


def test_unwritable_settings_are_reported_and_written_later(
    profile_folder: Path,
) -> None:
    store = WindowSettings()
    changes = []
    store.changed = lambda: changes.append(store.get(settings.THEME))
    store.set(settings.THEME, "light")
    assert store.write_problem == ""
    file = profile_folder / settings.SETTINGS_FILE_NAME
    stood = file.read_text()
    with limit_file_size(10):
        store.set(settings.THEME, "dark")
        assert store.write_problem.startswith(
            f"Cannot write {file}, so layout, theme, shortcuts and recent files"
        )
        store.set(settings.RECENT_FILES, '["a"]')
        assert store.write_problem != ""
    assert file.read_text() == stood
    assert (store.get(settings.THEME), changes) == ("dark", ["light", "dark", "dark"])
    assert store.write_problem == ""
    assert "dark" in file.read_text()
    assert "recent" in file.read_text()


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a user's folders from others")
def test_settings_are_readable_by_their_owner_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "profile"
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(folder))
    settings = WindowSettings()
    settings.set(PLAYER_NAME, "Jane Doe")
    assert settings.write_problem == ""
    file = folder / "window.ini"
    assert "Jane Doe" in file.read_text(encoding="utf-8")
    assert [path.stat().st_mode & 0o777 for path in (file, folder)] == [0o600, 0o700]
