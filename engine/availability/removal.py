"""Removal of copies and replicas that the configuration of their group no longer contains."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from engine.availability import movement, replicas
from engine.cluster import config
from engine.model import NO_AVAILABILITY, AvailabilityGroup, DbState, Place, World
from engine.protocol import errorlog, streams


def remove_places(group: AvailabilityGroup, is_removed: Callable[[Place], bool]) -> AvailabilityGroup:
    """Return the configuration without the places (database, server) of *gone*; a database without places goes too."""
    joined = tuple(place for place in group.joined if not is_removed(place))
    left = {database for database, _ in joined}
    return replace(
        group,
        databases=tuple(database for database in group.databases if database in left),
        joined=joined,
        ready=tuple(place for place in group.ready if not is_removed(place)),
        pending_suspend=tuple(place for place in group.pending_suspend if not is_removed(place)),
    )


def watch(world: World, name: str = "") -> None:
    """Remove copies that their group's configuration no longer has, after a change or the return of a server.

    *name*: a group that has just been dropped.
    """
    for server, guid in sorted(world.replicas):
        if world.instances[server].answering and config.has_quorum(world, server):
            _report_left(world, server, guid)
            _leave(world, server, guid, name)


def _report_left(world: World, server: str, guid: int) -> None:
    """Remove copies from the configuration that left the group while there was no quorum."""
    members = {copy.database for copy in replicas.copies(world, server, guid)}

    def is_orphaned(database_place: Place) -> bool:
        return (
            database_place[1] == server
            and (server, database_place[0]) in world.copies
            and database_place[0] not in members
        )

    group = replicas.group_of(world, server, guid)
    if group is not None and any(map(is_orphaned, group.joined)):
        replicas.change(world, server, guid, lambda old: remove_places(old, is_orphaned))


def _leave(world: World, server: str, guid: int, name: str) -> None:
    group = replicas.group_of(world, server, guid)
    belongs = group is not None and group.replica(server) is not None
    if not belongs:
        errorlog.write(world, server, 41096, group.name if group is not None else name)
    for copy in replicas.copies(world, server, guid):
        if group is None or (copy.database, server) not in group.joined:
            unjoin(world, server, copy.database, guid)
    if not belongs:
        remove_local(world, server, guid)
    world.touch(guid)


def remove_local(world: World, server: str, guid: int) -> None:
    """Remove the replica on *server*, whatever the cluster database says; its copies are RESTORING."""
    for copy in replicas.copies(world, server, guid):
        unjoin(world, server, copy.database, guid)
    for key, _ in world.contacts_of(guid):
        if server in key[1:]:
            world.drop_contact(key)
    del world.replicas[server, guid]
    world.touch(guid)


def stop_sending(world: World, server: str, databases: Iterable[str]) -> None:
    """Stop the log of the copies on *server*, though a receiver may notice it later."""
    for database in databases:
        copy = world.copies.get((server, database))
        if copy is not None and copy.source is not None:
            for stream in list(world.flow.streams_of(copy.source)):
                streams.detach(world, stream)


def unjoin(world: World, server: str, database: str, guid: int) -> None:
    """Put the copy into RESTORING, as for a secondary that leaves; its primary forgets it."""
    key = (server, database)
    lead = world.replicas[server, guid].primary
    contact = world.contacts.get((guid, server, lead or ""))
    if contact is not None and contact.connected and lead is not None:
        for me, peer in ((server, lead), (lead, server)):
            if (me, guid) in world.replicas:
                movement.log_disconnected(world, guid, database, me, peer)
    streams.stop_log(world, world.copies[key])
    world.update_copy(key, availability=NO_AVAILABILITY, db_state=DbState.RESTORING, recovering=False)
    if lead is not None and lead != server and (lead, database) in world.copies:
        movement.forget(world, (lead, database), server)
