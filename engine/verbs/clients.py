"""Verbs for client applications, their load, and long operations in a database."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.constants import ENTERPRISE_EDITIONS
from engine.events import NoteData
from engine.flow.setup import build_bulk_load, build_index_operation
from engine.flow.sites import WORKLOADS
from engine.inputs import Input, InputError, append_existing_names
from engine.localization import build_message, mark
from engine.model import Key, World
from engine.protocol import clients, group_policies, name_resolution, serving
from engine.verbs.verb import CLIENT, DATABASE, Args, VerbParameter, build_verb


def _list_workloads(world: World, database: str, truth: bool) -> Iterable[str]:
    return sorted(WORKLOADS)


def _set_workload(world: World, input_: Input) -> None:
    """Set the load of the database's clients (`workload`)."""
    database, workload_name = input_.args
    name = next((workload for workload in WORKLOADS if workload.lower() == workload_name.lower()), None)
    if name is None:
        problem = build_message("workload {name!r} does not exist", name=workload_name)
        raise InputError(append_existing_names(problem, sorted(WORKLOADS)))
    for copy in world.list_copies_of(database):
        scale = input_.get_option("scale", 1.0 if copy.scale == 0.0 else copy.scale)
        world.update_copy((copy.server, database), workload=name, scale=scale)
    world.emit(NoteData(), input_.command_text, database=database)


# --- long operations --------------------------------------------------------------------------------------


def _bulk_load(world: World, input_: Input) -> None:
    key = _require_idle_copy(world, input_.args[0])
    clients.begin_operation(
        world,
        key,
        build_bulk_load(input_.get_option("rows", 93e6), max(1.0, input_.get_option("batch_rows", 1e6))),
    )


def _rebuild_index(world: World, input_: Input) -> None:
    key, online = _require_idle_copy(world, input_.args[0]), "online" in input_.args
    edition = world.instances[key[0]].edition
    if online and edition not in ENTERPRISE_EDITIONS:
        raise InputError(
            build_message(
                "{edition} edition does not support online index operations (1712)", edition=edition
            )
        )
    clients.begin_operation(world, key, build_index_operation(input_.get_option("size", 1.0), online=online))


def _require_idle_copy(world: World, database: str) -> Key:
    """Return the key of the copy that serves *database*.

    Raises InputError if no copy serves it, or if a long operation runs in the copy.
    """
    key = serving.find_serving_key(world, database)
    if key is None:
        raise InputError(build_message("{database} is not available", database=database))
    running = world.copies[key].operation
    if running is not None:
        raise InputError(
            build_message("still running in {database}: {what}", database=database, what=running.name)
        )
    return key


# --- applications -----------------------------------------------------------------------------------------


def _is_application_running(world: World, args: Args) -> bool:
    """Return whether the application is connected or tries to connect."""
    (name,) = args
    looking = any(
        handler == "client.try" and timer_arguments[0] == name
        for _, _, handler, timer_arguments in world.timers
    )
    return world.clients[name].connected_to is not None or looking


CONNECTION_STRING_FIELDS: Final = {
    **dict.fromkeys(("multisubnetfailover", "multi subnet failover"), "multi_subnet"),
    **dict.fromkeys(("applicationintent", "application intent"), "read_only"),
    **dict.fromkeys(("connect timeout", "connection timeout", "timeout"), "login_timeout_s"),
}
"""Keyword of a connection string -> field of the application. Documented [DOC:
SqlConnection.ConnectionString].
"""

BOOLEAN_WORDS: Final = {"true": True, "yes": True, "false": False, "no": False}
APPLICATION_INTENTS: Final = {"readonly": True, "readwrite": False}


def _change_connection_string(world: World, input_: Input) -> None:
    """Set keywords of the connection string and restart the application."""
    name, text = input_.args
    changes: dict[str, object] = {}
    for part in filter(str.strip, text.strip('"').split(";")):
        keyword, _, value = (piece.strip() for piece in part.partition("="))
        field = CONNECTION_STRING_FIELDS.get(keyword.lower())
        if field is None:
            raise InputError(
                build_message("Not simulated: {keyword} in a connection string", keyword=keyword)
            )
        changes[field] = _parse_keyword_value(field, keyword, value)
    world.clients[name] = replace(world.clients[name], **changes)
    clients.restart_application(world, name)


def _parse_keyword_value(field: str, keyword: str, value: str) -> float | bool:
    if field == "login_timeout_s":
        if not value.isdecimal() or len(value) > 4 or not 1 <= int(value) <= 3600:
            raise InputError(
                build_message(
                    "{keyword} must be a number of seconds, not {value!r}", keyword=keyword, value=value
                )
            )
        return float(value)
    words = BOOLEAN_WORDS if field == "multi_subnet" else APPLICATION_INTENTS
    known_value = words.get(value.lower().replace(" ", ""))
    if known_value is None:
        problem = build_message("{keyword} does not accept {value!r}", keyword=keyword, value=value)
        raise InputError(append_existing_names(problem, [*words]))
    return known_value


def _start_long_query(world: World, input_: Input) -> None:
    if not clients.begin_query(world, input_.args[0], input_.get_option("minutes", 30.0)):
        raise InputError(build_message("{client} is not connected", client=input_.args[0]))


