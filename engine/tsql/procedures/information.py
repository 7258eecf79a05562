"""Procedures that return information: sp_helpdb, sp_who, xp_fixeddrives, sp_readerrorlog and others."""

from typing import Final

from engine import arithmetic
from engine.constants import PRODUCT_VERSIONS
from engine.messages import SqlError
from engine.model import ReplicaWord
from engine.protocol import accounts, clock, commits, errorlog, options, startup, volumes
from engine.tsql import catalog
from engine.tsql.batches import maintenance, objects, statement_gate
from engine.tsql.batches.data import Table
from engine.tsql.catalog import availability, folders, host
from engine.tsql.catalog.activity import COMPUTER_MEMORY_KB
from engine.tsql.catalog.configurations import get_option_value
from engine.tsql.procedures import object_help
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars import values
from engine.tsql.scalars.values import Scalar, make_text_key, to_text


def _list_rows(call: ProcedureCall, view: str) -> list[catalog.Record]:
    return list(catalog.list_view_rows(call.machine.context, view))


PAGE_ROW_BYTES_MAX: Final = 8060
"""Maximum number of row bytes in a page of 8 KB. Documented [DOC: pages and extents architecture]."""


def _show_space_used(call: ProcedureCall) -> None:
    """Execute sp_spaceused [table]. Raises 15009 for an unknown table.

    The size of a table, in pages of 8 KB, is derived from its numbers of characters and values.
    """
    object_name, context = call.get_text("@objname"), call.machine.context
    if object_name:
        parts = tuple(part.strip('[]"') for part in object_name.split("."))
        table = object_help.find_described_object(call, parts)
        if not isinstance(table, Table):
            raise SqlError(15009, object_name, call.database)
        pages = -(-(2 * table.characters + 8 * table.cells) // PAGE_ROW_BYTES_MAX)
        size = f"{8 * pages} KB"
        columns = ("name", "rows", "reserved", "data", "index_size", "unused")
        shown_row = (parts[-1], str(len(table.rows)).ljust(20), size, size, "0 KB", "0 KB")
        call.show_rows(columns, [shown_row])
        return
    files = _list_rows(call, "sys.master_files")
    number = context.find_database_id(context.session.database)
    sizes = [(int(str(row["size"])), row["type"]) for row in files if row["database_id"] == number]
    total_mb = arithmetic.add_in_order(pages for pages, _ in sizes) / 128.0
    data = arithmetic.add_in_order(pages for pages, kind in sizes if kind == 0) * 8
    call.machine.report_partly_simulated("free space in data files: all of it counts as used by data")
    call.show_rows(
        ("database_name", "database_size", "unallocated space"),
        [(context.session.database, f"{total_mb:.2f} MB", "0.00 MB")],
    )
    call.show_rows(
        ("reserved", "data", "index_size", "unused"), [(f"{data} KB", f"{data} KB", "0 KB", "0 KB")]
    )


def _change_owner(call: ProcedureCall) -> None:
    """Execute sp_changedbowner: set the owner of the current database."""
    database = call.database
    call.append_messages(
        options.set_database_owner(call.world, call.server, database, call.get_text("@loginame"))
    )


def _show_fixed_drives(call: ProcedureCall) -> None:
    """Execute xp_fixeddrives: show the drives and their free space in MB."""
    rows = [
        (letter, int(room_kb / 1024.0)) for letter, room_kb in volumes.list_free_kb(call.world, call.server)
    ]
    call.show_rows(("drive", "MB free"), rows)


def _change_users_login(call: ProcedureCall) -> None:
    """Execute sp_change_users_login.

    The action Report lists orphaned users. Update_One and Auto_Fix give a user the SID of a login.
    """
    action = call.get_text("@action").lower()
    database = call.machine.session.database
    if action == "report":
        orphans = accounts.list_orphaned_users(call.world, call.server, database)
        call.show_rows(
            ("UserName", "UserSID"), [(user.name, user.sid.to_bytes(16, "big")) for user in orphans]
        )
        return
    user, login = call.get_text("@usernamepattern"), call.get_text("@loginname")
    for name in (login.lower() == "sa" and login, user.lower() in ("public", "dbo", "guest", "sys") and user):
        if name:
            raise SqlError(15287, name)
    if call.machine.session.transactions:
        raise SqlError(15289)
    if action == "update_one":
        _relink_user(call, database, user, login)
    elif action == "auto_fix":
        _fix_orphan(call, database, user)
    else:
        raise SqlError(15286, call.get_text("@action"))


def _relink_user(call: ProcedureCall, database: str, user: str, login: str) -> None:
    users = {
        known_user.name.lower()
        for known_user in commits.list_database_users(call.world, call.server, database)
    }
    logins = {to_text(row["name"]).lower() for row in _list_rows(call, "sys.server_principals")}
    if not user or not login or call.get_text("@password"):
        raise SqlError(15600, "sys.sp_change_users_login")
    if user.lower() not in users:
        raise SqlError(15291, "User", user)
    if login.lower() not in logins:
        raise SqlError(15600, "sys.sp_change_users_login")
    statement_gate.check_database_state(call.machine.context, "write", database)
    call.append_messages(accounts.alter_user(call.world, call.server, database, user, login=login))


def _fix_orphan(call: ProcedureCall, database: str, user: str) -> None:
    """Connect an orphaned user to the login with the same name. Other users stay unchanged.

    Create the login if it is missing and a password is given.
    """
    if not user or call.get_text("@loginname"):
        raise SqlError(15600, "sys.sp_change_users_login")
    statement_gate.check_database_state(call.machine.context, "write", database)
    orphaned = [orphan.name for orphan in accounts.list_orphaned_users(call.world, call.server, database)]
    updated = added_count = 0
    for name in orphaned:
        if make_text_key(name) != make_text_key(user):
            continue
        logins = {to_text(row["name"]).lower() for row in _list_rows(call, "sys.server_principals")}
        if name.lower() in logins:
            call.machine.append_numbered_message(15292, name)
            updated += 1
        else:
            if not call.get_text("@password"):
                raise SqlError(15600, "sys.sp_change_users_login")
            accounts.create_login(call.world, call.server, name, password=call.get_text("@password"))
            call.machine.append_numbered_message(15293, name)
            added_count += 1
        call.append_messages(accounts.alter_user(call.world, call.server, database, name, login=name))
    call.machine.append_numbered_message(15295, updated)
    call.machine.append_numbered_message(15294, added_count)


def _show_definition(call: ProcedureCall) -> None:
    """Execute sp_helptext: show the definition of a procedure or view line by line.

    Raises 15009 if the object does not exist, 15197 if it has no text.
    """
    name, context = call.get_text("@objname"), call.machine.context
    text_object = objects.find_object(context, tuple(part.strip("[]") for part in name.split(".")))
    if text_object is None and catalog.get_object_id(context, name) is None:
        raise SqlError(15009, name, context.session.database)
    if text_object is None:
        raise UnsimulatedFeatureError("the text of system objects")
    if isinstance(text_object, Table):
        raise SqlError(15197, name)
    call.show_rows(("Text",), [(line,) for line in text_object.definition.splitlines(keepends=True)])


def _read_error_log(call: ProcedureCall) -> None:
    """Execute sp_readerrorlog or xp_readerrorlog.

    The arguments are the number of the log (0 is the current one) and its kind. Further arguments are two
    texts that lines must contain, a time range, and the order. An error takes two lines. Kind 2, the log of
    SQL Server Agent, is empty.
    """
    number, kind = call.get_number("@p1"), call.get_number("@p2", 1)
    search_texts = [text.casefold() for text in (call.get_text("@p3"), call.get_text("@p4")) if text]
    start_time, end_time = (_parse_time_argument(call, name) for name in ("@p5", "@p6"))
    logs = errorlog.list_logs(call.world, call.server) if kind == 1 else [[]]
    if not 0 <= number < len(logs):
        raise SqlError(22004, "xp_readerrorlog")
    if kind == 2:
        call.machine.report_partly_simulated("the log of SQL Server Agent; it is empty here")
    rows: list[tuple[Scalar, ...]] = []
    for tick, message, severity, state, text in logs[number]:
        if (start_time is not None and tick < start_time) or (end_time is not None and tick > end_time):
            continue
        line_time, source = (
            call.machine.context.get_datetime_value(tick),
            errorlog.find_line_source(message, text),
        )
        if severity > 10 or message in (28047, 28048):
            rows.append((line_time, source, f"Error: {message}, Severity: {severity}, State: {state}."))
        rows.append((line_time, source, text))
    shown_rows = [row for row in rows if all(text in to_text(row[2]).casefold() for text in search_texts)]
    if call.get_text("@p7").lower().startswith("desc"):
        shown_rows.reverse()
    call.show_rows(("LogDate", "ProcessInfo", "Text"), shown_rows)


def _parse_time_argument(call: ProcedureCall, name: str) -> int | None:
    """Return the tick of a date and time argument; None if it is omitted."""
    value = call.arguments.get(name)
    if value is None:
        return None
    return clock.parse_tick(
        call.world, to_text(value, 121) if values.is_stored_date(value) else to_text(value)
    )


def _list_error_logs(call: ProcedureCall) -> None:
    """Execute sp_enumerrorlogs or xp_enumerrorlogs: list the error logs."""
    rows = [
        (
            number,
            to_text(call.machine.context.get_datetime_value(part[-1][0]), 101),
            sum(len(line[4]) + 60 for line in part),
        )
        for number, part in enumerate(errorlog.list_logs(call.world, call.server))
        if part
    ]
    call.show_rows(("Archive #", "Date", "Log File Size (Byte)"), rows)


def _cycle_error_log(call: ProcedureCall) -> None:
    """Execute sp_cycle_errorlog, which is equivalent to DBCC ERRORLOG."""
    call.machine.count_change()
    startup.begin_new_log(call.world, call.server)
    call.machine.append_numbered_message(2528)


def _show_version(call: ProcedureCall) -> None:
    """Execute xp_msver.

    Row names and numbers are from published output of xp_msver. Unknown values are NULL.
    """
    server = call.world.instances[call.server]
    cores = call.world.get_computer_of(call.server).cores
    number = PRODUCT_VERSIONS[server.version][0]
    _, (windows, release, windows_build) = host.get_windows_version(call.machine.context)
    major, _, build, patch = number.split(".")
    memory_mb = COMPUTER_MEMORY_KB // 1024
    all_attributes: tuple[tuple[str, Scalar, Scalar], ...] = (
        ("ProductName", None, "Microsoft SQL Server"),
        ("ProductVersion", int(major) << 16, number),
        ("Language", 1033, "English (United States)"),
        ("Platform", None, "NT x64"),
        ("Comments", None, "SQL"),
        ("CompanyName", None, "Microsoft Corporation"),
        ("FileDescription", None, "SQL Server Windows NT - 64 Bit"),
        ("FileVersion", None, None),
        ("InternalName", None, "SQLSERVR"),
        ("LegalCopyright", None, "Microsoft Corp. All rights reserved."),
        ("LegalTrademarks", None, "Microsoft SQL Server is a registered trademark of Microsoft Corporation."),
        ("OriginalFilename", None, "SQLSERVR.EXE"),
        ("PrivateBuild", None, None),
        ("SpecialBuild", int(build) << 16 | int(patch), None),
        (
            "WindowsVersion",
            windows << 24 | release << 16 | windows_build,
            f"{windows}.{release} ({windows_build})",
        ),
        ("ProcessorCount", cores, str(cores)),
        ("ProcessorActiveMask", None, f"{(1 << cores) - 1:16x}"),
        ("ProcessorType", 8664, None),
        ("PhysicalMemory", memory_mb, f"{memory_mb} ({memory_mb * 1024 * 1024})"),
        ("Product ID", None, None),
    )
    attribute_name = call.get_text("@optname").lower()
    rows = [
        (index, *row)
        for index, row in enumerate(all_attributes, start=1)
        if attribute_name in ("", row[0].lower())
    ]
    call.show_rows(("Index", "Name", "Internal_Value", "Character_Value"), rows)


def _flush_log(call: ProcedureCall) -> None:
    """Execute sp_flush_log (since 2014), which hardens the log of delayed durable transactions.

    It does nothing here, because the flow model hardens the log at each tick. Raises 2812 in older
    versions.
    """
    if call.world.instances[call.server].version < 2014:
        raise SqlError(2812, call.name)


HEALTH_STATES: Final = ("unknown", "clean", "warning", "error")


def _show_diagnostics(call: ProcedureCall) -> None:
    """Execute sp_server_diagnostics once: show the states of the instance's components and of its AGs.

    [DOC: sp_server_diagnostics]

    The state of a component is clean unless a simulated problem affects it. The problems are failed
    disks, lack of threads, and an AG replica on this server that is neither primary nor secondary.
    """
    context, world = call.machine.context, call.world
    if context.version < 2012:
        raise SqlError(2812, call.name)
    if call.get_number("@repeat_interval"):
        raise UnsimulatedFeatureError("sp_server_diagnostics with a repeat interval")
    copies = context.list_copies()
    lacks_workers = any(
        copy.source is not None and world.flow.count_worker_waits(copy.source) for copy in copies
    )
    states = {
        "system": 1,
        "resource": 1,
        "query_processing": 3 if context.server.short_of_threads else 2 if lacks_workers else 1,
        "io_subsystem": 2 if any(copy.disk_failed for copy in copies) else 1,
        "events": 0,
    }
    rows = [("instance", name, state) for name, state in states.items()]
    for group, own_replica_state in availability.list_local_groups(context):
        is_normal = own_replica_state.word in (ReplicaWord.PRIMARY_NORMAL, ReplicaWord.SECONDARY_NORMAL)
        rows.append(("alwaysOn:AvailabilityGroup", group.name, int(is_normal)))
    columns = ("create_time", "component_type", "component_name", "state", "state_desc", "data")
    call.show_rows(
        columns, [(context.get_datetime_value(), *row, HEALTH_STATES[row[2]], None) for row in rows]
    )
    call.machine.report_partly_simulated("column data of sp_server_diagnostics; NULL here")


# --- extended procedures for the command shell and the registry ---------------------------------------------


def _run_shell_command(call: ProcedureCall) -> None:
    """Execute xp_cmdshell. Raises 15281 while the procedure is disabled, which is the default."""
    if not get_option_value(call.machine.context, "xp_cmdshell"):
        raise SqlError(15281, "procedure", "sys.xp_cmdshell", "xp_cmdshell", "xp_cmdshell", "xp_cmdshell")
    raise UnsimulatedFeatureError("commands of the operating system")


_REGISTRY_VALUES: Final[dict[str, Scalar]] = {
    "backupdirectory": "D:\\Backup",
    "defaultdata": "D:\\Data",
    "defaultlog": "L:\\Log",
    "tcpport": "1433",
    "tcpdynamicports": "",
    "loginmode": 2,
    "auditlevel": 2,
}
"""Registry values that scripts read. The paths are the default paths for new files; the other values are
assumed.
"""


def _read_registry(call: ProcedureCall) -> None:
    """Execute xp_regread: show a registry value as a result set, or set the OUTPUT parameter.

    If the value does not exist, set the parameter to NULL. Without an OUTPUT parameter, print message 22001
    instead.
    """
    name = call.get_text("@value_name").lower()
    value = (
        call.machine.context.server.service_account if name == "objectname" else _REGISTRY_VALUES.get(name)
    )
    call.outputs["@value"] = value
    if value is None and call.get_text("@key").upper().startswith(("HARDWARE", "SYSTEM")):
        raise UnsimulatedFeatureError(f"the registry under {call.get_text('@key')}")
    if value is None:
        if "@value" not in call.arguments:
            call.machine.append_numbered_message(22001)
        return
    if "@value" not in call.arguments:
        call.show_rows(("Value", "Data"), [(call.get_argument("@value_name"), value)])


def _write_registry(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(f"{call.name}: writing to the registry")


def _reject_call(call: ProcedureCall) -> None:
    raise UnsimulatedFeatureError(call.name)


# --- extended procedures for files and folders --------------------------------------------------------------
# xp_fileexist, xp_create_subdir, xp_dirtree and xp_subdirs are undocumented. Results and messages are seen in
# public output.


def _check_file_exists(call: ProcedureCall) -> None:
    existence = folders.get_path_flags(call.machine.context, call.get_text("@path"))
    if "@found" in call.arguments:
        call.outputs["@found"] = existence[0]
    else:
        call.show_rows(("File Exists", "File is a Directory", "Parent Directory Exists"), [existence])


def _create_folder(call: ProcedureCall) -> None:
    """Execute xp_create_subdir.

    It does nothing, because in this simulation an existing drive contains every folder.
    """
    if not any(folders.get_path_flags(call.machine.context, call.get_text("@path"))):
        raise SqlError(22048, "xp_create_subdir", 3, "The system cannot find the path specified.")


def _show_tree(call: ProcedureCall) -> None:
    deepest, with_files = call.get_number("@depth"), call.get_number("@file")
    rows = [
        (name, depth, int(is_file))[: 3 if with_files else 2]
        for name, depth, is_file in folders.list_descendants(call.machine.context, call.get_text("@path"))
        if (with_files or not is_file) and (not deepest or depth <= deepest)
    ]
    call.show_rows(("subdirectory", "depth", "file")[: 3 if with_files else 2], rows)


def _show_folders(call: ProcedureCall) -> None:
    descendants = folders.list_descendants(call.machine.context, call.get_text("@path"))
    call.show_rows(
        ("subdirectory",), [(name,) for name, depth, is_file in descendants if depth == 1 and not is_file]
    )


PROCEDURES: Final[Procedures] = {
    "sp_server_diagnostics": _show_diagnostics,
    "sp_spaceused": _show_space_used,
    "sp_changedbowner": _change_owner,
    "xp_fixeddrives": _show_fixed_drives,
    "sp_change_users_login": _change_users_login,
    "sp_helptext": _show_definition,
    "xp_msver": _show_version,
    "sp_flush_log": _flush_log,
    "sp_readerrorlog": _read_error_log,
    "xp_readerrorlog": _read_error_log,
    "sp_cycle_errorlog": _cycle_error_log,
    "sp_enumerrorlogs": _list_error_logs,
    "xp_enumerrorlogs": _list_error_logs,
    "sp_configure": lambda call: maintenance.execute_sp_configure(call.machine, call.arguments),
    "xp_cmdshell": _run_shell_command,
    "xp_regread": _read_registry,
    "xp_instance_regread": _read_registry,
    "xp_regwrite": _write_registry,
    "xp_instance_regwrite": _write_registry,
    "sp_cycle_agent_errorlog": _reject_call,
    "sp_delete_backuphistory": _reject_call,
    "sp_delete_database_backuphistory": _reject_call,
    "sp_purge_jobhistory": _reject_call,
    "xp_fileexist": _check_file_exists,
    "xp_create_subdir": _create_folder,
    "xp_dirtree": _show_tree,
    "xp_subdirs": _show_folders,
}
