"""Statement gate: a table that decides whether a statement may run, or which error it raises.

`GATE_TABLE` has a row for each state of a database on the connected instance and a column for each kind of
statement. `python -m tests.statement_gate` generates `docs/statement-gate.md` from it. Functions that execute
statements raise the errors about the contents of a statement, such as a missing file or an invalid option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.model import DbState, ReplicaRole
from engine.protocol import connections, group_policies, options
from engine.tsql.batches import access
from engine.tsql.batches.context import SYSTEM_DATABASES, StatementContext
from engine.tsql.batches.work import StatementHandler
from engine.tsql.language import group_statements as gs
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import has_only_selects
from engine.tsql.scalars.values import Scalar, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine

GATE_STATES: Final = {
    "absent": "no database of that name",
    "system": "master, model, msdb, tempdb",
    "snapshot": "database snapshot",
    "online": "ONLINE, in no session and no availability group",
    "readonly": "ONLINE and READ_ONLY",
    "taken": "ONLINE and SINGLE_USER, with another connection in it",
    "principal": "principal of a mirroring session",
    "mirror": "mirror of a mirroring session",
    "primary": "primary replica",
    "readable": "secondary replica that this connection can read",
    "secondary": "secondary replica that this connection cannot read",
    "resolving": "replica in the RESOLVING role, with or without quorum",
    "standby": "restored WITH STANDBY",
    "restoring": "RESTORING",
    "recovering": "RECOVERING",
    "damaged": "RECOVERY_PENDING, SUSPECT or a lost volume",
    "emergency": "EMERGENCY",
    "offline": "OFFLINE",
}
"""Row of GATE_TABLE: state of a database -> meaning of the state."""

GATE_TABLE: Final = """
           use  write file rename option alone access mode state owner session backup tail restore drop detach snap path
absent     open open  5011 5011   5011   5011  5011   5011 5011  open  role    role   role ok      3701 15010  911  5011
system     ok   ok    ok   ok     ok     ok    ok     ok   ok    ok    role    role   role ok      3708 7940   ok   ok
snapshot   ok   3906  5093 5093   5093   5093  5093   5093 5093  5093  role    role   role 3002    ok   15010  5093 5093
online     ok   ok    ok   ok     ok     ok    ok     ok   ok    ok    role    role   role ok      ok   ok     ok   ok
readonly   ok   3906  5004 ok     5004   5004  ok     ok   ok    3906  role    role   role ok      ok   ok     ok   5004
taken      924  924   924  5030   5064   5064  5064   5064 5064  924   role    924    3101 ok      ok   ok     924  924
principal  open open  open 957    ok     1468  1468   1468 ok    open  role    role   role 3104    3743 3743   role ok
mirror     open open  open 957    954    1468  1468   1468 954   open  role    role   role 3104    3743 3743   role ok
primary    open open  open 957    ok     1468  1468   1468 ok    open  role    role   role 3104    3752 3752   role ok
readable   ok   3906  3906 957    3906   1468  1468   1468 3906  3906  role    role   role 3104    3752 3752   role ok
secondary  open open  open 957    open   1468  1468   1468 open  open  role    role   role 3104    3752 3752   role ok
resolving  open open  open 957    open   1468  1468   1468 open  open  role    role   role 3104    3752 3752   role ok
standby    ok   3906  3906 5063   5063   5063  5063   ok   ok    3906  role    role   role ok      ok   3707   1822 5063
restoring  open open  5052 5052   5052   5052  5052   5052 5052  open  role    role   role ok      ok   3707   1822 5052
recovering open open  5011 5011   5011   5011  5011   5011 5011  open  role    role   role 3101    3702 3703   open 5011
damaged    open open  open open   open   open  open   ok   ok    open  role    role   role ok      ok   3707   open ok
emergency  ok   3908  5004 3908   5004   5004  ok     ok   ok    3908  role    3033   role ok      ok   ok     1822 ok
offline    open open  open open   open   open  open   ok   ok    open  role    role   role ok      ok   ok     1822 ok
"""
"""Statement gate: state x kind of statement. `ok`: allowed. `open`: the error that USE raises.

`role`: the session or availability group decides. A number: this error. Documented [DOC: Database Engine
events and errors]. The precedence of two possible errors is derived. Errors of RECOVERING are seen in public
threads (3101, 5011); those of DROP and detach are derived.
"""

STATEMENT_KINDS: Final = {
    "use": "USE, a query with a three-part name",
    "write": "INSERT, UPDATE, DELETE, MERGE, TRUNCATE, DDL, users, schemas, permissions, encryption keys",
    "file": "ALTER DATABASE ADD, MODIFY or REMOVE FILE",
    "rename": "ALTER DATABASE MODIFY NAME",
    "option": "ALTER DATABASE SET, options of the database",
    "alone": "ALTER DATABASE SET, options that mirroring and AGs forbid: RECOVERY SIMPLE, Service Broker",
    "access": "ALTER DATABASE SET READ_ONLY, READ_WRITE",
    "mode": "ALTER DATABASE SET OFFLINE, EMERGENCY, SINGLE_USER, RESTRICTED_USER",
    "state": "ALTER DATABASE SET ONLINE, MULTI_USER",
    "owner": "ALTER AUTHORIZATION ON DATABASE, sp_changedbowner",
    "session": "ALTER DATABASE SET PARTNER, WITNESS, HADR",
    "backup": "BACKUP DATABASE, BACKUP LOG",
    "tail": "BACKUP LOG WITH NORECOVERY",
    "restore": "RESTORE DATABASE, RESTORE LOG",
    "drop": "DROP DATABASE",
    "detach": "sp_detach_db",
    "snap": "CREATE DATABASE AS SNAPSHOT OF",
    "path": "ALTER DATABASE MODIFY FILE with FILENAME alone",
}
"""Column of GATE_TABLE: kind of statement -> statements of this kind."""

IN_USE_ERRORS: Final = {"restore": 3101, "tail": 3101, "drop": 3702, "detach": 3703, "rename": 5030}
"""Kind of statement -> error while a connection uses the database.

Errors of GATE_TABLE take precedence. A RESTORE raises 3102 if its own connection uses the database. A
connection may rename the database that it uses.
"""

_TRAILING_MESSAGES: Final = {
    **dict.fromkeys(("file", "rename", "option", "alone", "access", "mode", "state", "path"), (5069,)),
    **dict.fromkeys(("backup", "restore", "tail"), (3013,)),
}
"""Kind of statement -> messages that follow every error."""

_ERROR_ARGUMENTS: Final[dict[int, Callable[[str], tuple[object, ...]]]] = {
    5052: lambda name: ("ALTER DATABASE", "Restoring"),
    **dict.fromkeys((3033, 5004, 5030), lambda name: ()),
    3708: lambda name: ("drop", "database", name, "database"),
    3701: lambda name: ("drop", "database", name),
    3703: lambda name: ("database", name),
}
"""Error number -> function that builds the arguments of the error from the database name.

