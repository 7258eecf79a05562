"""What each act and each wait of a run cost: V(t), the best total that could still be reached from a moment of it.

V is a lower bound: the best of what is known to be possible from there, which is the run itself, every rest of the
reference solution and every rest of the plans that a search has found, each act in its turn as soon as it may be done.
Where much is lost, a search from there on looks whether it really is; where no plan is known at all, one looks for it.
From any moment one may go on as the run did, so V never rises along it; where it does by what is known, the run did
something better than all of it, and the moments before are worth as much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise, takewhile
from operator import mul
from typing import Final

from engine.arithmetic import exp, total
from engine.drill.judging import retry
from engine.drill.judging.counterfactual import looks
from engine.drill.judging.labels import SIZES
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par import ways
from engine.drill.par.lean import Lean
from engine.drill.par.search import Search
from engine.drill.par.sight import second_after, seen
from engine.drill.par.ways import Way
from engine.drill.running.drill import Drill
from engine.drill.time.slices import Slices, passing
from engine.inputs import Input, InputProblem
from engine.model import Tick, ticks
from engine.stepwise import at_once

LABELS: Final = (*SIZES, (0.5, "good"))
"""Points of V lost from which on an act or a wait is called so; below the last it was best. That 0.5 points are nothing
is assumed."""

BRILLIANT: Final = 5.0
"""Points by which an act beats all that was known before it, to be called brilliant. Assumed: as much as an inaccuracy
loses."""

MOVES_MAX: Final = 40
"""Acts of a run that are weighed, the first ones, looks last; all others count to the waits. Assumed."""

FINISH: Final = "finish"
"""Giving up is an act, too."""

STOPS_MAX: Final = 12
"""Parts of one wait that are told apart, the first ones. Assumed."""

WINDOW: Final = (2, 8)
WEIGHT: Final = (0.5, 12.0)
"""Least and most moves in a window, a tenth of all, and least and most weight of a move [Lichess,
AccuracyPercent.scala]."""

RISE_MAX: Final = 0.5
"""Points by which V may rise; it is too low before. As little as labels pass over."""

HARDER: Final = 30
"""Plans that a search from a moment plays, where V is too low or much was lost. Assumed: about half a second."""

DATABASES_MAX: Final = 20
"""Databases of a drill in which that is done: with more of them one plan takes longer than a frame. Assumed."""

HARDER_MAX: Final = 4
"""Moments of a run that are searched so. Assumed."""

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
class Moment:
    """The run as it stood, and what came then."""

    run: Lean
    line: str


@dataclass(frozen=True, slots=True)
class LastChance:
    """How every goal could still be reached from the point of no return on."""

    tick: Tick
    """The point of no return."""
    plan: tuple[Input, ...]
    """The run up to it, and the way to every goal."""
    done: int
    """Acts of the plan that are the run's own."""
    line: str
    """What took it: an act of the run; WAITING."""
    missed: tuple[tuple[str, Tick | None], ...]
    """Text of each goal that the same way misses after that act, or a little later, and until when it had to be
    reached."""

    @property
    def acts(self) -> tuple[Input, ...]:
        """Those that are left of the plan."""
        return self.plan[self.done :]


Best = Move | LastChance
"""What can be watched from its moment on."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a run was worth from moment to moment."""

    moves: tuple[Move, ...]
    accuracy: float
    """0 to 100, over acts and the waits between them, as Lichess has it of a game."""
    last_chance: LastChance | None
    """None: every goal was reached, or none of the known ways reaches them all."""
    risen: float = 0.0
    """The most points by which V rose at an act or a wait, by what was known before it; V itself is told with what the
    rest of the run has shown, and never rises."""

    @property
    def no_return(self) -> Tick | None:
        """The last tick from which every goal could still be reached."""
        return None if self.last_chance is None else self.last_chance.tick

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


