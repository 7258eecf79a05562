"""Execution of each kind of statement.

Functions in engine/protocol execute the statements that change the world.
"""

import re
from collections.abc import Callable
from typing import Final

from msgspec import structs
from msgspec.structs import replace

from engine.availability import commands as group_commands
from engine.messages import SqlError, count_placeholders, fill_message, fill_placeholders
from engine.mirroring import commands
from engine.protocol import backup, connections, disks, options, statements
from engine.tsql import procedures
from engine.tsql.batches import (
    access,
    administration,
    cursors,
    definitions,
    maintenance,
    objects,
    permissions,
    queries,
    schema_binding,
    sources,
    statement_gate,
    stored_messages,
    transactions,
    waitfor,
)
from engine.tsql.batches.administration import AdministrationHandler
from engine.tsql.batches.context import SYSTEM_DATABASES, is_sysadmin
from engine.tsql.batches.data import CaughtError, ConnectionLostError
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.batches.work import StatementHandler
from engine.tsql.clients import linked_servers
from engine.tsql.language import group_statements as gs
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import StatementInstruction
from engine.tsql.query import planner
from engine.tsql.query.plans import Column, UnsimulatedFeatureError
from engine.tsql.scalars import settings
from engine.tsql.scalars.functions import format_message
from engine.tsql.scalars.types import parse_sql_type
from engine.tsql.scalars.values import Scalar, convert_value, format_as_type, to_number, to_text

Outcome = statements.Outcome


def execute_statement(machine: ExecutionMachine, statement: s.Statement) -> None:
    """Execute one statement. Raises SqlError, UnsimulatedFeatureError or ConnectionLostError."""
    kind = type(statement)
    if isinstance(statement, _TRANSACTION_STARTERS) and not machine.session.transactions:
        transactions.begin_implicit_transaction(machine, statement)
    statement = _replace_current_database(machine, statement)
    if isinstance(statement, s.SetDatabaseOptionStatement):
        for option, value in statement.options:
            option_table.check_database_option(option, value, machine.context.version)
    try:
        _check_statement(machine, statement)
    except SqlError as problem:
        if getattr(statement, "if_exists", False) and problem.number in administration.MISSING_OBJECT_ERRORS:
            return
        raise
    if kind in LANGUAGE_HANDLERS:
        LANGUAGE_HANDLERS[kind](machine, statement)
    elif kind in COMMANDS:
        machine.count_change()
        try:
            machine.report_outcome(COMMANDS[kind](machine, statement))
        except SqlError as problem:
            problem.title = getattr(statement, "title", problem.title)
            if isinstance(statement, s.BackupStatement):
                database = to_text(machine.resolve_value(statement.database))
                backup.log_backup_failure(machine.world, machine.session.server, database, problem)
            raise
    else:
        raise UnsimulatedFeatureError(type(statement).__name__.removesuffix("Statement"))


CURRENT_DATABASE_VERSION: Final = 2012
"""First version that supports ALTER DATABASE CURRENT. Documented [DOC: ALTER DATABASE]."""


def _replace_current_database(machine: ExecutionMachine, statement: s.Statement) -> s.Statement:
    """Return the statement. In ALTER DATABASE CURRENT, insert the name of the current database."""
    if not isinstance(statement, s.DatabaseStatement) or machine.context.version < CURRENT_DATABASE_VERSION:
        return statement
    if statement.database != "CURRENT":
        return statement
    return structs.replace(statement, database=machine.session.database)


def _check_statement(machine: ExecutionMachine, statement: s.Statement) -> None:
    try:
        if not is_sysadmin(machine.context):
            permissions.check_permission(machine, statement)
        statement_gate.check_statement(machine, statement)
    except SqlError as problem:
        problem.title = getattr(statement, "title", problem.title)
        raise


