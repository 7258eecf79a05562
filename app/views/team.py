"""A role in a team: what it sees, what was said, and the lines that it may do."""

from __future__ import annotations

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
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QWidget,
)

from app.classroom.team.server_messages import MemberWelcome, RoleView, TeamRole
from app.widgets import theme
from app.widgets.layouts import lay_column, lay_row
from app.widgets.prose import Prose
from app.widgets.qr import QrCode
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr

Row = Mapping[str, Any]
CODE_POINTS: Final = 2.0
"""Size of the code, in sizes of the other text."""
QR_LINES: Final = 12
LINES_MAX: Final = 2_000
"""Maximum lines of events. Assumed: a drill of an hour has fewer."""


class HoldTeam(QDialog):
    """Dialog for the drill that a team plays, or the class in which the team takes a seat."""

    wanted = Signal(str, str)
    """Name of the drill or code of the class, and the team's name."""

    def __init__(self, drills: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        """Create the page; *drills*: name and title of each that has a team."""
        super().__init__(parent)
        self.setWindowTitle(tr("Start a team"))
        self.drill, self.code, self.name = QComboBox(), QLineEdit(), QLineEdit(tr("Team"))
        for name, title in drills:
            self.drill.addItem(title, name)
        self.code.setPlaceholderText(tr("Leave empty if there is no class"))
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        self.code.textChanged.connect(lambda text: self.drill.setEnabled(not text.strip()))
        form = QFormLayout(self)
        form.addRow(tr("&Drill:"), self.drill)
        form.addRow(tr("&Class code:"), self.code)
        form.addRow(tr("Team &name:"), self.name)
        form.addRow(_buttons(self, tr("&Start team")))
        self.accepted.connect(
            lambda: self.wanted.emit(
                self.code.text().strip() or self.drill.currentData(), self.name.text().strip()
            )
        )


class TeamCode(QDialog):
    """Code of the team that this window holds, in large type and as a QR code, and the end of the team."""

    end_wanted = Signal()

    def __init__(self, code: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Team code"))
        secret, _, address = code.partition("@")
        self.code, self.address = QLabel(secret), QLabel(f"@{address}")
        self.code.setFont(theme.fixed_font(CODE_POINTS))
        self.address.setFont(theme.fixed_font())
        how = QLabel(tr("On each computer: Class ▸ Take a role in a team, and this code."))
        self.qr = QrCode()
        self.qr.show_text(code)
        self.qr.setMinimumHeight(self.fontMetrics().height() * QR_LINES)
        for label in (how, self.code, self.address):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.end = buttons.addButton(tr("&End the team"), QDialogButtonBox.ButtonRole.DestructiveRole)
        self.copy = buttons.addButton(tr("&Copy the code"), QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(code))
        self.end.clicked.connect(self.end_wanted)
        buttons.rejected.connect(self.reject)
        lay_column(how, self.code, self.address, (self.qr, 1), buttons, on=self)


class TakeRole(QDialog):
    """Dialog with code, name and role; the roles are listed after the code is entered."""

    roles_wanted = Signal(str, str)
    """Code of the team, and the person's name."""
    wanted = Signal(str, str, str, bool)
    """Signal: code, name and role, and whether it replaces a disconnected member."""

    def __init__(self, name: str, parent: QWidget | None = None, code: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Take a role in a team"))
        self.code, self.name, self.role = QLineEdit(code), QLineEdit(name), QComboBox()
        self._left_teams: set[str] = set()
        """Roles whose members are not connected."""
        self.code.setPlaceholderText("XXXXX-XXXXX-XXXXX-XXXXX@192.168.1.5:40123")
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        self.problem = QLabel(wordWrap=True)
        self.ask = QPushButton(tr("&Show roles"))
        self.ask.clicked.connect(
            lambda: self.roles_wanted.emit(self.code.text().strip(), self.name.text().strip())
        )
        buttons = _buttons(self, tr("&Take role"))
        (self.take,) = (
            one
            for one in buttons.buttons()
            if buttons.buttonRole(one) is QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.take.setEnabled(False)
        form = QFormLayout(self)
        form.addRow(tr("Team &code:"), self.code)
        form.addRow(tr("Your &name:"), self.name)
        form.addRow(self.ask)
        form.addRow(tr("&Role:"), self.role)
        form.addRow(self.problem)
        form.addRow(buttons)
        self.role.currentIndexChanged.connect(self._show_take)
        self.accepted.connect(
            lambda: self.wanted.emit(
                self.code.text().strip(), self.name.text().strip(), self.role.currentData(), self._instead
            )
        )

    @property
    def _instead(self) -> bool:
        """Return whether the selected role belongs to a disconnected member."""
        return self.role.currentData() in self._left_teams

    def _show_take(self) -> None:
        self.take.setText(tr("&Take over the role") if self._instead else tr("&Take role"))

    def show_roles(self, roles: Collection[TeamRole]) -> None:
        """Show all roles, free ones first."""
        self.role.clear()
        self.problem.clear()
        self._left_teams = {
            seat["key"] for seat in roles if seat["taken_by"] is not None and not seat["connected"]
        }
        for seat in sorted(roles, key=lambda seat: (seat["taken_by"] is not None, seat["connected"])):
            by = seat["taken_by"]
            if seat["key"] in self._left_teams:
                by = tr("{name}, not connected").format(name=by)
            self.role.addItem(seat["name"] if by is None else f"{seat['name']} ({by})", seat["key"])
        self._show_take()
        self.take.setEnabled(self.role.count() > 0)
        self.role.setFocus()

    def show_problem(self, text: str) -> None:
        """Show a problem."""
        self.problem.setText(text)


# --- what a role sees ---------------------------------------------------------------------------------------


def _computers(row: Row) -> tuple[str, str, str]:
    power = tr("on") if row["powered"] else tr("off")
    cable = tr("cable plugged in") if row["cable"] else tr("no link: cable or network adapter")
    return tr("Computer"), row["server"], f"{power}, {cable}"


def _databases(row: Row) -> tuple[str, str, str]:
    if row["state"] is None:
        return tr("Server"), row["server"], tr("not responding")
    state = ", ".join(str(word) for word in (row["role"], row["state"]) if word)
    return tr("Database"), f"{row['database']} @ {row['server']}", state


def _links(row: Row) -> tuple[str, str, str]:
    return (
        tr("Link"),
        " – ".join(row["ends"]),
        tr("connected") if row["up"] and row["passing"] else tr("disconnected"),
    )


def _clients(row: Row) -> tuple[str, str, str]:
    to = row["connected_to"]
    return tr("Client"), row["client"], tr("on {server}").format(server=to) if to else tr("not connected")


def _queues(row: Row) -> tuple[str, str, str]:
    said = tr("send queue {send}, redo queue {redo}, log {percent}%").format(
        send=formatting.kb(row["send_queue_kb"]),
        redo=formatting.kb(row["redo_queue_kb"]),
        percent=row["log_used_percent"],
    )
    return tr("Queues"), row["database"], said


def _goals(row: Row) -> tuple[str, str, str]:
    return tr("Goal"), row["text"], {True: tr("met"), False: tr("open"), None: ""}[row["met"]]


def _questions(row: Row) -> tuple[str, str, str]:
    choices = "; ".join(f"{number} {text}" for number, text in enumerate(row["choices"], 1))
    return tr("Question"), f"{row['name']}: {row['text']}", choices


SHOWN: Final[Mapping[str, Callable[[Row], tuple[str, str, str]]]] = {
    "databases": _databases,
    "computers": _computers,
    "links": _links,
    "clients": _clients,
    "queues": _queues,
    "questions": _questions,
    "goals": _goals,
}
"""Part of a view -> its rows as kind, name and state."""

SEEN: Final = (
    TableColumn(title=mark("Kind"), text=lambda row: row[0], sample="Computer"),
    TableColumn(
        title=mark("Name"),
        text=lambda row: row[1],
        sample="Payments @ PAY2 – PAY1",
        tip=lambda row: row[1],
    ),
    TableColumn(
        title=mark("State"), text=lambda row: row[2], sample="PRINCIPAL, SYNCHRONIZED", tip=lambda row: row[2]
    ),
)


def _text(call: Row) -> str:
    return str(call["text"])


def _format_progress(call: Row) -> str:
    """Return the progress of an order or a question."""
    if call["kind"] == "question":
        return call["status"] or tr("waiting for an answer")
    if call["repeated"]:
        return tr("repeated")
    if call["confirmed"]:
        return tr("confirmed")
    if call["read_back"]:
        return tr("read back, waiting for confirmation: {text}").format(text=call["read_back"])
    return tr("waiting for read-back")


CALLS: Final = (
    TableColumn(
        title=mark("Time"), text=lambda call: formatting.run_time(call["t_s"]), sample="10:00", right=True
    ),
    TableColumn(title=mark("From"), text=lambda call: call["by_name"], sample="Computer room"),
    TableColumn(title=mark("To"), text=lambda call: call["to_name"], sample="Computer room"),
    TableColumn(
        title=mark("Order or question"), text=_text, tip=_text, sample="plug in the cable of SERVER_A"
    ),
    TableColumn(
        title=mark("Status"),
        text=_format_progress,
        tip=_format_progress,
        tone=lambda call: "warn" if call["waits"] else None,
    ),
)


class TeamSeat(QDialog):
    """Window of a role: its information, and a line for its inputs. It stays open next to the desk."""

    said = Signal(str)
    """Signal: an input line, without the role."""
    asked = Signal(object)
    """Signal: the question with a raised hand; None: the hand is lowered."""
    start_wanted = Signal()
    """Signal: the world starts, although some roles are vacant."""
    left = Signal()

    def __init__(self, welcome: MemberWelcome, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"{welcome['role_name']} – {welcome['title']}")
        self._role = welcome["role"]
        self.state = QLabel(f"{welcome['role_name']}: {welcome['role_text']}", wordWrap=True)
        self.now = QLabel()
        self.brief = Prose()
        self.brief.show_text(welcome["brief"])
        self.seen = TableView(TableModel(SEEN), tr("Information for your role"))
        self.seen.set_empty_text(tr("Your role sees no servers. Ask the others: ask-status, and a role."))
        self.calls = TableView(TableModel(CALLS), tr("Orders and questions"))
        for table, columns in ((self.seen, SEEN), (self.calls, CALLS)):
            table.horizontalHeader().setSectionResizeMode(len(columns) - 1, QHeaderView.ResizeMode.Stretch)
        self.news = QPlainTextEdit()
        self.news.setMaximumBlockCount(LINES_MAX)
        self.news.setFont(theme.fixed_font())
        self.news.setReadOnly(True)
        self.news.setAccessibleName(tr("Events"))
        self.brief.setAccessibleName(tr("Briefing"))
        self.waiting = QLabel(wordWrap=True)
        self.start = QPushButton(tr("&Start for all"))
        self.start.setProperty("primary", "true")
        self.start.clicked.connect(self.start_wanted)
        for part in (self.waiting, self.start):
            part.hide()
        self.line, self.begin = QLineEdit(), QComboBox()
        self.begin.addItem(tr("Insert…"))
        self.line.setPlaceholderText(
            tr("An input of your role, such as: call room plug in the cable of SERVER_A")
        )
        for beginning in _beginnings(welcome):
            self.begin.addItem(beginning)
        self.begin.setAccessibleName(tr("Allowed inputs for your role"))
        self.begin.setToolTip(tr("Puts the beginning of a line into the field on the right"))
        self.begin.activated.connect(self._begin)
        self.send = QPushButton(tr("&Run"))
        self.read_back, self.confirm = QPushButton(tr("&Read back")), QPushButton(tr("&Confirm"))
        self.hand = QPushButton(tr("Raise or lower &hand"))
        self._raised = False
        self.send.clicked.connect(self._send)
        self.line.returnPressed.connect(self._send)
        self.read_back.clicked.connect(self._read_back)
        self.confirm.clicked.connect(self._confirm)
        self.hand.clicked.connect(self._hand)
        for button in (self.send, self.read_back, self.confirm, self.hand, self.start):
            button.setAutoDefault(False)
        self._lay_out()
        self._show_calls([])

    def _lay_out(self) -> None:
        left, right = QSplitter(), QSplitter()
        for splitter, parts in ((left, (self.seen, self.brief)), (right, (self.calls, self.news))):
            for part in parts:
                splitter.addWidget(part)
            splitter.setChildrenCollapsible(False)
            splitter.setSizes([3_000, 2_000])
        layout = lay_column(
            self.state, self.now, lay_row((self.waiting, 1), self.start), (left, 1), (right, 1), on=self
        )
        row = lay_row(self.begin, (self.line, 1), self.send, self.read_back, self.confirm, self.hand)
        layout.addLayout(row)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 190, self.fontMetrics().height() * 40)
        self.line.setFocus()

    # --- what comes

    def show_view(self, message: RoleView) -> None:
        """Show the world at one time."""
        view: Any = message["view"]
        self.seen.table.replace([show(row) for part, show in SHOWN.items() for row in view[part]])
        self._show_calls(view["calls"])
        for row in view["news"]:
            self.append_line(f"{formatting.run_time(row['t_s'])}  {row['text']}")
            for line in _answers(row):
                self.append_line(line)
        vacant = message.get("waits_for", [])
        self.waiting.setText(
            tr("Waiting for: {roles}. The scenario plays roles without a person.").format(
                roles=", ".join(vacant)
            )
        )
        for part in (self.waiting, self.start):
            part.setVisible(bool(vacant))
        how = ""
        if not vacant and (message["frozen"] or view["over"]):
            how = tr("Finished.") if view["over"] else tr("The class is frozen.")
        self.now.setText(f"{formatting.run_time(view['t_s'])}  {how}")

    def append_line(self, text: str) -> None:
        """Append a line."""
        self.news.appendPlainText(text)

    def _show_calls(self, calls: Sequence[Row]) -> None:
        self.calls.table.replace(calls)
        self.read_back.setEnabled(self._to_read_back is not None)
        self.confirm.setEnabled(self._to_confirm is not None)

    # --- what is done

    @property
    def _to_read_back(self) -> Row | None:
        return self._find_order(lambda call: call["to"] == self._role and not call["read_back"])

    @property
    def _to_confirm(self) -> Row | None:
        return self._find_order(lambda call: call["by"] == self._role and bool(call["read_back"]))

    def _find_order(self, holds: Callable[[Row], bool]) -> Row | None:
        orders = (call for call in self.calls.table.rows if call["kind"] == "order" and call["waits"])
        return next((call for call in orders if holds(call)), None)

    def _begin(self) -> None:
        if self.begin.currentIndex() > 0:
            self.line.setText(f"{self.begin.currentText()} ")
            self.begin.setCurrentIndex(0)
        self.line.setFocus()

    def _send(self) -> None:
        if self.line.text().strip():
            self.said.emit(self.line.text().strip())
            self.line.clear()

    def _read_back(self) -> None:
        """Begin the read-back; the member repeats the order in own words, as on the telephone."""
        if self._to_read_back is not None:
            self.line.setText(f"read-back {self._to_read_back['by']} ")
            self.line.setFocus()

    def _confirm(self) -> None:
        if self._to_confirm is not None:
            self.said.emit(f"confirm {self._to_confirm['to']}")

    def _hand(self) -> None:
        """Raise the hand with the text of the line as the question, or lower it."""
        self._raised = not self._raised
        self.asked.emit(self.line.text().strip() if self._raised else None)
        self.append_line(
            tr("Your hand is raised. The instructor can see it.")
            if self._raised
            else tr("Your hand is lowered.")
        )

    def reject(self) -> None:
        """Close the window; the role stays with this person, who can resume it by the same name."""
        self.left.emit()
        super().reject()


def _beginnings(welcome: MemberWelcome) -> Iterator[str]:
    """Yield the first words of the lines that the role can use."""
    yield from welcome["does"]
    others = [seat["key"] for seat in welcome["roles"] if seat["key"] != welcome["role"]]
    for word in ("call", "read-back", "confirm", "ask-status", "status"):
        for other in others:
            yield f"{word} {other}"


def _answers(row: Row) -> Iterator[str]:
    """Yield results and messages of a batch."""
    for result in row.get("results") or ():
        cells = [["NULL" if cell is None else str(cell) for cell in line] for line in result["rows"]]
        yield formatting.text_table(result["columns"], cells)
    for message in row.get("messages") or ():
        yield message["text"]


def _buttons(dialog: QDialog, accept: str) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons
