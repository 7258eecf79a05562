"""Mirroring page of the database properties: the session as this server knows it, and buttons."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QDialog, QFormLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.views.object_explorer import explorer_items
from app.views.object_explorer.scripts import quote_name
from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.words import formatting
from app.words.language import mark, tr
from engine.events import Event, SqlDoneData, select_data
from engine.model import DatabaseCopy, MirrorState, Role, Safety, World
from engine.overrides import override

CONNECTION_SUFFIX: Final = "mirroring"
"""Name suffix of the page's connection, by which the page recognizes results of its statements."""

_MODE_TEXTS: Final = {
    (Safety.FULL, True): mark("High safety with automatic failover (synchronous)"),
    (Safety.FULL, False): mark("High safety without automatic failover (synchronous)"),
    (Safety.OFF, True): mark("High performance (asynchronous), with a witness"),
    (Safety.OFF, False): mark("High performance (asynchronous)"),
}
_STATUS_STYLES: Final = {
    MirrorState.SYNCHRONIZED: (mark("Synchronized"), "ok"),
    MirrorState.SYNCHRONIZING: (mark("Synchronizing"), "info"),
    MirrorState.SUSPENDED: (mark("Paused"), "warn"),
    MirrorState.DISCONNECTED: (mark("No connection"), "bad"),
    MirrorState.PENDING_FAILOVER: (mark("Failover"), "warn"),
}
"""Mirroring state -> text of this page in Management Studio, and theme color. The tree has other texts.

See docs/facts.md, section 3.4.
"""


class MirroringAction(Struct, frozen=True):
    """Action of a button: label, statement and confirmation question."""

    text: str
    statement: str
    question: str


FAILOVER_ACTION: Final = MirroringAction(
    mark("&Failover"), "FAILOVER", mark("Fail over {database} to {partner}? Its connections are closed.")
)
PAUSE_ACTION: Final = MirroringAction(
    mark("&Pause"),
    "SUSPEND",
    mark("Pause mirroring of {database}? The database is unprotected until you resume mirroring."),
)
RESUME_ACTION: Final = MirroringAction(mark("&Resume"), "RESUME", "")
REMOVE_ACTION: Final = MirroringAction(
    mark("R&emove mirroring"),
    "OFF",
    mark("Remove mirroring of {database}? The mirror remains in the RESTORING state."),
)
PROPERTY_ACTIONS: Final = (FAILOVER_ACTION, PAUSE_ACTION, RESUME_ACTION, REMOVE_ACTION)


FIELD_NAMES: Final = (
    mark("Principal"),
    mark("Mirror"),
    mark("Witness"),
    mark("Witness connection"),
    mark("Operating mode"),
    mark("Partner timeout"),
    mark("Status"),
)


def read_mirroring_values(copy: DatabaseCopy | None) -> dict[str, str]:
    """Return name of a field -> value. A database without mirroring has only a status."""
    if copy is None:
        return {"Status": tr("This server has no database with this name.")}
    if copy.mirroring.guid is None or copy.mirroring.role is None or copy.mirroring.state is None:
        return {"Status": tr("This database has not been configured for mirroring.")}
    local_values, partner_values = (
        tr("{server} (this server)").format(server=copy.server),
        copy.mirroring.partner_address or formatting.NO_VALUE,
    )
    principal = copy.mirroring.role is Role.PRINCIPAL
    return {
        "Principal": local_values if principal else partner_values,
        "Mirror": partner_values if principal else local_values,
        "Witness": copy.mirroring.witness_address or formatting.NO_VALUE,
        "Witness connection": tr(copy.mirroring.witness_state.name.capitalize())
        if copy.mirroring.witness
        else formatting.NO_VALUE,
        "Operating mode": tr(
            _MODE_TEXTS.get((copy.mirroring.safety, copy.mirroring.witness is not None), "Unknown")
        ),
        "Partner timeout": f"{copy.mirroring.timeout_s} s",
        "Status": tr(_STATUS_STYLES[copy.mirroring.state][0]),
    }


def list_enabled_actions(copy: DatabaseCopy | None) -> list[MirroringAction]:
    """Return the buttons that Management Studio enables. Failover requires a synchronized principal."""
    if copy is None or copy.mirroring.state is None:
        return []
    in_step = copy.mirroring.role is Role.PRINCIPAL and copy.mirroring.state is MirrorState.SYNCHRONIZED
    paused = copy.mirroring.state is MirrorState.SUSPENDED
    return [
        act
        for act, yes in (
            (FAILOVER_ACTION, in_step),
            (PAUSE_ACTION, not paused),
            (RESUME_ACTION, paused),
            (REMOVE_ACTION, True),
        )
        if yes
    ]


