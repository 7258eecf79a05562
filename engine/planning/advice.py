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
from engine.words import Sentence, joined, mark, say

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

    topic: Sentence
    tone: Tone
    text: Sentence


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
    topic = say("Safety level")
    if found.full_fits:
        if found.off_fits:
            text = say(
                "Both levels fit; FULL loses no committed work and, with a witness, fails over automatically."
            )
        else:
            text = say(
                "FULL fits, OFF does not: FULL loses no committed work and, with a witness, "
                "fails over automatically."
            )
        return Finding(topic, Tone.OK, text)
    if found.off_fits and not _wants_no_loss(found.goals):
        text = say(
            "OFF fits, FULL does not: {why}. With OFF service can only be forced, and log that the "
            "mirror has not hardened by then is lost.",
            why=_too_much(found),
        )
        return Finding(topic, Tone.WARN, text)
    if _off_grows(found):
        template = mark("Neither level fits: {why}, and OFF falls behind. {what}")
    else:
        template = mark("Neither level fits: {why}, and OFF may lose more than allowed. {what}")
    return Finding(topic, Tone.BAD, say(template, why=_too_much(found), what=_remedy(found)))


def _too_much(found: Assessment) -> Sentence:
    """Which goal FULL misses."""
    allowed, limit_s = found.goals.throughput_loss_max, found.goals.response_limit_s
    if found.full.transactions_per_s < found.alone.transactions_per_s * (1.0 - allowed):
        return say("FULL costs more than {share} of the throughput", share=percent(allowed))
    return say("responses in FULL take longer than {figure}", figure=duration(limit_s or 0.0))


def _off_grows(found: Assessment) -> bool:
    return found.off.send_queue_growth_kb_per_s > 0.0


def _wants_no_loss(goals: Goals) -> bool:
    return goals.rpo_kb == 0.0 or goals.rpo_s == 0.0


def _remedy(found: Assessment) -> Sentence:
    mbps, rtt_ms = found.limits.full_mbps, found.limits.full_rtt_ms
    by_mbps = mbps is not None and found.plan.bandwidth_mbps < mbps
    by_rtt = rtt_ms is not None and found.plan.rtt_ms > rtt_ms
    bandwidth, round_trip = figure(mbps or 0.0, 2), _rtt(rtt_ms or 0.0)
    if by_mbps and by_rtt:
        return say(
            "FULL would fit with {bandwidth} Mbps or a round trip of {round_trip}.",
            bandwidth=bandwidth,
            round_trip=round_trip,
        )
    if by_mbps:
        return say("FULL would fit with {bandwidth} Mbps.", bandwidth=bandwidth)
    if by_rtt:
        return say("FULL would fit with a round trip of {round_trip}.", round_trip=round_trip)
    return say("Neither bandwidth nor round trip alone would make FULL fit.")


def _full(found: Assessment) -> Finding:
    alone, full, limit_s = found.alone, found.full, found.goals.response_limit_s
    text = [
        say(
            "{rate} transactions/s and {response} response, against {rate_alone} and {response_alone} "
            "without mirroring; a commit waits {wait}.",
            rate=figure(full.transactions_per_s),
            response=duration(full.response_s),
            rate_alone=figure(alone.transactions_per_s),
            response_alone=duration(alone.response_s),
            wait=duration(full.commit_delay_ms / 1000.0),
        )
    ]
    lost = 1.0 - full.transactions_per_s / alone.transactions_per_s if alone.transactions_per_s > 0.0 else 0.0
    if lost >= 0.0005:
        text.append(say("That is {share} less work.", share=percent(lost)))
    if limit_s is not None and full.response_s > limit_s:
        template = mark("Responses take longer than the {limit} allowed.")
        if alone.response_s > limit_s:
            template = mark("Responses take longer than the {limit} allowed, as they do without mirroring.")
        text.append(say(template, limit=duration(limit_s)))
    return Finding(say("Safety FULL"), Tone.OK if found.full_fits else Tone.BAD, joined(" ", text))


