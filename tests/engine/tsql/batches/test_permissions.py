"""EXECUTE AS, GRANT, DENY, REVOKE and roles: permissions and the errors that deny access. [DOC: permissions]"""

from __future__ import annotations

from functools import cache

import pytest

from engine.model import World
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

SETUP_SCRIPT = """
CREATE LOGIN l WITH PASSWORD = 'P4ssw0rd!' CREATE LOGIN stranger WITH PASSWORD = 'P4ssw0rd!'
CREATE DATABASE d
GO
USE d
CREATE USER l FOR LOGIN l CREATE USER w WITHOUT LOGIN
CREATE TABLE t (a int) INSERT t VALUES (1)
GO
CREATE PROCEDURE p AS SELECT a FROM t
GO
CREATE PROCEDURE dynamic AS EXEC ('SELECT a FROM t')
GO
CREATE VIEW v AS SELECT a FROM t
GO
"""


@cache
def _build_world() -> World:
    world = build_lab(workload="none")
    world.update_instance(P, version=2014)
    submit_batch(world, P, SETUP_SCRIPT, 5)
    return world


def _summarize_answer(answer: Answer) -> object:
    errors = [m["number"] for m in read_field(answer.event, "messages") if m["severity"] > 10]
    return errors or [value for grid in answer.grids for row in grid for value in row]