The only argument of all other errors is the database name.
"""


_FINAL_ERRORS: Final = frozenset({924, 5030})
"""Errors after which no further message follows, except in a backup."""


def _list_trailing_messages(number: int, kind: str) -> tuple[int, ...]:
    """Return the numbers of the messages that follow error *number* of a statement of *kind*."""
    return () if number in _FINAL_ERRORS and kind != "backup" else _TRAILING_MESSAGES.get(kind, ())


def _build_error_arguments(number: int, name: str) -> tuple[object, ...]:
    """Return the arguments of error *number* about the database *name*."""
    return _ERROR_ARGUMENTS[number](name) if number in _ERROR_ARGUMENTS else (name,)


def _parse_gate_table() -> dict[tuple[str, str], str]:
    """Parse GATE_TABLE and check its headings."""
    head, *rows = GATE_TABLE.strip("\n").splitlines()
    assert head.split() == list(STATEMENT_KINDS)
    assert [row.split()[0] for row in rows] == list(GATE_STATES)
    lines = {state: cells for state, *cells in (row.split() for row in rows)}
    return {
        (kind, state): cell
        for state, cells in lines.items()
        for kind, cell in zip(STATEMENT_KINDS, cells, strict=True)
    }


GATE_CELLS: Final = _parse_gate_table()
"""(kind of statement, state of the database) -> cell of GATE_TABLE."""


def find_gate_state(context: StatementContext, name: str) -> str:
    """Return the state (a key of GATE_STATES) of a database, as the connection sees it."""
    if name.lower() in SYSTEM_DATABASES:
        return "system"
    if context.find_snapshot(name) is not None:
        return "snapshot"
    copy = context.find_copy(name)
    if copy is None:
        return "absent"
    if copy.group_kind == "mirroring":
        return "mirror" if group_policies.get_policy(copy).is_follower(copy) else "principal"
    if copy.group_kind:
        role = copy.availability.role
        if role is ReplicaRole.PRIMARY:
            return "primary"
        if group_policies.get_policy(copy).find_refusal(copy, context.session.read_intent) is None:
            return "readable"
        return "resolving" if role is ReplicaRole.RESOLVING else "secondary"
    if copy.db_state is DbState.RESTORING:
        return "standby" if copy.standby and not copy.restoring else "restoring"
    if copy.disk_failed:
        return "damaged"
    state = _STATE_ROWS[copy.db_state]
    if state == "online" and access.is_single_user_taken(context, copy.database):
        return "taken"
    return "readonly" if state == "online" and copy.read_only else state


_STATE_ROWS: Final = {
    DbState.ONLINE: "online",
    DbState.RECOVERING: "recovering",
    DbState.RECOVERY_PENDING: "damaged",
    DbState.SUSPECT: "damaged",
    DbState.EMERGENCY: "emergency",
    DbState.OFFLINE: "offline",
}
"""Database state -> row of GATE_TABLE.

It applies to copies outside mirroring sessions and availability groups.
"""


def check_database_state(context: StatementContext, kind: str, database: str) -> None:
    """Raise the error that GATE_TABLE defines for a statement of *kind* on *database*, if any."""
    state = find_gate_state(context, database)
    cell = GATE_CELLS[kind, state]
    if cell == "open":
        try:
            context.open_database(database)
        except SqlError as problem:
            problem.also = problem.also or _TRAILING_MESSAGES.get(kind, ())
            raise
    elif cell.isdigit():
        database_shown = context.get_spelled_name(database)
        raise SqlError(
            int(cell),
            *_build_error_arguments(int(cell), database_shown),
            also=_list_trailing_messages(int(cell), kind),
            state=_ERROR_STATES.get(int(cell)),
        )


_ERROR_STATES: Final = {3701: 1}


def is_read_only(context: StatementContext, database: str) -> bool:
    """Return whether the database is open, but does not accept changes."""
    return GATE_CELLS["write", find_gate_state(context, database)] in ("3906", "3908")


def check_target_state(context: StatementContext, parts: tuple[str, ...]) -> None:
    """Raise the error of the gate for a change of a table, if any.

    *parts*: parts of the table name. Tables in tempdb and table variables can always be changed.
    """
    if parts[-1][:1] not in ("#", "@"):
        check_database_state(
            context, "write", parts[0] if len(parts) == 3 and parts[0] else context.session.database
        )


def is_database_in_use(context: StatementContext, database: str, ignore_own_session: bool = False) -> bool:
    """Return whether a window or an application has a connection to the database."""
    name = database.lower()
    windows = [session for _, session in context.list_sessions() if session.spid != context.session.spid]
    if not ignore_own_session:
        windows.append(
            context.session
        )  # add this session in its current state, because USE may have left the database
    if any(window.server == context.session.server and window.database.lower() == name for window in windows):
        return True
    application_connections = connections.list_connections(context.world, context.session.server)
    return any(connection.database.lower() == name for connection in application_connections)


def check_database_not_in_use(context: StatementContext, kind: str, database: str) -> None:
    """Raise the error of IN_USE_ERRORS for a statement of *kind* if a connection uses the database."""
    if context.find_copy(database) is None and context.find_snapshot(database) is None:
        return
    database_shown = context.get_spelled_name(database)
    if is_database_in_use(context, database, ignore_own_session=kind == "rename"):
        number = IN_USE_ERRORS[kind]
        raise SqlError(
            number,
            *_build_error_arguments(number, database_shown),
            also=_list_trailing_messages(number, kind),
        )


# --- kind and databases of a statement ---------------------------------------------------------------

StatementTarget = tuple[str, str]
"""(kind of statement, name of the database)."""


def _list_write_targets(machine: ExecutionMachine, statement: object) -> list[StatementTarget]:
    return [("write", machine.session.database)]


def _list_table_targets(
    machine: ExecutionMachine,
    statement: s.CreateTableStatement
    | s.AlterTableStatement
    | s.CreateIndexStatement
    | s.StatisticsStatement,
) -> list[StatementTarget]:
    """Return the database in which a table is created or changed. A name that begins with # is in tempdb."""
    name = statement.name if isinstance(statement.name, tuple) else statement.table
    if name[-1].startswith("#"):
        return []
    return [("write", name[0] if len(name) == 3 and name[0] else machine.session.database)]


