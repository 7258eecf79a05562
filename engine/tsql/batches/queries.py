"""Execution of SELECT, INSERT, UPDATE, DELETE, MERGE and TRUNCATE in a batch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from engine.messages import SqlError
from engine.tsql.batches import constraints, objects, sources, statement_gate, tables
from engine.tsql.batches.data import Row, Table
from engine.tsql.batches.machine import RUN_TIME_ERRORS
from engine.tsql.language import statements as s
from engine.tsql.language.columns import ColumnDefinition
from engine.tsql.language.lexer import get_name, quote_name, tokenize
from engine.tsql.query.planner import plan_statement
from engine.tsql.query.plans import (
    HIDDEN_ARGUMENT_COLUMN,
    UNNAMED,
    QueryPlan,
    TableRef,
    UnsimulatedFeatureError,
)
from engine.tsql.scalars.types import SqlType, check_conversion, parse_sql_type
from engine.tsql.scalars.values import convert_value

if TYPE_CHECKING:
    from engine.tsql.batches.machine import ExecutionMachine


def execute_query(machine: ExecutionMachine, statement: s.QueryStatement) -> None:
    """Execute SELECT, INSERT, UPDATE, DELETE, MERGE or TRUNCATE, and its OUTPUT clause."""
    plan = machine.plan_text("statement", statement.text)
    outputs: tuple[str, ...] = ()
    if statement.output is not None and plan.kind != "insert":
        outputs = _find_source_columns(statement.output)
    if outputs:
        bindings = machine.get_bindings("statement", statement.text)
        plan = machine.plan_text("statement", statement.text, replace(bindings, outputs=outputs))
    if machine.returns_only_columns:
        if plan.kind == "select" and plan.target is None:
            machine.add_result(machine.run_select(plan)[0], (), plan.kinds, plan.nullable)
        return
    if plan.target is not None:
        statement_gate.check_target_state(machine.context, plan.target.parts)
    machine.touched, machine.output_values, machine.output_count = [], [], len(outputs)
    if statement.output is not None:
        _check_output_tables(plan.kind, statement.output)
    _QUERY_HANDLERS[plan.kind](machine, plan)
    if statement.output is not None and plan.target is not None:
        kinds = (plan.parts[0] if plan.parts else plan).kinds[-len(outputs) :] if outputs else ()
        _execute_output(machine, plan.target, statement.output, dict(zip(outputs, kinds, strict=False)))


_MISSING_OUTPUT_TABLES: Final = {"insert": "deleted", "delete": "inserted"}
"""Statement -> table that its OUTPUT clause cannot use [DOC: OUTPUT clause]."""


def _find_source_columns(output: s.OutputClause) -> tuple[str, ...]:
    """Return the columns of source tables that an OUTPUT clause uses [DOC: OUTPUT clause]."""
    tokens = tokenize(output.columns)
    found: dict[str, None] = {}
    for before, table, dot, column, after in zip(
        [None, *tokens], tokens, tokens[1:], tokens[2:], tokens[3:], strict=False
    ):
        is_qualifier = (
            table.kind in ("word", "quoted")
            and dot.is_operator(".")
            and not (before and before.is_operator("."))
        )
        if not is_qualifier or table.text.strip('[]"').lower() in ("inserted", "deleted"):
            continue
        if column.is_operator("*"):
            raise UnsimulatedFeatureError("all columns of a source table in OUTPUT")
        if column.kind in ("word", "quoted") and not after.is_operator("(", "."):
            found[output.columns[table.start : column.end]] = None
    return tuple(found)


def _check_output_tables(kind: str, output: s.OutputClause) -> None:
    """Raise 4104 if the OUTPUT clause uses a table that the statement does not have.

    The error occurs before any row changes.
    """
    tokens = tokenize(output.columns)
    for index in range(len(tokens) - 2):
        table, dot, column = tokens[index : index + 3]
        if table.text.strip('[]"').lower() == _MISSING_OUTPUT_TABLES.get(kind) and dot.is_operator("."):
            raise SqlError(4104, f"{table.text}.{column.text}")


def _execute_output(
    machine: ExecutionMachine,
    target: TableRef,
    output: s.OutputClause,
    source_columns: dict[str, SqlType | None],
) -> None:
    """Execute OUTPUT: a SELECT from the inserted and deleted rows of the statement.

    *source_columns*: column of a source table -> its type. machine.output_values contains the values of
    these columns.
    """
    columns = sources.require_changeable_table(machine, target).columns
    width = len(columns)
    action_definition, row_definition = (
        ColumnDefinition(name=_ACTION_COLUMN, type="nvarchar(10)"),
        ColumnDefinition(name=_ROW_COLUMN, type="int"),
    )
    column_names = (*columns, action_definition, row_definition)
    null_row = (None,) * width
    touched = list(enumerate(machine.touched))
    before = tuple((*(old or null_row), verb, number) for number, (verb, old, _) in touched)
    new_rows = tuple((*(new or null_row), verb, number) for number, (verb, _, new) in touched)
    definitions = tuple(
        replace(column, identity=None, nullable=True, computed="", default="") for column in column_names
    )
    machine.pseudo = {"inserted": Table(definitions, new_rows), "deleted": Table(definitions, before)}
    source_tables = _build_source_tables(machine.output_values, source_columns)
    column_text = re.sub(r"\$action\b", f"inserted.[{_ACTION_COLUMN}]", output.columns, flags=re.IGNORECASE)
    for name in machine.pseudo:
        listed = ", ".join(f"{name}.{quote_name(column.name)}" for column in columns)
        column_text = re.sub(rf"\b{name}\.\*", listed.replace("\\", r"\\"), column_text, flags=re.IGNORECASE)
    machine.pseudo.update(source_tables)
    joins = "".join(
        f" JOIN {quote_name(name)} ON inserted.[{_ROW_COLUMN}] = {quote_name(name)}.[{_ROW_COLUMN}]"
        for name in ("deleted", *source_tables)
    )
    try:
        plan = machine.plan_text("statement", f"SELECT {column_text} FROM inserted{joins}")
        names, rows = machine.run_select(plan)
    finally:
        machine.pseudo = {}
    count = machine.session.rowcount
    if output.into:
        values = "SELECT 1" if output.into.endswith(")") else "DEFAULT VALUES"
        into = plan_statement(f"INSERT INTO {output.into} {values}")
        assert into.target is not None
        sources.insert_rows(machine, into.target, into.columns, rows)
    else:
        result_count = len(machine.results)
        machine.add_result(names, rows if machine.insert_exec_target else plan.format_rows(rows), plan.kinds)
        last_messages = machine.messages[-1:]
        if (
            len(machine.results) > result_count and last_messages and last_messages[0].rows is not None
        ):  # place the rows before their row count
            result_set = machine.results.pop()
            machine.results.append(replace(result_set, after_messages=len(machine.messages) - 1))
    machine.change_session(rowcount=count)


def _build_source_tables(rows: list[Row], source_columns: dict[str, SqlType | None]) -> dict[str, Table]:
    """Return qualifier -> table that contains the source columns which the OUTPUT clause uses.

    *rows*: values of *source_columns* for each affected row.
    """
    columns_by_table: dict[str, list[tuple[int, ColumnDefinition]]] = {}
    for index, (text, kind) in enumerate(source_columns.items()):
        table, _, column, _ = tokenize(text)
        definition = ColumnDefinition(name=get_name(column), type=str(kind or "sql_variant"))
        columns_by_table.setdefault(get_name(table).lower(), []).append((index, definition))
    row_definition = ColumnDefinition(name=_ROW_COLUMN, type="int")
    return {
        name: Table(
            (*(definition for _, definition in columns), row_definition),
            tuple((*(row[index] for index, _ in columns), number) for number, row in enumerate(rows)),
        )
        for name, columns in columns_by_table.items()
    }


_ACTION_COLUMN: Final = "$action"
"""Name of the column with the value of $action in the tables inserted and deleted."""
_ROW_COLUMN: Final = "$place"
"""Name of the column with the number of the affected row in the tables inserted and deleted."""


def _execute_select(machine: ExecutionMachine, plan: QueryPlan) -> None:
    try:
        columns, rows = machine.run_select(plan)
    except SqlError as problem:
        names, before = problem.rows_before
        returned = (
            problem.number in RUN_TIME_ERRORS and plan.target is None and not machine.insert_exec_target
        )
        if names and returned and HIDDEN_ARGUMENT_COLUMN not in names:
            result_count = len(machine.results)
            machine.add_result(names, plan.format_rows(list(before)), plan.kinds, plan.nullable)
            machine.results[result_count:] = [
                replace(result_set, failed=True) for result_set in machine.results[result_count:]
            ]
        raise
    limit = int(dict(machine.session.options).get("ROWCOUNT", "0") or 0)
    rows = rows[:limit] if limit else rows
    if plan.target is not None:
        _execute_select_into(machine, plan, plan.target, columns, rows)
        return
    shown_rows = rows if machine.insert_exec_target else plan.format_rows(rows)
    machine.add_result(columns, shown_rows, plan.kinds, plan.nullable)
    if not machine.insert_exec_target:  # INSERT … EXEC itself reports the number of inserted rows
        machine.append_row_count(len(rows))


def _execute_select_into(
    machine: ExecutionMachine, plan: QueryPlan, target: TableRef, columns: tuple[str, ...], rows: list[Row]
) -> None:
    """Execute SELECT INTO. Raises 1038 for an unnamed column, 2705 for a duplicate name."""
    if "" in columns or UNNAMED in columns:
        raise SqlError(1038)
    table = tables.build_select_into_table(columns, rows, plan.kinds, plan.nullable)
    tables.create_empty_table(target.parts[-1], table.columns)
    sources.create_table(machine, target, table)
    machine.append_row_count(len(rows))


def _execute_assignment(machine: ExecutionMachine, plan: QueryPlan) -> None:
    for name in plan.assigns:
        if name not in machine.scope.variables:
            raise SqlError(137, name)
    _, rows = machine.run_select(plan)
    if (len(rows) > 1 or len(plan.assigns) > 1) and any(name in plan.assigns for name in plan.variables):
        _accumulate_variables(machine, plan, len(rows))
    elif rows:
        for name, value, kind in zip(plan.assigns, rows[-1], _list_column_types(plan), strict=True):
            machine.set_variable(name, value, kind)
    machine.change_session(rowcount=len(rows), error=0)
    machine.record_completion(len(rows))


def _accumulate_variables(machine: ExecutionMachine, plan: QueryPlan, count: int) -> None:
    """Execute an assignment such as SELECT @s = @s + name, @n = @n + 1 FROM ….

    For each row, the assignments are executed from left to right.
    """
    for index in range(count):
        query_plan = replace(plan, sql=f"SELECT * FROM ({plan.sql}) LIMIT 1 OFFSET {index}")
        for position, (name, kind) in enumerate(zip(plan.assigns, _list_column_types(plan), strict=True)):
            machine.set_variable(name, machine.run_select(query_plan)[1][0][position], kind)


def _list_column_types(plan: QueryPlan) -> tuple[SqlType | None, ...]:
    """Return the types of the result columns; None for an unknown type."""
    return plan.kinds or (None,) * len(plan.assigns)


def _execute_insert(machine: ExecutionMachine, plan: QueryPlan) -> None:
    assert plan.target is not None
    rows: list[Row] = (
        [()] if plan.defaults else _convert_for_target(machine, plan, machine.run_select(plan)[1])
    )
    if plan.defaulted:
        columns = sources.require_changeable_table(machine, plan.target).columns
        takers = plan.columns or tuple(c.name for c in columns if c.identity is None and not c.computed)
        rows = _fill_defaults(machine, plan, takers, rows)
    if (
        not (plan.defaults or plan.columns or rows) and plan.outputs
    ):  # no row shows the number of values; check the result columns of the query
        tables.find_insert_positions(
            sources.require_changeable_table(machine, plan.target), len(plan.outputs)
        )
    if plan.defaults:
        table = sources.require_changeable_table(machine, plan.target)
        definitions = [c for c in table.columns if c.identity is None and not c.computed]
        result_name, default = (definitions[0].name, definitions[0].default) if definitions else ("", "")
        filled: Row = (machine.evaluate_expression(default) if default else None,) if result_name else ()
        count = sources.insert_rows(machine, plan.target, (result_name,) if result_name else (), [filled])
    else:
        count = sources.insert_rows(machine, plan.target, plan.columns, rows)
    if count:
        machine.touched = [
            ("INSERT", None, row)
            for row in sources.require_changeable_table(machine, plan.target).rows[-count:]
        ]
    machine.append_row_count(count)


def _convert_for_target(
    machine: ExecutionMachine, plan: QueryPlan, rows: list[Row], prefix_count: int = 0
) -> list[Row]:
    """Convert the rows to the column types of the target table.

    The first *prefix_count* values of a row do not belong to columns.
    """
    assert plan.target is not None
    columns = sources.require_changeable_table(machine, plan.target).columns
    columns_by_name = {column.name.lower(): column for column in columns}
    target_columns = [columns_by_name.get(name.lower()) for name in plan.columns] or [
        c for c in columns if c.identity is None and not c.computed
    ]
    targets: list[tuple[int, str, SqlType]] = []
    for index, (column, kind) in enumerate(
        zip(target_columns, plan.kinds[prefix_count:], strict=False), start=prefix_count
    ):
        if column is not None and kind is not None and kind.family != parse_sql_type(column.type, 1).family:
            check_conversion(kind, parse_sql_type(column.type, 1), explicit=False)
            targets.append((index, column.type, kind))
    if not targets:
        return rows
    culture = machine.settings.culture
    stored: list[Row] = []
    for row in rows:
        values = list(row)
        for index, target, kind in targets:
            if index < len(values):
                values[index] = convert_value(values[index], target, None, 1, kind, culture)
        stored.append(tuple(values))
    return stored


def _fill_defaults(
    machine: ExecutionMachine, plan: QueryPlan, named: Sequence[str], rows: list[Row], prefix_count: int = 0
) -> list[Row]:
    """Return the rows, with each DEFAULT replaced by the default value of its column.

    *named*: columns of the INSERT. The first *prefix_count* values of a row do not belong to columns.
    """
    assert plan.target is not None
    defaults_by_name = {
        column.name.lower(): column.default
        for column in sources.require_changeable_table(machine, plan.target).columns
    }
    filled = [list(row) for row in rows]
    for number, position in plan.defaulted:
        default = (
            defaults_by_name.get(named[position - prefix_count].lower(), "")
            if position - prefix_count < len(named)
            else ""
        )
        for row in filled if number < 0 else filled[number : number + 1]:
            row[position] = machine.evaluate_expression(default) if default else None
    return [tuple(row) for row in filled]


def _select_affected_rows(machine: ExecutionMachine, plan: QueryPlan) -> list[Row]:
    """Return the rows that an UPDATE or DELETE affects.

    Update locks protect the rows while the query reads them [DOC: UPDATE; DELETE].
    """
    assert plan.target is not None
    if plan.target.read:
        sources.require_permission(machine, plan.target, "SELECT")
    machine.changing = plan.target.key
    try:
        return machine.run_select(plan)[1]
    finally:
        machine.changing = ""


def _split_output_values(machine: ExecutionMachine, rows: list[Row]) -> list[Row]:
    """Return the rows without the values at their end that belong to OUTPUT.

    Store the removed values in machine.output_values, in the order of the row numbers.
    """
    count = machine.output_count
    if not count:
        return rows
    values_by_row = {int(str(row[0])): row[-count:] for row in rows}
    machine.output_values = [values_by_row[number] for number in sorted(values_by_row)]
    return [row[:-count] for row in rows]


def _execute_update(machine: ExecutionMachine, plan: QueryPlan) -> None:
    assert plan.target is not None
    rows = _split_output_values(machine, _select_affected_rows(machine, plan))
    if plan.assigns:
        rows = _assign_variables(machine, plan, rows)
    changes = _convert_for_target(machine, plan, rows, prefix_count=1)
    if plan.defaulted:
        changes = _fill_defaults(machine, plan, plan.columns, changes, prefix_count=1)
    before = sources.require_changeable_table(machine, plan.target)
    try:
        table = tables.update_rows(plan.target.parts[-1], before, plan.columns, changes)
    except SqlError as problem:
        sources.qualify_error_table_name(machine, plan.target, problem)
        raise
    table = sources.change_table(machine, plan.target, before, table, "UPDATE")
    row_indexes = sorted({int(str(row[0])) - 1 for row in changes})
    machine.touched = [("UPDATE", before.rows[row_index], table.rows[row_index]) for row_index in row_indexes]
    machine.append_row_count(len({row[0] for row in changes}))


def _assign_variables(machine: ExecutionMachine, plan: QueryPlan, rows: list[Row]) -> list[Row]:
    """Execute the assignments of UPDATE … SET @v = value for the last row.

    Return the rows without the assigned values.
    """
    width = 1 + len(plan.columns)
    for index, name in enumerate(plan.assigns, start=width):
        if rows:
            kind = plan.kinds[index] if index < len(plan.kinds) else None
            machine.set_variable(name, rows[-1][index], kind)
    return [row[:width] for row in rows]


def _execute_delete(machine: ExecutionMachine, plan: QueryPlan) -> None:
    assert plan.target is not None
    numbers = _split_output_values(machine, _select_affected_rows(machine, plan))
    before = sources.require_changeable_table(machine, plan.target)
    sources.change_table(machine, plan.target, before, tables.delete_rows(before, numbers), "DELETE")
    row_indexes = sorted({int(str(row[0])) - 1 for row in numbers})
    machine.touched = [("DELETE", before.rows[row_index], None) for row_index in row_indexes]
    machine.append_row_count(len({row[0] for row in numbers}))


def _execute_merge(machine: ExecutionMachine, plan: QueryPlan) -> None:
    """Execute MERGE: determine the branch of each row first, then apply all branches.

    Raise 8672 if several source rows match the same row.
    """
    assert plan.target is not None
    touched: list[tuple[str, Row | None, Row | None]] = []
    updates: list[tuple[tuple[str, ...], Row]] = []
    deleted_rows: list[Row] = []
    added_rows: list[tuple[tuple[str, ...], Row]] = []
    output_values: dict[str, list[Row]] = {"UPDATE": [], "DELETE": [], "INSERT": []}
    matched_keys: set[object] = set()
    for part in plan.parts:
        _, rows = machine.run_select(part)
        for number, branch, *values in rows:
            if branch is None or len(updates) + len(deleted_rows) + len(added_rows) == plan.row_limit:
                continue
            if number is not None and number in matched_keys:
                raise SqlError(8672)
            matched_keys |= {number} - {None}
            action, columns, first, last = part.branches[int(str(branch))]
            output_values[action].append(tuple(values[len(values) - machine.output_count :]))
            if action == "INSERT":
                added_rows.append((columns, tuple(values[first:last])))
            elif action == "DELETE":
                deleted_rows.append((number,))
            else:
                updates.append((columns, (number, *values[first:last])))
    before = sources.require_changeable_table(machine, plan.target)
    name, table = plan.target.parts[-1], before
    for columns, row_group in groupby(updates, itemgetter(0)):
        changes = [change for _, change in row_group]
        machine.meter.charge_units(table.cells // 20 + len(changes))
        table = tables.update_rows(name, table, columns, changes)
    for _, change in updates:
        position = int(str(change[0])) - 1
        touched.append(("UPDATE", before.rows[position], table.rows[position]))
    touched += [("DELETE", before.rows[int(str(row[0])) - 1], None) for row in deleted_rows]
    sources.change_table(machine, plan.target, before, tables.delete_rows(table, deleted_rows), "MERGE")
    for columns, same_rows in groupby(added_rows, itemgetter(0)):
        rows = [row for _, row in same_rows]
        sources.insert_rows(machine, plan.target, columns, rows)
        new_rows = sources.require_changeable_table(machine, plan.target).rows[-len(rows) :]
        touched += [("INSERT", None, row) for row in new_rows]
    machine.touched = touched
    machine.output_values = [row for rows in output_values.values() for row in rows]
    machine.append_row_count(len(touched))


def _execute_truncate(machine: ExecutionMachine, plan: QueryPlan) -> None:
    assert plan.target is not None
    table = sources.find_user_table(machine, plan.target)
    if table is None:
        raise SqlError(4701, plan.target.parts[-1])
    if machine.checks_permissions and not plan.target.parts[-1].startswith(("#", "@")):
        objects.require_alter_permission(machine.context, plan.target.parts)
    if constraints.is_table_referenced(machine, plan.target.parts):
        raise SqlError(4712, plan.target.parts[-1])
    sources.store_table(
        machine,
        plan.target,
        tables.create_empty_table(plan.target.parts[-1], table.columns, table.constraints),
    )
    machine.change_session(error=0, rowcount=0)


def insert_captured_rows(machine: ExecutionMachine, target: str, rows: list[Row]) -> None:
    """Insert the rows that INSERT … EXEC has captured into its target table.

    *target* is resolved in the frame that contains the INSERT, not in the called procedure.
    """
    depth = next(
        (index for index, scope in enumerate(machine.scopes) if scope.insert_into), len(machine.scopes)
    )
    scopes = machine.scopes[depth:]
    del machine.scopes[depth:]
    try:
        _insert_rows(machine, target, rows)
    finally:
        machine.scopes += scopes


def _insert_rows(machine: ExecutionMachine, target: str, rows: list[Row]) -> None:
    # The planned statement does not contain the rows. Therefore, this function checks the number of values.
    """Insert the rows that a procedure has returned into the target table of INSERT … EXEC."""
    has_column_list = target.rstrip().endswith(")")
    plan = plan_statement(
        f"{target} SELECT * FROM captured" if has_column_list else f"{target} DEFAULT VALUES"
    )
    assert plan.target is not None
    if plan.columns and any(len(row) != len(plan.columns) for row in rows):
        raise SqlError(213)
    sources.insert_rows(machine, plan.target, plan.columns, rows)
    machine.append_row_count(len(rows))


_QUERY_HANDLERS: Final = {
    "select": _execute_select,
    "assign": _execute_assignment,
    "insert": _execute_insert,
    "update": _execute_update,
    "delete": _execute_delete,
    "merge": _execute_merge,
    "truncate": _execute_truncate,
}
"""Kind of a plan -> function that executes it."""
