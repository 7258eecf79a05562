"""Tests of files that the user names: every reader gives the same messages and decodes the encodings of
Windows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.classroom import class_files, console, lesson_plan, seat_log
from app.cli import runs
from app.cli.command_helpers import UsageError
from app.files import file_content, run_files, scenario_files, sql_files
from app.files.file_content import UnreadableFileError

READERS: dict[str, Callable[[Path], object]] = {
    "class verify": lambda file: list(class_files.check_class_file(file)),
    "hand-in": lambda file: console.parse_requests(f"hand in {file}"),
    "hand-out": seat_log.read_handout,
    "plan": lesson_plan.read_plan,
    "replay": run_files.read_run,
    "script": sql_files.read_script,
}


def describe_refusal(read: Callable[[Path], object], file: Path) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011  the readers raise different types
        read(file)
    return str(caught.value)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_every_reader_names_the_file_and_the_reason(tmp_path: Path, read: Callable[[Path], object]) -> None:
    pipe, locked = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)  # reading a pipe would block
    locked.symlink_to(locked)
    for file, reason in (
        (tmp_path / "absent", "does not exist"),
        (tmp_path, "is not a file"),
        (pipe, "is not a file"),
        (Path("/dev/zero"), "is not a file"),
    ):
        assert describe_refusal(read, file).rstrip(".") in (f"{file} {reason}", f"{file.name} {reason}")
    assert "Errno" not in describe_refusal(read, locked)


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"x" * 1_500_001)
    assert describe_refusal(lambda path: file_content.read_bytes(path, 1_500_000), file) == (
        f"{file} exceeds the size limit of 1.5 MB"
    )
    assert len(file_content.read_bytes(file, 1_500_001)) == 1_500_001


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_texts_of_windows_are_decoded(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert file_content.decode_text(mark + "Größe".encode(encoding), "a") == "Größe"


def test_text_in_another_encoding_is_refused_with_its_position() -> None:
    with pytest.raises(UnreadableFileError, match=r"^a is not UTF-8 text \(byte 3\)$"):
        file_content.decode_text("Größe".encode("latin-1"), "a")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_input_lines_of_notepad_and_powershell_are_read(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "inputs.txt"
    file.write_bytes("5 power-off SERVER_A\r\n+1 power-on SERVER_A\r\n".encode(encoding))
    inputs, problems = runs.read_input_lines(str(file))
    assert [item.line for item in inputs] == ["5 power-off SERVER_A", "6 power-on SERVER_A"]
    assert not problems
    file.write_bytes(b"5 power-off \xe9")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        runs.read_input_lines(str(file))


def test_a_json_error_is_reported_without_the_text_of_python(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    for text, reason in ((b"9" * 5000, "a number has too many digits"), (b"[" * 10**5, "nested too deeply")):
        file.write_bytes(text)
        assert (
            describe_refusal(run_files.read_run, file)
            == f"{file} is not JSON: {'the text is ' * (b'[' in text)}{reason}."
        )
    file.write_bytes(b'{"a": "\xe9"}')
    assert describe_refusal(run_files.read_run, file) == f"{file} is not UTF-8 text (byte 8)."


def test_scenarios_share_the_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b"title = '\xe9'")
    assert describe_refusal(
        lambda file: scenario_files.find_scenario_file(str(file)), tmp_path / "a.toml"
    ).endswith("is not UTF-8 text (byte 10)")
