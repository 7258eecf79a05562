"""Statements and faults in random order raise no exception.

In one partition with quorum, never two servers accept commits.
"""

from __future__ import annotations

import random

import pytest

from engine.cluster import config
from engine.inputs import InputError
from engine.model import ReplicaWord, World
from tests.engine.availability.test_statements import (
    ALTER_AG1,
    CREATE,
    DATABASE_STATEMENTS,
    MATRIX,
    RELATED_STATEMENTS,
)
from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until
from tests.events import read_field

SYNC_OPTIONS = "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT, FAILOVER_MODE = AUTOMATIC"
REPLICA_CLAUSES = (
    f"ADD REPLICA ON 'NODE_{{n}}' WITH (ENDPOINT_URL = 'TCP://NODE_{{n}}:5022', {SYNC_OPTIONS})",
    "REMOVE REPLICA ON 'NODE_{n}'",
    "MODIFY REPLICA ON 'NODE_{n}' WITH (FAILOVER_MODE = MANUAL)",
    "MODIFY REPLICA ON 'NODE_{n}' WITH (AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT)",
    "MODIFY REPLICA ON 'NODE_{n}' WITH (SECONDARY_ROLE (ALLOW_CONNECTIONS = NO))",
)
STATEMENTS = (
    *(ALTER_AG1 + row[0] for row in MATRIX),
    *(f"ALTER DATABASE {name} {row[0]}" for row in DATABASE_STATEMENTS for name in ("Sales", "Orders")),
    *(row[0] for row in RELATED_STATEMENTS),
    *(ALTER_AG1 + text.format(n=n) for text in REPLICA_CLAUSES for n in (1, 2, 3)),
    "DROP AVAILABILITY GROUP AG1",
    CREATE.replace("AG2", "AG1"),
    *(ALTER_AG1 + text for text in ("ADD DATABASE Orders", "JOIN", "FAILOVER")),
)
FAULTS = (
    "power-off", "power-on", "stop-service", "start-service", "stop-cluster", "start-cluster", "force-quorum", "hang",
    "unhang",
)  # fmt: skip


@pytest.mark.parametrize("seed", [0, 23, 27, 73, 176, 185])
def test_statements_in_any_order_are_handled(seed: int) -> None:
    """Each seed once revealed a defect."""
    chance, world = random.Random(seed), build_ag_lab(seed)
    run_until(world, 10)
    for _ in range(40):
        node = f"NODE_{chance.randint(1, 3)}"
        statement = " ".join(chance.choice(STATEMENTS).split())
        line = f"sql {node} {statement}" if chance.random() < 0.75 else f"{chance.choice(FAULTS)} {node}"
        try:
            apply_lines(world, line)
        except InputError:
            continue
        run_until(world, world.t_s + chance.choice([0.1, 1, 5, 20]))
        for group in {guid for _, guid in world.replicas}:
            assert_one_primary(world, group)


def assert_one_primary(world: World, group: int) -> None:
    """Assert that no partition of the cluster has two running servers that consider themselves primary."""
    led = [
        node.partition
        for (server, guid), state in world.replicas.items()
        if guid == group and state.word is ReplicaWord.PRIMARY_NORMAL and not world.instances[server].hung
        if (node := config.find_server_node(world, server)) is not None and node.partition
    ]
    assert len(led) == len(set(led))


def test_a_primary_without_quorum_reports_not_synchronizing() -> None:
    """The charts draw their lanes from this state."""
    world = build_ag_lab()
    apply_lines(world, "power-off FSW", "power-off NODE_2", "power-off NODE_3")
    state_changes = [
        event for event in run_until(world, 40.0) if event.kind == "state" and event.server == "NODE_1"
    ]
    assert {(event.database, read_field(event, "new")) for event in state_changes} == {
        ("Sales", "NOT_SYNCHRONIZING"),
        ("Orders", "NOT_SYNCHRONIZING"),
    }


def test_two_partitions_do_not_affect_each_other() -> None:
    """NODE_2 has forced quorum while the other nodes keep a majority. Statements at NODE_1 affect only its
    own partition.
    """
    world = build_ag_lab()
    run_until(world, 10)
    apply_lines(world, "cut NODE_2 NODE_1", "cut NODE_2 NODE_3", "cut NODE_2 FSW")
    run_until(world, 60)
    apply_lines(world, "force-quorum NODE_2")
    run_until(world, 70)
    apply_lines(world, "sql NODE_2 " + ALTER_AG1 + "FORCE_FAILOVER_ALLOW_DATA_LOSS")
    run_until(world, 100)
    words = {server: state.word for (server, _), state in world.replicas.items()}
    assert words["NODE_1"] == words["NODE_2"] == ReplicaWord.PRIMARY_NORMAL
    state_before = world.nodes["NODE_2"].config, world.copies["NODE_2", "Sales"].availability.state
    apply_lines(world, "sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND")
    apply_lines(world, "sql NODE_1 " + ALTER_AG1 + "REMOVE LISTENER 'AGL1'")
    apply_lines(world, "sql NODE_1 " + ALTER_AG1 + "REMOVE REPLICA ON 'NODE_3'")
    run_until(world, 110)
    assert (world.nodes["NODE_2"].config, world.copies["NODE_2", "Sales"].availability.state) == state_before
    role = world.nodes["NODE_1"].config.find_role("AG1")
    assert role is not None
    assert [(resource.kind, resource.owners) for resource in role.resources] == [
        ("SQL Server Availability Group", ("NODE_1", "NODE_2"))
    ]
