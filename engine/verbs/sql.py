"""Verbs for T-SQL from a console window, and from programs that log in over the network."""

from typing import Final

from engine import tsql
from engine.localization import mark
from engine.verbs.verb import VerbParameter, verb

WINDOW: Final = VerbParameter("server", "window")

VERBS: Final = (
    verb(
        "sql",
        lambda world, item: tsql.submit(world, *item.args),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
    ),
    verb("cancel", lambda world, item: tsql.cancel(world, item.args[0]), parameters=(WINDOW,)),
    verb(
        "change-connection",
        lambda world, item: tsql.change_connection(world, *item.args),
        parameters=(WINDOW, VerbParameter("target", "rest", title=mark("connection string"))),
    ),
    verb(
        "connect",
        lambda world, item: tsql.connect(world, *item.args),
        parameters=(WINDOW, VerbParameter(mark("login"), "rest")),
    ),
    verb(
        "batch",
        lambda world, item: tsql.batch(world, *item.args),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
    ),
    verb("reset", lambda world, item: tsql.reset(world, item.args[0]), parameters=(WINDOW,)),
    verb("disconnect", lambda world, item: tsql.disconnect(world, item.args[0]), parameters=(WINDOW,)),
)
