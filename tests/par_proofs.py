"""Plays every plan of the certificates again: `python -m tests.par_proofs [--renew] [NAME...]`.

Prints each plan that comes to another total than was certified, and counts those with another total or hash; exits with
1 if there is one. After a change of behaviour that leaves the totals as they are, --renew writes the new hashes (`make
hashes`); where a total is another, search the drill again: `mirrordrill par NAME --json assets/par/NAME.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from joblib import Parallel, delayed

from app.cli.terms import write_json
from app.files import certificates, scenario_files
from engine.drill.authoring.scenario import Scenario
from engine.drill.par.waiting import Waiting
from engine.drill.running.drill import replay
from engine.drill.running.solution import default_end
from engine.inputs import Input
from engine.stepwise import at_once
from engine.verbs.lines import parse_script

PLANS: Final = ("par", "clairvoyant")

FOLDER: Final = Path(__file__).parents[1] / "assets" / "par"


def came_to(name: str) -> dict[str, tuple[float, str]] | None:
    """Total and hash of each plan of *name*, played by whole drills; None: its certificate is of another text."""
    scenario = scenario_files.find(name).load()
    found = certificates.kept(scenario)
    if found is None:
        return None
    again = {}
    for plan in PLANS:
        drill = replay(scenario, found["seed"], "practice", found[plan]["plan"])
        drill.advance_to(default_end(drill, drill.tick))
        again[plan] = drill.score().total, drill.state_hash()
    return again


def waited(name: str) -> dict[str, Any]:
    """What waiting comes to in *name*, by the plans of its certificate; its last chance is played, too."""
    scenario = scenario_files.find(name).load()
    found = certificates.kept(scenario)
    assert found is not None
    plans = [found["par"]["plan"], found["shortest"], found.get("last_chance")]
    par, shortest, _ = known = [parse_script("\n".join(lines or ()))[0] for lines in plans]
    seed, last_chance = found["seed"], list[Input]()
    if not reaches(scenario, seed, ()):
        whole = [plan for plan in known if plan and reaches(scenario, seed, [item.line for item in plan])]
        last_chance = max(whole, key=lambda plan: plan[0].tick, default=[])
    points = found["par"]["score"], found["idle"]["score"]
    work = Waiting(scenario, seed, [par, shortest], *points, last_chance)
    at_once(work.steps())
    return work.told()


def reaches(scenario: Scenario, seed: int, lines: Sequence[str]) -> bool:
    """Whether the plan reaches every goal."""
    drill = replay(scenario, seed, "practice", lines)
    drill.advance_to(default_end(drill, drill.tick))
    return all(state.met for state in drill.goals.values())


def _again(name: str) -> tuple[dict[str, tuple[float, str]], dict[str, Any]] | None:
    plans = came_to(name)
    return None if plans is None else (plans, waited(name))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--renew", action="store_true", help="write the hashes of plans whose total is the same"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    names = options.names or sorted(file.stem for file in FOLDER.glob("*.json"))
    totals, hashes, waits, stale = 0, 0, 0, 0
    found_again = Parallel(n_jobs=options.jobs, return_as="generator")(map(delayed(_again), names))
    for name, again in zip(names, found_again, strict=True):
        if again is None:
            stale += 1
            print(f"{name}: the certificate is of another text", flush=True)
            continue
        file = FOLDER / f"{name}.json"
        found = json.loads(file.read_text(encoding="utf-8"))
        plans, of_waiting = again
        waits += of_waiting != {key: found.get(key) for key in of_waiting}
        found.update(of_waiting)
        for plan, (total, state) in plans.items():
            if total != found[plan]["score"]:
                totals += 1
                print(f"{name}, {plan}: {total:g} points, certified {found[plan]['score']:g}", flush=True)
            elif state != found["hashes"][plan]:
                hashes += 1
                found["hashes"][plan] = state
        if options.renew:
            write_json(found, str(file))
    print(
        f"{len(names)} certificates: {stale} of another text, {totals} other totals, {hashes} other hashes, "
        f"{waits} other curves"
    )
    return int(bool(stale or totals or ((hashes or waits) and not options.renew)))


if __name__ == "__main__":
    sys.exit(main())
