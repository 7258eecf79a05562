"""What each act and each wait of a run cost: V(t), the best total that could still be reached from a moment of it.

V is a lower bound: the best of what is known to be possible from there, which is the run itself, every rest of the
reference solution and every rest of the plans that a search has found, each act in its turn as soon as it may be done.
From any moment one may go on as the run did, so V never rises along it; where it does by what is known, the run
did something better than all of it, and the moments before are worth as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from operator import mul
from typing import Final

from engine.arithmetic import exp, total
from engine.drill.authoring.schema import Step
from engine.drill.judging.review import same_act
from engine.drill.par.lean import Lean
from engine.drill.par.sight import second_after, seen
from engine.drill.running.drill import Drill
from engine.drill.running.solution import default_end, solving
from engine.drill.time.slices import Slices, passing
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks
from engine.verbs.lines import parse_script

LABELS: Final = ((15.0, "blunder"), (10.0, "mistake"), (5.0, "inaccuracy"), (0.5, "good"))
"""Points lost from which on an act or a wait is called so [Lichess, Advice.scala: 0.3, 0.2 and 0.1 of -1 to 1,
which are 15, 10 and 5 of 100 points]; below the last it was best. That 0.5 points are nothing is assumed."""

BRILLIANT: Final = 5.0
"""Points by which an act beats all that was known before it, to be called brilliant. Assumed: as much as an inaccuracy
loses."""

MOVES_MAX: Final = 40
"""Acts of a run that are weighed, the first ones. Assumed."""

STOPS_MAX: Final = 12
"""Parts of one wait that are told apart, the first ones. Assumed."""

WINDOW: Final = (2, 8)
WEIGHT: Final = (0.5, 12.0)
"""Least and most moves in a window, a tenth of all, and least and most weight of a move [Lichess,
AccuracyPercent.scala]."""

NEAR_S: Final = 1.0
"""How closely the point of no return is sought within a wait. Assumed."""

WAITING: Final = ""
"""What is done in a wait."""


@dataclass(frozen=True, slots=True)
class Move:
    """An act, or a wait up to the next one or to the next thing that could be seen."""

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
    plan: tuple[Input, ...] = ()
    """The run up to it and the best that is known from there, where something is lost."""
    done: int = 0
    """Acts of the plan that are the run's own."""

    @property
    def best(self) -> tuple[Input, ...]:
        """What the best that is known does from before it on."""
        return self.plan[self.done :]

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
    """All that was done in it."""
    done: int
    """Those of them that the run had done by then."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The run as it stood, and what came then."""

    run: Lean
    line: str


@dataclass(frozen=True, slots=True)
class Account:
    """What a run was worth from moment to moment."""

    moves: tuple[Move, ...]
    accuracy: float
    """0 to 100, over acts and the waits between them, as Lichess has it of a game."""
    no_return: Tick | None
    """The last tick from which every goal could still be reached; None: they were, or from none."""
    risen: float = 0.0
    """The most points by which V rose at an act or a wait, by what was known before it; V itself is told with what the
    rest of the run has shown, and never rises."""

    @property
    def curve(self) -> tuple[tuple[Tick, float], ...]:
        """(tick, V) wherever a move begins or ends; it never rises."""
        return tuple(
            point for move in self.moves for point in ((move.tick, move.before), (move.until, move.after))
        )

    @property
    def worst(self) -> Move | None:
        """The first of those that lost the most; None: nothing was lost."""
        lossy = [move for move in self.moves if move.lost >= LABELS[-1][0]]
        return max(lossy, key=lambda move: (move.lost, -move.tick), default=None)


