"""Hardware and workloads of the tests in Microsoft's papers, from sites.toml.

sites.toml states unit, source and class of each constant. Classes: *documented*, *known* (product or hardware
figure), *derived*, *read off* (a chart), *fitted* (to the named figures), *bounded* (figures leave a narrow
range), *assumed*. Papers: [WP] Database Mirroring Best Practices and Performance Considerations, 2006; from
the SQLCAT guide [COMP] log compression and [AG] availability groups compared with mirroring; [MANY] mirroring
many databases; [BW] Mirroring and Bandwidth; [DD] Delayed durability and mirroring.
"""

import tomllib
from importlib import resources
from typing import Any, Final

from msgspec.structs import replace

from engine.flow.setup import ServerHardware, Workload

_DATA: Final = tomllib.loads(
    resources.files("engine.flow").joinpath("sites.toml").read_text(encoding="utf-8")
)
_SITES: Final[dict[str, dict[str, Any]]] = _DATA["site"]
_WORKLOADS: Final[dict[str, dict[str, Any]]] = _DATA["workload"]

NEWER_CORE_TIME_SHARE: Final = 0.4
"""Core time for the same work on x64 servers from 2007 on, relative to the 1.5 GHz Itanium2. Assumed."""


def _use_newer_cores(site: ServerHardware) -> ServerHardware:
    """Return *site* with its core times multiplied by NEWER_CORE_TIME_SHARE."""
    return replace(
        site,
        message_cpu_ms=site.message_cpu_ms * NEWER_CORE_TIME_SHARE,
        mirror_message_cpu_ms=site.mirror_message_cpu_ms * NEWER_CORE_TIME_SHARE,
        full_message_cpu_ms=site.full_message_cpu_ms * NEWER_CORE_TIME_SHARE,
        wire_cpu_us_per_kb=site.wire_cpu_us_per_kb * NEWER_CORE_TIME_SHARE,
        encryption_cpu_us_per_kb=site.encryption_cpu_us_per_kb * NEWER_CORE_TIME_SHARE,
        compress_cpu_us_per_kb=25.0,  # assumed: 40 MB/s per core; up to twice the CPU [COMP fig. 4]
        decompress_cpu_us_per_kb=18.0,  # assumed: 55 MB/s per core
        redo_cpu_us_per_touch=site.redo_cpu_us_per_touch * NEWER_CORE_TIME_SHARE,
    )


NEC: Final = ServerHardware(**_SITES.pop("nec"))
_NEWER_HARDWARE: Final = _use_newer_cores(NEC)
SITES: Final = {"nec": NEC} | {key: replace(_NEWER_HARDWARE, **fields) for key, fields in _SITES.items()}
"""Hardware, by the name that scenarios use."""

UNISYS, SHAREPOINT, THREE_PAR, SSD, DELAYED = (
    SITES[key] for key in ("unisys", "sharepoint", "3par", "ssd", "delayed")
)
WORKLOADS: Final = {name: Workload(**fields) for name, fields in _WORKLOADS.items()}
"""Workloads, by the name that scenarios and input lines use."""

WORKLOAD1, WORKLOAD2, STOCK_EXCHANGE, INSERTS, USERS, LOG_ROWS, IDLE = (
    WORKLOADS[name]
    for name in ("Workload1", "Workload2", "StockExchange", "Inserts", "Users", "LogRows", "none")
)
