"""Statements that administer an instance: endpoints, permissions, certificates, logins, users and files."""

import re
from collections.abc import Mapping
from typing import Final, TypedDict

from msgspec.structs import replace

from engine.availability import replicas
from engine.messages import SqlError
from engine.protocol import accounts, database_files, databases, endpoints, log_space, statements, volumes
from engine.protocol import options as database_options
from engine.tsql import catalog
from engine.tsql.batches import access, backup_restore, constraints, objects, permissions, schema_binding
from engine.tsql.batches.context import SYSTEM_DATABASES
from engine.tsql.batches.data import Table
from engine.tsql.batches.machine import ExecutionMachine
from engine.tsql.batches.work import StatementHandler
from engine.tsql.catalog import instance
from engine.tsql.language import option_table
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars import languages
from engine.tsql.scalars.values import Scalar, to_text

Outcome = statements.Outcome
AdministrationHandler = StatementHandler[ExecutionMachine, Outcome]
"""Function that executes one kind of statement."""


def _evaluate_options(machine: ExecutionMachine, pairs: s.Pairs) -> dict[str, Scalar]:
    """Return option -> value, with variables replaced by their values."""
    return {name: machine.resolve_value(value) for name, value in pairs}


# --- endpoints -------------------------------------------------------------------------------------------

_ENDPOINT_FIELDS: Final = ("port", "ip", "role", "authentication", "certificate", "encryption", "algorithms")


def _create_endpoint(machine: ExecutionMachine, statement: s.CreateEndpointStatement) -> Outcome:
    _require_mirroring_payload(statement, is_required=True)
    if statement.port is None:
        raise SqlError(102, ")")
    if statement.role is None:
        raise SqlError(156, "ROLE")
    fields = {name: getattr(statement, name) for name in _ENDPOINT_FIELDS}
    return endpoints.create_endpoint(
        machine.world,
        machine.session.server,
        statement.name,
        state=statement.state,
        owner=statement.owner,
        login=machine.session.login,
        **fields,
    )


def _alter_endpoint(machine: ExecutionMachine, statement: s.AlterEndpointStatement) -> Outcome:
    _require_mirroring_payload(statement, is_required=False)
    fields = {name: getattr(statement, name) for name in _ENDPOINT_FIELDS}
    return endpoints.alter_endpoint(
        machine.world, machine.session.server, statement.name, state=statement.state, **fields
    )


def _require_mirroring_payload(statement: s.EndpointStatement, is_required: bool) -> None:
    if statement.payload not in ("DATABASE_MIRRORING", *(() if is_required else (None,))):
        raise UnsimulatedFeatureError(f"endpoints for {statement.payload or 'nothing'}")


def _alter_authorization(machine: ExecutionMachine, statement: s.AlterAuthorizationStatement) -> Outcome:
    if statement.kind == "DATABASE":
        return database_options.set_database_owner(
            machine.world, machine.session.server, statement.name, statement.owner
        )
    if statement.kind != "ENDPOINT":
        raise UnsimulatedFeatureError(f"ALTER AUTHORIZATION ON {statement.kind}")
    return endpoints.set_endpoint_owner(
        machine.world, machine.session.server, statement.name, statement.owner
    )


def _check_permission(machine: ExecutionMachine, statement: s.PermissionStatement) -> None:
    """Raise 15151 for an unknown object or grantee."""
    context = machine.context
    if statement.kind == "AVAILABILITY GROUP":
        group = replicas.find_group(machine.world, machine.session.server, statement.name)
        if group is None or (machine.session.server, group.guid) not in machine.world.replicas:
            raise SqlError(15151, "find", "availability group", statement.name)
    if (
        statement.kind == "OBJECT"
        and statement.name
        and catalog.get_object_id(context, statement.name) is None
    ):
        raise SqlError(15151, "find", "object", statement.name.rsplit(".", 1)[-1])
    if statement.kind in ("OBJECT", "DATABASE", "SCHEMA", "USER"):
        view, word = "sys.database_principals", "user"
    else:
        view, word = "sys.server_principals", "login"
    names = {to_text(row["name"]).casefold() for row in catalog.list_view_rows(context, view)}
    for grantee in statement.grantees:
        if grantee.casefold() not in names:
            raise SqlError(15151, "find", word, grantee)