def _change_schema(world: World, input_: Input) -> None:
    """Deploy a new version of the application, which runs ALTER TABLE at its start."""
    key = serving.find_serving_key(world, input_.args[0])
    if key is None:
        raise InputError(build_message("{database} is not available", database=input_.args[0]))
    text = build_message("a table of {database} was changed (ALTER TABLE)", database=key[1])
    world.emit(NoteData(what="schema changed"), text, server=key[0], database=key[1])
    group_policies.get_policy(world.copies[key]).on_schema_changed(world, key)


def _is_new_data_source(world: World, args: Args) -> bool:
    client = world.clients[args[0]]
    return client.data_source != args[1] and any((args[1], name) in world.copies for name in client.databases)


def _parse_yes_or_no(value: str) -> bool:
    """Return True for yes, False for no. Raises ValueError."""
    yes_words = {"yes": True, "true": True, "no": False, "false": False}
    if value.lower() not in yes_words:
        raise ValueError(value)
    return yes_words[value.lower()]


def _parse_seconds(value: str) -> float:
    """Parse a number of seconds. Raises ValueError."""
    seconds = float(value)
    if not 0.0 <= seconds <= 3600.0:
        raise ValueError(value)
    return seconds


CLIENT_SETTINGS: Final[dict[str, tuple[str, Callable[[str], object]]]] = {
    **dict.fromkeys(("data source", "server"), ("data_source", str)),
    "failover partner": ("failover_partner", lambda value: value or None),
    "connect timeout": ("login_timeout_s", lambda value: _parse_seconds(value) or 15.0),
    "command timeout": ("command_timeout_s", _parse_seconds),
    "applicationintent": ("read_only", lambda value: value.lower() == "readonly"),
    "multisubnetfailover": ("multi_subnet", _parse_yes_or_no),
    "retry": ("reconnects", _parse_yes_or_no),
}
"""Keyword of a setting -> field of the application, and parser of the value.

The keywords are those of connection strings. Only "Retry" is our own: the application reconnects
automatically.
"""


def _configure_application(world: World, input_: Input) -> None:
    """Change settings of an application and restart it.

    Raises InputError for an invalid setting; then nothing changes.
    """
    name, text = input_.args
    changes: dict[str, object] = {}
    for part in filter(str.strip, text.split(";")):
        keyword, _, value = (word.strip() for word in part.partition("="))
        setting = CLIENT_SETTINGS.get(keyword.lower())
        if setting is None:
            problem = build_message("an application does not have a setting named {name!r}", name=keyword)
            raise InputError(append_existing_names(problem, sorted(CLIENT_SETTINGS)))
        try:
            changes[setting[0]] = setting[1](value)
        except ValueError:
            raise InputError(
                build_message("the setting {name} cannot have the value {value!r}", name=keyword, value=value)
            ) from None
    spelled = {server_name.lower(): server_name for server_name in (*world.instances, *world.listeners)}
    for field in ("data_source", "failover_partner"):
        new_value = changes.get(field)
        if isinstance(new_value, str) and new_value:
            changes[field] = spelled.get(new_value.lower(), new_value)
    client = replace(
        world.clients[name], known_partner=None, kept_addresses=name_resolution.NO_ADDRESSES, **changes
    )
    world.clients[name] = client
    clients.restart_application(world, name)


VERBS: Final = (
    build_verb(
        "workload",
        _set_workload,
        parameters=(DATABASE, VerbParameter(mark("workload"), "workload", values=_list_workloads)),
        label="{1}",
        sensible=lambda world, args: all(copy.workload != args[1] for copy in world.list_copies_of(args[0])),
    ),
    build_verb("bulk-load", _bulk_load),
    build_verb(
        "rebuild-index",
        _rebuild_index,
        parameters=(DATABASE, VerbParameter(mark("method"), optional=True, choices=("offline", "online"))),
    ),
    build_verb(
        "stop-app",
        lambda world, item: clients.stop_application(world, item.args[0]),
        sensible=_is_application_running,
    ),
    build_verb(
        "start-app",
        lambda world, item: clients.restart_application(world, item.args[0]),
        sensible=lambda world, args: not _is_application_running(world, args),
    ),
    build_verb(
        "long-query", _start_long_query, sensible=lambda world, args: world.clients[args[0]].read_only
    ),
    build_verb(
        "change-schema",
        _change_schema,
        sensible=lambda world, args: any(copy.availability.guid for copy in world.list_copies_of(args[0])),
    ),
    build_verb(
        "connect-string",
        _change_connection_string,
        parameters=(CLIENT, VerbParameter(mark("keywords"), "rest")),
    ),
    build_verb(
        "flush-dns",
        lambda world, item: name_resolution.flush_name_cache(world, item.args[0]),
        sensible=lambda world, args: bool(world.clients[args[0]].kept_addresses[0]),
    ),
    build_verb(
        "configure-app",
        _configure_application,
        parameters=(CLIENT, VerbParameter("settings", "rest", title=mark("settings"))),
    ),
    build_verb(
        "point-app",
        lambda world, item: clients.change_connection_string(world, *item.args),
        sensible=_is_new_data_source,
    ),
)
