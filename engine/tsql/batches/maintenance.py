"""Execution of DBCC, sp_configure and RECONFIGURE."""

import math
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.mirroring import pages
from engine.protocol import errorlog, group_policies, log_space, startup, volumes
from engine.protocol.lineage import format_lsn
from engine.tsql.batches import access, locks, sources, statement_gate, stored_tables, tables
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.catalog.configurations import get_configured_value, get_option_value, list_options
from engine.tsql.catalog.databases import list_log_space, list_virtual_log_files
from engine.tsql.catalog.sessions import list_user_sessions
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.query.plans import TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.settings import get_text_size
from engine.tsql.scalars.types import INT_RANGES, parse_type
from engine.tsql.scalars.values import Scalar, convert_value, to_integer, to_number, to_text

Arguments = tuple[Scalar, ...]


def execute_dbcc(machine: ExecutionMachine, statement: s.DbccStatement) -> None:
    """Execute DBCC *command* (arguments) WITH options."""
    run = DBCC_COMMANDS.get(statement.command)
    if run is None and statement.command not in UNSIMULATED_COMMANDS:
        raise SqlError(2526)
    if run is None:
        raise UnsimulatedFeatureError(f"DBCC {statement.command}")
    quiet = "NO_INFOMSGS" in statement.options
    for option in statement.options:
        if option not in IGNORED_DBCC_OPTIONS.get(statement.command, ()) and option not in (
            "WITH",
            ",",
            "NO_INFOMSGS",
        ):
            raise UnsimulatedFeatureError(f"DBCC {statement.command} WITH {option}")
    arguments = tuple(machine.resolve_value(value) for value in statement.arguments)
    if statement.command == "CHECKDB":
        _execute_checkdb(machine, arguments, quiet)
        return
    run(machine, arguments)
    if not quiet:
        machine.append_numbered_message(2528)
    machine.change_session(error=0, rowcount=0)


IGNORED_DBCC_OPTIONS: Final = {
    "CHECKDB": (
        "ALL_ERRORMSGS",
        "EXTENDED_LOGICAL_CHECKS",
        "TABLOCK",
        "PHYSICAL_ONLY",
        "DATA_PURITY",
        "MAXDOP",
    ),
}
"""DBCC command -> accepted options that do not change the result. Documented [DOC: DBCC CHECKDB].

Every command also accepts NO_INFOMSGS.
"""


# --- trace flags -----------------------------------------------------------------------------------------


def _turn_trace_flags_on(machine: ExecutionMachine, arguments: Arguments) -> None:
    flags, everywhere = _parse_trace_flags(arguments)
    for flag in flags:
        treatment = option_table.get_treatment("trace flag", str(flag), machine.context.version)
        if not treatment:
            raise UnsimulatedFeatureError(f"trace flag {flag}")
        if not everywhere and treatment == option_table.EFFECT:
            raise UnsimulatedFeatureError(f"trace flag {flag} for one session, without -1")
        machine.report_partly_simulated(f"that a restart of the service switches trace flag {flag} off")
    server = machine.context.server
    machine.world.update_instance(server.name, trace_flags=tuple(sorted({*server.trace_flags, *flags})))


def _turn_trace_flags_off(machine: ExecutionMachine, arguments: Arguments) -> None:
    flags, _ = _parse_trace_flags(arguments)
    server = machine.context.server
    machine.world.update_instance(
        server.name, trace_flags=tuple(flag for flag in server.trace_flags if flag not in flags)
    )


def _parse_trace_flags(arguments: Arguments) -> tuple[list[int], bool]:
    """Return (trace flags, True if -1 applies them to the whole server). Raise 2583 without arguments."""
    numbers = [int(to_number(value)) for value in arguments]
    if not numbers:
        raise SqlError(2583)
    return [number for number in numbers if number != -1], -1 in numbers


def _show_trace_flags(machine: ExecutionMachine, arguments: Arguments) -> None:
    wanted_flags = {int(to_number(value)) for value in arguments} - {-1}
    flags = machine.context.server.trace_flags
    rows = [(flag, int(flag in flags), int(flag in flags), 0) for flag in sorted(wanted_flags or flags)]
    machine.add_result(("TraceFlag", "Status", "Global", "Session"), rows)


# --- databases -------------------------------------------------------------------------------------------


