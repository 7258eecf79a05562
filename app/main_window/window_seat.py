"""Seat of a class in this window. Its run is sent to the host and follows the instructor."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from queue import Empty
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QDialog, QVBoxLayout, QWidget

from app.classroom.gui_seat import GuiSeat
from app.classroom.log_entries import LogEntry
from app.classroom.messages.replies import (
    HandLowered,
    InstructionMessage,
    InstructorPresence,
    PaceState,
    RunShown,
    SeatMessage,
    SeatRefusal,
    SeatWelcome,
    ShownPosition,
    VerdictMessage,
)
from app.classroom.models import INJECT
from app.classroom.seat_orders import OBSERVATION_TEXTS, TAKEOVER_TEXTS, format_rewind
from app.classroom.seat_phase import PHASE_LABELS, SeatEvent, SeatPhase
from app.classroom.shared_replay import list_shown_runs
from app.classroom.verdict import FINISH_LINE
from app.learning.reflection import Reflection
from app.main_window.host_session import HostSession
from app.main_window.run_controller import RunController
from app.views.classroom import SeatReplay
from app.views.debrief.reflection import ReflectionForm
from app.views.topology import TopologyView
from app.widgets.notice import NoticeBar
from app.words import formatting
from app.words.language import tr
from engine.drill.judging.report import get_program_version
from engine.drill.running.drill import Drill
from engine.drill.running.modes import DrillMode
from engine.drill.time.cooperative_tasks import CooperativeTask, replay_inputs
from engine.drill.time.history import History
from engine.inputs import InputError

SLOW_JOIN_AFTER_S: Final = 8.0
"""Wall time after which the join dialog lists possible causes of a delay.

