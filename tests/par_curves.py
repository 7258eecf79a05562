"""Whether V(t) ever rises: `python -m tests.par_curves --runs 500 [--seconds 600]`, over the scored drills in turn.

An act cannot improve the best possible. Players: the reference, and some who do anything, of whom each run has another
seed. Prints a line for each run in which V rose by more than RISE_MAX - as it is told, and by what was known at each
moment, from the certificate's plan and the reference solution alone - and the count of all.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from app.files import certificates, scenario_files
from engine.chance import Chance
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.agents import acts
from engine.drill.par.regret import Account, account
from engine.drill.running.drill import Drill
from engine.drill.running.solution import default_end, played
from engine.inputs import InputProblem
from engine.stepwise import at_once

RISE_MAX: Final = 0.5
"""Points."""

ACTS: Final = 4
"""Of a player who does anything: few enough that the drill can still be won at times."""


def at_random(scenario: Scenario, seed: int) -> Drill:
    drill, chance = Drill(scenario), Chance.from_seed(seed)
    lines, end = [line for line in acts(drill.scenario) if not line.startswith("hint")], default_end(drill)
    for tick in sorted(chance.integer(0, end) for _ in range(ACTS)):
        drill.advance_to(tick)
        with suppress(InputProblem):
            drill.do(lines[chance.integer(0, len(lines) - 1)])
    drill.advance_to(end)
    return drill


def rise(found: Account) -> float:
    """The most points by which the curve, as it is told, goes up."""
    values = [value for _, value in found.curve]
    return max([0.0, *(after - before for before, after in itertools.pairwise(values))])


def runs(after: int = 0) -> Iterator[tuple[str, str, Drill]]:
    """Scenario, player, run: every drill by its reference, then by ever other players, without an end."""
    drills = [
        drill for file in scenario_files.all_files()[0] if file.shipped and (drill := file.load()).scored
    ]
    each = ((round_, scenario) for round_ in itertools.count() for scenario in drills)
    for round_, scenario in itertools.islice(each, after, None):
        yield (
            scenario.name,
            f"random {round_}" if round_ else "reference",
            (at_random(scenario, round_) if round_ else played(scenario)),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--after", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    options = parser.parse_args()
    begun, done, told, known = time.monotonic(), 0, 0, 0
    for name, player, drill in itertools.islice(runs(options.after), options.runs):
        if time.monotonic() - begun > options.seconds:
            break
        found = at_once(account(drill, certificates.plans(drill)))
        done, told, known = done + 1, told + (rise(found) > RISE_MAX), known + (found.risen > RISE_MAX)
        if max(rise(found), found.risen) > RISE_MAX:
            print(f"{name}, {player}: told {rise(found):.1f}, known {found.risen:.1f}", flush=True)
    print(
        f"{done} runs in {time.monotonic() - begun:.0f} s: V as told rose in {told}, by what was known in {known}"
    )


if __name__ == "__main__":
    main()
