"""Old principal that reconnects to a partner that mirrors the database in a newer session."""

from __future__ import annotations

import pytest

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.model import DbState, Role
from tests.events import read_field

SCENARIO = """
title = "Old principal returns"
summary = "The old principal returns after its partner has a new session."
level = "beginner"
minutes = 10
seed = 3
brief = "The old principal returns."
facilitator = "-"

[[source]]
paper = "SQL Server support blog"
section = "Database mirroring"

{servers}
[[database]]
name = "Sales"
workload = "none"
size_mb = 100

[[session]]
database = "Sales"
principal = "A"
mirror = "B"
{witness}
"""

SCRIPT = """5 stop-service A
40 sql B ALTER DATABASE Sales SET PARTNER OFF
45 sql B BACKUP DATABASE Sales TO DISK = 'D:\\Backup\\s.bak' WITH INIT
60 sql B BACKUP LOG Sales TO DISK = 'D:\\Backup\\s.trn' WITH INIT
65 copy-file B D D:\\Backup\\s.bak
66 copy-file B D D:\\Backup\\s.trn
90 sql D RESTORE DATABASE Sales FROM DISK = 'D:\\Backup\\s.bak' WITH NORECOVERY
120 sql D RESTORE LOG Sales FROM DISK = 'D:\\Backup\\s.trn' WITH NORECOVERY
125 sql D ALTER DATABASE Sales SET PARTNER = 'TCP://B:5022'
127 sql B ALTER DATABASE Sales SET PARTNER = 'TCP://D:5022'"""


def _play_script(script: str, witness: str = 'witness = "W"') -> Drill:
    servers = "\n".join(f'[[server]]\nname = "{name}"\nversion = 2008' for name in "ABWD")
    drill = Drill(load_scenario(SCENARIO.format(servers=servers, witness=witness), "old"), 3)
    for line in script.splitlines():
        time_text, _, text = line.partition(" ")
        drill.advance_to(round(float(time_text) * 100))
        drill.apply_line(text)
    drill.advance_to(drill.world.tick + 2_000)
    return drill


def _list_message_numbers(drill: Drill) -> list[int]:
    return [
        read_field(event, "number")
        for event in drill.events
        if event.kind == "errorlog" and event.server == "A"
    ]


RETURN_LINES = {"start": "140 start-service A", "plug": "140 plug-cable A"}


@pytest.mark.parametrize("return_kind", ["start", "plug"])
def test_a_rejected_principal_stays_in_recovery_until_its_next_start(return_kind: str) -> None:
    script = SCRIPT if return_kind == "start" else SCRIPT.replace("stop-service A", "pull-cable A")
    drill = _play_script(f"{script}\n{RETURN_LINES[return_kind]}")
    copy = drill.world.copies["A", "Sales"]
    assert (copy.db_state, copy.mirroring.role) == (DbState.RECOVERING, Role.PRINCIPAL)
    numbers = _list_message_numbers(drill)
    assert {1438, 1445} <= {*numbers}
    assert 1443 not in numbers
    drill.apply_line("sql A USE Sales")
    drill.advance_to(drill.world.tick + 100)
    assert [message["number"] for message in drill.build_report()["sql"][-1]["messages"]] == [955]
    fork = drill.fork()
    for _ in range(2):  # after the restart, the session no longer exists
        fork.apply_line("stop-service A")
        fork.advance_to(fork.world.tick + 1_000)
        fork.apply_line("start-service A")
        fork.advance_to(fork.world.tick + 3_000)
        copy = fork.world.copies["A", "Sales"]
        assert (copy.db_state, copy.mirroring.guid) == (DbState.ONLINE, None)
    drill.apply_line("sql A ALTER DATABASE Sales SET PARTNER OFF")
    drill.advance_to(drill.world.tick + 1_000)
    assert drill.world.copies["A", "Sales"].db_state is DbState.ONLINE


def test_an_old_principal_leaves_its_session_if_the_partner_has_no_newer_one() -> None:
    first = "\n".join(SCRIPT.splitlines()[:2])
    drill = _play_script(f"{first}\n{RETURN_LINES['start']}")
    assert drill.world.copies["A", "Sales"].db_state is DbState.ONLINE
    assert 1443 in _list_message_numbers(drill)
    assert 1438 not in _list_message_numbers(drill)


def test_without_a_witness_the_old_principal_serves_and_leaves_the_session() -> None:
    """Only a principal without quorum is rejected. Without a witness, no quorum is needed."""
    recovery = "42 sql B RESTORE DATABASE Sales WITH RECOVERY\n45 sql B BACKUP DATABASE"
    repair = SCRIPT.replace("45 sql B BACKUP DATABASE", recovery)
    drill = _play_script(f"{repair}\n{RETURN_LINES['start']}", witness="")
    assert drill.world.copies["D", "Sales"].mirroring.role is Role.MIRROR
    copy = drill.world.copies["A", "Sales"]
    assert (copy.db_state, copy.mirroring.guid) == (DbState.ONLINE, None)
    assert 1443 in _list_message_numbers(drill)
    assert 1438 not in _list_message_numbers(drill)
