"""Profiles that are not ours, broken, newer, or in a bad place: a sentence each, and the file stays as it was."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import ProblemKind, StorageProblem, drives, open_profile
from app.storage.export import export_profile


def _made(folder: Path, lines: int = 300) -> Path:
    with open_profile(folder) as profile:
        run = profile.begin_run("lab", 'title = "Lab"\n', "5ca1ab1e", 7, "0.1.0", "lab")
        for number in range(lines):
            profile.append(run, number, f"{number / 100} note {'x' * 40} {number}")
    return folder / "profile.sqlite"


def _newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("CREATE TABLE thing_of_the_future (name TEXT, raw BLOB)")
        connection.execute("INSERT INTO thing_of_the_future VALUES ('a', x'00ff')")


def test_a_newer_profile_is_refused_and_can_be_read(profile_folder: Path, tmp_path: Path) -> None:
    file = _made(profile_folder, 3)
    _newer(file)
    before = file.read_bytes()
    with pytest.raises(StorageProblem, match="doctor --export") as caught:
        open_profile(profile_folder)
    assert caught.value.kind is ProblemKind.NEWER
    target = tmp_path / "export.json"
    assert export_profile(file, target) >= 5
    tables = json.loads(target.read_text(encoding="utf-8"))["tables"]
    assert tables["thing_of_the_future"] == [{"name": "a", "raw": "00ff"}]
    assert any("note" in str(row) for rows in tables.values() for row in rows)
    assert file.read_bytes() == before


def test_what_is_not_a_profile_is_not_exported(tmp_path: Path) -> None:
    stranger, text = tmp_path / "stranger.sqlite", tmp_path / "text.sqlite"
    with closing(sqlite3.connect(stranger)) as connection:
        connection.execute("CREATE TABLE secrets (a)")
    text.write_text("not a database, and long enough to be read as one\n" * 40)
    for file in (stranger, text):
        with pytest.raises(StorageProblem) as caught:
            export_profile(file, tmp_path / "out.json")
        assert caught.value.kind is ProblemKind.NOT_A_PROFILE
    with pytest.raises(StorageProblem, match="cannot be read"):
        export_profile(tmp_path / "none.sqlite", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_a_damaged_profile_is_told_or_unharmed(profile_folder: Path) -> None:
    """Bits turned and ends cut off at random: refused, found by the check, or without effect; nothing else."""
    file = _made(profile_folder)
    whole, chance = file.read_bytes(), random.Random(11)
    unharmed = 0
    for number in range(60):
        raw = bytearray(whole)
        if number % 3:
            for _ in range(chance.choice((1, 8, 64))):
                raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        else:
            del raw[chance.randrange(1, len(raw)) :]
        file.write_bytes(raw)
        for rest in profile_folder.glob("profile.sqlite-*"):
            rest.unlink()
        with contextlib.suppress(StorageProblem), open_profile(profile_folder) as profile:
            if not profile.faults():
                unharmed += 1
                (run,) = profile.unfinished()
                assert [line.text.split()[-1] for line in run.lines] == [str(n) for n in range(300)]
    assert unharmed <= 40  # no file that was cut off, at least


@pytest.mark.parametrize(
    ("kind", "refused"), [("nfs4", True), ("cifs", True), ("ext4", False), ("9p", False)]
)
def test_a_network_drive_is_refused(
    kind: str, refused: bool, profile_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        f"1 1 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {tmp_path} rw,x shared:1 - {kind} far:/x rw\n"
    )
    monkeypatch.setattr(drives, "MOUNTS", mounts)
    if refused:
        with pytest.raises(StorageProblem, match="network drive") as caught:
            open_profile(profile_folder)
        assert caught.value.kind is ProblemKind.NETWORK_DRIVE
        assert not profile_folder.exists()
    else:
        open_profile(profile_folder).close()
