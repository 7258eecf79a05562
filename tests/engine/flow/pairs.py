"""Pairs of servers for tests of the flow model, at the test site of the 2005 white paper without other load."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from msgspec.structs import asdict

from engine.flow import Flow, MirroringSetup, SafetyMode, Workload, add_mirroring_setup, warm_start
from engine.flow.sites import NEC, WORKLOAD1, WORKLOAD2
from engine.published.measurements import MeanValues, build_unlimited_setup, measure_means, run_seconds

W1, W2 = WORKLOAD1, WORKLOAD2

__all__ = [
    "W1",
    "W2",
    "build_flow",
    "build_pair",
    "change_inputs",
    "compute_means",
    "get_positions",
    "get_totals",
    "read_counters",
    "run_seconds",
    "set_positions",
]


def build_pair(
    workload: Workload = WORKLOAD1, mode: SafetyMode = SafetyMode.FULL, **changes: Any
) -> MirroringSetup:
    """Return a pair of servers; the mirror is connected unless *mode* is NONE."""
    return build_unlimited_setup(workload, mode, changes.pop("site", NEC), **changes)


def build_flow(
    workload: Workload = WORKLOAD1, mode: SafetyMode = SafetyMode.FULL, warm: bool = True, **changes: Any
) -> Flow:
    """Return a flow with one pair (source 0), just after a checkpoint.

    The flow is in steady state unless *warm* is False.
    """
    flow = Flow.create_empty()
    add_mirroring_setup(flow, build_pair(workload, mode, **changes))
    if warm:
        warm_start(flow, 0, 0.0)
    return flow


def change_inputs(flow: Flow, pair: MirroringSetup, source: int = 0) -> None:
    """Change the inputs of *source* to those of *pair*. If *pair* has no stream, the stream stays unchanged."""
    flow.update_setups(
        {source: pair.source}, {n: pair.stream for n in flow.list_source_streams(source) if pair.stream}
    )


def compute_means(flow: Flow, seconds: float = 60.0, source: int = 0) -> MeanValues:
    return measure_means(flow, seconds, source)


def _as_dict(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__annotations__}


def get_positions(flow: Flow, source: int = 0) -> Any:
    """Return the positions of the source and its first stream."""
    streams = [_as_dict(flow.read_stream_positions(n)) for n in flow.list_source_streams(source)]
    return _merge_rows(_as_dict(flow.read_source_positions(source)), streams)


def read_counters(flow: Flow, source: int = 0) -> Any:
    """Return the counters of the source and its first stream."""
    return _merge_rows(
        asdict(flow.read_source(source)),
        [asdict(flow.read_stream(n)) for n in flow.list_source_streams(source)],
    )


def get_totals(flow: Flow, source: int = 0) -> Any:
    """Return the totals of the source and its first stream, including the CPU time of the mirror as
    *mirror_core_s*.
    """
    streams = [asdict(flow.read_stream_totals(n)) for n in flow.list_source_streams(source)][:1]
    renamed = {"core_s": "mirror_core_s", "pages_written": "mirror_pages_written"}
    stream_counters = {renamed.get(name, name): value for stream in streams for name, value in stream.items()}
    return SimpleNamespace(**asdict(flow.read_source_totals(source)), **stream_counters)


def set_positions(flow: Flow, source: int = 0, **kb: float) -> None:
    """Set positions of the source and its first stream by name."""
    source_kb = {name: kb.pop(name) for name in ("generated_kb", "flushed_kb", "committed_kb") if name in kb}
    flow.set_positions(source, **source_kb)
    flow.set_stream_positions(flow.list_source_streams(source)[0], **kb)


def _merge_rows(source: dict[str, Any], streams: list[dict[str, Any]]) -> Any:
    return SimpleNamespace(**{**source, **(streams[0] if streams else {})})
