"""Topology as a table, with the same facts and actions as the canvas."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from app.view_models.action_offers import ActionOffer, ActionTarget, list_action_offers
from app.view_models.topology_builder import (
    HasPermissions,
    build_topology_contents,
    hide_unknown_facts,
    list_copy_displays,
)
from app.view_models.topology_contents import (
    SERVER_KIND_LABELS,
    ClientDisplay,
    CopyDisplay,
    LinkDisplay,
    ServerDisplay,
    StatusIndicator,
    TopologyContents,
)
from app.widgets.bars import build_menu_button, enable_context_menu
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.shared_actions import SharedActions, add_heading
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting, fuzzy
from app.words.language import mark, tr
from engine.events import Event
from engine.model import World

# --- rows ---------------------------------------------------------------------------------------------------


TopologyDisplay = ServerDisplay | CopyDisplay | LinkDisplay | ClientDisplay


class TopologyRow(Struct, frozen=True):
    """Row of a server, copy, link or application. Cells are computed when they become visible."""

    target: ActionTarget
    name: str
    display: TopologyDisplay

    @property
    def key(self) -> tuple[ActionTarget, str]:
        """Unique key of the row.

        The target is not sufficient, because two copies of a database have the same target.
        """
        return self.target, self.name


def list_topology_rows(world: World, reveals_state: bool = True) -> list[TopologyRow]:
    """Return each server followed by its copies, then links, then applications.

    If *reveals_state* is False, hide facts that the trainee does not know, as in an exam.
    """
    picture = (
        build_topology_contents(world)
        if reveals_state
        else hide_unknown_facts(build_topology_contents(world))
    )
    copies: dict[str, list[CopyDisplay]] = {}
    for display in list_copy_displays(world, reveals_state):
        copies.setdefault(display.server, []).append(display)
    return list(_list_rows(picture, copies))


def _list_rows(contents: TopologyContents, copies: dict[str, list[CopyDisplay]]) -> Iterator[TopologyRow]:
    for server in contents.servers:
        yield TopologyRow(ActionTarget("server", (server.name,)), server.name, server)
        for copy in copies.get(server.name, ()):
            name = tr("    {database} on {server}").format(database=copy.database, server=copy.server)
            yield TopologyRow(ActionTarget("database", (copy.database,)), name, copy)
    for link in contents.links:
        # sort the servers, because the key of a link must not depend on their roles
        ends = (link.a, link.b) if link.kind == "client" else tuple(sorted((link.a, link.b)))
        target = ActionTarget("link", ends)
        yield TopologyRow(target, target.title, link)
    for client in contents.clients:
        yield TopologyRow(ActionTarget("client", (client.name,)), client.name, client)


# --- cells --------------------------------------------------------------------------------------------------

_EMPTY_INDICATOR: Final = StatusIndicator(formatting.NO_VALUE, "muted", "")
_COLOR_NAMES_WORST_FIRST: Final = ("bad", "warn", "info", "ok", "idle", "muted")


def _join_indicators(indicators: Sequence[StatusIndicator]) -> StatusIndicator:
    """Join several indicators for one cell. The color is that of the worst indicator."""
    if not indicators:
        return _EMPTY_INDICATOR
    worst = min(indicators, key=lambda sign: _COLOR_NAMES_WORST_FIRST.index(sign.color_name))
    return StatusIndicator(
        ", ".join(indicator.label for indicator in indicators), worst.color_name, worst.shape
    )


def _list_names(names: Sequence[str], color_name: str) -> StatusIndicator:
    return StatusIndicator(", ".join(names), color_name, "") if names else _EMPTY_INDICATOR


LINK_KIND_LABELS: Final = {
    "mirroring": mark("mirroring link"),
    "replica": mark("replica link"),
    "witness": mark("witness link"),
    "client": mark("client link"),
}


def format_role(row: TopologyRow) -> str:
    """Return the role of a row's object as text."""
    match row.display:
        case ServerDisplay(kind=kind):
            return tr(SERVER_KIND_LABELS[kind])
        case CopyDisplay(role=role):
            return role.label
        case LinkDisplay(kind=kind):
            return tr(LINK_KIND_LABELS[kind])
        case _:
            return tr("application")


def get_state_indicator(row: TopologyRow) -> StatusIndicator:
    """Return the state of a row's object."""
    match row.display:
        case CopyDisplay(state=StatusIndicator() as state, db_state=db_state):
            return StatusIndicator(f"{state.label}, {db_state.label}", state.color_name, state.shape)
        case CopyDisplay(db_state=db_state):
            return db_state
        case ServerDisplay(status=status) | LinkDisplay(status=status) | ClientDisplay(status=status):
            return status


