"""A drill as a Gymnasium environment: the agent has the seat of the DBA, with its view and its input lines.

    import gymnasium, app.agents.environment
    env = gymnasium.make("Mirrordrill-v0", scenario="automatic-failover")
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step("power-on SERVER_A")

`observation["told"]` contains the texts that became visible since the last step: lines of logs and states,
complaints of clients, results of batches. `info` of `reset` contains the brief and the goals. A refused line
changes nothing, and `info["refused"]` gives the reason.

A step applies one line, or waits if the line is empty, and then advances the time by DEFAULT_STEP_S seconds.
The reward is the change of the total score, so the rewards of a game add up to its score. A game is
deterministic: scenario, seed and lines reproduce it.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces

from app.files import scenario_files
from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.authoring.scenario import Scenario
from engine.drill.authoring.schema import DRILL_LENGTH_MAX_S
from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par.observability import is_observable
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.solution import END_DELAY_S, find_default_end
from engine.events import Event, SqlDoneData, get_data
from engine.inputs import InputError
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_input_line

DEFAULT_STEP_S: Final = 10.0
"""Default duration of a step in simulated seconds. Assumed: the time that a DBA needs for a command."""

WAIT_ACTION: Final = ""
"""Action that does nothing."""

SEED_COUNT: Final = 2**63
"""Number of possible seeds, counted from 0. `mirrordrill run` can reproduce a game with any of them."""

LINE_LENGTH_MAX: Final = 4_000
"""Maximum characters of an action."""

ALLOWED_CHARACTERS: Final = "".join(map(chr, (*range(32, 127), *range(160, 256)))) + "\n\t–—…’“”„→≥≤×µ"
"""Characters that lines and observations may contain."""

ALLOWED_CHARACTER_SET: Final = frozenset(ALLOWED_CHARACTERS)
"""Set of the characters of ALLOWED_CHARACTERS."""

GymnasiumValues = dict[str, Any]
"""Dictionary in Gymnasium's interface, such as the `info` of a step."""

Observation = GymnasiumValues
"""Named parts of what the agent observes, as Gymnasium's Dict space requires."""


