"""Comparison of a failover with published durations: the matching row, or the reason why none matches."""

from typing import Final, Literal

from engine.cluster.instances import NO_GROUP_GUID
from engine.localization import build_message
from engine.mirroring import prerequisites
from engine.model import Failover, World
from engine.protocol import network
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S, REFERENCE

LAN_RTT_MS_MAX: Final = 2.0
"""Maximum round trip time of a local network in the white paper. Documented [WP table 7]."""

LAN_MBPS_MIN: Final = 1000.0
"""Minimum bandwidth of a local network: that of the white paper's test site. Documented [WP appendix A]."""

CONNECTION_RATIO_RANGE: Final = (0.9, 1.1)
"""Range of the number of connections that counts as comparable, as multiples of the white paper's 1,000.

Assumed.
"""


NO_ROW_REASONS: Final = {
    "automatic": build_message(
        "the published table has no automatic failover with the cause of this failover"
    ),
    "manual": build_message("the published table has no manual failover with the cause of this failover"),
    "forced": build_message("the published table has no forced failover with the cause of this failover"),
}
"""Kind of failover -> reason why the published table has no row for it."""


def find_published_time(world: World, failover: Failover) -> tuple[float, str] | None:
    """Return (seconds, reference) of the matching row of Table 6; None if the conditions differ."""
    if describe_differences(world, failover):
        return None
    name, idle_s, loaded_s = PUBLISHED_FAILOVER_TIMES_S[failover.cause]
    load = "normal load" if failover.under_load else "no load"
    return (loaded_s if failover.under_load else idle_s), f"{REFERENCE}, {name}, {load}"


def describe_differences(world: World, failover: Failover) -> str:
    """Describe how the failover differs from the white paper's conditions, for the trainee.

    The result is empty if the failover is comparable.

    The conditions: SAFETY FULL with a witness, one database, Workload1 or no load, SQL Server 2005 on the
    paper's hardware, a local network, nothing slowed down, and one of the six causes in the table.
    """
    copy = world.copies.get((failover.to_server, failover.database))
    servers = [failover.from_server, failover.to_server]
    if find_technology(world, failover) != MIRRORING:
        return build_message("the published table covers database mirroring only")
    if failover.cause not in PUBLISHED_FAILOVER_TIMES_S:
        return build_message("the published table has no row for the cause {cause}", cause=failover.cause)
    if failover.kind != ("manual" if failover.cause == "manual" else "automatic"):
        return NO_ROW_REASONS[failover.kind]
    if copy is None or prerequisites.get_safety_desc(copy) != "FULL":
        return build_message("the published values were measured with SAFETY FULL")
    witness = prerequisites.get_witness(copy)
    if witness is None:
        return build_message("the published values were measured with a witness")
    if sum(other_copy.server == failover.to_server for other_copy in world.copies.values()) > 1:
        return build_message("the published values were measured with only one mirrored database")
    if failover.under_load and copy.workload != "Workload1":
        return build_message(
            "the published values were measured with Workload1, not {name}", name=copy.workload
        )
    if failover.under_load and not CONNECTION_RATIO_RANGE[0] <= copy.scale <= CONNECTION_RATIO_RANGE[1]:
        return build_message(
            "the published values were measured with 1,000 connections, not {scale:g} times as many",
            scale=copy.scale,
        )
    if not all(_has_published_hardware(world, server) for server in servers):
        return build_message(
            "the published values were measured with SQL Server 2005 on the white paper's hardware, at normal "
            "speed"
        )
    if not all(_is_local_network(world, a, b) for a in servers for b in (*servers, witness) if a != b):
        return build_message("the published values were measured on a local network")
    return ""


def _has_published_hardware(world: World, server: str) -> bool:
    computer, version = world.get_computer_of(server), world.instances[server].version
    factors = (computer.log_disk_factor, computer.data_disk_factor, computer.cpu_factor)
    return computer.site == "nec" and version == 2005 and set(factors) == {1.0}


def _is_local_network(world: World, a: str, b: str) -> bool:
    path = network.get_link(world, a, b)
    return path.rtt_ms <= LAN_RTT_MS_MAX and path.bandwidth_mbps >= LAN_MBPS_MIN and path.loss == 0.0


# --- technology of a failover -------------------------------------------------------------------------------

Technology = Literal["mirroring", "ag", "fci"]
"""Technology of a failover."""

MIRRORING: Final = "mirroring"
GROUP: Final = "ag"
INSTANCE: Final = "fci"


def find_technology(world: World, failover: Failover) -> Technology:
    """Return the technology of *failover*.

    A failover cluster instance fails over to a node, everything else to a server.
    """
    if failover.guid == NO_GROUP_GUID:
        return INSTANCE
    copies = [
        world.copies.get((server, failover.database)) for server in (failover.to_server, failover.from_server)
    ]
    grouped = any(copy is not None and copy.group_kind == "availability" for copy in copies)
    return GROUP if grouped else MIRRORING
