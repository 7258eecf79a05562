"""Tests of settings and drafts in the profile."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from app.storage import Profile, SettingKey, open_profile

SPEED = SettingKey("speed", 1.0)
LEARNER = SettingKey("learner", "")
HINTS = SettingKey("hints", True)


def test_a_setting_persists(profile_folder: Path) -> None:
    with open_profile(profile_folder) as profile:
        assert profile.settings.get(SPEED) == 1.0
        profile.settings.set(SPEED, 2.5)
        profile.settings.set(SPEED, 5.0)
        profile.settings.set(LEARNER, "Åsa")
        profile.settings.set(HINTS, False)
    with open_profile(profile_folder) as profile:
        assert profile.settings.get(SPEED) == 5.0
        assert profile.settings.get(LEARNER) == "Åsa"
        assert profile.settings.get(HINTS) is False


def test_a_value_of_another_type_is_refused(profile: Profile) -> None:
    with pytest.raises(TypeError, match="setting hints is bool, not int"):
        profile.settings.set(HINTS, 1)  # type: ignore[misc]
    assert profile.settings.get(HINTS) is True


@pytest.mark.parametrize("stored", ["fast", None, 1])
def test_a_stored_value_of_another_type_is_ignored(profile_folder: Path, stored: object) -> None:
    open_profile(profile_folder).close()
    raw = sqlite3.connect(profile_folder / "profile.sqlite")
    with raw:
        raw.execute("INSERT INTO setting VALUES ('speed', ?)", [json.dumps(stored)])
    raw.close()
    with open_profile(profile_folder) as profile:
        assert profile.settings.get(SPEED) == 1.0


def test_a_draft_persists_until_it_is_deleted(profile_folder: Path) -> None:
    with open_profile(profile_folder) as profile:
        profile.drafts.save("SERVER_A 1", "SELECT 1")
        profile.drafts.save("SERVER_A 1", "SELECT 2\n\tGO\n")
        profile.drafts.save("SERVER_B 1", "")
    with open_profile(profile_folder) as profile:
        assert profile.drafts.list_keys() == ["SERVER_A 1", "SERVER_B 1"]
        assert profile.drafts.load("SERVER_A 1") == "SELECT 2\n\tGO\n"
        assert profile.drafts.load("SERVER_B 1") == ""
        profile.drafts.delete("SERVER_A 1")
        assert profile.drafts.load("SERVER_A 1") is None
        assert profile.drafts.list_keys() == ["SERVER_B 1"]