_TRANSACTION_STARTERS: Final = (
    s.QueryStatement, s.CreateTableStatement, s.CreateIndexStatement, s.DropIndexStatement, s.AlterTableStatement,
    s.CreateViewStatement, s.CreateProcedureStatement, s.CreateFunctionStatement, s.DropStatement,
    s.FetchCursorStatement, s.PermissionStatement, s.CursorStatement, s.InsertExecStatement, s.TransactionStatement,
    s.StatisticsStatement,
)  # fmt: skip
"""Statements that begin a transaction under SET IMPLICIT_TRANSACTIONS ON.

Documented [DOC: SET IMPLICIT_TRANSACTIONS].
"""


# --- commands of the protocol ----------------------------------------------------------------------------


def _make_database_command(
    function: Callable[..., Outcome], *fields: str
) -> StatementHandler[ExecutionMachine, Outcome]:
    """Build a function that executes a statement about a database.

    It calls *function* with the world, the server, the database and the values of the statement's *fields*.
    """

    def run(machine: ExecutionMachine, statement: s.DatabaseStatement) -> Outcome:
        arguments = [getattr(statement, name) for name in fields]
        return function(machine.world, machine.session.server, statement.database, *arguments)

    return run


def _set_partner(machine: ExecutionMachine, statement: gs.SetPartnerStatement) -> Outcome:
    """Execute ALTER DATABASE … SET PARTNER = address. Raise 1488 for a database in single-user mode."""
    world, server, database = machine.world, machine.session.server, statement.database
    if access.get_access_mode(world, server, database) == "SINGLE_USER":
        raise SqlError(1488, machine.context.get_spelled_name(database))
    return commands.set_partner(world, server, database, statement.address)


_FIXED: Final = {"OFFLINE", "ONLINE", "EMERGENCY", "CHANGE_TRACKING", "ENCRYPTION"}
_FIXED_MODES: Final = {"READ_ONLY", "READ_WRITE", "SINGLE_USER", "RESTRICTED_USER", "MULTI_USER"}
_BROKER: Final = {"ENABLE_BROKER", "DISABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS"}
_FIXED_SNAPSHOTS: Final = {"READ_COMMITTED_SNAPSHOT", "ALLOW_SNAPSHOT_ISOLATION"}
UNCHANGEABLE_OPTIONS: Final = {
    "master": _FIXED | _FIXED_MODES | _FIXED_SNAPSHOTS | _BROKER | {"AUTO_CLOSE", "AUTO_SHRINK", "DB_CHAINING"},
    "model": _FIXED | _BROKER | {"DB_CHAINING", "TRUSTWORTHY"},
    "msdb": _FIXED | _FIXED_SNAPSHOTS,
    "tempdb": _FIXED | _FIXED_MODES | {
        "AUTO_CLOSE", "AUTO_SHRINK", "DB_CHAINING", "READ_COMMITTED_SNAPSHOT", "RECOVERY", "TRUSTWORTHY"
    },
}  # fmt: skip
"""System database -> options of ALTER DATABASE that cannot be changed in it.

[DOC: master database; model database; msdb database; tempdb database].
"""

UNCHANGED_MODES: Final = frozenset({"MULTI_USER", "READ_WRITE"})
"""Values of ALTER DATABASE options that model and msdb always have.

No simulated statement can change them.
"""


def _set_option(machine: ExecutionMachine, statement: s.SetDatabaseOptionStatement) -> Outcome:
    messages = []
    for option, value in statement.options:
        if statement.database.lower() in SYSTEM_DATABASES:
            if option in UNCHANGEABLE_OPTIONS[statement.database.lower()]:
                raise SqlError(5058, option, statement.database.lower(), also=(5069,))
            if option in UNCHANGED_MODES:
                continue
            raise UnsimulatedFeatureError(f"ALTER DATABASE … SET {option} of a system database")
        option_table.check_options(option_table.DATABASE_SET, [(option, value)], machine.context.version)
        database = machine.context.get_spelled_name(statement.database)
        copy = machine.context.find_copy(database)
        if option in ("OFFLINE", "EMERGENCY") and copy is not None and copy.standby:
            raise UnsimulatedFeatureError(f"ALTER DATABASE … SET {option} of a database in STANDBY")
        if option in access.EXCLUSIVE_OPTIONS:
            messages += access.end_other_connections(machine, database, statement.termination)
        try:
            outcome = options.set_option(machine.world, machine.session.server, database, option, value)
        except options.UnsimulatedOptionError as problem:
            raise UnsimulatedFeatureError(str(problem)) from None
        if option in access.ACCESS_MODE_NAMES:
            outcome = access.set_access_mode(machine, database, option, statement.termination)
        if isinstance(outcome, statements.PendingStatement):
            return outcome
        messages += outcome
    return access.build_delayed_report(machine.world, messages) if messages else messages


