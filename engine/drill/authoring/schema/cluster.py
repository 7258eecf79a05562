"""Failover clusters, availability groups and failover cluster instances of a scenario's start world."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from engine.drill.authoring.schema.values import Name, Port
from engine.drill.authoring.schema.world import EndpointSpec, ScenarioTable

Subnet = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){2}$")]
"""The first three numbers of its addresses."""

Address = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}$")]


class ClusterSpec(ScenarioTable):
    """[[cluster]]: a Windows Server failover cluster that is formed and has quorum at the start."""

    name: Name
    """Name of the cluster."""
    windows: Literal["2008 R2", "2012", "2012 R2", "2016", "2019", "2022"] = "2012 R2"
    """Version of Windows Server. It determines dynamic quorum, dynamic witness and heartbeat thresholds."""
    nodes: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=16)]
    """Nodes of the cluster, by node number."""
    witness: Name | None = None
    """For a file share witness: the computer with the share. For the other kinds: name of the disk or storage
    account."""
    witness_kind: Literal["file share", "disk", "cloud"] = "file share"
    """Kind of the witness."""
    dynamic_quorum: bool = True
    """True if the cluster recounts votes after each membership change (from Windows Server 2012)."""
    without_vote: Annotated[tuple[Name, ...], Field(strict=False, max_length=16)] = ()
    """Nodes with NodeWeight 0."""
    subnets: Annotated[tuple[Subnet, ...], Field(strict=False, max_length=16)] = ()
    """Subnet of each node in order, such as 10.0.1. Empty: all nodes are in 10.0.0."""


class ReplicaSpec(ScenarioTable):
    """[[availability_group.replica]]: a replica of the group."""

    server: Name
    """Instance that hosts the replica."""
    mode: Literal["SYNCHRONOUS_COMMIT", "ASYNCHRONOUS_COMMIT"] = "SYNCHRONOUS_COMMIT"
    """AVAILABILITY_MODE."""
    failover: Literal["AUTOMATIC", "MANUAL"] = "MANUAL"
    """FAILOVER_MODE. AUTOMATIC needs SYNCHRONOUS_COMMIT."""
    session_timeout_s: int = Field(default=10, ge=5, le=32_767)
    """SESSION_TIMEOUT."""
    secondary_connections: Literal["NO", "READ_ONLY", "ALL"] = "NO"
    """SECONDARY_ROLE (ALLOW_CONNECTIONS)."""
    primary_connections: Literal["ALL", "READ_WRITE"] = "ALL"
    """PRIMARY_ROLE (ALLOW_CONNECTIONS)."""
    backup_priority: int = Field(default=50, ge=0, le=100)
    """BACKUP_PRIORITY."""
    routing_url: bool = False
    """True if the replica has a READ_ONLY_ROUTING_URL, so that a routing list can name it."""
    routing_list: Annotated[tuple[Name, ...], Field(strict=False, max_length=8)] = ()
    """READ_ONLY_ROUTING_LIST in the primary role."""


class AvailabilityGroupSpec(ScenarioTable):
    """[[availability_group]]: an availability group whose replicas are joined and synchronized at the start."""

    name: Name
    """Name of the availability group and of its cluster role."""
    databases: Annotated[tuple[Name, ...], Field(strict=False, max_length=100)]
    """Availability databases. For a table with a count, the first name includes all."""
    primary: Name
    """Instance with the primary replica at the start."""
    replicas: Annotated[
        tuple[ReplicaSpec, ...], Field(strict=False, alias="replica", min_length=1, max_length=9)
    ]
    """Replicas: the primary and at most eight secondaries."""
    listener: Name | None = None
    """Network name of the listener. None: no listener."""
    listener_port: Port = 1433
    """Port of the listener."""
    listener_addresses: Annotated[tuple[Address, ...], Field(strict=False, max_length=16)] = ()
    """Static addresses of the listener, one in the subnet of each node. Empty: an address from DHCP."""
    register_all_addresses: bool = True
    """RegisterAllProvidersIP of the listener: DNS returns all its addresses."""
    record_ttl_s: int = Field(default=1200, ge=0, le=86_400)
    """HostRecordTTL of the listener: the time for which clients cache its address."""
    failure_condition_level: int = Field(default=3, ge=1, le=5)
    """FAILURE_CONDITION_LEVEL."""
    health_check_timeout_ms: int = Field(default=30_000, ge=15_000, le=4_294_967_295)
    """HEALTH_CHECK_TIMEOUT."""
    backup_preference: Literal["PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE"] = "SECONDARY"
    """AUTOMATED_BACKUP_PREFERENCE."""
    db_failover: bool = False
    """DB_FAILOVER (from SQL Server 2016)."""
    required_synchronized: int = Field(default=0, ge=0, le=8)
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT (from SQL Server 2017)."""


class ClusterInstanceSpec(ScenarioTable):
    """[[instance]]: a failover cluster instance on shared disks."""

    name: Name
    """Network name of the instance, and its role in the cluster."""
    owners: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=16)]
    """Possible owners: nodes with an installation. The first node owns the instance at the start."""
    version: Literal[2005, 2008, 2012, 2014, 2016, 2017, 2019, 2022] = 2014
    """SQL Server version by year."""
    edition: Literal["Enterprise", "Developer", "Standard"] = "Enterprise"
    """Edition of SQL Server."""
    service_account: str = "CORP\\sqlservice"
    """Service account of the instance."""
    endpoint: EndpointSpec = EndpointSpec()
    """Database mirroring endpoint of the instance."""
    no_tempdb_path: Annotated[tuple[Name, ...], Field(strict=False, max_length=16)] = ()
    """Nodes without the local tempdb folder (from SQL Server 2012). The instance cannot start there."""
