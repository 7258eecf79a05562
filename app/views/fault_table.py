"""Fault table: request, start, effect and end of each fault, with the evidence."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QFocusEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.view_models.topology_builder import HasPermissions
from app.widgets import keys, theme
from app.widgets.bars import ButtonBar
from app.widgets.layouts import build_widget_column
from app.widgets.tables import CELL_PADDING_PX, TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.inputs import Input
from engine.model import Fault, Tick, World
from engine.verbs import VERBS
from engine.verbs.input_lines import find_reverse_input, is_requested


class HasJournal(HasPermissions, Protocol):
    """Part of a drill's interface that the fault table uses: permissions and journal."""

    @property
    def journal(self) -> list[Input]:
        """Inputs of the run so far."""


# --- texts of a row -----------------------------------------------------------------------------------------

KEYBOARD_REASONS: Final = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)

REVERTED, EFFECTIVE, NOT_EFFECTIVE = mark("undone"), mark("active"), mark("not detected")
_STATE_SYMBOLS: Final = {REVERTED: ("✓", "muted"), EFFECTIVE: ("●", "bad"), NOT_EFFECTIVE: ("○", "warn")}
"""State -> symbol and theme color."""


def describe_state(fault: Fault) -> str:
    """Return the label of a fault's state."""
    if fault.reverted_tick is not None:
        return REVERTED
    return EFFECTIVE if fault.effective_tick is not None else NOT_EFFECTIVE


def format_input_line(fault: Fault) -> str:
    """Return the fault in the form of an input line."""
    return " ".join((fault.verb, *fault.args))


def format_effect(fault: Fault) -> str:
    """Format the effect of a fault."""
    if fault.effect:
        return localize(fault.effect)
    return tr("never detected") if fault.reverted_tick is not None else tr("not detected yet")


def _format_time(tick: Tick | None) -> str:
    return formatting.NO_VALUE if tick is None else formatting.format_run_time(tick / TICKS_PER_S, 2)


def _format_delay(fault: Fault) -> str:
    """Return the delay between the start of the fault and its effect, or an empty string without an effect."""
    if fault.effective_tick is None:
        return ""
    after_s = (fault.effective_tick - fault.active_tick) / TICKS_PER_S
    return tr("{time} after the fault began").format(time=formatting.format_seconds(after_s))


def _format_effective_time(fault: Fault) -> str:
    """Return the time of the effect and its delay after the start of the fault."""
    return f"{_format_time(fault.effective_tick)} ({_format_delay(fault)})"


def _get_state_color(fault: Fault) -> str | None:
    return "muted" if fault.reverted_tick is not None else None


def describe_row(fault: Fault) -> str:
    """Return all values of a row, for the text below the table and for screen readers."""
    immediate = fault.active_tick == fault.asked_tick
    time_template = (
        tr("Requested at {asked}") if immediate else tr("Requested at {asked}, active at {active}")
    )
    text = (
        tr("{when}, {effect}.")
        if fault.effective_tick is None
        else tr("{when}, detected at {felt}: {effect}.")
    )
    time_template = time_template.format(
        asked=_format_time(fault.asked_tick), active=_format_time(fault.active_tick)
    )
    parts = [f"{format_input_line(fault)}: {_format_help(fault)}."]
    parts.append(
        text.format(when=time_template, felt=_format_effective_time(fault), effect=format_effect(fault))
    )
    if fault.reverted_tick is not None:
        parts.append(tr("Undone at {time}.").format(time=_format_time(fault.reverted_tick)))
    elif find_reverse_input(fault) is None:
        parts.append(tr("The fault ends automatically."))
    return " ".join(parts)


def _format_tip(fault: Fault) -> str:
    return f"{format_input_line(fault)}\n{_format_help(fault)}"


def _format_help(fault: Fault) -> str:
    return tr(VERBS[fault.verb].help) if fault.verb in VERBS else tr("caused by a T-SQL statement")