def account(
    drill: Drill,
    plans: Sequence[Sequence[Input]] = (),
    doubting: bool = True,
) -> Slices[Account]:
    """The account of a run that has ended, in slices. *plans*: what a search has found for its scenario and seed.
    *doubting*: where V is low it is searched whether there is more.

    It is played again as practice without charts; the run itself is not touched.
    """
    moments = yield from _moments(drill)
    doubting = doubting and len(drill.world.availability) <= DATABASES_MAX
    if doubting and not (plans or drill.scenario.solution):
        plans = [(yield from _searched(moments[0].run, Way(0.0, False, (), 0), plans)).acts]
    known = _waited(moments, (yield from _ways_between(moments, plans)))
    if doubting:
        known = yield from _looked_harder(moments, known, plans)
    own = yield from ways.ended(moments[-1].run.fork(), 0.9)
    worth, reached = [way.score for way in known], [way.reached for way in known]
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
        plan = known[place].acts if points >= LABELS[-1][0] else ()
        ends, done = (here.run.tick, then.run.tick), len(here.run.journal)
        moves.append(Move(*ends, here.line, worth[place], worth[place + 1], label, plan, done))
    if reached[-1] or not reached[0]:
        return Account(tuple(moves), _accuracy(moves), None, risen)
    last = max(place for place, still in enumerate(reached) if still)
    chance, around = yield from _no_return(moments[last], moments[last + 1].run, known[last], plans)
    parts = [part for move in moves for part in _split(move, around)]
    return Account(tuple(parts), _accuracy(moves), chance, risen)


def stopped(found: Account) -> Account:
    """*found* of a run that somebody else has ended: nobody gave up, so that cost nothing."""
    moves = tuple(move for move in found.moves if move.line != FINISH)
    chance = found.last_chance
    still = chance is not None and chance.line == FINISH
    return Account(moves, _accuracy(moves), None if still else chance, found.risen)


def tried_again(best: Best) -> tuple[Tick, Tick]:
    """From when on a person can still do it, and when its first act is due, or what the run did instead."""
    own, first = best.plan[: best.done], next(iter(best.plan[best.done :]), None)
    due = best.tick if first is None or best.line != WAITING else first.tick
    return min(best.tick + 1, retry.begin(due, first, own)), due  # an act at its beginning is kept


def reachable(run: Lean, plans: Sequence[Sequence[Input]] = ()) -> float:
    """V where *run* stands, by what is known; the run is not touched."""
    return at_once(ways.best(run, ways.plays(run, plans), 0.0, TOTAL_MAX)).score


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


def _best(moment: Lean, plans: Sequence[Sequence[Input]], share: float) -> Slices[Way]:
    return (yield from ways.best(moment, ways.plays(moment, plans), share))


def _looked_harder(
    moments: Sequence[Moment], known: Sequence[Way], plans: Sequence[Sequence[Input]]
) -> Slices[list[Way]]:
    """*known*, with better ones where V rises, from the moment before, and once, where the most is lost, from the
    moment after; what is found there is tried from the moments before it, too, which are worth less."""
    found, looked, doubted = list(known), set[int](), False
    for _ in range(HARDER_MAX):
        found = _waited(moments, found)
        losses = [(before.score - after.score, at) for at, (before, after) in enumerate(pairwise(found))]
        poor = {at: -lost for lost, at in losses if -lost > RISE_MAX}
        if not poor and not doubted:
            poor, doubted = {at + 1: lost for lost, at in losses if lost >= LABELS[0][0]}, True
        left = [at for at in poor if at not in looked and not moments[at].run.finished]
        if not left:
            break
        place = max(left, key=lambda at: poor[at])
        looked.add(place)
        found[place] = better = yield from _searched(moments[place].run, found[place], plans)
        for earlier in range(place - 1, -1, -1):
            if found[earlier].score >= better.score:
                break
            again = partial(ways.planned, plan=better.acts[better.done :])
            found[earlier] = yield from ways.patiently(moments[earlier].run, found[earlier], [again])
    return _waited(moments, found)


