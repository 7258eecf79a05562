"""Execution of each kind of statement. Functions of the protocol execute statements that change the world."""

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
    administer,
    cursors,
    definitions,
    gate,
    maintenance,
    objects,
    permissions,
    queries,
    schema_binding,
    sources,
    stored_messages,
    transactions,
    waitfor,
)
from engine.tsql.batches.administer import Command
from engine.tsql.batches.context import SYSTEM_DATABASES, is_sysadmin
from engine.tsql.batches.data import CaughtError, ConnectionLostError
from engine.tsql.batches.machine import Machine
from engine.tsql.batches.work import Handler
from engine.tsql.clients import linked_servers
from engine.tsql.language import group_statements as gs
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.query import planner
from engine.tsql.query.plans import Column, UnsimulatedFeatureError
from engine.tsql.scalars import settings
from engine.tsql.scalars.functions import format_message
from engine.tsql.scalars.types import parse_sql_type
from engine.tsql.scalars.values import Scalar, convert_value, format_as_type, to_number, to_text

Outcome = statements.Outcome


def execute_statement(machine: Machine, statement: s.Statement) -> None:
    """Execute one statement. Raises SqlError, UnsimulatedFeatureError or ConnectionLostError."""
    kind = type(statement)
    if isinstance(statement, _TRANSACTION_STARTERS) and not machine.session.transactions:
        transactions.begin_implicitly(machine, statement)
    statement = _replace_current_database(machine, statement)
    if isinstance(statement, s.SetOption):
        for option, value in statement.options:
            option_table.check_database_option(option, value, machine.context.version)
    try:
        _check_statement(machine, statement)
    except SqlError as problem:
        if getattr(statement, "if_exists", False) and problem.number in administer.MISSING_OBJECT_ERRORS:
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
            if isinstance(statement, s.Backup):
                database = to_text(machine.resolve_value(statement.database))
                backup.log_failure(machine.world, machine.session.server, database, problem)
            raise
    else:
        raise UnsimulatedFeatureError(type(statement).__name__)


CURRENT_DATABASE_VERSION: Final = 2012
"""First version that supports ALTER DATABASE CURRENT. Documented [DOC: ALTER DATABASE]."""


def _replace_current_database(machine: Machine, statement: s.Statement) -> s.Statement:
    """Return the statement. ALTER DATABASE CURRENT gets the name of the current database."""
    if not isinstance(statement, s.OnDatabase) or machine.context.version < CURRENT_DATABASE_VERSION:
        return statement
    if statement.database != "CURRENT":
        return statement
    return structs.replace(statement, database=machine.session.database)


def _check_statement(machine: Machine, statement: s.Statement) -> None:
    try:
        if not is_sysadmin(machine.context):
            permissions.check_permission(machine, statement)
        gate.check_statement(machine, statement)
    except SqlError as problem:
        problem.title = getattr(statement, "title", problem.title)
        raise


_TRANSACTION_STARTERS: Final = (
    s.QueryStatement, s.CreateTable, s.CreateIndex, s.DropIndex, s.AlterTable, s.CreateView, s.CreateProcedure,
    s.CreateFunction, s.DropObject,
    s.FetchCursor, s.Permission, s.CursorAction, s.InsertExec, s.Transaction,
)  # fmt: skip
"""Statements that begin a transaction under SET IMPLICIT_TRANSACTIONS ON.

Documented [DOC: SET IMPLICIT_TRANSACTIONS].
"""


# --- commands of the protocol ----------------------------------------------------------------------------


def _make_database_command(function: Callable[..., Outcome], *fields: str) -> Handler[Machine, Outcome]:
    """Build a function that executes a statement about a database.

    It calls *function* with the world, the server, the database and the values of the statement's *fields*.
    """

    def run(machine: Machine, statement: s.OnDatabase) -> Outcome:
        arguments = [getattr(statement, name) for name in fields]
        return function(machine.world, machine.session.server, statement.database, *arguments)

    return run


