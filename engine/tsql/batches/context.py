"""Context of a running statement: the connection, the clock, its variables, and the knowledge of one server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from engine.constants import TICKS_PER_S
from engine.model import Computer, DatabaseCopy, Instance, Key, Snapshot, World
from engine.protocol import options, snapshots, statements
from engine.tsql.batches import rights
from engine.tsql.batches.data import Caught, Declared, Place, SqlSession, Table
from engine.tsql.scalars.values import Scalar, stamp

SYSTEM_DATABASES = {"master": 1, "tempdb": 2, "model": 3, "msdb": 4}


@dataclass(slots=True)
class Context:
    """View of the world through one connection; *session* is replaced as it changes."""

    world: World
    session: SqlSession
    variables: dict[str, Declared] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    caught: Caught | None = None
    nesting: int = 0
    """Number of procedures and dynamic SQL around the running statement: @@NESTLEVEL."""
    procedure: int = 0
    """Id of the running procedure: @@PROCID."""
    call: Callable[[Sequence[Scalar]], Scalar] | None = None
    """Function that calls a user-defined scalar function by name, with arguments (function_calls.py)."""
    writes: dict[Place, Any] = field(init=False)
    """Changes of the transaction to objects (objects.py), as in SqlSession.writes."""
    logs: dict[Key, tuple[float, float]] = field(init=False)
    """Start of the transaction's log in each database, and the amount of this log."""

    def __post_init__(self) -> None:
        self.writes = dict(self.session.writes)
        self.logs = {key: (begin_kb, kb) for key, begin_kb, kb in self.session.logs}

    @property
    def server(self) -> Instance:
        """Return the instance of the connection."""
        return self.world.instances[self.session.server]

    @property
    def computer(self) -> Computer:
        """Return the computer on which the instance runs."""
        return self.world.computer_of(self.session.server)

    @property
    def version(self) -> int:
        """Return the version of the instance, such as 2012."""
        return self.server.version

    @property
    def reports_truncated_value(self) -> bool:
        """2628 instead of 8152: compatibility level 150 [DOC: ALTER DATABASE SCOPED CONFIGURATION]."""
        copy = self.copy_named(self.session.database)
        return self.version >= 2019 and (copy is None or options.level_of(self.world, copy) >= 150)

    def moment(self, tick: int | None = None) -> datetime:
        """Return the time of the simulated servers' clock at *tick* (default: now)."""
        start = datetime.fromisoformat(self.world.settings.start_time)
        at = self.world.tick if tick is None else tick
        return start + timedelta(seconds=at / TICKS_PER_S)

    def datetime_value(self, tick: int | None = None) -> str:
        """Return the clock as a datetime value."""
        return stamp(self.moment(tick))

    def copies(self) -> list[DatabaseCopy]:
        """Return the databases of this server, in the order of their ids."""
        mine = [copy for (server, _), copy in self.world.copies.items() if server == self.session.server]
        return sorted(mine, key=lambda copy: (copy.database_id, copy.database))

    def copy_named(self, database: str) -> DatabaseCopy | None:
        """Return the server's copy of a database, in any case; None if it has none."""
        key = (self.session.server, database)
        if key in self.world.copies:
            return self.world.copies[key]
        return next((copy for copy in self.copies() if copy.database.lower() == database.lower()), None)

    def database_id(self, name: str) -> int | None:
        """Return the id under which this server knows the database."""
        if name.lower() in SYSTEM_DATABASES:
            return SYSTEM_DATABASES[name.lower()]
        copy = self.copy_named(name)
        if copy is not None:
            return copy.database_id
        picture = self.snapshot_named(name)
        return picture.database_id if picture is not None else None

    def database_name(self, number: int) -> str | None:
        """Return the name of a database by its id; None if there is none."""
        system = {value: name for name, value in SYSTEM_DATABASES.items()}
        if number in system:
            return system[number]
        known = {copy.database_id: copy.database for copy in self.copies()}
        known.update({one.database_id: one.name for one in self.server.snapshots})
        return known.get(number)

    def database_shown(self, name: str) -> str:
        """Return the name of a database as this server writes it."""
        copy = self.copy_named(name)
        return copy.database if copy is not None else name

    def snapshot_named(self, name: str) -> Snapshot | None:
        """Return the database snapshot of that name on this server."""
        return snapshots.find(self.world, self.session.server, name)

    def open_database(self, name: str) -> str:
        """Return the name as this server writes it; raises 911, 954, 955 and others if it cannot be opened."""
        inside = name.lower() == self.session.database.lower()
        statements.use_database(self.world, self.session.server, name, self.session.read_intent, inside)
        rights.admit_database(self, name)
        known = self.copy_named(name)
        if known is not None:
            return known.database
        picture = self.snapshot_named(name)
        return picture.name if picture is not None else name.lower()

    def sessions(self) -> Iterable[tuple[str, SqlSession]]:
        """Yield windows with an open connection to this server, and the connection, one's own in its current state."""
        for name, window in sorted(self.world.sessions.items()):
            session = window.session
            if session is None or session.server != self.session.server:
                continue
            if session.started_tick == self.server.started_tick:
                yield name, self.session if session.spid == self.session.spid else session