def get_service_indicator(row: TopologyRow) -> StatusIndicator:
    """Return the service of a row's object, or the problems that prevent it."""
    match row.display:
        case ServerDisplay(faults=(), listeners=listener_names) if listener_names:
            return _join_indicators(listener_names)
        case ServerDisplay(faults=(), host_node=node) if node:
            return StatusIndicator(node, "text", "")
        case ServerDisplay(faults=troubles):
            return _list_names(troubles, "warn")
        case CopyDisplay(indicators=signs):
            return _join_indicators([indicator for indicator in signs if "witness" not in indicator.text])
        case LinkDisplay(notes=notes):
            return _list_names(notes, "muted")
        case ClientDisplay(rate=rate):
            return StatusIndicator(rate, "text", "")


def format_queue(row: TopologyRow) -> str:
    """Return the queue, or the measured values of a link, as text."""
    match row.display:
        case CopyDisplay(queue=queue) if queue is not None:
            return queue.spoken
        case LinkDisplay(measured=measured) if measured:
            return measured
        case _:
            return formatting.NO_VALUE


def get_witness_indicator(row: TopologyRow) -> StatusIndicator:
    """Return the duties of a server as witness, or the witness state of a copy."""
    match row.display:
        case ServerDisplay(witness_indicators=duties):
            return _join_indicators(duties)
        case CopyDisplay(indicators=signs):
            return _join_indicators([indicator for indicator in signs if "witness" in indicator.text])
        case _:
            return _EMPTY_INDICATOR


def format_safety(row: TopologyRow) -> str:
    """Return the safety level of a copy. Other rows have none."""
    return (row.display.safety if isinstance(row.display, CopyDisplay) else None) or formatting.NO_VALUE


def describe_row(row: TopologyRow) -> str:
    """Describe the row in a sentence."""
    spoken = row.display.accessible_text
    return f"{row.display.server}: {spoken}" if isinstance(row.display, CopyDisplay) else spoken


TOPOLOGY_COLUMNS: Final[tuple[TableColumn[TopologyRow], ...]] = (
    TableColumn(
        title=mark("Item"),
        text=lambda r: r.name,
        spoken=describe_row,
        tip=lambda r: describe_row(r).replace("; ", "\n"),
        bold=lambda r: r.target.kind == "server",
        sample="SERVER_W – SERVER_W",
    ),
    TableColumn(
        title=mark("State"),
        text=lambda r: get_state_indicator(r).label,
        color_name=lambda r: get_state_indicator(r).color_name,
        sample="SYNCHRONIZED, RESTORING",
    ),
    TableColumn(title=mark("Role"), text=format_role, sample=mark("mirroring link")),
    TableColumn(
        title=mark("Service"),
        text=lambda r: get_service_indicator(r).label,
        color_name=lambda r: get_service_indicator(r).color_name,
        sample="down, no quorum",
    ),
    TableColumn(title=mark("Queue or link"), text=format_queue, sample="send queue 1,023 KB"),
    TableColumn(
        title=mark("Witness"),
        text=lambda r: get_witness_indicator(r).label,
        color_name=lambda r: get_witness_indicator(r).color_name,
        sample="no witness",
    ),
    TableColumn(title=mark("Safety"), text=format_safety, sample="FULL"),
)


# --- panel --------------------------------------------------------------------------------------------------


