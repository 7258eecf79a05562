"""Comparison of figures and checkable statements in Microsoft's papers with our values.

The command `mirrordrill fidelity` shows it.
"""

import textwrap
from collections.abc import Callable
from typing import Final

from engine.published import (
    availability_groups,
    cluster_rules,
    group_rules,
    small_papers,
    white_paper,
    whitepaper_failover,
)
from engine.published.figure_rows import FigureClass, FigureRow, annotate_row

SECTIONS: Final[dict[str, Callable[[], list[FigureRow]]]] = {
    "Tables 1 to 3: two workloads": white_paper.build_load_rows,
    "Figures 1 to 4, suspended session: long operations": white_paper.build_operation_rows,
    "Tables 4 to 6, figure 5: failover": whitepaper_failover.build_rows,
    "Figures 6 to 15, table 7: network": white_paper.build_network_rows,
    "Log compression": small_papers.build_compression_rows,
    "Many databases": small_papers.build_many_databases_rows,
    "Bandwidth": small_papers.build_bandwidth_rows,
    "Delayed durability": small_papers.build_durability_rows,
    "Availability groups compared with mirroring": availability_groups.build_rows,
    "Votes, heartbeats, forced quorum": cluster_rules.build_rows,
    "Rules of availability groups": group_rules.build_rows,
    "Failover cluster instances": cluster_rules.build_instance_rows,
}

KNOWN_FAILURES: Final = {
    "T3a.writes.OFF": "The principal writes pages in bursts, one at each checkpoint. 1,175 and 1,217 KB/s are four "
    "fifths of 1,500, so the measured time may contain one burst fewer. Nothing in mirroring reduces the principal's "
    "writes by a fifth. Safety OFF and FULL agree, although their throughput differs by a quarter.",
    "T3a.writes.FULL": "The reason is the same as with safety OFF: four bursts instead of five. The mean over a long "
    "time does not change.",
    "BW.10.upload": "The collapse follows from the link. The source does not describe why single uploads failed, for "
    "example timeouts or other databases of the farm on the same link.",
    "DD.batches": "Delayed durability writes a block when it is full, many times a second. The source does not "
    "describe why the queue grew for 20 s in that test. No timer of this length is documented.",
}
"""Identifier of a comparison row that is known to fail -> reason. Such rows remain in the comparison."""


def build_fidelity_rows() -> list[FigureRow]:
    """Return all rows by section. This takes about 15 seconds, and the result is always the same."""
    return [
        annotate_row(row, section, KNOWN_FAILURES) for section, make in SECTIONS.items() for row in make()
    ]


def summarize_rows(rows: list[FigureRow]) -> dict[str, int]:
    """Return the numbers of rows, passes, failures, and failures without a reason in KNOWN_FAILURES."""
    failed = [row for row in rows if row.verdict == "fail"]
    return {
        "rows": len(rows),
        "pass": len(rows) - len(failed),
        "fail": len(failed),
        "unexplained": sum(row.reason is None for row in failed),
    }


def format_comparison(rows: list[FigureRow], width: int = 110) -> str:
    """Format the comparison as plain text."""
    lines: list[str] = []
    section = None
    for row in rows:
        if row.section != section:
            section = row.section
            lines += ["", section, "-" * len(section)]
        lines += _format_row(row, width)
    counts = summarize_rows(rows)
    lines += [
        "",
        f"{counts['rows']} rows: {counts['pass']} pass, {counts['fail']} fail, "
        f"{counts['unexplained']} of them without a reason.",
        "calibrated: a parameter was fitted to it | shared: a parameter was fitted to several figures | "
        "predicted: nothing was fitted to it | input: used as a parameter",
    ]
    return "\n".join(lines[1:])


def _format_row(row: FigureRow, width: int) -> list[str]:
    mark = "ok  " if row.verdict == "pass" else "FAIL"
    if row.kind is FigureClass.STATEMENT:
        head = f"{mark} {row.id:24} {row.what}: {row.published}"
        lines = [*textwrap.wrap(head, width, subsequent_indent=" " * 30), f"{'':30}{row.ours}"]
    else:
        band = f" [{row.band[0]:g} .. {row.band[1]:g}]" if row.band else ""
        error = f"{row.error_percent:+.1f}%" if row.error_percent is not None else ""
        head = f"{mark} {row.id:24} {row.published:>9} {row.ours:>12g} {row.unit:6} {error:>8} {row.kind:10}"
        lines = [f"{head} {row.what}{band}"]
    if row.reason is not None:
        lines += textwrap.wrap(row.reason, width, initial_indent=" " * 30, subsequent_indent=" " * 30)
    return lines
