"""Private in-memory SQLite database for queries: read-only, without files, with limited work."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from typing import Final

from engine.arithmetic import add_in_order
from engine.messages import SqlError
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.environment import CONTEXT_FUNCTIONS
from engine.tsql.batches.work import STATEMENT_WORK_MAX, WorkMeter
from engine.tsql.query.aggregates import AGGREGATES, VARIADIC_AGGREGATES
from engine.tsql.query.plans import (
    BINARY_COLLATION,
    CASE_SENSITIVE_COLLATION,
    DEFAULT_COLLATION,
    HIDDEN_ARGUMENT_COLUMN,
    LITERAL_PREFIX,
    ROW_ID,
    WORK_PER_CALL,
    WORK_PER_RECURSIVE_ROW,
    QueryPlan,
    TableRef,
    TableStatistics,
    UnsimulatedFeatureError,
    estimate_recursion_work,
    estimate_work,
)
from engine.tsql.scalars.formats import compute_format_work
from engine.tsql.scalars.functions import (
    FUNCTION_VERSIONS,
    FUNCTIONS,
    FUNCTIONS_WITH_CULTURE,
    UNSIMULATED_FUNCTIONS,
    check_arity,
)
from engine.tsql.scalars.like_patterns import compute_compare_work, compute_search_work, evaluate_like
from engine.tsql.scalars.settings import build_settings
from engine.tsql.scalars.types import parse_sql_type
from engine.tsql.scalars.values import (
    Scalar,
    check_finite,
    compare_case_sensitive,
    compare_code_points,
    compare_texts,
    convert_value,
    parse_number,
)

STEPS_PER_CHECK: Final = 1_000
WORK_PER_PROGRESS_CALL: Final = 9
"""Units of work (work.py) per call of SQLite's progress handler. The figure is measured."""

SQLITE_WORK_MAX: Final = 4 * STATEMENT_WORK_MAX
"""Maximum work of one statement by SQLite's own step counter; more raises error 8624.

SQLite versions count steps differently, so all other limits use estimates (plans.py). Assumed: a query that
needs more would block all windows for over a second.
"""

LONG_ARGUMENT_CHARACTERS: Final = 200
"""Number of argument characters whose work WORK_PER_CALL includes; more cost extra. The figure is measured."""

_CALL_WORK: Final[dict[str, Callable[..., int]]] = {
    **dict.fromkeys(("like_exact", "patindex", "patindex_exact"), compute_search_work),
    **dict.fromkeys(
        ("replace", "replace_exact"), lambda text=None, old=None, *_: compute_compare_work(old, text)
    ),
    "replace_each": lambda text=None, *pairs: add_in_order(
        compute_compare_work(old, text) for old in pairs[::2]
    ),
    "format": compute_format_work,
}
"""Function whose work is not proportional to the text length -> function that computes the work of a call."""

HEAP_MAX_BYTES: Final = 500_000_000
"""Memory limit of SQLite; more raises error 701. It stops queries that grow during preparation. Assumed."""

SCRATCH_OPENING_WORK: Final = 60
"""Units of work to get an empty database with our functions, usually an idle one. Assumed."""

WORK_PER_QUERY: Final = 100
WORK_PER_CHARACTER: Final = 4
"""Work units per character of a query's translated text. WORK_PER_QUERY: per query. Both are measured."""

COUNTED_CHARACTERS_MAX: Final = 6_000
"""Maximum number of characters of a translated query to which WORK_PER_CHARACTER applies.

The compiler has already counted the work of longer texts.
"""

QUERY_ROWS_MAX: Final = 20_000
"""Maximum number of rows in the result of a query. Assumed."""

QUERY_CELLS_MAX: Final = 150_000
"""Maximum number of values in a result.

Assumed: enough for a thousand sessions with all columns of two views.
"""

QUERY_CHARACTERS_MAX: Final = 4_000_000
"""Maximum number of characters in a result. Assumed: 20,000 rows of 200 characters."""

_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, 4_000_000),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 4_100_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 200),
    (sqlite3.SQLITE_LIMIT_COLUMN, 1_024),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_ALLOWED_ACTIONS: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN_FUNCTIONS: Final = frozenset(
    {"load_extension", "readfile", "writefile", "edit", "zeroblob", "randomblob"}
)

WORK_PER_READ_ROW: Final = 5
"""Units of work to read a table row and pass it to SQLite. The figure is measured."""

Columns = tuple[tuple[str, str], ...]
"""Columns of a table as (name, T-SQL type)."""