class TopologyTable(QWidget):
    """Table with one row per server, copy, link and application. Enter opens the actions of the selected rows."""

    requested = Signal(str)
    """Signal: input line without its time."""
    target_chosen = Signal(object)
    """Signal: ActionTarget of the current row, or None."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._world: World | None = None
        self._truth = True
        self._shared_actions = SharedActions(self)
        self._shared_actions.requested.connect(self.requested)
        self.field = QLineEdit(placeholderText=tr("Filter: disconnected, SERVER_B, link …"))
        self.field.setAccessibleName(tr("Filter the topology table"))
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(lambda _: self._show_rows())
        self.model = TableModel(TOPOLOGY_COLUMNS)
        self.table = TableView(self.model, tr("Topology"))
        enable_context_menu(self.table, self.fill_menu)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self.target_chosen.emit(self.target))
        self.setFocusProxy(self.table)
        bar = build_row(
            self.field,
            build_menu_button(tr("Actions ▾"), tr("Actions for the selected rows"), self.fill_menu),
            margins=4,
        )
        build_widget_column(bar, (self.table, 1), parent=self, margins=0, spacing=0)

    def use_actions(self, actions: SharedActions) -> None:
        """Use *actions*, which belong to another view. The other view then asks for confirmation."""
        self._shared_actions.requested.disconnect(self.requested)
        self._shared_actions = actions

    # --- view interface -----------------------------------------------------------------------------------

    @Slot(object)
    def show_drill(self, drill: HasPermissions) -> None:
        """Show another run, or another time of the same run."""
        self._truth = self._shared_actions.truth = drill.permissions.shows_truth
        self.show_world(drill.world)

    @Slot(object)
    def show_world(self, world: World) -> None:
        """Show the current state of the world."""
        self._world = world
        self._show_rows()

    @Slot(object)
    def add_events(self, events: Iterable[Event]) -> None:
        """Ignore *events*. The rows show the world, and the window announces events."""

    def _show_rows(self) -> None:
        if self._world is None:
            return
        rows, query = list_topology_rows(self._world, self._truth), self.field.text()
        if query.strip():
            rows = [row for row in rows if _is_query_match(row, query)]
        selected = {row.key for row in self.list_selected_rows()}
        if [row.key for row in rows] == [row.key for row in self.model.rows]:
            self.model.update_rows(rows)
            return
        self.model.replace_rows(rows)
        selection = self.table.selectionModel()
        for index, row in enumerate(rows):
            if row.key in selected:
                flags = selection.SelectionFlag.Select | selection.SelectionFlag.Rows
                selection.select(self.model.index(index, 0), flags)

    # --- selection and actions ----------------------------------------------------------------------------

    @property
    def target(self) -> ActionTarget | None:
        """Target of the current row, or None."""
        row = self.table.currentIndex().row()
        return self.model.rows[row].target if 0 <= row < len(self.model.rows) else None

    def list_selected_rows(self) -> list[TopologyRow]:
        """Return the selected rows."""
        return [self.model.rows[index.row()] for index in self.table.selectionModel().selectedRows()]

    @Slot(object)
    def select_target(self, target: ActionTarget | None) -> None:
        """Select the row of *target*, if it exists."""
        if target is None or (self.target is not None and _is_same_target(target, self.target)):
            return
        row_index = next(
            (p for p, row in enumerate(self.model.rows) if _is_same_target(row.target, target)), None
        )
        if row_index is not None:
            self.table.selectRow(row_index)

    def fill_menu(self, menu: QMenu) -> bool:
        """Fill *menu* with the commands that apply to all selected rows. Return False if no row is selected."""
        targets = list(dict.fromkeys(row.target for row in self.list_selected_rows()))
        if self._world is None or not targets:
            return False
        if len(targets) == 1:
            self._shared_actions.fill_menu(menu, self._world, targets[0])
        else:
            add_heading(menu, tr("{count} selected").format(count=len(targets)))
            for label, lines in list_common_actions(self._world, targets, self._truth):
                action = menu.addAction(label)
                action.triggered.connect(lambda _=False, lines=lines: self._apply_all(lines))
        menu.addSeparator()
        menu.addActions([action for action in self.table.actions() if not action.isSeparator()])
        return True

    def _apply_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.requested.emit(line)


def _is_same_target(target: ActionTarget, other_target: ActionTarget) -> bool:
    """Return True if both targets are the same object. The order of a link's ends does not matter."""
    return target.kind == other_target.kind and sorted(target.names) == sorted(other_target.names)


def _is_query_match(row: TopologyRow, query: str) -> bool:
    fuzzy_match = fuzzy.match_fuzzily(query, f"{format_role(row)} {row.name} {describe_row(row)}")
    return fuzzy_match is not None and not fuzzy_match.is_scattered


def list_common_actions(
    world: World, targets: Sequence[ActionTarget], reveals_state: bool = True
) -> list[tuple[str, list[str]]]:
    """Return (label, input lines) for each action that applies to all *targets*, one line per target.

    If *reveals_state* is False, as in an exam, the actions do not depend on the state of the targets.
    """
    offers_by_row = [
        {_strip_targets(offer, target): offer for offer in list_action_offers(world, target, reveals_state)}
        for target in targets
    ]
    return [
        (offer.label, [offer_map[act].line for offer_map in offers_by_row])
        for act, offer in offers_by_row[0].items()
        if all(act in offer_map and offer_map[act].label == offer.label for offer_map in offers_by_row)
    ]


def _strip_targets(action_offer: ActionOffer, target: ActionTarget) -> tuple[str, ...]:
    """Return the words of an action's input line without the names of *target*, to compare actions."""
    verb, *words = action_offer.line.split()
    return (verb, *words[len(target.names) :])
