"""`mirrordrill sweep`: many runs (seeds, players, scenarios) in one table."""

from __future__ import annotations

import argparse
import itertools
import math
import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.cli.processes import add_on, use_cluster
from app.cli.terms import SubcommandFactory, UsageError, check_seed, loaded, write, write_json
from app.cli.waits import count_with_progress, stoppable, unstoppable
from app.exit_codes import ANSWER_IS_NO, AS_ASKED, INTERRUPTED
from engine.drill.authoring.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    from engine.drill.judging.sweep import RunOutcome

RUNS_MAX: Final = 1_000_000

Job = tuple[str, str, str, int]
"""Name and text of a scenario, player, seed."""


def add_to(command: SubcommandFactory) -> None:
    """Add the commands of this module."""
    sweep = command("sweep", "run a scenario many times and show mean, percentiles and failures")
    sweep.set_defaults(do=_sweep)
    sweep.add_argument("scenarios", nargs="+", metavar="NAME|FILE")
    sweep.add_argument("--seeds", required=True, metavar="A-B", help="seeds from A to B (inclusive)")
    sweep.add_argument(
        "--players",
        default="reference",
        metavar="P,...",
        help="player: reference (default), idle, random or another one",
    )
    add_on(sweep)
    sweep.add_argument(
        "--within",
        action="append",
        default=[],
        metavar="MEASURE=NUMBER",
        help="count runs with a measure of at most NUMBER, such as failover_s=10",
    )
    sweep.add_argument("--plot", metavar="FILE.svg", help="plot the distribution of a measure over the runs")
    sweep.add_argument(
        "--measure", default="failover_s", metavar="MEASURE", help="measure for --plot (default: failover_s)"
    )
    sweep.add_argument("--json", metavar="FILE", help="write rows and runs; - is standard output")


def _sweep(options: argparse.Namespace) -> int:
    from engine.drill.judging import sweep

    players = list(dict.fromkeys(name.strip() for name in options.players.split(",")))
    for name in players:
        if name not in sweep.PLAYERS:
            raise UsageError(f"there is no player {name!r}: {', '.join(sweep.PLAYERS)}")
    scenarios, seeds = _load_scenarios(options.scenarios), seeds_of(options.seeds)
    count = len(scenarios) * len(players) * (seeds.stop - seeds.start)
    if count > RUNS_MAX:
        raise UsageError(f"{count} runs are more than {RUNS_MAX}")
    jobs = jobs_of(scenarios, players, seeds)
    limits = [limit_of(text) for text in options.within]
    check_measure(options.measure)
    outcomes = outcomes_of(jobs, options.on)
    if options.plot is not None:
        from app.export.spread import picture

        write(picture(outcomes, options.measure, dict(limits).get(options.measure)), Path(options.plot))
    if options.json is not None:
        write_json(sweep.as_json(outcomes, limits), options.json)
    else:
        print("\n".join([sweep.table(outcomes), *sweep.format_limit_results(outcomes, limits)]))
    if len(outcomes) < len(jobs):
        print(f"ended after {len(outcomes)} of {len(jobs)} runs", file=sys.stderr)
        return INTERRUPTED
    return ANSWER_IS_NO if any(each.problem for each in outcomes) else AS_ASKED


def _load_scenarios(names: Iterable[str]) -> list[Scenario]:
    """Load each scenario once.

    Results use the scenario's name, which equals the file name. Raises UsageError, ScenarioNotFoundError,
    ScenarioError.
    """
    found: dict[str, Scenario] = {}
    for scenario in map(loaded, names):
        if found.setdefault(scenario.name, scenario).text != scenario.text:
            raise UsageError(
                f"two different scenarios are called {scenario.name}: give one file another name"
            )
    return list(found.values())


def limit_of(text: str) -> tuple[str, float]:
    """Parse a limit such as `failover_s=10`. Raises UsageError."""
    measure, _, number = text.partition("=")
    check_measure(measure)
    try:
        most = float(number)
    except ValueError:
        most = math.nan
    if not math.isfinite(most):
        raise UsageError(f"--within {text} is not MEASURE=NUMBER, such as failover_s=10")
    return measure, most


def check_measure(name: str) -> None:
    """Check the name of a measure. Raises UsageError."""
    from engine.drill.judging.sweep import MEASURES

    if name not in MEASURES:
        raise UsageError(f"there is no measure {name!r}: {', '.join(MEASURES)}")


def seeds_of(text: str) -> range:
    """Parse seeds such as `1-50`, or one seed. Raises UsageError."""
    first, dash, last = text.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise UsageError(f"--seeds {text} is not A-B, such as 1-50")
    check_seed(int(last))
    return range(int(first), int(last) + 1)


def jobs_of(scenarios: Iterable[Scenario], players: Sequence[str], seeds: range) -> list[Job]:
    """Return a job for each scenario, player and seed."""
    return [
        (scenario.name, scenario.text, player, seed)
        for scenario in scenarios
        for player in players
        for seed in seeds
    ]


def play_job(job: Job) -> RunOutcome:
    """Play a job in a separate process, here or on another computer."""
    from engine.drill.judging import sweep

    name, text, player, seed = job
    return sweep.play_outcome(_scenario(name, text), player, seed)


@lru_cache(maxsize=1)
def _scenario(name: str, text: str) -> Scenario:
    return load_scenario(text, f"{name}.toml")


def outcomes_of(
    jobs: Sequence[Job], scheduler: str = "local", workers: int | None = None
) -> list[RunOutcome]:
    """Yield the results in the order of *jobs*.

    They run on *workers* processes of this computer (None: one per processor), or on a Dask cluster with
    Mirrordrill installed. After Ctrl-C, yield only the first ones. Raises UsageError.
    """
    from joblib import Parallel, delayed

    processes = workers or min(len(jobs), os.cpu_count() or 1)
    with use_cluster(scheduler), stoppable() as stopped:
        wanted = itertools.takewhile(lambda _: not stopped(), jobs)
        with unstoppable():  # processes start with the first jobs
            coming = Parallel(processes, return_as="generator")(delayed(play_job)(job) for job in wanted)
        outcomes: list[RunOutcome] = list(count_with_progress(coming, len(jobs), "runs"))
    return outcomes