def _list_permission_targets(
    machine: ExecutionMachine, statement: s.PermissionStatement
) -> list[StatementTarget]:
    return (
        _list_write_targets(machine, statement)
        if statement.kind in ("OBJECT", "DATABASE", "SCHEMA", "USER")
        else []
    )


def _list_drop_targets(machine: ExecutionMachine, statement: s.DropStatement) -> list[StatementTarget]:
    if statement.kind in ("USER", "SCHEMA"):
        return _list_write_targets(machine, statement)
    return [("drop", name) for name in statement.names] if statement.kind == "DATABASE" else []


def _list_set_option_targets(
    machine: ExecutionMachine, statement: s.SetDatabaseOptionStatement
) -> list[StatementTarget]:
    return [(get_option_kind(option, value), statement.database) for option, value in statement.options]


MODE_OPTIONS: Final = frozenset({"OFFLINE", "EMERGENCY", "SINGLE_USER", "RESTRICTED_USER"})
_STATE_OPTIONS: Final = frozenset({"ONLINE", "MULTI_USER"})
_ACCESS_OPTIONS: Final = frozenset({"READ_ONLY", "READ_WRITE"})


def get_option_kind(option: str, value: str) -> str:
    """Return the kind of statement (a key of STATEMENT_KINDS) for ALTER DATABASE … SET *option* *value*."""
    if option in MODE_OPTIONS or option in _STATE_OPTIONS:
        return "mode" if option in MODE_OPTIONS else "state"
    if option in _ACCESS_OPTIONS:
        return "access"
    return "alone" if f"{option} {value}".strip() in options.OPTIONS_REFUSED_WHILE_MIRRORED else "option"


def _list_file_targets(
    machine: ExecutionMachine, statement: s.AlterDatabaseFilesStatement
) -> list[StatementTarget]:
    """Return the database that stores the change of a file. Only a new path is stored in master."""
    if statement.action == "MODIFY FILE" and {name for name, _ in statement.options} == {"NAME", "FILENAME"}:
        return [("path", statement.database)]
    return [("rename" if statement.action == "MODIFY NAME" else "file", statement.database)]


def _list_owner_targets(
    machine: ExecutionMachine, statement: s.AlterAuthorizationStatement
) -> list[StatementTarget]:
    return [("owner", statement.name)] if statement.kind == "DATABASE" else []


def _list_restore_targets(machine: ExecutionMachine, statement: s.RestoreStatement) -> list[StatementTarget]:
    """Return a list with the database of a RESTORE.

    The list is empty for a snapshot, a part of a database, and master, because other rules apply to
    them.
    """
    database = machine.resolve_text(statement.database)
    if statement.snapshot is not None or "PARTIAL" in dict(statement.options) or database.lower() == "master":
        return []
    return [("restore", database)]


def _list_backup_targets(machine: ExecutionMachine, statement: s.BackupStatement) -> list[StatementTarget]:
    tail = "NORECOVERY" in dict(statement.options)
    return [("tail" if tail else "backup", machine.resolve_text(statement.database))]


