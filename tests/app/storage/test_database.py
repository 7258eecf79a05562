"""Tests of opening a database file: locking, checks, migration and backup. Each refusal is one sentence."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from app.storage import Profile, RunId, StorageError, StorageProblemKind, database, open_profile, tables
from app.storage.database import list_backup_files
from tests.app.storage.conftest import begin_run


@contextmanager
def open_raw_database(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / "profile.sqlite")
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def get_refusal(folder: Path) -> StorageError:
    with pytest.raises(StorageError) as caught:
        open_profile(folder)
    return caught.value


def test_the_profile_is_opened_with_the_storage_settings(profile_folder: Path) -> None:
    opened_database = database.open_database(profile_folder)
    profile = Profile(opened_database)
    pragmas = {
        name: opened_database.connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "application_id")
    }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL
        "foreign_keys": 1,
        "trusted_schema": 0,
        "application_id": 0x4D524452,
    }
    profile.store_position(begin_run(profile), 1)
    assert opened_database.connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    profile.close()


SQL_TYPES = {int: "INTEGER", str: "VARCHAR", float: "DOUBLE", bool: "BOOLEAN", datetime: "DATETIME"}


def test_the_migrations_create_the_described_tables(profile_folder: Path) -> None:
    open_profile(profile_folder).close()
    with open_raw_database(profile_folder) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert names == {*tables.TABLES, "alembic_version", "sqlite_sequence"}
        for table, columns in tables.TABLES.items():
            column_rows = connection.execute(
                f"SELECT name, type, \"notnull\" FROM pragma_table_info('{table}')"
            )
            assert sorted(column_rows) == sorted(
                (name, SQL_TYPES[kind], int((table, name) not in tables.NULLABLE_COLUMNS))
                for name, kind in columns.items()
            )


def test_the_default_folder_is_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, profile_folder: Path
) -> None:
    with open_profile() as profile:
        assert profile.file == profile_folder / "profile.sqlite"
    monkeypatch.delenv("MIRRORDRILL_PROFILE")
    monkeypatch.setattr("app.files.folders.user_data_path", lambda name, appauthor: profile_folder / name)
    with open_profile() as profile:
        assert profile.file == profile_folder / "mirrordrill" / "profile.sqlite"


def test_a_second_instance_is_refused(
    profile: Profile, run_id: RunId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 0)
    problem = get_refusal(profile.file.parent)
    assert problem.kind is StorageProblemKind.IN_USE
    assert "Another running Mirrordrill uses" in str(problem)
    profile.append_line(run_id, 1, "0.01 note the first one goes on")
    assert profile.find_data_faults() == []


def test_a_full_disk_is_reported_and_loses_only_the_current_input(profile_folder: Path) -> None:
    opened_database = database.open_database(profile_folder)
    with Profile(opened_database) as profile:
        run_id = begin_run(profile)
        profile.append_line(run_id, 1, "0.01 note before")
        (pages,) = opened_database.connection.execute("PRAGMA page_count").fetchone()
        opened_database.connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StorageError, match=r"is full\. Your latest action is not saved") as caught:
            profile.append_line(run_id, 2, "x" * 100_000)
        assert caught.value.kind is StorageProblemKind.DISK_FULL
        opened_database.connection.execute("PRAGMA max_page_count = 1000000")
        profile.append_line(run_id, 3, "0.03 note after")
        (unfinished_run,) = profile.list_unfinished_runs()
        assert [line.text for line in unfinished_run.lines] == ["0.01 note before", "0.03 note after"]
        assert unfinished_run.problem is None


def test_an_uncreatable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    problem = get_refusal(tmp_path / "file" / "profile")
    assert problem.kind is StorageProblemKind.CANNOT_OPEN
    assert "Cannot create the profile folder" in str(problem)


OPEN_WITHOUT_RIGHTS_SCRIPT = """
import os, sys
from pathlib import Path
from app.storage import StorageError, open_profile
with open_profile(Path(sys.argv[1])):   # imports everything that needs reading
    pass
if os.geteuid() == 0:
    os.seteuid(65534)   # root may write anywhere
try:
    open_profile(Path(sys.argv[2]))
except StorageError as problem:
    print(problem.kind.name, problem)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no such rights there")
@pytest.mark.parametrize(("exists", "kind"), [(True, "READ_ONLY"), (False, "CANNOT_OPEN")])
def test_a_read_only_folder_is_reported(tmp_path: Path, exists: bool, kind: str) -> None:
    with tempfile.TemporaryDirectory() as name:  # Other users cannot read the folders of pytest.
        folder = Path(name)
        if exists:
            open_profile(folder).close()
            (folder / "profile.sqlite").chmod(0o444)
        folder.chmod(0o555)
        command = [sys.executable, "-c", OPEN_WITHOUT_RIGHTS_SCRIPT, str(tmp_path), name]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=os.getcwd()).stdout
        folder.chmod(0o755)
    assert printed.startswith(kind)
    assert str(folder / "profile.sqlite") in printed


