"""Tests of a team over TLS: a class, a shared world as one seat, and members with roles."""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from app.classroom.join_code import Invitation, parse_invitation
from app.classroom.messages.codec import ProtocolError
from app.classroom.messages.team import TEAM_REQUEST_READER, TeamRole, TeamRoles
from app.classroom.team.member import TeamConnection
from app.classroom.team.world import InputRejectedError, RoleTable
from app.words import language
from tests.class_process import WAIT_S_MAX, RawClient, join, run_host
from tests.forked import Program, run_program
from tests.shipped_scenarios import load_shipped_scenario

ORDER = "plug in the cable of PAY1"


def request_roles(invitation: Invitation, name: str) -> list[TeamRole]:
    """Return the roles of the team with their members."""
    member = TeamConnection(invitation, name, "")
    member.start()
    try:
        message = member.incoming.get(timeout=WAIT_S_MAX)
    finally:
        member.disconnect()
    assert isinstance(message, TeamRoles)
    return message.roles


class TeamProcess:
    """Process of `mirrordrill class team` that can be killed and restarted."""

    def __init__(self, *arguments: object) -> None:
        self._words = ("class", "team", *arguments, "--listen", "127.0.0.1:0")
        # A restart uses the environment of the test that started the process first.
        self._profile = dict(os.environ)
        self.start()

    def start(self) -> None:
        self._running = Program(*self._words, environment=self._profile)
        self.invited = parse_invitation(self._running.stdout.readline().strip())

    def write_line(self, line: str) -> None:
        print(line, file=self._running.stdin, flush=True)

    def kill(self) -> None:
        self._running.kill()
        self._running.wait(WAIT_S_MAX)

    def wait_for_exit(self) -> int:
        return self._running.wait(WAIT_S_MAX)


class TeamClient(TeamConnection):
    """Simulated member of a team that stores all received messages."""

    def __init__(self, invited: Invitation, name: str, role: str, takes_over: bool = False) -> None:
        super().__init__(invited, name, role, takes_over)
        self.heard: list[Any] = []
        self.start()

    def wait_for_message(self, kind: str, condition: Any = lambda said: True) -> Any:
        end = time.monotonic() + WAIT_S_MAX
        while time.monotonic() < end:
            try:
                self.heard.append(message := self.incoming.get(timeout=1.0))
            except Empty:
                continue
            if message.kind == kind and condition(message):
                return message
        last = [str(heard_message)[:300] for heard_message in self.heard if heard_message.kind != "view"][-3:]
        raise AssertionError(f"{self.role} did not hear {kind}; heard last {last}")

    def send_line(self, line: str, kind: str = "done") -> Any:
        self.send_input(line)
        return self.wait_for_message(kind)

    @property
    def news_texts(self) -> list[str]:
        return [
            row["text"] for message in self.heard if message.kind == "view" for row in message.view["news"]
        ]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, TeamProcess]]:
    """Yield a folder and the team process of a class; its world starts with the first member.

    The shipped drill ends after twelve minutes, which are twelve seconds at this speed.
    """
    folder = tmp_path_factory.mktemp("team")
    drill = folder / "team-cable.toml"
    text = load_shipped_scenario("team-cable").text
    short = 'length = "12min"'
    assert short in text
    drill.write_text(text.replace(short, 'length = "8h"'), "utf-8")
    with run_host(folder / "class.sqlite", drill) as host:
        process = TeamProcess(host.code, "--name", "Night", "--speed", "60", "--json", folder / "team.json")
        yield folder, process
        process.kill()


def test_an_unauthorized_client_is_refused(team: tuple[Path, TeamProcess]) -> None:
    hello = {"kind": "take", "secret": "000000", "name": "Eve", "token": "x" * 32, "role": "dba"}
    for hello_message, reason in (
        (hello, "wrong team code"),
        ({**hello, "secret": team[1].invited.secret, "role": "cook"}, "this team has no role 'cook'"),
        ({"kind": "do", "number": 1, "line": "note x"}, "sign in first"),
        ("garbage", "JSON is malformed"),
        (join(team[1].invited), "This code belongs to a team."),
    ):
        with RawClient(team[1].invited) as stranger:
            assert reason in stranger.read_refusal(hello_message)
    nameless = TeamClient(team[1].invited, " ", "dba")
    assert "1 to 60 printable characters" in nameless.wait_for_message("refused").text
    nameless.disconnect()


