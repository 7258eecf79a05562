"""Verbs for T-SQL from a console window, and from programs that log in over the network."""

from __future__ import annotations

from typing import Final

from engine import tsql
from engine.localization import mark
from engine.verbs.verb import Verb, VerbParameter

WINDOW: Final = VerbParameter("server", "window")

VERBS: Final = (
    Verb(
        name="sql",
        told=mark("{text} on {server}"),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
        help=mark("send T-SQL to a server"),
        group="sql",
        do=lambda world, item: tsql.submit(world, *item.args),
    ),
    Verb(
        name="cancel",
        told=mark("Cancel the batch on {server}"),
        parameters=(WINDOW,),
        help=mark("cancel the running batch of a window"),
        group="sql",
        do=lambda world, item: tsql.cancel(world, item.args[0]),
    ),
    Verb(
        name="change-connection",
        told=mark("Connect the window of {server} with {target}"),
        parameters=(WINDOW, VerbParameter("target", "rest", title=mark("connection string"))),
        help=mark(
            "connect a window with a connection string: Server=AGL1;Database=Sales;ApplicationIntent=ReadOnly"
        ),
        group="sql",
        do=lambda world, item: tsql.change_connection(world, *item.args),
    ),
    Verb(
        name="connect",
        told=mark("Log in to {server} over the network"),
        parameters=(WINDOW, VerbParameter(mark("login"), "rest")),
        help=mark("log in over the network with a JSON object"),
        group="sql",
        by_person=True,
        do=lambda world, item: tsql.connect(world, *item.args),
    ),
    Verb(
        name="batch",
        told=mark("{text} on {server}"),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
        help=mark("send T-SQL on a connection, as a JSON string"),
        group="sql",
        by_person=True,
        do=lambda world, item: tsql.batch(world, *item.args),
    ),
    Verb(
        name="reset",
        told=mark("Reset the connection to {server}"),
        parameters=(WINDOW,),
        help=mark("reset a connection for its next use"),
        group="sql",
        by_person=True,
        do=lambda world, item: tsql.reset(world, item.args[0]),
    ),
    Verb(
        name="disconnect",
        told=mark("Close the connection to {server}"),
        parameters=(WINDOW,),
        help=mark("close a connection"),
        group="sql",
        by_person=True,
        do=lambda world, item: tsql.disconnect(world, item.args[0]),
    ),
)
