"""T-SQL from the window of a console."""

from __future__ import annotations

from typing import Final

from engine import tsql
from engine.verbs.verb import Parameter, Verb
from engine.words import mark

WINDOW: Final = Parameter("server", "window")

VERBS: Final = (
    Verb(
        name="sql",
        parameters=(WINDOW, Parameter("text", "rest", title=mark("T-SQL"))),
        help=mark("send T-SQL to a server"),
        group="sql",
        do=lambda world, item: tsql.submit(world, *item.args),
    ),
    Verb(
        name="cancel",
        parameters=(WINDOW,),
        help=mark("cancel the running batch of a window"),
        group="sql",
        do=lambda world, item: tsql.cancel(world, item.args[0]),
    ),
)