def _shut_down(machine: ExecutionMachine, statement: s.ShutdownStatement) -> Outcome:
    """Execute SHUTDOWN: send messages to the requesting client, then end its connection."""
    login = machine.session.login
    outcome = statements.shut_down_instance(machine.world, machine.session.server, statement.nowait, login)
    machine.report_outcome(outcome)
    request_text = "NOWAIT request" if statement.nowait else "request"
    machine.append_message(fill_message(6006, request_text, login)[1])
    machine.append_message("SQL Server is terminating this process.")
    raise ConnectionLostError


def _execute_use(machine: ExecutionMachine, statement: s.UseStatement) -> Outcome:
    database = machine.context.open_database(statement.database)
    access.check_access_mode(machine.context, database)
    machine.change_session(database=database)
    return []


def _alter_group(machine: ExecutionMachine, statement: gs.AlterGroupStatement) -> Outcome:
    return group_commands.execute_alter(
        machine.world, machine.session.server, statement.group, statement.action, statement.options,
        statement.databases, statement.replicas, statement.listener,
    )  # fmt: skip


def _create_group(machine: ExecutionMachine, statement: gs.CreateGroupStatement) -> Outcome:
    return group_commands.create_group(
        machine.world, machine.session.server, statement.group, statement.options, statement.databases,
        statement.replicas, statement.listener,
    )  # fmt: skip


def _drop_group(machine: ExecutionMachine, statement: gs.DropGroupStatement) -> Outcome:
    return group_commands.drop_group(machine.world, machine.session.server, statement.group)


COMMANDS: Final[dict[type[s.Statement], AdministrationHandler]] = {
    gs.AlterGroupStatement: _alter_group,
    gs.CreateGroupStatement: _create_group,
    gs.DropGroupStatement: _drop_group,
    gs.SetHadrGroupStatement: _make_database_command(group_commands.databases.join_database, "group"),
    gs.SetHadrOffStatement: _make_database_command(group_commands.databases.leave_group),
    gs.SetHadrSuspendStatement: _make_database_command(group_commands.execute_suspend),
    gs.SetHadrResumeStatement: _make_database_command(group_commands.execute_resume),
    gs.SetPartnerStatement: _set_partner,
    gs.SetPartnerFailoverStatement: _make_database_command(commands.fail_over),
    gs.SetPartnerForceStatement: _make_database_command(commands.force_service),
    gs.SetPartnerOffStatement: _make_database_command(commands.remove_session),
    gs.SetPartnerSuspendStatement: _make_database_command(commands.suspend_session),
    gs.SetPartnerResumeStatement: _make_database_command(commands.resume_session),
    gs.SetPartnerSafetyStatement: _make_database_command(commands.set_safety, "level"),
    gs.SetPartnerTimeoutStatement: _make_database_command(commands.set_partner_timeout, "seconds"),
    gs.SetPartnerRedoQueueStatement: _make_database_command(commands.set_redo_queue_limit, "limit_mb"),
    gs.SetWitnessStatement: _make_database_command(commands.set_witness, "address"),
    gs.SetWitnessOffStatement: _make_database_command(commands.remove_witness),
    s.SetDatabaseOptionStatement: _set_option,
    s.ShutdownStatement: _shut_down,
    s.UseStatement: _execute_use,
    **administration.STATEMENT_HANDLERS,
}
"""Statement that changes the world -> function that executes it."""


# --- the language ----------------------------------------------------------------------------------------


