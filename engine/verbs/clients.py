"""Verbs for client applications and their work in a database."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from engine.constants import ENTERPRISE
from engine.events import NoteData
from engine.flow.setup import bulk_load, index_build
from engine.flow.sites import WORKLOADS
from engine.inputs import Input, InputError, but_there_are
from engine.localization import mark, say
from engine.model import Key, World
from engine.protocol import clients, groups, names, serving
from engine.verbs.verb import CLIENT, DATABASE, Args, VerbParameter, verb


def _workloads(world: World, database: str, truth: bool) -> Iterable[str]:
    return sorted(WORKLOADS)


def _set_workload(world: World, item: Input) -> None:
    """Set the load of the database's clients from now on (`workload`)."""
    database, workload_name = item.args
    name = next((workload for workload in WORKLOADS if workload.lower() == workload_name.lower()), None)
    if name is None:
        problem = say("workload {name!r} does not exist", name=workload_name)
        raise InputError(but_there_are(problem, sorted(WORKLOADS)))
    for copy in world.copies_of(database):
        scale = item.option("scale", 1.0 if copy.scale == 0.0 else copy.scale)
        world.update_copy((copy.server, database), workload=name, scale=scale)
    world.emit(NoteData(), item.command_text, database=database)


# --- long operations --------------------------------------------------------------------------------------


def _bulk_load(world: World, item: Input) -> None:
    key = _idle(world, item.args[0])
    clients.begin(world, key, bulk_load(item.option("rows", 93e6), max(1.0, item.option("batch_rows", 1e6))))


def _rebuild_index(world: World, item: Input) -> None:
    key, online = _idle(world, item.args[0]), "online" in item.args
    edition = world.instances[key[0]].edition
    if online and edition not in ENTERPRISE:
        raise InputError(
            say("{edition} edition does not support online index operations (1712)", edition=edition)
        )
    clients.begin(world, key, index_build(item.option("size", 1.0), online=online))


def _idle(world: World, database: str) -> Key:
    """Return the serving copy of *database*. Raises InputError if there is none, or if a long operation runs in it."""
    key = serving.find_serving_key(world, database)
    if key is None:
        raise InputError(say("{database} is not available", database=database))
    running = world.copies[key].operation
    if running is not None:
        raise InputError(say("still running in {database}: {what}", database=database, what=running.name))
    return key


# --- applications -----------------------------------------------------------------------------------------


def _runs(world: World, args: Args) -> bool:
    """Return whether the application is connected or searches for a server."""
    (name,) = args
    looking = any(
        handler == "client.try" and timer_arguments[0] == name
        for _, _, handler, timer_arguments in world.timers
    )
    return world.clients[name].connected_to is not None or looking


STRING: Final = {
    **dict.fromkeys(("multisubnetfailover", "multi subnet failover"), "multi_subnet"),
    **dict.fromkeys(("applicationintent", "application intent"), "read_only"),
    **dict.fromkeys(("connect timeout", "connection timeout", "timeout"), "login_timeout_s"),
}
"""Keywords of a connection string that applications support. Documented [DOC: SqlConnection.ConnectionString]."""

YES_NO: Final = {"true": True, "yes": True, "false": False, "no": False}
INTENTS: Final = {"readonly": True, "readwrite": False}


def _change_string(world: World, item: Input) -> None:
    """Set keywords of the connection string and restart the application."""
    name, text = item.args
    changes: dict[str, object] = {}
    for part in filter(str.strip, text.strip('"').split(";")):
        keyword, _, value = (piece.strip() for piece in part.partition("="))
        field = STRING.get(keyword.lower())
        if field is None:
            raise InputError(say("Not simulated: {keyword} in a connection string", keyword=keyword))
        changes[field] = _value(field, keyword, value)
    world.clients[name] = replace(world.clients[name], **changes)
    clients.look_for_server(world, name)


def _value(field: str, keyword: str, value: str) -> float | bool:
    if field == "login_timeout_s":
        if not value.isdecimal() or len(value) > 4 or not 1 <= int(value) <= 3600:
            raise InputError(
                say("{keyword} must be a number of seconds, not {value!r}", keyword=keyword, value=value)
            )
        return float(value)
    words = YES_NO if field == "multi_subnet" else INTENTS
    known_value = words.get(value.lower().replace(" ", ""))
    if known_value is None:
        problem = say("{keyword} does not accept {value!r}", keyword=keyword, value=value)
        raise InputError(but_there_are(problem, [*words]))
    return known_value


def _long_query(world: World, item: Input) -> None:
    if not clients.begin_query(world, item.args[0], item.option("minutes", 30.0)):
        raise InputError(say("{client} is not connected", client=item.args[0]))


