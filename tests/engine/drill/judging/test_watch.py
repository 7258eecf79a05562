"""Lanes derived from a replay equal the engine's accounts; preconditions have times."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.drill.authoring.quantities import settle_account
from engine.drill.judging.agents import build_random_player, play_worst
from engine.drill.judging.replay_timeline import (
    DOWN,
    EXPOSED,
    FAILS,
    HOLDS,
    Lanes,
    PreconditionHistory,
    StateSpan,
    recording_lanes,
)
from engine.drill.running.drill import Drill
from engine.drill.running.solution import play_idle, play_reference
from engine.generators import run_to_completion
from engine.mirroring.preconditions import MIRROR_HAS_LOST, WAS_IN_STEP
from tests.engine.drill.texts import drill, run, small


def record_lanes(drill: Drill) -> dict[str, Lanes]:
    return run_to_completion(recording_lanes(drill))


def total(spans: tuple[StateSpan, ...], state: str) -> int:
    return sum(span.ticks for span in spans if span.what == state)


def guard(lanes: Lanes, text: str) -> PreconditionHistory:
    (found,) = [each for each in lanes.preconditions if text in each.name]
    return found


@pytest.mark.parametrize(
    "play", [play_reference, play_idle, play_worst, *(build_random_player(n) for n in range(1, 6))]
)
def test_lanes_add_up_to_the_accounts(play) -> None:
    taken: Drill = play(small(), 3)
    lanes = record_lanes(taken)["Sales"]
    known = settle_account(taken.world, "Sales")
    assert (total(lanes.service, DOWN), total(lanes.protection, EXPOSED)) == (
        known.down_ticks,
        known.exposed_ticks,
    )
    for spans in (lanes.service, lanes.where, lanes.protection, lanes.state):
        assert (spans[0].from_tick, spans[-1].to_tick) == (0, taken.tick)
        assert all(a.to_tick == b.from_tick and a.what != b.what for a, b in pairwise(spans))


def test_serving_copies_and_states_are_recorded() -> None:
    lanes = record_lanes(play_reference(small()))["Sales"]
    assert [span.what for span in lanes.where] == ["SERVER_A", "", "SERVER_B"]
    states = [span.what for span in lanes.state]
    assert (states[0], states[-1]) == ("SYNCHRONIZED", "SYNCHRONIZED")
    assert {"DISCONNECTED", "SYNCHRONIZING"} <= set(states)


def test_an_unmet_precondition_has_its_start_time() -> None:
    taken = run(drill(), 7)
    taken.do("cut SERVER_B SERVER_W")
    run(taken, 40)
    lanes = record_lanes(taken)["Sales"]
    witness = guard(lanes, "mirror and witness are connected")
    assert [span.what for span in witness.spans] == [HOLDS, FAILS]
    assert 700 < witness.spans[1].from_tick < 900
    assert witness.span_at(0) == witness.spans[0]
    in_step = guard(lanes, WAS_IN_STEP)
    assert [span.what for span in in_step.spans] == [HOLDS], "it was, whatever else kept it from being armed"
    lost = guard(lanes, MIRROR_HAS_LOST)
    assert lost.spans[-1].what == HOLDS
    assert lost.spans[-1].from_tick > 2000


def test_without_a_mirror_there_are_no_preconditions() -> None:
    taken = run(drill(), 5)
    taken.do("sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF")
    run(taken, 15)
    lanes = record_lanes(taken)["Sales"]
    assert max(span.to_tick for each in lanes.preconditions for span in each.spans) == 500
    assert guard(lanes, "safety is FULL").span_at(400) is not None


def test_a_loss_is_noticed_even_if_the_session_ends_in_the_same_tick() -> None:
    taken = run(drill(), 7)
    taken.do("power-off SERVER_A")
    while not any(e.kind == "detected" and e.server == "SERVER_B" for e in taken.events):
        taken.advance_to(taken.tick + 1)
    noticed = taken.tick
    taken.do("sql SERVER_B ALTER DATABASE Sales SET PARTNER OFF")
    run(taken, 30)
    lost = guard(record_lanes(taken)["Sales"], MIRROR_HAS_LOST)
    assert [(span.from_tick, span.what) for span in lost.spans][:2] == [(0, FAILS), (noticed, HOLDS)]
