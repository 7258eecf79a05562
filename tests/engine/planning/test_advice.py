"""Advice on plans whose answer is known, and its figures compared with runs of the flow model."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from engine.constants import TICKS_PER_S
from engine.flow import Flow, FlowStopCondition, SafetyMode, add_mirroring_setup, run_flow, warm_start
from engine.flow.failover_times import FailoverCause
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.planning import (
    FindingSeverity,
    MirroringPlan,
    PlanFinding,
    PlanGoals,
    PlanResource,
    assess_plan,
    build_custom_workload,
    list_findings,
)
from engine.planning.advice import format_duration, format_figure, format_percent, format_size
from engine.planning.plan import build_plan_setup

FULL, OFF = SafetyMode.FULL, SafetyMode.OFF
W1, W2 = WORKLOAD1, WORKLOAD2


def find_topic(topic: str, plan: MirroringPlan, goals: PlanGoals | None = None) -> PlanFinding:
    (topic_advice,) = [item for item in list_findings(plan, goals or PlanGoals()) if item.topic == topic]
    return topic_advice


def test_a_local_network_supports_full_for_workload1() -> None:
    advice_item = find_topic("Safety level", MirroringPlan())
    assert advice_item.severity is FindingSeverity.OK
    assert advice_item.text.startswith("Both safety levels meet the goals")


def test_workload2_supports_only_off_unless_full_may_cost_more() -> None:
    plan = MirroringPlan(workload=W2)
    advice_item = find_topic("Safety level", plan)
    assert advice_item.severity is FindingSeverity.WARN
    assert advice_item.text.startswith(
        "Use OFF; FULL does not meet the goals: FULL reduces the throughput by more than 5%"
    )
    # table 3a has a throughput of 158 instead of 215
    assert re.search(r"The throughput is 2[4-7]% lower\.$", find_topic("Safety FULL", plan).text)
    assert find_topic("Safety level", plan, PlanGoals(throughput_loss_max=0.3)).severity is FindingSeverity.OK


def test_zero_data_loss_never_recommends_off() -> None:
    advice_item = find_topic("Safety level", MirroringPlan(workload=W2), PlanGoals(rpo_kb=0.0))
    assert advice_item.severity is FindingSeverity.BAD
    assert "OFF may lose more than allowed" in advice_item.text


def test_a_distant_mirror_supports_neither_and_a_sufficient_round_trip_is_named() -> None:
    plan = MirroringPlan(rtt_ms=100.0)
    advice_item = find_topic("Safety level", plan)
    assert advice_item.severity is FindingSeverity.BAD
    limit_match = re.search(r"FULL would meet the goals with a round trip of (\d+) ms\.", advice_item.text)
    assert limit_match
    fits_ms = float(limit_match[1])
    assert assess_plan(plan.with_changes(rtt_ms=0.99 * fits_ms)).is_full_suitable
    assert not assess_plan(plan.with_changes(rtt_ms=1.1 * fits_ms)).is_full_suitable


def test_a_response_limit_decides_too() -> None:
    assert (
        find_topic("Safety level", MirroringPlan(rtt_ms=50.0), PlanGoals(response_limit_s=0.5)).severity
        is FindingSeverity.OK
    )
    advice_item = find_topic("Safety level", MirroringPlan(rtt_ms=50.0), PlanGoals(response_limit_s=0.2))
    assert "FULL makes responses take longer than 200 ms" in advice_item.text
    hopeless_item = find_topic("Safety FULL", MirroringPlan(), PlanGoals(response_limit_s=0.1))
    assert hopeless_item.text.endswith("longer than the allowed 100 ms, even without mirroring.")


@pytest.mark.parametrize(
    ("plan", "resource"),
    [
        (MirroringPlan(), PlanResource.CLIENTS),
        (MirroringPlan(rtt_ms=150.0), PlanResource.ROUND_TRIP),
        (MirroringPlan(rtt_ms=150.0, safety=OFF), PlanResource.ROUND_TRIP),
        (MirroringPlan(bandwidth_mbps=2.0), PlanResource.BANDWIDTH),
        (MirroringPlan(bandwidth_mbps=2.0, safety=OFF), PlanResource.BANDWIDTH),
        (MirroringPlan(workload=W2), PlanResource.ACKNOWLEDGEMENT),
        (MirroringPlan(workload=W2, rtt_ms=20.0), PlanResource.ROUND_TRIP),
        (
            MirroringPlan(workload=W2, site=replace(MirroringPlan().site, ack_latency_ms=1.0)),
            PlanResource.LOG_DISK,
        ),
        (MirroringPlan(workload=replace(W1, cpu_ms=60.0)), PlanResource.CPU),
        (MirroringPlan(workload=W2, loss=0.05, rtt_ms=0.02, safety=OFF), PlanResource.LOSS),
    ],
)
def test_the_binding_limit_is_the_most_helpful_change(plan: MirroringPlan, resource: PlanResource) -> None:
    binding = assess_plan(plan).bottleneck
    assert binding.resource is resource
    assert (binding.gain > 0.0) is (resource is not PlanResource.CLIENTS)
    assert find_topic("Bottleneck", plan).text


def test_the_round_trip_text_distinguishes_a_full_window_from_waiting_commits() -> None:
    assert (
        "at most 64 KB of log can be sent without acknowledgement. This limits sending to 610 KB/s"
        in find_topic("Bottleneck", MirroringPlan(rtt_ms=100)).text
    )
    small_workload = build_custom_workload(10, 0.0, 2.0, 100)
    assert (
        "each of the 10 connections waits"
        in find_topic("Bottleneck", MirroringPlan(workload=small_workload, rtt_ms=50)).text
    )


def test_loss_follows_the_safety_level() -> None:
    topic = "Data loss if the principal fails"
    assert find_topic(topic, MirroringPlan()).text.startswith(
        "While SYNCHRONIZED, no committed transactions are lost"
    )
    near_item = find_topic(topic, MirroringPlan(safety=OFF))
    assert near_item.severity is FindingSeverity.OK
    assert near_item.text.startswith("About 3.")
    far_item = find_topic(topic, MirroringPlan(safety=OFF, rtt_ms=100), PlanGoals(rpo_s=10))
    assert far_item.severity is FindingSeverity.BAD
    assert far_item.text.startswith("All log that was not sent is lost: 6.4")
    assert re.search(r"exceeded after 6\d\.?\d* s", far_item.text)
    assert find_topic(topic, MirroringPlan(safety=OFF), PlanGoals(rpo_kb=1.0)).text.endswith(
        "This is more than the acceptable loss."
    )
    assert find_topic(topic, MirroringPlan(safety=SafetyMode.NONE)).severity is FindingSeverity.BAD


QUICK = replace(MirroringPlan().site, window_handling_ms=2.0)


@pytest.mark.parametrize(
    "plan", [MirroringPlan(safety=OFF), MirroringPlan(rtt_ms=30.0), MirroringPlan(workload=W2, site=QUICK)]
)
def test_a_backlog_is_cleared_in_the_predicted_time(plan: MirroringPlan) -> None:
    backlog = assess_plan(plan, PlanGoals(suspended_s=120.0)).backlog
    flow = Flow.create_empty()
    source = add_mirroring_setup(flow, build_plan_setup(plan, OFF))
    warm_start(flow, source)
    log_positions = flow.read_source_positions(source)
    flow.set_positions(
        source,
        generated_kb=log_positions.generated_kb + backlog.kb,
        flushed_kb=log_positions.flushed_kb + backlog.kb,
        committed_kb=log_positions.committed_kb + backlog.kb,
    )
    flow.watch_stream(0, FlowStopCondition.SEND_DONE)
    ticks_run, _, _ = run_flow(flow, 3600 * TICKS_PER_S)
    assert ticks_run / TICKS_PER_S == pytest.approx(backlog.send_s, rel=0.03)
    done_ticks = 0
    # the log of one or two commits remains in the steady state
    while flow.read_stream(0).redo_queue_kb > 100.0:
        done_ticks += run_flow(flow, TICKS_PER_S)[0]
    assert (ticks_run + done_ticks) / TICKS_PER_S == pytest.approx(backlog.redo_s, rel=0.03, abs=1.0)


def test_a_saturated_session_never_catches_up() -> None:
    assert assess_plan(MirroringPlan(rtt_ms=100.0)).backlog.send_s == float("inf")
    assert find_topic("Catching up", MirroringPlan(rtt_ms=100.0)).severity is FindingSeverity.BAD


def test_bulk_loads_fill_the_whitepapers_40_gb_in_slightly_over_two_hours() -> None:
    """The session is suspended, the log disk has 40 GB, and bulk loads write 5.6 MB/s."""
    loads = build_custom_workload(1, 0.0, 57.0, 100.0)
    seconds = assess_plan(MirroringPlan(workload=loads)).volume_full_s
    assert 2.0 < seconds / 3600.0 < 2.2
    assert find_topic("Log volume", MirroringPlan(workload=loads)).severity is FindingSeverity.WARN
    assert find_topic("Log volume", MirroringPlan()).severity is FindingSeverity.INFO


def test_without_a_mirror_sessions_are_not_mentioned() -> None:
    topics = {item.topic for item in list_findings(MirroringPlan(safety=SafetyMode.NONE))}
    assert not topics & {"Log volume", "Catching up", "Downtime"}
    assert topics & {"Safety FULL", "Safety OFF"}


def test_failovers_take_the_time_of_table_6_plus_a_second_to_detect() -> None:
    failovers = {failover.cause: failover for failover in assess_plan(MirroringPlan()).failovers}
    manual, dead, hung = (
        failovers[FailoverCause.MANUAL],
        failovers[FailoverCause.POWER_OFF],
        failovers[FailoverCause.TIMEOUT],
    )
    assert manual.low_s < 32.2 < manual.high_s
    assert dead.low_s < 2.6 + 0.85 < dead.high_s
    assert hung.median_s == pytest.approx(dead.median_s + 10.0, abs=1.0)
    assert [failover.cause for failover in assess_plan(MirroringPlan(safety=OFF)).failovers] == [
        FailoverCause.FORCED
    ]
    assert assess_plan(MirroringPlan(safety=SafetyMode.NONE)).failovers == ()


def test_slow_redo_is_reported() -> None:
    heavy = replace(W1, page_touches=200.0)
    advice_item = find_topic("Redo", MirroringPlan(workload=heavy))
    assert advice_item.severity is FindingSeverity.BAD
    assert [item for item in list_findings(MirroringPlan()) if item.topic == "Redo"] == []


def test_compression_is_suggested_for_a_limiting_link_and_a_capable_version() -> None:
    def list_topics(plan: MirroringPlan) -> dict[str, str]:
        return {item.topic: item.text for item in list_findings(plan)}

    assert "Compression" not in list_topics(MirroringPlan())
    assert "2008" in list_topics(MirroringPlan(bandwidth_mbps=2.0))["Compression"]
    offered = list_topics(MirroringPlan(bandwidth_mbps=4.0, version=2008))["Compression"]
    assert offered.startswith("If the log stream is compressed to 50% of its size, FULL reaches 23")
    used = list_topics(MirroringPlan(bandwidth_mbps=4.0, version=2008, compression_ratio=0.5))["Compression"]
    assert "2 times the uncompressed rate" in used


def test_an_invalid_link_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid link"):
        list_findings(MirroringPlan(bandwidth_mbps=0.0))


def test_findings_are_formatted() -> None:
    assert [format_figure(x) for x in (0.0, 0.01234, 1.0, 12.34, 1234.5)] == [
        "0",
        "0.0123",
        "1",
        "12.3",
        "1,234",
    ]
    assert format_figure(float("inf")) == "unlimited"
    assert [format_size(x) for x in (720.0, 1500.0, 3e6)] == ["720 KB", "1.46 MB", "2.86 GB"]
    assert [format_duration(x) for x in (0.012, 3.4, 300.0, 7200.0, 3e5, float("inf"))] == [
        "12 ms", "3.4 s", "5 min", "2 h", "3.47 days", "forever",
    ]  # fmt: skip
    assert [format_percent(x) for x in (0.05, 0.054, 0.256)] == ["5%", "5.4%", "26%"]
