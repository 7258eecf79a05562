"""Tables that procedures store: mypy knows their columns, and `build_row` tests names that are computed."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from engine.tsql.batches import stored_tables
from engine.tsql.batches.stored_tables import RowT, StoredTable
from engine.tsql.procedures import alerts, jobs


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (stored_tables.OPERATORS, alerts._OPERATOR_COLUMNS.values()),
        (stored_tables.ALERTS, alerts._ALERT_COLUMNS.values()),
        (stored_tables.STEPS, [*jobs._STEP_COLUMNS.values(), *jobs._STEP_DEFAULTS]),
        (stored_tables.SCHEDULES, jobs._SCHEDULE_COLUMNS.values()),
    ],
    ids=lambda item: item.name if isinstance(item, StoredTable) else "",
)
def test_parameters_store_columns_of_their_table(table: StoredTable[RowT], columns: Iterable[str]) -> None:
    table.build_row(dict.fromkeys(columns, 1))


def test_a_misspelled_column_is_an_error() -> None:
    with pytest.raises(KeyError):
        stored_tables.JOBS.build_row({"jobb": 1})
