"""Tests of power loss during a run: for any remaining files, the run is complete or the user gets a message."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from app.storage import StorageError, open_profile

LINE_COUNT = 12
FILES = ("profile.sqlite", "profile.sqlite-wal", "journal.mark")


def _play_lines(folder: Path, disk_copy: Path) -> None:
    """Play LINES lines, and copy the files from disk while the program has them open."""
    with open_profile(folder) as profile:
        run = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 7, "0.1.0", "lab")
        for number in range(LINE_COUNT):
            profile.append_line(run, number, f"{number} note {number}")
        disk_copy.mkdir()
        for name in FILES:
            shutil.copy(folder / name, disk_copy / name)


def _find_outcome(folder: Path) -> str:
    """Return the result of the next start: "whole", or the message to the user."""
    try:
        with open_profile(folder) as profile:
            problems = profile.list_lost_run_messages() + [
                run.problem for run in profile.list_unfinished_runs() if run.problem
            ]
            if problems:
                return "told"
            (run,) = profile.list_unfinished_runs()
            return "whole" if len(run.lines) == LINE_COUNT else f"{len(run.lines)} lines in silence"
    except StorageError:
        return "told"


def test_a_journal_torn_at_any_byte_is_detected(profile_folder: Path, tmp_path: Path) -> None:
    left, torn = tmp_path / "left", tmp_path / "torn"
    _play_lines(profile_folder, left)
    file_bytes = (left / FILES[1]).read_bytes()
    chance, ends = random.Random(3), {len(file_bytes): "whole"}
    ends |= {chance.randrange(len(file_bytes)): "" for _ in range(60)} | {0: "", 31: "", 32: "", 33: ""}
    for end in ends:
        shutil.rmtree(torn, ignore_errors=True)
        shutil.copytree(left, torn)
        (torn / FILES[1]).write_bytes(file_bytes[:end])
        outcome = _find_outcome(torn)
        assert outcome in ("whole", "told"), f"cut at byte {end} of {len(file_bytes)}: {outcome}"
        assert ends[end] in ("", outcome)


def test_a_missing_log_is_reported(profile_folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    _play_lines(profile_folder, left)
    (left / FILES[1]).unlink()
    assert _find_outcome(left) == "told"


def test_an_invalid_or_unwritable_mark_does_no_harm(profile_folder: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    _play_lines(profile_folder, left)
    for raw in (b"", b"run", b"\0" * 64, b"run 1 lines 99999999999999999999999999", b"\xff" * 64):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(left, copy)
        (copy / FILES[2]).write_bytes(raw)
        assert _find_outcome(copy) == "whole"
    (profile_folder / FILES[2]).unlink()
    (profile_folder / FILES[2]).mkdir()
    with open_profile(profile_folder) as profile:
        (run,) = profile.list_unfinished_runs()
        profile.append_line(run.run_id, 99, "99 note on")


def test_a_new_profile_does_not_report_old_runs(profile_folder: Path, tmp_path: Path) -> None:
    _play_lines(profile_folder, tmp_path / "left")
    (profile_folder / FILES[0]).unlink()
    with open_profile(profile_folder) as profile:
        assert not profile.list_lost_run_messages()
