"""Schema of the start of a scenario: servers, links, databases, sessions, clients, clusters and settings."""

import re
import unicodedata
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from engine.constants import DEFAULT_ENDPOINT_PORT, PARTNER_TIMEOUT_S
from engine.localization import build_message

# --- types of values in a scenario file -------------------------------------------------------------------
# Durations, names, texts, conditions, sizes.


_DURATION: Final = re.compile(r"\s*+(\d++(?:\.\d++)?)\s*+(s|min|h)?\s*+\Z")
_UNIT_S: Final = {None: 1.0, "s": 1.0, "min": 60.0, "h": 3600.0}
DRILL_LENGTH_MAX_S: Final = 24 * 3600.0
"""Maximum length of a drill: one day. It protects against typing errors."""

JOB_INTERVAL_MIN_S: Final = 10.0
"""Minimum interval of a job, as in schedules of SQL Server Agent. Documented (sp_add_jobschedule)."""


def _parse_seconds(value: object) -> object:
    if isinstance(value, str):
        match = _DURATION.match(value)
        if match is None:
            raise ValueError(build_message('seconds (30) or a number with s, min or h ("2min")'))
        value = float(match[1]) * _UNIT_S[match[2]]
    if (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and not 0.0 <= value <= DRILL_LENGTH_MAX_S
    ):
        raise ValueError(build_message("a time from 0 to 24 h"))
    return value


def _check_job_interval(seconds: float) -> float:
    """Reject an interval so short that the job would restart forever without any time passing."""
    if 0.0 < seconds < JOB_INTERVAL_MIN_S:
        raise ValueError(build_message("0 (never) or at least {t_s:g} s", t_s=JOB_INTERVAL_MIN_S))
    return seconds


def _check_readable(text: str) -> str:
    """Reject invisible characters that change the meaning of a text (controls, text direction, zero width)."""
    if text.replace("\n", "").isprintable() and not any(sign in text for sign in BLANK_LETTERS):
        return text  # a quick test that covers nearly all texts
    for index, sign in enumerate(text):
        if sign not in "\n\t\u200c\u200d" and (
            unicodedata.category(sign) in _REJECTED_CATEGORIES or sign in BLANK_LETTERS
        ):
            raise ValueError(
                build_message(
                    "text without invisible characters; character {n} is {word}",
                    n=index + 1,
                    word=f"U+{ord(sign):04X}",
                )
            )
    return text


_REJECTED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are rejected. Exceptions are two joiners (Cf), which Persian and Hindi need."""
BLANK_LETTERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that Unicode counts as letters or symbols but that are blank: Hangul fillers, the Braille
pattern without dots.
"""


def _check_start_time(text: str) -> str:
    """Reject invalid times, and years outside 1990 to 2100, so that a drill never exceeds the calendar."""
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        raise ValueError(build_message("a valid date and time")) from None
    if not 1990 <= year <= 2100:
        raise ValueError(build_message("a year from 1990 to 2100"))
    return text


Duration = Annotated[
    float,
    BeforeValidator(_parse_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(s|min|h)?\s*$"},
            ]
        }
    ),
]
"""Duration in seconds."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_$-]{0,29}$")]
Line = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(_check_readable),
]
Text = Annotated[
    str,
    StringConstraints(min_length=1, max_length=8000, strip_whitespace=True),
    AfterValidator(_check_readable),
]
Words = Annotated[
    str,
    StringConstraints(min_length=1, max_length=4000, strip_whitespace=True),
    AfterValidator(_check_readable),
]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:[-_][a-z0-9]+)*$", max_length=60)]
Condition = Annotated[str, StringConstraints(min_length=1), AfterValidator(_check_readable)]
Points = Annotated[float, Field(ge=0, le=100)]
Port = Annotated[int, Field(ge=1, le=65_535)]
TraceFlag = Annotated[int, Field(ge=1, le=99_999)]
SizeMb = Annotated[float, Field(ge=1, le=100_000_000)]
"""Size of a file in MB, from 1 MB to 100 TB. SQL Server itself allows 16 TB for a file."""


_POOL_SCHEMA: Final = {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 2}
Pools = Annotated[
    dict[str, object],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {
                "anyOf": [_POOL_SCHEMA, {"type": "object", "additionalProperties": _POOL_SCHEMA}]
            },
        }
    ),
]
"""[variants]: pools from which the seed picks the values of {name} in the texts. Checked in variants.py."""


class ScenarioTable(BaseModel):
    """Base class for tables of the file: no unknown keys, no silent conversions, immutable."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=False,
        allow_inf_nan=False,
        defer_build=True,
    )


# --- the start world ----------------------------------------------------------------------------------------