SYSTEM_ACCOUNT: Final = "nt authority\\system"
"""Account with which the cluster monitors an availability group. [DOC: automatic failover problems]"""


def _change_permission(machine: ExecutionMachine, statement: s.PermissionStatement) -> Outcome:
    if statement.kind != "ENDPOINT":
        _check_permission(machine, statement)
    grantees = {name.casefold() for name in statement.grantees}
    if (
        statement.kind == "SERVER"
        and grantees == {SYSTEM_ACCOUNT}
        and {*statement.permissions} <= {*replicas.SYSTEM_PERMISSIONS}
    ):
        replicas.change_system_permissions(
            machine.world, machine.session.server, statement.permissions, statement.verb == "GRANT"
        )
        return []
    if statement.kind != "ENDPOINT":
        return permissions.change_permissions(machine, statement)
    if not set(statement.permissions) & {"CONNECT", "ALL", "CONTROL"}:
        raise UnsimulatedFeatureError(f"{statement.verb} {', '.join(statement.permissions)} ON ENDPOINT")
    return endpoints.change_connect_permission(
        machine.world, machine.session.server, statement.name, statement.verb, statement.grantees
    )


CLUSTER_PROPERTIES: Final = {
    "FAILURECONDITIONLEVEL": (3, 0, 5),
    "HEALTHCHECKTIMEOUT": (60_000, 15_000, 2**31 - 1),
}
"""Simulated failover cluster property of an instance -> (default, minimum, maximum).

[DOC: ALTER SERVER CONFIGURATION]
"""


def _set_cluster_property(machine: ExecutionMachine, statement: s.SetClusterPropertyStatement) -> Outcome:
    """Set a failover property of the failover cluster instance. It takes effect immediately."""
    setting = "ALTER SERVER CONFIGURATION SET FAILOVER CLUSTER PROPERTY"
    name = statement.name.upper()
    cluster_property = CLUSTER_PROPERTIES.get(name)
    if cluster_property is None or not machine.context.server.clustered:
        raise SqlError(
            0,
            f"Not simulated: {setting} {statement.name if cluster_property is None else 'without a failover cluster'}",
        )
    default, minimum, maximum = cluster_property
    value = str(default) if statement.value.upper() == "DEFAULT" else statement.value
    if not value.isdigit() or not minimum <= int(value) <= maximum:
        raise SqlError(0, f"Not simulated: {setting} {statement.name} = {value}")
    if name == "HEALTHCHECKTIMEOUT":
        machine.world.update_instance(machine.session.server, health_check_timeout_ms=int(value))
    else:
        machine.world.update_instance(machine.session.server, failure_condition_level=int(value))
    return []


def _alter_event_session(machine: ExecutionMachine, statement: s.AlterEventSessionStatement) -> Outcome:
    """Start or stop an event session, or change its automatic start.

    Raise 25704 if the session is already stopped, 25705 if it is already running, and 15151 if it does not
    exist.
    """
    context, server = machine.context, machine.context.server
    key = statement.name.lower()
    sessions = [session for session in instance.list_sessions(context) if session.name.lower() == key]
    if not sessions:
        raise SqlError(15151, "alter", "event session", statement.name)
    name, running = sessions[0].name, sessions[0].running
    if statement.option == "STARTUP_STATE":
        remaining_names = {session for session in server.sessions_manual if session != name}
        manual = remaining_names | ({name} if statement.value == "OFF" else set())
        machine.world.update_instance(server.name, sessions_manual=tuple(sorted(manual)))
        return []
    if running == (statement.value == "START"):
        raise SqlError(25705 if running else 25704)
    started = {session for session in server.sessions_started if session != name}
    if (
        not running and name not in server.sessions_stopped
    ):  # never run before: AlwaysOn_health on a server without a replica
        started |= {name}
    stopped_sessions = {session for session in server.sessions_stopped if session != name} | (
        {name} if running else set()
    )
    machine.world.update_instance(
        server.name, sessions_stopped=tuple(sorted(stopped_sessions)), sessions_started=tuple(sorted(started))
    )
    return []


# --- keys, certificates, logins, users -------------------------------------------------------------------


def _execute_master_key(machine: ExecutionMachine, statement: s.MasterKeyStatement) -> Outcome:
    if machine.session.database.lower() != "master":
        raise UnsimulatedFeatureError("keys and certificates outside master")
    if statement.password is None:
        raise SqlError(102, "KEY")
    accounts.check_password(machine.resolve_text(statement.password))
    return accounts.create_master_key(machine.world, machine.session.server)


