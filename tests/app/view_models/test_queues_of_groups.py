"""Tests that chart and card of a primary show the same send queue: that of the secondary furthest behind."""

from __future__ import annotations

import pytest

from app.view_models.series import CounterHistory
from app.view_models.topology_builder import build_topology_contents
from app.view_models.topology_contents import SEND_QUEUE
from engine.drill.running.drill import Drill
from tests.shipped_scenarios import load_shipped_scenario


@pytest.mark.parametrize("server", ["NODE_2", "NODE_3"])
def test_chart_and_card_agree(server: str) -> None:
    drill = Drill(load_shipped_scenario("ag-lab"), 1)
    drill.apply_line(f"degrade NODE_1 {server} bandwidth_mbps=0.5")
    drill.advance_to(6_000)
    queue_sizes_kb = [copy.queue.kb for face in build_topology_contents(drill.world).servers for copy in face.copies
             if copy.database == "Sales" and copy.queue is not None and copy.queue.name == SEND_QUEUE]  # fmt: skip
    history = CounterHistory()
    history.add_samples(drill.samples, drill.logs, "Sales", drill.world.flow.group_streams_by_source())
    assert queue_sizes_kb[0] > 100.0
    assert history.find_value("send_queue_kb", 60.0) == pytest.approx(queue_sizes_kb[0], rel=0.02)
