"""Connection of one client: its requests become inputs of the run, and the results become responses."""

import asyncio
import json
import re
import secrets
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from app.host import InputResult
from app.serve import login as tds_login
from app.serve import tds_types
from app.serve.login import (
    DEFAULT_PACKET_SIZE,
    MESSAGE_BYTES_MAX,
    EncryptionOption,
    LoginPacket,
    MalformedPacketError,
    MessageAssembler,
    PacketKind,
    TdsMessage,
)
from app.serve.requests import (
    OUTPUT_PREFIX,
    CursorNotFoundError,
    InvalidParameterError,
    OpenCursors,
    PreparedStatements,
    SqlRequest,
    UnsupportedRequestError,
    fetch_rows,
    open_cursor,
    read_batch,
    read_calls,
    read_transaction,
)
from app.serve.tds_transport import TLS_FIRST_BYTE, SocketStream, TdsTransport, TlsContexts
from engine.constants import PRODUCT_VERSIONS
from engine.drill.judging.report_types import ReportRow
from engine.events import SessionData, SqlDoneData
from engine.messages import fill_message, find_wording
from engine.model import World
from engine.tsql.batches.data import SqlSession as SqlSession
from engine.tsql.scalars.settings import build_settings

OutputRow = ReportRow
"""Message, result set or end of a statement, in the form of the event `sql_done`."""

NOT_SIMULATED_PREFIX: Final = "Not simulated: "


def encode_response(
    request: SqlRequest,
    messages: Sequence[OutputRow],
    results: Sequence[OutputRow],
    server: str,
    tds: int,
    changes: bytes = b"",
    more_results: bool = False,
    ends: Sequence[OutputRow] = (),
) -> bytes:
    """Encode the complete response to a request.

    *changes*: encoded ENVCHANGE tokens, which precede the last DONE. *more_results*: True if responses to
    further calls of the message follow. *ends*: end of each statement that has neither messages nor result
    sets.
    """
    inner = tds_types.DONE_IN_PROC if request.call else tds_types.DONE
    return_value: OutputRow | None = None
    returns_values = request.outputs or request.has_return_status
    if returns_values and results and results[-1]["columns"][0].startswith(OUTPUT_PREFIX):
        return_value = results[-1]
        position = return_value["after_messages"]
        messages = [*messages[:position], *messages[position + 1 :]]
        results = results[:-1]
    output, failed = bytearray(), False
    end: StatementEnd | None = None

    def flush_end() -> None:
        """Write the end of a statement that is not the last."""
        nonlocal end
        if end is not None:
            output.extend(end.encode(inner, tds_types.MORE, tds))
            end = None

    for part in iterate_output(messages, results, ends):
        if "text" in part and not results and _is_unsupported(part):
            # A client may wait for a result set. If there is none, it must receive an error.
            part = {**part, "number": 50000, "severity": 16}
        if "after_results" in part:
            if part["status"] is None or not request.call:
                flush_end()
                output += b"" if part["status"] is None else tds_types.encode_return_status(part["status"])
                end = StatementEnd(
                    tds_types.ERROR if failed else 0, part["rows"], is_call=part["status"] is not None
                )
                failed = False
        elif "columns" in part:
            flush_end()
            output += tds_types.encode_result_set(part, tds)
            end = StatementEnd(precedes_result=True, has_failed=bool(part.get("failed")))
        elif part.get("rows") is not None:
            if end is None or not end.precedes_result:
                flush_end()
            end = StatementEnd(tds_types.ERROR if failed else 0, part["rows"], is_change=end is None)
            failed = False
        # The error belongs to the statement that returned the rows before it.
        elif end is not None and end.has_failed and part["severity"] > 10:
            output += tds_types.encode_message(part, server, tds)
            end = StatementEnd(tds_types.ERROR)
        elif not _is_client_message(part):
            flush_end()
            output += tds_types.encode_message(part, server, tds)
            failed = failed or part["severity"] > 10
    if request.call:
        flush_end()
    output += changes
    if request.call:
        output += _encode_return_values(request, return_value, tds)
    last_end = end or StatementEnd(tds_types.ERROR if failed else 0)
    kind = tds_types.DONE_PROC if request.call else inner
    return bytes(output + last_end.encode(kind, tds_types.MORE if more_results else 0, tds))


