"""Lanes that a replay records: they agree with the engine's accounts, and preconditions have times."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.drill.authoring.quantities import compute_availability
from engine.drill.judging.automatic_players import build_random_player, play_worst
from engine.drill.judging.replay_timeline import (
    DOWN,
    MET,
    UNMET,
    UNPROTECTED,
    DatabaseLanes,
    PreconditionHistory,
    StateSpan,
    record_all_lanes,
)
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference
from engine.generators import run_to_completion
from engine.mirroring.preconditions import MIRROR_LOST_PRINCIPAL, WAS_SYNCHRONIZED
from tests.engine.drill.texts import advance_drill, build_drill, change_small_text


def record_lanes(drill: Drill) -> dict[str, DatabaseLanes]:
    return run_to_completion(record_all_lanes(drill))


def sum_ticks(spans: tuple[StateSpan, ...], state: str) -> int:
    return sum(span.ticks for span in spans if span.what == state)


def get_guard_span(lanes: DatabaseLanes, text: str) -> PreconditionHistory:
    (precondition,) = [guard_span for guard_span in lanes.preconditions if text in guard_span.name]
    return precondition


@pytest.mark.parametrize(
    "player", [play_reference, play_idle, play_worst, *(build_random_player(n) for n in range(1, 6))]
)
def test_lanes_add_up_to_the_accounts(player) -> None:
    drill_run: Drill = player(change_small_text(), 3)
    lanes = record_lanes(drill_run)["Sales"]
    account = compute_availability(drill_run.world, "Sales")
    assert (sum_ticks(lanes.service, DOWN), sum_ticks(lanes.protection, UNPROTECTED)) == (
        account.down_ticks,
        account.exposed_ticks,
    )
    for spans in (lanes.service, lanes.where, lanes.protection, lanes.state):
        assert (spans[0].from_tick, spans[-1].to_tick) == (0, drill_run.tick)
        assert all(a.to_tick == b.from_tick and a.what != b.what for a, b in pairwise(spans))


def test_serving_copies_and_states_are_recorded() -> None:
    lanes = record_lanes(play_reference(change_small_text()))["Sales"]
    assert [span.what for span in lanes.where] == ["SERVER_A", "", "SERVER_B"]
    states = [span.what for span in lanes.state]
    assert (states[0], states[-1]) == ("SYNCHRONIZED", "SYNCHRONIZED")
    assert {"DISCONNECTED", "SYNCHRONIZING"} <= set(states)


def test_an_unmet_precondition_has_its_start_time() -> None:
    drill_run = advance_drill(build_drill(), 7)
    drill_run.apply_line("cut SERVER_B SERVER_W")
    advance_drill(drill_run, 40)
    lanes = record_lanes(drill_run)["Sales"]
    witness = get_guard_span(lanes, "mirror and witness are connected")
    assert [span.what for span in witness.spans] == [MET, UNMET]
    assert 700 < witness.spans[1].from_tick < 900
    assert witness.find_span(0) == witness.spans[0]
    in_step = get_guard_span(lanes, WAS_SYNCHRONIZED)
    assert [span.what for span in in_step.spans] == [MET], "it was, whatever else kept it from being armed"
    loss_guard = get_guard_span(lanes, MIRROR_LOST_PRINCIPAL)
    assert loss_guard.spans[-1].what == MET
    assert loss_guard.spans[-1].from_tick > 2000


def test_without_a_mirror_there_are_no_preconditions() -> None:
    drill_run = advance_drill(build_drill(), 5)
    drill_run.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    advance_drill(drill_run, 15)
    lanes = record_lanes(drill_run)["Sales"]
    assert max(span.to_tick for precondition in lanes.preconditions for span in precondition.spans) == 500
    assert get_guard_span(lanes, "safety is FULL").find_span(400) is not None


def test_a_loss_is_noticed_even_if_the_session_ends_in_the_same_tick() -> None:
    drill_run = advance_drill(build_drill(), 7)
    drill_run.apply_line("power-off SERVER_A")
    while not any(e.kind == "detected" and e.server == "SERVER_B" for e in drill_run.events):
        drill_run.advance_to(drill_run.tick + 1)
    noticed = drill_run.tick
    drill_run.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF")
    advance_drill(drill_run, 30)
    loss_guard = get_guard_span(record_lanes(drill_run)["Sales"], MIRROR_LOST_PRINCIPAL)
    assert [(span.from_tick, span.what) for span in loss_guard.spans][:2] == [(0, UNMET), (noticed, MET)]