class Publication(ScenarioTable):
    """[[source]]: a publication about the topic of the drill."""

    paper: Line
    """Title of the paper, documentation page or talk, as it is usually cited."""
    section: Line
    """Chapter, page or figure in the publication."""


class EndpointSpec(ScenarioTable):
    """[server.endpoint]: the database mirroring endpoint."""

    port: int = Field(default=DEFAULT_ENDPOINT_PORT, ge=1, le=65_535)
    """TCP port on which the endpoint listens."""
    state: Literal["STARTED", "STOPPED", "DISABLED"] = "STARTED"
    """State of the endpoint. STOPPED and DISABLED accept no connection."""
    role: Literal["ALL", "PARTNER", "WITNESS"] = "ALL"
    """Role of the endpoint: PARTNER, WITNESS, or both (ALL)."""
    encryption: Literal["DISABLED", "SUPPORTED", "REQUIRED"] = "REQUIRED"
    """ENCRYPTION option. An endpoint with REQUIRED cannot connect to an endpoint with DISABLED."""
    algorithms: Annotated[tuple[Literal["RC4", "AES"], ...], Field(strict=False)] = ()
    """Encryption algorithms in order of preference. Both endpoints need one in common. Empty: AES in SQL
    Server 2016 and later, RC4 in earlier versions.
    """
    certificate: Name | None = None
    """Certificate that the endpoint uses for authentication. A [[before]] line must create it. None: Windows
    authentication with the service account.
    """


class ServerSpec(ScenarioTable):
    """[[server]]: a computer with one instance of SQL Server."""

    name: Name
    """Name of the computer and of its instance."""
    sql: bool = True
    """True if the computer runs an instance of SQL Server. False: a file server, or a node of failover cluster
    instances."""
    version: Literal[2005, 2008, 2012, 2014, 2016, 2017, 2019, 2022] = 2005
    """SQL Server version by year. 2008 and later compress the log stream to the mirror."""
    edition: Literal["Enterprise", "Developer", "Standard", "Workgroup", "Express"] = "Enterprise"
    """Edition of SQL Server. Standard supports only safety FULL. Workgroup and Express can only be a witness."""
    cores: int | None = Field(default=None, ge=1, le=256)
    """Number of processor cores. None: as many as the hardware profile has."""
    site: Line = "nec"
    """Hardware profile: disks, processors and network as described in one of the publications."""
    domain: Name = "CORP"
    """Windows domain. Servers of different domains need certificates to connect."""
    service_account: Line = "CORP\\sqlservice"
    """Service account of the instance. If all servers use the same account, CONNECT permission need not be
    granted.
    """
    trace_flags: Annotated[tuple[TraceFlag, ...], Field(strict=False, max_length=100)] = ()
    """Trace flags that are on at the start, such as 1462 (no log compression)."""
    max_worker_threads: int = Field(default=0, ge=0, le=32_767)
    """Worker threads. 0: the default of SQL Server for the number of cores."""
    blocked_ports: Annotated[tuple[Port, ...], Field(strict=False, max_length=100)] = ()
    """TCP ports that the firewall blocks at the start."""
    jobs_for: Annotated[tuple[Name, ...], Field(strict=False, max_length=20)] = ()
    """Databases for which this server has the usual jobs: log backup, index maintenance and nightly load. The
    jobs are enabled.
    """
    endpoint: EndpointSpec = EndpointSpec()
    """Database mirroring endpoint of the instance."""


class LinkSpec(ScenarioTable):
    """[[link]]: the network between two servers, or an application and a server. Default: a local network."""

    ends: Annotated[tuple[Name, Name], Field(strict=False)]
    """Ends of the link: two servers, or an application and a server."""
    rtt_ms: float = Field(default=0.2, ge=0, le=10_000)
    """Round trip time of the link in ms, without load."""
    jitter_ms: float = Field(default=0.0, ge=0, le=10_000)
    """Variation of the round trip time, in ms."""
    bandwidth_mbps: float = Field(default=1000.0, ge=0.05, le=400_000)
    """Bandwidth of the link in each direction, in Mbps."""
    loss: float = Field(default=0.0, ge=0, le=0.99)
    """Share of packets that the link loses: 0.01 is 1%."""


