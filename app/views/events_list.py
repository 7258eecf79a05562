"""List of all events by kind and server. It shows the true state, for instructors and for replay."""

from collections.abc import Iterator
from typing import Final, cast

from msgspec import Struct
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.widgets.bars import attach_menu
from app.widgets.event_table import EventTable
from app.widgets.tables import TableColumn
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.events import EVENT_KIND_INFOS, Event, EventKind, SqlData, SqlDoneData, get_data
from engine.model import World
from engine.overrides import override

EVENT_KIND_COLORS: Final = {
    "fault": "bad",
    "detected": "warn",
    "failover": "accent",
    "availability": "info",
    "protection": "warn",
    "cluster": "accent",
    "replica": "accent",
    "goal": "ok",
    "log": "warn",
    "alert": "warn",
}
"""Kind of event -> theme color."""


def get_kind_label(kind: str) -> str:
    """Return the label of an event kind in the interface language.

    A kind that is unknown, because another version recorded it, is returned unchanged.
    """
    info = EVENT_KIND_INFOS.get(cast(EventKind, kind))
    return tr(info.label) if info is not None else kind


class EventRow(Struct, frozen=True):
    """Row of one event."""

    t_s: float
    kind: str
    server: str | None
    database: str | None
    text: str

    @property
    def label(self) -> str:
        """Label of the event's kind."""
        return get_kind_label(self.kind)

    @property
    def search_text(self) -> str:
        """Text that the filter searches."""
        return f"{self.label} {self.server or ''} {self.database or ''} {_format_text(self)}"


def _format_text(row: EventRow) -> str:
    return localize(row.text)


def build_event_rows(event: Event, world: World) -> Iterator[EventRow]:
    """Yield the row of an event. A batch is represented by its first line."""
    text = event.text
    if isinstance(event.data, SqlData | SqlDoneData):
        done_data = get_data(event, SqlDoneData)
        lines = (text if done_data is None else done_data.batch).strip().splitlines()
        text = (lines[0] if lines else "") + (" …" if len(lines) > 1 else "")
        errors = [m for m in done_data.messages if m["severity"] > 10] if done_data is not None else []
        text += f"  →  Msg {errors[0]['number']}: {errors[0]['text']}" if errors else ""
    yield EventRow(event.t_s, event.kind, event.server, event.database, text)


EVENT_COLUMNS: Final[tuple[TableColumn[EventRow], ...]] = (
    TableColumn(title=mark("Time"), text=lambda row: formatting.format_run_time(row.t_s, 2), is_number=True,
           sample="1:00:00.00"),
    TableColumn(title=mark("Kind"), text=lambda row: row.label, color_name=lambda row: EVENT_KIND_COLORS.get(row.kind),
           sample=mark("Monitor alert")),
    TableColumn(title=mark("Server"), text=lambda row: row.server or "", sample="SERVER_A"),
    TableColumn(title=mark("Database"), text=lambda row: row.database or "", sample="Database"),
    TableColumn(title=mark("Event"), text=lambda row: _format_text(row), tip=lambda row: _format_text(row)),
)  # fmt: skip


NARROW_COLUMNS: Final[tuple[TableColumn[EventRow], ...]] = tuple(
    column for column in EVENT_COLUMNS if column.title != "Database"
)


class EventsList(EventTable):
    """List of all events with a menu to select kinds."""

    def __init__(self, parent: QWidget | None = None, empty: str = "") -> None:
        """Create the list. *empty*: text that is shown while the list has no rows.

        The default text is for a desk that does not belong to a class.
        """
        self._kinds: set[str] = {kind for kind, info in EVENT_KIND_INFOS.items() if not info.is_quiet}
        empty = empty or tr("No events of the selected kinds. Start the clock or inject a fault.")
        super().__init__(
            tr("Events"),
            EVENT_COLUMNS,
            NARROW_COLUMNS,
            build_event_rows,
            has_all_tab=True,
            empty_text=empty,
            parent=parent,
        )
        self._menu = QMenu(self)
        self._menu.setObjectName("kinds")
        for kind, info in EVENT_KIND_INFOS.items():
            action = self._menu.addAction(tr(info.label))
            action.setCheckable(True)
            action.setChecked(kind in self._kinds)
            action.setData(kind)
            action.toggled.connect(self._on_kinds_changed)
        button = QToolButton()
        button.setText(tr("Kinds ▾"))
        button.setToolTip(tr("Choose the kinds of events to list"))
        attach_menu(self._menu, button)
        self.tools.addWidget(button)

    @override
    def list_kinds(self) -> frozenset[str]:
        return frozenset(self._kinds)

    def _on_kinds_changed(self) -> None:
        self._kinds = {action.data() for action in self._menu.actions() if action.isChecked()}
        self._apply_filter()
