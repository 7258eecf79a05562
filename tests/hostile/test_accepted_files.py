"""Tests of the list of accepted files on the command line: listing and removal. A damaged list does no harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app import cli
from app.exit_codes import INVALID_USE, SUCCESS
from app.files import accepted_files
from app.files.accepted_files import ACCEPTED_FILES_MAX, ACCEPTED_FILES_SETTING, AcceptedFile
from app.storage import open_profile

FIRST_TEXT = AcceptedFile("1" * 64, "A \u202etitle\nwith lines", "Ada L.")
SECOND_TEXT = AcceptedFile("2" * 64)
OWN_TEXT = AcceptedFile("3" * 64, own=True)


def _store_entries(folder: Path, *entries: AcceptedFile) -> None:
    with open_profile(folder) as profile:
        accepted_files.save_accepted_files(profile, entries)


def _list_hashes(folder: Path) -> list[str]:
    with open_profile(folder) as profile:
        return [entry.sha256 for entry in accepted_files.list_accepted_files(profile)]


def _run_bundle_command(*arguments: str) -> int:
    return cli.main(["bundle", *arguments], lambda scenario: 9)


def test_accepted_files_are_listed_one_per_line(
    profile_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _store_entries(profile_folder, FIRST_TEXT, SECOND_TEXT, OWN_TEXT)
    assert _run_bundle_command("accepted") == SUCCESS
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(SECOND_TEXT.sha256)
    assert "title unknown" in first
    assert second.startswith(FIRST_TEXT.sha256)
    assert "\u202e" not in second
    assert second.endswith(", by Ada L.")


def test_one_file_is_forgotten_by_its_prefix_and_all_at_once(profile_folder: Path) -> None:
    _store_entries(profile_folder, FIRST_TEXT, SECOND_TEXT, OWN_TEXT)
    assert _run_bundle_command("forget", FIRST_TEXT.sha256[:8]) == SUCCESS
    assert _list_hashes(profile_folder) == [SECOND_TEXT.sha256, OWN_TEXT.sha256]
    assert _run_bundle_command("forget", "--all") == SUCCESS
    assert _list_hashes(profile_folder) == [OWN_TEXT.sha256]


@pytest.mark.parametrize(
    "arguments", [[], ["1111"], ["4" * 64], ["3" * 64], ["--all", "1" * 64], ["1" * 64, "x" * 8]]
)
def test_an_ambiguous_prefix_forgets_no_file(
    profile_folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _store_entries(profile_folder, FIRST_TEXT, SECOND_TEXT, OWN_TEXT)
    assert _run_bundle_command("forget", *arguments) == INVALID_USE
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert len(_list_hashes(profile_folder)) == 3


def test_listing_creates_no_profile_and_an_open_window_is_reported(
    profile_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run_bundle_command("accepted") == SUCCESS
    assert _run_bundle_command("forget", "--all") == SUCCESS
    assert not profile_folder.exists()
    with open_profile(profile_folder):
        assert _run_bundle_command("forget", "--all") == INVALID_USE
    assert "Another running Mirrordrill uses" in capsys.readouterr().err


@pytest.mark.parametrize(
    "raw",
    ["", "5", "{}", "[" * 100_000, json.dumps([{"sha256": "1" * 64, "title": "x" * 201}]), "[NaN]",
     json.dumps([{"sha256": "1" * 64, "own": "yes"}]), json.dumps([["1" * 64], "1" * 63])],
)  # fmt: skip
def test_an_invalid_list_trusts_nothing(profile_folder: Path, raw: str) -> None:
    with open_profile(profile_folder) as profile:
        profile.settings.set(ACCEPTED_FILES_SETTING, raw)
    assert _list_hashes(profile_folder) == []


def test_the_oldest_files_must_be_accepted_again() -> None:
    entries: list[AcceptedFile] = []
    for number in range(ACCEPTED_FILES_MAX + 5):
        entries = accepted_files.add_accepted_file(entries, AcceptedFile(f"{number:064x}", "t" * 5_000))
    assert len(entries) == ACCEPTED_FILES_MAX
    assert entries[0].sha256 == f"{5:064x}"
    assert len(entries[0].title) == accepted_files.TITLE_LENGTH_MAX
    entries_after = accepted_files.add_accepted_file(entries, entries[0])
    assert len(entries_after) == ACCEPTED_FILES_MAX
    assert entries_after[-1].sha256 == entries[0].sha256