@pytest.mark.parametrize("content", [b"not a database, but long enough to have a header\n" * 100, None])
def test_a_file_of_another_program_is_refused_unchanged(profile_folder: Path, content: bytes | None) -> None:
    profile_folder.mkdir()
    file = profile_folder / "profile.sqlite"
    if content is None:
        with open_raw_database(profile_folder) as connection:
            connection.execute("CREATE TABLE bookmark (url TEXT)")
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    problem = get_refusal(profile_folder)
    assert problem.kind is StorageProblemKind.NOT_A_PROFILE
    assert str(file) in str(problem)
    assert file.read_bytes() == before
    assert os.listdir(profile_folder) == ["profile.sqlite"]


def test_an_interrupted_creation_is_completed(profile_folder: Path) -> None:
    profile_folder.mkdir()
    (profile_folder / "profile.sqlite").touch()
    with open_profile(profile_folder) as profile:
        assert profile.list_results() == []


def test_a_newer_file_is_refused_unchanged_by_both_versions(profile_folder: Path) -> None:
    open_profile(profile_folder).close()
    with open_raw_database(profile_folder) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    problem = get_refusal(profile_folder)
    assert problem.kind is StorageProblemKind.NEWER
    assert f"has version 9999; this Mirrordrill supports versions up to {NEWEST_REVISION}" in str(problem)
    with open_raw_database(profile_folder) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]


def break_pages(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)  # the first page contains the list of tables
    file.write_bytes(content)


def test_after_a_crash_damage_is_found_and_the_backup_named(profile_folder: Path) -> None:
    with open_profile(profile_folder) as profile:
        begin_run(profile)
    with sqlite3.connect(profile.file) as connection:
        backup = database.write_backup(connection, profile.file)
    connection.close()
    break_pages(profile.file)
    profile.file.with_name("profile.sqlite-wal").touch()  # A killed process leaves this file.
    problem = get_refusal(profile_folder)
    assert problem.kind is StorageProblemKind.DAMAGED
    assert "is damaged" in str(problem)
    backup.replace(profile.file)
    profile.file.with_name("profile.sqlite-wal").unlink(missing_ok=True)
    with open_profile(profile_folder) as profile:
        assert len(profile.list_unfinished_runs()) == 1


NEWEST_REVISION = database.parse_revision(max(database.MIGRATIONS_FOLDER.glob("*.sql")))


def add_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    """Add a migration with *statement* to the program, as a newer version would."""
    migrations = tmp_path / "migrations"
    shutil.copytree(database.MIGRATIONS_FOLDER, migrations)
    (migrations / "9998_next.sql").write_text(f"CREATE TABLE seat (id INTEGER);\n{statement};\n")
    monkeypatch.setattr(database, "MIGRATIONS_FOLDER", migrations)


def test_a_migration_keeps_the_data_and_a_backup(
    profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_profile(profile_folder) as profile:
        run_id = begin_run(profile)
        profile.append_line(run_id, 1, "0.01 note kept")
    add_migration(tmp_path, monkeypatch, "SELECT 1")
    with open_profile(profile_folder) as profile:
        assert [line.text for line in profile.list_unfinished_runs()[0].lines] == ["0.01 note kept"]
    with sqlite3.connect(profile.file) as connection:
        (version,) = connection.execute("SELECT version_num FROM alembic_version")
        assert version[0] == "9998"
    connection.close()
    with sqlite3.connect(list_backup_files(profile.file)[0]) as backup:
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == (NEWEST_REVISION,)
        assert backup.execute("SELECT text FROM line").fetchall() == [("0.01 note kept",)]
    backup.close()


def test_a_failed_migration_changes_nothing(
    profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_profile(profile_folder).close()
    with monkeypatch.context() as patch:
        add_migration(tmp_path, patch, "SELECT nothing")
        with pytest.raises(sqlite3.OperationalError):
            open_profile(profile_folder)
    with open_profile(profile_folder) as profile:
        assert profile.find_data_faults() == []
    with sqlite3.connect(profile.file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'seat'").fetchall() == []
    connection.close()


def test_opening_a_current_profile_makes_no_backup(profile_folder: Path) -> None:
    for _ in range(2):
        open_profile(profile_folder).close()
    assert os.listdir(profile_folder) == ["profile.sqlite"]


def test_the_three_newest_backups_are_kept(profile_folder: Path) -> None:
    opened_database = database.open_database(profile_folder)
    profile = Profile(opened_database)
    for text in "abcde":
        profile.drafts.save("key", text)
        database.write_backup(opened_database.connection, profile.file)
    profile.close()
    texts = []
    for file in list_backup_files(profile.file):
        with sqlite3.connect(file) as backup:
            texts.append(backup.execute("SELECT text FROM draft").fetchone()[0])
        backup.close()
    assert texts == ["e", "d", "c"]
    assert len(list(profile.file.parent.glob("*backup*"))) == 3
