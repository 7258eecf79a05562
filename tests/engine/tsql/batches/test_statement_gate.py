"""Statement gate: every kind of statement in every state of a database.

[DOC: Database Engine events and errors]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import pytest

from engine.messages import MESSAGES
from engine.model import DbState, ReplicaRole, World
from engine.tsql.batches import statement_gate as gate
from engine.tsql.batches.statement_gate import GATE_CELLS, GATE_STATES, IN_USE_ERRORS
from tests import statement_gate
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import M, P, apply_lines, build_lab
from tests.events import read_field

Situation = tuple[World, str, str]
"""(world, instance, database)."""


def _build_world_of_2014() -> World:
    world = build_lab(workload="none")
    world.clients.clear()
    for name in [*world.instances]:
        world.update_instance(name, version=2014, edition="Enterprise")
    for key in [*world.copies]:
        world.update_copy(key, size_kb=1024.0 * 1024)
    return world


def _build_mirrored(server: str) -> Situation:
    return _build_world_of_2014(), server, "Sales"


def _build_unmirrored(**changes: object) -> Situation:
    world = _build_world_of_2014()
    submit_batch(world, P, "CREATE DATABASE Alone", 1)
    submit_batch(world, f"{P}#7", "USE Alone; CREATE TABLE t (a int)", 2)
    submit_batch(world, f"{P}#7", "USE master", 2)
    if changes:
        world.update_copy((P, "Alone"), **changes)
    return world, P, "Alone"


def _build_single_user() -> Situation:
    world, server, name = _build_unmirrored()
    submit_batch(world, f"{P}#8", "USE Alone; ALTER DATABASE Alone SET SINGLE_USER", 2)
    return world, server, name


def _build_snapshot_world() -> Situation:
    world, server, _ = _build_unmirrored()
    answer = submit_batch(
        world, P, "CREATE DATABASE Pic ON (NAME = Alone, FILENAME = 'D:\\x.ss') AS SNAPSHOT OF Alone", 2
    )
    assert not answer.numbers, answer.texts
    return world, server, "Pic"


@cache
def _build_group_world() -> World:
    world = build_ag_lab()
    world.clients.clear()
    for key in [*world.copies]:
        world.update_copy(key, size_kb=1024.0 * 1024)
    submit_batch(world, "NODE_1", "USE Sales; CREATE TABLE t (a int)", 5)
    submit_batch(world, "NODE_1", "USE master", 5)
    return world


def _build_replica_world(server: str = "NODE_1", readers: str = "ALL", **changes: object) -> Situation:
    world = _build_group_world().fork()
    world.update_availability((server, "Sales"), readers=readers, **changes)
    return world, server, "Sales"


WORLDS: Final[dict[str, Callable[[], Situation]]] = {
    "absent": lambda: (_build_world_of_2014(), P, "Nothing"),
    "system": lambda: (_build_world_of_2014(), P, "msdb"),
    "snapshot": _build_snapshot_world,
    "online": _build_unmirrored,
    "readonly": lambda: _build_unmirrored(read_only=True),
    "taken": _build_single_user,
    "principal": lambda: _build_mirrored(P),
    "mirror": lambda: _build_mirrored(M),
    "primary": _build_replica_world,
    "readable": lambda: _build_replica_world("NODE_2"),
    "secondary": lambda: _build_replica_world("NODE_2", "NO"),
    "resolving": lambda: _build_replica_world("NODE_2", role=ReplicaRole.RESOLVING),
    "standby": lambda: _build_unmirrored(db_state=DbState.RESTORING, standby=True),
    "restoring": lambda: _build_unmirrored(db_state=DbState.RESTORING),
    "recovering": lambda: _build_unmirrored(db_state=DbState.RECOVERING),
    "damaged": lambda: _build_unmirrored(db_state=DbState.RECOVERY_PENDING, disk_failed=True),
    "emergency": lambda: _build_unmirrored(db_state=DbState.EMERGENCY),
    "offline": lambda: _build_unmirrored(db_state=DbState.OFFLINE),
}

STATEMENTS: Final = {
    "use": ["USE {0}", "SELECT * FROM {0}.sys.tables"],
    "write": [
        "USE {0}; CREATE TABLE u (a int)", "USE {0}; INSERT t VALUES (1)", "USE {0}; UPDATE t SET a = 2 WHERE 1 = 0",
        "USE {0}; DELETE t", "USE {0}; TRUNCATE TABLE t", "USE {0}; DROP TABLE t", "USE {0}; ALTER TABLE t ADD b int",
        "USE {0}; CREATE INDEX i ON t (a)", "USE {0}; EXEC ('CREATE VIEW v AS SELECT 1 AS a')",
        "USE {0}; EXEC ('CREATE PROC p AS SELECT 1')", "USE {0}; CREATE USER u WITHOUT LOGIN", "USE {0}; DROP USER u",
        "USE {0}; ALTER USER u WITH NAME = w", "USE {0}; EXEC ('CREATE SCHEMA x')", "USE {0}; SELECT 1 AS a INTO n",
        "USE {0}; EXEC sp_adduser 'sa'", "USE {0}; GRANT SELECT ON t TO public", "INSERT {0}.dbo.t VALUES (1)",
        "USE {0}; EXEC sp_change_users_login 'Auto_Fix', 'u'",
        "USE {0}; EXEC ('CREATE FUNCTION f () RETURNS int AS BEGIN RETURN 1 END')",
        "USE {0}; BEGIN TRAN; INSERT t VALUES (1); COMMIT", "CREATE TABLE {0}.dbo.u (a int)",
        "USE {0}; CREATE DATABASE ENCRYPTION KEY WITH ALGORITHM = AES_256 ENCRYPTION BY SERVER CERTIFICATE c",
    ],
    "file": [
        "ALTER DATABASE {0} ADD FILE (NAME = d2, FILENAME = 'D:\\d2.ndf')",
        "ALTER DATABASE {0} ADD LOG FILE (NAME = l2, FILENAME = 'D:\\l2.ldf')",
        "ALTER DATABASE {0} REMOVE FILE d2", "ALTER DATABASE {0} MODIFY FILE (NAME = {0}_log, SIZE = 2048MB)",
    ],
    "rename": ["ALTER DATABASE {0} MODIFY NAME = Other"],
    "option": [
        "ALTER DATABASE {0} SET COMPATIBILITY_LEVEL = 100", "ALTER DATABASE {0} SET TRUSTWORTHY ON",
        "ALTER DATABASE {0} SET RECOVERY FULL", "ALTER DATABASE {0} SET AUTO_SHRINK ON",
    ],
    "alone": ["ALTER DATABASE {0} SET RECOVERY SIMPLE", "ALTER DATABASE {0} SET ENABLE_BROKER"],
    "access": ["ALTER DATABASE {0} SET READ_ONLY", "ALTER DATABASE {0} SET READ_WRITE"],
    "mode": ["ALTER DATABASE {0} SET OFFLINE", "ALTER DATABASE {0} SET RESTRICTED_USER",
             "ALTER DATABASE {0} SET EMERGENCY"],
    "state": ["ALTER DATABASE {0} SET MULTI_USER", "ALTER DATABASE {0} SET ONLINE"],
    "owner": ["ALTER AUTHORIZATION ON DATABASE::{0} TO sa", "USE {0}; EXEC sp_changedbowner 'sa'"],
    "session": [
        "ALTER DATABASE {0} SET PARTNER OFF", "ALTER DATABASE {0} SET PARTNER FAILOVER",
        "ALTER DATABASE {0} SET WITNESS OFF", "ALTER DATABASE {0} SET HADR OFF", "ALTER DATABASE {0} SET HADR SUSPEND",
    ],
    "backup": ["BACKUP DATABASE {0} TO DISK = 'D:\\x.bak'", "BACKUP LOG {0} TO DISK = 'D:\\x.trn'"],
    "tail": ["BACKUP LOG {0} TO DISK = 'D:\\x.trn' WITH NORECOVERY"],
    "restore": [
        "RESTORE DATABASE {0} FROM DISK = 'D:\\none.bak' WITH REPLACE", "RESTORE LOG {0} FROM DISK = 'D:\\none.trn'",
        "RESTORE DATABASE {0} WITH RECOVERY",
    ],
    "drop": ["DROP DATABASE {0}"],
    "detach": ["EXEC sp_detach_db {0}"],
    "snap": ["CREATE DATABASE New ON (NAME = {0}, FILENAME = 'D:\\n.ss') AS SNAPSHOT OF {0}"],
    "path": ["ALTER DATABASE {0} MODIFY FILE (NAME = {0}, FILENAME = 'D:\\new\\{0}.mdf')"],
}  # fmt: skip


@cache
def _build_world(state: str) -> Situation:
    return WORLDS[state]()


def _collect_parts(world: World) -> tuple[object, ...]:
    copies = {key: (copy.extra_files, copy.owner, copy.db_state, copy.compatibility_level, copy.trustworthy,
                    copy.delayed_durability, copy.size_kb, copy.recovery_model, copy.group, copy.log_size_kb)
              for key, copy in world.copies.items()}  # fmt: skip
    snapshots = {name: instance.snapshots for name, instance in world.instances.items()}
    return copies, dict(world.files), dict(world.objects), dict(world.commits), snapshots


def _list_errors(answer: Answer) -> list[int]:
    return [message["number"] for message in read_field(answer.event, "messages") if message["severity"] > 10]


CASES: Final = [
    (kind, statement, state)
    for kind, texts in STATEMENTS.items()
    for statement in texts
    for state in GATE_STATES
]


@pytest.mark.parametrize(("kind", "statement", "state"), CASES)
def test_every_statement_is_checked_in_every_state(kind: str, statement: str, state: str) -> None:
    built_world, server, database = _build_world(state)
    world, plain_world = built_world.fork(), built_world.fork()
    answer = submit_batch(world, f"{server}#9", statement.format(database), 40)
    submit_batch(plain_world, f"{server}#9", "PRINT 1", 40)
    errors, cell = _list_errors(answer), GATE_CELLS[kind, state]
    assert all(number == 0 or number in MESSAGES for number in errors)
    if cell.isdigit():
        assert errors
        assert errors[0] == int(cell) or (statement.startswith("USE") and len(errors) == 1)
    # an open cell gives the error of USE, which a serving principal or primary does not raise
    if cell == "open" and state not in ("principal", "primary"):
        assert errors
    if errors:
        assert _collect_parts(world) == _collect_parts(plain_world)


def test_a_readable_secondary_refuses_primary_only_statements() -> None:
    world, server, database = _build_world("readable")
    for kind in ("write", "file", "option", "owner"):
        for statement in STATEMENTS[kind]:
            if any(
                word in statement
                for word in ("ENCRYPTION", "DROP USER", "ALTER USER", "GRANT", "RECOVERY FULL")
            ):
                continue
            answer = submit_batch(world.fork(), f"{server}#9", statement.format(database), 5)
            assert _list_errors(answer)[:1] == [3906], (statement, answer.texts)


@pytest.mark.parametrize(
    "state", ["readable", "readonly", "standby", "emergency", "snapshot", "online", "primary"]
)
def test_a_read_only_database_does_not_shrink(state: str) -> None:
    world, server, database = _build_world(state)
    source = "Alone" if state == "snapshot" else database
    answer = submit_batch(
        world.fork(), f"{server}#9", f"USE {database}; DBCC SHRINKFILE ({source}_log, 100)", 5
    )
    assert _list_errors(answer) == ([7992] if GATE_CELLS["write", state] in ("3906", "3908") else [])


@pytest.mark.parametrize("kind", IN_USE_ERRORS)
def test_a_database_in_use_is_neither_replaced_nor_removed(kind: str) -> None:
    world = _build_world("online")[0].fork()
    submit_batch(world, f"{P}#8", "USE Alone", 1)
    statement = STATEMENTS[kind][0].format("Alone")
    answer = submit_batch(world, f"{P}#9", statement, 5)
    assert _list_errors(answer)[0] == IN_USE_ERRORS[kind], answer.texts
    submit_batch(world, f"{P}#8", "USE master", 1)
    assert IN_USE_ERRORS[kind] not in _list_errors(submit_batch(world, f"{P}#9", statement, 40))


def test_the_group_is_reported_before_the_connections() -> None:
    """Messages 3752 and 3743 precede message 3702."""
    assert _list_errors(submit_batch(build_ag_lab(), "NODE_1#9", "DROP DATABASE Sales", 1)) == [3752]
    assert _list_errors(submit_batch(build_lab(), f"{P}#9", "DROP DATABASE Sales", 1)) == [3743]


def test_a_replica_without_its_primary_accepts_no_rows() -> None:
    """Earlier, an INSERT on the secondary ended the run with an AssertionError."""
    world = _build_group_world().fork()
    apply_lines(world, "cut NODE_1 NODE_2", wait_s=12.0)
    assert _list_errors(submit_batch(world, "NODE_2", "USE Sales; INSERT t VALUES (7)", 2)) == [3906]


def test_the_documentation_page_matches_the_table() -> None:
    assert statement_gate.PAGE.read_text(encoding="utf-8") == statement_gate.format_page(), (
        "stale: python -m tests.statement_gate"
    )


def test_the_states_match_those_of_the_gate() -> None:
    assert {*WORLDS} == {*GATE_STATES}
    assert {*STATEMENTS} == {*gate.STATEMENT_KINDS}
