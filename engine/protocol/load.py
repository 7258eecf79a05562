"""What the clients do to a database."""

from __future__ import annotations

from dataclasses import replace

from engine.constants import ENTERPRISE
from engine.flow.operations import bulk_load, index_build
from engine.flow.sites import WORKLOADS
from engine.inputs import Input, InputProblem
from engine.model import RecoveryModel, World
from engine.protocol import clients, quorum


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


def start_operation(world: World, item: Input) -> None:
    """`bulk-load DB [rows=…] [batch_rows=…]`, `rebuild-index DB [online|offline] [size=…]`, where *DB* serves."""
    database = item.args[0]
    keys = [(copy.server, database) for copy in world.copies_of(database)]
    key = next((key for key in keys if quorum.serves(world, key)), None)
    if key is None:
        raise InputProblem(f"{database} is down")
    copy = world.copies[key]
    if copy.operation is not None:
        raise InputProblem(f"still running in {database}: {copy.operation.name}")
    if item.verb == "bulk-load":
        operation = bulk_load(item.option("rows", 93e6), max(1.0, item.option("batch_rows", 1e6)))
    else:
        if "online" in item.args and world.servers[key[0]].edition not in ENTERPRISE:
            raise InputProblem(f"{world.servers[key[0]].edition} edition builds no index online (1712)")
        operation = index_build(item.option("size", 1.0), online="online" in item.args)
    minimal = copy.bulk_changes or copy.recovery_model is RecoveryModel.BULK_LOGGED
    world.update_copy(key, operation=operation, bulk_changes=minimal)
    if not operation.batch_kb and copy.source is not None and copy.active_from_kb is None:
        world.update_copy(key, active_from_kb=world.flow.positions(copy.source).generated_kb)
    world.emit("note", f"{operation.name} begins", server=key[0], database=database)


def operation_done(world: World, source: int) -> None:
    """Crossing: the long operation of *source* has written its last log."""
    key = world.sources[source]
    operation = world.copies[key].operation
    if operation is not None:
        still = {} if operation.batch_kb else {"active_from_kb": None}
        world.update_copy(key, operation=None, **still)
        world.emit("note", f"{operation.name} is done", server=key[0], database=key[1],
                   what="operation done", log_kb=operation.log_kb)  # fmt: skip


def point_app(world: World, client: str, server: str) -> None:
    """`point-app`: change the connection string of an application and restart it."""
    old = world.clients[client]
    world.clients[client] = replace(old, data_source=server, known_partner=None, lost_since=old.lost_since)
    clients.look_for_server(world, client)