def account(drill: Drill, plans: Sequence[Sequence[Input]] = ()) -> Slices[Account]:
    """The account of a run that has ended, in slices. *plans*: what a search has found for its scenario and seed.

    It is played again as practice without charts; the run itself is not touched.
    """
    moments = yield from _moments(drill)
    ways = yield from _ways_between(moments, plans)
    own = yield from _ended(moments[-1].run.fork(), 0.9)
    worth, reached = [way.score for way in ways], [way.reached for way in ways]
    surprises = [after - before for before, after in pairwise(worth)]
    risen = max(0.0, own.score - worth[-1], *surprises)
    worth[-1], reached[-1] = max(worth[-1], own.score), reached[-1] or own.reached
    for place in range(len(worth) - 2, -1, -1):
        worth[place] = max(worth[place], worth[place + 1])
        reached[place] = reached[place] or reached[place + 1]
    moves = []
    for place, (here, then) in enumerate(pairwise(moments)):
        if here.line == WAITING and then.run.tick == here.run.tick:
            continue
        points = worth[place] - worth[place + 1]
        label = _label(points, 0.0 if here.line == WAITING else surprises[place])
        plan = ways[place].acts if points >= LABELS[-1][0] else ()
        ends, done = (here.run.tick, then.run.tick), len(here.run.journal)
        moves.append(Move(*ends, here.line, worth[place], worth[place + 1], label, plan, done))
    lost = yield from _no_return([moment.run for moment in moments], reached, plans)
    if lost is None:
        return Account(tuple(moves), _accuracy(moves), None, risen)
    parts = [part for move in moves for part in _split(move, lost)]
    return Account(tuple(parts), _accuracy(moves), lost[0][0], risen)


def accuracy(lost: float) -> float:
    """0 to 100 of one move that loses so many points [Lichess, AccuracyPercent.scala]."""
    return min(100.0, max(0.0, 103.1668 * exp(-0.04354 * lost) - 3.1669 + 1.0))


# --- inside -------------------------------------------------------------------------------------------------


