"""The runs of a class played again: which worker has had which acts, and what each run has come to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from app.classroom.acts import Act
from app.classroom.models import Class
from app.classroom.shapes import Verdict
from app.classroom.workers import Workers

TOGETHER: Final = 50
"""Seats whose acts go to a worker at once."""

RESTS: Final = 4.0
"""How much longer than it has weighed a seat a worker rests then: others need the processor, too. Assumed."""


class Judge:
    def __init__(
        self,
        the_class: Class,
        log_of: Callable[[int], Awaitable[Sequence[Act]]],
        judged: Callable[[int, Verdict], Awaitable[None]],
        weighed: Callable[[int, float, float], None],
    ) -> None:
        """*log_of* reads all acts of a seat, for a worker that is a new one; *judged* takes what a seat has come to,
        *weighed* a second of its run and the points that it can still reach from there."""
        self._workers = Workers(
            the_class.scenario_text, the_class.scenario_name, the_class.seed, the_class.mode
        )
        self._log_of, self._judged, self._weighed = log_of, judged, weighed
        self._unjudged: list[dict[int, list[Act]]] = [{} for _ in range(self._workers.count)]
        """For each worker the acts of its seats that it has not had."""
        self._to_do = [asyncio.Event() for _ in self._unjudged]
        self._unweighed: list[dict[int, None]] = [{} for _ in self._unjudged]
        """For each worker its seats that have come to something else since they were weighed, the first one first."""

    @property
    def places(self) -> range:
        return range(self._workers.count)

    def close(self) -> None:
        self._workers.close()

    def add(self, number: int, new: Sequence[Act]) -> None:
        """Acts of a seat that are to be judged; those that are waiting already may be among them, as the record was
        read while another host wrote to it."""
        place = self._workers.place(number)
        acts = {act.number: act for act in (*self._unjudged[place].get(number, ()), *new)}
        self._unjudged[place][number] = [acts[one] for one in sorted(acts)]
        self._to_do[place].set()

    async def run(self, place: int) -> None:
        """Have the worker at *place* play again what its seats have done since, some seats at a time."""
        unjudged, to_do = self._unjudged[place], self._to_do[place]
        await self._workers.go_on(place, {})  # it starts now, not with the first act
        while True:
            await self._weigh_until(place, to_do)
            some = {number: unjudged.pop(number) for number in list(unjudged)[:TOGETHER]}
            if not unjudged:
                to_do.clear()
            found = await self._workers.go_on(place, some)
            for number in some:
                verdict = found.get(number)
                if verdict is not None:
                    self._unweighed[place][number] = None
                    await self._judged(number, verdict)
                else:  # the worker is a new one: from the beginning, and what came meanwhile
                    log = await self._log_of(number)
                    since = [act for act in unjudged.pop(number, []) if act.number > len(log)]
                    self.add(number, [*log, *since])

    async def _weigh_until(self, place: int, to_do: asyncio.Event) -> None:
        """Find out what seats can still reach, one after the other, while nothing is to be judged."""
        loop, unweighed = asyncio.get_running_loop(), self._unweighed[place]
        while unweighed and not to_do.is_set():
            number, begun = next(iter(unweighed)), loop.time()
            del unweighed[number]
            worth = await self._workers.reachable(place, number)
            if worth is not None:
                self._weighed(number, *worth)
            with suppress(TimeoutError):
                await asyncio.wait_for(to_do.wait(), RESTS * (loop.time() - begun))
        await to_do.wait()