FAULT_COLUMNS: Final[tuple[TableColumn[Fault], ...]] = (
    TableColumn(
        title=mark("State"),
        text=lambda f: f"{_STATE_SYMBOLS[describe_state(f)][0]} {tr(describe_state(f))}",
        color_name=lambda f: _STATE_SYMBOLS[describe_state(f)][1],
        sample=mark("✓ undone …"),
    ),
    TableColumn(
        title=mark("Fault"),
        text=format_input_line,
        color_name=_get_state_color,
        tip=_format_tip,
        sample="power-off S",
    ),
    TableColumn(
        title=mark("Active"),
        text=lambda f: _format_time(f.active_tick),
        color_name=_get_state_color,
        is_number=True,
        sample="0:00.00",
    ),
    TableColumn(
        title=mark("Detected"),
        text=lambda f: _format_time(f.effective_tick),
        color_name=_get_state_color,
        is_number=True,
        tip=_format_delay,
        sample="0:00.00",
    ),
    TableColumn(
        title=mark("Undone"),
        text=lambda f: _format_time(f.reverted_tick),
        color_name=_get_state_color,
        is_number=True,
        sample="0:00.00",
    ),
    TableColumn(
        title=mark("Requested"),
        text=lambda f: _format_time(f.asked_tick),
        color_name=_get_state_color,
        is_number=True,
        sample="0:00.00",
    ),
    TableColumn(
        title=mark("Effect"),
        text=format_effect,
        color_name=lambda f: _get_state_color(f) if f.effect else "muted",
        tip=format_effect,
    ),
)


FAULT_COLUMN: Final = 1
"""Index of the column with the fault's input line."""
FIXED_COLUMN_COUNT: Final = 5
"""Number of columns from the left that a narrow panel shows."""
SHORT_FAULT_SAMPLE: Final = "power-off S"
"""Sample text that determines the minimum width of the fault column."""
LONG_FAULT_SAMPLE: Final = "degrade SERVER_A SERVER_B rtt_ms=200"
"""Sample text that determines the maximum width of the fault column."""


# --- panel --------------------------------------------------------------------------------------------------


