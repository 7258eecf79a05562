"""Connection strings of windows, as Management Studio's additional connection parameters and sqlcmd accept them."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from engine.inputs import InputError
from engine.localization import say
from engine.model import World
from engine.tsql.batches.data import ConnectionTarget, Window
from engine.tsql.clients import client

KEYWORDS: Final = {
    **dict.fromkeys(("server", "data source", "address", "addr", "network address"), "source"),
    **dict.fromkeys(("database", "initial catalog"), "database"),
    **dict.fromkeys(("applicationintent", "application intent"), "intent"),
    **dict.fromkeys(("multisubnetfailover", "multi subnet failover"), "subnets"),
}
"""Supported keywords of SqlClient. Documented [DOC: SqlConnection.ConnectionString]."""

INTENTS: Final = {"readonly": True, "readwrite": False}


def change_connection(world: World, window: str, text: str) -> None:
    """Connect the window as the connection string *text* says; what runs there ends, what was not committed is undone.

    Raises InputError for a string that cannot be read, or a server that the network does not know.
    """
    target = _read(world, text)
    client.cancel(world, window)
    kept: Window = world.sessions.get(window, Window())
    world.sessions[window] = replace(kept, target=target, session=None, lost=0)
    told = say("{window} connects with: {target}", window=window, target=text.strip())
    world.emit("session", told, server=client.server_of(window), window=window, what="connection changed")


def _read(world: World, text: str) -> ConnectionTarget:
    said: dict[str, str] = {}
    for part in filter(str.strip, text.split(";")):
        keyword, _, value = part.partition("=")
        name = KEYWORDS.get(keyword.strip().lower())
        if name is None:
            raise InputError(say("Not simulated: {keyword} in a connection string", keyword=keyword.strip()))
        said[name] = value.strip()
    intent = INTENTS.get(said.get("intent", "ReadWrite").lower().replace(" ", ""))
    if intent is None:
        raise InputError(
            say("ApplicationIntent must be ReadOnly or ReadWrite, not {value!r}", value=said["intent"])
        )
    wanted = said.get("source", "").removeprefix("tcp:").split(",")[0].split(".")[0].lower()
    known = (*world.instances, *world.listeners)
    source = next((name for name in known if name.lower() == wanted), None)
    if source is None:
        raise InputError(say("server or listener {name!r} does not exist", name=said.get("source", "")))
    return ConnectionTarget(source=source, database=said.get("database", ""), read_intent=intent)
