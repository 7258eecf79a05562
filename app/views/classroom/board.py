"""The instructor's board of a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.classroom.plan import KINDS
from app.classroom.server_messages import DashboardUpdate, Tile
from app.views.classroom.dialogs import seat_files
from app.widgets import theme
from app.widgets.flow import FlowLayout
from app.widgets.qr import QrCode
from app.widgets.scroll_container import fit_on_screen
from app.widgets.sparkline import Sparkline
from app.widgets.tables import TableColumn, TableModel, TableView
from app.words import formatting
from app.words.input_lines import describe_input
from app.words.language import mark, tr, trn
from engine.drill.judging.score import TOTAL_MAX

ALL: Final = "all"
CODE_POINTS: Final = 1.6
"""Size of the join code relative to other text: readable across a room."""
SHEET_POINTS: Final = 2.6
"""Size of the join code on the sheet for the projector."""
TOLD_LINES: Final = 12
"""Maximum lines of a curve in a tooltip, the latest ones."""
GAP_PX: Final = 6
"""Between buttons in a row."""
CHOICE_LETTERS: Final = 16
"""Minimum width of a choice or text field in letters."""
BOARD_LETTERS: Final = 165
"""Width of the board in letters if the screen allows it, enough for the last command."""
TYPED: Final = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
"""Flags for texts that can be copied."""


# --- the board ----------------------------------------------------------------------------------------------


def _state(tile: Tile) -> str:
    found = tile["verdict"]
    if found is not None and found["parted_t_s"] is not None:
        return tr("✗ diverges at {t}").format(t=formatting.run_time(found["parted_t_s"]))
    if tile["over"] or (found is not None and found["ended_by"] is not None):
        return tr("finished")
    if not tile["connected"]:
        return tr("not connected")
    if tile["held"]:
        return tr("taken over")
    if tile["frozen"]:
        return tr("frozen")
    since = found["stuck_since_s"] if found is not None else None
    return tr("idle since {t}").format(t=formatting.run_time(since)) if since is not None else tr("✓ active")


def _hand(tile: Tile) -> str:
    return "" if tile["hand"] is None else f"{tile['hand_place']}. {tile['hand']}".strip()


def _tone(tile: Tile) -> str | None:
    found = tile["verdict"]
    if found is not None and found["parted_t_s"] is not None:
        return "bad"
    stuck = found is not None and found["stuck_since_s"] is not None and not tile["over"]
    return "warn" if stuck or not (tile["connected"] or tile["over"]) else None


def _goals(tile: Tile) -> str:
    goals = tile["verdict"]["goals"] if tile["verdict"] is not None else {}
    return f"{sum(met is not None for met in goals.values())}/{len(goals)}" if goals else ""


def _score(tile: Tile) -> str:
    score = tile["verdict"]["score"] if tile["verdict"] is not None else None
    return "" if score is None else f"{score:.0f}"


def _reachable(tile: Tile) -> str:
    return "" if tile["reachable"] is None else f"{tile['reachable']:.0f}"


def _format_reachable(tile: Tile) -> str:
    said = tr("Best score still possible for this seat")
    course = [f"{formatting.run_time(t_s)}  {points:.0f}" for t_s, points in tile["worth"]]
    return "\n".join([said, *course[-TOLD_LINES:]])


def _last_act(tile: Tile) -> str:
    """Format time and text of the last action."""
    found = tile["verdict"]
    if found is None or found["last_act_t_s"] is None:
        return ""
    return f"{formatting.run_time(found['last_act_t_s'])}  {describe_input(found['last_act'], {})}"


def _format_deviation(tile: Tile) -> str:
    return tile["verdict"]["parted"] if tile["verdict"] is not None else ""


COLUMNS: Final = (
    TableColumn(title=mark("Seat"), text=lambda tile: str(tile["seat"]), right=True),
    TableColumn(
        title=mark("Name"),
        text=lambda tile: str(tile["name"]),
        tip=lambda tile: str(tile["name"]),
        sample="Annemarie Example",
    ),
    TableColumn(title=mark("Group"), text=lambda tile: str(tile["group"]), sample="Blue"),
    TableColumn(
        title=mark("State"),
        text=_state,
        tone=_tone,
        sample="✗ differs from 0:00:00 on",
        tip=_format_deviation,
    ),
    TableColumn(
        title=mark("Time"), text=lambda tile: formatting.run_time(tile["at_s"]), right=True, sample="0:00:00"
    ),
    TableColumn(title=mark("Goals"), text=_goals, right=True),
    TableColumn(title=mark("Current score"), text=_score, right=True),
    TableColumn(
        title=mark("Still possible"),
        text=_reachable,
        right=True,
        tip=_format_reachable,
        sample="100 100 100 100 100",
    ),
    TableColumn(title=mark("Hand"), text=_hand, tip=_hand, sample="1. Which server?"),
    TableColumn(title=mark("Last command"), text=_last_act, tip=_last_act),
)


def _rank_by_need(tile: Tile) -> tuple[float | str, ...]:
    """Return a sort key: raised hands in order, then divergent, stuck and absent seats, then all others."""
    return tile["hand_place"] or len(ORDERS) ** 9, {"bad": 0, "warn": 1}.get(_tone(tile) or "", 2)


ORDERS: Final[dict[str, Callable[[Tile], tuple[float | str, ...]]]] = {
    mark("by seat"): lambda tile: (),
    mark("by need of help"): _rank_by_need,
    mark("by group"): lambda tile: (tile["group"].casefold(),),
    mark("by name"): lambda tile: (tile["name"].casefold(),),
    mark("by score"): lambda tile: (-(tile["verdict"]["score"] or 0.0) if tile["verdict"] else 0.0,),
    mark("by time"): lambda tile: (tile["at_s"],),
}
"""Name of a sort order for seats -> sort key. Seats with equal keys are sorted by number."""


ASKED: Final[dict[str, tuple[str, str]]] = {
    mark("Message"): ("message {who} {text}", mark("Message (optionally start with “at 2:30”)")),
    mark("Inject"): (
        "inject {who} {text}",
        mark("A command such as power-off SERVER_A, or “at 2:30 power-off SERVER_A”"),
    ),
    mark("Freeze"): ("freeze {who}", ""),
    mark("Resume"): ("go {who}", ""),
    mark("Stop at"): ("freeze {who} at {text}", mark("Run time, such as 12:30")),
    mark("More time"): (
        "extend {who} {text}",
        mark("Extra time, such as 5:00"),
    ),
    mark("Send back to"): ("back {who} {text}", mark("Run time such as 2:30, then a reason")),
    mark("Restart"): ("reset {who} {text}?", mark("Why")),
    mark("Assign the selected seat to group"): ("group {seat} {text}", mark("Group name, or none")),
    mark("Break"): ("break {text}", mark("Minutes")),
    mark("Class clock"): (
        "clock {text}",
        mark("Simulated seconds per second, or “own” (each seat sets its own speed)"),
    ),
}
"""Name of a command -> its line of `class console`, and a prompt for the argument (empty: none; ?: optional)."""


class InvitationSheet(QDialog):
    """Information that seats need to join, on one screen for the projector."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Join the class"))
        self.code, self.address, self.how = QLabel(), QLabel(), QLabel()
        self.code.setFont(theme.fixed_font(SHEET_POINTS))
        self.address.setFont(theme.fixed_font(CODE_POINTS))
        self.how.setFont(theme.sized(self.how.font(), CODE_POINTS))
        for label in (self.code, self.address):
            label.setTextInteractionFlags(TYPED)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.how.setWordWrap(True)
        self.qr = QrCode()
        self.close_it = QPushButton(tr("&Close"))
        self.close_it.clicked.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.how)
        layout.addWidget(self.qr, 1)
        layout.addWidget(self.code)
        layout.addWidget(self.address)
        layout.addWidget(self.close_it, 0, Qt.AlignmentFlag.AlignRight)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 110, self.fontMetrics().height() * 32)

    def show_code(self, code: str) -> None:
        """Show the code of the class."""
        secret, _, address = code.partition("@")
        self.code.setText(secret)
        self.address.setText(f"@{address}")
        self.how.setText(
            tr(
                "Class ▸ Join a class: enter the code with the address, and your name. In a "
                "terminal: {command}"
            ).format(command=f"mirrordrill class join {code} --name …")
        )
        self.qr.show_text(code)


