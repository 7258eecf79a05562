"""`mirrordrill sweep`: many runs - seeds, players, scenarios - in one table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

from app.cli.terms import Commands, Unusable, check_seed, loaded, write_json
from app.exit_codes import ANSWER_IS_NO, AS_ASKED
from engine.drill.authoring.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    from engine.drill.judging.sweep import Outcome

RUNS_MAX: Final = 1_000_000

Job = tuple[str, str, str, int]
"""Scenario by its name and text, player, seed."""


def add_to(command: Commands) -> None:
    sweep = command("sweep", "many runs in one table: mean, percentiles, failures")
    sweep.set_defaults(do=_sweep)
    sweep.add_argument("scenarios", nargs="+", metavar="NAME|FILE")
    sweep.add_argument("--seeds", required=True, metavar="A-B", help="seeds from A to B, both included")
    sweep.add_argument(
        "--players", default="reference", metavar="P,...", help="reference (default), idle, random and others"
    )
    sweep.add_argument(
        "--on", default="local", metavar="local|dask://HOST:PORT", help="this computer, or a Dask cluster"
    )
    sweep.add_argument("--json", metavar="FILE", help="write rows and runs; - is standard output")


def _sweep(options: argparse.Namespace) -> int:
    from engine.drill.judging import sweep

    players = [name.strip() for name in options.players.split(",")]
    for name in players:
        if name not in sweep.PLAYERS:
            raise Unusable(f"there is no player {name!r}: {', '.join(sweep.PLAYERS)}")
    jobs = jobs_of([loaded(name) for name in options.scenarios], players, seeds_of(options.seeds))
    if len(jobs) > RUNS_MAX:
        raise Unusable(f"{len(jobs)} runs are more than {RUNS_MAX}")
    outcomes = on_dask(jobs, options.on) if options.on != "local" else on_this_computer(jobs)
    if options.json is not None:
        write_json(sweep.as_json(outcomes), options.json)
    else:
        print(sweep.table(outcomes))
    return ANSWER_IS_NO if any(each.problem for each in outcomes) else AS_ASKED


def seeds_of(text: str) -> range:
    """`1-50`, or one seed. Raises Unusable."""
    first, dash, last = text.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise Unusable(f"--seeds {text} is not A-B, such as 1-50")
    check_seed(int(last))
    return range(int(first), int(last) + 1)


def jobs_of(scenarios: Iterable[Scenario], players: Sequence[str], seeds: range) -> list[Job]:
    return [
        (scenario.name, scenario.text, player, seed)
        for scenario in scenarios
        for player in players
        for seed in seeds
    ]


def played(job: Job) -> Outcome:
    """In a process of its own, here or on another computer."""
    from engine.drill.judging import sweep

    name, text, player, seed = job
    return sweep.outcome(_scenario(name, text), player, seed)


@lru_cache(maxsize=1)
def _scenario(name: str, text: str) -> Scenario:
    return load_scenario(text, f"{name}.toml")


def on_this_computer(jobs: Sequence[Job], workers: int | None = None) -> list[Outcome]:
    """The outcomes in the order of *jobs*, whatever the number of *workers* (None: one for each processor)."""
    workers = min(len(jobs), workers or os.cpu_count() or 1)
    if workers <= 1:
        return list(map(played, jobs))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(played, jobs, chunksize=max(1, len(jobs) // (8 * workers))))


def on_dask(jobs: Sequence[Job], address: str) -> list[Outcome]:
    """The same outcomes from the workers of a Dask scheduler; Mirrordrill has to be installed there."""
    scheme, _, place = address.partition("://")
    if scheme != "dask" or not place:
        raise Unusable(f"--on {address} is neither local nor dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError as error:
        raise Unusable("--on dask:// needs the package distributed: pip install distributed") from error
    try:
        with Client(f"tcp://{place}", timeout=10) as client:
            outcomes: list[Outcome] = client.gather(client.map(played, jobs))
            return outcomes
    except OSError as error:
        raise Unusable(f"no Dask scheduler answers at {place}: {error}") from error
