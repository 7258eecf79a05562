"""Lobby of a class: join code and arrivals for the instructor, and the projector window."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QLabel, QPushButton, QVBoxLayout, QWidget

from app.classroom.class_check import ClassCheckResult
from app.classroom.messages.replies import DashboardUpdate, SeatTile
from app.views.classroom import roster
from app.widgets import theme
from app.widgets.qr import QrCode
from app.widgets.scroll_container import fit_on_screen
from app.widgets.tables import TableColumn, TableModel, TableView, show_plain_text
from app.words import formatting
from app.words.language import mark, tr, trn

COUNTDOWN_S: Final = 3
CHECK_SYMBOLS: Final = {True: "✓", False: "✗", None: "•"}
"""Result of a check before the class -> symbol in front of its text. None means a hint."""
CODE_SCALE: Final = 2.0
PROJECTOR_CODE_SCALE: Final = 3.8
"""Size of the join code relative to other text."""
QR_HEIGHT_LINES: Final = 18
CLOCK_SCALE: Final = 4.5
"""Relative size of the class clock, which must be legible in the whole room."""
PROJECTOR_TEXT_SCALE: Final = 1.9
"""Relative size of all other text on the projector, which must be legible from the back row."""
COPYABLE_TEXT_FLAGS: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
)


def describe_arrivals(tiles: Sequence[SeatTile]) -> str:
    """Describe how many seats have joined, and how many of them are ready."""
    ready = sum(roster.is_ready(tile) for tile in tiles)
    joined_text = trn("{n} seat has joined", "{n} seats have joined", len(tiles)).format(n=len(tiles))
    return f"{joined_text}, " + trn("{n} seat is ready", "{n} seats are ready", ready).format(n=ready)


class Lobby(QWidget):
    """Panel next to the roster with the join code, the arrivals and the start button."""

    start_wanted = Signal()
    check_wanted = Signal()
    """Signal: the user wants to check addresses, network and a test seat before people arrive."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.code, self.address, self.arrivals = QLabel(), QLabel(), QLabel()
        self.code.setFont(theme.build_fixed_font(CODE_SCALE))
        self.address.setFont(theme.build_fixed_font())
        for label in (self.code, self.address):
            label.setTextInteractionFlags(COPYABLE_TEXT_FLAGS)
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.join_steps = QLabel(tr("On each computer, choose Class ▸ Join a class and enter this code."))
        self.late = QLabel()
        self.show_late_rule(at_class_time=False)
        for label in (self.join_steps, self.arrivals, self.late):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.copy_hint = QLabel(
            tr("The QR code holds the same text. A camera app copies it; a phone cannot join.")
        )
        self.copy_hint.setWordWrap(True)
        self.copy_hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.qr = QrCode()
        self.start = QPushButton(tr("&Start for all"))
        self.start.setFont(theme.resize_font(self.start.font(), 1.4, bold=True))
        self.start.setProperty("primary", "true")
        self.start.setAutoDefault(False)
        self.start.clicked.connect(self.count_down)
        self.check = QPushButton(tr("Chec&k the network"))
        self.check.setToolTip(tr("Check addresses and network, and let a test seat join and leave"))
        self.check.setAutoDefault(False)
        self.check.clicked.connect(self._ask_for_check)
        self.findings = QLabel()
        self.findings.setWordWrap(True)
        self.findings.setTextInteractionFlags(COPYABLE_TEXT_FLAGS)
        self.findings.hide()
        self._remaining_s = 0
        self._timer = QTimer(self, interval=1000)
        self._timer.timeout.connect(self._show_next_second)
        column = QVBoxLayout(self)
        for part in (self.join_steps, self.code, self.address, self.arrivals):
            column.addWidget(part)
        for control in (self.start, self.check, self.findings, self.late):
            column.addWidget(control)
        column.addWidget(self.copy_hint)
        # the QR code is last, so that the buttons stay visible on a small screen
        column.addWidget(self.qr, 1)

    def _ask_for_check(self) -> None:
        self.check.setEnabled(False)
        self.findings.setText(tr("Checking the network…"))
        self.findings.show()
        self.check_wanted.emit()

    def show_findings(self, findings: Sequence[ClassCheckResult]) -> None:
        """Show the results of the check before the class."""
        self.check.setEnabled(True)
        self.findings.setText(
            "\n".join(f"{CHECK_SYMBOLS[finding.is_good]} {finding.text}" for finding in findings)
        )

    def show_code(self, code: str) -> None:
        """Show the join code."""
        secret, _, address = code.partition("@")
        self.code.setText(secret)
        self.address.setText(f"@{address}" if address else tr("No network: only seats on this computer."))
        self.qr.show_text(code)

    def show_late_rule(self, at_class_time: bool) -> None:
        """Show when late seats start: at the time of the class if *at_class_time*, otherwise at 0:00."""
        self.late.setText(
            tr("Late seats start at the current time of the class.")
            if at_class_time
            else tr("Late seats start at 0:00. The class does not wait.")
        )

    def show_tiles(self, tiles: Sequence[SeatTile]) -> None:
        """Show the number of seats that have joined and that are ready."""
        self.arrivals.setText(describe_arrivals(tiles) if tiles else tr("Nobody has joined yet."))

    def count_down(self) -> None:
        """Start the countdown, or cancel a running countdown."""
        if self._timer.isActive():
            self._timer.stop()
            self.start.setText(tr("&Start for all"))
            return
        self._remaining_s = COUNTDOWN_S
        self._timer.start()
        self._show_remaining_seconds()

    def _show_next_second(self) -> None:
        self._remaining_s -= 1
        if self._remaining_s > 0:
            self._show_remaining_seconds()
            return
        self._timer.stop()
        self.start.setText(tr("&Start for all"))
        self.start_wanted.emit()

    def _show_remaining_seconds(self) -> None:
        self.start.setText(tr("Starts in {n}… (press to cancel)").format(n=self._remaining_s))


