"""Response to a request as one stream of tokens, in the order of the batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from app.serve import tokens
from app.serve.requests import OUTPUT, SqlRequest
from engine.drill.judging.shapes import Row
from engine.messages import wording

Said = Row
"""Message or result in the form of the event `sql_done`."""

NOT_SIMULATED: Final = "Not simulated: "


def encode_answer(
    request: SqlRequest,
    messages: Sequence[Said],
    results: Sequence[Said],
    server: str,
    tds: int,
    changes: bytes = b"",
    more_results: bool = False,
) -> bytes:
    """Return all that goes back for a request; *changes* of the connection (ENVCHANGE) stand before the last DONE.

    *more*: the answers to further calls of the same message follow.
    """
    inner = tokens.DONE_IN_PROC if request.call else tokens.DONE
    back: Said | None = None
    if (request.outputs or request.returns) and results and results[-1]["columns"][0].startswith(OUTPUT):
        back = results[-1]
        messages = [*messages[: back["after_messages"]], *messages[back["after_messages"] + 1 :]]
        results = results[:-1]
    out, failed = bytearray(), False
    end: StatementEnd | None = None

    def flush_end() -> None:
        """Write the end of a statement that is not the last."""
        nonlocal end
        if end is not None:
            out.extend(end.encode(inner, tokens.MORE, tds))
            end = None

    for said in in_order(messages, results):
        if not results and _is_unsupported(said):
            said = {
                **said,
                "number": 50000,
                "severity": 16,
            }  # a client that waits for a result must get one
        if "columns" in said:
            flush_end()
            out += tokens.grid(said, tds)
            end = StatementEnd(shows=True)
        elif said.get("rows") is not None:
            if end is None or not end.shows:
                flush_end()
            end = StatementEnd(tokens.ERROR if failed else 0, said["rows"], changes=end is None)
            failed = False
        elif not _is_client_message(said):
            flush_end()
            out += tokens.encode_message(said, server, tds)
            failed = failed or said["severity"] > 10
    if request.call:
        flush_end()
    out += changes
    if request.call:
        out += _encode_return_values(request, back, tds)
    last = end or StatementEnd(tokens.ERROR if failed else 0)
    return bytes(
        out
        + last.encode(tokens.DONE_PROC if request.call else inner, tokens.MORE if more_results else 0, tds)
    )


class StatementEnd(NamedTuple):
    """The end of a statement."""

    status: int = 0
    rows: int | None = None
    changes: bool = False
    """True for an INSERT, UPDATE or DELETE."""
    shows: bool = False
    """True if a result follows whose rows are not counted yet."""

    def encode(self, kind: int, more_flag: int, tds: int) -> bytes:
        """Encode the result; the last of a batch has its count, too, because FreeTDS reads no other."""
        return tokens.encode_done(kind, self.status | more_flag, self.rows, tds, changes=self.changes)


def _encode_return_values(request: SqlRequest, result: Said | None, tds: int) -> bytes:
    values = list(result["rows"][0]) if result is not None else []
    status = values.pop(0) if request.returns and values else 0
    out = tokens.encode_return_status(status or 0)
    if request.handle is not None:
        out += tokens.encode_return_value(0, "", "int", request.handle, tds)
    for (place, name, written), value in zip(request.outputs, values, strict=False):
        out += tokens.encode_return_value(place, name, written, value, tds)
    return out


def in_order(messages: Sequence[Said], results: Sequence[Said]) -> Iterator[Said]:
    """Yield messages and grids as one stream, see `Result.after_messages`."""
    told = 0
    for result in results:
        yield from messages[told : result["after_messages"]]
        told = max(told, result["after_messages"])
        yield result
    yield from messages[told:]


def _is_unsupported(message: Said) -> bool:
    """Return whether the message says that a statement was not executed.

    Messages without severity and state do not count, nor options that drivers set at each login.
    """
    told = bool(message.get("severity") or message.get("state"))
    about = message["text"].removeprefix(NOT_SIMULATED)
    return told and message["number"] == 0 and about != message["text"] and not about.startswith("SET ")


def _is_client_message(message: Said) -> bool:
    """Return whether the message belongs to the client and not to the server.

    A client shows such a message if its connection breaks or if its user cancels.
    """
    number = message["number"]
    if number == 0:
        return bool(message["severity"] > 10)
    try:
        return wording(number).source == "client"
    except KeyError:
        return False
