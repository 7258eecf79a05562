"""Verbs for T-SQL from a console window, and from programs that log in over the network."""

from typing import Final

from engine import tsql
from engine.localization import mark
from engine.verbs.verb import VerbParameter, build_verb

WINDOW: Final = VerbParameter("server", "window")

VERBS: Final = (
    build_verb(
        "sql",
        lambda world, item: tsql.submit_text(world, *item.args),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
    ),
    build_verb("cancel", lambda world, item: tsql.cancel_batches(world, item.args[0]), parameters=(WINDOW,)),
    build_verb(
        "change-connection",
        lambda world, item: tsql.change_connection(world, *item.args),
        parameters=(WINDOW, VerbParameter("target", "rest", title=mark("connection string"))),
    ),
    build_verb(
        "connect",
        lambda world, item: tsql.log_in(world, *item.args),
        parameters=(WINDOW, VerbParameter(mark("login"), "rest")),
    ),
    build_verb(
        "batch",
        lambda world, item: tsql.run_batch(world, *item.args),
        parameters=(WINDOW, VerbParameter("text", "rest", title=mark("T-SQL"))),
    ),
    build_verb("reset", lambda world, item: tsql.reset_connection(world, item.args[0]), parameters=(WINDOW,)),
    build_verb(
        "disconnect",
        lambda world, item: tsql.close_program_connection(world, item.args[0]),
        parameters=(WINDOW,),
    ),
)
