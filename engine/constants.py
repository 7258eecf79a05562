"""Constants of the protocol, each with its meaning, unit, source and class of certainty.

Constants of hardware and workloads are in flow/sites.py. Classes: *documented* (a manual page or a paper
states the value), *read off* (measured in a paper), *derived* (follows from documented rules), *assumed* (our
choice, because nothing is published). docs/sources.md lists the sources in brackets.
"""

from typing import Final

TICKS_PER_S: Final = 100
"""Ticks per simulated second: the fixed step of the flow model is 10 ms.

With a step of 5 ms, every figure changes by less than 1%.
"""

RUN_TIME_MAX_S: Final = 1e6
"""Maximum simulated time of a run, as in `run --until`: eleven days. Assumed."""

PING_INTERVAL_S: Final = 1.0
"""Interval at which each side sends a ping on each open connection. Documented [RANDAL]."""

RETRANSMIT_MIN_S: Final = 0.3
"""Minimum time until a lost packet at the end of a message is sent again. Known: minimum retransmission
timeout of Windows.
"""

PING_DELAY_PER_SLOWDOWN_S: Final = 0.02
"""Additional delay of a ping if the processors have half their normal speed.

The delay doubles at a third of the speed, triples at a quarter, and so on. Assumed: a time slice and a
half of a busy scheduler (4 to 15 ms each).
"""

PING_DELAY_PER_DATABASE_S: Final = 0.001
"""Additional delay of a ping per additional mirrored database, because one thread sends all pings. Assumed."""

PARTNER_TIMEOUT_S: Final = 10
"""Silence after which a partner counts as lost. Documented: the default of SET PARTNER TIMEOUT [WP; DOC:
quorum].
"""

SESSION_TIMEOUT_S: Final = 10
"""Default SESSION_TIMEOUT of an availability replica. Documented [DOC: session-timeout period]."""

PARTNER_TIMEOUT_S_MIN: Final = 5
"""Minimum partner timeout. Values from 0 to 4 become 5. Documented [DOC: ALTER DATABASE database mirroring]."""

PARTNER_TIMEOUT_S_MAX: Final = 32_767
"""Maximum partner timeout. Larger values raise message 1476. Documented [DOC: Database Engine events and
errors].
"""

HARD_ERROR_DETECTION_RANGE_S: Final = (0.6, 1.1)
"""Range of times until a broken connection is detected. Read off: "typically in around 1 second" [WP]."""

SESSION_CLOSE_DELAY_S: Final = 0.03
"""Time until an instance receives its partner's message that the session has ended.

Derived: a few round trips.
"""

RECONNECT_RANGE_S: Final = (0.8, 1.8)
"""Range of times from the repair of a network path to the reconnection of the instances.

Derived from the ping: each side retries about once per second.
"""

STOP_SERVICE_MIN_S: Final = 0.5
"""Minimum duration of a service stop, for an instance without mirrored databases. Assumed."""

SHUTDOWN_AFTER_SERVICE_S: Final = 5.0
"""Time from the stop of the SQL Server service until the operating system has powered off the server.
Assumed.
"""

RECOVERY_AT_START_S: Final = 1.5
"""Time for analysis, redo and undo of a database without a redo queue when its instance starts. Assumed."""

CHECKPOINT_INTERVAL_S: Final = 60.0
"""Interval of automatic checkpoints of an active database, with a recovery interval of 0.

Documented as approximately one minute [DOC: configure the recovery interval server option].
"""

CLIENT_LOGIN_TIMEOUT_S: Final = 15.0
"""Default Connect Timeout of SqlClient. Documented [DOC: retry algorithm]."""

CLIENT_ATTEMPT_TIMEOUT_SHARE: Final = 0.08
"""Share of the login timeout for each server in the first round. Each further round adds the same share.
Documented [DOC: retry algorithm].
"""

CLIENT_BACKOFF_S: Final = (0.1, 0.2, 0.4, 0.8, 1.0)
"""Pauses after rounds in which the partner refused the connection immediately. The last pause repeats.

Documented [DOC: retry algorithm].
"""

CLIENT_PAUSE_S: Final = 2.0
"""Pause of an application between a failed login and the next attempt. Assumed."""

DEFAULT_ENDPOINT_PORT: Final = 5022
"""Port of the mirroring endpoint that the wizard of Management Studio suggests. Documented [DOC: security
wizard].
"""

VERSIONS: Final = (2005, 2008, 2012, 2014, 2016, 2017, 2019, 2022)
"""Simulated versions of SQL Server."""

COMPATIBILITY_LEVELS: Final = {
    2005: 90, 2008: 100, 2012: 110, 2014: 120, 2016: 130, 2017: 140, 2019: 150, 2022: 160
}  # fmt: skip
COMPATIBILITY_LEVELS_MIN: Final = {
    2005: 80, 2008: 80, 2012: 90, 2014: 100, 2016: 100, 2017: 100, 2019: 100, 2022: 100
}  # fmt: skip
"""Version -> lowest compatibility_level; for the level of a new database, see COMPATIBILITY_LEVELS.

Documented [DOC: ALTER DATABASE compatibility level].
"""

