"""Class seat that a person plays in the window: its inputs are logged and sent to the host."""

from collections.abc import Callable, Mapping
from pathlib import Path

from app.classroom.host_connection import SeatConnection
from app.classroom.join_code import Invitation
from app.classroom.log_entries import REWIND_LINE, list_effective_entries
from app.classroom.messages.codec import QUESTION_LENGTH_MAX, REFLECTION_LENGTH_MAX
from app.classroom.messages.replies import InstructionMessage, SeatWelcome
from app.classroom.messages.requests import SubmitReflection
from app.classroom.models import INJECT
from app.classroom.seat_log import SeatAssignment, SeatLog, build_assignment, get_seat_folder
from app.classroom.seat_orders import SeatOrders
from app.classroom.seat_phase import RECORDING_PHASES, SeatEvent, SeatPhase, get_next_phase
from app.classroom.seat_run import POSITION_ENTRY_TICKS
from app.classroom.seat_scenario import parse_scenario
from app.classroom.verdict import FORBIDDEN_VERBS
from app.host import RecordingError
from app.learning.reflection import Reflection
from app.words.language import tr
from engine.drill.running.drill import Drill
from engine.drill.time.history import History
from engine.inputs import Input
from engine.model import Tick
from engine.verbs.input_lines import parse_input_line