def _create_certificate(machine: ExecutionMachine, statement: s.CreateCertificateStatement) -> Outcome:
    if machine.session.database.lower() != "master":
        raise UnsimulatedFeatureError("keys and certificates outside master")
    if statement.file is None and statement.subject is None:
        raise SqlError(102, statement.name)
    if statement.password is not None:
        accounts.check_password(statement.password)
        raise UnsimulatedFeatureError("CREATE CERTIFICATE … ENCRYPTION BY PASSWORD")
    return accounts.create_certificate(
        machine.world,
        machine.session.server,
        statement.name,
        owner=statement.owner,
        subject=statement.subject,
        start_date=statement.start_date,
        expiry_date=statement.expiry_date,
        file=statement.file,
        private_key_file=statement.private_key_file,
        decryption=statement.decryption or "",
    )


def _back_up_certificate(machine: ExecutionMachine, statement: s.BackupCertificateStatement) -> Outcome:
    if statement.decryption is not None:
        raise UnsimulatedFeatureError("BACKUP CERTIFICATE … DECRYPTION BY PASSWORD")
    if statement.password is not None:
        accounts.check_password(statement.password)
    return accounts.back_up_certificate(
        machine.world,
        machine.session.server,
        statement.name,
        statement.file,
        statement.private_key_file,
        statement.password or "",
    )


class LoginSettings(TypedDict):
    """Settings of a login that both CREATE LOGIN and ALTER LOGIN accept. None means not specified."""

    password: str | None
    default_database: str | None
    default_language: str | None
    check_policy: bool | None
    check_expiration: bool | None


def _read_login_settings(
    machine: ExecutionMachine, statement: s.LoginStatement, options: Mapping[str, Scalar]
) -> LoginSettings:
    """Return the settings in a CREATE LOGIN or ALTER LOGIN.

    Raise 155 for an unknown option, 15033 for an unknown language, 15010 for an unknown database.
    """
    title = "CREATE LOGIN" if isinstance(statement, s.CreateLoginStatement) else "ALTER LOGIN"
    option_table.check_options(title, statement.options, machine.context.version)
    language, database = options.get("DEFAULT_LANGUAGE"), options.get("DEFAULT_DATABASE")
    found_language = None if language is None else languages.find_language(to_text(language))
    if language is not None and found_language is None:
        if to_text(language).casefold() in languages.UNSIMULATED_LANGUAGES:
            raise UnsimulatedFeatureError(f"the language {to_text(language)}")
        raise SqlError(15033, to_text(language))
    if database is not None and machine.context.find_database_id(to_text(database)) is None:
        raise SqlError(15010, to_text(database))
    switches = {
        name: to_text(options[name]).upper() == "ON"
        for name in ("CHECK_POLICY", "CHECK_EXPIRATION")
        if name in options
    }
    return {
        "password": None if statement.password is None else machine.resolve_text(statement.password),
        "default_database": None if database is None else to_text(database),
        "default_language": None if found_language is None else found_language.name,
        "check_policy": switches.get("CHECK_POLICY"),
        "check_expiration": switches.get("CHECK_EXPIRATION"),
    }


def _create_login(machine: ExecutionMachine, statement: s.CreateLoginStatement) -> Outcome:
    options = _evaluate_options(machine, statement.options)
    settings = _read_login_settings(machine, statement, options)
    return accounts.create_login(
        machine.world,
        machine.session.server,
        statement.name,
        windows=statement.windows,
        certificate=statement.certificate,
        sid=_parse_sid(options.get("SID")),
        **settings,
    )


SID_BYTES: Final = 16
"""Length of the SID of a SQL login in bytes. The page of CREATE LOGIN documents it."""


def _parse_sid(value: object) -> int | None:
    """Convert a SID such as 0x0102… to a number. Raise 102 for other characters, 15419 for a wrong length."""
    if value is None:
        return None
    digits = str(value).lower().removeprefix("0x")
    if not re.fullmatch(r"[0-9a-f]+", digits):
        raise SqlError(102, value)
    if (len(digits) + 1) // 2 != SID_BYTES:
        raise SqlError(15419)
    return int(digits, 16)


