"""Automatic players that test whether a rubric rewards the right runs: the reference and exploits.

An exploit seeks points by a trick. Its honest twin plays the same without the trick and must rank
higher. The ranking compares, in this order: completed runs, points, hints and rewinds, time of the
goals, time of the last action. Wasted time without harm to users costs no points but lowers the rank.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.drill.authoring.lint import IDLE_POINTS_MAX, SOLUTION_POINTS_MIN
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end, play_idle, play_reference
from engine.drill.time.history import History
from engine.inputs import Input, InputError
from engine.model import Tick, to_ticks
from engine.random_streams import RandomStream

PlayFunction = Callable[[Scenario, int], Drill]
"""Function that plays the drill of a scenario to its end, with a seed."""

RANDOM_ACTION_COUNT: Final = 25
"""Number of actions of a random player. Assumed: a nervous person performs as many in a drill."""
RANDOM_PLAYER_COUNT: Final = 3
"""Number of random players, which differ in their seeds."""
LATE_PLAYER_DELAY_S: Final = 60.0
"""Delay of each action in `play_late`."""
REVERT_INTERVAL_S: Final = 20.0
"""Interval between two `revert-all` inputs in `play_with_repeated_reverts`."""
FIRST_ACTION_TICK: Final = to_ticks(1.0)
"""Time of the first action of players that do not wait for the failure."""


# --- possible actions ---------------------------------------------------------------------------------------

_MIRRORING_CLAUSES: Final = (
    "SET PARTNER FAILOVER",
    "SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS",
    "SET PARTNER OFF",
    "SET PARTNER SUSPEND",
    "SET PARTNER RESUME",
    "SET WITNESS OFF",
    "SET PARTNER SAFETY OFF",
    "SET PARTNER SAFETY FULL",
)
"""ALTER DATABASE clauses for mirroring that automatic players may send to every server for every database."""
_SERVER_VERBS: Final = (
    "power-off", "power-on", "stop-service", "start-service", "pull-cable", "plug-cable", "restart-service",
)  # fmt: skip
"""Verbs that a player can use on every server."""


def list_candidate_lines(scenario: Scenario) -> list[str]:
    """Return input lines that a player could try in a drill, useful or not."""
    lines = [f"{verb} {server.name}" for server in scenario.servers for verb in _SERVER_VERBS]
    for server in scenario.servers:
        for database in scenario.databases:
            name = database.names[0]
            lines += [f"sql {server.name} ALTER DATABASE [{name}] {clause}" for clause in _MIRRORING_CLAUSES]
            lines.append(f"sql {server.name} RESTORE DATABASE [{name}] WITH RECOVERY")
    lines += [
        f"answer {i.name} {number}" for i in scenario.inquiries for number in range(1, len(i.texts) + 1)
    ]
    return [*lines, "revert-all", "hint 1", "hint 2", "hint 3"]


def _try_line(drill: Drill | History, line: str) -> None:
    with suppress(InputError):  # continue, as a person would after reading the error
        drill.apply_line(line)


def _play_to_end(drill: Drill | History) -> Drill:
    ended_drill = drill.drill if isinstance(drill, History) else drill
    drill.advance_to(find_default_end(ended_drill, ended_drill.tick))
    return ended_drill


def _list_reference_inputs(scenario: Scenario, seed: int) -> list[Input]:
    """Return the inputs of the reference solution with their times."""
    return play_reference(scenario, seed).journal


# --- players ------------------------------------------------------------------------------------------------


def build_random_player(player: int) -> PlayFunction:
    """Build a player that applies random actions at random times.

    *player*: number of the player; each number gives other actions.
    """

    def play(scenario: Scenario, seed: int) -> Drill:
        drill = Drill(scenario, seed)
        chance = RandomStream.from_seed(seed * RANDOM_PLAYER_COUNT + player)
        lines, end = list_candidate_lines(drill.scenario), find_default_end(drill)
        for tick in sorted(chance.draw_integer(0, end) for _ in range(RANDOM_ACTION_COUNT)):
            drill.advance_to(tick)
            _try_line(drill, lines[chance.draw_integer(0, len(lines) - 1)])
        return _play_to_end(drill)

    return play


def play_worst(scenario: Scenario, seed: int) -> Drill:
    """Remove every session, force service wherever possible, then power off everything."""
    drill = Drill(scenario, seed)
    for clause in ("SET WITNESS OFF", "SET PARTNER OFF"):
        drill.advance_to(drill.tick + FIRST_ACTION_TICK)
        for line in list_candidate_lines(drill.scenario):
            if line.endswith(clause):
                _try_line(drill, line)
    for verb in ("restore", "stop-service", "pull-cable", "power-off"):
        drill.advance_to(drill.tick + FIRST_ACTION_TICK)
        for line in list_candidate_lines(drill.scenario):
            if line.startswith(verb) or (verb == "restore" and "RESTORE" in line):
                _try_line(drill, line)
    return _play_to_end(drill)


def play_with_noops(scenario: Scenario, seed: int) -> Drill:
    """Play the reference. Before each step, unplug and plug in a healthy server, and query it."""
    drill = Drill(scenario, seed)
    for item in _list_reference_inputs(scenario, seed):
        drill.advance_to(item.tick)
        world = drill.world
        reachable_servers = (
            s.name for s in world.instances.values() if s.running and world.get_computer_of(s.name).nic_up
        )
        server = next(reachable_servers, drill.scenario.servers[0].name)
        for line in (
            f"pull-cable {server}",
            f"plug-cable {server}",
            f"sql {server} SELECT 1",
            "note nothing",
        ):
            _try_line(drill, line)
        _try_line(drill, item.line_without_time)
    return _play_to_end(drill)


def play_with_harmful_trials(scenario: Scenario, seed: int) -> Drill:
    """Play the reference. Before each step, try harmful actions, watch their effect, and rewind."""
    history = History(Drill(scenario, seed))
    harm = [
        line
        for line in list_candidate_lines(history.drill.scenario)
        if "SET PARTNER OFF" in line or "FORCE" in line
    ]
    for item in _list_reference_inputs(scenario, seed):
        history.advance_to(item.tick)
        for line in harm:
            _try_line(history, line)
        history.advance_to(item.tick + to_ticks(10.0))
        history = history.fork(item.tick, before_inputs=True)
        _try_line(history, item.line_without_time)
    return _play_to_end(history)


def play_with_farmed_hints(scenario: Scenario, seed: int) -> Drill:
    """Open every hint during the reference, rewind to the beginning, and play the reference again."""
    history = History(Drill(scenario, seed))
    steps = _list_reference_inputs(scenario, seed)
    for item in steps:
        history.advance_to(max(FIRST_ACTION_TICK, item.tick - 1))
        for layer in (1, 2, 3):
            _try_line(history, f"hint {layer}")
        _try_line(history, item.line_without_time)
    return _play_steps(history.fork(min(FIRST_ACTION_TICK, history.drill.tick)), steps)


def play_late(scenario: Scenario, seed: int) -> Drill:
    """Play the reference with each step delayed by LATE_PLAYER_DELAY_S."""
    inputs = [
        replace(i, tick=i.tick + to_ticks(LATE_PLAYER_DELAY_S))
        for i in _list_reference_inputs(scenario, seed)
    ]
    return _play_steps(Drill(scenario, seed), inputs)


def play_before_failure(scenario: Scenario, seed: int) -> Drill:
    """Apply all actions of the reference at the start, before the failure."""
    return _play_steps(
        Drill(scenario, seed),
        [replace(i, tick=FIRST_ACTION_TICK) for i in _list_reference_inputs(scenario, seed)],
    )


def play_with_repeated_reverts(scenario: Scenario, seed: int) -> Drill:
    """Send `revert-all` every few seconds instead of diagnosing the fault."""
    drill = Drill(scenario, seed)
    end = find_default_end(drill)
    while not drill.finished and drill.tick < end:
        drill.advance_to(min(end, drill.tick + to_ticks(REVERT_INTERVAL_S)))
        if not drill.finished:
            _try_line(drill, "revert-all")
    return _play_to_end(drill)


def play_immediate_finish(scenario: Scenario, seed: int) -> Drill:
    """End the drill at the start, before the failure."""
    drill = Drill(scenario, seed)
    drill.advance_to(FIRST_ACTION_TICK)
    _try_line(drill, "finish")
    return drill


def play_until_goals_met(scenario: Scenario, seed: int) -> Drill:
    """Play the reference, and end the drill in the first second at which all goals are reached."""
    drill = Drill(scenario, seed)
    steps = list(reversed(_list_reference_inputs(scenario, seed)))
    while not drill.finished and not all(goal.is_reached for goal in drill.goals.values()):
        while steps and steps[-1].tick <= drill.tick:
            _try_line(drill, steps.pop().line_without_time)
        next_second: Tick = drill.tick - drill.tick % to_ticks(1.0) + to_ticks(1.0)
        drill.advance_to(min([next_second, *(item.tick for item in steps[-1:])]))
    if not drill.finished:
        drill.end_now()
    return drill


def _play_steps(drill: Drill | History, steps: Iterable[Input]) -> Drill:
    for item in steps:
        drill.advance_to(item.tick)
        _try_line(drill, item.line_without_time)
    return _play_to_end(drill)


# --- ranking ------------------------------------------------------------------------------------------------


AllowanceExplainer = Callable[[Scenario], str]
"""Function (scenario) -> reason why an exploit may equal its honest twin there; "" if it may not."""


def _explain_early_action(scenario: Scenario) -> str:
    if not scenario.timeline:
        return "the faults exist from the start, so waiting has no use"
    return scenario.early or ""


def _explain_early_finish(scenario: Scenario) -> str:
    return "all goals are met and no event follows, so the drill may be finished"


class AutomaticPlayer(Struct, frozen=True):
    """Automatic player. An exploit also names its honest twin, which plays the same without the trick."""

    name: str
    play: PlayFunction
    twin: str | None = None
    """Name of the honest twin; None if the player is not an exploit."""
    explain_allowance: AllowanceExplainer = lambda _: ""
    """Function (scenario) -> reason why the player may rank equal to or before its honest twin.

    The reason is "" if it may not. More points than the twin are never allowed.
    """


REFERENCE_PLAYER, IDLE_PLAYER, WORST_PLAYER = "reference", "nothing", "worst"

AUTOMATIC_PLAYERS: Final[tuple[AutomaticPlayer, ...]] = (
    AutomaticPlayer(REFERENCE_PLAYER, play_reference),
    AutomaticPlayer(IDLE_PLAYER, play_idle),
    AutomaticPlayer(WORST_PLAYER, play_worst),
    *(
        AutomaticPlayer(f"random {player}", build_random_player(player))
        for player in range(1, RANDOM_PLAYER_COUNT + 1)
    ),
    AutomaticPlayer("no-op and undo", play_with_noops, REFERENCE_PLAYER),
    AutomaticPlayer("wrong first, then back", play_with_harmful_trials, REFERENCE_PLAYER),
    AutomaticPlayer("hint farming", play_with_farmed_hints, REFERENCE_PLAYER),
    AutomaticPlayer("stalling", play_late, REFERENCE_PLAYER),
    AutomaticPlayer("before the failure", play_before_failure, REFERENCE_PLAYER, _explain_early_action),
    AutomaticPlayer("leaving on top", play_until_goals_met, REFERENCE_PLAYER, _explain_early_finish),
    AutomaticPlayer("revert-all", play_with_repeated_reverts, REFERENCE_PLAYER),
    AutomaticPlayer(
        "leaving at once", play_immediate_finish, IDLE_PLAYER, lambda _: "no action in either run"
    ),
)
"""All automatic players, in the order of the columns of `format_table`."""


class PlayerResult(Struct, frozen=True):
    """Result of an automatic player in one scenario."""

    agent: str
    total: float
    """Total score of the run."""
    finished: bool
    hints_cost: float = 0.0
    """Points deducted for hints."""
    aids: int = 0
    """Number of opened hint layers plus number of rewinds."""
    reached_s: float | None = None
    """Mean time at which the goals were reached; None if a goal was missed."""
    last_deed_s: float = 0.0
    """Time of the player's last action."""

    @property
    def key(self) -> tuple[bool, float, int, float, float]:
        """Sort key that puts the best result first."""
        reached_s = math.inf if self.reached_s is None else self.reached_s
        return (not self.finished, -self.total, self.aids, reached_s, self.last_deed_s)

    def as_json(self) -> dict[str, object]:
        """Return the result in JSON types."""
        return {
            "agent": self.agent,
            "total": self.total,
            "finished": self.finished,
            "aids": self.aids,
            "reached_s": self.reached_s,
            "last_deed_s": self.last_deed_s,
        }


