"""Instructor station: roster, lobby, live view of a seat, prepared events, messages and sent lines."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.classroom.messages.replies import DashboardUpdate, SeatTile
from app.views.classroom import roster
from app.views.classroom.dialogs import build_seat_file_filter
from app.views.classroom.instruction_lines import INSTRUCTIONS, INSTRUCTIONS_AFTER_END
from app.views.classroom.lobby import Lobby, ProjectorView
from app.views.classroom.roster import SORT_KEYS, RosterTable
from app.views.classroom.shared_replay import ReplayPage, convert_to_jump_target
from app.views.classroom.suggested_answers import SuggestedAnswers
from app.widgets import theme
from app.widgets.flow_layout import FlowLayout, build_flow_row, build_label_row
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.save_file import ask_for_file
from app.widgets.scroll_container import fit_on_screen, wrap_in_scroll_area
from app.widgets.tables import show_plain_text
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import describe_input

ALL_SEATS_RECIPIENT: Final = "all"
SELECTED_SEAT_RECIPIENT: Final = "selected"
TITLE_SCALE: Final = 1.3
"""Size of the title relative to other text."""
GAP_PX: Final = 6
"""Gap between buttons in a row, in pixels."""
WATCHED_COMMANDS_SHOWN_MAX: Final = 4
"""Number of last commands that the station shows for a watched seat."""
INPUT_WIDTH_LETTERS: Final = 16
"""Minimum width of selection boxes and text fields, in letters."""
STATION_WIDTH_LETTERS: Final = 190
"""Preferred width of the station in letters. A smaller screen limits it."""
SuggestAnswers = Callable[[str, Sequence[str]], Sequence[str]]
COPYABLE_TEXT_FLAGS: Final = (
    Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
)
"""Interaction flags of texts that can be copied."""


class InstructorStation(QDialog):
    """Instructor station. It sends its requests to the host as lines of `class console`."""

    line_entered = Signal(str, str)
    """Signal: a line, and a description of its recipients."""
    hidden = Signal()
    """Signal: the station was closed, and the class continues."""
    help_wanted = Signal()
    """Signal: F1 was pressed."""
    join_sheet_wanted = Signal(str)
    """Signal: file name for the join sheet, a printable page with the join code."""
    end_wanted = Signal()
    """Signal: the user wants to close the class."""
    seat_file_wanted = Signal(str)
    """Signal: file name for the seat file, with which seats without a network can start."""
    report_wanted = Signal(str, bool)
    """Signal: file name of the report, and whether the report contains people's names."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(tr("Instructor station"))
        self._tiles: dict[int, SeatTile] = {}
        self._watched_seat: int | None = None
        self._view: QWidget | None = None
        self._title = self._last_shown_line = ""
        """Title of the drill, and the line that began the shared replay."""
        self._suggest: SuggestAnswers = lambda _question, _results: []
        self._goal_texts: Mapping[str, str] = {}
        self._has_begun = False
        self._board: DashboardUpdate | None = None
        self.projector: ProjectorView | None = None
        self._make_top()
        self._make_roster()
        self._make_controls()
        self._make_side()
        self._show_argument_hint()
        self._lay_out()
        self._enable(False)
        show_plain_text(self)  # names and questions come from the seats and may contain HTML
        self.tiles.setFocus()
        metrics = self.fontMetrics()
        fit_on_screen(self, metrics.averageCharWidth() * STATION_WIDTH_LETTERS, metrics.height() * 40)

    def _make_top(self) -> None:
        self.title = QLabel(tr("Starting the class…"))
        self.title.setFont(theme.resize_font(self.title.font(), TITLE_SCALE, bold=True))
        self.code, self.state, self.answer = QLabel(), QLabel(), QLabel(" ")
        self.code.setFont(theme.build_fixed_font())
        for label in (self.title, self.state, self.answer):
            label.setWordWrap(True)
        for label in (self.code, self.answer):
            label.setTextInteractionFlags(COPYABLE_TEXT_FLAGS)
        self.help_count = QLabel()
        self.help_count.setFont(theme.resize_font(self.help_count.font(), 1.0, bold=True))
        self.copy_button = _build_button(tr("&Copy the code"))
        self.projector_button = _build_button(tr("Pro&jector view"))
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.code.text()))
        self.projector_button.clicked.connect(self.show_projector)
        self.join_sheet_button = _build_button(tr("Handout for seats…"))
        self.join_sheet_button.clicked.connect(self._save_join_sheet)
        QShortcut(QKeySequence("F1"), self, self.help_wanted.emit)
        self.offline_seats_button = _build_button(tr("Seats without &network"))
        menu = QMenu(self.offline_seats_button)
        menu.addAction(tr("&Save the class file for seats…"), self._save_seat_file)
        menu.addAction(tr("&Import seat logs…"), self._choose_log_to_hand_in)
        self.offline_seats_button.setMenu(menu)

    def _make_roster(self) -> None:
        self.tiles = RosterTable()
        self.tiles.activated.connect(lambda _: self._send_seat_line("look"))
        for key, act in (("M", self._write_message), ("P", self._toggle_pause)):
            shortcut = QShortcut(QKeySequence(key), self.tiles, act)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.tiles.selectionModel().currentRowChanged.connect(lambda *_: self._show_selected())
        self.sort_order, self.hide_names = QComboBox(), QCheckBox(tr("Hide na&mes"))
        for word in SORT_KEYS:
            self.sort_order.addItem(tr(word), word)
        self.sort_order.setAccessibleName(tr("Order of seats"))
        self.sort_order.currentIndexChanged.connect(self._show_tiles)
        self.hide_names.toggled.connect(self._show_tiles)
        self.hide_names.toggled.connect(self._show_selected)

    def _make_controls(self) -> None:
        self.freeze_button, self.resume_button = _build_button(tr("&Freeze")), _build_button(tr("&Resume"))
        self.resume_button.setProperty("primary", "true")
        self.resume_button.hide()  # the first start of the class is in the lobby, not here
        self.finish, self.next_part = _build_button(tr("&End class")), _build_button(tr("Ne&xt part"))
        self.next_part.setVisible(False)
        self.next_part.clicked.connect(lambda: self._send_line("next"))
        self.report, self.end = _build_button(tr("Save rep&ort…")), _build_button(tr("C&lose the class"))
        self.report.clicked.connect(self._save_report)
        button_lines = ((self.freeze_button, "freeze"), (self.resume_button, "go"), (self.finish, "finish"))
        for button, line in button_lines:
            button.clicked.connect(lambda _=False, line=line: self._send_to_all(line))
        self.end.clicked.connect(self.end_wanted)
        self.instruction, self.recipient, self.text = QComboBox(), QComboBox(), QLineEdit()
        for word in INSTRUCTIONS:
            self.instruction.addItem(tr(word), word)
        self.instruction.currentIndexChanged.connect(self._show_argument_hint)
        self.instruction.setAccessibleName(tr("Kind of message"))
        self.recipient.setAccessibleName(tr("Recipient"))
        self.recipient.addItem(tr("to all"), ALL_SEATS_RECIPIENT)
        self.recipient.addItem(tr("to the selected seat"), SELECTED_SEAT_RECIPIENT)
        self.send = _build_button(tr("Sen&d"))
        self.send.clicked.connect(self._send_typed_line)
        self.text.returnPressed.connect(self._send_typed_line)
        self.of_seat = {
            "look": _build_button(tr("&Watch")),
            "take": _build_button(tr("&Take control")),
            "give": _build_button(tr("Ret&urn control")),
            "lower": _build_button(tr("Lower &hand")),
        }
        self.of_seat["look"].setProperty("primary", "true")
        for word, button in self.of_seat.items():
            button.clicked.connect(lambda _=False, word=word: self._send_seat_line(word))
        self.open_replay = _build_button(tr("Re&play and show to all"))
        self.open_replay.clicked.connect(self._open_replay)

    def _make_side(self) -> None:
        """Build the pages next to the roster: lobby, seat, prepared events, notes and sent messages."""
        self.lobby = Lobby()
        self.lobby.start_wanted.connect(lambda: self._send_to_all("go"))
        self.watched_label = QLabel(tr("Select a seat, and press Watch to see it live."))
        self.summary, self.question = QLabel(), QLabel()
        self.summary.setTextInteractionFlags(COPYABLE_TEXT_FLAGS)
        self.question.hide()
        self.suggested = SuggestedAnswers(self._suggest_answers)
        self.suggested.chosen.connect(self._insert_suggestion)
        self.watched_lines = QPlainTextEdit()
        self.watched_lines.setReadOnly(True)
        self.watched_lines.setAccessibleName(tr("Last commands of the seat"))
        self.watched_lines.setFont(theme.build_fixed_font())
        self.watched_lines.setFixedHeight(self.fontMetrics().lineSpacing() * (WATCHED_COMMANDS_SHOWN_MAX + 1))
        self.watched_lines.hide()
        self.replay: ReplayPage | None = None
        view_place = QWidget()
        self._view_place = QVBoxLayout(view_place)
        self._view_place.setContentsMargins(0, 0, 0, 0)
        self.pages, self.events, buttons = QStackedWidget(), QWidget(), QWidget()
        self.events_recipient = QLabel()
        self._events_row = FlowLayout(GAP_PX, buttons)
        build_widget_column(self.events_recipient, buttons, (QWidget(), 1), parent=self.events)
        self.recipient.currentIndexChanged.connect(lambda _: self._show_recipient())
        self._show_recipient()
        self.notes, self.sent = QPlainTextEdit(), QPlainTextEdit()
        for text, name in ((self.notes, tr("Author's notes")), (self.sent, tr("Sent"))):
            text.setReadOnly(True)
            text.setAccessibleName(name)
        seat = QWidget()
        column = QVBoxLayout(seat)
        for part in (self.watched_label, self.summary, self.question):
            part.setWordWrap(True)
            column.addWidget(part)
        column.addWidget(self.suggested, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(view_place, 1)
        column.addWidget(self.watched_lines)
        column.addLayout(build_flow_row(GAP_PX, (*self.of_seat.values(), self.open_replay)))
        self.side = QTabWidget()
        for page, name in (
            (wrap_in_scroll_area(self.lobby), tr("Lobby")),
            (seat, tr("Seat")),
            (wrap_in_scroll_area(self.events), tr("Prepared events")),
            (self.notes, tr("Author's notes")),
            (self.sent, tr("Sent")),
        ):
            self.side.addTab(page, name)

    def _lay_out(self) -> None:
        split = QSplitter()
        split.addWidget(self.tiles)
        split.addWidget(self.side)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setChildrenCollapsible(False)
        split.setSizes([3_400, 1_900])
        layout = QVBoxLayout(self)
        layout.addLayout(build_label_row(GAP_PX, self.title, self.code, self.copy_button))
        seat_buttons = (self.projector_button, self.join_sheet_button, self.offline_seats_button)
        layout.addLayout(build_label_row(GAP_PX, self.state, *seat_buttons))
        class_buttons = (self.resume_button, self.freeze_button, self.next_part, self.finish)
        roster_parts = (self.help_count, self.sort_order, self.hide_names)
        layout.addLayout(build_flow_row(GAP_PX, class_buttons, roster_parts))
        self.pages.addWidget(split)
        layout.addWidget(self.pages, 1)
        # these parts may shrink, so that the window fits the screen
        for part in (self.instruction, self.recipient, self.text):
            part.setMinimumWidth(self.fontMetrics().averageCharWidth() * INPUT_WIDTH_LETTERS)
        layout.addLayout(build_row(self.instruction, self.recipient, (self.text, 1), self.send))
        layout.addLayout(build_label_row(GAP_PX, self.answer, self.report, self.end))

    def show_code(self, code: str) -> None:
        """Show the join code."""
        self.code.setText(code)
        self.lobby.show_code(code)
        if self.projector is not None:
            self.projector.show_code(code)
        self._enable(True)

    def show_class(
        self,
        title: str,
        notes: str,
        events: Sequence[str],
        suggest: SuggestAnswers = lambda _question, _met: [],
        goal_texts: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Show the drill, its author's notes, and a button for each input line of *events*.

        *suggest*: returns suggested answers, given a question and the met goals. *goal_texts*: name of a goal
        -> text.
        """
        self._title, self._suggest, self._goal_texts = title, suggest, goal_texts
        self.title.setText(tr("Class: {title}").format(title=title))
        if self.projector is not None:
            self.projector.show_title(title)
        self.notes.setPlainText(notes or tr("No notes from the author."))
        self._events_row.delete_widgets()  # remove the events of an earlier part
        for line in events:
            button = _build_button(describe_input(line, {}))
            button.setToolTip(tr("Apply this event to the recipient chosen below"))
            button.clicked.connect(lambda _=False, act=f"inject {{who}} {line}": self._send_to_recipient(act))
            self._events_row.addWidget(button)

    def set_live_view(self, view: QWidget) -> None:
        """Show *view* as the live topology of the watched seat."""
        self._view = view
        self._view_place.addWidget(view)

    def set_replay_page(self, page: ReplayPage) -> None:
        """Add *page*, on which the instructor replays runs to the class."""
        self.replay = page
        self.pages.addWidget(page)
        page.closed.connect(lambda: self.pages.setCurrentIndex(0))
        page.line_wanted.connect(self._send_replay_line)

    def _open_replay(self) -> None:
        """Open the replay page with the run of the selected seat."""
        if self.replay is None:
            return
        tile = self._tiles.get(self.selected_seat or 0) or next(iter(self._tiles.values()), None)
        self.pages.setCurrentWidget(self.replay)
        if tile is not None:
            self.replay.open_seat(tile.seat, tile.at_s)

    def _send_replay_line(self, line: str) -> None:
        """Send a line of the replay page to the host, and list it among the sent lines.

        A line that only moves the same shared replay to another time is sent but not listed.
        """
        shown_line = line.partition(" at ")[0]
        if shown_line == self._last_shown_line and shown_line != "partings":
            self.line_entered.emit(line, "")
            return
        self._last_shown_line = shown_line
        self._send_line(line)

    def show_watched_seat(self, seat: int | None, at_s: float = 0.0, lines: Sequence[str] = ()) -> None:
        """Show which seat is watched, its time, and its last commands."""
        for part in filter(None, (self.watched_lines, self._view)):
            part.setVisible(seat is not None)
        self.watched_lines.setPlainText("\n".join(lines[-WATCHED_COMMANDS_SHOWN_MAX:]))
        if self._watched_seat != seat and seat is not None:
            self.side.setCurrentIndex(1)
        self._watched_seat = seat
        tile = None if seat is None else self._tiles.get(seat)
        if tile is None:
            self._show_selected()
        else:
            text = tr("Watching {seat}, live at {t}. Read-only.")
            if tile.held and not self._has_seat_ended(tile):
                text = tr("You control {seat}, at {t}. Right-click a server in the picture to act.")
            time_text = formatting.format_run_time(at_s)
            self.watched_label.setText(text.format(seat=self._describe_seat(tile), t=time_text))

    def send_to_watched_seat(self, line: str) -> None:
        """Send an input from the live view to the watched seat, if the instructor controls that seat."""
        tile = None if self._watched_seat is None else self._tiles.get(self._watched_seat)
        if tile is None:
            return
        if self._has_seat_ended(tile):
            self.show_reply(tr("The run of this seat has ended."))
        elif tile.held:
            self._send_line(f"inject {tile.seat} {line}")
        else:
            self.show_reply(tr("Take control of the seat first."))

    def show_projector(self) -> ProjectorView:
        """Open a separate window for the projector and return it."""
        if self.projector is None:
            self.projector = ProjectorView()
            self.projector.show_code(self.code.text())
            self.projector.show_title(self._title)
            if self._board is not None:
                self.projector.show_dashboard(self._board, list(self._tiles.values()))
        self.projector.show_on_projector()
        return self.projector

    def show_dashboard(self, dashboard: DashboardUpdate) -> None:
        """Show the seats that are new or changed, and the state of the class."""
        self._board = dashboard
        for tile in dashboard.tiles:
            self._tiles[tile.seat] = tile
            if tile.group and self.recipient.findData(f"@{tile.group}") < 0:
                self.recipient.addItem(tr("to group {name}").format(name=tile.group), f"@{tile.group}")
        self._show_tiles()
        self._show_selected()
        tiles = list(self._tiles.values())
        self.lobby.show_tiles(tiles)
        if self.replay is not None:
            allowed = [tile for tile in tiles if tile.consent or dashboard.state == "over"]
            self.replay.show_seats([(tile.seat, self._describe_seat(tile)) for tile in allowed])
            self.replay.show_marks(list(map(convert_to_jump_target, dashboard.marks)))
        if self.projector is not None:
            self.projector.show_dashboard(dashboard, tiles)
        has_begun = any(map(roster.has_started, tiles)) or dashboard.state != "frozen"
        self.resume_button.setVisible(has_begun)  # until the class has begun, it is started in the lobby
        if has_begun < self._has_begun:  # the class is now in a part that has not started yet
            self.show_watched_seat(None)
        if has_begun != self._has_begun:
            self.side.setCurrentIndex(int(has_begun))
        self._has_begun = has_begun
        needy = sum(map(roster.needs_help, tiles))
        help_text = trn("{n} seat needs help", "{n} seats need help", needy).format(n=needy)
        self.help_count.setText(help_text if needy else "")
        self.state.setText(roster.describe_class(dashboard, tiles, self.hide_names.isChecked()))
        self._enable_actions(dashboard)

    def _enable_actions(self, dashboard: DashboardUpdate) -> None:
        """Enable the actions that have an effect in the state of the class."""
        is_last = dashboard.part_number == dashboard.parts
        has_stopped = any(tile.stopped for tile in self._tiles.values())
        self.freeze_button.setEnabled(dashboard.state == "running")
        for button in (self.resume_button, self.lobby.start):
            button.setEnabled(dashboard.state == "frozen" or (has_stopped and not self._is_class_over))
        for part in (self.finish, self.events):
            part.setEnabled(not self._is_class_over)
        self.finish.setText(tr("&End class") if is_last else tr("&End this part"))
        self.next_part.setVisible(dashboard.parts > 1)
        self.next_part.setEnabled(self._is_class_over and not is_last)
        self._show_argument_hint()

    @property
    def _is_class_over(self) -> bool:
        """True if the class or its current part has ended."""
        return self._board is not None and self._board.state == "over"

    def _has_seat_ended(self, tile: SeatTile | None) -> bool:
        """Return True if the run of the seat has ended, either alone or with the class."""
        return self._is_class_over or (tile is not None and roster.has_finished(tile))

    @property
    def selected_seat(self) -> int | None:
        """Number of the selected seat, or None."""
        return self.tiles.selected_seat

    def _show_tiles(self) -> None:
        sort_key = SORT_KEYS[self.sort_order.currentData()]
        self.tiles.show_seats(list(self._tiles.values()), sort_key, self._format_name)

    def _show_selected(self) -> None:
        """Show the selected seat: its name in the list of recipients, its state and its question."""
        tile = None if self.selected_seat is None else self._tiles.get(self.selected_seat)
        index = self.recipient.findData(SELECTED_SEAT_RECIPIENT)
        name = "" if tile is None else self._describe_seat(tile)
        text = tr("to {seat}").format(seat=name) if name else tr("to the selected seat")
        self.recipient.setItemText(index, text)
        self._show_recipient()
        if self._watched_seat is None:
            seat_hint = tr("{seat}. Press Watch to see it live.").format(seat=name)
            hint = tr("Select a seat, and press Watch to see it live.")
            self.watched_label.setText(seat_hint if name else hint)
        self.summary.setText("" if tile is None else roster.describe_seat(tile, self._goal_texts))
        self.summary.setVisible(tile is not None and self._watched_seat in (None, tile.seat))
        for word, allowed in (
            ("look", tile is not None),
            ("take", tile is not None and not tile.held),
            ("give", tile is not None and tile.held),
            ("lower", tile is not None and tile.hand is not None),
        ):
            self.of_seat[word].setVisible(allowed or word == "look" or (word == "take" and tile is None))
        for word in ("take", "give"):
            self.of_seat[word].setEnabled(bool(self.code.text()) and not self._has_seat_ended(tile))
        asks = tile is not None and tile.hand is not None
        self.question.setVisible(asks)
        self.suggested.setVisible(asks and not self._has_seat_ended(tile))
        if tile is not None and asks:
            self.question.setText(tr("{seat} asks: “{question}”").format(seat=name, question=tile.hand))

    def _show_recipient(self) -> None:
        text = tr("The event is applied immediately {who}.").format(who=self.recipient.currentText())
        self.events_recipient.setText(text)

    def _suggest_answers(self) -> Sequence[str]:
        tile = None if self.selected_seat is None else self._tiles.get(self.selected_seat)
        if tile is None:
            return []
        goals = tile.verdict["goals"] if tile.verdict is not None else {}
        return self._suggest(tile.hand or "", [name for name, at_s in goals.items() if at_s is not None])

    def _insert_suggestion(self, text: str) -> None:
        """Put a suggested answer into the input line, where it can be edited before it is sent."""
        self.instruction.setCurrentIndex(0)
        self.recipient.setCurrentIndex(self.recipient.findData(SELECTED_SEAT_RECIPIENT))
        self.text.setText(text)
        self.text.setCursorPosition(0)
        self.text.setFocus()

    def describe_seat(self, number: int, name: str) -> str:
        """Return the seat's number, and its name unless names are hidden."""
        title = tr("Seat {n}").format(n=number)
        return title if self.hide_names.isChecked() else f"{title}, {name}"

    def _describe_seat(self, tile: SeatTile) -> str:
        return self.describe_seat(tile.seat, tile.name)

    def _format_name(self, tile: SeatTile) -> str:
        return tr("Seat {n}").format(n=tile.seat) if self.hide_names.isChecked() else str(tile.name)

    def _send_seat_line(self, command: str) -> None:
        if self.selected_seat is None:
            self.show_reply(tr("Select a seat first."))
        else:
            self._send_line(f"{command} {self.selected_seat}")

    def _send_line(self, line: str) -> None:
        """Send *line*, which contains its recipient: a seat number, a group or all."""
        word = line.split()[1] if " " in line else ALL_SEATS_RECIPIENT
        if word.startswith("@"):
            recipient = tr("Group {name}").format(name=word[1:])
        elif word.isdigit() and int(word) in self._tiles:
            recipient = self._describe_seat(self._tiles[int(word)])
        else:
            recipient = tr("All seats")
        self.show_reply("")
        self.sent.appendPlainText(f"{datetime.now():%H:%M:%S}  {recipient}: {line}")
        self.line_entered.emit(line, recipient)

    def show_failed_start(self, reason: str) -> None:
        """Show that the class could not start, and the reason."""
        self.title.setText(tr("The class did not start."))
        self.state.setText(reason)

    def show_reply(self, text: str) -> None:
        """Show the host's reply to the last request. It stays until the next reply."""
        self.answer.setText(text or " ")  # a blank keeps the height of the label, so that nothing below moves

    def _write_message(self) -> None:
        """Prepare the input line for a message to the selected seat."""
        self.instruction.setCurrentIndex(0)
        recipient = ALL_SEATS_RECIPIENT if self.selected_seat is None else SELECTED_SEAT_RECIPIENT
        self.recipient.setCurrentIndex(self.recipient.findData(recipient))
        self.text.setFocus()

    def _toggle_pause(self) -> None:
        if self.freeze_button.isEnabled():
            self._send_to_all("freeze")
        elif self.resume_button.isEnabled() and not self.resume_button.isHidden():
            self._send_to_all("go")

    def _send_to_all(self, line: str) -> None:
        """Send a line to all seats and move the focus to the roster.

        If the focus stayed on the button, the Space key would send the line again.
        """
        self._send_line(line)
        self.tiles.setFocus()

    def _send_to_recipient(self, line: str) -> bool:
        """Send *line* to the selected recipient. Return False if no seat is selected but *line* needs one."""
        recipient = str(self.recipient.currentData())
        needs_seat = "{seat}" in line or ("{who}" in line and recipient == SELECTED_SEAT_RECIPIENT)
        if needs_seat and self.selected_seat is None:
            self.show_reply(tr("Select a seat first."))
            return False
        recipient = str(self.selected_seat) if recipient == SELECTED_SEAT_RECIPIENT else recipient
        self._send_line(line.replace("{who}", recipient).replace("{seat}", str(self.selected_seat)).strip())
        return True

    def _send_typed_line(self) -> None:
        line, placeholder = INSTRUCTIONS[self.instruction.currentData()]
        text = self.text.text().strip()
        is_complete = text or not placeholder or line.endswith("?")
        if is_complete and self._send_to_recipient(line.rstrip("?").replace("{text}", text)):
            self.text.clear()

    def _show_argument_hint(self) -> None:
        line, placeholder = INSTRUCTIONS[self.instruction.currentData()]
        is_useful = not self._is_class_over or self.instruction.currentData() in INSTRUCTIONS_AFTER_END
        prompt = (
            placeholder
            if is_useful
            else mark("The seats have finished. They no longer receive messages or commands.")
        )
        self.text.setPlaceholderText(tr(prompt) if prompt else "")
        self.text.setEnabled(is_useful and bool(placeholder))
        self.recipient.setEnabled(is_useful and "{who}" in line)
        self.send.setEnabled(is_useful and bool(self.code.text()))

    def _enable(self, enabled: bool) -> None:
        buttons = (
            *self.of_seat.values(), self.open_replay,
            self.copy_button, self.projector_button, self.join_sheet_button, self.offline_seats_button, self.report,
            self.freeze_button, self.resume_button, self.finish, self.send, self.lobby.start, self.lobby.check,
        )  # fmt: skip
        for button in buttons:
            button.setEnabled(enabled)

    def _save_join_sheet(self) -> None:
        kind = tr("Web pages") + " (*.html)"
        self._save_file(tr("Save the handout for seats"), "seats.html", kind, self.join_sheet_wanted.emit)

    def _save_seat_file(self) -> None:
        kind = build_seat_file_filter()
        self._save_file(tr("Save the class file for seats"), "class.seat", kind, self.seat_file_wanted.emit)

    def _save_report(self) -> None:
        def send(name: str) -> None:
            self.report_wanted.emit(name, not self.hide_names.isChecked())

        self._save_file(tr("Save the report of the class"), "class.zip", tr("Reports") + " (*.zip)", send)

    def _save_file(self, title: str, name: str, kind: str, send: Callable[[str], None]) -> None:
        file = ask_for_file(self, title, name, kind)
        if file is not None:
            send(str(file))

    def _choose_log_to_hand_in(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, tr("Import seat logs"), "", build_seat_file_filter())
        for name in names:
            self.line_entered.emit(f"hand in {name}", "")

    def reject(self) -> None:
        """Hide the window on Escape. The class continues."""
        self.hide()
        self.hidden.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide the station and close the projector window."""
        super().closeEvent(event)
        if self.projector is not None:
            self.projector.close()


def _build_button(text: str) -> QPushButton:
    return QPushButton(text, autoDefault=False)