def _execute_print(machine: ExecutionMachine, statement: s.PrintStatement) -> None:
    value, kind = machine.evaluate_with_type(statement.expression)
    text = "" if value is None else format_as_type(value, source=kind, culture=machine.settings.culture)
    machine.append_message(text[:8000] or " ")
    machine.change_session(error=0, rowcount=0)


def _assign_variable(machine: ExecutionMachine, statement: s.SetVariableStatement) -> None:
    machine.set_variable(statement.name, *machine.evaluate_with_type(statement.expression))
    machine.change_session(error=0, rowcount=1)


def _set_context_info(machine: ExecutionMachine, value: s.Value) -> None:
    """Execute SET CONTEXT_INFO. Raise 2743 for NULL."""
    context_value: Scalar = machine.resolve_value(value)
    if isinstance(value, str) and value[:2].lower() == "0x":
        context_value = bytes.fromhex(("0" if len(value) % 2 else "") + value[2:])
    if context_value is None:
        raise SqlError(2743)
    context_bytes = convert_value(context_value, f"binary({settings.CONTEXT_BYTES})")
    hex_text = context_bytes.hex() if isinstance(context_bytes, bytes) else ""
    options = {**dict(machine.session.options), "CONTEXT_INFO": hex_text}
    machine.change_session(options=tuple(options.items()), error=0)


def _set_session_option(machine: ExecutionMachine, statement: s.SetSessionOptionStatement) -> None:
    if statement.words[0] == "CONTEXT_INFO":
        _set_context_info(machine, statement.value)
        return
    words = [word.strip(",") for word in statement.words if word != ","]
    value = machine.resolve_text(statement.value) if statement.value is not None else words[-1]
    value = f"-{value}" if "-" in words else value
    if words[0] == "ROWCOUNT" and not value.isdigit():
        raise SqlError(102, value)
    if words[0] not in settings.EFFECTIVE_OPTIONS:
        raise SqlError(195, words[0], "SET option")
    try:
        value = settings.check_setting(words[0], value)
    except settings.UnsimulatedValueError:
        raise UnsimulatedFeatureError(f"SET {words[0]} {value}") from None
    options = dict(machine.session.options)
    if words[0] == "IDENTITY_INSERT":
        definitions.set_identity_insert(machine, statement.names, value == "ON")
        return
    if words[0] == "LANGUAGE":
        options.pop("DATEFORMAT", None)
        options.pop("DATEFIRST", None)
    if value != settings.OPTIONS_WITHOUT_EFFECT.get(words[0], value):
        machine.report_unsimulated(f"SET {' '.join(words)}")
    elif words[0] in settings.PARTLY_SIMULATED_OPTIONS and value == (
        "OFF" if words[0] == "ANSI_WARNINGS" else "ON"
    ):
        machine.report_partly_simulated(settings.PARTLY_SIMULATED_OPTIONS[words[0]])
    names = words[:-1] if len(words) > 1 else words
    for name in names if value in ("ON", "OFF") else names[:1]:
        options[name] = value
    machine.change_session(options=tuple(options.items()), error=0)
    if words[0] == "LANGUAGE":
        machine.append_numbered_message(5703, value)


def _create_procedure(machine: ExecutionMachine, statement: s.CreateProcedureStatement) -> None:
    procedure = objects.UserProcedure(statement.parameters, statement.body, machine.scope.text)
    objects.create_or_alter_object(machine.context, statement.name, procedure, statement.verb)
    for instruction in statement.program:
        action = instruction.action
        inner_statement = action.statement if isinstance(action, StatementInstruction) else None
        if isinstance(inner_statement, s.ExecuteProcedureStatement) and not procedures.is_known_procedure(
            machine, inner_statement
        ):
            machine.append_numbered_message(2007, statement.name[-1], inner_statement.procedure)


def _check_binding(
    machine: ExecutionMachine, kind: str, statement: s.CreateViewStatement | s.CreateFunctionStatement
) -> None:
    """Raise an error for an invalid name in a schema-bound module.

    Raise an error if another schema-bound module uses the altered module.
    """
    if statement.verb != "CREATE":
        schema_binding.check_object_unbound(machine.context, "ALTER", statement.name)
    schema_binding.check_definition(machine.context, kind, statement.name[-1], machine.scope.text)