class DrillEnv(gymnasium.Env[Observation, str]):
    """Environment that plays one drill repeatedly. `reset` sets the seed of each game.

    It implements Gymnasium's interface: reset, step, render, close.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 # the class attribute is part of Gymnasium's interface

    def __init__(
        self, scenario: str | Scenario, step_s: float = DEFAULT_STEP_S, render_mode: str | None = None
    ) -> None:
        """Create the environment. *scenario* is a name, a file or a loaded scenario.

        Raises ScenarioNotFoundError, ScenarioError, ValueError.
        """
        self.scenario = (
            scenario if isinstance(scenario, Scenario) else scenario_files.find_scenario_file(scenario).load()
        )
        if not self.scenario.scored:
            raise ValueError(f"{self.scenario.name} is not scored, so it has no rewards")
        if not 1.0 / TICKS_PER_S <= step_s <= DRILL_LENGTH_MAX_S:
            raise ValueError(
                f"step_s must be from {1.0 / TICKS_PER_S:g} to {DRILL_LENGTH_MAX_S:g}, not {step_s:g}"
            )
        self.render_mode = render_mode
        self._step = to_ticks(step_s)
        self._messages: list[str] = []
        self._total = 0.0
        self.drill = SearchDrill(self.scenario)
        self._end: Tick = find_default_end(self.drill)
        line = spaces.Text(max_length=LINE_LENGTH_MAX, min_length=0, charset=ALLOWED_CHARACTERS)
        self.action_space = line
        self.observation_space = spaces.Dict(
            {
                "time_s": spaces.Box(0.0, DRILL_LENGTH_MAX_S + END_DELAY_S, shape=(), dtype=float),
                "told": spaces.Sequence(line),
                "questions": spaces.Sequence(line),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: GymnasiumValues | None = None
    ) -> tuple[Observation, GymnasiumValues]:
        """Begin a new game. If *seed* is None, the game uses the seed of the scenario. Raises ValueError."""
        if seed is not None and seed >= SEED_COUNT:
            raise ValueError(f"seed must be from 0 to 2**63 - 1, not {seed}")
        super().reset(seed=seed)
        self.drill = SearchDrill(self.scenario, seed)
        self._end, self._total = find_default_end(self.drill), 0.0
        scenario = self.drill.scenario
        task = {"brief": scenario.brief, "goals": [goal.text for goal in scenario.goals]}
        return self._build_observation(list(self.drill.events)), self._build_info() | task

    def step(self, action: str) -> tuple[Observation, float, bool, bool, GymnasiumValues]:
        """Apply the input line *action* and advance the time by one step.

        A refused line is reported, and the time advances all the same.
        """
        if not isinstance(action, str):
            raise gymnasium.error.InvalidAction(f"an action is an input line, not {action!r}")
        first, refused = len(self.drill.events), ""
        if action != WAIT_ACTION and (self.drill.finished or self.drill.tick >= self._end):
            refused = "the episode is over; call reset to begin the next one"
        elif action != WAIT_ACTION:
            try:
                self.drill.apply_line(action)
            except InputError as problem:
                refused = str(problem)
        self.drill.advance_to(min(self._end, self.drill.tick + self._step))
        is_over = self.drill.finished or self.drill.tick >= self._end
        total = self.drill.compute_total()
        reward, self._total = total - self._total, total
        observation = self._build_observation(
            self.drill.events[first:], [f"{action}: {refused}"] if refused else []
        )
        return observation, reward, is_over, False, self._build_info(refused)

    def render(self) -> str:
        """Return the output of the last step as text."""
        return "\n".join(self._messages)

    def list_lines(self) -> list[str]:
        """Return possible actions in this scenario, both useful and useless ones.

        The list is a vocabulary for simple players. It does not reveal what is broken. Any other input
        line is also a valid action.
        """
        candidate_lines = [
            line
            for line in list_candidate_lines(self.drill.scenario)
            if not line.startswith(("hint", "revert"))
        ]
        return [
            WAIT_ACTION,
            *filter(self._is_resolvable, [*candidate_lines, *_list_cluster_lines(self.drill.scenario)]),
        ]

    # --- private helpers --------------------------------------------------------------------------------------

    def _is_resolvable(self, line: str) -> bool:
        """Return whether all objects that the line names exist.

        For example, a server may have no instance.
        """
        try:
            simulator.resolve_names(self.drill.world, parse_input_line(line))
        except InputError:
            return False
        return True

    def _build_observation(self, events: list[Event], refused: Sequence[str] = ()) -> Observation:
        """Build the observation after a step.

        *events*: events of the step. *refused*: reason why the line was refused; empty if it was accepted.
        """
        message_texts = [
            f"{event.tick / TICKS_PER_S:.2f} {_format_location(event)}{text}"
            for event in events
            if is_observable(event)
            for text in (_list_output_lines(event) if event.kind == "sql_done" else [event.text])
        ]
        self._messages = [_sanitize_text(text) for text in (*refused, *message_texts)]
        questions = [
            f"{question.name}: {question.text} "
            + " ".join(f"{n}. {choice}" for n, choice in enumerate(question.choices, 1))
            for question in self.drill.list_open_questions()
        ]
        return {
            "time_s": np.asarray(self.drill.tick / TICKS_PER_S),
            "told": tuple(self._messages),
            "questions": tuple(map(_sanitize_text, questions)),
        }

    def _build_info(self, refused: str = "") -> GymnasiumValues:
        """Return additional facts about the current state.

        total: current score. journal: input lines that replay the game with `mirrordrill run --inputs`.
        refused: reason for which the last line was refused; empty if it was accepted.
        """
        journal = [item.line for item in self.drill.journal]
        return {"total": self._total, "journal": journal, "refused": refused}


def _list_output_lines(event: Event) -> list[str]:
    """Return the output of a batch as a query window shows it: the messages, and the rows of the results.

    Tabs separate the columns of a row.
    """
    batch = get_data(event, SqlDoneData)
    if batch is None:
        return [event.text]
    shown_results: list[tuple[int, int, str]] = []
    for index, message in enumerate(batch.messages):
        head = (
            "Msg {number}, Level {severity}, State {state}, Line {line}: ".format(**message)
            if message["number"]
            else ""
        )
        shown_results.append((index, 1, head + message["text"]))
    for result in batch.results:
        rows = (map(_format_cell, row) for row in (result["columns"], *result["rows"]))
        shown_results.append((result["after_messages"], 0, "\n".join(map("\t".join, rows))))
    return [text for _, _, text in sorted(shown_results, key=lambda part: part[:2])] or [event.text]


def _format_cell(value: object) -> str:
    return "NULL" if value is None else str(value)


def _sanitize_text(text: str) -> str:
    """Cut *text* to LINE_LENGTH_MAX characters.

    Replace characters outside the observation space with "?".
    """
    return "".join(letter if letter in ALLOWED_CHARACTER_SET else "?" for letter in text[:LINE_LENGTH_MAX])


def _list_cluster_lines(scenario: Scenario) -> Iterator[str]:
    """Yield commands for availability groups and clusters, and repairs of links."""
    for group in scenario.groups:
        for replica in group.replicas:
            for clause in ("FAILOVER", "FORCE_FAILOVER_ALLOW_DATA_LOSS"):
                yield f"sql {replica.server} ALTER AVAILABILITY GROUP [{group.name}] {clause}"
            for database, clause in product(group.databases, ("SUSPEND", "RESUME")):
                yield f"sql {replica.server} ALTER DATABASE [{database}] SET HADR {clause}"
    for instance in scenario.instances:
        yield from (
            f"{verb} {instance.name}" for verb in ("stop-service", "start-service", "restart-service")
        )
        yield from (f"move-role {instance.name} {node}" for node in instance.owners)
    roles = [
        *(spec.name for spec in scenario.instances),
        *(group_spec.name for group_spec in scenario.groups),
    ]
    yield from (f"start-role {role}" for role in roles)
    for verb, cluster in product(("start-cluster", "force-quorum"), scenario.clusters):
        yield from (f"{verb} {node}" for node in cluster.nodes)
    yield from (
        f"mend {spec.name} {other_spec.name}" for spec, other_spec in combinations(scenario.servers, 2)
    )


def _format_location(event: Event) -> str:
    """Return the names of the event's server and database, each followed by a space."""
    return "".join(f"{name} " for name in (event.server, event.database) if name)


gymnasium.register(id="Mirrordrill-v0", entry_point="app.agents.environment:DrillEnv")
