"""Tests of a full disk or a missing profile folder during a run: the user gets a message, and existing data
stays intact.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from app.files import run_files, scenario_files
from app.main_window import query_drafts
from app.main_window.host_session import HostSession
from app.main_window.query_drafts import DebounceTimer
from app.main_window.run_controller import RunController
from app.storage import Profile, StorageError, StorageProblemKind, open_profile
from engine.drill.authoring.scenario import load_scenario

LONG_LINE = "note " + "x" * 20_000


@pytest.fixture
def profile(profile_folder: Path) -> Iterator[Profile]:
    with open_profile(profile_folder) as profile:
        yield profile


@contextmanager
def fill_disk(profile: Profile) -> Iterator[None]:
    connection = profile._database.connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with suppress(StorageError):
        for number in range(1_000):
            profile.drafts.save(f"what fills free pages {number}", "x" * 3_000)
    try:
        yield
    finally:
        connection.execute("PRAGMA max_page_count = 1000000")


class RecordingSession:
    """Session without a window that records its signals."""

    def __init__(self, qapp: object, profile: Profile) -> None:
        self.session = HostSession(use_timer=False)
        self.play = RunController(self.session, profile)
        self.said: list[str] = []
        self.recorded = 0
        self.session.input_refused.connect(self.said.append)
        self.play.message_ready.connect(self.said.append)
        self.play.recording_recovered.connect(self._count)

    def _count(self, _: object) -> None:
        self.recorded += 1

    def begin_run(self) -> None:
        """Start the lab in a file that needs more pages."""
        text = scenario_files.find_scenario_file("lab").text + "# as long as a drill\n" * 1_000
        self.play.begin_run(load_scenario(text, "lab.toml"), "lab")

    def run_frames(self, count: int) -> None:
        self.session.play()
        for _ in range(count):
            self.session.on_frame(600.0)
        self.session.pause()


@pytest.fixture
def listened_session(qapp: object, profile: Profile) -> RecordingSession:
    return RecordingSession(qapp, profile)


def read_lines(profile: Profile) -> list[list[str]]:
    return [[line.text for line in run.lines] for run in profile.list_unfinished_runs()]


def test_an_input_on_a_full_disk_is_refused_and_can_be_repeated(
    listened_session: RecordingSession, profile: Profile
) -> None:
    listened_session.begin_run()
    assert listened_session.session.apply_input("note before")
    with fill_disk(profile):
        assert not listened_session.session.apply_input(LONG_LINE)
        assert "is full. Your latest action is not saved" in listened_session.said[-1]
    assert listened_session.session.apply_input(LONG_LINE)
    assert listened_session.session.drill is not None
    assert read_lines(profile) == [[item.line for item in listened_session.session.drill.journal]]
    assert len(read_lines(profile)[0]) == 2


def test_a_run_started_on_a_full_disk_is_recorded_when_space_is_free(
    listened_session: RecordingSession, profile: Profile
) -> None:
    with fill_disk(profile):
        listened_session.begin_run()
        assert len(listened_session.said) == 1
        assert (
            "Recording is paused until the problem is solved. Then the whole run is recorded."
            in listened_session.said[0]
        )
        assert listened_session.play.run_id is None
        assert listened_session.session.apply_input("note first")
        listened_session.run_frames(5)
        assert listened_session.session.apply_input("note second")
        assert (read_lines(profile), len(listened_session.said), listened_session.recorded) == ([], 1, 0)
    listened_session.run_frames(5)
    assert listened_session.recorded == 1
    assert [line.split()[1:] for line in read_lines(profile)[0]] == [["note", "first"], ["note", "second"]]
    assert listened_session.session.apply_input("note third")
    assert listened_session.session.apply_input("finish")
    assert [len(profile.read_journal(row.run_id)) for row in profile.list_results()] == [4]


def test_a_run_that_ends_on_a_full_disk_reports_that_it_is_not_stored(
    listened_session: RecordingSession, profile: Profile
) -> None:
    with fill_disk(profile):
        listened_session.begin_run()
        listened_session.session.apply_input("finish")
    assert listened_session.said[-1].endswith("This run is not recorded.")
    assert (profile.list_results(), read_lines(profile)) == ([], [])


def test_a_result_on_a_full_disk_is_stored_at_the_next_start(
    listened_session: RecordingSession, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    listened_session.begin_run()
    listened_session.session.apply_input("finish")
    assert len(profile.list_results()) == 1
    listened_session.begin_run()
    assert listened_session.play.run_id is not None

    def raise_disk_full(*_: object) -> None:
        raise StorageError(StorageProblemKind.DISK_FULL, "It is full.")

    with monkeypatch.context() as patch:
        patch.setattr(profile, "finish_run", raise_disk_full)
        listened_session.session.apply_input("finish")
    assert listened_session.said[-1] == (
        "It is full. Recording of this run has stopped. Continue the run from the start page to "
        "save its result."
    )
    (left,) = profile.list_unfinished_runs()
    listened_session.play.resume_run(left)
    while listened_session.session.is_busy:
        listened_session.session.on_frame(600.0)
    assert (len(profile.list_results()), profile.list_unfinished_runs()) == (2, [])


def test_a_run_in_progress_is_recorded_completely_or_not_at_all(
    listened_session: RecordingSession, profile: Profile
) -> None:
    """The test creates a branch on a full disk. The record of a branch begins with the inputs before the
    branch.
    """
    listened_session.begin_run()
    for _ in range(5):
        assert listened_session.session.apply_input(LONG_LINE)
    with fill_disk(profile):
        listened_session.play.branch_at(0)
        while listened_session.session.is_busy:
            listened_session.session.on_frame(600.0)
        assert len(profile.list_unfinished_runs()) == 1  # No second run with only some of the lines exists.
    assert len(read_lines(profile)[0]) == 5


@pytest.mark.parametrize("change", ["removed", "renamed"])
def test_a_removed_profile_is_reported_and_used_again_when_it_returns(
    change: str, listened_session: RecordingSession, profile: Profile, profile_folder: Path
) -> None:
    listened_session.begin_run()
    moved_folder = profile_folder.with_name("away")
    if change == "renamed":
        profile_folder.rename(moved_folder)
    else:
        for file in profile_folder.iterdir():
            file.unlink()
    assert not listened_session.session.apply_input("note lost")
    assert "was moved or removed while Mirrordrill was running" in listened_session.said[-1]
    listened_session.run_frames(3)
    assert not listened_session.session.is_running
    if change == "renamed":
        moved_folder.rename(profile_folder)
        assert listened_session.session.apply_input("note found")
        assert [line.split()[1:] for line in read_lines(profile)[0]] == [["note", "found"]]
    else:
        # The change looks as if another program had replaced the file.
        profile_folder.joinpath(profile.file.name).write_bytes(b"")
        assert not listened_session.session.apply_input("note still lost")


def test_a_constantly_changing_text_is_saved(qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Highlighting a long text also counts as changes. This used to delay saving until the highlighting
    ended.
    """
    parent = QObject()
    pause = DebounceTimer(100_000, parent)
    pause.restart_pause()
    assert pause.remainingTime() > 90_000
    pause.setInterval(200_000)
    pause.restart_pause()
    assert pause.remainingTime() > 190_000  # The delay starts again.
    monkeypatch.setattr(query_drafts, "UNSAVED_MAX_MS", 0)
    pause.setInterval(300_000)
    before = pause.remainingTime()
    pause.restart_pause()
    assert pause.remainingTime() <= before + 100_000


def test_serve_on_a_full_disk_ends_with_a_message(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    code = (
        "import resource, sys; from app import cli; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)); "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "sys.exit(cli.main(sys.argv[1:], lambda _: 9))"
    )
    words = ["serve", "lab", "--port-base", "0", "--speed", "50", "--record", str(file)]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    ) as served:  # fmt: skip
        assert served.stdin is not None
        for number in range(2_000):
            try:
                served.stdin.write(f"note {number} {'x' * 200}\n")
                served.stdin.flush()
            except BrokenPipeError:
                break
        _, errors = served.communicate(timeout=60)
    assert served.returncode == 2, errors
    assert "cannot be recorded: File too large" in errors
    assert "Traceback" not in errors
    report, _ = run_files.read_run(file)
    assert len(report["inputs"]) > 50
