"""Tests that a database with safety OFF is shown as unprotected, even if its state is SYNCHRONIZED."""

from __future__ import annotations

import pytest

from app.view_models.run_timeline import ASYNCHRONOUS, PROTECTED, SERVING, RunTimeline, start_timeline
from app.view_models.topology_builder import build_topology_contents
from engine.model import Safety
from tests.cases import sample_cases
from tests.engine.worlds import build_lab
from tests.shipped_scenarios import load_shipped_scenario


def join_labels(safety: Safety) -> str:
    return " ".join(sign.label for server in build_topology_contents(build_lab(safety=safety)).servers
                    for copy in server.copies for sign in copy.indicators)  # fmt: skip


def test_the_card_and_the_lane_say_asynchronous() -> None:
    assert "asynchronous" in join_labels(Safety.OFF)
    assert "asynchronous" not in join_labels(Safety.FULL)
    assert [s.state for s in RunTimeline(["Sales"], ["Sales"], ["Sales"]).list_protection_spans(10.0)] == [
        ASYNCHRONOUS
    ]


def test_the_lane_follows_changes_of_safety() -> None:
    course = RunTimeline(["Sales"], ["Sales"])
    for t_s, new in ((5.0, "OFF"), (8.0, "FULL")):
        course.add_events([{"t_s": t_s, "kind": "state", "server": "A", "database": "Sales", "text": "",
                     "why": "safety", "new": new}])  # fmt: skip
    spans = [(span.from_s, span.state) for span in course.list_protection_spans(10.0)]
    assert spans == [(0.0, PROTECTED), (5.0, ASYNCHRONOUS), (8.0, PROTECTED)]


@pytest.mark.parametrize(
    ("name", "shown"), sample_cases(3, [("fci-lab", SERVING), ("lab", PROTECTED), ("ag-lab", PROTECTED)])
)
def test_a_healthy_drill_never_begins_unprotected(name: str, shown: str) -> None:
    """A failover cluster instance has no second copy, so its lane shows service only."""
    scenario = load_shipped_scenario(name)
    course = start_timeline(
        scenario, [name for database_row in scenario.databases for name in database_row.names]
    )
    assert [span.state for span in course.list_protection_spans(10.0)] == [shown]
    assert course.has_protection == (shown != SERVING)
