"""Tests of extreme figures in a scenario: each is refused by name with line and column, or the run stays
finite.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

import numpy as np
import pytest

from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from tests.engine.drill.texts import WORLD_TEXT
from tests.numbers import is_finite

INVALID_VALUES: Final = (
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "-inf",
    "-1",
    "9223372036854775808",
    "-9223372036854775808",
    "[]",
    "{}",
)
"""Values that are invalid for every key."""
TINY_VALUES: Final = ("0", "1e-300")
"""Values that are valid for some keys. A file that loads must also run."""


def _insert_key(table: str, key: str) -> Callable[[str], str]:
    return lambda value: WORLD_TEXT.replace(f"[[{table}]]\n", f"[[{table}]]\n{key} = {value}\n", 1)


def _build_link_text(key: str) -> Callable[[str], str]:
    return lambda value: f'{WORLD_TEXT}\n[[link]]\nends = ["SERVER_A", "SERVER_B"]\n{key} = {value}\n'


def _build_timeline(line: str) -> Callable[[str], str]:
    return lambda value: f'{WORLD_TEXT}\n[[timeline]]\nat = 1\ndo = "{line.format(value)}"\n'


TEXT_BUILDERS: Final[dict[str, Callable[[str], str]]] = {
    **{key: _build_link_text(key) for key in ("rtt_ms", "jitter_ms", "bandwidth_mbps", "loss")},
    **{
        key: _insert_key("database", key)
        for key in ("count", "scale", "size_mb", "log_size_mb", "log_max_mb", "compression_ratio", "log_backup_every")
    },
    **{key: _insert_key("server", key) for key in ("cores", "max_worker_threads")},
    "timeout_s": _insert_key("session", "timeout_s"),
    "boot_s": lambda value: f"{WORLD_TEXT}\n[settings]\nboot_s = {value}\n",
    "restart_service_s": lambda value: f"{WORLD_TEXT}\n[settings]\nrestart_service_s = {value}\n",
    "seed": lambda value: WORLD_TEXT.replace("seed = 3", f"seed = {value}"),
    "length": lambda value: WORLD_TEXT.replace('length = "5min"', f"length = {value}"),
    "at": lambda value: f'{WORLD_TEXT}\n[[timeline]]\nat = {value}\ndo = "power-off SERVER_A"\n',
    "do": _build_timeline("degrade SERVER_A SERVER_B rtt_ms={}"),
    "bandwidth_mbps=": _build_timeline("degrade SERVER_A SERVER_B bandwidth_mbps={}"),
    "loss=": _build_timeline("degrade SERVER_A SERVER_B loss={}"),
    "factor": _build_timeline("slow-disk SERVER_A log factor={}"),
    "Workload1": _build_timeline("workload Sales Workload1 scale={}"),
    "rows": _build_timeline("bulk-load Sales rows={0} batch_rows={0}"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXT_BUILDERS)
def test_values_valid_nowhere_are_refused_by_name_and_position(name: str) -> None:
    for value in INVALID_VALUES:
        with pytest.raises(ScenarioError) as caught:
            load_scenario(TEXT_BUILDERS[name](value), "absurd.toml")
        problem = caught.value.problems[0]
        assert problem.line > 1, (value, str(problem))
        assert problem.column >= 1
        assert name.rstrip("=") in str(caught.value) or "do" in str(caught.value), (value, str(problem))


def _load_drill(name: str, value: str) -> Drill | None:
    try:
        return Drill(load_scenario(TEXT_BUILDERS[name](value), "absurd.toml"), mode="lab")
    except ScenarioError:
        return None


@pytest.mark.parametrize(("name", "value"), list(product(TEXT_BUILDERS, TINY_VALUES)))
def test_tiny_values_are_refused_or_run(name: str, value: str) -> None:
    drill = _load_drill(name, value)
    if drill is not None:
        drill.advance_to(1_000)
        assert is_finite(drill.world.flow)
        assert np.isfinite(drill.samples.sources.values).all()


ODD_VALUES: Final = (
    "-0.0",
    "4294967296",
    "1e15",
    "0x7fffffffffffffff",
    "true",
    "1979-05-27",
    '"1e9"',
    '"99999999999999h"',
)
"""Values of another type, or far outside the range."""


@pytest.mark.parametrize("name", TEXT_BUILDERS)
def test_odd_values_are_refused_or_run(name: str) -> None:
    for value in ODD_VALUES:
        drill = _load_drill(name, value)
        if drill is not None:
            drill.advance_to(200)
            assert is_finite(drill.world.flow), value
            assert np.isfinite(drill.samples.sources.values).all(), value


def test_a_job_without_a_pause_does_not_stop_the_clock() -> None:
    """The job used to start again within the same tick, endlessly."""
    assert _load_drill("log_backup_every", "0") is not None
    assert _load_drill("log_backup_every", "9.99") is None
    drill = _load_drill("log_backup_every", "10")
    assert drill is not None
    drill.advance_to(6_000)
    assert drill.tick == 6_000
