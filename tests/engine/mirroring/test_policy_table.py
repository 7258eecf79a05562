"""Policy of mirrored databases in every situation of the statement matrix, compared with a recorded table.

`pytest --rewrite` records policy_table.txt anew; review the diff.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from engine.mirroring import prerequisites
from engine.model import World
from engine.protocol import group_policies, serving
from tests import recordings
from tests.engine.mirroring.test_statement_matrix import (
    DB,
    SITUATIONS,
    M,
    P,
    W,
    apply_lines,
    build_world_after,
)

TABLE: Final = Path(__file__).parent / "policy_table.txt"
SET_OPTION: Final = f"sql {P} ALTER DATABASE {DB} SET"


def build_world_in_failover() -> World:
    world = build_world_after()
    apply_lines(world, f"{SET_OPTION} PARTNER FAILOVER", wait_s=0.1)
    return world


@cache
def build_worlds() -> dict[str, World]:
    return {
        **SITUATIONS,
        "in-failover": build_world_in_failover(),
        "disk-failed": build_world_after(f"fail-disk {P} {DB}"),
        "timeout-20": build_world_after(f"{SET_OPTION} PARTNER TIMEOUT 20"),
        "witness-lost": build_world_after(f"power-off {W}"),
        "mirror-lost": build_world_after(f"power-off {M}", witness=False),
    }


def describe_copy(world: World, server: str) -> str:
    """Return role, state, refusal, safety, witness, timeout and true properties of one copy as text."""
    copy = world.copies[server, DB]
    policy = group_policies.get_policy(copy)
    refusal = policy.find_refusal(copy)
    stated = {
        "leads": policy.is_leader(copy),
        "follows": policy.is_follower(copy),
        "waits": policy.has_waiting_commits(world, copy),
        "writes": policy.can_write(copy),
        "synchronized": policy.has_synchronized_copy(copy),
        "serves": serving.is_serving(world, copy.key),
        "reads": policy.can_read(copy, read_intent=True),
        "log-stopped": policy.has_stopped_log(copy),
        "backs-up-closed": policy.can_back_up_closed(copy),
    }
    words = [
        policy.get_role(copy) or "-",
        policy.get_state(copy) or "-",
        str(refusal.number if refusal is not None else 0),
        prerequisites.get_safety_desc(copy) or "-",
        prerequisites.get_witness_state_desc(copy) or "-",
        str(prerequisites.get_timeout_s(copy)),
        f"{prerequisites.get_partner_address(copy)}",
        f"sequence={policy.get_role_sequence(copy)}",
        f"partner={policy.get_partner(copy)}",
        f"snapshot={policy.allows_snapshot(copy)}",
        f"backups={policy.find_backup_refusal(world, copy, False)}/{policy.find_backup_refusal(world, copy, True)}",
        *(word for word, true in stated.items() if true),
    ]
    return " ".join(words)


def test_the_policy_answers_as_in_the_table(request: pytest.FixtureRequest) -> None:
    rows = [
        f"{name} {server} {describe_copy(world, server)}"
        for name, world in build_worlds().items()
        for server in (P, M)
    ]
    recordings.compare_lines(TABLE, rows, request)


@pytest.mark.parametrize(
    ("situation", "unmet"),
    [
        ("witness", {"the mirror has lost the principal", "the witness has lost the principal"}),
        ("FULL", {"a witness is configured", "the mirror has lost the principal"}),
        ("OFF", {"a witness is configured", "safety is FULL", "the mirror has lost the principal"}),
        ("witness-lost", {"the mirror has lost the principal", "mirror and witness are connected"}),
        (
            "no-quorum",
            {
                "the session was SYNCHRONIZED when the mirror lost the principal",
                "mirror and witness are connected",
            },
        ),
        (
            "exposed",
            {
                "the witness has no record that the principal ran without the mirror",
                "the witness has lost the principal",
            },
        ),
        ("no-session", None),
    ],
)
def test_preconditions_by_situation(situation: str, unmet: set[str] | None) -> None:
    conditions = group_policies.list_preconditions(build_worlds()[situation], DB)
    assert (
        {str(condition.name) for condition in conditions if not condition.holds} if conditions else None
    ) == unmet
