"""Source with several streams: commits wait only for awaited streams."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.flow import Flow, FlowStopCondition, SafetyMode, StreamSetup, Workload, run_flow, warm_start
from engine.flow.sites import NEC, WORKLOAD1, WORKLOAD2
from engine.published.measurements import measure_means, run_seconds
from tests.engine.flow.pairs import build_flow, build_pair
from tests.simpy_models import StreamLink, build_simpy_model

NEAR_LINK = StreamLink(rtt_ms=0.2)
MIDDLE_LINK = StreamLink(rtt_ms=10.0)
FAR_LINK = StreamLink(rtt_ms=30.0, bandwidth_mbps=100.0, is_synchronous=False)


def build_source(links: tuple[StreamLink, ...], workload: Workload = WORKLOAD1) -> Flow:
    """Return a source on instance 0 with one stream for each of *links*, each to its own instance."""
    flow = Flow.create_empty()
    source = flow.add_source(build_pair(workload, SafetyMode.NONE).source)
    for number, link in enumerate(links):
        flow.add_stream(
            source,
            StreamSetup(
                site=NEC,
                target_host=1 + number,
                connected=True,
                carrying=True,
                awaited=link.is_synchronous,
                rtt_ms=link.rtt_ms,
                bandwidth_mbps=link.bandwidth_mbps,
            ),
        )
    warm_start(flow, source, 0.0)
    return flow


@pytest.mark.parametrize(
    "workload",
    [WORKLOAD1, replace(WORKLOAD1, name="quick", connections=60.0, think_s=0.05)],
)
def test_three_streams_agree_with_the_event_by_event_model(workload: Workload) -> None:
    links = (NEAR_LINK, MIDDLE_LINK, FAR_LINK)
    play = build_simpy_model(1, workload=workload, links=links)
    play(20.0)
    expected = play(60.0)
    flow = build_source(links, workload)
    hardened = [flow.read_stream_positions(stream).hardened_kb for stream in range(3)]
    rates = measure_means(flow, 60.0)
    assert rates.transactions_per_s == pytest.approx(expected.transactions_per_s, rel=0.03)
    assert rates.response_s == pytest.approx(expected.response_s, rel=0.03)
    for stream, hardened_before in enumerate(hardened):
        rate = (flow.read_stream_positions(stream).hardened_kb - hardened_before) / 60.0
        assert rate == pytest.approx(expected.hardened_kb_per_s[stream], rel=0.03)


def test_a_single_stream_equals_the_pair() -> None:
    single_source, three = (
        build_flow(WORKLOAD1),
        build_source((NEAR_LINK, replace(NEAR_LINK, is_synchronous=False), FAR_LINK)),
    )
    assert measure_means(three).transactions_per_s == pytest.approx(
        measure_means(single_source).transactions_per_s, rel=1e-4
    )


def test_commits_wait_only_for_the_slowest_awaited_stream() -> None:
    near_rates, both_rates, neither = (
        measure_means(build_source(links, WORKLOAD2))
        for links in (
            (NEAR_LINK, FAR_LINK),
            (NEAR_LINK, MIDDLE_LINK, FAR_LINK),
            (replace(NEAR_LINK, is_synchronous=False), FAR_LINK),
        )
    )
    assert neither.response_s < near_rates.response_s < both_rates.response_s
    single_rates = measure_means(build_source((MIDDLE_LINK,), WORKLOAD2))
    assert both_rates.transactions_per_s == pytest.approx(single_rates.transactions_per_s, rel=0.02)


def test_a_stalled_awaited_stream_blocks_commits_until_the_timeout() -> None:
    flow = build_source((NEAR_LINK, MIDDLE_LINK, FAR_LINK))
    stopped_setup = replace(flow.get_stream_setup(1), carrying=False)
    flow.update_setups(streams={1: stopped_setup})
    run_seconds(flow, 2)
    committed, hardened = (
        flow.read_source_positions(0).committed_kb,
        flow.read_stream_positions(0).hardened_kb,
    )
    run_seconds(flow, 5)
    assert flow.read_source_positions(0).committed_kb == committed
    assert flow.read_stream_positions(0).hardened_kb == pytest.approx(hardened, abs=500.0), (
        "the 2005 limit of log under way"
    )
    flow.update_setups(streams={1: replace(stopped_setup, connected=False)})
    run_seconds(flow, 20)
    assert flow.read_source(0).transactions_per_s == pytest.approx(238.6, rel=0.02)
    assert flow.read_stream(1).send_queue_kb > 10_000
    assert flow.read_stream(0).send_queue_kb < 500


def test_each_stream_stops_the_run_and_is_removed_independently() -> None:
    flow = build_source((NEAR_LINK, MIDDLE_LINK, FAR_LINK))
    flow.update_setups(streams={2: replace(flow.get_stream_setup(2), sending=False)})
    run_seconds(flow, 20)
    flow.update_setups(streams={2: replace(flow.get_stream_setup(2), sending=True)})
    flow.watch_stream(2, FlowStopCondition.SEND_DONE)
    ran, _, stream_crossings = run_flow(flow, 10_000)
    assert stream_crossings == [(2, FlowStopCondition.SEND_DONE)]
    assert ran < 10_000
    flow.remove_stream(1)
    assert flow.list_source_streams(0) == (0, 2)
    assert len(flow.links) == 2, "what it took of links and threads is free again"
    run_seconds(flow, 5)
    assert flow.read_source(0).transactions_per_s == pytest.approx(238.6, rel=0.02)
    with pytest.raises(KeyError):
        flow.read_stream_positions(1)
    assert flow.add_stream(0, flow.get_stream_setup(0)) == 1


def test_links_of_one_source_to_one_target_site_are_separate() -> None:
    thin = StreamLink(bandwidth_mbps=2.0, is_synchronous=False)
    flow = build_source((thin, thin))
    run_seconds(flow, 10)
    before = [flow.read_stream_totals(stream).sent_kb for stream in range(2)]
    run_seconds(flow, 20)
    rates = [
        (flow.read_stream_totals(n).sent_kb - sent_kb_before) / 20 for n, sent_kb_before in enumerate(before)
    ]
    assert rates == pytest.approx([2 * 122.07 * 0.949] * 2, rel=0.01)
