"""Contents of the Always On dashboard of one server, in the layout of Management Studio, without Qt.

The dashboard shows only what this server knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr
from engine import tsql
from engine.availability import failover, replicas
from engine.cluster import config
from engine.model import (
    AvailabilityGroup,
    CommitMode,
    FailoverMode,
    Replica,
    ReplicaRole,
    ReplicaState,
    SyncState,
    World,
)

if TYPE_CHECKING:
    from engine.tsql.scalars.values import Scalar

STATE_LABELS: Final = {
    SyncState.NOT_SYNCHRONIZING: "Not synchronizing",
    SyncState.SYNCHRONIZING: "Synchronizing",
    SyncState.SYNCHRONIZED: "Synchronized",
    SyncState.REVERTING: "Reverting",
    SyncState.INITIALIZING: "Initializing",
}
"""Synchronization state -> spelling in Management Studio."""
HEALTHY, WARNING, CRITICAL = mark("Healthy"), mark("Warning"), mark("Critical")
SEVERITY_COLORS: Final = {HEALTHY: "ok", WARNING: "warn", CRITICAL: "bad"}
"""Severity of an issue -> color name."""


Issue = tuple[str, str]
"""(severity, text) of a dashboard issue. The severity is HEALTHY, WARNING or CRITICAL."""

NO_CLUSTER_ISSUE: Final = (CRITICAL, mark("WSFC cluster service is offline."))
GROUP_OFFLINE_ISSUE: Final = (CRITICAL, mark("Availability group is offline."))
GROUP_NOT_READY_ISSUE: Final = (CRITICAL, mark("Availability group is not ready for automatic failover."))
NO_HEALTHY_ROLE_ISSUE: Final = (CRITICAL, mark("Availability replica does not have a healthy role."))
REPLICA_DISCONNECTED_ISSUE: Final = (CRITICAL, mark("Availability replica is disconnected."))
REPLICA_NOT_JOINED_ISSUE: Final = (WARNING, mark("Availability replica is not joined."))
DATABASE_NOT_HEALTHY_ISSUE: Final = (
    WARNING,
    mark("Data synchronization state of availability database is not healthy."),
)
DATABASE_SUSPENDED_ISSUE: Final = (WARNING, mark("Availability database is suspended."))
UNSYNCHRONIZED_REPLICAS_ISSUE: Final = (WARNING, mark("Some synchronous replicas are not synchronized."))
"""Issue that a synchronous replica is not synchronized.

The issue constants are listed in the order of SQL Server's policy messages, 41401 to 41425.
"""


class ReplicaRow(Struct, frozen=True):
    """Row of a replica on the dashboard, as the selected server knows it."""

    name: str
    role: str
    mode: str
    """Availability mode, as text."""
    failover: str
    """Failover mode, as text."""
    state: str
    issues: tuple[Issue, ...]


class ReplicaStateRows:
    """Rows of sys.dm_hadr_database_replica_states on one server, with values as text.

    A row is computed when it is first needed, because the screen shows only a few of many databases.
    """

    def __init__(self, world: World, group: AvailabilityGroup, server: str) -> None:
        self.server = server
        self._world, self._group = world, group
        self._rows: dict[tuple[str, str], dict[str, Scalar]] = {}

    def find_row(self, database: str, replica: str) -> dict[str, Scalar]:
        """Return column name -> text of the row for *database* on *replica*.

        The result is empty if the server has no such row.
        """
        row_key = (database, replica)
        if row_key not in self._rows:
            self._rows[row_key] = self._build_row(*row_key)
        return self._rows[row_key]

    def _build_row(self, database: str, replica: str) -> dict[str, Scalar]:
        # imported late: this loads most of the T-SQL code, which would slow down the program start
        from engine.tsql.batches.context import (
            StatementContext,
        )
        from engine.tsql.batches.data import SqlSession
        from engine.tsql.catalog import group_databases
        from engine.tsql.scalars.values import format_value

        context = StatementContext(self._world, SqlSession(server=self.server, spid=0, login=""))
        for replica_database in group_databases.list_databases(context, self._group):
            if (replica_database.copy.database, replica_database.replica.server) == (database, replica):
                return {
                    name: format_value(value)
                    for name, value in group_databases.build_database_state_row(
                        context, replica_database
                    ).items()
                }
        return {}


class DatabaseRow(Struct, frozen=True):
    """Row of one database on one replica, on the dashboard."""

    name: str
    replica: str
    state: str
    readiness: str
    """Text of the column "Failover readiness"."""
    suspended: str
    """Reason for suspended data movement; "No" if it is not suspended."""
    issues: tuple[Issue, ...]
    server_rows: ReplicaStateRows
    """Rows of sys.dm_hadr_database_replica_states on the selected server. They contain the log positions."""

    @property
    def positions(self) -> dict[str, Scalar]:
        """Column name -> log position, as text."""
        return self.server_rows.find_row(self.name, self.replica)

    @property
    def data_loss_s(self) -> float | None:
        """Estimated data loss: seconds between the last commit times of primary and replica; None if unknown."""
        lead_kb, last_commit = (
            self.server_rows.find_row(self.name, server_name).get("last_commit_time")
            for server_name in (self.server_rows.server, self.replica)
        )
        if self.server_rows.server == self.replica or lead_kb is None or last_commit is None:
            return None
        return max(
            0.0,
            (datetime.fromisoformat(str(lead_kb)) - datetime.fromisoformat(str(last_commit))).total_seconds(),
        )

    @property
    def recovery_s(self) -> float | None:
        """Estimated recovery time in seconds: redo queue divided by redo rate; None if either is unknown."""
        queue, rate = self.positions.get("redo_queue_size"), self.positions.get("redo_rate")
        if queue is None:
            return None
        return 0.0 if not queue else float(queue) / float(rate) if rate else None


class GroupDashboard(Struct, frozen=True):
    """Dashboard of one availability group, as one of its servers knows it."""

    server: str
    group: str
    primary: str
    failover: str
    cluster: str
    quorum: str
    """State of the cluster's quorum, as text."""
    listener: str
    issues: tuple[Issue, ...]
    replicas: tuple[ReplicaRow, ...]
    databases: tuple[DatabaseRow, ...]

    @property
    def health(self) -> str:
        """Worst severity of all issues."""
        issues = [*self.issues]
        for replica in self.replicas:
            issues += replica.issues
        for database in self.databases:
            issues += database.issues
        return get_worst_severity(issues)