class GuiSeat:
    """Seat that a person plays in the window. It records the run and owns the connection to the host.

    The recorder is app/host/recorder.py.
    """

    def __init__(
        self, origin: Invitation | SeatAssignment, name: str, consent: bool = False, part: int | None = None
    ) -> None:
        """Connect to the host. If *origin* is an assignment, start without a network instead.

        *name*: name of the participant. *consent*: True if the instructor may observe the seat. *part*:
        current part of the class, if known. Raises InvalidSeatLogError.
        """
        self._seat_log = SeatLog(get_seat_folder(origin), name)
        if part is not None:
            self._seat_log.open_part(part)
        self.link = SeatConnection(origin, self._seat_log, consent)
        self.orders = SeatOrders(self._seat_log.entries)
        self._history: History | None = None
        self._instruction: tuple[int, str] | None = None
        """Number and line of the inject that is being applied; None if there is none."""
        self.missed_messages: list[InstructionMessage] = []
        """Messages of the skipped time, which the person must still read."""
        self.phase = SeatPhase.JOINING
        self._closed = False
        self.link.start()

    @property
    def name(self) -> str:
        """Name that the person entered."""
        return self._seat_log.name

    @property
    def log_file(self) -> Path:
        """File of the log, which can be handed in."""
        return self._seat_log.file

    def is_same_part(self, welcome: SeatWelcome) -> bool:
        """Return whether the log belongs to the current part of the class."""
        return self._seat_log.assignment is None or self._seat_log.assignment.part == welcome.part

    @property
    def has_run(self) -> bool:
        """Return whether `prepare_run` has created the run."""
        return self._history is not None

    @property
    def is_recording(self) -> bool:
        """Return whether inputs are recorded."""
        return self.phase in RECORDING_PHASES

    @property
    def is_delivered(self) -> bool:
        """Return True if the host has acknowledged the whole log, or if the seat is not connected."""
        return not self.link.connected or self.link.acknowledged >= len(self._seat_log.entries)

    def change_phase(self, event: SeatEvent) -> None:
        """Change the phase of the seat by *event*.

        Unless *event* ends recording, the state of the connection then decides between LIVE and OFFLINE.
        """
        self.phase = get_next_phase(self.phase, event)
        if event is not SeatEvent.END:
            link_event = SeatEvent.CONNECT if self.link.is_answering else SeatEvent.DISCONNECT
            self.phase = get_next_phase(self.phase, link_event)

    def prepare_run(self, welcome: SeatWelcome) -> tuple[History, list[Input], Tick]:
        """Return the run at its start, its inputs so far, and the position to which it must advance."""
        self.change_phase(SeatEvent.REPLAY)
        seat_log = self._seat_log
        if seat_log.assignment is None:
            seat_log.write_assignment(build_assignment(welcome, seat_log.name))
            self.link.wake()
        assignment = seat_log.assignment
        assert assignment is not None
        drill = Drill(parse_scenario(assignment.text, assignment.scenario), assignment.seed, assignment.mode)
        self._history = History(drill)
        tick = seat_log.entries[-1].tick if seat_log.entries else 0
        # A restarted run that may be rewound continues at its own time. A restarted exam continues at the
        # host's time.
        if not (drill.permissions.rewind and seat_log.entries):
            self._answer_missed_instructions(welcome, tick)
            # a seat that joins late may start at the current time of the class
            tick = max(tick, welcome.tick)
        inputs = [
            parse_input_line(act.line, act.tick)
            for act in list_effective_entries(seat_log.entries)
            if act.line
        ]
        return self._history, inputs, tick

    def _answer_missed_instructions(self, welcome: SeatWelcome, tick: Tick) -> None:
        """Log an answer to each unanswered instruction of *welcome* that is due at *tick* or later.

        The run skips the time from *tick* to the time in *welcome*. Each answer is logged at the time of
        its instruction.
        """
        for event in welcome.events:
            if event.number not in self.orders.answered and (event.tick or 0) >= tick:
                line = event.text if event.what == INJECT else ""
                self.orders.answered.add(event.number)
                self._append_entry(event.tick or 0, line, "", event.number)
                if not line:
                    self.missed_messages.append(event)

    def rewind(self, tick: Tick) -> tuple[History, list[Input]]:
        """Return a new run at its start, and the inputs before *tick* that it must repeat."""
        self.change_phase(SeatEvent.REPLAY)
        before = self._drill
        self._history = History(Drill(before.scenario, before.seed, before.mode))
        acts = [act for act in list_effective_entries(self._seat_log.entries) if act.line and act.tick < tick]
        self.link.over = False
        return self._history, [parse_input_line(act.line, act.tick) for act in acts]

    def finish_rewind(self, number: int) -> None:
        """Log that the rewind of instruction *number* is complete.

        Call this method after `rewind`, when the new run has repeated its inputs.
        """
        drill = self._drill
        self.link.tick = drill.tick
        self._append_entry(drill.tick, REWIND_LINE, drill.compute_state_hash(), number)
        self.orders.read_answers(self._seat_log.entries)

    def disconnect(self) -> None:
        """Disconnect from the host and close the log. The log file remains."""
        self.change_phase(SeatEvent.END)
        if not self._closed:
            self._closed = True
            self.link.disconnect()
            self._seat_log.close()

    # --- as a recorder

    def record_input(self, tick: int, line: str) -> None:
        """Append an input line to the log."""
        item = self._drill.journal[-1]
        if item.verb in FORBIDDEN_VERBS:
            raise RecordingError(tr("The class clock cannot be set back."))
        if self.link.held and self._instruction is None:
            raise RecordingError(tr("The instructor has taken control of your seat."))
        if self._instruction is None:
            self._check_recording()
        number, words = self._instruction or (0, item.line_without_time)
        self._append_entry(tick, words, self._drill.compute_state_hash(), number)

    def record_position(self, tick: int) -> None:
        """Report the position of the run to the host. At intervals, also log a hash of the world."""
        self._check_recording()
        self.link.tick = tick
        last_tick = self._seat_log.entries[-1].tick if self._seat_log.entries else 0
        if tick - last_tick >= POSITION_ENTRY_TICKS:
            self.record_hash(tick, self._drill.compute_state_hash())

    def record_hash(self, tick: int, state_hash: str) -> None:
        """Append an entry with the world's hash to the log."""
        self._append_entry(tick, "", state_hash)

    def finish(self, report: Mapping[str, object]) -> None:
        """Append the end of the run to the log and report it to the host."""
        self._append_entry(self._drill.tick, "", str(report["state_hash"]))
        self.link.over = True
        self.link.wake()

    # --- the instructor

    def apply_inject(self, number: int, line: str, apply_line: Callable[[str], bool]) -> None:
        """Apply the inject *line* with *apply_line*, and log it as the answer to instruction *number*.

        A refused inject is also logged, because a replay refuses it, too.
        """
        self._instruction = (number, line)
        try:
            is_applied = apply_line(line)
        finally:
            self._instruction = None
        if not is_applied:
            self._append_entry(self._drill.tick, line, self._drill.compute_state_hash(), number)

    def record_message_shown(self, number: int) -> None:
        """Log that the message of instruction *number* was shown."""
        self._append_entry(self._drill.tick, "", "", number)

    def report_frozen(self, frozen: bool) -> None:
        """Report to the host whether the seat is frozen."""
        self.link.frozen = frozen
        self.link.wake()

    def raise_hand(self, question: str | None) -> None:
        """Raise the hand with *question*. None lowers the hand."""
        self.link.hand = question if question is None else question.strip()[:QUESTION_LENGTH_MAX]
        self.link.wake()

    def send_reflection(self, reflection: Reflection) -> None:
        """Send the person's reflection on the run to the host."""
        self.link.reflection = SubmitReflection(
            happened=reflection.happened[:REFLECTION_LENGTH_MAX],
            otherwise=reflection.otherwise[:REFLECTION_LENGTH_MAX],
            expected_score=reflection.expected_score,
        )
        self.link.wake()

    def set_observation_consent(self, consent: bool) -> None:
        """Permit the instructor to observe the seat, or withdraw the permission."""
        self.link.consent = consent
        self.link.wake()

    def report_takeover(self, takeover: bool) -> None:
        """Report to the host whether the instructor's takeover of the seat is in effect."""
        self.link.held = takeover
        self.link.wake()

    # --- inside

    @property
    def _drill(self) -> Drill:
        assert self._history is not None, "a run is recorded"
        return self._history.drill

    def _check_recording(self) -> None:
        """Raise RecordingError if inputs are not recorded in the current phase."""
        if not self.is_recording:
            raise RecordingError(tr("You have left the class. This run is no longer recorded."))

    def _append_entry(self, tick: int, line: str, digest: str, instruction: int = 0) -> None:
        if self._closed:
            raise RecordingError(tr("You have left the class. This run is no longer recorded."))
        try:
            self._seat_log.append_entry(tick, line, digest, instruction)
        except OSError as problem:
            self.change_phase(SeatEvent.END)
            raise RecordingError(
                tr("The log of this seat cannot be written: {why}.").format(why=problem.strerror)
            ) from problem
        self.link.tick = tick
        self.link.wake()
