"""Scalar functions with a body in job scripts of availability groups. [DOC: CREATE FUNCTION]"""

from __future__ import annotations

from engine.model import World
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.worlds import P, build_lab

PRIMARY_FUNCTION = """
CREATE FUNCTION dbo.fn_hadr_group_is_primary (@AGName sysname)
RETURNS bit
AS
BEGIN;
  -- The role as this instance knows it
  DECLARE @PrimaryReplica sysname;

  SELECT @PrimaryReplica = hags.primary_replica
  FROM sys.dm_hadr_availability_group_states AS hags
  INNER JOIN sys.availability_groups AS ag ON ag.group_id = hags.group_id
  WHERE ag.name = @AGName;

  IF UPPER(@PrimaryReplica) = UPPER(@@SERVERNAME)
    RETURN 1; -- primary

  RETURN 0; -- not primary
END;
"""
ROLE_FUNCTION = """
CREATE FUNCTION fn_hadr_group_is_primary (@AGName sysname) RETURNS bit WITH EXECUTE AS CALLER AS
BEGIN
  DECLARE @role tinyint = 0
  SELECT @role = ars.role
  FROM sys.dm_hadr_availability_replica_states ars
  JOIN sys.availability_groups ag ON ars.group_id = ag.group_id
  WHERE ag.name = @AGName AND ars.is_local = 1
  RETURN CASE WHEN @role = 1 THEN 1 ELSE 0 END
END
"""
GROUP_NAME_QUERY = "(SELECT TOP 1 name FROM sys.availability_groups)"
JOB_SCRIPT = """
EXEC msdb.dbo.sp_add_job @job_name = 'J';
EXEC msdb.dbo.sp_add_jobstep @job_name = 'J', @step_name = 'role', @database_name = 'master',
  @command = N'DECLARE @g sysname; SELECT @g = name FROM sys.availability_groups;
    IF master.dbo.fn_hadr_group_is_primary(@g) = 0 RAISERROR (''not primary'', 16, 1)';
EXEC msdb.dbo.sp_add_jobserver @job_name = 'J'
"""


def _build_lab(definition: str) -> World:
    world = build_ag_lab()
    for server in ("NODE_1", "NODE_2"):
        assert submit_batch(world, server, definition, 2).numbers == []
    return world


def test_the_function_of_job_scripts_returns_the_role() -> None:
    for definition in (PRIMARY_FUNCTION, ROLE_FUNCTION):
        world = _build_lab(definition)
        query = f"IF dbo.fn_hadr_group_is_primary({GROUP_NAME_QUERY}) = 1 SELECT 'run' ELSE SELECT 'skip'"
        assert submit_batch(world, "NODE_1", query, 2).value == "run"
        assert submit_batch(world, "NODE_2", query, 2).value == "skip"
        assert (
            submit_batch(world, "NODE_2", "SELECT master.dbo.fn_hadr_group_is_primary('nowhere')", 2).value
            == 0
        )


def test_a_job_step_fails_if_the_function_says_so() -> None:
    world = _build_lab(PRIMARY_FUNCTION)
    outcomes = []
    for server in ("NODE_1", "NODE_2"):
        assert submit_batch(world, server, JOB_SCRIPT.replace("'J'", f"'{server}'"), 2).numbers == []
        submit_batch(world, server, f"EXEC msdb.dbo.sp_start_job '{server}'", 2)
        run_seconds(world, 2)
        query = (
            "SELECT last_run_outcome FROM msdb.dbo.sysjobservers WHERE job_id = "
            f"(SELECT job_id FROM msdb.dbo.sysjobs WHERE name = '{server}')"
        )
        outcomes.append(submit_batch(world, server, query, 2).value)
    assert outcomes == [1, 0]


def test_a_function_waits_for_a_locked_table_with_its_query() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, "CREATE TABLE t (a int) INSERT t VALUES (1)", 2)
    function_text = (
        "CREATE FUNCTION f () RETURNS int AS BEGIN DECLARE @n int SELECT @n = MAX(a) FROM t RETURN @n END"
    )
    assert submit_batch(world, P, function_text, 2).numbers == []
    submit_batch(world, f"{P}#2", "BEGIN TRANSACTION UPDATE t SET a = 2", 2)
    query = "DECLARE @r int SET LOCK_TIMEOUT 500 SELECT @r = dbo.f() SELECT @r"
    assert submit_batch(world, P, query, 5).numbers == [1222]
    submit_batch(world, f"{P}#2", "COMMIT", 2)
    assert submit_batch(world, P, "SELECT dbo.f()", 2).value == 2


def test_columns_of_existing_tables_are_checked_at_creation() -> None:
    """Check documented behavior: [DOC: Create a stored procedure]."""
    world = build_lab(workload="none")
    function_text = (
        "CREATE FUNCTION f () RETURNS int AS BEGIN DECLARE @n int SELECT @n = nothing FROM {} RETURN @n END"
    )
    assert submit_batch(world, P, function_text.format("sys.databases"), 2).numbers == [207]
    assert submit_batch(world, P, function_text.format("later"), 2).numbers == []
    assert submit_batch(world, P, "SELECT dbo.f()", 2).numbers == [208]