def _off(found: Assessment) -> Finding:
    off, growth = found.off, found.off.send_queue_growth_kb_per_s
    topic, rate, response = say("Safety OFF"), figure(off.transactions_per_s), duration(off.response_s)
    if not _off_grows(found):
        text = say(
            "{rate} transactions/s and {response} response; no commit waits and the send queue stays "
            "short: about {size} in transit.",
            rate=rate,
            response=response,
            size=size(off.unhardened_kb),
        )
        return Finding(topic, Tone.OK if found.off_fits else Tone.WARN, text)
    text = say(
        "{rate} transactions/s and {response} response; no commit waits, but the send queue grows by "
        "{size}/s, {in_an_hour} an hour, without end.",
        rate=rate,
        response=response,
        size=size(growth),
        in_an_hour=size(growth * HOUR_S),
    )
    return Finding(topic, Tone.BAD, text)


# --- what a failure costs -----------------------------------------------------------------------------------


def _loss(found: Assessment) -> Iterator[Finding]:
    topic = say("Lost if the principal fails")
    if found.plan.safety is Mode.NONE:
        yield Finding(topic, Tone.BAD, say("All work since the last log backup that is stored elsewhere."))
    elif found.plan.safety is Mode.FULL:
        yield Finding(
            topic, Tone.OK, say("No committed work while SYNCHRONIZED: it is hardened on both servers first.")
        )
    elif _off_grows(found):
        yield Finding(topic, Tone.BAD, _growing_loss(found))
    else:
        kb = found.off.unhardened_kb
        transactions = figure(kb / found.plan.workload.log_kb_per_transaction, 2)
        fits = found.loss_fits(kb)
        text = say(
            "About {size} of log: {time} of work or {n} transactions.",
            size=size(kb),
            time=duration(found.seconds_of_log(kb)),
            n=transactions,
        )
        if not fits:
            text = joined(" ", (text, say("More than the acceptable loss.")))
        yield Finding(topic, Tone.OK if fits else Tone.BAD, text)


def _growing_loss(found: Assessment) -> Sentence:
    growth = found.off.send_queue_growth_kb_per_s
    text = say(
        "The whole send queue: {in_a_minute} after a minute, {in_an_hour} after an hour ({time} of work).",
        in_a_minute=size(growth * 60.0),
        in_an_hour=size(growth * HOUR_S),
        time=duration(found.seconds_of_log(growth * HOUR_S)),
    )
    if _wants_no_loss(found.goals):
        return joined(" ", (text, say("No loss is acceptable.")))
    if found.rpo_reached_s is not None:
        exceeded = say("The acceptable loss is exceeded after {time}.", time=duration(found.rpo_reached_s))
        return joined(" ", (text, exceeded))
    return text


CAUSES_IN_WORDS: Final = {
    Cause.POWER_OFF: mark(
        "{least} to {most} s when the principal's server fails (automatic, with a witness)"
    ),
    Cause.TIMEOUT: mark("{least} to {most} s when it hangs, after the partner timeout of 10 s"),
    Cause.MANUAL: mark("{least} to {most} s for a manual failover"),
    Cause.FORCED: mark("{least} to {most} s for forced service, counted from the command"),
}


def _failovers(found: Assessment) -> Iterator[Finding]:
    parts = [
        say(CAUSES_IN_WORDS[each.cause], least=figure(each.low_s, 2), most=figure(each.high_s, 2))
        for each in found.failovers
    ]
    if parts:
        yield Finding(say("Downtime"), Tone.INFO, say("{whys}.", whys=joined("; ", parts)))


# --- why ----------------------------------------------------------------------------------------------------


