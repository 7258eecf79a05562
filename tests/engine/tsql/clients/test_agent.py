"""SQL Server Agent: alerts on mirroring events start jobs, as scripts do to fail over all databases."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.worlds import M, P, apply_lines, build_lab

JOB_SCRIPT = """DECLARE @job uniqueidentifier
EXEC msdb.dbo.sp_add_job @job_name = 'answer', @job_id = @job OUTPUT
EXEC msdb.dbo.sp_add_jobstep @job_id = @job, @step_name = 'note it', @command = N'
    INSERT msdb.dbo.seen VALUES (N''$(ESCAPE_SQUOTE(WMI(DatabaseName)))'', $(ESCAPE_NONE(WMI(State))))',
    @on_success_action = 3
EXEC msdb.dbo.sp_add_jobstep @job_id = @job, @step_name = 'fail', @command = N'SELECT 1/0'
EXEC msdb.dbo.sp_add_jobserver @job_id = @job
CREATE TABLE msdb.dbo.seen (name sysname, state int)"""
ALERT_SCRIPT = """EXEC msdb.dbo.sp_add_alert @name = 'changes', @job_name = 'answer', @wmi_query =
    N'SELECT * FROM DATABASE_MIRRORING_STATE_CHANGE WHERE {}'"""
SEEN_QUERY = "SELECT name, state FROM msdb.dbo.seen"
HISTORY_QUERY = "SELECT step_id, run_status FROM msdb.dbo.sysjobhistory ORDER BY instance_id"


def build_agent_world(arguments: str) -> World:
    world = build_lab(workload="none")
    submit_batch(world, P, JOB_SCRIPT)
    submit_batch(world, P, ALERT_SCRIPT.format(arguments))
    return world


def test_a_state_change_starts_the_job_with_its_tokens_filled_in() -> None:
    world = build_agent_world("State = 9 AND DatabaseName = ''Sales''")
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    assert submit_batch(world, P, SEEN_QUERY).grids == [[["Sales", 9]]]
    assert submit_batch(world, P, HISTORY_QUERY).grids == [[[1, 1], [2, 0], [0, 0]]]
    count = "SELECT occurrence_count FROM msdb.dbo.sysalerts WHERE name = 'changes'"
    assert submit_batch(world, P, count).value == 1


def test_an_event_excluded_by_the_query_is_ignored() -> None:
    world = build_agent_world("State = 8")
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    assert submit_batch(world, P, SEEN_QUERY).grids == [[]]


@pytest.mark.parametrize("change", ["@enabled = 0", "@job_name = ''"])
def test_a_disabled_alert_or_one_without_a_job_starts_nothing(change: str) -> None:
    world = build_agent_world("State = 9")
    submit_batch(world, P, f"EXEC msdb.dbo.sp_update_alert @name = 'changes', {change}")
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    assert submit_batch(world, P, SEEN_QUERY).grids == [[]]


def test_no_alert_fires_while_the_agent_is_stopped() -> None:
    world = build_agent_world("State = 9")
    world.update_instance(P, agent_running=False)
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    assert submit_batch(world, P, SEEN_QUERY).grids == [[]]
    assert submit_batch(world, P, "EXEC msdb.dbo.sp_start_job 'answer'").numbers == [22022]


def test_a_failover_alert_fires_where_it_began() -> None:
    """A widely used script has an alert on states 7 and 8 that fails over the remaining databases."""
    world = build_lab(workload="none")
    submit_batch(world, P, JOB_SCRIPT)
    submit_batch(world, P, ALERT_SCRIPT.format("State = 7 OR State = 8"))
    apply_lines(world, "sql SERVER_A ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    assert submit_batch(world, P, SEEN_QUERY).grids == [[["Sales", 7]]]


def test_an_automatic_failover_alert_fires_on_the_new_principal() -> None:
    world = build_lab(workload="none")
    submit_batch(world, M, JOB_SCRIPT)
    submit_batch(world, M, ALERT_SCRIPT.format("State = 7 OR State = 8"))
    apply_lines(world, "power-off SERVER_A", wait_s=60)
    assert ["Sales", 8] in submit_batch(world, M, SEEN_QUERY).grids[0]


def test_an_error_log_message_fires_by_number_or_severity() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "EXEC msdb.dbo.sp_add_alert @name = 'loud', @severity = 16")
    submit_batch(world, P, "EXEC msdb.dbo.sp_add_alert @name = 'other', @message_id = 32040")
    apply_lines(world, "sql SERVER_A RAISERROR('trouble', 16, 1) WITH LOG")
    counts = "SELECT name, occurrence_count FROM msdb.dbo.sysalerts ORDER BY name"
    assert submit_batch(world, P, counts).grids == [[["loud", 1], ["other", 0]]]
    run_seconds(world, 3600)
    # one log line triggers one response
    assert submit_batch(world, P, counts).grids == [[["loud", 1], ["other", 0]]]


def test_a_fork_reacts_like_its_world() -> None:
    world = build_agent_world("State = 9")
    fork = world.fork()
    for variant in (world, fork):
        apply_lines(variant, "sql SERVER_A ALTER DATABASE Sales SET PARTNER SUSPEND")
    assert world.compute_state_hash() == fork.compute_state_hash()


def test_missing_names_are_14262_and_existing_ones_14261() -> None:
    world = build_lab(workload="none")
    assert submit_batch(world, P, "EXEC msdb.dbo.sp_delete_alert 'no'").texts == [
        "Msg 14262, Level 16, State 1, Line 1: The specified @name ('no') does not exist."
    ]
    twice = "EXEC msdb.dbo.sp_add_operator 'dba' EXEC msdb.dbo.sp_add_operator 'DBA'"
    assert submit_batch(world, P, twice).numbers == [14261]
    assert submit_batch(world, P, "EXEC msdb.dbo.sp_add_alert @name = 'a', @job_name = 'no'").numbers == [
        14262
    ]


def test_a_schedule_is_reported_as_not_simulated() -> None:
    text = """EXEC msdb.dbo.sp_add_job 'nightly'
        EXEC msdb.dbo.sp_add_jobschedule @job_name = 'nightly', @name = 'at night', @freq_type = 4
        SELECT s.name, s.freq_type FROM msdb.dbo.sysschedules s JOIN msdb.dbo.sysjobschedules j
            ON j.schedule_id = s.schedule_id"""
    answer = submit_batch(build_lab(), P, text)
    assert answer.texts[0].startswith("Not simulated: schedule 'at night' is kept")
    assert answer.grids == [[["at night", 4]]]


def test_mail_waits_in_the_queue_and_reports_so() -> None:
    world = build_lab(workload="none")
    send = "EXEC msdb.dbo.sp_send_dbmail @profile_name = 'p', @recipients = 'dba@corp', @subject = 'down'"
    assert submit_batch(world, P, send).numbers == [15281]
    submit_batch(
        world,
        P,
        "EXEC sp_configure 'show advanced', 1 RECONFIGURE EXEC sp_configure 'Database Mail', 1 RECONFIGURE",
    )
    assert submit_batch(world, P, send).numbers == [14607]
    submit_batch(world, P, "EXEC msdb.dbo.sysmail_add_profile_sp 'p'")
    twice = submit_batch(world, P, "EXEC msdb.dbo.sysmail_add_profile_sp 'p'")
    assert twice.numbers[0] == 2627
    assert "SYSMAIL_PROFILE_NameMustBeUnique" in twice.texts[0]
    answer = submit_batch(world, P, f"{send} SELECT subject, sent_status FROM msdb.dbo.sysmail_allitems")
    assert answer.grids == [[["down", "unsent"]]]
    assert [text for text in answer.texts if text.startswith("Not simulated: delivery")]


def test_options_persist_for_other_windows() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "EXEC sp_configure 'show advanced options', 1 RECONFIGURE")
    submit_batch(world, f"{P}#2", "EXEC sp_configure 'xp_cmdshell', 1")
    # a changed option has no effect before RECONFIGURE
    assert submit_batch(world, f"{P}#3", "EXEC xp_cmdshell 'dir'").numbers == [15281]
    submit_batch(world, P, "RECONFIGURE")
    assert submit_batch(world, f"{P}#3", "EXEC xp_cmdshell 'dir'").texts == [
        "Not simulated: commands of the operating system"
    ]
