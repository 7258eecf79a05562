"""Tests of foreign, damaged, newer or misplaced profiles: each gives one sentence, and the file stays
unchanged.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.storage import SettingKey, StorageError, StorageProblemKind, database, open_profile
from app.storage.database import PROFILE_FILE_NAME
from app.storage.export import export_profile


def _write_profile(folder: Path, lines: int = 300) -> Path:
    with open_profile(folder) as profile:
        run = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 7, "0.1.0", "lab")
        for number in range(lines):
            profile.append_line(run, number, f"{number / 100} note {'x' * 40} {number}")
    return folder / "profile.sqlite"


def _make_newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("CREATE TABLE thing_of_the_future (name TEXT, raw BLOB)")
        connection.execute("INSERT INTO thing_of_the_future VALUES ('a', x'00ff')")


def test_a_newer_profile_is_refused_and_stays_readable(profile_folder: Path, tmp_path: Path) -> None:
    file = _write_profile(profile_folder, 3)
    _make_newer(file)
    before = file.read_bytes()
    with pytest.raises(StorageError, match="doctor --export") as caught:
        open_profile(profile_folder)
    assert caught.value.kind is StorageProblemKind.NEWER
    target = tmp_path / "export.json"
    assert export_profile(file, target) >= 5
    tables = json.loads(target.read_text(encoding="utf-8"))["tables"]
    assert tables["thing_of_the_future"] == [{"name": "a", "raw": "00ff"}]
    assert any("note" in str(row) for rows in tables.values() for row in rows)
    assert file.read_bytes() == before


def test_a_file_that_is_not_a_profile_is_not_exported(tmp_path: Path) -> None:
    stranger, text = tmp_path / "stranger.sqlite", tmp_path / "text.sqlite"
    with closing(sqlite3.connect(stranger)) as connection:
        connection.execute("CREATE TABLE secrets (a)")
    text.write_text("not a database, and long enough to be read as one\n" * 40)
    for file in (stranger, text):
        with pytest.raises(StorageError) as caught:
            export_profile(file, tmp_path / "out.json")
        assert caught.value.kind is StorageProblemKind.NOT_A_PROFILE
    with pytest.raises(StorageError, match="cannot be read"):
        export_profile(tmp_path / "none.sqlite", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_a_damaged_profile_is_reported_or_works(profile_folder: Path) -> None:
    """Random bit changes and truncations are refused at the start, found by the check, or have no effect."""
    file = _write_profile(profile_folder)
    file_bytes, chance = file.read_bytes(), random.Random(11)
    unharmed = 0
    for number in range(60):
        raw = bytearray(file_bytes)
        if number % 3:
            for _ in range(chance.choice((1, 8, 64))):
                raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        else:
            del raw[chance.randrange(1, len(raw)) :]
        file.write_bytes(raw)
        for sidecar_file in profile_folder.glob("profile.sqlite-*"):
            sidecar_file.unlink()
        with contextlib.suppress(StorageError), open_profile(profile_folder) as profile:
            if not profile.find_data_faults():
                unharmed += 1
                (run,) = profile.list_unfinished_runs()
                assert [line.text.split()[-1] for line in run.lines] == [str(n) for n in range(300)]
    assert unharmed <= 40  # No truncated file counts as undamaged.


@pytest.mark.parametrize("change", ["seed = -5", "tick = 9223372036854775807", "tick = -1"])
def test_an_impossible_run_is_not_resumed(profile_folder: Path, change: str) -> None:
    with open_profile(profile_folder) as profile:
        profile.begin_run("lab", "", "5ca1ab1e", 7, "0.1.0", "lab")
    with closing(sqlite3.connect(profile_folder / PROFILE_FILE_NAME)) as file, file:
        file.execute(f"UPDATE run SET {change}")
    with contextlib.suppress(StorageError), open_profile(profile_folder) as profile:
        (run,) = profile.list_unfinished_runs()
        assert run.problem is not None
        assert "differs from the written version" in run.problem


def test_a_log_of_ten_gigabytes_is_not_copied(profile_folder: Path, tmp_path: Path) -> None:
    open_profile(profile_folder).close()
    file = profile_folder / PROFILE_FILE_NAME
    with file.with_name(f"{PROFILE_FILE_NAME}-wal").open("wb") as log:
        log.truncate(10**10)  # a sparse file
    with pytest.raises(StorageError, match="exceeds the size limit of a profile"):
        export_profile(file, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("kind", "is_refused"), [("nfs4", True), ("cifs", True), ("ext4", False), ("9p", False)]
)
def test_a_network_drive_is_refused(
    kind: str, is_refused: bool, profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"1 1 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {profile_folder.parent} rw,x shared:1 - {kind} far:/x rw\n"
    )
    monkeypatch.setattr(database, "MOUNTS_FILE", mounts)
    if is_refused:
        with pytest.raises(StorageError, match="network drive") as caught:
            open_profile(profile_folder)
        assert caught.value.kind is StorageProblemKind.NETWORK_DRIVE
        assert not profile_folder.exists()
    else:
        open_profile(profile_folder).close()


def _write_changed_profile(folder: Path, *statements: str) -> Path:
    """Write a profile with an unfinished and a finished run, then modify it with *statements*."""
    with open_profile(folder) as profile:
        run = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 7, "0.1.0", "lab")
        profile.append_line(run, 0, "0 note a")
        second_run = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 7, "0.1.0", "lab")
        profile.finish_run(
            second_run, 5, "f00d", '{"availability": {"downtime_s": 1, "lost_transactions": 0}}', 5.0
        )
        profile.drafts.save("a", "b")
    file = folder / "profile.sqlite"
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return file


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER t AFTER INSERT ON line BEGIN DELETE FROM line; END"],
        ["ALTER TABLE draft RENAME TO other", "CREATE VIEW draft AS SELECT * FROM other"],
        ["CREATE VIRTUAL TABLE x USING fts5(a)"],
    ],
)
def test_executable_database_objects_are_refused_before_any_write(
    profile_folder: Path, statements: list[str]
) -> None:
    file = _write_changed_profile(profile_folder, *statements)
    before = file.read_bytes()
    with pytest.raises(StorageError, match="contains unknown tables") as caught:
        open_profile(profile_folder)
    assert caught.value.kind is StorageProblemKind.NOT_A_PROFILE
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE draft", "ALTER TABLE run DROP COLUMN mode", "UPDATE alembic_version SET version_num = '0001'",
        "UPDATE run SET started_at = 'x'", "UPDATE run SET started_at = '2026-02-31 10:00:00.000000'",
        "UPDATE run SET tick = 'x'", "UPDATE run SET seed = 1.5", "UPDATE run SET scenario_name = x'00'",
        "UPDATE line SET tick = 'x'", "UPDATE result SET finished_at = '99999'",
        "UPDATE result SET score = 'high'", "UPDATE result SET downtime_s = x'ff'",
    ],
)  # fmt: skip
def test_foreign_tables_and_values_are_reported(profile_folder: Path, statement: str) -> None:
    _write_changed_profile(profile_folder, "PRAGMA ignore_check_constraints = ON", statement)
    with pytest.raises(StorageError) as caught:
        open_profile(profile_folder)
    assert caught.value.kind is StorageProblemKind.DAMAGED
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "moment", ["10:12:59.999500", "23:59:59.999999", "00:00:00.000000", "10:12:33.999800"]
)
def test_any_fraction_of_a_second_is_a_valid_date(profile_folder: Path, moment: str) -> None:
    """SQLite rounds to milliseconds, so the program used to refuse one in 2,000 valid profiles as damaged."""
    with open_profile(profile_folder) as profile:
        profile.begin_run("lab", "text", "hash", 1, "0.1.0", "lab")
        file = profile.file
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE run SET started_at = ?", (f"2026-12-31 {moment}",))
    with open_profile(profile_folder) as profile:
        assert profile.list_unfinished_runs()[0].started_at.second in (0, 33, 59)


@pytest.mark.parametrize("raw", ["", "{bad", "[" * 100_000, "NaN", '"x', "9" * 10_000])
def test_an_unreadable_setting_is_ignored(profile_folder: Path, raw: str) -> None:
    key = SettingKey("quarantine/accepted", "[]")
    _write_changed_profile(profile_folder, f"INSERT INTO setting VALUES ('{key.name}', '{raw}')")
    with open_profile(profile_folder) as profile:
        assert profile.settings.get(key) == "[]"
        assert key.name in profile.settings.read_all()
        profile.settings.set(key, "[1]")
        assert profile.settings.get(key) == "[1]"


def test_a_clock_change_does_not_change_the_order(
    profile_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program lists runs in starting order for any clock: 1970, 2099, then the present."""
    for year in (2026, 2099, 1970):
        moment = datetime(year, 1, 1, tzinfo=UTC)
        monkeypatch.setattr("app.storage.runs.datetime", _StubClock(moment))
        with open_profile(profile_folder) as profile:
            profile.begin_run(f"of-{year}", "", "5ca1ab1e", 7, "0.1.0", "lab")
    with open_profile(profile_folder) as profile:
        assert [run.scenario_name for run in profile.list_unfinished_runs()] == [
            "of-1970",
            "of-2099",
            "of-2026",
        ]
        assert all(run.problem is None for run in profile.list_unfinished_runs())


