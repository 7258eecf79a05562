"""Text console of the instructor: it sends typed lines to the host and prints the dashboard and the replies."""

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TextIO

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from app.classroom import certificate, seat_log
from app.classroom.host_connection import take_message_chunk
from app.classroom.join_code import SECRET_LENGTH, Invitation, get_local_dial_address
from app.classroom.messages.codec import CLIENT_MESSAGE_BYTES_MAX, ProtocolError, encode
from app.classroom.messages.replies import (
    INSTRUCTOR_MESSAGE_READER,
    DivergenceTimes,
    RequestDone,
    RequestFailed,
)
from app.classroom.messages.requests import REQUEST_READER, ClassRequest, HandIn, OpenConsole
from app.classroom.models import ClassPart
from app.files.file_content import UnreadableFileError, read_bytes
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.localization import format_run_time

RECONNECT_INTERVAL_S: Final = 0.5
"""Wall time between two attempts to reach a host that has closed the connection."""
CONNECT_ATTEMPTS_MAX: Final = 20
"""Maximum number of connection attempts. A host that restarts takes some seconds."""
_TARGET_PATTERN: Final = r"(?:all|(?P<seat>\d{1,9})|@(?P<group>[^\s@]{1,30}))"
_TIME_PATTERN: Final = r"(?:\d{1,6}(?:\.\d+)?|\d{1,4}:\d\d(?::\d\d)?)"
_LINE_PATTERNS: Final = tuple(
    re.compile(line)
    for line in (
        rf"(?P<kind>freeze)(?:\s+{_TARGET_PATTERN})?(?:\s+at\s+(?P<tick>{_TIME_PATTERN}))?",
        rf"(?P<kind>go)(?:\s+{_TARGET_PATTERN})?",
        r"(?P<kind>finish|next)",
        rf"(?P<what>message|inject)\s+{_TARGET_PATTERN}\s+(?:at\s+(?P<tick>{_TIME_PATTERN})\s+)?(?P<text>\S.*)",
        rf"(?P<kind>back)\s+{_TARGET_PATTERN}\s+(?P<tick>{_TIME_PATTERN})(?:\s+(?P<text>\S.*))?",
        rf"(?P<reset>reset)\s+{_TARGET_PATTERN}(?:\s+(?P<text>\S.*))?",
        rf"(?P<kind>extend)\s+{_TARGET_PATTERN}\s+(?P<ticks>{_TIME_PATTERN})",
        r"(?P<kind>break)\s+(?P<minutes>\d{1,3}(?:\.\d+)?)",
        r"(?P<kind>clock)\s+(?:own|(?P<speed>\d{1,4}(?:\.\d+)?))",
        r"(?P<kind>group)\s+(?P<seat>\d{1,9})\s+(?:none|(?P<name>[^\s@]{1,30}))",
        r"(?P<kind>lower|take|give|look)\s+(?P<seat>\d{1,9})",
        rf"(?P<kind>show)\s+(?P<seat>\d{{1,9}})(?:\s+and\s+(?P<other>\d{{1,9}}))?(?:\s+at\s+(?P<tick>{_TIME_PATTERN}))?",
        rf"(?P<kind>mark)\s+{_TARGET_PATTERN}\s+(?:at\s+(?P<tick>{_TIME_PATTERN})\s+)?(?P<text>\S.*)",
        r"(?P<kind>look|show)\s+none",
    )
)
"""Patterns of valid lines. Their named groups are the fields of the request."""
DIVERGENCES_LINE: Final = "partings"
"""Console command that lists the times at which seats made different choices.

The console computes the list from the record.
"""
_HAND_IN_PATTERN: Final = re.compile(r"hand in\s+(?P<file>\S.*)")
_FIELD_CONVERTERS: Final[dict[str, Callable[[str], object]]] = {
    "seat": int, "other": int, "tick": lambda said: _parse_ticks(said), "ticks": lambda said: _parse_ticks(said),
    "minutes": float, "speed": float,
}  # fmt: skip
"""Field of a command -> function that converts its text. Fields that stay text are not listed."""
_LIMIT_PATTERN: Final = re.compile(
    r"Expected `\w+` (?P<length>of length )?(?P<sign><=|>=?) (?P<limit>[\d.]+) - at `\$\.(?P<field>\w+)`"
)
"""Pattern of msgspec's error text for a field that is out of range."""
_PART_NAMES: Final = {"tick": "TIME", "ticks": "TIME"}
"""Field of a request -> its name in console commands, if it is not the field name in capitals."""


