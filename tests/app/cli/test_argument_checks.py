"""Tests of arguments that several commands have: ranges of numbers, and files to write."""

from __future__ import annotations

import argparse
import errno
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.__main__ import main
from app.cli.argument_checks import NUMBER_RANGES, READ_FILES, WRITTEN_FILES
from app.exit_codes import INVALID_USE
from app.files.folders import get_profile_folder
from engine.drill.authoring.scenario import Scenario
from tests.engine.drill.texts import SMALL_TEXT

CallCommand = Callable[..., str]


@pytest.fixture
def refuse_command(capsys: pytest.CaptureFixture[str]) -> CallCommand:
    """Return a function that runs a command, checks that it is refused, and returns the reason."""

    def call(*arguments: object) -> str:
        def open_window(_: Scenario | None) -> int:
            raise AssertionError("this command opens no window")

        assert cli.main([str(argument) for argument in arguments], open_window) == INVALID_USE
        output, error = capsys.readouterr()
        assert output == ""
        assert len(error.splitlines()) == 1
        return error

    return call


def list_options() -> Iterator[tuple[str, argparse.Action]]:
    """Return the options of all commands, each with the name of its command."""

    def walk(name: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.Action]]:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for word, command in action.choices.items():
                    yield from walk(f"{name} {word}".strip(), command)
            else:
                yield name, action

    return walk("", cli._build_parser())


def test_every_option_that_names_a_file_is_known_as_read_or_written() -> None:
    """A new option must be listed, because otherwise its file could overwrite another one."""
    exempt = {("par", "earlier"), ("run", "csv")}  # may be its own result; a folder
    for command, option in list_options():
        metavar = option.metavar if isinstance(option.metavar, str) else ""
        if any(word in metavar for word in ("FILE", "OUT", "RUN", "FOLDER")):
            assert (command, option.dest) in exempt or option.dest in {*WRITTEN_FILES, *READ_FILES}, command
        if option.type is float:
            assert option.dest in NUMBER_RANGES, command


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "lab", "--inputs", "FILE", "--json", "FILE"),
        ("run", "FILE", "--html", "FILE"),
        ("run", "FILE", "--runbook", "FILE"),
        ("sweep", "FILE", "--seeds", "1-1", "--plot", "FILE"),
        ("serve", "FILE", "--record", "FILE"),
        ("serve", "FILE", "--certificate", "FILE"),
        ("class", "export", "--database", "FILE", "--out", "FILE"),
        ("class", "report", "--database", "FILE", "--out", "FILE"),
        ("class", "hand-out", "--database", "FILE", "--out", "FILE"),
        ("class", "compare", "--pre", "FILE", "--out", "FILE"),
        ("class", "verify", "FILE", "--json", "FILE"),
    ],
    ids=" ".join,
)
def test_an_output_never_overwrites_a_file_that_the_command_reads(
    refuse_command: CallCommand, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("mine")
    link.symlink_to(file)
    first = arguments.index("FILE")
    paths = [
        link if place == first else file if word == "FILE" else word for place, word in enumerate(arguments)
    ]
    assert "would overwrite a file that this command reads" in refuse_command(*paths)
    assert file.read_text() == "mine"


@pytest.mark.parametrize("name", ["profile.sqlite", "class.sqlite"])
def test_no_output_overwrites_a_file_of_the_profile(refuse_command: CallCommand, name: str) -> None:
    file = get_profile_folder() / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    assert "would overwrite" in refuse_command("doctor", "--export", file)
    assert file.read_text() == "mine"


def test_two_outputs_need_two_files(refuse_command: CallCommand, tmp_path: Path) -> None:
    file = tmp_path / "result"
    assert "another option" in refuse_command("run", "lab", "--json", file, "--html", file)
    assert not file.exists()


def test_only_some_outputs_accept_standard_output(refuse_command: CallCommand) -> None:
    assert "--html needs the name of a file" in refuse_command("run", "lab", "--html", "-")


def test_a_recorded_scenario_is_overwritten_only_on_request(
    refuse_command: CallCommand, tmp_path: Path
) -> None:
    run, target = tmp_path / "run.json", tmp_path / "mine.toml"
    assert cli.main(["run", "lab", "--until", "1", "--json", str(run)], lambda _: 1) == 0
    target.write_text("mine")
    assert "--replace" in refuse_command("record", run, "--as", target)
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("class report --out x.zip --seconds", "-1"),
        ("class report --out x.zip --seconds", "nan"),
        ("class host lab --seed", "-1"),
        ("class team team-cable --speed", "inf"),
        ("class join CODE --speed", "0"),
    ],
)
def test_numbers_are_within_their_range(refuse_command: CallCommand, command: str, number: str) -> None:
    assert "must be from" in refuse_command(*command.split(), number)


def test_seeds_of_a_sweep_have_few_digits(refuse_command: CallCommand) -> None:
    assert "--seeds" in refuse_command("sweep", "lab", "--seeds", f"1-{'9' * 5000}")


def test_a_path_that_is_no_file_is_named_as_such(refuse_command: CallCommand, tmp_path: Path) -> None:
    assert refuse_command("run", tmp_path) == f"mirrordrill: {tmp_path} is not a file\n"
    assert refuse_command("class", "join", tmp_path / "no.seat").endswith("no.seat does not exist\n")


# --- standard output ----------------------------------------------------------------------------------------


class FullDisk(io.RawIOBase):
    """Standard output that is a file on a full disk."""

    is_full = True

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return len(content)


@pytest.mark.parametrize("buffer_size", [1, 1_000_000])
def test_a_full_disk_behind_standard_output_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], buffer_size: int
) -> None:
    disk = FullDisk()
    output = io.TextIOWrapper(io.BufferedWriter(disk, buffer_size), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr("app.__main__._discard_output", lambda: setattr(disk, "is_full", False))
    monkeypatch.setattr(sys, "argv", ["mirrordrill", "list"])
    assert main() == INVALID_USE
    assert capsys.readouterr().err == "mirrordrill: the output cannot be written: No space left on device\n"


def test_a_terminal_without_unicode_receives_escaped_characters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    output = io.BytesIO()
    (tmp_path / "größe.toml").write_text(SMALL_TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["mirrordrill", "check", "größe.toml"])
    main()
    assert output.getvalue().startswith(b"gr\\xf6\\xdfe.toml:1:1: name: ")
