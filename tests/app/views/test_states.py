"""Tests that the state lanes start with recorded states, not with the current state."""

from __future__ import annotations

from app.views.charts.lane import StateHistory
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from tests.engine.availability.worlds import SCENARIOS
from tests.engine.drill.texts import advance_drill, build_drill


def list_first_states(drill: Drill) -> dict[str, str]:
    states = StateHistory("Sales")
    states.start(drill.states_before, drill.world, drill.events)
    return {server: spans[0].state for server, spans in states.list_lanes(drill.world.t_s).items()}


def test_a_dead_server_has_earlier_states() -> None:
    assert list_first_states(advance_drill(build_drill(), 60)) == {
        "SERVER_A": "SYNCHRONIZED",
        "SERVER_B": "SYNCHRONIZED",
    }


def test_after_a_retry_the_lanes_begin_as_in_the_run() -> None:
    history = History(build_drill())
    history.advance_to(12_000)
    assert list_first_states(history.fork(6_000).drill) == {
        "SERVER_A": "SYNCHRONIZED",
        "SERVER_B": "SYNCHRONIZED",
    }


def test_an_unmirrored_copy_begins_without_a_session() -> None:
    session = (
        '[[session]]\ndatabase = "Sales"\nprincipal = "SERVER_A"\nmirror = "SERVER_B"\nwitness = "SERVER_W"\n'
    )
    load = 'workload = "Workload1"\n'
    lone_drill = build_drill((session, ""), (load, f'{load}server = "SERVER_A"\n'))
    assert list_first_states(advance_drill(lone_drill, 5)) == {"SERVER_A": "no session"}


def test_a_clustered_instance_is_online_failing_over_or_offline() -> None:
    drill = Drill(load_scenario((SCENARIOS / "fci-lab.toml").read_text(encoding="utf-8"), "fci-lab"))
    server, node = next(
        (instance.name, instance.computer)
        for instance in drill.world.instances.values()
        if instance.clustered
    )
    database = next(copy.database for copy in drill.world.copies.values() if copy.server == server)
    states = StateHistory(database)
    advance_drill(drill, 30)
    drill.apply_line(f"power-off {node}")
    advance_drill(drill, 120)
    states.start(drill.states_before, drill.world, drill.events)
    spans = states.list_lanes(drill.world.t_s)[server]
    assert [span.state for span in spans] == ["online", "failing over", "online"]
    assert 35 < spans[1].from_s < 40 < spans[2].from_s < 60
