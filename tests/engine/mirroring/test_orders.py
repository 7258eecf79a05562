"""Servers lost and restored in every order, with forced service in between: which server serves, and the end
state.

[DOC: quorum; role switching; operating modes]. `test_quorum_patterns` tests every static pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Final

import pytest

from engine.mirroring import quorum
from engine.model import DatabaseCopy, MirrorState, Role, Safety, World
from engine.protocol import availability, serving
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab

SET_PARTNER: Final = f"ALTER DATABASE {DB} SET PARTNER"
SESSION_KINDS: Final = {
    "FULL with witness": (Safety.FULL, True),
    "FULL": (Safety.FULL, False),
    "OFF": (Safety.OFF, False),
}
STATES: Final = ("SUSPENDED", "SYNCHRONIZING", "SYNCHRONIZED")


@cache
def build_ready_world(kind: str, state: str) -> World:
    """Return a cached world with a session of this *kind* in this *state*. Callers must fork it."""
    safety, witness = SESSION_KINDS[kind]
    world = build_lab(safety=safety, witness=witness)
    if state == "SUSPENDED":
        apply_lines(world, f"sql {P} {SET_PARTNER} SUSPEND", wait_s=5.0)
    elif state == "SYNCHRONIZING":
        apply_lines(world, f"degrade {P} {M} bandwidth_mbps=1", f"cut {P} {M}", wait_s=30.0)
        apply_lines(world, f"mend {P} {M}", f"degrade {P} {M} bandwidth_mbps=1", wait_s=8.0)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState[state]
    return world


def list_orders(kind: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield (order of loss, order of return) for one or two servers of the session."""
    servers = (P, M, W) if SESSION_KINDS[kind][1] else (P, M)
    for count in (1, 2):
        for lost_servers in permutations(servers, count):
            for returned in permutations(lost_servers):
                yield lost_servers, returned


CASES: Final = [
    (kind, state, lost, returned)
    for kind in SESSION_KINDS
    for state in STATES
    for lost, returned in list_orders(kind)
]


def has_new_principal(world: World, copy: DatabaseCopy) -> bool:
    """Return whether a newer principal than that of *copy* exists, according to a partner or the witness."""
    sequences = [other_copy.mirroring.role_sequence for other_copy in world.list_copies_of(DB)]
    sequences += [record.role_sequence for record in world.witnesses.values()]
    return max(sequences) > copy.mirroring.role_sequence


@pytest.mark.parametrize(("kind", "state", "losses", "returned"), CASES)
def test_forced_service_follows_every_order_of_losses(
    kind: str, state: str, losses: tuple[str, ...], returned: tuple[str, ...]
) -> None:
    world, witness = build_ready_world(kind, state).fork(), SESSION_KINDS[kind][1]
    for server in losses:
        apply_lines(world, f"power-off {server}", wait_s=20.0)
    role_before = world.copies[MIRROR].mirroring.role
    apply_lines(world, f"sql {M} {SET_PARTNER} FORCE_SERVICE_ALLOW_DATA_LOSS", wait_s=40.0)
    forced = role_before is Role.MIRROR and world.copies[MIRROR].mirroring.role is Role.PRINCIPAL
    alive = M not in losses and P in losses and not (witness and W in losses)
    assert forced is (role_before is Role.MIRROR and alive)
    for server in returned:
        apply_lines(world, f"power-on {server}", wait_s=120.0)
        assert len(availability.list_serving_copies(world, DB)) <= 1
        for copy in world.list_copies_of(DB):
            if copy.mirroring.role is Role.PRINCIPAL and world.instances[copy.server].answering:
                may_serve = quorum.has_quorum(world, copy) and not has_new_principal(world, copy)
                assert serving.is_serving(world, (copy.server, DB)) is may_serve
    assert all(f.why or f.online_tick is not None for f in world.failovers)
    (lead,) = [copy for copy in world.list_copies_of(DB) if copy.mirroring.role is Role.PRINCIPAL]
    assert (lead.mirroring.state is MirrorState.SUSPENDED) is (forced or state == "SUSPENDED")
    apply_lines(
        world, f"degrade {P} {M} bandwidth_mbps=1000", f"sql {lead.server} {SET_PARTNER} RESUME", wait_s=200.0
    )
    assert {copy.mirroring.state for copy in world.list_copies_of(DB)} == {MirrorState.SYNCHRONIZED}
