"""What the clients do to a database."""

from __future__ import annotations

from dataclasses import replace

from engine.flow.sites import WORKLOADS
from engine.inputs import Input, InputProblem
from engine.model import World
from engine.protocol import clients


def set_workload(world: World, item: Input) -> None:
    """`workload DB NAME [scale=…]`: what the clients of *DB* do from now on."""
    database, wanted = item.args
    name = next((known for known in WORKLOADS if known.lower() == wanted.lower()), None)
    if name is None:
        raise InputProblem(f"there is no workload {wanted!r}; there are {', '.join(sorted(WORKLOADS))}")
    for copy in world.copies_of(database):
        scale = item.option("scale", 1.0 if copy.scale == 0.0 else copy.scale)
        world.update_copy((copy.server, database), workload=name, scale=scale)
    world.emit("note", item.words, database=database)


def point_app(world: World, client: str, server: str) -> None:
    """`point-app`: change the connection string of an application and restart it."""
    old = world.clients[client]
    world.clients[client] = replace(old, data_source=server, known_partner=None, lost_since=old.lost_since)
    clients.look_for_server(world, client)