class HostUnavailableError(Exception):
    """Error for a class host that does not respond. The text gives the reason."""


class ConsoleCommandError(Exception):
    """Error for an invalid line of the instructor. The text states the expected form."""


def parse_request(line: str) -> ClassRequest:
    """Parse a line of the instructor into a request to the host. Raises ConsoleCommandError."""
    line_match = next(
        (match for pattern in _LINE_PATTERNS if (match := pattern.fullmatch(line)) is not None), None
    )
    if line_match is None:
        raise ConsoleCommandError(
            tr("Unknown command {line!r}. Expected one of: freeze [WHO] [at TIME], go [WHO], "
                "finish, next, message WHO [at TIME] TEXT, inject WHO [at TIME] COMMAND, back WHO "
                "TIME [WHY], reset WHO [WHY], extend WHO TIME, break MINUTES, clock SPEED, clock "
                "own, group SEAT NAME, group SEAT none, lower, take, give or look SEAT, look none, "
                "show SEAT [and SEAT] [at TIME], show none, mark WHO [at TIME] TEXT, "
                "partings, hand in FILE. WHO is all, the number of a seat, or @GROUP. TIME is "
                "in seconds or as 2:30.").format(line=line)
        )  # fmt: skip
    parts = {name: part for name, part in line_match.groupdict().items() if part is not None}
    fields = {name: _FIELD_CONVERTERS.get(name, str)(part) for name, part in parts.items()}
    if "what" in fields:
        fields["kind"] = "instruct"
    elif fields.pop("reset", None):
        fields |= {"kind": "back", "tick": 0}
    elif fields["kind"] == "group":
        fields.setdefault("name", "")
    try:
        return REQUEST_READER.read(json.dumps(fields))
    except ProtocolError as problem:
        raise ConsoleCommandError(_explain_limit(str(problem))) from problem


def _explain_limit(problem: str) -> str:
    """Explain which field of a command is out of range. *problem*: error text of `MessageReader`."""
    limit = _LIMIT_PATTERN.search(problem)
    if limit is None:
        return problem
    field, number = limit["field"], float(limit["limit"])
    number_text = format_run_time(number / TICKS_PER_S) if field in ("tick", "ticks") else f"{number:,.10g}"
    sentence = (
        tr("{part} can be at most {limit}.") if limit["sign"] == "<=" else tr("{part} must be above {limit}.")
    )
    if limit["length"]:
        sentence = tr("{part} can have at most {limit} characters.")
    return sentence.format(part=_PART_NAMES.get(field, field.upper()), limit=number_text)


def parse_requests(line: str) -> list[ClassRequest]:
    """Parse a line into requests. A line that hands in a log becomes several requests.

    Raises ConsoleCommandError.
    """
    file = _HAND_IN_PATTERN.fullmatch(line)
    if file is None:
        return [parse_request(line)]
    try:
        raw = read_bytes(Path(file["file"]), seat_log.LOG_BYTES_MAX)
        assignment, acts = seat_log.parse_log(raw, file["file"])
    except (UnreadableFileError, seat_log.InvalidSeatLogError) as problem:
        raise ConsoleCommandError(str(problem)) from problem
    if assignment.seat == seat_log.UNASSIGNED_SEAT:
        raise ConsoleCommandError(
            tr("{file} is the file that the instructor handed out; it contains no run").format(
                file=file["file"]
            )
        )
    built_requests: list[ClassRequest] = []
    while acts or not built_requests:
        chunk = take_message_chunk(acts)
        built_requests.append(
            HandIn(seat=assignment.seat, name=assignment.name, digest=assignment.digest, acts=list(chunk))
        )
        acts = acts[len(chunk) :]
    return built_requests