Rows = Iterable[tuple[Scalar, ...]]
TableSource = Rows | Callable[[Sequence[str]], Rows]
"""Rows of a table, or a function that computes only the requested columns, in the requested order."""

TableReader = Callable[[TableRef], tuple[Columns, TableSource]]
"""Function that returns the columns and rows of a table. It raises SqlError 208 for an unknown table."""

Call = Callable[..., Scalar]


IDLE_CONNECTIONS_MAX: Final = 8
"""Maximum number of idle connections that are kept. Nested views use several at once. Assumed."""

_idle_connections: Final[list[ScratchDatabase]] = []


def open_scratch_database(context: StatementContext, fetch: TableReader, meter: WorkMeter) -> ScratchDatabase:
    """Return a database for one turn of a submission: an idle one if possible, else a new one.

    *fetch* returns the columns and rows of a table. *meter* counts the work of the turn.
    """
    for index, spare in enumerate(_idle_connections):
        if spare.version == context.version:
            del _idle_connections[index]
            spare.begin_turn(context, fetch, meter)
            return spare
    return ScratchDatabase(context, fetch, meter)


FUNCTION_PREFIX: Final = "t_"
"""Prefix of our functions' names in SQLite."""
RECURSION_FUNCTION: Final = f"{FUNCTION_PREFIX}recursion"
"""Function that SQLite calls for each row of the recursive part of a CTE (form_rewriting.py)."""


def _remove_counters(names: Iterable[str]) -> tuple[str, ...]:
    """Return column names without the suffix `:1` that SQLite appends to repeated names."""
    counter_names: list[str] = []
    for name in names:
        base, colon, number = name.rpartition(":")
        counter_names.append(base if colon and number.isdigit() and base in counter_names else name)
    return tuple(counter_names)