def _alter_login(machine: ExecutionMachine, statement: s.AlterLoginStatement) -> Outcome:
    settings = _read_login_settings(machine, statement, _evaluate_options(machine, statement.options))
    world, server = machine.world, machine.session.server
    return accounts.alter_login(world, server, statement.name, state=statement.state, **settings)


def _create_user(machine: ExecutionMachine, statement: s.CreateUserStatement) -> Outcome:
    option_table.check_options("CREATE USER", statement.options, machine.context.version)
    return accounts.create_user(
        machine.world,
        machine.session.server,
        machine.session.database,
        statement.name,
        login=statement.login,
        without_login=statement.without_login,
    )


def _alter_user(machine: ExecutionMachine, statement: s.AlterUserStatement) -> Outcome:
    option_table.check_options("ALTER USER", statement.options, machine.context.version)
    new_name = _evaluate_options(machine, statement.options).get("NAME")
    return accounts.alter_user(
        machine.world,
        machine.session.server,
        machine.session.database,
        statement.name,
        login=statement.login,
        new_name=None if new_name is None else to_text(new_name),
    )


# --- files of a database ---------------------------------------------------------------------------------

_KB_PER_UNIT: Final = {"KB": 1.0, "MB": 1024.0, "GB": 1024.0**2, "TB": 1024.0**3}
"""Unit of a file size -> kilobytes."""


def _parse_size_kb(text: str | None) -> float | None:
    """Convert SIZE or MAXSIZE, such as "10 GB", "512" (MB) or "UNLIMITED", to kilobytes."""
    if text is None:
        return None
    if text.upper() == "UNLIMITED":
        return float("inf")
    number, _, unit = text.partition(" ")
    if not (number.isascii() and number.isdigit()):
        raise SqlError(102, text)
    return int(number) * _KB_PER_UNIT.get(unit.upper() or "MB", 1024.0)


FILE_PROPERTIES: Final = ("NAME", "NEWNAME", "FILENAME", "SIZE", "MAXSIZE", "FILEGROWTH", "OFFLINE")
"""File properties of MODIFY FILE. [DOC: ALTER DATABASE file options]"""


def _parse_growth(text: str | None) -> volumes.FileChanges:
    """Parse FILEGROWTH: "10%", "64 MB", or "512" (MB)."""
    if text is None:
        return {}
    number, _, unit = text.partition(" ")
    if unit == "%" and number.isascii() and number.isdigit():
        return {"growth_percent": int(number), "growth_kb": None}
    return {"growth_kb": _parse_size_kb(text), "growth_percent": None}


def _read_file_options(machine: ExecutionMachine, statement: s.AlterDatabaseFilesStatement) -> dict[str, str]:
    """Return the file properties in the statement. Raise 102 for an unknown property."""
    names = [name for name, _ in statement.options]
    if names.count("NAME") > 1:
        raise UnsimulatedFeatureError(
            f"ALTER DATABASE … {statement.action} of several files in one statement"
        )
    group = next((str(value) for name, value in statement.options if name == "FILEGROUP"), "PRIMARY")
    if group.upper() != "PRIMARY":
        raise UnsimulatedFeatureError(f"ALTER DATABASE … {statement.action} … TO FILEGROUP {group}")
    for name, value in statement.options:
        if name not in (*FILE_PROPERTIES, "FILEGROUP") or (value is None) != (name == "OFFLINE"):
            raise SqlError(102, name)
        if name == "OFFLINE":
            raise UnsimulatedFeatureError(f"ALTER DATABASE … {statement.action} (OFFLINE)")
    return {name: machine.resolve_text(value) for name, value in statement.options}


