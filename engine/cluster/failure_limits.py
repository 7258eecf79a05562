"""Limits for restarts of a failed resource on its node, and for failovers of a role.

[DOC: RestartAction; RestartThreshold; RestartPeriod; RetryPeriodOnFailure; FailoverThreshold; FailoverPeriod]
"""

from typing import Final

from engine.cluster import config
from engine.model import ClusterRole, Resource, World, to_ticks

RESTART_NOTIFY: Final = 2
"""Value of RestartAction with which a role moves after unsuccessful restarts. [DOC: RestartAction]"""


def find_server_resource(role: ClusterRole) -> Resource:
    """Return the resource that serves the databases of the role."""
    return next(resource for resource in role.resources if resource.kind in config.SERVER_RESOURCE_KINDS)


def list_recent_restarts(world: World, resource: Resource) -> tuple[int, ...]:
    """Return the times of the restarts within the restart period."""
    period = to_ticks(resource.restart_period_ms / 1000)
    return tuple(tick for tick in resource.restarts if world.tick - tick < period)


def list_recent_failures(world: World, role: ClusterRole) -> tuple[int, ...]:
    """Return the times of the failures that moved the role within the failure period."""
    return tuple(
        tick for tick in role.failures if world.tick - tick < to_ticks(3600 * role.failover_period_h)
    )


UNLIMITED_THRESHOLD: Final = 2**32 - 1
"""FailoverThreshold that cmdlets show if none is set. The number of nodes minus one then applies.

RetryPeriodOnFailure uses the same value for "no retry". [DOC: FailoverThreshold; RetryPeriodOnFailure]
"""


def get_displayed_threshold(role: ClusterRole) -> int:
    """Return FailoverThreshold as cmdlets show it."""
    return UNLIMITED_THRESHOLD if role.failover_threshold is None else role.failover_threshold


def get_failure_threshold(world: World, cluster: str, role: ClusterRole) -> int:
    """Return the maximum number of failovers within the failure period. [DOC: WSFC and SQL Server]."""
    failures_max = role.failover_threshold
    return len(world.clusters[cluster].nodes) - 1 if failures_max is None else failures_max


def count_restarts(world: World, role: ClusterRole) -> int:
    """Return how often the role's server was restarted on its node within the restart period."""
    return len(list_recent_restarts(world, find_server_resource(role)))
