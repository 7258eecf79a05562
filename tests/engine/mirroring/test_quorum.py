"""Complete quorum tables: every pattern of lost links and lost servers (facts 4.1 to 4.5)."""

from __future__ import annotations

from itertools import product

import pytest

from engine.model import DbState, MirrorState, Role, Safety, World
from engine.protocol import serving
from tests.engine.worlds import DB, MIRROR, PRINCIPAL, M, P, W, apply_lines, build_lab

LINKS = ((P, M), (P, W), (M, W))


def get_serving_servers(world: World) -> tuple[bool, bool]:
    """Return (whether SERVER_A serves, whether SERVER_B serves)."""
    return serving.is_serving(world, PRINCIPAL), serving.is_serving(world, MIRROR)


def cut_links(world: World, pattern: tuple[int, int, int], wait_s: float = 30.0) -> World:
    lines = [f"cut {a} {b}" for (a, b), is_linked in zip(LINKS, pattern, strict=True) if not is_linked]
    apply_lines(world, *lines, wait_s=wait_s)
    return world


SERVERS_BY_LOST_LINKS = {
    # links P-M, P-W, M-W -> (A serves, B serves), facts 4.2
    (1, 1, 1): (True, False),
    (1, 1, 0): (True, False),
    (1, 0, 1): (True, False),
    (1, 0, 0): (True, False),
    (0, 1, 1): (True, False),
    (0, 1, 0): (True, False),
    (0, 0, 1): (False, True),
    (0, 0, 0): (False, False),
}


@pytest.mark.parametrize(("pattern", "expected"), SERVERS_BY_LOST_LINKS.items())
def test_full_with_witness_follows_the_link_table(
    pattern: tuple[int, int, int], expected: tuple[bool, bool]
) -> None:
    assert get_serving_servers(cut_links(build_lab(), pattern)) == expected


@pytest.mark.parametrize("pattern", list(product((0, 1), repeat=3)))
def test_off_with_witness_never_fails_over(pattern: tuple[int, int, int]) -> None:
    world = cut_links(build_lab(safety=Safety.OFF), pattern)
    has_quorum = bool(pattern[0] or pattern[1])
    assert get_serving_servers(world) == (has_quorum, False)


@pytest.mark.parametrize("safety", [Safety.FULL, Safety.OFF])
def test_without_witness_the_principal_serves_alone(safety: Safety) -> None:
    world = cut_links(build_lab(witness=False, safety=safety), (0, 1, 1))
    assert get_serving_servers(world) == (True, False)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED


SERVERS_BY_LOST_SERVERS = {
    # servers that are off -> (A serves, B serves), facts 4.3. The links between the other servers are intact.
    (P,): (False, True),
    (M,): (True, False),
    (W,): (True, False),
    (P, M): (False, False),
    (P, W): (False, False),
    (M, W): (False, False),
    (P, M, W): (False, False),
}


@pytest.mark.parametrize(("down", "expected"), SERVERS_BY_LOST_SERVERS.items())
def test_full_with_witness_follows_the_server_table(
    down: tuple[str, ...], expected: tuple[bool, bool]
) -> None:
    world = build_lab()
    apply_lines(world, *(f"power-off {server}" for server in down), wait_s=30)
    assert get_serving_servers(world) == expected


@pytest.mark.parametrize(
    ("down", "link", "expected"),
    [
        (P, (M, W), (False, False)),
        (M, (P, W), (False, False)),
        (W, (P, M), (False, False)),
    ],
)
def test_one_lost_server_and_a_cut_link_are_handled(
    down: str, link: tuple[str, str], expected: tuple[bool, bool]
) -> None:
    world = build_lab()
    apply_lines(world, f"cut {link[0]} {link[1]}", wait_s=5)
    apply_lines(world, f"power-off {down}", wait_s=30)
    assert get_serving_servers(world) == expected


def test_an_isolated_principal_raises_955_and_is_not_online() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {M}", wait_s=10)
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.DISCONNECTED
    apply_lines(world, f"power-off {W}", wait_s=10)
    assert world.copies[PRINCIPAL].db_state is not DbState.ONLINE
    assert world.copies[PRINCIPAL].mirroring.trace == 10