class Ranking(Struct, frozen=True):
    """Ranking of all automatic players in one scenario, best first."""

    scenario: str
    seed: int
    standings: tuple[PlayerResult, ...]
    """Results, best first."""
    violations: tuple[str, ...]
    """Sentence for each violation of the expected order."""
    allowed: tuple[tuple[str, str], ...] = ()
    """(exploit, reason) for exploits that are allowed to rank at or before their twin."""

    def find_result(self, agent: str) -> PlayerResult:
        """Return the result of the automatic player with the name *agent*."""
        return next(standing for standing in self.standings if standing.agent == agent)

    def as_json(self) -> dict[str, object]:
        """Return the ranking in JSON types."""
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "standings": [standing.as_json() for standing in self.standings],
            "wrong": list(self.violations),
            "allowed": [{"agent": agent, "why": reason} for agent, reason in self.allowed],
        }


def rank_players(
    scenario: Scenario, seed: int | None = None, agents: Iterable[AutomaticPlayer] = AUTOMATIC_PLAYERS
) -> Ranking:
    """Let every player in *agents* play the drill in practice mode, and rank the results.

    The ranking also lists violations of the expected order.
    """
    seed, agents = scenario.seed if seed is None else seed, tuple(agents)
    try:
        play_reference(scenario, seed)
    except InputError as problem:
        return Ranking(scenario.name, seed, (), (f"the reference cannot be played: {problem}",))
    standings = [_summarize_run(agent, agent.play(scenario, seed)) for agent in agents]
    by_name = {standing.agent: standing for standing in standings}
    twins = {agent.name: agent.twin for agent in agents if agent.twin is not None}
    allowed = tuple(
        (agent.name, reason)
        for agent in agents
        if agent.twin is not None
        and by_name[agent.name].key <= by_name[agent.twin].key
        and (reason := agent.explain_allowance(scenario))
    )
    # the sort is stable: equal results keep the order of AGENTS
    order = sorted(standings, key=lambda s: s.key)
    errors = find_ranking_errors(standings, twins, [name for name, _ in allowed])
    return Ranking(scenario.name, seed, tuple(order), tuple(errors), allowed)