def _binding(found: Assessment) -> Finding:
    resource, gain = found.binding.resource, found.binding.gain
    text = BINDING_IN_WORDS[resource](found)
    if resource is not Resource.CLIENTS:
        template = mark("Twice as good, it would give {share} more transactions.")
        if found.plan.safety is Mode.OFF and _off_grows(found):
            template = mark("Twice as good, it would give {share} more sent log.")
        text = joined(" ", (text, say(template, share=percent(gain))))
    return Finding(say("Bottleneck"), Tone.INFO, text)


def _clients(found: Assessment) -> Sentence:
    if found.plan.workload.think_s > 0.0:
        return say("Neither link nor disks: the clients request no more.")
    return say("No single part of link, disks or CPU: the transactions' own delays set the pace.")


def _round_trip(found: Assessment) -> Sentence:
    plan, setup = found.plan, pair_of(found.plan)
    limit, wanted = send_limit_kb_per_s(setup), found.alone.log_kb_per_s
    if setup.stream is not None and limit < 1.1 * wanted:
        held_ms = plan.rtt_ms + handling_ms(plan.site, setup.stream)
        window_kb = stream_kb_per_s(plan.site, setup.stream) * held_ms / 1000.0
        why = say(
            "with {size} unacknowledged at a time the session sends {rate}/s at most, and the "
            "workload writes {other_size}/s.",
            size=size(window_kb),
            rate=size(limit),
            other_size=size(wanted),
        )
    else:
        connections = figure(plan.workload.connections * plan.scale)
        why = say("each of {n} connections waits for it at every commit.", n=connections)
    return say("The round trip of {figure}: {why}", figure=duration(plan.rtt_ms / 1000.0), why=why)


def _bandwidth(found: Assessment) -> Sentence:
    plan = found.plan
    carried = link_kb_per_s(plan.site, plan.bandwidth_mbps) / wire_ratio(plan.compression_ratio, plan.version)
    return say(
        "The bandwidth: {n} Mbps carry {size}/s of log, and the workload writes {other_size}/s.",
        n=figure(plan.bandwidth_mbps),
        size=size(carried),
        other_size=size(found.alone.log_kb_per_s),
    )


def _lossy(found: Assessment) -> Sentence:
    return say(
        "Packet loss: with {share} lost, the session keeps fewer packets in transit and waits for retransmissions.",
        share=figure(100.0 * found.plan.loss, 2, "%"),
    )


def _log_disk(found: Assessment) -> Sentence:
    site = found.plan.site
    return say(
        "The log disks: one write of up to {size} takes {figure}, on each side.",
        size=size(site.log_block_kb),
        figure=duration(site.log_write_ms / 1000.0),
    )


def _acknowledgement(found: Assessment) -> Sentence:
    passed = duration(found.plan.site.ack_latency_ms / 1000.0)
    return say(
        "The mirror's acknowledgement: at this site it takes {figure} from the mirror's disk to "
        "the waiting commit, besides the network.",
        figure=passed,
    )


def _cpu(found: Assessment) -> Sentence:
    share = figure(found.chosen.principal_cpu_percent, 2, "%")
    return say("The CPU: {share} of the principal's are in use.", share=share)


