"""A drill: scenario, seed and mode; its world; what has been done and what has happened; its end and its score."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal

from engine import arithmetic, simulator
from engine.chance import Chance
from engine.constants import TICKS_PER_S
from engine.drill import comparison, conditions, facts, locks, questions, report, rewind, score, seat
from engine.drill.build import build_world
from engine.drill.conditions import Condition
from engine.drill.event_log import EventLog
from engine.drill.goals import NEWS, GoalState, Opened, judge
from engine.drill.kept import HASH_EVERY, StateHash, give_past, lengths_of
from engine.drill.modes import TERMS, Mode, Terms
from engine.drill.questions import Answer, Asked, Inquiry
from engine.drill.references import names_of
from engine.drill.scenario import varied
from engine.drill.schema import ConditionRule, ConductRule, Goal, Hint, Inject, Scenario
from engine.drill.score import Course, Score
from engine.events import Event
from engine.flow import Place, Samples
from engine.inputs import Input, InputProblem, parse_line, parse_script
from engine.model import Key, Server, Tick, World, ticks
from engine.protocol import streams
from engine.tsql.polling import only_reads

__all__ = ["Awaited", "Drill", "End", "Mode", "play_inputs", "replay"]

NO_REVERT_ALL: Final = (
    "revert-all would take the story's faults back without anybody having found them: in a drill with points each "
    "is undone by itself (power-on, plug-cable, mend, start-service, …); the lab and free play allow it"
)
"""Why `revert-all` is refused where something is scored."""

TIMELINE_STREAM: Final = 0x7154
"""Keeps the moments that a scenario draws apart from the world's own chance. Any number does."""


SAMPLES_MAX: Final = 28_800
"""Samples that are taken once a second: eight hours, the longest drill. Assumed."""
SAMPLED_ROWS_MAX: Final = 360_000
"""The same counted by databases: an hour of a hundred, some 30 MB; a day of them has 52 MB, a week 71. Assumed."""
SAMPLED_EVERY: Final = ((300 * TICKS_PER_S, 2.0), (60 * TICKS_PER_S, 1.5), (10 * TICKS_PER_S, 1.0))
"""(ticks between two samples, share of the two above from which on), the coarsest first: a week of one database has
50,000 samples."""

_SMALL: Final = (
    "goals", "first_held", "hints", "answers", "rewinds", "published", "unlike", "_waiting", "_unfired",
)  # fmt: skip
"""Fields that change in place and are copied with every kept moment."""


class End(StrEnum):
    """Why a drill is over."""

    GOALS = "all goals are reached"
    TIME = "the time is over"
    FORBIDDEN = "what must never happen has happened"
    ASKED = "the drill was ended"


class Holder(StrEnum):
    """Why a drill is not over although its goals are reached."""

    QUESTION = "question"
    """One waits for its answer."""
    PREDICTION = "prediction"
    """One is still to come true or not."""
    STORY = "story"
    """Something is still to happen by itself."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who had which log and how each server was at one sample; the same object as long as nothing changes."""

    sources: Mapping[int, Key]
    streams: Mapping[int, Key | None]
    """As in World."""
    places: Mapping[Key, Place]
    """The log and stream of each copy that has one."""
    servers: Mapping[str, Server]


@dataclass(frozen=True, slots=True)
class Awaited:
    """One thing for which a drill waits whose goals are all reached."""

    what: Literal["answer", "judgement", "story"]
    """An answer of the trainee; the moment at which a prediction is judged; the rest of the story."""
    name: str
    """Of the question; empty for the story."""
    until_tick: Tick | None
    """When the wait ends by itself; None: it does not, or is not told."""