def _alter_files(machine: ExecutionMachine, statement: s.AlterDatabaseFilesStatement) -> Outcome:
    world, server = machine.world, machine.session.server
    if statement.database.lower() in SYSTEM_DATABASES:
        raise UnsimulatedFeatureError(
            f"files of system databases: {statement.database.lower()} keeps those that it has"
        )
    if statement.action == "MODIFY NAME":
        raise UnsimulatedFeatureError("ALTER DATABASE … MODIFY NAME: a database keeps its name")
    if not statement.action.endswith(" FILE"):
        raise UnsimulatedFeatureError(f"ALTER DATABASE … {statement.action}")
    options = _read_file_options(machine, statement)
    name = options.get("NAME", "")
    max_kb, growth = _parse_size_kb(options.get("MAXSIZE")), _parse_growth(options.get("FILEGROWTH"))
    if statement.action in ("ADD FILE", "ADD LOG FILE"):
        if not name:
            raise SqlError(1036, "NAME")
        if "FILENAME" not in options:
            raise SqlError(1036, "FILENAME")
        if "NEWNAME" in options:
            raise SqlError(153, "NEWNAME", "CREATE/ALTER DATABASE")
        size_kb = _parse_size_kb(options.get("SIZE")) or 1024.0
        log = "LOG" in statement.action
        changes: volumes.FileChanges = {**growth}
        if max_kb is not None:
            changes["max_kb"] = max_kb
        return log_space.add_file(
            world, server, statement.database, name, options["FILENAME"], size_kb, log=log, options=changes
        )
    if statement.action == "REMOVE FILE":
        return log_space.remove_file(world, server, statement.database, name)
    if len(options) < 2:
        raise SqlError(5038, name)
    return database_files.modify_file(
        world,
        server,
        statement.database,
        name,
        path=options.get("FILENAME"),
        new_name=options.get("NEWNAME"),
        size_kb=_parse_size_kb(options.get("SIZE")),
        max_kb=max_kb,
        growth=growth or None,
    )


# --- DROP ------------------------------------------------------------------------------------------------

MISSING_OBJECT_ERRORS: Final = frozenset({3701, 15151})
"""Numbers of the errors that DROP … IF EXISTS suppresses."""


def _drop_if_exists(machine: ExecutionMachine, statement: s.DropStatement) -> Outcome:
    if not statement.if_exists:
        return _drop_named_object(machine, statement)
    for name in statement.names:
        try:
            _drop_named_object(machine, replace(statement, names=(name,)))
        except SqlError as problem:
            if problem.number not in MISSING_OBJECT_ERRORS:
                raise
    return []


def _drop_named_object(machine: ExecutionMachine, statement: s.DropStatement) -> Outcome:
    world, server = machine.world, machine.session.server
    if statement.kind == "DATABASE":
        for name in statement.names[:-1]:
            _drop_database(machine, name)
        return _drop_database(machine, statement.names[-1])
    name = statement.names[0]
    if len(statement.names) > 1 and statement.kind not in _OBJECT_CLASSES:
        raise SqlError(102, ",")
    if statement.kind == "ENDPOINT":
        return endpoints.drop_endpoint(world, server, name)
    if statement.kind == "CERTIFICATE":
        return accounts.drop_certificate(world, server, name)
    if statement.kind == "LOGIN":
        return permissions.drop_login(machine, name)
    if statement.kind == "USER":
        schema_binding.check_user_owns_no_schema(machine, name)
        return accounts.drop_user(world, server, machine.session.database, name)
    if statement.kind == "SCHEMA":
        return schema_binding.drop_schema(machine, name)
    if statement.kind == "MASTER KEY":
        return accounts.drop_master_key(world, server)
    if statement.kind in _OBJECT_CLASSES:
        return _drop_objects(machine, statement)
    raise UnsimulatedFeatureError(f"DROP {statement.kind}")


_OBJECT_CLASSES: Final[dict[str, type[objects.UserObject]]] = {
    "TABLE": Table,
    "PROC": objects.UserProcedure,
    "VIEW": objects.UserView,
    "FUNCTION": objects.UserFunction,
}


def _drop_objects(machine: ExecutionMachine, statement: s.DropStatement) -> Outcome:
    for name in statement.names:
        parts = tuple(name.split("."))
        known_tables = dict(machine.session.tables)
        if parts[-1].startswith("#"):
            if parts[-1].lower() not in known_tables:
                raise SqlError(3701, "drop", "table", name)
            del known_tables[parts[-1].lower()]
            machine.change_session(tables=tuple(known_tables.items()))
        elif statement.kind == "TABLE" and constraints.is_table_referenced(machine, parts):
            raise SqlError(3726, name)
        else:
            schema_binding.check_object_unbound(machine.context, f"DROP {statement.kind}", parts)
            objects.drop_object(machine.context, parts, _OBJECT_CLASSES[statement.kind])
    return []