RESULT_COLUMNS: Final[tuple[TableColumn[SeatTile], ...]] = (
    TableColumn(title=mark("Seat"), text=lambda tile: str(tile.name), sample="Annemarie Example"),
    TableColumn(
        title=mark("Goals"),
        text=lambda tile: _format_dots(tile),
        sample="●●●●● 5 of 5",
    ),
    TableColumn(
        title=mark("Time"), text=lambda tile: formatting.format_run_time(tile.at_s), sample="0:00:00"
    ),
    TableColumn(
        title=mark("Points"), text=lambda tile: _format_final_score(tile), is_number=True, sample="100"
    ),
)


def _format_dots(tile: SeatTile) -> str:
    """Return one dot for each goal: ● if the goal is reached, ○ if not."""
    goals = tile.verdict["goals"] if tile.verdict is not None else {}
    met_count = sum(met_t_s is not None for met_t_s in goals.values())
    return "●" * met_count + "○" * (len(goals) - met_count)


def _format_final_score(tile: SeatTile) -> str:
    return roster.format_score(tile) if tile.over else ""


class ProjectorView(QWidget):
    """Window for the projector: first the join code, then anonymous progress, then the results."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle(tr("Projector"))
        self._title = ""
        """Title of the drill."""
        self.title, self.join_steps, self.code, self.address, self.state, self.clock = (
            QLabel() for _ in range(6)
        )
        self.clock.setFont(theme.resize_font(self.clock.font(), CLOCK_SCALE, bold=True))
        self.title.setFont(theme.resize_font(self.title.font(), PROJECTOR_TEXT_SCALE, bold=True))
        self.code.setFont(theme.build_fixed_font(PROJECTOR_CODE_SCALE))
        self.address.setFont(theme.build_fixed_font(PROJECTOR_TEXT_SCALE))
        for label in (self.join_steps, self.state):
            label.setFont(theme.resize_font(label.font(), PROJECTOR_TEXT_SCALE))
        for label in (self.title, self.join_steps, self.code, self.address, self.state, self.clock):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setTextInteractionFlags(COPYABLE_TEXT_FLAGS)
        self.qr = QrCode()
        self.tiles = TableView(TableModel(RESULT_COLUMNS), tr("Progress"))
        self.tiles.setFont(theme.resize_font(self.tiles.font(), PROJECTOR_TEXT_SCALE))
        header = self.tiles.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tiles.setSelectionMode(TableView.SelectionMode.NoSelection)
        self.tiles.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.qr.setMaximumHeight(self.fontMetrics().height() * QR_HEIGHT_LINES)
        column = QVBoxLayout(self)
        for part in (self.title, self.join_steps, self.code, self.address, self.clock):
            column.addWidget(part)
        column.addWidget(self.qr, 2)
        column.addWidget(self.state)
        column.addWidget(self.tiles, 3)
        header.setFont(
            theme.resize_font(self.font(), PROJECTOR_TEXT_SCALE)
        )  # set the font only now, because a new parent resets it
        show_plain_text(self)  # names come from the seats and may contain HTML
        fit_on_screen(self, self.fontMetrics().averageCharWidth() * 110, self.fontMetrics().height() * 38)

    def show_title(self, title: str) -> None:
        """Show the title of the drill."""
        self._title = title
        self.title.setText(title)

    def show_code(self, code: str) -> None:
        """Show the join code."""
        secret, _, address = code.partition("@")
        self.code.setText(secret)
        self.address.setText(f"@{address}" if address else "")
        self.join_steps.setText(tr("Class ▸ Join a class: type the code, and your name."))
        self.qr.show_text(code)

    def show_on_projector(self) -> None:
        """Move this window to another screen, if there is one, and maximize it."""
        screen = self.screen()
        other_screens = [
            screen_choice for screen_choice in QGuiApplication.screens() if screen_choice is not screen
        ]
        if other_screens:
            self.setGeometry(other_screens[0].availableGeometry())
        self.showMaximized()

    def show_dashboard(self, dashboard: DashboardUpdate, tiles: Sequence[SeatTile]) -> None:
        """Show names in the lobby. After the start, show seat numbers with progress, and points at the end."""
        self.title.setText("\n".join(filter(None, (self._title, roster.describe_part(dashboard)))))
        is_over = dashboard.state == "over"
        lobby = not is_over and not any(map(roster.has_started, tiles))
        for part in (self.join_steps, self.code, self.address, self.qr):
            part.setVisible(lobby)
        self.tiles.setVisible(not lobby)
        self.clock.setVisible(not lobby)
        if lobby:
            names = ", ".join(tile.name for tile in tiles)
            arrivals = f"{describe_arrivals(tiles)}: {names}" if tiles else tr("Nobody has joined yet.")
            pause = "" if dashboard.break_s is None else roster.describe_class_state(dashboard)
            self.state.setText("\n".join(filter(None, (pause, arrivals))))
            return
        at_s = (
            max((tile.at_s for tile in tiles), default=0.0)
            if dashboard.clock_s is None
            else dashboard.clock_s
        )
        self.clock.setText(formatting.format_run_time(at_s))
        self.state.setText(roster.describe_class_state(dashboard))
        self.tiles.setColumnHidden(len(RESULT_COLUMNS) - 1, not any(map(_format_final_score, tiles)))
        if is_over:
            tiles = sorted(tiles, key=lambda tile: -float(_format_final_score(tile) or 0.0))
        anonymous_tiles = [replace(tile, name=tr("Seat {n}").format(n=tile.seat)) for tile in tiles]
        self.tiles.table.replace_rows(anonymous_tiles)
