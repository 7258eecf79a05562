"""Benchmark of the simulation speed on this machine (`mirrordrill bench`). Each figure is compared with a baseline."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.flow import Flow, SafetyMode, add_mirroring_setup, kernel, run_flow
from engine.flow.advance import collect_arrays
from engine.flow.sites import NEC, WORKLOAD1
from engine.published.clusters import build_group_world
from engine.published.measurements import build_lab_world, build_unlimited_setup

DATABASE_COUNTS: Final = (1, 10, 100, 200)
GROUP_AND_DATABASE_COUNTS: Final = ((1, 1), (5, 20))
"""(number of availability groups, number of databases per group) for each measurement."""

PYTHON_DATABASE_COUNTS: Final = (1, 10, 100)
COPIED_DATABASE_COUNTS: Final = (1, 100)
REPLAY_SPAN_S: Final = 3600.0
"""Simulated seconds that are computed again, in the comparison with saving a snapshot."""

ROW_STEPS: Final = 4_000_000
"""Rows times steps in one measurement of compiled code. A measurement takes some tenths of a second."""

PYTHON_ROW_STEPS: Final = 4_000
SIMPY_DATABASE_SECONDS: Final = 100.0
"""Simulated seconds times databases in a measurement of the SimPy model: 25,000 transactions."""

SIMPY_MISSING_TEXT: Final = (
    "SimPy is not installed; its model comes with the source and the development dependencies"
)
SIMPY_WARM_UP_DATABASE_SECONDS: Final = 0.1
"""Simulated seconds times databases that the SimPy model runs first, so that its construction is not measured."""

CORES_PER_DATABASE: Final = 8
"""Cores per database, as in a test server. They suffice for the load of Workload1."""

REPETITIONS: Final = 5
"""Number of repetitions of a measurement.