def _create_view(machine: ExecutionMachine, statement: s.CreateViewStatement) -> None:
    planner.check_view(statement.query)
    for table in planner.find_references("statement", statement.query).tables:
        sources.describe_columns(machine, table)  # the tables of a view must exist when the view is created
    plan = machine.plan_text("statement", statement.query)
    used_names: set[str] = set()
    for index, name in enumerate(plan.outputs, start=1):
        if not name:
            raise SqlError(4511, index)
        if name.casefold() in used_names:
            raise SqlError(4506, name, statement.name[-1])
        used_names.add(name.casefold())
    columns = tuple(map(Column, plan.outputs, plan.kinds, plan.nullable)) or None
    _check_binding(machine, "view", statement)
    user_view = objects.UserView(statement.query, columns, machine.scope.text)
    objects.create_or_alter_object(machine.context, statement.name, user_view, statement.verb)


def _create_function(machine: ExecutionMachine, statement: s.CreateFunctionStatement) -> None:
    for parameter in statement.parameters:
        parse_sql_type(parameter.type, 1)
    if statement.returns:
        parse_sql_type(statement.returns, 1)
    _check_binding(machine, "function", statement)
    user_function = objects.UserFunction(
        statement.parameters, statement.returned, statement.returns, machine.scope.text, statement.body
    )
    objects.create_or_alter_object(machine.context, statement.name, user_function, statement.verb)


def _execute_return(machine: ExecutionMachine, statement: s.ReturnStatement) -> None:
    if statement.expression:
        if len(machine.scopes) == 1:
            raise SqlError(178)
        value = machine.evaluate_expression(statement.expression)
        if value is None:
            machine.append_numbered_message(282, machine.scope.procedure)
        machine.scope.result = int(to_number(value)) if value is not None else 0
    machine.scope.position = len(machine.scope.code)


def _execute_raiserror(machine: ExecutionMachine, statement: s.RaiserrorStatement) -> None:
    severity_number = int(to_number(machine.resolve_value(statement.severity)))
    state = int(to_number(machine.resolve_value(statement.state)))
    state = state if 0 <= state <= 255 else 1
    arguments = tuple(machine.resolve_value(value) for value in statement.arguments)
    message = machine.resolve_value(statement.message)
    severity = max(0, severity_number)
    if severity > 18 and "LOG" not in statement.options:
        raise SqlError(2754, 18)
    number, logged = 50000, "LOG" in statement.options
    if isinstance(message, int):
        row = stored_messages.find_raisable_message(
            machine.world, machine.session.server, message, severity, state
        )
        number, logged = message, logged or row.logged
        severity = severity if severity_number >= 0 else row.severity
        is_user_message = row.source == "added"
        argument_values = ["(null)" if value is None else value for value in arguments]
        argument_values += ["(null)"] * (count_placeholders(row.text) - len(argument_values))
        text = (
            format_message(row.text, arguments)
            if is_user_message
            else fill_placeholders(row.text, tuple(argument_values))
        )
    else:
        text = format_message(to_text(message), arguments)
    if statement.number is not None:
        number = int(to_number(machine.resolve_value(statement.number)))
    text = text[:2047]
    if logged and severity > 0:
        machine.log_message(number, severity, state, text)
    if severity <= 10:
        machine.append_message(
            text, number if severity else 0, severity, state, machine.line if severity else 0
        )
        machine.change_session(error=number if "SETERROR" in statement.options else 0, rowcount=0)
        return
    errors = [CaughtError(number, min(severity, 25), state, machine.line, text)]
    if severity >= 20:
        killed = fill_message(2745, machine.session.spid, number, severity)[1]
        errors = [CaughtError(2745, 16, 2, machine.line, killed), *errors]
    # RAISERROR ignores XACT_ABORT [DOC: SET XACT_ABORT]
    machine.handle_errors(errors, can_abort=False)