def _show_log_space(machine: ExecutionMachine, arguments: Arguments) -> None:
    if not arguments or to_text(arguments[0]).upper() != "LOGSPACE":
        raise UnsimulatedFeatureError("DBCC SQLPERF other than LOGSPACE")
    rows = [
        (name, round(size_mb, 6), round(used, 6), 0)
        for name, size_mb, used in list_log_space(machine.context)
    ]
    machine.add_result(("Database Name", "Log Size (MB)", "Log Space Used (%)", "Status"), rows)


def _resolve_database_argument(machine: ExecutionMachine, arguments: Arguments) -> str:
    """Return the database that a DBCC command names (by name or ID); the current database by default.

    Raise 2520 for an unknown database.
    """
    if not arguments:
        return machine.session.database
    argument = arguments[0]
    name = (
        machine.context.find_database_name(int(argument)) if isinstance(argument, int) else to_text(argument)
    )
    if argument == 0:
        return machine.session.database
    if name is None or machine.context.find_database_id(name) is None:
        raise SqlError(2520, argument)
    return name


def _execute_checkdb(machine: ExecutionMachine, arguments: Arguments, quiet: bool = False) -> None:
    name = _resolve_database_argument(machine, arguments)
    access.check_access_mode(machine.context, name)
    copy = machine.context.find_copy(name)
    repairs = any(to_text(value).upper().startswith("REPAIR") for value in arguments[1:])
    is_mirrored = copy is not None and copy.group_kind == "mirroring"
    if (
        repairs
        and not is_mirrored
        and access.get_access_mode(machine.world, machine.session.server, name) != "SINGLE_USER"
    ):
        raise SqlError(7919)
    if copy is None and machine.context.find_snapshot(name) is None:  # system databases are always intact
        world, login = machine.world, machine.session.login
        pages.log_check(world, machine.session.server, name, quiet, login, 0, world.tick)
        machine.report_outcome([] if quiet else pages.build_clean_check_messages(name))
        return
    if repairs and copy is not None and is_mirrored and group_policies.get_policy(copy).is_leader(copy):
        raise SqlError(7930)
    if repairs:
        raise UnsimulatedFeatureError("DBCC CHECKDB with repair")
    machine.report_outcome(
        pages.start_checkdb(machine.world, machine.session.server, name, quiet, machine.session.login)
    )


OPENTRAN_SPID: Final = 50
"""Session ID that DBCC OPENTRAN shows for an open transaction of an application. Assumed."""


def _show_input_buffer(machine: ExecutionMachine, arguments: Arguments) -> None:
    """Execute DBCC INPUTBUFFER, which shows the last batch of a session.

    [DOC: DBCC INPUTBUFFER]
    """
    spid = int(to_number(arguments[0])) if arguments else 0
    session_row = next(
        (candidate for candidate in list_user_sessions(machine.context) if candidate.spid == spid), None
    )
    if session_row is None:
        raise SqlError(7955, spid)
    if session_row.is_application:
        raise UnsimulatedFeatureError("DBCC INPUTBUFFER of a session without statement texts")
    kind = "Language Event" if session_row.last_text else "No Event"
    machine.add_result(
        ("EventType", "Parameters", "EventInfo"), [(kind, 0, session_row.last_text[:4000] or None)]
    )


def _show_log_files(machine: ExecutionMachine, arguments: Arguments) -> None:
    """Execute DBCC LOGINFO, which lists the virtual log files in file order.

    Status 2 means that the file contains active log. The rows are derived from the log in use. The command is
    undocumented. Its columns are known from public output, with RecoveryUnitId since 2012.
    """
    copy = machine.context.find_copy(
        machine.context.open_database(_resolve_database_argument(machine, arguments))
    )
    if copy is None or copy.source is None:
        raise UnsimulatedFeatureError("DBCC LOGINFO of a system database")
    rows = [
        (0, 2, file.size, file.offset, file.number, file.status, file.parity, 0)
        for file in list_virtual_log_files(machine.world, copy.source)
    ]
    names = ("RecoveryUnitId", "FileId", "FileSize", "StartOffset", "FSeqNo", "Status", "Parity", "CreateLSN")
    old = machine.context.version < 2012
    machine.add_result(names[1:] if old else names, [row[1:] if old else row for row in rows])
    machine.append_row_count(len(rows))