def _summarize_run(agent: AutomaticPlayer, drill: Drill) -> PlayerResult:
    score = drill.compute_score()
    met_ticks = [
        state.met_tick for state in drill.goals.values() if state.is_reached and state.met_tick is not None
    ]
    return PlayerResult(
        agent.name,
        score.total,
        score.finished,
        arithmetic.add_in_order(hint.cost for hint in drill.hints),
        len(drill.hints) + len(drill.rewinds),
        arithmetic.add_in_order(met_ticks) / len(met_ticks) / TICKS_PER_S
        if met_ticks and len(met_ticks) == len(drill.goals)
        else None,
        drill.journal[-1].tick / TICKS_PER_S if drill.journal else 0.0,
    )


def find_ranking_errors(
    standings: Iterable[PlayerResult], twins: Mapping[str, str], allowed: Iterable[str] = ()
) -> list[str]:
    """Return a sentence for each ranking error among *standings*.

    *twins*: exploit -> its honest twin. *allowed*: exploits that may rank equal to or above their twin.
    Even these may not have more points than their twin.
    """
    by_name = {standing.agent: standing for standing in standings}
    best, idle, bad = by_name[REFERENCE_PLAYER], by_name[IDLE_PLAYER], by_name[WORST_PLAYER]
    allowed, errors = set(allowed), []
    if not best.finished or best.total < SOLUTION_POINTS_MIN:
        errors.append(f"the reference earns {best.total:g}, less than {SOLUTION_POINTS_MIN:g}")
    if idle.finished or idle.total >= IDLE_POINTS_MAX:
        errors.append(f"doing nothing earns {idle.total:g}, not less than {IDLE_POINTS_MAX:g}")
    if bad.finished or bad.total > idle.total:
        errors.append(f"the worst player earns {bad.total:g}, doing nothing {idle.total:g}")
    for standing_result in by_name.values():
        if standing_result.total > best.total:
            errors.append(
                f"{standing_result.agent} earns {standing_result.total:g}, the reference {best.total:g}"
            )
        twin = by_name[twins[standing_result.agent]] if standing_result.agent in twins else None
        if twin is not None and twin is not best and standing_result.total > twin.total:
            errors.append(
                f"{standing_result.agent} earns {standing_result.total:g}, {twin.agent} {twin.total:g}"
            )
        if twin is not None and standing_result.key <= twin.key and standing_result.agent not in allowed:
            errors.append(
                f"{standing_result.agent} ranks equal to or above {twin.agent}, "
                f"both with {standing_result.total:g} points"
                if standing_result.total == twin.total
                else f"{standing_result.agent} ranks above {twin.agent}"
            )
        if standing_result.hints_cost > 0.0 and standing_result.total >= best.total:
            errors.append(f"{standing_result.agent} used hints and earns as much as the reference, or more")
    finishers = min((s.total for s in by_name.values() if s.finished), default=100.0)
    errors += [
        f"{agent_result.agent} did not reach all goals but earns {agent_result.total:g}; "
        f"a player that did earns only {finishers:g}"
        for agent_result in by_name.values()
        if not agent_result.finished and agent_result.total > finishers
    ]
    return errors


