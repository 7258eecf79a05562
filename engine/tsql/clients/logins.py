"""Logins and connections of external programs. Each connection is a window that never reconnects silently."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from engine.events import SessionData
from engine.inputs import InputError
from engine.json_text import parse_json
from engine.localization import build_message
from engine.messages import Message, SqlError, fill_message
from engine.model import World
from engine.protocol import clients, errorlog, statements
from engine.protocol.startup import SQL_PORT
from engine.tsql.batches.data import (
    CONSOLE_PROGRAM,
    ClientProgram,
    ConnectionTarget,
    SqlSession,
    Submission,
    Window,
)
from engine.tsql.clients import client, connections
from engine.tsql.scalars import languages
from engine.tsql.scalars.types import clean_text

SYSTEM_ADMINISTRATOR_LOGIN: Final = "sa"
"""Login that exists on every instance."""

FIELD_CHARACTERS_MAX: Final = 128
"""Maximum number of characters in each value of a login request. Documented."""

REFUSAL_REASONS: Final = {
    "password": (8, "Password did not match that for the login provided."),
    "login": (5, "Could not find a login matching the name provided."),
    "database": (38, "Failed to open the explicitly specified database."),
    "default": (40, "Failed to open the database specified in the login properties."),
}
"""Reason of a refused login -> (state, text) of 18456 in the ERRORLOG since 2008. Documented."""

LOGIN_FIELDS: Final = (
    "login", "password", "host", "program", "library", "database", "intent", "listener", "language", "encrypted",
    "packet_bytes",
)  # fmt: skip
"""Keys of a login request (verb `connect`).