def test_a_team_repairs_a_cable_in_one_world(team: tuple[Path, TeamProcess]) -> None:
    folder, process = team
    assert {role.key: role.taken_by for role in request_roles(process.invited, "Nosy")} == {
        "dba": None, "room": None, "manager": None,
    }  # fmt: skip
    dba, room = TeamClient(process.invited, "Ann", "dba"), TeamClient(process.invited, "Bob", "room")
    welcome = dba.wait_for_message("welcome")
    assert welcome.role_name == "DBA"
    assert not {"solution", "hint", "facilitator"} & set(tomllib.loads(welcome.text))
    room.wait_for_message("welcome")
    thief = TeamClient(process.invited, "Eve", "dba", takes_over=True)
    assert "Ann already has this role" in thief.wait_for_message("refused").text, "she is connected"

    serving = dba.wait_for_message("view", lambda message: any("PRINCIPAL" in str(row) and row["server"] == "PAY2"
                                                 for row in message.view["databases"]))  # fmt: skip
    assert not serving.view["computers"]
    assert "DBA may not do this" in dba.send_line("plug-cable PAY1", "not_done").text
    assert "leave out the @ part" in room.send_line("@dba note hello", "not_done").text
    dba.send_line(f"call room {ORDER}")
    call = room.wait_for_message("view", lambda message: message.view["calls"]).view["calls"][0]
    assert (call["by_name"], call["text"]) == ("DBA", ORDER)

    assert dba.is_welcomed
    process.kill()  # The accepted inputs are on disk, and the restarted process has the same code.
    deadline = time.monotonic() + WAIT_S_MAX
    while dba.is_welcomed:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.start()
    room.send_line(f"read-back dba {ORDER}")
    assert room.is_welcomed
    dba.wait_for_message("view", lambda message: any(row["read_back"] for row in message.view["calls"]))
    dba.send_line("confirm room")
    room.disconnect()  # Another computer takes over the role of a failed one.
    assert (
        "Bob already has this role"
        in TeamClient(process.invited, "Cid", "room").wait_for_message("refused").text
    )
    (left,) = [seat for seat in request_roles(process.invited, "Cid") if seat.taken_by == "Bob"]
    assert not left.connected
    language.use_language(language.GERMAN)
    try:
        room = TeamClient(process.invited, "Cid", "room", takes_over=True)
        room.wait_for_message(
            "view", lambda message: "DBA bestätigt die Wiederholung" in str(message.view["news"])
        )
        assert "eigenen Rolle" in room.send_line("@dba note hello", "not_done").text
    finally:
        language.use_language(language.ENGLISH)
    room.send_line("plug-cable PAY1")
    dba.wait_for_message("view", lambda message: any(row["database"] and row["state"] == "SYNCHRONIZED"
                                       for row in message.view["databases"]))  # fmt: skip
    dba.send_line("sql PAY2 SELECT mirroring_state_desc FROM sys.database_mirroring")

    assert (
        run_program("class", "console", "--database", folder / "class.sqlite", lines="finish").returncode == 0
    )
    result = dba.wait_for_message("over").verdict
    assert room.wait_for_message("over").verdict == result
    assert process.wait_for_exit() == 0
    document = json.loads((folder / "team.json").read_text())
    journal = [line.split(" ", 1)[1] for line in document["inputs"]]
    spoken_lines = [line for line in journal if line.startswith(("@dba", "@room"))]
    assert spoken_lines[:4] == [f"@dba call room {ORDER}", f"@room read-back dba {ORDER}", "@dba confirm room",
                        "@room plug-cable PAY1"]  # fmt: skip
    assert [call["fault"] for call in document["team"] if call["kind"] == "order"] == [""]
    assert document["state_hash"] == result["state_hash"]
    assert result["parted_t_s"] is None
    assert document["class"]["verdict"]["score"] == result["score"]
    assert not any("SELECT" in text for text in room.news_texts)
    assert any(text.startswith("Computer room: plug-cable") for text in room.news_texts)
    for person in (dba, room):
        person.disconnect()


