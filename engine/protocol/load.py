"""Load of the clients on a database."""

from __future__ import annotations

from msgspec.structs import replace

from engine.flow.setup import Operation
from engine.localization import say
from engine.model import Key, RecoveryModel, World
from engine.protocol import clients, groups, names


def begin(world: World, key: Key, operation: Operation) -> None:
    """Start a long operation in an open copy."""
    copy = world.copies[key]
    minimal = copy.bulk_changes or copy.recovery_model is RecoveryModel.BULK_LOGGED
    world.update_copy(key, operation=operation, bulk_changes=minimal)
    if not operation.batch_kb and copy.source is not None and copy.active_from_kb is None:
        world.update_copy(key, active_from_kb=world.flow.positions(copy.source).generated_kb)
    world.emit("note", say("{what} started", what=operation.name), server=key[0], database=key[1])


def operation_done(world: World, source: int) -> None:
    """Handle that the long operation of *source* has written its last log (crossing)."""
    key = world.sources[source]
    operation = world.copies[key].operation
    if operation is not None:
        still = {} if operation.batch_kb else {"active_from_kb": None}
        world.update_copy(key, operation=None, **still)
        world.emit("note", say("{what} finished", what=operation.name), server=key[0], database=key[1],
                   what="operation done", log_kb=operation.log_kb)  # fmt: skip
        if not operation.batch_kb:  # an index build or rebuild ends with a Sch-M lock
            groups.policy(world.copies[key]).schema_changed(world, key)


def point_app(world: World, client: str, server: str) -> None:
    """Change the connection string of an application and restart it."""
    old = world.clients[client]
    world.clients[client] = replace(
        old, data_source=server, known_partner=None, kept_addresses=names.NONE_KEPT
    )
    clients.look_for_server(world, client)
