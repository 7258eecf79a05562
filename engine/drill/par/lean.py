"""A drill that keeps only what its score and its future need: for the search, which plays thousands, and a class."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any, Final, Self

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.authoring import facts
from engine.drill.authoring.conditions import Test
from engine.drill.authoring.facts import Facts
from engine.drill.authoring.schema import Prediction, Scenario
from engine.drill.judging.score import Score
from engine.drill.par.marks import Marks
from engine.drill.running import questions
from engine.drill.running.drill import Drill
from engine.drill.running.modes import Mode
from engine.events import Event
from engine.model import Client, Tick, World, ticks

NEVER: Final = 2**40
"""The tick of a look that is not needed."""

ASKED: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "sources", "streams",
    "clusters", "nodes", "replicas", "listeners", "records", "failovers", "objects", "availability", "programs",
)  # fmt: skip
"""Parts of a world of which conditions speak that only what happens changes."""

PARTS_ASKED: Final[Callable[[World], tuple[Any, ...]]] = attrgetter(*ASKED)

OF_CLIENT: Final[Callable[[Client], tuple[Any, ...]]] = attrgetter(
    "connected_to", "failed_logins", "data_source", "databases", "read_only", "multi_subnet", "driver",
    "command_timeout_s",
)  # fmt: skip
"""What conditions ask of a client, which changes with every try to log in."""

COPIED: Final[Callable[[Any], Any]] = methodcaller("copy")

GROWING: Final = ("journal", "events", "_batches", "_operations")
"""Lists that a fork goes on with on its own; the other records of the past stay empty here."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What a look has found to wait for."""

    tests: dict[str, Test]
    """Conditions."""
    flowing: dict[str, Test]
    """Those of them that may come to hold, or cease to, while nothing happens."""
    held: dict[str, bool]
    """Whether they held then."""
    answers: list[object]
    """What was answered then."""
    tick: Tick
    """The whole second at which there is something to find although all that stays so."""