BINDING_IN_WORDS: Final[dict[Resource, Callable[[Assessment], Sentence]]] = {
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
    text = say(
        "{figure} is usual for a {network}. One figure changed at a time, FULL stays within the goals "
        "{what}; OFF sends all that is written {why}.",
        figure=_rtt(plan.rtt_ms),
        network=network_of(plan.rtt_ms),
        what=_range(limits.full_rtt_ms, limits.full_mbps),
        why=_range(limits.off_rtt_ms, limits.off_mbps),
    )
    return Finding(say("Range of each level"), Tone.INFO, text)


def _rtt(ms: float) -> Sentence:
    return duration(float(f"{ms:.2g}") / 1000.0)


def _range(rtt_ms: float | None, mbps: float | None) -> Sentence:
    if rtt_ms is None and mbps is None:
        return say("nowhere")
    if rtt_ms is None:
        return say("at no round trip and down to {figure} Mbps", figure=figure(mbps or 0.0, 2))
    if mbps is None:
        return say("up to {figure} and at no bandwidth", figure=_rtt(rtt_ms))
    return say(
        "up to {figure} and down to {other_figure} Mbps", figure=_rtt(rtt_ms), other_figure=figure(mbps, 2)
    )


def _compression(found: Assessment) -> Iterator[Finding]:
    """Said where compression is on, and where the link hurts and it could help."""
    plan, setup = found.plan, pair_of(found.plan, Mode.OFF)
    ratio = plan.workload.compression_ratio
    hurts = not (found.full_fits and found.off_fits)
    if wire_ratio(plan.compression_ratio, plan.version) < 1.0:
        text = say(
            "The session can send {size}/s of log, {n} times as much as raw, at a price in CPU on both sides.",
            size=size(send_limit_kb_per_s(setup)),
            n=figure(1.0 / plan.compression_ratio, 2),
        )
        yield Finding(say("Compression"), Tone.INFO, text)
    elif hurts and ratio < 1.0 and plan.version < COMPRESSION_VERSION_MIN:
        text = say("Only versions from 2008 on compress the log stream.")
        yield Finding(say("Compression"), Tone.INFO, text)
    elif hurts and wire_ratio(ratio, plan.version) < 1.0:
        better = steady((pair_of(plan.at(compression_ratio=ratio), Mode.FULL),))[0]
        text = say(
            "With a stream that shrinks to {share}, FULL would give {n} transactions/s and {figure} response.",
            share=percent(ratio),
            n=figure(better.transactions_per_s),
            figure=duration(better.response_s),
        )
        yield Finding(say("Compression"), Tone.INFO, text)


# --- how long things take -----------------------------------------------------------------------------------


def _redo(found: Assessment) -> Iterator[Finding]:
    growth = found.chosen.redo_queue_growth_kb_per_s
    if growth > 0.0:
        text = say(
            "The mirror redoes {size}/s and receives more: its redo queue grows by {other_size}/s, "
            "and a failover has to wait for all of it.",
            size=size(found.chosen.redo_kb_per_s),
            other_size=size(growth),
        )
        yield Finding(say("Redo"), Tone.BAD, text)


def _backlog(found: Assessment) -> Iterator[Finding]:
    backlog, paused_s = found.backlog, found.goals.suspended_s
    if found.plan.safety is Mode.NONE or backlog.kb <= 0.0:
        return
    tone = Tone.WARN if backlog.redo_s > paused_s else Tone.INFO
    if backlog.send_s == NEVER:
        tone = Tone.BAD
        template = mark("A pause of {figure} leaves {size}; under this load the mirror never catches up.")
    elif backlog.redo_s == NEVER:
        template = mark(
            "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load; its redo "
            "never completes."
        )
    elif backlog.redo_s > 1.05 * backlog.send_s:
        template = mark(
            "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load; the "
            "mirror has redone it after {wait}."
        )
    else:
        template = mark(
            "A pause of {figure} leaves {size}. Sending it takes {other_figure} under load, and the "
            "mirror redoes it as it arrives."
        )
    text = say(
        template,
        figure=duration(paused_s),
        size=size(backlog.kb),
        other_figure=duration(backlog.send_s),
        wait=duration(backlog.redo_s),
    )
    yield Finding(say("Catching up"), tone, text)


def _volume(found: Assessment) -> Iterator[Finding]:
    if found.plan.safety is Mode.NONE:
        return
    seconds = found.volume_full_s
    text = say(
        "While the session is suspended or disconnected no log can be reused: {rate}/s fill {gb} "
        "GB in {figure}; then the database accepts no more writes.",
        rate=size(found.alone.log_kb_per_s),
        gb=figure(found.plan.log_volume_gb),
        figure=duration(seconds),
    )
    yield Finding(say("Log volume"), Tone.WARN if seconds < SHORT_VOLUME_S else Tone.INFO, text)
