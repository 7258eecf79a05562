"""ERRORLOG of each server, as in the log file viewer of Management Studio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from PySide6.QtWidgets import QWidget

from app.widgets.event_table import EventTable
from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import mark, tr
from engine.events import ErrorLogData, Event, get_data
from engine.model import World
from engine.protocol.errorlog import find_line_source

if TYPE_CHECKING:
    from engine.drill.running.drill import Drill

ERROR_SEVERITY_MIN: Final = 11
"""Minimum severity of messages with an additional `Error: …` line. Documented (docs/facts.md, section 7)."""


class ErrorLogLine(Struct, frozen=True):
    """Line of the ERRORLOG."""

    t_s: float
    date: str
    server: str | None
    source: str
    message: str
    color_name: str | None = None

    @property
    def search_text(self) -> str:
        """Text that the filter searches."""
        return f"{self.date} {self.source} {self.message}"


def iterate_log_lines(event: Event, world: World) -> Iterator[ErrorLogLine]:
    """Yield the lines of an "errorlog" event: a message, preceded by an `Error: …` line if it is an error."""
    error = get_data(event, ErrorLogData)
    if error is None:
        return
    number, severity, state = error.number, error.severity, error.state
    date = formatting.format_server_time(world.settings.start_time, event.tick)
    source = find_line_source(number, event.text)
    color_name = "bad" if severity >= ERROR_SEVERITY_MIN else None
    if color_name:
        head = f"Error: {number}, Severity: {severity}, State: {state}."
        yield ErrorLogLine(event.t_s, date, event.server, source, head, color_name)
    yield ErrorLogLine(event.t_s, date, event.server, source, event.text, color_name)


LOG_COLUMNS: Final[tuple[TableColumn[ErrorLogLine], ...]] = (
    TableColumn(title=mark("Date"), text=lambda line: line.date, sample="2005-10-22 12:00:41.25"),
    TableColumn(title=mark("Source"), text=lambda line: line.source, sample="spid21s"),
    TableColumn(title=mark("Message"), text=lambda line: line.message, color_name=lambda line: line.color_name,
           tip=lambda line: line.message),
)  # fmt: skip


NARROW_COLUMNS: Final[tuple[TableColumn[ErrorLogLine], ...]] = (
    TableColumn(
        title=mark("Time"), text=lambda line: line.date[11:], tip=lambda line: line.date, sample="12:00:41.25"
    ),
    *LOG_COLUMNS[1:],
)


class ErrorLogView(EventTable):
    """View with the ERRORLOG of each server in a tab."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "ERRORLOG",
            LOG_COLUMNS,
            NARROW_COLUMNS,
            iterate_log_lines,
            has_all_tab=False,
            kinds=("errorlog",),
            empty_text=tr("No ERRORLOG entries on {server} since the drill started."),
            parent=parent,
        )

    def list_events(self, drill: Drill) -> Iterable[Event]:
        """Return all ERRORLOG events, including lines from before the run, such as the startup."""
        before = [
            Event(tick, ErrorLogData(number=number, severity=severity, state=state), text, server)
            for server, lines in drill.errorlog_before.items()
            for tick, number, severity, state, text in lines
        ]
        return drill.events.prepend(before) if before else drill.events
