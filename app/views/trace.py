"""View of the Database Mirroring State Change events of each server, with the columns of Profiler."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from app.widgets.event_table import EventTable
from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import tr
from engine.events import Event, TraceData, get_data
from engine.model import World

STATE_COLORS: Final = {
    1: "ok",
    2: "ok",
    3: "ok",
    4: "ok",
    5: "bad",
    6: "bad",
    10: "bad",
    9: "warn",
    12: "warn",
}
"""New mirroring state -> name of the theme color: ok, warn or bad."""


class TraceRow(Struct, frozen=True):
    """Row of a trace event."""

    t_s: float
    start_time: str
    text: str
    state: int
    integer_data: int
    server: str | None
    database: str | None

    @property
    def search_text(self) -> str:
        """Text that the filter searches."""
        return f"{self.text} {self.state} {self.server} {self.database}"


def build_trace_rows(event: Event, world: World) -> Iterator[TraceRow]:
    """Yield the row of a "trace" event."""
    if (change := get_data(event, TraceData)) is not None:
        start_time = formatting.format_server_time(world.settings.start_time, event.tick, decimals=3)
        yield TraceRow(
            event.t_s, start_time, event.text, change.state, change.integer_data, event.server, event.database
        )


TRACE_COLUMNS: Final[tuple[TableColumn[TraceRow], ...]] = (
    TableColumn(title="StartTime", is_name=True, text=lambda row: row.start_time, sample="2005-10-22 12:00:41.250"),
    TableColumn(title="TextData", is_name=True, text=lambda row: row.text,
           color_name=lambda row: STATE_COLORS.get(row.state),
           tip=lambda row: row.text, sample="DBM: Connection with Mirror Lost -> DBM: Principal"),
    TableColumn(title="State", is_name=True, text=lambda row: str(row.state), is_number=True),
    TableColumn(title="IntegerData", is_name=True, text=lambda row: str(row.integer_data), is_number=True),
    TableColumn(title="ServerName", is_name=True, text=lambda row: row.server or "", sample="SERVER_A"),
    TableColumn(title="DatabaseName", is_name=True, text=lambda row: row.database or "", sample="Sales"),
)  # fmt: skip


NARROW_COLUMNS: Final[tuple[TableColumn[TraceRow], ...]] = (
    TableColumn(title="StartTime", is_name=True, text=lambda row: row.start_time[11:], sample="12:00:41.250"),
    TableColumn(title="ServerName", is_name=True, text=lambda row: row.server or "", sample="SERVER_A"),
    TableColumn(title="State", is_name=True, text=lambda row: str(row.state), is_number=True),
    replace(TRACE_COLUMNS[1], sample=""),
)
"""Columns for a narrow dock. The text below the table and the wide view show the other columns."""


class StateTrace(EventTable):
    """View with the state changes of all servers or of one server."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("State change trace"),
            TRACE_COLUMNS,
            NARROW_COLUMNS,
            build_trace_rows,
            has_all_tab=True,
            kinds=("trace",),
            empty_text=tr(
                "No state changes of mirroring sessions. State changes of replicas are listed in Events."
            ),
            parent=parent,
        )
