"""World as plain data: frozen parts in dictionaries, so that fork, hash and comparison are cheap.

The world contains no rules. A change replaces a part with a new part (`World.update_copy` and similar). Code
that holds the old part never sees a change of it.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Flag, auto
from operator import attrgetter
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from engine.commits import Commit
from engine.constants import DEFAULT_START_TIMES, TICKS_PER_S
from engine.events import Event, EventData
from engine.field_types import FieldOf
from engine.flow import Flow
from engine.model.availability import AvailabilityMembership, ReplicaState
from engine.model.clients import Availability, Client, Fault, NameRecord, Program
from engine.model.clusters import Cluster, ClusterConfig, Node, UngracefulExits
from engine.model.databases import Contact, DatabaseCopy, Failover, Group, Membership, WitnessRecord
from engine.model.instances import Computer, Instance, Link
from engine.model.times import Key, Tick, TimerName, to_ticks
from engine.random_streams import RandomStream

# --- cache of `repr()` for immutable parts of a world -----------------------------------------------------

JOINED_TEXTS: Final = 64
"""Number of texts that are joined into one piece of the hash input. Assumed.

One piece with all texts of a long run would occupy megabytes.
"""


class ReprCache:
    """Cache of `repr()` of frozen parts, by dictionary and position. Worlds may share a cache.

    Only changed parts are formatted again.
    """

    def __init__(self) -> None:
        self._entries: dict[str, dict[object, tuple[object, bytes]]] = {}

    def __reduce__(self) -> tuple[type[ReprCache], tuple[()]]:
        """Pickle an empty cache, because stored worlds contain no caches."""
        return ReprCache, ()

    def iterate_items(self, name: str, parts: Mapping[PartKey, object]) -> Iterator[bytes]:
        """Yield `repr(sorted(parts.items()))` in pieces. *name* identifies the dictionary in the cache."""
        return self._format_list(name, sorted(parts.items()), "({0!r}, {1!r})")

    def iterate_values(self, name: str, parts: Iterable[object]) -> Iterator[bytes]:
        """Yield `repr(list(parts))` in pieces. *name* identifies the list in the cache."""
        return self._format_list(name, enumerate(parts), "{1!r}")

    def _format_list(self, name: str, items: Iterable[tuple[object, object]], form: str) -> Iterator[bytes]:
        before, new_entries = self._entries.get(name, {}), {}
        for key, value in items:
            entry = before.get(key)
            if entry is None or entry[0] is not value:
                entry = value, form.format(key, value).encode()
            new_entries[key] = entry
        self._entries[name] = new_entries
        texts = [text for _, text in new_entries.values()]
        yield b"["
        for index in range(0, len(texts), JOINED_TEXTS):
            yield b", ".join([b""] * (index > 0) + texts[index : index + JOINED_TEXTS])
        yield b"]"


class Settings(Struct, frozen=True, kw_only=True, gc=False):
    """Choices of behavior where the documentation gives no clear answer. A scenario may set them."""

    auto_failover_after_witness_cut: bool = True
    """True if an automatic failover is possible even after the link between principal and witness was cut
    (facts 4.6).
    """
    resume_on_mirror: bool = True
    """True if both partners accept SET PARTNER RESUME. The documentation contradicts itself."""
    witness_off_on_mirror: bool = True
    boot_s: float = 60.0
    restart_service_s: float = 4.0
    start_time: str = DEFAULT_START_TIMES[2005]
    """Clock time of the simulated servers at tick 0."""


PartKey = TypeVar("PartKey")

Timer = tuple[Tick, int, TimerName, tuple[object, ...]]
"""(tick at which it is due, order within the tick, handler name, arguments of plain data)."""

LogLine = tuple[Tick, int, int, int, str]
"""Line of an ERRORLOG: (tick, number, severity, state, text)."""

ClusterLine = tuple[Tick, str, str, str]
"""Line of a cluster log: (tick, level, component, text)."""


class StoredFile(Protocol):
    """File that is stored on a drive of a server."""

    @property
    def size_kb(self) -> float:
        """Return the size of the file."""


class FieldUse(Flag):
    """Operations that use a part of the world. Each part declares its own set."""

    NONE = 0
    FORK = auto()
    """A fork gets a copy of the part; without this flag the part is empty in a fork."""
    HASH = auto()
    """The recorded state hash includes the part."""
    HASH_IF_ANY = auto()
    """The recorded state hash includes the part only if it is not empty, which is rare."""
    COMPARE = auto()
    """A statement that does not change any such part is a no-op."""
    DECIDE = auto()
    """The search distinguishes states by the part."""
    ASK = auto()
    """Conditions in scenarios read the part. Each change of the part is accompanied by an event."""
    BLOCKS = auto()
    """Snapshots store the part in shared blocks."""
    PACK = auto()
    """The part has entries for each database. Its blocks are therefore compressed in older snapshots."""
    STATE = FORK | HASH | COMPARE | BLOCKS


def define_part(use: FieldUse, make: Callable[[], Any] = dict) -> Any:
    """Define a part of the world for the operations in *use*. *make* creates the empty part."""
    return field(default_factory=make, metadata={"use": use})


@dataclass(slots=True)
class World:
    """Complete state that determines the future of a run. Forks share its frozen parts."""

    # -- shared by forks
    seed: int
    chance: RandomStream
    flow: Flow
    settings: Settings = field(default_factory=Settings)
    tick: Tick = 0
    sql_work: int = 0
    """Total T-SQL work so far. Work above the capacity of the elapsed ticks still waits
    (engine/tsql/batches/work.py).
    """
    counter: int = 0
    """Last number that was used as an ID or as the order of a timer within its tick."""
    log_was_full: bool = field(default=False, compare=False)
    windows_held_log: bool = field(default=False, compare=False)
    """True if an open transaction of a window has held log since the start.

    *log_was_full*: True if a log has been full since the start. Neither is part of the state. While they are
    False, some checks are skipped.
    """
    settlings: int = field(default=0, compare=False)
    """Number of changes other than the passage of time. It is not part of the state."""
    written: ReprCache = field(default_factory=ReprCache, repr=False, compare=False)
    """Cache of `repr()` of the parts, from the last state hash. Forks share it."""
    # -- parts of the world, in the order in which the state hash reads them
    computers: dict[str, Computer] = define_part(FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK)
    instances: dict[str, Instance] = define_part(FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK)
    links: dict[tuple[str, str], Link] = define_part(FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK)
    copies: dict[Key, DatabaseCopy] = define_part(
        FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK
    )
    witnesses: dict[tuple[str, int], WitnessRecord] = define_part(
        FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK
    )
    contacts: dict[tuple[int, str, str], Contact] = define_part(
        FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK
    )
    """(group, server, peer) -> the server's knowledge of its connection to the peer. Only `store_contact` writes it."""
    clients: dict[str, Client] = define_part(FieldUse.STATE | FieldUse.DECIDE)
    availability: dict[str, Availability] = define_part(
        FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK
    )
    files: dict[tuple[str, str], StoredFile] = define_part(FieldUse.STATE | FieldUse.DECIDE)
    """(server, path) -> file on a drive, such as a backup or a certificate."""
    sessions: dict[str, Any] = define_part(FieldUse.HASH | FieldUse.BLOCKS | FieldUse.FORK)
    """Window name -> open SQL connection of this T-SQL window."""
    batches: dict[str, Any] = define_part(FieldUse.STATE | FieldUse.DECIDE)
    """Window name -> running batch."""
    transfers: dict[int, tuple[str, str, float]] = define_part(FieldUse.STATE | FieldUse.DECIDE)
    """Number -> (source server, target server, KB/s) of a file copy in progress."""
    monitor: dict[Key, Any] = define_part(FieldUse.STATE | FieldUse.ASK)
    """Copy -> rows that the Database Mirroring Monitor has recorded on its server."""
    objects: dict[tuple[str, str, str], Any] = define_part(FieldUse.STATE | FieldUse.ASK)
    """(server, system database, name) -> table, procedure or view that a script created there."""
    commits: dict[tuple[int, int], Commit] = define_part(FieldUse.STATE | FieldUse.DECIDE)
    """(family, branch of the log) -> latest commit of a T-SQL window. Commits hold the contents of user
    databases.
    """
    errorlog: dict[str, tuple[LogLine, ...]] = define_part(FieldUse.HASH | FieldUse.COMPARE | FieldUse.FORK)
    """Server -> latest lines of its ERRORLOG, for xp_readerrorlog. Each line is also an event."""
    sources: dict[int, Key] = define_part(FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK)
    """Source of the flow model -> copy that writes its log."""
    streams: dict[int, Key | None] = define_part(
        FieldUse.STATE | FieldUse.DECIDE | FieldUse.ASK | FieldUse.PACK
    )
    """Stream of the flow model -> copy that receives it, or None."""
    groups: dict[int, Group] = define_part(FieldUse.STATE)
    """Number -> mirroring session or availability group. An entry remains after its group has ended."""
    clusters: dict[str, Cluster] = define_part(FieldUse.STATE | FieldUse.ASK)
    nodes: dict[str, Node] = define_part(FieldUse.STATE | FieldUse.ASK)
    """Computer -> cluster service on it."""
    replicas: dict[tuple[str, int], ReplicaState] = define_part(FieldUse.STATE | FieldUse.ASK)
    """(server, group) -> the server's knowledge of its replica."""
    listeners: dict[str, str | None] = define_part(FieldUse.STATE | FieldUse.ASK)
    """Network name of a listener -> server that responds to it; None while it is offline."""
    records: dict[str, NameRecord] = define_part(FieldUse.STATE | FieldUse.ASK)
    """Network name of a listener with its own addresses -> DNS record."""
    clusterlog: dict[str, tuple[ClusterLine, ...]] = define_part(FieldUse.STATE)
    """Node -> latest lines of its cluster log."""
    variables: dict[tuple[str, str], str] = define_part(FieldUse.STATE)
    """(node, name in lowercase) -> text of a variable at the node's PowerShell prompt."""
    programs: dict[str, Program] = define_part(
        FieldUse.HASH_IF_ANY | FieldUse.COMPARE | FieldUse.ASK | FieldUse.BLOCKS | FieldUse.FORK
    )
    """Program name in logins -> results of this external program, which the scenario evaluates."""
    evicted: dict[str, ClusterConfig] = define_part(FieldUse.HASH_IF_ANY | FieldUse.BLOCKS | FieldUse.FORK)
    """Evicted computer -> last copy of the cluster database, from which its instances know their groups."""
    exits: dict[str, UngracefulExits] = define_part(FieldUse.HASH_IF_ANY | FieldUse.BLOCKS | FieldUse.FORK)
    """Computer -> ungraceful exits of this node."""
    contact_keys: dict[int, tuple[tuple[int, str, str], ...]] = define_part(FieldUse.BLOCKS | FieldUse.FORK)
    """Group -> keys of its contacts, in order. It is not part of the state."""
    failovers: list[Failover] = define_part(
        FieldUse.COMPARE | FieldUse.ASK | FieldUse.BLOCKS | FieldUse.FORK, list
    )
    latest_failover: dict[int, int] = define_part(FieldUse.BLOCKS | FieldUse.FORK)
    """Number of a mirroring session, or of a database in an availability group -> index of its latest
    failover in *failovers*.
    """
    faults: list[Fault] = define_part(FieldUse.COMPARE | FieldUse.BLOCKS | FieldUse.FORK, list)
    timers: list[Timer] = define_part(FieldUse.PACK | FieldUse.BLOCKS | FieldUse.FORK, list)
    dirty: set[int] = define_part(FieldUse.FORK, set)
    """Sources for which setups of the source or its streams may have changed since the last update of the
    flow model.
    """
    changed: set[str] = define_part(FieldUse.FORK, set)
    """Databases that have changed since the last propagation of changes."""
    outbox: list[Event] = define_part(FieldUse.NONE, list)
    """Events that no observer has received yet. They are not part of the state."""

    # --- change -----------------------------------------------------------------------------------------

    def next_id(self) -> int:
        """Return a new number that no other object of the world has."""
        self.counter += 1
        return self.counter

    def call_at(self, tick: Tick, handler: TimerName, *args: object) -> None:
        """Set a timer that calls *handler* at *tick*, or at the next tick if *tick* is past."""
        heapq.heappush(self.timers, (max(tick, self.tick), self.next_id(), handler, args))

    def call_after(self, seconds: float, handler: TimerName, *args: object) -> None:
        """Set a timer that calls *handler* after *seconds*."""
        self.call_at(self.tick + to_ticks(seconds), handler, *args)

    def cancel_calls(self, handler: TimerName, *first: object) -> None:
        """Cancel all timers of *handler* whose first arguments are *first*."""
        self.timers = [
            timer for timer in self.timers if (timer[2], timer[3][: len(first)]) != (handler, first)
        ]
        heapq.heapify(self.timers)

    def update_copy(self, key: Key, **changes: FieldOf[DatabaseCopy]) -> DatabaseCopy:
        """Replace fields of a copy, mark the change, and return the new copy."""
        old_copy = self.copies[key]
        new_copy = self.copies[key] = replace(old_copy, **changes)
        self.changed.add(new_copy.database)
        self.mark_log_changed(new_copy)
        if old_copy.source != new_copy.source or old_copy.stream != new_copy.stream:
            self.mark_log_changed(old_copy)
        return new_copy

    def update_mirroring(self, key: Key, **changes: FieldOf[Membership]) -> DatabaseCopy:
        """Replace fields of the server's knowledge about the copy's mirroring session. Return the new copy."""
        return self.update_copy(key, mirroring=replace(self.copies[key].mirroring, **changes))

    def update_availability(self, key: Key, **changes: FieldOf[AvailabilityMembership]) -> DatabaseCopy:
        """Replace fields of the server's knowledge about the copy's availability group. Return the new copy."""
        return self.update_copy(key, availability=replace(self.copies[key].availability, **changes))

    def store_contact(self, key: tuple[int, str, str], contact: Contact) -> None:
        """Store the knowledge about a connection, and list its key in *contact_keys*."""
        if key not in self.contacts:
            self.contact_keys[key[0]] = (*self.contact_keys.get(key[0], ()), key)
        self.contacts[key] = contact

    def remove_contact(self, key: tuple[int, str, str]) -> None:
        """Remove the knowledge about a connection, if it exists."""
        if self.contacts.pop(key, None) is not None:
            self.contact_keys[key[0]] = tuple(
                [other_key for other_key in self.contact_keys[key[0]] if other_key != key]
            )

    def list_contacts(self, group: int) -> list[tuple[tuple[int, str, str], Contact]]:
        """Return (key, contact) of every connection of a group."""
        return [(key, self.contacts[key]) for key in self.contact_keys.get(group, ())]

    def mark_log_changed(self, copy: DatabaseCopy) -> None:
        """Record that the flow model may need a new setup for the log that *copy* writes or receives."""
        source = self.find_source_of(copy)
        if source is not None:
            self.dirty.add(source)

    def find_source_of(self, copy: DatabaseCopy) -> int | None:
        """Return the number of the source of the log that *copy* writes or receives, or None."""
        if copy.source is None and copy.stream in self.streams:
            return self.flow.get_stream_source(copy.stream)
        return copy.source

    def update_instance(self, name: str, **changes: FieldOf[Instance]) -> Instance:
        """Replace fields of an instance, mark the change, and return the new instance."""
        new_instance = self.instances[name] = replace(self.instances[name], **changes)
        self.mark_all_logs_changed()
        return new_instance

    def update_computer(self, name: str, **changes: FieldOf[Computer]) -> Computer:
        """Replace fields of a computer, mark the change, and return the new computer."""
        new_computer = self.computers[name] = replace(self.computers[name], **changes)
        self.mark_all_logs_changed()
        return new_computer

    def mark_session_changed(self, guid: int) -> None:
        """Record that the logs of group *guid* may need a new setup."""
        self.changed.update(self.groups[guid].databases)
        for copy in self.list_group_copies(guid):
            self.mark_log_changed(copy)

    def mark_all_logs_changed(self) -> None:
        """Record that every log may need a new setup."""
        self.dirty.update(self.sources)
        self.changed.update(self.availability)

    def emit(
        self,
        data: EventData,
        text: str,
        server: str | None = None,
        database: str | None = None,
    ) -> None:
        """Append an event at the current tick to the outbox."""
        self.outbox.append(Event(self.tick, data, text, server, database))

    # --- queries ----------------------------------------------------------------------------------------

    @property
    def t_s(self) -> float:
        """Return the time since the start of the run, in seconds."""
        return self.tick / TICKS_PER_S

    def get_computer_of(self, instance: str) -> Computer:
        """Return the computer on which *instance* runs."""
        return self.computers[self.instances[instance].computer]

    def get_computer(self, name: str) -> Computer:
        """Return the computer named *name*, or the computer of the instance named *name*."""
        return self.computers.get(name) or self.get_computer_of(name)

    def list_instances_on(self, computer: str) -> list[str]:
        """Return the instances that run on a computer."""
        return [name for name, instance in self.instances.items() if instance.computer == computer]

    def list_copies_of(self, database: str) -> list[DatabaseCopy]:
        """Return the copies of a database on all servers."""
        copies = self.copies
        return [copies[server, database] for server in self.instances if (server, database) in copies]

    def create_session(self, database: str) -> int:
        """Create a mirroring session of *database* and return its number."""
        guid = self.next_id()
        self.groups[guid] = Group(kind="mirroring", databases=(database,))
        return guid

    def find_copy_in_session(self, guid: int | None, server: str | None) -> DatabaseCopy | None:
        """Return the copy on *server* that, as this server knows, belongs to session *guid*; otherwise None."""
        group = self.groups.get(guid or 0)
        if group is None or group.kind != "mirroring":
            return None
        copy = self.copies.get((server or "", group.databases[0]))
        return copy if copy is not None and copy.mirroring.guid == guid else None

    def list_session_copies(self, guid: int) -> list[DatabaseCopy]:
        """Return the copies that, as their servers know, belong to session *guid*."""
        (database,) = self.groups[guid].databases
        return [copy for copy in self.list_copies_of(database) if copy.mirroring.guid == guid]

    def list_group_copies(self, guid: int) -> list[DatabaseCopy]:
        """Return the copies of all databases that, as their servers know, belong to group *guid*."""
        copies = (copy for database in self.groups[guid].databases for copy in self.list_copies_of(database))
        return [copy for copy in copies if copy.group == guid]

    def find_running_failover(self, guid: int | None) -> Failover | None:
        """Return the running failover of *guid*, or None.

        *guid*: number of a mirroring session or of a database in an availability group.
        """
        failover_index = self.latest_failover.get(guid or 0)
        if failover_index is None:
            return None
        failover = self.failovers[failover_index]
        return None if failover.canceled or failover.online_tick is not None else failover

    def list_databases(self) -> list[str]:
        """Return the names of all databases in alphabetical order."""
        return sorted({database for _, database in self.copies})

    # --- fork, hash -------------------------------------------------------------------------------------

    def fork(self) -> World:
        """Return an independent world with the same past. With equal inputs, its future is equal, too."""
        return World(
            self.seed,
            self.chance.fork(),
            self.flow.fork(),
            *SHARED(self),
            *[held_part.copy() for held_part in FORKED(self)],
        )

    def compute_state_hash(self) -> str:
        """Return 32 hexadecimal digits that identify the complete state."""
        digest = hashlib.blake2b(digest_size=16)
        for piece in self._iterate_state_text():
            digest.update(piece)
        digest.update(self.flow.compute_digest())
        return digest.hexdigest()

    def _iterate_state_text(self) -> Iterator[bytes]:
        """Yield the input of the state hash in pieces: `repr()` of all parts as one tuple."""
        head = (self.seed, self.chance.state, self.tick, self.counter, self.settings, sorted(self.timers))
        yield f"({head!r}, {self.sql_work!r}, ".encode()
        for name in HASHED:
            part = getattr(self, name)
            if part:
                yield from self.written.iterate_items(name, part)
            else:
                yield b"[]"
            yield b", "
        for name in HASHED_IF_ANY:
            part = getattr(self, name)
            if part:
                yield from self.written.iterate_items(name, part)
        yield from self.written.iterate_values("failovers", self.failovers)
        yield f", {self.faults!r})".encode()


def list_parts(use: FieldUse) -> tuple[str, ...]:
    """Return the names of the parts of a world whose uses include *use*, in order."""
    return tuple(
        world_field.name
        for world_field in fields(World)
        if use in world_field.metadata.get("use", FieldUse.NONE)
    )


HASHED: Final = list_parts(FieldUse.HASH)
HASHED_IF_ANY: Final = list_parts(FieldUse.HASH_IF_ANY)
SHARED: Final = attrgetter(*[each.name for each in fields(World) if "use" not in each.metadata][3:])
FORKED: Final = attrgetter(*list_parts(FieldUse.FORK))
