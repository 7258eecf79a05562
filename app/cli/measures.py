"""Commands `mirrordrill agents`, `fidelity` and `bench`: checks of rubrics, published figures and speed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Final

from app.cli.command_helpers import write_json
from app.cli.terminal_progress import count_with_progress
from app.exit_codes import NEGATIVE_ANSWER, SUCCESS
from app.files import scenario_files
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.report import to_json_types

if TYPE_CHECKING:
    from engine.drill.judging.automatic_players import Ranking


def _rank_agents(job: tuple[str, str, int | None]) -> Ranking:
    """Rank the agents in a scenario. *job*: name, text and seed of the scenario.

    Runs in a separate process.
    """
    from engine.drill.judging import automatic_players

    name, text, seed = job
    return automatic_players.rank_players(load_scenario(text, f"{name}.toml"), seed)


def _rank_scenarios(scenarios: Sequence[Scenario], seed: int | None) -> Iterator[Ranking]:
    """Yield the ranking of each scenario, in order. Many scenarios are distributed over the processors."""
    jobs = [(scenario.name, scenario.text, seed) for scenario in scenarios]
    workers = min(len(jobs), os.cpu_count() or 1)
    if workers <= 1:
        yield from map(_rank_agents, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_rank_agents, jobs)


def _run_agents(options: argparse.Namespace) -> int:
    from engine.drill.judging import automatic_players

    files = [
        scenario_files.find_scenario_file(name) for name in options.scenarios
    ] or scenario_files.list_all_files()[0]
    scenarios = [scenario for file in files if (scenario := file.load()).scored]
    rankings = list(
        count_with_progress(_rank_scenarios(scenarios, options.seed), len(scenarios), "scenarios")
    )
    if options.json is not None:
        write_json([ranking.as_json() for ranking in rankings], options.json)
    else:
        print(automatic_players.format_table(rankings))
    return NEGATIVE_ANSWER if any(ranking.violations for ranking in rankings) else SUCCESS


def _run_fidelity(options: argparse.Namespace) -> int:
    from engine.published import fidelity

    rows = fidelity.build_fidelity_rows()
    counts = fidelity.summarize_rows(rows)
    if options.json is not None:
        write_json({"rows": [to_json_types(row.as_json()) for row in rows], "summary": counts}, options.json)
    else:
        print(fidelity.format_comparison(rows))
    return NEGATIVE_ANSWER if counts["unexplained"] else SUCCESS


def _run_bench(options: argparse.Namespace) -> int:
    from app.cli import bench

    if options.json is not None:
        write_json(
            {"figures": [to_json_types(figure.as_json()) for figure in bench.measure_figures()]}, options.json
        )
    else:
        for figure in bench.measure_figures():
            ratio = f"x {figure.ratio:,.4g}" if figure.ratio is not None else ""
            value = f"{figure.value:,.4g}" if isinstance(figure.value, float) else figure.value
            print(
                f"{figure.name:{bench.NAME_LENGTH_MAX}}  {value:>12} {figure.unit:18} {ratio:>12}  {figure.baseline}",
                flush=True,
            )
    return SUCCESS


COMMANDS: Final = {"agents": _run_agents, "fidelity": _run_fidelity, "bench": _run_bench}
