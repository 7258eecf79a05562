"""What each act and each wait of a run cost: V(t), the best total that could still be reached from a moment of it.

V is a lower bound: the best of what is known to be possible from there, which is the run itself, every rest of the
reference solution and every rest of the plans that a search has found, each act in its turn as soon as it may be done.
Whoever stands at a moment may go on as the run did, so V never rises along it; where it does by what is known, the run
did something better than all of it, and the moments before are worth as much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from engine.arithmetic import exp, total
from engine.drill.authoring.schema import Scenario, Step
from engine.drill.judging.review import same_act
from engine.drill.par.lean import Lean
from engine.drill.running.drill import Drill
from engine.drill.running.solution import default_end, solving
from engine.drill.time.slices import Slices
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks
from engine.stepwise import at_once
from engine.verbs.lines import parse_script

LABELS: Final = ((15.0, "blunder"), (10.0, "mistake"), (5.0, "inaccuracy"), (0.5, "good"))
"""Points lost from which on an act or a wait is called so [Lichess, Advice.scala: 0.3, 0.2 and 0.1 of -1 to 1,
which are 15, 10 and 5 of 100 points]; below the last it was best. That 0.5 points are nothing is assumed."""

BRILLIANT: Final = 5.0
"""Points by which an act beats all that was known before it, to be called brilliant. Assumed: as much as an inaccuracy
loses."""

MOVES_MAX: Final = 40
"""Acts of a run that are weighed, the first ones. Assumed."""

NEAR_S: Final = 1.0
"""How closely the point of no return is sought within a wait. Assumed."""

WAITING: Final = ""
"""What is done in a wait."""


@dataclass(frozen=True, slots=True)
class Move:
    """An act, or a wait up to the next one."""

    tick: Tick
    until: Tick
    """The same tick for an act."""
    line: str
    """Its words; WAITING."""
    before: float
    """V before it, in points."""
    after: float
    label: str
    """blunder, mistake, inaccuracy, good, best, brilliant."""

    @property
    def lost(self) -> float:
        return self.before - self.after


@dataclass(frozen=True, slots=True)
class Way:
    """How to go on from a moment, and what the run is worth then."""

    score: float
    reached: bool
    """Every goal is."""
    acts: tuple[Input, ...]
    """What was done in it from that moment on."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a run was worth from moment to moment."""

    moves: tuple[Move, ...]
    accuracy: float
    """0 to 100, the mean over acts and waits of what Lichess says of a move."""
    no_return: Tick | None
    """The last tick from which every goal could still be reached; None: they were, or from none."""
    better: tuple[Tick, tuple[str, ...]] | None
    """Where the most was lost, and the lines of the best that is known from there; None: nothing was lost."""

    @property
    def curve(self) -> tuple[tuple[Tick, float], ...]:
        """(tick, V) wherever a move begins or ends; it never rises."""
        return tuple(
            point for move in self.moves for point in ((move.tick, move.before), (move.until, move.after))
        )