class DatabaseSpec(ScenarioTable):
    """[[database]]: a user database and its workload."""

    name: Name
    """Name of the database. With a count: name of the first database."""
    count: int = Field(default=1, ge=1, le=500)
    """Number of identical databases. Their names are numbered upward from `name`: Branch001 with 100 gives
    Branch001 to Branch100.
    """
    server: Name | None = None
    """Server that hosts the database, if the database has no session."""
    restored_on: Annotated[tuple[Name, ...], Field(strict=False, max_length=10)] = ()
    """Servers on which a backup of the database was restored WITH NORECOVERY just before the drill. Not
    allowed for a database with a session.
    """
    workload: Line = "none"
    """Workload of the applications, as measured in the publications. `none`: no load."""
    scale: float = Field(default=1.0, ge=0, le=1000)
    """Multiplier of the workload."""
    size_mb: SizeMb = 40_960.0
    """Size of the data."""
    log_size_mb: SizeMb = 4_096.0
    """Size of the log file at the start."""
    log_max_mb: SizeMb = 40_960.0
    """Maximum size of the log file."""
    recovery_model: Literal["FULL", "BULK_LOGGED", "SIMPLE"] = "FULL"
    """Recovery model. A mirrored database needs FULL."""
    compression_ratio: float = Field(default=0.27, ge=0.001, le=1)
    """Size of the compressed log stream as a share of its original size: 0.27 is 27%."""
    delayed_durability: Literal["DISABLED", "ALLOWED", "FORCED"] = "DISABLED"
    """DELAYED_DURABILITY (SQL Server 2014 and later). A delayed durable commit does not wait for the log
    write.
    """
    log_backup_every: Annotated[Duration, AfterValidator(_check_job_interval)] = 900.0
    """Interval of log backups. 0: no log backup job."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all `count` databases. A name without a number gives one database."""
        stem = self.name.rstrip("0123456789")
        digits = self.name[len(stem) :]
        if self.count == 1 or not digits:
            return (self.name,)
        first = int(digits)
        return tuple(f"{stem}{number:0{len(digits)}d}" for number in range(first, first + self.count))


class SessionSpec(ScenarioTable):
    """[[session]]: a database mirroring session, up and running at the start."""

    database: Name
    """Database of the session. For a [[database]] table with a count, specify the first name; each database
    then gets its own session.
    """
    principal: Name
    """Server with the principal role at the start."""
    mirror: Name
    """Server with the mirror role at the start."""
    witness: Name | None = None
    """Witness server. None: no witness, so no automatic failover."""
    safety: Literal["FULL", "OFF"] = "FULL"
    """FULL: each commit waits for the mirror. OFF: commits do not wait."""
    timeout_s: int = Field(default=PARTNER_TIMEOUT_S, ge=5, le=32_767)
    """Time without a response, in seconds, after which a partner counts as lost (SET PARTNER TIMEOUT)."""
    state: Literal["SYNCHRONIZED", "SUSPENDED"] = "SYNCHRONIZED"
    """State of the session at the start."""


class ClientSpec(ScenarioTable):
    """[[client]]: an application with its connection string."""

    name: Name
    """Name of the application."""
    databases: Annotated[tuple[Name, ...], Field(strict=False, min_length=1)]
    """Databases that the application uses."""
    data_source: Name
    """Data Source of the connection string: a server or a listener."""
    failover_partner: Name | None = None
    """Failover Partner of the connection string. None: not specified."""
    read_only: bool = False
    """ApplicationIntent=ReadOnly in the connection string."""
    multi_subnet: bool = False
    """MultiSubnetFailover=True in the connection string."""
    login_timeout_s: float = Field(default=15.0, ge=1, le=3600)
    """Connect Timeout of the connection string."""
    driver: Literal[
        "",
        "sqlclient",
        "odbc-18",
        "mssql-python",
        "jdbc-old",
        "jdbc",
        "go-mssqldb",
        "python-tds",
        "tedious",
        "freetds",
    ] = ""
    """Client driver whose measured behavior is simulated. Empty: the behavior that the documentation of
    database mirroring describes.
    """
    command_timeout_s: float | None = Field(default=None, ge=0, le=3600)
    """Command timeout in seconds. 0: no timeout; the command waits until TCP closes the connection. None: the
    default of the driver.
    """
    reconnects: bool = True
    """True if the application reconnects after it loses its connections."""
    login: Annotated[str, StringConstraints(max_length=60), AfterValidator(_check_readable)] = ""
    """SQL login of the application. Empty: a login that exists on every server."""


class Preparation(ScenarioTable):
    """[[before]]: an input line applied before the drill starts: settings, logins, jobs, certificates, drives.

    These actions take no time, and their T-SQL does not count as the learner's.
    """

    do: Text
    """Input line of the preparation, such as `sql SERVER_A CREATE LOGIN …`."""