def test_a_role_stays_with_its_member_after_a_restart(tmp_path: Path) -> None:
    table = RoleTable(tmp_path / "roles.json")
    table.assign_role("dba", "Ann", "a" * 32)
    reread_table = RoleTable(tmp_path / "roles.json")
    reread_table.assign_role("dba", "Ann", "a" * 32)
    with pytest.raises(InputRejectedError, match="Ann already has this role"):
        reread_table.assign_role("dba", "Ann", "b" * 32)
    assert "a" * 32 not in (tmp_path / "roles.json").read_text()
    assert reread_table.get_member_name("room") is None


def test_a_team_input_needs_a_number() -> None:
    with pytest.raises(ProtocolError):
        TEAM_REQUEST_READER.read('{"kind": "do", "line": "note x"}')


@pytest.mark.parametrize("is_full", [True, False])
def test_the_world_starts_when_all_roles_are_taken_or_by_request(tmp_path: Path, is_full: bool) -> None:
    team = TeamProcess("team-cable", "--wait", "--name", f"waits {is_full}")
    ann = TeamClient(team.invited, "Ann", "dba")
    first_view = ann.wait_for_message("view")
    assert first_view.view["t_s"] == 0.0
    assert len(first_view.waits_for) == len(request_roles(team.invited, "Ann")) - 1
    ann.send_input("note too early")
    assert ann.wait_for_message("not_done")
    other_people = []
    if is_full:
        other_people = [
            TeamClient(team.invited, "Bob", role.key)
            for role in request_roles(team.invited, "Ann")
            if role.taken_by is None
        ]
    else:
        ann.start_team()
    assert ann.wait_for_message("view", lambda message: message.view["t_s"] > 0.0).waits_for == []
    for person in (ann, *other_people):
        person.disconnect()
    team.kill()


@pytest.mark.parametrize("has_started", [True, False])
def test_the_host_ends_the_team_for_all_members(tmp_path: Path, has_started: bool) -> None:
    """Every member of a started team gets the result, with or without a window. A team in the lobby has no
    result.
    """
    waits = [] if has_started else ["--wait"]
    report = tmp_path / "team.json"
    team = TeamProcess(
        "team-cable", "--end-with-input", *waits, "--name", f"ends {has_started}", "--json", report
    )
    ann = TeamClient(team.invited, "Ann", "dba")
    headless = Program("class", "join", str(team.invited), "--role", "room", "--name", "Bob")
    deadline = time.monotonic() + WAIT_S_MAX
    while not any(role.key == "room" and role.connected for role in request_roles(team.invited, "Ann")):
        assert time.monotonic() < deadline
    ann.wait_for_message("view")
    language.use_language(language.GERMAN)
    try:
        team.write_line("end")
        end_message = ann.wait_for_message("over")
    finally:
        language.use_language(language.ENGLISH)
    assert team.wait_for_exit() == 0
    printed = headless.stdout.read().splitlines()
    assert headless.wait(WAIT_S_MAX) == 0
    ann.disconnect()
    end = next(number for number, line in enumerate(printed) if line.startswith("END"))
    if not has_started:
        assert (end_message.verdict, end_message.result) == (None, None)
        assert not report.exists()
        assert printed[end:] == ["END"]
        return
    document = json.loads(report.read_text())
    assert document["inputs"][-1].endswith(" finish")
    assert end_message.verdict["score"] == document["class"]["verdict"]["score"]
    assert [goal.text for goal in end_message.result.goals] == [goal["text"] for goal in document["goals"]]
    assert [rule.points for rule in end_message.result.points] == [
        item["points"] for item in document["score"]["items"]
    ]
    assert "Ziele" in end_message.result.points[0].why, "in the language of the member"
    assert f"{end_message.verdict['score']:g} of 100 points. 0 of 2 goals met." in printed[end]
    assert len(printed[end + 1 :]) == len(document["goals"]) + len(document["score"]["items"])
