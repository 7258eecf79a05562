"""Results of the flow model to the last digit, for every site, workload and condition.

The tolerances of the published figures hide small mistakes. This file has no tolerance, because the model is
bit-identical on every machine. After an intended change, run `pytest --rewrite
tests/engine/flow/test_figures.py`
and review the diff of figures.txt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import asdict, replace

from engine.flow import Flow, Operation, SafetyMode, run_flow, sites, warm_start
from engine.flow.failover_times import FailoverCause, draw_failover_times
from engine.random_streams import RandomStream
from tests import recordings
from tests.engine.flow.pairs import (
    W1,
    W2,
    build_flow,
    build_pair,
    change_inputs,
    get_positions,
    get_totals,
    read_counters,
    run_seconds,
    set_positions,
)

FILE: Final = Path(__file__).with_name("figures.txt")
FULL, OFF, NONE = SafetyMode.FULL, SafetyMode.OFF, SafetyMode.NONE
FAST_WORKLOAD: Final = replace(
    W1, name="quick", connections=60.0, think_s=0.004, other_delay_ms=0.5, hot_pages=500.0
)
BULK_OPERATION: Final = Operation(name="bulk", log_kb=30_000.0, rate_kb_per_s=9_000.0)
FLOWS: Final[dict[str, Callable[[], Flow]]] = {
    **{f"{name}, FULL": partial(build_flow, W1, site=site, version=2014) for name, site in sites.SITES.items()},
    **{f"{name}, OFF": partial(build_flow, load, OFF) for name, load in sites.WORKLOADS.items()},
    "no mirror": lambda: build_flow(W2, NONE),
    "3par, busy": lambda: build_flow(W2, site=sites.THREE_PAR, version=2008),
    "ssd in a pool": lambda: build_flow(sites.USERS, OFF, site=sites.SSD, version=2014, log_pool=True),
    "ssd, reread": lambda: build_flow(sites.USERS, site=sites.SSD, version=2014),
    "compressed": lambda: build_flow(W2, site=sites.UNISYS, version=2008, compression_ratio=0.27),
    "not worth compressing": lambda: build_flow(W2, OFF, site=sites.UNISYS, version=2008, compression_ratio=0.9),
    "saves just enough": lambda: build_flow(W2, OFF, site=sites.UNISYS, version=2008, compression_ratio=0.875),
    "before compression": lambda: build_flow(W2, version=2005, compression_ratio=0.27),
    "not encrypted": lambda: build_flow(W2, encryption=False),
    "jitter": lambda: build_flow(W2, jitter_ms=15.0, rtt_ms=30.0),
    "jitter, OFF": lambda: build_flow(W2, OFF, jitter_ms=40.0, rtt_ms=4.0),
    "loss": lambda: build_flow(W2, loss=0.01, rtt_ms=20.0),
    "loss and jitter": lambda: build_flow(W1, OFF, loss=0.03, jitter_ms=8.0, bandwidth_mbps=20.0),
    "narrow": lambda: build_flow(W2, OFF, bandwidth_mbps=10.0),
    "window open in FULL": lambda: build_flow(W2, site=replace(sites.NEC, window_in_full=False), rtt_ms=60.0),
    "far": lambda: build_flow(W2, rtt_ms=400.0),
    "slow disks": lambda: build_flow(W1, log_disk_factor=3.0, data_disk_factor=50.0),
    "slow mirror": lambda: build_flow(
        W2, target_log_disk_factor=4.0, target_data_disk_factor=30.0, target_cpu_factor=9.0
    ),
    "slow processors": lambda: build_flow(W2, cpu_factor=3.0),
    "one redo thread": lambda: build_flow(W2, enterprise=False, target_cpu_factor=20.0),
    "five redo threads": lambda: build_flow(W2, redo_threads=5, target_cpu_factor=20.0),
    "delayed durability": lambda: build_flow(
        sites.LOG_ROWS, site=sites.DELAYED, version=2014, delayed_durability=True
    ),
    "delayed before 2014": lambda: build_flow(
        sites.LOG_ROWS, site=sites.DELAYED, version=2012, delayed_durability=True
    ),
    "delayed, alone": lambda: build_flow(
        sites.LOG_ROWS, NONE, site=sites.DELAYED, version=2014, delayed_durability=True
    ),
    "quick transactions": lambda: build_flow(FAST_WORKLOAD, site=sites.SSD, version=2014),
    "a long operation": lambda: build_flow(W1, operation=BULK_OPERATION),
    "an operation in batches": lambda: build_flow(W1, operation=replace(BULK_OPERATION, batch_kb=600.0)),
    "twice the clients": lambda: build_flow(W1, scale=2.0),
    "a hundredth of the clients": lambda: build_flow(W1, scale=0.001),
    "few workers": lambda: build_flow(replace(W1, think_s=0.0), NONE, site=replace(sites.NEC, worker_threads=90.0)),
    "busy without clients": lambda: build_flow(W2, site=replace(sites.NEC, background_cores=7.9)),
    "cold": lambda: build_flow(W1, warm=False),
    "a log that grows": lambda: build_flow(W2, NONE, log_size_kb=9_000.0, log_max_kb=40_000.0),
}  # fmt: skip
CHANGES: Final[dict[str, dict[str, Any]]] = {
    "suspended": {"sending": False},
    "not redoing": {"redoing": False},
    "disconnected": {"connected": False, "carrying": False},
    "stalled": {"carrying": False},
    "mirror down": {"target_alive": False, "carrying": False},
    "down": {"alive": False},
    "closed": {"serving": False, "operation": BULK_OPERATION},
    "fewer clients": {"scale": 0.3},
    "asynchronous": {"awaited": False},
}
"""Changes to a synchronized pair. The table has the states 2 s after each change and 3 s after its reversal."""


def list_figures(flow: Flow, source: int = 0) -> Iterator[tuple[str, float]]:
    for values in (get_positions(flow, source), read_counters(flow, source), get_totals(flow, source)):
        yield from vars(values).items()
    yield "waited_for_workers_s", flow.measure_worker_wait_s(source)
    for stream in flow.list_source_streams(source):
        yield f"caught_up {stream}", float(flow.is_caught_up(stream))


def run_changed_flow(changes: dict[str, Any]) -> Flow:
    flow = build_flow(W2, rtt_ms=5.0)
    change_inputs(flow, build_pair(W2, rtt_ms=5.0, **changes))
    run_seconds(flow, 2)
    return flow


def build_shared_link_flow() -> Flow:
    """Return six databases on two servers with a narrow link.

    One is fast, one idle, one has a full log, and one is far behind.
    """
    flow = Flow.create_empty()
    for number, load in enumerate((W1, W2, sites.IDLE, W2, FAST_WORKLOAD, W2)):
        own_setup = build_pair(
            load, FULL if number % 2 else OFF, site=sites.THREE_PAR, version=2008, bandwidth_mbps=60.0
        )
        assert own_setup.stream is not None
        log_max_kb = 4_000.0 if number == 3 else 1e9
        source = flow.add_source(replace(own_setup.source, log_size_kb=1_000.0, log_max_kb=log_max_kb))
        flow.add_stream(source, own_setup.stream)
        run_seconds(flow, 0.5)
    flow.add_stream(0, replace(flow.get_stream_setup(0), target_host=2, rtt_ms=700.0, awaited=True))
    set_positions(flow, 5, generated_kb=90_000.0, flushed_kb=90_000.0, received_kb=500.0, hardened_kb=400.0)
    flow.add_log_kb(2, 77.0)
    flow.set_log_reuse_kb(1, 300.0)
    return flow


def list_phases() -> Iterator[tuple[str, float]]:
    """Yield the phases of a failover by cause, idle and under load, in the middle of a checkpoint interval."""
    for name, load in (("load", W1), ("idle", sites.IDLE)):
        flow = build_flow(load, target_cpu_factor=2.0, target_data_disk_factor=2.0, operation=BULK_OPERATION)
        warm_start(flow, 0, 0.25)
        run_seconds(flow, 1)
        for cause in FailoverCause:
            for phase, value in asdict(
                draw_failover_times(flow, 0, cause, RandomStream.from_seed(7))
            ).items():
                yield f"{name} {cause} {phase}", value


def format_table() -> Iterator[str]:
    def format_figures(case: str, figures: Iterator[tuple[str, float]]) -> Iterator[str]:
        yield f"# {case}"
        yield from (f"{name} {value:.12g}" for name, value in figures)

    for case, begin in FLOWS.items():
        flow = begin()
        run_seconds(flow, 3)
        yield from format_figures(case, list_figures(flow))
    for case, changes in CHANGES.items():
        flow = run_changed_flow(changes)
        yield from format_figures(case, list_figures(flow))
        change_inputs(flow, build_pair(W2, rtt_ms=5.0))
        run_seconds(flow, 3)
        yield from format_figures(f"{case}, and back", list_figures(flow))
    flow = build_shared_link_flow()
    run_flow(flow, 700)
    for source in range(6):
        yield from format_figures(f"together {source}", list_figures(flow, source))
    flow.remove_source(3)
    run_flow(flow, 300)
    yield from format_figures("together 0, one gone", list_figures(flow))
    yield from format_figures("failover", list_phases())


def test_figures_match_the_file(request: pytest.FixtureRequest) -> None:
    recordings.compare_lines(FILE, format_table(), request)
