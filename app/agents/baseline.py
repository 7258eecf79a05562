"""Baseline players: `python -m app.agents.baseline NAME --player random|greedy --games 10`.

`random` enters a random line of the scenario's vocabulary or waits. `greedy` tries each line on a fork of the
game, advances by LOOK_AHEAD_S, and takes the line with the highest score. Unlike a seat, it reads the
simulator directly. It compares single lines and makes no plan.
"""

import argparse
from collections.abc import Callable
from typing import Final

from app.agents.environment import WAIT_ACTION, DrillEnv
from engine.inputs import InputError
from engine.model import to_ticks
from engine.random_streams import RandomStream

LOOK_AHEAD_S: Final = 60.0
"""Simulated seconds that the greedy player looks ahead. Assumed: the boot time of a server."""

LINES_PER_GAME: Final = 8
"""Average number of lines that the random player enters in a game of the drill's full length. Assumed."""

ChooseAction = Callable[[DrillEnv, int], str]
"""Function of the environment and the seed of the game that returns the next action."""


def choose_random_line(env: DrillEnv, seed: int) -> str:
    """Return a random line or a wait. The longer the drill, the more likely is a wait."""
    chance = RandomStream.from_seed(seed ^ env.drill.tick)
    steps = max(1, (env.drill.end_tick or to_ticks(600.0)) // to_ticks(10.0))
    if chance.draw_uniform() > LINES_PER_GAME / steps:
        return WAIT_ACTION
    lines = env.list_lines()
    return lines[chance.draw_integer(0, len(lines) - 1)]


def choose_best_line(env: DrillEnv, _: int) -> str:
    """Return the line with the highest score after LOOK_AHEAD_S.

    Among equal scores, the first in the list wins.
    """
    scores_by_line = {line: _estimate_score(env, line) for line in env.list_lines()}
    return max(scores_by_line, key=scores_by_line.__getitem__)


def _estimate_score(env: DrillEnv, line: str) -> float:
    """Return the score after *line* and LOOK_AHEAD_S without further actions; -1 for a refused line."""
    run = env.drill.fork()
    if line != WAIT_ACTION:
        try:
            run.apply_line(line)
        except InputError:
            return -1.0
    run.advance_to(run.tick + to_ticks(LOOK_AHEAD_S))
    return run.compute_score().total


PLAYER_FUNCTIONS: Final[dict[str, ChooseAction]] = {"random": choose_random_line, "greedy": choose_best_line}
"""Name on the command line -> player."""


def play_game(env: DrillEnv, player: ChooseAction, seed: int) -> float:
    """Play one game and return its total score."""
    _, info = env.reset(seed=seed)
    is_over = False
    while not is_over:
        _, _, is_over, _, info = env.step(player(env, seed))
    return float(info["total"])


def main() -> None:
    """Play drills with a simple player and print the scores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", metavar="NAME|FILE")
    parser.add_argument("--player", choices=sorted(PLAYER_FUNCTIONS), default="random")
    parser.add_argument("--games", type=int, default=10)
    options = parser.parse_args()
    env = DrillEnv(options.scenario)
    totals = [play_game(env, PLAYER_FUNCTIONS[options.player], seed) for seed in range(1, options.games + 1)]
    print(f"{options.scenario}, {options.player}: mean {sum(totals) / len(totals):.1f} of {totals}")


if __name__ == "__main__":
    main()
