"""Widgets of a team member: dialogs to start and join a team, and the panel of the member's role."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.classroom.messages.team import MemberWelcome, RoleView, TeamDrillEnded, TeamPoints, TeamRole
from app.classroom.team.member import format_team_score
from app.widgets import theme
from app.widgets.layouts import build_dialog_buttons, build_row, build_widget_column, mark_primary
from app.widgets.qr import QrCode
from app.widgets.tables import TableColumn, TableModel, TableView
from app.widgets.two_lines import TwoLineDelegate
from app.words import formatting
from app.words.language import mark, tr

Row = Mapping[str, Any]
CODE_SCALE: Final = 2.0
"""Size of the team code relative to other text."""
QR_HEIGHT_LINES: Final = 12
RESULT_SCALE: Final = 1.3
"""Size of the result relative to other text."""
TEAM_ENDED_TEXT: Final = mark("The team has ended.")


class StartTeamDialog(QDialog):
    """Dialog to start a team, for a drill or as a seat of a class."""

    team_wanted = Signal(str, str)
    """Signal: name of the drill or code of the class, and name of the team."""

    def __init__(self, drills: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        """Create the dialog. *drills*: name and title of each drill that has a team."""
        super().__init__(parent)
        self.setWindowTitle(tr("Start a team"))
        self.drill, self.code, self.name = QComboBox(), QLineEdit(), QLineEdit(tr("Team"))
        for name, title in drills:
            self.drill.addItem(title, name)
        self.code.setPlaceholderText(tr("Leave empty if the team does not belong to a class"))
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        self.code.textChanged.connect(lambda text: self.drill.setEnabled(not text.strip()))
        form = QFormLayout(self)
        form.addRow(tr("&Drill:"), self.drill)
        form.addRow(tr("&Class code:"), self.code)
        form.addRow(tr("Team &name:"), self.name)
        form.addRow(build_dialog_buttons(self, tr("&Start team")))
        self.accepted.connect(
            lambda: self.team_wanted.emit(
                self.code.text().strip() or self.drill.currentData(), self.name.text().strip()
            )
        )


class TeamCodeDialog(QDialog):
    """Dialog with the team code in large type and as a QR code, and a button that ends the team."""

    end_wanted = Signal()

    def __init__(self, code: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Team code"))
        self.join_code = code
        secret, _, address = code.partition("@")
        self.code, self.address = QLabel(secret), QLabel(f"@{address}")
        self.code.setFont(theme.build_fixed_font(CODE_SCALE))
        self.address.setFont(theme.build_fixed_font())
        instruction_label = QLabel(
            tr("On each computer, choose Class ▸ Take a role in a team and enter this code.")
        )
        self.qr = QrCode()
        self.qr.show_text(code)
        self.qr.setMinimumHeight(self.fontMetrics().height() * QR_HEIGHT_LINES)
        for label in (instruction_label, self.code, self.address):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.end = buttons.addButton(tr("&End the team"), QDialogButtonBox.ButtonRole.DestructiveRole)
        self.copy = buttons.addButton(tr("&Copy the code"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(code))
        self.end.clicked.connect(self.end_wanted)
        buttons.rejected.connect(self.reject)
        build_widget_column(instruction_label, self.code, self.address, (self.qr, 1), buttons, parent=self)


class TakeRoleDialog(QDialog):
    """Dialog to join a team with code, name and role. The roles are listed after the code is entered."""

    roles_wanted = Signal(str, str)
    """Signal: team code, and name of the person."""
    role_wanted = Signal(str, str, str, bool)
    """Signal: code, name and role, and whether the person replaces a disconnected member."""

    def __init__(self, name: str, parent: QWidget | None = None, code: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Take a role in a team"))
        self.code, self.name, self.role = QLineEdit(code), QLineEdit(name), QComboBox()
        self._left_teams: set[str] = set()
        """Roles whose members are not connected."""
        self.code.setPlaceholderText("XXXXX-XXXXX-XXXXX-XXXXX@192.168.1.5:40123")
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        self.problem = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.show_roles_button = QPushButton(tr("&Show roles"))
        self.show_roles_button.clicked.connect(
            lambda: self.roles_wanted.emit(self.code.text().strip(), self.name.text().strip())
        )
        buttons = build_dialog_buttons(self, tr("&Take role"))
        self.take = next(
            button
            for button in buttons.findChildren(QPushButton)
            if buttons.buttonRole(button) is QDialogButtonBox.ButtonRole.AcceptRole
        )
        form = QFormLayout(self)
        form.addRow(tr("Team &code:"), self.code)
        form.addRow(tr("Your &name:"), self.name)
        form.addRow(self.show_roles_button)
        form.addRow(tr("&Role:"), self.role)
        form.addRow(self.problem)
        form.addRow(buttons)
        self._enable_take_button(False)
        self.role.currentIndexChanged.connect(self._set_take_text)
        self.accepted.connect(
            lambda: self.role_wanted.emit(
                self.code.text().strip(),
                self.name.text().strip(),
                self.role.currentData(),
                self._replaces_member,
            )
        )

    @property
    def _replaces_member(self) -> bool:
        """True if the selected role belongs to a disconnected member."""
        return self.role.currentData() in self._left_teams

    def _enable_take_button(self, enabled: bool) -> None:
        """Enable or disable the button to take a role. While it is disabled, Enter presses Show roles."""
        self.take.setEnabled(enabled)
        mark_primary(self.show_roles_button, not enabled)
        mark_primary(self.take, enabled)

    def _set_take_text(self) -> None:
        self.take.setText(tr("&Take over the role") if self._replaces_member else tr("&Take role"))

    def show_roles(self, roles: Collection[TeamRole]) -> None:
        """List all roles, free roles first."""
        self.role.clear()
        self.problem.clear()
        self._left_teams = {seat.key for seat in roles if seat.taken_by is not None and not seat.connected}
        for seat in sorted(roles, key=lambda seat: (seat.taken_by is not None, seat.connected)):
            holder = seat.taken_by
            if seat.key in self._left_teams:
                holder = tr("{name}, not connected").format(name=holder)
            self.role.addItem(seat.name if holder is None else f"{seat.name} ({holder})", seat.key)
        self._set_take_text()
        self._enable_take_button(self.role.count() > 0)
        self.role.setFocus()

    def show_problem(self, text: str) -> None:
        """Show a problem."""
        self.problem.setText(text)


# --- lines of a role ---------------------------------------------------------------------------------------


def _format_text(call: Row) -> str:
    return str(call["text"])


def _format_progress(call: Row) -> str:
    """Return the progress of an order or a question as text."""
    if call["kind"] == "question":
        return call["status"] or tr("waiting for an answer")
    if call["repeated"]:
        return tr("given again")
    if call["confirmed"]:
        return tr("confirmed")
    if call["read_back"]:
        return tr("read back, waiting for confirmation: {text}").format(text=call["read_back"])
    return tr("waiting for read-back")


ORDER_COLUMNS: Final[tuple[TableColumn[Row], ...]] = (
    TableColumn(
        title=mark("Time"),
        text=lambda call: formatting.format_run_time(call["t_s"]),
        sample="10:00",
        is_number=True,
    ),
    TableColumn(
        title=mark("From"),
        text=lambda call: call["by_name"],
        detail=lambda call: f"→ {call['to_name']}",
        sample="Computer room",
    ),
    TableColumn(
        title=mark("Order or question"),
        text=_format_text,
        detail=_format_progress,
        tip=lambda call: f"{_format_text(call)}\n{_format_progress(call)}",
        spoken=lambda call: f"{_format_text(call)}: {_format_progress(call)}",
        color_name=lambda call: "warn" if call["waits"] else None,
    ),
)


POINT_COLUMNS: Final[tuple[TableColumn[TeamPoints], ...]] = (
    TableColumn(title=mark("Rule"), text=lambda rule: rule.name, sample="Time unprotected"),
    TableColumn(
        title=mark("Points"),
        text=lambda rule: (
            f"{formatting.format_plain_number(rule.points)} / {formatting.format_plain_number(rule.max)}"
        ),
        sample="100 / 100",
        is_number=True,
        color_name=lambda rule: "warn" if rule.points < rule.max else None,
    ),
    TableColumn(title=mark("Reason"), text=lambda rule: str(rule.why), tip=lambda rule: str(rule.why)),
    TableColumn(title=mark("Better"), text=lambda rule: str(rule.better), tip=lambda rule: str(rule.better)),
)


def _build_table(columns: Sequence[TableColumn[Any]], name: str) -> TableView:
    """Build a table. Rows with details have two lines.

    Columns without a sample text for their width share the remaining width. *name*: name of the table.
    """
    table = TableView(TableModel(columns), name)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    for index, column in enumerate(columns):
        if not column.sample:
            header.setSectionResizeMode(index, QHeaderView.ResizeMode.Stretch)
        if column.detail is not None:
            table.setItemDelegateForColumn(index, TwoLineDelegate(table))
    return table


class RolePanel(QWidget):
    """Panel with the orders and questions of a role, and a command line."""

    requested = Signal(str)
    """Signal: input line without the role."""
    hand_raised = Signal(object)
    """Signal: question of the raised hand. None means that the hand was lowered."""
    start_wanted = Signal()
    """Signal: the user wants to start the run although some roles are vacant."""

    def __init__(self, welcome: MemberWelcome) -> None:
        super().__init__()
        self._role = welcome.role
        self.calls, self.points = (
            _build_table(ORDER_COLUMNS, tr("Orders and questions")),
            _build_table(POINT_COLUMNS, tr("Points")),
        )
        other_keys = [role.key for role in welcome.roles if role.key != self._role]
        example = f"call {next(iter(other_keys), self._role)} …"
        self.calls.set_empty_text(
            tr("No orders yet. An order begins with: {example}").format(example=example)
        )
        self.answer = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answer.setAccessibleName(tr("Answer to the last input"))
        self.waiting = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.start = QPushButton(tr("&Start for all"))
        self.start.setProperty("primary", "true")
        self.start.clicked.connect(self.start_wanted)
        self.result = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.result.setFont(theme.resize_font(self.result.font(), RESULT_SCALE, bold=True))
        for part in (self.waiting, self.start, self.result, self.points):
            part.hide()
        self.line, self.line_beginning = QLineEdit(), QComboBox()
        self.line_beginning.addItem(tr("Insert…"))
        self.line.setPlaceholderText(tr("An input of your role, such as: {example}").format(example=example))
        for beginning in _list_line_beginnings(welcome):
            self.line_beginning.addItem(beginning)
        self.line_beginning.setAccessibleName(tr("Allowed inputs for your role"))
        self.line_beginning.setToolTip(tr("Insert the beginning of this line into the field on the right"))
        self.line_beginning.activated.connect(self._insert_line_beginning)
        self.send = QPushButton(tr("&Run"))
        self.read_back, self.confirm = QPushButton(tr("Read &back")), QPushButton(tr("&Confirm"))
        self.hand = QPushButton(tr("Raise or lower &hand"))
        self._raised = False
        self.send.clicked.connect(self._send_line)
        self.line.returnPressed.connect(self._send_line)
        self.read_back.clicked.connect(self._read_back)
        self.confirm.clicked.connect(self._confirm)
        self.hand.clicked.connect(self._toggle_hand)
        for button in (self.send, self.read_back, self.confirm, self.hand, self.start):
            button.setAutoDefault(False)
        self._actions = (
            self.line_beginning,
            self.line,
            self.send,
            self.read_back,
            self.confirm,
            self.hand,
            self.start,
        )
        row = build_row(
            self.line_beginning, (self.line, 1), self.send, self.read_back, self.confirm, self.hand
        )
        waiting = build_row((self.waiting, 1), self.start)
        build_widget_column(
            waiting, (self.calls, 1), self.result, self.points, self.answer, row, parent=self, margins=0
        )
        self._show_calls([])

    # --- what comes

    def show_view(self, message: RoleView) -> None:
        """Show the orders and questions, and the vacant roles for which the run waits."""
        self._show_calls(message.view["calls"])
        vacant = message.waits_for
        self.waiting.setText(
            tr("Waiting for: {roles}. The scenario plays roles without a person.").format(
                roles=", ".join(vacant)
            )
        )
        for part in (self.waiting, self.start):
            part.setVisible(bool(vacant))

    def show_reply(self, text: str) -> None:
        """Show the reason why an input was rejected, or a message from the instructor."""
        self.answer.setText(text)

    def show_end(self, message: TeamDrillEnded) -> None:
        """Show that the team has ended, with its result. Disable all inputs."""
        total = format_team_score(message) or tr("There is no result.")
        self.result.setText(f"{tr(TEAM_ENDED_TEXT)} {total}")
        self.points.table.replace_rows(message.result.points if message.result is not None else ())
        rows = len(self.points.table.rows)
        self.points.show_rows(rows)
        self.result.show()
        self.points.setVisible(rows > 0)
        for part in (self.answer, self.waiting, self.start):
            part.hide()
        for action in self._actions:
            action.setEnabled(False)

    def _show_calls(self, calls: Sequence[Row]) -> None:
        self.calls.table.replace_rows(calls)
        self.read_back.setEnabled(self._find_order_to_read_back is not None)
        self.confirm.setEnabled(self._find_order_to_confirm is not None)

    # --- actions

    @property
    def _find_order_to_read_back(self) -> Row | None:
        return self._find_order(lambda call: call["to"] == self._role and not call["read_back"])

    @property
    def _find_order_to_confirm(self) -> Row | None:
        return self._find_order(lambda call: call["by"] == self._role and bool(call["read_back"]))

    def _find_order(self, predicate: Callable[[Row], bool]) -> Row | None:
        orders = (call for call in self.calls.table.rows if call["kind"] == "order" and call["waits"])
        return next((call for call in orders if predicate(call)), None)

    def _insert_line_beginning(self) -> None:
        if self.line_beginning.currentIndex() > 0:
            self.line.setText(f"{self.line_beginning.currentText()} ")
            self.line_beginning.setCurrentIndex(0)
        self.line.setFocus()

    def _send_line(self) -> None:
        if self.line.text().strip():
            self.requested.emit(self.line.text().strip())
            self.line.clear()

    def _read_back(self) -> None:
        """Begin a read-back in the command line. The member then repeats the order in their own words."""
        if self._find_order_to_read_back is not None:
            self.line.setText(f"read-back {self._find_order_to_read_back['by']} ")
            self.line.setFocus()

    def _confirm(self) -> None:
        if self._find_order_to_confirm is not None:
            self.requested.emit(f"confirm {self._find_order_to_confirm['to']}")

    def _toggle_hand(self) -> None:
        """Raise the hand, with the text of the command line as the question, or lower it."""
        self._raised = not self._raised
        self.hand_raised.emit(self.line.text().strip() if self._raised else None)
        self.show_reply(
            tr("Your hand is raised. The instructor can see it.")
            if self._raised
            else tr("Your hand is lowered.")
        )


def _list_line_beginnings(welcome: MemberWelcome) -> Iterator[str]:
    """Yield the possible beginnings of input lines of the role."""
    yield from welcome.does
    other_keys = [seat.key for seat in welcome.roles if seat.key != welcome.role]
    for word in ("call", "read-back", "confirm", "ask-status", "status"):
        for other_key in other_keys:
            yield f"{word} {other_key}"