class _StubClock:
    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self, zone: object = None) -> datetime:
        return self._moment


SIZE_LIMIT_SCRIPT = """
import resource, signal, sys
from pathlib import Path
from app.storage import StorageError, open_profile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_profile(Path(sys.argv[1])) as profile:
    run = profile.begin_run("lab", "", "5ca1ab1e", 7, "0.1.0", "lab")
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    written = 0
    try:
        for number in range(2_000):
            profile.append_line(run, number, f"{number} note " + "x" * 500)
            written += 1
    except StorageError as problem:
        print(written, problem.kind.name)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE and SIGXFSZ")
def test_a_file_at_its_size_limit_loses_only_the_current_input(profile_folder: Path) -> None:
    """The kernel refuses the write for all files of the process."""
    process = subprocess.run(
        [sys.executable, "-c", SIZE_LIMIT_SCRIPT, str(profile_folder)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert process.returncode == 0, process.stderr
    row_count, kind = process.stdout.split()
    assert kind in ("DISK_FULL", "DISK_FAILED")
    assert int(row_count) > 10
    with open_profile(profile_folder) as profile:
        (run,) = profile.list_unfinished_runs()
        assert run.problem is None
        assert len(run.lines) == int(row_count)
        profile.append_line(run.run_id, 9_999, "9999 note again")
