"""Cursors: their rows are taken when they are opened."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.messages import SqlError
from engine.tsql import statements as s
from engine.tsql import tables
from engine.tsql.data import Cursor
from engine.tsql.plans import Unsimulated, plan_statement, without_cursor_options
from engine.tsql.values import to_number

if TYPE_CHECKING:
    from engine.tsql.machine import Machine


CURSORS_MAX: Final = 100
"""Cursors of one connection. Assumed."""


def find(machine: Machine, name: str) -> Cursor:
    found = dict(machine.session.cursors).get(name)
    if found is None:
        raise SqlError(16916, name)
    return found


def keep(machine: Machine, name: str, cursor: Cursor | None) -> None:
    known = dict(machine.session.cursors)
    known.pop(name, None)
    if cursor is not None:
        if len(known) >= CURSORS_MAX:
            raise Unsimulated(f"more than {CURSORS_MAX} cursors of one connection")
        known[name] = cursor
        machine.check_room(cursor)
    machine.note(cursors=tuple(known.items()))


def open_one(machine: Machine, name: str) -> None:
    cursor = find(machine, name)
    if cursor.rows is not None:
        raise SqlError(16905)
    plan = plan_statement(without_cursor_options(cursor.query))
    columns, rows = machine.select(plan)
    keep(
        machine,
        name,
        replace(
            cursor, columns=columns, rows=tuple(rows), position=-1, characters=tables.characters_in(rows)
        ),
    )


def fetch(machine: Machine, statement: s.Fetch) -> None:
    cursor = find(machine, statement.name)
    if cursor.rows is None:
        raise SqlError(16917)
    offset = int(to_number(machine.value(statement.offset))) if statement.offset is not None else 0
    place = {
        "NEXT": cursor.position + 1,
        "PRIOR": cursor.position - 1,
        "FIRST": 0,
        "LAST": len(cursor.rows) - 1,
        "ABSOLUTE": offset - 1 if offset >= 0 else len(cursor.rows) + offset,
        "RELATIVE": cursor.position + offset,
    }[statement.direction]
    place = max(-1, min(len(cursor.rows), place))
    keep(machine, statement.name, replace(cursor, position=place))
    there = 0 <= place < len(cursor.rows)
    machine.note(fetch_status=0 if there else -1, error=0)
    if not statement.into:
        machine.add_result(cursor.columns, cursor.rows[place : place + 1] if there else ())
        return
    if len(statement.into) != len(cursor.columns):
        raise SqlError(16924)
    if there:
        for name, value in zip(statement.into, cursor.rows[place], strict=True):
            machine.set_variable(name, value)