class MirroringPropertiesDialog(QDialog):
    """Dialog with the mirroring properties that the server last reported.

    Its buttons send statements to the server.
    """

    requested = Signal(str)

    def __init__(self, server: str, database: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.server, self.database = server, database
        self.window_id = f"{server}#{CONNECTION_SUFFIX}-{'_'.join(database.split())}"
        self._world: World | None = None
        self._requested_tick = 0
        self._copy: DatabaseCopy | None = None
        self._color_name = "text"
        self.setWindowTitle(tr("Database Properties - {database} - Mirroring").format(database=database))
        self.form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self.form.setHorizontalSpacing(16)
        self.labels = {name: QLabel() for name in FIELD_NAMES}
        for name, label in self.labels.items():
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setAccessibleName(tr(name))
            self.form.addRow(f"{tr(name)}:", label)
        self.message = QLabel(wordWrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.age = QLabel()
        self.age.setProperty("muted", True)
        self.buttons = {act: QPushButton(tr(act.text)) for act in PROPERTY_ACTIONS}
        self.yes, self.no = QPushButton(tr("&Yes")), QPushButton(tr("&No"))
        self._requested_action: MirroringAction | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        card = QFrame()
        card.setProperty("card", True)
        card.setLayout(self.form)
        acts = QHBoxLayout()
        for act, button in self.buttons.items():
            button.clicked.connect(lambda _=False, act=act: self._ask_to_confirm(act))
            acts.addWidget(button)
        acts.addStretch(1)
        answer = build_row((self.message, 1), self.yes, self.no)
        self.yes.clicked.connect(self._show_success)
        self.no.clicked.connect(lambda: self._show_question(None))
        refresh, close = QPushButton(tr("Re&fresh")), QPushButton(tr("&Close"))
        refresh.clicked.connect(self.refresh)
        close.clicked.connect(self.close)
        foot = build_row((self.age, 1), refresh, close)
        build_widget_column(card, acts, answer, 1, foot, parent=self)
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)
        self._show_question(None)

    # --- display ------------------------------------------------------------------------------------------

    def show_world(self, world: World) -> None:
        """Update the age of the values. The values stay until the next refresh."""
        first = self._world is None
        self._world = world
        if first:
            self.refresh()
        self._show_age()

    def refresh(self) -> None:
        """Query the server again. If it does not respond, keep the values and show the error."""
        if self._world is None:
            return
        number = explorer_items.find_connection_error(self._world, self.server)
        if number is not None:
            self._show_status(explorer_items.format_client_message(number, self.server), "bad")
            return
        self._requested_tick = self._world.tick
        self._copy = self._world.copies.get((self.server, self.database))
        self._show_status("", "text")
        self._show_fields()
        self._show_age()

    def add_events(self, events: Iterable[Event]) -> None:
        """Show the result of a button's statement."""
        for _, done_data in select_data(events, SqlDoneData):
            if done_data.window == self.window_id:
                messages = [message for message in done_data.messages if message["severity"] > 10]
                self.refresh()
                if messages:
                    self._show_status(f"Msg {messages[0]['number']}: {messages[0]['text']}", "bad")

    def _show_fields(self) -> None:
        shown_values = read_mirroring_values(self._copy)
        for name, label in self.labels.items():
            label.setText(shown_values.get(name, ""))
            self.form.setRowVisible(label, name in shown_values)
        state = self._copy.mirroring.state if self._copy is not None else None
        color_name = _STATUS_STYLES[state][1] if state is not None else "text"
        color = theme.get_theme_tokens(self.palette()).get_color(color_name).name()
        self.labels["Status"].setStyleSheet(f"color: {color}; font-weight: 600")
        actions = list_enabled_actions(self._copy)
        for act, button in self.buttons.items():
            button.setEnabled(act in actions)
            button.setVisible(act is not (RESUME_ACTION if PAUSE_ACTION in actions else PAUSE_ACTION))

    def _show_age(self) -> None:
        if self._world is not None:
            self.age.setText(
                tr("reported by {server} at {ago}").format(
                    server=self.server, ago=explorer_items.format_age(self._requested_tick, self._world.tick)
                )
            )

    def _show_status(self, text: str, color_name: str) -> None:
        self._color_name = color_name
        self.message.setStyleSheet(
            f"color: {theme.get_theme_tokens(self.palette()).get_color(color_name).name()}"
        )
        self.message.setText(text)

    # --- buttons ------------------------------------------------------------------------------------------

    def _ask_to_confirm(self, action: MirroringAction) -> None:
        if not action.question:
            self._send(action)
            return
        partner = self._copy.mirroring.partner if self._copy is not None else ""
        self._show_status(tr(action.question).format(database=self.database, partner=partner), "warn")
        self._show_question(action)

    def _show_question(self, action: MirroringAction | None) -> None:
        if action is None and self._requested_action is not None:
            self._show_status("", "text")
        self._requested_action = action
        for button in (self.yes, self.no):
            button.setVisible(action is not None)
        if action is not None:
            self.no.setFocus()

    def _show_success(self) -> None:
        act, self._requested_action = self._requested_action, None
        self._show_question(None)
        if act is not None:
            self._send(act)

    def _send(self, action: MirroringAction) -> None:
        statement = f"ALTER DATABASE {quote_name(self.database)} SET PARTNER {action.statement}"
        self._show_status(tr("Sent. Waiting for the server."), "muted")
        self.requested.emit(f"sql {self.window_id} {statement}")

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._world is not None:
            self._show_fields()
            self._show_status(self.message.text(), self._color_name)
