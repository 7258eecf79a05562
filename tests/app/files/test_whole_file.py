"""Tests that file writes are atomic: a file has the complete new content or the old content."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from app.cli import command_helpers
from app.files import atomic_write
from tests.disk import limit_file_size

OLD_TEXT = "what stood there before"


def list_names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_text_and_bytes_are_written(tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    atomic_write.write_atomically(file, "SELECT 'ü'\r\n")
    assert file.read_bytes() == "SELECT 'ü'\r\n".encode()
    atomic_write.write_atomically(file, b"\0\1")
    assert file.read_bytes() == b"\0\1"
    atomic_write.write_atomically(file, "half \ud800")
    assert file.read_text(encoding="utf-8") == "half ?"
    atomic_write.write_atomically(tmp_path / ("ü" * 120), "a name as long as it may be")
    assert list_names(tmp_path) == ["a.sql", "ü" * 120]


def test_a_full_disk_keeps_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text(OLD_TEXT)
    with limit_file_size(100), pytest.raises(OSError, match="File too large"):
        atomic_write.write_atomically(file, "x" * 1_000)
    assert (file.read_text(), list_names(tmp_path)) == (OLD_TEXT, ["a.sql"])
    atomic_write.write_atomically(file, "x" * 1_000)
    assert len(file.read_text()) == 1_000


def test_a_disk_that_fails_at_the_end_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_io_error(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    file = tmp_path / "a.sql"
    file.write_text(OLD_TEXT)
    monkeypatch.setattr(os, "fsync", raise_io_error)
    with pytest.raises(OSError, match="Input/output error"):
        atomic_write.write_atomically(file, "new")
    assert (file.read_text(), list_names(tmp_path)) == (OLD_TEXT, ["a.sql"])


def test_a_target_that_is_not_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("folder", "pipe", "link"):
        with pytest.raises(OSError, match="not a file"):
            atomic_write.write_atomically(tmp_path / name, "new")
    with pytest.raises(OSError, match="No such file or directory"):
        atomic_write.write_atomically(tmp_path / "missing" / "a.sql", "new")
    assert list_names(tmp_path) == ["folder", "link", "pipe"]


def test_check_refuses_an_unwritable_target_and_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "a.gif"
    atomic_write.require_writable(file)
    file.write_text(OLD_TEXT)
    atomic_write.require_writable(file)
    assert (file.read_text(), list_names(tmp_path)) == (OLD_TEXT, ["a.gif"])
    for target in (tmp_path, tmp_path / "missing" / "a.gif"):
        with pytest.raises(OSError, match=r"."):
            atomic_write.require_writable(target)


def test_several_files_are_written_completely_or_not_at_all(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.csv", "b.csv")]
    files[0].write_text(OLD_TEXT)
    files[1].mkdir()
    with pytest.raises(OSError, match="not a file"):
        atomic_write.write_all_atomically(dict.fromkeys(files, "new"))
    assert (files[0].read_text(), list_names(tmp_path)) == (OLD_TEXT, ["a.csv", "b.csv"])
    files[1].rmdir()
    atomic_write.write_all_atomically(dict.fromkeys(files, "new"))
    assert [file.read_text() for file in files] == ["new", "new"]


def test_a_link_is_replaced_and_its_target_kept(tmp_path: Path) -> None:
    other_file = tmp_path / "other"
    other_file.write_text(OLD_TEXT)
    (tmp_path / "a.sql").symlink_to(other_file)
    atomic_write.write_atomically(tmp_path / "a.sql", "new")
    assert ((tmp_path / "a.sql").read_text(), other_file.read_text()) == ("new", OLD_TEXT)


def test_file_permissions_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text(OLD_TEXT)
    file.chmod(0o640)
    atomic_write.write_atomically(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_write_protected_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.sql"
    file.write_text(OLD_TEXT)
    monkeypatch.setattr(os, "access", lambda *_: False)  # The superuser can always write.
    with pytest.raises(OSError, match="Permission denied"):
        atomic_write.write_atomically(file, "new")
    assert (file.read_text(), list_names(tmp_path)) == (OLD_TEXT, ["a.sql"])


def test_a_command_writes_to_its_standard_output(tmp_path: Path) -> None:
    """The option `--json /dev/stdout` names a link, which the command must not replace."""
    other_file = tmp_path / "other"
    other_file.write_text("")
    (tmp_path / "stdout").symlink_to(other_file)
    command_helpers.write_file("new", tmp_path / "stdout")
    assert (other_file.read_text(), (tmp_path / "stdout").is_symlink()) == ("new", True)
    with pytest.raises(command_helpers.UsageError, match="cannot be written"):
        command_helpers.write_file("new", tmp_path / "missing" / "file")