class Drill:
    """The one way to run a scenario. Reading its fields is free; change it by `do` and `advance_to` only.

    Whole seconds are when goals, prices and conditional injects are looked at; within a tick, timers come first,
    then that look, then the timeline's inputs, then the trainee's. So a run is the same in any slices.
    """

    def __init__(self, scenario: Scenario, seed: int | None = None, mode: Mode | str | None = None) -> None:
        """Begin at tick 0. *seed* None: the scenario's own; *mode* None: practice, or free play without a rubric.

        The seed also picks the variant, which is then the drill's scenario.
        """
        self.seed = scenario.seed if seed is None else seed
        self.scenario = scenario = varied(scenario, self.seed)
        self.mode = Mode(mode or (Mode.PRACTICE if scenario.scored else Mode.LAB))
        self.world: World = build_world(scenario, self.seed)
        self.errorlog_before = self.world.errorlog.copy()
        """What the ERRORLOGs held before the first event."""
        self.states_before = {
            key: None if copy.mirror_state is None else copy.mirror_state.name
            for key, copy in self.world.copies.items()
        }
        """The mirroring state of each copy before the first event; None: not mirrored."""
        self.events = EventLog()
        self.journal: list[Input] = []
        """What the trainee did; with scenario, seed and mode all that is needed to play it again."""
        self.hashes: list[StateHash] = []
        """At the start, at each whole minute and after each input that is more than a query: a replay has to come by
        with the same."""
        self.samples = Samples(every=TICKS_PER_S, exact=False)
        self.logs: list[dict[str, Place | None]] = []
        """For each entry of the samples: the log of each database then, and the stream that carried it."""
        self.standings: list[Standing] = []
        """For each entry of the samples."""
        self.goals = {goal.name: GoalState() for goal in scenario.goals}
        self.first_held: dict[str, Tick | None] = {}
        """When each forbidden state and each price's act was first seen; None: what the price takes for granted was
        not so then."""
        self.hints: list[Opened] = []
        self.answers = {inquiry.name: Answer() for inquiry in scenario.inquiries}
        self.rewinds: list[tuple[Tick, Tick]] = []
        """(from, to) of each time that somebody went back, oldest first."""
        self.published: dict[int, tuple[float, str]] = {}
        """Place in world.failovers -> published seconds and their reference, where comparable."""
        self.unlike: dict[int, str] = {}
        """Place in world.failovers -> why it cannot be compared, where it cannot."""
        self.ended_by: End | None = None
        self._batches: list[Event] = []
        self._operations: list[Event] = []
        self._conditions = _conditions(scenario)
        self._watched = _watched(scenario)
        self._compared = 0
        self._standing: Standing | None = None
        self._places: dict[Key, Place] = {}
        self._log_of: dict[str, Place | None] = {}
        self._waiting: list[tuple[Tick, int, Input]] = []
        self._unfired: dict[int, Inject] = {}
        self._schedule()
        self._give_due()
        self._note_hash()

    # --- time and deeds -------------------------------------------------------------------------------------

    @property
    def tick(self) -> Tick:
        return self.world.tick

    @property
    def terms(self) -> Terms:
        """What its mode allows."""
        return TERMS[self.mode]

    @property
    def finished(self) -> bool:
        return self.ended_by is not None

    @property
    def end_tick(self) -> Tick | None:
        """When the scenario's length is over; None: never."""
        return None if self.scenario.length is None else ticks(self.scenario.length)

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """Let time pass until *tick* or the end of the drill, with *to_event* no further than the first tick with an
        event; returns what happened."""
        first = len(self.events)
        while self.world.tick < tick and not self.finished and not (to_event and len(self.events) > first):
            whole_second = (self.world.tick // TICKS_PER_S + 1) * TICKS_PER_S
            due = self._waiting[0][0] if self._waiting else tick
            self._take(
                simulator.advance(self.world, min(tick, whole_second, due), (), self.samples, to_event)
            )
            if self.world.tick % TICKS_PER_S == 0:
                self._look()
            self._give_due()
            if self.world.tick % HASH_EVERY == 0:
                self._note_hash()
        return self.events[first:]

    def do(self, line: str) -> Input:
        """Do an input line (without its time) now and write it into the journal, names as the world spells them.

        Raises InputProblem, with nothing changed, for a line that cannot be done.
        """
        if self.finished:
            raise InputProblem(f"the drill is over: {self.ended_by}")
        item = simulator.resolve(self.world, parse_line(line, self.world.tick))
        self._check_allowed(item)
        untold: list[Event] = []
        try:
            simulator.perform(self.world, item)
        except InputProblem:
            if not seat.hides_refusal(self, item):
                raise
            untold = [seat.done(self.world, item)]
        self.journal.append(item)
        self._take(untold)
        events = simulator.advance(self.world, self.world.tick)
        self._take(seat.veiled(events, item) if seat.secret(self) else events)
        if not only_reads(item):
            self._note_hash()
        if item.verb == "rewind":
            self._came_back(item)
        if item.verb == "finish":
            self._end(End.ASKED)
        return item

    def finish(self) -> None:
        """End the drill now."""
        self.do("finish")

    # --- what it is worth -----------------------------------------------------------------------------------

    def score(self) -> Score:
        """The score as it stands; final when the drill is finished."""
        if self.mode is Mode.LAB:
            return score.UNSCORED
        return score.score(
            Course(
                scenario=self.scenario,
                world=self.world,
                events=self.events,
                goals=self.goals,
                first_held=self.first_held,
                holds_now=self.holds,
                hints=self.hints,
                answers=self.answers,
                over=self.finished,
                left_early=self.ended_by is End.ASKED and bool(self._waiting),
                given_up=self.ended_by is End.ASKED,
                answers_at_once=self.terms.answers_at_once,
                rewinds=self.rewinds,
                rewind_cost=self.terms.rewind_cost,
                journal=self.journal,
            )
        )

    def progress(self) -> float | None:
        """Percent of the goals' weights that are reached, a goal that has to hold counted by how long it has.

        None where the mode does not tell it. Built on goals alone: it says nothing of faults still hidden.
        """
        if not self.terms.progress or not self.goals:
            return None
        weights = arithmetic.total(goal.weight for goal in self.scenario.goals)
        return (
            100.0
            * arithmetic.total(goal.weight * self._share(goal) for goal in self.scenario.goals)
            / weights
        )

    def _share(self, goal: Goal) -> float:
        state = self.goals[goal.name]
        if state.met or state.since_tick is None:
            return float(state.met)
        return min(1.0, (self.tick - state.since_tick) / max(1, ticks(goal.hold)))

    def holds(self, text: str) -> bool:
        """Whether a condition holds now. Raises ConditionProblem for one that cannot be understood."""
        known = self._conditions.get(text)
        if known is None:
            known = self._conditions[text] = conditions.parse(text, names_of(self.scenario))
        return known.holds(facts.Facts(self.world, self._batches, self._operations))

    def open_questions(self) -> list[Asked]:
        """What waits for an answer, oldest first; `answer NAME NUMBER` gives it."""
        waiting = [self._inquiry(name) for name, answer in self.answers.items() if answer.open]
        shown = [questions.shown(inquiry, self.answers[inquiry.name]) for inquiry in waiting]
        return sorted(shown, key=lambda asked: asked.asked_tick)

    def awaited(self) -> list[Awaited]:
        """With every goal reached, what keeps the drill from ending; empty before, and where the mode tells nothing.

        Of a story that is still to come only that it is: its moment and its kind are the drill's secret.
        """
        if self.finished or not (
            self.terms.progress and self.goals and all(s.met for s in self.goals.values())
        ):
            return []
        waiting = []
        for inquiry in self.scenario.inquiries:
            answer = self.answers[inquiry.name]
            if answer.asked_tick is None or questions.settled(inquiry, answer):
                continue
            until = questions.until(inquiry, answer)
            waiting.append(Awaited("answer" if answer.open else "judgement", inquiry.name, until))
        return waiting or ([Awaited("story", "", None)] if self._waiting else [])

    def next_hint(self) -> Hint | None:
        """The hint for the first goal that is not reached; None without hints, and where the mode has none."""
        if not self.terms.hints:
            return None
        by_goal = {hint.goal: hint for hint in self.scenario.hints}
        return next((by_goal[g] for g, state in self.goals.items() if g in by_goal and not state.met), None)

    def hint_cost(self, layer: int) -> float:
        """Points that opening *layer* (1 to 3) of the next hint costs now; ones already open are free."""
        hint = self.next_hint()
        if hint is None or not self.terms.hints_cost:
            return 0.0
        opened = any(o.goal == hint.goal and o.layer == layer for o in self.hints)
        return 0.0 if opened else hint.cost[layer - 1]

    def hint(self, layer: int) -> str:
        """Open a layer of the next hint (1 where to look, 2 what it means, 3 what to type) and return its text."""
        hint = self.next_hint()
        self.do(f"hint {layer}")
        assert hint is not None, "do has refused to open a hint that is not there"
        return (hint.look, hint.means, hint.type)[layer - 1]

    def report(self) -> dict[str, Any]:
        """The whole run as `run --json` prints it."""
        return report.report(self)

    # --- again ----------------------------------------------------------------------------------------------

    def state_hash(self) -> str:
        return self.world.state_hash()

    def fork(self) -> Drill:
        """An independent drill with the same past."""
        twin = self.apart()
        give_past(twin, self, lengths_of(self))
        return twin

    def apart(self) -> Drill:
        """A drill in the same state that still shares the record of the past: half a fork."""
        twin = copy.copy(self)
        twin.world = self.world.fork()
        for name in _SMALL:
            setattr(twin, name, copy.copy(getattr(self, name)))
        return twin

    # --- inside ---------------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Put the timeline's inputs where they belong; those with a condition wait for it."""
        chance = Chance.from_seed(self.seed ^ TIMELINE_STREAM)
        for number, inject in enumerate(self.scenario.timeline):
            drawn = chance.uniform(*(inject.between or (0.0, 1.0)))
            if inject.when is not None:
                self._unfired[number] = inject
            else:
                self._queue(number, inject, ticks(drawn if inject.at is None else inject.at))

    def _queue(self, number: int, inject: Inject, tick: Tick) -> None:
        item = parse_line(inject.do.strip(), tick)
        if item.verb == "sql":  # from a window of its own, so that it is nobody's conduct
            item = replace(item, args=(f"{item.args[0].partition('#')[0]}#{facts.STORY}", *item.args[1:]))
        heapq.heappush(self._waiting, (tick, number, item))

    def _check_allowed(self, item: Input) -> None:
        """Raises InputProblem for what neither the mode nor the story lets anybody do now."""
        if item.verb == "hint" and self.next_hint() is None:
            raise InputProblem("there is no hint" if self.terms.hints else "there are no hints in an exam")
        if item.verb == "answer":
            self._check_answer(*item.args)
        if item.verb == "rewind":
            if not self.terms.rewind:
                raise InputProblem("in an exam there is no way back")
            rewind.known_in(" ".join(item.args[1:]), self.scenario)
        if item.verb in ("sql", "cancel") and facts.in_story(item.args[0]):
            raise InputProblem(f"the window {item.args[0]} belongs to the story")
        if self.mode is Mode.LAB:
            return
        if item.verb == "revert-all" and self.scenario.scored and not self.scenario.allow_revert_all:
            raise InputProblem(NO_REVERT_ALL)
        for lock in self.scenario.locked:
            if lock.until is not None and self.world.tick >= ticks(lock.until):
                continue
            if item.verb == "revert-all" or locks.covers(locks.understood(lock.do, self.world), item):
                raise InputProblem(lock.why)

    def _check_answer(self, name: str, choice: str) -> None:
        answer = self.answers.get(name, Answer())
        if not answer.open:
            given = answer.asked_tick is not None and answer.choice is not None
            raise InputProblem(
                f"{name} is answered already" if given else f"nothing waits for the answer {name}"
            )
        count = len(self._inquiry(name).texts)
        if not choice.isdecimal() or len(choice) > 9 or not 1 <= int(choice) <= count:
            raise InputProblem(f"the answer {name} is a number from 1 to {count}, not {choice!r}")

    def _inquiry(self, name: str) -> Inquiry:
        return next(inquiry for inquiry in self.scenario.inquiries if inquiry.name == name)

    def _give_due(self) -> None:
        """Do the timeline's inputs that are due."""
        while self._waiting and self._waiting[0][0] <= self.world.tick and not self.finished:
            item = heapq.heappop(self._waiting)[2]
            self._take(simulator.advance(self.world, self.world.tick, [item]))

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            if event.kind == "hint":
                hint = self.next_hint()
                assert hint is not None, "do has refused to open a hint that is not there"
                event = self._opened(event, hint, int(event.get("layer")))
            elif event.kind == "answer":
                event = self._answered(event)
            elif event.kind == "sql_done":
                if not facts.in_story(str(event.get("window", ""))):
                    self._batches.append(facts.conduct(event))
            elif event.get("what") == "operation done":
                self._operations.append(event)
            self.events.append(event)

    def _opened(self, event: Event, hint: Hint, layer: int) -> Event:
        opened = any((o.goal, o.layer) == (hint.goal, layer) for o in self.hints)
        cost = hint.cost[layer - 1] if self.terms.hints_cost and not opened else 0.0
        self.hints.append(Opened(event.tick, hint.goal, layer, cost))
        text = (hint.look, hint.means, hint.type)[layer - 1]
        data = (("goal", hint.goal), ("layer", layer), ("cost", cost))
        return Event(event.tick, "hint", None, None, text, data)

    def _answered(self, event: Event) -> Event:
        name, choice = str(event.get("question")), int(event.get("choice"))
        inquiry = self._inquiry(name)
        answer = self.answers[name] = questions.given(self.answers[name], choice, event.tick)
        text = f"answered: {inquiry.texts[choice - 1]}"
        data: tuple[tuple[str, Any], ...] = (("question", name), ("choice", choice))
        if answer.right and self.terms.answers_at_once:
            text, data = questions.verdict(inquiry, answer), (*data, ("right", answer.correct))
        return replace(event, text=text, data=data)

    def _came_back(self, item: Input) -> None:
        """Note what is known already from the future that was given up."""
        tick = self.world.tick
        self.rewinds.append((ticks(float(item.args[0])), tick))
        hints = {hint.goal: hint for hint in self.scenario.hints}
        for known in rewind.known_in(" ".join(item.args[1:]), self.scenario):
            if known.what == "hint":
                event = Event(tick, "hint", None, None, "")
                self.events.append(self._opened(event, hints[known.name], known.number))
            elif known.what == "missed":
                self.answers[known.name] = questions.missed(self.answers[known.name], tick)
            else:
                self.answers[known.name] = questions.given(self.answers[known.name], known.number, tick)

    def _note_hash(self) -> None:
        self.hashes.append(StateHash(self.world.tick, len(self.journal), self.world.state_hash()))

    def _tell(self, kind: str, text: str, **data: Any) -> None:
        self.events.append(Event(self.world.tick, kind, None, None, text, tuple(data.items())))

    def _look(self) -> None:
        """Once a second: what has come true, and whether the drill is over."""
        seen, world = self._standing, self.world
        if seen is None or world.sources != seen.sources or world.streams != seen.streams:
            self._log_of = {name: report.log_of(world, name) for name in world.availability}
            self._places = streams.places(world)
            seen = None
        if seen is None or world.servers != seen.servers:
            seen = self._standing = Standing(
                world.sources.copy(), world.streams.copy(), self._places, world.servers.copy()
            )
        if self.world.tick % self.samples.every == 0:  # one for each sample
            self.logs.append(self._log_of)
            self.standings.append(seen)
            self._sample_less_often()
        self._compare_failovers()
        for number, inject in list(self._unfired.items()):
            if inject.when is not None and self.holds(inject.when):
                del self._unfired[number]
                self._queue(number, inject, self.world.tick + ticks(inject.after))
        for goal in self.scenario.goals:
            state, news = judge(goal, self.goals[goal.name], self.holds(goal.when), self.world.tick)
            self.goals[goal.name] = state
            if news is not None:
                self._tell("goal", NEWS[news].format(text=goal.text), goal=goal.name, news=news)
        self._note_first_held()
        if self.mode is Mode.LAB:
            return
        for inquiry in self.scenario.inquiries:
            self._ask(inquiry)
        if any(f.ends and f"forbidden:{f.name}" in self.first_held for f in self.scenario.forbidden):
            self._end(End.FORBIDDEN)
        elif self.goals and all(state.met for state in self.goals.values()) and not self._untold():
            self._end(End.GOALS)
        elif self.end_tick is not None and self.world.tick >= self.end_tick:
            self._end(End.TIME)

    def _sample_less_often(self) -> None:
        """A run of days, or of many databases, is sampled more coarsely as it goes on; what is sampled stays."""
        samples, width = self.samples, max(1, len(self.world.sources))
        for every, share in SAMPLED_EVERY:
            if samples.count >= share * SAMPLES_MAX or samples.count * width >= share * SAMPLED_ROWS_MAX:
                samples.every = every
                return

    def coming(self) -> list[tuple[Tick, Input]]:
        """What the scenario does by itself from now on, as far as its moment is known, soonest first."""
        return [(tick, item) for tick, _, item in sorted(self._waiting, key=lambda waiting: waiting[:2])]

    def held_by(self) -> list[Holder]:
        """What the drill still waits for although every goal is reached; empty while one is not."""
        if self.finished or not self.goals or not all(state.met for state in self.goals.values()):
            return []
        return self._untold()

    def _untold(self) -> list[Holder]:
        """Parts of the story that are not over, each kind once."""
        asked = [
            (i, a) for i in self.scenario.inquiries if (a := self.answers[i.name]).asked_tick is not None
        ]
        left = [(i, a) for i, a in asked if not questions.settled(i, a)]
        kinds = {"question": any(a.open for _, a in left), "prediction": any(not a.open for _, a in left)}
        kinds["story"] = bool(self._waiting)
        return [Holder(kind) for kind, there in kinds.items() if there]

    def _ask(self, inquiry: Inquiry) -> None:
        name = inquiry.name
        answer, news = questions.look(inquiry, self.answers[name], self.holds, self.world.tick)
        self.answers[name] = answer
        if news == "asked":
            self._tell("question", inquiry.text, question=name, choices=inquiry.texts, pause=inquiry.pause,
                       prediction=questions.predicts(inquiry), within_s=inquiry.within)  # fmt: skip
        elif news == "missed":
            self._tell("answer", f"no answer in time: {inquiry.text}", question=name, missed=True)
        elif news == "judged" and self.terms.answers_at_once:
            self._tell("answer", questions.verdict(inquiry, answer), question=name, right=answer.correct)

    def _note_first_held(self) -> None:
        for name, when, premise, text in self._watched:
            if name in self.first_held or not self.holds(when):
                continue
            so = premise is None or self.holds(premise)
            self.first_held[name] = self.world.tick if so else None
            if so:
                self._tell("score", text, rule=name)

    def _compare_failovers(self) -> None:
        """Find the published row for each new failover, while the world is still as it was when it began."""
        for place in range(self._compared, len(self.world.failovers)):
            found = comparison.published(self.world, self.world.failovers[place])
            if found is not None:
                self.published[place] = found
            else:
                self.unlike[place] = comparison.unlike(self.world, self.world.failovers[place])
        self._compared = len(self.world.failovers)

    def _end(self, why: End) -> None:
        self.ended_by = why
        self._tell("note", f"the drill is over: {why}", ended_by=why.name.lower())
        for item in self.score().items:
            self._tell("score", f"{item.name}: {item.points:g} of {item.max:g}. {item.why}",
                       name=item.name, points=item.points, max=item.max)  # fmt: skip


def _conditions(scenario: Scenario) -> dict[str, Condition]:
    """Every condition of the scenario by its text."""
    texts = [inject.when for inject in scenario.timeline if inject.when is not None]
    texts += [goal.when for goal in scenario.goals] + [state.when for state in scenario.forbidden]
    texts += [rule.when for rule in scenario.rubric if isinstance(rule, ConditionRule)]
    texts += [inquiry.when for inquiry in scenario.inquiries if inquiry.when is not None]
    names = names_of(scenario)
    return {text: conditions.parse(text, names) for text in texts}


def _watched(scenario: Scenario) -> list[tuple[str, str, str | None, str]]:
    """What counts once it has held: its name, condition and premise, and what is said of it."""
    watched: list[tuple[str, str, str | None, str]] = [
        (f"forbidden:{f.name}", f.when, None, f.text) for f in scenario.forbidden
    ]
    for rule in scenario.rubric:
        for i, price in enumerate(rule.prices if isinstance(rule, ConductRule) else ()):
            watched.append((f"price:{rule.name}:{i}", price.when, price.premise, price.why))
    return watched


def replay(scenario: Scenario, seed: int, mode: Mode | str, lines: Iterable[str], tick: Tick = 0) -> Drill:
    """The drill as it was at *tick* after the journal's *lines*. Raises InputProblem for a journal of another drill."""
    inputs, problems = parse_script("\n".join(lines))
    if problems:
        raise InputProblem("; ".join(problems))
    drill = Drill(scenario, seed, mode)
    play_inputs(drill, inputs)
    drill.advance_to(tick)
    return drill


def play_inputs(
    drill: Drill, inputs: Iterable[Input], refused: Callable[[Input, InputProblem], None] | None = None
) -> None:
    """Do *inputs* at their times. One that cannot be done goes to *refused*, or raises InputProblem without it."""
    for item in inputs:
        drill.advance_to(item.tick)
        try:
            drill.do(item.words)
        except InputProblem as problem:
            if refused is None:
                raise
            refused(item, problem)
