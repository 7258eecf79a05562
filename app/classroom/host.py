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
from dataclasses import dataclass, field
from functools import partial
from typing import Final, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.classroom import acts, wire
from app.classroom.acts import Act, BadLog
from app.classroom.code import SECRET_LETTERS
from app.classroom.gate import Gate
from app.classroom.models import FROZEN, INJECT, OVER, RUNNING, Class, Instruction, Seat
from app.classroom.record import Record
from app.classroom.scenario import loaded, text_for_seat
from app.classroom.shapes import Board, Tile, ToInstructor, ToSeat, Verdict, Welcome
from app.classroom.wire import LATER, REFUSED, Garbage
from app.classroom.workers import Workers
from app.words.language import tr
from engine.constants import TICKS_PER_S
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
SEND_S: Final = 5.0
"""Whoever does not take a message within this time is let go."""


class Refused(Exception):
    """Somebody is turned away; the text says why."""

    def __init__(self, why: str, code: int = REFUSED) -> None:
        super().__init__(why)
        self.code = code


@dataclass(slots=True)
class Line:
    """A seat as the host has it in memory; all but how it is connected is in the record as well."""

    number: int
    name: str
    token_hash: str
    acknowledged: int
    last_tick: int
    """Of its last act."""
    letters: int
    """Characters of its acts."""
    tick: int
    """How far its run is known to have come."""
    frozen: bool = False
    over: bool = False
    """The seat has nothing more to do."""
    socket: WebSocket | None = None
    verdict: Verdict | None = None
    """What its log has come to."""
    answered: set[int] = field(default_factory=set)
    """Instructions of which its log says that they were carried out or read."""
    told: set[int] = field(default_factory=set)
    """Instructions that were sent over the present connection."""
    taking: asyncio.Lock = field(default_factory=asyncio.Lock)


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
        self._lines = {seat.id: _line(seat) for seat in record.seats()}
        for number, line in self._lines.items():
            log = record.acts(number)
            line.letters = sum(len(act.line) for act in log)
            line.answered = {act.instruction for act in log if act.instruction}
        self._instructions = {one.number: one for one in record.instructions()}
        self._consoles: set[WebSocket] = set()
        self._strangers = 0
        self._changed: set[int] = set()
        """Seats whose tiles are other ones since the board was sent."""
        self._turned = False
        """The class is in another state since then."""
        self._unjudged: list[dict[int, list[Act]]] = [{} for _ in range(self._workers.count)]
        """For each worker the acts of its seats that it has not had."""
        self._to_do = [asyncio.Event() for _ in range(self._workers.count)]
        self._unwritten: list[tuple[Line, Sequence[Act], asyncio.Future[None]]] = []
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
            await _close(socket, why.code, str(why))
        except (Garbage, BadLog) as why:
            await _close(socket, REFUSED, str(why))
        except WebSocketDisconnect:
            pass

    async def _first_word(self, socket: WebSocket) -> wire.Request:
        if self._strangers >= STRANGERS_MAX:
            raise Refused(tr("too many connections at once: try again"), LATER)
        self._strangers += 1
        try:
            async with asyncio.timeout(FIRST_WORD_S):
                return await _hear(socket)
        except TimeoutError:
            raise Refused(tr("no message has come"), LATER) from None
        finally:
            self._strangers -= 1

    async def _attend(self, socket: WebSocket, first: wire.Request) -> None:
        address = socket.client.host if socket.client else ""
        if isinstance(first, wire.Steer):
            if not _same(first.key, self._class.secret):
                raise Refused(tr("this is not the key of the class"))
            await self._steered(socket)
        elif isinstance(first, wire.Join | wire.Resume):
            line = await self._admit(first, address)
            await self._seated(socket, line)
        else:
            raise Refused(tr("say first who you are"))

    async def _admit(self, first: wire.Join | wire.Resume, address: str) -> Line:
        """The seat that somebody has shown to be theirs. Raises Refused."""
        if not self._gate.open_to(address):
            raise Refused(tr("too many tries from your address: wait a moment"), LATER)
        token_hash = hashlib.sha256(first.token.encode()).hexdigest()
        if isinstance(first, wire.Resume):
            line = self._lines.get(first.seat)
            if line is None or not hmac.compare_digest(line.token_hash, token_hash):
                self._gate.wrong(address)
                raise Refused(tr("this is not the token of seat {number}").format(number=first.seat))
        else:
            if not _same(first.secret, self._class.code[:SECRET_LETTERS]):
                self._gate.wrong(address)
                raise Refused(tr("this is not the code of the class"))
            line = await self._seat(first, token_hash)
        return line

    async def _seat(self, join: wire.Join, token_hash: str) -> Line:
        for line in self._lines.values():
            if hmac.compare_digest(line.token_hash, token_hash):
                return line
        if len(self._lines) >= SEATS_MAX:
            raise Refused(tr("the class is full"))
        if not join.name.isprintable() or not join.name.strip():
            raise Refused(tr("a name needs printable characters"))
        if token_hash not in self._unseated:
            made = Seat(
                name=join.name.strip(), token_hash=token_hash, consent=join.consent, acknowledged=0, tick=0
            )
            self._unseated[token_hash] = made, asyncio.get_running_loop().create_future()
            self._to_write.set()
        seat, written = self._unseated[token_hash]
        await written
        return self._lines.setdefault(seat.id, _line(seat))

    # --- seats

    async def _seated(self, socket: WebSocket, line: Line) -> None:
        if line.socket is not None:  # half open still; who comes last is the seat
            await _close(line.socket, LATER, tr("the seat has connected again"))
        line.socket, line.told = socket, set()
        try:
            await _say(socket, self._welcome(line))
            await self._instruct(line)
            self._changed.add(line.number)
            while True:
                said = await _hear(socket)
                _check_may("seat", said)
                if isinstance(said, wire.At):
                    await self._is_at(line, said)
                elif isinstance(said, wire.Acts):
                    await self._take(line, [acts.act(entry) for entry in said.acts])
                    await _say(socket, {"kind": "acknowledged", "number": line.acknowledged})
        finally:
            if line.socket is socket:
                line.socket = None
                self._changed.add(line.number)

    async def _is_at(self, line: Line, said: wire.At) -> None:
        if (said.tick, said.frozen, said.over) != (line.tick, line.frozen, line.over):
            line.tick, line.frozen, line.over = max(line.tick, said.tick), said.frozen, said.over
            self._changed.add(line.number)
        await self._tell_result(line)

    def _welcome(self, line: Line) -> Welcome:
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

    async def _take(self, line: Line, offered: list[Act]) -> None:
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
                self._check_instruction(line, act)
            if not new:
                return
            written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._unwritten.append((line, new, written))
            self._to_write.set()
            await written

    def _check_instruction(self, line: Line, act: Act) -> None:
        if not act.instruction:
            return
        given = self._instructions.get(act.instruction)
        if given is None or given.seat_id not in (None, line.number):
            raise BadLog(tr("act {number} answers what nobody has asked").format(number=act.number))
        if act.line and (given.kind != INJECT or act.line != given.text):
            raise BadLog(tr("act {number} is not the inject that it answers").format(number=act.number))

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
                    self._lines.setdefault(seat.id, _line(seat))
                for line, new, _ in waiting:
                    self._taken(line, new)
            for written in [future for _, _, future in waiting] + [future for _, future in joining.values()]:
                if not written.done():
                    written.set_result(None) if problem is None else written.set_exception(problem)

    def _taken(self, line: Line, new: Sequence[Act]) -> None:
        """*new* is on disk."""
        line.acknowledged, line.last_tick = new[-1].number, new[-1].tick
        line.tick = max(line.tick, line.last_tick)
        line.answered |= {act.instruction for act in new if act.instruction}
        self._changed.add(line.number)
        self._to_judge(line, new)

    # --- instructions

    async def _instruct(self, line: Line) -> None:
        """Send what the seat has not answered yet."""
        for number, given in self._instructions.items():
            mine = given.seat_id in (None, line.number)
            if mine and number not in line.answered | line.told and line.socket is not None:
                line.told.add(number)
                await _say(
                    line.socket,
                    {
                        "kind": "instruction",
                        "number": number,
                        "what": given.kind,
                        "tick": given.tick,
                        "text": given.text,
                    },
                )

    async def _given(self, said: wire.Instruct) -> None:
        if said.what == INJECT:
            try:
                parse_line(said.text)
            except InputProblem as problem:
                raise Refused(str(problem)) from problem
        if said.seat is not None and said.seat not in self._lines:
            raise Refused(tr("there is no seat {number}").format(number=said.seat))
        # Without a time it is for those who are there now; with one, for whoever comes to that time.
        seats: list[int | None] = [said.seat]
        if said.seat is None and said.tick is None:
            seats = list(self._lines)
        made = [Instruction(seat_id=seat, tick=said.tick, kind=said.what, text=said.text) for seat in seats]
        for one in await self._kept(self._record.instruct, made):
            self._instructions[one.number] = one
        await self._to_seats(self._instruct)

    async def _to_seats(self, tell: Callable[[Line], Awaitable[None]]) -> None:
        there = [line for line in self._lines.values() if line.socket is not None]
        await asyncio.gather(*(tell(line) for line in there), return_exceptions=True)

    async def _turn(self, state: str) -> None:
        """Freeze, go on or end; kept before anybody is told."""
        if self._class.state == OVER:
            raise Refused(tr("the class is over"))
        await self._kept(self._record.change, state=state)
        self._class.state = state
        self._turned = True

        text = json.dumps({"kind": "state", "state": state})

        async def tell(line: Line) -> None:
            if line.socket is not None:
                await _send(line.socket, text)

        await self._to_seats(tell)

    # --- the board

    def _to_judge(self, line: Line, acts: Sequence[Act]) -> None:
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

    async def _tell_result(self, line: Line) -> None:
        """What the log of a seat that is over has come to, once all of it was played again."""
        found, socket = line.verdict, line.socket
        if socket is not None and line.over and found is not None and found["acts"] == line.acknowledged:
            with suppress(WebSocketDisconnect, RuntimeError):  # it asks again
                await _say(socket, {"kind": "result", "verdict": found})

    def tile(self, line: Line) -> Tile:
        """A seat as the instructor sees it: what its log comes to, and how it is now."""
        due = [
            one.number
            for one in self._instructions.values()
            if one.seat_id in (None, line.number)
            and (one.tick is None or one.tick <= line.tick)
            and one.number not in line.answered
        ]
        return {
            "seat": line.number,
            "name": line.name,
            "connected": line.socket is not None,
            "frozen": line.frozen,
            "over": line.over,
            "at_s": line.tick / TICKS_PER_S,
            "acknowledged": line.acknowledged,
            "unanswered": due,
            "verdict": line.verdict,
        }

    def board(self, numbers: Sequence[int] | None = None) -> Board:
        """The class and the tiles of the seats *numbers*, or of all."""
        wanted = self._lines.values() if numbers is None else [self._lines[number] for number in numbers]
        frozen = self._class.state == FROZEN
        return {
            "kind": "board",
            "state": self._class.state,
            "not_frozen": [
                line.name for line in self._lines.values() if frozen and line.socket and not line.frozen
            ],
            "tiles": [self.tile(line) for line in wanted],
        }

    async def _show(self) -> None:
        while True:
            await asyncio.sleep(BOARD_S)
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
            await _say(socket, self.board())
            while True:
                said = await _hear(socket)
                _check_may("instructor", said)
                try:
                    if isinstance(said, wire.Instruct):
                        await self._given(said)
                    else:
                        await self._turn(STATES[said.kind])
                    await _say(socket, {"kind": "done", "of": said.kind})
                except Refused as why:
                    await _say(socket, {"kind": "refused", "of": said.kind, "text": str(why)})
        finally:
            self._consoles.discard(socket)


