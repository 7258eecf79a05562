"""SELECT, INSERT, UPDATE, DELETE, TRUNCATE and CREATE TABLE of a running batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.tsql import sources, tables
from engine.tsql import statements as s
from engine.tsql.columns import parse_columns
from engine.tsql.data import Row
from engine.tsql.plans import Plan, TableRef, plan_statement
from engine.tsql.values import decimal_text, scale_of_type

if TYPE_CHECKING:
    from engine.tsql.machine import Machine


def run(machine: Machine, text: str) -> None:
    """A statement for sqlglot: SELECT, INSERT, UPDATE, DELETE, TRUNCATE."""
    plan = plan_statement(text)
    _QUERIES[plan.kind](machine, plan)


def _select(machine: Machine, plan: Plan) -> None:
    columns, rows = machine.select(plan)
    limit = int(dict(machine.session.options).get("ROWCOUNT", "0") or 0)
    rows = rows[:limit] if limit else rows
    if plan.target is not None:
        _select_into(machine, plan.target, columns, rows)
        return
    machine.add_result(columns, _with_digits(machine, plan, columns, rows))
    machine.say_rows(len(rows))


def _with_digits(machine: Machine, plan: Plan, columns: tuple[str, ...], rows: list[Row]) -> list[Row]:
    """Decimals as they are shown: 12.50, not 12.5. Rows on their way into a table stay numbers."""
    if machine.captures or not rows:
        return rows
    starred = len(plan.scales) != len(columns)
    deciding = tuple(name.lower() for name in columns) if starred else plan.scales
    scales = [_scale(machine, plan, scale) for scale in deciding]
    if not any(scales):
        return rows
    return [
        tuple(decimal_text(value, scale) for value, scale in zip(row, scales, strict=True)) for row in rows
    ]


def _scale(machine: Machine, plan: Plan, scale: int | str | None) -> int | None:
    """Digits of a column of the result, asked of the variable or table that decides."""
    if not isinstance(scale, str):
        return scale
    if scale.startswith("@"):
        return machine.scale_of(scale)
    for ref in plan.tables:
        made = sources.made_table(machine, ref)
        for column in made.columns if made is not None else ():
            if column.name.lower() == scale:
                return scale_of_type(column.type)
    return None


def _select_into(machine: Machine, target: TableRef, columns: tuple[str, ...], rows: list[Row]) -> None:
    sources.make(machine, target, tables.from_rows(columns, rows))
    machine.say_rows(len(rows))


def _assign(machine: Machine, plan: Plan) -> None:
    _, rows = machine.select(plan)
    for name in plan.assigns:
        if name not in machine.scope.variables:
            raise SqlError(137, name)
    if len(rows) > 1 and any(name in plan.assigns for name in plan.variables):
        _accumulate(machine, plan, len(rows))
    elif rows:
        for name, value in zip(plan.assigns, rows[-1], strict=True):
            machine.set_variable(name, value)
    machine.note(rowcount=len(rows), error=0)


def _accumulate(machine: Machine, plan: Plan, count: int) -> None:
    """SELECT @s = @s + name FROM …: the expression is computed for one row after the other."""
    for place in range(count):
        _, rows = machine.select(replace(plan, sql=f"SELECT * FROM ({plan.sql}) LIMIT 1 OFFSET {place}"))
        for name, value in zip(plan.assigns, rows[0], strict=True):
            machine.set_variable(name, value)


def _insert(machine: Machine, plan: Plan) -> None:
    assert plan.target is not None
    rows: list[Row] = [()] if plan.defaults else machine.select(plan)[1]
    if plan.defaults:
        table = sources.table(machine, plan.target)
        named = next((column.name for column in table.columns if column.identity is None), "")
        default = next((column.default for column in table.columns if column.identity is None), "")
        filled: Row = (machine.evaluate(default) if default else None,) if named else ()
        sources.put(machine, plan.target, (named,) if named else (), [filled])
    else:
        sources.put(machine, plan.target, plan.columns, rows)
    machine.say_rows(len(rows))


def _update(machine: Machine, plan: Plan) -> None:
    assert plan.target is not None
    _, changes = machine.select(plan)
    table = tables.update(plan.target.parts[-1], sources.table(machine, plan.target), plan.columns, changes)
    sources.keep(machine, plan.target, table)
    machine.say_rows(len({row[0] for row in changes}))


def _delete(machine: Machine, plan: Plan) -> None:
    assert plan.target is not None
    _, numbers = machine.select(plan)
    sources.keep(machine, plan.target, tables.delete(sources.table(machine, plan.target), numbers))
    machine.say_rows(len({row[0] for row in numbers}))


def _truncate(machine: Machine, plan: Plan) -> None:
    assert plan.target is not None
    table = sources.table(machine, plan.target)
    sources.keep(machine, plan.target, tables.made(plan.target.parts[-1], table.columns))
    machine.note(error=0, rowcount=0)


def create_table(machine: Machine, statement: s.CreateTable) -> None:
    made = tables.made(statement.name[-1], parse_columns(statement.columns))
    sources.make(machine, TableRef(statement.name), made)
    machine.note(error=0, rowcount=0)


def insert_captured(machine: Machine, target: str, rows: list[Row]) -> None:
    """Rows of INSERT … EXEC: the target belongs to the frame below the one that runs for it."""
    depth = next((at for at, scope in enumerate(machine.scopes) if scope.insert_into), len(machine.scopes))
    above = machine.scopes[depth:]
    del machine.scopes[depth:]
    try:
        _insert_rows(machine, target, rows)
    finally:
        machine.scopes += above


def _insert_rows(machine: Machine, target: str, rows: list[Row]) -> None:
    plan = plan_statement(
        f"{target} DEFAULT VALUES" if not target.rstrip().endswith(")") else f"{target} SELECT 1"
    )
    assert plan.target is not None
    sources.put(machine, plan.target, plan.columns, rows)
    machine.say_rows(len(rows))


_QUERIES: Final = {
    "select": _select,
    "assign": _assign,
    "insert": _insert,
    "update": _update,
    "delete": _delete,
    "truncate": _truncate,
}
"""What is done with each kind of plan."""
