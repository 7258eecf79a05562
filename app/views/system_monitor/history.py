"""Values that a server would have reported to System Monitor each second, from its own perspective. No Qt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.view_models.series import Columns
from app.views.system_monitor.catalogue import Array, CounterChoice, LogRole
from engine.constants import TICKS_PER_S
from engine.flow import COUNTERS, NOWHERE, Place, Samples
from engine.model import Computer, Instance, Key, World
from engine.protocol import streams


class SampledState(Protocol):
    """Owners of the logs and state of each server at one sample."""

    @property
    def sources(self) -> Mapping[int, Key]:
        """Return the copies that write each source."""

    @property
    def places(self) -> Mapping[Key, Place]:
        """Return the log place of each copy."""

    @property
    def computers(self) -> Mapping[str, Computer]:
        """Return the computers by name."""

    @property
    def instances(self) -> Mapping[str, Instance]:
        """Return the instances by name."""


class SampledRun(Protocol):
    """Part of a drill that this module reads."""

    @property
    def world(self) -> World:
        """Return the current world."""

    @property
    def samples(self) -> Samples:
        """Return the recorded samples."""

    @property
    def standings(self) -> Sequence[SampledState]:
        """Return the states that belong to the samples."""


@dataclass(frozen=True, slots=True)
class CounterSummary:
    """A counter over a stretch of time; None where it could not be read."""

    last: float | None
    mean: float | None
    low: float | None
    high: float | None


EMPTY = CounterSummary(None, None, None, None)


class SampleHistory:
    """Rows and sides of the copies that the user watches, for each sample."""

    def __init__(self, run: SampledRun, previous_history: SampleHistory | None = None) -> None:
        """Create the history; *before*: of another time, or run; common samples are not read again."""
        self._run = run
        self._sides: dict[Key, _Sides] = previous_history._sides if previous_history is not None else {}

    @property
    def count(self) -> int:
        """Samples whose circumstances are known."""
        return min(self._run.samples.count, len(self._run.standings))

    @property
    def end_s(self) -> float:
        """Return the time of the last sample in seconds."""
        return float(self._run.samples.ticks[self.count - 1]) / TICKS_PER_S if self.count else 0.0

    def times_s(self, start_index: int, end_index: int) -> Array:
        """Return the times of samples in seconds."""
        times: Array = self._run.samples.ticks[start_index:end_index] / TICKS_PER_S
        return times

    def find_sample(self, t_s: float) -> int:
        """Return number of the first sample at or after *t_s*."""
        return int(np.searchsorted(self._run.samples.ticks[: self.count], t_s * TICKS_PER_S - 0.5))

    def values(self, choice: CounterChoice, start_index: int, end_index: int) -> Array:
        """Return the counter from sample *first* to before *last*; NaN where the server could not be asked."""
        key = (choice.server, choice.database)
        known = self._sides.setdefault(key, _Sides(key))
        known.follow(self._run, self.count)
        sides, sampled = known.sides[start_index:end_index], known.columns.values[start_index:end_index]

        def get(name: str) -> Array:
            column: Array = sampled[:, COUNTERS.index(name)]
            return column

        out = np.where(sides == LogRole.AWAY, np.nan, 0.0)
        if len(sides):
            compression = self._compression(key)
            for side in (LogRole.OWNER, LogRole.MIRROR):
                made = choice.perf.values(side, get, compression)
                if made is not None:
                    out = np.where(sides == side, made, out)
        return out

    def summary(self, choice: CounterChoice, from_s: float, to_s: float = math.inf) -> CounterSummary:
        """Return the counter from *from_s* to *to_s*, or to the end."""
        last = self.count if to_s == math.inf else self.find_sample(to_s + 0.01)
        values = self.values(choice, self.find_sample(from_s), last)
        known = values[~np.isnan(values)]
        if not len(known):
            return EMPTY
        final = None if np.isnan(values[-1]) else float(values[-1])
        return CounterSummary(final, float(known.mean()), float(known.min()), float(known.max()))

    def _compression(self, key: Key) -> float:
        """Wire bytes per byte of log as the stream is now; 1 without one."""
        world = self._run.world
        copy = world.copies.get(key)
        _, stream = (streams.find_log_place(world, copy) if copy is not None else None) or NOWHERE
        return world.flow.stream_setup(stream).compression_ratio if stream >= 0 else 1.0


class _Sides:
    """Counters and side of one copy at each sample."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._last_state: SampledState | None = None
        self._current_place = (NOWHERE, LogRole.AWAY)
        self.columns = Columns()
        self.sides = np.zeros(64, dtype=np.int8)

    def follow(self, run: SampledRun, count: int) -> None:
        """Take in what *run* has beyond what is known."""
        if count > len(self.sides):
            self.sides = np.resize(self.sides, 2 * count)
        places = []
        for place in range(self.columns.agree(run.samples, count), count):
            standing = run.standings[place]
            if standing is not self._last_state:
                self._last_state = standing
                self._current_place = _find_role(standing, self._key)
            at, self.sides[place] = self._current_place
            places.append(at)
        self.columns.add(places)


def _find_role(standing: SampledState, key: Key) -> tuple[Place, LogRole]:
    server = standing.instances.get(key[0])
    if server is None or not (server.answering and standing.computers[server.computer].nic_up):
        return NOWHERE, LogRole.AWAY
    for copy, at in standing.places.items():
        if _matches(key, copy):
            return at, LogRole.OWNER if standing.sources[at[0]] == copy else LogRole.MIRROR
    return NOWHERE, LogRole.NONE


def _matches(key: Key, copy: Key) -> bool:
    """Return whether the copy is meant, or any copy of the server."""
    return key[0] == copy[0] and key[1] in ("", copy[1])