def get_worst_severity(issues: list[Issue] | tuple[Issue, ...]) -> str:
    """Return the worst severity among *issues*; HEALTHY if there are none."""
    healths = {health for health, _ in issues}
    return next((health for health in (CRITICAL, WARNING) if health in healths), HEALTHY)


def format_issues(issues: tuple[Issue, ...]) -> str:
    """Format the issues as one text."""
    return " ".join(tr(words) for _, words in issues)


def list_replica_servers(world: World) -> list[str]:
    """Return the instances that have a replica, in the order of `World.instances`."""
    hosts = {server for server, _ in world.replicas}
    return [name for name in world.instances if name in hosts]


KnownGroup = tuple[AvailabilityGroup, ReplicaState]
"""(availability group, state of the local replica), as one server knows them."""


def find_groups(world: World, server: str) -> dict[str, KnownGroup]:
    """Return group name -> (group, state of the local replica) for *server*.

    The result is empty while the server does not respond.
    """
    if server not in world.instances or not tsql.is_reachable(world, server) or world.instances[server].hung:
        return {}
    groups = (
        (replicas.find_group_config(world, server, replica_state.guid), replica_state)
        for replica_state in replicas.list_replica_states(world, server)
    )
    return {group.name: (group, state) for group, state in groups if group is not None}


def build_dashboard(world: World, group: AvailabilityGroup, state: ReplicaState) -> GroupDashboard:
    """Return the dashboard of *group* on one server. *state*: what this server knows about its own replica."""
    server, leads = state.server, state.role is ReplicaRole.PRIMARY
    quorum, node = config.has_quorum(world, server), config.find_server_node(world, server)
    issues: list[Issue] = [] if quorum else [NO_CLUSTER_ISSUE]
    if state.role is ReplicaRole.RESOLVING:
        issues.append(GROUP_OFFLINE_ISSUE)
    if leads:
        issues += _list_primary_issues(world, group)
    own_replica = group.find_replica(group.primary)
    listener = group.listener
    visible_replicas = (
        group.replicas if quorum else [replica for replica in group.replicas if replica.server == server]
    )
    return GroupDashboard(
        server=server,
        group=group.name,
        primary=state.primary or formatting.NO_VALUE,
        failover=_format_mode(own_replica),
        cluster=node.cluster if node is not None else formatting.NO_VALUE,
        quorum=_format_quorum(quorum, node is not None and node.config.forced),
        listener=f"{listener.name}:{listener.port}" if listener is not None else formatting.NO_VALUE,
        issues=tuple(issues),
        replicas=tuple(_build_replica_row(world, group, state, replica) for replica in visible_replicas),
        databases=tuple(_list_databases(world, group, state)),
    )


def _format_quorum(normal: bool, forced: bool) -> str:
    if not normal:
        return tr("Unknown")
    return tr("Forced quorum") if forced else tr("Normal quorum")


def _format_mode(replica: Replica | None) -> str:
    if replica is None:
        return formatting.NO_VALUE
    return tr("Automatic") if replica.failover is FailoverMode.AUTOMATIC else tr("Manual")


