"""Tests of untrusted recorded runs: limits are checked before parsing, and invalid files are refused in one
sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.files import run_files
from app.files.run_files import RunFileError

VALID_RUN: dict[str, Any] = {
    "scenario": "lab", "seed": 1, "mode": "lab", "inputs": [], "ended_at_s": 1.0, "events": [], "hashes": [],
    "availability": {}, "score": {}, "failovers": [],
}  # fmt: skip


def get_refusal(file: Path, raw: bytes | dict[str, Any]) -> str:
    file.write_bytes(raw if isinstance(raw, bytes) else json.dumps(raw).encode())
    with pytest.raises(RunFileError) as caught:
        run_files.read_run(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


def test_a_valid_run_file_is_read(file: Path) -> None:
    good_report = VALID_RUN | {"inputs": ["1 note 𝄞"]}
    file.write_text(json.dumps(good_report))  # JSON escapes this character as two surrogates.
    assert run_files.read_run(file)[0] == good_report


@pytest.mark.parametrize(
    "raw", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b'{"a":1', b"9" * 10_000]
)
def test_invalid_json_is_refused(file: Path, raw: bytes) -> None:
    get_refusal(file, raw)


def test_an_oversized_file_is_refused_before_it_is_parsed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.files.run_files.json.loads", lambda _: pytest.fail("parsed"))
    assert "more values" in get_refusal(file, b"[" + b"{}," * (run_files.CONTAINERS_MAX + 1) + b"{}]")
    with file.open("wb") as run_file:
        run_file.truncate(run_files.RUN_FILE_BYTES_MAX + 1)
    with pytest.raises(RunFileError, match="exceeds"):
        run_files.read_run(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scenario", "/etc/passwd"), ("scenario", "../../x"), ("scenario", "a\u202eb"), ("scenario", ""),
        ("seed", -1), ("seed", 2**63), ("seed", 1.5), ("mode", "root"), ("inputs", [1]), ("inputs", [""] * 100_001),
        ("ended_at_s", float("nan")), ("ended_at_s", float("inf")), ("ended_at_s", 1e300), ("ended_at_s", -1),
        ("inputs", ["1 note \ud800"]), ("scenario_text", "\udfff"), ("note", ["\udc00\ud800"]),
        ("hashes", [1]), ("hashes", [{}]), ("events", [[]]), ("availability", None),
    ],
)  # fmt: skip
def test_inconsistencies_are_named(file: Path, name: str, value: object) -> None:
    assert "is not a Mirrordrill run" in get_refusal(file, VALID_RUN | {name: value})