class Lean(Drill):
    """A drill without samples, hashes, charts, comparisons and a verdict among its events; its score is that of the
    whole drill."""

    events: list[Event]  # type: ignore[assignment]  # a list is forked in no time, and written without a table

    def __init__(self, scenario: Scenario, seed: int | None = None, mode: Mode | str = Mode.PRACTICE) -> None:
        self._looking = False
        self._held: dict[str, bool] = {}
        """Which conditions hold, as far as the look that is under way has asked."""
        self._flowing: dict[str, bool] = {}
        self._known: Facts | None = None
        """What conditions are asked of, as long as nothing of which they speak changes."""
        self._parts_asked: tuple[dict[Any, Any] | list[Any], ...] = ()
        self._asked_besides: list[object] = []
        """What conditions speak of, as it was when that was last compared."""
        self._changed = True
        """It has changed since the last look."""
        self._settlings = -1
        """World.settlings when that was last compared."""
        self._watch = Watch({}, {}, {}, [], 0)
        self._next_look: Tick = 0
        self.marks = Marks()
        self._final: Score | None = None
        """Once it is finished."""
        super().__init__(scenario, seed, mode)
        self.events = list(self.events)

    def fork(self) -> Self:
        if self.world.flow.memory is None:
            self.world.flow.remember()
        twin = self.apart()
        own = twin.__dict__
        for name in GROWING:
            own[name] = own[name].copy()
        twin._known = None
        return twin

    def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
        """As a Drill, but without the looks of seconds in which nothing happens and nothing that is watched flows."""
        first, world = len(self.events), self.world
        while world.tick < tick and not self.finished and not (to_event and len(self.events) > first):
            whole_second = (world.tick // TICKS_PER_S + 1) * TICKS_PER_S
            still = self._is_still() and self._next_look > whole_second
            due = self._waiting[0][0] if self._waiting else tick
            until = min(tick, self._next_look if still else whole_second, due)
            self._take(simulator.advance(world, until, (), None, to_event, to_change=still))
            if world.tick % TICKS_PER_S == 0 and (self._has_changed() or world.tick >= self._next_look):
                self._look()
            self._give_due()
        return self.events[first:]

    def score(self) -> Score:
        if not self.finished:
            return super().score()
        if self._final is None:
            self._final = super().score()
        return self._final

    def _is_still(self) -> bool:
        """Nothing has happened since it was last seen that nothing has changed."""
        return self._settlings == self.world.settlings

    def _has_changed(self) -> bool:
        """Whether anything of which conditions speak is other than when that was last asked."""
        if self._is_still():
            return False
        self._settlings = self.world.settlings
        parts = PARTS_ASKED(self.world)
        sent = len(self._batches), len(self._operations)
        besides = [*map(OF_CLIENT, self.world.clients.values()), *sent, self.calls, *self._answers()]
        if parts == self._parts_asked and besides == self._asked_besides:
            return False
        self._parts_asked, self._asked_besides = tuple(map(COPIED, parts)), besides
        self._known, self._changed = None, True
        return True

    def _answers(self) -> list[object]:
        """What was answered, and how much of the story is to come."""
        return [len(self._waiting), *self.answers.values()]

    def holds(self, text: str) -> bool:
        """As of a Drill; in a look each condition is asked once."""
        if not self._looking:
            return super().holds(text)
        held = self._held.get(text)
        if held is None:
            held = self._held[text] = self._condition(text).test(self._facts())
        return held

    def _facts(self) -> Facts:
        """As of a Drill; what a look has worked out serves the next one, if nothing has changed."""
        if not self._looking:
            return super()._facts()
        if self._known is None:
            self._known = super()._facts()
        return self._known

    def _flows(self, text: str) -> bool:
        if text not in self._flowing:
            self._flowing[text] = facts.flows(text)
        return self._flowing[text]

    def _look(self) -> None:
        """As of a Drill, unless the conditions that it would ask are as they were, and it is not the time either."""
        self._looking, watch = True, self._watch
        facts = self._facts()
        asked = watch.tests if self._changed else watch.flowing
        held = {text: test(facts) for text, test in asked.items()}
        if not self._changed:
            held = watch.held | held
        if self.world.tick >= watch.tick or held != watch.held or watch.answers != self._answers():
            self._held = held
            super()._look()
            texts, tick = self._ahead()
            tests = {text: self._condition(text).test for text in texts}
            flowing = {text: test for text, test in tests.items() if self._flows(text)}
            held = {text: self.holds(text) for text in texts}
            watch = self._watch = Watch(tests, flowing, held, self._answers(), tick)
        self._next_look = self.world.tick + TICKS_PER_S if watch.flowing else watch.tick
        self._looking = self._changed = False

    def _ahead(self) -> tuple[tuple[str, ...], Tick]:
        """The conditions in which a look could find something new, and the next whole second at which it could do so
        although they stay as they are."""
        now, texts = self.world.tick, [each.when for each in self._unfired.values()]
        moments = [] if self.end_tick is None else [self.end_tick]
        for goal in self.scenario.goals:
            state = self.goals[goal.name]
            if state.missed_tick is not None:
                continue
            texts.append(goal.when)
            moments.append(ticks(goal.after))
            if not state.met:
                moments += [] if goal.within is None else [ticks(goal.within)]
                moments += [] if state.since_tick is None else [state.since_tick + ticks(goal.hold)]
        texts += [when for name, when, _, _ in self._watched if name not in self.first_held]
        for inquiry in self.scenario.inquiries:
            answer = self.answers[inquiry.name]
            if answer.void_tick is not None or (
                answer.asked_tick is not None and questions.settled(inquiry, answer)
            ):
                continue
            if answer.asked_tick is not None:
                until = questions.until(inquiry, answer)
                moments += [] if until is None else [until]
                if isinstance(inquiry, Prediction):
                    moments.append(answer.asked_tick + ticks(inquiry.judged_after))
            elif answer.since_tick is not None or inquiry.when is None:
                since = ticks(inquiry.at or 0.0) if answer.since_tick is None else answer.since_tick
                moments.append(since + ticks(inquiry.after))
            else:
                texts.append(inquiry.when)
                if self.holds(
                    inquiry.when
                ):  # its premise failed just now, and from the next second on it waits anew
                    moments.append(now + TICKS_PER_S)
        seconds = (-(-moment // TICKS_PER_S) * TICKS_PER_S for moment in moments if moment > now)
        return tuple(text for text in texts if text is not None), min(seconds, default=NEVER)

    def _record(self) -> None:
        """No charts and no report."""

    def _tell_score(self) -> None:
        """Who wants it asks for it; of most runs the total alone is wanted."""

    def _note_hash(self) -> None:
        """Nobody replays it."""


def what_matters(drill: Lean) -> bytes:
    """16 bytes that are equal for states with the same future and the same score so far.

    Left out: texts, what monitors recorded, the order numbers of timers. Needed: what the rules of the score
    look back at, which is every batch and act that the rubric looks at.
    """
    world, marks = drill.world, drill.marks
    parts = {name: part for name, part in zip(MATTERS, PARTS_THAT_MATTER(world), strict=True) if part}
    parts |= {"goals": drill.goals, "answers": drill.answers, "faults": dict(enumerate(world.faults))}
    mark = marks.of("conduct", dict(enumerate(drill._batches)), _conduct)
    for name, part in parts.items():
        mark ^= marks.of(name, part)
    rest = (world.tick, world.chance.state, drill.ended_by, drill.first_held, drill.hints, drill.story_ticks)
    digest = hashlib.blake2b(repr((rest, drill.calls, mark)).encode(), digest_size=16)
    digest.update(marks.in_order(world.timers))
    digest.update(world.flow.mark())
    return digest.digest()


def _conduct(event: Event) -> tuple[Tick, str | None, object]:
    return event.tick, event.server, event.get("batch")


MATTERS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "clients", "availability", "files",
    "batches", "transfers", "commits", "sources", "streams",
)  # fmt: skip
"""Parts of a world that decide what will happen."""

PARTS_THAT_MATTER: Final[Callable[[World], tuple[Any, ...]]] = attrgetter(*MATTERS)
