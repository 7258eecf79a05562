"""An assessment in plain sentences: which safety level this link affords, why, and what a failure would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.flow import Mode
from engine.flow.derive import handling_ms, link_kb_per_s, stream_kb_per_s
from engine.flow.recovery import Cause
from engine.flow.setup import COMPRESSION_VERSION_MIN, wire_ratio
from engine.planning.assess import NO_GOALS, Assessment, Goals, Resource, assess
from engine.planning.plan import Plan, network_of, pair_of
from engine.planning.steady import send_limit_kb_per_s, steady
from engine.planning.words import duration, figure, percent, size

HOUR_S: Final = 3600.0
NEVER: Final = float("inf")

SHORT_VOLUME_S: Final = 4 * HOUR_S
"""A log volume that fills faster than this deserves a warning: less than a night's sleep. Assumed."""


class Tone(StrEnum):
    """How a finding is meant; also the name of the colour that it has in the theme."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One answer of the planner."""

    topic: str
    tone: Tone
    text: str


def advice(plan: Plan, goals: Goals = NO_GOALS) -> list[Finding]:
    """Everything worth knowing about *plan*, most important first. ValueError: a senseless link."""
    found = assess(plan, goals)
    return [
        _verdict(found),
        _full(found),
        _off(found),
        *_loss(found),
        _binding(found),
        _limits(found),
        *_compression(found),
        *_redo(found),
        *_failovers(found),
        *_backlog(found),
        *_volume(found),
    ]


# --- which safety level -------------------------------------------------------------------------------------


def _verdict(found: Assessment) -> Finding:
    topic = "Safety level"
    if found.full_fits:
        both = "Both levels fit; " if found.off_fits else "FULL fits, OFF does not: "
        why = "FULL loses no committed work and, with a witness, fails over automatically."
        return Finding(topic, Tone.OK, both + why)
    if found.off_fits and not _wants_no_loss(found.goals):
        text = f"OFF fits, FULL does not: {_too_much(found)}. With OFF service can only be forced, "
        return Finding(topic, Tone.WARN, text + "and log that the mirror has not hardened by then is lost.")
    off = "OFF falls behind" if _off_grows(found) else "OFF may lose more than allowed"
    return Finding(topic, Tone.BAD, f"Neither level fits: {_too_much(found)}, and {off}. {_remedy(found)}")


def _too_much(found: Assessment) -> str:
    """Which goal FULL misses."""
    allowed, limit_s = found.goals.throughput_loss_max, found.goals.response_limit_s
    if found.full.transactions_per_s < found.alone.transactions_per_s * (1.0 - allowed):
        return f"FULL costs more than {percent(allowed)} of the throughput"
    return f"responses in FULL take longer than {duration(limit_s or 0.0)}"


def _off_grows(found: Assessment) -> bool:
    return found.off.send_queue_growth_kb_per_s > 0.0


def _wants_no_loss(goals: Goals) -> bool:
    return goals.rpo_kb == 0.0 or goals.rpo_s == 0.0


def _remedy(found: Assessment) -> str:
    limits, ways = found.limits, []
    if limits.full_mbps is not None and found.plan.bandwidth_mbps < limits.full_mbps:
        ways.append(f"{figure(limits.full_mbps, 2)} Mbps")
    if limits.full_rtt_ms is not None and found.plan.rtt_ms > limits.full_rtt_ms:
        ways.append(f"a round trip of {_rtt(limits.full_rtt_ms)}")
    if not ways:
        return "Neither bandwidth nor round trip alone would make FULL fit."
    return f"FULL would fit with {' or '.join(ways)}."


def _full(found: Assessment) -> Finding:
    alone, full, limit_s = found.alone, found.full, found.goals.response_limit_s
    text = (
        f"{figure(full.transactions_per_s)} transactions/s and {duration(full.response_s)} response, against "
        f"{figure(alone.transactions_per_s)} and {duration(alone.response_s)} without mirroring; "
        f"a commit waits {duration(full.commit_delay_ms / 1000.0)}."
    )
    lost = 1.0 - full.transactions_per_s / alone.transactions_per_s if alone.transactions_per_s > 0.0 else 0.0
    if lost >= 0.0005:
        text += f" That is {percent(lost)} less work."
    if limit_s is not None and full.response_s > limit_s:
        also = ", as they do without mirroring" if alone.response_s > limit_s else ""
        text += f" Responses take longer than the {duration(limit_s)} allowed{also}."
    return Finding("Safety FULL", Tone.OK if found.full_fits else Tone.BAD, text)


def _off(found: Assessment) -> Finding:
    off, growth = found.off, found.off.send_queue_growth_kb_per_s
    head = f"{figure(off.transactions_per_s)} transactions/s and {duration(off.response_s)} response; no commit waits"
    if not _off_grows(found):
        text = f"{head} and the send queue stays short: about {size(off.unhardened_kb)} in transit."
        return Finding("Safety OFF", Tone.OK if found.off_fits else Tone.WARN, text)
    text = (
        f"{head}, but the send queue grows by {size(growth)}/s, {size(growth * HOUR_S)} an hour, without end."
    )
    return Finding("Safety OFF", Tone.BAD, text)