def _list_session_targets(machine: ExecutionMachine, statement: s.DatabaseStatement) -> list[StatementTarget]:
    return [("session", statement.database)]


def _list_snapshot_targets(
    machine: ExecutionMachine, statement: s.CreateDatabaseStatement
) -> list[StatementTarget]:
    return [] if statement.snapshot_of is None else [("snap", statement.snapshot_of)]


TARGET_RULES: Final[dict[type[s.Statement], StatementHandler[ExecutionMachine, list[StatementTarget]]]] = {
    **dict.fromkeys(
        (s.CreateTableStatement, s.AlterTableStatement, s.CreateIndexStatement, s.StatisticsStatement),
        _list_table_targets,
    ),
    **dict.fromkeys(
        (
            s.CreateViewStatement, s.CreateProcedureStatement, s.CreateFunctionStatement, s.CreateSchemaStatement,
            s.TransferObjectStatement, s.CreateUserStatement, s.AlterUserStatement, s.CreateEncryptionKeyStatement,
        ),
        _list_write_targets,
    ),
    s.PermissionStatement: _list_permission_targets,
    s.ChangeRoleStatement: lambda machine, statement: (
        [] if statement.server else _list_write_targets(machine, statement)
    ),
    s.DropStatement: _list_drop_targets,
    s.SetDatabaseOptionStatement: _list_set_option_targets,
    s.AlterDatabaseFilesStatement: _list_file_targets,
    s.AlterAuthorizationStatement: _list_owner_targets,
    s.RestoreStatement: _list_restore_targets,
    s.BackupStatement: _list_backup_targets,
    s.CreateDatabaseStatement: _list_snapshot_targets,
    **dict.fromkeys(
        (
            gs.SetPartnerStatement, gs.SetPartnerFailoverStatement, gs.SetPartnerForceStatement,
            gs.SetPartnerOffStatement, gs.SetPartnerSuspendStatement, gs.SetPartnerResumeStatement,
            gs.SetPartnerSafetyStatement, gs.SetPartnerTimeoutStatement, gs.SetPartnerRedoQueueStatement,
            gs.SetWitnessStatement, gs.SetWitnessOffStatement, gs.SetHadrGroupStatement, gs.SetHadrOffStatement,
            gs.SetHadrSuspendStatement, gs.SetHadrResumeStatement,
        ),
        _list_session_targets,
    ),
}  # fmt: skip
"""Class of a statement -> function that returns its targets: kinds of statement with databases.

Other statements affect no database as a whole. Changes of objects and rows call `check_target_state` where
their table is known (objects.py).
"""

DATABASE_PROCEDURES: Final = {
    **dict.fromkeys(
        ("sp_grantdbaccess", "sp_adduser", "sp_revokedbaccess", "sp_addrolemember"), ("write", "")
    ),
    "sp_changedbowner": ("owner", ""),
    "sp_detach_db": ("detach", "@dbname"),
}
"""Procedure that affects a database -> kind of statement, and argument that names the database.

An empty argument name means the current database.
"""


# --- checks against the instance -------------------------------------------------------------------

TRANSACTION_EXCLUSIONS: Final[dict[type[s.Statement], str]] = {
    **dict.fromkeys(
        (
            kind
            for kind, rule in TARGET_RULES.items()
            if rule in (_list_session_targets, _list_set_option_targets, _list_file_targets)
        ),
        "ALTER DATABASE",
    ),
    s.BackupStatement: "BACKUP",
    s.RestoreStatement: "RESTORE",
    s.CreateEndpointStatement: "CREATE ENDPOINT",
    s.AlterEndpointStatement: "ALTER ENDPOINT",
    s.CreateDatabaseStatement: "CREATE DATABASE",
    s.ReconfigureStatement: "RECONFIGURE",
    s.ShutdownStatement: "SHUTDOWN",
    s.KillStatement: "KILL",
    gs.CreateGroupStatement: "CREATE AVAILABILITY GROUP",
    gs.AlterGroupStatement: "ALTER AVAILABILITY GROUP",
    gs.DropGroupStatement: "DROP AVAILABILITY GROUP",
}
"""Statement that raises 226 inside a user transaction -> its name in the message.

Documented [DOC: each statement's page].
"""