STATES: Final = {"freeze": FROZEN, "go": RUNNING, "finish": OVER}
"""What the class is after a request of the instructor."""


def _line(seat: Seat) -> Line:
    return Line(seat.id, seat.name, seat.token_hash, seat.acknowledged, seat.tick, 0, seat.tick)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _check_may(role: str, said: wire.Request) -> None:
    if not isinstance(said, wire.MAY[role]):
        raise Refused(tr("a {role} may not ask for {kind}").format(role=role, kind=said.kind))


async def _hear(socket: WebSocket) -> wire.Request:
    message = await socket.receive()
    if message["type"] != "websocket.receive":
        raise WebSocketDisconnect(message.get("code", 1006))
    return wire.read(message.get("text") or message.get("bytes") or b"")


async def _say(socket: WebSocket, said: ToSeat | ToInstructor) -> None:
    await _send(socket, json.dumps(said, ensure_ascii=False))


async def _send(socket: WebSocket, text: str) -> None:
    """Raises WebSocketDisconnect, also for somebody who does not listen."""
    try:
        async with asyncio.timeout(SEND_S):
            await socket.send_text(text)
    except TimeoutError:
        raise WebSocketDisconnect(1006) from None


async def _close(socket: WebSocket, code: int, why: str) -> None:
    """A reason has 123 bytes at most [RFC 6455, 5.5]."""
    if socket.application_state is WebSocketState.CONNECTED:
        with suppress(WebSocketDisconnect, RuntimeError):  # it has gone already
            await socket.close(code, why.encode()[:123].decode(errors="ignore"))
