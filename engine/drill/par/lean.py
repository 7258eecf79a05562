"""A drill that keeps only what its score and its future need: for the search, which plays thousands, and a class."""

from __future__ import annotations

import hashlib
from typing import Final, Self

from engine import simulator
from engine.constants import TICKS_PER_S
from engine.drill.authoring import facts
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


class Lean(Drill):
    """A drill without samples, hashes, charts and comparisons; its score is that of the whole drill."""

    events: list[Event]  # type: ignore[assignment]  # a list is forked in no time, and written without a table

    def __init__(self, scenario: Scenario, seed: int | None = None, mode: Mode | str = Mode.PRACTICE) -> None:
        self._looking = False
        self._held: dict[str, bool] = {}
        self._flowing: dict[str, bool] = {}
        self._asked_of: list[object] = []
        """What conditions speak of, as it was at the last look."""
        self._settlings = -1
        """World.settlings when that was last compared."""
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
        twin._held = self._held.copy()
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
        """Whether anything of which conditions speak, or what the trainee has done, is other than at the last look."""
        if self._is_still():
            return False
        self._settlings = self.world.settlings
        return self._asked() != self._asked_of

    def _asked(self) -> list[object]:
        world = self.world
        parts: list[object] = [getattr(world, name).copy() for name in ASKED]
        return [
            *parts,
            [client.connected_to for client in world.clients.values()],
            (len(self._batches), len(self._operations), len(self.journal), len(self.story_ticks)),
        ]

    def holds(self, text: str) -> bool:
        """As of a Drill; in the look of each second, only what may have changed since the last look is asked again."""
        if not self._looking or self._flows(text):
            return super().holds(text)
        if text not in self._held:
            self._held[text] = super().holds(text)
        return self._held[text]

    def _flows(self, text: str) -> bool:
        if text not in self._flowing:
            self._flowing[text] = facts.flows(text)
        return self._flowing[text]

    def _look(self) -> None:
        asked = self._asked()
        if asked != self._asked_of:
            self._held, self._asked_of = {}, asked
        self._settlings = self.world.settlings
        self._looking = True
        super()._look()
        self._looking = False
        self._next_look = self._look_again()

    def _look_again(self) -> Tick:
        """The next whole second at which a look could find something new although nothing happens until then."""
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
        if any(text is not None and self._flows(text) for text in texts):
            return now + TICKS_PER_S
        return min(
            (-(-moment // TICKS_PER_S) * TICKS_PER_S for moment in moments if moment > now), default=NEVER
        )

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
    digest.update(world.flow.digest())
    return digest.digest()


def _conduct(event: Event) -> tuple[Tick, str | None, object]:
    return event.tick, event.server, event.get("batch")


MATTERS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "clients", "availability", "files",
    "batches", "transfers", "commits", "sources", "streams",
)  # fmt: skip
"""Parts of a world that decide what will happen."""
