"""ERRORLOG lines that a server writes, in order, when it starts and when it begins a new ERRORLOG.

Order and texts are from published ERRORLOGs of 2005 to 2017. The threads of a real start overlap, so adjacent
lines may be swapped there. Lines about memory, locks, MS DTC, audits and service names in the directory are
left out.
"""

from collections.abc import Iterator
from typing import Final

from engine.constants import PRODUCT_VERSIONS, RECOVERY_AT_START_S
from engine.model import DbState, Handlers, Instance, World
from engine.protocol import errorlog, group_policies, security

DAC_PORT: Final = 1434
SQL_PORT: Final = 1433
"""Port of the default instance. Documented [DOC: dedicated administrator connection; TCP/IP properties]."""

EXPRESS_DAC_TRACE_FLAG: Final = 7806
"""Trace flag that gives Express a dedicated administrator connection. Documented."""


def get_instance_folder(version: int) -> str:
    """Return the folder of the default instance. Documented [DOC: file locations for default and named instances]."""
    return (
        "MSSQL.1" if version == 2005 else f"MSSQL{PRODUCT_VERSIONS[version][0].partition('.')[0]}.MSSQLSERVER"
    )


StartupLine = tuple[int | str, tuple[object, ...]]
"""(number, arguments) of a message, or (text, ()) for a line whose number is unknown."""


def format_product(server: Instance) -> str:
    """Return product name and build as in @@VERSION and in the first line of an ERRORLOG."""
    number, _, name = PRODUCT_VERSIONS[server.version]
    return f"{name} - {number} (X64) "


SERVICE_ACCOUNT_TEXT: Final = (
    "The service account is '{account}'. This is an informational message; no user action is required."
)
PROCESSORS_TEXT: Final = (
    "SQL Server detected 1 sockets with {cores} cores per socket and {cores} logical processors per socket, {cores} "
    "total logical processors; using {cores} logical processors based on SQL Server licensing. This is an "
    "informational message; no user action is required."
)
"""ERRORLOG line since 2012 about the processors. Its number, and that of SERVICE_ACCOUNT_TEXT, is not
published.
"""


def get_log_path(server: Instance) -> str:
    """Return the path of the ERRORLOG."""
    home = f"C:\\Program Files\\Microsoft SQL Server\\{get_instance_folder(server.version)}\\MSSQL"
    return f"{home}\\LOG\\ERRORLOG"


def _list_header_lines(server: Instance) -> Iterator[StartupLine]:
    """Yield the first lines of every ERRORLOG."""
    yield format_product(server), ()
    yield 17101, ()
    yield 17103, ()
    yield 17104, (4 * (300 + (server.started_tick // 100 + 97 * server.host) % 2000),)
    yield "Authentication mode is MIXED.", ()
    yield 17111, (get_log_path(server),)
    if server.version >= 2012:
        yield SERVICE_ACCOUNT_TEXT.format(account=server.service_account), ()


def _list_engine_lines(server: Instance, cores: int) -> Iterator[StartupLine]:
    """Yield the ERRORLOG lines of a start, from the processor count to "ready for client connections"."""
    if server.version >= 2012:
        yield PROCESSORS_TEXT.format(cores=cores), ()
    yield 17162, ()
    if server.version < 2012:
        yield 17164, (cores,)
    yield 17137, ("master",)
    yield 19030, (1, "sa")
    yield 17663, (server.name,)
    if server.clustered:
        yield 17664, (server.computer,)
    yield 17137, ("mssqlsystemresource",)
    build = PRODUCT_VERSIONS[server.version][0].split(".")
    yield 958, (f"{build[0]}.{int(build[1]):02}.{build[2]}",)
    yield 17137, ("msdb",)
    yield 17137, ("model",)
    yield 26018, ()
    if server.tcp_listening:
        yield 26022, ("'any'", "ipv4", SQL_PORT)
    yield 26048, ("\\\\.\\pipe\\SQLLocal\\MSSQLSERVER",)
    if server.edition == "Express":
        yield 17199, (EXPRESS_DAC_TRACE_FLAG,)
    else:
        yield 26022, ("127.0.0.1", "ipv4", DAC_PORT)
        yield 17201, (DAC_PORT,)
    yield 17126, ()


def _list_transport_lines(server: Instance) -> Iterator[StartupLine]:
    """Yield the ERRORLOG lines that follow the start of user databases.

    They are about tempdb, Service Broker and the mirroring endpoint.
    """
    yield 17136, ()
    yield 17137, ("tempdb",)
    yield 9666, ("Service Broker",)
    if security.is_listening(server) and server.endpoint is not None:
        address_text = "'any'" if server.endpoint.ip == "ALL" else server.endpoint.ip
        yield 26022, (address_text, "ipv4", server.endpoint.port)
        yield 9690, (security.TRANSPORT_NAME,)
        yield 1485, ()
    elif server.endpoint is not None:
        yield 1486, ()
    else:
        yield 9666, (security.TRANSPORT_NAME,)
    yield 9688, ()


def _write_lines(world: World, server: str, lines: Iterator[StartupLine]) -> None:
    for line_key, arguments in lines:
        if isinstance(line_key, int):
            errorlog.write_message(world, server, line_key, *arguments)
        else:
            errorlog.write_text(world, server, line_key)


def write_first_lines(world: World, server: str) -> None:
    """Write the ERRORLOG lines of a start, up to the point at which the instance is ready for clients."""
    state = world.instances[server]
    _write_lines(world, server, _list_header_lines(state))
    _write_lines(world, server, _list_engine_lines(state, world.get_computer_of(server).cores))


def write_transport_lines(world: World, server: str) -> None:
    """Write the ERRORLOG lines about tempdb, Service Broker and the mirroring endpoint."""
    _write_lines(world, server, _list_transport_lines(world.instances[server]))


def write_last_line(world: World, server: str, started_tick: int) -> None:
    """Write the last ERRORLOG line of a start when all databases are recovered (timer handler)."""
    state = world.instances[server]
    if state.running and state.started_tick == started_tick and state.hung:
        world.call_after(RECOVERY_AT_START_S, "startup.complete", server, started_tick)
    elif state.running and state.started_tick == started_tick:
        errorlog.write_message(world, server, 3408)


def begin_new_log(world: World, server: str) -> None:
    """Begin a new ERRORLOG (DBCC ERRORLOG, sp_cycle_errorlog)."""
    _write_lines(world, server, _list_header_lines(world.instances[server]))
    errorlog.write_message(world, server, 17184)


def log_clean_startups(world: World) -> None:
    """Write the ERRORLOGs of servers that started without problems before the run."""
    for name, server in sorted(world.instances.items()):
        if not server.running:
            continue
        write_first_lines(world, name)
        copies = [copy for (server_name, _), copy in sorted(world.copies.items()) if server_name == name]
        for copy in copies:
            errorlog.write_message(world, name, 17137, copy.database)
            if not copy.group_kind and copy.db_state is DbState.RESTORING:
                errorlog.write_message(world, name, 3402, copy.database, "RESTORING")
        write_transport_lines(world, name)
        for copy in copies:
            group_policies.get_policy(copy).log_startup_state(world, (name, copy.database))
        errorlog.write_message(world, name, 3408)


HANDLERS: Final[Handlers] = {"startup.complete": write_last_line}
