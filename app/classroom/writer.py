"""Access to the record of a class from the host's event loop: a writer thread, and reads that retry until success."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from app.classroom.log_entries import LogEntry
from app.classroom.message_exchange import RequestRefusedError
from app.classroom.messages.codec import RETRY_LATER_CLOSE_CODE
from app.classroom.models import Seat
from app.classroom.record import ClassRecord, RecordUnavailableError
from app.words.language import tr

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
WaitingEntries = tuple[int, Sequence[LogEntry], asyncio.Future[None]]
"""Seat, its new entries, and the future that completes when they are on disk."""
JoiningSeat = tuple[Seat, asyncio.Future[None]]
logger = logging.getLogger(__name__)

READ_RETRY_INTERVAL_S: Final = 1.0
"""Wall time between two attempts to read an unreadable record."""


class RecordWriter:
    """Writer that stores all waiting seats and entries in one transaction, in its own thread."""

    def __init__(
        self,
        record: ClassRecord,
        on_written: Callable[[Sequence[Seat], Mapping[int, Sequence[LogEntry]]], None],
    ) -> None:
        """Create a writer.

        *on_written* is called with the seats, and the entries by seat, that were written to disk.
        """
        self._record, self._on_written = record, on_written
        self._thread = ThreadPoolExecutor(1, "class record")
        self._waiting: list[WaitingEntries] = []
        self._joining_seats: dict[str, JoiningSeat] = {}
        """Token hash -> joining seat that is not written yet."""
        self._to_do = asyncio.Event()

    def close(self) -> None:
        """Finish the current writes, then stop the thread."""
        self._thread.shutdown()

    async def write(
        self, operation: Callable[Arguments, Result], *what: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        """Call *operation* in the writer thread, one call at a time.

        Raises RequestRefusedError on failure.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, partial(operation, *what, **named)
            )
        except (SQLAlchemyError, RecordUnavailableError) as problem:
            logger.error("class record: %s", problem)
            raise RequestRefusedError(
                tr("the database of the class cannot be written. Try again."), RETRY_LATER_CLOSE_CODE
            ) from problem

    async def read(
        self, operation: Callable[Arguments, Result], *what: Arguments.args, **named: Arguments.kwargs
    ) -> Result:
        """Call *operation* in another thread. Retry while the record is unreadable."""
        while True:
            try:
                return await asyncio.to_thread(operation, *what, **named)
            except SQLAlchemyError as problem:
                logger.error("class record: %s", problem)
                await asyncio.sleep(READ_RETRY_INTERVAL_S)

    async def write_seat(self, new_seat: Seat) -> Seat:
        """Store *new_seat* and return it with its number.

        If a seat with the same token is being stored, return that seat.

        Raises RequestRefusedError.
        """
        if new_seat.token_hash not in self._joining_seats:
            self._joining_seats[new_seat.token_hash] = new_seat, asyncio.get_running_loop().create_future()
            self._to_do.set()
        seat, write_result = self._joining_seats[new_seat.token_hash]
        await write_result
        return seat

    async def write_entries(self, number: int, entries: Sequence[LogEntry]) -> None:
        """Store entries of a seat, and return when they are on disk. Raises RequestRefusedError."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((number, entries, future))
        self._to_do.set()
        await future

    async def write_periodically(self) -> None:
        """Write waiting seats and entries forever. Each transaction contains all that are waiting."""
        while True:
            await self._to_do.wait()
            self._to_do.clear()
            waiting, self._waiting = self._waiting, []
            # The seats stay in the dictionary until they are written, so that one token never gets two seats.
            joining = dict(self._joining_seats)
            problem = await self._write_transaction(list(joining.values()), waiting)
            if problem is not None and isinstance(problem.__cause__, IntegrityError):
                # Another host has written one of the seats. Write the others in separate transactions.
                for joining_seat in joining.values():
                    _complete_future(joining_seat[1], await self._write_transaction([joining_seat], []))
                for acts in waiting:
                    _complete_future(acts[2], await self._write_transaction([], [acts]))
            for token_hash in joining:
                del self._joining_seats[token_hash]
            for write_result in [job[2] for job in waiting] + [
                join_entry[1] for join_entry in joining.values()
            ]:
                _complete_future(write_result, problem)

    async def _write_transaction(
        self, joining_seats: Sequence[JoiningSeat], waiting_entries: Sequence[WaitingEntries]
    ) -> RequestRefusedError | None:
        """Write everything in one transaction. Return the error if the transaction failed, otherwise None."""
        seats, logs = [seat for seat, _ in joining_seats], {number: new for number, new, _ in waiting_entries}
        try:
            await self.write(self._record.store_seats_and_entries, seats, logs)
        except RequestRefusedError as refused:
            return refused
        self._on_written(seats, logs)
        return None


def _complete_future(future: asyncio.Future[None], problem: RequestRefusedError | None) -> None:
    if not future.done():
        future.set_result(None) if problem is None else future.set_exception(problem)