Assumed: a class on the network answers within three seconds.
"""
MESSAGE_CHECK_INTERVAL_MS: Final = 100
"""Interval between two checks for messages from the host of the class."""
FORM_WIDTH_CHARACTERS: Final = 70
"""Width of the reflection form, in characters of average width."""


def apply_seat_actions(history: History, actions: Iterable[LogEntry], tick: int) -> None:
    """Apply the *actions* of another seat to *history*, the run of that seat. Then advance to *tick*."""
    for act in actions:
        history.advance_to(act.tick)
        if act.line and not history.drill.finished:
            with suppress(InputError):  # the seat has refused this input as well
                history.apply_line(act.line)
    if tick > history.drill.tick and not history.drill.finished:
        history.advance_to(tick)


class WindowSeat(QObject):
    """Seat in this window. Its run follows the instructor while the run is on screen."""

    state_shown = Signal(str)
    """Signal: state of the seat as text."""
    join_progressed = Signal(str)
    """Signal: progress of joining as text."""
    joined = Signal()
    join_failed = Signal(str)
    """Signal: reason why the seat is not in the class."""
    class_over = Signal()
    part_changed = Signal(int, bool)
    """Signal: number of the current part, and whether the instructor may observe the seat.

    The seat must join again.
    """

    def __init__(
        self,
        gui_seat: GuiSeat,
        session: HostSession,
        play: RunController,
        notice: NoticeBar,
        parent: QObject,
        window: QWidget,
    ) -> None:
        super().__init__(parent)
        self._gui_seat, self._session, self._play, self._notice = gui_seat, session, play, notice
        self._orders = gui_seat.orders
        self._window = window
        self._reflects, self._has_reflected = False, False
        """Two flags: the class asks for a reflection; the person has written or skipped the reflection."""
        self._points = ""
        """Message with the points from the host, which is shown after the reflection."""
        self.form: QDialog | None = None
        """Form for the reflection in an exam, which has no debrief that asks for it; None if it is not open."""
        self._history: History | None = None
        self.replay: SeatReplay | None = None
        """Window with the runs that the instructor shows to all seats; None if none are shown."""
        self._is_reported = False
        """True if the person was asked to hand in the log."""
        self._should_resume = False
        """True if the run must continue when the instructor no longer holds it."""
        self._at_limit, self._is_ahead = False, False
        """Two flags: the run has reached its limit; it is ahead of the class clock."""
        self._attempt_start_s = time.monotonic()
        self._label = ""
        """State of the seat that was shown last."""
        self._timer = QTimer(self, interval=MESSAGE_CHECK_INTERVAL_MS)
        self._timer.timeout.connect(self._process_messages)
        self._timer.start()
        QTimer.singleShot(0, self, self._emit_state)
        session.running_changed.connect(self._keep_frozen)
        play.reflection_finished.connect(self._send_reflection)

    def leave(self) -> None:
        """Disconnect from the class. The person can return with the same code and name."""
        self._timer.stop()
        self._session.running_changed.disconnect(self._keep_frozen)
        self._play.reflection_finished.disconnect(self._send_reflection)
        self._return_to_own_run()
        self._gui_seat.disconnect()
        self.state_shown.emit("")

    @property
    def hand(self) -> str | None:
        """Question of the person; None if the hand is not raised."""
        return self._gui_seat.link.hand

    def raise_hand(self, question: str | None) -> None:
        """Raise the hand with *question*. None lowers the hand."""
        self._gui_seat.raise_hand(question)
        self._emit_state()
        if question is None:
            self._notice.show_info(tr("Your hand is lowered."))
        else:
            self._notice.show_info(tr("Your hand is raised. The instructor can see it."))

    def toggle_observation_consent(self) -> None:
        """Permit the instructor to observe the seat, or withdraw the permission."""
        allowed = not self._gui_seat.link.consent
        self._gui_seat.set_observation_consent(allowed)
        if allowed:
            self._notice.show_info(
                tr("The instructor may watch your seat now. You are notified when that happens.")
            )
        else:
            self._notice.show_info(tr("The instructor may no longer watch your seat."))

    # --- inside

    def _announce_presence(self, was_watched: bool) -> None:
        """Inform the person when the instructor starts or stops observing or controlling the seat."""
        orders = self._orders
        if orders.is_watched != was_watched:
            self._notice.show_info(OBSERVATION_TEXTS[orders.is_watched]())
        if orders.is_held != self._gui_seat.link.held:
            self._gui_seat.report_takeover(orders.is_held)
            self._notice.show_info(TAKEOVER_TEXTS[orders.is_held]())
        self._emit_state()

    def _describe_attempt(self) -> str:
        """Describe the current connection attempt and its duration."""
        link, waited_s = self._gui_seat.link, time.monotonic() - self._attempt_start_s
        text = (
            tr("Connecting to {addresses}… {n} s").format(
                addresses=", ".join(link.dialed_addresses), n=int(waited_s)
            )
            if link.dialed_addresses
            else tr("Searching the network for the class… {n} s").format(n=int(waited_s))
        )
        if waited_s >= SLOW_JOIN_AFTER_S:
            text += "\n" + tr(
                "No answer yet. Is this computer in the network of the class? Is the code right?"
            )
        return text

    def _emit_state(self) -> None:
        link = self._gui_seat.link
        if self._gui_seat.phase is SeatPhase.ENDED and self._orders.is_over:
            self._set_label(tr("the class has ended"))
            return
        known_state = (
            (True, tr(PHASE_LABELS[self._gui_seat.phase])),
            (link.hand is not None, tr("hand raised")),
            (self._orders.is_watched, tr("watched by the instructor")),
            (link.held, tr("controlled by the instructor")),
            (self._orders.is_frozen, tr("frozen") if self._is_run_started else tr("waiting for the start")),
        )
        self._set_label("  ·  ".join(words for shows, words in known_state if shows))

    def _set_label(self, label: str) -> None:
        if label != self._label:
            self._label = label
            self.state_shown.emit(label)

    def _show_shared_runs(self, message: RunShown) -> None:
        """Show the shared runs in a window over the desk, or return to the seat's own run.

        The instructor selects the runs.
        """
        history = self._history
        if history is None or (message.name is None and self.replay is None):
            return
        if message.name is None:
            self._return_to_own_run()
            return
        runs = []
        for seat, name, acts in list_shown_runs(message):
            shown_history = History(Drill(history.drill.scenario, history.drill.seed, DrillMode.PRACTICE))
            apply_seat_actions(shown_history, acts, 0)
            number = tr("Seat {n}").format(n=seat)
            runs.append((f"{number}, {name}" if seat else name, shown_history))
        if self.replay is None:
            self.replay = SeatReplay(TopologyView, self._window)
            self.replay.leave_wanted.connect(self._return_to_own_run)
            self.replay.showMaximized()
        self.replay.pair.show_runs(runs)
        self.replay.show_time(message.tick or 0)
        self._follow_instructor()

    def _return_to_own_run(self) -> None:
        """Close the window with the shared runs, and continue the seat's own run."""
        if self.replay is not None:
            self.replay.hide()
            self.replay.deleteLater()
            self.replay = None
        self._follow_instructor()

    @property
    def _is_exam(self) -> bool:
        return self._history is not None and not self._history.drill.permissions.shows_truth

    def _process_messages(self) -> None:
        """Process all messages of the host and all instructions that are due."""
        if self._is_replaying:
            if not self._session.is_loading:  # another run has replaced this run
                self._give_up()
            return
        if self._gui_seat.phase is SeatPhase.ENDED and not self._orders.is_over:
            self._give_up()  # the log cannot be written
            return
        if self._gui_seat.phase is SeatPhase.JOINING:
            self.join_progressed.emit(self._describe_attempt())
        self._gui_seat.change_phase(
            SeatEvent.CONNECT if self._gui_seat.link.is_answering else SeatEvent.DISCONNECT
        )
        self._emit_state()
        if self.replay is not None:  # without the host, only the person can close the shared runs
            self.replay.leave.setVisible(not self._gui_seat.link.is_answering)
        if self._history is not None and self._session.history is not self._history:
            self._gui_seat.change_phase(SeatEvent.END)  # another run is on screen
            if self._gui_seat.is_delivered:
                self._give_up()
            return
        while not self._is_replaying:
            try:
                self._handle_message(self._gui_seat.link.incoming.get_nowait())
            except Empty:
                break
        if self._is_replaying or not self._timer.isActive():
            return
        self._apply_limit()
        self._apply_instructions()
        if self._orders.is_over and self._gui_seat.is_recording:
            self._end_class()
        link = self._gui_seat.link
        if link.over and self._reflects and self._is_exam and self.form is None:
            self._ask_for_reflection()
        if link.over and not (link.has_host or self._is_reported):
            self._is_reported = True
            self._notice.show_info(tr("Hand in your log: {file}").format(file=self._gui_seat.log_file))

    def _handle_message(self, message: SeatMessage) -> None:
        if isinstance(message, SeatWelcome) and not self._gui_seat.is_same_part(message):
            self.part_changed.emit(message.part, self._gui_seat.link.consent)
            return
        was_frozen, was_watched = self._orders.is_frozen, self._orders.is_watched
        self._orders.apply_message(message)
        match message:
            case SeatWelcome():
                self._apply_state(was_frozen)
                if self._history is None:
                    self._begin_run(message)
            case PaceState():
                self._apply_state(was_frozen)
                self._announce_break(message)
            case InstructorPresence():
                self._announce_presence(was_watched)
            case HandLowered():
                self.raise_hand(None)
            case RunShown():
                self._show_shared_runs(message)
            case ShownPosition() if self.replay is not None:
                self.replay.show_time(message.tick)
            case VerdictMessage():
                score = message.verdict["score"]
                if score is not None:
                    text = tr("The host verified your run: {score} of 100 points.")
                    self._points = text.format(score=formatting.format_plain_number(score))
                    self._announce_points()
            case SeatRefusal():
                self._give_up(tr("The class host rejected this seat: {why}.").format(why=message.text))

    def _ask_for_reflection(self) -> None:
        """Ask for the person's reflection on the run, because an exam has no debrief that asks for it."""
        self.form = dialog = QDialog(QApplication.activeWindow())
        form = ReflectionForm()
        dialog.setWindowTitle(tr("Self-assessment, before you see your points"))
        dialog.setMinimumWidth(dialog.fontMetrics().averageCharWidth() * FORM_WIDTH_CHARACTERS)
        QVBoxLayout(dialog).addWidget(form)
        form.answered.connect(self._play.reflection_finished)
        form.answered.connect(dialog.accept)
        dialog.rejected.connect(lambda: self._play.reflection_finished.emit(None))
        dialog.open()

    def _send_reflection(self, reflection: Reflection | None) -> None:
        if reflection is not None and self._reflects:
            self._gui_seat.send_reflection(reflection)
        self._has_reflected = True
        self._announce_points()

    def _announce_points(self) -> None:
        if self._points and (self._has_reflected or not self._reflects):
            self._notice.show_info(self._points)

    def _begin_run(self, welcome: SeatWelcome) -> None:
        history, inputs, tick = self._gui_seat.prepare_run(welcome)
        self._history, self._reflects = history, welcome.reflect
        self.joined.emit()

        def attend_class(history: History) -> None:
            self._play.start_class_run(history, self._gui_seat, self._reflects)
            self._notice.show_info(self._describe_seat(welcome))
            self._should_resume = True
            self._follow_instructor()

        self._replay_run(replay_inputs(history, inputs, tick, skip_refused=True), attend_class)

    def _describe_seat(self, welcome: SeatWelcome) -> str:
        """Describe the seat: its number and name, and the reason if it waits for the instructor.

        If the host has a different program version, include both versions. Missed messages of the
        instructor come last.
        """
        name = welcome.name or self._gui_seat.name
        lines = [tr("You are in the class: seat {n}, {name}.").format(n=welcome.seat, name=name)]
        if name != self._gui_seat.name:
            lines.append(tr("Another participant has the same name, so a number was added to yours."))
        if self._orders.is_frozen and not self._is_run_started:
            lines.append(tr("The instructor starts the clock for everyone."))
        version = welcome.version
        if version != get_program_version():
            lines.append(
                tr(
                    "The host has version {host}, this computer has version {own}. Install the same version on "
                    "both."
                ).format(host=version or tr("(older)"), own=get_program_version())
            )
        lines += [
            tr("Instructor: {text}").format(text=message.text) for message in self._gui_seat.missed_messages
        ]
        return " ".join(lines)

    @property
    def _is_run_started(self) -> bool:
        return self._history is not None and self._history.drill.tick > 0

    def _announce_freeze(self) -> None:
        self._notice.show_info(
            tr("The instructor has frozen the class.")
            if self._is_run_started
            else tr("The instructor starts the clock for everyone.")
        )

    def _replay_run(self, slices: CooperativeTask[History], callback: Callable[[History], None]) -> None:
        """Replay the run to its last position, if necessary over many frames, then call *callback*."""
        self._emit_state()

        def on_replayed(history: History) -> None:
            if self._is_replaying:  # the person has not left the class meanwhile
                self._gui_seat.change_phase(SeatEvent.REPLAYED)
                self._emit_state()
                callback(history)

        self._play.leave_run()
        self._session.run_task(
            slices, on_replayed, on_cancel=self._give_up, on_error=lambda _: self._give_up()
        )

    @property
    def _is_replaying(self) -> bool:
        return self._gui_seat.phase is SeatPhase.REPLAYING

    def _give_up(self, reason: str = "") -> None:
        """End the seat and show *reason*.

        *reason*: empty if the run can no longer be recorded or loaded. The person then learns how to
        return, unless the class is over.
        """
        self._timer.stop()
        self._gui_seat.disconnect()
        if self._session.history is self._history:
            self._session.pause()
        self._emit_state()
        if self._orders.is_over and not reason:
            return
        self.join_failed.emit(
            reason
            or tr("You are no longer in the class. To continue your run: Class ▸ Return to your class.")
        )

    @property
    def phase(self) -> SeatPhase:
        """Return the phase of the seat."""
        return self._gui_seat.phase

    def _end_class(self) -> None:
        """Open the debrief of the run that the instructor has ended. Unsent inputs are still sent to the host."""
        self._gui_seat.change_phase(SeatEvent.END)
        self._emit_state()
        self.class_over.emit()
        debriefed = self._history is not None and self._history.drill.finished and not self._is_exam
        self._notice.show_info(
            tr("The class is over. Here is your debrief.") if debriefed else tr("The class has ended.")
        )

    def _apply_state(self, was_frozen: bool) -> None:
        """Apply the current state of the class: running, frozen or over."""
        if self._orders.is_frozen != was_frozen:
            if was_frozen:
                self._notice.hide_notice()
            elif self._gui_seat.is_recording:
                self._announce_freeze()
        if self._orders.is_over:
            self._return_to_own_run()
        self._follow_instructor()
        self._emit_state()

    @property
    def _should_pause(self) -> bool:
        """Return whether the run must be paused."""
        return (
            self._orders.is_frozen or self._at_limit or self._is_ahead or self._orders.is_over
            or self.replay is not None or not self._gui_seat.is_recording
        )  # fmt: skip

    def _follow_instructor(self) -> None:
        """Pause the run if the class requires a pause. After the pause, continue the run if it ran before."""
        if self._session.history is not self._history or self._history is None:
            return
        if self._should_pause and self._session.is_running:
            self._should_resume = True
            self._session.pause()
        elif self._should_resume and not self._should_pause:
            self._should_resume = False
            self._session.play()
        self._gui_seat.report_frozen(self._orders.is_frozen or self._at_limit or self.replay is not None)

    def _announce_break(self, message: PaceState) -> None:
        if message.break_s is not None:
            end_time = datetime.now() + timedelta(seconds=message.break_s)
            self._notice.show_info(tr("Break until {time}.").format(time=f"{end_time:%H:%M}"))

    def _apply_limit(self) -> None:
        """Stop the run at the instructor's limit, or while it is ahead of the class clock."""
        live = self._session.live_drill
        if live is None or self._session.history is not self._history:
            return
        at_limit, limit = self._orders.is_at_limit(live.tick), self._orders.get_latest_tick()
        if at_limit != self._at_limit:
            self._at_limit = at_limit
            if at_limit:
                self._notice.show_info(tr("The instructor stopped your run at this time."))
            else:
                self._notice.hide_notice()
                self._should_resume = True
        self._is_ahead = not at_limit and limit is not None and live.tick > limit
        self._follow_instructor()

    def _rewind(self, instruction: InstructionMessage) -> None:
        """Rewind to the time that the instructor requests."""
        tick = instruction.tick or 0
        history, inputs = self._gui_seat.rewind(tick)
        self._history = history

        def resume_class(replayed_run: History) -> None:
            self._gui_seat.finish_rewind(instruction.number)
            self._play.start_class_run(replayed_run, self._gui_seat, self._reflects)
            self._notice.show_info(format_rewind(tick, instruction.text))
            self._should_resume = True
            self._follow_instructor()

        self._replay_run(replay_inputs(history, inputs, tick, skip_refused=True), resume_class)

    def _keep_frozen(self, running: bool) -> None:
        if running and self._should_pause and self._session.history is self._history:
            self._follow_instructor()
            if self._orders.is_frozen and not self._orders.is_over:
                self._announce_freeze()

    def _apply_instructions(self) -> None:
        if self.replay is not None:
            return
        if self._gui_seat.is_recording and (order := self._orders.take_rewind()) is not None:
            self._rewind(order)
            return
        live = self._session.live_drill
        if live is None or not self._gui_seat.has_run:
            return
        while (message := self._orders.take_due_instruction(live.tick)) is not None:
            if message.what == INJECT:
                self._session.show_latest()  # injects apply to the latest time, because past times are read-only
                self._play.is_ended_by_instructor = message.text == FINISH_LINE and not live.finished
                self._gui_seat.apply_inject(message.number, message.text, self._session.apply_input)
            else:
                self._notice.show_info(tr("Instructor: {text}").format(text=message.text))
                self._gui_seat.record_message_shown(message.number)
