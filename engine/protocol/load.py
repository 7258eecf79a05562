"""What the clients do to a database, and the room that its log has."""

from __future__ import annotations

from dataclasses import replace

from engine.flow.sites import WORKLOADS
from engine.inputs import Input, InputProblem
from engine.messages import text_of
from engine.model import World
from engine.protocol import clients, errorlog, rows


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


def fill_log(world: World, database: str) -> None:
    """Something writes log until the file of the serving copy has no room left."""
    for key, copy in sorted(world.copies.items()):
        if copy.database == database and copy.row is not None and world.rows[copy.row][0] == key:
            at = world.flow.positions(copy.row)
            used_kb = at.generated_kb - rows.log_reuse_kb(world, copy, copy.row)
            world.update_copy(key, log_size_kb=copy.log_max_kb)
            world.flow.add_log_kb(copy.row, max(0.0, copy.log_max_kb - used_kb))


def log_full(world: World, row: int) -> None:
    """Crossing: no more log fits. Every change fails with 9002; the whole database comes to a halt [WP]."""
    key, _ = world.rows[row]
    copy = world.copies[key]
    if copy.log_full:
        return
    world.update_copy(key, log_full=True)
    errorlog.write(world, key[0], 9002, key[1], reuse_wait(world, copy.row))
    text = text_of(9002, key[1], reuse_wait(world, copy.row), version=world.servers[key[0]].version)[1]
    world.emit("log", text, server=key[0], database=key[1], what="full")


def reuse_wait(world: World, row: int | None) -> str:
    """log_reuse_wait_desc of the copy that owns *row*: what keeps its log from being reused."""
    if row is None:
        return "NOTHING"
    copy = world.copies[world.rows[row][0]]
    reuse = rows.log_reuse_kb(world, copy, row)
    if copy.guid is not None and reuse < copy.last_log_backup_kb:
        return "DATABASE_MIRRORING"
    return "LOG_BACKUP" if world.flow.positions(row).flushed_kb > copy.last_log_backup_kb + 1.0 else "NOTHING"


def back_up_log(world: World, server: str, database: str) -> None:
    """Timer: the log backup job of a copy; log that the mirror has too may be reused afterwards."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.log_backup_every_s <= 0.0:
        return
    world.after(copy.log_backup_every_s, "log.backup", server, database)
    if copy.row is None or world.rows[copy.row][0] != key or not world.servers[server].answering:
        return
    if copy.db_state == 0 and not copy.recovering:
        world.update_copy(key, last_log_backup_kb=world.flow.positions(copy.row).flushed_kb)
        check_room(world)


def check_room(world: World) -> None:
    """A database that had stood still for want of log space goes on when there is room again."""
    for key, copy in list(world.copies.items()):
        if not copy.log_full or copy.row is None or world.rows[copy.row][0] != key:
            continue
        used_kb = world.flow.positions(copy.row).generated_kb - rows.log_reuse_kb(world, copy, copy.row)
        if used_kb < 0.98 * copy.log_max_kb:
            world.update_copy(key, log_full=False)
            world.emit(
                "log",
                f"there is room in the log of {key[1]} again",
                server=key[0],
                database=key[1],
                what="room",
            )


def point_app(world: World, client: str, server: str) -> None:
    """`point-app`: change the connection string of an application and restart it."""
    old = world.clients[client]
    world.clients[client] = replace(old, data_source=server, known_partner=None, lost_since=old.lost_since)
    clients.look_for_server(world, client)