def test_a_returning_witness_restores_service() -> None:
    world = build_lab()
    apply_lines(world, f"power-off {M}", wait_s=10)
    apply_lines(world, f"cut {P} {W}", wait_s=10)
    assert get_serving_servers(world) == (False, False)
    apply_lines(world, f"mend {P} {W}", wait_s=10)
    assert get_serving_servers(world) == (True, False)
    assert world.copies[PRINCIPAL].mirroring.trace == 12


def test_an_exposed_principal_disarms_automatic_failover() -> None:
    """The link P-M is cut, so P runs exposed. If P is lost afterwards, M must not take over."""
    world = build_lab()
    apply_lines(world, f"cut {P} {M}", wait_s=20)
    apply_lines(world, f"power-off {P}", wait_s=30)
    assert get_serving_servers(world) == (False, False)


def test_losing_the_principals_witness_link_keeps_failover_armed() -> None:
    world = build_lab()
    apply_lines(world, f"cut {P} {W}", wait_s=20)
    apply_lines(world, f"power-off {P}", wait_s=30)
    assert get_serving_servers(world) == (False, True)


def test_losing_the_mirrors_witness_link_prevents_failover() -> None:
    world = build_lab()
    apply_lines(world, f"cut {M} {W}", wait_s=20)
    apply_lines(world, f"power-off {P}", wait_s=30)
    assert get_serving_servers(world) == (False, False)


def test_after_a_total_outage_mirror_and_witness_return_alone() -> None:
    world = cut_links(build_lab(), (0, 0, 0))
    apply_lines(world, f"mend {M} {W}", wait_s=30)
    assert get_serving_servers(world) == (False, False)
    apply_lines(world, f"mend {P} {W}", wait_s=30)
    assert get_serving_servers(world) == (True, False)


@pytest.mark.parametrize("mended_link", [(P, M), (P, W)])
def test_an_isolated_principal_serves_again_after_it_reaches_either_server(
    mended_link: tuple[str, str],
) -> None:
    world = cut_links(build_lab(), (0, 0, 0))
    apply_lines(world, f"mend {mended_link[0]} {mended_link[1]}", wait_s=30)
    assert get_serving_servers(world) == (True, False)


def test_old_principal_follows_after_automatic_failover() -> None:
    world = build_lab()
    apply_lines(world, f"pull-cable {P}", wait_s=30)
    assert get_serving_servers(world) == (False, True)
    apply_lines(world, f"plug-cable {P}", wait_s=60)
    assert get_serving_servers(world) == (False, True)
    assert world.copies[PRINCIPAL].mirroring.role is Role.MIRROR
    assert world.copies[PRINCIPAL].mirroring.state is MirrorState.SYNCHRONIZED
    assert (
        world.copies[MIRROR].mirroring.role_sequence == world.copies[PRINCIPAL].mirroring.role_sequence == 2
    )


def test_an_old_principal_that_reaches_only_the_witness_does_not_serve() -> None:
    """The witness knows the current principal, so the returning old principal must not serve a second copy."""
    world = build_lab()
    apply_lines(world, f"pull-cable {P}", wait_s=30)
    apply_lines(world, f"cut {P} {M}", wait_s=1)
    apply_lines(world, f"plug-cable {P}", wait_s=60)
    assert get_serving_servers(world) == (False, True)


def test_a_silent_loss_takes_the_timeout_and_loses_nothing() -> None:
    world = build_lab()
    apply_lines(world, f"hang {P}", wait_s=8)
    assert get_serving_servers(world) == (False, False)
    apply_lines(world, wait_s=20)
    assert get_serving_servers(world) == (False, True)
    detected_s = (world.failovers[0].detected_tick - world.failovers[0].failed_tick) / 100
    assert 10.0 <= detected_s <= 11.5
    assert world.availability[DB].lost_transactions == 0


def test_the_principal_asks_the_witness_before_it_commits_alone() -> None:
    """The witness link is black-holed first, then the mirror is cut off. No commit succeeds before the
    witness answers.
    """
    world = build_lab()
    apply_lines(world, f"black-hole {P} {W}", wait_s=3)
    apply_lines(world, f"cut {P} {M}", wait_s=25)
    assert get_serving_servers(world) == (False, True)
    assert world.availability[DB].lost_transactions == 0


def test_a_hung_principal_that_resumes_after_a_failover_does_not_serve() -> None:
    world = build_lab()
    apply_lines(world, f"hang {P}", wait_s=25)
    assert get_serving_servers(world) == (False, True)
    apply_lines(world, f"unhang {P}", wait_s=0.0)
    assert get_serving_servers(world) == (False, True)
