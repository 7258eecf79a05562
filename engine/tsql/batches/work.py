"""Cost of T-SQL in counted units of work, and the distribution of each tick among all windows.

Counted units make a run the same on every machine. One unit is about a microsecond on the machine on which
the weights were measured. Nothing is timed while the program runs.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, Final, Generic, TypeVar

from engine.messages import SqlError
from engine.model import World

BURST: Final = 16_000
"""Work that is allowed in one tick after an idle time, at 60 frames per second. Assumed."""

BACKLOG_MAX: Final = 320_000
"""Maximum work that new submissions can queue while the clock is paused. Assumed: 20 bursts."""

TURN: Final = 6_000
"""Maximum work of one step of a submission, after which other windows have their turn. Assumed."""

TURN_TICKS: Final = 5
"""Minimum number of ticks between two steps of a submission, so that an endless loop does not block other
work. Assumed.
"""

DRAIN_PER_TICK: Final = 3_000
"""Work that each tick can do: the long-term limit of all windows. Assumed: a third of a core."""

STATEMENT_MAX: Final = 250_000
"""Maximum work of one statement, including views and linked servers, before message 8624.

Assumed: twice the work of the largest system query without a condition.
"""

NESTING_MAX: Final = 32
"""Maximum nesting of views and linked servers before message 217. Documented for views [DOC: CREATE VIEW]."""

Steps = Generator[int, None, Any]
"""Generator of work in steps. It yields the cost of each step in units."""

T = TypeVar("T")

M = TypeVar("M")

Handler = Callable[[M, Any], T]
"""Function that handles the statements of one class, for tables with the classes as keys."""


class Meter:
    """Counter of the work of one turn, which ends when *allowance* is used up. Everything in the turn shares it."""

    def __init__(self, allowance: int = STATEMENT_MAX) -> None:
        self.spent = 0
        self.allowance = allowance
        self.ceiling = STATEMENT_MAX
        """Limit of `spent` for the running statement."""
        self.effort = 0
        """Work of SQLite for the running statement (scratch.py)."""
        self.nesting = 0
        """Number of views and linked servers around the code that is running."""

    @property
    def exhausted(self) -> bool:
        """Return whether the work of this turn is used up."""
        return self.spent >= self.allowance

    @property
    def is_over_budget(self) -> bool:
        """Return whether the statement has cost more than one statement may."""
        return self.spent > self.ceiling

    def begin_statement(self) -> None:
        """Count the fixed cost of a statement."""
        self.ceiling, self.effort = self.spent + STATEMENT_MAX, 0

    def count_units(self, units: int) -> None:
        """Count units of work."""
        self.spent += units

    def charge_units(self, units: int) -> None:
        """Charge *units*; raise 8624 when the statement exceeds its limit."""
        self.spent += units
        if self.is_over_budget:
            raise SqlError(8624)

    def charge_estimate(self, units: int) -> None:
        """Charge *units*, which are an estimate, but at most half of the statement's remaining allowance."""
        self.spent += max(0, min(units, (self.ceiling - self.spent) // 2))

    def charge_translation(self, units: int) -> None:
        """Charge *units* for compiling a query. The statement's own text does not reduce its allowance."""
        if not self.nesting:
            self.ceiling += units
        self.charge_units(units)

    def enter_view(self) -> None:
        """Enter one more view or linked server. Raise 217 if the nesting is too deep.

        Always call leave() afterwards.
        """
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise SqlError(217, NESTING_MAX)

    def leave_view(self) -> None:
        """Leave a view or linked server."""
        self.nesting -= 1


class ResumableComputation(Generic[T]):
    """Computation in steps. Its total work depends only on its input."""

    def __init__(
        self, steps: Generator[int, None, T], refusals: tuple[type[Exception], ...] = (SqlError,)
    ) -> None:
        """Begin a computation. *refusals*: exceptions with which *steps* may end."""
        self._steps: Generator[int, None, T] | None = steps
        self._refusals = refusals
        self._result: tuple[T, ...] = ()
        """Result of the computation, when it is complete."""
        self._problem: Exception | None = None
        self.spent = 0
        """Work so far. It is final after `reached` has returned True."""

    def continue_to(self, work: int) -> bool:
        """Continue up to *work* units in total, plus at most one step. Return whether the result is complete."""
        while self._steps is not None and self.spent <= work:
            try:
                self.spent += next(self._steps)
            except StopIteration as end:
                self._result, self._steps = (end.value,), None
            except self._refusals as problem:
                self._problem, self._steps = problem, None
        return self._steps is None and self.spent <= work

    def run_in_slices(self) -> Generator[int, None, T]:
        """Complete the computation in steps, and yield the work of each step to the caller."""
        while not self.continue_to(self.spent):
            before = self.spent
            self.continue_to(before + 1)
            yield self.spent - before
        return self.get_result()

    def get_result(self) -> T:
        """Complete the computation and return its result. Raises the refusal with which it ended."""
        while not self.continue_to(self.spent + TURN):
            pass
        if self._problem is not None:
            raise self._problem.with_traceback(None)
        return self._result[0]


class ResultCache(Generic[T]):
    """Cache of the latest results, for at most *characters* of text: many short texts or one very long one."""

    def __init__(self, characters: int) -> None:
        self._room = characters
        self._used = 0
        self._entries: OrderedDict[object, tuple[T, int]] = OrderedDict()

    def get(self, key: object, length: int, make: Callable[[], T]) -> T:
        """Return the cached result for *key*, or compute it with *make*. *length*: length of the key's text."""
        cached_result = self._entries.get(key)
        if cached_result is not None:
            self._entries.move_to_end(key)
            return cached_result[0]
        result = make()
        weight = length + WEIGHT_LEAST
        self._entries[key] = result, weight
        self._used += weight
        while self._used > self._room and len(self._entries) > 1:
            _, (_, weight) = self._entries.popitem(last=False)
            self._used -= weight
        return result

    def clear(self) -> None:
        """Forget all cached computations."""
        self._entries.clear()
        self._used = 0


def cache_by_text(characters: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Build a decorator that caches the results of a function of a text, for *characters* of text in total."""

    def decorated(function: Callable[[str], T]) -> Callable[[str], T]:
        result_cache: ResultCache[T] = ResultCache(characters)
        return wraps(function)(lambda text: result_cache.get(text, len(text), lambda: function(text)))

    return decorated


WEIGHT_LEAST: Final = 200
"""Minimum number of characters that a cached text counts as, because its result needs memory, too."""


# --- distribution of the ticks ---------------------------------------------------------------------


def compute_allowance(world: World, *, new_submission: bool, booked: bool, remote: bool = False) -> int:
    """Return the work that a submission may do now. If it is zero or less, the submission must wait for its turn.

    *new_submission*: it has just been sent. *booked*: this is its turn. *remote*: a program sent it and waits
    for the response before it sends more. The host receives such submissions and so controls their number.
    """
    if booked:
        return TURN
    if new_submission and remote:
        return BURST
    backlog = max(0, world.sql_work - world.tick * DRAIN_PER_TICK)
    if new_submission and backlog < BACKLOG_MAX:
        return BURST
    return BURST - backlog


def record_work(world: World, units: int, booked: bool) -> None:
    """Record work at this tick, done in a *booked* turn or without one."""
    before = world.sql_work - TURN if booked else world.sql_work
    world.sql_work = max(before, world.tick * DRAIN_PER_TICK) + units


def book_turn(world: World) -> int:
    """Book a turn after all others and return its tick."""
    world.sql_work = max(world.sql_work, world.tick * DRAIN_PER_TICK) + TURN
    delay_ticks = -(-(world.sql_work - BURST) // DRAIN_PER_TICK)
    return max(delay_ticks, world.tick + TURN_TICKS)