def _change_schema(world: World, item: Input) -> None:
    """Deploy a new version of the application, which runs ALTER TABLE at once."""
    key = serving.find_serving_key(world, item.args[0])
    if key is None:
        raise InputError(say("{database} is not available", database=item.args[0]))
    text = say("a table of {database} was changed (ALTER TABLE)", database=key[1])
    world.emit(NoteData(what="schema changed"), text, server=key[0], database=key[1])
    groups.policy(world.copies[key]).schema_changed(world, key)


def _is_new_data_source(world: World, args: Args) -> bool:
    client = world.clients[args[0]]
    return client.data_source != args[1] and any((args[1], name) in world.copies for name in client.databases)


def _yes(value: str) -> bool:
    """Return True for yes, False for no. Raises ValueError."""
    yes_words = {"yes": True, "true": True, "no": False, "false": False}
    if value.lower() not in yes_words:
        raise ValueError(value)
    return yes_words[value.lower()]


def _seconds(value: str) -> float:
    """Parse seconds. Raises ValueError."""
    seconds = float(value)
    if not 0.0 <= seconds <= 3600.0:
        raise ValueError(value)
    return seconds


SETTINGS: Final[dict[str, tuple[str, Callable[[str], object]]]] = {
    **dict.fromkeys(("data source", "server"), ("data_source", str)),
    "failover partner": ("failover_partner", lambda value: value or None),
    "connect timeout": ("login_timeout_s", lambda value: _seconds(value) or 15.0),
    "command timeout": ("command_timeout_s", _seconds),
    "applicationintent": ("read_only", lambda value: value.lower() == "readonly"),
    "multisubnetfailover": ("multi_subnet", _yes),
    "retry": ("reconnects", _yes),
}
"""Settings of an application by keyword, as in its connection string. "Retry" is our addition: the
application reconnects automatically.
"""


def _configure(world: World, item: Input) -> None:
    """Change settings of an application and restart it. Raises InputError before anything changes."""
    name, text = item.args
    changes: dict[str, object] = {}
    for part in filter(str.strip, text.split(";")):
        keyword, _, value = (word.strip() for word in part.partition("="))
        setting = SETTINGS.get(keyword.lower())
        if setting is None:
            problem = say("an application has no setting {name!r}", name=keyword)
            raise InputError(but_there_are(problem, sorted(SETTINGS)))
        try:
            changes[setting[0]] = setting[1](value)
        except ValueError:
            raise InputError(say("{name} cannot be {value!r}", name=keyword, value=value)) from None
    spelled = {server_name.lower(): server_name for server_name in (*world.instances, *world.listeners)}
    for field in ("data_source", "failover_partner"):
        new_value = changes.get(field)
        if isinstance(new_value, str) and new_value:
            changes[field] = spelled.get(new_value.lower(), new_value)
    client = replace(world.clients[name], known_partner=None, kept_addresses=names.NO_ADDRESSES, **changes)
    world.clients[name] = client
    clients.look_for_server(world, name)


VERBS: Final = (
    verb(
        "workload",
        _set_workload,
        parameters=(DATABASE, VerbParameter(mark("workload"), "workload", values=_workloads)),
        label="{1}",
        sensible=lambda world, args: all(copy.workload != args[1] for copy in world.copies_of(args[0])),
    ),
    verb("bulk-load", _bulk_load),
    verb(
        "rebuild-index",
        _rebuild_index,
        parameters=(DATABASE, VerbParameter(mark("method"), optional=True, choices=("offline", "online"))),
    ),
    verb("stop-app", lambda world, item: clients.stop(world, item.args[0]), sensible=_runs),
    verb(
        "start-app",
        lambda world, item: clients.look_for_server(world, item.args[0]),
        sensible=lambda world, args: not _runs(world, args),
    ),
    verb("long-query", _long_query, sensible=lambda world, args: world.clients[args[0]].read_only),
    verb(
        "change-schema",
        _change_schema,
        sensible=lambda world, args: any(copy.availability.guid for copy in world.copies_of(args[0])),
    ),
    verb("connect-string", _change_string, parameters=(CLIENT, VerbParameter(mark("keywords"), "rest"))),
    verb(
        "flush-dns",
        lambda world, item: names.flush(world, item.args[0]),
        sensible=lambda world, args: bool(world.clients[args[0]].kept_addresses[0]),
    ),
    verb(
        "configure-app",
        _configure,
        parameters=(CLIENT, VerbParameter("settings", "rest", title=mark("settings"))),
    ),
    verb("point-app", lambda world, item: clients.point_app(world, *item.args), sensible=_is_new_data_source),
)
