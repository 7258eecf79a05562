"""Name resolution before the first statement of a batch or procedure runs, and user-defined function calls.

If all tables of a statement exist, the statement is bound at compile time. A wrong column, function or type
then fails the whole text, even if the statement is never reached. A statement that names a missing table is
bound when it runs. USE and SET QUOTED_IDENTIFIER also take effect at compile time. [DOC: Batches; Create a
stored procedure, "Deferred name resolution and compilation"; USE, "executed at both compile and execution
time"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import first_result, locks, objects, sources
from engine.tsql.batches.data import FIRST_RESULT_REQUEST, DeclaredVariable, MutableFrame, Submission, Table
from engine.tsql.batches.definitions import declare_variables
from engine.tsql.batches.environment import CONTEXT_FUNCTIONS
from engine.tsql.language import compiler
from engine.tsql.language import statements as s
from engine.tsql.language.columns import parse_table
from engine.tsql.language.instructions import (
    BranchInstruction,
    CompiledInstruction,
    JumpInstruction,
    Program,
    StatementInstruction,
)
from engine.tsql.language.lexer import SqlSyntaxError, Token, get_name, tokenize
from engine.tsql.language.reserved_words import RESERVED_WORDS
from engine.tsql.query import planner
from engine.tsql.query.aggregates import AGGREGATES, VARIADIC_AGGREGATES
from engine.tsql.query.plans import BindingContext, Column, Columns, QueryPlan, UnsimulatedFeatureError
from engine.tsql.query.statement_clauses import find_verb_index
from engine.tsql.scalars.functions import (
    FUNCTION_VERSIONS,
    FUNCTIONS,
    FUNCTIONS_WITH_CULTURE,
    UNSIMULATED_FUNCTIONS,
    check_arity,
)
from engine.tsql.scalars.types import SqlType, check_conversion, parse_sql_type
from engine.tsql.scalars.values import Scalar, convert_value, to_text

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


RESOLUTION_WORK_PER_INSTRUCTION: Final = 5
"""Work units (work.py) of resolving an instruction."""
BINDING_WORK_PER_TEXT: Final = 100
"""Work units of binding the text of an instruction."""
BINDING_WORK_PER_CHARACTER: Final = 4
"""Work units of binding, per character of the text of an instruction.

