"""Texts of the comparison that are ours, not the papers': sections, axes, lines. The engine has them in English."""

from __future__ import annotations

from typing import Final

from app.words.language import mark, tr

FAILOVERS: Final = "failovers: "
"""Prefix of the names of steps that compute failovers. The cause follows, as Table 6 is indexed."""

WORDS: Final = frozenset({
    mark("Tables 1 to 3: two workloads"),
    mark("Figures 1 to 4, suspended session: long operations"),
    mark("Tables 4 to 6, figure 5: failover"),
    mark("Figures 6 to 15, table 7: network"),
    mark("Log compression"),
    mark("Many databases"),
    mark("Bandwidth"),
    mark("Delayed durability"),
    mark("Availability groups against mirroring"),
    mark("Votes, heartbeats, forced quorum"),
    mark("Rules of availability groups"),
    mark("Failover cluster instances"),
    mark("Compression, FULL"),
    mark("Compression, OFF"),
    mark("FULL takes longer than OFF, a clustered index longer still."),
    mark("FULL costs a clustered index more than another."),
    mark("Both build up throughout; the redo queue takes much longer to subside."),
    mark("The smaller the batch, the longer; safety FULL costs most at 100 rows."),
    mark("A marginal impact."),
    mark("Minimal change below 20 ms, worse above."),
    mark("Throughput and CPU degrade steadily."),
    mark("Throughput the same up to 100 ms, marginally less beyond; response the same."),
    mark("Builds up increasingly."),
    mark("Throughput unaffected; the send queue builds up from 2 ms on."),
    mark("Good from 10 Mbps up, drastic loss below."),
    mark("Throughput the same down to 56 kbps; response marginally longer below 100 Mbps."),
    mark("Builds up without end."),
    mark("Throughput higher at every bandwidth, the gain larger at low ones; CPU up to about twice."),
    mark("Throughput the same, a shorter send queue, slightly more CPU."),
    mark("Transactions"),
    mark("Response time"),
    mark("Principal CPU"),
    mark("Mirror CPU"),
    mark("Send queue growth"),
    mark("Send queue"),
    mark("Queues"),
    mark("Time"),
    mark("Requests"),
    mark("Round trip, ms"),
    mark("Bandwidth, Mbps"),
    mark("Time, min"),
    mark("Rows in a batch"),
    mark("no mirroring"),
    mark("safety OFF"),
    mark("safety FULL"),
    mark("compressed"),
    mark("not compressed"),
    mark("encrypted"),
    mark("not encrypted"),
    mark("send queue"),
    mark("redo queue"),
    mark("ours"),
    mark("ours, no load"),
    mark("ours, normal load"),
    mark("published"),
    mark("calibrated"),
    mark("shared"),
    mark("predicted"),
    mark("input"),
})  # fmt: skip
"""Texts translated on display. Rows and titles of figures stay as in the papers."""


def name_of(step: str) -> str:
    """Return the name of a step in the language of the interface."""
    if step == f"{FAILOVERS}manual":
        return tr("manual failovers")
    if step.startswith(FAILOVERS):
        return tr("failovers after {cause}").format(cause=step.removeprefix(FAILOVERS))
    return tr(step)
