"""Fixtures of the storage tests: an open profile and a run in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.storage import Profile, RunId, open_profile
from engine.drill.authoring.scenario import compute_sha256


@pytest.fixture
def profile(profile_folder: Path) -> Iterator[Profile]:
    with open_profile(profile_folder) as profile:
        yield profile


@pytest.fixture
def run_id(profile: Profile) -> RunId:
    return begin_run(profile)


def begin_run(profile: Profile, scenario_name: str = "lab") -> RunId:
    text = 'title = "Lab"\n'
    return profile.begin_run(scenario_name, text, compute_sha256(text), 7, "0.1.0", "play")
