"""Log circumstances of databases in the flow model: a joint computation equals separate computations."""

from __future__ import annotations

import pytest

from engine.model import World
from engine.protocol import streams
from engine.protocol.streams import FlowSetups
from tests.engine.availability.worlds import ag_lab
from tests.engine.worlds import M, P, apply_lines, build_lab

TROUBLE = (
    f"cut {P} {M}",
    f"slow-cpu {M} factor=3",
    f"sql {P} ALTER DATABASE [Sales001] SET PARTNER SUSPEND",
    f"stop-service {M}",
    "stop-app APP",
    f"power-off {P}",
)


def check_circumstances(world: World) -> None:
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
        for stream in world.flow.list_streams_of(source):
            single_stream_setup = FlowSetups(world).get_stream_setup(
                world.copies[owner], world.streams[stream]
            )
            assert (
                shared_setups.get_stream_setup(world.copies[owner], world.streams[stream])
                == single_stream_setup
            )
            assert world.flow.get_stream_setup(stream) == single_stream_setup


@pytest.mark.parametrize("line", TROUBLE)
def test_log_circumstances_are_equal_for_a_list_and_for_each(line: str) -> None:
    world = build_lab(databases=3)
    apply_lines(world, f"sql {P} ALTER DATABASE [Sales002] SET PARTNER OFF", line, then_s=2.0)
    check_circumstances(world)


def test_one_log_has_streams_to_several_servers() -> None:
    world = ag_lab()
    apply_lines(world, "slow-cpu NODE_3 factor=3", "degrade NODE_1 NODE_2 rtt_ms=50", then_s=2.0)
    check_circumstances(world)


def test_equal_circumstances_share_one_object() -> None:
    world = build_lab(databases=2)
    first, second = (world.copies[P, f"Sales00{number}"].source or 0 for number in range(2))
    before = world.flow.get_source_setup(first)
    world.update_instance(M, hung=True)
    world.update_instance(M, hung=False)
    streams.update_flow(world)
    assert world.flow.get_source_setup(first) is before is world.flow.get_source_setup(second)
    assert FlowSetups(world).get_source_setup(world.copies[P, "Sales000"]) is before
