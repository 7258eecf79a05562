"""How to go on from a moment of a run, by what is known to be possible: every rest of the reference solution and of
plans, each act in its turn as soon as it may be done."""

from __future__ import annotations

import math
from bisect import bisect
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Step
from engine.drill.authoring.schema.world import Session
from engine.drill.judging.counterfactual import REFUSED_S, looks, refused
from engine.drill.judging.review import same_act
from engine.drill.par.lean import Lean
from engine.drill.par.offers import emergencies, repairs, setting_up
from engine.drill.par.sight import second_after, seen
from engine.drill.par.vain import is_idle
from engine.drill.running import locks
from engine.drill.running.solution import default_end, solving
from engine.drill.time.slices import Run, Slices, passing
from engine.events import Event
from engine.inputs import Input, InputProblem
from engine.model import DbState, Tick, World, ticks
from engine.protocol import groups
from engine.verbs import ledger
from engine.verbs.lines import parse_line, parse_script

CHECKED_S: Final = 20.0
"""How often it is looked whether a way may still be worth enough. Assumed: a look takes as long as a second of it."""

KEPT_S: Final = 30.0
"""Between two moments from which a run that waits can go on. Assumed."""

NEAR_S: Final = 1.0
"""How closely the last chance is sought. Assumed."""

SET_UP_S: Final = 2.0
"""Between two statements that set up a session. Assumed."""

MENDED_S: Final = 120.0
"""For how long it is tried to mend sessions. Assumed: two boots."""

TRIES_MAX: Final = 8
"""How often an act that is refused is tried again, each time that something else is seen. Assumed."""


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


Do = Callable[[Run], Iterator[None]]
"""Takes a run on through what is to be done."""


@dataclass(frozen=True, slots=True)
class Play:
    """When a way leaves a run in which nothing is done, and what is done from there on."""

    does: Do
    name: Hashable
    """Equal for those that do the same from there on."""
    when: str | None = None
    """What is waited for; None: nothing."""
    delay: Tick = 0
    """From then on."""
    at: Tick = 0
    """Not before."""
    first: str = ""
    """What is done first, where it may be left out if it would be in vain."""
    rest: Callable[[Tick], Play] | None = None
    """What is left then, from that tick on."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A way that was not played to its end."""

    most: float
    """It is worth no more."""
    missed: bool
    """It misses a goal."""