The execution of a query costs the same.
"""


def is_only_parsed(machine: ExecutionMachine, scope: MutableFrame) -> bool:
    """Return whether SET PARSEONLY is ON for the text of *scope*.

    SET PARSEONLY takes effect while the batch that contains it is parsed, before any statement runs.
    [DOC: SET PARSEONLY]
    """
    if dict(machine.session.options).get("PARSEONLY") == "ON":
        return True
    actions = [] if scope.resolved else [instruction.action for instruction in scope.code]
    statements = (action.statement for action in actions if isinstance(action, StatementInstruction))
    return any(
        isinstance(item, s.SetSessionOptionStatement) and item.words == ("PARSEONLY", "ON")
        for item in statements
    )


def resolve_next_instruction(machine: ExecutionMachine, scope: MutableFrame) -> None:
    """Resolve the names of the next instruction. Append errors to `scope.errors`."""
    instruction = scope.units[scope.resolved]
    scope.resolved += 1
    machine.meter.count_units(RESOLUTION_WORK_PER_INSTRUCTION)
    outside = machine.session
    if scope.database:
        machine.change_session(database=scope.database)
    if scope.quoting:
        machine.change_session(options=(*outside.options, ("QUOTED_IDENTIFIER", scope.quoting)))
    try:
        resolve_instruction(machine, scope, instruction)
    except SqlError as problem:
        scope.errors += machine.build_errors(problem, instruction.line)
    except (UnsimulatedFeatureError, SqlSyntaxError, locks.LockConflictError):
        pass  # the instruction reports this error when it runs
    finally:
        machine.session = machine.context.session = outside


def resolve_instruction(
    machine: ExecutionMachine, scope: MutableFrame, instruction: CompiledInstruction
) -> None:
    """Bind the texts of an instruction, and declare its variables in *scope*. Raises binding errors."""
    action = instruction.action
    if isinstance(action, BranchInstruction):
        _bind_text(machine, scope, "condition", action.condition)
    if not isinstance(action, StatementInstruction):
        return
    statement = action.statement
    _check_temporary_table(scope, statement)
    if isinstance(statement, s.QueryStatement):
        _bind_text(machine, scope, "statement", statement.text)
    elif isinstance(statement, s.DeclareCursorStatement):
        _bind_text(machine, scope, "statement", statement.query)
    elif isinstance(statement, s.PrintStatement):
        _bind_print(machine, scope, statement.expression)
    elif isinstance(statement, s.SetVariableStatement | s.ExecuteDynamicSqlStatement | s.ReturnStatement):
        _bind_text(machine, scope, "expression", statement.expression)
    elif isinstance(statement, s.UseStatement):
        scope.database = machine.context.open_database(statement.database)
    elif isinstance(statement, s.SetSessionOptionStatement) and "QUOTED_IDENTIFIER" in statement.words:
        scope.quoting = statement.words[-1]
    elif isinstance(statement, s.DeclareStatement):
        for item in statement.variables:
            declare_variable(scope, item.name, item.type, item.columns)
            _bind_text(machine, scope, "expression", item.default)
    elif isinstance(statement, s.CreateProcedureStatement | s.CreateFunctionStatement):
        for parameter in statement.parameters:
            declare_variable(scope, parameter.name, parameter.type)


def _check_temporary_table(scope: MutableFrame, statement: s.Statement) -> None:
    """Raise 2714 if an earlier statement of the text creates a temp table with the same name.

    Documented [DOC: CREATE TABLE, temporary tables].
    """
    name = _get_temporary_table(statement)
    earlier_actions = [unit.action for unit in scope.units[: scope.resolved - 1]] if name else []
    if any(
        isinstance(x, StatementInstruction) and _get_temporary_table(x.statement) == name
        for x in earlier_actions
    ):
        raise SqlError(2714, name, state=1)


def _get_temporary_table(statement: s.Statement) -> str:
    """Return the name of the temp table that CREATE TABLE or SELECT INTO creates; "" for other statements."""
    if isinstance(statement, s.CreateTableStatement):
        return statement.name[-1].lower() if statement.name[-1].startswith("#") else ""
    if isinstance(statement, s.QueryStatement) and "#" in statement.text:
        tokens = tokenize(statement.text)
        for into, target in pairwise(tokens) if tokens[find_verb_index(tokens)].upper == "SELECT" else ():
            if into.upper == "INTO" and target.text.startswith("#"):
                return target.text.lower()
    return ""


def _bind_print(machine: ExecutionMachine, scope: MutableFrame, text: str) -> None:
    """Bind the expression of PRINT. Raise 128 for a column, 1046 for a subquery."""
    try:
        _bind_text(machine, scope, "expression", f"({text})")
    except SqlError as problem:
        if problem.number == 207:
            raise SqlError(128, *problem.parameters) from None
        raise
    if any(token.upper == "SELECT" for token in tokenize(text)):
        raise SqlError(1046)


def declare_variable(scope: MutableFrame, name: str, type_text: str, columns: str = "") -> None:
    """Add a variable or a table variable to the declarations in *scope*. Raises 2715 for an unknown type."""
    if type_text == "table":
        definitions = parse_table(columns)[0]
        scope.known_tables[name] = tuple(
            Column(column.name, sources.parse_column_type(column.type), column.nullable)
            for column in definitions
        )
    elif type_text != "cursor":
        scope.known_types[name] = parse_sql_type(type_text, 1)


def _bind_text(machine: ExecutionMachine, scope: MutableFrame, kind: str, text: str) -> None:
    """Bind a query or expression to its tables if all of them exist. Raises binding errors."""
    if not text or (
        kind == "expression" and len(tokenize(text)) <= 2
    ):  # a single token, followed by the end marker
        return
    machine.meter.count_units(BINDING_WORK_PER_TEXT + BINDING_WORK_PER_CHARACTER * len(text))
    text = expand_function_calls(machine, text)
    references = planner.find_references(kind, text)
    cache_key = (kind, text, machine.settings, machine.context.version)
    if cache_key in _VALID_TEXTS:
        return
    tables: list[tuple[str, Columns | None]] = []
    for ref in references.tables:
        if ref.key in scope.known_tables:
            tables.append((ref.key, scope.known_tables[ref.key]))
            continue
        try:
            tables.append((ref.key, sources.describe_columns(machine, ref)))
        except (SqlError, UnsimulatedFeatureError):
            return  # the table may exist when the statement runs
    variables = tuple((name, _get_declared_type(machine, scope, name)) for name in references.variables)
    plan = machine.plan_text(kind, text, BindingContext(tuple(tables), variables, machine.settings))
    check_calls(plan, machine.context.version)
    if plan.target is not None and plan.columns:
        _check_target_columns(dict(tables).get(plan.target.key), plan.columns)
    if not (references.tables or references.variables or plan.target):
        if len(_VALID_TEXTS) == VALID_TEXTS_MAX:
            _VALID_TEXTS.clear()
        _VALID_TEXTS.add(cache_key)


VALID_TEXTS_MAX: Final = 256
"""Maximum number of texts in `_VALID_TEXTS`."""
_VALID_TEXTS: Final[set[object]] = set()
"""Texts that need no second check: bound without an error, and without tables and variables."""


def _get_declared_type(machine: ExecutionMachine, scope: MutableFrame, name: str) -> SqlType | None:
    """Return the type of a variable; None if the type is unknown or sql_variant."""
    kind = scope.known_types.get(name) or machine.get_variable_type(name)
    return None if kind is None or kind.name == "sql_variant" else kind


def _check_target_columns(columns: Columns | None, named: tuple[str, ...]) -> None:
    """Raise 207 if INSERT or UPDATE names a column that the target table does not have.

    *columns*: columns of the table; None if they are unknown.
    """
    column_names = {column.name.lower() for column in columns or ()}
    for name in named:
        if columns is not None and name.lower() not in column_names:
            raise SqlError(207, name)


_WINDOW_FUNCTIONS: Final = ("lag", "lead", "first_value", "last_value", "percent_rank", "cume_dist")
"""Window functions that SQLite implements."""


_ROWSET_FUNCTIONS: Final = {
    "open_json": "OPENJSON",
    "open_json_rows": "OPENJSON",
    "split_string": "STRING_SPLIT",
    "number_series": "GENERATE_SERIES",
}
"""Name of an internal function that returns rows -> T-SQL function that messages name.

