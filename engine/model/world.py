"""The world as plain data: frozen parts in dictionaries, so that fork, hash and compare are cheap.

The world contains no rules. A part changes when a new one replaces it (`World.update_copy` and similar); a holder of
the old part keeps it unchanged.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from engine.chance import Chance
from engine.commits import Commit
from engine.constants import TICKS_PER_S
from engine.events import Event, EventData, EventKind
from engine.flow import Flow
from engine.model.availability import AvailabilityMembership, ReplicaState
from engine.model.clients import Availability, Client, Fault, NameRecord, Program
from engine.model.clusters import Cluster, ClusterConfig, Node, UngracefulExits
from engine.model.computers import Computer, Link
from engine.model.databases import DatabaseCopy, Membership
from engine.model.groups import Contact, Failover, Group, WitnessRecord
from engine.model.instances import Instance
from engine.model.times import FieldOf, Key, Tick, TimerName, ticks
from engine.repr_cache import ReprCache


class Settings(Struct, frozen=True, kw_only=True, gc=False):
    """Derived choices where the documents are silent; a scenario may set them."""

    auto_failover_after_witness_cut: bool = True
    """True: fail over if only the link between principal and witness was cut before (facts 4.6)."""
    resume_on_mirror: bool = True
    """True: either partner accepts SET PARTNER RESUME (the pages disagree)."""
    witness_off_on_mirror: bool = True
    boot_s: float = 60.0
    restart_service_s: float = 4.0
    start_time: str = "2005-10-22T12:00:00"
    """Wall-clock time that the simulated servers show at tick 0."""


Timer = tuple[Tick, int, TimerName, tuple[Any, ...]]
"""(due, order, handler name, arguments of plain data)."""

LogLine = tuple[Tick, int, int, int, str]
"""A line of an ERRORLOG: (tick, number, severity, state, text)."""

ClusterLine = tuple[Tick, str, str, str]
"""A line of a cluster log: (tick, level, component, text)."""


@dataclass(slots=True)
class World:
    """Complete state that determines the future. Copies of it share their frozen parts."""

    seed: int
    chance: Chance
    flow: Flow
    settings: Settings = field(default_factory=Settings)
    tick: Tick = 0
    computers: dict[str, Computer] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    links: dict[tuple[str, str], Link] = field(default_factory=dict)
    copies: dict[Key, DatabaseCopy] = field(default_factory=dict)
    witnesses: dict[tuple[str, int], WitnessRecord] = field(default_factory=dict)
    contacts: dict[tuple[int, str, str], Contact] = field(default_factory=dict)
    """(group, server, peer) -> the server's knowledge of its connection to the peer; written by `put_contact`."""
    contact_keys: dict[int, tuple[tuple[int, str, str], ...]] = field(default_factory=dict)
    """Group -> keys of its contacts, in order; not part of the state."""
    clients: dict[str, Client] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    """Results of external programs that the scenario evaluates, by the name in their logins."""
    groups: dict[int, Group] = field(default_factory=dict)
    """Mirroring sessions and availability groups by number; they stay after their end."""
    clusters: dict[str, Cluster] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    """Cluster services, by computer."""
    exits: dict[str, UngracefulExits] = field(default_factory=dict)
    """Ungraceful exits of nodes, by computer."""
    evicted: dict[str, ClusterConfig] = field(default_factory=dict)
    """Last cluster database of each evicted computer, from which its instances know their groups."""
    replicas: dict[tuple[str, int], ReplicaState] = field(default_factory=dict)
    """(server, group) -> the server's knowledge of its replica."""
    listeners: dict[str, str | None] = field(default_factory=dict)
    """Network name of a listener -> server that answers under it; None while it is offline."""
    records: dict[str, NameRecord] = field(default_factory=dict)
    """Name server records of listeners that have their own addresses."""
    failovers: list[Failover] = field(default_factory=list)
    latest_failover: dict[int, int] = field(default_factory=dict)
    """Mirroring session, or database of an availability group -> index of its latest failover in *failovers*."""
    faults: list[Fault] = field(default_factory=list)
    availability: dict[str, Availability] = field(default_factory=dict)
    files: dict[tuple[str, str], Any] = field(default_factory=dict)
    """(server, path) -> backup or certificate file."""
    sessions: dict[str, Any] = field(default_factory=dict)
    """Open SQL connections of the T-SQL windows, by window name."""
    batches: dict[str, Any] = field(default_factory=dict)
    """Running batches, by window name."""
    sql_work: int = 0
    """Recorded work of all T-SQL so far; each tick takes a share of it (engine/tsql/batches/work.py)."""
    transfers: dict[int, tuple[str, str, float]] = field(default_factory=dict)
    """File copies in progress: number -> (from, to, KB/s)."""
    monitor: dict[Key, Any] = field(default_factory=dict)
    """Rows that the Database Mirroring Monitor has recorded."""
    objects: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    """(server, system database, name) -> tables, procedures and views that scripts created there."""
    commits: dict[tuple[int, int], Commit] = field(default_factory=dict)
    """(family, branch of the log) -> latest commit of a T-SQL window in it; the contents of user databases."""
    errorlog: dict[str, tuple[LogLine, ...]] = field(default_factory=dict)
    """Server -> latest lines of its ERRORLOG, for xp_readerrorlog. Each line is an event as well."""
    clusterlog: dict[str, tuple[ClusterLine, ...]] = field(default_factory=dict)
    """Node -> latest lines of its cluster log."""
    variables: dict[tuple[str, str], str] = field(default_factory=dict)
    """(node, name in lowercase) -> text of a variable at its PowerShell prompt."""
    sources: dict[int, Key] = field(default_factory=dict)
    """Source of the flow model -> copy that writes this log."""
    streams: dict[int, Key | None] = field(default_factory=dict)
    """Stream of the flow model -> copy that receives it; None without a receiver."""
    timers: list[Timer] = field(default_factory=list)
    counter: int = 0
    """Source of ids, and of the order of timers in one tick."""
    dirty: set[int] = field(default_factory=set)
    """Sources whose setup, or whose streams' setup, may have changed since the last step of the flow model."""
    changed: set[str] = field(default_factory=set)
    """Databases in which something has changed since the last settling."""
    outbox: list[Event] = field(default_factory=list)
    """Events that no observer has received yet; not part of the state."""
    log_was_full: bool = field(default=False, compare=False)
    windows_held_log: bool = field(default=False, compare=False)
    """True if a log has been full or held by a window's transaction since the start; not part of the state.

    While False, no log needs this check.
    """
    settlings: int = field(default=0, compare=False)
    """Number of changes other than the passage of time; not part of the state."""
    written: ReprCache = field(default_factory=ReprCache, repr=False, compare=False)
    """Cache of each part's `repr()` from the last hash; forks share it."""

    # --- change -----------------------------------------------------------------------------------------

    def next_id(self) -> int:
        self.counter += 1
        return self.counter

    def call_at(self, tick: Tick, handler: TimerName, *args: object) -> None:
        """Schedule a call of *handler* at *tick*, or at the next tick if *tick* is past."""
        heapq.heappush(self.timers, (max(tick, self.tick), self.next_id(), handler, args))

    def call_after(self, seconds: float, handler: TimerName, *args: object) -> None:
        self.call_at(self.tick + ticks(seconds), handler, *args)

    def cancel_calls(self, handler: TimerName, *first: object) -> None:
        """Cancel all calls of *handler* whose arguments begin with *first*."""
        self.timers = [each for each in self.timers if (each[2], each[3][: len(first)]) != (handler, first)]
        heapq.heapify(self.timers)

    def update_copy(self, key: Key, **changes: FieldOf[DatabaseCopy]) -> DatabaseCopy:
        old = self.copies[key]
        new = self.copies[key] = replace(old, **changes)
        self.changed.add(new.database)
        self.touch_log(new)
        if old.source != new.source or old.stream != new.stream:
            self.touch_log(old)
        return new

    def update_mirroring(self, key: Key, **changes: FieldOf[Membership]) -> DatabaseCopy:
        """Change the server's knowledge of the copy's mirroring session."""
        return self.update_copy(key, mirroring=replace(self.copies[key].mirroring, **changes))

    def update_availability(self, key: Key, **changes: FieldOf[AvailabilityMembership]) -> DatabaseCopy:
        """Change the server's knowledge of the copy's availability group."""
        return self.update_copy(key, availability=replace(self.copies[key].availability, **changes))

    def put_contact(self, key: tuple[int, str, str], contact: Contact) -> None:
        if key not in self.contacts:
            self.contact_keys[key[0]] = (*self.contact_keys.get(key[0], ()), key)
        self.contacts[key] = contact

    def drop_contact(self, key: tuple[int, str, str]) -> None:
        """Remove a contact, if there is one."""
        if self.contacts.pop(key, None) is not None:
            self.contact_keys[key[0]] = tuple([each for each in self.contact_keys[key[0]] if each != key])

    def contacts_of(self, group: int) -> list[tuple[tuple[int, str, str], Contact]]:
        """Return key and contact of every connection of a group."""
        return [(key, self.contacts[key]) for key in self.contact_keys.get(group, ())]

    def touch_log(self, copy: DatabaseCopy) -> None:
        """Note that the setup of the log that *copy* writes or receives may have changed."""
        source = self.source_of(copy)
        if source is not None:
            self.dirty.add(source)

    def source_of(self, copy: DatabaseCopy) -> int | None:
        """Return the source of the log that *copy* writes or receives; None without one."""
        if copy.source is None and copy.stream in self.streams:
            return self.flow.source_of(copy.stream)
        return copy.source

    def update_instance(self, name: str, **changes: FieldOf[Instance]) -> Instance:
        new = self.instances[name] = replace(self.instances[name], **changes)
        self.all_dirty()
        return new

    def update_computer(self, name: str, **changes: FieldOf[Computer]) -> Computer:
        new = self.computers[name] = replace(self.computers[name], **changes)
        self.all_dirty()
        return new

    def touch(self, guid: int) -> None:
        """Note that the setup of the log of session *guid* may have changed."""
        self.changed.update(self.groups[guid].databases)
        for copy in self.group_copies(guid):
            self.touch_log(copy)

    def all_dirty(self) -> None:
        self.dirty.update(self.sources)
        self.changed.update(self.availability)

    def emit(
        self,
        kind: EventKind,
        text: str,
        *,
        server: str | None = None,
        database: str | None = None,
        **data: FieldOf[EventData],
    ) -> None:
        self.outbox.append(Event(self.tick, kind, server, database, text, tuple(data.items())))

    # --- look -------------------------------------------------------------------------------------------

    @property
    def t_s(self) -> float:
        return self.tick / TICKS_PER_S

    def computer_of(self, instance: str) -> Computer:
        """Return the computer on which *instance* runs."""
        return self.computers[self.instances[instance].computer]

    def computer_named(self, name: str) -> Computer:
        """Return the computer of that name, or the computer of the instance of that name."""
        return self.computers.get(name) or self.computer_of(name)

    def instances_on(self, computer: str) -> list[str]:
        return [name for name, instance in self.instances.items() if instance.computer == computer]

    def copies_of(self, database: str) -> list[DatabaseCopy]:
        copies = self.copies
        return [copies[server, database] for server in self.instances if (server, database) in copies]

    def new_session(self, database: str) -> int:
        """Return the number of a new mirroring session of *database*."""
        guid = self.next_id()
        self.groups[guid] = Group(kind="mirroring", databases=(database,))
        return guid

    def copy_in_session(self, guid: int | None, server: str | None) -> DatabaseCopy | None:
        """Return the copy on *server* that belongs to session *guid* in that server's knowledge."""
        group = self.groups.get(guid or 0)
        if group is None or group.kind != "mirroring":
            return None
        copy = self.copies.get((server or "", group.databases[0]))
        return copy if copy is not None and copy.mirroring.guid == guid else None

    def session_copies(self, guid: int) -> list[DatabaseCopy]:
        """Return the copies that belong to session *guid* in their servers' knowledge."""
        (database,) = self.groups[guid].databases
        return [copy for copy in self.copies_of(database) if copy.mirroring.guid == guid]

    def group_copies(self, guid: int) -> list[DatabaseCopy]:
        """Return the copies of all databases that belong to group *guid* in their servers' knowledge."""
        each = (copy for database in self.groups[guid].databases for copy in self.copies_of(database))
        return [copy for copy in each if copy.group == guid]

    def failover_under_way(self, guid: int | None) -> Failover | None:
        """Return the running failover of session *guid*, if any."""
        place = self.latest_failover.get(guid or 0)
        if place is None:
            return None
        failover = self.failovers[place]
        return None if failover.cancelled or failover.online_tick is not None else failover

    def databases(self) -> list[str]:
        return sorted({database for _, database in self.copies})

    # --- fork, hash -------------------------------------------------------------------------------------

    def fork(self) -> World:
        """Return an independent world with the same past and, for equal inputs, the same future."""
        return World(
            seed=self.seed,
            chance=self.chance.fork(),
            flow=self.flow.fork(),
            settings=self.settings,
            tick=self.tick,
            computers=self.computers.copy(),
            instances=self.instances.copy(),
            links=self.links.copy(),
            copies=self.copies.copy(),
            witnesses=self.witnesses.copy(),
            contacts=self.contacts.copy(),
            contact_keys=self.contact_keys.copy(),
            clients=self.clients.copy(),
            programs=self.programs.copy(),
            groups=self.groups.copy(),
            clusters=self.clusters.copy(),
            nodes=self.nodes.copy(),
            exits=self.exits.copy(),
            evicted=self.evicted.copy(),
            replicas=self.replicas.copy(),
            listeners=self.listeners.copy(),
            records=self.records.copy(),
            failovers=self.failovers.copy(),
            latest_failover=self.latest_failover.copy(),
            faults=self.faults.copy(),
            availability=self.availability.copy(),
            files=self.files.copy(),
            sessions=self.sessions.copy(),
            batches=self.batches.copy(),
            sql_work=self.sql_work,
            transfers=self.transfers.copy(),
            monitor=self.monitor.copy(),
            objects=self.objects.copy(),
            commits=self.commits.copy(),
            errorlog=self.errorlog.copy(),
            clusterlog=self.clusterlog.copy(),
            variables=self.variables.copy(),
            sources=self.sources.copy(),
            streams=self.streams.copy(),
            timers=self.timers.copy(),
            counter=self.counter,
            dirty=self.dirty.copy(),
            changed=self.changed.copy(),
            log_was_full=self.log_was_full,
            windows_held_log=self.windows_held_log,
            settlings=self.settlings,
            written=self.written,
        )

    def state_hash(self) -> str:
        """Return 32 hexadecimal digits of the complete state that determines the future."""
        digest = hashlib.blake2b(digest_size=16)
        for piece in self._pieces():
            digest.update(piece)
        digest.update(self.flow.digest())
        return digest.hexdigest()

    def _pieces(self) -> Iterator[bytes]:
        """Yield the text of a tuple of all parts, piece by piece."""
        head = (self.seed, self.chance.state, self.tick, self.counter, self.settings, sorted(self.timers))
        yield f"({head!r}, {self.sql_work!r}, ".encode()
        for name in HASHED:
            part = getattr(self, name)
            if part:
                yield from self.written.items(name, part)
            else:
                yield b"[]"
            yield b", "
        for name in HASHED_IF_ANY:
            part = getattr(self, name)
            if part:
                yield from self.written.items(name, part)
        yield from self.written.values("failovers", self.failovers)
        yield f", {self.faults!r})".encode()


HASHED: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "clients", "availability", "files",
    "sessions", "batches", "transfers", "monitor", "objects", "commits", "errorlog", "sources", "streams",
    "groups", "clusters", "nodes", "replicas", "listeners", "records", "clusterlog", "variables",
)  # fmt: skip
"""Dictionaries of a world that determine its future."""

HASHED_IF_ANY: Final = ("programs", "evicted", "exits")
"""Dictionaries of the state that are mostly empty; an empty one adds nothing to the hash."""
