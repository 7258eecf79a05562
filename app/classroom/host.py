"""Host of a class: it receives, stores, acknowledges and replays the log of every seat. No Qt.

An entry is acknowledged only after it was stored.

This code runs in one event loop. A thread writes to the database, and worker processes replay the runs.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import lesson_plan, log_entries
from app.classroom.admission import Admission
from app.classroom.bus import (
    BusMessage,
    ClassChanged,
    HandLoweredNotice,
    MessageBus,
    SeatChanges,
    SeatStatusNotice,
    StateRequest,
)
from app.classroom.class_dashboard import ClassDashboard
from app.classroom.instructions import (
    InstructionIndex,
    convert_to_message,
    list_due_instructions,
    list_settled_instructions,
    validate_answers,
)
from app.classroom.log_entries import LogEntry, LogMismatchError
from app.classroom.message_exchange import (
    RequestRefusedError,
    broadcast,
    close_connection,
    receive_request,
    require_permission,
    send_message,
)
from app.classroom.messages import replies, requests
from app.classroom.messages.codec import (
    REFUSED_CLOSE_CODE,
    RETRY_LATER_CLOSE_CODE,
    ProtocolError,
    UnknownKindError,
)
from app.classroom.models import INJECT, MARK, OVER, REWIND, ClassInstruction, ClassPart, Seat
from app.classroom.names import clean_text
from app.classroom.pace import ClassPace, SeatSpeed
from app.classroom.peer_hosts import PeerHosts
from app.classroom.rate_limit import is_same_secret
from app.classroom.record import ClassRecord
from app.classroom.replay_verifier import ReplayVerifier
from app.classroom.seat_log import build_welcome
from app.classroom.seat_requests import SeatRequestHandler
from app.classroom.seat_scenario import build_assignment, parse_scenario
from app.classroom.seat_state import SeatState, build_seat_state, select_seats
from app.classroom.verdict import FINISH_LINE, FORBIDDEN_VERBS
from app.classroom.writer import RecordWriter
from app.learning.reflection import Reflection
from app.words.language import tr
from engine.inputs import InputError
from engine.verbs.input_lines import parse_input_line

logger = logging.getLogger(__name__)

UNIDENTIFIED_CONNECTIONS_MAX: Final = 1_000
"""Maximum number of connections that have not identified themselves. Further connections are refused."""
FIRST_MESSAGE_TIMEOUT_S: Final = 10.0
"""Wall time after which a connection without a first message is closed."""
CANCEL_RETRY_INTERVAL_S: Final = 0.5
"""Wall time that canceled background tasks have to end before they are canceled again."""
DASHBOARD_INTERVAL_S: Final = 0.2
"""Wall time between two updates of the class dashboard."""


class ClassHost:
    """Host of an open class. With a *bus*, the class has several hosts, which write to the same record."""

    def __init__(
        self,
        record: ClassRecord,
        the_class: ClassPart,
        bus: MessageBus | None,
        on_part_change: Callable[[], object],
    ) -> None:
        """Create the host. *the_class*: current part in *record*. *on_part_change* is called when the part changes."""
        self._record, self._follow = record, on_part_change
        self._parts = record.read_parts()
        self._bus = bus
        self._class = the_class
        self._scenario = parse_scenario(the_class.scenario_text, the_class.scenario_name)
        self._replay_verifier = ReplayVerifier(
            the_class, self._get_log, self._store_verdict, self._store_reachable_points
        )
        self._writer = RecordWriter(record, self._update_after_write)
        self._seats = {seat.id: build_seat_state(seat) for seat in record.read_seats()}
        self._instructions = InstructionIndex(record.read_instructions())
        self.pace = ClassPace(the_class, self._scenario)
        for number, seat in self._seats.items():
            self._initialize_seat(seat, record.read_entries(number))
        self._assignment = build_assignment(the_class, self._scenario)
        """Assignment that every seat plays."""
        self._reflect = bool(the_class.plan) and lesson_plan.parse_plan(the_class.plan).reflect
        self._dashboard = ClassDashboard(
            the_class, len(self._parts), self._seats, self._instructions, self.pace
        )
        self._dashboard.marks = record.read_marks()
        self._admission = Admission(the_class, self._assignment, record, self._writer, self._seats, self.pace)
        self._seat_request_handler = SeatRequestHandler(
            the_class, self._seats, self._get_log, self._store_takeover, self._broadcast_to_seats
        )
        self._observers = self._seat_request_handler.observers
        self._unidentified_connection_count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._peers = PeerHosts(bus, self._seats, self._observers.list_observed_seats, self._start_task)
        self._seat_request_handler.peers = self._peers

    def start(self) -> None:
        """Start the background tasks, and queue the stored logs of all seats for verification."""
        self._start_task(self._writer.write_periodically())
        self._start_task(self._refresh_dashboard_periodically())
        if self._bus is not None:
            self._start_task(self._bus.listen(self._process_bus_message, self._reload_after_gap))
            self._start_task(
                self._peers.monitor_hosts(lambda seat: self._dashboard.changed_seats.add(seat.number))
            )
        for place in self._replay_verifier.worker_indexes:
            self._start_task(self._replay_verifier.replay_new_entries(place))
        for number in self._seats:
            self._replay_verifier.queue_entries(number, self._record.read_entries(number))

    async def stop(self) -> None:
        """Stop the host. All acknowledged data is already on disk."""
        while tasks := list(self._tasks):
            for task in tasks:  # repeat: asyncio.wait_for can miss a cancellation (CPython issue 86296)
                task.cancel()
            await asyncio.wait(tasks, timeout=CANCEL_RETRY_INTERVAL_S)
        if self._bus is not None:
            await self._bus.close()
        self._replay_verifier.close()
        self._writer.close()

    def _start_task(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._discard_task)

    def _discard_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("class host", exc_info=task.exception())

    # --- connections

    async def disconnect_all(self) -> None:
        """Disconnect all seats and consoles, so that they reconnect for the next part."""
        sockets = [seat.socket for seat in self._seats.values() if seat.socket is not None]
        reason = tr("the class continues with its next part")
        sockets = [*sockets, *self._dashboard.consoles]
        await asyncio.gather(*(close_connection(one, RETRY_LATER_CLOSE_CODE, reason) for one in sockets))

    async def serve_connection(self, socket: WebSocket) -> None:
        """Serve one connection from its first message to its last."""
        await socket.accept()
        try:
            await self._dispatch_request(socket, await self._receive_first_message(socket))
        except RequestRefusedError as error:
            await close_connection(socket, error.code, str(error))
        except (ProtocolError, LogMismatchError) as error:
            await close_connection(socket, REFUSED_CLOSE_CODE, str(error))
        except SQLAlchemyError as problem:
            logger.error("class record: %s", problem)
            reason = tr("the database of the class cannot be read. Try again.")
            await close_connection(socket, RETRY_LATER_CLOSE_CODE, reason)
        except WebSocketDisconnect:
            pass

    async def _receive_first_message(self, socket: WebSocket) -> requests.ClassRequest:
        if self._unidentified_connection_count >= UNIDENTIFIED_CONNECTIONS_MAX:
            raise RequestRefusedError(tr("too many connections. Try again."), RETRY_LATER_CLOSE_CODE)
        self._unidentified_connection_count += 1
        try:
            async with asyncio.timeout(FIRST_MESSAGE_TIMEOUT_S):
                return await receive_request(socket)
        except TimeoutError:
            raise RequestRefusedError(tr("no message received"), RETRY_LATER_CLOSE_CODE) from None
        except UnknownKindError:
            raise RequestRefusedError(tr("This code belongs to a class. Join it without a role.")) from None
        finally:
            self._unidentified_connection_count -= 1

    async def _dispatch_request(self, socket: WebSocket, request: requests.ClassRequest) -> None:
        address = socket.client.host if socket.client else ""
        if isinstance(request, requests.OpenConsole):
            if not is_same_secret(request.key, self._class.secret):
                raise RequestRefusedError(tr("wrong class key"))
            await self._serve_console(socket)
        elif isinstance(request, requests.JoinProbe):
            await send_message(socket, self._admission.build_probe_welcome(request.secret, address))
        elif isinstance(request, requests.Join | requests.Resume):
            seat = await self._admission.admit(request, address)
            await self._serve_seat_connection(socket, seat)
        else:
            raise RequestRefusedError(tr("sign in first"))

    async def _store_handed_in_log(self, message: requests.HandIn) -> None:
        """Store the actions of a handed-in log. Raises RequestRefusedError, LogMismatchError."""
        seat = await self._admission.admit_from_file(message)
        await self._append_entries(seat, [log_entries.parse_entry(entry) for entry in message.acts])
        self._dashboard.changed_seats.add(seat.number)

    # --- seats

    async def _serve_seat_connection(self, socket: WebSocket, seat: SeatState) -> None:
        await self._read_stored_entries(seat)
        if seat.socket is not None:  # an old connection may be half open; only the newest connection counts
            await close_connection(seat.socket, RETRY_LATER_CLOSE_CODE, tr("the seat has reconnected"))
        # Do not set the socket earlier: other messages could then be sent before the welcome.
        seat.socket, seat.sent_instructions = socket, set()
        # The visit number must exceed those of all other connections of this seat. Some of them may be at
        # hosts that this host does not know.
        seat.visit = max(seat.visit + 1, int(time.time() * 1000))
        seat.host, seat.is_at_other_host = self._peers.own_name, False
        try:
            welcome = build_welcome(
                self._assignment, seat.number, seat.acknowledged, self._class.state, seat.tick,
                self._reflect, seat.name, list_due_instructions(self._instructions, seat), seat.hand,
            )  # fmt: skip
            await send_message(socket, welcome)
            await send_message(socket, self.pace.build_state_message(seat))
            await self._seat_request_handler.notify_seat(seat)
            await self._send_pending_instructions(seat)
            await send_message(socket, self._seat_request_handler.replay.message)
            self._dashboard.changed_seats.add(seat.number)
            while True:
                request = await receive_request(socket)
                require_permission("seat", request)
                if isinstance(request, requests.SeatStatus):
                    await self._update_status(seat, request)
                elif isinstance(request, requests.Ready):
                    if request.version != seat.version:
                        await self._writer.write(
                            self._record.change_seat_columns, [seat.number], version=request.version
                        )
                    seat.version, seat.recording = request.version, request.recording
                    self._dashboard.changed_seats.add(seat.number)
                elif isinstance(request, requests.SubmitReflection):
                    reflection = Reflection(request.happened, request.otherwise, request.expected_score)
                    await self._writer.write(self._record.store_reflection, seat.number, reflection)
                elif isinstance(request, requests.AppendEntries):
                    entries = [log_entries.parse_entry(entry) for entry in request.acts]
                    await self._append_entries(seat, entries)
                    await send_message(socket, replies.AcknowledgedActions(seat.acknowledged))
        finally:
            if seat.socket is socket:
                seat.socket = None
                self._dashboard.changed_seats.add(seat.number)

    def _initialize_seat(self, seat: SeatState, log: Sequence[LogEntry]) -> None:
        """Initialize the seat with *log*, the complete log in the record."""
        seat.character_count = sum(len(act.line) for act in log)
        seat.answered = list_settled_instructions(log, self._instructions.select_for_seat(seat))

    async def _read_stored_entries(self, seat: SeatState) -> None:
        """Read entries of *seat* that the record contains but this host does not know.

        Another host wrote them, or this host wrote them and the reply of the database was lost.
        """
        async with seat.write_lock:
            self._update_after_stored_entries(
                seat, await self._writer.read(self._record.read_entries, seat.number, seat.acknowledged + 1)
            )

    async def _update_status(self, seat: SeatState, status: requests.SeatStatus) -> None:
        before = (seat.tick, seat.frozen, seat.over, seat.hand, seat.consent, seat.held)
        seat.tick, seat.frozen, seat.over = max(seat.tick, status.tick), status.frozen, status.over
        seat.hand = None if status.hand is None else clean_text(status.hand)
        seat.consent, seat.held = status.consent, status.held
        seat.progress.record_position(seat.tick, seat.frozen or seat.over)
        if before != (seat.tick, seat.frozen, seat.over, seat.hand, seat.consent, seat.held):
            self._dashboard.changed_seats.add(seat.number)
        self._dashboard.update_hand_queue(seat)
        if not seat.consent:
            await self._observers.end_disallowed_observations(seat)
        await self._send_result(seat)

    async def _append_entries(self, seat: SeatState, received_entries: list[LogEntry]) -> None:
        """Store those entries of *received_entries* that are new. Raises LogMismatchError, RequestRefusedError."""
        async with seat.write_lock:
            number = seat.number
            new = log_entries.select_new_entries(
                received_entries, seat.acknowledged, seat.last_tick,
                lambda first, last: self._record.read_entries(number, first, last),
            )  # fmt: skip
            if seat.character_count + sum(len(act.line) for act in new) > log_entries.LOG_LENGTH_MAX:
                raise RequestRefusedError(tr("the log is larger than the limit for a seat"))
            if any(act.instruction for act in new):
                log = await self._writer.read(self._record.read_entries, number)
                validate_answers(new, seat, log, self._instructions)
            if not new:
                return
            await self._writer.write_entries(seat.number, new)

    def _update_after_write(self, seats: Sequence[Seat], logs: Mapping[int, Sequence[LogEntry]]) -> None:
        """Update the state of the host after *seats* and *logs* were written to disk.

        *logs*: number of a seat -> its new entries.
        """
        for seat in seats:
            self._seats.setdefault(seat.id, build_seat_state(seat))
        for number, new in logs.items():
            self._update_after_stored_entries(self._seats[number], new)

    def _update_after_stored_entries(self, seat: SeatState, entries: Sequence[LogEntry]) -> None:
        """Update *seat* after *entries* were written to disk. Queue them for verification and for observers."""
        entries = [act for act in entries if act.number > seat.acknowledged]
        if not entries:
            return
        seat.character_count += sum(len(act.line) for act in entries)
        seat.acknowledged, seat.last_tick = entries[-1].number, entries[-1].tick
        seat.tick = max(seat.tick, seat.last_tick)
        seat.answered |= {act.instruction for act in entries if act.instruction}
        if any(map(log_entries.is_rewind, entries)):
            self._start_task(self._update_after_rewind(seat))
        self._dashboard.changed_seats.add(seat.number)
        self._replay_verifier.queue_entries(seat.number, entries)
        self._observers.queue_entries(seat.number, entries)

    async def _get_log(self, number: int) -> list[LogEntry]:
        return await self._writer.read(self._record.read_entries, number)

    async def _update_after_rewind(self, seat: SeatState) -> None:
        """Update a seat after its rewind: send unanswered instructions again, and restart its observations."""
        log = await self._writer.read(self._record.read_entries, seat.number)
        seat.tick = seat.last_tick
        seat.answered = list_settled_instructions(log, self._instructions.select_for_seat(seat))
        seat.sent_instructions &= seat.answered
        seat.progress = SeatSpeed()
        await self._send_pending_instructions(seat)
        await self._observers.restart_observation(seat)

    # --- instructions

    async def _send_pending_instructions(self, seat: SeatState) -> None:
        """Send the instructions that the seat has not answered yet."""
        for instruction in self._instructions.select_for_seat(seat):
            if (
                not (instruction.number in seat.answered or instruction.number in seat.sent_instructions)
                and seat.socket is not None
            ):
                seat.sent_instructions.add(instruction.number)
                await send_message(seat.socket, convert_to_message(instruction))

    async def _send_instruction(self, message: requests.Instruct) -> None:
        if message.what == INJECT:
            try:
                verb = parse_input_line(message.text).verb
            except InputError as problem:
                raise RequestRefusedError(str(problem)) from problem
            if verb in FORBIDDEN_VERBS:
                raise RequestRefusedError(tr("The class clock cannot be set back."))
        addressed_seats = select_seats(message, self._seats)
        # An instruction without a time is for the seats that exist now. An instruction with a time is for
        # every seat that reaches this time, including later seats.
        is_for_all_later = message.tick is not None and message.seat is None
        seats: list[int | None] = [None] if is_for_all_later else [seat.number for seat in addressed_seats]
        await self._store_and_send(
            [
                ClassInstruction(
                    seat_id=seat,
                    group_name=message.group,
                    tick=message.tick,
                    kind=message.what,
                    text=message.text,
                )
                for seat in seats
            ]
        )

    async def _store_and_send(self, instructions: list[ClassInstruction]) -> None:
        self._instructions.add(await self._writer.write(self._record.store_instructions, instructions))
        self._peers.send(ClassChanged())
        await self._broadcast_to_seats(self._send_pending_instructions)

    async def _broadcast_to_seats(self, send_to_seat: Callable[[SeatState], Awaitable[None]]) -> None:
        await broadcast(send_to_seat(seat) for seat in self._seats.values() if seat.socket is not None)

    async def _change_pace(self, message: requests.PaceRequest) -> None:
        """Store the changes that *message* requires, then send them to seats. Raises RequestRefusedError."""
        addressed_seats = (
            select_seats(message, self._seats)
            if isinstance(message, requests.SeatTarget)
            else list(self._seats.values())
        )
        if isinstance(message, requests.AssignGroup):
            addressed_seats = select_seats(requests.SeatTarget(seat=message.seat), self._seats)
        if isinstance(message, requests.RewindSeats):
            await self._rewind_seats(addressed_seats, message)
            return
        if isinstance(message, requests.StartNextPart):
            await self._start_next_part()
            return
        # The inject is sent before the new state, so that seats receive it before they stop.
        if isinstance(message, requests.FinishClass):
            numbers = [seat.number for seat in addressed_seats if not seat.over]
            injects = [ClassInstruction(seat_id=number, kind=INJECT, text=FINISH_LINE) for number in numbers]
            await self._store_and_send(injects)
        try:
            of_class, of_seats = self.pace.plan_changes(message, addressed_seats)
        except ValueError as error:
            raise RequestRefusedError(str(error)) from error
        if of_class:
            await self._writer.write(self._record.change_part_columns, **of_class)
            for name, value in of_class.items():
                setattr(self._class, name, value)
        for columns, seats in of_seats:
            await self._writer.write(
                self._record.change_seat_columns, [seat.number for seat in seats], **columns
            )
            for seat in seats:
                for name, value in columns.items():
                    setattr(seat, {"group_name": "group"}.get(name, name), value)
        self._dashboard.mark_changed()
        self._dashboard.changed_seats |= {seat.number for seat in addressed_seats}
        self._peers.send(ClassChanged())
        await self._broadcast_to_seats(self._send_pace)

    async def _start_next_part(self) -> None:
        """Store that the next part of the class starts. Raises RequestRefusedError."""
        if self._class.id == self._parts[-1].id:
            raise RequestRefusedError(tr("this is the last part of the class"))
        if self._class.state != OVER:
            raise RequestRefusedError(tr("this part is still running. Finish it first."))
        await self._writer.write(self._record.start_next_part)
        if self._bus is not None:
            await self._bus.send(ClassChanged())

    async def _send_pace(self, seat: SeatState) -> None:
        """Send a seat its current limit and speed, and its pending instructions."""
        if seat.socket is not None:
            await send_message(seat.socket, self.pace.build_state_message(seat))
        await self._send_pending_instructions(seat)

    async def _rewind_seats(self, seats: Sequence[SeatState], message: requests.RewindSeats) -> None:
        """Instruct *seats* to rewind. Raises RequestRefusedError if a seat has not reached the target time."""
        early_names = [seat.name for seat in seats if seat.tick < message.tick]
        if early_names:
            names = ", ".join(early_names)
            raise RequestRefusedError(
                tr("these seats have not reached the target time yet: {names}").format(names=names)
            )
        await self._store_and_send(
            [
                ClassInstruction(seat_id=seat.number, tick=message.tick, kind=REWIND, text=message.text)
                for seat in seats
            ]
        )

    async def _store_takeover(self, seat: SeatState, enabled: bool) -> None:
        await self._writer.write(self._record.change_seat_columns, [seat.number], taken=enabled)
        seat.taken = enabled

    async def _set_mark(self, request: requests.SetMark) -> None:
        """Mark the requested time for the instructor, or the current time if none is given.

        Raises RequestRefusedError.
        """
        seats = select_seats(request, self._seats)
        now_tick = self.pace.get_class_tick(seats) if request.seat is None else seats[0].tick
        tick = now_tick if request.tick is None else request.tick
        mark = ClassInstruction(
            seat_id=request.seat, group_name=request.group, tick=tick, kind=MARK, text=request.text
        )
        self._dashboard.marks += await self._writer.write(self._record.store_instructions, [mark])
        self._dashboard.mark_changed()
        self._peers.send(ClassChanged())

    # --- board

    async def _store_verdict(self, number: int, verdict: replies.LogVerdict) -> None:
        seat = self._seats[number]
        seat.verdict = verdict
        self._dashboard.changed_seats.add(number)
        await self._send_result(seat)

    def _store_reachable_points(self, number: int, t_s: float, points: float) -> None:
        self._seats[number].record_reachable_points(t_s, points)
        self._dashboard.changed_seats.add(number)

    async def _send_result(self, seat: SeatState) -> None:
        """Send the verdict to a seat whose run is over, after the whole log was replayed."""
        verdict, socket = seat.verdict, seat.socket
        if socket is not None and seat.over and verdict is not None and verdict["acts"] == seat.acknowledged:
            # if this fails, the verdict is sent again after the next status of the seat
            with suppress(WebSocketDisconnect, RuntimeError):
                await send_message(socket, replies.VerdictMessage(verdict))

    async def _refresh_dashboard_periodically(self) -> None:
        while True:
            await asyncio.sleep(DASHBOARD_INTERVAL_S)
            await self._observers.send_updates(self._dashboard.changed_seats)
            self._dashboard.record_activity_changes()
            if self.pace.is_break_over():
                with suppress(RequestRefusedError):
                    await self._change_pace(requests.ContinueClass())
            changed_seats = self._dashboard.take_changed_seats()
            if changed_seats is not None:
                self._peers.send_status(self._seats[number] for number in changed_seats)
                await self._dashboard.send_to_consoles(changed_seats)

    # --- other hosts

    async def _reload_after_gap(self) -> None:
        """Reload the record after messages may have been missed, and announce this host again."""
        await self._reload_changes()
        self._peers.send(StateRequest(), self._peers.build_seat_changes(self._seats.values()))

    async def _process_bus_message(self, message: BusMessage) -> None:
        looks = self._peers.process_message(message)
        if isinstance(message, SeatChanges):
            for seat_news in message.seats:
                await self._merge_seat_status(message.host, seat_news)
            for number in looks:
                await self._seat_request_handler.notify_seat(self._seats[number])
        elif isinstance(message, ClassChanged):
            await self._reload_changes()
        elif isinstance(message, StateRequest):
            await (
                self._reload_changes()
            )  # a new host sends this request after it has stored its address in the record
            self._peers.send_status(self._seats.values())
        elif isinstance(message, HandLoweredNotice):
            await self._seat_request_handler.lower_hand(self._seats[message.seat])
        else:
            await self._seat_request_handler.show_runs(message.show)

    async def _merge_seat_status(self, host: str, status: SeatStatusNotice) -> None:
        """Merge the status of a seat from another host. If both hosts have the seat, the latest connection counts."""
        seat = await self._admission.find_seat(status.number)
        if seat is None or (status.visit, host) < (seat.visit, seat.host):
            return
        if seat.socket is not None:
            socket, seat.socket = seat.socket, None
            await close_connection(socket, RETRY_LATER_CLOSE_CODE, tr("the seat has reconnected"))
        seat.host, seat.visit, seat.is_at_other_host = host, status.visit, status.connected
        seat.tick, seat.frozen, seat.over = max(seat.tick, status.tick), status.frozen, status.over
        seat.hand, seat.consent, seat.held = status.hand, status.consent, status.held
        seat.progress.record_position(seat.tick, seat.frozen or seat.over)
        self._dashboard.update_hand_queue(seat)
        if not seat.consent:
            await self._observers.end_disallowed_observations(seat)
        if status.acknowledged > seat.acknowledged:
            await self._read_stored_entries(seat)
        self._dashboard.changed_seats.add(seat.number)

    async def _reload_changes(self) -> None:
        """Reload the record and send its changes to the seats of this host."""
        the_class = await self._writer.read(self._record.read_class)
        assert the_class is not None, "a host has begun it"
        if the_class.id != self._class.id:
            self._follow()
            return
        for column in [column.key for column in ClassPart.__table__.columns]:
            setattr(self._class, column, getattr(the_class, column))
        self._instructions.add(await self._writer.read(self._record.read_instructions))
        self._dashboard.marks = await self._writer.read(self._record.read_marks)
        attended = []
        for seat in await self._writer.read(self._record.read_seats):
            seat_state = self._seats.setdefault(seat.id, build_seat_state(seat, 0))
            if seat_state.taken != seat.taken:
                attended.append(seat_state)
            seat_state.group, seat_state.stopped, seat_state.until, seat_state.taken = (
                seat.group_name, seat.stopped, seat.until, seat.taken,
            )  # fmt: skip
            if seat_state.acknowledged < seat.acknowledged:
                await self._read_stored_entries(seat_state)
        self._dashboard.mark_changed()
        self._dashboard.changed_seats |= set(self._seats)
        await self._broadcast_to_seats(self._send_pace)
        for seat_state in attended:
            await self._seat_request_handler.notify_seat(seat_state)

    # --- the instructor

    async def _serve_console(self, socket: WebSocket) -> None:
        self._dashboard.consoles.add(socket)
        try:
            await send_message(socket, self._dashboard.build_dashboard())
            while True:
                request = await receive_request(socket)
                require_permission("instructor", request)
                try:
                    if isinstance(request, requests.Instruct):
                        await self._send_instruction(request)
                    elif isinstance(request, requests.SeatRequest):
                        await self._seat_request_handler.execute_request(socket, request)
                    elif isinstance(request, requests.PaceRequest):
                        await self._change_pace(request)
                    elif isinstance(request, requests.SetMark):
                        await self._set_mark(request)
                    elif isinstance(request, requests.HandIn):
                        await self._store_handed_in_log(request)
                    await send_message(socket, replies.RequestDone(request.kind))
                    if isinstance(request, requests.StartNextPart):
                        self._follow()
                except (RequestRefusedError, LogMismatchError) as error:
                    await send_message(socket, replies.RequestFailed(request.kind, str(error)))
        finally:
            self._dashboard.consoles.discard(socket)
            await self._observers.end_observations(socket)
