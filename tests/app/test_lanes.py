"""Protected, exposed, down: read from events, and equal to the engine's own account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.lanes import DOWN, EXPOSED, PROTECTED, AvailabilityLane
from engine.events import Event
from engine.model import MirrorState, Role
from engine.protocol.availability import settled
from tests.engine.worlds import DB, M, P, lab, play


def event(t_s: float, kind: str, server: str | None, text: str, **data: Any) -> Event:
    return Event(round(t_s * 100), kind, server, DB, text, tuple(data.items()))


def test_the_course_of_a_failover() -> None:
    world = lab()
    lane = AvailabilityLane(DB)
    lane.start(world, [])
    assert lane.add([event(10.0, "availability", None, "", serving=False)])
    assert lane.add([event(13.0, "state", M, "SYNCHRONIZED -> DISCONNECTED")]) is False
    lane.add([event(13.5, "availability", M, "", serving=True)])
    lane.add([event(60.0, "state", M, "SYNCHRONIZING -> SYNCHRONIZED")])
    lane.add([replace(event(70.0, "availability", None, "", serving=False), database="Other")])
    assert list(lane.track.spans(80.0)) == [
        (0.0, 10.0, PROTECTED),
        (10.0, 13.5, DOWN),
        (13.5, 60.0, EXPOSED),
        (60.0, 80.0, PROTECTED),
    ]


def test_the_start_is_found_by_walking_back() -> None:
    """The world is as it is now; roles and states at the beginning stand in the events only."""
    world = lab()
    events = [
        event(10.0, "availability", None, "", serving=False),
        event(11.0, "state", M, "SYNCHRONIZED -> DISCONNECTED"),
        event(12.0, "role", M, "MIRROR -> PRINCIPAL"),
        event(12.0, "availability", M, "", serving=True),
    ]
    world.copies[M, DB] = replace(
        world.copies[M, DB], role=Role.PRINCIPAL, mirror_state=MirrorState.DISCONNECTED
    )
    lane = AvailabilityLane(DB)
    lane.start(world, events)
    assert list(lane.track.spans(20.0)) == [(0.0, 10.0, PROTECTED), (10.0, 12.0, DOWN), (12.0, 20.0, EXPOSED)]


SCRIPTS = {
    "automatic failover, then protection again": f"10 power-off {P}\n40 power-on {P}",
    "mirror and witness lost": f"5 power-off {M}\n20 power-off SERVER_W\n60 power-on {M}",
    "suspended and resumed": f"5 sql {P} ALTER DATABASE Sales SET PARTNER SUSPEND\n"
    f"30 sql {P} ALTER DATABASE Sales SET PARTNER RESUME",
    "mirroring removed while the mirror is gone": f"5 power-off {M}\n20 sql {P} ALTER DATABASE Sales SET PARTNER OFF",
    "planned failover": f"5 sql {P} ALTER DATABASE Sales SET PARTNER FAILOVER",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_the_lane_adds_up_to_the_engines_account(script: str) -> None:
    world = lab()
    events = play(world, script, 180.0)
    lane = AvailabilityLane(DB)
    lane.start(world, events)
    totals = dict.fromkeys((PROTECTED, EXPOSED, DOWN), 0.0)
    for start_s, end_s, state in lane.track.spans(180.0):
        totals[state] += end_s - start_s
    account = settled(world.availability[DB], world.tick)
    assert totals[DOWN] * 100 == pytest.approx(account.down_ticks)
    assert totals[EXPOSED] * 100 == pytest.approx(account.exposed_ticks)
    assert account.down_ticks + account.exposed_ticks > 0
