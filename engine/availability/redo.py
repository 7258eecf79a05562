"""Redo of changes to the files and the schema of a database, and errors of redo.

A file that cannot be created suspends the copy. RESUME retries the same log record. [DOC: add-file failures
in a group]
"""

from typing import Final

from engine.availability import movement, replicas
from engine.constants import REDO_CHECK_INTERVAL_S
from engine.events import NoteData
from engine.localization import build_message
from engine.mirroring.redo import adopt_properties, collect_logged_fields, find_file_error
from engine.model import Client, Handlers, Key, SuspendReason, SyncState, World
from engine.protocol import errorlog


def record_file_change(world: World, key: Key) -> None:
    """Record a change of the files or the backup chain of primary *key*, so that its receivers redo it."""
    lead = world.copies[key]
    for stream in world.flow.list_source_streams(lead.source) if lead.source is not None else ():
        receiver = world.streams[stream]
        if receiver is not None:
            upto_kb = world.flow.read_source_positions(world.flow.get_stream_source(stream)).generated_kb
            world.call_after(0.0, "availability.replay", *receiver, upto_kb)


def replay_file_changes(world: World, server: str, database: str, upto_kb: float) -> None:
    """Adopt the primary's files and backup chain when redo has reached *upto_kb* (timer handler).

    All replicas share one chain of log backups [DOC: active secondaries].
    """
    copy = world.copies.get((server, database))
    if copy is None or copy.stream is None or copy.availability.suspended is not None:
        return  # nothing to do now: if data movement is suspended, RESUME checks the files again
    lead = world.copies[world.sources[world.flow.get_stream_source(copy.stream)]]
    if world.flow.read_stream_positions(copy.stream).redone_kb + 1e-6 < upto_kb:
        world.call_after(REDO_CHECK_INTERVAL_S, "availability.replay", server, database, upto_kb)
        return
    adopt_properties(world, lead, copy, world.flow.read_stream_positions(copy.stream).hardened_kb)
    copy = world.copies[server, database]
    trouble = find_file_error(world, copy, lead)
    if trouble is not None:
        errorlog.write_message(world, server, *trouble)
        suspend_after_redo_error(world, (server, database))
    elif collect_logged_fields(copy) != collect_logged_fields(lead):
        world.update_copy((server, database), **collect_logged_fields(lead))


def record_schema_change(world: World, key: Key) -> None:
    """Record a change of a table's schema at *key*.

    Its redo needs a Sch-M lock (schema modification) at each secondary and waits for queries that read the
    table. [DOC: active secondaries]
    """
    lead = world.copies[key]
    for stream in world.flow.list_source_streams(lead.source) if lead.source is not None else ():
        receiver = world.streams[stream]
        if receiver is not None:
            upto_kb = world.flow.read_source_positions(world.flow.get_stream_source(stream)).generated_kb
            world.call_after(0.0, "availability.schema", *receiver, upto_kb)


def redo_schema_change(world: World, server: str, database: str, upto_kb: float) -> None:
    """Continue redo past the schema change at *upto_kb* when no query holds a Sch-S lock (timer handler)."""
    key = (server, database)
    copy = world.copies.get(key)
    if copy is None or copy.stream is None or copy.availability.guid is None:
        if copy is not None and copy.availability.redo_waits:
            world.update_availability(key, redo_waits="")
        return
    if world.flow.read_stream_positions(copy.stream).redone_kb + 1e-6 < upto_kb:
        world.call_after(REDO_CHECK_INTERVAL_S, "availability.schema", server, database, upto_kb)
        return
    reader = next(
        (name for name, client in sorted(world.clients.items()) if _has_schema_lock(client, key)), ""
    )
    before = copy.availability.redo_waits
    if reader != before:
        since_tick = copy.availability.redo_waits_since if before else world.tick
        world.update_availability(key, redo_waits=reader, redo_waits_since=since_tick)
        world.mark_log_changed(copy)
        text = build_message(
            "redo of {database} waits for a Sch-M lock, blocked by a query of {client}",
            database=database,
            client=reader,
        )
        if not reader:
            text = build_message("redo of {database} continues", database=database)
        change = "redo blocked" if reader else "redo released"
        world.emit(NoteData(what=change), text, server=server, database=database)
    if reader:
        world.call_after(REDO_CHECK_INTERVAL_S, "availability.schema", server, database, upto_kb)


def _has_schema_lock(client: Client, key: Key) -> bool:
    return client.query is not None and (client.query.server, client.query.database) == key


def suspend_after_redo_error(world: World, key: Key) -> None:
    """Suspend data movement to this copy after an error of redo. Log 35264 with the source SUSPEND_FROM_REDO."""
    stream = world.copies[key].stream
    assert stream is not None, f"{key} redoes nothing"
    primary = world.sources[world.flow.get_stream_source(stream)]
    mark_suspended(world, key, SuspendReason.REDO)
    movement.continue_without_secondary(world, primary, key[0])
    replicas.set_synchronization_state(world, key, SyncState.NOT_SYNCHRONIZING)
    guid = world.copies[key].availability.guid
    if guid is not None:
        world.mark_session_changed(guid)


def mark_suspended(world: World, key: Key, reason: SuspendReason) -> None:
    """Record and log that the copy is suspended.

    The system suspends it now, or it was already suspended before its restart. [DOC: database replica
    states]
    """
    errorlog.write_message(world, key[0], 35264, key[1], "system", int(reason), f"SUSPEND_FROM_{reason.name}")
    world.update_availability(key, suspended=reason)


HANDLERS: Final[Handlers] = {
    "availability.replay": replay_file_changes,
    "availability.schema": redo_schema_change,
}
