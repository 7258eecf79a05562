"""Mirroring and Bandwidth (2007): a document of 49 MB uploaded and deleted repeatedly in SharePoint."""

from __future__ import annotations

from functools import cache
from typing import Final

from engine.flow import Flow, Operation, SafetyMode, Workload, add_pair
from engine.flow import kernel as k
from engine.flow.sites import IDLE, SHAREPOINT
from engine.published.measure import KB_PER_MB, means, run_s, setup_of
from engine.published.rows import FigureRow, number, statement

DOCUMENT_MB: Final = 49.0
"""Documented."""

LOG_PER_PAYLOAD: Final = 1.8
"""Log bytes per byte of document, for upload and deletion together. Assumed."""

COMMITS: Final = 25.0
"""Commits per upload and deletion. Fitted: 345 MB/min with mirroring."""

WEB_TIER_MB_PER_MIN: Final = 384.5
"""Throughput of one web server. Fitted: 380 MB/min without mirroring, commits included."""

LOAD: Final = Operation(
    "upload and delete",
    log_kb=1e12,
    rate_kb_per_s=WEB_TIER_MB_PER_MIN / 60.0 * KB_PER_MB * LOG_PER_PAYLOAD,
    batch_kb=DOCUMENT_MB * KB_PER_MB * LOG_PER_PAYLOAD / COMMITS,
)

MEASURED_S: Final = 600.0
WORKLOAD: Final[Workload] = IDLE


@cache
def measure(mode: SafetyMode, mbps: float = 1000.0) -> tuple[float, float]:
    """Return (MB/min of document, share of the link in use) under this kind of mirroring."""
    flow = Flow.empty()
    add_pair(flow, setup_of(WORKLOAD, mode, SHAREPOINT, bandwidth_mbps=mbps, operation=LOAD))
    run_s(flow, 60.0)
    got = means(flow, MEASURED_S)
    used = got.sent_kb_per_s / float(flow.links[0, k.LINK_KB]) if mode else 0.0
    return got.log_kb_per_s / LOG_PER_PAYLOAD / KB_PER_MB * 60.0, used


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    none, _ = measure(SafetyMode.NONE)
    fast, _ = measure(SafetyMode.FULL, 1000.0)
    medium, used = measure(SafetyMode.FULL, 100.0)
    slow, _ = measure(SafetyMode.FULL, 10.0)
    upload_min = DOCUMENT_MB / slow
    return [
        number("BW.none", none),
        number("BW.1000", fast),
        number("BW.100", medium),
        statement("BW.100.link", used > 0.85, f"{100 * used:.0f} %"),
        statement("BW.10", slow < 0.25 * fast, f"{slow:.0f} MB/min"),
        statement("BW.10.upload", upload_min > 5.0, f"{upload_min:.1f} minutes"),
    ]
