"""CREATE DATABASE and DROP DATABASE: databases that come and go by statement."""

from __future__ import annotations

from typing import Final

from engine.messages import Message, SqlError
from engine.model import Availability, Copy, World
from engine.protocol import commands, errorlog, jobs, rows

NEW_DATA_KB: Final = 3.0 * 1024
NEW_LOG_KB: Final = 1.0 * 1024
"""Files of a database that is created without saying how large: those of model. Known (up to SQL Server 2014)."""

FIRST_LOG_KB: Final = 64.0
"""Where the log of a new database stands. Assumed; only differences matter."""


def create(world: World, server: str, name: str) -> list[Message]:
    """CREATE DATABASE name: empty, FULL recovery, no backup yet. 1801 if the name is taken on this server."""
    mine = [copy for (where, _), copy in world.copies.items() if where == server]
    if name.lower() in ("master", "msdb", "model", "tempdb", *(copy.database.lower() for copy in mine)):
        raise SqlError(1801, name)
    key = (server, name)
    world.copies[key] = Copy(
        server=server,
        database=name,
        database_id=max([4, *(copy.database_id for copy in mine)]) + 1,
        family=-world.next_id(),  # of no other database's
        full_backup=False,
        log_backup_every_s=0.0,
        size_kb=NEW_DATA_KB,
        log_size_kb=NEW_LOG_KB,
    )
    rows.add_row(world, key, FIRST_LOG_KB)
    world.availability.setdefault(name, Availability(database=name, since_tick=world.tick))
    errorlog.write(world, server, 17137, name)
    return []


def drop(world: World, server: str, name: str) -> list[Message]:
    """DROP DATABASE name. 3701 there is none, 3702 an application uses it, 3708 system database, 3743 mirrored."""
    if name.lower() in ("master", "msdb", "model", "tempdb"):
        raise SqlError(3708, name)
    copy = next((c for k, c in world.copies.items() if k[0] == server and k[1].lower() == name.lower()), None)
    if copy is None:
        raise SqlError(3701, "database", name)
    if copy.guid is not None:
        raise SqlError(3743, copy.database)
    if commands.in_use(world, copy):
        raise SqlError(3702, copy.database)
    key = (server, copy.database)
    if copy.row is not None:
        rows.remove_row(world, copy.row)
    jobs.disarm_log_backup(world, key)
    del world.copies[key]
    left = tuple(user for user in world.servers[server].users if user.database != copy.database)
    world.update_server(server, users=left)
    return []