class SettingsSpec(ScenarioTable):
    """[settings]: behavior that the documentation does not define."""

    auto_failover_after_witness_cut: bool = True
    """True if automatic failover is possible even after the link between principal and witness was cut."""
    resume_on_mirror: bool = True
    """True if SET PARTNER RESUME is also accepted on the mirror."""
    witness_off_on_mirror: bool = True
    """True if SET WITNESS OFF is also accepted on the mirror."""
    boot_s: float = Field(default=60.0, ge=0, le=3600)
    """Time from power-on until SQL Server starts."""
    restart_service_s: float = Field(default=4.0, ge=0, le=3600)
    """Time that the SQL Server service needs to start."""
    start_time: (
        Annotated[
            str,
            StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"),
            AfterValidator(_check_start_time),
        ]
        | None
    ) = None
    """Date and time on the servers' clocks at the start of the drill. None: some months after the release of the
    newest build of SQL Server and Windows in the drill."""


# --- failover clusters, availability groups and failover cluster instances of a scenario's start world ----

Subnet = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){2}$")]
"""Subnet, given by the first three numbers of its addresses, such as 10.0.1."""

Address = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}$")]


class ClusterSpec(ScenarioTable):
    """[[cluster]]: a Windows Server failover cluster that is formed and has quorum at the start."""

    name: Name
    """Name of the cluster."""
    windows: Literal["2008 R2", "2012", "2012 R2", "2016", "2019", "2022"] = "2012 R2"
    """Version of Windows Server. It determines dynamic quorum, dynamic witness and heartbeat thresholds."""
    nodes: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=16)]
    """Nodes of the cluster, in order of their node numbers."""
    witness: Name | None = None
    """For a file share witness: the computer with the share. For a disk or cloud witness: name of the disk or
    storage account.
    """
    witness_kind: Literal["file share", "disk", "cloud"] = "file share"
    """Kind of the witness."""
    dynamic_quorum: bool = True
    """True if the cluster recounts votes after each membership change (Windows Server 2012 and later)."""
    without_vote: Annotated[tuple[Name, ...], Field(strict=False, max_length=16)] = ()
    """Nodes without a vote (NodeWeight 0)."""
    subnets: Annotated[tuple[Subnet, ...], Field(strict=False, max_length=16)] = ()
    """Subnets of the nodes, in the order of the nodes, such as 10.0.1. Empty: all nodes are in 10.0.0."""


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
    """READ_ONLY_ROUTING_LIST of the replica in the primary role."""


class AvailabilityGroupSpec(ScenarioTable):
    """[[availability_group]]: an availability group whose replicas are joined and synchronized at the start."""

    name: Name
    """Name of the availability group and of its cluster role."""
    databases: Annotated[tuple[Name, ...], Field(strict=False, max_length=100)]
    """Databases of the availability group. For a [[database]] table with a count, the first name stands for
    all its databases.
    """
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
    """Static IP addresses of the listener, one in the subnet of each node. Empty: an address from DHCP."""
    register_all_addresses: bool = True
    """RegisterAllProvidersIP of the listener. If true, DNS returns all IP addresses of the listener."""
    record_ttl_s: int = Field(default=1200, ge=0, le=86_400)
    """HostRecordTTL of the listener: the time for which clients cache its address, in seconds."""
    failure_condition_level: int = Field(default=3, ge=1, le=5)
    """FAILURE_CONDITION_LEVEL."""
    health_check_timeout_ms: int = Field(default=30_000, ge=15_000, le=4_294_967_295)
    """HEALTH_CHECK_TIMEOUT."""
    backup_preference: Literal["PRIMARY", "SECONDARY_ONLY", "SECONDARY", "NONE"] = "SECONDARY"
    """AUTOMATED_BACKUP_PREFERENCE."""
    db_failover: bool = False
    """Option DB_FAILOVER (SQL Server 2016 and later)."""
    required_synchronized: int = Field(default=0, ge=0, le=8)
    """REQUIRED_SYNCHRONIZED_SECONDARIES_TO_COMMIT (SQL Server 2017 and later)."""


class ClusterInstanceSpec(ScenarioTable):
    """[[instance]]: a failover cluster instance on shared disks."""

    name: Name
    """Network name of the instance, which is also the name of its cluster role."""
    owners: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=16)]
    """Possible owners: the nodes on which the instance is installed. The first node owns the instance at the
    start.
    """
    version: Literal[2005, 2008, 2012, 2014, 2016, 2017, 2019, 2022] = 2014
    """SQL Server version by year."""
    edition: Literal["Enterprise", "Developer", "Standard"] = "Enterprise"
    """Edition of SQL Server."""
    service_account: str = "CORP\\sqlservice"
    """Service account of the instance."""
    endpoint: EndpointSpec = EndpointSpec()
    """Database mirroring endpoint of the instance."""
    no_tempdb_path: Annotated[tuple[Name, ...], Field(strict=False, max_length=16)] = ()
    """Nodes on which the local tempdb folder is missing, so that the instance cannot start there (SQL Server
    2012 and later).
    """
