"""Repair of a link: it restores the configured values of this link and changes nothing else."""

from __future__ import annotations

from engine.model import Link
from engine.protocol import network
from tests.engine.worlds import M, P, apply_lines, build_lab

THIN_LINK = Link(rtt_ms=50.0, bandwidth_mbps=4.0)


def test_an_undamaged_link_is_unchanged() -> None:
    world = build_lab()
    world.links[P, M] = world.links[M, P] = THIN_LINK
    apply_lines(world, f"mend {P} {M}")
    assert network.get_link(world, P, M) == network.get_link(world, M, P) == THIN_LINK


def test_a_link_gets_its_original_values_back() -> None:
    world = build_lab()
    world.links[P, M] = world.links[M, P] = THIN_LINK
    apply_lines(world, f"degrade {P} {M} rtt_ms=200", f"cut {M} {P}", wait_s=1.0)
    assert not network.get_link(world, P, M).up
    apply_lines(world, f"mend {P} {M}")
    assert network.get_link(world, P, M) == network.get_link(world, M, P) == THIN_LINK
