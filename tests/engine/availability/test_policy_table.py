"""Policy of availability databases in many situations, compared with a recorded table.

`pytest --rewrite` records policy_table.txt anew; review the diff.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from engine.messages import SqlError
from engine.model import World
from engine.protocol import group_policies, serving
from tests import recordings
from tests.engine.availability.test_statements import (
    ALTER_AG1,
    apply_lines,
    build_settled_world,
    force_quorum,
    lose_quorum,
    run_until,
    take_group_offline,
)

TABLE: Final = Path(__file__).parent / "policy_table.txt"
REPLICA: Final = f"{ALTER_AG1}MODIFY REPLICA ON 'NODE_{{}}' WITH ({{}})"


def build_world_after(*lines: str, wait_s: float = 20.0) -> World:
    world = build_settled_world().fork()
    apply_lines(world, *lines)
    run_until(world, world.t_s + wait_s)
    return world


def build_primary_lines(*statements: str) -> tuple[str, ...]:
    return tuple(f"sql NODE_1 {statement}" for statement in statements)


@cache
def build_worlds() -> dict[str, World]:
    return {
        "settled": build_settled_world(),
        "offline": take_group_offline(),
        "without-quorum": lose_quorum(),
        "forced-quorum": force_quorum(),
        "suspended": build_world_after("sql NODE_2 ALTER DATABASE Sales SET HADR SUSPEND"),
        "suspended-everywhere": build_world_after(
            *build_primary_lines("ALTER DATABASE Sales SET HADR SUSPEND")
        ),
        "secondary-lost": build_world_after("power-off NODE_2"),
        "primary-lost": build_world_after("power-off NODE_1", wait_s=60.0),
        "disk-failed": build_world_after("fail-disk NODE_2 Sales"),
        "failing-over": build_world_after(f"sql NODE_2 {ALTER_AG1}FAILOVER", wait_s=0.3),
        "readers": build_world_after(
            *build_primary_lines(
                REPLICA.format(2, "SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL)"),
                REPLICA.format(3, "SECONDARY_ROLE (ALLOW_CONNECTIONS = READ_ONLY)"),
                REPLICA.format(3, "SECONDARY_ROLE (READ_ONLY_ROUTING_URL = 'TCP://NODE_3:1433')"),
                REPLICA.format(1, "PRIMARY_ROLE (ALLOW_CONNECTIONS = READ_WRITE)"),
                REPLICA.format(1, "PRIMARY_ROLE (READ_ONLY_ROUTING_LIST = ('NODE_3'))"),
            )
        ),
        "asynchronous": build_world_after(
            *build_primary_lines(
                REPLICA.format(2, "FAILOVER_MODE = MANUAL"),
                REPLICA.format(2, "AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT"),
            )
        ),
        "removed": build_world_after(*build_primary_lines(f"{ALTER_AG1}REMOVE DATABASE Sales")),
    }


def describe_route(world: World, server: str, read_intent: bool) -> str:
    """Return the server to which a connection is routed, or the number of the refusal."""
    copy = world.copies[server, "Sales"]
    try:
        return group_policies.get_policy(copy).find_route(world, copy, read_intent) or "-"
    except SqlError as problem:
        return str(problem.number)


def describe_copy(world: World, server: str) -> str:
    """Return role, states, refusals, routes and true properties of one copy as text."""
    copy = world.copies[server, "Sales"]
    policy = group_policies.get_policy(copy)
    refusals = [policy.find_refusal(copy, read_intent) for read_intent in (False, True)]
    stated = {
        "leads": policy.is_leader(copy),
        "follows": policy.is_follower(copy),
        "waits": policy.has_waiting_commits(world, copy),
        "writes": policy.can_write(copy),
        "synchronized": policy.has_synchronized_copy(copy),
        "serves": serving.is_serving(world, copy.key),
        "reads": policy.can_read(copy, read_intent=False),
        "reads-by-intent": policy.can_read(copy, read_intent=True),
        "log-stopped": policy.has_stopped_log(copy),
        "backs-up-closed": policy.can_back_up_closed(copy),
    }
    words = [
        policy.get_role(copy) or "-",
        policy.get_state(copy) or "-",
        policy.get_database_state(copy) or "-",
        "+".join(sorted(policy.collect_state_names(world, copy))) or "-",
        f"sequence={policy.get_role_sequence(copy)}",
        f"partner={policy.get_partner(copy)}",
        "refusals=" + "/".join(str(refusal.number if refusal is not None else 0) for refusal in refusals),
        f"routes={describe_route(world, server, False)}/{describe_route(world, server, True)}",
        f"snapshot={policy.allows_snapshot(copy)}",
        f"backups={policy.find_backup_refusal(world, copy, False)}/{policy.find_backup_refusal(world, copy, True)}",
        *(word for word, true in stated.items() if true),
    ]
    return " ".join(words)


def test_the_policy_answers_as_in_the_table(request: pytest.FixtureRequest) -> None:
    rows = [
        f"{name} {server} {describe_copy(world, server)}"
        for name, world in build_worlds().items()
        for server in ("NODE_1", "NODE_2", "NODE_3")
    ]
    rows += [
        f"{name}: {condition.name} | {condition.seen_in} | {condition.target} | {condition.holds} {condition.now}"
        for name, world in build_worlds().items()
        for condition in group_policies.list_preconditions(world, "Sales")
    ]
    recordings.compare_lines(TABLE, rows, request)
