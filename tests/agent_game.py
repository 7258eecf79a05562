"""Long games of an agent: `python -m tests.agent_game --steps 100000 [NAME...]`.

The script prints the memory of the process ten times. It replays every REPLAYED-th game from its journal. It
exits with 1 if a replay differs from its game, or if memory has grown by more than GROWN_MAX since the first
tenth.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import sys
import time
from pathlib import Path
from typing import Final

from app.agents.baseline import choose_random_line
from app.agents.environment import DrillEnv
from engine.drill.running.drill import replay

SCENARIO_NAMES: Final = ("automatic-failover", "isolated-principal", "forced-service", "witness-lost")
GAMES_PER_REPLAY: Final = 5
MEMORY_GROWTH_MAX: Final = 0.10


def measure_resident_mb() -> float:
    """Return the current memory of this process in MB, or its peak if the system reports only the peak."""
    gc.collect()
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=SCENARIO_NAMES)
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args()
    envs = [DrillEnv(name) for name in options.names]
    start_s, steps, replayed, differ = time.monotonic(), 0, 0, 0
    memory: list[float] = []
    for number in itertools.count():
        env, seed, is_over = envs[number % len(envs)], 1 + number // len(envs), False
        _, info = env.reset(seed=seed)
        while not is_over and steps < options.steps:
            _, _, is_over, _, info = env.step(choose_random_line(env, seed))
            steps += 1
            if steps % (options.steps // 10) == 0:
                memory.append(measure_resident_mb())
                print(
                    f"{steps} steps, {number} games, {time.monotonic() - start_s:.0f} s: {memory[-1]:.1f} MB",
                    flush=True,
                )
        if number % GAMES_PER_REPLAY == 0:
            second_run = replay(env.scenario, seed, "practice", info["journal"], env.drill.tick)
            replayed += 1
            differ += (
                second_run.compute_state_hash() != env.drill.compute_state_hash()
                or second_run.compute_score().total != info["total"]
            )
        if steps >= options.steps:
            break
    print(f"{replayed} games played again, {differ} differ")
    return int(differ > 0 or memory[-1] > (1.0 + MEMORY_GROWTH_MAX) * memory[0])


if __name__ == "__main__":
    sys.exit(main())
