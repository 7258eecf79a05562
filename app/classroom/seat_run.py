"""Run of a seat without a window.

It logs every input before it continues, and it follows the instructor's instructions.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty
from typing import Final

from app.classroom.host_connection import SeatConnection
from app.classroom.log_entries import REWIND_LINE, LogEntry, list_effective_entries
from app.classroom.messages.codec import QUESTION_LENGTH_MAX
from app.classroom.messages.replies import (
    HandLowered,
    InstructionMessage,
    InstructorPresence,
    LogVerdict,
    PaceState,
    RunShown,
    SeatRefusal,
    SeatWelcome,
    ShownPosition,
    VerdictMessage,
)
from app.classroom.models import INJECT, MESSAGE
from app.classroom.seat_log import SeatAssignment, SeatLog
from app.classroom.seat_orders import OBSERVATION_TEXTS, TAKEOVER_TEXTS, SeatOrders, format_rewind
from app.classroom.seat_scenario import parse_scenario
from app.classroom.shared_replay import list_shown_runs
from app.classroom.verdict import FORBIDDEN_VERBS
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import compute_slice_ticks
from engine.events import Event
from engine.inputs import Input, InputError
from engine.localization import build_message
from engine.model import Tick

POSITION_ENTRY_TICKS: Final = 10 * TICKS_PER_S
"""Ticks between two log entries that only report the position, so that the host shows a recent position.

