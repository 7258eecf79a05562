"""Common parts of chores: they report their result and refuse if SQL Server does not answer."""

from __future__ import annotations

from engine.events import ChoreData
from engine.inputs import InputError
from engine.localization import say
from engine.model import FieldOf, World


def emit_maintenance_event(
    world: World, server: str, text: str, *, database: str | None = None, **data: FieldOf[ChoreData]
) -> None:
    """Emit an event of maintenance on a server."""
    world.emit("chore", text, server=server, database=database, **data)


def need_running(world: World, *names: str) -> None:
    """Raise InputError unless all servers run."""
    for name in names:
        if not world.instances[name].answering:
            raise InputError(say("SQL Server on {server} does not respond", server=name))
