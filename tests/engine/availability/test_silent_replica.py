"""SUSPEND and RESUME wait while the other replica is connected but does not respond. Derived."""

from __future__ import annotations

import pytest

from tests.engine.availability.worlds import ag_lab, apply_lines, run_until


@pytest.mark.parametrize(("where", "silent"), [("NODE_1", "NODE_3"), ("NODE_3", "NODE_1")])
@pytest.mark.parametrize("clause", ["SUSPEND", "RESUME"])
def test_a_silent_replica_is_not_told_of_suspended_data_movement(
    where: str, silent: str, clause: str
) -> None:
    world = ag_lab()
    if clause == "RESUME":
        apply_lines(world, f"sql {where} ALTER DATABASE Sales SET HADR SUSPEND")
        run_until(world, 5.0)
    apply_lines(world, f"cut-one-way {where} {silent}")
    run_until(world, 7.0)
    before = world.copies[silent, "Sales"].availability
    apply_lines(world, f"sql {where} ALTER DATABASE Sales SET HADR {clause}")
    events = run_until(world, 10.0)
    assert world.copies[silent, "Sales"].availability == before
    events += run_until(world, 40.0)
    assert [event.kind for event in events if event.kind == "sql_done"] == ["sql_done"]
