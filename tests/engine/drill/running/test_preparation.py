"""Inputs before the start and in the timeline: they change the world, but do not count for the seat."""

from __future__ import annotations

import pytest

from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.scenario import ScenarioError
from engine.drill.judging.refusals import find_refusals
from engine.inputs import InputError
from engine.model import DbState
from tests.engine.drill.texts import FREE_PLAY_TEXT, advance_drill, build_drill, change_small_text


def build_preparation(*lines: str) -> tuple[str, str]:
    tables = "".join(f'[[before]]\ndo = "{line}"\n\n' for line in lines)
    return "[[client]]", f"{tables}[[client]]"


def test_preparation_lines_are_applied_silently() -> None:
    lines = ("add-drive SERVER_A E", "stop-agent SERVER_A", "sql SERVER_B EXEC sp_addlinkedserver REPORTS")
    drill_run = build_drill(build_preparation(*lines), text=FREE_PLAY_TEXT)
    assert drill_run.is_condition_met("linked_servers(SERVER_B) == 1 and linked_servers(SERVER_A) == 0")
    assert [volume.letter for volume in drill_run.world.computers["SERVER_A"].volumes] == ["E"]
    advance_drill(drill_run, 10)
    assert drill_run.events == []
    drill_run.apply_line("revert-all")
    assert not drill_run.world.instances["SERVER_A"].agent_running, (
        "so it has long been; it is no fault of the drill"
    )


def test_changes_of_the_preparation_count_from_the_start() -> None:
    drill_run = build_drill(
        build_preparation("sql SERVER_B ALTER ENDPOINT Mirroring STATE = STOPPED"), text=FREE_PLAY_TEXT
    )
    assert drill_run.is_condition_met("SERVER_A is LISTENING and SERVER_B is not LISTENING")
    assert advance_drill(drill_run, 5).is_condition_met(
        'Sales is DISCONNECTED and not tried "ALTER ENDPOINT"'
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sql SERVER_A ALTER DATABASE Nothing SET PARTNER OFF", "5011"),
        ("sql SERVER_A WAITFOR DELAY '00:00:10'", "takes too long"),
        ("grow-volume SERVER_A E", "cannot be executed"),
    ],
)
def test_check_names_lines_not_allowed_in_the_preparation(line: str, message: str) -> None:
    findings = list_warnings(change_small_text(build_preparation(line)), "small.toml")
    assert any(message in problem.text and problem.where.startswith("before") for problem in findings), (
        findings
    )


def test_a_copy_may_have_been_restored_elsewhere() -> None:
    session = FREE_PLAY_TEXT[FREE_PLAY_TEXT.index("[[session]]") : FREE_PLAY_TEXT.index("[[client]]")]
    lone_database = (
        'workload = "Workload1"',
        'workload = "Workload1"\nserver = "SERVER_A"\nrestored_on = ["SERVER_B"]',
    )
    drill_run = advance_drill(build_drill(lone_database, (session, ""), text=FREE_PLAY_TEXT), 3)
    assert drill_run.world.copies["SERVER_B", "Sales"].db_state is DbState.RESTORING
    assert drill_run.is_condition_met("Sales serves on SERVER_A and Sales is NONE")
    drill_run.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER = 'TCP://SERVER_A:5022'")
    drill_run.apply_line("sql SERVER_A ALTER DATABASE Sales SET PARTNER = 'TCP://SERVER_B:5022'")
    assert advance_drill(drill_run, 30).is_condition_met("Sales is SYNCHRONIZED")
    with pytest.raises(ScenarioError, match="already has a mirror"):
        change_small_text(lone_database, text=FREE_PLAY_TEXT)


TIMELINE_TEXT = """
[[timeline]]
at = "5s"
do = "sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER"

[[source]]"""


def test_inputs_of_the_timeline_do_not_count_for_conduct() -> None:
    drill_run = advance_drill(build_drill(("\n[[source]]", TIMELINE_TEXT), text=FREE_PLAY_TEXT), 10)
    (batch,) = drill_run.build_report()["sql"]
    assert (batch["window"], batch["messages"][0]["number"]) == ("SERVER_B#story", 1470)
    assert not drill_run.is_condition_met('tried "FAILOVER" or error 1470')
    assert find_refusals(drill_run.events) == []
    drill_run.apply_line("sql SERVER_B ALTER DATABASE Sales SET PARTNER FAILOVER")
    assert advance_drill(drill_run, 11).is_condition_met('tried "FAILOVER" and error 1470')
    assert [refused.number for refused in find_refusals(drill_run.events)] == [1470]


def test_a_seat_input_cannot_use_the_window_of_the_timeline() -> None:
    drill_run = build_drill(text=FREE_PLAY_TEXT)
    with pytest.raises(InputError, match="the drill itself uses the window"):
        drill_run.apply_line("sql SERVER_A#story ALTER DATABASE Sales SET PARTNER OFF")
    drill_run.apply_line("sql SERVER_A#2 SELECT 1")


def test_conditions_evaluate_settings_outside_the_database() -> None:
    lines = (
        "sql SERVER_A CREATE LOGIN shop WITH PASSWORD = 'Pa55!!'; USE Sales; CREATE USER shop FOR LOGIN shop",
        "sql SERVER_A USE msdb; EXEC sp_add_job 'load'; EXEC sp_dbmmonitoraddmonitoring; "
        "EXEC sp_dbmmonitorchangealert Sales, 2, 100, 1; EXEC sp_dbmmonitorchangealert Sales, 5, 8, 1",
        "copy-jobs SERVER_A SERVER_B",
        "sql SERVER_W ALTER ENDPOINT Mirroring FOR DATABASE_MIRRORING (ENCRYPTION = SUPPORTED)",
    )
    drill_run = advance_drill(build_drill(build_preparation(*lines), text=FREE_PLAY_TEXT), 65)
    assert drill_run.is_condition_met("orphans(SERVER_A) == 0 and orphans(SERVER_B) == 1")
    assert drill_run.is_condition_met("enabled_jobs(SERVER_A) == 1 and enabled_jobs(SERVER_B) == 0")
    assert drill_run.is_condition_met("thresholds(SERVER_A) == 1 and thresholds(SERVER_B) == 0")
    assert drill_run.is_condition_met("monitor_age_s(SERVER_A) < 60 and monitor_age_s(SERVER_B) > 1000000")
    assert drill_run.is_condition_met(
        "SERVER_A is ENCRYPTING and SERVER_W is not ENCRYPTING and version(SERVER_A) == 2005"
    )
    drill_run.apply_line("corrupt-page SERVER_B Sales")
    assert drill_run.is_condition_met("damaged_pages(Sales) == 1 and installs(SERVER_B) == 0")
    drill_run.apply_line("upgrade SERVER_W 2005")
    assert advance_drill(drill_run, 400).is_condition_met("installs(SERVER_W) == 1")
