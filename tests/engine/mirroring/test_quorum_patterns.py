"""Reference function of facts 4.1, compared with every pattern of lost servers and links.

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
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab

SERVERS: Final = (P, M, W)
LINKS: Final = ((P, M), (P, W), (M, W))
SESSION_KINDS: Final = {
    "FULL with witness": (Safety.FULL, True),
    "FULL without witness": (Safety.FULL, False),
    "OFF with witness": (Safety.OFF, True),
    "OFF without witness": (Safety.OFF, False),
}
FAULT_KINDS: Final = {
    # how a server fails, and how a link fails
    "at once": ("power-off {}", "cut {} {}"),
    "in silence": ("hang {}", "black-hole {} {}"),
    "one way": ("shutdown-server {}", "cut-one-way {} {}"),
    "the other way": ("stop-service {}", "cut-one-way {1} {0}"),
}
READY_WORLDS: Final = {
    kind: build_lab(safety=safety, witness=witness) for kind, (safety, witness) in SESSION_KINDS.items()
}
SETTLING_TIME_S: Final = 45.0
"""Seconds to settle: longer than timeout, failover and reconnection together."""

RECOVERY_TIME_S: Final = 160.0
UP_PATTERNS: Final = list(product((True, False), repeat=3))


class LossPattern:
    """Pattern of lost servers and links, with its expected results according to facts 4.1."""

    def __init__(self, kind: str, servers_up: tuple[bool, ...], linked: tuple[bool, ...]) -> None:
        self.safety, self.witness = SESSION_KINDS[kind]
        self.up = dict(zip(SERVERS, servers_up, strict=True))
        self.linked = dict(zip(LINKS, linked, strict=True))

    def is_link_up(self, first_server: str, second_server: str) -> bool:
        return self.up[first_server] and self.up[second_server] and self.linked[first_server, second_server]

    @property
    def principal_serves(self) -> bool:
        return self.up[P] and (not self.witness or self.is_link_up(P, M) or self.is_link_up(P, W))

    @property
    def mirror_takes_over(self) -> bool:
        agreed = self.is_link_up(M, W) and not self.is_link_up(P, M) and not self.is_link_up(P, W)
        return self.witness and self.safety is Safety.FULL and agreed

    @property
    def may_be_forced(self) -> bool:
        has_witness_reason = not self.witness or (self.is_link_up(M, W) and not self.is_link_up(P, W))
        return self.up[M] and not self.is_link_up(P, M) and has_witness_reason

    @property
    def may_fail_over(self) -> bool:
        return self.safety is Safety.FULL and self.is_link_up(P, M)


def apply_losses(kind: str, fault_kind: str, losses: LossPattern) -> World:
    world = READY_WORLDS[kind].fork()
    server, link = FAULT_KINDS[fault_kind]
    lines = [server.format(name) for name, is_running in losses.up.items() if not is_running]
    lines += [link.format(*ends) for ends, is_linked in losses.linked.items() if not is_linked]
    apply_lines(world, *lines, wait_s=SETTLING_TIME_S)
    return world


def is_accepted(function: Callable[..., object], world: World, server: str) -> bool:
    """Return whether the server accepts the command. A fork of *world* executes the command."""
    try:
        function(world.fork(), server, DB)
    except SqlError:
        return False
    return True


@pytest.mark.parametrize("fault_kind", sample_cases(2, FAULT_KINDS))
@pytest.mark.parametrize("kind", SESSION_KINDS)
@pytest.mark.parametrize("servers_up", UP_PATTERNS)
def test_service_and_commands_follow_the_quorum_pattern(
    servers_up: tuple[bool, ...], kind: str, fault_kind: str
) -> None:
    for linked in UP_PATTERNS:
        losses_now = LossPattern(kind, servers_up, linked)
        world = apply_losses(kind, fault_kind, losses_now)
        situation = f"{kind}, {fault_kind}, up {losses_now.up}, linked {losses_now.linked}"
        serving_now = (serving.is_serving(world, PRINCIPAL), serving.is_serving(world, MIRROR))
        takes_over = losses_now.mirror_takes_over
        assert serving_now == (losses_now.principal_serves, takes_over), situation
        if losses_now.up[M] and not takes_over:
            assert is_accepted(commands.force_service, world, M) == losses_now.may_be_forced, situation
        if losses_now.up[P]:
            principal = world.copies[PRINCIPAL]
            assert (principal.db_state is DbState.ONLINE) == losses_now.principal_serves, situation
            assert is_accepted(commands.remove_session, world, P), situation
            assert is_accepted(commands.fail_over, world, P) == losses_now.may_fail_over, situation
            has_quorum = losses_now.is_link_up(P, M) or losses_now.is_link_up(P, W)
            assert is_accepted(commands.remove_witness, world, P) == (losses_now.witness and has_quorum), (
                situation
            )
        if losses_now.up[P] and losses_now.is_link_up(P, M):
            assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED, situation
        if losses_now.safety is Safety.FULL:
            assert world.availability[DB].lost_transactions == 0, situation


@pytest.mark.parametrize(
    ("kind", "fault_kind"), sample_cases(len(FAULT_KINDS) + 1, product(SESSION_KINDS, FAULT_KINDS))
)
def test_lost_servers_return_and_the_session_recovers(kind: str, fault_kind: str) -> None:
    """After the reversal of every fault, links and servers work, the session is synchronized, and exactly one
    copy serves.
    """
    for running, linked in product(UP_PATTERNS, UP_PATTERNS):
        if all(running) and all(linked):
            continue
        losses_now = LossPattern(kind, running, linked)
        world = apply_losses(kind, fault_kind, losses_now)
        before = READY_WORLDS[kind]
        apply_lines(world, "revert-all", wait_s=RECOVERY_TIME_S)
        situation = f"{kind}, {fault_kind}, up {losses_now.up}, linked {losses_now.linked}"
        assert world.computers == before.computers, situation
        assert {name: (s.service, s.hung) for name, s in world.instances.items()} == {
            name: (s.service, s.hung) for name, s in before.instances.items()
        }, situation
        assert all(link.up and link.passing for link in world.links.values()), situation
        assert {copy.mirroring.state for copy in world.copies.values()} == {MirrorState.SYNCHRONIZED}, (
            situation
        )
        (leader,) = [key for key in world.copies if serving.is_serving(world, key)]
        assert world.copies[leader].mirroring.role is Role.PRINCIPAL, situation
        if (
            fault_kind != "in silence"
        ):  # two instances that resume together may connect before the third instance resumes
            assert leader == (MIRROR if losses_now.mirror_takes_over else PRINCIPAL), situation
        assert all(fault.reverted_tick is not None for fault in world.faults), situation
