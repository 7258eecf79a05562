"""Moments of a drill, kept without their past so that hundreds of them cost little; and hashes to know them by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from operator import is_
from typing import TYPE_CHECKING, Final

from engine.constants import TICKS_PER_S
from engine.drill.event_log import EventLog
from engine.flow import Samples
from engine.model import Tick, World

if TYPE_CHECKING:
    from engine.drill.drill import Drill

HASH_EVERY: Final = 60 * TICKS_PER_S
"""Ticks between two hashes of the state, beside those at each input. Assumed: fine enough to name the place of a
divergence, and a few percent of a run at most."""

LOGS: Final = ("journal", "hashes", "rows", "standings", "_batches", "_operations")
"""What of a drill only grows, beside its events and samples: an earlier moment has the first entries of a later one."""


@dataclass(frozen=True, slots=True)
class StateHash:
    """The state's hash at *tick*, after so many inputs of the journal."""

    tick: Tick
    inputs: int
    digest: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A moment without its past, of which it knows only how long it was."""

    drill: Drill
    lengths: tuple[int, ...]
    events: int
    """Events that had happened."""
    samples: int

    @property
    def tick(self) -> Tick:
        return self.drill.tick

    @property
    def inputs(self) -> int:
        """Inputs of the journal that had been done."""
        return self.lengths[LOGS.index("journal")]

    def again(self, past: Drill) -> Drill:
        """An independent drill at this moment; *past* is any that has come by here, and stays as it is."""
        drill = self.drill.apart()
        for name, length in zip(LOGS, self.lengths, strict=True):
            setattr(drill, name, getattr(past, name)[:length])
        drill.events = past.events.first(self.events)
        drill.samples = past.samples.first(self.samples)
        drill.samples.every = self.drill.samples.every
        return drill


def keep(drill: Drill, before: Kept | None = None) -> Kept:
    """The moment at which *drill* is; what is as it was in the kept moment *before* is held once for both."""
    twin = drill.apart()
    for name in LOGS:
        setattr(twin, name, [])
    twin.events = EventLog()
    twin.samples = Samples(drill.samples.every, drill.samples.exact)
    if before is not None:
        _share(twin.world, before.drill.world)
    lengths = tuple(len(getattr(drill, name)) for name in LOGS)
    return Kept(twin, lengths, len(drill.events), drill.samples.count)


def _share(world: World, other: World) -> None:
    """Let *world* hold the very dictionaries and lists of *other* that hold the same; kept worlds never change."""
    for field in fields(world):
        mine, known = getattr(world, field.name), getattr(other, field.name)
        same = isinstance(mine, (dict, list)) and _same(mine, known)
        if same and (isinstance(mine, list) or _same(mine.values(), known.values())):
            setattr(world, field.name, known)


def _same(some: Collection[object], others: Collection[object]) -> bool:
    """The same objects in the same order: equal would not do, as 1 and 1.0 are, and hash to other states."""
    return len(some) == len(others) and all(map(is_, some, others))
