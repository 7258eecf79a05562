"""The answer to a request as one stream of tokens, in the order in which the batch has said it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from app.serve import tokens
from app.serve.requests import OUTPUT, Asked
from engine.drill.judging.shapes import Row
from engine.messages import wording

Said = Row
"""A message or a result as the event `sql_done` has it."""

NOT_SIMULATED: Final = "Not simulated: "


def answer(
    asked: Asked,
    messages: Sequence[Said],
    results: Sequence[Said],
    server: str,
    tds: int,
    changes: bytes = b"",
    more: bool = False,
) -> bytes:
    """All that goes back for a request; *changes* of the connection (ENVCHANGE) stand before the last DONE.
    *more*: the answers to further calls of the same message follow."""
    inner = tokens.DONE_IN_PROC if asked.call else tokens.DONE
    back: Said | None = None
    if (asked.outputs or asked.returns) and results and results[-1]["columns"][0].startswith(OUTPUT):
        back = results[-1]
        messages = [*messages[: back["after_messages"]], *messages[back["after_messages"] + 1 :]]
        results = results[:-1]
    out, failed = bytearray(), False
    end: End | None = None

    def go_on() -> None:
        """The statement before is not the last."""
        nonlocal end
        if end is not None:
            out.extend(end.written(inner, tokens.MORE, tds))
            end = None

    for said in in_order(messages, results):
        if not results and _left_out(said):
            said = {
                **said,
                "number": 50000,
                "severity": 16,
            }  # a program that waits for a result must not wait in vain
        if "columns" in said:
            go_on()
            out += tokens.grid(said, tds)
            end = End(shows=True)
        elif said.get("rows") is not None:
            if end is None or not end.shows:
                go_on()
            end = End(tokens.ERROR if failed else 0, said["rows"], changes=end is None)
            failed = False
        elif not _of_the_client(said):
            go_on()
            out += tokens.message(said, server, tds)
            failed = failed or said["severity"] > 10
    if asked.call:
        go_on()
    out += changes
    if asked.call:
        out += _returned(asked, back, tds)
    last = end or End(tokens.ERROR if failed else 0)
    return bytes(
        out + last.written(tokens.DONE_PROC if asked.call else inner, tokens.MORE if more else 0, tds)
    )


class End(NamedTuple):
    """The end of a statement."""

    status: int = 0
    rows: int | None = None
    changes: bool = False
    """They are of an INSERT, UPDATE or DELETE."""
    shows: bool = False
    """It has a result, whose rows are still to be counted."""

    def written(self, kind: int, more: int, tds: int) -> bytes:
        """The last of a batch has its count, too: FreeTDS knows no other."""
        return tokens.done(kind, self.status | more, self.rows, tds, changes=self.changes)


def _returned(asked: Asked, back: Said | None, tds: int) -> bytes:
    values = list(back["rows"][0]) if back is not None else []
    status = values.pop(0) if asked.returns and values else 0
    out = tokens.return_status(status or 0)
    if asked.handle is not None:
        out += tokens.return_value(0, "", "int", asked.handle, tds)
    for (place, name, written), value in zip(asked.outputs, values, strict=False):
        out += tokens.return_value(place, name, written, value, tds)
    return out


def in_order(messages: Sequence[Said], results: Sequence[Said]) -> Iterator[Said]:
    """Messages and grids are one stream, see `Result.after_messages`."""
    told = 0
    for result in results:
        yield from messages[told : result["after_messages"]]
        told = max(told, result["after_messages"])
        yield result
    yield from messages[told:]


def _left_out(said: Said) -> bool:
    """A statement was not carried out; of one that was, in its own way, the sentence has neither severity nor state.
    Options that drivers set by habit at each login are no reason to turn them away."""
    told = bool(said.get("severity") or said.get("state"))
    about = said["text"].removeprefix(NOT_SIMULATED)
    return told and said["number"] == 0 and about != said["text"] and not about.startswith("SET ")


def _of_the_client(said: Said) -> bool:
    """What a client would say itself when its connection breaks or its user cancels; no server says it."""
    number = said["number"]
    if number == 0:
        return bool(said["severity"] > 10)
    try:
        return wording(number).source == "client"
    except KeyError:
        return False
