"""Batches of the trainee and their results. Without Qt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.views.console.outcome import BatchOutcome, from_event
from engine.events import Event
from engine.inputs import Input

QUERY_WINDOW: Final = re.compile(r"[^#]+(#\d+)?")
"""Pattern of a query window: SERVER_A or SERVER_A#2. Other views have their own connections (SERVER_A#monitor)."""


@dataclass(slots=True)
class QueryBatch:
    """Batch with its result once it has ended."""

    tick: int
    window: str
    text: str
    run: int
    """Number given by the engine."""
    outcome: BatchOutcome | None = None


class Batches:
    """Batches of the trainee, separated from those of the scenario, which must stay hidden.

    The journal contains only inputs of the trainee, and each of its batches is matched with one event.
    """

    def __init__(self, journal: Sequence[Input] = ()) -> None:
        self._journal = journal
        self._read = 0
        self._awaited: Counter[tuple[str, ...]] = Counter()
        self._running: dict[str, QueryBatch] = {}

    def started(self, event: Event) -> QueryBatch | None:
        """Return the batch that an event of kind "sql" begins; None if it is nobody's here."""
        for item in self._journal[self._read :]:
            if item.verb == "sql" and QUERY_WINDOW.fullmatch(item.args[0]):
                self._awaited[item.args] += 1
        self._read = len(self._journal)
        window = event.get("window")
        if not self._awaited[window, event.text]:
            return None
        self._awaited[window, event.text] -= 1
        batch = self._running[window] = QueryBatch(event.tick, window, event.text, event.get("batch"))
        return batch

    def finish_batch(self, event: Event) -> QueryBatch | None:
        """Return the batch that an event of kind "sql_done" ends, with its outcome; None if it is nobody's here."""
        batch = self._running.get(event.get("window"))
        if batch is None or batch.run != event.get("run"):
            return None
        del self._running[batch.window]
        batch.outcome = from_event(event)
        return batch