class FaultTable(QWidget):
    """Table with one row per fault. Buttons revert the selected fault or all faults."""

    requested = Signal(str)
    """Signal: input line without its time."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drill: HasJournal | None = None
        self._world: World | None = None
        self._shown_faults: tuple[Fault, ...] = ()
        self._count = ""
        self.model = TableModel(FAULT_COLUMNS)
        self.table = TableView(self.model, tr("Fault ledger"))
        self.table.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.only_active = QAction(tr("&Active only"), self, checkable=True)
        self.only_active.toggled.connect(lambda _: self._show_faults(force=True))
        self.revert_all = QAction(tr("Undo a&ll"), self)
        """Action without a key: the key belongs to the window, where it works without this panel."""
        self.revert_all.triggered.connect(lambda: self.requested.emit("revert-all"))
        self.tools = {"ledger.revert": QAction(tr("&Undo"), self)}
        """Actions by command name, also for menus and the palette."""
        self.tools["ledger.revert"].triggered.connect(self._revert)
        keys.bind_shortcuts(self.tools, keys.resolve_keys(keys.SSMS_SCHEME))
        self.addActions(list(self.tools.values()))
        self.table.addAction(self.tools["ledger.revert"])
        self.detail = QLabel()
        """Details of the selected fault, whose columns may not fit; otherwise the number of faults."""
        self.detail.setWordWrap(True)
        self.detail.setMargin(8)
        self.detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table.installEventFilter(self)
        self.setFocusProxy(self.table)
        self._lay_out()
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._refresh())
        self._show_theme()
        self._refresh()
        theme.call_after_events(self, theme.PALETTE_EVENTS, self._show_theme)
        theme.call_after_events(self, theme.SIZE_EVENTS, self._share_width)

    def _lay_out(self) -> None:
        bar = ButtonBar(tr("Faults"))
        bar.add_actions([*self.tools.values(), self.revert_all, None, self.only_active])
        build_widget_column(bar, (self.table, 1), self.detail, parent=self, margins=0, spacing=0)

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasJournal) -> None:
        """Show another run, or another time of the same run."""
        self._drill, self._world = drill, drill.world
        self._show_faults(force=True)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        self._show_faults()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The view reads the faults of the world instead."""

    # --- rows ---------------------------------------------------------------------------------------------

    def _show_faults(self, force: bool = False) -> None:
        """Update the rows if the faults changed, or unconditionally if *force*."""
        if self._drill is None or self._world is None:
            return
        ledger = tuple(self._world.faults)
        if ledger == self._shown_faults and not force:
            return
        self._shown_faults = ledger
        # if the true state is hidden, faults of the scenario must stay hidden
        own_faults = (
            ledger
            if self._drill.permissions.shows_truth
            else _filter_requested_faults(ledger, self._drill.journal)
        )
        shown_faults = (
            [f for f in own_faults if f.reverted_tick is None]
            if self.only_active.isChecked()
            else list(own_faults)
        )
        if [fault.id for fault in shown_faults] == [fault.id for fault in self.model.rows]:
            self.model.update_rows(shown_faults)
        else:
            self._replace_rows(shown_faults)
        active = sum(fault.reverted_tick is None for fault in own_faults)
        self._count = (
            tr("Active faults: {active} of {all}.").format(active=active, all=len(own_faults))
            if own_faults
            else tr("No faults.")
        )
        self._refresh()

    def _share_width(self) -> None:
        """Give the fault column the width that the other fixed columns leave free.

        The width is kept between the limits for a short and a long fault. The columns for request and
        effect scroll. The time of the request rarely differs from the start.
        """
        other_width = sum(
            self.table.columnWidth(index) for index in range(FIXED_COLUMN_COUNT) if index != FAULT_COLUMN
        )
        remaining_width, metrics = self.table.viewport().width() - other_width, self.fontMetrics()
        widths = (
            metrics.horizontalAdvance(words) + CELL_PADDING_PX
            for words in (SHORT_FAULT_SAMPLE, LONG_FAULT_SAMPLE)
        )
        shortest_width, longest = widths
        self.table.setColumnWidth(FAULT_COLUMN, max(shortest_width, min(remaining_width, longest)))

    def _replace_rows(self, faults: list[Fault]) -> None:
        """Replace the rows. Keep the selected fault if it is still listed."""
        selected_fault = self._find_selected_fault()
        self.model.replace_rows(faults)
        ids = [fault.id for fault in faults]
        if selected_fault is not None and selected_fault.id in ids:
            self.table.selectRow(ids.index(selected_fault.id))
        else:
            self.table.scrollToBottom()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Select a fault when a key moves the focus to the table.

        Otherwise arrow keys could not select the only row.
        """
        by_key = isinstance(event, QFocusEvent) and event.gotFocus() and event.reason() in KEYBOARD_REASONS
        if by_key and self._find_selected_fault() is None and self.model.rows:
            active = [index for index, fault in enumerate(self.model.rows) if fault.reverted_tick is None]
            self.table.selectRow((active or [len(self.model.rows) - 1])[-1])
        return super().eventFilter(watched, event)

    def _find_selected_fault(self) -> Fault | None:
        rows = self.table.selectionModel().selectedRows()
        return self.model.rows[rows[0].row()] if rows else None

    def _revert(self) -> None:
        fault = self._find_selected_fault()
        reverse = find_reverse_input(fault) if fault is not None else None
        if reverse is not None:
            self.requested.emit(reverse.line_without_time)

    def _refresh(self) -> None:
        fault = self._find_selected_fault()
        reverse = find_reverse_input(fault) if fault is not None else None
        revert = self.tools["ledger.revert"]
        revert.setEnabled(fault is not None and fault.reverted_tick is None and reverse is not None)
        self.detail.setText(describe_row(fault) if fault is not None else self._count)
        revert.setToolTip(
            reverse.line_without_time if reverse is not None
            else tr("Select a fault") if fault is None
            else tr("This fault ends automatically")
        )  # fmt: skip
        self.revert_all.setEnabled(
            any(f.reverted_tick is None and find_reverse_input(f) is not None for f in self.model.rows)
        )

    # --- appearance ---------------------------------------------------------------------------------------

    def _show_theme(self) -> None:
        colors = theme.get_theme_tokens(self.palette())
        self.tools["ledger.revert"].setIcon(theme.load_icon("revert", colors))
        self.revert_all.setIcon(theme.load_icon("mend", colors))


def _filter_requested_faults(faults: Iterable[Fault], journal: Sequence[Input]) -> tuple[Fault, ...]:
    """Return the faults that an input of the journal requested.

    A T-SQL SHUTDOWN counts as requested if any batch was sent to its server before.
    """
    batches = [(item.tick, item.args[0].partition("#")[0]) for item in journal if item.verb == "sql"]

    def was_requested(fault: Fault) -> bool:
        if fault.verb in VERBS:
            return is_requested(fault, journal)
        return any(tick <= fault.asked_tick and server == fault.args[0] for tick, server in batches)

    return tuple(fault for fault in faults if was_requested(fault))