def _list_primary_issues(world: World, group: AvailabilityGroup) -> Iterator[Issue]:
    """Yield the issues that only the primary can detect."""
    other_replicas = [replica for replica in group.replicas if replica.server != group.primary]
    targets = [replica for replica in other_replicas if failover.is_automatic_target(group, replica.server)]
    if targets and not any(failover.is_failover_ready(group, target.server) for target in targets):
        yield GROUP_NOT_READY_ISSUE
    synchronous = [replica for replica in other_replicas if replica.mode is CommitMode.SYNCHRONOUS_COMMIT]
    copies = replicas.list_group_copies(world, group.primary, group.guid)
    if any(
        c.availability.get_peer_state(o.server) is not SyncState.SYNCHRONIZED
        for o in synchronous
        for c in copies
    ):
        yield UNSYNCHRONIZED_REPLICAS_ISSUE


def _is_visible(state: ReplicaState, replica: Replica) -> bool:
    """Return whether the server of *state* knows *replica*.

    A primary knows all replicas; other servers know only their own.
    """
    return state.role is ReplicaRole.PRIMARY or replica.server == state.server


def _is_connected(world: World, state: ReplicaState, replica: Replica) -> bool:
    is_local_replica = replica.server == state.server
    if is_local_replica and state.role is ReplicaRole.PRIMARY:
        return True
    contact = world.contacts.get(
        (state.guid, state.server, (state.primary or "") if is_local_replica else replica.server)
    )
    return contact is not None and contact.connected


def _build_replica_row(
    world: World, group: AvailabilityGroup, state: ReplicaState, replica: Replica
) -> ReplicaRow:
    is_local_replica = replica.server == state.server
    role, sync, issues = "", tr("Unknown"), list[Issue]()
    if _is_visible(state, replica):
        role = (state.role if is_local_replica else ReplicaRole.SECONDARY).name.capitalize()
        states = [sync_state for _, sync_state in _list_states(world, group, state, replica)]
        sync = STATE_LABELS[min(states)] if states else formatting.NO_VALUE
        issues += [NO_HEALTHY_ROLE_ISSUE] if is_local_replica and state.role is ReplicaRole.RESOLVING else []
        issues += [] if _is_connected(world, state, replica) else [REPLICA_DISCONNECTED_ISSUE]
        issues += [] if replica.joined else [REPLICA_NOT_JOINED_ISSUE]
    mode = (
        tr("Synchronous commit")
        if replica.mode is CommitMode.SYNCHRONOUS_COMMIT
        else tr("Asynchronous commit")
    )
    return ReplicaRow(replica.server, role or tr("Unknown"), mode, _format_mode(replica), sync, tuple(issues))


def _list_states(
    world: World, group: AvailabilityGroup, state: ReplicaState, replica: Replica
) -> list[tuple[str, SyncState]]:
    """Return (database, synchronization state) of each copy on *replica* that the server of *state* knows."""
    is_local_replica = replica.server == state.server
    copies = replicas.list_group_copies(world, state.server, group.guid)
    return [
        (
            copy.database,
            copy.availability.state if is_local_replica else copy.availability.get_peer_state(replica.server),
        )
        for copy in copies
        if is_local_replica or (copy.database, replica.server) in group.joined
    ]


def _list_databases(world: World, group: AvailabilityGroup, state: ReplicaState) -> Iterator[DatabaseRow]:
    positions = ReplicaStateRows(world, group, state.server)
    for replica in group.replicas:
        if not _is_visible(state, replica):
            continue
        synchronous = replica.mode is CommitMode.SYNCHRONOUS_COMMIT
        aim = SyncState.SYNCHRONIZED if synchronous else SyncState.SYNCHRONIZING
        for database, sync_state in _list_states(world, group, state, replica):
            paused = _describe_suspension(world, state, replica, database)
            issues = [] if sync_state in (aim, SyncState.SYNCHRONIZED) else [DATABASE_NOT_HEALTHY_ISSUE]
            issues += [DATABASE_SUSPENDED_ISSUE] if paused else []
            safe = (database, replica.server) in group.ready
            yield DatabaseRow(
                database,
                replica.server,
                STATE_LABELS[sync_state],
                tr("No data loss") if safe else tr("Data loss"),
                paused or tr("No"),
                tuple(issues),
                positions,
            )


def _describe_suspension(world: World, state: ReplicaState, replica: Replica, database: str) -> str:
    """Return the reason why data movement on *replica* is suspended; "" if it is not suspended.

    The result is also "" if the server of *state* is not connected to *replica*.
    """
    if not _is_connected(world, state, replica) and replica.server != state.server:
        return ""
    reason = replicas.find_suspend_reason(world, (replica.server, database))
    return "" if reason is None else reason.name
