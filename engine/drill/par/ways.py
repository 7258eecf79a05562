"""How to go on from a moment of a run, by what is known to be possible: every rest of the reference solution and of
plans, each act in its turn as soon as it may be done."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from engine.drill.authoring.schema import Step
from engine.drill.authoring.schema.world import Session
from engine.drill.judging.counterfactual import REFUSED_S, refused
from engine.drill.judging.review import same_act
from engine.drill.par.lean import Lean
from engine.drill.par.offers import setting_up
from engine.drill.par.sight import second_after, seen
from engine.drill.running import locks
from engine.drill.running.solution import default_end, solving
from engine.drill.time.slices import Run, Slices, passing
from engine.events import Event
from engine.inputs import Input, InputProblem
from engine.model import Tick, World, ticks
from engine.protocol import groups
from engine.verbs import VERBS
from engine.verbs.lines import parse_line, parse_script

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


Play = Callable[[Run], Iterator[None]]
"""Takes a run on through what is to be done."""


def best(moment: Lean, known: Iterable[Play], share: float, enough: float = math.inf) -> Slices[Way]:
    """The best of the *known* ways from *moment*, or the first that is worth *enough*; fewer acts where two are worth
    the same."""
    ways: list[Way] = []
    for play in known:
        run = moment.fork()
        for _ in played(run, play):
            yield share
        ways.append((yield from ended(run, share, len(moment.journal))))
        if ways[-1].score >= enough:
            break
    return max(ways, key=rank)


At = Callable[[Tick], Slices[Lean]]
"""The run as it stands at a tick."""


def last_chances(at: At, low: Tick, high: Tick, known: Iterable[Play]) -> Iterator[float | tuple[Tick, Way]]:
    """Ways that reach every goal and the ticks at which they leave the run, each later than the one before, the last to
    NEAR_S: one of the *known* ways does from *low*, and none from *high*. Between them a share of the work, ever again.
    """
    waiting, failed = deque(known), 0
    while failed < len(waiting):
        play, before, beyond, tick = waiting[0], low, high, low + ticks(NEAR_S)
        while beyond - low > ticks(NEAR_S):
            way = yield from _reached((yield from at(tick)), play)
            if way is None:
                beyond = tick
            else:
                low = max([tick, *(item.tick for item in way.acts[way.done :][:1])])
                yield low, way
            tick = (low + beyond) // 2
        waiting.rotate(-1)
        failed = 1 if low > before else failed + 1


def patiently(moment: Lean, way: Way, known: Iterable[Play]) -> Slices[Way]:
    """*way*, or the best of the *known* ones, of which each act waits until it is accepted."""
    ways = [way]
    for play in known:
        run = moment.fork()
        for _ in played(run, play, patient=True):
            yield 0.9
        ways.append((yield from ended(run, 0.9, len(moment.journal))))
    return max(ways, key=rank)


def rank(way: Way) -> tuple[float, bool, int]:
    """Sorts the best last: more points, all goals, fewer acts."""
    return way.score, way.reached, -len(way.acts)


def plays(moment: Lean, plans: Iterable[Sequence[Input]]) -> Iterator[Play]:
    """Every rest, and nothing more; where the run itself has broken something also once that was taken back, and where
    it has removed or suspended a session also with what mends it, before it or after."""
    known = [*(rests(moment, plans) if not moment.finished else ()), _nothing]
    yield from known
    if moment.finished:
        return
    if broken := own_faults(moment):
        known += [partial(_taken_back, lines=broken, then=play) for play in known]
        yield from known[len(known) // 2 :]
    of_partners = any(map(_of_partners, moment.journal))
    if of_partners and _torn(moment):
        yield from (partial(_set_up, then=play) for play in known)
    if of_partners or broken:
        lines = [_planned(step).words for step in _left(moment)]
        yield from (partial(_mended, lines=[*broken, *lines[first:]]) for first in range(len(lines) + 1))


def own_faults(moment: Lean) -> list[str]:
    """What takes back what the run itself has broken and is still broken, the last first."""
    own = {(item.verb, item.args) for item in moment.journal}
    found: dict[str, None] = {}
    for fault in reversed(moment.world.faults):
        verb = VERBS.get(fault.verb)
        if (
            fault.reverted_tick is None
            and verb is not None
            and verb.reverse
            and (fault.verb, fault.args) in own
        ):
            name, *options = verb.reverse.split(" ")
            found[" ".join((name, *fault.args, *options))] = None
    return list(found)


def rests(moment: Lean, plans: Iterable[Sequence[Input]], early: bool = True) -> Iterator[Play]:
    """Every rest of the reference solution, *early* also without the delay of its first step, and of *plans*."""
    left = _left(moment)
    for rest in (left[first:] for first in range(len(left))):
        yield partial(_solved, steps=rest)
        if early and rest[0].do.startswith("+"):
            yield partial(_solved, steps=[_at_once(rest[0]), *rest[1:]])
    ends = {tuple(plan[first:]): None for plan in plans for first in range(len(plan))}
    for end in ends:
        yield partial(planned, plan=end)


def played(run: Lean, play: Play, patient: bool = False) -> Iterator[None]:
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


def ended(run: Lean, share: float, done: int = 0) -> Slices[Way]:
    """What *run* comes to."""
    for _ in passing(run, default_end(run, run.journal[-1].tick if run.journal else 0)):
        yield share
    reached = all(state.met for state in run.goals.values())
    return Way(run.total(), reached, tuple(run.journal), done)


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


def _reached(moment: Lean, play: Play) -> Slices[Way | None]:
    """The way that *play* goes from *moment*; None: it misses a goal."""
    run = moment.fork()
    for _ in played(run, play):
        if _missed(run):
            return None
        yield 0.95
    way = yield from ended(run, 0.95, len(moment.journal))
    return way if way.reached else None


def _taken_back(run: Run, lines: Sequence[str], then: Play) -> Iterator[None]:
    """First what is broken, then the rest."""
    for line in lines:
        with suppress(InputProblem):
            run.do(line)
    yield from then(run)


def _set_up(run: Run, then: Play) -> Iterator[None]:
    """First what sessions lack, then the rest."""
    drill = run.drill
    for session in drill.scenario.sessions:
        for line in _mending(drill.world, session):
            run.do(line)
            yield from passing(run, drill.tick + ticks(SET_UP_S))
    yield from then(run)


def _mended(run: Run, lines: Sequence[str]) -> Iterator[None]:
    """First the *lines*, then what sessions lack, each as soon as it may be done."""
    assert isinstance(run, Lean)
    drill, patient = run, Patient(run)
    for line in lines:
        with suppress(InputProblem):
            patient.do(line)
        yield
    until = drill.tick + ticks(MENDED_S)
    while drill.tick < until and not drill.finished:  # what was told a session may take effect now
        lines = [line for session in drill.scenario.sessions for line in _mending(drill.world, session)]
        accepted = next((line for line in lines if is_accepted(drill, line)), None)
        if accepted is not None:
            run.do(accepted)
            yield from passing(run, drill.tick + ticks(SET_UP_S))
        else:
            patient.wait()
            yield


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
    done, left = list(moment.journal), []
    for step in moment.scenario.solution:
        planned = _planned(step)
        match = next((item for item in done if same_act(item, planned)), None)
        if match is None:
            left.append(step)
        else:
            done.remove(match)
    return left


def _planned(step: Step) -> Input:
    (planned,), _ = parse_script(step.do.strip())
    return planned


def _at_once(step: Step) -> Step:
    """The step without its delay: `+5 power-on SERVER_A` as `+0 power-on SERVER_A`."""
    return step.model_copy(update={"do": f"+0 {step.do.partition(' ')[2]}"})
