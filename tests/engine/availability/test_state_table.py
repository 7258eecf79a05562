"""States of replicas and databases after many losses and commands, compared with a recorded table.

`pytest --rewrite` records state_table.txt anew; review the diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engine.model import World
from tests import recordings
from tests.engine.availability.test_policy_table import (
    ALTER_AG1,
    REPLICA,
    build_settled_world,
    describe_copy,
)

TABLE: Final = Path(__file__).parent / "state_table.txt"
NODES: Final = ("NODE_1", "NODE_2", "NODE_3")
FORCE: Final = f"{ALTER_AG1}FORCE_FAILOVER_ALLOW_DATA_LOSS"

SEQUENCES: Final[dict[str, recordings.Steps]] = {
    "primary-lost": (
        ("power-off NODE_1", 3.0),
        ("", 10.0),
        ("", 30.0),
        ("power-on NODE_1", 70.0),
        ("", 90.0),
    ),
    "service": (("stop-service NODE_1", 0.5), ("", 20.0), ("start-service NODE_1", 5.0), ("", 60.0)),
    "hang": (("hang NODE_1", 9.5), ("", 1.0), ("", 25.0), ("unhang NODE_1", 1.0), ("", 60.0)),
    "isolated": (("pull-cable NODE_1", 5.0), ("", 10.0), ("", 30.0), ("plug-cable NODE_1", 5.0), ("", 60.0)),
    "link": (("cut NODE_1 NODE_2", 9.0), ("", 2.0), ("", 20.0), ("mend NODE_1 NODE_2", 1.0), ("", 30.0)),
    "failover": (
        (f"sql NODE_2 {ALTER_AG1}FAILOVER", 0.1),
        ("", 0.5),
        ("", 1.0),
        ("", 20.0),
        (f"sql NODE_1 {ALTER_AG1}FAILOVER", 30.0),
    ),
    "forced": (
        (f"sql NODE_3 {FORCE}", 0.5),
        ("", 30.0),
        ("sql NODE_1 ALTER DATABASE Sales SET HADR RESUME", 1.0),
        ("", 60.0),
    ),
    "suspended": (
        ("sql NODE_2 ALTER DATABASE Sales SET HADR SUSPEND", 20.0),
        ("stop-service NODE_1", 30.0),
        (f"sql NODE_2 {FORCE}", 30.0),
        ("start-service NODE_1", 60.0),
        ("sql NODE_1 ALTER DATABASE Sales SET HADR RESUME", 60.0),
    ),
    "behind": (
        ("degrade NODE_1 NODE_2 bandwidth_mbps=2", 60.0),
        ("power-off NODE_1", 40.0),
        (f"sql NODE_2 {FORCE}", 30.0),
    ),
    "mode": (
        (f"sql NODE_1 {REPLICA.format(3, 'AVAILABILITY_MODE = SYNCHRONOUS_COMMIT')}", 1.0),
        (f"sql NODE_1 {REPLICA.format(3, 'SESSION_TIMEOUT = 20')}", 20.0),
        ("cut NODE_1 NODE_3", 19.0),
        ("", 2.0),
        ("mend NODE_1 NODE_3", 20.0),
    ),
    "endpoint": (
        ("sql NODE_2 ALTER ENDPOINT Hadr_endpoint STATE = STOPPED", 1.0),
        ("", 20.0),
        ("sql NODE_2 ALTER ENDPOINT Hadr_endpoint STATE = STARTED", 20.0),
    ),
    "disk": (
        ("fail-disk NODE_1 Sales", 1.0),
        ("", 40.0),
        ("mend-disk NODE_1 Sales", 60.0),
        ("fail-disk NODE_2 Sales", 30.0),
    ),
    "removed": (
        ("sql NODE_2 ALTER DATABASE Sales SET HADR OFF", 20.0),
        ("sql NODE_2 ALTER DATABASE Sales SET HADR AVAILABILITY GROUP = AG1", 30.0),
        (f"sql NODE_1 {ALTER_AG1}REMOVE REPLICA ON 'NODE_3'", 20.0),
        (f"sql NODE_1 {ALTER_AG1}REMOVE DATABASE Sales", 20.0),
    ),
    "group-offline": (
        ("stop-role AG1", 0.5),
        ("", 20.0),
        ("start-role AG1", 0.5),
        ("", 30.0),
        ("move-role AG1 NODE_2", 30.0),
    ),
    "quorum": (
        ("power-off NODE_2", 1.0),
        ("power-off NODE_3", 60.0),
        ("force-quorum NODE_1", 30.0),
        (f"sql NODE_1 {FORCE}", 30.0),
    ),
}


def describe_world(world: World) -> list[str]:
    rows = []
    for server in NODES:
        copy = world.copies[server, "Sales"]
        own_availability = copy.availability
        words = [server, describe_copy(world, server), copy.db_state.name, f"peers={own_availability.peers}"]
        words.append(f"suspended={own_availability.suspended} lost={own_availability.lost}")
        words.append(f"recovering={copy.recovering} disk_failed={copy.disk_failed}")
        rows.append(" ".join(words))
    rows += [
        f"{server} {state.word.name} primary={state.primary} pending={bool(state.pending)}"
        for (server, _), state in sorted(world.replicas.items())
    ]
    rows += [
        f"{me} to {peer}: {c.connected} {c.pending}" for (_, me, peer), c in sorted(world.contacts.items())
    ]
    return [*rows, f"listener at {world.listeners}"]


def play_steps(steps: recordings.Steps) -> list[str]:
    """Return the states after each step, without lines that equal those of the step before."""
    return recordings.play_steps(build_settled_world().fork(), (("", 0.1), *steps), describe_world)


def test_states_are_as_in_the_table(request: pytest.FixtureRequest) -> None:
    rows = [row for name, steps in SEQUENCES.items() for row in (f"# {name}", *play_steps(steps))]
    recordings.compare_lines(TABLE, rows, request)
