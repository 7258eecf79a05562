"""Name resolution before the first statement of a batch or procedure runs, with deferred name resolution.

If all tables of a statement exist, it is bound when the text is compiled. A wrong column, function or type in
such a statement fails the whole text, even if the statement is never reached. A statement that names a missing
table is bound when it runs. USE and SET QUOTED_IDENTIFIER take effect at compile time, too. [DOC: Batches;
Create a stored procedure, "Deferred name resolution and compilation"; USE, "executed at both compile and
execution time"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.tsql.batches import functions, locks, sources
from engine.tsql.batches.environment import CONTEXT_FUNCTIONS
from engine.tsql.batches.scope import Scope
from engine.tsql.language import statements as s
from engine.tsql.language.columns import parse_table
from engine.tsql.language.instructions import BranchIfFalse, CompiledInstruction, RunStatement
from engine.tsql.language.lexer import SqlSyntaxError, tokens_of
from engine.tsql.query import planner
from engine.tsql.query.names import BindingContext, Columns
from engine.tsql.query.planner import without_cursor_options
from engine.tsql.query.plans import QueryPlan, UnsimulatedFeatureError
from engine.tsql.query.totals import AGGREGATES, COLLECTING
from engine.tsql.scalars.functions import CULTURED, FUNCTIONS, KNOWN, SINCE, check_arity
from engine.tsql.scalars.types import SqlType, type_of

if TYPE_CHECKING:
    from engine.tsql.batches.machine import Machine

INSTRUCTION_WORK: Final = 5
TEXT_WORK: Final = 100
CHARACTER_WORK: Final = 4
"""Work (work.py) of an instruction, of binding its text, and of each character of it, as when a query runs."""


def resolve_next_instruction(machine: Machine, scope: Scope) -> None:
    """Resolve the next instruction; its errors are added to scope.problems."""
    instruction = scope.units[scope.resolved]
    scope.resolved += 1
    machine.meter.add(INSTRUCTION_WORK)
    outside = machine.session
    if scope.database:
        machine.note(database=scope.database)
    if scope.quoting:
        machine.note(options=(*outside.options, ("QUOTED_IDENTIFIER", scope.quoting)))
    try:
        _look(machine, scope, instruction)
    except SqlError as problem:
        scope.problems += machine.errors(problem, instruction.line)
    except (UnsimulatedFeatureError, SqlSyntaxError, locks.LockConflictError):
        pass  # reported when it runs
    finally:
        machine.session = machine.context.session = outside


def _look(machine: Machine, scope: Scope, instruction: CompiledInstruction) -> None:
    action = instruction.action
    if isinstance(action, BranchIfFalse):
        _bind(machine, scope, "condition", action.condition)
    if not isinstance(action, RunStatement):
        return
    statement = action.statement
    if isinstance(statement, s.QueryStatement):
        _bind(machine, scope, "statement", statement.text)
    elif isinstance(statement, s.DeclareCursor):
        _bind(machine, scope, "statement", without_cursor_options(statement.query))
    elif isinstance(statement, s.Print | s.Assign | s.ExecuteString | s.Return):
        _bind(machine, scope, "expression", statement.expression)
    elif isinstance(statement, s.UseDatabase):
        scope.database = machine.context.open_database(statement.database)
    elif isinstance(statement, s.SetSession) and "QUOTED_IDENTIFIER" in statement.words:
        scope.quoting = statement.words[-1]
    elif isinstance(statement, s.Declare):
        for item in statement.variables:
            _declare(scope, item.name, item.type, item.columns)
            _bind(machine, scope, "expression", item.default)
    elif isinstance(statement, s.CreateProcedure | s.CreateFunction):
        for parameter in statement.parameters:
            _declare(scope, parameter.name, parameter.type)


def _declare(scope: Scope, name: str, type_text: str, columns: str = "") -> None:
    """Declare the type of a variable, or the columns of a table variable. Raises 2715 for an unknown type."""
    if type_text == "table":
        made = parse_table(columns)[0]
        scope.known_tables[name] = tuple(
            (column.name, sources.parse_column_type(column.type)) for column in made
        )
    elif type_text != "cursor":
        scope.known_types[name] = type_of(type_text, 1)


def _bind(machine: Machine, scope: Scope, kind: str, text: str) -> None:
    """Bind a query or value to its tables, if all of them exist. Raises the errors found."""
    if not text or (kind == "expression" and len(tokens_of(text)) <= 2):  # one token and the end marker
        return
    machine.meter.add(TEXT_WORK + CHARACTER_WORK * len(text))
    text = functions.expand_calls(machine, text)
    named = planner.references(kind, text)
    alone = (kind, text, machine.settings, machine.context.version)
    if alone in _SOUND:
        return
    tables: list[tuple[str, Columns | None]] = []
    for ref in named.tables:
        if ref.key in scope.known_tables:
            tables.append((ref.key, scope.known_tables[ref.key]))
            continue
        try:
            tables.append((ref.key, sources.describe_columns(machine, ref)))
        except (SqlError, UnsimulatedFeatureError):
            return  # it may exist when the statement runs
    variables = tuple((name, _variable(machine, scope, name)) for name in named.variables)
    plan = machine.plan(kind, text, BindingContext(tuple(tables), variables, machine.settings))
    check_calls(plan, machine.context.version)
    if plan.target is not None and plan.columns:
        _check_target(dict(tables).get(plan.target.key), plan.columns)
    if not (named.tables or named.variables or plan.target):
        if len(_SOUND) == SOUND_MAX:
            _SOUND.clear()
        _SOUND.add(alone)


SOUND_MAX: Final = 256
_SOUND: Final[set[object]] = set()
"""Valid texts without tables and variables, which always stay valid."""


def _variable(machine: Machine, scope: Scope, name: str) -> SqlType | None:
    kind = scope.known_types.get(name) or machine.variable_type(name)
    return None if kind is None or kind.name == "sql_variant" else kind


def _check_target(columns: Columns | None, named: tuple[str, ...]) -> None:
    """Raise 207 for a column of INSERT or UPDATE that the table has not."""
    known = {name.lower() for name, _ in columns or ()}
    for name in named:
        if columns is not None and name.lower() not in known:
            raise SqlError(207, name)


_WINDOWED: Final = ("lag", "lead", "first_value", "last_value", "percent_rank", "cume_dist")
"""Window functions of SQLite."""


_ROWSETS: Final = {
    "open_json": "OPENJSON",
    "open_json_rows": "OPENJSON",
    "split_string": "STRING_SPLIT",
    "number_series": "GENERATE_SERIES",
}
"""Table-valued functions of 2016 by the calls that create their rows (apply.py)."""


def check_calls(plan: QueryPlan, version: int) -> None:
    """Raise 195 for a function that there is not, 174 or 189 for a wrong number of arguments, or Unsimulated."""
    for written, count in plan.calls:
        name = written.lower()
        if name in _ROWSETS and version < (2022 if name == "number_series" else 2016):
            raise SqlError(208, _ROWSETS[name])
        if SINCE.get(name, 0) > version:
            raise SqlError(195, written, "built-in function name")
        if count < 0:
            continue
        tables = ((FUNCTIONS, False), (CULTURED, True), (CONTEXT_FUNCTIONS, True))
        found = next(((table[name], bound) for table, bound in tables if name in table), None)
        if found is not None:
            check_arity(name, found[0], found[1], count)
        elif name in _WINDOWED:
            continue
        elif name in KNOWN:
            raise UnsimulatedFeatureError(f"the function {name}")
        elif f"t_{name}" not in AGGREGATES | COLLECTING:
            raise SqlError(195, written, "built-in function name")
