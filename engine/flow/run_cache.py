"""Cache of the runs of a flow, so that forks with the same history compute each run only once.

The key of a state is the list of changes to the flow, in order, and the number of ticks after the last
change.
The same changes and ticks give the same bits, however the run is divided.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from engine.flow.setup import FlowStopCondition

if TYPE_CHECKING:
    from engine.flow.kernel import Array

Arrays = tuple["Array", ...]
MetStopConditions = list[tuple[int, FlowStopCondition]]

CACHE_BYTES_MAX: Final = 96 * 1024 * 1024
"""Memory limit of the cached states, in bytes. The least recently used state is removed first. Assumed."""

STATE_OVERHEAD_BYTES: Final = 1_200
"""Memory of a state in addition to its arrays' values, in bytes. Measured for six arrays."""


class CachedState(Struct, frozen=True):
    """State at the end of a run that began at *from_tick* and did not stop earlier.

    Ticks count from the last change of the flow's history.
    """

    from_tick: int
    arrays: Arrays
    sources: MetStopConditions
    streams: MetStopConditions
    passed: bool
    """True if the result of a watched threshold changed at this tick."""
    size: int
    """Size in bytes."""


class RunCache:
    """Cache of the runs of all forks of one flow. A history id identifies a list of changes to a flow."""

    def __init__(self) -> None:
        self._history_ids: dict[tuple[int, int, tuple[object, ...]], int] = {}
        self._reached: OrderedDict[tuple[int, int], CachedState] = OrderedDict()
        self._stops: dict[int, list[int]] = {}
        """Root -> ticks after this root at which a run stopped early."""
        self._marks: dict[tuple[int, int], bytes] = {}
        self._size = 0

    def get_state_key(
        self, history_id: int, ticks_since_change: int, compute_key: Callable[[], bytes]
    ) -> bytes:
        """Return the cached key of a state. *compute_key* computes the key at the first call."""
        mark = self._marks.get((history_id, ticks_since_change))
        if mark is None:
            mark = self._marks[(history_id, ticks_since_change)] = compute_key()
        return mark

    def find_history_id(self, history_id: int, ticks_since_change: int, change: tuple[object, ...]) -> int:
        """Return the id of the history that extends *history_id* by *change*. A new history gets a new id.

        *ticks_since_change*: ticks from the last change of the old history to *change*.
        """
        return self._history_ids.setdefault(
            (history_id, ticks_since_change, change), len(self._history_ids) + 1
        )

    def find_run(
        self, history_id: int, ticks_since_change: int, ticks: int
    ) -> tuple[int, CachedState] | None:
        """Return (end tick, state) of a stored run from *ticks_since_change* on; None if there is none.

        The run takes *ticks* ticks, or ends earlier at a stop condition. All ticks count from the last
        change of the history.
        """
        end_tick = ticks_since_change + ticks
        for stop in self._stops.get(history_id, ()):
            if ticks_since_change < stop <= end_tick:
                cached_state = self._reached.get((history_id, stop))
                if cached_state is not None and cached_state.from_tick <= ticks_since_change:
                    return stop, cached_state
        cached_state = self._reached.get((history_id, end_tick))
        if cached_state is None or cached_state.from_tick > ticks_since_change:
            return None
        self._reached.move_to_end((history_id, end_tick))
        return end_tick, cached_state

    def store_run(
        self,
        history_id: int,
        start_tick: int,
        end_tick: int,
        arrays: Arrays,
        sources: MetStopConditions,
        streams: MetStopConditions,
        passed: bool,
    ) -> None:
        """Store a run from *start_tick* to *end_tick*. Both count from the last change of the history."""
        replaced = self._reached.pop((history_id, end_tick), None)
        size = STATE_OVERHEAD_BYTES
        for array in arrays:
            size += array.nbytes
        self._reached[(history_id, end_tick)] = CachedState(
            start_tick, arrays, sources, streams, passed, size
        )
        self._size += size - (replaced.size if replaced is not None else 0)
        stops = self._stops.setdefault(history_id, [])
        if (sources or streams or passed) and end_tick not in stops:
            stops.append(end_tick)
        while self._size > CACHE_BYTES_MAX:
            self._size -= self._reached.popitem(last=False)[1].size


def hash_parts(parts: Iterable[bytes | memoryview]) -> bytes:
    """Return a 20-byte hash of the sequence *parts*.

    SHA-1 is used because processors have instructions for it.
    """
    mark = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        mark.update(part)
    return mark.digest()