@dataclass(slots=True)
class Still:
    """A run in which nothing more is done, as far as it was asked for, and what the ways come to that leave it: from
    whatever moment they are asked for, they are played once."""

    begun: InitVar[Lean]
    _head: Lean = field(init=False)
    _kept: dict[Tick, Lean] = field(default_factory=dict)
    _held: dict[str, list[Tick]] = field(init=False)
    """Condition that a step of the solution waits for -> the whole seconds at which it held."""
    _found: dict[tuple[Tick, Hashable], Way | Cut] = field(default_factory=dict)
    _vain: dict[tuple[Tick, str], bool] = field(default_factory=dict)

    def __post_init__(self, begun: Lean) -> None:
        self._head = begun.fork()
        self._kept[begun.tick] = begun
        self._held = {step.when: [] for step in begun.scenario.solution if step.when is not None}

    def at(self, tick: Tick) -> Slices[Lean]:
        """The run as it stands then; whoever asks may go on with it."""
        while self._head.tick + TICKS_PER_S <= tick and not self._head.finished:
            yield from self._on()
        before = max(each for each in self._kept if each <= tick)
        run = self._kept[before].fork()
        for _ in passing(run, tick):
            yield 0.0
        return run

    def way(self, moment: Lean, play: Play, less: float = -1.0, patient: bool = False) -> Slices[Way | Cut]:
        """What *play* comes to that is chosen at *moment*; it may be cut where it is worth less than *less*."""
        begins, name = (yield from self._begins(moment, play)), play.name
        if begins is None:
            begins, name = default_end(moment, moment.tick), NOTHING
        place = begins, (name, patient)
        known = self._found.get(place)
        if isinstance(known, Way):
            return replace(known, done=len(moment.journal))
        if known is not None and known.most < less:
            return known
        run = yield from self.at(begins)
        if (rest := self._rest(run, play)) is not None and not patient:
            way = yield from self.way(run, rest, less)
            look, done = parse_line(play.first, run.tick), len(moment.journal)
            if isinstance(way, Way) and looks(look):  # people want to know why
                way = replace(way, acts=(*way.acts[:done], look, *way.acts[done:]))
            self._found[place] = way
            return way
        if name is not NOTHING:
            checked = run.tick
            for _ in played(run, play.does, patient):
                yield 0.0
                if less > 0.0 and run.tick >= checked + ticks(CHECKED_S):
                    checked = run.tick
                    if run.ceiling(less) < less:
                        break
        self._found[place] = way = yield from ended(run, len(moment.journal), less)
        return way

    def reached(self, tick: Tick, play: Play) -> Slices[Way | None]:
        """The way that *play* goes from *tick*; None: it misses a goal."""
        moment = yield from self.at(tick)
        begins = yield from self._begins(moment, play)
        if begins is None:
            begins, play = default_end(moment, moment.tick), nothing()
        place = begins, (play.name, False)
        known = self._found.get(place)
        if isinstance(known, Way) or (known is not None and known.missed):
            return known if isinstance(known, Way) and known.reached else None
        run = yield from self.at(begins)
        if (rest := self._rest(run, play)) is not None:
            return (yield from self.reached(begins, rest))
        for _ in played(run, play.does):
            if _missed(run):
                self._found[place] = Cut(run.ceiling(), missed=True)
                return None
            yield 0.0
        way = yield from ended(run, len(moment.journal), -1.0)
        self._found[place] = way
        return way if isinstance(way, Way) and way.reached else None

    def _rest(self, run: Lean, play: Play) -> Play | None:
        """What is left of *play* where its first act would be in vain; None: it would not."""
        if play.rest is None or run.finished:
            return None
        place = run.tick, play.first
        if place not in self._vain:
            self._vain[place] = is_idle(run, play.first)
        return play.rest(run.tick) if self._vain[place] else None

    def _begins(self, moment: Lean, play: Play) -> Slices[Tick | None]:
        """When *play* leaves the run; None: never."""
        tick: Tick | None = moment.tick
        if play.when is not None and not moment.holds(play.when):
            tick = yield from self._until(play.when, moment.tick)
        return None if tick is None else max(tick + play.delay, play.at)

    def _until(self, when: str, tick: Tick) -> Slices[Tick | None]:
        """The first whole second after *tick* at which it holds; None: none."""
        held = self._held[when]
        while (place := bisect(held, tick)) == len(held):
            if self._head.finished or self._head.tick >= default_end(self._head, self._head.tick):
                return None
            yield from self._on()
        return held[place]

    def _on(self) -> Slices[None]:
        """A second more."""
        head = self._head
        for _ in passing(head, (head.tick // TICKS_PER_S + 1) * TICKS_PER_S):
            yield 0.0
        for when, held in self._held.items():
            if head.holds(when):
                held.append(head.tick)
        if head.finished or head.tick % ticks(KEPT_S) == 0:
            self._kept[head.tick] = head.fork()


def best(
    still: Still, moment: Lean, known: Iterable[Play], enough: float = math.inf, patient: bool = False
) -> Slices[Way]:
    """The best of the *known* ways from *moment*, or the first that is worth *enough*; fewer acts where two are worth
    the same."""
    found: Way | None = None
    for play in known:
        way = yield from still.way(moment, play, -1.0 if found is None else found.score, patient)
        if isinstance(way, Way) and (found is None or rank(way) > rank(found)):
            found = way
            if found.score >= enough:
                break
    assert found is not None, "the first way is never cut"
    return found


def last_chances(
    still: Still, low: Tick, high: Tick, known: Iterable[Play]
) -> Iterator[float | tuple[Tick, Way]]:
    """Ways that reach every goal and the ticks at which they leave the run, each later than the one before, the last to
    NEAR_S: one of the *known* ways does from *low*, and none from *high*. Between them a share of the work, ever again.
    """
    waiting, failed = deque(known), 0
    while failed < len(waiting):
        play, before, beyond, tick = waiting[0], low, high, low + ticks(NEAR_S)
        while beyond - low > ticks(NEAR_S):
            way = yield from still.reached(tick, play)
            if way is None:
                beyond = tick
            else:
                low = max([tick, *(item.tick for item in way.acts[way.done :][:1])])
                yield low, way
            tick = (low + beyond) // 2
        waiting.rotate(-1)
        failed = 1 if low > before else failed + 1


def rank(way: Way) -> tuple[float, bool, int]:
    """Sorts the best last: more points, all goals, fewer acts."""
    return way.score, way.reached, -len(way.acts)


def plays(moment: Lean, plans: Iterable[Sequence[Input]]) -> Iterator[Play]:
    """Every rest, whole ones first, and nothing more; where the run itself has broken something also once that was
    taken back, and where it has removed or suspended a session also with what mends it, before it or after."""
    yield from whole(moment, plans)
    known = [*(rests(moment, plans) if not moment.finished else ()), nothing()]
    yield from known
    if moment.finished:
        return
    if broken := own_faults(moment):
        known += [_first(broken, play) for play in known]
        yield from known[len(known) // 2 :]
    of_partners = any(map(_of_partners, moment.journal))
    if of_partners and _torn(moment):
        yield from (Play(partial(_set_up, then=play), ("set up", *_of(play))) for play in known)
    if of_partners or broken:
        left = _left(moment)
        lines = [_planned(step).words for step in left]
        for first in range(len(lines) + 1):
            mended = (*broken, *lines[first:])
            yield Play(partial(_mended, lines=mended), ("mended", mended))
        for first in range(1, len(left)):
            mended, then = (*broken, *lines[:first]), next(_of_steps(left[first:], early=False))
            yield Play(partial(_mended, lines=mended, then=then), ("mended", mended, *_of(then)))
        yield Play(partial(_mended, lines=broken, serve=True), ("served", *broken))


def whole(moment: Lean, plans: Iterable[Sequence[Input]]) -> Iterator[Play]:
    """Of `plays` those that leave nothing out: a few, for a first look."""
    known: list[Play] = []
    if not moment.finished:
        if left := _left(moment):
            known += _of_steps(left, early=True)
        known += [of_plan(_not_done(moment, plan, lambda item: item)) for plan in plans]
    known.append(nothing())
    yield from known
    if not moment.finished and (broken := own_faults(moment)):
        yield from (_first(broken, play) for play in known)


def own_faults(moment: Lean) -> list[str]:
    """What takes back what the run itself has broken and is still broken, the last first."""
    own = (
        fault
        for fault in reversed(moment.world.faults)
        if fault.reverted_tick is None and ledger.asked(fault, moment.journal)
    )
    back = (reverse.words for fault in own if (reverse := ledger.reverse_of(fault)) is not None)
    return list(dict.fromkeys(back))


def recoveries(world: World) -> list[str]:
    """What nobody is offered by itself: service from a copy that waits for backups and has no session."""
    return [
        f"sql {copy.server} RESTORE DATABASE [{copy.database}] WITH RECOVERY"
        for copy in world.copies.values()
        if copy.db_state is DbState.RESTORING and not copy.group_kind and world.instances[copy.server].running
    ]


def mending(moment: Lean) -> list[Input]:
    """Everything that can be mended now, at once."""
    lines = dict.fromkeys([*own_faults(moment), *repairs(moment.world)])
    return [parse_line(line, moment.tick) for line in lines]


def rests(moment: Lean, plans: Iterable[Sequence[Input]], early: bool = True) -> Iterator[Play]:
    """Every rest of *plans* and of the reference solution, *early* also without the delay of its first step."""
    ends = {tuple(plan[first:]): None for plan in plans for first in range(len(plan))}
    yield from map(of_plan, ends)
    left = _left(moment)
    for first in range(len(left)):
        yield from _of_steps(left[first:], early)


def of_plan(plan: Sequence[Input], at: Tick | None = None) -> Play:
    """The first act at once or at its time (*at*: another one), the others as long after it as planned."""
    if not plan:
        return nothing()
    begins = plan[0].tick
    name = tuple((item.tick - begins, item.words) for item in plan)

    def rest(tick: Tick) -> Play:
        return of_plan(plan[1:], tick + plan[1].tick - begins) if plan[1:] else nothing()

    does = partial(planned, plan=plan)
    return Play(does, name, at=begins if at is None else at, first=plan[0].words, rest=rest)


def nothing() -> Play:
    """Nothing more is done."""
    return Play(_nothing, NOTHING)


def bridged(lines: Iterable[str], plan: Sequence[Input]) -> Iterator[Play]:
    """The *plan* after each of the *lines*, which is done at once."""
    then = of_plan(plan)
    yield from (_first((line,), then) for line in lines)


def played(run: Lean, play: Do, patient: bool = False) -> Iterator[None]:
    """*run* with all of it done; it goes on without what is left once something cannot be done."""
    with suppress(InputProblem):
        yield from play(Patient(run) if patient else run)


def planned(run: Run, plan: Sequence[Input]) -> Iterator[None]:
    """The first act at once or at its time, the others as long after it as planned; what cannot be done is left out."""
    later = max((run.drill.tick - item.tick for item in plan[:1]), default=0)
    for item in plan:
        yield from passing(run, item.tick + max(0, later))
        with suppress(InputProblem):
            run.do(item.words)


def ended(run: Lean, done: int = 0, less: float = -1.0) -> Slices[Way | Cut]:
    """What *run* comes to; it may be cut where it is worth less than *less*."""
    end = default_end(run, run.journal[-1].tick if run.journal else 0)
    while run.tick < end and not run.finished:
        if less > 0.0 and (most := run.ceiling(less)) < less:
            return Cut(most, _missed(run))
        for _ in passing(run, min(end, run.tick + ticks(CHECKED_S))):
            yield 0.0
    return _way(run, done)


def is_accepted(drill: Lean, line: str) -> bool:
    """Whether *line* could be done now, and no server would refuse it."""
    trial = drill.fork()
    try:
        item = trial.do(line)
    except InputProblem:
        return False
    trial.advance_to(trial.tick + ticks(REFUSED_S))
    return item.verb != "sql" or not refused(trial, item)


def opens(drill: Lean, item: Input) -> Tick:
    """When the last lock on *item* opens; 0: there is none that does."""
    covering = (
        lock for lock in drill.scenario.locked if locks.covers(locks.understood(lock.do, drill.world), item)
    )
    return max((ticks(lock.until) for lock in covering if lock.until is not None), default=0)


# --- inside -------------------------------------------------------------------------------------------------


def _nothing(_: Run) -> Iterator[None]:
    yield from ()


NOTHING: Final = "nothing"


def _way(run: Lean, done: int) -> Way:
    """What a run is worth that is over."""
    return Way(run.total(), all(state.met for state in run.goals.values()), tuple(run.journal), done)


def _first(lines: Sequence[str], play: Play) -> Play:
    """*play* after the *lines*, which are done at once."""
    return Play(partial(_taken_back, lines=lines, then=play), (*lines, *_of(play)))


def _of_steps(left: Sequence[Step], early: bool) -> Iterator[Play]:
    step, relative = left[0], left[0].do.lstrip().startswith("+")
    item, name = _planned(step), tuple(map(id, left))

    def rest(_: Tick) -> Play:
        return next(_of_steps(left[1:], early=False)) if left[1:] else nothing()

    more = partial(Play, partial(_solved, steps=[_at_once(step), *left[1:]]), name, step.when)
    delay, at = (item.tick, 0) if relative else (0, item.tick)
    yield more(delay=delay, at=at, first=item.words, rest=rest)
    if early and relative:
        yield more(first=item.words, rest=rest)


def _of(play: Play) -> tuple[Hashable, ...]:
    """Equal for plays that do the same from any moment on."""
    return play.name, play.when, play.delay, play.at


def _going(run: Run, play: Play) -> Iterator[None]:
    """*play* from where *run* stands."""
    drill = run.drill
    end = default_end(drill, drill.tick)
    while play.when is not None and not drill.finished and drill.tick < end and not drill.holds(play.when):
        yield from passing(run, (drill.tick // TICKS_PER_S + 1) * TICKS_PER_S)
    yield from passing(run, max(drill.tick + play.delay, play.at))
    yield from play.does(run)


def _taken_back(run: Run, lines: Sequence[str], then: Play) -> Iterator[None]:
    """First what is broken, then the rest."""
    for line in lines:
        with suppress(InputProblem):
            run.do(line)
    yield from _going(run, then)


def _set_up(run: Run, then: Play) -> Iterator[None]:
    """First what sessions lack, then the rest."""
    drill = run.drill
    for session in drill.scenario.sessions:
        for line in _mending(drill.world, session):
            run.do(line)
            yield from passing(run, drill.tick + ticks(SET_UP_S))
    yield from _going(run, then)


def _mended(run: Run, lines: Sequence[str], serve: bool = False, then: Play | None = None) -> Iterator[None]:
    """First the *lines*, then what sessions lack, each as soon as it may be done; *serve*: or what gives service; and
    *then* what follows once they lack nothing."""
    assert isinstance(run, Lean)
    drill, patient = run, Patient(run)
    for line in lines:
        with suppress(InputProblem):
            patient.do(line)
        yield
    until = drill.tick + ticks(MENDED_S)
    while drill.tick < until and not drill.finished:  # what was told a session may take effect now
        lines = [line for session in drill.scenario.sessions for line in _mending(drill.world, session)]
        lines += emergencies(drill.world) if serve else []
        if then is not None and not lines:
            break
        accepted = next((line for line in lines if is_accepted(drill, line)), None)
        if accepted is not None:
            run.do(accepted)
            yield from passing(run, drill.tick + ticks(SET_UP_S))
        else:
            patient.wait()
            yield
    if then is not None:
        yield from _going(run, then)


def _of_partners(item: Input) -> bool:
    return item.verb == "sql" and "SET PARTNER" in item.words.upper()


def _torn(drill: Lean) -> bool:
    """Whether a session of the scenario is removed or suspended."""
    copies = (
        drill.world.copies.get((server, session.database))
        for session in drill.scenario.sessions
        for server in (session.principal, session.mirror)
    )
    return any(
        copy is None or not copy.group_kind or groups.policy(copy).state(copy) == "SUSPENDED"
        for copy in copies
    )


def _mending(world: World, session: Session) -> list[str]:
    """What is left to do until the session is whole again."""
    leads = [
        copy.server
        for server in (session.principal, session.mirror)
        if (copy := world.copies.get((server, session.database))) is not None
        and groups.policy(copy).state(copy) == "SUSPENDED"
        and groups.policy(copy).leads(copy)
    ]
    resumed = [f"sql {server} ALTER DATABASE [{session.database}] SET PARTNER RESUME" for server in leads]
    return resumed + setting_up(world, session)


def _missed(run: Lean) -> bool:
    """Whether a goal can no longer be reached."""
    return any(state.missed_tick is not None for state in run.goals.values())


def _solved(run: Run, steps: Sequence[Step]) -> Iterator[None]:
    for _ in solving(run, steps):
        yield None


@dataclass(frozen=True, slots=True)
class Patient:
    """A run in which an act that would be refused waits until it is accepted, or nothing more is to be seen."""

    drill: Lean

    def advance_to(self, tick: Tick) -> list[Event]:
        return self.drill.advance_to(tick)

    def do(self, line: str) -> Input:
        for _ in range(TRIES_MAX):
            if self.drill.finished or is_accepted(self.drill, line):
                break
            self._wait(line)
        return self.drill.do(line)

    def _wait(self, line: str) -> None:
        """Until a lock on *line* opens, as who tries again and again notices, or something else is seen."""
        drill = self.drill
        opened = opens(drill, parse_line(line, drill.tick))
        if drill.tick < opened:
            drill.advance_to(opened)
        else:
            self.wait()

    def wait(self) -> None:
        """Until something is seen."""
        drill = self.drill
        first, end = len(drill.events), default_end(drill, drill.tick)
        while drill.tick < end and not drill.finished and not any(map(seen, drill.events[first:])):
            drill.advance_to(end, to_event=True)
        drill.advance_to(min(end, second_after(drill.tick)))


def _left(moment: Lean) -> list[Step]:
    """Steps of the solution that have not been done, in their order."""
    return _not_done(moment, moment.scenario.solution, _planned)


Thing = TypeVar("Thing")


def _not_done(moment: Lean, planned: Iterable[Thing], act: Callable[[Thing], Input]) -> list[Thing]:
    """What of the *planned* has not been done, in its order; *act*: what each of it is."""
    done, left = list(moment.journal), []
    for each in planned:
        match = next((item for item in done if same_act(item, act(each))), None)
        if match is None:
            left.append(each)
        else:
            done.remove(match)
    return left


def _planned(step: Step) -> Input:
    (planned,), _ = parse_script(step.do.strip())
    return planned


def _at_once(step: Step) -> Step:
    """The step without its delay and what it waits for: `+5 power-on SERVER_A` as `+0 power-on SERVER_A`."""
    return step.model_copy(update={"do": f"+0 {step.do.strip().partition(' ')[2]}", "when": None})