The password is only "right" or "wrong", so that no journal contains a real password. *listener*: name through
which the program connects. *encrypted*: "yes" or empty.
"""


def log_in(world: World, window: str, text: str) -> None:
    """Log in with *text*, a JSON object whose keys are LOGIN_FIELDS.

    The event `session` reports admission, refusal or redirection. If no program could send this
    request, raise InputError and change nothing.
    """
    options = _parse_request(text)
    server = connections.get_server_name(window)
    if window in world.sessions:
        raise InputError(build_message("{window} is already connected", window=window))
    if not connections.is_reachable(world, server) or world.instances[server].hung:
        raise InputError(build_message("{server} does not respond", server=server))
    refusal = _find_refusal(world, server, options)
    if refusal is not None:
        _reject_login(world, window, options, *refusal)
        return
    target = _find_routing_target(world, server, options)
    if world.listeners.get(options.get("listener", "")) == server:
        clients.count_listener_login(
            world, options["listener"], _normalize_database_name(world, options), _is_read_only(options)
        )
    if target is not None:
        text = build_message("{login} was redirected to {server}", login=options["login"], server=target)
        world.emit(SessionData(window=window, what="routed", to=target, messages=()), text, server=server)  # fmt: skip
        return
    database = _find_login_database(world, server, options)
    program = ClientProgram(
        host=options.get("host", ""),
        name=options.get("program", ""),
        interface=options.get("library", ""),
        database=database,
        language=_find_language(
            options.get("language", "") or _get_default_language(world, server, options["login"])
        ),
        encrypted=options.get("encrypted", "") == "yes",
        packet_bytes=int(options.get("packet_bytes") or CONSOLE_PROGRAM.packet_bytes),
    )
    session = SqlSession(
        server=server,
        spid=connections.find_free_spid(world, server),
        login=options["login"],
        program=program,
        database=database,
        read_intent=_is_read_only(options),
        options=_build_options(program),
        started_tick=world.instances[server].started_tick,
        login_tick=world.tick,
    )
    world.sessions[window] = Window(session=session)
    connections.increase_program_counters(world, program.name, logins=1)
    message = build_message("{login} connected from {host}", login=session.login, host=program.host or "?")
    world.emit(
        SessionData(window=window, what="connected", program=program.name, messages=()),
        message,
        server=server,
    )


def _find_language(requested_language: str) -> str:
    """Return the language as the server spells it.

    Return an empty string for an unknown language, and for one that is not simulated.
    """
    language = languages.find_language(requested_language) if requested_language else None
    return language.name if language is not None else ""


def _get_default_language(world: World, server: str, login: str) -> str:
    known_login = world.instances[server].find_login(login)
    return known_login.default_language if known_login is not None else ""


def _build_options(program: ClientProgram) -> tuple[tuple[str, str], ...]:
    """Return the SET options that a new or reset connection has."""
    return (("LANGUAGE", program.language),) if program.language else ()


def _parse_request(text: str) -> dict[str, str]:
    """Parse and check a login request. Raises InputError."""
    try:
        document = parse_json(text)
    except ValueError as problem:
        raise InputError(build_message("a login must be a JSON object: {why}", why=str(problem))) from None
    if not isinstance(document, dict) or not {"login", "password"} <= document.keys() <= set(LOGIN_FIELDS):
        raise InputError(
            build_message(
                "a login must be a JSON object with these keys: {names}", names=", ".join(LOGIN_FIELDS)
            )
        )
    if document["password"] not in ("right", "wrong"):
        raise InputError(
            'the password of a login must be "right" or "wrong"; a journal contains no real password'
        )
    for name, value in document.items():
        if not isinstance(value, str) or len(value) > FIELD_CHARACTERS_MAX:
            raise InputError(
                build_message(
                    "{name} of a login must be text of at most {most} characters",
                    name=name,
                    most=FIELD_CHARACTERS_MAX,
                )
            )
    if not re.fullmatch("[0-9]{0,5}", document.get("packet_bytes", "")):
        raise InputError("the packet size of a login is a number")
    return {name: clean_text(value) for name, value in document.items()}


def _find_refusal(
    world: World, server: str, request: Mapping[str, str]
) -> tuple[str, tuple[SqlError, ...]] | None:
    """Return the reason (a key of REFUSAL_REASONS) and the errors of a refused login.

    Return None if the server accepts the login.
    """
    login = request["login"]
    login_error = SqlError(18456, login)
    known_login = world.instances[server].find_login(login)
    if login.lower() != SYSTEM_ADMINISTRATOR_LOGIN and (
        known_login is None or known_login.kind != "SQL" or known_login.disabled
    ):
        return "login", (login_error,)
    if request["password"] != "right":
        return "password", (login_error,)
    try:
        if _find_routing_target(world, server, request) is None:
            _find_login_database(world, server, request)
    except SqlError as problem:
        if request.get("database"):
            return "database", connections.list_refusal_errors(problem, request["database"], login)
        # 4064 also applies if the default database is a mirror [DOC: MSSQLSERVER_4064]
        return "default", (SqlError(4064), login_error)
    return None


def _find_login_database(world: World, server: str, request: Mapping[str, str]) -> str:
    """Return the database of a login, in its stored spelling: the requested one or the default.

    Raises SqlError if the database is not open.
    """
    login = world.instances[server].find_login(request["login"])
    database = request.get("database") or (login.default_database if login is not None else "master")
    statements.check_database_access(world, server, database, _is_read_only(request))
    known_databases = ("master", "msdb", "tempdb", "model", *world.list_databases())
    return next((name for name in known_databases if name.lower() == database.lower()), database)


def _find_routing_target(world: World, server: str, request: Mapping[str, str]) -> str | None:
    """Return the server to which read-only routing redirects a login; None if there is no redirection.

    Raises SqlError 982 [DOC: read-only routing].
    """
    listener = request.get("listener", "")
    if world.listeners.get(listener) != server:
        listener = server
    target, refusal = clients.resolve_login(
        world, listener, _normalize_database_name(world, request), _is_read_only(request)
    )
    if refusal is not None:
        raise refusal
    return target if target != server else None


def _normalize_database_name(world: World, request: Mapping[str, str]) -> str:
    """Return the database that a login requests, in the world's spelling."""
    database = request.get("database", "")
    return next((name for name in world.list_databases() if name.lower() == database.lower()), database)


def _is_read_only(request: Mapping[str, str]) -> bool:
    return request.get("intent", "").lower() == "readonly"


def _reject_login(
    world: World, window: str, request: Mapping[str, str], reason: str, errors: tuple[SqlError, ...]
) -> None:
    """Report a refused login to the program, and write 18456 into the ERRORLOG."""
    server = connections.get_server_name(window)
    version = world.instances[server].version
    messages = []
    for error in errors:
        severity, text = fill_message(error.number, *error.parameters, version=version)
        messages.append(Message(error.number, severity, error.state, 1, text, server))
    state, reason_text = REFUSAL_REASONS[reason]
    connections.increase_program_counters(world, request.get("program", ""), refused=1)
    detail = f" Reason: {reason_text}" if version >= 2008 else ""
    errorlog.write_message(
        world, server, 18456, request["login"], detail, " [CLIENT: 127.0.0.1]", state=state
    )
    world.emit(
        SessionData(
            window=window,
            what="refused",
            messages=[connections.build_message_json(message) for message in messages],
        ),
        messages[0].text,
        server=server,
    )


def run_batch(world: World, window: str, text: str) -> None:
    """Run the T-SQL in *text*, a JSON string. The event `sql_done` reports the end of the batch."""
    _require_connection(world, window)
    try:
        sql = parse_json(text)
    except ValueError as problem:
        raise InputError(build_message("a batch must be a JSON string: {why}", why=str(problem))) from None
    if not isinstance(sql, str):
        raise InputError("a batch is a JSON string")
    client.submit_text(world, window, sql)


