"""Moments of a drill, kept without their past so that hundreds of them cost little; and hashes to know them by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.constants import TICKS_PER_S
from engine.flow import Samples
from engine.model import Tick

if TYPE_CHECKING:
    from engine.drill.drill import Drill

HASH_EVERY: Final = 60 * TICKS_PER_S
"""Ticks between two hashes of the state, beside those at each input. Assumed: fine enough to name the place of a
divergence, and a few percent of a run at most."""

LOGS: Final = ("events", "journal", "hashes", "rows", "standings", "_batches", "_operations")
"""What of a drill only grows: the first entries of a later moment are those of an earlier one."""


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
    samples: int

    @property
    def tick(self) -> Tick:
        return self.drill.tick

    @property
    def inputs(self) -> int:
        """Inputs of the journal that had been done."""
        return self.lengths[LOGS.index("journal")]

    @property
    def events(self) -> int:
        """Events that had happened."""
        return self.lengths[LOGS.index("events")]

    def again(self, past: Drill) -> Drill:
        """An independent drill at this moment; *past* is any that has come by here, and stays as it is."""
        drill = self.drill.apart()
        for name, length in zip(LOGS, self.lengths, strict=True):
            setattr(drill, name, getattr(past, name)[:length])
        drill.samples = past.samples.first(self.samples)
        drill.samples.every = self.drill.samples.every
        return drill


def keep(drill: Drill) -> Kept:
    """The moment at which *drill* is."""
    twin = drill.apart()
    for name in LOGS:
        setattr(twin, name, [])
    twin.samples = Samples(drill.samples.every)
    return Kept(twin, tuple(len(getattr(drill, name)) for name in LOGS), drill.samples.count)