# --- what a failure costs -----------------------------------------------------------------------------------


def _loss(found: Assessment) -> Iterator[Finding]:
    topic = "Lost if the principal fails"
    if found.plan.safety is Mode.NONE:
        yield Finding(topic, Tone.BAD, "All work since the last log backup that is stored elsewhere.")
    elif found.plan.safety is Mode.FULL:
        yield Finding(
            topic, Tone.OK, "No committed work while SYNCHRONIZED: it is hardened on both servers first."
        )
    elif _off_grows(found):
        yield Finding(topic, Tone.BAD, _growing_loss(found))
    else:
        kb = found.off.unhardened_kb
        transactions = figure(kb / found.plan.workload.log_kb_per_transaction, 2)
        work = f"{duration(found.seconds_of_log(kb))} of work or {transactions} transactions"
        fits = found.loss_fits(kb)
        text = f"About {size(kb)} of log: {work}." + ("" if fits else " More than the acceptable loss.")
        yield Finding(topic, Tone.OK if fits else Tone.BAD, text)


def _growing_loss(found: Assessment) -> str:
    growth = found.off.send_queue_growth_kb_per_s
    text = (
        f"The whole send queue: {size(growth * 60.0)} after a minute, {size(growth * HOUR_S)} after an hour "
        f"({duration(found.seconds_of_log(growth * HOUR_S))} of work)."
    )
    if _wants_no_loss(found.goals):
        text += " No loss is acceptable."
    elif found.rpo_reached_s is not None:
        text += f" The acceptable loss is exceeded after {duration(found.rpo_reached_s)}."
    return text


CAUSES_IN_WORDS: Final = {
    Cause.POWER_OFF: "when the principal's server fails (automatic, with a witness)",
    Cause.TIMEOUT: "when it hangs, after the partner timeout of 10 s",
    Cause.MANUAL: "for a manual failover",
    Cause.FORCED: "for forced service, counted from the command",
}


def _failovers(found: Assessment) -> Iterator[Finding]:
    parts = [
        f"{figure(each.low_s, 2)} to {figure(each.high_s, 2)} s {CAUSES_IN_WORDS[each.cause]}"
        for each in found.failovers
    ]
    if parts:
        yield Finding("Downtime", Tone.INFO, f"{'; '.join(parts)}.")


# --- why ----------------------------------------------------------------------------------------------------


def _binding(found: Assessment) -> Finding:
    resource, gain = found.binding.resource, found.binding.gain
    text = BINDING_IN_WORDS[resource](found)
    if resource is not Resource.CLIENTS:
        more = "sent log" if found.plan.safety is Mode.OFF and _off_grows(found) else "transactions"
        text += f" Twice as good, it would give {percent(gain)} more {more}."
    return Finding("Bottleneck", Tone.INFO, text)


def _clients(found: Assessment) -> str:
    if found.plan.workload.think_s > 0.0:
        return "Neither link nor disks: the clients request no more."
    return "No single part of link, disks or CPU: the transactions' own delays set the pace."


def _round_trip(found: Assessment) -> str:
    plan, setup = found.plan, pair_of(found.plan)
    limit, wanted = send_limit_kb_per_s(setup), found.alone.log_kb_per_s
    if setup.stream is not None and limit < 1.1 * wanted:
        held_ms = plan.rtt_ms + handling_ms(plan.site, setup.stream)
        window_kb = stream_kb_per_s(plan.site, setup.stream) * held_ms / 1000.0
        why = (
            f"with {size(window_kb)} unacknowledged at a time the session sends {size(limit)}/s "
            f"at most, and the workload writes {size(wanted)}/s."
        )
    else:
        why = f"each of {figure(plan.workload.connections * plan.scale)} connections waits for it at every commit."
    return f"The round trip of {duration(plan.rtt_ms / 1000.0)}: {why}"


def _bandwidth(found: Assessment) -> str:
    plan = found.plan
    carried = link_kb_per_s(plan.site, plan.bandwidth_mbps) / wire_ratio(plan.compression_ratio, plan.version)
    return (
        f"The bandwidth: {figure(plan.bandwidth_mbps)} Mbps carry {size(carried)}/s of log, "
        f"and the workload writes {size(found.alone.log_kb_per_s)}/s."
    )


def _lossy(found: Assessment) -> str:
    return (
        f"Packet loss: with {figure(100.0 * found.plan.loss, 2)} % lost, the session keeps fewer packets in "
        "transit and waits for retransmissions."
    )


def _log_disk(found: Assessment) -> str:
    site = found.plan.site
    return (
        f"The log disks: one write of up to {size(site.log_block_kb)} takes "
        f"{duration(site.log_write_ms / 1000.0)}, on each side."
    )


