"""Seats without a network: they start from a file, and the instructor imports their logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.classroom import players
from app.classroom.code import Invitation
from app.classroom.join import Participation, take_part
from app.classroom.record import ClassRecord
from app.classroom.seat_log import InvalidSeatLogError, SeatAssignment, read_handout
from engine.drill.running.drill import Drill
from engine.verbs.lines import parse_script
from tests.class_process import HostProcess, run_host
from tests.forked import run
from tests.shipped_scenarios import load_shipped_scenario

NAME = "planned-failover"
SCRIPTS = [
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
    with run_host(folder / "class.sqlite", NAME) as host:
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


def play(assignment: Invitation | SeatAssignment, name: str, script: list[str]) -> Participation:
    lines, problems = parse_script("\n".join(script))
    assert not problems
    return take_part(assignment, name, players.inputs(lines), None, lambda _: None)


def console(folder: Path, *lines: str) -> list[dict[str, Any]]:
    """Return the host's replies to an instructor who types *lines*, without the board."""
    done = run("class", "console", "--database", folder / "class.sqlite", lines="\n".join(lines))
    assert done.returncode == 0, done.stderr
    return [said for said in map(json.loads, done.stdout.splitlines()) if said["kind"] != "board"]


def order_replies(replies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort refusals of the console itself, which arrive before the host's answers, to the end."""
    return sorted(replies, key=lambda one: one["of"] != "hand_in")


def verdicts(folder: Path, tmp_path: Path) -> dict[str, Any]:
    """Return the exported board by seat name."""
    found = tmp_path / "board.json"
    database = ["--database", str(folder / "class.sqlite")]
    assert cli.main(["class", "export", "--out", str(tmp_path / "class.zip"), *database], lambda _: 0) == 0
    assert cli.main(["class", "verify", str(tmp_path / "class.zip"), "--json", str(found)], lambda _: 0) == 0
    return {one["name"]: one["verdict"] for one in json.loads(found.read_text())}


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path / "profile"))


@pytest.mark.usefixtures("profile")
def test_ten_seats_by_file_give_the_same_board_as_ten_over_the_network(
    host: HostProcess, folder: Path, seat_file: Path, tmp_path: Path
) -> None:
    by_file = []
    for n, script in enumerate(SCRIPTS):
        by_network = play(host.invited, f"network {n}", script)
        assert by_network.has_host
        assert by_network.left == 0
        by_file.append(play(read_handout(seat_file), f"file {n}", script))
    assert not any(one.has_host for one in by_file)
    lines = [f"hand in {one.file}" for one in by_file]
    told = console(folder, *lines, lines[0])  # a log that is handed in twice counts once
    assert [said["kind"] for said in told] == ["done"] * (len(SCRIPTS) + 1)
    board = verdicts(folder, tmp_path)
    assert len(board) == 2 * len(SCRIPTS)
    for n in range(len(SCRIPTS)):
        assert board[f"file {n}"] == board[f"network {n}"]
    assert len({str(found) for found in board.values()}) == len(SCRIPTS), "each has done something else"


@pytest.mark.usefixtures("profile")
def test_a_seat_that_lost_the_network_hands_in_the_rest_by_file(
    host: HostProcess, folder: Path, tmp_path: Path
) -> None:
    attended = play(host.invited, "Ann", SCRIPTS[0])
    record = ClassRecord(str(folder / "class.sqlite"), new=False)
    (seat,) = [one for one in record.seats() if one.name == "Ann"]
    known = record.acts(seat.id)
    drill = Drill(load_shipped_scenario(NAME))  # inputs since then, which the host has not received
    drill.advance_to(known[-1].tick + 500)
    more = tmp_path / "more.seat"
    last = json.dumps([known[-1].number + 1, drill.tick, "", "", 0])
    more.write_text(Path(attended.file).read_text() + last + "\n")
    assert [said["kind"] for said in console(folder, f"hand in {more}")] == ["done"]
    assert len(record.acts(seat.id)) == len(known) + 1
    record.close()


@pytest.mark.usefixtures("profile")
def test_a_file_that_is_not_a_log_of_this_class_is_refused(
    host: HostProcess, folder: Path, seat_file: Path, tmp_path: Path
) -> None:
    honest = Path(play(read_handout(seat_file), "Eve", SCRIPTS[1]).file)
    head, *log = honest.read_text().splitlines()
    given = json.loads(head)

    rewritten = json.loads(log[0])
    rewritten[2] = "note another"
    forged = {
        "another scenario, seed or mode": ({"seed": given["seed"] + 1}, log),
        "belongs to another scenario, seed or mode": ({"text": given["text"] + "\n# easier"}, log),
        "scenario, seed or mode": ({"mode": "lab"}, log),
        "belongs to another person than": ({"seat": 1, "name": "Zoe"}, log),
        "input 1": ({}, [json.dumps(rewritten), *log[1:]]),
    }
    lines = [f"hand in {honest}"]
    for place, (changed, acts) in enumerate(forged.values()):
        file = tmp_path / f"{place}.seat"
        file.write_text("\n".join([json.dumps({**given, **changed}), *acts, ""]))
        lines.append(f"hand in {file}")
    done, *said = order_replies(console(folder, *lines, f"hand in {seat_file}", "hand in /no/such.seat"))
    assert done["kind"] == "done"
    for why, one in zip((*forged, "handed out", "cannot be read"), said, strict=True):
        assert one["kind"] == "refused"
        assert why in one["text"]
    with pytest.raises(InvalidSeatLogError, match="Hand it in"):
        read_handout(honest)


@pytest.mark.usefixtures("profile")
def test_the_command_plays_without_a_network_and_prints_the_path_of_the_log(
    seat_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = tmp_path / "inputs.txt"
    inputs.write_text("\n".join(SCRIPTS[2]))
    words = ["class", "join", str(seat_file), "--name", "Bo", "--inputs", str(inputs)]
    assert cli.main(words, lambda _: 0) == 0
    said = capsys.readouterr().out
    assert "hand in " in said
    assert Path(said.split("hand in ")[1].strip()).is_file()
