"""What each act and each wait of a run cost: V(t), the best total that could still be reached from a moment of it.

V is a lower bound: the best of what is known to be possible from there, which is the run itself, every rest of the
reference solution and every rest of the plans that a search has found, each act in its turn as soon as it may be done.
Where much is lost, a search from there on looks whether it really is; where no plan is known at all, one looks for it.
From any moment one may go on as the run did, so V never rises along it; where it does by what is known, the run did
something better than all of it, and the moments before are worth as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby, pairwise, takewhile
from operator import mul
from typing import Final

from engine.arithmetic import exp, total
from engine.drill.judging import retry
from engine.drill.judging.counterfactual import looks
from engine.drill.judging.labels import SIZES
from engine.drill.judging.score import TOTAL_MAX
from engine.drill.par import ways
from engine.drill.par.lean import Lean
from engine.drill.par.offers import offers, vocabulary
from engine.drill.par.search import Search
from engine.drill.par.sight import second_after, seen
from engine.drill.par.ways import Play, Still, Way
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

HARDER: Final = 60
"""Plans that a search from a moment plays, where V is too low or much was lost. Measured: a third of a second with one
database."""

DATABASES_MAX: Final = 20
"""Databases of a drill in which that is done unasked: with more of them one plan takes longer than a frame. Assumed."""

HARDER_MAX: Final = 6
"""Moments of a run that are searched so. Assumed."""

FURTHER: Final = 10
"""How many times as many plans are played by who is not content with that. Assumed."""

BRIDGED_MAX: Final = 12
"""Acts that cost something from whose far side it is tried to come back to the way before, the first ones. Assumed."""

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
    still: Still
    """The run as it would go on by itself, from this moment or an earlier one since the last act."""


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


@dataclass(frozen=True, slots=True)
class Doubt:
    """How far V may be too low at a moment: it is what is known, not all that there is."""

    tick: Tick
    known: float
    """V there."""
    most: float
    """What no way to go on is worth more than, by what was lost for good by then."""


Best = Move | LastChance
"""What can be watched from its moment on."""


@dataclass(frozen=True, slots=True)
class Account:
    """What a run was worth from moment to moment."""

    moves: tuple[Move, ...]
    accuracy: float
    """0 to 100: how near the acts and the waits between them came to the best from their moments, in the mean, as
    Lichess has it of a game. Who loses all by one act may have been right in all others before it; those after it, when
    nothing was left to lose, do not count."""
    last_chance: LastChance | None
    """None: every goal was reached, or none of the known ways reaches them all."""
    doubt: Doubt | None = None
    """Where it is least certain that V is all that was possible; None: nobody could have had more at any moment."""
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
    drawn: Callable[[Account], None] = lambda _: None,
    harder: int = HARDER,
) -> Slices[Account]:
    """The account of a run that has ended, in slices. *plans*: what a search has found for its scenario and seed.
    *doubting*: where V is low it is searched whether there is more, with *harder* plans from a moment. *drawn* is told
    what is known before that, and before the last chance is sought to the second.

    It is played again as practice without charts; the run itself is not touched.
    """
    moments = yield from _moments(drill)
    doubting = doubting and (harder > HARDER or len(drill.world.availability) <= DATABASES_MAX)
    if doubting and not (plans or drill.scenario.solution):
        plans = [(yield from _searched(moments[0], Way(0.0, False, (), 0), plans, harder)).acts]
    known = yield from _ways_between(moments, plans, quick=True)
    drawn((yield from _told(moments, known)))
    known = yield from _ways_between(moments, plans)
    if doubting:
        known = yield from _looked_harder(moments, known, plans, harder)
    return (yield from _told(moments, known, plans))


def stopped(found: Account) -> Account:
    """*found* of a run that somebody else has ended: nobody gave up, so that cost nothing."""
    moves = tuple(move for move in found.moves if move.line != FINISH)
    chance = found.last_chance
    still = chance is not None and chance.line == FINISH
    return replace(found, moves=moves, accuracy=_accuracy(moves), last_chance=None if still else chance)


def tried_again(best: Best) -> tuple[Tick, Tick]:
    """From when on a person can still do it, and when its first act is due, or what the run did instead."""
    own, first = best.plan[: best.done], next(iter(best.plan[best.done :]), None)
    due = best.tick if first is None or best.line != WAITING else first.tick
    return min(best.tick + 1, retry.begin(due, first, own)), due  # an act at its beginning is kept


def reachable(run: Lean, plans: Sequence[Sequence[Input]] = ()) -> float:
    """V where *run* stands, by what is known; the run is not touched."""
    return at_once(ways.best(Still(run), run, ways.plays(run, plans), TOTAL_MAX)).score


def accuracy(lost: float) -> float:
    """0 to 100 of one move that loses so many points [Lichess, AccuracyPercent.scala]."""
    return min(100.0, max(0.0, 103.1668 * exp(-0.04354 * lost) - 3.1669 + 1.0))


# --- inside -------------------------------------------------------------------------------------------------


def _told(
    moments: Sequence[Moment], known: Sequence[Way], plans: Sequence[Sequence[Input]] | None = None
) -> Slices[Account]:
    """The account by what is *known* at each moment; the last chance to the second by shifts of *plans*, if there are
    any."""
    still = moments[-1].still
    own = yield from still.way(moments[-1].run, ways.nothing())
    assert isinstance(own, Way), "nothing is asked of it"
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
    doubt = _doubt(moments, worth)
    if reached[-1] or not reached[0]:
        return Account(tuple(moves), _accuracy(moves), None, doubt, risen)
    last = max(place for place, still in enumerate(reached) if still)
    if plans is None:
        chance = yield from _chance(moments[last], moments[last + 1].run, known[last])
        return Account(tuple(moves), _accuracy(moves), chance, doubt, risen)
    chance, around = yield from _no_return(moments[last], moments[last + 1].run, known[last], plans)
    parts = [part for move in moves for part in _split(move, around)]
    return Account(tuple(parts), _accuracy(moves), chance, doubt, risen)


def _doubt(moments: Sequence[Moment], worth: Sequence[float]) -> Doubt | None:
    doubts = [
        Doubt(moment.run.tick, known, moment.run.ceiling())
        for moment, known in zip(moments, worth, strict=True)
    ]
    widest = max(doubts, key=lambda doubt: doubt.most - doubt.known)
    return widest if widest.most - widest.known >= LABELS[-1][0] else None


def _accuracy(moves: Sequence[Move]) -> float:
    """Of the run, as long as there was something to lose; a wait between two acts counts once, into however many it was
    split.

    The mean of two means [Lichess, AccuracyPercent.scala]: the harmonic one, and one in which a move counts the more
    the more V changes around it.
    """
    counted = [move for move in moves if move.before >= LABELS[-1][0]]
    stretches = [
        stretch
        for act, together in groupby(counted, key=_acts)
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


def _ways_between(
    moments: Sequence[Moment], plans: Sequence[Sequence[Input]], quick: bool = False
) -> Slices[list[Way]]:
    """The best way from each moment. Between two that are worth the same nothing is played: V does not rise. *quick*:
    of few ways, and no more is looked for than what the moment before is worth."""
    found = {0: (yield from _best(moments[0], plans, quick=quick))}
    spans = [(0, len(moments) - 1)]
    while spans:
        first, last = spans.pop()
        if last not in found:
            found[last] = yield from _best(moments[last], plans, found[first], quick)
        same = (found[first].score, found[first].reached) == (found[last].score, found[last].reached)
        if last - first > 1 and not same:
            middle = (first + last) // 2
            spans += [(middle, last), (first, middle)]
        yield len(found) / len(moments) * 0.9
    last_known = found[0]
    return _waited(moments, [last_known := found.get(place, last_known) for place in range(len(moments))])


def _best(
    moment: Moment, plans: Sequence[Sequence[Input]], before: Way | None = None, quick: bool = False
) -> Slices[Way]:
    """The best that is known from *moment*. *before*: from an earlier one, which is tried first."""
    known = ways.whole(moment.run, plans) if quick else ways.plays(moment.run, plans)
    if before is not None:
        known = chain([ways.of_plan(before.acts[before.done :])], known)
    enough = before.score if quick and before is not None else math.inf
    return (yield from ways.best(moment.still, moment.run, known, enough))


def _looked_harder(
    moments: Sequence[Moment], known: Sequence[Way], plans: Sequence[Sequence[Input]], harder: int
) -> Slices[list[Way]]:
    """*known*, with better ones.

    Where V fell it is tried to come back to the way from before; where it still rises, and where it has come far below
    what is not lost for good, a search goes on from there. What is found is tried from the moments before it that
    are worth less, alone and after each act that is on offer there.
    """
    found = yield from _come_back(moments, known)
    looked = set[int]()
    for _ in range(HARDER_MAX):
        found = yield from _carried_back(moments, found)
        poor = {
            at: then.score - here.score
            for at, (here, then) in enumerate(pairwise(found))
            if then.score - here.score > RISE_MAX
        }
        if not poor.keys() - looked:
            poor = {
                at: short for at in _doubtful(moments, found) if (short := _short(moments[at], found[at]))
            }
        left = [at for at in poor if at not in looked and not moments[at].run.finished]
        if not left:
            break
        place = max(left, key=lambda at: poor[at])
        looked.add(place)
        found[place] = yield from _searched(moments[place], found[place], plans, harder)
        yield from _carry_on(moments, found, place)
    return (yield from _carried_back(moments, found))


def _doubtful(moments: Sequence[Moment], known: Sequence[Way]) -> list[int]:
    """Where an act had just been done, or much had just been lost by waiting."""
    return [
        at + 1
        for at, (before, after) in enumerate(pairwise(known))
        if moments[at].line != WAITING or before.score - after.score >= LABELS[0][0]
    ]


def _short(moment: Moment, way: Way) -> float:
    """Points by which *way* falls short of all that is not lost for good there, if that is much; else 0."""
    short = moment.run.ceiling() - way.score
    return short if short >= LABELS[0][0] else 0.0


def _come_back(moments: Sequence[Moment], known: Sequence[Way]) -> Slices[list[Way]]:
    """*known*, where from behind an act that lost points one act on offer may lead back to the way from before it."""
    found, tries = list(known), 0
    for place, moment in enumerate(moments[:-1]):
        before, after = found[place], place + 1
        if (
            moment.line == WAITING
            or before.score - found[after].score < LABELS[-1][0]
            or tries >= BRIDGED_MAX
        ):
            continue
        tries += 1
        found[after] = yield from _bridged(moments[after], found[after], before, patient=True)
        yield from _carry_on(moments, found, after)
    return found


def _carry_on(moments: Sequence[Moment], found: list[Way], place: int) -> Slices[None]:
    """The way that was found from *place* may go on so later, too."""
    for later in range(place + 1, len(found)):
        way = found[later - 1]
        if found[later].score >= way.score:
            break
        again = [ways.of_plan(way.acts[way.done :])]
        found[later] = yield from _better(moments[later], found[later], again)


def _carried_back(moments: Sequence[Moment], known: Sequence[Way]) -> Slices[list[Way]]:
    """*known*, where V rose, with the way from behind the rise as it goes from before it."""
    found = list(known)
    for place in range(len(found) - 2, -1, -1):
        here, then = moments[place], found[place + 1]
        if here.line == WAITING and found[place].score < then.score:
            found[place] = replace(then, done=len(here.run.journal))  # to wait as the run did is a way, too
        elif found[place].score < then.score:
            found[place] = yield from _bridged(here, found[place], then)
    return found


def _bridged(moment: Moment, way: Way, other: Way, patient: bool = False) -> Slices[Way]:
    """*way*, or better: as *other* goes on, at once or after one act that is on offer."""
    run, rest = moment.run, other.acts[other.done :]
    on_offer = offers(run, vocabulary(run.scenario))
    lines = dict.fromkeys([*ways.own_faults(run), *ways.recoveries(run.world), *on_offer])
    known = chain([ways.of_plan(rest)], ways.bridged(lines, rest))
    return (yield from _better(moment, way, known, other.score, patient))


def _better(
    moment: Moment, way: Way, known: Iterable[Play], enough: float = math.inf, patient: bool = False
) -> Slices[Way]:
    """*way*, or the best of the *known* ones, or the first that is worth *enough*."""
    for play in known:
        other = yield from moment.still.way(moment.run, play, way.score, patient)
        if isinstance(other, Way):
            way = max(way, other, key=ways.rank)
        if way.score >= enough:
            break
    return way


def _waited(moments: Sequence[Moment], known: Sequence[Way]) -> list[Way]:
    """*known*, where to wait as the run did is a way, too."""
    found = list(known)
    for place in range(len(found) - 2, -1, -1):
        if moments[place].line == WAITING and found[place].score < found[place + 1].score:
            found[place] = replace(found[place + 1], done=len(moments[place].run.journal))
    return found


def _searched(moment: Moment, way: Way, plans: Sequence[Sequence[Input]], harder: int) -> Slices[Way]:
    """*way*, or a better one that patience or a search finds from its moment; the search also begins with everything
    mended at once."""
    run, done = moment.run, len(moment.run.journal)
    way = yield from _better(moment, way, ways.rests(run, plans, early=False), patient=True)
    search, rest = Search(run.scenario, run.seed, start=run), way.acts[way.done :]
    for _ in takewhile(lambda _: search.nodes < harder, search.steps([rest, (*ways.mending(run), *rest)])):
        yield 0.9
    best = search.best
    if best is None or best.score <= way.score:
        return way
    return Way(best.score, best.reached, (*run.journal, *best.acts), done)


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

    def note(line: str) -> None:
        before = moments[-1] if moments else None
        same = before is not None and len(before.run.journal) == len(run.journal)
        here = run.fork()
        moments.append(Moment(here, line, before.still if same and before is not None else Still(here)))

    for place, item in enumerate((*acts, None)):
        end = drill.tick if item is None else item.tick
        if item is not None and place not in weighed:
            if not moments or moments[-1].line != WAITING:
                note(WAITING)
            for _ in passing(run, end):
                yield 0.0
            with suppress(InputProblem):
                run.do(item.words)
            continue
        for stop in (*[stop for stop in stops if run.tick < stop < end][:STOPS_MAX], end):
            note(WAITING)
            for _ in passing(run, stop):
                yield 0.0
        if item is not None:
            note(item.words)
            with suppress(InputProblem):
                run.do(item.words)
    note(WAITING)
    return moments


Worth = tuple[Tick, Way]
"""The best from a moment."""


def _no_return(
    moment: Moment, after: Lean, way: Way, plans: Sequence[Sequence[Input]]
) -> Slices[tuple[LastChance, tuple[Worth, Worth]]]:
    """The last chance, sought between *moment*, from which *way* reaches every goal, and *after*, from which none does;
    and the best from there and from soon after it."""
    still, low = moment.still, moment.run.tick
    own = ways.of_plan(way.acts[way.done :])
    for step in ways.last_chances(still, low, after.tick, chain([own], ways.plays(moment.run, plans))):
        if isinstance(step, tuple):
            low, way = step
        else:
            yield step
    if low + ticks(ways.NEAR_S) < after.tick:
        after = yield from still.at(low + ticks(ways.NEAR_S))
    run = yield from still.at(low)
    chance = yield from _chance(Moment(run, moment.line, still), after, way)
    best = yield from _best(Moment(run, WAITING, still), plans, way)
    here = still if len(after.journal) == len(run.journal) else Still(after)
    later = yield from _best(Moment(after, WAITING, here), plans, best)
    return chance, ((low, best), (after.tick, later))


def _chance(moment: Moment, after: Lean, way: Way) -> Slices[LastChance]:
    """*way* from *moment*, which misses a goal from *after* on."""
    missed = yield from _missed(after.fork(), way.acts[way.done :])
    return LastChance(moment.run.tick, way.acts, way.done, moment.line, missed)


def _missed(run: Lean, plan: Sequence[Input]) -> Slices[tuple[tuple[str, Tick | None], ...]]:
    """Goals that *run* misses although it follows *plan*, and until when each had to be reached."""
    for _ in ways.played(run, partial(ways.planned, plan=plan)):
        yield 0.95
    yield from ways.ended(run)
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
