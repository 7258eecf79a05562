"""T-SQL cursors. OPEN reads all rows of a cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import tables
from engine.tsql.batches.data import SqlCursor
from engine.tsql.language import statements as s
from engine.tsql.query.plans import UnsimulatedFeatureError, format_result_rows
from engine.tsql.scalars.values import to_number

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


CURSORS_MAX: Final = 100
"""Maximum number of cursors in one connection. Assumed."""


def build_local_cursor_key(machine: ExecutionMachine, name: str) -> str:
    """Return the key of a local cursor or cursor variable of the running batch or procedure."""
    return f"{name.lower()} {len(machine.scopes)}"


def find_cursor(machine: ExecutionMachine, name: str, is_global: bool = False) -> tuple[str, SqlCursor]:
    """Return the key and the cursor of *name*.

    A local cursor takes precedence over a global cursor unless *is_global* is true.

    Raises 16916 for an unknown cursor, 16950 for an empty variable.
    """
    session_cursors = dict(machine.session.cursors)
    local_keys = () if is_global else (build_local_cursor_key(machine, name),)
    for key in (*local_keys, name.lower()):
        if key in session_cursors:
            return key, session_cursors[key]
    if name.startswith("@"):
        raise SqlError(16950, name)
    raise SqlError(16916, name)


def _get_cursor_depth(key: str) -> int:
    """Return the nesting depth in the key of a local cursor; 0 for a global cursor.

    The depth is the number after the last space. Without a number there, the space belongs to the name of a
    global cursor.
    """
    _, separator, depth = key.rpartition(" ")
    return int(depth) if separator and depth.isdigit() else 0


def remove_local_cursors(machine: ExecutionMachine) -> None:
    """Remove the local cursors of a batch or procedure that has ended. Documented [DOC: DECLARE CURSOR]."""
    depth = len(machine.scopes)
    cursors = tuple(entry for entry in machine.session.cursors if _get_cursor_depth(entry[0]) <= depth)
    if len(cursors) < len(machine.session.cursors):
        machine.change_session(cursors=cursors)


_SCROLL_OPTIONS: Final = frozenset({"SCROLL", "STATIC", "KEYSET", "DYNAMIC"})
"""Options that let a cursor move in every direction."""


def declare_cursor(machine: ExecutionMachine, statement: s.DeclareCursorStatement) -> None:
    """Execute DECLARE name CURSOR or SET @name = CURSOR.

    Raises 16915 if the name is in use, 16957 for FOR UPDATE of a read-only cursor.
    """
    options = frozenset(statement.options)
    if "FOR_UPDATE" in options and options & {"INSENSITIVE", "READ_ONLY", "STATIC"}:
        raise SqlError(16957)
    is_local = "LOCAL" in options or statement.name.startswith("@")
    key = build_local_cursor_key(machine, statement.name) if is_local else statement.name.lower()
    if key in dict(machine.session.cursors) and not statement.name.startswith("@"):
        raise SqlError(16915, statement.name)
    scrolls = bool(options & _SCROLL_OPTIONS) and not options & {"FORWARD_ONLY", "FAST_FORWARD"}
    for option in sorted(options & {"DYNAMIC", "KEYSET"}):
        machine.report_partly_simulated(f"changes of rows after OPEN in a {option} cursor")
    has_row_count = bool(options & {"STATIC", "KEYSET", "INSENSITIVE"})
    store_cursor(machine, key, SqlCursor(statement.query, scrolls=scrolls, counted=has_row_count))


def store_cursor(machine: ExecutionMachine, name: str, cursor: SqlCursor | None) -> None:
    """Store a cursor in the session under the key *name*. None removes the cursor."""
    session_cursors = dict(machine.session.cursors)
    session_cursors.pop(name, None)
    if cursor is not None:
        if len(session_cursors) >= CURSORS_MAX:
            raise UnsimulatedFeatureError(f"more than {CURSORS_MAX} cursors of one connection")
        session_cursors[name] = cursor
        machine.check_capacity(cursor)
    machine.change_session(cursors=tuple(session_cursors.items()))


def open_cursor(machine: ExecutionMachine, key: str, cursor: SqlCursor) -> None:
    """Execute OPEN: run the query of the cursor. Raises 16905 if the cursor is already open."""
    if cursor.rows is not None:
        raise SqlError(16905)
    plan = machine.plan_text("statement", cursor.query)
    columns, rows = machine.run_select(plan)
    store_cursor(
        machine,
        key,
        replace(
            cursor,
            kinds=plan.kinds,
            columns=columns,
            rows=tuple(rows),
            position=-1,
            characters=tables.count_characters(rows),
        ),
    )


def fetch_row(machine: ExecutionMachine, statement: s.FetchCursorStatement) -> None:
    """Execute FETCH: assign the row to the variables after INTO. Without INTO, return it as a result set."""
    key, cursor = find_cursor(machine, statement.name, statement.is_global)
    if cursor.rows is None:
        raise SqlError(16917)
    if statement.direction != "NEXT" and not cursor.scrolls:
        raise SqlError(16911, "fetch", statement.direction.lower())
    offset = int(to_number(machine.resolve_value(statement.offset))) if statement.offset is not None else 0
    position = {
        "NEXT": cursor.position + 1,
        "PRIOR": cursor.position - 1,
        "FIRST": 0,
        "LAST": len(cursor.rows) - 1,
        "ABSOLUTE": offset - 1 if offset >= 0 else len(cursor.rows) + offset,
        "RELATIVE": cursor.position + offset,
    }[statement.direction]
    position = max(-1, min(len(cursor.rows), position))
    store_cursor(machine, key, replace(cursor, position=position))
    is_present = 0 <= position < len(cursor.rows)
    machine.change_session(fetch_status=0 if is_present else -1, error=0)
    if not statement.into:
        rows = list(cursor.rows[position : position + 1]) if is_present else []
        machine.add_result(
            cursor.columns,
            rows if machine.insert_exec_target else format_result_rows(rows, cursor.kinds),
            cursor.kinds,
        )
        return
    if len(statement.into) != len(cursor.columns):
        raise SqlError(16924)
    if is_present:
        kinds = cursor.kinds or (None,) * len(statement.into)
        for name, value, kind in zip(statement.into, cursor.rows[position], kinds, strict=True):
            machine.set_variable(name, value, kind)
