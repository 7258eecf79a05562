"""Findings of the planner as sentences: suitable safety level, its reason, and the cost of a failure."""

import math
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from engine.flow import SafetyMode
from engine.flow.derive import compute_link_kb_per_s, compute_stream_kb_per_s, compute_window_handling_ms
from engine.flow.failover_times import FailoverCause
from engine.flow.setup import COMPRESSION_VERSION_MIN, compute_wire_ratio
from engine.localization import LocalizableMessage, build_message, format_quantity, join_messages, mark
from engine.planning.assessment import NO_GOALS, PlanAssessment, PlanGoals, PlanResource, assess_plan
from engine.planning.plan import MirroringPlan, build_plan_setup, classify_network
from engine.planning.steady_state import compute_send_limit_kb_per_s, compute_steady_states

HOUR_S: Final = 3600.0
INFINITE_S: Final = float("inf")

VOLUME_FULL_WARNING_S: Final = 4 * HOUR_S
"""Time until the log volume is full; below this, the planner warns. Assumed: less than a night's sleep."""


class FindingSeverity(StrEnum):
    """Severity of a finding; also the name of its color in the theme."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"
    INFO = "info"


class PlanFinding(Struct, frozen=True):
    """Finding of the planner: its topic, severity and text."""

    topic: LocalizableMessage
    severity: FindingSeverity
    text: LocalizableMessage


def list_findings(plan: MirroringPlan, goals: PlanGoals = NO_GOALS) -> list[PlanFinding]:
    """Return all findings about *plan*, most important first. Raises ValueError for an impossible link."""
    assessment = assess_plan(plan, goals)
    return [
        _describe_verdict(assessment),
        _describe_safety_full(assessment),
        _describe_safety_off(assessment),
        *_describe_data_loss(assessment),
        _describe_bottleneck(assessment),
        _describe_safety_limits(assessment),
        *_describe_compression(assessment),
        *_describe_redo(assessment),
        *_describe_failovers(assessment),
        *_describe_backlog(assessment),
        *_describe_volume(assessment),
    ]


# --- suitable safety level ----------------------------------------------------------------------------------


def _describe_verdict(assessment: PlanAssessment) -> PlanFinding:
    topic = build_message("Safety level")
    if assessment.is_full_suitable:
        if assessment.is_off_suitable:
            text = build_message(
                "Both safety levels meet the goals. FULL loses no committed transactions and, with a witness, "
                "fails over automatically."
            )
        else:
            text = build_message(
                "Use FULL; OFF does not meet the goals. FULL loses no committed transactions "
                "and, with a witness, fails over automatically."
            )
        return PlanFinding(topic, FindingSeverity.OK, text)
    if assessment.is_off_suitable and not _requires_no_loss(assessment.goals):
        text = build_message(
            "Use OFF; FULL does not meet the goals: {why}. With OFF, you can only force service. Log that the "
            "mirror has not hardened is then lost.",
            why=_format_missed_goal(assessment),
        )
        return PlanFinding(topic, FindingSeverity.WARN, text)
    if _is_queue_growing(assessment):
        template = mark("Neither safety level meets the goals: {why}, and OFF cannot keep up. {what}")
    else:
        template = mark(
            "Neither safety level meets the goals: {why}, and OFF may lose more than allowed. {what}"
        )
    return PlanFinding(
        topic,
        FindingSeverity.BAD,
        build_message(template, why=_format_missed_goal(assessment), what=_describe_remedy(assessment)),
    )


def _format_missed_goal(assessment: PlanAssessment) -> LocalizableMessage:
    """Return a message about the goal that safety FULL misses."""
    allowed, limit_s = assessment.goals.throughput_loss_max, assessment.goals.response_limit_s
    if assessment.full_figures.transactions_per_s < assessment.unmirrored_figures.transactions_per_s * (
        1.0 - allowed
    ):
        return build_message(
            "FULL reduces the throughput by more than {share}", share=format_percent(allowed)
        )
    return build_message(
        "FULL makes responses take longer than {figure}", figure=format_duration(limit_s or 0.0)
    )


def _is_queue_growing(assessment: PlanAssessment) -> bool:
    return assessment.off_figures.send_queue_growth_kb_per_s > 0.0


def _requires_no_loss(goals: PlanGoals) -> bool:
    return goals.rpo_kb == 0.0 or goals.rpo_s == 0.0


def _describe_remedy(assessment: PlanAssessment) -> LocalizableMessage:
    mbps, rtt_ms = assessment.limits.full_mbps, assessment.limits.full_rtt_ms
    by_mbps = mbps is not None and assessment.plan.bandwidth_mbps < mbps
    by_rtt = rtt_ms is not None and assessment.plan.rtt_ms > rtt_ms
    bandwidth, round_trip = format_figure(mbps or 0.0, 2), _format_rtt(rtt_ms or 0.0)
    if by_mbps and by_rtt:
        return build_message(
            "FULL would meet the goals with {bandwidth} Mbps or a round trip of {round_trip}.",
            bandwidth=bandwidth,
            round_trip=round_trip,
        )
    if by_mbps:
        return build_message("FULL would meet the goals with {bandwidth} Mbps.", bandwidth=bandwidth)
    if by_rtt:
        return build_message(
            "FULL would meet the goals with a round trip of {round_trip}.", round_trip=round_trip
        )
    return build_message("Neither more bandwidth nor a shorter round trip is enough for FULL.")


def _describe_safety_full(assessment: PlanAssessment) -> PlanFinding:
    unmirrored, mirrored, limit_s = (
        assessment.unmirrored_figures,
        assessment.full_figures,
        assessment.goals.response_limit_s,
    )
    text = [
        build_message(
            "{rate} transactions/s and {response} response time, compared with {rate_alone} and "
            "{response_alone} without mirroring. Each commit waits {wait}.",
            rate=format_figure(mirrored.transactions_per_s),
            response=format_duration(mirrored.response_s),
            rate_alone=format_figure(unmirrored.transactions_per_s),
            response_alone=format_duration(unmirrored.response_s),
            wait=format_duration(mirrored.commit_delay_ms / 1000.0),
        )
    ]
    lost_share = (
        1.0 - mirrored.transactions_per_s / unmirrored.transactions_per_s
        if unmirrored.transactions_per_s > 0.0
        else 0.0
    )
    if lost_share >= 0.0005:
        text.append(build_message("The throughput is {share} lower.", share=format_percent(lost_share)))
    if limit_s is not None and mirrored.response_s > limit_s:
        template = mark("Responses take longer than the allowed {limit}.")
        if unmirrored.response_s > limit_s:
            template = mark("Responses take longer than the allowed {limit}, even without mirroring.")
        text.append(build_message(template, limit=format_duration(limit_s)))
    return PlanFinding(
        build_message("Safety FULL"),
        FindingSeverity.OK if assessment.is_full_suitable else FindingSeverity.BAD,
        join_messages(" ", text),
    )


def _describe_safety_off(assessment: PlanAssessment) -> PlanFinding:
    off_state, growth = assessment.off_figures, assessment.off_figures.send_queue_growth_kb_per_s
    topic, rate, response = (
        build_message("Safety OFF"),
        format_figure(off_state.transactions_per_s),
        format_duration(off_state.response_s),
    )
    if not _is_queue_growing(assessment):
        text = build_message(
            "{rate} transactions/s and {response} response time. Commits do not wait. The send queue stays "
            "short: about {size} of log is in transit.",
            rate=rate,
            response=response,
            size=format_size(off_state.unhardened_kb),
        )
        return PlanFinding(
            topic, FindingSeverity.OK if assessment.is_off_suitable else FindingSeverity.WARN, text
        )
    text = build_message(
        "{rate} transactions/s and {response} response time. Commits do not wait, but the send "
        "queue grows without limit by {size}/s ({in_an_hour} per hour).",
        rate=rate,
        response=response,
        size=format_size(growth),
        in_an_hour=format_size(growth * HOUR_S),
    )
    return PlanFinding(topic, FindingSeverity.BAD, text)


# --- cost of a failure --------------------------------------------------------------------------------------


def _describe_data_loss(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    topic = build_message("Data loss if the principal fails")
    if assessment.plan.safety is SafetyMode.NONE:
        yield PlanFinding(
            topic,
            FindingSeverity.BAD,
            build_message("All transactions after the last log backup on another server are lost."),
        )
    elif assessment.plan.safety is SafetyMode.FULL:
        yield PlanFinding(
            topic,
            FindingSeverity.OK,
            build_message(
                "While SYNCHRONIZED, no committed transactions are lost: both servers harden them first."
            ),
        )
    elif _is_queue_growing(assessment):
        yield PlanFinding(topic, FindingSeverity.BAD, _describe_growing_data_loss(assessment))
    else:
        kb = assessment.off_figures.unhardened_kb
        transactions = format_figure(kb / assessment.plan.workload.log_kb_per_transaction, 2)
        has_small_loss = assessment.is_loss_acceptable(kb)
        text = build_message(
            "About {size} of log is lost: {time} of work, or {n} transactions.",
            size=format_size(kb),
            time=format_duration(assessment.convert_log_to_seconds(kb)),
            n=transactions,
        )
        if not has_small_loss:
            text = join_messages(" ", (text, build_message("This is more than the acceptable loss.")))
        yield PlanFinding(topic, FindingSeverity.OK if has_small_loss else FindingSeverity.BAD, text)


def _describe_growing_data_loss(assessment: PlanAssessment) -> LocalizableMessage:
    growth = assessment.off_figures.send_queue_growth_kb_per_s
    text = build_message(
        "All log that was not sent is lost: {in_a_minute} after a minute, {in_an_hour} after an hour (the work "
        "of {time}).",
        in_a_minute=format_size(growth * 60.0),
        in_an_hour=format_size(growth * HOUR_S),
        time=format_duration(assessment.convert_log_to_seconds(growth * HOUR_S)),
    )
    if _requires_no_loss(assessment.goals):
        return join_messages(" ", (text, build_message("No loss is acceptable.")))
    if assessment.rpo_reached_s is not None:
        exceeded = build_message(
            "The acceptable loss is exceeded after {time}.", time=format_duration(assessment.rpo_reached_s)
        )
        return join_messages(" ", (text, exceeded))
    return text


CAUSE_TEXTS: Final = {
    FailoverCause.POWER_OFF: mark(
        "{least} to {most} s if the principal's server fails (automatic failover, with a witness)"
    ),
    FailoverCause.TIMEOUT: mark(
        "{least} to {most} s if the principal hangs (after the partner timeout of 10 s)"
    ),
    FailoverCause.MANUAL: mark("{least} to {most} s for a manual failover"),
    FailoverCause.FORCED: mark("{least} to {most} s for forced service, counted from the command"),
}


def _describe_failovers(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    parts = [
        build_message(
            CAUSE_TEXTS[failover.cause],
            least=format_figure(failover.low_s, 2),
            most=format_figure(failover.high_s, 2),
        )
        for failover in assessment.failovers
    ]
    if parts:
        yield PlanFinding(
            build_message("Downtime"),
            FindingSeverity.INFO,
            build_message("{whys}.", whys=join_messages("; ", parts)),
        )


# --- limiting resource --------------------------------------------------------------------------------------


def _describe_bottleneck(assessment: PlanAssessment) -> PlanFinding:
    resource, gain = assessment.bottleneck.resource, assessment.bottleneck.gain
    text = RESOURCE_DESCRIPTIONS[resource](assessment)
    if resource is not PlanResource.CLIENTS:
        template = mark("Twice the capacity of this bottleneck would allow {share} more transactions.")
        if assessment.plan.safety is SafetyMode.OFF and _is_queue_growing(assessment):
            template = mark("With twice the capacity of this bottleneck, {share} more log could be sent.")
        text = join_messages(" ", (text, build_message(template, share=format_percent(gain))))
    return PlanFinding(build_message("Bottleneck"), FindingSeverity.INFO, text)


def _describe_clients(assessment: PlanAssessment) -> LocalizableMessage:
    if assessment.plan.workload.think_s > 0.0:
        return build_message("No bottleneck: the workload is the limit.")
    return build_message(
        "No bottleneck in link, disks or CPU: delays within the transactions limit the rate."
    )


def _describe_round_trip(assessment: PlanAssessment) -> LocalizableMessage:
    plan, setup = assessment.plan, build_plan_setup(assessment.plan)
    limit, wanted_kb_per_s = compute_send_limit_kb_per_s(setup), assessment.unmirrored_figures.log_kb_per_s
    if setup.stream is not None and limit < 1.1 * wanted_kb_per_s:
        held_ms = plan.rtt_ms + compute_window_handling_ms(plan.site, setup.stream)
        window_kb = compute_stream_kb_per_s(plan.site, setup.stream) * held_ms / 1000.0
        reason = build_message(
            "at most {size} of log can be sent without acknowledgement. This limits sending to {rate}/s; the "
            "workload writes {other_size}/s.",
            size=format_size(window_kb),
            rate=format_size(limit),
            other_size=format_size(wanted_kb_per_s),
        )
    else:
        connections = format_figure(plan.workload.connections * plan.scale)
        reason = build_message(
            "each of the {n} connections waits for a round trip at every commit.", n=connections
        )
    return build_message(
        "The round trip of {figure}: {why}", figure=format_duration(plan.rtt_ms / 1000.0), why=reason
    )


def _describe_bandwidth(assessment: PlanAssessment) -> LocalizableMessage:
    plan = assessment.plan
    carried_kb_per_s = compute_link_kb_per_s(plan.site, plan.bandwidth_mbps) / compute_wire_ratio(
        plan.compression_ratio, plan.version
    )
    return build_message(
        "The bandwidth: {n} Mbps can transfer {size}/s of log, and the workload writes {other_size}/s.",
        n=format_figure(plan.bandwidth_mbps),
        size=format_size(carried_kb_per_s),
        other_size=format_size(assessment.unmirrored_figures.log_kb_per_s),
    )


def _describe_packet_loss(assessment: PlanAssessment) -> LocalizableMessage:
    return build_message(
        "Packet loss: at {share}, fewer packets are in transit, and the session waits for retransmissions.",
        share=format_figure(100.0 * assessment.plan.loss, 2, "%"),
    )


def _describe_log_disk(assessment: PlanAssessment) -> LocalizableMessage:
    site = assessment.plan.site
    return build_message(
        "The log disks: one write of up to {size} takes {figure} on each server.",
        size=format_size(site.log_block_kb),
        figure=format_duration(site.log_write_ms / 1000.0),
    )


def _describe_acknowledgement(assessment: PlanAssessment) -> LocalizableMessage:
    passed = format_duration(assessment.plan.site.ack_latency_ms / 1000.0)
    return build_message(
        "The mirror's acknowledgement: with this hardware, it takes {figure} from the mirror's disk to the "
        "waiting commit, plus the network time.",
        figure=passed,
    )


def _describe_cpu(assessment: PlanAssessment) -> LocalizableMessage:
    share = format_figure(assessment.chosen_figures.principal_cpu_percent, 2, "%")
    return build_message("The CPU: {share} of the principal's CPU is in use.", share=share)


RESOURCE_DESCRIPTIONS: Final[dict[PlanResource, Callable[[PlanAssessment], LocalizableMessage]]] = {
    PlanResource.CLIENTS: _describe_clients,
    PlanResource.ROUND_TRIP: _describe_round_trip,
    PlanResource.BANDWIDTH: _describe_bandwidth,
    PlanResource.LOSS: _describe_packet_loss,
    PlanResource.LOG_DISK: _describe_log_disk,
    PlanResource.ACKNOWLEDGEMENT: _describe_acknowledgement,
    PlanResource.CPU: _describe_cpu,
}


def _describe_safety_limits(assessment: PlanAssessment) -> PlanFinding:
    plan, limits = assessment.plan, assessment.limits
    text = build_message(
        "{figure} is typical for a {network}. If you change only one value, these limits apply. FULL meets the "
        "goals: {what}. OFF can send all log: {why}.",
        figure=_format_rtt(plan.rtt_ms),
        network=classify_network(plan.rtt_ms),
        what=_format_range(limits.full_rtt_ms, limits.full_mbps),
        why=_format_range(limits.off_rtt_ms, limits.off_mbps),
    )
    return PlanFinding(build_message("Network limits of FULL and OFF"), FindingSeverity.INFO, text)


def _format_rtt(ms: float) -> LocalizableMessage:
    return format_duration(float(f"{ms:.2g}") / 1000.0)


def _format_range(rtt_ms: float | None, mbps: float | None) -> LocalizableMessage:
    if rtt_ms is None and mbps is None:
        return build_message("never; neither a shorter round trip nor more bandwidth is enough")
    if rtt_ms is None:
        return build_message(
            "only at {figure} Mbps or more; a shorter round trip is not enough",
            figure=format_figure(mbps or 0.0, 2),
        )
    if mbps is None:
        return build_message(
            "up to a round trip of {figure}; more bandwidth is not enough", figure=_format_rtt(rtt_ms)
        )
    return build_message(
        "up to a round trip of {figure}, or at {other_figure} Mbps or more",
        figure=_format_rtt(rtt_ms),
        other_figure=format_figure(mbps, 2),
    )


def _describe_compression(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    """Describe compression if it is on, or if the link limits the plan and compression could help."""
    plan, setup = assessment.plan, build_plan_setup(assessment.plan, SafetyMode.OFF)
    ratio = plan.workload.compression_ratio
    hurts = not (assessment.is_full_suitable and assessment.is_off_suitable)
    if compute_wire_ratio(plan.compression_ratio, plan.version) < 1.0:
        text = build_message(
            "The session can send {size}/s of log, {n} times the uncompressed rate, but uses more CPU on both "
            "servers.",
            size=format_size(compute_send_limit_kb_per_s(setup)),
            n=format_figure(1.0 / plan.compression_ratio, 2),
        )
        yield PlanFinding(build_message("Compression"), FindingSeverity.INFO, text)
    elif hurts and ratio < 1.0 and plan.version < COMPRESSION_VERSION_MIN:
        text = build_message("SQL Server 2008 and later compress the log stream.")
        yield PlanFinding(build_message("Compression"), FindingSeverity.INFO, text)
    elif hurts and compute_wire_ratio(ratio, plan.version) < 1.0:
        improved_setups = compute_steady_states(
            (build_plan_setup(plan.with_changes(compression_ratio=ratio), SafetyMode.FULL),)
        )[0]
        text = build_message(
            "If the log stream is compressed to {share} of its size, FULL reaches {n} transactions/s and "
            "{figure} response time.",
            share=format_percent(ratio),
            n=format_figure(improved_setups.transactions_per_s),
            figure=format_duration(improved_setups.response_s),
        )
        yield PlanFinding(build_message("Compression"), FindingSeverity.INFO, text)


# --- durations ----------------------------------------------------------------------------------------------


def _describe_redo(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    growth = assessment.chosen_figures.redo_queue_growth_kb_per_s
    if growth > 0.0:
        text = build_message(
            "The mirror redoes only {size}/s of the received log. Its redo queue grows by {other_size}/s, and "
            "a failover must wait until all of it is redone.",
            size=format_size(assessment.chosen_figures.redo_kb_per_s),
            other_size=format_size(growth),
        )
        yield PlanFinding(build_message("Redo"), FindingSeverity.BAD, text)


def _describe_backlog(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    backlog, paused_s = assessment.backlog, assessment.goals.suspended_s
    if assessment.plan.safety is SafetyMode.NONE or backlog.kb <= 0.0:
        return
    tone = FindingSeverity.WARN if backlog.redo_s > paused_s else FindingSeverity.INFO
    if backlog.send_s == INFINITE_S:
        tone = FindingSeverity.BAD
        template = mark(
            "Suspending the session for {figure} leaves {size} of unsent log. Under this load, the mirror "
            "never catches up."
        )
    elif backlog.redo_s == INFINITE_S:
        template = mark(
            "Suspending the session for {figure} leaves {size} of unsent log. Sending it takes {other_figure} "
            "under load, but redo never completes."
        )
    elif backlog.redo_s > 1.05 * backlog.send_s:
        template = mark(
            "Suspending the session for {figure} leaves {size} of unsent log. Sending it takes {other_figure} "
            "under load, and redo takes {wait} in total."
        )
    else:
        template = mark(
            "Suspending the session for {figure} leaves {size} of unsent log. Sending it takes {other_figure} "
            "under load. The mirror redoes the log as it arrives."
        )
    text = build_message(
        template,
        figure=format_duration(paused_s),
        size=format_size(backlog.kb),
        other_figure=format_duration(backlog.send_s),
        wait=format_duration(backlog.redo_s),
    )
    yield PlanFinding(build_message("Catching up"), tone, text)


def _describe_volume(assessment: PlanAssessment) -> Iterator[PlanFinding]:
    if assessment.plan.safety is SafetyMode.NONE:
        return
    seconds = assessment.volume_full_s
    text = build_message(
        "While the session is suspended or disconnected, log cannot be truncated: {rate}/s fill "
        "{gb} GB in {figure}. Then the database stops accepting writes.",
        rate=format_size(assessment.unmirrored_figures.log_kb_per_s),
        gb=format_figure(assessment.plan.log_volume_gb),
        figure=format_duration(seconds),
    )
    yield PlanFinding(
        build_message("Log volume"),
        FindingSeverity.WARN if seconds < VOLUME_FULL_WARNING_S else FindingSeverity.INFO,
        text,
    )


# --- sizes, times and rates in sentences --------------------------------------------------------------------


def format_figure(value: float, digits: int = 3, unit: str = "") -> LocalizableMessage:
    """Format *value* with about *digits* digits and without an exponent: 0.0123, 1.23, 123, 1,234."""
    if not math.isfinite(value):
        return build_message("unlimited {unit}", unit=unit) if unit else build_message("unlimited")
    if value == 0.0:
        return format_quantity(0, "d", unit)
    decimals = max(0, digits - 1 - int(f"{abs(value):e}".partition("e")[2]))
    _, _, fraction = f"{value:.{min(decimals, 6)}f}".partition(".")
    return format_quantity(value, f",.{len(fraction.rstrip('0'))}f", unit)


def format_size(kb: float) -> LocalizableMessage:
    """Format *kb* in KB, MB or GB. Each unit is 1,024 times the smaller one."""
    for unit in ("KB", "MB"):
        if abs(kb) < 999.5:
            return format_figure(kb, unit=unit)
        kb /= 1024.0
    return format_figure(kb, unit="GB")


def format_duration(seconds: float) -> LocalizableMessage:
    """Format a duration: 12 ms, 3.4 s, 5 min, 2.1 h or 3.2 days."""
    if not math.isfinite(seconds):
        return build_message("forever")
    if seconds < 0.9995:
        return format_figure(1000.0 * seconds, 2, "ms")
    for length, unit, value_limit in ((1.0, "s", 120.0), (60.0, "min", 120.0), (3600.0, "h", 48.0)):
        if seconds < length * value_limit:
            return format_figure(seconds / length, 2 if seconds < 10.0 * length else 3, unit)
    return build_message("{figure} days", figure=format_figure(seconds / 86_400.0))


def format_percent(share: float) -> LocalizableMessage:
    """Format a share as a percentage: 0.256 as 26%, 0.054 as 5.4%."""
    value = 100.0 * share
    shows_whole_number = abs(value) >= 9.95 or f"{value:.1f}".endswith(".0")
    return (
        build_message("{value:.0f}%", value=value)
        if shows_whole_number
        else build_message("{value:.1f}%", value=value)
    )
