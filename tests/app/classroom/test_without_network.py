"""Tests of seats without a network: they start from a file, and the instructor imports their logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.classroom import players
from app.classroom.join import ParticipationResult, play_in_class_seat
from app.classroom.join_code import Invitation
from app.classroom.record import ClassRecord
from app.classroom.seat_log import InvalidSeatLogError, SeatAssignment, read_handout
from engine.drill.running.drill import Drill
from engine.verbs.input_lines import parse_script
from tests.class_process import HostProcess, run_host
from tests.forked import run_program
from tests.shipped_scenarios import load_shipped_scenario

SCENARIO_NAME = "planned-failover"
INPUT_SCRIPTS = [
    [
        f"{n + 1} note {n}",
        f"{5 + 3 * n} sql SERVER_A ALTER DATABASE Northwind SET PARTNER FAILOVER",
        f"{60 + n} finish",
    ]
    for n in range(10)
]
"""Inputs of ten people, each at different times."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("class")


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[HostProcess]:
    with run_host(folder / "class.sqlite", SCENARIO_NAME) as host:
        yield host


@pytest.fixture(scope="module")
def seat_file(host: HostProcess, folder: Path) -> Path:
    """Return the file that the instructor gives to seats without a network."""
    file = folder / "class.seat"
    assert (
        cli.main(["class", "hand-out", "--out", str(file), "--database", str(host.database)], lambda _: 0)
        == 0
    )
    return file


def play_script(assignment: Invitation | SeatAssignment, name: str, script: list[str]) -> ParticipationResult:
    lines, problems = parse_script("\n".join(script))
    assert not problems
    return play_in_class_seat(assignment, name, players.create_input_player(lines), None, lambda _: None)


def run_console(folder: Path, *lines: str) -> list[dict[str, Any]]:
    """Return the host's replies to an instructor who types *lines*, without the board."""
    process = run_program("class", "console", "--database", folder / "class.sqlite", lines="\n".join(lines))
    assert process.returncode == 0, process.stderr
    return [reply for reply in map(json.loads, process.stdout.splitlines()) if reply["kind"] != "board"]


def order_replies(replies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort refusals of the console itself, which arrive before the host's answers, to the end."""
    return sorted(replies, key=lambda reply: reply["of"] != "hand_in")


def export_verdicts(folder: Path, tmp_path: Path) -> dict[str, Any]:
    """Return the exported board by seat name."""
    board_file = tmp_path / "board.json"
    database = ["--database", str(folder / "class.sqlite")]
    assert cli.main(["class", "export", "--out", str(tmp_path / "class.zip"), *database], lambda _: 0) == 0
    assert (
        cli.main(["class", "verify", str(tmp_path / "class.zip"), "--json", str(board_file)], lambda _: 0)
        == 0
    )
    return {row["name"]: row["verdict"] for row in json.loads(board_file.read_text())}


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path / "profile"))


@pytest.mark.usefixtures("profile")
def test_ten_seats_by_file_give_the_same_board_as_ten_over_the_network(
    host: HostProcess, folder: Path, seat_file: Path, tmp_path: Path
) -> None:
    by_file = []
    for n, script in enumerate(INPUT_SCRIPTS):
        by_network = play_script(host.invited, f"network {n}", script)
        assert by_network.has_host
        assert by_network.unacknowledged_count == 0
        by_file.append(play_script(read_handout(seat_file), f"file {n}", script))
    assert not any(row.has_host for row in by_file)
    lines = [f"hand in {row.log_file}" for row in by_file]
    replies = run_console(folder, *lines, lines[0])  # A log that is submitted twice counts once.
    assert [reply["kind"] for reply in replies] == ["done"] * (len(INPUT_SCRIPTS) + 1)
    board = export_verdicts(folder, tmp_path)
    assert len(board) == 2 * len(INPUT_SCRIPTS)
    for n in range(len(INPUT_SCRIPTS)):
        assert board[f"file {n}"] == board[f"network {n}"]
    assert len({str(seat_verdict) for seat_verdict in board.values()}) == len(INPUT_SCRIPTS), (
        "each has done something else"
    )


@pytest.mark.usefixtures("profile")
def test_a_seat_that_lost_the_network_hands_in_the_rest_by_file(
    host: HostProcess, folder: Path, tmp_path: Path
) -> None:
    attended = play_script(host.invited, "Ann", INPUT_SCRIPTS[0])
    record = ClassRecord(str(folder / "class.sqlite"), create=False)
    (seat,) = [seat_row for seat_row in record.read_seats() if seat_row.name == "Ann"]
    known_acts = record.read_entries(seat.id)
    drill = Drill(load_shipped_scenario(SCENARIO_NAME))  # These inputs have not reached the host.
    drill.advance_to(known_acts[-1].tick + 500)
    second_file = tmp_path / "more.seat"
    last = json.dumps([known_acts[-1].number + 1, drill.tick, "", "", 0])
    second_file.write_text(Path(attended.log_file).read_text() + last + "\n")
    assert [reply["kind"] for reply in run_console(folder, f"hand in {second_file}")] == ["done"]
    assert len(record.read_entries(seat.id)) == len(known_acts) + 1
    record.close()


@pytest.mark.usefixtures("profile")
def test_a_file_that_is_not_a_log_of_this_class_is_refused(
    host: HostProcess, folder: Path, seat_file: Path, tmp_path: Path
) -> None:
    honest = Path(play_script(read_handout(seat_file), "Eve", INPUT_SCRIPTS[1]).log_file)
    head, *log = honest.read_text().splitlines()
    header = json.loads(head)

    rewritten = json.loads(log[0])
    rewritten[2] = "note another"
    forged = {
        "log of Eve does not match the scenario, seed or mode": ({"seed": header["seed"] + 1}, log),
        "does not match the scenario, seed or mode": ({"text": header["text"] + "\n# easier"}, log),
        "scenario, seed or mode": ({"mode": "lab"}, log),
        "belongs to another person than": ({"seat": 1, "name": "Zoe"}, log),
        "input 1": ({}, [json.dumps(rewritten), *log[1:]]),
    }
    lines = [f"hand in {honest}"]
    for place, (changed, acts) in enumerate(forged.values()):
        file = tmp_path / f"{place}.seat"
        file.write_text("\n".join([json.dumps({**header, **changed}), *acts, ""]))
        lines.append(f"hand in {file}")
    done_reply, *other_replies = order_replies(
        run_console(folder, *lines, f"hand in {seat_file}", "hand in /no/such.seat")
    )
    assert done_reply["kind"] == "done"
    for reason, reply in zip((*forged, "handed out", "does not exist"), other_replies, strict=True):
        assert reply["kind"] == "refused"
        assert reason in reply["text"]
    with pytest.raises(InvalidSeatLogError, match="Give it to the instructor"):
        read_handout(honest)


@pytest.mark.usefixtures("profile")
def test_the_command_plays_without_a_network_and_prints_the_path_of_the_log(
    seat_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("\n".join(INPUT_SCRIPTS[2]))
    words = ["class", "join", str(seat_file), "--name", "Bo", "--inputs", str(inputs)]
    assert cli.main(words, lambda _: 0) == 0
    output = capsys.readouterr().out
    assert "hand in " in output
    assert Path(output.split("hand in ")[1].strip()).is_file()
