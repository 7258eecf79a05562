"""Log circumstances of databases in the flow model: a joint computation equals separate computations."""

from __future__ import annotations

import pytest

from engine.model import World
from engine.protocol import streams
from engine.protocol.streams import FlowSetups
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.worlds import M, P, apply_lines, build_lab

FAULT_LINES = (
    f"cut {P} {M}",
    f"slow-cpu {M} factor=3",
    f"sql {P} ALTER DATABASE [Sales001] SET PARTNER SUSPEND",
    f"stop-service {M}",
    "stop-app APP",
    f"power-off {P}",
)


def assert_equal_setups(world: World) -> None:
    world.mark_all_logs_changed()
    streams.update_flow(world)
    shared_setups = FlowSetups(world)
    for source, owner in world.sources.items():
        single_setup = FlowSetups(world).get_source_setup(world.copies[owner])
        assert (
            shared_setups.get_source_setup(world.copies[owner])
            == single_setup
            == world.flow.get_source_setup(source)
        )
        for stream in world.flow.list_source_streams(source):
            single_stream_setup = FlowSetups(world).get_stream_setup(
                world.copies[owner], world.streams[stream]
            )
            assert (
                shared_setups.get_stream_setup(world.copies[owner], world.streams[stream])
                == single_stream_setup
            )
            assert world.flow.get_stream_setup(stream) == single_stream_setup


@pytest.mark.parametrize("line", FAULT_LINES)
def test_log_circumstances_computed_together_equal_those_of_single_logs(line: str) -> None:
    world = build_lab(databases=3)
    apply_lines(world, f"sql {P} ALTER DATABASE [Sales002] SET PARTNER OFF", line, wait_s=2.0)
    assert_equal_setups(world)


def test_one_log_has_streams_to_several_servers() -> None:
    world = build_ag_lab()
    apply_lines(world, "slow-cpu NODE_3 factor=3", "degrade NODE_1 NODE_2 rtt_ms=50", wait_s=2.0)
    assert_equal_setups(world)


def test_equal_circumstances_share_one_object() -> None:
    world = build_lab(databases=2)
    first, second = (world.copies[P, f"Sales00{number}"].source or 0 for number in range(2))
    before = world.flow.get_source_setup(first)
    world.update_instance(M, hung=True)
    world.update_instance(M, hung=False)
    streams.update_flow(world)
    assert world.flow.get_source_setup(first) is before is world.flow.get_source_setup(second)
    assert FlowSetups(world).get_source_setup(world.copies[P, "Sales000"]) is before