TABLE_LEGEND: Final = """\
(in brackets: goals not met); = same points as the reference, ranked below it because of more help, later goals or a
later last action; + ranked equal to or above the reference, which is allowed here"""
"""Explanation of the signs in the table of `format_table`."""


def format_table(rankings: Iterable[Ranking]) -> str:
    """Format all rankings as one table: a row for each scenario, and a column for each automatic player."""
    rankings = list(rankings)
    names = [agent.name for agent in AUTOMATIC_PLAYERS]
    width = max((len(ranking.scenario) for ranking in rankings), default=0)
    head = f"{'':{width}}  " + "  ".join(f"{name:>{max(7, len(name))}}" for name in names)
    rows = [
        f"{ranking.scenario:{width}}  " + "  ".join(_format_cell(ranking, name) for name in names)
        for ranking in rankings
        if ranking.standings
    ]
    grouped: dict[tuple[str, str], list[str]] = {}
    for ranking in rankings:
        for allowed in ranking.allowed:
            grouped.setdefault(allowed, []).append(ranking.scenario)
    legit = [
        f"+ {agent}: {reason} ({_format_scenarios(cells)})" for (agent, reason), cells in grouped.items()
    ]
    violations = [
        f"{ranking.scenario}: {violation}" for ranking in rankings for violation in ranking.violations
    ]
    count = len(rankings)
    verdict = f"Problems: {len(violations)}" if violations else f"Scenarios: {count}, no problems"
    return "\n".join([head, *rows, TABLE_LEGEND, *legit, *violations, verdict])


def _format_scenarios(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else f"{len(names)} scenarios"


def _format_cell(ranking: Ranking, name: str) -> str:
    standing, best = ranking.find_result(name), ranking.find_result(REFERENCE_PLAYER)
    mark = "=" if standing is not best and standing.finished and standing.total == best.total else ""
    if name in dict(ranking.allowed):
        mark = "+"
    text = f"{standing.total:g}" if standing.finished else f"({standing.total:g})"
    return f"{mark}{text:}".rjust(max(7, len(name)))
