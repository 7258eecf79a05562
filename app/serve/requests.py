"""Client requests as T-SQL: batches, procedure calls, transactions [MS-TDS 2.2.6.6, 2.2.6.7, 2.2.6.9].

A call becomes the text that a trace of a server shows for it: `EXEC sp_executesql N'…', N'@p int', @p = 5`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from app.serve.cursors import ROWS_AT_ONCE, FetchDirection, FetchRequest, Opening
from app.serve.login import TDS_7_2, MalformedPacketError, PacketReader
from app.serve.types import InvalidValueError, Typed, UnreadableValueError, quoted, read_typed


@dataclass(frozen=True, slots=True)
class SqlRequest:
    """T-SQL for a request."""

    text: str
    outputs: tuple[tuple[int, str, str], ...] = ()
    """(position, name, type) of output parameters; the last grid has their values, see `OUTPUT`."""
    returns: bool = False
    """True if that grid begins with the return status of the procedure."""
    call: bool = False
    handle: int | None = None
    """Handle of a statement prepared by this request."""
    resets: bool = False
    """True for sp_reset_connection, which runs nothing."""
    opening: Opening | None = None
    """Opening of a cursor, whose rows are the first grid."""
    fetch: FetchRequest | None = None
    """Fetch or close of a cursor, which runs nothing."""


OUTPUT: Final = "@tds"
"""Prefix of the variables for output values, and of the columns that return them."""

_PROCEDURES: Final = {
    1: "sp_cursor", 2: "sp_cursoropen", 3: "sp_cursorprepare", 4: "sp_cursorexecute", 5: "sp_cursorprepexec",
    6: "sp_cursorunprepare", 7: "sp_cursorfetch", 8: "sp_cursoroption", 9: "sp_cursorclose",
    10: "sp_executesql", 11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 14: "sp_prepexecrpc",
    15: "sp_unprepare",
}  # fmt: skip
"""Procedures that are called by number [MS-TDS 2.2.6.6]."""


class UnsupportedRequestError(Exception):
    """A request is valid but not simulated; the text names it."""


class InvalidParameterError(Exception):
    """A parameter's value does not fit its type: number, name and type for message 8023."""


def _past_headers(reader: PacketReader, tds: int) -> None:
    """Skip ALL_HEADERS [MS-TDS 2.2.5.3] of TDS 7.2 and later, which are not needed here."""
    if tds >= TDS_7_2:
        length = reader.number("I")
        reader.take(length - 4)


