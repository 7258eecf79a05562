"""Cost of T-SQL in counted work units, and distribution of each tick's work among all windows.

Because units are counted, a run is the same on every machine. No time is measured during a run. One unit is
about a microsecond on the machine on which the weights were measured.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, Final, Generic, TypeVar

from engine.messages import SqlError
from engine.model import World

BURST_WORK: Final = 16_000
"""Work units that are allowed in one tick after an idle period.

Assumed: about the duration of a frame at 60 frames per second.
"""

BACKLOG_WORK_MAX: Final = 320_000
"""Maximum work units that new submissions can queue while the clock is paused. Assumed: 20 bursts."""

TURN_WORK_MAX: Final = 6_000
"""Maximum work units of one turn of a submission. After it, other windows have their turn. Assumed."""

TURN_INTERVAL_TICKS_MIN: Final = 5
"""Minimum number of ticks between two turns of a submission.

Assumed. Because of the interval, an endless loop cannot block other work.
"""

WORK_PER_TICK: Final = 3_000
"""Work units per tick that all windows together can use in the long term. Assumed: a third of a core."""

STATEMENT_WORK_MAX: Final = 250_000
"""Maximum work units of one statement, including the views and linked servers that it uses.

A statement that exceeds it raises 8624. Assumed: twice the work of the largest system query without a
condition.
"""

VIEW_NESTING_MAX: Final = 32
"""Maximum nesting of views and linked servers. A deeper level raises 217. Documented for views [DOC: CREATE
VIEW].
"""

WorkGenerator = Generator[int, None, Any]
"""Generator of a computation in steps. It yields the work units of each step."""

T = TypeVar("T")

M = TypeVar("M")

StatementHandler = Callable[[M, Any], T]
"""Function that executes the statements of one class. Tables map statement classes to such functions."""


class WorkMeter:
    """Counter of the work units of one turn. The turn ends when *allowance* is used up.

    All computations of the turn share the meter.
    """

    def __init__(self, allowance: int = STATEMENT_WORK_MAX) -> None:
        self.spent = 0
        self.allowance = allowance
        self.statement_limit = STATEMENT_WORK_MAX
        """Value of `spent` at which the running statement reaches its limit."""
        self.sqlite_work = 0
        """Work units of SQLite for the running statement (scratch.py)."""
        self.nesting = 0
        """Number of views and linked servers that enclose the running code."""

    @property
    def is_exhausted(self) -> bool:
        """Return whether the work allowance of this turn is used up."""
        return self.spent >= self.allowance

    @property
    def is_over_budget(self) -> bool:
        """Return whether the statement has exceeded STATEMENT_WORK_MAX."""
        return self.spent > self.statement_limit

    def begin_statement(self) -> None:
        """Begin the count of a new statement, which may use STATEMENT_WORK_MAX units."""
        self.statement_limit, self.sqlite_work = self.spent + STATEMENT_WORK_MAX, 0

    def count_units(self, units: int) -> None:
        """Add units of work, without a check of the statement's limit."""
        self.spent += units

    def charge_units(self, units: int) -> None:
        """Add units of work; raise 8624 if the statement exceeds its limit."""
        self.spent += units
        if self.is_over_budget:
            raise SqlError(8624)

    def charge_estimate(self, units: int) -> None:
        """Add estimated units, but at most half of the statement's remaining units."""
        self.spent += max(0, min(units, (self.statement_limit - self.spent) // 2))

    def charge_compilation(self, units: int) -> None:
        """Add the units for compiling a query.

        Outside views, these units do not count toward the limit of the statement.
        """
        if not self.nesting:
            self.statement_limit += units
        self.charge_units(units)

    def enter_view(self) -> None:
        """Enter a view or linked server. Raise 217 if the nesting is too deep.

        Always call leave_view() afterwards.
        """
        self.nesting += 1
        if self.nesting > VIEW_NESTING_MAX:
            raise SqlError(217, VIEW_NESTING_MAX)

    def leave_view(self) -> None:
        """Leave a view or linked server that `enter_view` has entered."""
        self.nesting -= 1


class ResumableComputation(Generic[T]):
    """Computation that runs in steps. Its total work depends only on its input."""

    def __init__(
        self, steps: Generator[int, None, T], refusals: tuple[type[Exception], ...] = (SqlError,)
    ) -> None:
        """Prepare a computation. *refusals*: exceptions that *steps* may raise."""
        self._steps: Generator[int, None, T] | None = steps
        self._refusals = refusals
        self._result: tuple[T, ...] = ()
        """Result in a tuple after the computation is complete; empty before."""
        self._problem: Exception | None = None
        self.spent = 0
        """Work units so far. The value is final when the computation is complete."""

    def continue_to(self, work: int) -> bool:
        """Continue until *work* units in total are spent. Return whether the result is complete.

        The last step may exceed *work*.
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
        """Run the computation in steps, and yield the work units of each step. Return the result."""
        while not self.continue_to(self.spent):
            before = self.spent
            self.continue_to(before + 1)
            yield self.spent - before
        return self.get_result()

    def get_result(self) -> T:
        """Complete the computation and return its result. Raises the exception of the computation, if any."""
        while not self.continue_to(self.spent + TURN_WORK_MAX):
            pass
        if self._problem is not None:
            raise self._problem.with_traceback(None)
        return self._result[0]


class ResultCache(Generic[T]):
    """Cache of the most recently used results.

    All keys together have up to *characters* characters. The latest result remains even if its key alone is
    longer.
    """

    def __init__(self, characters: int) -> None:
        self._room = characters
        self._used = 0
        self._entries: OrderedDict[object, tuple[T, int]] = OrderedDict()

    def get(self, key: object, length: int, compute: Callable[[], T]) -> T:
        """Return the cached result for *key*, or compute it with *compute*. *length*: characters in the key."""
        cached_result = self._entries.get(key)
        if cached_result is not None:
            self._entries.move_to_end(key)
            return cached_result[0]
        result = compute()
        weight = length + RESULT_OVERHEAD_CHARACTERS
        self._entries[key] = result, weight
        self._used += weight
        while self._used > self._room and len(self._entries) > 1:
            _, (_, weight) = self._entries.popitem(last=False)
            self._used -= weight
        return result

    def clear(self) -> None:
        """Remove all cached results."""
        self._entries.clear()
        self._used = 0


def cache_by_text(characters: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Build a decorator that caches the results of a function of one text. *characters*: limit of the cache."""

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        result_cache: ResultCache[T] = ResultCache(characters)
        return wraps(function)(lambda text: result_cache.get(text, len(text), lambda: function(text)))

    return decorate


RESULT_OVERHEAD_CHARACTERS: Final = 200
"""Number of characters that the cache adds to the length of each key, for the memory of the result."""


# --- distribution of the work of each tick ----------------------------------------------------------


def compute_work_allowance(
    world: World, *, is_new: bool, has_booked_turn: bool, is_remote: bool = False
) -> int:
    """Return the work units that a submission may use now. At 0 or less, it must wait for its turn.

    *is_new*: the submission was just sent. *has_booked_turn*: `book_turn` has reserved this turn for it.
    *is_remote*: a program has sent the submission and waits for the response. The host receives such
    submissions and therefore limits their number.
    """
    if has_booked_turn:
        return TURN_WORK_MAX
    if is_new and is_remote:
        return BURST_WORK
    backlog = max(0, world.sql_work - world.tick * WORK_PER_TICK)
    if is_new and backlog < BACKLOG_WORK_MAX:
        return BURST_WORK
    return BURST_WORK - backlog


def record_work(world: World, units: int, has_booked_turn: bool) -> None:
    """Add *units* to the work used at this tick.

    *has_booked_turn*: `book_turn` has reserved a turn for them. The units replace this reservation.
    """
    before = world.sql_work - TURN_WORK_MAX if has_booked_turn else world.sql_work
    world.sql_work = max(before, world.tick * WORK_PER_TICK) + units


def book_turn(world: World) -> int:
    """Reserve a turn for a submission, after all turns that are already reserved. Return its tick."""
    world.sql_work = max(world.sql_work, world.tick * WORK_PER_TICK) + TURN_WORK_MAX
    delay_ticks = -(-(world.sql_work - BURST_WORK) // WORK_PER_TICK)
    return max(delay_ticks, world.tick + TURN_INTERVAL_TICKS_MIN)