def _drop_database(machine: ExecutionMachine, name: str) -> Outcome:
    server = machine.session.server
    dropped = databases.drop_database(machine.world, server, name)
    access.remove_access_mode(machine.world, server, name)
    return dropped


DATABASES_MAX: Final = 300
"""Maximum number of database copies and snapshots in a world. CREATE DATABASE refuses more. Assumed."""


def _create_database(machine: ExecutionMachine, statement: s.CreateDatabaseStatement) -> Outcome:
    world, server, login = machine.world, machine.session.server, machine.session.login
    snapshot_count = sum(len(instance.snapshots) for instance in world.instances.values())
    if len(world.copies) + snapshot_count >= DATABASES_MAX:
        raise UnsimulatedFeatureError(
            f"CREATE DATABASE beyond {DATABASES_MAX} databases on all servers together"
        )
    option_table.check_options("CREATE DATABASE", statement.options, machine.context.version)
    named = [dict(file.properties) for file in statement.files]
    if statement.snapshot_of is not None:
        file_names = tuple((file.get("NAME", ""), file.get("FILENAME", "")) for file in named)
        return databases.create_snapshot(world, server, statement.name, statement.snapshot_of, file_names)
    if statement.attach == "ATTACH":
        return databases.attach_database(
            world, server, statement.name, named[0].get("FILENAME", "") if named else "", login
        )
    if statement.attach:
        raise UnsimulatedFeatureError(f"CREATE DATABASE … FOR {statement.attach}")
    files = [_build_new_file(file) for file in statement.files]
    return databases.create_database(world, server, statement.name, login, files)


def _build_new_file(file: s.FileSpec) -> databases.NewDatabaseFile:
    """Return a file of CREATE DATABASE. Raise 102 for an unknown property, 1036 for a missing one."""
    values = dict(file.properties)
    for name in values:
        if name not in FILE_PROPERTIES[:1] + FILE_PROPERTIES[2:6]:
            raise SqlError(102, name)
    for name in ("NAME", "FILENAME"):
        if name not in values:
            raise SqlError(1036, name)
    return databases.NewDatabaseFile(
        name=values["NAME"],
        path=values["FILENAME"],
        log=file.log,
        size_kb=_parse_size_kb(values.get("SIZE")),
        max_kb=_parse_size_kb(values.get("MAXSIZE")),
        growth=_parse_growth(values.get("FILEGROWTH")),
    )


def _create_key(machine: ExecutionMachine, statement: s.CreateEncryptionKeyStatement) -> Outcome:
    """Execute CREATE DATABASE ENCRYPTION KEY. Raise 33102 in a system database."""
    database = machine.session.database
    if database.lower() in SYSTEM_DATABASES:
        raise SqlError(33102)
    if statement.algorithm != "AES_256":
        raise UnsimulatedFeatureError(f"an encryption key of the algorithm {statement.algorithm}")
    world, server, certificate = machine.world, machine.session.server, statement.certificate
    database_options.create_encryption_key(world, server, database, certificate)
    return accounts.build_missing_backup_warning(world, server, certificate)


STATEMENT_HANDLERS: Final[dict[type[s.Statement], AdministrationHandler]] = {
    s.CreateEndpointStatement: _create_endpoint,
    s.AlterEndpointStatement: _alter_endpoint,
    s.AlterAuthorizationStatement: _alter_authorization,
    s.PermissionStatement: _change_permission,
    s.ChangeRoleStatement: permissions.run_role_statement,
    s.AlterEventSessionStatement: _alter_event_session,
    s.SetClusterPropertyStatement: _set_cluster_property,
    s.MasterKeyStatement: _execute_master_key,
    s.CreateCertificateStatement: _create_certificate,
    s.BackupCertificateStatement: _back_up_certificate,
    s.CreateLoginStatement: _create_login,
    s.AlterLoginStatement: _alter_login,
    s.CreateUserStatement: _create_user,
    s.CreateDatabaseStatement: _create_database,
    s.CreateEncryptionKeyStatement: _create_key,
    s.AlterUserStatement: _alter_user,
    **backup_restore.COMMANDS,
    s.AlterDatabaseFilesStatement: _alter_files,
    s.DropStatement: _drop_if_exists,
    s.CreateSchemaStatement: schema_binding.create_schema,
    s.TransferObjectStatement: schema_binding.transfer_object,
}
"""Class of a statement -> function that executes it."""