_USE_PATTERN: Final = re.compile(r"\s*USE\s+\[?([^\]\s;]+)", re.IGNORECASE)
"""Pattern of a batch that begins with USE.

The response to such a batch always reports the current database, even if it did not change.
"""


class StatementEnd(NamedTuple):
    """End of a statement in a response."""

    status: int = 0
    rows: int | None = None
    is_change: bool = False
    """True for an INSERT, UPDATE or DELETE."""
    precedes_result: bool = False
    """True if a result set follows whose row count is not known yet."""
    has_failed: bool = False
    """True if the statement ended with an error after rows of its result set."""
    is_call: bool = False
    """True for the call of a procedure in a batch."""

    def encode(self, kind: int, more_flag: int, tds: int) -> bytes:
        """Encode the end of the statement as a DONE token.

        FreeTDS reads only the row count of the last statement of a batch.
        """
        kind = tds_types.DONE_PROC if self.is_call else kind
        return tds_types.encode_done(kind, self.status | more_flag, self.rows, tds, changes=self.is_change)


def _encode_return_values(request: SqlRequest, result: OutputRow | None, tds: int) -> bytes:
    values = list(result["rows"][0]) if result is not None else []
    status = values.pop(0) if request.has_return_status and values else 0
    output = tds_types.encode_return_status(status or 0)
    if request.handle is not None:
        output += tds_types.encode_return_value(0, "", "int", request.handle, tds)
    for (index, name, type_name), value in zip(request.outputs, values, strict=False):
        output += tds_types.encode_return_value(index, name, type_name, value, tds)
    return output


def iterate_output(
    messages: Sequence[OutputRow], results: Sequence[OutputRow], ends: Sequence[OutputRow] = ()
) -> Iterator[OutputRow]:
    """Yield messages, result sets and statement ends in the order of execution.

    `Result.after_messages` determines the order.
    """
    message_count, queue = 0, list(ends)
    for number, result in enumerate((*results, None)):
        message_limit = len(messages) if result is None else result["after_messages"]
        while message_count < message_limit or (
            queue and (queue[0]["after_messages"], queue[0]["after_results"]) <= (message_count, number)
        ):
            if queue and (queue[0]["after_messages"], queue[0]["after_results"]) <= (message_count, number):
                yield queue.pop(0)
            else:
                yield messages[message_count]
                message_count += 1
        if result is not None:
            yield result


def _is_unsupported(message: OutputRow) -> bool:
    """Return whether the message reports that a statement is not simulated, except for SET options of drivers."""
    is_error = bool(message.get("severity") or message.get("state"))
    feature = message["text"].removeprefix(NOT_SIMULATED_PREFIX)
    return (
        is_error and message["number"] == 0 and feature != message["text"] and not feature.startswith("SET ")
    )


def _is_client_message(message: OutputRow) -> bool:
    """Return whether clients create the message themselves when a connection breaks or a user cancels."""
    number = message["number"]
    if number == 0:
        return bool(message["severity"] > 10)
    try:
        return find_wording(number).source == "client"
    except KeyError:
        return False


LOGIN_TIMEOUT_S: Final = 15.0
"""Maximum wall time from the first byte to the end of the login: the timeout of most clients. Assumed."""
FIRST_BYTE_TIMEOUT_S: Final = 5.0
"""Maximum wall time until the first byte of a client. Assumed."""
BATCH_TOO_LARGE_ERROR: Final = 701
"""Number of the error that a server returns if it has too little memory for a batch."""
CURSOR_NOT_FOUND_TEXT: Final = "sp_cursorfetch: The cursor identifier value provided ({:x}) is not valid."
"""Text of message 16909, as discussions of drivers quote it."""