def _accuracy(moves: Sequence[Move]) -> float:
    """Of the run; a wait between two acts counts once, into however many it was split.

    The mean of two means [Lichess, AccuracyPercent.scala]: the harmonic one, and one in which a move counts the more
    the more V changes around it.
    """
    stretches = [
        stretch
        for act, together in groupby(moves, key=_acts)
        for stretch in ([[move] for move in together] if act else [list(together)])
    ]
    if not stretches:
        return 100.0
    worth = [stretches[0][0].before, *(stretch[-1].after for stretch in stretches)]
    of_each = [accuracy(total(move.lost for move in stretch)) for stretch in stretches]
    width = min(WINDOW[1], max(WINDOW[0], len(stretches) // 10))
    weights = [
        min(WEIGHT[1], max(WEIGHT[0], _spread(worth[max(0, place + 2 - width) :][:width])))
        for place in range(len(stretches))
    ]
    weighted: float = total(map(mul, of_each, weights)) / total(weights)
    harmonic: float = len(of_each) / total(1.0 / max(1.0, each) for each in of_each)
    return (weighted + harmonic) / 2.0


def _acts(move: Move) -> bool:
    return move.line != WAITING


def _spread(values: Sequence[float]) -> float:
    """Standard deviation."""
    mean = total(values) / len(values)
    return math.sqrt(total((value - mean) * (value - mean) for value in values) / len(values))


def _ways_between(moments: Sequence[Moment], plans: Sequence[Sequence[Input]]) -> Slices[list[Way]]:
    """The best way from each moment. Between two that are worth the same nothing is played: V does not rise."""
    found = {0: (yield from _best(moments[0].run, plans, 0.0))}
    spans = [(0, len(moments) - 1)]
    while spans:
        first, last = spans.pop()
        if last not in found:
            found[last] = yield from _best(moments[last].run, plans, len(found) / len(moments) * 0.9)
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


def _moments(drill: Drill) -> Slices[list[Moment]]:
    """The run before each act, at what could be seen during a wait, and at its end."""
    acts = [item for item in drill.journal if item.verb not in ("finish", "rewind")][:MOVES_MAX]
    stops = sorted({second_after(event.tick) for event in drill.events if seen(event)})
    run, moments = Lean(drill.scenario, drill.seed), []
    for item in (*acts, None):
        end = drill.tick if item is None else item.tick
        for stop in (*[stop for stop in stops if run.tick < stop < end][:STOPS_MAX], end):
            moments.append(Moment(run.fork(), WAITING))
            for _ in passing(run, stop):
                yield 0.0
        if item is not None:
            moments.append(Moment(run.fork(), item.words))
            _try(run, item.words)
    return [*moments, Moment(run, WAITING)]


def _best(moment: Lean, plans: Sequence[Sequence[Input]], share: float) -> Slices[Way]:
    """The best of every rest of the reference solution and of *plans*; fewer acts where two are worth the same."""
    ways = []
    for run in _ways(moment, plans):
        if run is None:
            yield share
        else:
            ways.append((yield from _ended(run, share, len(moment.journal))))
    return max(ways, key=lambda way: (way.score, way.reached, -len(way.acts)))


def _ways(moment: Lean, plans: Sequence[Sequence[Input]]) -> Iterator[Lean | None]:
    """Each with all of it done; None while one is played."""
    yield moment.fork()
    if moment.finished:
        return
    left = _left(moment)
    for rest in (left[first:] for first in range(len(left))):
        for steps in (rest, [_at_once(rest[0]), *rest[1:]]) if rest[0].do.startswith("+") else (rest,):
            run = moment.fork()
            with suppress(InputProblem):  # the run goes on without what is left then
                for _ in solving(run, steps):
                    yield None
            yield run
    for plan in plans:
        for first in range(len(plan)):
            run = moment.fork()
            later = max(0, run.tick - plan[first].tick)
            for item in plan[first:]:
                for _ in passing(run, item.tick + later):
                    yield None
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


def _ended(run: Lean, share: float, done: int = 0) -> Slices[Way]:
    """What *run* comes to."""
    for _ in passing(run, default_end(run, run.journal[-1].tick if run.journal else 0)):
        yield share
    reached = all(state.met for state in run.goals.values())
    return Way(run.score().total, reached, tuple(run.journal), done)


def _try(run: Lean, words: str) -> None:
    if not run.finished:
        try:
            run.do(words)
        except InputProblem:
            return


Worth = tuple[Tick, Way]
"""The best from a moment."""


def _no_return(
    moments: Sequence[Lean], reached: Sequence[bool], plans: Sequence[Sequence[Input]]
) -> Slices[tuple[Worth, Worth] | None]:
    """The last moment from which all can be reached, and one soon after it."""
    if reached[-1] or not reached[0]:
        return None
    last = max(place for place, still in enumerate(reached) if still)
    run, after = moments[last].fork(), moments[last + 1]
    low, high = (
        (run.tick, (yield from _best(run, plans, 0.9))),
        (after.tick, (yield from _best(after, plans, 0.9))),
    )
    while high[0] - low[0] > ticks(NEAR_S):
        middle = run.fork()
        for _ in passing(middle, (low[0] + high[0]) // 2):
            yield 0.95
        best = yield from _best(middle, plans, 0.95)
        if best.reached:
            run, low = middle, (middle.tick, best)
        else:
            high = middle.tick, best
    return low, high


def _split(move: Move, lost: tuple[Worth, Worth]) -> list[Move]:
    """A wait in which the last chance went by, told apart there."""
    if not move.tick < lost[1][0] <= move.until:
        return [move]
    parts = []
    for tick, way in lost:
        if move.tick < tick < move.until:
            worth = min(move.before, max(move.after, way.score))
            parts.append(replace(move, until=tick, after=worth, label=_label(move.before - worth, 0.0)))
            move = replace(move, tick=tick, before=worth, plan=way.acts, done=way.done)
    return [*parts, replace(move, label=_label(move.lost, 0.0))]