def _set_partner(machine: Machine, statement: gs.PartnerSet) -> Outcome:
    """Execute ALTER DATABASE … SET PARTNER = address. Raise 1488 for a database in single-user mode."""
    world, server, database = machine.world, machine.session.server, statement.database
    if access.get_access_mode(world, server, database) == "SINGLE_USER":
        raise SqlError(1488, machine.context.get_spelled_name(database))
    return commands.set_partner(world, server, database, statement.address)


_FIXED: Final = {"OFFLINE", "ONLINE", "EMERGENCY", "CHANGE_TRACKING", "ENCRYPTION"}
_FIXED_MODES: Final = {"READ_ONLY", "READ_WRITE", "SINGLE_USER", "RESTRICTED_USER", "MULTI_USER"}
_BROKER: Final = {"ENABLE_BROKER", "DISABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS"}
_FIXED_SNAPSHOTS: Final = {"READ_COMMITTED_SNAPSHOT", "ALLOW_SNAPSHOT_ISOLATION"}
FIXED_OPTIONS: Final = {
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
"""Options that model and msdb always have, because no simulated statement changes them."""


def _set_option(machine: Machine, statement: s.SetOption) -> Outcome:
    messages = []
    for option, value in statement.options:
        if statement.database.lower() in SYSTEM_DATABASES:
            if option in FIXED_OPTIONS[statement.database.lower()]:
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
    return access.wait_for_ended_sessions(machine.world, messages) if messages else messages


def _shut_down(machine: Machine, statement: s.Shutdown) -> Outcome:
    """Execute SHUTDOWN: send messages to the requesting client, then end its connection."""
    login = machine.session.login
    outcome = statements.shut_down_instance(machine.world, machine.session.server, statement.nowait, login)
    machine.report_outcome(outcome)
    request_text = "NOWAIT request" if statement.nowait else "request"
    machine.append_message(fill_message(6006, request_text, login)[1])
    machine.append_message("SQL Server is terminating this process.")
    raise ConnectionLostError


def _execute_use(machine: Machine, statement: s.UseDatabase) -> Outcome:
    database = machine.context.open_database(statement.database)
    access.check_access_mode(machine.context, database)
    machine.change_session(database=database)
    return []


def _alter_group(machine: Machine, statement: gs.AlterGroup) -> Outcome:
    return group_commands.execute_alter(
        machine.world, machine.session.server, statement.group, statement.action, statement.options,
        statement.databases, statement.replicas, statement.listener,
    )  # fmt: skip


def _create_group(machine: Machine, statement: gs.CreateGroup) -> Outcome:
    return group_commands.create_group(
        machine.world, machine.session.server, statement.group, statement.options, statement.databases,
        statement.replicas, statement.listener,
    )  # fmt: skip


def _drop_group(machine: Machine, statement: gs.DropGroup) -> Outcome:
    return group_commands.drop_group(machine.world, machine.session.server, statement.group)


COMMANDS: Final[dict[type[s.Statement], Command]] = {
    gs.AlterGroup: _alter_group,
    gs.CreateGroup: _create_group,
    gs.DropGroup: _drop_group,
    gs.HadrJoin: _make_database_command(group_commands.databases.join_database, "group"),
    gs.HadrOff: _make_database_command(group_commands.databases.leave_group),
    gs.HadrSuspend: _make_database_command(group_commands.suspend_movement),
    gs.HadrResume: _make_database_command(group_commands.resume_all_movement),
    gs.PartnerSet: _set_partner,
    gs.PartnerFailover: _make_database_command(commands.fail_over),
    gs.PartnerForce: _make_database_command(commands.force_service),
    gs.PartnerOff: _make_database_command(commands.remove_session),
    gs.PartnerSuspend: _make_database_command(commands.suspend_session),
    gs.PartnerResume: _make_database_command(commands.resume_session),
    gs.PartnerSafety: _make_database_command(commands.set_safety, "level"),
    gs.PartnerTimeout: _make_database_command(commands.set_timeout, "seconds"),
    gs.RedoQueue: _make_database_command(commands.set_redo_queue, "limit_mb"),
    gs.WitnessSet: _make_database_command(commands.set_witness, "address"),
    gs.WitnessOff: _make_database_command(commands.remove_witness),
    s.SetOption: _set_option,
    s.Shutdown: _shut_down,
    s.UseDatabase: _execute_use,
    **administer.COMMANDS,
}
"""Statement that changes the world -> function that executes it."""


# --- the language ----------------------------------------------------------------------------------------


def _execute_print(machine: Machine, statement: s.Print) -> None:
    value, kind = machine.evaluate_with_type(statement.expression)
    text = "" if value is None else format_as_type(value, source=kind, culture=machine.settings.culture)
    machine.append_message(text[:8000] or " ")
    machine.change_session(error=0, rowcount=0)


def _assign_variable(machine: Machine, statement: s.Assign) -> None:
    machine.set_variable(statement.name, *machine.evaluate_with_type(statement.expression))
    machine.change_session(error=0, rowcount=1)


def _set_context_info(machine: Machine, value: s.Value) -> None:
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


def _set_session_option(machine: Machine, statement: s.SetSession) -> None:
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


def _create_procedure(machine: Machine, statement: s.CreateProcedure) -> None:
    procedure = objects.UserProcedure(statement.parameters, statement.body, machine.scope.text)
    objects.create_or_alter_object(machine.context, statement.name, procedure, statement.verb)


def _check_binding(machine: Machine, kind: str, statement: s.CreateView | s.CreateFunction) -> None:
    """Raise an error for an invalid name in a schema-bound module.

    Raise an error if another schema-bound module uses the altered module.
    """
    if statement.verb != "CREATE":
        schema_binding.check_object_unbound(machine.context, "ALTER", statement.name)
    schema_binding.check_definition(machine.context, kind, statement.name[-1], machine.scope.text)


def _create_view(machine: Machine, statement: s.CreateView) -> None:
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


def _create_function(machine: Machine, statement: s.CreateFunction) -> None:
    for parameter in statement.parameters:
        parse_sql_type(parameter.type, 1)
    if statement.returns:
        parse_sql_type(statement.returns, 1)
    _check_binding(machine, "function", statement)
    user_function = objects.UserFunction(
        statement.parameters, statement.returned, statement.returns, machine.scope.text, statement.body
    )
    objects.create_or_alter_object(machine.context, statement.name, user_function, statement.verb)


def _execute_return(machine: Machine, statement: s.Return) -> None:
    if statement.expression:
        if len(machine.scopes) == 1:
            raise SqlError(178)
        value = machine.evaluate(statement.expression)
        if value is None:
            machine.append_numbered_message(282, machine.scope.procedure)
        machine.scope.result = int(to_number(value)) if value is not None else 0
    machine.scope.position = len(machine.scope.code)


def _execute_raiserror(machine: Machine, statement: s.Raiserror) -> None:
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


def _execute_throw(machine: Machine, statement: s.Throw) -> None:
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


def _execute_string(machine: Machine, statement: s.ExecuteString) -> None:
    text = to_text(machine.evaluate(statement.expression))
    if statement.linked_server and statement.linked_server.lower() != machine.session.server.lower():
        linked_servers.execute_remotely(machine, statement.linked_server, text)
        return
    machine.enter_frame(text)


def _insert_exec(machine: Machine, statement: s.InsertExec) -> None:
    source = statement.source
    if any(scope.insert_into for scope in machine.scopes):
        raise SqlError(8164)
    if isinstance(source, s.ExecuteString) and not source.linked_server:
        machine.enter_frame(to_text(machine.evaluate(source.expression)), insert_into=statement.target)
        return
    depth = len(machine.scopes)
    machine.capture = statement.target
    try:
        if isinstance(source, s.ExecuteString):
            _execute_string(machine, source)
        else:
            procedures.execute_procedure(machine, source)
    finally:
        machine.capture = ""
    for scope in machine.scopes[depth:]:
        scope.insert_into = statement.target


def _declare_cursor(machine: Machine, statement: s.DeclareCursor) -> None:
    cursors.declare_cursor(machine, statement)


def _execute_cursor_action(machine: Machine, statement: s.CursorAction) -> None:
    key, cursor = cursors.find_cursor(machine, statement.name)
    if statement.verb == "OPEN":
        cursors.open_cursor(machine, statement.name)
    elif statement.verb == "DEALLOCATE":
        cursors.store_cursor(machine, key, None)
    elif cursor.rows is None:
        raise SqlError(16917)
    else:
        cursors.store_cursor(machine, key, replace(cursor, rows=None, position=-1))


def _execute_as(machine: Machine, statement: s.ExecuteAs) -> None:
    permissions.execute_as(machine, statement)


def _execute_revert(machine: Machine, statement: s.Revert) -> None:
    permissions.revert(machine)


def _raise_not_simulated(machine: Machine, statement: s.UnsimulatedStatement) -> None:
    raise UnsimulatedFeatureError(statement.name)


SESSIONS_MAX: Final = 32767
"""Maximum number of sessions on a server. Documented [DOC: @@MAX_CONNECTIONS]."""


def _execute_kill(machine: Machine, statement: s.Kill) -> None:
    """Execute KILL: end the connection of another window or of an application.

    Raise 6104 for its own session, 6106 for an unknown session, 6107 for a system session. WITH STATUSONLY
    reports 6120, because a simulated rollback takes no time.
    """
    number = machine.resolve_value(statement.spid)
    if not isinstance(number, int) and not to_text(number).isdigit():
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
    machine.report_outcome(access.wait_for_ended_sessions(machine.world, []))


def _execute_checkpoint(machine: Machine, statement: s.Checkpoint) -> None:
    copy = machine.context.find_copy(machine.session.database)
    if copy is not None and copy.data_failed_tick is not None:
        machine.append_numbered_message(5901, copy.database)
        disks.require_data_reachable(copy, "write", state=3)
    machine.change_session(error=0, rowcount=0)


LANGUAGE_HANDLERS: Final[dict[type[s.Statement], Handler[Machine, None]]] = {
    s.QueryStatement: lambda machine, statement: queries.execute_query(machine, statement),
    s.CreateProcedure: _create_procedure,
    s.CreateView: _create_view,
    s.CreateFunction: _create_function,
    s.CreateTable: lambda machine, statement: definitions.create_table(machine, statement),
    s.CreateIndex: lambda machine, statement: definitions.create_index(machine, statement),
    s.DropIndex: lambda machine, statement: definitions.drop_index(machine, statement),
    s.AlterTable: lambda machine, statement: definitions.alter_table(machine, statement),
    s.Print: _execute_print,
    s.Declare: definitions.declare_variables,
    s.Assign: _assign_variable,
    s.SetSession: _set_session_option,
    s.Return: _execute_return,
    s.Raiserror: _execute_raiserror,
    s.Throw: _execute_throw,
    s.Transaction: lambda machine, statement: transactions.execute_transaction_statement(machine, statement),
    s.Waitfor: lambda machine, statement: waitfor.execute_waitfor(machine, statement),
    s.Execute: lambda machine, statement: procedures.execute_procedure(machine, statement),
    s.ExecuteString: _execute_string,
    s.InsertExec: _insert_exec,
    s.DeclareCursor: _declare_cursor,
    s.CursorAction: _execute_cursor_action,
    s.FetchCursor: lambda machine, statement: cursors.fetch_row(machine, statement),
    s.Checkpoint: _execute_checkpoint,
    s.Dbcc: lambda machine, statement: maintenance.execute_dbcc(machine, statement),
    s.Reconfigure: lambda machine, statement: maintenance.execute_reconfigure(machine),
    s.Kill: _execute_kill,
    s.ExecuteAs: _execute_as,
    s.Revert: _execute_revert,
    s.UnsimulatedStatement: _raise_not_simulated,
}
"""Statement of the language itself, such as a query or DECLARE -> function that executes it."""