class ServerContext(Protocol):
    """Interface through which a connection uses the simulation."""

    password: str
    tls: TlsContexts

    @property
    def world(self) -> World:
        """Return the current world."""

    def send_input(self, line: str) -> asyncio.Future[InputResult]:
        """Send *line* to the run. If the input completes immediately, the future is already complete."""

    async def wait_until_answering(self, name: str) -> str:
        """Wait until the port *name* answers or refuses connections, and return the name of its instance."""

    def get_address(self, server: str) -> tuple[str, int]:
        """Return host and port of an instance."""

    def get_partner_address(self, server: str, database: str) -> str:
        """Return the address of the mirror of *database*; empty if there is no mirror.

        *server*: instance that is the principal.
        """


class ConnectionClosedError(Exception):
    """Signal that the connection has ended and needs no response."""


class TdsSession:
    """Session of one client connection, from its first byte to its last."""

    def __init__(self, context: ServerContext, name: str, number: str, pipe: SocketStream) -> None:
        """Create a session.

        *name*: instance or availability group listener. *number*: suffix of the connection's name, as in
        SERVER_A#tds5.
        """
        self.context, self.name, self.number = context, name, number
        self.server = ""
        """Instance that answers; empty until it is known."""
        self.end_reason = ""
        """Reason why the instance has ended the session, from the event; empty if it has not."""
        self.users_max: Callable[[], int | None] = lambda: None
        """Function that returns the maximum number of logged-in connections if it is reached, otherwise None."""
        self.logged_in = False
        self._dropping = False
        self._wire = TdsTransport(pipe)
        self._assembler = MessageAssembler()
        self._messages: list[TdsMessage] = []
        self._next_message: asyncio.Task[TdsMessage] | None = None
        """Task that reads the next message during a batch: a cancellation, or the end of the connection."""
        self._prepared = PreparedStatements()
        self._cursors = OpenCursors()
        self._tds, self._size, self._spid = tds_login.TDS_7_4, DEFAULT_PACKET_SIZE, 0
        self._database, self._transaction = "master", 0
        self._language = "us_english"

    # --- the way through

    @property
    def connection_name(self) -> str:
        """Name of the connection in the journal."""
        return f"{self.server}#{self.number}"

    async def serve_client(self) -> None:
        """Serve the client until either side closes the connection."""
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT_S):
                self.logged_in = await self._log_in()
            self._assembler.message_bytes_max = MESSAGE_BYTES_MAX
            while self.logged_in:
                await self._serve_message(await self._await_message())
                await asyncio.sleep(0)  # a client with many requests must not block other clients
        except (ConnectionClosedError, ConnectionError, MalformedPacketError, TimeoutError):
            pass
        finally:
            if self._next_message is not None and not self._next_message.cancel():
                # marks the exception as retrieved, because it was reported elsewhere
                self._next_message.exception()
            if self.server and self.connection_name in self.context.world.sessions:
                await self.context.send_input(f"disconnect {self.connection_name}")
            self._wire.close()

    def end(self, reason: str) -> None:
        """Stop waiting for packets, because the instance has ended the session for *reason*."""
        self.end_reason = reason
        self._wire.end_input()

    def reset(self) -> None:
        """Reset the TCP connection. The operating system of the client then reports that it is lost."""
        self._wire.reset()

    def drop_packets(self, enabled: bool) -> None:
        """Start or stop dropping packets from the client, so that they are not acknowledged."""
        if enabled != self._dropping:
            self._dropping = enabled
            self._wire.drop_packets(enabled)

    async def _await_message(self) -> TdsMessage:
        """Return the next message. Raises ConnectionClosedError if either side closes the connection."""
        reading, self._next_message = self._next_message, None
        try:
            return await (reading or self._read_message())
        except ConnectionClosedError:
            if self.end_reason:
                await self._end_lost_session()
            raise

    async def _read_message(self) -> TdsMessage:
        while not self._messages:
            data = await self._wire.read()
            if not data:
                raise ConnectionClosedError
            self._messages += self._assembler.add_bytes(data)
        return self._messages.pop(0)

    async def _end_lost_session(self) -> None:
        """Reset the TCP connection of a lost session when its instance answers or refuses connections.

        Always raises ConnectionClosedError.
        """
        await self.context.wait_until_answering(self.server)
        self.reset()
        raise ConnectionClosedError

    async def _send(self, body: bytes) -> None:
        await self.context.wait_until_answering(self.server)
        await self._wire.send(body, self._size, self._spid)

    # --- login

    async def _log_in(self) -> bool:
        async with asyncio.timeout(FIRST_BYTE_TIMEOUT_S):
            data = await self._wire.read()
        if data[:1] == bytes([TLS_FIRST_BYTE]):
            await self._wire.begin_tls(self.context.tls.strict_context, in_prelogin=False, initial_bytes=data)
        else:
            self._messages += self._assembler.add_bytes(data)
        message = await self._await_message()
        self.server = await self.context.wait_until_answering(self.name)
        build = PRODUCT_VERSIONS[self.context.world.instances[self.server].version][0]
        encryption, mars = EncryptionOption.NONE, False
        if message.kind is PacketKind.PRELOGIN:
            prelogin, mars = tds_login.read_prelogin(message.body)
            encryption = tds_login.negotiate_encryption(prelogin)
            await self._send(tds_login.build_prelogin_answer(encryption, build, mars))
            if encryption is not EncryptionOption.NONE and not self._wire.is_encrypted:
                await self._wire.begin_tls(self.context.tls.prelogin_context, in_prelogin=True)
            else:
                encryption = EncryptionOption.NONE
            message = await self._await_message()
        if message.kind is not PacketKind.LOGIN:
            raise MalformedPacketError(f"a login was expected, not a message of type {message.kind:#04x}")
        if encryption is EncryptionOption.LOGIN:
            self._wire.end_tls()
        login = tds_login.read_login(message.body)
        self._tds = tds_login.negotiate_version(
            login.tds_version, self.context.world.instances[self.server].version
        )
        if login.uses_windows_authentication:
            severity, text = fill_message(18452, version=self.context.world.instances[self.server].version)
            await self._send(self._encode_failure(18452, text, severity))
            return False
        # Refuse the connection only after the login request, because drivers do not report an earlier
        # refusal.
        if mars or login.changes_password:
            feature = "MARS (several results at once)" if mars else "a password change at login"
            await self._send(self._encode_failure(50000, f"Not simulated: {feature}."))
            return False
        if (users_max := self.users_max()) is not None:
            severity, text = fill_message(
                17809, users_max, version=self.context.world.instances[self.server].version
            )
            await self._send(self._encode_failure(17809, text, severity))
            return False
        result = await self.context.send_input(
            f"connect {self.connection_name} {self._format_login_line(login)}"
        )
        change = result.end_data
        if not isinstance(change, SessionData):
            raise ConnectionClosedError
        if change.what == "routed":
            output = self._acknowledge_login(login, build)
            output += tds_types.encode_routing(*self.context.get_address(change.to or ""))
            await self._send(output + tds_types.encode_done(tds=self._tds))
            return False
        if change.what != "connected":
            output = b"".join(
                tds_types.encode_message(message, self.server, self._tds) for message in change.messages or ()
            )
            await self._send(output + tds_types.encode_done(status=tds_types.ERROR, tds=self._tds))
            return False
        await self._answer_login(login, build)
        return True

    def _format_login_line(self, login: LoginPacket) -> str:
        """Return the arguments of a login's journal line, with a note whether the password is correct."""
        existing_login = self.context.world.instances[self.server].find_login(login.user)
        own_password = existing_login.password if existing_login is not None else None
        right = any(
            password is not None and secrets.compare_digest(login.password.encode(), password.encode())
            for password in (self.context.password, own_password)
        )
        fields = {
            "login": login.user,
            "password": "right" if right else "wrong",
            "host": login.host,
            "program": login.program,
            "library": login.library,
            "database": login.database,
            "intent": "ReadOnly" if login.read_only else "",
            "listener": self.name if self.name != self.server else "",
            "language": login.language,
            "encrypted": "yes" if self._wire.is_encrypted else "",
            "packet_bytes": str(login.packet_size) if login.packet_size != DEFAULT_PACKET_SIZE else "",
        }
        return json.dumps({name: value for name, value in fields.items() if value or name == "login"})

    async def _answer_login(self, login: LoginPacket, build: str) -> None:
        session = self._get_session()
        self._database, self._spid = session.database, session.spid
        partner = self.context.get_partner_address(self.server, session.database)
        output = tds_types.encode_environment(tds_types.DATABASE, session.database, "master")
        output += self._encode_info(5701, f"Changed database context to '{session.database}'.")
        output += tds_types.encode_collation()
        self._language = get_language_name(session)
        output += tds_types.encode_environment(tds_types.LANGUAGE, self._language)
        output += self._encode_info(5703, f"Changed language setting to {self._language}.")
        output += self._acknowledge_login(login, build)
        output += tds_types.encode_environment(
            tds_types.PACKET_SIZE, str(login.packet_size), str(DEFAULT_PACKET_SIZE)
        )
        output += tds_types.encode_environment(tds_types.PARTNER, partner) if partner else b""
        await self._send(output + tds_types.encode_done(tds=self._tds))
        self._size = login.packet_size

    def _acknowledge_login(self, login: LoginPacket, build: str) -> bytes:
        tds = tds_login.TDS_8 if login.tds_version == tds_login.TDS_8 else self._tds
        return tds_types.encode_login_ack(tds, tds_login.parse_build(build))

    def _encode_info(self, number: int, text: str) -> bytes:
        message = {"number": number, "severity": 10, "state": 1, "line": 1, "text": text}
        return tds_types.encode_message(message, self.server, self._tds)

    def _get_session(self) -> SqlSession:
        """Return the simulated session of the connection. Raises ConnectionClosedError if it has ended."""
        window = self.context.world.sessions.get(self.connection_name)
        if window is None or window.session is None:
            raise ConnectionClosedError
        session: SqlSession = window.session
        return session

    # --- requests

    async def _serve_message(self, message: TdsMessage) -> None:
        if message.kind is PacketKind.ATTENTION:  # a cancellation after the end of its batch
            await self._send(tds_types.encode_done(status=tds_types.ATTENTION, tds=self._tds))
            return
        # Requests wait while the server hangs or the clock is stopped.
        await self.context.wait_until_answering(self.server)
        if message.too_large:
            version = self.context.world.instances[self.server].version
            severity, text = fill_message(BATCH_TOO_LARGE_ERROR, "default", version=version)
            await self._send(self._encode_failure(BATCH_TOO_LARGE_ERROR, text, severity))
            return
        output = b""
        if message.resets_connection:
            await self._reset_session()
            output = tds_types.encode_environment(tds_types.RESET_ACKNOWLEDGED, b"", b"")
        try:
            requests = self._parse_requests(message)
        except UnsupportedRequestError as problem:
            await self._send(output + self._encode_failure(50000, f"Not simulated: {problem}."))
            return
        except InvalidParameterError as problem:
            severity, text = fill_message(8023, *problem.args)
            await self._send(output + self._encode_failure(8023, text, severity))
            return
        for index, request in enumerate(requests, start=1):
            answer = await self._execute_request(request, more_results=index < len(requests))
            if answer is None:
                await self._send(
                    output
                    + self._encode_changes("")
                    + tds_types.encode_done(status=tds_types.ERROR, tds=self._tds)
                )
                await self._send(tds_types.encode_done(status=tds_types.ATTENTION, tds=self._tds))
                return
            output += answer
            if self.end_reason:
                break
        await self._send(output)
        if self.end_reason:
            raise ConnectionClosedError

    def _parse_requests(self, message: TdsMessage) -> list[SqlRequest]:
        if message.kind is PacketKind.BATCH:
            return [read_batch(message.body, self._tds)]
        if message.kind is PacketKind.RPC:
            return read_calls(message.body, self._tds, self._prepared)
        if message.kind is PacketKind.TRANSACTION:
            return [read_transaction(message.body, self._tds)]
        raise MalformedPacketError(f"unexpected message of type {message.kind:#04x} after the login")

    def _encode_failure(self, number: int, text: str, severity: int = 16) -> bytes:
        message = {"number": number, "severity": severity, "state": 1, "line": 1, "text": text}
        return tds_types.encode_message(message, self.server, self._tds) + tds_types.encode_done(
            status=tds_types.ERROR, tds=self._tds
        )

    async def _reset_session(self) -> None:
        self._prepared.clear()
        self._cursors.open_cursors.clear()
        await self.context.send_input(f"reset {self.connection_name}")

    async def _execute_request(self, request: SqlRequest, more_results: bool) -> bytes | None:
        """Execute a request. Return the response, or None if the client canceled the request.

        *more_results*: True if further responses follow.
        """
        if request.resets_connection:
            await self._reset_session()
        if request.fetch is not None:
            try:
                return fetch_rows(self._cursors, request.fetch, self._tds, more_results)
            except CursorNotFoundError:
                return self._encode_failure(16909, CURSOR_NOT_FOUND_TEXT.format(request.fetch.cursor))
        if not request.text.strip():
            return self._encode_changes("") + encode_response(
                request, (), (), self.server, self._tds, more_results=more_results
            )
        running = self.context.send_input(f"batch {self.connection_name} {json.dumps(request.text)}")
        was_canceled = not running.done() and await self._wait_for_batch(running)
        sql_done = (await running).end_data
        if self.end_reason == "lost" or not isinstance(sql_done, SqlDoneData):
            await self._end_lost_session()
            raise ConnectionClosedError
        if was_canceled:
            return None
        messages, results = sql_done.messages, sql_done.results
        failed = any(message["severity"] > 10 for message in messages)
        changes = b"" if self.end_reason else self._encode_changes(request.text, failed)
        if request.cursor_response is not None and results:
            return changes + open_cursor(
                self._cursors, request.cursor_response, results[0], self._tds, more_results
            )
        return encode_response(
            request, messages, results, self.server, self._tds, changes, more_results, sql_done.ends or ()
        )

    async def _wait_for_batch(self, running: asyncio.Future[InputResult]) -> bool:
        """Wait for a batch. Return True if the client cancels it. Raises ConnectionClosedError at a disconnection."""
        self._next_message = self._next_message or asyncio.ensure_future(self._read_message())
        awaitables: set[asyncio.Future[InputResult] | asyncio.Future[TdsMessage]] = {
            running,
            self._next_message,
        }
        await asyncio.wait(awaitables, return_when=asyncio.FIRST_COMPLETED)
        if running.done() or self.end_reason:
            return False
        message = await self._await_message()
        if message.kind is not PacketKind.ATTENTION:
            raise MalformedPacketError("a request before the previous one was answered")
        await self.context.send_input(f"cancel {self.connection_name}")
        return True

    def _encode_changes(self, text: str, failed: bool = False) -> bytes:
        """Encode the changes that the request *text* has caused: database, language, open transaction.

        *failed*: True if the batch has failed, so that the end of a transaction is a rollback.
        """
        session, output = self._get_session(), b""
        used = _USE_PATTERN.match(text)
        is_unchanged = used is not None and used[1].lower() == session.database.lower()
        if session.database != self._database or is_unchanged:
            output += tds_types.encode_environment(tds_types.DATABASE, session.database, self._database)
            output += self._encode_info(5701, f"Changed database context to '{session.database}'.")
            self._database = session.database
        language = get_language_name(session)
        if language != self._language:
            output += tds_types.encode_environment(tds_types.LANGUAGE, language, self._language)
            self._language = language
        current = max(1, session.transaction_id) if session.transactions else 0
        if current != self._transaction:
            if self._transaction:
                kind = tds_types.ROLLBACK if failed or "ROLLBACK" in text.upper() else tds_types.COMMIT
                output += tds_types.encode_environment(kind, b"", struct.pack("<Q", self._transaction))
            if current:
                output += tds_types.encode_environment(tds_types.BEGIN, struct.pack("<Q", current), b"")
            self._transaction = current
        return output


def get_language_name(session: SqlSession) -> str:
    """Return the name of the session's language."""
    return build_settings(session.options).culture.language.name
