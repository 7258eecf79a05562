"""Runs of SQL Server Agent jobs: refusals, outcomes, history texts, activity rows."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.cluster.worlds import apply_lines, build_fci_lab
from tests.engine.tsql.console import collect_answers, run_seconds, submit_batch
from tests.engine.worlds import P, build_lab

USER = "CORP\\dba"


def build_world_with_job(*commands: str, options: str = "") -> World:
    """Return a world with job `J`, whose steps run *commands* in order."""
    world = build_lab(workload="none")
    steps = [
        f"EXEC msdb.dbo.sp_add_jobstep @job_name = 'J', @step_name = 's{number}', @command = N'{command}', "
        f"@on_success_action = {1 if number == len(commands) else 3}{options}"
        for number, command in enumerate(commands, 1)
    ]
    text = "; ".join(
        ["EXEC msdb.dbo.sp_add_job @job_name = 'J'", *steps, "EXEC msdb.dbo.sp_add_jobserver @job_name = 'J'"]
    )
    assert submit_batch(world, P, text).numbers == []
    return world


def start_job(world: World, wait_s: float = 2.0) -> World:
    submit_batch(world, P, "EXEC msdb.dbo.sp_start_job 'J'")
    run_seconds(world, wait_s)
    return world


def query_value(world: World, text: str) -> object:
    return submit_batch(world, P, text).value


def read_job_help(world: World) -> dict[str, object]:
    answer = submit_batch(world, P, "EXEC msdb.dbo.sp_help_job @job_name = 'J'")
    return dict(zip(answer.columns[0], answer.grids[0][0], strict=True))


def test_a_running_job_is_not_started_again() -> None:
    world = start_job(build_world_with_job("WAITFOR DELAY ''00:01''"))
    answer = submit_batch(world, P, "EXEC msdb.dbo.sp_start_job 'J'")
    assert answer.numbers == [22022]
    assert answer.texts[-1].endswith(
        f"SQLServerAgent Error: Request to run job J (from User {USER}) refused because the job is already running "
        f"from a request by User {USER}."
    )
    run_seconds(world, 60)
    assert submit_batch(world, P, "EXEC msdb.dbo.sp_start_job 'J'").numbers == []


def test_outcomes_are_those_of_the_last_run() -> None:
    outcome = "SELECT last_run_outcome FROM msdb.dbo.sysjobservers"
    world = build_world_with_job("SELECT 1")
    where_clause = " WHERE job_id = (SELECT job_id FROM msdb.dbo.sysjobs WHERE name = ''J'')".replace(
        "''", "'"
    )
    assert query_value(world, outcome + where_clause) == 5
    assert query_value(start_job(world), outcome + where_clause) == 1
    assert query_value(start_job(build_world_with_job("SELECT 1/0")), outcome + where_clause) == 0
    assert query_value(world, "SELECT last_run_outcome FROM msdb.dbo.sysjobsteps" + where_clause) == 1


def test_the_history_has_the_documented_texts() -> None:
    world = start_job(build_world_with_job("RAISERROR(''boo'', 16, 1)"))
    rows = submit_batch(
        world, P, "SELECT step_id, message, sql_message_id FROM msdb.dbo.sysjobhistory ORDER BY instance_id"
    ).grids[0]
    account = world.instances[P].service_account
    assert rows == [
        [1, f"Executed as user: {account}. boo [SQLSTATE 42000] (Error 50000).  The step failed.", 50000],
        [
            0,
            f"The job failed.  The Job was invoked by User {USER}.  The last step to run was step 1 (s1).",
            0,
        ],
    ]
    good_run = start_job(build_world_with_job("PRINT ''done''"))
    texts = submit_batch(
        good_run, P, "SELECT message FROM msdb.dbo.sysjobhistory ORDER BY instance_id"
    ).grids[0]
    assert texts[0][0].endswith("done [SQLSTATE 01000] (Message 0).  The step succeeded.")
    assert texts[1][0].startswith("The job succeeded.  The Job was invoked by User")


def test_the_history_shows_the_start_of_a_run() -> None:
    world = build_world_with_job("WAITFOR DELAY ''00:00:30''")
    began = query_value(world, "SELECT CONVERT(int, REPLACE(CONVERT(varchar(8), GETDATE(), 108), ':', ''))")
    start_job(world, 40)
    rows = submit_batch(world, P, "SELECT run_time, run_duration FROM msdb.dbo.sysjobhistory").grids[0]
    assert rows == [[began, 30], [began, 30]]


def test_the_activity_and_sp_help_job_follow_a_run() -> None:
    world = build_world_with_job("SELECT 1", "WAITFOR DELAY ''00:00:30''")
    assert (read_job_help(world)["current_execution_status"], read_job_help(world)["last_run_outcome"]) == (
        4,
        5,
    )
    assert len(read_job_help(world)) == 32
    start_job(world)
    help_now = read_job_help(world)
    assert (
        help_now["current_execution_status"],
        help_now["current_execution_step"],
        help_now["has_step"],
    ) == (
        1,
        "2 (s2)",
        2,
    )
    running = """SELECT name FROM msdb.dbo.sysjobactivity a JOIN msdb.dbo.sysjobs j ON j.job_id = a.job_id
        WHERE start_execution_date IS NOT NULL AND stop_execution_date IS NULL"""
    assert query_value(world, running) == "J"
    run_seconds(world, 40)
    assert submit_batch(world, P, running).grids == [[]]
    assert (read_job_help(world)["current_execution_status"], read_job_help(world)["last_run_outcome"]) == (
        4,
        1,
    )


def test_a_job_can_be_stopped() -> None:
    world = start_job(build_world_with_job("WAITFOR DELAY ''01:00''"))
    first = collect_answers(world, P, "EXEC msdb.dbo.sp_stop_job 'J'")[0]
    assert first.texts == ["Job 'J' stopped successfully."]
    run_seconds(world, 1)
    assert submit_batch(world, P, "SELECT run_status FROM msdb.dbo.sysjobhistory").grids[0] == [[3], [3]]
    refused = submit_batch(world, P, "EXEC msdb.dbo.sp_stop_job 'J'")
    assert (refused.numbers, "not currently running" in refused.texts[0]) == ([22022], True)


def test_a_failed_step_is_retried_as_often_as_configured() -> None:
    world = start_job(
        build_world_with_job("SELECT 1/0", options=", @retry_attempts = 2, @retry_interval = 1"), 30
    )
    assert read_job_help(world)["current_execution_status"] == 3
    run_seconds(world, 120)
    rows = submit_batch(
        world,
        P,
        "SELECT step_id, run_status, retries_attempted FROM msdb.dbo.sysjobhistory ORDER BY instance_id",
    )
    assert rows.grids[0] == [[1, 2, 0], [1, 2, 1], [1, 0, 2], [0, 0, 0]]


@pytest.mark.parametrize("arguments", ["@message_id = 1480, @severity = 16", "@severity = 0"])
def test_an_alert_has_one_condition(arguments: str) -> None:
    assert submit_batch(build_lab(), P, f"EXEC msdb.dbo.sp_add_alert @name = 'a', {arguments}").numbers == [
        14500
    ]


def test_sp_help_jobhistory_shows_the_last_run_first() -> None:
    world = start_job(build_world_with_job("SELECT 1", "SELECT 1/0"))
    call = "EXEC msdb.dbo.sp_help_jobhistory @job_name = 'J'"
    answer = submit_batch(world, P, call)
    assert answer.columns[0][1:3] == ["job_name", "run_status"]
    assert [row[1:3] for row in answer.grids[0]] == [["J", 0], ["J", 0], ["J", 1]]
    full_rows = submit_batch(world, P, f"{call}, @mode = 'FULL', @oldest_first = 1, @run_status = 0")
    assert [row[3:7] for row in full_rows.grids[0]] == [[2, "s2", 8134, 16], [0, "(Job outcome)", 0, 0]]
    assert submit_batch(world, P, f"{call}, @step_id = 1").grids[0][0][2] == 1


HISTORY_QUERY = "SELECT step_id, run_status, message FROM msdb.dbo.sysjobhistory ORDER BY instance_id"


@pytest.mark.parametrize("line", [f"stop-service {P}", f"stop-agent {P}"])
def test_an_orderly_stop_cancels_running_jobs(line: str) -> None:
    world = start_job(build_world_with_job("WAITFOR DELAY ''01:00''"))
    apply_lines(world, line)
    run_seconds(world, 10)
    apply_lines(world, f"start-service {P}")
    run_seconds(world, 20)
    rows = submit_batch(world, P, HISTORY_QUERY).grids[0]
    assert [row[:2] for row in rows] == [[1, 3], [0, 3]]
    assert rows[1][2].startswith(
        "The job was stopped prior to completion by Shutdown Sequence 0.  The Job was"
    )


def test_a_crash_leaves_a_run_without_an_end() -> None:
    """The history shows neither success nor failure. [DOC: auto-restart of SQL Server Agent]"""
    world = start_job(build_world_with_job("WAITFOR DELAY ''01:00''"))
    apply_lines(world, f"power-off {P}")
    run_seconds(world, 10)
    apply_lines(world, f"power-on {P}")
    run_seconds(world, 120)
    assert submit_batch(world, P, HISTORY_QUERY).grids == [[]]
    help_row = read_job_help(world)
    assert (help_row["current_execution_status"], help_row["last_run_outcome"]) == (4, 5)


def test_a_move_of_a_cluster_instance_leaves_a_run_without_an_end() -> None:
    world = build_fci_lab()
    text = (
        "EXEC msdb.dbo.sp_add_job @job_name = 'J'; EXEC msdb.dbo.sp_add_jobstep @job_name = 'J', @step_name = 's', "
        "@command = 'WAITFOR DELAY ''01:00'''; EXEC msdb.dbo.sp_add_jobserver @job_name = 'J'; "
        "EXEC msdb.dbo.sp_start_job 'J'"
    )
    submit_batch(world, "SQLFCI1", text, 5)
    apply_lines(world, "move-role SQLFCI1 NODE_2")
    run_seconds(world, 60)
    assert submit_batch(world, "SQLFCI1", HISTORY_QUERY).grids == [[]]
