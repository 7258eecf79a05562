"""Scripts of the "Script as" menu: CREATE, ALTER and DROP statements as in Management Studio.

Independent of Qt.
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from app.words import formatting
from engine.availability import replicas
from engine.model import AvailabilityGroup, Certificate, DatabaseCopy, Endpoint, Job, Login, Role, World

NamedObject = TypeVar("NamedObject", Certificate, Login, Job)

TitledScript = tuple[str, str]
"""Title in the menu, and text."""


def list_object_scripts(world: World, server: str, kind: str, name: str) -> list[TitledScript]:
    """Return the scripts for an object as the server knows it now. Return none if it no longer exists."""
    make = _SCRIPT_FUNCTIONS.get(kind)
    return list(make(world, server, name)) if make is not None else []


def quote_name(name: str) -> str:
    """Return *name* in square brackets: `[name]`."""
    return f"[{name.replace(']', ']]')}]"


def quote_literal(text: str) -> str:
    """Return *text* as a T-SQL literal: `N'text'`."""
    return "N'" + text.replace("'", "''") + "'"


# --- databases ----------------------------------------------------------------------------------------------


def _script_database(world: World, server: str, name: str) -> Iterable[TitledScript]:
    copy = world.copies.get((server, name))
    if copy is None:
        return
    alter = f"ALTER DATABASE {quote_name(name)} SET "
    if copy.availability.guid is not None:
        for action in ("SUSPEND", "RESUME", "OFF"):
            yield f"HADR {action}", f"{alter}HADR {action}\nGO\n"
        return
    if copy.mirroring.guid is None:
        yield (
            "PARTNER = …",
            f"{alter}PARTNER = {quote_literal('TCP://<partner, sysname, SERVER_B>:<port, int, 5022>')}\n",
        )
        return
    yield "the whole session", _script_session(copy, alter)
    for action in ("FAILOVER", "SUSPEND", "RESUME", "OFF", "FORCE_SERVICE_ALLOW_DATA_LOSS"):
        yield f"PARTNER {action}", f"{_format_use_master(copy, action)}{alter}PARTNER {action}\nGO\n"
    for safety in ("FULL", "OFF"):
        yield f"SAFETY {safety}", f"{alter}PARTNER SAFETY {safety}\nGO\n"
    yield "WITNESS OFF", f"{alter}WITNESS OFF\nGO\n"


def _format_use_master(copy: DatabaseCopy, clause: str) -> str:
    return "USE master\nGO\n" if clause == "FAILOVER" and copy.mirroring.role is Role.PRINCIPAL else ""


def _script_session(copy: DatabaseCopy, alter: str) -> str:
    """Return the statements that set up the current mirroring session on the server of *copy*.

    *alter*: beginning of each statement, up to SET.
    """
    lines = [f"{alter}PARTNER = {quote_literal(copy.mirroring.partner_address or '')}", "GO"]
    if copy.mirroring.role is Role.PRINCIPAL:
        lines += [
            f"{alter}PARTNER SAFETY {copy.mirroring.safety.name}",
            "GO",
            f"{alter}PARTNER TIMEOUT {copy.mirroring.timeout_s}",
            "GO",
        ]
        if copy.mirroring.witness_address:
            lines += [f"{alter}WITNESS = {quote_literal(copy.mirroring.witness_address)}", "GO"]
    return "\n".join(lines) + "\n"


# --- availability groups ------------------------------------------------------------------------------------


def _script_group(world: World, server: str, name: str) -> Iterable[TitledScript]:
    alter = f"USE master\nGO\nALTER AVAILABILITY GROUP {quote_name(name)} "
    for action in ("FAILOVER", "FORCE_FAILOVER_ALLOW_DATA_LOSS", "OFFLINE"):
        yield action, f"{alter}{action}\nGO\n"
    yield "ADD DATABASE", f"{alter}ADD DATABASE [<database, sysname, Sales>]\nGO\n"
    yield "ADD LISTENER", f"{alter}ADD LISTENER N'<listener, sysname, {name}L>' (WITH DHCP)\nGO\n"
    yield "DROP To", f"USE master\nGO\nDROP AVAILABILITY GROUP {quote_name(name)}\nGO\n"


def script_failover(group: str) -> str:
    """Return the script that Failover… opens. It must run on the server that becomes the primary."""
    return f"USE master\nGO\nALTER AVAILABILITY GROUP {quote_name(group)} FAILOVER\n"


def script_data_movement(database: str, clause: str) -> str:
    """Return the statement that suspends or resumes data movement for *database*.

    *clause*: SUSPEND or RESUME.
    """
    return f"ALTER DATABASE {quote_name(database)} SET HADR {clause}"


def _build_group_prefix(
    world: World, server: str, predicate: Callable[[AvailabilityGroup], bool]
) -> Iterable[str]:
    """Yield the script prefix `ALTER AVAILABILITY GROUP [g] ` for availability groups of *server*.

    Only availability groups for which *predicate* returns True are included.
    """
    groups = (
        replicas.find_group_config(world, server, state.guid)
        for state in replicas.list_replica_states(world, server)
    )
    for group in groups:
        if group is not None and predicate(group):
            yield f"USE master\nGO\nALTER AVAILABILITY GROUP {quote_name(group.name)} "


def _script_replica(world: World, server: str, name: str) -> Iterable[TitledScript]:
    for alter in _build_group_prefix(world, server, lambda group: group.find_replica(name) is not None):
        modify = f"{alter}MODIFY REPLICA ON {quote_literal(name)} WITH "
        for option in (
            "AVAILABILITY_MODE = SYNCHRONOUS_COMMIT",
            "AVAILABILITY_MODE = ASYNCHRONOUS_COMMIT",
            "FAILOVER_MODE = AUTOMATIC",
            "FAILOVER_MODE = MANUAL",
            "SECONDARY_ROLE (ALLOW_CONNECTIONS = ALL)",
            "SECONDARY_ROLE (ALLOW_CONNECTIONS = READ_ONLY)",
            "SECONDARY_ROLE (ALLOW_CONNECTIONS = NO)",
        ):
            yield option, f"{modify}({option})\nGO\n"
        yield "REMOVE REPLICA", f"{alter}REMOVE REPLICA ON {quote_literal(name)}\nGO\n"


def _script_group_database(world: World, server: str, name: str) -> Iterable[TitledScript]:
    for alter in _build_group_prefix(world, server, lambda group: name in group.databases):
        yield from _script_database(world, server, name)
        yield "REMOVE DATABASE", f"{alter}REMOVE DATABASE {quote_name(name)}\nGO\n"


def _script_listener(world: World, server: str, name: str) -> Iterable[TitledScript]:
    for alter in _build_group_prefix(world, server, lambda group: group.listener is not None):
        yield "PORT = …", f"{alter}MODIFY LISTENER {quote_literal(name)} (PORT = <port, int, 1433>)\nGO\n"
        for action in ("RESTART", "REMOVE"):
            yield f"{action} LISTENER", f"{alter}{action} LISTENER {quote_literal(name)}\nGO\n"


# --- endpoints, certificates, logins ------------------------------------------------------------------------


def _script_endpoint(world: World, server: str, name: str) -> Iterable[TitledScript]:
    end = world.instances[server].endpoint
    if end is None:
        return
    called = f"ENDPOINT {quote_name(end.name)}"
    yield (
        "CREATE To",
        f"CREATE {called}\n    AUTHORIZATION {quote_name(end.owner)}\n{_format_endpoint_body(end)}",
    )
    yield "ALTER To start", f"ALTER {called} STATE = STARTED\nGO\n"
    yield "ALTER To stop", f"ALTER {called} STATE = STOPPED\nGO\n"
    yield "DROP To", f"DROP {called}\nGO\n"


def _format_endpoint_body(end: Endpoint) -> str:
    ip = end.ip if end.ip == "ALL" else f"({end.ip})"
    authentication = end.authentication.replace(
        "CERTIFICATE", f"CERTIFICATE {quote_name(end.certificate or '')}"
    )
    algorithms = (
        f" ALGORITHM {' '.join(end.algorithms)}" if end.encryption != "DISABLED" and end.algorithms else ""
    )
    return (
        f"    STATE = {end.state.name}\n"
        f"    AS TCP (LISTENER_PORT = {end.port}, LISTENER_IP = {ip})\n"
        f"    FOR DATABASE_MIRRORING (AUTHENTICATION = {authentication}\n"
        f"        , ENCRYPTION = {end.encryption}{algorithms}, ROLE = {end.role})\nGO\n"
    )


def _script_certificate(world: World, server: str, name: str) -> Iterable[TitledScript]:
    certificate = _find_named(world.instances[server].certificates, name)
    if certificate is None:
        return
    called, file = f"CERTIFICATE {quote_name(name)}", quote_literal(f"C:\\{name}.cer")
    expiry = formatting.format_server_time(world.settings.start_time, certificate.expires_tick, 0)
    yield (
        "CREATE To",
        (
            f"CREATE {called}\n    WITH SUBJECT = {quote_literal(certificate.subject)}, "
            f"EXPIRY_DATE = {quote_literal(expiry)}\nGO\n"
        ),
    )
    yield "BACKUP To", f"BACKUP {called} TO FILE = {file}\nGO\n"
    yield "DROP To", f"DROP {called}\nGO\n"


def _script_login(world: World, server: str, name: str) -> Iterable[TitledScript]:
    login = _find_named(world.instances[server].logins, name)
    called = f"LOGIN {quote_name(name)}"
    if login is not None:
        yield "CREATE To", _script_create_login(login, called)
        yield "ALTER To enable", f"ALTER {called} ENABLE\nGO\n"
        yield "ALTER To disable", f"ALTER {called} DISABLE\nGO\n"
        yield "DROP To", f"DROP {called}\nGO\n"


def _script_create_login(login: Login, login_clause: str) -> str:
    """Return CREATE LOGIN without the SID, as Management Studio scripts it."""
    default = f"DEFAULT_DATABASE = {quote_name(login.default_database)}"
    if login.kind == "WINDOWS":
        return f"CREATE {login_clause} FROM WINDOWS WITH {default}\nGO\n"
    if login.kind == "CERTIFICATE":
        return f"CREATE {login_clause} FROM CERTIFICATE <certificate, sysname, certificate_name>\nGO\n"
    return (
        "/* For security reasons the login is created disabled; its password is not known here. */\n"
        f"CREATE {login_clause} WITH PASSWORD = N'<password, sysname, >', {default}, CHECK_POLICY = OFF\nGO\n"
        f"ALTER {login_clause} DISABLE\nGO\n"
    )


# --- linked servers, jobs -----------------------------------------------------------------------------------


def _script_linked_server(world: World, server: str, name: str) -> Iterable[TitledScript]:
    if name in world.instances[server].linked_servers:
        called = quote_literal(name)
        yield (
            "CREATE To",
            (f"EXEC master.dbo.sp_addlinkedserver @server = {called}, @srvproduct = N'SQL Server'\nGO\n"),
        )
        yield "DROP To", f"EXEC master.dbo.sp_dropserver @server = {called}, @droplogins = 'droplogins'\nGO\n"


def _script_job(world: World, server: str, name: str) -> Iterable[TitledScript]:
    job = _find_named(world.instances[server].jobs, name)
    if job is None:
        return
    called = f"@job_name = {quote_literal(name)}"
    yield "CREATE To", f"EXEC msdb.dbo.sp_add_job {called}, @enabled = {int(job.enabled)}\nGO\n"
    yield "DROP To", f"EXEC msdb.dbo.sp_delete_job {called}\nGO\n"


def script_enable_job(name: str, enabled: bool) -> str:
    """Return the statement that enables or disables the job *name*."""
    return f"EXEC msdb.dbo.sp_update_job @job_name = {quote_literal(name)}, @enabled = {int(enabled)}"


def script_start_job(name: str) -> str:
    """Return the statement that starts the job *name*."""
    return f"EXEC msdb.dbo.sp_start_job @job_name = {quote_literal(name)}"


def _find_named(items: Iterable[NamedObject], name: str) -> NamedObject | None:
    return next((item for item in items if item.name == name), None)


_SCRIPT_FUNCTIONS: Final[dict[str, Callable[[World, str, str], Iterable[TitledScript]]]] = {
    "database": _script_database,
    "endpoint": _script_endpoint,
    "certificate": _script_certificate,
    "login": _script_login,
    "linked server": _script_linked_server,
    "job": _script_job,
    "availability group": _script_group,
    "availability replica": _script_replica,
    "availability database": _script_group_database,
    "listener": _script_listener,
}
