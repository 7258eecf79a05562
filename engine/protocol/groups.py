"""Common decisions of the copies of a database: each kind of group registers its policy here.

The rest of the protocol knows that a database may be in a group, but not the kind of the group.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from engine.flow import CrossingKind
from engine.messages import SqlError
from engine.model import DatabaseCopy, Handlers, Key, World
from engine.overrides import override


class StreamTerms(NamedTuple):
    """Terms of a group for one stream of log between two of its copies."""

    awaited: bool
    """True if a commit waits until this copy has hardened it."""
    connected: bool
    """True if the writer counts on the receiver and, for an awaited stream, waits for it."""
    carrying: bool
    """True if log passes."""
    sending: bool
    """True if log is kept for this copy and sent as fast as the network allows."""
    redoing: bool
    """True if the receiver redoes the log that it has hardened."""
    log_pool: bool = False
    """True if log is sent from memory and the receiver writes pages only at checkpoints."""
    compressed: bool = True
    """True if log is compressed where version and trace flags allow it."""
    redo_threads: int | None = None
    """Number of redo threads at the receiver; None means as in mirroring."""


class FailoverPrecondition(Struct, frozen=True):
    """Condition of an automatic failover to another copy."""

    name: str
    holds: bool
    seen_in: str
    """View or log that shows the condition, with its server."""
    about: Literal["", "memory", "loss", "beginning"] = ""
    """State to which the condition refers. "": the present. "memory": at the detection. "loss": at the loss
    of the writing copy. "beginning": when the detection of the loss begins.
    """
    target: str = ""
    """Secondary or node to which the condition applies; empty means all of them."""
    now: str = ""
    """Current state, if true or false is not enough."""


class Policy(ABC):
    """Decisions that depend on the group of a database. Each kind of group overrides what differs."""

    @abstractmethod
    def get_role(self, copy: DatabaseCopy) -> str:
        """Return the role of the copy as its server knows it, in the spelling of catalog views, or an empty text."""

    @abstractmethod
    def get_state(self, copy: DatabaseCopy) -> str:
        """Return the synchronization state of the copy as its server knows it, in the spelling of catalog views.

        Return "" if there is no other copy.
        """

    def get_database_state(self, copy: DatabaseCopy) -> str:
        """Return the synchronization state of the group as *copy*, which leads it, knows it."""
        return self.get_state(copy)

    def collect_state_names(self, world: World, copy: DatabaseCopy) -> set[str]:
        """Return the names of all states of the copy: its role and its synchronization states."""
        return {self.get_role(copy), self.get_state(copy), copy.db_state.name} - {""}

    @abstractmethod
    def is_leader(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy's server believes that the other copies receive their log from it.

        A single copy leads too.
        """

    @abstractmethod
    def is_follower(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy's server believes that the copy receives its log from another one."""

    def get_role_sequence(self, copy: DatabaseCopy) -> int:
        """Return the number of role changes that the copy knows of.

        If two copies claim to lead, the one with the higher number is right.
        """
        return 1

    @abstractmethod
    def has_waiting_commits(self, world: World, copy: DatabaseCopy) -> bool:
        """Return whether the copy leads and its commits are configured to wait for another copy."""

    @abstractmethod
    def can_write(self, copy: DatabaseCopy) -> bool:
        """Return whether the role of the copy lets clients work in it."""

    @abstractmethod
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        """Return whether another copy could take over from this one without loss."""

    def can_read(self, copy: DatabaseCopy, read_intent: bool) -> bool:
        """Return whether the role of the copy allows reads, with ApplicationIntent=ReadOnly or without.

        *connected*: for existing connections, else for new ones.
        """
        return self.can_write(copy)

    def find_route(self, world: World, copy: DatabaseCopy, read_intent: bool) -> str | None:
        """Return the server to which a login is redirected; None if it stays.

        With read intent a primary redirects, without it a secondary. Raises SqlError if the login can neither
        stay nor be redirected.
        """
        return None

    @abstractmethod
    def count_routed_login(self, world: World, copy: DatabaseCopy) -> None:
        """Count a login with read intent that `find_route` redirected."""

    @abstractmethod
    def find_refusal(self, copy: DatabaseCopy, read_intent: bool = False) -> SqlError | None:
        """Return the error for a client that wants to use the database here, or None if role and files allow it."""

    @abstractmethod
    def build_stream_terms(self, world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> StreamTerms:
        """Return the terms of the stream of log from *lead* to *follow*."""

    @abstractmethod
    def choose_threshold_crossings(self, world: World, copy: DatabaseCopy, stream: int) -> CrossingKind:
        """Return the crossings that the flow model must report for a stream that *copy* sends."""

    @abstractmethod
    def on_caught_up(self, world: World, stream: int) -> None:
        """Act when the receiver of *stream* has hardened the whole log."""

    @abstractmethod
    def on_redo_done(self, world: World, stream: int) -> None:
        """Act when the receiver of *stream* has redone all its log."""

    @abstractmethod
    def find_log_hold(
        self, world: World, copy: DatabaseCopy, ends_kb: list[float]
    ) -> tuple[str, float] | None:
        """Return (log_reuse_wait_desc, position in KB from which the group keeps log), or None if it keeps none.

        *ends_kb* are the hardened ends of the copies that receive the log.
        """

    def has_stopped_log(self, copy: DatabaseCopy) -> bool:
        """Return whether no log passes between the copies until somebody repairs it."""
        return False

    @abstractmethod
    def find_backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        """Return the number of the error with which the role of the copy refuses its backup; 0 means no refusal."""

    def can_back_up_closed(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy may be backed up although no client may use it."""
        return False

    @abstractmethod
    def allows_snapshot(self, copy: DatabaseCopy) -> bool | None:
        """Return whether a snapshot of a copy that no client may use is allowed.

        None: only of a copy that clients may use.
        """

    def get_partner(self, copy: DatabaseCopy) -> str | None:
        """Return the server that a driver learns as the next one to try."""
        return None

    @abstractmethod
    def on_catalog_changed(self, world: World, key: Key) -> None:
        """Handle changed files or backups of the copy; the receivers of its log learn of them."""

    @abstractmethod
    def on_schema_changed(self, world: World, key: Key) -> None:
        """Handle a schema change of an application's table; its redo needs a Sch-M lock at each receiver."""

    @abstractmethod
    def cancel_failover(self, world: World, key: Key, reason: str) -> None:
        """Cancel the running failover as far as it concerns this copy."""

    @abstractmethod
    def on_log_lost(self, world: World, key: Key) -> None:
        """Act when the copy has lost its log and is closed."""

    @abstractmethod
    def on_instance_lost(self, world: World, key: Key) -> None:
        """Handle the end of the copy's instance, which loses its knowledge of others."""

    def on_data_lost(self, world: World, key: Key) -> bool:
        """Handle the loss of the copy's data volume. Return True if the group handled it."""
        return False

    def find_page_sources(self, world: World, copy: DatabaseCopy, waiting: bool = False) -> list[str]:
        """Return the servers that may supply a damaged page. An empty list means that no repair is attempted.

        *waiting*: the request was sent. [DOC: automatic page repair]
        """
        return []

    def wait_for_page(self, world: World, key: Key) -> None:
        """Suspend redo of a receiver of log that has read a damaged page."""
        raise NotImplementedError

    def resume_after_page(self, world: World, key: Key) -> None:
        """Resume redo after the repair of the page."""
        raise NotImplementedError

    def fail_redo(self, world: World, key: Key, error: int, *args: object) -> None:
        """Stop redo at a damaged page that cannot be repaired."""
        raise NotImplementedError

    @abstractmethod
    def on_recovered(self, world: World, key: Key) -> bool:
        """Act when the instance started and recovered the database; return whether the group decides its state."""

    @abstractmethod
    def log_startup_state(self, world: World, key: Key) -> None:
        """Write the lines about the copy into the ERRORLOG of a healthy server after its start."""

    @abstractmethod
    def list_preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        """Return the preconditions of an automatic failover to another copy of the database."""


class GroupPolicy(Policy):
    """Policy of a kind of group, including the connections between its instances."""

    @abstractmethod
    def get_timeout_s(self, world: World, group: int, server: str, peer: str) -> int:
        """Return the time that *server* waits for an answer of *peer*."""

    @abstractmethod
    def get_address(self, world: World, group: int, server: str, peer: str) -> str | None:
        """Return the address under which *server* calls *peer*; None if none is defined."""

    def is_without_data(self, world: World, group: int, server: str) -> bool:
        """Return whether *server* takes part without a copy, as a witness does."""
        return False

    @abstractmethod
    def on_connection_lost(
        self, world: World, group: int, server: str, peer: str, epoch: int, reason: str
    ) -> None:
        """Act when *server* notices the loss of its connection to *peer*."""

    @abstractmethod
    def on_connection_made(self, world: World, group: int, server: str, peer: str, epoch: int) -> None:
        """Act when *server* has a connection to *peer* (again)."""


class NoGroup(Policy):
    """A database in no group."""

    @override
    def get_role(self, copy: DatabaseCopy) -> str:
        return ""

    @override
    def get_state(self, copy: DatabaseCopy) -> str:
        return ""

    @override
    def is_leader(self, copy: DatabaseCopy) -> bool:
        return True

    @override
    def is_follower(self, copy: DatabaseCopy) -> bool:
        return False

    @override
    def has_waiting_commits(self, world: World, copy: DatabaseCopy) -> bool:
        return False

    @override
    def can_write(self, copy: DatabaseCopy) -> bool:
        return True

    @override
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        return False

    @override
    def find_refusal(self, copy: DatabaseCopy, read_intent: bool = False) -> SqlError | None:
        return SqlError(945, copy.database) if copy.disk_failed else None

    @override
    def build_stream_terms(self, world: World, lead: DatabaseCopy, follow: DatabaseCopy) -> StreamTerms:
        raise AssertionError(f"{lead.database} on {lead.server} has a stream but no session or group")

    @override
    def choose_threshold_crossings(self, world: World, copy: DatabaseCopy, stream: int) -> CrossingKind:
        return CrossingKind(0)

    @override
    def on_caught_up(self, world: World, stream: int) -> None: ...

    @override
    def on_redo_done(self, world: World, stream: int) -> None: ...

    @override
    def find_log_hold(
        self, world: World, copy: DatabaseCopy, ends_kb: list[float]
    ) -> tuple[str, float] | None:
        return None

    @override
    def find_backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        return 0

    @override
    def allows_snapshot(self, copy: DatabaseCopy) -> bool | None:
        return None

    @override
    def on_catalog_changed(self, world: World, key: Key) -> None: ...

    @override
    def on_schema_changed(self, world: World, key: Key) -> None: ...

    @override
    def count_routed_login(self, world: World, copy: DatabaseCopy) -> None: ...

    @override
    def cancel_failover(self, world: World, key: Key, reason: str) -> None: ...

    @override
    def on_log_lost(self, world: World, key: Key) -> None: ...

    @override
    def on_instance_lost(self, world: World, key: Key) -> None: ...

    @override
    def on_recovered(self, world: World, key: Key) -> bool:
        return False

    @override
    def log_startup_state(self, world: World, key: Key) -> None: ...

    @override
    def list_preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        return []


POLICIES: Final[dict[str, GroupPolicy]] = {}
"""Policy by kind of group; "" means no group. Each kind adds its policy in its own module."""

NO_GROUP: Final = NoGroup()


def get_policy(copy: DatabaseCopy) -> Policy:
    """Return the policy of the copy's group, as the copy's server knows the group."""
    return POLICIES.get(copy.group_kind, NO_GROUP)


def get_group_policy(world: World, group: int) -> GroupPolicy:
    """Return the policy of a session or availability group by its number."""
    return POLICIES[world.groups[group].kind]


def on_caught_up(world: World, stream: int) -> None:
    """Act when the receiver of *stream* has hardened the whole log (flow handler)."""
    get_policy(world.copies[world.sources[world.flow.get_source_of(stream)]]).on_caught_up(world, stream)


def on_redo_done(world: World, stream: int) -> None:
    """Act when the receiver of *stream* has redone all its log (flow handler)."""
    get_policy(world.copies[world.sources[world.flow.get_source_of(stream)]]).on_redo_done(world, stream)


def on_connection_lost(world: World, group: int, server: str, peer: str, epoch: int, reason: str) -> None:
    """Handle a lost connection (timer handler)."""
    get_group_policy(world, group).on_connection_lost(world, group, server, peer, epoch, reason)


def on_connection_made(world: World, group: int, server: str, peer: str, epoch: int) -> None:
    """Handle a new connection (timer handler)."""
    get_group_policy(world, group).on_connection_made(world, group, server, peer, epoch)


HANDLERS: Final[Handlers] = {
    "contact.lost": on_connection_lost,
    "contact.made": on_connection_made,
}


# --- preconditions of an automatic failover ---------------------------------------------------------------
# Every precondition has a state and names the place where a DBA can check it.

PRECONDITION_SOURCES: Final[list[Callable[[World, str], list[FailoverPrecondition]]]] = []
"""Functions that return preconditions for a database in no group. Each kind of failover adds its own."""


def list_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return all preconditions of an automatic failover of *database* now; empty if no other copy could take over."""
    found_copy = next((copy for copy in world.list_copies_of(database) if copy.group is not None), None)
    if found_copy is not None:
        return get_policy(found_copy).list_preconditions(world, database)
    return [
        condition
        for find_preconditions in PRECONDITION_SOURCES
        for condition in find_preconditions(world, database)
    ]


def has_automatic_failover(world: World, database: str) -> bool:
    """Return whether another copy would take over automatically if the copy that writes were lost now."""
    beforehand = [
        condition for condition in list_preconditions(world, database) if condition.about in ("", "memory")
    ]
    targets = {condition.target for condition in beforehand}
    failing = {condition.target for condition in beforehand if not condition.holds}
    return bool(beforehand) and "" not in failing and (targets == {""} or bool(targets - failing - {""}))