PRODUCT_VERSIONS: Final = {
    2005: ("9.00.5000.00", "SP4", "Microsoft SQL Server 2005"),
    2008: ("10.0.6000.29", "SP4", "Microsoft SQL Server 2008 (SP4)"),
    2012: ("11.0.7001.0", "SP4", "Microsoft SQL Server 2012 (SP4)"),
    2014: ("12.0.6024.0", "SP3", "Microsoft SQL Server 2014 (SP3)"),
    2016: ("13.0.6300.2", "SP3", "Microsoft SQL Server 2016 (SP3)"),
    2017: ("14.0.3456.2", "RTM", "Microsoft SQL Server 2017 (RTM-CU31) (KB5016884)"),
    2019: ("15.0.4375.4", "RTM", "Microsoft SQL Server 2019 (RTM-CU27) (KB5037331)"),
    2022: ("16.0.4105.2", "RTM", "Microsoft SQL Server 2022 (RTM-CU11) (KB5032679)"),
}
"""Version -> (product version, level, name) of its last service pack.

Since 2017, the values are those of a late cumulative update. Documented [DOC: build lists].
"""

DEFAULT_START_TIMES: Final[dict[int | str, str]] = {
    2005: "2005-10-22T12:00:00", 2008: "2015-02-21T12:00:00", 2012: "2018-02-24T12:00:00",
    2014: "2019-02-23T12:00:00", 2016: "2022-01-22T12:00:00", 2017: "2023-01-21T12:00:00",
    2019: "2024-10-19T12:00:00", 2022: "2024-11-16T12:00:00",
    "2008 R2": "2010-01-23T12:00:00", "2012": "2013-01-19T12:00:00", "2012 R2": "2014-01-18T12:00:00",
    "2016": "2017-01-21T12:00:00", "2019": "2019-02-16T12:00:00", "2022": "2021-11-20T12:00:00",
}  # fmt: skip
"""Version of SQL Server (a number) or Windows Server (a text) -> default start time of a drill.

Each is a Saturday, so that all schedules run alike. It is some months after the release of the simulated
build, except for 2005, whose date precedes the release.

Release dates are documented [DOC: build lists; Windows Server release information].
"""

DATABASE_FILE_VERSIONS: Final = {
    2005: 611, 2008: 655, 2012: 706, 2014: 782, 2016: 852, 2017: 869, 2019: 904, 2022: 957
}  # fmt: skip
"""Version -> internal version of its database files, as message 948 shows it.

The message is documented [DOC: MSSQLSERVER_948]; the numbers are seen in public logs.
"""

EDITIONS: Final = ("Enterprise", "Developer", "Standard", "Workgroup", "Express")
"""Simulated editions."""

ENTERPRISE_EDITIONS: Final = ("Enterprise", "Developer")
"""Editions with all features. Developer has the features of Enterprise under another license.

Only these editions have safety OFF, database snapshots, online index builds and several redo threads.
Documented [DOC: features supported by the editions].
"""

WITNESS_ONLY_EDITIONS: Final = ("Express", "Workgroup")
"""Editions whose mirroring endpoint can only have the role WITNESS. Documented [DOC: CREATE ENDPOINT]."""

ENDPOINT_RECONNECT_DELAY_S: Final = 0.25
"""Delay until an instance whose endpoint was reconfigured reconnects to its partners. Assumed.

It is shorter than the time in which mirror and witness agree on a failover (0.61 s [WP, Table 5]). Otherwise
every change of an endpoint would cause a failover.
"""

CERTIFICATE_VALIDITY_S: Final = 365 * 86_400.0
"""Validity of a certificate without EXPIRY_DATE: one year from its start. Documented [DOC: CREATE
CERTIFICATE].
"""

REDO_CHECK_INTERVAL_S: Final = 0.5
"""Interval at which a mirror with a redo queue checks whether it has redone a catalog change. Assumed.

The only visible effect is the delay until a new user or file appears on the mirror.
"""

LOG_GROWTH_SHARE: Final = 0.1
"""Growth of a full log file, as a share of its size. Documented: FILEGROWTH is 10% by default [DOC: CREATE
DATABASE].
"""

BACKUP_KB_PER_S: Final = 100.0 * 1024
"""Rate at which data drives write, read, copy or restore a backup.

Assumed: sequential reads of a disk array at the time of SQL Server 2005.
"""

BACKUP_S_MIN: Final = 0.3
"""Minimum duration of a BACKUP or RESTORE statement. Assumed."""

RESTORE_RECOVERY_S: Final = 1.5
"""Duration of undo and of opening the database at the end of RESTORE … WITH RECOVERY. Assumed."""

PAGE_KB: Final = 8.0
"""Size of a page, in KB. Well known."""

PAGE_REPAIR_S: Final = 2.0
"""Time from the request for a good copy of a page to the repair. Assumed."""

PAGE_READ_INTERVAL_S: Final = 60.0
"""Interval at which an application reads the damaged page of an open database. Assumed."""

VERSION_UPGRADE_S: Final = 900.0
"""Duration of the installation of another version. The service is down. Assumed."""

SERVICE_PACK_S: Final = 300.0
"""Duration of the installation of a service pack. The service is down. Assumed."""

RESTORE_RECOVERY_LOG_KB: Final = 8.0
"""Log that recovery writes at the end of a restore, for its checkpoint. Assumed.

The amount does not matter, but the log must differ from the log in the backup.
"""

DRIVER_WINDOW_MARKER: Final = "#tds"
"""Mark in the window name of a driver's connection, such as SERVER_A#tds5 (app/serve/sql_ports.py)."""
