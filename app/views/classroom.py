"""Three small windows of a class: start one, join one, and the instructor's board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.classroom.shapes import Board, Tile
from app.widgets.room import fit_on_screen
from app.widgets.tables import Column, TableModel, TableView
from app.words import formatting
from app.words.language import mark, tr, trn
from engine.drill.running.modes import Mode

MODES: Final = {
    Mode.PRACTICE: mark("Practice"),
    Mode.EXAM: mark("Exam"),
    Mode.GUIDED: mark("Guided"),
    Mode.LAB: mark("Free play"),
}
ALL: Final = "all"
CODE_POINTS: Final = 1.6
"""Size of the join code, in sizes of the other text: it is read across a room."""


class StartClass(QDialog):
    """What the class plays."""

    wanted = Signal(str, str, bool)
    """Name of the drill, mode, and whether seats wait for Go on."""

    def __init__(self, drills: Sequence[tuple[str, str]], parent: QWidget | None = None) -> None:
        """*drills*: name and title of each."""
        super().__init__(parent)
        self.setWindowTitle(tr("Start a class"))
        self.drill, self.mode = QComboBox(), QComboBox()
        for name, title in drills:
            self.drill.addItem(title, name)
        for mode, word in MODES.items():
            self.mode.addItem(tr(word), mode.value)
        self.frozen = QCheckBox(tr("&Hold all seats until I press “Go on”"))
        self.frozen.setChecked(True)
        form = QFormLayout(self)
        form.addRow(tr("&Drill:"), self.drill)
        form.addRow(tr("&Mode:"), self.mode)
        form.addRow(self.frozen)
        form.addRow(_buttons(self, tr("&Start the class")))
        self.accepted.connect(
            lambda: self.wanted.emit(
                self.drill.currentData(), self.mode.currentData(), self.frozen.isChecked()
            )
        )


class JoinClass(QDialog):
    """Code and name, done."""

    wanted = Signal(str, str)
    """Code with address, and name."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Join a class"))
        self.code, self.name = QLineEdit(), QLineEdit(name)
        self.code.setPlaceholderText("XXXXX-XXXXX-XXXXX-XXXXX@192.168.1.5:7443")
        self.code.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        form = QFormLayout(self)
        form.addRow(tr("&Code:"), self.code)
        form.addRow(tr("Your &name:"), self.name)
        form.addRow(_buttons(self, tr("&Join")))
        self.accepted.connect(lambda: self.wanted.emit(self.code.text(), self.name.text().strip()))


def _buttons(dialog: QDialog, accept: str) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


# --- the board ----------------------------------------------------------------------------------------------


def _state(tile: Tile) -> str:
    found = tile["verdict"]
    if found is not None and found["parted_t_s"] is not None:
        return tr("✗ differs from {t} on").format(t=formatting.run_time(found["parted_t_s"]))
    if tile["over"] or (found is not None and found["ended_by"] is not None):
        return tr("finished")
    if not tile["connected"]:
        return tr("not connected")
    if tile["frozen"]:
        return tr("frozen")
    since = found["stuck_since_s"] if found is not None else None
    return (
        tr("nothing since {t}").format(t=formatting.run_time(since)) if since is not None else tr("✓ at work")
    )


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


def _last_act(tile: Tile) -> str:
    return tile["verdict"]["last_act"] if tile["verdict"] is not None else ""


def _why(tile: Tile) -> str:
    return tile["verdict"]["parted"] if tile["verdict"] is not None else ""


COLUMNS: Final = (
    Column(title=mark("Seat"), text=lambda tile: str(tile["seat"]), right=True),
    Column(title=mark("Name"), text=lambda tile: str(tile["name"]), sample="Annemarie Example"),
    Column(title=mark("State"), text=_state, tone=_tone, sample="✗ differs from 0:00:00 on", tip=_why),
    Column(
        title=mark("Time"), text=lambda tile: formatting.run_time(tile["at_s"]), right=True, sample="0:00:00"
    ),
    Column(title=mark("Goals"), text=_goals, right=True),
    Column(title=mark("Score so far"), text=_score, right=True),
    Column(title=mark("Last command"), text=_last_act, tip=_last_act),
)


