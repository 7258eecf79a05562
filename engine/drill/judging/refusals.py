"""Commands that a server refused because they were wrong in the situation, and advice for each refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from engine.drill.authoring import condition_context
from engine.events import AvailabilityData, Event, SqlDoneData, select_data
from engine.localization import build_message
from engine.model import Tick
from engine.tables import read_table

REFUSAL_RANGES: Final = ((1400, 1500), (3101, 3121), (5011, 5012))
"""Ranges of error numbers for commands that were wrong in the situation: mirroring, RESTORE, unknown
database.

Failed queries (954, 955, …) and typing errors (102, 156, …) only cost time, so they do not count.
"""


REFUSAL_ADVICE: Final = {
    int(number): build_message(text)
    for number, text in (row.values() for row in read_table("engine.drill.judging", "refusals.tsv"))
}
"""Error number -> advice that avoids the refusal."""


PRINCIPAL_ONLY_ERROR: Final = 1470
"""Error number for a statement that is allowed only on the principal."""


NO_PRINCIPAL_ADVICE: Final = build_message(
    "FAILOVER needs the principal, which is lost. Bring the principal back, or force service on the mirror."
)
"""Advice for a statement that needs the principal while no server has the database online."""


def was_database_serving(events: Sequence[Event], refused: RefusedBatch) -> bool:
    """Return whether a database named in the refused batch was online at the time of the refusal."""
    text, serving = refused.batch.lower(), True
    for event in events:
        if event.tick > refused.tick:
            break
        if isinstance(event.data, AvailabilityData) and str(event.database).lower() in text:
            serving = bool(event.data.serving)
    return serving


def is_refusal_error(number: int) -> bool:
    """Return whether error *number* means that the command was wrong in the situation."""
    return any(first <= number < end for first, end in REFUSAL_RANGES)


class RefusedBatch(Struct, frozen=True):
    """Batch refused because it was wrong in the situation, with the first error that says so."""

    tick: Tick
    server: str
    batch: str
    number: int
    """Number of the first error for which `is_refusal_error` is true."""


def find_refusals(events: Sequence[Event]) -> list[RefusedBatch]:
    """Return the trainee's batches that a server refused because they were wrong in the situation."""
    refusals = []
    for event, done_data in select_data(events, SqlDoneData):
        errors = [n for n in condition_context.list_error_numbers(done_data) if is_refusal_error(n)]
        if errors and not condition_context.is_timeline_window(done_data.window):
            refusals.append(
                RefusedBatch(event.tick, event.server or "", " ".join(done_data.batch.split()), errors[0])
            )
    return refusals
