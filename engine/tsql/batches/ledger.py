"""Records of msdb procedures and sp_configure on an instance, as plain rows in the world.

The catalog shows them as tables (catalog/agent.py); no other code may change them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine import arithmetic
from engine.model import World
from engine.tsql.scalars.values import Scalar

Record = dict[str, Scalar]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Rows of one table, and its last assigned number."""

    rows: tuple[tuple[tuple[str, Scalar], ...], ...] = ()
    last_id: int = 0


EMPTY: Final = Ledger()

ROWS_MAX = 5_000
"""Maximum rows of one table; the oldest are dropped. Assumed: more than a DBA reads."""


def _key(server: str, table: str) -> tuple[str, str, str]:
    return server, "msdb", f"~{table}"  # no name in a script can be equal to this one


def _find_ledger(world: World, server: str, table: str) -> Ledger:
    kept: Ledger = world.objects.get(_key(server, table), EMPTY)
    return kept


def rows(world: World, server: str, table: str) -> list[Record]:
    """Return all rows, oldest first."""
    return [dict(row) for row in _find_ledger(world, server, table).rows]


def is_empty(world: World, server: str, table: str) -> bool:
    """Return whether the table has no row on this server."""
    return not _find_ledger(world, server, table).rows


def find(world: World, server: str, table: str, column: str, value: Scalar) -> Record | None:
    """Return the first row with that value; texts without regard to case."""
    return next((row for row in rows(world, server, table) if _is_same_value(row.get(column), value)), None)


def _is_same_value(a: Scalar, b: Scalar) -> bool:
    return a == b or (isinstance(a, str) and isinstance(b, str) and a.casefold() == b.casefold())


def add(world: World, server: str, table: str, /, **values: Scalar) -> int:
    """Add a row and return its number, which it also has in the column `id`."""
    ledger = _find_ledger(world, server, table)
    number = ledger.last_id + 1
    row = tuple({"id": number, **values}.items())
    world.objects[_key(server, table)] = Ledger((*ledger.rows, row)[-ROWS_MAX:], number)
    return number


def change(
    world: World, server: str, table: str, wanted: Callable[[Record], bool], /, **values: Scalar
) -> int:
    """Set columns of the rows that are *wanted*; how many there were."""
    ledger = _find_ledger(world, server, table)
    chosen = [wanted(dict(row)) for row in ledger.rows]
    changed = tuple(
        tuple({**dict(row), **values}.items()) if hit else row
        for row, hit in zip(ledger.rows, chosen, strict=True)
    )
    world.objects[_key(server, table)] = Ledger(changed, ledger.last_id)
    return arithmetic.total(chosen)


def remove(world: World, server: str, table: str, predicate: Callable[[Record], bool]) -> int:
    """Take out the rows that are *wanted*; how many there were."""
    ledger = _find_ledger(world, server, table)
    kept = tuple(row for row in ledger.rows if not predicate(dict(row)))
    world.objects[_key(server, table)] = Ledger(kept, ledger.last_id)
    return len(ledger.rows) - len(kept)
