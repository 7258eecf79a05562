"""Search for rises of V(t): `python -m tests.par_curves [--hostile] [--runs 500] [--seconds 600]`.

V(t) is the score that is reachable at time t. No input can raise it, so each rise shows an error of the
search. The reference and players with random inputs play the scored drills in turn, with a new seed for each
run. With --hostile, players break something before the first timeline entry and act again soon afterwards;
the drills are generated or come from tests/par_drills.py. The script prints each run in which V rose by more
than RISE_MAX: in the displayed curve, or in the curve that uses only facts known at each time. It ends with
the counts and the processor time.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from app.files import par_certificates, scenario_files
from app.files.generated_drills import GENERATOR_NAMES
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par.candidate_actions import list_candidates, list_scenario_lines
from engine.drill.par.regret import VALUE_RISE_MAX, analyze_regret
from engine.drill.par.regret_analysis import RegretAnalysis
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end, play_reference
from engine.generators import run_to_completion
from engine.inputs import InputError
from engine.model import Tick, World, to_ticks
from engine.random_streams import RandomStream
from engine.verbs import VERBS
from tests import par_drills

ACTIONS_PER_RUN: Final = 4
"""Number of inputs of a random player, so small that some runs reach all goals."""

BREAKING_VERBS: Final = ("power-off", "stop-service", "pull-cable", "hang", "stop-cluster", "stop-role")

Run = tuple[str, str, Drill]
"""(scenario, player, run)."""


def play_at_random(scenario: Scenario, seed: int) -> Drill:
    drill, chance = Drill(scenario), RandomStream.from_seed(seed)
    lines, end = (
        [line for line in list_candidate_lines(drill.scenario) if not line.startswith("hint")],
        find_default_end(drill),
    )
    for tick in sorted(chance.draw_integer(0, end) for _ in range(ACTIONS_PER_RUN)):
        drill.advance_to(tick)
        with suppress(InputError):
            drill.apply_line(lines[chance.draw_integer(0, len(lines) - 1)])
    drill.advance_to(end)
    return drill


def play_hostile(scenario: Scenario, seed: int) -> Drill:
    """Play a drill: first break something, sometimes twice in a row, then apply random or breaking inputs."""
    drill, lean, chance = Drill(scenario, seed), SearchDrill(scenario, seed), RandomStream.from_seed(seed)
    known_lines, end = list_scenario_lines(drill.scenario), find_default_end(drill)
    first = min((to_ticks(entry.at or 30.0) for entry in scenario.timeline), default=to_ticks(30.0))
    tick: Tick = chance.draw_integer(0, first)
    for number in range(ACTIONS_PER_RUN):
        for run in (drill, lean):
            run.advance_to(min(tick, end))
        lines = (
            _list_breaking_lines(lean.world)
            if number == 0 or chance.draw_integer(0, 2) == 0
            else list_candidates(lean, known_lines)
        )
        line = lines[chance.draw_integer(0, len(lines) - 1)] if lines else ""
        for run in (drill, lean):
            with suppress(InputError):
                run.apply_line(line)
        is_soon = chance.draw_integer(0, 1) == 0
        tick += (
            chance.draw_integer(to_ticks(1.0), to_ticks(5.0))
            if is_soon
            else chance.draw_integer(0, max(1, end - tick) // 2)
        )
    drill.advance_to(end)
    return drill


def _list_breaking_lines(world: World) -> list[str]:
    """Return the lines that break something in the world."""
    objects = [*world.computers, *world.instances, *world.nodes]
    tried = [
        f"{name} {object_name}"
        for name in BREAKING_VERBS
        if name in VERBS
        for object_name in dict.fromkeys(objects)
    ]
    for server, database in world.copies:
        tried += [
            f"sql {server} ALTER DATABASE [{database}] SET PARTNER {option}" for option in ("OFF", "SUSPEND")
        ]
        tried.append(f"sql {server} RESTORE DATABASE [{database}] WITH RECOVERY")
    return tried


def measure_rise(account: RegretAnalysis) -> float:
    """Return the largest rise of the stored curve, in points."""
    values = [value for _, value in account.curve]
    return max([0.0, *(next_value - before for before, next_value in itertools.pairwise(values))])


def play_runs(start: int = 0) -> Iterator[Run]:
    """Yield a run of every drill with its reference, then endlessly runs with random players."""
    drills = [
        drill for file in scenario_files.list_all_files()[0] if file.shipped and (drill := file.load()).scored
    ]
    rounds_and_drills = ((round_, scenario) for round_ in itertools.count() for scenario in drills)
    for round_, scenario in itertools.islice(rounds_and_drills, start, None):
        yield (
            scenario.name,
            f"random {round_}" if round_ else "reference",
            (play_at_random(scenario, round_) if round_ else play_reference(scenario)),
        )


def play_hostile_runs(start: int = 0) -> Iterator[Run]:
    """Yield endlessly runs of own and newly generated drills with random players."""
    generators = [scenario_files.find_scenario_file(name).load() for name in GENERATOR_NAMES]
    rounds_and_drills = (
        (player, drill)
        for player in itertools.count(1)
        for drill in (*par_drills.list_scenarios(), *generators)
    )
    for player, scenario in itertools.islice(rounds_and_drills, start, None):
        yield scenario.name, f"hostile {player}", play_hostile(scenario, player)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--after", type=int, default=0, help="leave out so many of them")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--hostile", action="store_true", help="players who break things, in other drills")
    options = parser.parse_args()
    start_s, done_count, told_count, known_count, broken, worked_s = time.monotonic(), 0, 0, 0, 0, 0.0
    player_runs = play_hostile_runs if options.hostile else play_runs
    for name, player, drill in itertools.islice(player_runs(options.after), options.runs):
        if time.monotonic() - start_s > options.seconds:
            break
        before_s = time.process_time()
        try:
            account = run_to_completion(analyze_regret(drill, par_certificates.load_certified_plans(drill)))
        except (KeyError, AssertionError) as error:
            print(f"{name}, {player}: {error!r}", flush=True)
            broken += 1
            continue
        worked_s += time.process_time() - before_s
        done_count, told_count, known_count = (
            done_count + 1,
            told_count + (measure_rise(account) > VALUE_RISE_MAX),
            known_count + (account.largest_rise > VALUE_RISE_MAX),
        )
        if max(measure_rise(account), account.largest_rise) > VALUE_RISE_MAX:
            print(
                f"{name}, {player}: told {measure_rise(account):.1f}, known {account.largest_rise:.1f}",
                flush=True,
            )
    print(
        f"{done_count} runs in {time.monotonic() - start_s:.0f} s, accounts in {worked_s:.0f} s of processor time:"
        f" V as told rose in {told_count}, by what was known in {known_count}; {broken} broke the engine"
    )


if __name__ == "__main__":
    main()