Assumed.
"""
POLL_INTERVAL_S: Final = 0.1
"""Wall time that one step of a run takes if its speed is limited. Messages are read between steps."""
STEP_TICKS: Final = 10 * TICKS_PER_S
"""Step of a run at full speed, in ticks. One step takes some milliseconds to compute."""
FROZEN_POLL_INTERVAL_S: Final = 0.05


class SeatRewoundError(Exception):
    """Signal that the seat was rewound. Its player must continue from the earlier time."""


class PartMismatchError(Exception):
    """Error for a log that belongs to another part of the class. The seat must switch to *part*."""

    def __init__(self, part: int) -> None:
        super().__init__(part)
        self.part = part


class ClassEndedError(Exception):
    """Signal that the instructor has ended the class, or that the host has refused this seat."""


class SeatRun:
    """Run of a seat with the interface that players of the engine need: it applies inputs and advances time."""

    def __init__(
        self,
        seat_log: SeatLog,
        link: SeatConnection,
        speed: float | None,
        show_message: Callable[[InstructionMessage], object],
    ) -> None:
        """Replay the log *seat_log*. *show_message* receives the instructor's messages.

        *speed*: simulated seconds per second; None for the maximum speed.
        """
        assignment = seat_log.assignment
        assert assignment is not None, "the host has said what is played"
        self._scenario = parse_scenario(assignment.text, assignment.scenario)
        self.drill = Drill(self._scenario, assignment.seed, assignment.mode)
        self.verdict: LogVerdict | None = None
        """Verdict of the host on the whole log; None before it arrives."""
        self._orders = SeatOrders(seat_log.entries)
        self._seat_log, self._link, self._speed, self._show_message = seat_log, link, speed, show_message
        self._shown: RunShown | None = None
        self._listed_entries: dict[int, set[int]] = {}
        """Seat whose run is shown -> numbers of its log entries that were listed for the person."""
        self._replay_entries(list_effective_entries(seat_log.entries))
        self._started, self._from = time.monotonic(), self.drill.tick

    def _replay_entries(self, entries: Iterable[LogEntry]) -> None:
        for act in entries:
            self.drill.advance_to(act.tick)
            if act.line:
                try:
                    self.drill.apply_line(act.line)
                except InputError:
                    if not act.instruction:  # the seat may also have refused this inject
                        raise

    @property
    def frozen(self) -> bool:
        """Return whether the seat is frozen or at its limit."""
        return self._is_blocked()

    @property
    def is_controlled(self) -> bool:
        """Return whether the instructor controls the seat."""
        return self._link.held

    @property
    def own_input_count(self) -> int:
        """Return the number of the seat's own inputs so far."""
        return sum(
            bool(act.line) and not act.instruction for act in list_effective_entries(self._seat_log.entries)
        )

    @property
    def assignment(self) -> SeatAssignment:
        """Assignment that the host has sent to this seat."""
        assignment = self._seat_log.assignment
        assert assignment is not None, "the seat has a run"
        return assignment

    def list_entries_after(self, count: int) -> Sequence[LogEntry]:
        """Return the entries of the log after the first *count* entries."""
        return self._seat_log.list_entries_after(count)

    # --- as a player sees it

    def apply_line(self, line: str, instruction: int = 0) -> Input:
        """Apply an input line now and write it to the log. Raises InputError."""
        if line.split(maxsplit=1)[0].lower() in FORBIDDEN_VERBS:
            raise InputError(build_message("the class clock cannot be set back"))
        if self._link.held and not instruction:
            raise InputError(build_message("the instructor controls this seat"))
        item = self.drill.apply_line(line)
        self._append_entry(item.line_without_time if not instruction else line, instruction)
        return item

    def advance_to(self, tick: Tick) -> list[Event]:
        """Advance simulated time to *tick*. Raises ClassEndedError."""
        drill, event_count = self.drill, len(self.drill.events)
        while drill.tick < tick and not drill.finished:
            self.follow_instructions()
            due_ticks = self._orders.list_due_ticks(drill.tick)
            mark = (drill.tick // POSITION_ENTRY_TICKS + 1) * POSITION_ENTRY_TICKS
            limit = self._orders.get_latest_tick()
            if limit is not None and limit <= drill.tick:  # the class clock is behind the seat
                time.sleep(FROZEN_POLL_INTERVAL_S)
                continue
            drill.advance_to(
                min(
                    tick,
                    mark,
                    drill.tick + self._get_step_ticks(),
                    *due_ticks,
                    *([] if limit is None else [limit]),
                )
            )
            if drill.tick == mark:
                self._append_entry()
            self._wait_for_pace()
        self.follow_instructions()
        return drill.events[event_count:]

    def sleep_poll_interval(self) -> None:
        """Wait for FROZEN_POLL_INTERVAL_S of wall time without advancing simulated time."""
        time.sleep(FROZEN_POLL_INTERVAL_S)
        self._started, self._from = time.monotonic(), self.drill.tick

    def record_end(self) -> None:
        """Append the end of the run to the log, and report it to the host."""
        last_act = self._seat_log.entries[-1] if self._seat_log.entries else None
        if last_act is None or last_act.line or last_act.tick != self.drill.tick:
            self._append_entry()
        self._link.over = True
        self._link.wake()

    def execute_hand_command(self, line: str) -> bool:
        """Execute `hand`, `hand QUESTION` or `hand down`. Return False for any other line."""
        word, _, question = line.partition(" ")
        if word.lower() != "hand":
            return False
        question = question.strip()[:QUESTION_LENGTH_MAX]
        self._link.hand = None if question.lower() == "down" else question
        self._link.wake()
        return True

    # --- the instructor

    def follow_instructions(self) -> None:
        """Follow the instructions of the instructor. Wait while the seat is frozen.

        Raises ClassEndedError, SeatRewoundError, PartMismatchError.
        """
        self._process_messages()
        self._rewind_if_requested()
        while self._is_blocked():
            self._report_position()
            self.sleep_poll_interval()
            self._process_messages()
            self._rewind_if_requested()
        while (
            not self.drill.finished
            and (message := self._orders.take_due_instruction(self.drill.tick)) is not None
        ):
            self._apply_instruction(message)
        self._report_position()

    def process_messages_after_end(self) -> None:
        """Process the messages that the host sends after the end of the run, such as the verdict.

        Raises SeatRewoundError.
        """
        with suppress(ClassEndedError):
            self._process_messages()
        self._rewind_if_requested()

    def _is_blocked(self) -> bool:
        return self._orders.is_frozen or self._orders.is_at_limit(self.drill.tick)

    def _rewind_if_requested(self) -> None:
        """Rewind to an earlier time if the instructor has requested it. Raises SeatRewoundError after a rewind."""
        order = self._orders.take_rewind()
        if order is None:
            return
        assignment, tick = self.assignment, order.tick or 0
        self._link.tick, self._link.over = tick, False
        self.drill = Drill(self._scenario, assignment.seed, assignment.mode)
        self._replay_entries(act for act in list_effective_entries(self._seat_log.entries) if act.tick < tick)
        self.drill.advance_to(tick)
        self._append_entry(REWIND_LINE, order.number)
        self._orders.read_answers(self._seat_log.entries)
        self._started, self._from = time.monotonic(), tick
        self._show_to_person(format_rewind(tick, order.text))
        raise SeatRewoundError

    def _process_messages(self) -> None:
        """Process the messages that have arrived from the host. Raises ClassEndedError, PartMismatchError."""
        while True:
            try:
                message = self._link.incoming.get_nowait()
            except Empty:
                return
            match message:
                case SeatRefusal():
                    raise ClassEndedError
                case SeatWelcome() if message.part != self.assignment.part:
                    raise PartMismatchError(message.part)
                case SeatWelcome() if not (self.drill.permissions.rewind and self._seat_log.entries):
                    self._skip_to(message.tick, message.events)
            was_watched = self._orders.is_watched
            self._orders.apply_message(message)
            if self._orders.is_over and isinstance(message, SeatWelcome | PaceState):
                raise ClassEndedError
            match message:
                case VerdictMessage():
                    self.verdict = message.verdict
                case InstructorPresence():
                    self._announce_presence(was_watched)
                case HandLowered():
                    self._link.hand = None
                    self._link.wake()
                case RunShown():
                    self._shown = message if message.name is not None else None
                    self._print_shown_inputs(message.tick)
                case ShownPosition():
                    self._print_shown_inputs(message.tick)

    def _print_shown_inputs(self, tick: Tick | None) -> None:
        """Print the inputs of the runs that the instructor shows, up to the shared time."""
        if self._shown is None:
            self._listed_entries.clear()
            return
        for seat, name, acts in list_shown_runs(self._shown):
            if seat not in self._listed_entries:
                self._listed_entries[seat] = set()
                self._show_to_person(tr("The instructor shows the run of {name}:").format(name=name))
            for number, act_tick, line, *_ in acts:
                if line and (tick is None or act_tick <= tick) and number not in self._listed_entries[seat]:
                    self._listed_entries[seat].add(number)
                    self._show_to_person(f"{name}: {act_tick / TICKS_PER_S:g} {line}")

    def _skip_to(self, tick: Tick, events: Iterable[InstructionMessage]) -> None:
        """Skip to the time *tick* of the host.

        An exam continues at the host's time after a restart, and a late seat may start at the time of the
        class. Each of *events*, the instructions of the skipped time, is applied at its own time.
        """
        if tick <= self.drill.tick:
            return
        for event in events:
            target_tick = event.tick or 0
            if (
                event.number not in self._orders.answered
                and target_tick >= self.drill.tick
                and not self.drill.finished
            ):
                self.drill.advance_to(target_tick)
                self._orders.answered.add(event.number)
                self._apply_instruction(event)
        self.drill.advance_to(tick)
        self._started, self._from = time.monotonic(), self.drill.tick

    def _announce_presence(self, was_watched: bool) -> None:
        link, orders = self._link, self._orders
        if orders.is_watched != was_watched:
            self._show_to_person(OBSERVATION_TEXTS[orders.is_watched]())
        if orders.is_held != link.held:
            link.held = orders.is_held
            self._show_to_person(TAKEOVER_TEXTS[link.held]())
            link.wake()

    def _show_to_person(self, text: str) -> None:
        self._show_message(InstructionMessage(number=0, what=MESSAGE, tick=None, text=text))

    def _apply_instruction(self, instruction: InstructionMessage) -> None:
        """Apply an inject or show a message. The log records both, including a refused inject."""
        number = instruction.number
        if instruction.what == INJECT:
            try:
                self.apply_line(instruction.text, number)
            except InputError:
                self._append_entry(instruction.text, number)
        else:
            self._show_message(instruction)
            self._append_entry("", number)

    # --- inside

    def _append_entry(self, line: str = "", instruction: int = 0) -> None:
        self._link.tick = self.drill.tick
        self._seat_log.append_entry(self.drill.tick, line, self.drill.compute_state_hash(), instruction)
        self._link.wake()

    def _report_position(self) -> None:
        link, frozen = self._link, self._is_blocked()
        has_changed = link.frozen != frozen
        link.tick, link.frozen = self.drill.tick, frozen
        if has_changed:
            link.wake()

    def _get_step_ticks(self) -> int:
        step_limit = (
            STEP_TICKS if self._speed is None else max(1, int(POLL_INTERVAL_S * self._speed * TICKS_PER_S))
        )
        return compute_slice_ticks(self.drill, step_limit)

    def _wait_for_pace(self) -> None:
        if self._speed is not None:
            due_time = self._started + (self.drill.tick - self._from) / TICKS_PER_S / self._speed
            time.sleep(max(0.0, due_time - time.monotonic()))
