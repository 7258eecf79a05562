"""Replay that the instructor leads: one or two runs at one shared time, on the station and on every seat."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct
from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QInputDialog,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QSplitter,
    QWidget,
)

from app.classroom.messages.replies import ClassMark
from app.view_models.run_timeline import TimelineMarker, start_timeline
from app.widgets import theme
from app.widgets.flow_layout import FlowLayout
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.timeline_strip import TimelineStrip
from app.words import formatting
from app.words.language import tr
from app.words.localization import describe_input
from engine.constants import TICKS_PER_S
from engine.drill.judging.report import group_clients_by_database
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.model import Tick, to_ticks
from engine.overrides import override

FRAME_INTERVAL_MS: Final = 100
"""Wall time between two frames while the replay plays."""
SHARE_INTERVAL_MS: Final = 400
"""Minimum wall time between two positions that are sent to the seats."""
REPLAY_SPEEDS: Final = (1, 2, 5, 10)
"""Replay speeds in simulated seconds per wall second."""
COMMAND_LIST_LINES: Final = 6
"""Height of the command list in lines."""
JUMP_LIST_WIDTH_LETTERS: Final = 60
"""Maximum width of the list of jump targets, in letters."""


class RunTopology(Protocol):
    """Interface of a topology view that shows a run."""

    def show_drill(self, drill: Drill) -> None:
        """Show *drill* at its current time."""


class JumpTarget(Struct, frozen=True):
    """Time to which the instructor can jump: a mark set by the instructor, or a divergence of seats."""

    t_s: float
    text: str
    groups: tuple[tuple[int, ...], ...] = ()
    """Candidate seats for the left and the right side.

    Each side shows its first candidate that permits watching. Empty means to keep the seats on screen.
    """


def convert_to_jump_target(class_mark: ClassMark) -> JumpTarget:
    """Convert a mark set by the instructor to a jump target."""
    groups = () if class_mark.seat is None else ((class_mark.seat,),)
    return JumpTarget(class_mark.t_s, class_mark.text, groups)


class RunPane(QWidget):
    """Pane with the run of one seat: name, timeline, topology, and the commands up to the shown time."""

    time_clicked = Signal(float)

    def __init__(self, topology: QWidget) -> None:
        super().__init__()
        self._topology = topology
        self._history: History | None = None
        self._tick: Tick = -1
        self.title = QLabel(
            textFormat=Qt.TextFormat.PlainText
        )  # the name comes from the seat and may contain HTML
        self.title.setFont(theme.resize_font(self.title.font(), 1.2, bold=True))
        self.strip = TimelineStrip()
        self.strip.time_clicked.connect(self.time_clicked)
        self.commands = QPlainTextEdit()
        self.commands.setReadOnly(True)
        self.commands.setAccessibleName(tr("Commands"))
        self.commands.setFont(theme.build_fixed_font())
        self.commands.setMaximumHeight(self.fontMetrics().lineSpacing() * (COMMAND_LIST_LINES + 1))
        build_widget_column(self.title, self.strip, (topology, 1), self.commands, parent=self, margins=0)

    @property
    def end_tick(self) -> Tick:
        """Tick at which the run ends."""
        return 0 if self._history is None else self._history.drill.tick

    def show_run(self, title: str, history: History, markers: Sequence[TimelineMarker]) -> None:
        """Show another run from its start, with *markers* on its timeline."""
        self._history, self._tick = history, -1
        self.title.setText(title)
        self.title.setAccessibleName(title)
        drill = history.drill
        course = start_timeline(
            drill.scenario, drill.world.availability, group_clients_by_database(drill.scenario)
        )
        course.add_events(event.as_json() for event in drill.events)
        for mark in markers:
            course.add_marker(mark)
        self.strip.show_timeline(course, drill.world.t_s, is_live=False)

    def show_time(self, tick: Tick) -> None:
        """Show the run at *tick*, or at its end if the run is shorter."""
        if self._history is None or tick == self._tick:
            return
        self._tick = tick
        drill = self._history.seek(tick)
        picture: RunTopology = self._topology  # type: ignore[assignment]
        picture.show_drill(drill)
        self.strip.show_time(tick / TICKS_PER_S)
        lines = [
            f"{formatting.format_run_time(item.tick / TICKS_PER_S)}  {describe_input(item.line_without_time, {})}"
            for item in drill.journal
        ]
        self.commands.setPlainText("\n".join(lines))
        self.commands.moveCursor(QTextCursor.MoveOperation.End)


class RunPairPane(QWidget):
    """Pane with one run, or two runs side by side, at one shared time."""

    time_clicked = Signal(float)
    """Signal: seconds since the start, from a click on a timeline."""

    def __init__(self, create_topology: Callable[[], QWidget]) -> None:
        super().__init__()
        self.panes = (RunPane(create_topology()), RunPane(create_topology()))
        split = QSplitter()
        split.setChildrenCollapsible(False)
        for pane in self.panes:
            pane.time_clicked.connect(self.time_clicked)
            split.addWidget(pane)
        split.setSizes([1_000, 1_000])
        build_widget_column(split, parent=self, margins=0)

    @property
    def end_tick(self) -> Tick:
        """Tick at which the longer run ends."""
        return max(pane.end_tick for pane in self.panes if not pane.isHidden())

    def show_runs(
        self, runs: Sequence[tuple[str, History]], marker_lists: Sequence[Sequence[TimelineMarker]] = ((), ())
    ) -> None:
        """Show one or two runs with their titles and markers."""
        for pane, run, markers in zip(self.panes, runs, marker_lists, strict=False):
            pane.show_run(*run, markers)
        self.panes[1].setVisible(len(runs) > 1)

    def show_time(self, tick: Tick) -> None:
        """Show all runs at *tick*."""
        for pane in self.panes:
            if not pane.isHidden():
                pane.show_time(tick)


class SeatReplay(QWidget):
    """Window of a seat that follows the instructor's replay: the same runs at the same time."""

    leave_wanted = Signal()
    """Signal: the participant wants to return to their own run."""

    def __init__(self, create_topology: Callable[[], QWidget], parent: QWidget | None = None) -> None:
        super().__init__(
            parent, Qt.WindowType.Window | Qt.WindowType.CustomizeWindowHint | Qt.WindowType.WindowTitleHint
        )
        self.setWindowTitle(tr("Replay with the instructor"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.pair = RunPairPane(create_topology)
        self.time = QLabel()
        self.time.setFont(theme.resize_font(self.time.font(), 1.2, bold=True))
        self.leave = QPushButton(tr("Return to my run"))
        self.leave.setToolTip(tr("The connection to the class is lost"))
        self.leave.clicked.connect(self.leave_wanted)
        self.leave.hide()
        build_widget_column(build_row((self.time, 1), self.leave), (self.pair, 1), parent=self)

    def show_time(self, tick: Tick) -> None:
        """Show the instructor's position *tick*."""
        self.time.setText(
            tr("The instructor shows {t}. Your own run is paused.").format(
                t=formatting.format_run_time(tick / TICKS_PER_S)
            )
        )
        self.pair.show_time(tick)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep the window open while the instructor leads the replay.

        The participant's own run is paused during the replay, and only this window shows the reason.
        """
        event.setAccepted(not self.leave.isHidden())
        if event.isAccepted():
            self.leave_wanted.emit()


class ReplayPage(QWidget):
    """Page of the station for replays: choose seats and a time, play, and show the replay to all seats."""

    runs_wanted = Signal(list)
    """Signal: numbers of the seats to show."""
    line_wanted = Signal(str)
    """Signal: line for `class console`."""
    closed = Signal()

    def __init__(self, create_topology: Callable[[], QWidget]) -> None:
        super().__init__()
        self._tick: Tick = 0
        self._wanted_tick: Tick | None = None
        """Time to show after the runs have arrived."""
        self._marks: list[JumpTarget] = []
        self._divergences: list[JumpTarget] = []
        self.seats = (QComboBox(), QComboBox())
        for box, name in zip(self.seats, (tr("Seat on the left"), tr("Seat on the right")), strict=True):
            box.setAccessibleName(name)
            box.setToolTip(name)
            box.activated.connect(lambda _: self._ask_for_runs(self._tick))
        self.jump_list = QComboBox()
        self.jump_list.setAccessibleName(tr("Marks, and times at which seats made different choices"))
        self.jump_list.activated.connect(self._jump_to_row)
        self.jump_list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.jump_list.setMaximumWidth(self.fontMetrics().averageCharWidth() * JUMP_LIST_WIDTH_LETTERS)
        self.find_divergences = _build_button(tr("F&ind where seats chose differently"))
        self.find_divergences.clicked.connect(self._find_divergences)
        self.pair = RunPairPane(create_topology)
        self.pair.time_clicked.connect(lambda t_s: self.move_to(to_ticks(t_s)))
        self.play = _build_button(tr("&Play"))
        self.play.setCheckable(True)
        self.play.toggled.connect(self._toggle_play)
        self.speed = QComboBox()
        self.speed.setAccessibleName(tr("Speed"))
        for speed in REPLAY_SPEEDS:
            self.speed.addItem(f"{speed}×", speed)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Time"))
        self.slider.setPageStep(10)
        self.slider.valueChanged.connect(lambda value: self.move_to(value * TICKS_PER_S))
        self.time = QLabel()
        self.mark_button = _build_button(tr("Mark this &time…"))
        self.mark_button.clicked.connect(self._ask_for_mark)
        self.share = _build_button(tr("Show to &all seats"))
        self.share.setCheckable(True)
        self.share.setProperty("primary", "true")
        self.share.toggled.connect(self._toggle_share)
        self.back = _build_button(tr("&Back to the roster"))
        self.back.clicked.connect(self.closed)
        top = FlowLayout(6)
        for chooser in (
            self.back,
            *self.seats,
            self.jump_list,
            self.find_divergences,
            self.mark_button,
            self.share,
        ):
            top.addWidget(chooser)
        layout = build_row(self.play, self.speed, (self.slider, 1), self.time)
        build_widget_column(top, (self.pair, 1), layout, parent=self, margins=0)
        self._player = QTimer(self, interval=FRAME_INTERVAL_MS)
        self._player.timeout.connect(self._advance)
        self._share_timer = QTimer(self, interval=SHARE_INTERVAL_MS, singleShot=True)
        self._share_timer.timeout.connect(self._send_position)
        self._show_jumps()

    # --- state

    def show_seats(self, seats: Sequence[tuple[int, str]]) -> None:
        """Offer the seats of the class and keep the selection."""
        for index, box in enumerate(self.seats):
            no_seat_entry = [(None, tr("no second seat"))] if index else []
            entries = [*no_seat_entry, *seats]
            if [box.itemData(row) for row in range(box.count())] != [number for number, _ in entries]:
                chosen_seat = box.currentData()
                box.clear()
                for number, name in entries:
                    box.addItem(name, number)
                box.setCurrentIndex(max(0, box.findData(chosen_seat)))

    def show_marks(self, targets: Sequence[JumpTarget]) -> None:
        """Offer the instructor's marks as jump targets."""
        if list(targets) != self._marks:
            self._marks = list(targets)
            self._show_jumps()

    def show_divergences(self, divergences: Sequence[JumpTarget]) -> None:
        """Offer the divergences of seats as jump targets."""
        self._divergences = list(divergences)
        self.find_divergences.setEnabled(True)
        self._show_jumps()
        if divergences:
            self.jump_list.setCurrentIndex(1 + len(self._marks))
            self._jump_to_row(self.jump_list.currentIndex())

    def _show_jumps(self) -> None:
        self.jump_list.clear()
        count = len(self._marks) + len(self._divergences)
        self.jump_list.addItem(tr("Go to…") if count else tr("No marks yet"))
        for target in (*self._marks, *self._divergences):
            self.jump_list.addItem(f"{formatting.format_run_time(target.t_s)}  {target.text}")

    def _find_divergences(self) -> None:
        self.find_divergences.setEnabled(False)
        self.line_wanted.emit("partings")

    def _jump_to_row(self, row: int) -> None:
        if row > 0:
            self.jump_to((*self._marks, *self._divergences)[row - 1])

    def jump_to(self, target: JumpTarget) -> None:
        """Show the seats and the time of *target*."""
        rows = [
            next((row for number in group if (row := self.seats[0].findData(number)) >= 0), None)
            for group in target.groups
        ]
        shown_seats = [self.seats[0].itemData(row) for row in rows if row is not None]
        if target.groups and not shown_seats:
            self.time.setText(tr("The participants in this comparison do not allow watching."))
            return
        if shown_seats:
            for box, number in zip(self.seats, (*shown_seats, None), strict=False):
                box.setCurrentIndex(max(0, box.findData(number)))
        self._ask_for_runs(to_ticks(target.t_s))

    def open_seat(self, seat: int, t_s: float) -> None:
        """Show the run of *seat* at *t_s*.

        If *seat* does not permit watching, show the first listed seat that does.
        """
        listed_seats = [self.seats[0].itemData(row) for row in range(self.seats[0].count())]
        self.jump_to(JumpTarget(t_s, "", ((seat, *listed_seats),)))

    def _ask_for_runs(self, tick: Tick) -> None:
        self._wanted_tick = tick
        if self.chosen_seats:
            self.runs_wanted.emit(self.chosen_seats)

    @property
    def chosen_seats(self) -> list[int]:
        """Numbers of the selected seats."""
        numbers = [box.currentData() for box in self.seats]
        return list(dict.fromkeys(number for number in numbers if number is not None))

    def show_runs(self, runs: Sequence[tuple[str, History]]) -> None:
        """Show the requested runs."""
        marks = [
            [
                TimelineMarker(mark.t_s, "note", mark.text)
                for mark in self._marks
                if not mark.groups or seat in mark.groups[0]
            ]
            for seat in self.chosen_seats
        ]
        self.pair.show_runs(runs, marks)
        with QSignalBlocker(self.slider):
            self.slider.setMaximum(self.pair.end_tick // TICKS_PER_S)
        tick, self._wanted_tick = self._wanted_tick or 0, None
        self._tick = -1
        self.move_to(tick)
        self._send_position()

    def _ask_for_mark(self) -> None:
        """Ask for the text of a mark at the shown time of the left seat."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle(tr("Mark this time"))
        dialog.setLabelText(tr("Text of the mark"))
        at_s, seats = self.shown_s, self.chosen_seats
        dialog.textValueSelected.connect(
            lambda text: self.line_wanted.emit(f"mark {seats[0]} at {at_s:g} {text.strip()}")
        )
        if seats:
            dialog.open()

    # --- its position

    @property
    def shown_s(self) -> float:
        """Shown time in seconds."""
        return self._tick / TICKS_PER_S

    def move_to(self, tick: Tick) -> None:
        """Show *tick*. While the runs are shared, all seats follow."""
        tick = min(max(0, tick), self.pair.end_tick)
        if tick == self._tick:
            return
        self._tick = tick
        # the slider has whole seconds, so its signal would round the time down
        with QSignalBlocker(self.slider):
            self.slider.setValue(tick // TICKS_PER_S)
        end_time = formatting.format_run_time(self.pair.end_tick / TICKS_PER_S)
        self.time.setText(f"{formatting.format_run_time(self.shown_s)} / {end_time}")
        self.pair.show_time(tick)
        if not self._share_timer.isActive():
            self._share_timer.start()

    def _advance(self) -> None:
        self.move_to(self._tick + self.speed.currentData() * TICKS_PER_S * FRAME_INTERVAL_MS // 1000)
        if self._tick >= self.pair.end_tick:
            self.play.setChecked(False)

    def _toggle_play(self, plays: bool) -> None:
        self.play.setText(tr("Pa&use") if plays else tr("&Play"))
        self._player.start() if plays else self._player.stop()

    def _toggle_share(self, shares: bool) -> None:
        self.share.setText(tr("Stop &sharing") if shares else tr("Show to &all seats"))
        if shares:
            self._send_position()
        else:
            self.line_wanted.emit("show none")

    def _send_position(self) -> None:
        if self.share.isChecked() and self.chosen_seats:
            self.line_wanted.emit(
                f"show {' and '.join(map(str, self.chosen_seats))} at {max(0.0, self.shown_s):g}"
            )

    def stop_sharing(self) -> None:
        """Stop sharing the replay after the host has refused it. Send no message to the host."""
        self.share.blockSignals(True)
        self.share.setChecked(False)
        self.share.setText(tr("Show to &all seats"))
        self.share.blockSignals(False)


def _build_button(text: str) -> QPushButton:
    button = QPushButton(text)
    button.setAutoDefault(False)
    return button