The fastest repetition counts, because other programs can only slow it down.
"""


NAME_LENGTH_MAX: Final = 44
"""Characters of the longest figure name: "snapshot of 1000 KB, world of 100 databases"."""


class BenchmarkFigure(Struct, frozen=True):
    """Measured figure. *ratio*: factor by which the figure is better than the baseline."""

    name: str
    value: float | str
    unit: str
    baseline: str
    """Name of the model or workload with which the figure is compared."""
    ratio: float | None

    def as_json(self) -> dict[str, object]:
        """Return the figure as a dictionary for JSON, in which the baseline has the key `against`."""
        return {"against" if name == "baseline" else name: value for name, value in asdict(self).items()}


def measure_figures() -> Iterator[BenchmarkFigure]:
    """Yield each figure as soon as it is measured, in one thread. All figures take about half a minute."""
    engine = {count: _measure_engine_rate(count) for count in DATABASE_COUNTS}
    flow = {count: _measure_flow_rate(count) for count in DATABASE_COUNTS}
    for count in DATABASE_COUNTS:
        yield _build_figure(
            f"engine, {count} databases", engine[count], "simulated s/s", "real time", engine[count]
        )
    for groups, group_rows in GROUP_AND_DATABASE_COUNTS:
        count = groups * group_rows
        rate = _measure_group_rate(groups, group_rows)
        name = f"engine, {count} databases in {groups} groups"
        yield _build_figure(name, rate, "simulated s/s", "as many mirrored databases", rate / engine[count])
    for count in DATABASE_COUNTS:
        yield _build_figure(
            f"flow alone, {count} databases",
            flow[count],
            "simulated s/s",
            "the engine with protocol",
            flow[count] / engine[count],
        )
    for count in PYTHON_DATABASE_COUNTS:
        python = _measure_python_rate(count)
        yield _build_figure(
            f"plain Python, {count} databases",
            python,
            "simulated s/s",
            "flow alone",
            flow[count] / python,
        )
    yield from _measure_simpy(engine)
    yield from _list_growth_figures("engine", engine)
    yield from _list_growth_figures("flow alone", flow)
    for count in COPIED_DATABASE_COUNTS:
        yield from _measure_copies(count)
    yield from _report_first_step()


def _build_figure(name: str, value: float, unit: str, baseline: str, ratio: float | None) -> BenchmarkFigure:
    return BenchmarkFigure(
        name, float(f"{value:.4g}"), unit, baseline, None if ratio is None else float(f"{ratio:.4g}")
    )


def _measure_fastest(callback: Callable[[], object], times: int = REPETITIONS) -> float:
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        callback()
        best = min(best, perf_counter() - start)
    return best


def _measure_engine_rate(count: int) -> float:
    """Return simulated seconds per second of the whole engine, including the protocol."""
    world = build_lab_world(1, databases=count, cores=CORES_PER_DATABASE * count)
    ticks = ROW_STEPS // count
    simulator.advance_world(world, TICKS_PER_S)
    seconds = _measure_fastest(lambda: simulator.advance_world(world, world.tick + ticks), 3)
    return ticks / TICKS_PER_S / seconds


def _measure_group_rate(groups: int, databases: int) -> float:
    """Return simulated seconds per second of *groups* availability groups under load, each with two secondaries."""
    count = groups * databases
    world = build_group_world(
        ("auto", "auto", "async"),
        WORKLOAD1.name,
        groups=groups,
        databases=databases,
        cores=CORES_PER_DATABASE * count,
        witness=True,
    )
    ticks = ROW_STEPS // count
    simulator.advance_world(world, TICKS_PER_S)
    return (
        ticks / TICKS_PER_S / _measure_fastest(lambda: simulator.advance_world(world, world.tick + ticks), 3)
    )


def _create_flow(count: int) -> Flow:
    flow = Flow.create_empty()
    site = replace(NEC, cores=CORES_PER_DATABASE * count)
    for _ in range(count):
        add_mirroring_setup(flow, build_unlimited_setup(WORKLOAD1, SafetyMode.FULL, site))
    run_flow(flow, TICKS_PER_S)
    return flow


def _measure_flow_rate(count: int) -> float:
    flow, ticks = _create_flow(count), ROW_STEPS // count
    return ticks / TICKS_PER_S / _measure_fastest(lambda: run_flow(flow, ticks), 3)


def _measure_python_rate(count: int) -> float:
    """Return simulated seconds per second of the log flow in plain Python, without compilation."""
    flow = _create_flow(count)
    ticks = max(10, PYTHON_ROW_STEPS // count)
    worked_on, room = collect_arrays(flow), flow.sources[:0, :, None]
    start = perf_counter()
    kernel.advance(*worked_on, room, room, flow.clock, ticks, 0, flow.step_s)
    return ticks / TICKS_PER_S / (perf_counter() - start)


def _measure_simpy(engine: dict[int, float]) -> Iterator[BenchmarkFigure]:
    for count in DATABASE_COUNTS:
        name = f"SimPy model, {count} databases"
        try:
            rate = _measure_simpy_rate(count)
        except ImportError:
            yield BenchmarkFigure(name, SIMPY_MISSING_TEXT, "", "the engine with protocol", None)
            continue
        yield _build_figure(name, rate, "simulated s/s", "engine", engine[count] / rate)


def _measure_simpy_rate(count: int) -> float:
    build_model = import_module("tests.simpy_models").build_simpy_model
    play, seconds = build_model(count), SIMPY_DATABASE_SECONDS / count
    play(SIMPY_WARM_UP_DATABASE_SECONDS)
    return seconds / _measure_fastest(lambda: play(seconds), 2)


def _list_growth_figures(name: str, rates: dict[int, float]) -> Iterator[BenchmarkFigure]:
    for count in DATABASE_COUNTS[2:]:
        ratio = (1.0 / rates[count] / count) / (1.0 / rates[10] / 10)
        yield _build_figure(
            f"{name}, cost of a database among {count}",
            1e6 / rates[count] / count,
            "us per simulated s",
            "cost of a database among 10",
            ratio,
        )


def _measure_copies(count: int) -> Iterator[BenchmarkFigure]:
    """Measure how fast a simulation with *count* databases is forked, hashed and saved as a snapshot."""
    world = build_lab_world(1, databases=count, cores=CORES_PER_DATABASE * count)
    simulator.advance_world(world, 10 * TICKS_PER_S)
    fork_s = _measure_fastest(lambda: [world.fork() for _ in range(100)]) / 100
    deep_s = _measure_fastest(lambda: copy.deepcopy(world), 2)
    hash_s = _measure_fastest(world.compute_state_hash)
    second_s = _measure_fastest(
        lambda: simulator.advance_world(world.fork(), world.tick + round(REPLAY_SPAN_S) * TICKS_PER_S), 1
    )
    snapshot_s = _measure_fastest(lambda: pickle.dumps(world.fork()))
    size_kb = len(pickle.dumps(world.fork())) / 1024
    name = f"world of {count} databases"
    yield _build_figure(f"fork, {name}", 1e6 * fork_s, "us", "copying every object", deep_s / fork_s)
    yield _build_figure(f"hash, {name}", 1e6 * hash_s, "us", "copying every object", deep_s / hash_s)
    yield _build_figure(
        f"snapshot of {size_kb:.0f} KB, {name}",
        1e6 * snapshot_s,
        "us",
        "simulating an hour again",
        second_s / snapshot_s,
    )


def measure_first_step() -> float:
    """Return the duration of the first step in this process, in seconds."""
    flow = Flow.create_empty()
    add_mirroring_setup(flow, build_unlimited_setup(WORKLOAD1, SafetyMode.FULL))
    start = perf_counter()
    run_flow(flow, 1)
    return perf_counter() - start


def _report_first_step() -> Iterator[BenchmarkFigure]:
    """Measure the first step of a process that uses the compiled library, compared with plain Python."""
    step = measure_first_step.__name__
    seconds = {
        choice: float(
            subprocess.run(
                [sys.executable, "-c", f"from {__name__} import {step}; print({step}())"],
                env={**os.environ, "MIRRORDRILL_KERNEL": choice},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for choice in ("", "python")
    }
    ratio = seconds["python"] / seconds[""]
    yield _build_figure("first step of a process", 1e3 * seconds[""], "ms", "plain Python", ratio)