Defined in apply_rewriting.py.
"""


def check_calls(plan: QueryPlan, version: int) -> None:
    """Check the function calls of a plan.

    Raise 195 or 208 for an unknown function, 174 or 189 for a wrong number of arguments, or
    UnsimulatedFeatureError.
    """
    for text, count in plan.calls:
        name = text.lower()
        if name in _ROWSET_FUNCTIONS and version < (2022 if name == "number_series" else 2016):
            raise SqlError(208, _ROWSET_FUNCTIONS[name])
        if FUNCTION_VERSIONS.get(name, 0) > version:
            raise SqlError(195, text, "built-in function name")
        if count < 0:
            continue
        tables = ((FUNCTIONS, False), (FUNCTIONS_WITH_CULTURE, True), (CONTEXT_FUNCTIONS, True))
        found_table = next(
            ((table[name], tables_bound) for table, tables_bound in tables if name in table), None
        )
        if found_table is not None:
            check_arity(name, found_table[0], found_table[1], count)
        elif name in _WINDOW_FUNCTIONS:
            continue
        elif name in UNSIMULATED_FUNCTIONS:
            raise UnsimulatedFeatureError(f"the function {name}")
        elif f"t_{name}" not in AGGREGATES | VARIADIC_AGGREGATES:
            raise SqlError(195, text, "built-in function name")


# --- inlining of user-defined functions ------------------------------------------------------------------
# The expression or query of an inline function replaces its call [DOC: CREATE FUNCTION; scalar UDF
# inlining]. A function with more statements, or in another database, runs when the query calls the
# function.

FUNCTION_NESTING_MAX: Final = 32
"""Maximum nesting of functions. Documented [DOC: CREATE FUNCTION]."""

_CALL_PATTERN: Final = re.compile(
    r"""(?:\.|,|\b(?:from|join|apply)\b)\s*(?:[^\W\d][\w@#$]*|\[[^\]]{1,128}\]|"[^"]{1,128}")\s*\(""",
    re.IGNORECASE,
)
"""Pattern that occurs in every text that calls a user-defined function."""

_SOURCE_KEYWORDS: Final = frozenset({"FROM", "JOIN", "APPLY"})
"""Keywords before a table source."""


def expand_function_calls(machine: ExecutionMachine, text: str) -> str:
    """Return the text of a query or expression, with its calls of user-defined functions replaced.

    Raises 217, 313, 8144 or UnsimulatedFeatureError.
    """
    for _ in range(FUNCTION_NESTING_MAX):
        if _CALL_PATTERN.search(text) is None:
            return text
        expanded_text = _expand_last_call(machine, text, tokenize(text))
        if expanded_text is None:
            return text
        text = expanded_text
    raise SqlError(217, FUNCTION_NESTING_MAX)


def _expand_last_call(machine: ExecutionMachine, text: str, tokens: Sequence[Token]) -> str | None:
    """Return the text with its last call replaced; None if it has no call.

    Calls are replaced from the last to the first. Thus, a call in an argument precedes the enclosing
    call.
    """
    for index in range(len(tokens) - 2, -1, -1):
        if tokens[index].kind not in ("word", "quoted") or not tokens[index + 1].is_operator("("):
            continue
        dotted = index > 1 and tokens[index - 1].is_operator(".")
        first = index - 2 if dotted else index
        if dotted and _is_database_name(machine, tokens, first):
            first -= 2
        before = tokens[first - 1] if first else None
        is_source = before is not None and (before.upper in _SOURCE_KEYWORDS or before.is_operator(","))
        if not (dotted or is_source):
            continue
        parts = tuple(get_name(token) for token in tokens[first : index + 1 : 2])
        called_object = objects.find_object(machine.context, parts)
        if not isinstance(called_object, objects.UserFunction) or (
            not called_object.returns and not is_source
        ):
            continue
        if called_object.returns and not dotted:
            continue
        if not called_object.returns and len(parts) > 2:
            if parts[0].lower() == machine.session.database.lower():
                parts = parts[1:]
            elif not called_object.body:
                raise UnsimulatedFeatureError("inline table-valued functions of another database")
        end, arguments = _split_arguments(text, tokens, index + 1)
        replacement = _expand_call(machine, parts, called_object, arguments)
        if not called_object.returns and not _can_be_alias(tokens[end]):
            replacement += f" AS [{parts[-1].replace(']', ']]')}]"
        return text[: tokens[first].start] + replacement + text[tokens[end - 1].end :]
    return None


def _is_database_name(machine: ExecutionMachine, tokens: Sequence[Token], schema: int) -> bool:
    """Return whether the name before the schema is a database of this server.

    *schema*: index of the schema's token.
    """
    if (
        schema < 2
        or not tokens[schema - 1].is_operator(".")
        or tokens[schema - 2].kind not in ("word", "quoted")
    ):
        return False
    return machine.context.find_database_id(get_name(tokens[schema - 2])) is not None


def _can_be_alias(token: Token) -> bool:
    """Return whether *token* is AS or a word that can be an alias."""
    return token.upper == "AS" or (token.kind in ("word", "quoted") and token.upper not in RESERVED_WORDS)


def _split_arguments(text: str, tokens: Sequence[Token], opening: int) -> tuple[int, list[list[Token]]]:
    """Return the index of the token after the closing parenthesis, and the tokens of each argument.

    *opening*: index of the opening parenthesis.
    """
    level, arguments = 0, list[list[Token]]()
    for index in range(opening, len(tokens)):
        token = tokens[index]
        level += token.is_operator("(") - token.is_operator(")")
        if not level:
            return index + 1, [argument for argument in arguments if argument]
        if (token.is_operator("(") or token.is_operator(",")) and level == 1:
            arguments.append([])
        else:
            arguments[-1].append(token)
    raise SqlError(102, "(")


def _expand_call(
    machine: ExecutionMachine,
    parts: Sequence[str],
    function: objects.UserFunction,
    arguments: list[list[Token]],
) -> str:
    """Return the text in parentheses that replaces a call of *function* with *arguments*."""
    name = objects.format_qualified_name(tuple(parts))
    if len(arguments) < len(function.parameters):
        raise SqlError(313, name)
    if len(arguments) > len(function.parameters):
        raise SqlError(8144, name)
    is_remote = len(parts) > 2 and parts[0].lower() != machine.session.database.lower()
    is_executed = bool(function.body) or is_remote
    body = () if is_executed else tokenize(function.returned)[:-1]
    values: dict[str, str] = {}
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        default = len(argument) == 1 and argument[0].upper == "DEFAULT"
        argument_text = parameter.default or "NULL" if default else _join_tokens(argument)
        _check_argument_columns(argument, body)
        values[parameter.name] = f"(CAST(({argument_text}) AS {parameter.type}))"
    if function.body and not function.returns:
        return _build_rows_query(machine, parts, function, tuple(values.values()))
    text = format_call(machine, parts, tuple(values.values())) if is_executed else _join_tokens(body, values)
    return f"(CAST(({text}) AS {function.returns}))" if function.returns else f"({text})"


def _build_rows_query(
    machine: ExecutionMachine, parts: Sequence[str], function: objects.UserFunction, values: Sequence[str]
) -> str:
    """Return a query in parentheses that returns the rows of a multi-statement table-valued function."""
    parts = (machine.session.database, "dbo", *parts)[-3:] if len(parts) == 1 else tuple(parts)
    returned_table = _run_body(machine, (machine.session.database, *parts)[-3:], function, None)
    assert isinstance(returned_table, Table)
    columns = [(f"c{index}", column) for index, column in enumerate(returned_table.columns)]
    column_list = (
        f"CAST({value_text} AS {column.type}) AS [{column.name.replace(']', ']]')}]"
        for value_text, column in columns
    )
    called = format_call(machine, parts, values).removeprefix(VALUE_CALL_FUNCTION)
    names = ", ".join(name for name, _ in columns)
    return f"(SELECT {', '.join(column_list)} FROM {ROWS_CALL_FUNCTION}{called} AS q ({names}))"


def _check_argument_columns(argument: list[Token], body: Sequence[Token]) -> None:
    """Raise UnsimulatedFeatureError for an ambiguous column in an argument of a function.

    Inside the body of the function, the column could be confused with a column of the tables there.
    """
    names = [
        token
        for token in argument
        if token.kind == "quoted" or (token.kind == "word" and token.upper not in RESERVED_WORDS)
    ]
    if not names or not any(token.upper == "FROM" for token in body):
        return
    body_names = {get_name(token).lower() for token in body if token.kind in ("word", "quoted")}
    if len(argument) != 3 or not argument[1].is_operator(".") or get_name(argument[0]).lower() in body_names:
        raise UnsimulatedFeatureError("columns as arguments of a function that reads tables")


def _join_tokens(tokens: Sequence[Token], values: dict[str, str] | None = None) -> str:
    """Return the tokens as text on one line, so that line numbers in messages stay correct.

    *values*: texts that replace parameters.
    """
    joined_text, end = "", tokens[0].start if tokens else 0
    for token in tokens:
        joined_text += " " * (token.start > end)
        joined_text += (
            (values or {}).get(token.text.lower(), token.text) if token.kind == "variable" else token.text
        )
        end = token.end
    return joined_text


# --- calls of functions whose body runs statement by statement -------------------------------------------
# An error ends the body and cancels the calling statement [DOC: Create user-defined functions, guidelines].

VALUE_CALL_FUNCTION: Final = "scalar_function_value"
"""Internal function that replaces a call of a user-defined function in an expanded text.

Its first argument is the encoded name of the user-defined function (format_call). The arguments of the call
follow.
"""

ROWS_CALL_FUNCTION: Final = "table_function_rows"
"""Internal table-valued function that replaces a call of a user-defined one.

It is defined in apply_rewriting.py.
"""

CALL_NAME_SEPARATOR: Final = "\x01"
"""Prefix and separator in the encoded name of a called function. User texts cannot contain this character."""

FUNCTION_INSTRUCTION_WORK: Final = 10
"""Work units (work.py) of one instruction in a function's body."""


def format_call(machine: ExecutionMachine, parts: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the text of an internal call for the user-defined function with the name *parts*."""
    database = parts[0] if len(parts) > 2 else machine.session.database
    name = CALL_NAME_SEPARATOR + CALL_NAME_SEPARATOR.join((database, parts[-2], parts[-1]))
    literal = "N'" + name.replace("'", "''") + "'"
    return f"{VALUE_CALL_FUNCTION}({', '.join((literal, *arguments))})"


def call_function(machine: ExecutionMachine, name: Scalar, values: Sequence[Scalar]) -> Scalar:
    """Run a user-defined function and return its value, or its rows as JSON.

    *name*: encoded name of the function (format_call). Raises the errors of its body, or 217.
    """
    text = to_text(name)
    if not text.startswith(CALL_NAME_SEPARATOR):
        raise SqlError(195, VALUE_CALL_FUNCTION, "built-in function name")
    database, *parts = text[1:].split(CALL_NAME_SEPARATOR)
    called_object = objects.find_object(machine.context, (database, *parts))
    if not isinstance(called_object, objects.UserFunction) or not (
        called_object.returns or called_object.body
    ):
        raise SqlError(4121, parts[0], ".".join(parts))
    result = _run_body(machine, (database, *parts), called_object, values)
    if not isinstance(result, Table):
        return result
    machine.meter.charge_units(len(result.rows))
    return json.dumps(
        [
            [{"bytes": value.hex()} if isinstance(value, bytes) else value for value in row]
            for row in result.rows
        ]
    )


def _run_body(
    machine: ExecutionMachine,
    name: Sequence[str],
    function: objects.UserFunction,
    values: Sequence[Scalar] | None,
) -> Scalar | Table:
    """Run the body of a user-defined function. Return its value or its rows.

    *values*: values of the parameters. If *values* is None, return the function's result table without
    rows.
    """
    inner = machine.create_sibling_machine(
        Submission(id=0, text="", steps=()),
        replace(machine.session, database=name[0], cursors=()),
        machine.meter,
    )
    inner.context.writes = dict(machine.context.writes)
    body = function.body or f"RETURN {function.returned}"
    code = compiler.compile_batch(
        body, machine.context.version, frozenset(p.name for p in function.parameters)
    )
    variables = {
        parameter.name: DeclaredVariable(parameter.type, value)
        for parameter, value in zip(function.parameters, values or (), strict=values is not None)
    }
    scope = MutableFrame(
        body, machine.context.version, read=None, code=code, procedure=name[-1], variables=variables
    )
    scope.declare_all_variables()
    inner.scopes = [scope]
    machine.meter.enter_view()
    try:
        if values is None:
            declare_variables(inner, next(_find_declarations(code)))
            return scope.tables[function.returned]
        value = _run_scope(inner, scope, function.returns)
        return value if function.returns else scope.tables[function.returned]
    finally:
        machine.meter.leave_view()
        inner.release_resources()


def _find_declarations(code: Program) -> Iterator[s.DeclareStatement]:
    for instruction in code:
        if isinstance(instruction.action, StatementInstruction) and isinstance(
            instruction.action.statement, s.DeclareStatement
        ):
            yield instruction.action.statement


def _run_scope(machine: ExecutionMachine, scope: MutableFrame, returns: str) -> Scalar:
    """Execute the instructions in the body of a user-defined function. Return the function's value."""
    while scope.position < len(scope.code):
        instruction = scope.code[scope.position]
        scope.position += 1
        scope.line = instruction.line
        machine.meter.charge_units(FUNCTION_INSTRUCTION_WORK)
        action = instruction.action
        if isinstance(action, JumpInstruction):
            scope.position = action.target
        elif isinstance(action, BranchInstruction):
            if not machine.evaluate_condition(action.condition):
                scope.position = action.target
        elif isinstance(action, StatementInstruction) and isinstance(action.statement, s.ReturnStatement):
            if not returns:
                return None
            value, kind = machine.evaluate_with_type(action.statement.expression)
            if kind is not None:
                check_conversion(kind, parse_sql_type(returns, 1), explicit=False)
            return convert_value(
                value, returns, default_length=1, source=kind, culture=machine.settings.culture
            )
        elif isinstance(action, StatementInstruction):
            machine.perform_statement(action.statement)
    raise UnsimulatedFeatureError("a function that ends without RETURN")


def call_from_sqlite(machine: ExecutionMachine, arguments: Sequence[Scalar]) -> Scalar:
    """Handle a call of an internal function from SQLite.

    SQLite discards exceptions that it does not know. Therefore, a lock conflict is stored in
    machine.blocked.
    """
    try:
        if arguments[0] == FIRST_RESULT_REQUEST:
            return first_result.build_description_json(machine, *arguments[1:])
        return call_function(machine, arguments[0], arguments[1:])
    except locks.LockConflictError as error:
        machine.blocked = error
        raise UnsimulatedFeatureError("a wait inside a function") from None