def _show_oldest_transaction(machine: ExecutionMachine, arguments: Arguments) -> None:
    database = machine.context.open_database(_resolve_database_argument(machine, arguments))
    copy = machine.context.find_copy(database)
    sessions = (machine.session, *(session for _, session in machine.context.list_sessions()))
    if copy is None and any(
        lsn_text[1] == database.lower() for session in sessions for lsn_text, _ in session.writes
    ):
        raise UnsimulatedFeatureError("DBCC OPENTRAN of changes in a system database")
    open_transactions: list[tuple[float, int, int | None]] = []
    if copy is not None:
        open_transactions += [(kb, spid, tick) for spid, kb, tick in copy.window_transactions]
    if copy is not None and copy.active_from_kb is not None:
        open_transactions.append((copy.active_from_kb, OPENTRAN_SPID, None))
    if copy is None or not open_transactions:
        machine.append_numbered_message(7969)
        return
    begins_kb, spid, tick = min(open_transactions, key=lambda entry: entry[0])
    lsn_text = str(format_lsn(begins_kb)).rjust(25, "0")
    began = (
        to_text(convert_value(machine.context.get_datetime_value(tick), "varchar(30)", 109))
        if tick is not None
        else ""
    )
    start_line = f"    Start time    : {began}" if began else None
    lines = (
        f"Transaction information for database '{copy.database}'.",
        "",
        "Oldest active transaction:",
        f"    SPID (server process ID): {spid}",
        "    UID (user ID) : -1",
        "    Name          : user_transaction",
        f"    LSN           : ({int(lsn_text[:10])}:{int(lsn_text[10:20])}:{int(lsn_text[20:])})",
        start_line,
    )
    for line in lines:
        if line is not None:
            machine.append_message(line or " ")


def _shrink_file(machine: ExecutionMachine, arguments: Arguments) -> None:
    """Execute DBCC SHRINKFILE: (file, size in MB) for the log, (file, EMPTYFILE) for an added data file.

    Raises 7992 for a read-only database, 8985 for an unknown file, and 2555 for the first data file. [DOC:
    DBCC SHRINKFILE; Database Engine events and errors]
    """
    database = machine.context.open_database(machine.session.database)
    if statement_gate.is_read_only(machine.context, database):
        raise SqlError(7992, machine.context.get_spelled_name(database))
    copy = machine.context.find_copy(database)
    if copy is None or not arguments:
        raise UnsimulatedFeatureError("DBCC SHRINKFILE outside user databases")
    name, target = to_text(arguments[0]), arguments[1] if len(arguments) > 1 else 0
    numbered_files = list(enumerate(volumes.list_copy_files(copy), 1))
    numbered_file = next(
        (
            (file_number, f)
            for file_number, f in numbered_files
            if name.lower() in (f.name.lower(), str(file_number))
        ),
        None,
    )
    if numbered_file is None:
        raise SqlError(8985, name, copy.database)
    position, file = numbered_file
    world, server = machine.world, machine.session.server
    target_kb = 0.0 if isinstance(target, str) else float(to_number(target)) * 1024.0
    if target == "EMPTYFILE" and not file.log:
        log_space.empty_file(world, server, copy.database, file.name)
        used_kb, least_kb = 0.0, file.size_kb
    elif position == 2:
        machine.append_messages(log_space.shrink_log(world, server, copy.database, target_kb))
        used_kb = least_kb = log_space.SHRUNK_LOG_MIN_KB
    else:
        raise UnsimulatedFeatureError("DBCC SHRINKFILE of data files other than EMPTYFILE")
    remaining_kb = volumes.list_copy_files(world.copies[(server, copy.database)])[position - 1].size_kb
    if position == 2 and remaining_kb - max(target_kb, least_kb) > log_space.LOG_SPACE_TOLERANCE_KB:
        machine.append_numbered_message(9008, position, file.name)
    pages = [
        int(kb / 8)
        for kb in (remaining_kb, min(least_kb, remaining_kb), remaining_kb if file.log else used_kb, used_kb)
    ]
    machine.add_result(SHRINK_COLUMNS, [(machine.context.find_database_id(copy.database), position, *pages)])
    machine.append_row_count(1)


SHRINK_COLUMNS: Final = ("DbId", "FileId", "CurrentSize", "MinimumSize", "UsedPages", "EstimatedPages")
"""Columns of the result set of DBCC SHRINKFILE. Documented [DOC: DBCC SHRINKFILE]."""