def _execute_throw(machine: ExecutionMachine, statement: s.ThrowStatement) -> None:
    if statement.number is None:
        if not machine.scope.caught:
            raise SqlError(10704)
        error = machine.scope.caught[-1]
        machine.scope.caught.pop()
        machine.handle_errors([error], ends_batch=True)
        return
    number = int(to_number(machine.resolve_value(statement.number)))
    if not 50000 <= number < 2**31:
        raise SqlError(35100, number, state=10)
    state = int(to_number(machine.resolve_value(statement.state)))
    if state < 0:
        raise SqlError(2756, state, 0)
    text = machine.resolve_text(statement.message)[:2047]
    machine.handle_errors([CaughtError(number, 16, state & 255, machine.line, text)], ends_batch=True)


def _execute_dynamic_sql(machine: ExecutionMachine, statement: s.ExecuteDynamicSqlStatement) -> None:
    text = to_text(machine.evaluate_expression(statement.expression))
    if statement.linked_server and statement.linked_server.lower() != machine.session.server.lower():
        if statement.caller is not None:
            raise UnsimulatedFeatureError("EXECUTE (…) AS … AT")
        linked_servers.execute_remotely(machine, statement.linked_server, text)
        return
    principal = machine.session.principal
    if statement.caller is not None:
        permissions.execute_as(machine, statement.caller)
    machine.enter_frame(text)
    if machine.scope.outside is not None:
        machine.scope.outside = replace(machine.scope.outside, principal=principal)


def _insert_exec(machine: ExecutionMachine, statement: s.InsertExecStatement) -> None:
    source = statement.source
    if any(scope.insert_into for scope in machine.scopes):
        raise SqlError(8164)
    if isinstance(source, s.ExecuteDynamicSqlStatement) and not source.linked_server:
        machine.enter_frame(
            to_text(machine.evaluate_expression(source.expression)), insert_into=statement.target
        )
        return
    depth = len(machine.scopes)
    machine.capture = statement.target
    try:
        if isinstance(source, s.ExecuteDynamicSqlStatement):
            _execute_dynamic_sql(machine, source)
        else:
            procedures.execute_procedure(machine, source)
    finally:
        machine.capture = ""
    for scope in machine.scopes[depth:]:
        scope.insert_into = statement.target


def _declare_cursor(machine: ExecutionMachine, statement: s.DeclareCursorStatement) -> None:
    cursors.declare_cursor(machine, statement)


def _execute_cursor_action(machine: ExecutionMachine, statement: s.CursorStatement) -> None:
    key, cursor = cursors.find_cursor(machine, statement.name, statement.is_global)
    if statement.verb == "OPEN":
        cursors.open_cursor(machine, key, cursor)
    elif statement.verb == "DEALLOCATE":
        cursors.store_cursor(machine, key, None)
    elif cursor.rows is None:
        raise SqlError(16917)
    else:
        cursors.store_cursor(machine, key, replace(cursor, rows=None, position=-1))


def _execute_as(machine: ExecutionMachine, statement: s.ExecuteAsStatement) -> None:
    permissions.execute_as(machine, statement)


def _execute_revert(machine: ExecutionMachine, statement: s.RevertStatement) -> None:
    permissions.execute_revert(machine)


def _raise_not_simulated(machine: ExecutionMachine, statement: s.UnsimulatedStatement) -> None:
    raise UnsimulatedFeatureError(statement.name)


SESSIONS_MAX: Final = 32767
"""Maximum number of sessions on a server. Documented [DOC: @@MAX_CONNECTIONS]."""