def _parse_ticks(text: str) -> int:
    """Parse a typed time: seconds, or hours, minutes and seconds with colons."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = 60.0 * seconds + float(part)
    return round(seconds * TICKS_PER_S)


@asynccontextmanager
async def connect_to_host(the_class: ClassPart) -> AsyncIterator[ClientConnection]:
    """Connect a console to a host of *the_class*, at the addresses from the record of the class.

    A host that listens on all addresses is reached on this computer. Raises HostUnavailableError.
    """
    code, problem = the_class.code, None
    for address in the_class.addresses or [""]:
        host, _, port = address.rpartition(":")
        host = get_local_dial_address(host)
        dialing = connect(
            f"wss://{host}:{port}/",
            ssl=certificate.create_seat_context(),
            proxy=None,
            compression=None,
            max_size=CLIENT_MESSAGE_BYTES_MAX,
        )
        try:
            socket = await dialing
            break
        except (OSError, ValueError, TimeoutError, WebSocketException) as error:
            problem = error
    else:
        raise HostUnavailableError(
            tr("Cannot reach the class host at {address}: {why}").format(
                address=the_class.address, why=problem
            )
        ) from problem
    try:
        invitation = Invitation(code[:SECRET_LENGTH], code[SECRET_LENGTH:], host, int(port))
        if not certificate.has_expected_certificate(
            socket.transport.get_extra_info("ssl_object"), invitation
        ):
            raise HostUnavailableError(
                tr("The program at {address} is not the class host").format(address=address)
            )
        await socket.send(encode(OpenConsole(the_class.secret)))
        yield socket
    except (OSError, TimeoutError, WebSocketException) as error:
        raise HostUnavailableError(
            tr("Cannot reach the class host at {address}: {why}").format(address=address, why=error)
        ) from error
    finally:
        await socket.close()


def run_console(
    the_class: ClassPart,
    lines: TextIO,
    show_line: Callable[[str], object],
    find_divergence_times: Callable[[], DivergenceTimes],
) -> None:
    """Send each of *lines* to the host. Pass each message of the host to *show_line* as a line of JSON.

    *find_divergence_times* computes the answer to the line `partings`. Raises HostUnavailableError.
    """
    asyncio.run(_run_console(the_class, lines, show_line, find_divergence_times))


async def _run_console(
    the_class: ClassPart,
    lines: TextIO,
    show_line: Callable[[str], object],
    find_divergence_times: Callable[[], DivergenceTimes],
) -> None:
    loop, input_queue = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def read_lines() -> None:
        for line in lines:
            loop.call_soon_threadsafe(input_queue.put_nowait, line.strip())
        loop.call_soon_threadsafe(input_queue.put_nowait, None)

    listening = threading.Thread(target=read_lines, daemon=True)
    tries = 0
    while True:
        try:
            async with connect_to_host(the_class) as socket:
                tries = 0
                if listening.ident is None:
                    listening.start()
                if await _exchange_messages(socket, input_queue, show_line, find_divergence_times):
                    return
        except HostUnavailableError:
            if listening.ident is None or tries == CONNECT_ATTEMPTS_MAX:
                raise
            tries += 1
        await asyncio.sleep(RECONNECT_INTERVAL_S)


async def _exchange_messages(
    socket: ClientConnection,
    typed_lines: asyncio.Queue[str | None],
    show_line: Callable[[str], object],
    find_divergence_times: Callable[[], DivergenceTimes],
) -> bool:
    """Send lines until the input ends or the host disconnects. Return True if the input has ended."""
    open_requests, answered = 0, asyncio.Condition()

    async def receive_replies() -> None:
        nonlocal open_requests
        async for raw in socket:
            show_line(str(raw))
            if isinstance(INSTRUCTOR_MESSAGE_READER.read_known(raw), RequestDone | RequestFailed):
                async with answered:
                    open_requests -= 1
                    answered.notify_all()

    async def send_lines() -> None:
        nonlocal open_requests
        while (line := await typed_lines.get()) is not None:
            if not line:
                continue
            if line == DIVERGENCES_LINE:
                show_line(encode(await asyncio.to_thread(find_divergence_times)))
                continue
            try:
                line_requests = parse_requests(line)
            except ConsoleCommandError as problem:
                show_line(encode(RequestFailed(line, str(problem))))
                continue
            open_requests += len(line_requests)
            try:
                for request in line_requests:
                    await socket.send(encode(request))
            except ConnectionClosed:
                text = tr("the host closed the connection. Try again.")
                show_line(encode(RequestFailed(line, text)))
                raise
        async with answered:
            await answered.wait_for(lambda: open_requests == 0)

    receiving, sending = asyncio.create_task(receive_replies()), asyncio.create_task(send_lines())
    try:
        await asyncio.wait((receiving, sending), return_when=asyncio.FIRST_COMPLETED)
        return sending.done() and sending.exception() is None
    finally:
        sending.cancel()
        await socket.close()
        await asyncio.gather(receiving, sending, return_exceptions=True)
