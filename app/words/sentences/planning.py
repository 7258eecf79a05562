"""Advice of the planner."""

from __future__ import annotations

from typing import Final

from app.words.language import mark

SENTENCES: Final = (
    mark("Safety level"),
    mark("Safety FULL"),
    mark("Safety OFF"),
    mark("Lost if the principal fails"),
    mark("Downtime"),
    mark("Bottleneck"),
    mark("Range of each level"),
    mark("Compression"),
    mark("Redo"),
    mark("Catching up"),
    mark("Log volume"),
    mark("Both levels fit; FULL loses no committed work and, with a witness, fails over automatically."),
    mark(
        "FULL fits, OFF does not: FULL loses no committed work and, with a witness, fails over automatically."
    ),
    mark(
        "OFF fits, FULL does not: {why}. With OFF service can only be forced, and log that the "
        "mirror has not hardened by then is lost."
    ),
    mark("Neither level fits: {why}, and OFF falls behind. {what}"),
    mark("Neither level fits: {why}, and OFF may lose more than allowed. {what}"),
    mark("FULL costs more than {share} of the throughput"),
    mark("responses in FULL take longer than {figure}"),
    mark("Neither bandwidth nor round trip alone would make FULL fit."),
    mark("FULL would fit with {figure} Mbps."),
    mark("FULL would fit with a round trip of {figure}."),
    mark("FULL would fit with {figure} Mbps or a round trip of {other_figure}."),
    mark(
        "{n} transactions/s and {figure} response, against {of} and {other_figure} without mirroring; a "
        "commit waits {wait}."
    ),
    mark("That is {share} less work."),
    mark("Responses take longer than the {figure} allowed."),
    mark("Responses take longer than the {figure} allowed, as they do without mirroring."),
    mark(
        "{n} transactions/s and {figure} response; no commit waits and the send queue stays "
        "short: about {size} in transit."
    ),
    mark(
        "{n} transactions/s and {figure} response; no commit waits, but the send queue grows by "
        "{size}/s, {other_size} an hour, without end."
    ),
    mark("All work since the last log backup that is stored elsewhere."),
    mark("No committed work while SYNCHRONIZED: it is hardened on both servers first."),
    mark("About {size} of log: {figure} of work or {n} transactions."),
    mark("More than the acceptable loss."),
    mark("The whole send queue: {size} after a minute, {other_size} after an hour ({figure} of work)."),
    mark("No loss is acceptable."),
    mark("The acceptable loss is exceeded after {figure}."),
    mark("{whys}."),
    mark("{least} to {most} s when the principal's server fails (automatic, with a witness)"),
    mark("{least} to {most} s when it hangs, after the partner timeout of 10 s"),
    mark("{least} to {most} s for a manual failover"),
    mark("{least} to {most} s for forced service, counted from the command"),
    mark("Twice as good, it would give {share} more sent log."),
    mark("Twice as good, it would give {share} more transactions."),
    mark("Neither link nor disks: the clients request no more."),
    mark("No single part of link, disks or CPU: the transactions' own delays set the pace."),
    mark("The round trip of {figure}: {why}"),
    mark(
        "with {size} unacknowledged at a time the session sends {rate}/s at most, and the "
        "workload writes {other_size}/s."
    ),
    mark("each of {n} connections waits for it at every commit."),
    mark("The bandwidth: {n} Mbps carry {size}/s of log, and the workload writes {other_size}/s."),
    mark(
        "Packet loss: with {share} lost, the session keeps fewer packets in transit and waits for retransmissions."
    ),
    mark("The log disks: one write of up to {size} takes {figure}, on each side."),
    mark(
        "The mirror's acknowledgement: at this site it takes {figure} from the mirror's disk to "
        "the waiting commit, besides the network."
    ),
    mark("The CPU: {share} of the principal's are in use."),
    mark(
        "{figure} is usual for a {network}. One figure changed at a time, FULL stays within the goals "
        "{what}; OFF sends all that is written {why}."
    ),
    mark("nowhere"),
    mark("at no round trip and at no bandwidth"),
    mark("at no round trip and down to {figure} Mbps"),
    mark("up to {figure} and at no bandwidth"),
    mark("up to {figure} and down to {other_figure} Mbps"),
    mark("The session can send {size}/s of log, {n} times as much as raw, at a price in CPU on both sides."),
    mark("Only versions from 2008 on compress the log stream."),
    mark("With a stream that shrinks to {share}, FULL would give {n} transactions/s and {figure} response."),
    mark(
        "The mirror redoes {size}/s and receives more: its redo queue grows by {other_size}/s, "
        "and a failover has to wait for all of it."
    ),
    mark("A pause of {figure} leaves {size}; under this load the mirror never catches up."),
    mark(
        "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load; its redo never completes."
    ),
    mark(
        "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load; the "
        "mirror has redone it after {wait}."
    ),
    mark(
        "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load, and the "
        "mirror redoes it as it arrives."
    ),
    mark(
        "While the session is suspended or disconnected no log can be reused: {rate}/s fill {gb} "
        "GB in {figure}; then the database accepts no more writes."
    ),
    mark("minimal change below 20 ms, worse above"),
    mark("steadily worse; check goals from 2 ms on"),
    mark("throughput and send queue good to 50 ms"),
    mark("send queue builds up from 100 ms"),
    mark("send queue builds up already at 2 ms"),
    mark("good from 10 Mbps up, drastic loss below"),
    mark("days"),
    mark("for ever"),
    mark("endless"),
    mark("720 KB/s of log are about 5.6 Mbps"),
    mark("response hardly rises below 100 Mbps"),
    mark("at 1 Mbps the send queue has no end"),
)
