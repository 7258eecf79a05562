"""Tests of scripts in the encodings of Management Studio, and of results in files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.files import sql_files
from app.files.sql_files import ScriptFileError

TEXT = "SELECT 'Übung'\nGO\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_scripts_are_read_in_every_encoding_of_management_studio(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.sql"
    file.write_bytes(TEXT.replace("\n", "\r\n").encode(encoding))
    assert sql_files.read_script(file) == TEXT


def test_a_file_that_is_not_a_script_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.sql"
    for content, reason in (
        (b"\x7fELF\0\0", "is not text"),
        (b"x" * 1_000_001, "more than 1,000,000 characters"),
    ):
        file.write_bytes(content)
        with pytest.raises(ScriptFileError, match=reason):
            sql_files.read_script(file)
    for path, reason in ((tmp_path, "is not a file"), (tmp_path / "none.sql", "does not exist")):
        with pytest.raises(ScriptFileError, match=reason):
            sql_files.read_script(path)
    os.mkfifo(tmp_path / "pipe.sql")  # reading a pipe would block
    with pytest.raises(ScriptFileError, match="is not a file"):
        sql_files.read_script(tmp_path / "pipe.sql")


def test_results_are_saved_to_a_file(tmp_path: Path) -> None:
    results: list[tuple[list[str], list[list[object]]]] = [
        (["name", "n"], [["Sales", 1], ["=1+1", None]]),
        (["x"], [[True]]),
    ]
    assert sql_files.format_results_as_csv(results) == "name,n\r\nSales,1\r\n'=1+1,NULL\r\n\r\nx\r\n1\r\n"
    text = sql_files.format_results_as_text(results, ["(2 rows affected)"])
    assert text.splitlines()[2].split() == ["Sales", "1"]
    assert text.endswith("\n\n(2 rows affected)\n")
