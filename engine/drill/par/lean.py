"""A drill that keeps only what its score and its future need: what the search plays thousands of times."""

from __future__ import annotations

import hashlib
from typing import Final, Self

from engine.drill.authoring import facts
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from engine.drill.running.modes import Mode
from engine.events import Event
from engine.flow import Samples
from engine.model import Tick

NEVER: Final = 2**40
"""Ticks between two samples of a drill that takes none."""

ASKED: Final = (
    "computers",
    "instances",
    "links",
    "copies",
    "witnesses",
    "contacts",
    "clients",
    "sources",
    "streams",
)
"""Parts of a world of which a condition without a figure (no parentheses) and without ARMED speaks."""

GROWING: Final = ("journal", "events", "_batches", "_operations")
"""Lists that a fork goes on with on its own; the other records of the past stay empty here."""


class Lean(Drill):
    """A drill in practice without samples, hashes, charts and comparisons; its score is that of the whole drill."""

    events: list[Event]  # type: ignore[assignment]  # a list is forked in no time, and written without a table

    def __init__(self, scenario: Scenario, seed: int | None = None) -> None:
        self._looking = False
        self._held: dict[str, bool] = {}
        self._asked_of: tuple[object, ...] = ()
        self._asked_batches = 0
        super().__init__(scenario, seed, Mode.PRACTICE)
        self.events = list(self.events)
        self.samples = Samples(every=NEVER, exact=False)

    def fork(self) -> Self:
        twin = self.apart()
        for name in GROWING:
            setattr(twin, name, getattr(self, name).copy())
        twin._held = self._held.copy()
        return twin

    def holds(self, text: str) -> bool:
        """As of a Drill; in the look of each second, only what may have changed since the last look is asked again."""
        if not self._looking or "(" in text or facts.ARMED in text:
            return super().holds(text)
        if text not in self._held:
            self._held[text] = super().holds(text)
        return self._held[text]

    def _look(self) -> None:
        world = self.world
        if len(self._batches) != self._asked_batches or any(
            getattr(world, name) != before for name, before in zip(ASKED, self._asked_of, strict=False)
        ):
            self._held = {}
        if not self._held:
            self._asked_of = tuple(getattr(world, name).copy() for name in ASKED)
            self._asked_batches = len(self._batches)
        self._looking = True
        super()._look()
        self._looking = False

    def _record(self) -> None:
        """No charts and no report."""

    def _note_hash(self) -> None:
        """Nobody replays it."""


def what_matters(drill: Lean) -> bytes:
    """16 bytes that are equal for states with the same future and the same score so far.

    Left out: texts, what monitors recorded, the order numbers of timers. Needed: what the rules of the score
    look back at, which is every batch and act that is somebody's conduct.
    """
    world = drill.world
    digest = hashlib.blake2b(digest_size=16)
    timers = [(tick, name, args) for tick, _, name, args in sorted(world.timers)]
    digest.update(repr((world.tick, world.chance.state, timers, drill.ended_by)).encode())
    for name in MATTERS:
        part = getattr(world, name)
        for piece in world.written.items(name, part) if name in KEPT_TEXTS else (repr(part).encode(),):
            digest.update(piece)
    digest.update(world.flow.digest())
    own = (drill.goals, drill.first_held, drill.answers, drill.hints, world.faults, drill.story_ticks)
    digest.update(repr((own, [_conduct(event) for event in drill._batches])).encode())
    return digest.digest()


def _conduct(event: Event) -> tuple[Tick, str | None, object]:
    return event.tick, event.server, event.get("batch")


KEPT_TEXTS: Final = frozenset({"copies", "contacts", "files"})
"""Those whose texts the world keeps from one hash to the next."""

MATTERS: Final = (
    "computers", "instances", "links", "copies", "witnesses", "contacts", "clients", "availability", "files",
    "batches", "transfers", "commits", "sources", "streams",
)  # fmt: skip
"""Parts of a world that decide what will happen."""
