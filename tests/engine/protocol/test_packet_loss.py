"""Timeouts on links that lose packets: partners of a mirroring session, replicas, and nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.constants import RUN_TIME_MAX_S
from engine.model import World
from engine.protocol import packet_loss, serving
from engine.random_streams import RandomStream
from tests.engine.availability.worlds import apply_lines as apply_to_lab
from tests.engine.availability.worlds import build_ag_lab, run_until
from tests.engine.worlds import M, P, W, apply_lines, build_lab


def _list_lost_times(seed: int, line: str, wait_s: float = 60.0) -> list[tuple[str, float]]:
    """Return the server and the delay of each loss that a server detects after *line*."""
    world = build_lab(seed)
    start_s = world.t_s
    events = apply_lines(world, line, wait_s=wait_s)
    return [(e.server or "", round(e.t_s - start_s, 1)) for e in events if e.kind == "detected"]


def test_partners_time_out_when_the_link_loses_almost_all_packets() -> None:
    lost = _list_lost_times(1, f"degrade {P} {M} loss=0.99")
    assert {server for server, _ in lost} == {P, M}
    assert all(10.0 <= delay_s <= 25.0 for _, delay_s in lost)


def test_a_lossy_link_to_the_witness_loses_only_the_witness() -> None:
    lost = _list_lost_times(1, f"degrade {P} {W} loss=0.99")
    assert {server for server, _ in lost} == {P, W}


def test_a_principal_that_nobody_hears_gives_way_to_the_mirror() -> None:
    world = build_lab()
    apply_lines(world, f"degrade {P} {M} loss=0.95", f"degrade {P} {W} loss=0.95", wait_s=30.0)
    assert [key[0] for key in world.copies if serving.is_serving(world, key)] == [M]


def test_small_losses_cause_no_timeout() -> None:
    assert not _list_lost_times(1, f"degrade {P} {M} loss=0.05", wait_s=600.0)


def test_a_run_with_losses_depends_only_on_its_seed() -> None:
    line = f"degrade {P} {M} loss=0.7"
    assert _list_lost_times(3, line) == _list_lost_times(3, line)
    assert _list_lost_times(3, line) != _list_lost_times(4, line)


def test_partners_reconnect_after_the_repair_of_a_lossy_link() -> None:
    world = build_lab()
    apply_lines(world, f"degrade {P} {M} loss=0.99", wait_s=40.0)
    assert "connected to" not in str(apply_lines(world, "note still lossy", wait_s=60.0))
    events = apply_lines(world, f"mend {P} {M}", wait_s=10.0)
    assert any(e.kind == "detected" and "connected to" in str(e.text) for e in events)


def test_a_higher_loss_shortens_the_time_to_the_timeout() -> None:
    world = build_lab()
    apply_lines(world, f"degrade {P} {M} loss=0.11", wait_s=5.0)
    events = apply_lines(world, f"degrade {P} {M} loss=0.99", wait_s=25.0)
    assert [e.server for e in events if e.kind == "detected"]


def _list_removals(loss: float, wait_s: float) -> Iterator[str]:
    world: World = build_ag_lab()
    apply_to_lab(world, f"degrade NODE_1 NODE_2 loss={loss}")
    return (str(event.text) for event in run_until(world, wait_s) if event.kind == "cluster")


def test_a_node_that_receives_no_heartbeats_leaves_the_cluster_and_cannot_join() -> None:
    texts = list(_list_removals(0.99, 120.0))
    assert "NODE_2 was removed from the active cluster membership" in texts
    assert "NODE_2 has joined the cluster" not in texts


def test_heartbeats_survive_a_small_loss() -> None:
    assert not list(_list_removals(0.05, 600.0))


@pytest.mark.parametrize(("loss", "mean_s"), [(0.5, 73.0), (0.7, 17.5), (0.9, 10.9)])
def test_mean_time_to_a_ping_timeout(loss: float, mean_s: float) -> None:
    """Six transmissions of one segment fit into the timeout; each ping can be the first that is lost."""
    chance = RandomStream.from_seed(1)
    times_s = [packet_loss.draw_silence_s(chance, loss, 10.0) for _ in range(2_000)]
    assert sum(times_s) / len(times_s) == pytest.approx(mean_s, rel=0.07)


def test_improbable_timeouts_never_occur_in_a_run() -> None:
    chance = RandomStream.from_seed(1)
    assert packet_loss.draw_heartbeat_silence_s(chance, 0.81, 1.0, 40) >= RUN_TIME_MAX_S
    assert packet_loss.draw_connect_delay_s(chance, 1.0 - 1e-18, 0.0) >= RUN_TIME_MAX_S