class ClassBoard(QDialog):
    """Stays open beside the desk; what it says goes to the host as lines of `class console`."""

    said = Signal(str)
    finish_wanted = Signal()
    """The runs of all seats end."""
    end_wanted = Signal()
    """The class is closed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Class"))
        self._tiles: dict[int, Tile] = {}
        self.code = QLabel(tr("The class is being started…"))
        font = QFont(self.code.font())
        font.setPointSizeF(font.pointSizeF() * CODE_POINTS)
        self.code.setFont(font)
        self.code.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.copy = QPushButton(tr("&Copy the code"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.code.text()))
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.tiles = TableView(TableModel(COLUMNS), tr("Seats"))
        self.tiles.horizontalHeader().setSectionResizeMode(len(COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        self.freeze, self.go = QPushButton(tr("&Freeze")), QPushButton(tr("&Go on"))
        self.finish = QPushButton(tr("&End for all"))
        self.end = QPushButton(tr("C&lose the class"))
        self.freeze.clicked.connect(lambda: self.said.emit("freeze"))
        self.go.clicked.connect(lambda: self.said.emit("go"))
        self.finish.clicked.connect(self.finish_wanted)
        self.end.clicked.connect(self.end_wanted)
        self.what, self.who, self.text = QComboBox(), QComboBox(), QLineEdit()
        for word, key in ((mark("Message"), "message"), (mark("Inject"), "inject")):
            self.what.addItem(tr(word), key)
        self.who.addItem(tr("to all"), ALL)
        self.text.setPlaceholderText(tr("A message, or a command such as power-off SERVER_A"))
        self.send = QPushButton(tr("&Send"))
        self.send.clicked.connect(self._send)
        self.text.returnPressed.connect(self._send)
        for button in (self.copy, self.freeze, self.go, self.finish, self.end, self.send):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.addLayout(_row(self.code, None, self.copy))
        layout.addWidget(self.state)
        layout.addWidget(self.tiles, 1)
        layout.addLayout(_row(self.what, self.who, self.text, self.send))
        layout.addLayout(_row(self.freeze, self.go, self.finish, None, self.end))
        self._enable(False)
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 120, self.fontMetrics().height() * 26)

    def show_code(self, code: str) -> None:
        self.code.setText(code)
        self._enable(True)

    def show_board(self, board: Board) -> None:
        """Some tiles are new or other ones, and how the class is."""
        for tile in board["tiles"]:
            self._tiles[tile["seat"]] = tile
            if self.who.findData(str(tile["seat"])) < 0:
                self.who.addItem(tr("to {name}").format(name=tile["name"]), str(tile["seat"]))
        chosen = self.tiles.currentIndex().row()
        self.tiles.table.replace(self._tiles[number] for number in sorted(self._tiles))
        if chosen >= 0:
            self.tiles.selectRow(chosen)
        self.state.setText(self._said(board))
        self.freeze.setEnabled(board["state"] == "running")
        self.go.setEnabled(board["state"] == "frozen")
        self.finish.setEnabled(board["state"] != "over")

    def _said(self, board: Board) -> str:
        tiles = self._tiles.values()
        there = sum(bool(tile["connected"]) for tile in tiles)
        said = trn("{n} seat", "{n} seats", len(tiles)).format(n=len(tiles))
        said += ", " + tr("{n} connected").format(n=there)
        if board["state"] == "over":
            return f"{said}. " + tr("The class is over.")
        if board["state"] == "frozen" and board["not_frozen"]:
            return f"{said}. " + tr("Not frozen yet: {names}.").format(names=", ".join(board["not_frozen"]))
        return f"{said}. " + (tr("Frozen.") if board["state"] == "frozen" else tr("Running."))

    def show_problem(self, text: str) -> None:
        self.state.setText(text)

    def _send(self) -> None:
        text = self.text.text().strip()
        if text:
            self.said.emit(f"{self.what.currentData()} {self.who.currentData()} {text}")
            self.text.clear()

    def _enable(self, there: bool) -> None:
        for button in (self.copy, self.freeze, self.go, self.finish, self.send):
            button.setEnabled(there)

    def reject(self) -> None:
        """Escape puts it aside; the class goes on."""
        self.hide()


def _row(*parts: QWidget | None) -> QHBoxLayout:
    """Beside one another; None is the room between left and right."""
    row = QHBoxLayout()
    for part in parts:
        if part is None:
            row.addStretch()
        else:
            row.addWidget(part, 1 if isinstance(part, QLineEdit) else 0)
    return row
