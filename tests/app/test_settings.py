"""Window settings lie in the profile's folder; those of the first version are moved there once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app import settings
from app.settings import WindowSettings


@pytest.fixture
def before(tmp_path: Path) -> QSettings:
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "config"))
    return QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window")


def test_they_are_written_into_the_profile_folder_only(before: QSettings, profile_folder: Path) -> None:
    store = WindowSettings()
    store.set(settings.THEME, "dark")
    store.sync()
    assert "dark" in (profile_folder / settings.FILE_NAME).read_text()
    assert not Path(before.fileName()).exists()
    assert WindowSettings().get(settings.THEME) == "dark"


def test_those_of_the_first_version_are_moved_once(before: QSettings, profile_folder: Path) -> None:
    before.setValue(settings.THEME.name, "dark")
    before.setValue(settings.FONT_SCALE.name, "1.5")
    before.sync()
    store = WindowSettings()
    assert (store.get(settings.THEME), store.get(settings.FONT_SCALE)) == ("dark", 1.5)
    assert not Path(before.fileName()).exists()
    store.remove(settings.THEME)
    store.sync()
    again = QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "Mirrordrill", "window")
    again.setValue(settings.THEME.name, "light")  # the first version was started once more
    again.sync()
    assert WindowSettings().get(settings.THEME) == settings.THEME.default
