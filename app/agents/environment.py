"""A drill as a Gymnasium environment: an agent sits where the DBA sits, sees what that seat sees, and types lines.

    import gymnasium, app.agents.environment
    env = gymnasium.make("Mirrordrill-v0", scenario="automatic-failover")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step("power-on SERVER_A")

A step is a line (or none: wait) and then STEP_S seconds. The reward is what the total of the score has changed by, so
that the rewards of a game add up to its total. A game is deterministic: its scenario, seed and lines play it again.
"""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces

from app.files import scenario_files
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario
from engine.drill.authoring.schema import DURATION_MAX_S
from engine.drill.judging.agents import acts
from engine.drill.par.lean import Lean
from engine.drill.par.sight import seen
from engine.drill.running.solution import SETTLE_S, default_end
from engine.events import Event
from engine.inputs import InputProblem
from engine.model import Tick, ticks

STEP_S: Final = 10.0
"""Seconds that a step takes unless told. Assumed: about as long as a DBA needs for a command."""

WAIT: Final = ""
"""The action of doing nothing."""

LINE_MAX: Final = 4_000
"""Characters of an action at most."""

TEXT: Final = "".join(map(chr, (*range(32, 127), *range(160, 256)))) + "\n\t–—…’“”„→≥≤×µ"
"""Characters of lines and of what is told."""

Observation = dict[str, Any]


class DrillEnv(gymnasium.Env[Observation, str]):
    """One drill after another, the seed of each by `reset`. Use what Gymnasium promises: reset, step, close."""

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self, scenario: str | Scenario, step_s: float = STEP_S, render_mode: str | None = None
    ) -> None:
        """*scenario*: a name, a file or one that was read. Raises NoScenario, ScenarioProblems, ValueError."""
        self.scenario = scenario if isinstance(scenario, Scenario) else scenario_files.find(scenario).load()
        if not self.scenario.scored:
            raise ValueError(f"{self.scenario.name} is not scored: nothing can be gained in it")
        self.render_mode = render_mode
        self._step = ticks(step_s)
        self._told: list[str] = []
        self._total = 0.0
        self.drill = Lean(self.scenario)
        self._end: Tick = default_end(self.drill)
        line = spaces.Text(max_length=LINE_MAX, min_length=0, charset=TEXT)
        self.action_space = line
        self.observation_space = spaces.Dict(
            {
                "time_s": spaces.Box(0.0, DURATION_MAX_S + SETTLE_S, shape=(), dtype=float),
                "told": spaces.Sequence(line),
                "questions": spaces.Sequence(line),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new game; *seed* None: the scenario's own."""
        super().reset(seed=seed)
        self.drill = Lean(self.scenario, seed)
        self._end, self._total = default_end(self.drill), 0.0
        return self._seen(list(self.drill.events)), self._info()

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Do the line *action* and let a step of time pass. A line that cannot be done is told, and costs the time."""
        first, refused = len(self.drill.events), ""
        if action != WAIT and not self.drill.finished:
            try:
                self.drill.do(action)
            except InputProblem as problem:
                refused = f"{action}: {problem}"
        self.drill.advance_to(min(self._end, self.drill.tick + self._step))
        over = self.drill.finished or self.drill.tick >= self._end
        total = self.drill.score().total
        reward, self._total = total - self._total, total
        observation = self._seen(self.drill.events[first:], refused)
        return observation, reward, over, False, self._info()

    def render(self) -> str:
        """What the last step told, a line each."""
        return "\n".join(self._told)

    def lines(self) -> list[str]:
        """Actions that could be tried in this scenario, sensible or not: a vocabulary for players without their own.

        It tells nothing of what is broken. Any other input line is an action, too.
        """
        own = [line for line in acts(self.drill.scenario) if not line.startswith(("hint", "revert"))]
        return [WAIT, *own]

    # --- inside -----------------------------------------------------------------------------------------------

    def _seen(self, events: list[Event], refused: str = "") -> Observation:
        told = [
            f"{event.tick / TICKS_PER_S:.2f} {_place(event)}{event.text}" for event in events if seen(event)
        ]
        self._told = [text[:LINE_MAX] for text in (*([refused] if refused else []), *told)]
        questions = [
            f"{asked.name}: {asked.text} {' '.join(f'{n}. {each}' for n, each in enumerate(asked.choices, 1))}"
            for asked in self.drill.open_questions()
        ]
        return {
            "time_s": np.asarray(self.drill.tick / TICKS_PER_S),
            "told": tuple(self._told),
            "questions": tuple(text[:LINE_MAX] for text in questions),
        }

    def _info(self) -> dict[str, Any]:
        """total: the score as it stands; journal: what plays the game again, see `mirrordrill replay`."""
        return {"total": self._total, "journal": [item.line for item in self.drill.journal]}


def _place(event: Event) -> str:
    return "".join(f"{name} " for name in (event.server, event.database) if name)


gymnasium.register(id="Mirrordrill-v0", entry_point="app.agents.environment:DrillEnv")
