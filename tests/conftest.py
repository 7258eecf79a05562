"""For all tests: nothing reaches the user's own files, nothing is left running."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault(
    "QT_QPA_PLATFORM", "offscreen"
)  # before anything imports Qt; a set one wins, to watch a test


os.environ["MIRRORDRILL_LANGUAGE"] = "en"  # whatever this machine speaks


settings.register_profile("loaded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded")
"""A busy machine is slow at making examples; that says nothing of the program."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="record the transcripts anew")


@pytest.fixture(autouse=True)
def profile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's profile is, also for the processes that it starts."""
    folder = tmp_path / "profile"
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    assert not left, f"threads left running: {left}"