def _cycle_errorlog(machine: ExecutionMachine, arguments: Arguments) -> None:
    machine.count_change()
    startup.begin_new_log(machine.world, machine.session.server)


_USER_OPTIONS: Final = """
quoted_identifier arithabort ansi_null_dflt_on ansi_warnings ansi_padding ansi_nulls concat_null_yields_null
"""
"""SET options that DBCC USEROPTIONS lists while they are ON."""


def _show_user_options(machine: ExecutionMachine, arguments: Arguments) -> None:
    """Execute DBCC USEROPTIONS, which shows the SET options of the connection.

    The order is that of the documentation [DOC: DBCC USEROPTIONS]. ON/OFF options are listed only while they
    are ON.
    """
    culture = machine.settings.culture
    options = dict(machine.session.options)
    level = locks.get_isolation_level(machine.session)
    rows: list[tuple[Scalar, ...]] = [
        ("textsize", str(get_text_size(machine.session.options))),
        ("language", culture.language.name),
        ("dateformat", culture.dateformat),
        ("datefirst", str(culture.datefirst)),
        ("lock_timeout", str(locks.get_lock_timeout_ms(machine.session))),
        *((name, "SET") for name in _USER_OPTIONS.split() if options.get(name.upper(), "ON") == "ON"),
        ("isolation level", level),
    ]
    machine.add_result(("Set Option", "Value"), rows)
    machine.append_row_count(len(rows))


def _execute_checkident(machine: ExecutionMachine, arguments: Arguments) -> None:
    """Execute DBCC CHECKIDENT (table [, NORESEED | RESEED [, value]]).

    After RESEED, the next inserted row gets *value* if the table never had a row. Otherwise, the row
    gets the identity value that follows *value*. Raises 2501 for an unknown table, 7997 for a table
    without an identity column [DOC: DBCC CHECKIDENT].
    """
    name, *arguments_left = (to_text(argument) for argument in arguments)
    ref = TableRef(tuple(part.strip('[]"') for part in name.split(".")))
    table = sources.find_user_table(machine, ref)
    if table is None:
        raise SqlError(2501, name)
    column_position = next(
        (index for index, column in enumerate(table.columns) if column.identity is not None), None
    )
    if column_position is None:
        raise SqlError(7997, name)
    table = tables.skip_lost_identity_values(table, machine.context.server)
    seed, step = table.columns[column_position].identity or (1, 1)
    used = table.next_id > 1 or table.next_identity != seed
    last = table.next_identity - step if used else None
    column = max((to_integer(row[column_position]) for row in table.rows), default=None)
    texts = ["NULL" if value is None else str(value) for value in (last, column)]
    next_identity = table.next_identity
    if len(arguments_left) > 1:
        low, high = INT_RANGES.get(parse_type(table.columns[column_position].type)[0], (-math.inf, math.inf))
        if not low <= to_number(arguments_left[1]) <= high:
            raise SqlError(2560, 3)
        next_identity = to_integer(arguments_left[1]) + (step if used else 0)
    elif arguments_left[:1] != ["NORESEED"] and column is not None:
        next_identity = max(next_identity, column + step)
    if len(arguments_left) > 1 and machine.context.version >= 2012:
        report = f"Checking identity information: current identity value '{texts[0]}'."
        machine.append_message(report, 7998, 10, 1, machine.line)
    else:
        machine.append_numbered_message(
            7998, texts[0], arguments_left[1] if len(arguments_left) > 1 else texts[1]
        )
    if next_identity != table.next_identity:
        sources.store_table(
            machine, ref, replace(table, next_identity=next_identity, identity_cache=("", 0, 0))
        )


_UNSIMULATED_TEXT: Final = """
BUFFER BYTES CHECKALLOC CHECKCATALOG CHECKCONSTRAINTS CHECKFILEGROUP CHECKTABLE CLEANTABLE
CLONEDATABASE DBINFO DBREINDEX DBREPAIR DBTABLE DROPCLEANBUFFERS EXTENTINFO FILEHEADER FLUSHPROCINDB
FREEPROCCACHE FREESESSIONCACHE FREESYSTEMCACHE HELP IND INDEXDEFRAG LOG MEMORYSTATUS OUTPUTBUFFER PAGE PERFMON
PINTABLE PROCCACHE RESOURCE SHOW_STATISTICS SHOWCONTIG SHOWFILESTATS SHOWWEIGHTS SHRINKDATABASE SQLMGRSTATS
STACKDUMP TAB UNPINTABLE UPDATEUSAGE WRITEPAGE
"""
UNSIMULATED_COMMANDS: Final = frozenset(_UNSIMULATED_TEXT.split())
"""DBCC commands of the product that are not simulated.

Most are documented [DOC: DBCC]. The others are known from public sources.
"""