class ScratchDatabase:
    """In-memory SQLite database for the statements of one turn. Call close() at the end of the turn."""

    def __init__(self, context: StatementContext, fetch: TableReader, meter: WorkMeter) -> None:
        self.version = context.version
        self._context: StatementContext | None = None
        self._sound = True
        """True if no query has failed, so that another turn can use the connection."""
        self._indexes = True
        """True if SQLite may create automatic indexes for a query."""
        self.begin_turn(context, fetch, meter)
        # No statement cache, because a cached statement would continue to count its steps.
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=0, check_same_thread=False
        )
        self._connection.execute("SELECT 1 FROM json_each('[]')")  # registers the table json_each
        self._configure_connection()

    def begin_turn(self, context: StatementContext, fetch: TableReader, meter: WorkMeter) -> None:
        """Prepare this database for a turn.

        *fetch* returns the columns and rows of a table. *meter* counts the work of the turn.
        """
        self._context = context
        self._fetch = fetch
        self._meter = meter
        self._problem: SqlError | UnsimulatedFeatureError | None = None
        self._recursion_work = WORK_PER_RECURSIVE_ROW
        """Work per row of a recursive common table expression in this query."""
        self._long: set[tuple[Call | Scalar, ...]] = set()
        """Calls with long texts whose work is already counted for this query."""
        self.forgiving = build_settings(context.session.options).ignores_arithmetic_errors
        self.warnings: set[int] = set()
        """Warnings for errors that gave NULL, because ARITHABORT and ANSI_WARNINGS are OFF."""

    @property
    def context(self) -> StatementContext:
        """Return the context of the current turn."""
        assert self._context is not None, "a slice of work has begun"
        return self._context

    def _configure_connection(self) -> None:
        """Set the limits, collations and functions, which are the same for all turns."""
        context = self.context
        for limit, value in _LIMITS:
            self._connection.setlimit(limit, value)
        self._connection.execute(f"PRAGMA hard_heap_limit = {HEAP_MAX_BYTES}")
        for collation, compares in (
            (DEFAULT_COLLATION, compare_texts),
            (CASE_SENSITIVE_COLLATION, compare_case_sensitive),
            (BINARY_COLLATION, compare_code_points),
        ):
            self._connection.create_collation(collation, partial(self._compare_texts, compares))
        for name, function in FUNCTIONS.items():
            if FUNCTION_VERSIONS.get(name, 0) <= context.version:
                self._register_function(name, function, function)
        for name, function in FUNCTIONS_WITH_CULTURE.items():
            if FUNCTION_VERSIONS.get(name, 0) <= context.version:
                self._register_function(name, function, partial(_call_with_culture, self, function))
        for name, function in CONTEXT_FUNCTIONS.items():
            if FUNCTION_VERSIONS.get(name, 0) <= context.version:
                self._register_function(name, function, partial(_call_with_context, self, function))
        for count in (2, 3):
            guarded = self._wrap_storing_exceptions(evaluate_like, compute_search_work)
            self._connection.create_function("like", count, guarded, deterministic=True)
        for name, step in AGGREGATES.items():
            self._connection.create_window_function(name, 1, partial(step, self.fail_query))
        for name, step in VARIADIC_AGGREGATES.items():
            self._connection.create_aggregate(name, -1, partial(step, self.fail_query))
        self._connection.set_progress_handler(self._count_progress, STEPS_PER_CHECK)

    def close(self) -> None:
        """End the turn and keep the empty connection for later turns."""
        self._context = None
        if self._sound and len(_idle_connections) < IDLE_CONNECTIONS_MAX:
            self._set_automatic_index(True)
            _idle_connections.append(self)
        else:
            self._connection.close()

    def run_query(
        self, plan: QueryPlan, values: Callable[[str], Scalar]
    ) -> tuple[tuple[str, ...], list[tuple[Scalar, ...]]]:
        """Run the query of a plan, and return its column names and rows.

        *values* returns the value of a variable. Raises SqlError, or UnsimulatedFeatureError if SQLite cannot run it.
        """
        self._meter.charge_compilation(
            WORK_PER_QUERY + WORK_PER_CHARACTER * min(len(plan.sql), COUNTED_CHARACTERS_MAX)
        )
        return self._run_select(plan, values)

    def _run_select(
        self, plan: QueryPlan, values: Callable[[str], Scalar]
    ) -> tuple[tuple[str, ...], list[tuple[Scalar, ...]]]:
        parameters = {f"p{number}": _get_value(name, values) for number, name in enumerate(plan.variables)}
        # Only the tables in this list are dropped at the end. sqlite_master always exists.
        filled: list[str] = []
        sizes, rows = TableStatistics(parameters), list[tuple[Scalar, ...]]()
        try:
            sources: dict[str, tuple[Columns, TableSource]] = {}
            for ref in plan.tables:
                sources[ref.key] = self._create_table(ref)
                filled.append(ref.key)
            read_columns = self._find_read_columns(plan, parameters) if _needs_read_columns(sources) else {}
            for key, (columns, source) in sources.items():
                self._fill_table(key, columns, source, read_columns.get(key, set()), sizes)
                row_work = WORK_PER_READ_ROW + min(len(columns), plan.cost.columns_named) // 2
                self._meter.charge_units(sizes.count_rows(key) * row_work)
            self._meter.charge_estimate(estimate_work(plan.cost, sizes))
            self._recursion_work = (
                estimate_recursion_work(plan.cost, sizes)
                if RECURSION_FUNCTION in plan.sql
                else WORK_PER_RECURSIVE_ROW
            )
            self._problem = None
            self._long.clear()
            self._connection.set_authorizer(_authorize_action)
            # Close the cursor before its tables are dropped: a query that stops at ROWS_MAX still locks them.
            with closing(self._connection.execute(plan.sql, parameters)) as cursor:
                _read_rows(cursor, self._meter, rows)
                names = tuple(column[0] for column in cursor.description or ())
            if HIDDEN_ARGUMENT_COLUMN in names:
                visible_indexes = [at for at, name in enumerate(names) if name != HIDDEN_ARGUMENT_COLUMN]
                names = tuple(names[place] for place in visible_indexes)
                rows = [tuple(row[place] for place in visible_indexes) for row in rows]
        except MemoryError:
            self._sound = False
            raise SqlError(701, "default") from None
        except (sqlite3.Error, OverflowError) as problem:
            self._sound = False
            sql_error = self._translate_error(str(problem), plan)
            if isinstance(sql_error, SqlError) and sql_error is self._problem:
                sql_error.rows_before = self._read_before_failure(plan, parameters, len(rows))
            raise sql_error from None
        finally:
            self._connection.set_authorizer(None)
            for key in filled:
                self._connection.execute(f"DROP TABLE IF EXISTS {_quote_name(key)}")
        self._meter.charge_units(0)  # check the limit again, because calls with long texts add work
        return names, rows

    def _read_before_failure(
        self, plan: QueryPlan, parameters: dict[str, Scalar], count: int
    ) -> tuple[tuple[str, ...], list[tuple[Scalar, ...]]]:
        """Return the column names, and the rows that precede an error.

        *count*: number of rows that have arrived. The connection reads one row ahead and loses this row
        if an error occurs.
        """
        for limit in (count + 1, 0):
            try:
                text = f"SELECT * FROM ({plan.sql}) LIMIT {limit}"
                with closing(self._connection.execute(text, parameters)) as cursor:
                    rows = cursor.fetchall()
                    return _remove_counters(column[0] for column in cursor.description or ()), rows
            except (sqlite3.Error, OverflowError):
                continue
        return (), []

    def _create_table(self, ref: TableRef) -> tuple[Columns, TableSource]:
        """Create an empty table for *ref*. Return the columns and the source of the table."""
        columns, source = self._fetch(ref)
        if any(name.lower() == ROW_ID for name, _ in columns):
            raise UnsimulatedFeatureError(f"a column named {ROW_ID}")
        declared = ", ".join(f"{_quote_name(name)} {_get_affinity(kind)}" for name, kind in columns)
        self._connection.execute(f"CREATE TABLE {_quote_name(ref.key)} ({declared})")
        return columns, source

    def _find_read_columns(self, plan: QueryPlan, parameters: dict[str, Scalar]) -> dict[str, set[str]]:
        """Return table -> columns that the query reads. SQLite reports them when it prepares the query.

        Also disable automatic indexes on texts: their Bloom filter ignores the collation (trailing blanks).
        """
        columns_by_source: dict[str, set[str]] = {}

        def record_read(
            action: int, first_argument: str | None, second_argument: str | None, *names: str | None
        ) -> int:
            if action == sqlite3.SQLITE_READ and first_argument is not None and second_argument is not None:
                columns_by_source.setdefault(first_argument, set()).add(second_argument)
            return _authorize_action(action, first_argument, second_argument, *names)

        self._connection.set_authorizer(record_read)
        steps = self._connection.execute(f"EXPLAIN {plan.sql}", parameters).fetchall()
        self._connection.set_authorizer(None)
        by_text = any(step[1] == "OpenAutoindex" and DEFAULT_COLLATION in str(step[5]) for step in steps)
        self._set_automatic_index(not by_text)
        return columns_by_source

    def _set_automatic_index(self, is_allowed: bool) -> None:
        if is_allowed != self._indexes:
            self._connection.execute(f"PRAGMA automatic_index = {int(is_allowed)}")
            self._indexes = is_allowed

    def _fill_table(
        self, key: str, columns: Columns, source: TableSource, read: set[str], sizes: TableStatistics
    ) -> None:
        names = [name for name, _ in columns]
        if callable(source):
            names = [name for name in names if name in read] or names[:1]
            rows = list(source(names))
        else:
            rows = list(source)
        kinds = {
            name: parse_sql_type(kind)
            for name, kind in columns
            if kind.split("(")[0].lower() in _LONG_DECIMAL_TYPES
        }
        for index, name in enumerate(names):
            if name in kinds and kinds[name].is_long:
                rows = [
                    (*row[:index], convert_value(row[index], kinds[name]), *row[index + 1 :]) for row in rows
                ]
        marks = ", ".join("?" * len(names))
        into = f"{_quote_name(key)} ({', '.join(map(_quote_name, names))})"
        self._connection.executemany(f"INSERT INTO {into} VALUES ({marks})", rows)
        sizes.add_table(key, names, rows)

    def _count_progress(self) -> int:
        self._meter.sqlite_work += WORK_PER_PROGRESS_CALL
        return int(self._meter.sqlite_work > SQLITE_WORK_MAX)

    def _compare_texts(self, compares: Callable[[str, str], int], a: str, b: str) -> int:
        self._meter.sqlite_work += 1 + (len(a) + len(b)) // 500
        return 0 if self._meter.sqlite_work > SQLITE_WORK_MAX else compares(a, b)

    def _register_function(self, name: str, function: Call, call: Call) -> None:
        is_bound = call is not function

        def call_with_arity_check(*arguments: Scalar) -> Scalar:
            check_arity(name, function, is_bound, len(arguments))
            return call(*arguments)

        guarded = self._wrap_storing_exceptions(
            call_with_arity_check, _CALL_WORK.get(name), recursive=name == "recursion"
        )
        self._connection.create_function(f"t_{name}", -1, guarded, deterministic=not is_bound)

    def _wrap_storing_exceptions(
        self, function: Call, work: Callable[..., int] | None = None, recursive: bool = False
    ) -> Call:
        """Wrap a function so that its exceptions are stored, because SQLite discards them.

        *work*: computes extra work of a call. *recursive*: each call counts one row of a recursive CTE.
        """

        def guarded(*arguments: Scalar) -> Scalar:
            self._meter.sqlite_work += WORK_PER_CALL
            if recursive:
                self._charge_units(self._recursion_work)
            texts = sum(len(value) for value in arguments if isinstance(value, str))
            extra_work = work(*arguments) if work is not None and arguments else 0
            if texts >= LONG_ARGUMENT_CHARACTERS or extra_work:
                self._count_work_once(
                    function, arguments, WORK_PER_CALL * (texts // LONG_ARGUMENT_CHARACTERS) + extra_work
                )
            try:
                for value in arguments:
                    check_finite(value)
                return check_finite(function(*arguments))
            except SqlError as problem:
                if self.forgiving and problem.number in WARNINGS_FOR_ERRORS:
                    self.warnings.add(WARNINGS_FOR_ERRORS[problem.number])
                    return None
                self._problem = problem
                raise
            except UnsimulatedFeatureError as problem:
                self._problem = problem
                raise

        return guarded

    def _count_work_once(self, function: Call, arguments: tuple[Scalar, ...], units: int) -> None:
        """Count the work of equal calls only once, because SQLite versions repeat calls differently."""
        self._meter.sqlite_work += units
        if (key := (function, *arguments)) not in self._long:
            self._long.add(key)
            self._charge_units(units)

    def _charge_units(self, units: int) -> None:
        """Count *units* of work while the query runs. Store the error if a limit is exceeded."""
        try:
            self._meter.charge_units(units)
        except SqlError as problem:
            self._problem = problem
            raise

    def fail_query(self, problem: SqlError) -> None:
        """End the query with *problem*, the error of an aggregate."""
        self._problem = problem
        raise problem

    def _translate_error(self, text: str, plan: QueryPlan) -> SqlError | UnsimulatedFeatureError:
        """Return the SQL Server error for the text of an SQLite error."""
        if self._problem is not None:
            return self._problem
        for pattern, make in SQLITE_ERRORS:
            match = re.search(pattern, text, re.DOTALL)
            if match is not None:
                return make(match, plan)
        return UnsimulatedFeatureError(f"this query ({text})")


WARNINGS_FOR_ERRORS: Final = {8134: 3607, 8115: 3606, 220: 3606, 232: 3606}
"""Arithmetic error -> warning that replaces it if ARITHABORT is OFF. Documented [DOC: SET ARITHABORT]."""


def _call_with_culture(scratch: ScratchDatabase, function: Call, *arguments: Scalar) -> Scalar:
    return function(build_settings(scratch.context.session.options).culture, *arguments)


def _call_with_context(scratch: ScratchDatabase, function: Call, *arguments: Scalar) -> Scalar:
    return function(scratch.context, *arguments)


def _read_rows(cursor: sqlite3.Cursor, meter: WorkMeter, rows: list[tuple[Scalar, ...]]) -> None:
    """Append the rows of *cursor* to *rows*.

    Raises UnsimulatedFeatureError beyond QUERY_ROWS_MAX, QUERY_CELLS_MAX or QUERY_CHARACTERS_MAX.
    """
    characters = 0
    for row in cursor:
        rows.append(row)
        meter.count_units(1)
        for value in row:
            kind = type(value)  # exact type, because isinstance would double the loop's time
            if kind is str or kind is bytes:
                characters += len(value)
            elif kind is float:
                check_finite(value)
        if len(rows) > QUERY_ROWS_MAX:
            raise UnsimulatedFeatureError(f"results of more than {QUERY_ROWS_MAX} rows")
        if len(rows) * len(row) > QUERY_CELLS_MAX:
            raise UnsimulatedFeatureError(f"results of more than {QUERY_CELLS_MAX} values")
        if characters > QUERY_CHARACTERS_MAX:
            raise UnsimulatedFeatureError(f"results of more than {QUERY_CHARACTERS_MAX} characters")


def _needs_read_columns(sources: dict[str, tuple[Columns, TableSource]]) -> bool:
    """Return whether the columns that the query reads must be known before it runs.

    They must be known for several tables, and for a table that computes only the columns that are
    read.
    """
    return len(sources) > 1 or any(callable(source) for _, source in sources.values())


def _authorize_action(
    action: int, first_argument: str | None, second_argument: str | None, *names: str | None
) -> int:
    if action not in _ALLOWED_ACTIONS or (
        action == sqlite3.SQLITE_FUNCTION and second_argument in _FORBIDDEN_FUNCTIONS
    ):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ and (first_argument or "").startswith("sqlite_"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _get_value(name: str, values: Callable[[str], Scalar]) -> Scalar:
    """Return the value of the variable *name*, or the number after LITERAL_PREFIX in *name*."""
    return (
        parse_number(name.removeprefix(LITERAL_PREFIX)) if name.startswith(LITERAL_PREFIX) else values(name)
    )


def _quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_LONG_DECIMAL_TYPES: Final = frozenset({"decimal", "numeric", "dec", "money"})


def _get_affinity(kind: str) -> str:
    """Return the SQLite type of a T-SQL type. Texts get the default collation."""
    head = kind.split("(")[0].strip().lower()
    if head in _LONG_DECIMAL_TYPES and parse_sql_type(kind).is_long:
        return f"TEXT COLLATE {DEFAULT_COLLATION}"
    if head in ("bit", "tinyint", "smallint", "int", "bigint", "integer"):
        return "INTEGER"
    if head in ("float", "real", "decimal", "numeric", "money", "smallmoney"):
        return "NUMERIC"
    if head in ("binary", "varbinary", "image"):
        return "BLOB"
    return f"COLLATE {DEFAULT_COLLATION}" if head == "sql_variant" else f"TEXT COLLATE {DEFAULT_COLLATION}"


# --- mapping of SQLite errors to SQL Server errors --------------------------------------------------------

_ErrorFactory = Callable[["re.Match[str]", QueryPlan], "SqlError | UnsimulatedFeatureError"]


def _create_column_error(match: re.Match[str], plan: QueryPlan) -> SqlError:
    name = match[1].replace("`", "")
    return SqlError(4104, name) if "." in name else SqlError(207, name)


def _create_function_error(match: re.Match[str], plan: QueryPlan) -> SqlError | UnsimulatedFeatureError:
    name = match[1]
    written_name = dict(plan.functions).get(name)
    plain_name = (written_name or name).lower().removeprefix("t_").removeprefix("sys.")
    if plain_name in UNSIMULATED_FUNCTIONS:
        return UnsimulatedFeatureError(f"the function {plain_name}")
    if name.startswith("t_fn_"):
        return SqlError(4121, "sys", f"sys.{name.removeprefix('t_')}")
    if written_name is not None:
        return SqlError(4121, written_name.split(".")[0], written_name)
    return SqlError(195, name.removeprefix("t_"), "built-in function name")


def _create_position_error(match: re.Match[str], plan: QueryPlan) -> SqlError:
    """Return error 108 for an ORDER BY position beyond the number of columns."""
    terms = plan.sql.rpartition("ORDER BY")[2].split(",")
    index = int(match[1]) - 1
    number = re.match(r"\s*(\d+)", terms[index]) if index < len(terms) else None
    return SqlError(108, int(number[1]) if number else index + 1)


SQLITE_ERRORS: Final[tuple[tuple[str, _ErrorFactory], ...]] = (
    (r"no such column: (.+)", _create_column_error),
    (r"ambiguous column name: (?:.*\.)?(.+)", lambda match, plan: SqlError(209, match[1])),
    (r"no such function: (.+)", _create_function_error),
    (r"wrong number of arguments to function (\w+)", lambda match, plan: SqlError(174, match[1].lower(), 1)),
    (r"SELECTs to the left and right of .* do not have the same number", lambda match, plan: SqlError(205)),
    (r"sub-select returns \d+ columns", lambda match, plan: SqlError(116)),
    (r"misuse of aggregate", lambda match, plan: SqlError(147)),
    (
        r"near \"(?:WITH|SETS)\": syntax error",
        lambda match, plan: UnsimulatedFeatureError("this form of GROUP BY"),
    ),
    (r"misuse of window function", lambda match, plan: SqlError(4108)),
    (r"user-defined aggregate's 'step' method raised error", lambda match, plan: SqlError(512)),
    (r"no such table: (.+)", lambda match, plan: SqlError(208, match[1])),
    (r"interrupted", lambda match, plan: SqlError(8624)),
    (
        r"Expression tree is too large|parser stack overflow|too many terms",
        lambda match, plan: SqlError(8623),
    ),
    (r"too big|out of memory", lambda match, plan: SqlError(8152)),
    (r"(\d+)\w\w ORDER BY term (?:out of range|does not match)", _create_position_error),
    (r"integer overflow|too large to convert", lambda match, plan: SqlError(8115, "expression", "bigint")),
)
