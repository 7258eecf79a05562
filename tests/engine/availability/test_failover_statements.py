"""Results of the statements FAILOVER and FORCE_FAILOVER_ALLOW_DATA_LOSS.

A statement ends when the replica is primary, or reports the reason why it is not. [DOC: 41104]
"""

from __future__ import annotations

import pytest

from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until
from tests.events import read_field


@pytest.mark.parametrize(
    ("server", "command"), [("NODE_2", "FAILOVER"), ("NODE_3", "FORCE_FAILOVER_ALLOW_DATA_LOSS")]
)
def test_the_statement_ends_when_the_replica_is_primary(server: str, command: str) -> None:
    world = build_ag_lab()
    apply_lines(world, f"sql {server} ALTER AVAILABILITY GROUP AG1 {command}")
    events = run_until(world, 30)
    (done_event,) = [event for event in events if event.kind == "sql_done"]
    online = [event for event in events if event.kind == "role" and event.text == "RESOLVING -> PRIMARY"]
    assert {event.server for event in online} == {server}
    assert 0 <= done_event.tick - online[0].tick <= 10
    assert [message["number"] for message in read_field(done_event, "messages")] == [0]


def test_a_failover_that_fails_is_an_error() -> None:
    world = build_ag_lab()
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, 1)
    apply_lines(world, "sql NODE_2#2 REVOKE VIEW SERVER STATE FROM [NT AUTHORITY\\SYSTEM]")
    events = run_until(world, 60)
    (done_event,) = [
        event for event in events if event.kind == "sql_done" and read_field(event, "window") == "NODE_2"
    ]
    assert [message["number"] for message in read_field(done_event, "messages")] == [41104]
    assert list_primaries(world) == ["NODE_1"]


def test_a_failover_statement_can_be_canceled_while_the_failover_continues() -> None:
    world = build_ag_lab()
    apply_lines(world, "sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER")
    run_until(world, 2)
    apply_lines(world, "cancel NODE_2")
    run_until(world, 30)
    assert list_primaries(world) == ["NODE_2"]


def test_the_new_primary_continues_the_chain_of_log_backups() -> None:
    world = build_ag_lab()
    apply_lines(world, "sql NODE_1 BACKUP LOG Orders TO DISK = 'C:\\b\\1.trn'")
    run_until(world, 5.0)
    last_kb = world.copies["NODE_1", "Orders"].last_log_backup_kb
    assert {world.copies[node, "Orders"].last_log_backup_kb for node in ("NODE_2", "NODE_3")} == {last_kb}
    apply_lines(world, "power-off NODE_3", "sql NODE_1 BACKUP LOG Sales TO DISK = 'C:\\b\\2.trn'")
    run_until(world, 15.0)
    apply_lines(world, "power-off NODE_1")
    run_until(world, 60.0)
    assert (
        world.copies["NODE_2", "Sales"].last_log_backup_kb
        == world.copies["NODE_1", "Sales"].last_log_backup_kb
    )
    apply_lines(world, "power-on NODE_3")
    run_until(world, 200.0)
    chains = {world.copies[node, "Sales"].last_log_backup_kb for node in ("NODE_1", "NODE_2", "NODE_3")}
    assert len(chains) == 1


def test_logged_options_reach_the_secondaries() -> None:
    world = build_ag_lab()
    apply_lines(
        world,
        "sql NODE_1 ALTER DATABASE Sales SET COMPATIBILITY_LEVEL = 110",
        "sql NODE_1 ALTER DATABASE Sales SET DELAYED_DURABILITY = ALLOWED",
    )
    run_until(world, 10.0)
    options = {(c.compatibility_level, c.delayed_durability) for c in world.list_copies_of("Sales")}
    assert options == {(110, 1)}
