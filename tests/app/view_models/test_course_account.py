"""Tests that downtime derived from events equals the engine's own totals for each database."""

from __future__ import annotations

import pytest

from app.view_models.run_timeline import (
    DOWN,
    EXPOSED,
    TimelineSpan,
    build_timeline,
    find_synchronized_databases,
)
from engine.drill.authoring.scenario import load_scenario
from engine.protocol.availability import advance_availability
from tests.engine.availability.worlds import SCENARIOS, build_ag_lab
from tests.engine.worlds import DB, M, P, build_lab, play_script

SCRIPTS = {
    "automatic failover, then protection again": f"10 power-off {P}\n40 power-on {P}",
    "mirror and witness lost": f"5 power-off {M}\n20 power-off SERVER_W\n60 power-on {M}",
    "suspended and resumed": f"5 sql {P} ALTER DATABASE Sales SET PARTNER SUSPEND\n"
    f"30 sql {P} ALTER DATABASE Sales SET PARTNER RESUME",
    "mirroring removed without a mirror": f"5 power-off {M}\n20 sql {P} ALTER DATABASE Sales SET PARTNER OFF",
    "planned failover": f"5 sql {P} ALTER DATABASE Sales SET PARTNER FAILOVER",
}


def sum_ticks(spans: list[TimelineSpan], state: str) -> float:
    return 100.0 * sum(span.to_s - span.from_s for span in spans if span.state == state)


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_downtime_and_exposure_match_the_engine(script: str) -> None:
    world = build_lab()
    events = play_script(world, script, 180.0)
    course = build_timeline((event.as_json() for event in events), [DB], [DB])
    account = advance_availability(world.availability[DB], world.tick)
    assert account.down_ticks + account.exposed_ticks > 0
    assert sum_ticks(course.list_service_spans(180.0), DOWN) == pytest.approx(account.down_ticks)
    assert sum_ticks(course.list_protection_spans(180.0), EXPOSED) == pytest.approx(account.exposed_ticks)


AG_SCRIPTS = {
    "automatic failover": "10 power-off NODE_1\n60 power-on NODE_1",
    "secondary lost": "5 power-off NODE_2\n60 power-on NODE_2",
    "lost while unprotected": "5 power-off NODE_2\n60 power-off NODE_1\n90 power-on NODE_1\n91 power-on NODE_2",
    "planned failover": "5 sql NODE_2 ALTER AVAILABILITY GROUP AG1 FAILOVER",
    "suspended": """5 sql NODE_1 ALTER DATABASE Sales SET HADR SUSPEND
60 sql NODE_1 ALTER DATABASE Sales SET HADR RESUME""",
}


@pytest.mark.parametrize("script", AG_SCRIPTS.values(), ids=AG_SCRIPTS)
def test_downtime_and_exposure_match_for_groups(script: str) -> None:
    world = build_ag_lab()
    events = play_script(world, script, 400.0)
    scenario = load_scenario((SCENARIOS / "ag-lab.toml").read_text(encoding="utf-8"), "ag-lab")
    assert find_synchronized_databases(scenario) == ("Sales", "Orders")
    course = build_timeline(
        (event.as_json() for event in events), [DB], find_synchronized_databases(scenario)
    )
    account = advance_availability(world.availability[DB], world.tick)
    assert account.down_ticks + account.exposed_ticks > 0
    assert sum_ticks(course.list_service_spans(400.0), DOWN) == pytest.approx(account.down_ticks)
    assert sum_ticks(course.list_protection_spans(400.0), EXPOSED) == pytest.approx(account.exposed_ticks)
