"""Configuration options of the instance, as sp_configure and sys.configurations show them. Data and its reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from engine.tsql.batches import ledger
from engine.tsql.batches.context import Context
from engine.tsql.catalog.view import Record, view

_TEXT: Final = """
101 recovery interval (min)|0|32767|0|ad|Maximum recovery interval in minutes
102 allow updates|0|1|0|d|Allow updates to system tables
103 user connections|0|32767|0|a|Number of user connections allowed
106 locks|5000|2147483647|0|a|Number of locks for all users
107 open objects|0|2147483647|0|a|Number of open database objects
109 fill factor (%)|0|100|0|a|Default fill factor percentage
114 disallow results from triggers|0|1|0|ad|Disallow returning results from triggers
115 nested triggers|0|1|1|d|Allow triggers to be invoked within triggers
116 server trigger recursion|0|1|1|d|Allow recursion for server level triggers
117 remote access|0|1|1||Allow remote access
124 default language|0|9999|0|d|default language
400 cross db ownership chaining|0|1|0|d|Allow cross db ownership chaining
503 max worker threads|128|32767|0|ad|Maximum worker threads
505 network packet size (B)|512|32767|4096|ad|Network packet size
518 show advanced options|0|1|0|d|show advanced options
542 remote proc trans|0|1|0|d|Create DTC transaction for remote procedures
544 c2 audit mode|0|1|0|a|c2 audit mode
1126 default full-text language|0|2147483647|1033|ad|default full-text language
1127 two digit year cutoff|1753|9999|2049|ad|two digit year cutoff
1505 index create memory (KB)|704|2147483647|0|ad|Memory for index create sorts (kBytes)
1517 priority boost|0|1|0|a|Priority boost
1519 remote login timeout (s)|0|2147483647|20|d|remote login timeout
1520 remote query timeout (s)|0|2147483647|600|d|remote query timeout
1531 cursor threshold|-1|2147483647|-1|ad|cursor threshold
1532 set working set size|0|1|0|a|set working set size
1534 user options|0|32767|0|d|user options
1535 affinity mask|-2147483648|2147483647|0|ad|affinity mask
1536 max text repl size (B)|0|2147483647|65536|d|Maximum size of a text field in replication.
1537 media retention|0|365|0|ad|Tape retention period in days
1538 cost threshold for parallelism|0|32767|5|ad|cost threshold for parallelism
1539 max degree of parallelism -2008|0|64|0|ad|maximum degree of parallelism
1539 max degree of parallelism 2012|0|32767|0|ad|maximum degree of parallelism
1540 min memory per query (KB)|512|2147483647|1024|ad|minimum memory per query (kBytes)
1541 query wait (s)|-1|2147483647|-1|ad|maximum time to wait for query memory (s)
1543 min server memory (MB)|0|2147483647|0|ad|Minimum size of server memory (MB)
1544 max server memory (MB)|16|2147483647|2147483647|ad|Maximum size of server memory (MB)
1545 query governor cost limit|0|2147483647|0|ad|Maximum estimated cost allowed by query governor
1546 lightweight pooling|0|1|0|a|User mode scheduler uses lightweight pooling
1547 scan for startup procs|0|1|0|a|scan for startup stored procedures
1549 affinity64 mask|-2147483648|2147483647|0|ad|affinity64 mask
1550 affinity I/O mask|-2147483648|2147483647|0|a|affinity I/O mask
1551 affinity64 I/O mask|-2147483648|2147483647|0|a|affinity64 I/O mask
1555 transform noise words|0|1|0|ad|Transform noise words for full-text query
1556 precompute rank|0|1|0|ad|Use precomputed rank for full-text query
1557 PH timeout (s)|1|3600|60|ad|DB connection timeout for full-text protocol handler (s)
1562 clr enabled|0|1|0|d|CLR user code execution enabled in the server
1563 max full-text crawl range|0|256|4|ad|Maximum  crawl ranges allowed in full-text indexing
1564 ft notify bandwidth (min)|0|32767|0|ad|Number of reserved full-text notifications buffers
1565 ft notify bandwidth (max)|0|32767|100|ad|Max number of full-text notifications buffers
1566 ft crawl bandwidth (min)|0|32767|0|ad|Number of reserved full-text crawl buffers
1567 ft crawl bandwidth (max)|0|32767|100|ad|Max number of full-text crawl buffers
1568 default trace enabled|0|1|1|ad|Enable or disable the default trace
1569 blocked process threshold -2005|0|86400|0|ad|Blocked process reporting threshold
1569 blocked process threshold (s) 2008|0|86400|0|ad|Blocked process reporting threshold
1570 in-doubt xact resolution|0|2|0|ad|Recovery policy for DTC transactions with unknown outcome
1576 remote admin connections|0|1|0|d|Dedicated Admin Connections are allowed from remote clients
1577 common criteria compliance enabled 2008|0|1|0|a|Common Criteria compliance mode enabled
1578 EKM provider enabled 2008|0|1|0|ad|Enable or disable EKM provider
1579 backup compression default 2008|0|1|0|d|Enable compression of backups by default
1580 filestream access level 2008|0|2|0|d|Sets the FILESTREAM access level
1581 optimize for ad hoc workloads 2008|0|1|0|ad|When this option is set, plan cache size is further reduced for \
single-use adhoc OLTP workload.
1582 access check cache bucket count 2008|0|65536|0|ad|Default hash bucket count for the access check result \
security cache
1583 access check cache quota 2008|0|2147483647|0|ad|Default quota for the access check result security cache
1584 backup checksum default 2014|0|1|0|d|Enable checksum of backups by default
16384 Agent XPs|0|1|1|ad|Enable or disable Agent XPs
16385 SQL Mail XPs -2008|0|1|0|ad|Enable or disable SQL Mail XPs
16386 Database Mail XPs|0|1|0|ad|Enable or disable Database Mail XPs
16387 SMO and DMO XPs|0|1|1|ad|Enable or disable SMO and DMO XPs
16388 Ole Automation Procedures|0|1|0|ad|Enable or disable Ole Automation Procedures
16389 Web Assistant Procedures -2005|0|1|0|ad|Enable or disable Web Assistant Procedures
16390 xp_cmdshell|0|1|0|ad|Enable or disable command shell
16391 Ad Hoc Distributed Queries|0|1|0|ad|Enable or disable Ad Hoc Distributed Queries
16392 Replication XPs|0|1|0|ad|Enable or disable Replication XPs
16393 contained database authentication 2012|0|1|0|d|Enables contained databases and contained authentication
"""
"""Id, name, the version from which or (with a minus) up to which there is one; least, most, default; a: advanced, d:
dynamic; description. Documented [DOC: server configuration options; sys.configurations]."""


@dataclass(frozen=True, slots=True)
class Option:
    number: int
    name: str
    least: int
    most: int
    default: int
    advanced: bool
    dynamic: bool
    description: str


@lru_cache(maxsize=8)
def options(version: int) -> tuple[Option, ...]:
    """Return the options that a version has, by id."""
    found = []
    for line in _TEXT.strip().split("\n"):
        head, least, most, default, marks, description = line.split("|")
        number, name = head.split(" ", 1)
        name, _, edge = name.rpartition(" ") if name[-4:].isdigit() else (name, "", "2005")
        if version > -int(edge) if edge.startswith("-") else version < int(edge):
            continue
        bounds = int(least), int(most), int(default)
        found.append(Option(int(number), name, *bounds, "a" in marks, "d" in marks, description))
    return tuple(found)


def option_value(context: Context, name: str) -> int:
    """Return the value in use of one option."""
    if name == "max worker threads":
        return context.server.max_worker_threads
    return _set_value(context, name, "in_use")


def configured_value(context: Context, name: str) -> int:
    """Return the configured value of one option of sp_configure; RECONFIGURE puts it into use."""
    kept = ledger.find(context.world, context.server.name, "options", "name", name)
    return option_value(context, name) if kept is None else int(str(kept["value"]))


def _set_value(context: Context, name: str, column: str) -> int:
    kept = ledger.find(context.world, context.server.name, "options", "name", name)
    default = next(option.default for option in options(context.version) if option.name == name)
    return default if kept is None else int(str(kept[column]))


def _configurations(context: Context) -> Iterable[Record]:
    for option in options(context.version):
        yield {
            "configuration_id": option.number,
            "name": option.name,
            "value": configured_value(context, option.name),
            "minimum": option.least,
            "maximum": option.most,
            "value_in_use": option_value(context, option.name),
            "description": option.description,
            "is_dynamic": int(option.dynamic),
            "is_advanced": int(option.advanced),
        }


view("sys.configurations", _configurations)
