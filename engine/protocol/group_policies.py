"""Policies: decisions that depend on the kind of group (session or availability group) of a database.

Each kind of group registers its policy here. The rest of the protocol does not depend on the kind of a group.
The *writer* or *leader* is the copy whose log the other copies receive.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from engine.flow import FlowStopCondition
from engine.messages import SqlError
from engine.model import DatabaseCopy, Handlers, Key, World
from engine.overrides import override


class StreamParameters(NamedTuple):
    """Parameters of a stream of log between two copies, as their group determines them."""

    awaited: bool
    """True if commits wait until the receiver has hardened them."""
    connected: bool
    """True if the writer treats the receiver as connected, so that commits of an awaited stream wait for it."""
    carrying: bool
    """True if log can reach the receiver."""
    sending: bool
    """True if log is sent whenever the network allows it; False, for example, while data movement is
    suspended.
    """
    redoing: bool
    """True if the receiver redoes the log that it has hardened."""
    log_pool: bool = False
    """True if log is sent from memory and the receiver writes pages only at checkpoints."""
    compressed: bool = True
    """True if log is compressed when the version and trace flags allow it."""
    redo_threads: int | None = None
    """Number of redo threads at the receiver; None means the number that mirroring uses."""


class FailoverPrecondition(Struct, frozen=True):
    """Precondition of an automatic failover, and whether it holds."""

    name: str
    holds: bool
    seen_in: str
    """View or log that shows the condition, with its server."""
    about: Literal["", "memory", "loss", "beginning"] = ""
    """Time to which the precondition refers. "": now. "memory": the detection of a loss, as servers remember
    it. "loss": the loss of the writing copy. "beginning": the start of the detection.
    """
    target: str = ""
    """Secondary or node to which the precondition applies; empty means all targets."""
    now: str = ""
    """Description of the current state; empty if *holds* is sufficient."""


class ReplicationPolicy(ABC):
    """Decisions that depend on the group of a database. The defaults are overridden by each kind of group."""

    @abstractmethod
    def get_role(self, copy: DatabaseCopy) -> str:
        """Return the copy's role as its server knows it, spelled as in catalog views; "" if it has none."""

    @abstractmethod
    def get_state(self, copy: DatabaseCopy) -> str:
        """Return the copy's synchronization state as its server knows it, in the spelling of catalog views.

        The result is empty if there is no other copy.
        """

    def get_database_state(self, copy: DatabaseCopy) -> str:
        """Return the synchronization state of the whole group, as its leader *copy* knows it."""
        return self.get_state(copy)

    def collect_state_names(self, world: World, copy: DatabaseCopy) -> set[str]:
        """Return the names of all current states of the copy: role and synchronization states."""
        return {self.get_role(copy), self.get_state(copy), copy.db_state.name} - {""}

    @abstractmethod
    def is_leader(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy's server believes that the other copies receive their log from this copy.

        A copy without other copies is a leader, too.
        """

    @abstractmethod
    def is_follower(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy's server believes that this copy receives its log from another copy."""

    def get_role_sequence(self, copy: DatabaseCopy) -> int:
        """Return the number of role changes that the copy knows of.

        If two copies claim to be the leader, the copy with the higher number is right.
        """
        return 1

    @abstractmethod
    def has_waiting_commits(self, world: World, copy: DatabaseCopy) -> bool:
        """Return whether the copy leads and its commits are configured to wait for another copy."""

    @abstractmethod
    def can_write(self, copy: DatabaseCopy) -> bool:
        """Return whether the role of the copy allows clients to write."""

    @abstractmethod
    def has_synchronized_copy(self, copy: DatabaseCopy) -> bool:
        """Return whether another copy could take over from this copy without data loss."""

    def can_read(self, copy: DatabaseCopy, read_intent: bool) -> bool:
        """Return whether the role of the copy allows reads, with or without ApplicationIntent=ReadOnly."""
        return self.can_write(copy)

    def find_route(self, world: World, copy: DatabaseCopy, read_intent: bool) -> str | None:
        """Return the server to which a login is redirected; None if it is not redirected.

        A primary redirects logins with read intent, a secondary redirects the others. Raise SqlError if the
        copy neither accepts nor redirects the login.
        """
        return None

    @abstractmethod
    def count_routed_login(self, world: World, copy: DatabaseCopy) -> None:
        """Count a login with read intent that `find_route` redirected."""

    @abstractmethod
    def find_refusal(self, copy: DatabaseCopy, read_intent: bool = False) -> SqlError | None:
        """Return the error for a client that uses this copy. None if its role and files allow access."""

    @abstractmethod
    def build_stream_parameters(
        self, world: World, lead: DatabaseCopy, follow: DatabaseCopy
    ) -> StreamParameters:
        """Return the parameters of the stream of log from *lead* to *follow*."""

    @abstractmethod
    def choose_stop_conditions(self, world: World, copy: DatabaseCopy, stream: int) -> FlowStopCondition:
        """Return the conditions at which the flow model must stop for a stream that *copy* sends."""

    @abstractmethod
    def on_caught_up(self, world: World, stream: int) -> None:
        """Handle a stream of which at most one block of log remains to be sent."""

    @abstractmethod
    def on_redo_done(self, world: World, stream: int) -> None:
        """Handle a stream whose receiver has redone all received log."""

    @abstractmethod
    def find_log_hold(
        self, world: World, copy: DatabaseCopy, ends_kb: list[float]
    ) -> tuple[str, float] | None:
        """Return (log_reuse_wait_desc, log position from which the group needs the log, in KB).

        None if it needs no log.

        *ends_kb* are the hardened log positions of the receiving copies.
        """

    def has_stopped_log(self, copy: DatabaseCopy) -> bool:
        """Return whether no log passes between the copies until someone intervenes."""
        return False

    @abstractmethod
    def find_backup_refusal(self, world: World, copy: DatabaseCopy, log_or_copy_only: bool) -> int:
        """Return the number of the error by which the copy's role prevents a backup; 0 means none."""

    def can_back_up_closed(self, copy: DatabaseCopy) -> bool:
        """Return whether the copy can be backed up although clients cannot use it."""
        return False

    @abstractmethod
    def allows_snapshot(self, copy: DatabaseCopy) -> bool | None:
        """Return whether a snapshot of the copy is allowed although clients cannot use the copy.

        None means that snapshots require a copy that clients can use.
        """

    def get_partner(self, copy: DatabaseCopy) -> str | None:
        """Return the server that drivers receive as the partner of this server; None if there is none."""
        return None

    @abstractmethod
    def on_catalog_changed(self, world: World, key: Key) -> None:
        """Handle changed files or backups of the copy. Receivers of its log learn of the change."""

    @abstractmethod
    def on_schema_changed(self, world: World, key: Key) -> None:
        """Handle a schema change of a table. Its redo needs a schema modification lock at each receiver."""

    @abstractmethod
    def cancel_failover(self, world: World, key: Key, reason: str) -> None:
        """Cancel a running failover that involves this copy."""

    @abstractmethod
    def on_log_lost(self, world: World, key: Key) -> None:
        """Handle the loss of a copy's log. The copy is already closed."""

    @abstractmethod
    def on_instance_lost(self, world: World, key: Key) -> None:
        """Handle the end of the copy's instance, which loses its knowledge of other servers."""

    def on_data_lost(self, world: World, key: Key) -> bool:
        """Handle the loss of the copy's data volume. Return True if the group handled it."""
        return False

    def find_page_sources(self, world: World, copy: DatabaseCopy, waiting: bool = False) -> list[str]:
        """Return the servers that may supply a damaged page. An empty list means that no repair is attempted.

        *waiting*: the page is already requested. [DOC: automatic page repair]
        """
        return []

    def wait_for_page(self, world: World, key: Key) -> None:
        """Suspend the redo of a receiver that has read a damaged page."""
        raise NotImplementedError

    def resume_after_page(self, world: World, key: Key) -> None:
        """Resume redo after the repair of a damaged page."""
        raise NotImplementedError

    def fail_redo(self, world: World, key: Key, error: int, *args: object) -> None:
        """Stop redo at a damaged page that cannot be repaired."""
        raise NotImplementedError

    @abstractmethod
    def on_recovered(self, world: World, key: Key) -> bool:
        """Handle the recovery of the database at an instance start.

        Return True if the group decides the state of the database.
        """

    @abstractmethod
    def log_startup_state(self, world: World, key: Key) -> None:
        """Write the ERRORLOG lines about the copy's state after a start without problems."""

    @abstractmethod
    def list_preconditions(self, world: World, database: str) -> list[FailoverPrecondition]:
        """Return the preconditions of an automatic failover to another copy of the database."""


class GroupPolicy(ReplicationPolicy):
    """Policy for one kind of group. It also decides about the connections between the group's instances."""

    @abstractmethod
    def get_timeout_s(self, world: World, group: int, server: str, peer: str) -> int:
        """Return the time in seconds after which *server* treats a silent *peer* as lost."""

    @abstractmethod
    def get_address(self, world: World, group: int, server: str, peer: str) -> str | None:
        """Return the address at which *server* calls *peer*; None if none is defined."""

    def is_without_data(self, world: World, group: int, server: str) -> bool:
        """Return whether *server* participates without a copy of the database, as a witness does."""
        return False

    @abstractmethod
    def on_connection_lost(
        self, world: World, group: int, server: str, peer: str, epoch: int, reason: str
    ) -> None:
        """Handle the loss of the connection to *peer*, which *server* has noticed."""

    @abstractmethod
    def on_connection_made(self, world: World, group: int, server: str, peer: str, epoch: int) -> None:
        """Handle a new connection of *server* to *peer*."""


class UngroupedPolicy(ReplicationPolicy):
    """Policy for a database in no group."""

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
    def build_stream_parameters(
        self, world: World, lead: DatabaseCopy, follow: DatabaseCopy
    ) -> StreamParameters:
        raise AssertionError(f"{lead.database} on {lead.server} has a stream but no session or group")

    @override
    def choose_stop_conditions(self, world: World, copy: DatabaseCopy, stream: int) -> FlowStopCondition:
        return FlowStopCondition(0)

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
"""Kind of group -> policy. The module of each kind adds its policy."""

NO_GROUP: Final = UngroupedPolicy()


def get_policy(copy: DatabaseCopy) -> ReplicationPolicy:
    """Return the policy for the group of the copy, as the copy's server knows the group."""
    return POLICIES.get(copy.group_kind, NO_GROUP)


def get_group_policy(world: World, group: int) -> GroupPolicy:
    """Return the policy for the session or availability group with the number *group*."""
    return POLICIES[world.groups[group].kind]


def on_caught_up(world: World, stream: int) -> None:
    """Handle a stream of which at most one block of log remains to be sent (flow handler)."""
    get_policy(world.copies[world.sources[world.flow.get_stream_source(stream)]]).on_caught_up(world, stream)


def on_redo_done(world: World, stream: int) -> None:
    """Handle a stream whose receiver has redone all received log (flow handler)."""
    get_policy(world.copies[world.sources[world.flow.get_stream_source(stream)]]).on_redo_done(world, stream)


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
# Every precondition has a state and names the view or log in which a DBA can check it.

UNGROUPED_PRECONDITION_LISTERS: Final[list[Callable[[World, str], list[FailoverPrecondition]]]] = []
"""Functions that return the preconditions for a database in no group. Each kind of failover adds its
function.
"""


def list_preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return all current preconditions of an automatic failover of *database*.

    The list is empty if no other copy could take over.
    """
    found_copy = next((copy for copy in world.list_copies_of(database) if copy.group is not None), None)
    if found_copy is not None:
        return get_policy(found_copy).list_preconditions(world, database)
    return [
        condition
        for find_preconditions in UNGROUPED_PRECONDITION_LISTERS
        for condition in find_preconditions(world, database)
    ]


def has_automatic_failover(world: World, database: str) -> bool:
    """Return whether another copy would take over automatically if the writing copy were lost now."""
    beforehand = [
        condition for condition in list_preconditions(world, database) if condition.about in ("", "memory")
    ]
    targets = {condition.target for condition in beforehand}
    failing = {condition.target for condition in beforehand if not condition.holds}
    return bool(beforehand) and "" not in failing and (targets == {""} or bool(targets - failing - {""}))