DBCC_COMMANDS: Final[dict[str, Callable[[ExecutionMachine, Arguments], None]]] = {
    "TRACEON": _turn_trace_flags_on,
    "TRACEOFF": _turn_trace_flags_off,
    "TRACESTATUS": _show_trace_flags,
    "SQLPERF": _show_log_space,
    "CHECKDB": _execute_checkdb,
    "OPENTRAN": _show_oldest_transaction,
    "LOGINFO": _show_log_files,
    "INPUTBUFFER": _show_input_buffer,
    "SHRINKFILE": _shrink_file,
    "ERRORLOG": _cycle_errorlog,
    "USEROPTIONS": _show_user_options,
    "CHECKIDENT": _execute_checkident,
}
"""DBCC command -> function that executes it."""


# --- configuration ---------------------------------------------------------------------------------------


def execute_sp_configure(machine: ExecutionMachine, arguments: dict[str, Scalar]) -> None:
    """Execute sp_configure [name [, value]], which shows options or stores a value for the next RECONFIGURE."""
    name, value = arguments.get("@configname"), arguments.get("@configvalue")
    context = machine.context
    advanced = get_option_value(context, "show advanced options") == 1
    visible = [option for option in list_options(context.version) if advanced or not option.advanced]
    if name is not None:
        option_name = to_text(name).lower()
        exact = [option for option in visible if option.name.lower() == option_name]
        visible = exact or [option for option in visible if option_name in option.name.lower()]
        if not visible:
            raise SqlError(15123, name)
        if len(visible) > 1:
            raise SqlError(15124, name)
    if value is None:
        rows = [
            (
                o.name,
                o.minimum,
                o.maximum,
                get_configured_value(context, o.name),
                get_option_value(context, o.name),
            )
            for o in visible
        ]
        machine.add_result(("name", "minimum", "maximum", "config_value", "run_value"), sorted(rows))
        return
    option = visible[0]
    number = int(to_number(value))
    if not (option.minimum <= number <= option.maximum or number == option.default):
        raise SqlError(15129, number, option.name)
    treatment = option_table.get_treatment("sp_configure", option.name, context.version)
    if not treatment and number != get_configured_value(context, option.name):
        raise UnsimulatedFeatureError(f"the configuration option '{option.name}'")
    change = (option.name, get_configured_value(context, option.name), number)
    machine.append_numbered_message(15457, *change)
    errorlog.write_message(machine.world, machine.session.server, 15457, *change)
    _store_server_option(machine, option.name, value=number)


def _store_server_option(machine: ExecutionMachine, name: str, **values: int) -> None:
    """Set the columns *values* in the stored row of the server option *name*. Add the row if necessary."""
    world, server = machine.world, machine.session.server
    if stored_tables.OPTIONS.find_row(world, server, "name", name) is None:
        used = get_option_value(machine.context, name)
        stored_tables.OPTIONS.add_row(
            world,
            server,
            {
                "name": name,
                "value": used,
                "in_use": used,
            },
        )
    stored_tables.OPTIONS.change_rows(
        world, server, lambda row: row["name"] == name, stored_tables.OPTIONS.build_row(values)
    )


def execute_reconfigure(machine: ExecutionMachine) -> None:
    """Execute RECONFIGURE, which applies the values that sp_configure has stored.

    Values of options that are not dynamic take effect at the next start of the service [DOC: sp_configure].
    """
    at_start = {option.name for option in list_options(machine.context.version) if not option.dynamic}
    for row in stored_tables.OPTIONS.list_rows(machine.world, machine.session.server):
        name, value = to_text(row["name"]), int(str(row["value"]))
        if value == get_option_value(machine.context, name):
            continue
        if name in at_start:
            _store_server_option(machine, name, at_start=value, tick=machine.world.tick)
            continue
        _store_server_option(machine, name, in_use=value)
        if name == "max worker threads":
            machine.world.update_instance(machine.session.server, max_worker_threads=value)
    machine.change_session(error=0, rowcount=0)