STATEMENT_VERSIONS: Final[dict[type[s.Statement], tuple[int, str]]] = {
    **dict.fromkeys(
        (gs.CreateGroupStatement, gs.AlterGroupStatement, gs.DropGroupStatement), (2012, "AVAILABILITY")
    ),
    **dict.fromkeys(
        (
            gs.SetHadrGroupStatement,
            gs.SetHadrOffStatement,
            gs.SetHadrSuspendStatement,
            gs.SetHadrResumeStatement,
        ),
        (2012, "HADR"),
    ),
    s.CreateEncryptionKeyStatement: (2008, "KEY"),
}
"""Statement -> version that introduced it, and the word that message 102 shows in older versions."""

MASTER_STATEMENTS: Final = frozenset({gs.CreateGroupStatement, gs.AlterGroupStatement, gs.DropGroupStatement})
"""Statements that run only in master. In another database, they raise 35208."""


def _check_transaction(statement: s.Statement) -> None:
    """Raise the error of a statement that is not allowed inside a user transaction."""
    if isinstance(statement, s.DropStatement) and statement.kind == "DATABASE":
        raise SqlError(574, "DROP DATABASE")
    name = TRANSACTION_EXCLUSIONS.get(type(statement))
    if name is None:
        return
    if isinstance(statement, s.BackupStatement | s.RestoreStatement):
        raise SqlError(3021, also=(3013,), title=statement.title)
    if isinstance(statement, s.KillStatement):
        raise SqlError(6115)
    if isinstance(statement, s.ReconfigureStatement):
        raise SqlError(574, "CONFIG")
    raise SqlError(226, name)


def check_statement(machine: ExecutionMachine, statement: s.Statement) -> None:
    """Raise the error with which the gate refuses *statement* on this connection, if any."""
    kind = type(statement)
    if machine.session.transactions:
        _check_transaction(statement)
    first_version = STATEMENT_VERSIONS.get(kind)
    if first_version is not None and machine.context.version < first_version[0]:
        raise SqlError(102, first_version[1])
    if kind in MASTER_STATEMENTS and machine.session.database.lower() != "master":
        raise SqlError(35208)
    rule = TARGET_RULES.get(kind)
    for target in rule(machine, statement) if rule is not None else ():
        _check_target_state(machine.context, *target)


def check_procedure(context: StatementContext, name: str, arguments: Mapping[str, Scalar]) -> None:
    """Raise the error with which the gate refuses the system procedure *name*, if any."""
    if name in DATABASE_PROCEDURES:
        kind, argument = DATABASE_PROCEDURES[name]
        database = to_text(arguments.get(argument)) if argument else context.session.database
        _check_target_state(context, kind, database)


def _check_target_state(context: StatementContext, kind: str, database: str) -> None:
    """Raise the error with which the gate refuses a statement of *kind* on *database*, if any."""
    if kind == "restore" and context.session.database.lower() == database.lower():
        raise SqlError(3102, "RESTORE", context.get_spelled_name(database), also=(3013,))
    check_database_state(context, kind, database)
    if kind in IN_USE_ERRORS:
        check_database_not_in_use(context, kind, database)


READ_ONLY_PROCEDURE_PREFIXES: Final = (
    "sp_describe", "sp_help", "sp_columns", "sp_tables", "sp_spaceused", "sp_who", "sp_lock",
)  # fmt: skip
"""Name prefixes of procedures that change nothing.

Drivers call some of these procedures between the statements of a program.
"""


def is_read_only_statement(statement: s.Statement | None) -> bool:
    """Return whether the statement only reads."""
    if isinstance(statement, s.ExecuteProcedureStatement):
        return (
            statement.procedure.rpartition(".")[2]
            .strip("[]")
            .lower()
            .startswith(READ_ONLY_PROCEDURE_PREFIXES)
        )
    return (
        isinstance(statement, s.QueryStatement)
        and has_only_selects(statement.text)
        and "@" not in statement.text
    )
