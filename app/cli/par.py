"""`mirrordrill par`: the best that could have been done in a drill, and the plan that proves it."""

from __future__ import annotations

import argparse
import hashlib
import time
from typing import Any, Final

from app.cli.terms import Commands, Unusable, check_seed, loaded, write_json
from app.exit_codes import AS_ASKED

SECONDS: Final = 60.0
"""Seconds that the search may take unless told."""

SECONDS_MAX: Final = 86_400.0


def add_to(command: Commands) -> None:
    par = command("par", "search for the best that could have been done in a drill")
    par.set_defaults(do=_par)
    par.add_argument("scenario", metavar="NAME|FILE")
    par.add_argument("--seed", type=int, metavar="N", help="seed instead of the scenario's own")
    par.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S", help=f"time to search; default {SECONDS:g}"
    )
    par.add_argument("--json", metavar="FILE", help="write plans, curve and hashes; - is standard output")


def _par(options: argparse.Namespace) -> int:
    from engine.drill.par.certificate import Certifying

    scenario = loaded(options.scenario)
    check_seed(options.seed)
    if not 0.0 <= options.seconds <= SECONDS_MAX:
        raise Unusable(f"--seconds {options.seconds:g} is not from 0 to {SECONDS_MAX:g}")
    if not scenario.scored:
        raise Unusable(f"{scenario.name} is not scored: there is no best")
    begun = time.monotonic()
    work = Certifying(scenario, scenario.seed if options.seed is None else options.seed)
    for share in work.steps():  # at least the seeds of each search
        if time.monotonic() - begun >= share * options.seconds:
            work.enough()
    found = work.certificate()
    found["hashes"]["scenario"] = hashlib.sha256(scenario.text.encode()).hexdigest()
    if options.json is not None:
        write_json(found, options.json)
    else:
        print("\n".join(_told(found)))
    return AS_ASKED


def _told(found: dict[str, Any]) -> list[str]:
    reference, lost = found["reference"]["score"], found["point_of_no_return_s"]
    how = "complete" if found["complete"] else f"best of {found['nodes']} nodes"
    lines = [f"{found['scenario']}, seed {found['seed']}: {how}"]
    lines.append(f"par {found['par']['score']:g}, clairvoyant {found['clairvoyant']['score']:g}")
    lines.append("no reference solution" if reference is None else f"reference {reference:g}")
    if lost is not None:
        lines.append(f"all goals can still be reached by a first act at {lost:g} s")
    return [*lines, *found["par"]["plan"]]
