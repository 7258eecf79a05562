"""Estimates of the duration and data loss of a failover to a secondary, by the published formulas.

[DOC: performance of groups]
"""

from typing import Final

from msgspec import Struct

from engine.availability import failover, replicas
from engine.cluster import config
from engine.flow.failover_times import FailoverCause
from engine.flow.kernel import SMALL_KB
from engine.model import DatabaseCopy, World
from engine.protocol import loss_causes

OVERHEAD_S: Final = failover.DATABASES_OPEN_S + failover.LISTENER_ONLINE_S
"""Toverhead of the formulas, in seconds. The documentation says "usually short and constant"; the value is
from a published trace.
"""

REPORTS_PER_TIMEOUT: Final = 3
"""Number of sp_server_diagnostics reports per health check timeout."""

SERVICE_STOP_CAUSES: Final = frozenset({FailoverCause.STOP_SERVICE, FailoverCause.NOWAIT})
"""Failover causes that stop only the service. Heartbeats detect only the loss of a node or link."""


class GroupFailoverEstimate(Struct, frozen=True):
    """Estimated duration and data loss of a failover to one secondary at one time."""

    database: str
    server: str
    detection_s: float
    detected_by: str
    """Setting that determines the time until the loss is detected; empty for a manual failover."""
    redo_queue_kb: float
    redo_rate_kb_per_s: float
    send_queue_kb: float
    log_rate_kb_per_s: float
    """Rate of log generation: counter Log Bytes Flushed/sec."""
    overhead_s: float = OVERHEAD_S

    @property
    def redo_s(self) -> float | None:
        """Return Tredo in seconds; None if no log is redone, because the formula then has no result."""
        return _divide_by_rate(self.redo_queue_kb, self.redo_rate_kb_per_s)

    @property
    def failover_s(self) -> float | None:
        """Return Tfailover = Tdetection + Toverhead + Tredo, in seconds; None without Tredo."""
        return None if self.redo_s is None else self.detection_s + self.overhead_s + self.redo_s

    @property
    def data_loss_s(self) -> float | None:
        """Return Tdata_loss in seconds: the send queue divided by the rate of log generation."""
        return _divide_by_rate(self.send_queue_kb, self.log_rate_kb_per_s)


def _divide_by_rate(queue_kb: float, rate_kb_per_s: float) -> float | None:
    if queue_kb < SMALL_KB:
        return 0.0
    return queue_kb / rate_kb_per_s if rate_kb_per_s >= LOG_RATE_MIN_KB_PER_S else None


LOG_RATE_MIN_KB_PER_S: Final = 0.01
"""Rate below which log counts as not moving, because a smoothed rate never becomes 0."""


def estimate_failover(world: World, copy: DatabaseCopy, cause: str) -> GroupFailoverEstimate | None:
    """Estimate the failover to the secondary *copy* if *cause* disabled its primary now.

    Return None if the copy does not receive log.
    """
    if copy.stream is None or copy.availability.guid is None:
        return None
    source = world.flow.get_stream_source(copy.stream)
    source_position, stream_position = (
        world.flow.read_source_positions(source),
        world.flow.read_stream_positions(copy.stream),
    )
    detection_s, detected_by = _estimate_detection_s(world, copy, cause)
    return GroupFailoverEstimate(
        copy.database,
        copy.server,
        detection_s,
        detected_by,
        max(0.0, stream_position.hardened_kb - stream_position.redone_kb),
        world.flow.read_stream(copy.stream).redo_kb_per_s,
        max(0.0, source_position.flushed_kb - stream_position.sent_kb),
        world.flow.read_source(source).log_generation_kb_per_s,
    )


def _estimate_detection_s(world: World, copy: DatabaseCopy, cause: str) -> tuple[float, str]:
    """Return (Tdetection in seconds, setting that determines it).

    Both depend on the part that *cause* disables.
    """
    group = replicas.find_group_config(world, copy.server, copy.availability.guid or 0)
    node = config.find_server_node(world, copy.server)
    lead = config.find_server_node(world, group.primary) if group is not None else None
    if group is None or node is None or lead is None or cause in ("manual", "forced", "move-role"):
        return 0.0, ""
    timeout_s = group.health_check_timeout_ms / 1000.0
    lease_s = group.lease_timeout_ms / 1000.0
    if cause == "slow-cpu" or (cause == "hang" and lease_s <= timeout_s):
        return lease_s, "LeaseTimeout"
    if cause == "hang":
        return timeout_s, "HEALTH_CHECK_TIMEOUT"
    if (
        cause in loss_causes.LOST_PART_BY_FAULT
        and loss_causes.FAILOVER_CAUSE_BY_FAULT.get(cause) not in SERVICE_STOP_CAUSES
    ):
        cluster = world.clusters[node.cluster]
        has_same_subnet = node.subnet == lead.subnet
        missed = cluster.threshold if has_same_subnet else cluster.cross_threshold
        return (
            cluster.heartbeat_s * missed,
            "SameSubnetThreshold" if has_same_subnet else "CrossSubnetThreshold",
        )
    return timeout_s / REPORTS_PER_TIMEOUT, "sp_server_diagnostics"
