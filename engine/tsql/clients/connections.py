"""Connections of windows and programs: targets, logins, open sessions, and counters of their outcomes."""

from typing import Final

from msgspec.structs import replace

from engine.messages import Message, SqlError, fill_message
from engine.model import Instance, World
from engine.protocol import backup, clients, group_policies, serving, statements
from engine.tsql.batches.data import AGENT_WINDOW_MARKER, ConnectionTarget, SqlSession, Submission, Window

FIRST_USER_SPID: Final = 51
"""First session ID of user connections. Known."""


def build_message_json(message: Message) -> dict[str, object]:
    """Return the message in the form that the event `sql_done` contains."""
    fields: dict[str, object] = {name: getattr(message, name) for name in _MESSAGE_FIELDS}
    if message.above:
        fields["above"] = message.above
    if message.rows is not None:
        fields["rows"] = message.rows
    if message.procedure:
        fields["procedure"] = message.procedure
    return fields


_MESSAGE_FIELDS: Final = ("number", "severity", "state", "line", "text")
"""Fields that `sql_done` contains for every message."""


def is_reachable(world: World, server: str) -> bool:
    """Return whether a query window can open a connection to the instance."""
    instance = world.instances[server]
    return instance.running and world.computers[instance.computer].nic_up


def get_refusal_number(world: World, server: str) -> int:
    """Return the error number of a failed connection to an unreachable instance.

    The number is 2 if the computer responds but the instance does not, and 53 if nothing responds at
    the address.
    """
    instance = world.instances[server]
    return (
        2 if world.computers[instance.computer].powered and world.computers[instance.computer].nic_up else 53
    )


def list_refusal_errors(problem: SqlError, database: str, login: str) -> tuple[SqlError, ...]:
    """Return the errors of a login to a database that the server does not open.

    The order is the reason *problem* (unless it is 911), then 4060 and 18456. Public forum threads show
    this order for a database in a restore (927) or an availability group (983). For a mirror (954) and
    other reasons, the order is derived.
    """
    reasons = (problem,) if problem.number != 911 else ()
    return (*reasons, SqlError(4060, database), SqlError(18456, login))


def find_free_spid(world: World, server: str) -> int:
    """Return the lowest session ID that no connection to the instance uses."""
    spids = {
        window.session.spid
        for window in world.sessions.values()
        if window.session is not None and window.session.server == server
    }
    return next(
        number for number in range(FIRST_USER_SPID, FIRST_USER_SPID + len(spids) + 1) if number not in spids
    )


def is_connection_open(world: World, session: SqlSession) -> bool:
    """Return whether the server is reachable and has not restarted since the session began."""
    instance = world.instances[session.server]
    return is_reachable(world, session.server) and instance.started_tick == session.started_tick


def find_unusable_database(world: World, session: SqlSession) -> str | None:
    """Return a database that the connection needs but cannot use; None if all can be used.

    The connection needs its current database and the databases in which its transaction has written.
    """
    used = {session.database, *(database for (_, database), _, _ in session.logs)}
    for database in sorted(used):
        try:
            statements.check_database_access(world, session.server, database, session.read_intent)
        except SqlError:
            return database
    return None


def log_lost_backup(world: World, instance: Instance, handler: str, args: tuple[object, ...]) -> bool:
    """Log the failure of a backup if its database copy has closed or changed its role.

    Return whether a failure was logged; False for other statements. A failover ends the connections
    that use the database [DOC: role switching]. *handler*: timer handler of the statement. *args*: its
    arguments, the database first.
    """
    titles = {"backup.data": "BACKUP DATABASE", "backup.log": "BACKUP LOG"}
    if handler not in titles or not instance.answering:
        return False
    title, database = titles[handler], str(args[0])
    key = instance.name, database
    copy = world.copies.get(key)
    if copy is None or copy.group is None or copy.disk_failed:
        return False
    is_lost = handler == "backup.data" and copy.backup_from_kb is None
    if copy.source is not None and not group_policies.get_policy(copy).can_back_up_closed(copy):
        is_lost = is_lost or not serving.is_accessible(world, key)
    if is_lost:
        backup.log_backup_failure(
            world, instance.name, database, SqlError(3041, f"{title} {database}", title=title)
        )
    return is_lost