def is_connection_idle(world: World, window: str) -> bool:
    """Return whether the connection is open, runs no batch and has no transaction."""
    window_state: Window | None = world.sessions.get(window)
    session = window_state.session if window_state is not None else None
    return session is not None and window not in world.batches and not (session.transactions or session.logs)


def reset_connection(world: World, window: str) -> None:
    """Reset the connection to its state after login (sp_reset_connection).

    A connection pool does this before it reuses the connection.
    """
    _require_connection(world, window)
    client.cancel_batches(world, window)
    session = world.sessions[window].session
    assert session is not None and session.program is not None
    sql_session = SqlSession(
        server=session.server,
        spid=session.spid,
        login=session.login,
        program=session.program,
        database=session.program.database,
        read_intent=session.read_intent,
        options=_build_options(session.program),
        started_tick=session.started_tick,
        login_tick=session.login_tick,
    )
    world.sessions[window] = Window(session=sql_session)


def close_program_connection(world: World, window: str) -> None:
    """Close the connection of a program. Its running batch ends, and uncommitted work is rolled back."""
    _require_connection(world, window)
    run: Submission | None = world.batches.get(window)
    if run is not None:
        client.cancel_batches(world, window)
    client.close_connection(world, window, client.CLOSED_BY_PROGRAM_REASON)


def _require_connection(world: World, window: str) -> None:
    """Raise InputError if the window is not the connection of a program."""
    session: Window | None = world.sessions.get(window)
    if session is None or not session.remote:
        raise InputError(build_message("{window} is not connected", window=window))


# --- connection strings of windows ------------------------------------------------------------------------

CONNECTION_STRING_FIELDS: Final = {
    **dict.fromkeys(("server", "data source", "address", "addr", "network address"), "source"),
    **dict.fromkeys(("database", "initial catalog"), "database"),
    **dict.fromkeys(("applicationintent", "application intent"), "intent"),
    **dict.fromkeys(("multisubnetfailover", "multi subnet failover"), "subnets"),
}
"""Keyword of a SqlClient connection string -> short name of the keyword's field.

Documented [DOC: SqlConnection.ConnectionString].
"""

INTENT_VALUES: Final = {"readonly": True, "readwrite": False}
"""Value of ApplicationIntent -> True if the connection is read-intent."""


def change_connection(world: World, window: str, text: str) -> None:
    """Reconnect the window with the connection string *text*.

    A running batch ends, and uncommitted changes are rolled back. Raises InputError for an invalid string or
    an unknown server.
    """
    target = _parse_connection_string(world, text)
    client.cancel_batches(world, window)
    session: Window = world.sessions.get(window, Window())
    world.sessions[window] = replace(session, target=target, session=None, lost=0)
    message = build_message(
        "{window} connects with the connection string {target}", window=window, target=text.strip()
    )
    world.emit(
        SessionData(window=window, what="connection changed"),
        message,
        server=connections.get_server_name(window),
    )


def _parse_connection_string(world: World, text: str) -> ConnectionTarget:
    """Parse the connection string of a window. Raises InputError."""
    options: dict[str, str] = {}
    for part in filter(str.strip, text.split(";")):
        keyword, _, value = part.partition("=")
        name = CONNECTION_STRING_FIELDS.get(keyword.strip().lower())
        if name is None:
            raise InputError(
                build_message("Not simulated: {keyword} in a connection string", keyword=keyword.strip())
            )
        options[name] = value.strip()
    intent = INTENT_VALUES.get(options.get("intent", "ReadWrite").lower().replace(" ", ""))
    if intent is None:
        raise InputError(
            build_message(
                "ApplicationIntent must be ReadOnly or ReadWrite, not {value!r}", value=options["intent"]
            )
        )
    server_text, _, port_text = options.get("source", "").removeprefix("tcp:").partition(",")
    server_name = server_text.split(".")[0].lower()
    known_servers = (*world.instances, *world.listeners)
    source = next((name for name in known_servers if name.lower() == server_name), None)
    if source is None:
        raise InputError(
            build_message("server or listener {name!r} does not exist", name=options.get("source", ""))
        )
    listeners = [group.listener for node in world.nodes.values() for group in node.config.groups]
    ports = {each.port for each in listeners if each is not None and each.name == source} | {SQL_PORT}
    if port_text.strip() and port_text.strip() not in map(str, ports):
        raise InputError(
            build_message("{name} does not listen on port {port}", name=source, port=port_text.strip())
        )
    return ConnectionTarget(source=source, database=options.get("database", ""), read_intent=intent)
