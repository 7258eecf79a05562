"""Replay of every plan in the certificates: `python -m tests.par_proofs [--renew] [--blunders] [NAME...]`.

The script prints each plan whose total differs from its certificate, and the number of different totals and
hashes.
It exits with 1 if a total or a hash differs. If a change of behavior or of a drill's text leaves the totals
equal,
--renew writes the new hashes (`make hashes`). If a total differs, search the drill again (`python -m app par
NAME=...`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

from joblib import Parallel, delayed

from app.cli.command_helpers import write_json
from app.files import drill_difficulty, scenario_files
from engine.drill.authoring.scenario import Scenario
from engine.drill.par import certificate
from engine.drill.par.certificate_types import BlunderFields, WaitingCostFields
from engine.drill.par.cost_of_waiting import WaitingCost
from engine.drill.par.search import ParSearch
from engine.drill.running.drill import replay
from engine.drill.running.solution import find_default_end
from engine.generators import run_to_completion
from engine.inputs import Input
from engine.verbs.input_lines import parse_script

PLAN_KINDS: Final = ("par", "clairvoyant")

FOLDER: Final = Path(__file__).parents[1] / "assets" / "par"


def read_certificate(name: str) -> Any:
    """Return the certificate of a shipped drill, even if the text of the drill has changed since."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def compute_text_hash(name: str) -> str:
    return hashlib.sha256(scenario_files.find_scenario_file(name).text.encode()).hexdigest()


def replay_plans(name: str) -> dict[str, tuple[float, str]]:
    """Return plan -> total and state hash. Complete drills play the plans of the certificate."""
    scenario = scenario_files.find_scenario_file(name).load()
    data = read_certificate(name)
    replays = {}
    for plan in PLAN_KINDS:
        drill = replay(scenario, data["seed"], "practice", data[plan]["plan"])
        drill.advance_to(find_default_end(drill, drill.tick))
        replays[plan] = drill.compute_score().total, drill.compute_state_hash()
    return replays


def compute_waiting_costs(name: str) -> WaitingCostFields:
    """Compute the costs of waiting in *name* from the plans of its certificate, and replay its last chance."""
    scenario = scenario_files.find_scenario_file(name).load()
    data = read_certificate(name)
    plans = [data["par"]["plan"], data["shortest"], data.get("last_chance")]
    par, shortest, _ = known_plans = [parse_script("\n".join(lines or ()))[0] for lines in plans]
    seed, last_chance = data["seed"], list[Input]()
    if not reaches_all_goals(scenario, seed, ()):
        full_plans = [
            plan
            for plan in known_plans
            if plan and reaches_all_goals(scenario, seed, [item.line for item in plan])
        ]
        last_chance = max(full_plans, key=lambda plan: plan[0].tick, default=[])
    points = data["par"]["score"], data["idle"]["score"]
    work = WaitingCost(scenario, seed, [par, shortest], *points, last_chance)
    run_to_completion(work.run_steps())
    return work.build_certificate_fields()


def reaches_all_goals(scenario: Scenario, seed: int, lines: Sequence[str]) -> bool:
    """Return whether the plan reaches every goal."""
    drill = replay(scenario, seed, "practice", lines)
    drill.advance_to(find_default_end(drill, drill.tick))
    return all(state.is_reached for state in drill.goals.values())


def compute_blunder_share(name: str) -> BlunderFields:
    """Compute the share of blunders in *name*. The plans of its certificate serve as continuations."""
    scenario = scenario_files.find_scenario_file(name).load()
    data = read_certificate(name)
    search = ParSearch(scenario, data["seed"])
    for _ in search.run_steps(certificate.read_fair_plans(data)):
        if search.has_played_initial_plans:
            break
    blunders = search.build_blunder_test()
    run_to_completion(blunders.run_steps())
    return blunders.certificate_fields


def _recompute_certificate(
    name: str, blunders: bool
) -> tuple[dict[str, tuple[float, str]], Mapping[str, object]]:
    waiting = compute_waiting_costs(name)
    return replay_plans(name), {**waiting, **compute_blunder_share(name)} if blunders else waiting


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--renew", action="store_true", help="write the hashes of plans whose total is the same"
    )
    parser.add_argument("--blunders", action="store_true", help="measure how hard the drills are, too")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    names = options.names or sorted(file.stem for file in FOLDER.glob("*.json"))
    totals, hashes, other_count, stale = 0, 0, 0, 0
    work = (delayed(_recompute_certificate)(name, options.blunders) for name in names)
    replays_found = Parallel(n_jobs=options.jobs, return_as="generator")(work)
    chances = []
    for name, replayed in zip(names, replays_found, strict=True):
        file = FOLDER / f"{name}.json"
        data = read_certificate(name)
        plans, measures = replayed
        same_totals = all(total == data[plan]["score"] for plan, (total, _) in plans.items())
        if data["hashes"]["scenario"] != compute_text_hash(name):
            stale += 1
            print(f"{name}: the certificate is of another text", flush=True)
            if same_totals:
                data["hashes"]["scenario"] = compute_text_hash(name)
        other_count += measures != {key: data.get(key) for key in measures}
        data.update(measures)
        chances.append(drill_difficulty.compute_blunder_chance(data) or 0.0)
        for plan, (total, state) in plans.items():
            if total != data[plan]["score"]:
                totals += 1
                print(f"{name}, {plan}: {total:g} points, certified {data[plan]['score']:g}", flush=True)
            elif state != data["hashes"][plan]:
                hashes += 1
                data["hashes"][plan] = state
        if options.renew:
            write_json(data, str(file))
    print(
        f"{len(names)} certificates: {stale} of another text, {totals} other totals, {hashes} other hashes, "
        f"{other_count} other curves or shares"
    )
    if options.blunders:
        print("quartiles of the chance of a blunder:", *(f"{chance:.3f}" for chance in quantiles(chances)))
    return int(bool(totals or ((stale or hashes or other_count) and not options.renew)))


if __name__ == "__main__":
    sys.exit(main())
