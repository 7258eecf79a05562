"""Cost of T-SQL in counted units, and the division of each tick among all windows.

Counted units make a run the same on every machine. One unit is about a microsecond on the machine on which the
weights were measured. Nothing is ever timed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, Final, Generic, TypeVar

from engine.messages import SqlError
from engine.model import World

BURST: Final = 16_000
"""Work that may be done within one tick when there was none before: a frame of 60 a second. Assumed."""

BACKLOG_MAX: Final = 320_000
"""Work that fresh submissions may bring into one tick: people ask a lot while the clock stands. Assumed: 20 bursts."""

TURN: Final = 6_000
"""Work of one turn of a submission that needs more than is left of the burst. Assumed."""

TURN_TICKS: Final = 5
"""Ticks between two turns of the same submission, at least: an endless loop leaves time to everything else. Assumed."""

DRAIN_PER_TICK: Final = 3_000
"""Work that is forgotten with each tick: what all windows do in the long run. Assumed: a third of a core."""

STATEMENT_MAX: Final = 250_000
"""Work of one statement before message 8624, with all views and linked servers in it. Assumed: twice what the columns
of all system views take, the largest that is asked for without a condition."""

NESTING_MAX: Final = 32
"""Views in views, linked servers in linked servers, before message 217. Documented for views [DOC: CREATE VIEW]."""

Steps = Generator[int, None, Any]
"""Work in steps: yields what each one has cost, in units."""

T = TypeVar("T")


class Meter:
    """Counts the work of one stretch, which ends when *allowance* is used up; shared by everything that runs in it."""

    def __init__(self, allowance: int = STATEMENT_MAX) -> None:
        self.spent = 0
        self.allowance = allowance
        self.ceiling = STATEMENT_MAX
        """Of `spent`, for the statement that runs now."""
        self.nesting = 0
        """Views and linked servers around what runs now."""

    @property
    def exhausted(self) -> bool:
        """Return whether the work of this turn is used up."""
        return self.spent >= self.allowance

    @property
    def is_over_budget(self) -> bool:
        """The statement has cost more than one may."""
        return self.spent > self.ceiling

    def begin_statement(self) -> None:
        """Count the fixed cost of a statement."""
        self.ceiling = self.spent + STATEMENT_MAX

    def add(self, units: int) -> None:
        """Count units of work."""
        self.spent += units

    def charge(self, units: int) -> None:
        """Count *units*; message 8624 if the statement has used up what one may."""
        self.spent += units
        if self.is_over_budget:
            raise SqlError(8624)

    def translate(self, units: int) -> None:
        """Count *units* for reading a query; the statement's own text does not count against what it may cost."""
        if not self.nesting:
            self.ceiling += units
        self.charge(units)

    def enter(self) -> None:
        """Enter one more view or linked server; 217 if the nesting is too deep. Call leave() in any case."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise SqlError(217, NESTING_MAX)

    def leave(self) -> None:
        """Leave a view or linked server."""
        self.nesting -= 1


class ResumableComputation(Generic[T]):
    """A result that comes step by step. How much work it takes is a property of what is asked, not of when."""

    def __init__(
        self, steps: Generator[int, None, T], refusals: tuple[type[Exception], ...] = (SqlError,)
    ) -> None:
        """Begin a computation; *refusals*: exceptions with which *steps* may end."""
        self._steps: Generator[int, None, T] | None = steps
        self._refusals = refusals
        self._result: tuple[T, ...] = ()
        """Result of the computation, when it is complete."""
        self._problem: Exception | None = None
        self.spent = 0
        """Work done so far; all of it once `reached` has been True."""

    def reached(self, work: int) -> bool:
        """Return whether the result is complete after *work* units.

        Continue the computation to that limit, plus at most one step.
        """
        while self._steps is not None and self.spent <= work:
            try:
                self.spent += next(self._steps)
            except StopIteration as end:
                self._result, self._steps = (end.value,), None
            except self._refusals as problem:
                self._problem, self._steps = problem, None
        return self._steps is None and self.spent <= work

    def run_in_slices(self) -> Generator[int, None, T]:
        """Run the rest as steps of a larger computation."""
        while not self.reached(self.spent):
            before = self.spent
            self.reached(before + 1)
            yield self.spent - before
        return self.result()

    def result(self) -> T:
        """Complete the computation and return its result. Raises the refusal that ended it."""
        while not self.reached(self.spent + TURN):
            pass
        if self._problem is not None:
            raise self._problem.with_traceback(None)
        return self._result[0]


class Recall(Generic[T]):
    """The latest results for texts of *characters* in all: of 64 short ones or of one that is very long."""

    def __init__(self, characters: int) -> None:
        self._room = characters
        self._used = 0
        self._entries: OrderedDict[object, tuple[T, int]] = OrderedDict()

    def get(self, key: object, length: int, make: Callable[[], T]) -> T:
        """Return the cached result of *make* for *key*, or compute it; *length*: length of the key's text."""
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
            return found[0]
        made = make()
        weight = length + WEIGHT_LEAST
        self._entries[key] = made, weight
        self._used += weight
        while self._used > self._room and len(self._entries) > 1:
            _, (_, weight) = self._entries.popitem(last=False)
            self._used -= weight
        return made

    def clear(self) -> None:
        """Forget all cached computations."""
        self._entries.clear()
        self._used = 0


def remembered(characters: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Return a function of a text that knows its latest results, for texts of so many characters in all."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        known: Recall[T] = Recall(characters)
        return wraps(function)(lambda text: known.get(text, len(text), lambda: function(text)))

    return decorated


WEIGHT_LEAST: Final = 200
"""Characters that a short text counts as in a Recall: what is kept of it takes room, too."""


# --- sharing out the ticks -------------------------------------------------------------------------------


def allowance(world: World, *, new_submission: bool, booked: bool, remote: bool = False) -> int:
    """Return the work that a submission may do now; if zero or less, the submission has to book a turn.

    *new_submission*: it has just been sent. *booked*: this is its turn. *remote*: a program sent it and waits for the
    answer before it sends more. The host receives such submissions and so controls their number.
    """
    if booked:
        return TURN
    if new_submission and remote:
        return BURST
    backlog = max(0, world.sql_work - world.tick * DRAIN_PER_TICK)
    if new_submission and backlog < BACKLOG_MAX:
        return BURST
    return BURST - backlog


def note(world: World, units: int, booked: bool) -> None:
    """Note work at this tick, in a turn that was *booked* or without one."""
    before = world.sql_work - TURN if booked else world.sql_work
    world.sql_work = max(before, world.tick * DRAIN_PER_TICK) + units


def book(world: World) -> int:
    """Book a turn behind all others; the tick at which it comes."""
    world.sql_work = max(world.sql_work, world.tick * DRAIN_PER_TICK) + TURN
    due = -(-(world.sql_work - BURST) // DRAIN_PER_TICK)
    return max(due, world.tick + TURN_TICKS)
