"""The host of a class: takes in every seat's log, has it on disk before it says so, and plays it again. No Qt.

Everything here happens on one event loop; the database has a thread that writes, runs are played again in processes.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.classroom import acts, plan, wire
from app.classroom.acts import Act, BadLog
from app.classroom.code import SECRET_LETTERS
from app.classroom.conversation import Refused, check_may, close, hear, say, send
from app.classroom.gate import Gate, same
from app.classroom.instructions import answered, as_message, check_answer, is_for
from app.classroom.models import BACK, INJECT, Class, Instruction, Seat
from app.classroom.pace import Pace, Progress
from app.classroom.record import Record
from app.classroom.scenario import loaded, text_for_seat
from app.classroom.seat_state import SeatState, state_of, tile
from app.classroom.shapes import Board, Welcome
from app.classroom.wire import LATER, REFUSED, Garbage
from app.classroom.workers import Workers
from app.words.language import tr
from engine.drill.running.modes import Mode
from engine.inputs import InputProblem
from engine.verbs.lines import parse_line

Kept = TypeVar("Kept")
What = ParamSpec("What")
logger = logging.getLogger(__name__)

SEATS_MAX: Final = 2_000
STRANGERS_MAX: Final = 1_000
"""Connections that have not said yet who they are; one more is turned away."""
FIRST_WORD_S: Final = 10.0
"""A connection that has said nothing by then is closed."""
BOARD_S: Final = 0.2
"""Wall time between two looks at what has changed on the board."""
TOGETHER: Final = 50
"""Seats whose acts go to a worker at once."""


class Host:
    """A class that is open."""

    def __init__(self, record: Record, the_class: Class) -> None:
        self._record = record
        self._class = the_class
        self._scenario = loaded(the_class.scenario_text, the_class.scenario_name)
        self._workers = Workers(
            the_class.scenario_text, the_class.scenario_name, the_class.seed, the_class.mode
        )
        self._writer = ThreadPoolExecutor(1, "class record")
        self._gate = Gate(time.monotonic)
        self._lines = {seat.id: state_of(seat) for seat in record.seats()}
        self._instructions = {one.number: one for one in record.instructions()}
        self.pace = Pace(the_class, self._scenario)
        for number, line in self._lines.items():
            log = record.acts(number)
            line.letters = sum(len(act.line) for act in log)
            line.answered = answered(log, self._instructions.values())
        self._groups = plan.of_text(the_class.plan) if the_class.plan else None
        self._consoles: set[WebSocket] = set()
        self._looks: dict[WebSocket, tuple[int, list[Act]]] = {}
        """Console -> the seat that it looks at, and what it has not been sent yet."""
        self._hands: list[int] = []
        """Seats with raised hands, in the order in which they were raised."""
        self._strangers = 0
        self._changed: set[int] = set()
        """Seats whose tiles are other ones since the board was sent."""
        self._turned = True
        """The class is in another state since then."""
        self._unjudged: list[dict[int, list[Act]]] = [{} for _ in range(self._workers.count)]
        """For each worker the acts of its seats that it has not had."""
        self._to_do = [asyncio.Event() for _ in range(self._workers.count)]
        self._unwritten: list[tuple[SeatState, Sequence[Act], asyncio.Future[None]]] = []
        self._unseated: dict[str, tuple[Seat, asyncio.Future[None]]] = {}
        """By the hash of the seat's token."""
        self._to_write = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.app = Starlette(routes=[WebSocketRoute("/", self._meet)])

    def begin(self) -> None:
        """Start what goes on beside the connections; runs that were left are judged."""
        self._do(self._write())
        self._do(self._show())
        for place in range(self._workers.count):
            self._do(self._judge(place))
        for line in self._lines.values():
            self._to_judge(line, self._record.acts(line.number))

    async def end(self) -> None:
        """Everything acknowledged is on disk already; let go of the rest."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._workers.close()
        self._writer.shutdown()

    async def _kept(self, write: Callable[What, Kept], *what: What.args, **named: What.kwargs) -> Kept:
        """Write to the record, one after the other. Raises Refused where that fails."""
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._writer, partial(write, *what, **named)
            )
        except SQLAlchemyError as problem:
            logger.error("class record: %s", problem)
            raise Refused(tr("the record cannot be written: try again"), LATER) from problem

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error("class host", exc_info=task.exception())

    # --- connections

    async def _meet(self, socket: WebSocket) -> None:
        """One connection from its first word to its last."""
        await socket.accept()
        try:
            await self._attend(socket, await self._first_word(socket))
        except Refused as why:
            await close(socket, why.code, str(why))
        except (Garbage, BadLog) as why:
            await close(socket, REFUSED, str(why))
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
            line = await self._admit(first, address)
            await self._seated(socket, line)
        else:
            raise Refused(tr("say first who you are"))

    async def _admit(self, first: wire.Join | wire.Resume, address: str) -> SeatState:
        """The seat whose token was shown. Raises Refused."""
        if not self._gate.open_to(address):
            raise Refused(tr("too many tries from your address: wait a moment"), LATER)
        token_hash = hashlib.sha256(first.token.encode()).hexdigest()
        if isinstance(first, wire.Resume):
            line = self._lines.get(first.seat)
            if line is None or not hmac.compare_digest(line.token_hash, token_hash):
                self._gate.wrong(address)
                raise Refused(tr("this is not the token of seat {number}").format(number=first.seat))
        else:
            if not same(first.secret, self._class.code[:SECRET_LETTERS]):
                self._gate.wrong(address)
                raise Refused(tr("this is not the code of the class"))
            line = await self._seat(first, token_hash)
        return line

    async def _seat(self, join: wire.Join, token_hash: str) -> SeatState:
        for line in self._lines.values():
            if hmac.compare_digest(line.token_hash, token_hash):
                return line
        if len(self._lines) >= SEATS_MAX:
            raise Refused(tr("the class is full"))
        if not join.name.isprintable() or not join.name.strip():
            raise Refused(tr("a name needs printable characters"))
        if token_hash not in self._unseated:
            made = Seat(
                name=join.name.strip(), token_hash=token_hash, consent=join.consent, acknowledged=0, tick=0,
                group_name=self._groups.group_of(join.name.strip()) if self._groups is not None else "",
            )  # fmt: skip
            self._unseated[token_hash] = made, asyncio.get_running_loop().create_future()
            self._to_write.set()
        seat, written = self._unseated[token_hash]
        await written
        return self._lines.setdefault(seat.id, state_of(seat))

    # --- seats

    async def _seated(self, socket: WebSocket, line: SeatState) -> None:
        if line.socket is not None:  # half open still; who comes last is the seat
            await close(line.socket, LATER, tr("the seat has connected again"))
        line.socket, line.told = socket, set()
        try:
            await say(socket, self._welcome(line))
            await say(socket, self.pace.said_to(line))
            await self._attend_to(line)
            await self._instruct(line)
            self._changed.add(line.number)
            while True:
                said = await hear(socket)
                check_may("seat", said)
                if isinstance(said, wire.At):
                    await self._is_at(line, said)
                elif isinstance(said, wire.Acts):
                    await self._take(line, [acts.act(entry) for entry in said.acts])
                    await say(socket, {"kind": "acknowledged", "number": line.acknowledged})
        finally:
            if line.socket is socket:
                line.socket = None
                self._changed.add(line.number)

    async def _is_at(self, line: SeatState, said: wire.At) -> None:
        before = (line.tick, line.frozen, line.over, line.hand, line.consent, line.held)
        line.tick, line.frozen, line.over = max(line.tick, said.tick), said.frozen, said.over
        line.hand, line.consent, line.held = said.hand, said.consent, said.held
        line.progress.note(line.tick, line.frozen or line.over)
        if before != (line.tick, line.frozen, line.over, line.hand, line.consent, line.held):
            self._changed.add(line.number)
        self._queue(line)
        if not line.consent:
            await self._look_away(line)
        await self._tell_result(line)

    def _welcome(self, line: SeatState) -> Welcome:
        the_class = self._class
        return {
            "kind": "welcome",
            "seat": line.number,
            "acknowledged": line.acknowledged,
            "scenario": the_class.scenario_name,
            "text": text_for_seat(self._scenario, Mode(the_class.mode)),
            "seed": the_class.seed,
            "mode": the_class.mode,
            "state": the_class.state,
            "tick": line.tick,
        }

    async def _take(self, line: SeatState, offered: list[Act]) -> None:
        """Keep what is new of *offered*. Raises BadLog, Refused."""
        async with line.taking:
            number = line.number
            new = acts.new_of(
                offered, line.acknowledged, line.last_tick,
                lambda first, last: self._record.acts(number, first, last),
            )  # fmt: skip
            line.letters += sum(len(act.line) for act in new)
            if line.letters > acts.LETTERS_MAX:
                raise Refused(tr("the log is longer than the log of a seat may be"))
            for act in new:
                check_answer(act, line.number, self._instructions)
            if not new:
                return
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._unwritten.append((line, new, written))
            self._to_write.set()
            await written

    async def _write(self) -> None:
        """Write what waits, all of it in one transaction, again and again."""
        while True:
            await self._to_write.wait()
            self._to_write.clear()
            waiting, self._unwritten = self._unwritten, []
            joining = dict(self._unseated)  # they stay there meanwhile: the same token is never two seats
            seats = [seat for seat, _ in joining.values()]
            problem: Refused | None = None
            try:
                await self._kept(self._record.keep, seats, {line.number: new for line, new, _ in waiting})
            except Refused as refused:
                problem = refused
            for token_hash in joining:
                del self._unseated[token_hash]
            if problem is None:
                for seat in seats:
                    self._lines.setdefault(seat.id, state_of(seat))
                for line, new, _ in waiting:
                    self._taken(line, new)
            for written in [future for _, _, future in waiting] + [future for _, future in joining.values()]:
                if not written.done():
                    written.set_result(None) if problem is None else written.set_exception(problem)

    def _taken(self, line: SeatState, new: Sequence[Act]) -> None:
        """*new* is on disk."""
        line.acknowledged, line.last_tick = new[-1].number, new[-1].tick
        line.tick = max(line.tick, line.last_tick)
        line.answered |= {act.instruction for act in new if act.instruction}
        if any(map(acts.goes_back, new)):
            self._do(self._came_back(line))
        self._changed.add(line.number)
        self._to_judge(line, new)
        for seat, more in self._looks.values():
            if seat == line.number:
                more.extend(new)

    async def _came_back(self, line: SeatState) -> None:
        """The seat is at an earlier moment: what was prepared for later comes again, and who looks at it sees it."""
        log = await asyncio.to_thread(self._record.acts, line.number)
        line.tick = line.last_tick
        line.answered = answered(log, self._instructions.values())
        line.told &= line.answered
        line.progress = Progress()
        await self._instruct(line)
        for console in [one for one, (seat, _) in self._looks.items() if seat == line.number]:
            await self._look_at(console, line)

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
                parse_line(said.text)
            except InputProblem as problem:
                raise Refused(str(problem)) from problem
        lines = self._of(said)
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
        for one in await self._kept(self._record.instruct, made):
            self._instructions[one.number] = one
        await self._to_seats(self._instruct)

    async def _to_seats(self, tell: Callable[[SeatState], Awaitable[None]]) -> None:
        there = [line for line in self._lines.values() if line.socket is not None]
        await asyncio.gather(*(tell(line) for line in there), return_exceptions=True)

    def _of(self, said: wire.Target) -> list[SeatState]:
        """The seats that are meant. Raises Refused where there is none."""
        if said.seat is not None:
            if said.seat not in self._lines:
                raise Refused(tr("there is no seat {number}").format(number=said.seat))
            return [self._lines[said.seat]]
        lines = [line for line in self._lines.values() if said.group in (None, line.group)]
        if said.group is not None and not lines:
            raise Refused(tr("there is no group {name}").format(name=said.group))
        return lines

    async def _steer(self, said: wire.OfPace) -> None:
        """How far and how fast seats go; kept before any of them is told. Raises Refused."""
        lines = self._of(said) if isinstance(said, wire.Target) else list(self._lines.values())
        if isinstance(said, wire.Move):
            lines = self._of(wire.Target(seat=said.seat))
        if isinstance(said, wire.Back):
            await self._send_back(lines, said)
            return
        try:
            of_class, of_seats = self.pace.asked(said, lines)
        except ValueError as why:
            raise Refused(str(why)) from why
        if of_class:
            await self._kept(self._record.change, **of_class)
            for name, value in of_class.items():
                setattr(self._class, name, value)
        for columns, some in of_seats:
            await self._kept(self._record.change_seats, [line.number for line in some], **columns)
            for line in some:
                for name, value in columns.items():
                    setattr(line, {"group_name": "group"}.get(name, name), value)
        self._turned = True
        self._changed |= {line.number for line in lines}

        async def tell(line: SeatState) -> None:
            if line.socket is not None:
                await say(line.socket, self.pace.said_to(line))
            await self._instruct(line)

        await self._to_seats(tell)

    async def _send_back(self, lines: Sequence[SeatState], said: wire.Back) -> None:
        """Raises Refused."""
        early = [line.name for line in lines if line.tick < said.tick]
        if early:
            raise Refused(tr("{names} have not come so far yet").format(names=", ".join(early)))
        await self._send_out(
            [Instruction(seat_id=line.number, tick=said.tick, kind=BACK, text=said.text) for line in lines]
        )

    # --- one seat at a time

    def _queue(self, line: SeatState) -> None:
        """Who raises a hand comes last; the places of all others may be other ones then."""
        raised = line.hand is not None
        if raised != (line.number in self._hands):
            self._hands.append(line.number) if raised else self._hands.remove(line.number)
            self._changed.update(self._hands)

    async def _about_seat(self, console: WebSocket, said: wire.OfSeat) -> None:
        """Raises Refused."""
        line = self._lines.get(said.seat) if said.seat is not None else None
        if said.seat is not None and line is None:
            raise Refused(tr("there is no seat {number}").format(number=said.seat))
        if isinstance(said, wire.Look | wire.Show) and line is not None and not line.consent:
            raise Refused(tr("{name} has not allowed to be looked at").format(name=line.name))
        if isinstance(said, wire.Look):
            await self._look_at(console, line)
        elif isinstance(said, wire.Show):
            await self._show_to_all(line)
        elif line is not None and isinstance(said, wire.Lower):
            if line.socket is None:
                raise Refused(tr("{name} is not connected").format(name=line.name))
            await say(line.socket, {"kind": "lowered"})
        elif line is not None:
            taken = isinstance(said, wire.Take)
            await self._kept(self._record.change_seats, [line.number], taken=taken)
            line.taken = taken
            await self._attend_to(line)

    async def _attend_to(self, line: SeatState) -> None:
        """Tell the seat what the instructor does with it."""
        looked_at = any(seat == line.number for seat, _ in self._looks.values())
        if line.socket is not None:
            with suppress(WebSocketDisconnect, RuntimeError):  # it is told when it comes again
                await say(line.socket, {"kind": "attention", "looked_at": looked_at, "held": line.taken})

    async def _look_at(self, console: WebSocket, line: SeatState | None) -> None:
        """Whom *console* looks at from now on; who is looked at is told so before anything is seen."""
        before, _ = self._looks.pop(console, (None, []))
        if before is not None:
            await self._attend_to(self._lines[before])
        if line is None:
            return
        async with line.taking:  # nothing is taken in between what was read and what comes
            log = acts.effective(await asyncio.to_thread(self._record.acts, line.number))
            self._looks[console] = (line.number, [])
        await self._attend_to(line)
        await say(
            console,
            {
                "kind": "seen",
                "seat": line.number,
                "name": line.name,
                "scenario": self._class.scenario_name,
                "text": self._class.scenario_text,
                "seed": self._class.seed,
                "mode": self._class.mode,
                "tick": line.tick,
                "acts": log,
            },
        )

    async def _look_away(self, line: SeatState) -> None:
        """The seat allows it no more."""
        for console in [one for one, (seat, _) in self._looks.items() if seat == line.number]:
            await self._look_at(console, None)
            text = tr("{name} has not allowed to be looked at").format(name=line.name)
            with suppress(WebSocketDisconnect, RuntimeError):
                await say(console, {"kind": "unseen", "seat": line.number, "text": text})

    async def _show_seats(self) -> None:
        """What the seats that are looked at have done since."""
        for console, (seat, more) in list(self._looks.items()):
            line = self._lines[seat]
            new, more[:] = list(more), []
            if new or seat in self._changed:
                with suppress(WebSocketDisconnect, RuntimeError):
                    await say(console, {"kind": "seen_more", "seat": seat, "tick": line.tick, "acts": new})

    async def _show_to_all(self, line: SeatState | None) -> None:
        """Raises Refused."""
        if line is not None and Mode(self._class.mode) is Mode.EXAM:
            raise Refused(tr("in an exam nobody is shown what another one does"))
        name = line.name if line is not None else None
        log = await asyncio.to_thread(self._record.acts, line.number) if line is not None else []
        log = acts.effective(log)
        text = json.dumps({"kind": "shown", "name": name, "acts": log}, ensure_ascii=False)

        async def tell(other: SeatState) -> None:
            if other.socket is not None and other is not line:
                await send(other.socket, text)

        await self._to_seats(tell)

    # --- the board

    def _to_judge(self, line: SeatState, acts: Sequence[Act]) -> None:
        place = self._workers.place(line.number)
        self._unjudged[place].setdefault(line.number, []).extend(acts)
        self._to_do[place].set()

    async def _judge(self, place: int) -> None:
        """Have the worker at *place* play again what its seats have done since, some seats at a time."""
        unjudged, to_do = self._unjudged[place], self._to_do[place]
        while True:
            await to_do.wait()
            some = {number: unjudged.pop(number) for number in list(unjudged)[:TOGETHER]}
            if not unjudged:
                to_do.clear()
            found = await self._workers.go_on(place, some)
            for number in some:
                line, verdict = self._lines[number], found.get(number)
                if verdict is not None:
                    line.verdict = verdict
                    self._changed.add(number)
                    await self._tell_result(line)
                else:  # the worker is a new one: from the beginning, and what came meanwhile
                    log = await asyncio.to_thread(self._record.acts, number)
                    since = [act for act in unjudged.pop(number, []) if act.number > len(log)]
                    self._to_judge(line, [*log, *since])

    async def _tell_result(self, line: SeatState) -> None:
        """What the log of a seat that is over has come to, once all of it was played again."""
        found, socket = line.verdict, line.socket
        if socket is not None and line.over and found is not None and found["acts"] == line.acknowledged:
            with suppress(WebSocketDisconnect, RuntimeError):  # it asks again
                await say(socket, {"kind": "result", "verdict": found})

    def board(self, numbers: Sequence[int] | None = None) -> Board:
        """The class and the tiles of the seats *numbers*, or of all."""
        wanted = self._lines.values() if numbers is None else [self._lines[number] for number in numbers]
        there = [line for line in self._lines.values() if line.socket is not None and not line.over]
        given = self._instructions.values()
        return {
            "kind": "board",
            "state": self._class.state,
            "not_frozen": [line.name for line in there if not line.frozen and self.pace.stops(line)],
            "ends_in_s": self.pace.class_ends_in_s(there),
            "break_s": self.pace.break_s(),
            "clock_s": self.pace.clock_s(),
            "tiles": [tile(line, self.pace, given, self._hands) for line in wanted],
        }

    async def _show(self) -> None:
        while True:
            await asyncio.sleep(BOARD_S)
            await self._show_seats()
            if self.pace.break_is_over():
                with suppress(Refused):
                    await self._steer(wire.Go())
            if not (self._changed or self._turned):
                continue
            changed, self._changed, self._turned = sorted(self._changed), set(), False
            if self._consoles:
                text = json.dumps(self.board(changed), ensure_ascii=False)
                await asyncio.gather(
                    *(console.send_text(text) for console in list(self._consoles)), return_exceptions=True
                )

    # --- the instructor

    async def _steered(self, socket: WebSocket) -> None:
        self._consoles.add(socket)
        try:
            await say(socket, self.board())
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
                    await say(socket, {"kind": "done", "of": said.kind})
                except Refused as why:
                    await say(socket, {"kind": "refused", "of": said.kind, "text": str(why)})
        finally:
            self._consoles.discard(socket)
            await self._look_at(socket, None)