def _execute_kill(machine: ExecutionMachine, statement: s.KillStatement) -> None:
    """Execute KILL: end the connection of another window or of an application.

    Raise 6104 for the connection's own session, 6106 for an unknown session, 6107 for a system session.
    WITH STATUSONLY reports 6120, because a simulated rollback takes no time.
    """
    number = machine.resolve_value(statement.spid)
    if not isinstance(number, int) and not to_text(number).isdigit():
        if re.fullmatch(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", to_text(number)):
            raise UnsimulatedFeatureError("KILL of the unit of work of a distributed transaction")
        raise SqlError(102, to_text(number))
    spid = int(to_number(number))
    if statement.status_only:
        spids = {session.spid for _, session in machine.context.list_sessions()}
        spids |= {
            connection.spid
            for connection in connections.list_connections(machine.world, machine.session.server)
        }
        raise SqlError(6120 if spid in spids else 6106, spid)
    if spid == machine.session.spid:
        raise SqlError(6104)
    if spid in dict(connections.list_agent_sessions(machine.world, machine.session.server)):
        raise UnsimulatedFeatureError("KILL of a session of SQL Server Agent")
    if 0 < spid <= 50:
        raise SqlError(6107)
    if not 0 < spid <= SESSIONS_MAX:
        raise SqlError(6101, spid)
    window = next((name for name, session in machine.context.list_sessions() if session.spid == spid), None)
    if window is None:
        if not connections.kill_connection(machine.world, machine.session.server, spid):
            raise SqlError(6106, spid)
        machine.count_change()
        machine.change_session(error=0, rowcount=0)
        return
    machine.world.call_at(machine.world.tick, "tsql.kill", window, machine.session.server, spid)
    machine.report_outcome(access.build_delayed_report(machine.world, []))


def _execute_checkpoint(machine: ExecutionMachine, statement: s.CheckpointStatement) -> None:
    copy = machine.context.find_copy(machine.session.database)
    if copy is not None and copy.data_failed_tick is not None:
        machine.append_numbered_message(5901, copy.database)
        disks.require_data_reachable(copy, "write", state=3)
    if copy is not None and copy.source is not None:
        machine.world.flow.begin_checkpoint(copy.source)
    machine.change_session(error=0, rowcount=0)


LANGUAGE_HANDLERS: Final[dict[type[s.Statement], StatementHandler[ExecutionMachine, None]]] = {
    s.QueryStatement: lambda machine, statement: queries.execute_query(machine, statement),
    s.CreateProcedureStatement: _create_procedure,
    s.CreateViewStatement: _create_view,
    s.CreateFunctionStatement: _create_function,
    s.CreateTableStatement: lambda machine, statement: definitions.create_table(machine, statement),
    s.CreateIndexStatement: lambda machine, statement: definitions.create_index(machine, statement),
    s.StatisticsStatement: lambda machine, statement: definitions.change_statistics(machine, statement),
    s.DropIndexStatement: lambda machine, statement: definitions.drop_index(machine, statement),
    s.AlterTableStatement: lambda machine, statement: definitions.alter_table(machine, statement),
    s.PrintStatement: _execute_print,
    s.DeclareStatement: definitions.declare_variables,
    s.SetVariableStatement: _assign_variable,
    s.SetSessionOptionStatement: _set_session_option,
    s.ReturnStatement: _execute_return,
    s.RaiserrorStatement: _execute_raiserror,
    s.ThrowStatement: _execute_throw,
    s.TransactionStatement: lambda machine, statement: transactions.execute_transaction_statement(
        machine, statement
    ),
    s.WaitforStatement: lambda machine, statement: waitfor.execute_waitfor(machine, statement),
    s.ExecuteProcedureStatement: lambda machine, statement: procedures.execute_procedure(machine, statement),
    s.ExecuteDynamicSqlStatement: _execute_dynamic_sql,
    s.InsertExecStatement: _insert_exec,
    s.DeclareCursorStatement: _declare_cursor,
    s.CursorStatement: _execute_cursor_action,
    s.FetchCursorStatement: lambda machine, statement: cursors.fetch_row(machine, statement),
    s.CheckpointStatement: _execute_checkpoint,
    s.DbccStatement: lambda machine, statement: maintenance.execute_dbcc(machine, statement),
    s.ReconfigureStatement: lambda machine, statement: maintenance.execute_reconfigure(machine),
    s.KillStatement: _execute_kill,
    s.ExecuteAsStatement: _execute_as,
    s.RevertStatement: _execute_revert,
    s.UnsimulatedStatement: _raise_not_simulated,
}
"""Class of a statement that this package executes itself, such as a query or DECLARE -> function."""
