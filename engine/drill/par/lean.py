"""A drill that keeps only what its score and its future need: for the search, which plays thousands, and a class."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Self

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.authoring import facts
from engine.drill.authoring.facts import Facts
from engine.drill.authoring.schema import Prediction, Scenario
from engine.drill.judging.score import Score
from engine.drill.par.marks import Marks
from engine.drill.running import questions
from engine.drill.running.drill import Drill
from engine.drill.running.modes import Mode
from engine.events import Event
from engine.model import Tick, ticks

NEVER: Final = 2**40
"""The tick of a look that is not needed."""

ASKED: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "sources", "streams",
    "clusters", "nodes", "replicas", "listeners", "failovers", "objects",
)  # fmt: skip
"""Parts of a world of which conditions speak that only what happens changes."""

GROWING: Final = ("journal", "events", "_batches", "_operations")
"""Lists that a fork goes on with on its own; the other records of the past stay empty here."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What a look has found to wait for."""

    texts: tuple[str, ...]
    """Conditions."""
    held: tuple[bool, ...]
    """Whether they held then."""
    flows: bool
    """One of them may come to hold, or cease to, while nothing happens."""
    tick: Tick
    """The whole second at which there is something to find although they stay so."""


class Lean(Drill):
    """A drill without samples, hashes, charts and comparisons; its score is that of the whole drill."""

    events: list[Event]  # type: ignore[assignment]  # a list is forked in no time, and written without a table

    def __init__(self, scenario: Scenario, seed: int | None = None, mode: Mode | str = Mode.PRACTICE) -> None:
        self._looking = False
        self._held: dict[str, bool] = {}
        self._held_now: dict[str, bool] = {}
        """Of conditions that flow, in the look that is under way."""
        self._flowing: dict[str, bool] = {}
        self._known: Facts | None = None
        """What conditions are asked of, as long as nothing of which they speak changes."""
        self._asked_of: list[object] = []
        """What conditions speak of, as it was when that was last compared."""
        self._deeds_seen: tuple[object, ...] = ()
        """What was done and what is to come, at the last look."""
        self._settlings = -1
        """World.settlings when that was last compared."""
        self._watch = Watch((), (), False, 0)
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
        for name in GROWING:
            setattr(twin, name, getattr(self, name).copy())
        twin._held, twin._known = self._held.copy(), None
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

    def total(self) -> float:
        return self.score().total if self.finished else super().total()

    def _is_still(self) -> bool:
        """Nothing has happened since it was last seen that nothing has changed."""
        return self._settlings == self.world.settlings

    def _has_changed(self) -> bool:
        """Whether anything of which conditions speak is other than when that was last asked."""
        if self._is_still():
            return False
        self._settlings = self.world.settlings
        asked = self._asked()
        if asked == self._asked_of:
            return False
        self._asked_of, self._held, self._known = asked, {}, None
        return True

    def _asked(self) -> list[object]:
        world = self.world
        parts: list[object] = [getattr(world, name).copy() for name in ASKED]
        connected = [client.connected_to for client in world.clients.values()]
        return [*parts, connected, len(self._batches), len(self._operations), self._deeds()]

    def _deeds(self) -> tuple[object, ...]:
        return len(self.journal), len(self.story_ticks), len(self._waiting), self.calls

    def holds(self, text: str) -> bool:
        """As of a Drill; in a look, only what may have changed since the look before is asked again."""
        if not self._looking:
            return super().holds(text)
        known = self._held_now if self._flows(text) else self._held
        held = known.get(text)
        if held is None:
            held = known[text] = self._condition(text).test(self._facts())
        return held

    def _facts(self) -> Facts:
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
        self._looking, self._held_now = True, {}
        deeds, watch = self._deeds(), self._watch
        if (
            self.world.tick >= watch.tick
            or deeds != self._deeds_seen
            or watch.held != tuple(map(self.holds, watch.texts))
        ):
            super()._look()
            texts, tick = self._ahead()
            held, flows = tuple(map(self.holds, texts)), any(map(self._flows, texts))
            watch = self._watch = Watch(texts, held, flows, tick)
            self._deeds_seen = deeds
        self._next_look = self.world.tick + TICKS_PER_S if watch.flows else watch.tick
        self._looking = False

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

    def _note_hash(self) -> None:
        """Nobody replays it."""


def what_matters(drill: Lean) -> bytes:
    """16 bytes that are equal for states with the same future and the same score so far.

    Left out: texts, what monitors recorded, the order numbers of timers. Needed: what the rules of the score
    look back at, which is every batch and act that the rubric looks at.
    """
    world, marks = drill.world, drill.marks
    parts = [marks.of(name, getattr(world, name)) for name in MATTERS]
    parts += [marks.of(name, getattr(drill, name)) for name in ("goals", "answers")]
    parts.append(marks.of("faults", dict(enumerate(world.faults))))
    parts.append(marks.of("conduct", dict(enumerate(drill._batches)), _conduct))
    rest = (world.tick, world.chance.state, drill.ended_by, drill.first_held, drill.hints, drill.story_ticks)
    digest = hashlib.blake2b(repr((rest, drill.calls, parts)).encode(), digest_size=16)
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
