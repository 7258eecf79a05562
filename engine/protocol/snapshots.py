"""Database snapshots: read-only views of a database at one time, for reports on a mirror.

See facts 1.5 in docs/facts.md [DOC: database snapshots].

The cost of a snapshot for its source (copy-on-write, growth of its sparse files) is not simulated.
"""

from engine.messages import Message, SqlError
from engine.model import Snapshot, World


def list_snapshots(world: World, server: str, database: str) -> list[Snapshot]:
    """Return the snapshots of a copy, oldest first."""
    return [
        snapshot
        for snapshot in world.instances[server].snapshots
        if snapshot.source.lower() == database.lower()
    ]


def find_next_database_id(world: World, server: str) -> int:
    """Return the database ID for the server's next database."""
    copies = [copy.database_id for (server_name, _), copy in world.copies.items() if server_name == server]
    return max([4, *copies, *(snapshot.database_id for snapshot in world.instances[server].snapshots)]) + 1


def check_source_files(world: World, server: str, snapshot: Snapshot) -> None:
    """Raise 945, as USE does, if files of the snapshot's source are missing."""
    source = world.copies.get((server, snapshot.source))
    if source is None or source.disk_failed:
        raise SqlError(945, snapshot.name)


def drop_snapshot(world: World, server: str, snapshot: Snapshot) -> list[Message]:
    """Drop a snapshot; its source remains."""
    state = world.instances[server]
    world.update_instance(
        server,
        snapshots=tuple(
            other_snapshot for other_snapshot in state.snapshots if other_snapshot is not snapshot
        ),
    )
    return []


def reject_snapshot_change(world: World, server: str, database: str) -> None:
    """Raise 5093 if *database* is a snapshot, which ALTER DATABASE cannot change."""
    if world.instances[server].find_snapshot(database) is not None:
        raise SqlError(5093, also=(5069,))
