"""Comparison of the nodes per second of a par search with another version of the program.

`python -m tests.par_nodes DIR`: *DIR* is a work tree of the other version, such as the commit before the
search was made:

    git worktree add --detach /tmp/before c7b06d82 && python -m tests.par_nodes /tmp/before --least 10

A node forks a run, applies one offered action, plays NODE_S seconds, and computes score and hash. Both
versions play the scenarios of DIR in turn, with the same interpreter. The fastest round counts, in processor
time, because other programs can only add time. The script exits with 1 if a ratio is below --least. It also
prints the nodes per second of as many parallel processes as there are processors, which is how the search
runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from engine.drill.authoring.scenario import load_scenario, select_variant
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.model import Tick, to_ticks
from tests.par_runs import run_search

SCENARIO_NAMES: Final = ("automatic-failover", "hundred-databases")
"""Scenarios to play, one with one database and one with a hundred."""

ROUNDS: Final = 5

NODE_S: Final = 20.0
"""Simulated seconds that a node plays after its action."""

LINES_MAX: Final = 12
"""Maximum number of offered actions per decision point, selected evenly."""

PROCESS_COUNT: Final = os.cpu_count() or 1

MEASUREMENT_CPU_S_MIN: Final = 2.0
"""Minimum processor time of one measurement."""

MEASUREMENT_SCRIPT: Final = """
import json, sys, time
from pathlib import Path
from engine.drill.authoring.scenario import load_scenario
from engine.inputs import InputError
try:
    from engine.drill.par.search_drill import SearchDrill as Drill, compute_transposition_key
except ImportError:
    from engine.drill.running.drill import Drill
    compute_transposition_key = getattr(Drill, "compute_state_hash", None) or Drill.state_hash
total = getattr(Drill, "compute_total", lambda drill: drill.score().total)
node_ticks, least_s = int(sys.argv[2]), float(sys.argv[3])
file = Path(sys.argv[1])
scenario = load_scenario(file.read_text(encoding="utf-8"), file.name)
run, begun = Drill(scenario, 1), []
for tick, lines in json.load(sys.stdin):
    run.advance_to(tick)
    begun += [(run.fork(), line) for line in lines]
def nodes():
    for before, line in begun:
        twin = before.fork()
        try:
            (getattr(twin, "apply_line", None) or twin.do)(line)
        except InputError:
            pass
        twin.advance_to(twin.tick + node_ticks)
        total(twin)
        compute_transposition_key(twin)
nodes()  # compiled, and whatever is made once
rounds, began_s = 0, time.process_time()
while (took_s := time.process_time() - began_s) < least_s:
    nodes()
    rounds += 1
print(rounds * len(begun) / took_s)
"""
"""Program that runs in both versions. An older version may lack the short hash, `SearchDrill` or a total
without texts.
"""


def list_actions_at(file: Path) -> list[tuple[Tick, list[str]]]:
    """Return each decision point of a run without actions, with the lines that the search tries there."""
    scenario = load_scenario(file.read_text(encoding="utf-8"), file.name)
    search = ParSearch(scenario, 1)
    run_search(search, 2)  # The two nodes are the reference and a run without inputs.
    idle = next(plan for plan in search.plans if not plan.actions)
    run, known_lines, moments = SearchDrill(scenario, 1), list_scenario_lines(select_variant(scenario, 1)), []
    for tick in idle.decision_ticks:
        run.advance_to(tick)
        lines = list_candidates(run, known_lines)
        moments.append((tick, lines[:: -(-len(lines) // LINES_MAX)]))
    return moments


def measure_rate(tree: Path, file: Path, actions: str) -> float:
    """Return the search nodes per second of processor time with the program in *tree*."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    process = subprocess.run(  # This interpreter runs MEASURED.
        [
            sys.executable,
            "-c",
            MEASUREMENT_SCRIPT,
            str(file),
            str(to_ticks(NODE_S)),
            str(MEASUREMENT_CPU_S_MIN),
        ],
        input=actions,
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(process.stdout)


def measure_total_rate(tree: Path, file: Path, actions: str) -> float:
    """Return the search nodes per second with one process per processor."""
    with ThreadPoolExecutor(PROCESS_COUNT) as threads:  # Each thread waits for its process.
        return sum(threads.map(lambda _: measure_rate(tree, file, actions), range(PROCESS_COUNT)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--least", type=float, default=0.0, help="the ratio that is wanted")
    options = parser.parse_args()
    root, before, min_ratio = Path(__file__).parents[1], options.before.resolve(), float("inf")
    for name in SCENARIO_NAMES:
        file = before / "scenarios" / f"{name}.toml"
        actions = json.dumps(list_actions_at(file))
        pairs = [
            (measure_rate(before, file, actions), measure_rate(root, file, actions))
            for _ in range(options.rounds)
        ]
        old, new = (max(rates) for rates in zip(*pairs, strict=True))
        min_ratio = min(min_ratio, new / old)
        total_rate = max(measure_total_rate(root, file, actions) for _ in range(options.rounds))
        print(
            f"{name}: {old:.1f} nodes/s before, {new:.1f} now: {new / old:.1f} times;"
            f" {PROCESS_COUNT} processes together {total_rate:.1f}",
            flush=True,
        )
    return int(min_ratio < options.least)


if __name__ == "__main__":
    sys.exit(main())
