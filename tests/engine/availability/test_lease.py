"""Leases of a frozen primary: it writes nothing after its lease expires, and detects the loss when it
continues.
"""

from __future__ import annotations

import pytest

from tests.engine.availability.worlds import apply_lines, build_ag_lab, list_primaries, run_until


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_the_lease_of_a_frozen_primary_expires_at_every_level(level: int) -> None:
    world = build_ag_lab()
    apply_lines(world, f"sql NODE_1 ALTER AVAILABILITY GROUP AG1 SET (FAILURE_CONDITION_LEVEL = {level})")
    run_until(world, 10)
    apply_lines(world, "hang NODE_1")
    run_until(world, 30)
    assert list_primaries(world) == ["NODE_2"]


def test_a_frozen_instance_writes_nothing_until_it_continues() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "hang NODE_1")
    lines, guid = len(world.errorlog.get("NODE_1", ())), next(guid for _, guid in world.replicas)
    run_until(world, 60)
    assert list_primaries(world) == ["NODE_2"]
    assert len(world.errorlog.get("NODE_1", ())) == lines
    assert world.replicas["NODE_1", guid].word.value == "PRIMARY_NORMAL"
    apply_lines(world, "unhang NODE_1")
    assert list_primaries(world) == ["NODE_2"]
    run_until(world, 90)
    numbers = [line[1] for line in world.errorlog["NODE_1"][lines:]]
    assert [numbers.count(number) for number in (19407, 19421, 41091)] == [1, 1, 1]
    assert world.replicas["NODE_1", guid].word.value == "SECONDARY_NORMAL"
    assert all(account.lost_transactions == 0 for account in world.availability.values())


def test_a_frozen_instance_reports_lost_quorum_later() -> None:
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "hang NODE_1", "pull-cable NODE_1")
    lines = len(world.errorlog.get("NODE_1", ()))
    run_until(world, 60)
    assert len(world.errorlog.get("NODE_1", ())) == lines
    apply_lines(world, "unhang NODE_1")
    run_until(world, 70)
    assert 41092 in [line[1] for line in world.errorlog["NODE_1"][lines:]]
    apply_lines(world, "plug-cable NODE_1")
    run_until(world, 200)
    assert list_primaries(world) == ["NODE_2"]