def read_batch(body: bytes, tds: int) -> SqlRequest:
    """Parse SQLBatch. Raises MalformedPacketError."""
    reader = PacketReader(body)
    _past_headers(reader, tds)
    return SqlRequest(reader.text(reader.remaining_bytes // 2))


_ISOLATION: Final = {
    1: "READ UNCOMMITTED",
    2: "READ COMMITTED",
    3: "REPEATABLE READ",
    4: "SERIALIZABLE",
    5: "SNAPSHOT",
}
_BEGIN, _COMMIT, _ROLLBACK, _SAVE = 5, 7, 8, 9


def read_transaction(body: bytes, tds: int) -> SqlRequest:
    """Return a transaction manager request. Raises MalformedPacketError, UnsupportedRequestError."""
    reader = PacketReader(body)
    _past_headers(reader, tds)
    what = reader.number("H")
    if what == _BEGIN:
        return SqlRequest(_build_begin_transaction(reader))
    if what not in (_COMMIT, _ROLLBACK, _SAVE):
        raise UnsupportedRequestError("distributed transactions")
    name = reader.text(reader.number("B") // 2)
    if what == _SAVE:
        return SqlRequest(f"SAVE TRANSACTION {_name(name)}")
    text = "COMMIT TRANSACTION" if what == _COMMIT else f"ROLLBACK TRANSACTION {_name(name)}".rstrip()
    if reader.remaining_bytes and reader.number("B") & 1:
        text += f"; {_build_begin_transaction(reader)}"
    return SqlRequest(
        f"IF @@TRANCOUNT > 0 {text}" if what == _ROLLBACK and not name and ";" not in text else text
    )


def _build_begin_transaction(reader: PacketReader) -> str:
    level = _ISOLATION.get(reader.number("B"), "")
    name = reader.text(reader.number("B") // 2) if reader.remaining_bytes else ""
    set_level = f"SET TRANSACTION ISOLATION LEVEL {level}; " if level else ""
    return f"{set_level}BEGIN TRANSACTION {_name(name)}".rstrip()


def _name(name: str) -> str:
    return f"[{name.replace(']', ']]')}]" if name else ""


# --- calls ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RpcParameter:
    """Parameter of an RPC request."""

    name: str
    given: Typed
    output: bool


class PreparedStatement(NamedTuple):
    """Prepared statement with its parameter declaration, or the name of a procedure."""

    declared: str
    text: str
    procedure: bool = False


class Prepared:
    """Prepared statements of a connection, by handle."""

    def __init__(self) -> None:
        self._statements: dict[int, PreparedStatement] = {}
        self._last_handle = 0

    def store(self, statement: PreparedStatement) -> int:
        """Store a statement; return its handle."""
        self._last_handle += 1
        self._statements[self._last_handle] = statement
        return self._last_handle

    def find(self, handle: Any) -> PreparedStatement | None:
        """Return the statement of a handle; None if there is none."""
        return self._statements.get(handle)

    def forget(self, handle: Any) -> None:
        """Remove the statement of a handle."""
        self._statements.pop(handle, None)

    def clear(self) -> None:
        """Remove all statements."""
        self._statements.clear()


_BETWEEN: Final = (0x80, 0xFF)
"""Separators of two calls in a message: before TDS 7.2, and since then [MS-TDS 2.2.6.6]. No name has that length."""


def read_calls(body: bytes, tds: int, prepared: Prepared) -> list[SqlRequest]:
    """Parse RPC: the calls of a message, in their order.

    Raises MalformedPacketError, UnsupportedRequestError.
    """
    reader = PacketReader(body)
    _past_headers(reader, tds)
    asked = [_read_call(reader, prepared)]
    while reader.remaining_bytes:
        reader.take(1)
        if reader.remaining_bytes:
            asked.append(_read_call(reader, prepared))
    return asked


def _read_call(reader: PacketReader, prepared: Prepared) -> SqlRequest:
    length = reader.number("H")
    if length == 0xFFFF:
        number = reader.number("H")
        name = _PROCEDURES.get(number, "")
        if not name:
            raise MalformedPacketError(f"a call of the procedure with number {number}")
    else:
        name = reader.text(length)
    reader.take(2)
    given: list[RpcParameter] = []
    while reader.remaining_bytes and reader.data[reader.at] not in _BETWEEN:
        called = reader.short_text()
        status = reader.number("B")
        try:
            typed = read_typed(reader)
        except UnreadableValueError as problem:
            raise UnsupportedRequestError(str(problem)) from None
        except InvalidValueError as problem:
            raise InvalidParameterError(len(given) + 1, called, str(problem)) from None
        given.append(RpcParameter(called, typed, bool(status & 1)))
    return _build_request(name, given, prepared)


def _build_request(name: str, parameters: list[RpcParameter], prepared: Prepared) -> SqlRequest:
    plain = re.sub(r"^(?:\[?(?:sys|master)\]?\.+)*", "", name, flags=re.IGNORECASE).strip("[]").lower()
    try:
        match plain:
            case "sp_executesql":
                declared = _text(parameters[1]) if len(parameters) > 1 else ""
                return _build_execute(_text(parameters[0]), declared, parameters, 2)
            case "sp_prepare":
                handle = prepared.store(PreparedStatement(_text(parameters[1]), _text(parameters[2])))
                return SqlRequest("", call=True, handle=handle)
            case "sp_prepexec":
                handle = prepared.store(PreparedStatement(_text(parameters[1]), _text(parameters[2])))
                return _build_execute(_text(parameters[2]), _text(parameters[1]), parameters, 3, handle)
            case "sp_prepexecrpc":
                handle = prepared.store(PreparedStatement("", _text(parameters[1]), procedure=True))
                return _build_call(_text(parameters[1]), parameters, 2, handle)
            case "sp_execute":
                known = prepared.find(parameters[0].given.value)
                if known is None:
                    return _unknown(parameters[0])
                if known.procedure:
                    return _build_call(known.text, parameters, 1)
                return _build_execute(known.text, known.declared, parameters, 1)
            case "sp_unprepare":
                prepared.forget(parameters[0].given.value)
                return SqlRequest("", call=True)
            case "sp_reset_connection":
                return SqlRequest("", call=True, resets=True)
            case "sp_cursoropen" | "sp_cursorprepare" | "sp_cursorexecute" | "sp_cursorprepexec":
                return _build_cursor_request(plain, parameters, prepared)
            case "sp_cursorfetch":
                return SqlRequest("", call=True, fetch=_build_fetch(parameters))
            case "sp_cursorclose":
                return SqlRequest("", call=True, fetch=FetchRequest(_number(parameters, 0), close=True))
            case "sp_cursoroption":
                return SqlRequest("", call=True)
            case "sp_cursorunprepare":
                prepared.forget(parameters[0].given.value)
                return SqlRequest("", call=True)
            case "sp_cursor":
                raise UnsupportedRequestError("sp_cursor: cursors of a driver only read here")
    except IndexError:
        raise MalformedPacketError(f"{plain} without its parameters") from None
    return _build_call(name, parameters)


def _unknown(handle: RpcParameter) -> SqlRequest:
    text = f"RAISERROR('Could not find prepared statement with handle {handle.given.literal}.', 16, 1)"
    return SqlRequest(text, call=True)


_OF_CURSOR: Final = {
    "sp_cursoropen": ("cursor", "text", "scroll", "concurrency", "rows", "declared"),
    "sp_cursorprepare": ("handle", "declared", "text", "options", "scroll", "concurrency"),
    "sp_cursorexecute": ("handle", "cursor", "scroll", "concurrency", "rows"),
    "sp_cursorprepexec": ("handle", "cursor", "declared", "text", "scroll", "concurrency", "rows"),
}
"""Parameters of the procedures that prepare and open cursors, in order; those of the statement itself follow.

[DOC: sp_cursoropen (Transact-SQL)] and related pages; the order of sp_cursorprepexec is the one that drivers send.
"""


def _build_cursor_request(procedure: str, parameters: list[RpcParameter], prepared: Prepared) -> SqlRequest:
    """Build the call of one of `_OF_CURSOR`. Raises IndexError without its first parameters."""
    names = _OF_CURSOR[procedure]
    place = {name: number for number, name in enumerate(names) if number < len(parameters)}
    declared = _text(parameters[place["declared"]]) if "declared" in place else ""
    text = _text(parameters[names.index("text")]) if "text" in names else ""
    handle = 0
    if procedure == "sp_cursorprepare":
        return SqlRequest("", call=True, handle=prepared.store(PreparedStatement(declared, text)))
    if procedure == "sp_cursorexecute":
        known = prepared.find(parameters[0].given.value)
        if known is None:
            return _unknown(parameters[0])
        declared, text, _ = known
    elif procedure == "sp_cursorprepexec":
        handle = prepared.store(PreparedStatement(declared, text))
    asked = _build_execute(text, declared, parameters if declared else [], len(names))
    outputs = {name: number for name, number in place.items() if parameters[number].output}
    opening = Opening(
        outputs,
        _number(parameters, place.get("scroll", -1)),
        max(0, _number(parameters, place.get("rows", -1))),
        handle,
    )
    return replace(asked, text=asked.text if declared else text, opening=opening)


def _build_fetch(parameters: list[RpcParameter]) -> FetchRequest:
    outputs = tuple(place for place in (2, 3) if len(parameters) > place and parameters[place].output)
    count = _number(parameters, 3, ROWS_AT_ONCE)
    return FetchRequest(
        _number(parameters, 0),
        _number(parameters, 1, FetchDirection.NEXT),
        _number(parameters, 2),
        max(0, count),
        outputs,
    )


def _number(parameters: list[RpcParameter], index: int, default: int = 0) -> int:
    """Return the integer of a parameter; *default* if it is missing."""
    value = parameters[index].given.value if 0 <= index < len(parameters) else None
    return value if isinstance(value, int) else default


def _text(parameter: RpcParameter) -> str:
    value = parameter.given.value
    return value if isinstance(value, str) else ""


def _build_execute(
    text: str, declared: str, parameters: list[RpcParameter], first_index: int, handle: int | None = None
) -> SqlRequest:
    """Build the request; the statement's own parameters start at index *first_index*."""
    if not declared:
        return SqlRequest(f"EXEC sp_executesql {quoted(text)}", call=True, handle=handle)
    before, arguments, outputs = _arguments(parameters, first_index)
    call = ", ".join((f"EXEC sp_executesql {quoted(text)}", quoted(declared), *arguments))
    return SqlRequest(before + call + _build_output_select(outputs), tuple(outputs), call=True, handle=handle)


def _build_call(
    name: str, parameters: list[RpcParameter], first_index: int = 0, handle: int | None = None
) -> SqlRequest:
    """Build the request; the procedure's parameters start at index *first_index*."""
    before, arguments, outputs = _arguments(parameters, first_index)
    call = f"DECLARE {OUTPUT}r int; {before}EXEC {OUTPUT}r = {name} {', '.join(arguments)}".rstrip()
    text = call + _build_output_select(outputs, f"{OUTPUT}r AS [{OUTPUT}r]")
    return SqlRequest(text, tuple(outputs), returns=True, call=True, handle=handle)


def _arguments(
    parameters: list[RpcParameter], first_index: int = 0
) -> tuple[str, list[str], list[tuple[int, str, str]]]:
    """Return the declarations of the output variables, the arguments, and the outputs.

    An output's index counts in the whole call [MS-TDS 2.2.7.19, ParamOrdinal]. The arguments begin at
    *first_index*.
    """
    before, arguments, outputs = "", [], []
    for place, one in enumerate(parameters[first_index:], start=first_index):
        value = one.given.literal
        if one.output:
            variable = f"{OUTPUT}{place}"
            before += f"DECLARE {variable} {one.given.type}; SET {variable} = {value}; "
            outputs.append((place, one.name, one.given.type))
            value = f"{variable} OUTPUT"
        arguments.append(f"{one.name} = {value}" if one.name else value)
    return before, arguments, outputs


def _build_output_select(outputs: list[tuple[int, str, str]], return_column: str = "") -> str:
    shown = [return_column] * bool(return_column) + [
        f"{OUTPUT}{place} AS [{OUTPUT}{place}]" for place, _, _ in outputs
    ]
    return f"; SELECT {', '.join(shown)}" if shown else ""