# --- counters of programs' connections, for the goals and the score of a scenario ---------------------------


def find_program_name(world: World, program_name: str) -> str:
    """Return the name of a program in the spelling of the scenario. The search ignores case.

    Return "" if the scenario does not name the program.
    """
    return next((name for name in world.programs if name.lower() == program_name.lower()), "")


def increase_program_counters(
    world: World, program: str, *, logins: int = 0, refused: int = 0, lost: int = 0, errors: int = 0
) -> None:
    """Increase the counters of a program that the scenario names. Ignore other programs.

    *logins*, *refused*, *lost*, *errors*: numbers to add to the counters.
    """
    name = find_program_name(world, program)
    if name:
        known_program = world.programs[name]
        world.programs[name] = replace(
            known_program,
            logins=known_program.logins + logins,
            refused=known_program.refused + refused,
            lost=known_program.lost + lost,
            errors=known_program.errors + errors,
        )


def count_answered_batch(world: World, program: str, server: str, has_failed: bool) -> None:
    """Count a batch of a program to which *server* has responded.

    It counts as an answer, or as an error if *has_failed*.
    """
    name = find_program_name(world, program)
    if not name or has_failed:
        increase_program_counters(world, program, errors=1)
        return
    known_program = world.programs[name]
    since_tick = world.tick if known_program.answered_tick is None else known_program.answered_tick
    world.programs[name] = replace(
        known_program,
        answers=known_program.answers + 1,
        answered_tick=world.tick,
        longest_ticks=max(known_program.longest_ticks, world.tick - since_tick),
        server=server,
        moves=known_program.moves + (known_program.server not in ("", server)),
    )


def get_server_name(window: str) -> str:
    """Return the server in a window's name: SERVER_A for SERVER_A#2."""
    return window.partition("#")[0]


def resolve_server(world: World, name: str) -> tuple[str, SqlError | None]:
    """Return the server to which a window connects, and the error if the connection fails.

    A listener resolves to the primary replica. Read-only routing can redirect the connection from a primary
    or secondary replica to another server.
    """
    session: Window = world.sessions[name]
    source = session.server or session.target.source or get_server_name(name)
    if session.session is not None and is_connection_open(world, session.session):
        return session.session.server, None
    database = "" if session.server else session.target.database
    server, refusal = clients.resolve_login(world, source, database, session.target.read_intent)
    if server is None:
        return get_server_name(name), SqlError(53, source)
    return server, refusal


def report_refused_login(
    world: World, name: str, run: Submission, server: str, problem: SqlError
) -> Submission:
    """Return the submission with the errors of a refused login: the reason, then 4060 and 18456."""
    errors: tuple[SqlError, ...] = (problem,)
    if problem.number != 53:
        errors = list_refusal_errors(
            problem, world.sessions[name].target.database, _get_window_login(world, name, server)
        )
    version = world.instances[server].version
    messages = []
    for error in errors:
        severity, text = fill_message(error.number, *error.parameters, version=version)
        messages.append(Message(error.number, severity, error.state, 0, text, server))
    return replace(run, messages=(*run.messages, *messages))


def _get_window_login(world: World, name: str, server: str) -> str:
    """Return the login of a window: the service account for a job step, otherwise the account of a DBA."""
    instance = world.instances[server]
    return (
        instance.service_account
        if AGENT_WINDOW_MARKER in name
        else f"{world.computers[instance.computer].domain}\\dba"
    )


def open_session(world: World, name: str, window: Window, server: str) -> SqlSession | None:
    """Return the open session of a window, or a new session if none is open.

    Return None if the server is unreachable. Raises SqlError if the server refuses the database.
    """
    if not is_reachable(world, server):
        return None
    session = window.session
    if session is not None and session.server == server and is_connection_open(world, session):
        return session
    if window.remote:
        return None
    instance, target = world.instances[server], ConnectionTarget() if window.server else window.target
    if target.database:
        statements.check_database_access(world, server, target.database, target.read_intent)
    return SqlSession(
        server=server,
        database=target.database or "master",
        read_intent=target.read_intent,
        spid=find_free_spid(world, server),
        login=_get_window_login(world, name, server),
        started_tick=instance.started_tick,
        login_tick=world.tick,
    )