def _waited(moments: Sequence[Moment], known: Sequence[Way]) -> list[Way]:
    """*known*, where to wait as the run did is a way, too."""
    found = list(known)
    for place in range(len(found) - 2, -1, -1):
        if moments[place].line == WAITING and found[place].score < found[place + 1].score:
            found[place] = replace(found[place + 1], done=len(moments[place].run.journal))
    return found


def _searched(moment: Lean, way: Way, plans: Sequence[Sequence[Input]]) -> Slices[Way]:
    """*way*, or a better one that patience or a search finds from its moment."""
    way = yield from ways.patiently(moment, way, ways.rests(moment, plans, early=False))
    search, done = Search(moment.scenario, moment.seed, start=moment), len(moment.journal)
    for _ in takewhile(lambda _: search.nodes < HARDER, search.steps([way.acts[way.done :]])):
        yield 0.9
    best = search.best
    if best is None or best.score <= way.score:
        return way
    return Way(best.score, best.reached, (*moment.journal, *best.acts), done)


def _label(lost: float, surprise: float) -> str:
    if surprise >= BRILLIANT:
        return "brilliant"
    return next((label for points, label in LABELS if lost >= points), "best")


def _moments(drill: Drill) -> Slices[list[Moment]]:
    """The run before each act that is weighed, at what could be seen during a wait, and at its end."""
    acts = [item for item in drill.journal if item.verb != "rewind"]
    order = sorted(range(len(acts)), key=lambda at: (acts[at].verb != FINISH, looks(acts[at])))
    weighed = set(order[:MOVES_MAX])
    stops = sorted({second_after(event.tick) for event in drill.events if seen(event)})
    run = Lean(drill.scenario, drill.seed)
    moments: list[Moment] = []
    for place, item in enumerate((*acts, None)):
        end = drill.tick if item is None else item.tick
        if item is not None and place not in weighed:
            if not moments or moments[-1].line != WAITING:
                moments.append(Moment(run.fork(), WAITING))
            for _ in passing(run, end):
                yield 0.0
            with suppress(InputProblem):
                run.do(item.words)
            continue
        for stop in (*[stop for stop in stops if run.tick < stop < end][:STOPS_MAX], end):
            moments.append(Moment(run.fork(), WAITING))
            for _ in passing(run, stop):
                yield 0.0
        if item is not None:
            moments.append(Moment(run.fork(), item.words))
            with suppress(InputProblem):
                run.do(item.words)
    return [*moments, Moment(run, WAITING)]


Worth = tuple[Tick, Way]
"""The best from a moment."""


def _no_return(
    moment: Moment, after: Lean, way: Way, plans: Sequence[Sequence[Input]]
) -> Slices[tuple[LastChance, tuple[Worth, Worth]]]:
    """The last chance, sought between *moment*, from which *way* reaches every goal, and *after*, from which none does;
    and the best from there and from soon after it."""
    run = moment.run

    def at(tick: Tick) -> Slices[Lean]:
        there = run.fork()
        for _ in passing(there, tick):
            yield 0.95
        return there

    low = run.tick
    for step in ways.last_chances(at, low, after.tick, ways.plays(run, plans)):
        if isinstance(step, tuple):
            low, way = step
        else:
            yield step
    if low + ticks(ways.NEAR_S) < after.tick:
        after = yield from at(low + ticks(ways.NEAR_S))
    missed = yield from _missed(after.fork(), way.acts[way.done :])
    run = yield from at(low)
    chance = LastChance(low, way.acts, way.done, moment.line, missed)
    best = yield from _best(run, plans, 0.95)
    return chance, ((low, best), (after.tick, (yield from _best(after, plans, 0.95))))


def _missed(run: Lean, plan: Sequence[Input]) -> Slices[tuple[tuple[str, Tick | None], ...]]:
    """Goals that *run* misses although it follows *plan*, and until when each had to be reached."""
    for _ in ways.played(run, partial(ways.planned, plan=plan)):
        yield 0.95
    yield from ways.ended(run, 0.95)
    return tuple(
        (goal.text, run.end_tick if goal.within is None else ticks(goal.within))
        for goal in run.scenario.goals
        if not run.goals[goal.name].met
    )


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
