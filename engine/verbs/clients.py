"""Client applications, and what they do to a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.flow.sites import WORKLOADS
from engine.model import World
from engine.protocol import clients, load
from engine.verbs.verb import CLIENT, DATABASE, SERVER, Args, Parameter, Verb
from engine.words import mark


def _workloads(world: World, database: str, truth: bool) -> Iterable[str]:
    return sorted(WORKLOADS)


def _runs(world: World, args: Args) -> bool:
    """The application is connected or looks for a server."""
    (name,) = args
    looking = any(handler == "client.try" and of[0] == name for _, _, handler, of in world.timers)
    return world.clients[name].connected_to is not None or looking


def _elsewhere(world: World, args: Args) -> bool:
    client = world.clients[args[0]]
    return client.data_source != args[1] and any((args[1], name) in world.copies for name in client.databases)


VERBS: Final = (
    Verb(
        name="workload",
        parameters=(DATABASE, Parameter(mark("workload"), "workload", values=_workloads)),
        options={"scale": (0.0, 1_000.0)},
        help=mark("change the workload (Workload1, Workload2, none, …)"),
        group="load",
        do=load.set_workload,
        label="{1}",
        icon="load",
        section=mark("Workload"),
        sensible=lambda world, args: all(copy.workload != args[1] for copy in world.copies_of(args[0])),
    ),
    Verb(
        name="bulk-load",
        parameters=(DATABASE,),
        options={"rows": (0.0, 1e10), "batch_rows": (0.0, 1e10)},
        help=mark("load rows in bulk, batch by batch"),
        group="load",
        do=load.start_operation,
    ),
    Verb(
        name="rebuild-index",
        parameters=(DATABASE, Parameter(mark("how"), optional=True, choices=("offline", "online"))),
        options={"size": (0.0, 1e6)},
        help=mark("rebuild a large index in one transaction"),
        group="load",
        do=load.start_operation,
    ),
    Verb(
        name="stop-app",
        parameters=(CLIENT,),
        help=mark("stop a client application"),
        group="chore",
        do=lambda world, item: clients.stop(world, item.args[0]),
        reverse="start-app",
        label=mark("Stop the application"),
        icon="stop",
        sensible=_runs,
    ),
    Verb(
        name="start-app",
        parameters=(CLIENT,),
        help=mark("start a client application"),
        group="chore",
        do=lambda world, item: clients.look_for_server(world, item.args[0]),
        label=mark("Start the application"),
        icon="play",
        sensible=lambda world, args: not _runs(world, args),
    ),
    Verb(
        name="point-app",
        parameters=(CLIENT, SERVER),
        help=mark("connect an application to another server"),
        group="chore",
        do=lambda world, item: load.point_app(world, *item.args),
        label=mark("Connect it to {1}"),
        icon="app",
        sensible=_elsewhere,
    ),
)