class ClassBoard(QDialog):
    """Board that stays open next to the desk; its commands go to the host as lines of `class console`."""

    said = Signal(str, str)
    """Signal: line, and its recipient as text."""
    hidden = Signal()
    """The board was closed, and the class continues."""
    end_wanted = Signal()
    """Signal: the class is to be closed."""
    hand_out_wanted = Signal(str)
    """Signal: name of the file with which seats without a network start."""
    report_wanted = Signal(str, bool)
    """Signal: name of the report, and whether it names people."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Class dashboard"))
        self._tiles: dict[int, Tile] = {}
        self._places: list[int] = []
        """Numbers of the seats in the order of the rows."""
        self.code = QLabel(tr("Starting the class…"))
        self.code.setFont(theme.sized(self.code.font(), CODE_POINTS))
        self.code.setTextInteractionFlags(TYPED)
        self.copy = QPushButton(tr("&Copy the code"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.code.text()))
        self.sheet = QPushButton(tr("Show the code lar&ge"))
        self.sheet.clicked.connect(self.show_sheet)
        self.without = QPushButton(tr("Without net&work"))
        without = QMenu(self.without)
        without.addAction(tr("&Save the class file for seats…"), self._export_sheet)
        without.addAction(tr("&Import seat logs…"), self._hand_in)
        self.without.setMenu(without)
        self.without.setAutoDefault(False)
        self.state, self.answer = QLabel(), QLabel()
        for label in (self.state, self.answer):
            label.setWordWrap(True)
        self.answer.setTextInteractionFlags(TYPED)
        self.answer.hide()
        self.tiles = TableView(TableModel(COLUMNS), tr("Seats"))
        self.tiles.set_empty_text(
            tr("No seats yet. On each computer, choose Class ▸ Join a class and enter the code above.")
        )
        self.tiles.horizontalHeader().setSectionResizeMode(len(COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        for place, column in enumerate(COLUMNS):
            if column.text is _reachable:
                curve = Sparkline(self.tiles, lambda tile: tile["worth"], TOTAL_MAX)
                self.tiles.setItemDelegateForColumn(place, curve)
        self.freeze, self.go = QPushButton(tr("&Freeze")), QPushButton(tr("&Resume"))
        self.finish = QPushButton(tr("&End class"))
        self.next_part = QPushButton(tr("Ne&xt part"))
        self.next_part.setVisible(False)
        self.next_part.setAutoDefault(False)
        self.next_part.clicked.connect(lambda: self._send_line("next"))
        self.report = QPushButton(tr("Save the &report…"))
        self.report.setAutoDefault(False)
        self.report.clicked.connect(self._save_report)
        self.end = QPushButton(tr("C&lose the class"))
        self.freeze.clicked.connect(lambda: self._send_line("freeze"))
        self.go.clicked.connect(lambda: self._send_line("go"))
        self.finish.clicked.connect(lambda: self._send_line("finish"))
        self.end.clicked.connect(self.end_wanted)
        self.what, self.who, self.text = QComboBox(), QComboBox(), QLineEdit()
        for word in ASKED:
            self.what.addItem(tr(word), word)
        self.what.currentIndexChanged.connect(self._show_what)
        self.what.setAccessibleName(tr("Kind of message"))
        self.who.setAccessibleName(tr("Recipient"))
        self.who.addItem(tr("to all"), ALL)
        self.order, self.nameless = QComboBox(), QCheckBox(tr("Hide na&mes"))
        for word in ORDERS:
            self.order.addItem(tr(word), word)
        self.order.setAccessibleName(tr("Order of seats"))
        self.order.currentIndexChanged.connect(self._show_tiles)
        self.nameless.toggled.connect(self._show_tiles)
        self.nameless.toggled.connect(self._show_who)
        self.of_seat = {
            "look": QPushButton(tr("&Watch")),
            "take": QPushButton(tr("&Take control")),
            "give": QPushButton(tr("Return &control")),
            "lower": QPushButton(tr("Lower &hand")),
            "show": QPushButton(tr("Show to &all")),
        }
        for word, button in self.of_seat.items():
            button.clicked.connect(lambda _=False, word=word: self._send_seat_line(word))
            button.setAutoDefault(False)
        self.unshow = QPushButton(tr("Stop &sharing"))
        self.unshow.setAutoDefault(False)
        self.unshow.clicked.connect(lambda: self._send_line("show none"))
        self.send = QPushButton(tr("&Send"))
        self.send.clicked.connect(self._send)
        self.text.returnPressed.connect(self._send)
        for button in (self.copy, self.sheet, self.freeze, self.go, self.finish, self.end, self.send):
            button.setAutoDefault(False)
        self._show_what()
        layout = QVBoxLayout(self)
        layout.addLayout(_row(self.code, self.copy, self.sheet, self.without))
        layout.addWidget(self.state)
        layout.addWidget(self.answer)
        layout.addLayout(_row(self.order, self.nameless))
        layout.addWidget(self.tiles, 1)
        layout.addLayout(_row(*self.of_seat.values(), self.unshow))
        line = QHBoxLayout()
        for part in (self.what, self.who, self.text, self.send):
            line.addWidget(part, int(part is self.text))
        for part in (self.what, self.who, self.text):  # give way before the window is wider than a screen
            part.setMinimumWidth(self.fontMetrics().averageCharWidth() * CHOICE_LETTERS)
        layout.addLayout(line)
        of_all = (self.freeze, self.go, self.finish, self.next_part)
        layout.addLayout(_row(*of_all, right_widgets=(self.report, self.end)))
        self._enable(False)
        self.tiles.setFocus()
        fit_on_screen(
            self, self.fontMetrics().averageCharWidth() * BOARD_LETTERS, self.fontMetrics().height() * 38
        )

    def show_code(self, code: str) -> None:
        """Show the code of the class."""
        self.code.setText(code)
        self._enable(True)

    def show_sheet(self) -> InvitationSheet:
        """Return code, address and QR code for the projector."""
        sheet = InvitationSheet(self)
        sheet.show_code(self.code.text())
        sheet.open()
        return sheet

    def show_board(self, board: DashboardUpdate) -> None:
        """Show new or changed tiles, and the state of the class."""
        for tile in board["tiles"]:
            self._tiles[tile["seat"]] = tile
            if self.who.findData(str(tile["seat"])) < 0:
                self.who.addItem("", str(tile["seat"]))
            if tile["group"] and self.who.findData(f"@{tile['group']}") < 0:
                self.who.insertItem(1, tr("to group {name}").format(name=tile["group"]), f"@{tile['group']}")
        self._show_tiles()
        self._show_who()
        self.state.setText(self._format_status(board))
        self.freeze.setEnabled(board["state"] == "running")
        stopped = any(tile["stopped"] for tile in self._tiles.values())
        self.go.setEnabled(board["state"] == "frozen" or (stopped and board["state"] != "over"))
        self.finish.setEnabled(board["state"] != "over")
        self.next_part.setVisible(board["parts"] > 1)
        self.next_part.setEnabled(board["state"] == "over" and board["part_number"] < board["parts"])

    @property
    def selected_seat(self) -> int | None:
        """Number of the seat whose row is selected."""
        row = self.tiles.currentIndex().row()
        return self._places[row] if 0 <= row < len(self._places) else None

    def _show_tiles(self) -> None:
        """Show the seats in the requested order; the selected seat stays selected."""
        chosen, by = self.selected_seat, ORDERS[self.order.currentData()]
        tiles = sorted(self._tiles.values(), key=lambda tile: (*by(tile), tile["seat"]))
        self._places = [tile["seat"] for tile in tiles]
        if self.nameless.isChecked():
            tiles = [{**tile, "name": self._name(tile)} for tile in tiles]
        self.tiles.table.replace(tiles)
        if chosen is not None:
            self.tiles.selectRow(self._places.index(chosen))

    def _show_who(self) -> None:
        """Show the seats that can receive something, by name unless names are hidden."""
        for place in range(self.who.count()):
            tile = self._tiles.get(int(key)) if (key := str(self.who.itemData(place))).isdigit() else None
            if tile is not None:
                self.who.setItemText(place, tr("to {name}").format(name=self._name(tile)))

    def _name(self, tile: Tile) -> str:
        return tr("Seat {n}").format(n=tile["seat"]) if self.nameless.isChecked() else str(tile["name"])

    def _send_seat_line(self, command: str) -> None:
        """Send a line for the seat whose row is selected."""
        if self.selected_seat is None:
            self.show_problem(tr("Select a seat first."))
        else:
            self._send_line(f"{command} {self.selected_seat}")

    def _send_line(self, line: str) -> None:
        """Send *line* to a number, a group or all."""
        word = line.split()[1] if " " in line else ALL
        if word.startswith("@"):
            who = tr("Group {name}").format(name=word[1:])
        elif word.isdigit() and int(word) in self._tiles:
            who = self._name(self._tiles[int(word)])
        else:
            who = tr("All seats")
        self.show_problem("")
        self.said.emit(line, who)

    def _format_status(self, board: DashboardUpdate) -> str:
        tiles = self._tiles.values()
        there = sum(bool(tile["connected"]) for tile in tiles)
        said = trn("{n} seat", "{n} seats", len(tiles)).format(n=len(tiles))
        if board["part"]:
            part = tr("Part {n} of {all}: {name}.").format(
                n=board["part_number"], all=board["parts"], name=tr(KINDS[board["part"]])
            )
            said = f"{part} {said}"
        said += ", " + tr("{n} connected").format(n=there)
        if board["clock_s"] is not None:
            said += ", " + tr("class clock {t}").format(t=formatting.run_time(board["clock_s"]))
        if board["ends_in_s"] is not None:
            ends = datetime.now() + timedelta(seconds=board["ends_in_s"])
            said += ", " + tr("end at about {time}").format(time=f"{ends:%H:%M}")
        if board["break_s"] is not None:
            back = datetime.now() + timedelta(seconds=board["break_s"])
            said += ", " + tr("break until {time}").format(time=f"{back:%H:%M}")
        if board["state"] == "over":
            if board["part_number"] < board["parts"]:
                return f"{said}. " + tr("This part has ended.")
            return f"{said}. " + tr("The class has ended.")
        if board["not_frozen"]:
            return f"{said}. " + (
                tr("Not frozen yet: {n}.").format(n=len(board["not_frozen"]))
                if self.nameless.isChecked()
                else tr("Not frozen yet: {names}.").format(names=", ".join(board["not_frozen"]))
            )
        return f"{said}. " + (tr("Frozen.") if board["state"] == "frozen" else tr("Running."))

    def show_problem(self, text: str) -> None:
        """Show the host's reply to the last request. It stays until the next one."""
        self.answer.setText(text)
        self.answer.setVisible(bool(text))

    def _send(self) -> None:
        line, placeholder = ASKED[self.what.currentData()]
        text, who = self.text.text().strip(), str(self.who.currentData())
        if "{seat}" in line and self.selected_seat is None:
            self.show_problem(tr("Select a seat first."))
        elif text or not placeholder or line.endswith("?"):
            self._send_line(line.rstrip("?").format(who=who, text=text, seat=self.selected_seat).strip())
            self.text.clear()

    def _show_what(self) -> None:
        """Show the expected argument in the empty line."""
        line, placeholder = ASKED[self.what.currentData()]
        self.text.setPlaceholderText(tr(placeholder) if placeholder else "")
        self.text.setEnabled(bool(placeholder))
        self.who.setEnabled("{who}" in line)

    def _enable(self, enabled: bool) -> None:
        of_seat = (*self.of_seat.values(), self.unshow)
        others = (
            self.copy, self.sheet, self.without, self.report, self.freeze, self.go, self.finish, self.send,
        )  # fmt: skip
        for button in (*others, *of_seat):
            button.setEnabled(enabled)

    def _export_sheet(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Save the class file for seats"), "class.seat", seat_files()
        )
        if name:
            self.hand_out_wanted.emit(name)

    def _save_report(self) -> None:
        kind = tr("Reports") + " (*.zip)"
        name, _ = QFileDialog.getSaveFileName(self, tr("Save the report of the class"), "class.zip", kind)
        if name:
            self.report_wanted.emit(name, not self.nameless.isChecked())

    def _hand_in(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, tr("Import seat logs"), "", seat_files())
        for name in names:
            self.said.emit(f"hand in {name}", "")

    def reject(self) -> None:
        """Escape puts it aside; the class goes on."""
        self.hide()
        self.hidden.emit()


def _row(*parts: QWidget, right_widgets: Sequence[QWidget] = ()) -> QHBoxLayout:
    """Arrange widgets left and right, in more rows if needed."""
    row = QHBoxLayout()
    for side, stretch in ((parts, 1), (right_widgets, 0)):
        flow = FlowLayout(GAP_PX)
        for part in side:
            flow.addWidget(part)
        row.addLayout(flow, stretch)
    return row