def account(drill: Drill, plans: Sequence[Sequence[Input]] = ()) -> Slices[Account]:
    """The account of a run that has ended, in slices. *plans*: what a search has found for its scenario and seed.

    It is played again as practice without charts; the run itself is not touched.
    """
    scenario = drill.scenario
    acts = [item for item in drill.journal if item.verb not in ("finish", "rewind")][:MOVES_MAX]
    moments = _moments(scenario, drill.seed, acts, drill.tick)
    ways = yield from _ways_between(moments, plans)
    own = _end(moments[-1].fork())
    worth, reached = [way.score for way in ways], [way.reached for way in ways]
    surprises = [after - before for before, after in pairwise(worth)]
    worth[-1], reached[-1] = max(worth[-1], own.score), reached[-1] or own.reached
    for place in range(len(worth) - 2, -1, -1):
        worth[place] = max(worth[place], worth[place + 1])
        reached[place] = reached[place] or reached[place + 1]
    moves = []
    for place in range(len(moments) - 1):
        is_act = place % 2 == 1
        label = _label(worth[place] - worth[place + 1], surprises[place] if is_act else 0.0)
        line = acts[place // 2].words if is_act else WAITING
        moves.append(
            Move(moments[place].tick, moments[place + 1].tick, line, worth[place], worth[place + 1], label)
        )
    kept = tuple(move for move in moves if move.line != WAITING or move.until > move.tick)
    yield 0.95
    worst = max(range(len(moves)), key=lambda place: (moves[place].lost, -place), default=None)
    better = None
    if worst is not None and moves[worst].lost >= LABELS[-1][0]:
        better = moves[worst].tick, tuple(item.words for item in ways[worst].acts)
    return Account(
        kept,
        total(accuracy(move.lost) for move in kept) / len(kept) if kept else 100.0,
        _no_return(moments, reached, plans),
        better,
    )


def accuracy(lost: float) -> float:
    """0 to 100 of one move that loses so many points [Lichess, AccuracyPercent.scala]."""
    return min(100.0, max(0.0, 103.1668 * exp(-0.04354 * lost) - 3.1669 + 1.0))


# --- inside -------------------------------------------------------------------------------------------------


def _ways_between(moments: Sequence[Lean], plans: Sequence[Sequence[Input]]) -> Slices[list[Way]]:
    """The best way from each moment. Between two that are worth the same nothing is played: V does not rise."""
    found = {0: _best(moments[0], plans)}
    yield 0.0
    spans = [(0, len(moments) - 1)]
    while spans:
        first, last = spans.pop()
        if last not in found:
            found[last] = _best(moments[last], plans)
            yield len(found) / len(moments) * 0.9
        same = (found[first].score, found[first].reached) == (found[last].score, found[last].reached)
        if last - first > 1 and not same:
            middle = (first + last) // 2
            spans += [(middle, last), (first, middle)]
    last_known = found[0]
    return [last_known := found.get(place, last_known) for place in range(len(moments))]


def _label(lost: float, surprise: float) -> str:
    if surprise >= BRILLIANT:
        return "brilliant"
    return next((label for points, label in LABELS if lost >= points), "best")


def _moments(scenario: Scenario, seed: int, acts: Sequence[Input], end: Tick) -> list[Lean]:
    """The run at its beginning, before and after each act, and at its end: waits and acts in turn."""
    run = Lean(scenario, seed)
    moments = [run.fork()]
    for item in acts:
        run.advance_to(item.tick)
        moments.append(run.fork())
        _try(run, item.words)
        moments.append(run.fork())
    run.advance_to(end)
    moments.append(run.fork())
    return moments


def _best(moment: Lean, plans: Sequence[Sequence[Input]]) -> Way:
    """The best of every rest of the reference solution and of *plans*; fewer acts where two are worth the same."""
    done = len(moment.journal)
    ways = []
    for run in _ways(moment, plans):
        found = _end(run)
        ways.append(Way(found.score, found.reached, found.acts[done:]))
    return max(ways, key=lambda way: (way.score, way.reached, -len(way.acts)))


def _ways(moment: Lean, plans: Sequence[Sequence[Input]]) -> Iterator[Lean]:
    yield moment.fork()
    if moment.finished:
        return
    left = _left(moment)
    for rest in (left[first:] for first in range(len(left))):
        for steps in (rest, [_at_once(rest[0]), *rest[1:]]) if rest[0].do.startswith("+") else (rest,):
            run = moment.fork()
            with suppress(InputProblem):  # the run goes on without what is left then
                at_once(solving(run, steps))
            yield run
    for plan in plans:
        for first in range(len(plan)):
            run = moment.fork()
            later = max(0, run.tick - plan[first].tick)
            for item in plan[first:]:
                run.advance_to(item.tick + later)
                _try(run, item.words)
            yield run


def _left(moment: Lean) -> list[Step]:
    """Steps of the solution that have not been done, in their order."""
    done, left = list(moment.journal), []
    for step in moment.scenario.solution:
        (planned,), _ = parse_script(step.do.strip())
        match = next((item for item in done if same_act(item, planned)), None)
        if match is None:
            left.append(step)
        else:
            done.remove(match)
    return left


def _at_once(step: Step) -> Step:
    """The step without its delay: `+5 power-on SERVER_A` as `+0 power-on SERVER_A`."""
    return step.model_copy(update={"do": f"+0 {step.do.partition(' ')[2]}"})


def _end(run: Lean) -> Way:
    run.advance_to(default_end(run, run.journal[-1].tick if run.journal else 0))
    return Way(run.score().total, all(state.met for state in run.goals.values()), tuple(run.journal))


def _try(run: Lean, words: str) -> None:
    if not run.finished:
        try:
            run.do(words)
        except InputProblem:
            return


def _no_return(
    moments: Sequence[Lean], reached: Sequence[bool], plans: Sequence[Sequence[Input]]
) -> Tick | None:
    if reached[-1] or not reached[0]:
        return None
    last = max(place for place, still in enumerate(reached) if still)
    run, low, high = moments[last].fork(), moments[last].tick, moments[last + 1].tick
    while high - low > ticks(NEAR_S):
        middle = run.fork()
        middle.advance_to((low + high) // 2)
        if any(_end(way).reached for way in _ways(middle, plans)):
            run, low = middle, middle.tick
        else:
            high = middle.tick
    return low
