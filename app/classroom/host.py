"""The host of a class: takes in every seat's log, has it on disk before it says so, and plays it again. No Qt.

Everything here happens on one event loop; the database has a thread that writes, runs are played again in processes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Final

from sqlalchemy.exc import SQLAlchemyError
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import acts, plan, wire
from app.classroom.acts import Act, BadLog
from app.classroom.admission import Admission
from app.classroom.bus import (
    Bus,
    Changed,
    Hello,
    Lowered,
    News,
    SeatNews,
    Seats,
    Shown,
)
from app.classroom.conversation import Refused, check_may, close, hear, say, send
from app.classroom.gate import same
from app.classroom.instructions import answered, as_message, check_answers, is_for
from app.classroom.judge import Judge
from app.classroom.live_board import LiveBoard
from app.classroom.looks import Looks
from app.classroom.models import BACK, INJECT, OVER, Class, Instruction, Seat
from app.classroom.neighbours import Neighbours
from app.classroom.pace import Pace, Progress
from app.classroom.record import Record
from app.classroom.scenario import loaded, played
from app.classroom.seat_log import welcome
from app.classroom.seat_state import SeatState, meant, state_of
from app.classroom.shapes import Verdict
from app.classroom.verdict import NOT_IN_A_CLASS
from app.classroom.wire import LATER, REFUSED, Garbage
from app.classroom.writer import Writer
from app.learning.reflection import Reflection
from app.words.language import tr
from engine.drill.running.modes import Mode
from engine.inputs import InputProblem
from engine.verbs.lines import parse_line

logger = logging.getLogger(__name__)

STRANGERS_MAX: Final = 1_000
"""Connections that have not said yet who they are; one more is turned away."""
FIRST_WORD_S: Final = 10.0
"""A connection that has said nothing by then is closed."""
CANCEL_S: Final = 0.5
"""Wall time in which what goes on in the background has ended, or is told once more."""
BOARD_S: Final = 0.2
"""Wall time between two looks at what has changed on the board."""


class Host:
    """A class that is open. With a *bus* it has several hosts, which write to the same record."""

    def __init__(
        self, record: Record, the_class: Class, bus: Bus | None, follow: Callable[[], object]
    ) -> None:
        """*the_class*: the part that it is at, of which *record* speaks. *follow* is called once it is at another."""
        self._record, self._follow = record, follow
        self._parts = record.parts()
        self._bus = bus
        self._class = the_class
        self._scenario = loaded(the_class.scenario_text, the_class.scenario_name)
        self._judge = Judge(the_class, self._log_of, self._judged, self._weighed)
        self._writer = Writer(record, self._written)
        self._lines = {seat.id: state_of(seat) for seat in record.seats()}
        self._instructions = {one.number: one for one in record.instructions()}
        self.pace = Pace(the_class, self._scenario)
        for number, line in self._lines.items():
            self._take_up(line, record.acts(number))
        self._played = played(the_class, self._scenario)
        """What every seat plays."""
        self._reflect = bool(the_class.plan) and plan.of_text(the_class.plan).reflect
        self._board = LiveBoard(the_class, len(self._parts), self._lines, self._instructions, self.pace)
        self._admission = Admission(the_class, self._played, record, self._writer, self._lines)
        self._looks = Looks(the_class, self._lines, self._log_of, self._look_changed)
        self._strangers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._neighbours = Neighbours(bus, self._lines, self._looks.seen, self._do)

    def begin(self) -> None:
        """Start what goes on beside the connections; runs that were left are judged."""
        self._do(self._writer.run())
        self._do(self._show())
        if self._bus is not None:
            self._do(self._bus.listen(self._hear_other, self._hear_anew))
            self._do(self._neighbours.stay_alive(lambda line: self._board.changed.add(line.number)))
        for place in self._judge.places:
            self._do(self._judge.run(place))
        for number in self._lines:
            self._judge.add(number, self._record.acts(number))

    async def end(self) -> None:
        """Everything acknowledged is on disk already; let go of the rest."""
        while tasks := list(self._tasks):
            for (
                task
            ) in tasks:  # again and again: asyncio.wait_for can miss it (CPython issue 86296, mended in 3.12)
                task.cancel()
            await asyncio.wait(tasks, timeout=CANCEL_S)
        if self._bus is not None:
            await self._bus.close()
        self._judge.close()
        self._writer.close()

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("class host", exc_info=task.exception())

    # --- connections

    async def hang_up(self) -> None:
        """Everybody is to dial again: seats for what they play next, consoles for its board."""
        there = [line.socket for line in self._lines.values() if line.socket is not None]
        why = tr("the class goes on with its next part")
        await asyncio.gather(*(close(socket, LATER, why) for socket in [*there, *self._board.consoles]))

    async def meet(self, socket: WebSocket) -> None:
        """One connection from its first word to its last."""
        await socket.accept()
        try:
            await self._attend(socket, await self._first_word(socket))
        except Refused as why:
            await close(socket, why.code, str(why))
        except (Garbage, BadLog) as why:
            await close(socket, REFUSED, str(why))
        except SQLAlchemyError as problem:
            logger.error("class record: %s", problem)
            await close(socket, LATER, tr("the record cannot be read: try again"))
        except WebSocketDisconnect:
            pass

    async def _first_word(self, socket: WebSocket) -> wire.Request:
        if self._strangers >= STRANGERS_MAX:
            raise Refused(tr("too many connections at once: try again"), LATER)
        self._strangers += 1
        try:
            async with asyncio.timeout(FIRST_WORD_S):
                return await hear(socket)
        except TimeoutError:
            raise Refused(tr("no message has come"), LATER) from None
        finally:
            self._strangers -= 1

    async def _attend(self, socket: WebSocket, first: wire.Request) -> None:
        address = socket.client.host if socket.client else ""
        if isinstance(first, wire.Steer):
            if not same(first.key, self._class.secret):
                raise Refused(tr("this is not the key of the class"))
            await self._steered(socket)
        elif isinstance(first, wire.Join | wire.Resume):
            line = await self._admission.admit(first, address)
            await self._seated(socket, line)
        else:
            raise Refused(tr("say first who you are"))

    async def _hand_in(self, said: wire.HandIn) -> None:
        """Acts from the log of a seat that came by file. Raises Refused, BadLog."""
        line = await self._admission.handed_in(said)
        await self._take(line, [acts.act(entry) for entry in said.acts])
        self._board.changed.add(line.number)

    # --- seats

    async def _seated(self, socket: WebSocket, line: SeatState) -> None:
        if line.socket is not None:  # half open still; who comes last is the seat
            await close(line.socket, LATER, tr("the seat has connected again"))
        line.socket, line.told = socket, set()
        # Later than every other connection of the seat, also one at a host of which nothing was heard yet.
        line.host, line.visit, line.away = (
            self._neighbours.own,
            max(line.visit + 1, int(time.time() * 1000)),
            False,
        )
        try:
            await self._catch_up(line)
            await say(
                socket,
                welcome(
                    self._played, line.number, line.acknowledged, self._class.state, line.tick, self._reflect
                ),
            )
            await say(socket, self.pace.said_to(line))
            await self._attend_to(line)
            await self._instruct(line)
            self._board.changed.add(line.number)
            while True:
                said = await hear(socket)
                check_may("seat", said)
                if isinstance(said, wire.At):
                    await self._is_at(line, said)
                elif isinstance(said, wire.Reflect):
                    thought = Reflection(said.happened, said.otherwise, said.expected_score)
                    await self._writer.keep(self._record.reflect, line.number, thought)
                elif isinstance(said, wire.Acts):
                    await self._take(line, [acts.act(entry) for entry in said.acts])
                    await say(socket, {"kind": "acknowledged", "number": line.acknowledged})
        finally:
            if line.socket is socket:
                line.socket = None
                self._board.changed.add(line.number)

    def _take_up(self, line: SeatState, log: Sequence[Act]) -> None:
        """*log* is all that the record has of it."""
        line.letters = sum(len(act.line) for act in log)
        line.answered = answered(log, self._instructions.values())

    async def _catch_up(self, line: SeatState) -> None:
        """What is on disk of this seat from another host, or from a write of which nobody said that it was done."""
        async with line.taking:
            self._taken(line, await self._writer.read(self._record.acts, line.number, line.acknowledged + 1))

    async def _is_at(self, line: SeatState, said: wire.At) -> None:
        before = (line.tick, line.frozen, line.over, line.hand, line.consent, line.held)
        line.tick, line.frozen, line.over = max(line.tick, said.tick), said.frozen, said.over
        line.hand, line.consent, line.held = said.hand, said.consent, said.held
        line.progress.note(line.tick, line.frozen or line.over)
        if before != (line.tick, line.frozen, line.over, line.hand, line.consent, line.held):
            self._board.changed.add(line.number)
        self._board.queue(line)
        if not line.consent:
            await self._looks.forbid(line)
        await self._tell_result(line)

    async def _take(self, line: SeatState, offered: list[Act]) -> None:
        """Keep what is new of *offered*. Raises BadLog, Refused."""
        async with line.taking:
            number = line.number
            new = acts.new_of(
                offered, line.acknowledged, line.last_tick,
                lambda first, last: self._record.acts(number, first, last),
            )  # fmt: skip
            if line.letters + sum(len(act.line) for act in new) > acts.LETTERS_MAX:
                raise Refused(tr("the log is longer than the log of a seat may be"))
            if any(act.instruction for act in new):
                log = await self._writer.read(self._record.acts, number)
                check_answers(new, line, log, self._instructions)
            if not new:
                return
            await self._writer.acts(line.number, new)

    def _written(self, seats: Sequence[Seat], logs: Mapping[int, Sequence[Act]]) -> None:
        """All of it is on disk."""
        for seat in seats:
            self._lines.setdefault(seat.id, state_of(seat))
        for number, new in logs.items():
            self._taken(self._lines[number], new)

    def _taken(self, line: SeatState, new: Sequence[Act]) -> None:
        """*new* is on disk."""
        new = [act for act in new if act.number > line.acknowledged]
        if not new:
            return
        line.letters += sum(len(act.line) for act in new)
        line.acknowledged, line.last_tick = new[-1].number, new[-1].tick
        line.tick = max(line.tick, line.last_tick)
        line.answered |= {act.instruction for act in new if act.instruction}
        if any(map(acts.goes_back, new)):
            self._do(self._came_back(line))
        self._board.changed.add(line.number)
        self._judge.add(line.number, new)
        self._looks.add(line.number, new)

    async def _log_of(self, number: int) -> list[Act]:
        return await self._writer.read(self._record.acts, number)

    async def _came_back(self, line: SeatState) -> None:
        """The seat is at an earlier moment: what was prepared for later comes again, and who looks at it sees it."""
        log = await self._writer.read(self._record.acts, line.number)
        line.tick = line.last_tick
        line.answered = answered(log, self._instructions.values())
        line.told &= line.answered
        line.progress = Progress()
        await self._instruct(line)
        await self._looks.begin_again(line)

    # --- instructions

    async def _instruct(self, line: SeatState) -> None:
        """Send what the seat has not answered yet."""
        for number, given in self._instructions.items():
            if is_for(given, line) and number not in line.answered | line.told and line.socket is not None:
                line.told.add(number)
                await say(line.socket, as_message(given))

    async def _given(self, said: wire.Instruct) -> None:
        if said.what == INJECT:
            try:
                verb = parse_line(said.text).verb
            except InputProblem as problem:
                raise Refused(str(problem)) from problem
            if verb in NOT_IN_A_CLASS:
                raise Refused(tr("A class cannot go back in time."))
        lines = meant(said, self._lines)
        # Without a time it is for those who are there now; with one, for each seat that comes to that time.
        later = said.tick is not None and said.seat is None
        seats: list[int | None] = [None] if later else [line.number for line in lines]
        await self._send_out(
            [
                Instruction(
                    seat_id=seat, group_name=said.group, tick=said.tick, kind=said.what, text=said.text
                )
                for seat in seats
            ]
        )

    async def _send_out(self, made: list[Instruction]) -> None:
        for one in await self._writer.keep(self._record.instruct, made):
            self._instructions[one.number] = one
        self._neighbours.tell(Changed())
        await self._to_seats(self._instruct)

    async def _to_seats(self, tell: Callable[[SeatState], Awaitable[None]]) -> None:
        there = [line for line in self._lines.values() if line.socket is not None]
        await asyncio.gather(*(tell(line) for line in there), return_exceptions=True)

    async def _steer(self, said: wire.OfPace) -> None:
        """How far and how fast seats go; kept before any of them is told. Raises Refused."""
        lines = meant(said, self._lines) if isinstance(said, wire.Target) else list(self._lines.values())
        if isinstance(said, wire.Move):
            lines = meant(wire.Target(seat=said.seat), self._lines)
        if isinstance(said, wire.Back):
            await self._send_back(lines, said)
            return
        if isinstance(said, wire.Next):
            await self._go_on()
            return
        try:
            of_class, of_seats = self.pace.asked(said, lines)
        except ValueError as why:
            raise Refused(str(why)) from why
        if of_class:
            await self._writer.keep(self._record.change, **of_class)
            for name, value in of_class.items():
                setattr(self._class, name, value)
        for columns, some in of_seats:
            await self._writer.keep(self._record.change_seats, [line.number for line in some], **columns)
            for line in some:
                for name, value in columns.items():
                    setattr(line, {"group_name": "group"}.get(name, name), value)
        self._board.turn()
        self._board.changed |= {line.number for line in lines}
        self._neighbours.tell(Changed())
        await self._to_seats(self._tell_pace)

    async def _go_on(self) -> None:
        """To the next part. Raises Refused."""
        if self._class.id == self._parts[-1].id:
            raise Refused(tr("the class has no further part"))
        if self._class.state != OVER:
            raise Refused(tr("this part is not over: finish it first"))
        await self._writer.keep(self._record.go_on)
        if self._bus is not None:
            await self._bus.tell(Changed())

    async def _tell_pace(self, line: SeatState) -> None:
        """How far and how fast it may go now, and what has come for it."""
        if line.socket is not None:
            await say(line.socket, self.pace.said_to(line))
        await self._instruct(line)

    async def _send_back(self, lines: Sequence[SeatState], said: wire.Back) -> None:
        """Raises Refused."""
        early = [line.name for line in lines if line.tick < said.tick]
        if early:
            raise Refused(tr("{names} have not come so far yet").format(names=", ".join(early)))
        await self._send_out(
            [Instruction(seat_id=line.number, tick=said.tick, kind=BACK, text=said.text) for line in lines]
        )

    # --- one seat at a time

    async def _about_seat(self, console: WebSocket, said: wire.OfSeat) -> None:
        """Raises Refused."""
        line = self._lines.get(said.seat) if said.seat is not None else None
        if said.seat is not None and line is None:
            raise Refused(tr("there is no seat {number}").format(number=said.seat))
        if isinstance(said, wire.Look | wire.Show) and line is not None and not line.consent:
            raise Refused(tr("{name} has not allowed to be looked at").format(name=line.name))
        if isinstance(said, wire.Look):
            await (self._looks.end(console) if line is None else self._looks.begin(console, line))
        elif isinstance(said, wire.Show):
            await self._show_to_all(line)
            self._neighbours.tell(Shown(show=said))
        elif line is not None and isinstance(said, wire.Lower):
            if not line.connected:
                raise Refused(tr("{name} is not connected").format(name=line.name))
            await self._lower(line)
            self._neighbours.tell(Lowered(seat=line.number))
        elif line is not None:
            taken = isinstance(said, wire.Take)
            await self._writer.keep(self._record.change_seats, [line.number], taken=taken)
            line.taken = taken
            await self._attend_to(line)
            self._neighbours.tell(Changed())

    async def _lower(self, line: SeatState) -> None:
        if line.socket is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await say(line.socket, {"kind": "lowered"})

    async def _attend_to(self, line: SeatState) -> None:
        """Tell the seat what the instructor does with it."""
        looked_at = line.number in self._looks.seen() or self._neighbours.look_at(line.number)
        if line.socket is not None:
            with suppress(WebSocketDisconnect, RuntimeError):  # it is told when it comes again
                await say(line.socket, {"kind": "attention", "looked_at": looked_at, "held": line.taken})

    async def _look_changed(self, line: SeatState) -> None:
        """A console looks at it from now on, or no longer."""
        self._neighbours.tell_of()
        await self._attend_to(line)

    async def _show_to_all(self, line: SeatState | None) -> None:
        """Raises Refused."""
        if line is not None and Mode(self._class.mode) is Mode.EXAM:
            raise Refused(tr("in an exam nobody is shown what another one does"))
        name = line.name if line is not None else None
        log = await self._writer.read(self._record.acts, line.number) if line is not None else []
        log = acts.effective(log)
        text = json.dumps({"kind": "shown", "name": name, "acts": log}, ensure_ascii=False)

        async def tell(other: SeatState) -> None:
            if other.socket is not None and other is not line:
                await send(other.socket, text)

        await self._to_seats(tell)

    # --- the board

    async def _judged(self, number: int, verdict: Verdict) -> None:
        line = self._lines[number]
        line.verdict = verdict
        self._board.changed.add(number)
        await self._tell_result(line)

    def _weighed(self, number: int, t_s: float, points: float) -> None:
        self._lines[number].weigh(t_s, points)
        self._board.changed.add(number)

    async def _tell_result(self, line: SeatState) -> None:
        """What the log of a seat that is over has come to, once all of it was played again."""
        found, socket = line.verdict, line.socket
        if socket is not None and line.over and found is not None and found["acts"] == line.acknowledged:
            with suppress(WebSocketDisconnect, RuntimeError):  # it asks again
                await say(socket, {"kind": "result", "verdict": found})

    async def _show(self) -> None:
        while True:
            await asyncio.sleep(BOARD_S)
            await self._looks.show(self._board.changed)
            if self.pace.break_is_over():
                with suppress(Refused):
                    await self._steer(wire.Go())
            changed = self._board.news()
            if changed is not None:
                self._neighbours.tell_of(self._lines[number] for number in changed)
                await self._board.send(changed)

    # --- other hosts

    async def _hear_anew(self) -> None:
        """Something may have been missed."""
        await self._hear_changes()
        self._neighbours.tell(Hello(), self._neighbours.news(self._lines.values()))

    async def _hear_other(self, said: News) -> None:
        looks = self._neighbours.heard(said)
        if isinstance(said, Seats):
            for one in said.seats:
                await self._hear_of(said.host, one)
            for number in looks:
                await self._attend_to(self._lines[number])
        elif isinstance(said, Changed):
            await self._hear_changes()
        elif isinstance(said, Hello):
            await self._hear_changes()  # its address
            self._neighbours.tell_of(self._lines.values())
        elif isinstance(said, Lowered):
            await self._lower(self._lines[said.seat])
        else:
            await self._show_to_all(self._lines[said.show.seat] if said.show.seat is not None else None)

    async def _hear_of(self, host: str, one: SeatNews) -> None:
        """How a seat is; of two hosts that have it, the one to which it has connected last is right."""
        line = await self._admission.seat(one.number)
        if line is None or (one.visit, host) < (line.visit, line.host):
            return
        if line.socket is not None:
            socket, line.socket = line.socket, None
            await close(socket, LATER, tr("the seat has connected again"))
        line.host, line.visit, line.away = host, one.visit, one.connected
        line.tick, line.frozen, line.over = max(line.tick, one.tick), one.frozen, one.over
        line.hand, line.consent, line.held = one.hand, one.consent, one.held
        line.progress.note(line.tick, line.frozen or line.over)
        self._board.queue(line)
        if not line.consent:
            await self._looks.forbid(line)
        if one.acknowledged > line.acknowledged:
            await self._catch_up(line)
        self._board.changed.add(line.number)

    async def _hear_changes(self) -> None:
        """The record as it is now, and to the seats here what is new in it."""
        the_class = await self._writer.read(self._record.the_class)
        assert the_class is not None, "a host has begun it"
        if the_class.id != self._class.id:
            self._follow()
            return
        for column in [column.key for column in Class.__table__.columns]:
            setattr(self._class, column, getattr(the_class, column))
        for given in await self._writer.read(self._record.instructions):
            self._instructions.setdefault(given.number, given)
        attended = []
        for seat in await self._writer.read(self._record.seats):
            line = self._lines.setdefault(seat.id, state_of(seat, 0))
            if line.taken != seat.taken:
                attended.append(line)
            line.group, line.stopped, line.until, line.taken = (
                seat.group_name, seat.stopped, seat.until, seat.taken,
            )  # fmt: skip
            if line.acknowledged < seat.acknowledged:
                await self._catch_up(line)
        self._board.turn()
        self._board.changed |= set(self._lines)
        await self._to_seats(self._tell_pace)
        for line in attended:
            await self._attend_to(line)

    # --- the instructor

    async def _steered(self, socket: WebSocket) -> None:
        self._board.consoles.add(socket)
        try:
            await say(socket, self._board.whole())
            while True:
                said = await hear(socket)
                check_may("instructor", said)
                try:
                    if isinstance(said, wire.Instruct):
                        await self._given(said)
                    elif isinstance(said, wire.OfSeat):
                        await self._about_seat(socket, said)
                    elif isinstance(said, wire.OfPace):
                        await self._steer(said)
                    elif isinstance(said, wire.HandIn):
                        await self._hand_in(said)
                    await say(socket, {"kind": "done", "of": said.kind})
                    if isinstance(said, wire.Next):
                        self._follow()
                except (Refused, BadLog) as why:
                    await say(socket, {"kind": "refused", "of": said.kind, "text": str(why)})
        finally:
            self._board.consoles.discard(socket)
            await self._looks.end(socket)
