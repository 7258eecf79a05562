"""Messages over the connections of a class host: sending, receiving, broadcasting, and refusing."""

import asyncio
import time
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from app.classroom.messages.codec import HOST_PING_INTERVAL_S, REFUSED_CLOSE_CODE, WireMessage, encode
from app.classroom.messages.requests import PERMITTED_REQUESTS, REQUEST_READER, ClassRequest
from app.words.language import tr

SEND_TIMEOUT_S: Final = 5.0
"""Wall time after which a seat or console that does not accept a message is disconnected."""
BROADCAST_TIMEOUT_S: Final = 0.5
"""Maximum wall time that a broadcast waits for slow connections. Their messages are still sent afterwards."""


class RequestRefusedError(Exception):
    """Error for a connection or request that is refused. The text gives the reason."""

    def __init__(self, reason: str, code: int = REFUSED_CLOSE_CODE) -> None:
        super().__init__(reason)
        self.code = code


def require_permission(role: str, request: ClassRequest) -> None:
    """Raise RequestRefusedError for a request that *role* may not send."""
    if not isinstance(request, PERMITTED_REQUESTS[role]):
        raise RequestRefusedError(
            tr("the role {role} may not request {kind}").format(role=role, kind=request.kind)
        )


def is_silent(socket: WebSocket) -> bool:
    """Return whether nothing has arrived for longer than two ping intervals, as after a cable was unplugged."""
    connection = socket.scope["state"].get("connection")
    return connection is not None and time.monotonic() - connection.heard_s > 2.0 * HOST_PING_INTERVAL_S


async def receive_request(socket: WebSocket) -> ClassRequest:
    """Receive the next request. Raises ProtocolError, or WebSocketDisconnect if the connection has ended."""
    message = await socket.receive()
    if message["type"] != "websocket.receive":
        raise WebSocketDisconnect(message.get("code", 1006))
    return REQUEST_READER.read(message.get("text") or message.get("bytes") or b"")


async def send_message(socket: WebSocket, message: WireMessage) -> None:
    """Send a message as JSON."""
    await send_text(socket, encode(message))


async def send_text(socket: WebSocket, text: str) -> None:
    """Send an encoded message. Raises WebSocketDisconnect, also if the other end does not read."""
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await socket.send_text(text)
    except (TimeoutError, RuntimeError):  # RuntimeError: the connection was closed meanwhile
        raise WebSocketDisconnect(1006) from None


async def broadcast(messages: Iterable[Awaitable[None]]) -> None:
    """Send to many connections at once. Slow connections delay the caller by at most BROADCAST_TIMEOUT_S."""

    async def try_to_send(message: Awaitable[None]) -> None:
        # a disconnected seat receives the current state when it reconnects
        with suppress(WebSocketDisconnect, RuntimeError):
            await message

    if tasks := [asyncio.ensure_future(try_to_send(message)) for message in messages]:
        await asyncio.wait(tasks, timeout=BROADCAST_TIMEOUT_S)


async def close_connection(socket: WebSocket, code: int, reason: str) -> None:
    """Close the connection. *reason* is shortened to 123 bytes, the limit of [RFC 6455, 5.5]."""
    if socket.application_state is WebSocketState.CONNECTED:
        with suppress(WebSocketDisconnect, RuntimeError):  # the client has already disconnected
            await socket.close(code, reason.encode()[:123].decode(errors="ignore"))
