"""Events of AlwaysOn_health after a failover, as scripts extract them from the event files."""

from __future__ import annotations

from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab, play_script

FROM_CLAUSE = "FROM sys.fn_xe_file_target_read_file('AlwaysOn*.xel', NULL, NULL, NULL)"
EVENT_CTE = f"""WITH x AS (SELECT object_name, CAST(event_data AS xml) AS d {FROM_CLAUSE})
SELECT d.value('(event/data[@name="previous_state"]/text)[1]', 'varchar(40)'),
    d.value('(event/data[@name="current_state"]/text)[1]', 'varchar(40)'),
    d.value('(event/data[@name="availability_group_name"]/value)[1]', 'sysname')
FROM x WHERE object_name = 'availability_replica_state_change'"""


def test_a_failover_is_in_the_event_files() -> None:
    world = build_ag_lab()
    play_script(world, "3 power-off NODE_1", 60)
    rows = submit_batch(world, "NODE_2", EVENT_CTE, wait_s=3).grids[0]
    assert ["PRIMARY_PENDING", "PRIMARY_NORMAL", "AG1"] in rows
    errors = f"""SELECT COUNT(*) {FROM_CLAUSE} WHERE object_name = 'error_reported'
        AND CAST(event_data AS xml).value('(event/data[@name="error_number"]/value)[1]', 'int') = 1480"""
    assert submit_batch(world, "NODE_2", errors, wait_s=3).value >= 1


def test_missing_event_files_are_reported() -> None:
    text = "SELECT * FROM sys.fn_xe_file_target_read_file('{}', NULL, NULL, NULL)"
    world = build_ag_lab()
    assert submit_batch(world, "NODE_1", text.format("other*.xel")).numbers == [25718]
    assert "Not simulated" in submit_batch(world, "NODE_1", text.format("system_health*.xel")).texts[0]
    old = build_lab()
    assert submit_batch(old, P, text.format("AlwaysOn*.xel")).numbers == [25718]
