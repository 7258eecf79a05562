"""SUSPEND and RESUME wait while the other replica is connected but does not respond. Derived."""

from __future__ import annotations

import pytest

from tests.engine.availability.worlds import apply_lines, build_ag_lab, run_until


@pytest.mark.parametrize(("server", "silent_server"), [("NODE_1", "NODE_3"), ("NODE_3", "NODE_1")])
@pytest.mark.parametrize("clause", ["SUSPEND", "RESUME"])
def test_a_silent_replica_does_not_receive_suspend_or_resume(
    server: str, silent_server: str, clause: str
) -> None:
    world = build_ag_lab()
    if clause == "RESUME":
        apply_lines(world, f"sql {server} ALTER DATABASE Sales SET HADR SUSPEND")
        run_until(world, 5.0)
    apply_lines(world, f"cut-one-way {server} {silent_server}")
    run_until(world, 7.0)
    before = world.copies[silent_server, "Sales"].availability
    apply_lines(world, f"sql {server} ALTER DATABASE Sales SET HADR {clause}")
    events = run_until(world, 10.0)
    assert world.copies[silent_server, "Sales"].availability == before
    events += run_until(world, 40.0)
    assert [event.kind for event in events if event.kind == "sql_done"] == ["sql_done"]
