"""Tests of a pipe, a link to a pipe, a folder or a dangling link instead of a file: a message, and no
blocking.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from shiboken6 import delete

from app import settings
from app.files import atomic_write, scenario_files, summary_cache
from app.files.scenario_summary import CACHE_FILE_NAME
from app.settings import WindowSettings
from app.storage import StorageError, StorageProblemKind, open_profile
from app.storage.export import export_profile
from tests.open_window import build_window

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")


def _link_pipe(path: Path) -> None:
    """Create a link to a pipe as a stand-in for a device. With a real device, a defect would write to the
    device.
    """
    pipe = path.with_name(f"{path.name}.pipe")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


FILE_SUBSTITUTES: dict[str, Callable[[Path], None]] = {
    "a pipe": lambda path: os.mkfifo(path),
    "a link to a pipe": _link_pipe,
    "a folder": lambda path: path.mkdir(),
    "a link to nowhere": lambda path: path.symlink_to(path.with_name("nowhere")),
}


@pytest.fixture(params=FILE_SUBSTITUTES)
def put(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    def create_substitute(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        FILE_SUBSTITUTES[request.param](path)

    return create_substitute


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail immediately if the program opens a pipe, because this would block."""
    original_open = os.open

    def open_checked(path: Any, *arguments: Any, **named: Any) -> int:
        assert not (isinstance(path, str | Path) and Path(path).is_fifo()), f"{path} is opened"
        return original_open(path, *arguments, **named)

    monkeypatch.setattr(os, "open", open_checked)


@pytest.mark.parametrize("name", [settings.SETTINGS_FILE_NAME, settings.SETTINGS_FILE_NAME + ".lock"])
def test_the_window_starts_with_defaults_and_reports_it(
    name: str, put: Callable[[Path], None], profile_folder: Path, qapp: QApplication
) -> None:
    put(profile_folder / name)
    store = WindowSettings()
    assert store.get(settings.THEME) == settings.THEME.default
    store.set(settings.THEME, "dark")
    store.sync()
    assert store.get(settings.THEME) == "dark"
    with open_profile() as profile:
        window = build_window(profile, store, use_timer=False)
        assert str(profile_folder / name) in window.notice.text
        window.close()
        delete(window)
    assert not (profile_folder / name).is_file()


@pytest.mark.parametrize("end", ["", "-wal", "-journal", "-shm"])
def test_the_profile_is_refused_with_a_message(
    end: str, put: Callable[[Path], None], profile_folder: Path, tmp_path: Path
) -> None:
    file = profile_folder / "profile.sqlite"
    if end:
        open_profile().close()
    put(file.with_name(file.name + end))
    with pytest.raises(StorageError, match="is not a file") as caught:
        open_profile()
    assert caught.value.kind is StorageProblemKind.CANNOT_OPEN
    if end in ("", "-wal"):
        with pytest.raises(StorageError, match="is not a file"):
            export_profile(file, tmp_path / "export.json")


def test_a_blocked_journal_mark_is_ignored(put: Callable[[Path], None], profile_folder: Path) -> None:
    open_profile().close()
    put(profile_folder / "journal.mark")
    with open_profile() as profile:
        run = profile.begin_run("lab", "", "", 1, "0.1.0", "lab")
        profile.append_line(run, 0, "0 note x")
    with open_profile() as profile:
        assert [line.text for line in profile.list_unfinished_runs()[0].lines] == ["0 note x"]


@pytest.mark.parametrize(
    "name",
    [CACHE_FILE_NAME, f".{CACHE_FILE_NAME}.{os.getpid()}{atomic_write.TEMPORARY_SUFFIX}"],
    ids=["it", "it, unfinished"],
)
def test_the_cached_list_of_drills_is_rebuilt(
    name: str, put: Callable[[Path], None], profile_folder: Path
) -> None:
    put(profile_folder / name)
    (lab,) = (file for file in scenario_files.list_all_files()[0] if file.name == "lab")
    drills, problems = summary_cache.read_summaries([lab], profile_folder)
    assert ([drill.name for drill in drills], problems) == (["lab"], [])


def test_entries_that_are_not_files_are_ignored(put: Callable[[Path], None]) -> None:
    put(scenario_files.get_user_scenario_folder() / "mine.toml")
    folder = scenario_files.get_bundles_folder() / "0123456789abcdef"
    put(folder / scenario_files.BUNDLE_LABEL_FILE)
    files, problems = scenario_files.list_all_files()
    assert all(file.shipped for file in files)
    assert len(problems) == 1
    assert scenario_files.read_bundle_label(folder) == {"title": folder.name}


def test_no_temporary_file_is_written_through_a_link(
    tmp_path: Path,
) -> None:
    other_folder, file = tmp_path / "elsewhere", tmp_path / "label"
    other_folder.write_text("mine")
    aside = tmp_path / f".label.{os.getpid()}{atomic_write.TEMPORARY_SUFFIX}"
    aside.symlink_to(other_folder)
    atomic_write.write_atomically(file, b"new")
    assert (other_folder.read_text(), file.read_bytes()) == ("mine", b"new")
    os.mkfifo(aside)
    atomic_write.write_atomically(file, b"newer")
    assert file.read_bytes() == b"newer"