@pytest.mark.parametrize(
    ("grants", "statement", "wanted"),
    [
        ("", "SELECT a FROM t", [229]),
        ("", "SELECT a FROM v", [229]),
        ("", "EXEC p", [229]),
        ("GRANT SELECT ON t TO l", "SELECT a FROM t", [1]),
        ("GRANT SELECT ON v TO l", "SELECT a FROM v", [1]),
        ("GRANT SELECT ON v TO l", "SELECT a FROM t", [229]),
        ("GRANT EXECUTE ON p TO l", "EXEC p", [1]),
        ("GRANT EXECUTE ON dynamic TO l", "EXEC dynamic", [229]),
        ("GRANT SELECT ON SCHEMA::dbo TO l", "SELECT a FROM t", [1]),
        ("GRANT SELECT TO l", "SELECT a FROM t", [1]),
        ("GRANT SELECT TO l DENY SELECT ON t TO l", "SELECT a FROM t", [229]),
        ("GRANT SELECT ON t TO l REVOKE SELECT ON t FROM l", "SELECT a FROM t", [229]),
        ("GRANT SELECT ON t TO public", "SELECT a FROM t", [1]),
        ("CREATE ROLE r ALTER ROLE r ADD MEMBER l GRANT SELECT ON t TO r", "SELECT a FROM t", [1]),
        ("ALTER ROLE db_datareader ADD MEMBER l", "SELECT a FROM t", [1]),
        ("EXEC sp_addrolemember 'db_datareader', 'l' EXEC sp_droprolemember 'db_datareader', 'l'",
         "SELECT a FROM t", [229]),
        ("ALTER ROLE db_owner ADD MEMBER l", "TRUNCATE TABLE t DROP TABLE t SELECT 7", [7]),
        ("ALTER ROLE db_owner ADD MEMBER l ALTER ROLE db_denydatareader ADD MEMBER l", "SELECT a FROM t", [229]),
        ("ALTER ROLE db_datawriter ADD MEMBER l", "INSERT t VALUES (2) SELECT 7", [7]),
        ("ALTER ROLE db_datawriter ADD MEMBER l DENY DELETE ON t TO l", "DELETE t", [229]),
        ("", "INSERT t VALUES (2)", [229]),
        ("", "UPDATE t SET a = 2", [229]),
        ("", "TRUNCATE TABLE t", [1088]),
        ("", "ALTER TABLE t ADD b int", [1088]),
        ("", "DROP TABLE t", [3701]),
        ("", "CREATE TABLE u (a int)", [262]),
        ("GRANT CREATE TABLE TO l", "CREATE TABLE u (a int)", [2760]),
        ("ALTER ROLE db_ddladmin ADD MEMBER l", "CREATE TABLE u (a int) SELECT 7", [7]),
        ("", "CREATE TABLE #u (a int) INSERT #u VALUES (3) SELECT a FROM #u", [3]),
        ("", "BACKUP DATABASE d TO DISK = 'D:\\d.bak'", [262, 3013]),
        ("", "ALTER DATABASE d SET OFFLINE", [5011, 5069]),
        ("", "KILL 60", [6102]),
        ("", "CREATE DATABASE e", [262]),
        ("", "CREATE LOGIN m WITH PASSWORD = 'P4ssw0rd!'", [15247]),
        ("", "GRANT SELECT ON t TO w", [15151]),
        ("", "EXEC sp_configure 'show advanced options', 1", [15247]),
        ("", "DBCC TRACEON (1400, -1)", [2571]),
        ("", "SELECT COUNT(*) FROM sys.dm_exec_connections", [300, 297]),
        ("", "SELECT session_id FROM sys.dm_exec_sessions", [51]),
        ("", "SELECT USER_NAME(), SUSER_SNAME(), ORIGINAL_LOGIN(), IS_SRVROLEMEMBER('sysadmin'), IS_MEMBER('db_owner')",
         ["l", "l", "CORP\\dba", 0, 0]),
        ("GRANT SELECT ON v TO l", "SELECT HAS_PERMS_BY_NAME('v', 'OBJECT', 'SELECT'), "
         "HAS_PERMS_BY_NAME('t', 'OBJECT', 'SELECT')", [1, 0]),
        ("", "EXECUTE AS USER = 'w'", [15517]),
        ("GRANT IMPERSONATE ON USER::w TO l", "EXECUTE AS USER = 'w' SELECT USER_NAME()", ["w"]),
        ("", "EXECUTE AS LOGIN = 'stranger'", [15406]),
        ("", "EXECUTE AS LOGIN = 'l' SELECT 7", [15406]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("principal_kind", ["LOGIN", "USER"])
def test_a_login_outside_sysadmin_needs_permissions(
    grants: str, statement: str, wanted: object, principal_kind: str
) -> None:
    world = _build_world().fork()
    submit_batch(world, P, f"USE d {grants}", 5)
    assert (
        _summarize_answer(submit_batch(world, P, f"USE d EXECUTE AS {principal_kind} = 'l' {statement}", 5))
        == wanted
    )


@pytest.mark.parametrize(
    ("batch", "wanted"),
    [
        ("EXECUTE AS LOGIN = 'stranger' USE d", [916]),
        ("EXECUTE AS LOGIN = 'stranger' SELECT a FROM d.dbo.t", [916]),
        ("EXECUTE AS LOGIN = 'stranger' SELECT HAS_DBACCESS('d'), HAS_DBACCESS('master')", [0, 1]),
        ("EXECUTE AS LOGIN = 'stranger' REVERT USE d SELECT a FROM t", [1]),
        ("USE d EXECUTE AS USER = 'w' USE Sales", [916]),
        ("USE d EXECUTE AS USER = 'w' USE master", [916]),
        ("USE d EXECUTE AS USER = 'w' EXEC msdb.dbo.sp_start_job 'x'", [916]),
        ("EXECUTE AS LOGIN = 'stranger' EXEC msdb.dbo.sp_start_job 'x'", [229]),
        ("USE d EXECUTE AS USER = 'w' USE tempdb REVERT", [15199]),
        ("USE d EXECUTE AS USER = 'dbo' SELECT USER_NAME()", ["dbo"]),
        ("EXECUTE AS LOGIN = 'sysadmin'", [15406]),
        ("EXEC ('EXECUTE AS LOGIN = ''l''') SELECT SUSER_SNAME()", ["CORP\\dba"]),
        ("GRANT VIEW SERVER STATE TO stranger EXECUTE AS LOGIN = 'stranger' SELECT COUNT(*) / COUNT(*) FROM "
         "sys.dm_os_wait_stats", [1]),
        ("EXEC sp_addsrvrolemember 'stranger', 'sysadmin' EXECUTE AS LOGIN = 'stranger' SELECT a FROM d.dbo.t", [1]),
        ("ALTER SERVER ROLE processadmin ADD MEMBER stranger EXECUTE AS LOGIN = 'stranger' KILL 60", [6106]),
        ("GRANT SELECT ON t TO nosuch", [15151]),
        ("USE d CREATE ROLE r CREATE ROLE r", [15023]),
        ("USE d DROP ROLE nosuch", [15151]),
        ("USE d DROP ROLE db_owner", [15150]),
        ("USE d CREATE ROLE r ALTER ROLE r ADD MEMBER nosuch", [15151]),
        ("USE d CREATE ROLE r ALTER ROLE r ADD MEMBER l DROP ROLE r", [15144]),
        ("USE d CREATE ROLE r ALTER ROLE r ADD MEMBER l ALTER ROLE r DROP MEMBER l DROP ROLE r SELECT 7", [7]),
        ("USE d DENY SELECT ON t TO l SELECT permission_name, state_desc FROM sys.database_permissions WHERE class = 1",
         ["SELECT", "DENY"]),
    ],
)  # fmt: skip
def test_other_permission_statements_are_handled(batch: str, wanted: object) -> None:
    assert _summarize_answer(submit_batch(_build_world().fork(), P, f"USE master {batch}", 5)) == wanted


def test_permissions_follow_the_database_to_the_other_replica() -> None:
    world = build_ag_lab()
    submit_batch(
        world,
        "NODE_1",
        "USE Sales CREATE USER w WITHOUT LOGIN CREATE TABLE t (a int) GRANT SELECT ON t TO w",
        5,
    )
    submit_batch(world, "NODE_1", "USE master", 1)
    submit_batch(world, "NODE_2", "ALTER AVAILABILITY GROUP AG1 FAILOVER", 30)
    answer = submit_batch(
        world, "NODE_2", "USE Sales EXECUTE AS USER = 'w' SELECT COUNT(*) FROM t INSERT t VALUES (1)", 5
    )
    assert (answer.grids, answer.numbers) == ([[[0]]], [229])


@pytest.mark.parametrize(
    ("grant", "groups"),
    [
        ("", 0),
        ("GRANT VIEW SERVER STATE TO l", 0),
        ("GRANT VIEW ANY DEFINITION TO l", 1),
        ("GRANT ALTER ANY AVAILABILITY GROUP TO l", 1),
    ],
)
def test_views_of_groups_need_view_any_definition(grant: str, groups: int) -> None:
    """Check documented behavior: [DOC: sys.availability_replicas]."""
    world = build_ag_lab()
    submit_batch(world, "NODE_1", f"CREATE LOGIN l WITH PASSWORD = 'P4ssw0rd!' {grant}")
    views = ("groups", "groups_cluster", "group_listeners", "group_listener_ip_addresses")
    query = "EXECUTE AS LOGIN = 'l' SELECT COUNT(*) FROM sys.availability_{} REVERT"
    counts = [submit_batch(world, "NODE_1", query.format(view)).value for view in views]
    assert counts == [groups] * len(views)
    assert submit_batch(world, "NODE_1", query.format("databases_cluster")).value == 2
