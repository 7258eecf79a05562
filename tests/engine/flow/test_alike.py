"""Identical databases: the flow model computes them once, with the same bits as separate computation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from engine.flow import (
    Flow,
    FlowStopCondition,
    MirroringSetup,
    SafetyMode,
    Samples,
    add_mirroring_setup,
    run_flow,
)
from engine.flow import kernel as k
from engine.flow.advance import collect_arrays
from tests.engine.flow.pairs import W1, W2, build_pair
from tests.engine.flow.test_invariants import setups

UNUSED_CROSSING_BIT = 16
"""Bit that arms a crossing that never occurs. It makes sources differ without an effect."""


def build_groups(groups: list[tuple[MirroringSetup, int]]) -> Flow:
    """Return a flow with the given number of sources for each pair, added in turn.

    Checkpoint times and log file sizes differ.
    """
    flow = Flow.create_empty()
    for place in range(max(count for _, count in groups)):
        for pair, count in groups:
            if place < count:
                source = add_mirroring_setup(flow, pair)
                flow.sources[source, k.SINCE_CHECKPOINT_S] = 7.0 * source
                flow.sources[source, k.DIRTY] = 100.0 * source
                flow.sources[source, k.LOG_SIZE] = 1000.0 * (1 + source)
    return flow


def separate_sources(flow: Flow) -> Flow:
    """Return a fork in which no two sources are identical."""
    fork = flow.fork()
    fork.unshare_arrays()
    fork.sources[:, k.SOURCE_ARMED] += UNUSED_CROSSING_BIT * (1 + np.arange(len(fork.sources)))
    return fork


def count_computed_sources(flow: Flow) -> int:
    """Return the number of sources that the latest step computed."""
    source_places = collect_arrays(flow).source_places
    return int(source_places[k.GROUPS, -1])


def assert_equal_flows(grouped_flow: Flow, separate_flow: Flow) -> None:
    separate_flow.sources[:, k.SOURCE_ARMED] %= UNUSED_CROSSING_BIT
    for name in ("sources", "streams", "hosts", "links", "history", "clock"):
        np.testing.assert_array_equal(getattr(grouped_flow, name), getattr(separate_flow, name), err_msg=name)


@settings(max_examples=60, deadline=None)
@given(
    strategies.lists(strategies.tuples(setups, strategies.integers(1, 5)), min_size=1, max_size=3),
    strategies.lists(
        strategies.tuples(
            strategies.integers(1, 700), strategies.integers(0, 14), strategies.floats(0.0, 3e4)
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_equal_sources_match_separate_computation(
    groups: list[tuple[MirroringSetup, int]], stages: list[tuple[int, int, float]]
) -> None:
    shared_flow = build_groups(groups)
    for ticks, backed_up, reuse_kb in stages:
        source = backed_up % len(shared_flow.source_setups)
        shared_flow.set_log_reuse_kb(
            source, min(reuse_kb, shared_flow.read_source_positions(source).generated_kb)
        )
        separate_flow = separate_sources(shared_flow)
        assert run_flow(shared_flow, ticks) == run_flow(separate_flow, ticks)
        assert_equal_flows(shared_flow, separate_flow)


def test_a_hundred_equal_databases_are_computed_once_until_one_differs() -> None:
    flow = build_groups([(build_pair(W1, SafetyMode.FULL), 100)])
    run_flow(flow, 50)
    assert count_computed_sources(flow) == 1
    flow.add_log_kb(42, 1.0)
    run_flow(flow, 50)
    assert count_computed_sources(flow) == 2
    separate_flow = separate_sources(flow)
    run_flow(flow, 500)
    run_flow(separate_flow, 500)
    assert count_computed_sources(separate_flow) == 100
    assert_equal_flows(flow, separate_flow)


def test_jitter_separates_streams_and_an_extra_stream_separates_its_source() -> None:
    jitter = build_groups([(build_pair(W1, SafetyMode.FULL, jitter_ms=3.0), 3)])
    run_flow(jitter, 5)
    assert count_computed_sources(jitter) == 3
    flow = build_groups([(build_pair(W1, SafetyMode.FULL), 3)])
    flow.add_stream(1, flow.get_stream_setup(0))
    run_flow(flow, 5)
    assert count_computed_sources(flow) == 2


@pytest.mark.parametrize("backed_up", [0, 1])
def test_a_full_log_blocks_only_its_own_database(backed_up: int) -> None:
    flow = build_groups([(build_pair(W2, SafetyMode.FULL, log_max_kb=1e5), 3)])
    for source in range(3):
        flow.watch_source(source, FlowStopCondition.LOG_FULL)
    run_flow(flow, 100)
    assert count_computed_sources(flow) == 1
    flow.set_log_reuse_kb(backed_up, flow.read_source_positions(backed_up).generated_kb)
    other_sources = [source for source in range(3) if source != backed_up]
    separate_flow = separate_sources(flow)
    ran, source_crossings, _ = run_flow(flow, 10_000)
    assert (ran, source_crossings) == run_flow(separate_flow, 10_000)[:2]
    assert [source for source, _ in source_crossings] == other_sources
    for variant in (flow, separate_flow):
        for source in range(3):
            variant.watch_source(source, FlowStopCondition(0))
    separate_flow = separate_sources(flow)
    run_flow(flow, 1_000)
    run_flow(separate_flow, 1_000)
    assert_equal_flows(flow, separate_flow)
    assert (
        flow.read_source_positions(backed_up).generated_kb
        > flow.read_source_positions(other_sources[0]).generated_kb + 1e3
    )


def test_samples_belong_to_each_database() -> None:
    flow = build_groups([(build_pair(W1, SafetyMode.FULL), 3), (build_pair(W2, SafetyMode.OFF), 2)])
    separate_flow = separate_sources(flow)
    shared_samples, separate_samples = Samples(10), Samples(10)
    run_flow(flow, 3_000, shared_samples)
    run_flow(separate_flow, 3_000, separate_samples)
    np.testing.assert_array_equal(shared_samples.sources.values, separate_samples.sources.values)
    np.testing.assert_array_equal(shared_samples.streams.values, separate_samples.streams.values)
    assert len(np.unique(shared_samples.read_column(0, "principal_dirty_pages"))) > 1
