"""Statements that notify a partner: they wait while it is connected but silent, and continue alone after its
loss.

A server that receives no message does not change. Derived.
"""

from __future__ import annotations

import pytest

from engine.model import MirrorState, Safety, World
from tests.engine.worlds import DB, M, P, W, apply_lines, build_lab
from tests.events import read_field

SET_OPTION = f"sql {P} ALTER DATABASE {DB} SET"
SILENCE_KINDS = {
    f"hang {M}": f"unhang {M}",
    f"cut-one-way {P} {M}": f"mend {P} {M}",
    f"black-hole {P} {M}": f"mend {P} {M}",
}


def describe_session(world: World, server: str) -> tuple[object, ...]:
    session = world.copies[server, DB].mirroring
    return session.guid, session.safety, session.state, session.timeout_s, session.witness


@pytest.mark.parametrize("silence", SILENCE_KINDS)
@pytest.mark.parametrize(
    ("clause", "after_loss"),
    [
        ("PARTNER SAFETY OFF", 1447),
        ("PARTNER FAILOVER", 1447),
        ("PARTNER RESUME", 1447),
        ("PARTNER SUSPEND", 0),
        ("PARTNER TIMEOUT 30", 0),
        ("WITNESS OFF", 0),
        (f"WITNESS = 'TCP://{W}:5022'", 1446),
    ],
)
def test_a_silent_partner_receives_no_statement(silence: str, clause: str, after_loss: int) -> None:
    world = build_lab()
    apply_lines(world, silence, wait_s=2.0)
    before = describe_session(world, M)
    events = apply_lines(world, f"{SET_OPTION} {clause}", wait_s=5.0)
    assert not [event for event in events if event.kind == "sql_done"]
    assert describe_session(world, M) == before
    events = apply_lines(world, wait_s=10.0)
    (done_event,) = [event for event in events if event.kind == "sql_done"]
    assert [message["number"] for message in read_field(done_event, "messages")] == [after_loss]
    apply_lines(world, SILENCE_KINDS[silence], wait_s=60.0)
    assert [
        field
        for field in zip(describe_session(world, P), describe_session(world, M), strict=True)
        if field[0] != field[1]
    ] == []


@pytest.mark.parametrize("silence", SILENCE_KINDS)
def test_a_statement_continues_when_the_partner_answers(silence: str) -> None:
    world = build_lab()
    apply_lines(world, silence, wait_s=2.0)
    apply_lines(world, f"{SET_OPTION} PARTNER SAFETY OFF", wait_s=3.0)
    assert world.copies[P, DB].mirroring.safety is Safety.FULL
    apply_lines(world, SILENCE_KINDS[silence], wait_s=1.0)
    assert {world.copies[server, DB].mirroring.safety for server in (P, M)} == {Safety.OFF}


def test_a_session_is_removed_without_waiting_for_the_partner() -> None:
    world = build_lab()
    apply_lines(world, f"hang {M}", wait_s=2.0)
    apply_lines(world, f"{SET_OPTION} PARTNER OFF", wait_s=0.1)
    assert world.copies[P, DB].mirroring.guid is None
    assert world.copies[M, DB].mirroring.state is MirrorState.SYNCHRONIZED
    apply_lines(world, f"unhang {M}", wait_s=30.0)
    assert world.copies[M, DB].mirroring.guid is None


def test_a_mirror_that_missed_the_removal_of_the_witness_keeps_its_session() -> None:
    world = build_lab()
    apply_lines(world, f"hang {M}", wait_s=15.0)
    apply_lines(world, f"{SET_OPTION} WITNESS OFF", wait_s=15.0)
    apply_lines(world, f"unhang {M}", wait_s=60.0)
    assert [world.copies[server, DB].mirroring.state for server in (P, M)] == [MirrorState.SYNCHRONIZED] * 2
