"""Facts 4.1 as a reference function, compared with every pattern of lost servers and links.

The patterns include all rows of tables 4.2 to 4.5: 8 link patterns times 8 server patterns, for each kind of
session and cause of loss.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

import pytest

from engine.messages import SqlError
from engine.mirroring import commands
from engine.model import DbState, MirrorState, Role, Safety, World
from engine.protocol import serving
from tests.cases import sample_cases
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, do, lab

SERVERS: Final = (P, M, W)
LINKS: Final = ((P, M), (P, W), (M, W))
KINDS: Final = {
    "FULL with witness": (Safety.FULL, True),
    "FULL without witness": (Safety.FULL, False),
    "OFF with witness": (Safety.OFF, True),
    "OFF without witness": (Safety.OFF, False),
}
WAYS: Final = {
    # how a server fails, and how a link fails
    "at once": ("power-off {}", "cut {} {}"),
    "in silence": ("hang {}", "black-hole {} {}"),
    "one way": ("shutdown-server {}", "cut-one-way {} {}"),
    "the other way": ("stop-service {}", "cut-one-way {1} {0}"),
}
READY: Final = {kind: lab(safety=safety, witness=witness) for kind, (safety, witness) in KINDS.items()}
SETTLED_S: Final = 45.0
"""Longer than the sum of timeout, failover and reconnection."""

REPAIRED_S: Final = 160.0
UP_OR_DOWN: Final = list(product((True, False), repeat=3))


class LossPattern:
    """Pattern of losses with the reference answers of facts 4.1."""

    def __init__(self, kind: str, servers_up: tuple[bool, ...], linked: tuple[bool, ...]) -> None:
        self.safety, self.witness = KINDS[kind]
        self.up = dict(zip(SERVERS, servers_up, strict=True))
        self.linked = dict(zip(LINKS, linked, strict=True))

    def link(self, a: str, b: str) -> bool:
        return self.up[a] and self.up[b] and self.linked[a, b]

    @property
    def principal_serves(self) -> bool:
        return self.up[P] and (not self.witness or self.link(P, M) or self.link(P, W))

    @property
    def mirror_takes_over(self) -> bool:
        agreed = self.link(M, W) and not self.link(P, M) and not self.link(P, W)
        return self.witness and self.safety is Safety.FULL and agreed

    @property
    def may_be_forced(self) -> bool:
        asked = not self.witness or (self.link(M, W) and not self.link(P, W))
        return self.up[M] and not self.link(P, M) and asked

    @property
    def may_fail_over(self) -> bool:
        return self.safety is Safety.FULL and self.link(P, M)


def lose(kind: str, fault_kind: str, losses: LossPattern) -> World:
    world = READY[kind].fork()
    server, link = WAYS[fault_kind]
    lines = [server.format(name) for name, up in losses.up.items() if not up]
    lines += [link.format(*ends) for ends, whole in losses.linked.items() if not whole]
    do(world, *lines, then_s=SETTLED_S)
    return world


def works(function: Callable[..., object], world: World, server: str) -> bool:
    """Return whether the server accepts the command, tried in a fork."""
    try:
        function(world.fork(), server, DB)
    except SqlError:
        return False
    return True


@pytest.mark.parametrize("fault_kind", sample_cases(2, WAYS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("servers_up", UP_OR_DOWN)
def test_service_and_commands_follow_the_quorum_pattern(
    servers_up: tuple[bool, ...], kind: str, fault_kind: str
) -> None:
    for linked in UP_OR_DOWN:
        lost = LossPattern(kind, servers_up, linked)
        world = lose(kind, fault_kind, lost)
        where = f"{kind}, {fault_kind}, up {lost.up}, linked {lost.linked}"
        now = (serving.is_serving(world, PRINCIPAL), serving.is_serving(world, MIRROR))
        takes_over = lost.mirror_takes_over
        assert now == (lost.principal_serves, takes_over), where
        if lost.up[M] and not takes_over:
            assert works(commands.partner_force, world, M) == lost.may_be_forced, where
        if lost.up[P]:
            principal = world.copies[PRINCIPAL]
            assert (principal.db_state is DbState.ONLINE) == lost.principal_serves, where
            assert works(commands.partner_off, world, P), where
            assert works(commands.partner_failover, world, P) == lost.may_fail_over, where
            has_quorum = lost.link(P, M) or lost.link(P, W)
            assert works(commands.witness_off, world, P) == (lost.witness and has_quorum), where
        if lost.up[P] and lost.link(P, M):
            assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED, where
        if lost.safety is Safety.FULL:
            assert world.availability[DB].lost_transactions == 0, where


@pytest.mark.parametrize(("kind", "fault_kind"), sample_cases(len(WAYS) + 1, product(KINDS, WAYS)))
def test_lost_servers_return_and_the_session_recovers(kind: str, fault_kind: str) -> None:
    """Reversing every fault restores links, servers, a synchronized session and exactly one serving copy."""
    for up, linked in product(UP_OR_DOWN, UP_OR_DOWN):
        if all(up) and all(linked):
            continue
        lost = LossPattern(kind, up, linked)
        world = lose(kind, fault_kind, lost)
        before = READY[kind]
        do(world, "revert-all", then_s=REPAIRED_S)
        where = f"{kind}, {fault_kind}, up {lost.up}, linked {lost.linked}"
        assert world.computers == before.computers, where
        assert {name: (s.service, s.hung) for name, s in world.instances.items()} == {
            name: (s.service, s.hung) for name, s in before.instances.items()
        }, where
        assert all(link.up and link.passing for link in world.links.values()), where
        assert {copy.mirroring.state for copy in world.copies.values()} == {MirrorState.SYNCHRONIZED}, where
        (leader,) = [key for key in world.copies if serving.is_serving(world, key)]
        assert world.copies[leader].mirroring.role is Role.PRINCIPAL, where
        if (
            fault_kind != "in silence"
        ):  # two frozen instances that wake up together may connect before the third one does
            assert leader == (MIRROR if lost.mirror_takes_over else PRINCIPAL), where
        assert all(fault.reverted_tick is not None for fault in world.faults), where