def _acknowledgement(found: Assessment) -> str:
    passed = duration(found.plan.site.ack_latency_ms / 1000.0)
    return (
        f"The mirror's acknowledgement: at this site it takes {passed} from the mirror's disk "
        "to the waiting commit, besides the network."
    )


def _cpu(found: Assessment) -> str:
    return f"The CPU: {figure(found.chosen.principal_cpu_percent, 2)} % of the principal's are in use."


BINDING_IN_WORDS: Final[dict[Resource, Callable[[Assessment], str]]] = {
    Resource.CLIENTS: _clients,
    Resource.ROUND_TRIP: _round_trip,
    Resource.BANDWIDTH: _bandwidth,
    Resource.LOSS: _lossy,
    Resource.LOG_DISK: _log_disk,
    Resource.ACKNOWLEDGEMENT: _acknowledgement,
    Resource.CPU: _cpu,
}


def _limits(found: Assessment) -> Finding:
    plan, limits = found.plan, found.limits
    text = (
        f"{_rtt(plan.rtt_ms)} is usual for a {network_of(plan.rtt_ms)}. One figure changed at a time, "
        f"FULL stays within the goals {_range(limits.full_rtt_ms, limits.full_mbps)}; "
        f"OFF sends all that is written {_range(limits.off_rtt_ms, limits.off_mbps)}."
    )
    return Finding("Range of each level", Tone.INFO, text)


def _rtt(ms: float) -> str:
    return duration(float(f"{ms:.2g}") / 1000.0)


def _range(rtt_ms: float | None, mbps: float | None) -> str:
    if rtt_ms is None and mbps is None:
        return "nowhere"
    rtt = "at no round trip" if rtt_ms is None else f"up to {_rtt(rtt_ms)}"
    return f"{rtt} and {'at no bandwidth' if mbps is None else f'down to {figure(mbps, 2)} Mbps'}"


def _compression(found: Assessment) -> Iterator[Finding]:
    """Said where compression is on, and where the link hurts and it could help."""
    plan, setup = found.plan, pair_of(found.plan, Mode.OFF)
    ratio = plan.workload.compression_ratio
    hurts = not (found.full_fits and found.off_fits)
    if wire_ratio(plan.compression_ratio, plan.version) < 1.0:
        text = (
            f"The session can send {size(send_limit_kb_per_s(setup))}/s of log, "
            f"{figure(1.0 / plan.compression_ratio, 2)} times as much as raw, at a price in CPU on both sides."
        )
        yield Finding("Compression", Tone.INFO, text)
    elif hurts and ratio < 1.0 and plan.version < COMPRESSION_VERSION_MIN:
        yield Finding("Compression", Tone.INFO, "Only versions from 2008 on compress the log stream.")
    elif hurts and wire_ratio(ratio, plan.version) < 1.0:
        better = steady((pair_of(plan.at(compression_ratio=ratio), Mode.FULL),))[0]
        text = (
            f"With a stream that shrinks to {percent(ratio)}, FULL would give "
            f"{figure(better.transactions_per_s)} transactions/s and {duration(better.response_s)} response."
        )
        yield Finding("Compression", Tone.INFO, text)


# --- how long things take -----------------------------------------------------------------------------------


def _redo(found: Assessment) -> Iterator[Finding]:
    growth = found.chosen.redo_queue_growth_kb_per_s
    if growth > 0.0:
        text = (
            f"The mirror redoes {size(found.chosen.redo_kb_per_s)}/s and receives more: its redo "
            f"queue grows by {size(growth)}/s, and a failover has to wait for all of it."
        )
        yield Finding("Redo", Tone.BAD, text)


def _backlog(found: Assessment) -> Iterator[Finding]:
    backlog, paused_s = found.backlog, found.goals.suspended_s
    if found.plan.safety is Mode.NONE or backlog.kb <= 0.0:
        return
    head = f"A pause of {duration(paused_s)} leaves {size(backlog.kb)}"
    if backlog.send_s == NEVER:
        yield Finding("Catching up", Tone.BAD, f"{head}; under this load the mirror never catches up.")
        return
    if backlog.redo_s == NEVER:
        redone = "; its redo never completes"
    elif backlog.redo_s > 1.05 * backlog.send_s:
        redone = f"; the mirror has redone it after {duration(backlog.redo_s)}"
    else:
        redone = ", and the mirror redoes it as it arrives"
    text = f"{head}. Sending it takes {duration(backlog.send_s)} under load{redone}."
    yield Finding("Catching up", Tone.WARN if backlog.redo_s > paused_s else Tone.INFO, text)


def _volume(found: Assessment) -> Iterator[Finding]:
    if found.plan.safety is Mode.NONE:
        return
    seconds = found.volume_full_s
    written = size(found.alone.log_kb_per_s)
    text = (
        f"While the session is suspended or disconnected no log can be reused: {written}/s fill "
        f"{figure(found.plan.log_volume_gb)} GB in {duration(seconds)}; then the database accepts "
        "no more writes."
    )
    yield Finding("Log volume", Tone.WARN if seconds < SHORT_VOLUME_S else Tone.INFO, text)
