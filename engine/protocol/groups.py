"""Common decisions of the copies of a database, by kind of group: each kind registers its policy here.

The rest of the protocol knows that a database may be in a group, and never the kind of the group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from engine.flow import Crossing
from engine.messages import SqlError
from engine.model import DatabaseCopy, Handlers, Key, World


class StreamTerms(NamedTuple):
    """Terms of a group for one stream of log between two of its copies."""

    awaited: bool
    """A commit waits until this copy has hardened it."""
    connected: bool
    """The writer counts on the receiver: it waits for it, if the stream is awaited."""
    carrying: bool
    """Log passes."""
    sending: bool
    """Log is kept for this copy and sent as fast as the way allows."""
    redoing: bool
    """The receiver redoes what it has hardened."""
    log_pool: bool = False
    """Log is sent from memory, and the receiver writes pages at checkpoints only."""
    compressed: bool = True
    """Log is compressed, where version and trace flags let it."""
    redo_threads: int | None = None
    """Threads that redo the log at the receiver; None: those of mirroring."""


@dataclass(frozen=True, slots=True)
class FailoverPrecondition:
    """One thing that must be true before another copy may take over by itself."""

    name: str
    holds: bool
    seen_in: str
    """The view or log in which it shows, and on which server."""
    about: Literal["", "memory", "loss", "beginning"] = ""
    """memory: once the loss is noticed it counts as it was then. loss: the copy that writes is lost; beginning: that is
    noticed, which begins every failover."""
    target: str = ""
    """The secondary, or the node, of which it is asked; empty: of all alike."""
    now: str = ""
    """Current state, where yes or no is not enough."""


class Policy(ABC):
    """Decisions about a copy that depend on the kind of its group. Those that every kind makes have no default."""

    @abstractmethod
    def role(self, copy: DatabaseCopy) -> str:
        """Return the role of the copy as its server knows it, in the spelling of catalog views; "" if it has none."""

    @abstractmethod
    def state(self, copy: DatabaseCopy) -> str:
        """Return the synchronization state of the copy as its server knows it, in the spelling of catalog views.

        Return "" if there is no other copy.
        """

    def database_state(self, copy: DatabaseCopy) -> str:
        """Return the synchronization state of the group as *copy*, which leads it, knows it."""
        return self.state(copy)

    def collect_state_names(self, world: World, copy: DatabaseCopy) -> set[str]:
        """Collect the role and the states of the copy."""
        return {self.role(copy), self.state(copy), copy.db_state.name} - {""}

    @abstractmethod
    def is_leader(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy supplies the log of the others, as its server believes; a single copy does, too."""

    @abstractmethod
    def is_follower(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy receives its log from another one, as its server believes."""

    def role_sequence(self, copy: DatabaseCopy) -> int:
        """Return the number of role changes that the copy knows of.

        Of two copies that claim to lead, the higher one is right.
        """
        return 1

    @abstractmethod
    def commits_wait(self, world: World, copy: DatabaseCopy) -> bool:
        """Return whether the copy leads and its commits wait for another copy."""

    @abstractmethod
    def can_write(self, copy: DatabaseCopy) -> bool:
        """Return whether the role of the copy allows clients to write."""

    @abstractmethod
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        """Return whether another copy could take over from this one without loss."""

    def can_read(self, copy: DatabaseCopy, read_intent: bool, connected: bool = False) -> bool:
        """Return whether the role of the copy allows reads, with ApplicationIntent=ReadOnly or without.

        *connected*: for existing connections, else for new ones.
        """
        return self.can_write(copy)

    def route(self, world: World, copy: DatabaseCopy, read_intent: bool) -> str | None:
        """Return the server to which a login is redirected; None if it stays.

        With read intent a primary redirects, without it a secondary. Raises SqlError if the login can neither
        stay nor be redirected.
        """
        return None

    @abstractmethod
    def count_routed(self, world: World, copy: DatabaseCopy) -> None:
        """Note that a login with read intent has gone where `route` sent it."""

    @abstractmethod
    def refusal(
        self, copy: DatabaseCopy, read_intent: bool = False, connected: bool = False
    ) -> SqlError | None:
        """Return the error for a client that wants to use the database here, or None if role and files allow it."""

    @abstractmethod
    def stream_terms(self, world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> StreamTerms:
        """Return the terms of the stream of log from *lead* to *follow*."""

    @abstractmethod
    def crossings(self, world: World, copy: DatabaseCopy, stream: int) -> Crossing:
        """Return the crossings that the flow model must report for a stream that *copy* sends."""

    @abstractmethod
    def caught_up(self, world: World, stream: int) -> None:
        """Handle that the receiver of *stream* has hardened all log."""

    @abstractmethod
    def redone(self, world: World, stream: int) -> None:
        """Handle that the receiver of *stream* has redone all log that it has."""

    @abstractmethod
    def log_hold(self, world: World, copy: DatabaseCopy, ends_kb: list[float]) -> tuple[str, float] | None:
        """Return the log that the group keeps: by log_reuse_wait_desc, the position from which it is kept.

        *ends_kb* are the hardened ends of the copies that receive the log.
        """

    def has_stopped_log(self, copy: DatabaseCopy) -> bool:
        """Return whether no log passes between the copies until someone repairs the session."""
        return False

    @abstractmethod
    def backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        """Return the error number with which the role of the copy refuses a backup; 0 if it allows it."""

    def backs_up_closed(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy can be backed up although no client can use it."""
        return False

    @abstractmethod
    def gives_snapshot(self, copy: DatabaseCopy) -> bool | None:
        """Return whether a snapshot of a copy that no client may use is allowed.

        None: only of a copy that clients may use.
        """

    def partner(self, copy: DatabaseCopy) -> str | None:
        """Return the server that a driver is told to try if this one does not answer."""
        return None

    @abstractmethod
    def catalog_changed(self, world: World, key: Key) -> None:
        """Note that files or backups of the copy have changed; the receivers of its log will learn of it."""

    @abstractmethod
    def schema_changed(self, world: World, key: Key) -> None:
        """Note a changed table of the applications; redo needs a Sch-M lock for it at the receivers."""

    @abstractmethod
    def cancel(self, world: World, key: Key, reason: str) -> None:
        """Cancel a failover under way in which the copy takes part."""

    @abstractmethod
    def log_lost(self, world: World, key: Key) -> None:
        """Handle that the copy has lost its log and is closed."""

    @abstractmethod
    def instance_lost(self, world: World, key: Key) -> None:
        """Handle that the copy's instance has ended, with all that it knew of others."""

    def data_lost(self, world: World, key: Key) -> bool:
        """Handle the loss of the copy's data volume; return whether the group has dealt with it."""
        return False

    @abstractmethod
    def recovered(self, world: World, key: Key) -> bool:
        """Handle that the instance has recovered the database; return whether the group decides its state."""

    @abstractmethod
    def log_startup_state(self, world: World, key: Key) -> None:
        """Write the lines about the copy into the ERRORLOG of a healthy server after its start."""

    @abstractmethod
    def preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        """Return the preconditions of an automatic failover to another copy of the database."""


class GroupPolicy(Policy):
    """A kind of group: its instances have connections as well."""

    @abstractmethod
    def timeout_s(self, world: World, group: int) -> int:
        """Return the time that an instance waits for an answer of another."""

    @abstractmethod
    def address(self, world: World, group: int, me: str, peer: str) -> str | None:
        """Return the address under which *me* calls *peer*; None if none is defined."""

    def holds_no_data(self, world: World, group: int, server: str) -> bool:
        """Return whether *server* takes part without a copy, as a witness does."""
        return False

    @abstractmethod
    def on_connection_lost(
        self, world: World, group: int, me: str, peer: str, epoch: int, reason: str
    ) -> None:
        """Handle that *me* notices the loss of its connection to *peer*."""

    @abstractmethod
    def on_connection_made(self, world: World, group: int, me: str, peer: str, epoch: int) -> None:
        """Handle that *me* has a connection to *peer* (again)."""


class NoGroup(Policy):
    """A database in no group."""

    def role(self, copy: DatabaseCopy) -> str:
        return ""

    def state(self, copy: DatabaseCopy) -> str:
        return ""

    def is_leader(self, copy: DatabaseCopy) -> bool:
        return True

    def is_follower(self, copy: DatabaseCopy) -> bool:
        return False

    def commits_wait(self, world: World, copy: DatabaseCopy) -> bool:
        return False

    def can_write(self, copy: DatabaseCopy) -> bool:
        return True

    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        return False

    def refusal(
        self, copy: DatabaseCopy, read_intent: bool = False, connected: bool = False
    ) -> SqlError | None:
        return SqlError(945, copy.database) if copy.disk_failed else None

    def stream_terms(self, world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> StreamTerms:
        raise AssertionError(f"{lead.database} on {lead.server} is in no group and has a stream")

    def crossings(self, world: World, copy: DatabaseCopy, stream: int) -> Crossing:
        return Crossing(0)

    def caught_up(self, world: World, stream: int) -> None: ...

    def redone(self, world: World, stream: int) -> None: ...

    def log_hold(self, world: World, copy: DatabaseCopy, ends_kb: list[float]) -> tuple[str, float] | None:
        return None

    def backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        return 0

    def gives_snapshot(self, copy: DatabaseCopy) -> bool | None:
        return None

    def catalog_changed(self, world: World, key: Key) -> None: ...

    def schema_changed(self, world: World, key: Key) -> None: ...

    def count_routed(self, world: World, copy: DatabaseCopy) -> None: ...

    def cancel(self, world: World, key: Key, reason: str) -> None: ...

    def log_lost(self, world: World, key: Key) -> None: ...

    def instance_lost(self, world: World, key: Key) -> None: ...

    def recovered(self, world: World, key: Key) -> bool:
        return False

    def log_startup_state(self, world: World, key: Key) -> None: ...

    def preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        return []


POLICIES: Final[dict[str, GroupPolicy]] = {}
"""By kind of group; each kind adds its own where it is defined."""

NO_GROUP: Final = NoGroup()


def policy(copy: DatabaseCopy) -> Policy:
    """Return the policy of the copy's group, as its server knows it."""
    return POLICIES.get(copy.group_kind, NO_GROUP)


def policy_of(world: World, group: int) -> GroupPolicy:
    return POLICIES[world.groups[group].kind]


def caught_up(world: World, stream: int) -> None:
    """Handle a crossing: the receiver of *stream* has hardened all log."""
    policy(world.copies[world.sources[world.flow.source_of(stream)]]).caught_up(world, stream)


def redone(world: World, stream: int) -> None:
    """Handle a crossing: the receiver of *stream* has redone all log that it has."""
    policy(world.copies[world.sources[world.flow.source_of(stream)]]).redone(world, stream)


def on_connection_lost(world: World, group: int, me: str, peer: str, epoch: int, reason: str) -> None:
    """Handle a timer: a connection is lost."""
    policy_of(world, group).on_connection_lost(world, group, me, peer, epoch, reason)


def on_connection_made(world: World, group: int, me: str, peer: str, epoch: int) -> None:
    """Handle a timer: a connection is established."""
    policy_of(world, group).on_connection_made(world, group, me, peer, epoch)


HANDLERS: Final[Handlers] = {
    "contact.lost": on_connection_lost,
    "contact.made": on_connection_made,
}
