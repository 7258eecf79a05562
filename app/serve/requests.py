"""Client requests as T-SQL: batches, procedure calls, transactions [MS-TDS 2.2.6.6, 2.2.6.7, 2.2.6.9].

A procedure call becomes the text that a trace of the server shows for it: `EXEC sp_executesql N'…', N'@p
int', @p = 5`.

A driver may open read-only cursors on the server [DOC: sp_cursoropen (Transact-SQL)]. Their rows are read at
the opening and fetched in blocks [DOC: sp_cursorfetch (Transact-SQL)].
"""

import re
from enum import IntEnum, IntFlag
from typing import Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from app.serve import tds_types
from app.serve.login import TDS_7_2, MalformedPacketError, PacketReader
from app.serve.parameters import (
    InvalidValueError,
    TypedValue,
    UnsupportedTypeError,
    quote_literal,
    read_typed_value,
)
from engine.drill.judging.report_types import ReportRow
from engine.tsql.scalars.values import Scalar

DEFAULT_FETCH_ROWS: Final = 20
"""Number of rows of a fetch that does not state a number."""


class FetchDirection(IntEnum):
    """Fetch type of sp_cursorfetch: position of the requested block of rows."""

    FIRST = 0x01
    NEXT = 0x02
    PREVIOUS = 0x04
    LAST = 0x08
    ABSOLUTE = 0x10
    RELATIVE = 0x20
    REFRESH = 0x80
    INFO = 0x100
    PREVIOUS_NO_ADJUST = 0x200


FETCH_DIRECTION_BITS: Final = 0x3FF
"""Bits of the fetch type that contain a `FetchDirection`. Other bits do not affect a read-only cursor."""


class ScrollOptions(IntFlag):
    """Supported scroll options of a cursor. Every cursor is static, unless it is forward-only."""

    FORWARD_ONLY = 0x04
    STATIC = 0x08
    FAST_FORWARD = 0x10
    AUTO_FETCH = 0x2000
    AUTO_CLOSE = 0x4000


READ_ONLY_CONCURRENCY: Final = 1
"""Concurrency option of a read-only cursor, the only supported option."""
FETCH_ADJUSTED: Final = 2
"""Return status of a backward fetch that was moved to the first row."""
CURSOR_CLOSED: Final = 16
"""Return status of a fetch that has closed a fast-forward cursor."""


class ApiCursor(Struct):
    """API server cursor: the rows of a query, with the position of the latest fetch."""

    result: ReportRow
    """Result set with columns, types and rows, as in the event `sql_done`."""
    first_row_index: int = 0
    """Index of the first row of the latest fetch; the number of all rows if the cursor is behind the last row."""
    fetched_count: int = 0
    """Number of rows in the latest fetch. If 0, the cursor is before the first row or behind the last row."""

    @property
    def row_count(self) -> int:
        """Return the number of rows of the cursor."""
        return len(self.result["rows"])

    def fetch(self, direction: int, row: int, count: int) -> int:
        """Move the cursor to the requested block, and return the status for the client.

        *direction*: a FetchDirection. *row*: row number for ABSOLUTE, offset for RELATIVE. *count*: maximum
        number of rows. Afterwards, `block` contains the rows.
        """
        size, status, start = self.row_count, 0, self.first_row_index
        match direction:
            case FetchDirection.FIRST:
                start = 0
            case FetchDirection.NEXT:
                start += self.fetched_count
            case FetchDirection.PREVIOUS if 0 < start < count:
                start, status = 0, FETCH_ADJUSTED
            case FetchDirection.PREVIOUS:
                start -= count
            case FetchDirection.PREVIOUS_NO_ADJUST:
                start, count = max(0, start - count), min(count, start)
            case FetchDirection.LAST:
                start = max(0, size - count)
            case FetchDirection.ABSOLUTE:
                start = row - 1 if row >= 0 else size + row
            case FetchDirection.RELATIVE:
                start += row
            case FetchDirection.REFRESH:
                count = self.fetched_count
        before = start < 0
        self.first_row_index = min(max(0, start), size)
        self.fetched_count = 0 if before else min(count, size - self.first_row_index)
        return status

    @property
    def block(self) -> list[list[Scalar]]:
        """Return the rows of the latest fetch."""
        rows: list[list[Scalar]] = self.result["rows"][
            self.first_row_index : self.first_row_index + self.fetched_count
        ]
        return rows

    @property
    def first_row_number(self) -> int:
        """Number of the first row of the latest fetch, from 1; 0 before the first row, -1 after the last."""
        if self.fetched_count:
            return self.first_row_index + 1
        return -1 if self.row_count and self.first_row_index >= self.row_count else 0


class OpenCursors(Struct):
    """API server cursors of a connection that are currently open."""

    open_cursors: dict[int, ApiCursor] = field(default_factory=dict)
    """Handle -> open cursor."""
    last_number: int = 180_150_000
    """Last assigned handle. Handles start high, so that they cannot be mistaken for positions."""

    def add_cursor(self, result: ReportRow) -> int:
        """Add an open cursor over *result*, and return its handle."""
        self.last_number += 1
        self.open_cursors[self.last_number] = ApiCursor(result)
        return self.last_number


class CursorOpenResponse(Struct, frozen=True):
    """Cursor options and output parameters for the response to a call that opens a cursor."""

    outputs: dict[str, int]
    """Name of an output parameter (handle, cursor, scroll, concurrency, rows) -> its position."""
    scroll: int
    rows: int
    handle: int = 0


class FetchRequest(Struct, frozen=True):
    """Call of sp_cursorfetch, or of sp_cursorclose if *close* is True."""

    cursor: int
    direction: int = FetchDirection.NEXT
    row: int = 0
    count: int = DEFAULT_FETCH_ROWS
    outputs: tuple[int, ...] = ()
    """Positions of the output parameters row and count, if requested."""
    close: bool = False


class CursorNotFoundError(Exception):
    """Error for a handle that belongs to no open cursor."""


def open_cursor(
    cursors: OpenCursors,
    cursor_response: CursorOpenResponse,
    result: ReportRow,
    tds: int,
    more_results: bool = False,
) -> bytes:
    """Open a cursor over *result*, the result set of its query, and encode the response."""
    number = cursors.add_cursor(result)
    cursor = cursors.open_cursors[number]
    status, rows = 0, cursor.row_count
    columns = tds_types.encode_cursor_columns(result, tds)
    if cursor_response.scroll & ScrollOptions.AUTO_FETCH:
        cursor.fetch(FetchDirection.NEXT, 0, cursor_response.rows or DEFAULT_FETCH_ROWS)
        columns += tds_types.encode_cursor_rows(result, cursor.block, tds)
        rows = cursor.fetched_count
        if cursor_response.scroll & ScrollOptions.AUTO_CLOSE and cursor.fetched_count == cursor.row_count:
            del cursors.open_cursors[number]
            status = CURSOR_CLOSED
    columns += tds_types.encode_done(
        tds_types.DONE_IN_PROC,
        tds_types.MORE,
        rows if cursor_response.scroll & ScrollOptions.AUTO_FETCH else 0,
        tds,
    )
    columns += tds_types.encode_return_status(status)
    scroll = cursor_response.scroll & 0x1F
    forward = scroll in (ScrollOptions.FORWARD_ONLY, ScrollOptions.FAST_FORWARD)
    options = {
        "handle": cursor_response.handle,
        "cursor": number if status != CURSOR_CLOSED else 0,
        "scroll": scroll if forward else ScrollOptions.STATIC,
        "concurrency": READ_ONLY_CONCURRENCY,
        "rows": rows,
    }
    for name, output in cursor_response.outputs.items():
        columns += tds_types.encode_return_value(output, "", "int", int(options.get(name, 0)), tds)
    return columns + tds_types.encode_done(
        tds_types.DONE_PROC, tds_types.MORE if more_results else 0, None, tds
    )


def fetch_rows(cursors: OpenCursors, fetch: FetchRequest, tds: int, more_results: bool = False) -> bytes:
    """Execute a fetch or a close, and encode the response. Raises CursorNotFoundError."""
    cursor = cursors.open_cursors.get(fetch.cursor)
    if cursor is None:
        raise CursorNotFoundError
    if fetch.close:
        del cursors.open_cursors[fetch.cursor]
        return tds_types.encode_return_status(0) + tds_types.encode_done(
            tds_types.DONE_PROC, tds_types.MORE if more_results else 0, None, tds
        )
    output, method = b"", fetch.direction & FETCH_DIRECTION_BITS
    if method == FetchDirection.INFO:
        output += tds_types.encode_return_status(0)
        for position, value in zip(fetch.outputs, (cursor.first_row_number, cursor.row_count), strict=False):
            output += tds_types.encode_return_value(position, "", "int", value, tds)
    else:
        status = cursor.fetch(method, fetch.row, fetch.count)
        output += tds_types.encode_cursor_columns(cursor.result, tds)
        output += tds_types.encode_cursor_rows(cursor.result, cursor.block, tds)
        output += tds_types.encode_done(
            tds_types.DONE_IN_PROC, tds_types.MORE, cursor.fetched_count, tds
        ) + tds_types.encode_return_status(status)
    return output + tds_types.encode_done(
        tds_types.DONE_PROC, tds_types.MORE if more_results else 0, None, tds
    )


class SqlRequest(Struct, frozen=True):
    """Client request, converted to T-SQL."""

    text: str
    outputs: tuple[tuple[int, str, str], ...] = ()
    """(position, name, type) of each output parameter.

    The last result set contains their values, in columns with OUTPUT_PREFIX.
    """
    has_return_status: bool = False
    """True if the last result set begins with the return status of the procedure."""
    call: bool = False
    handle: int | None = None
    """Handle of the statement that this request prepares; None if it prepares none."""
    resets_connection: bool = False
    """True for sp_reset_connection, which executes no T-SQL."""
    cursor_response: CursorOpenResponse | None = None
    """Response to a request that opens a cursor; None for other requests.

    The first result set contains the rows of the cursor.
    """
    fetch: FetchRequest | None = None
    """Fetch or close of a cursor, which executes no T-SQL; None for other requests."""


OUTPUT_PREFIX: Final = "@tds"
"""Prefix of the T-SQL variables for output values, and of the columns that return these values."""

_PROCEDURES: Final = {
    1: "sp_cursor", 2: "sp_cursoropen", 3: "sp_cursorprepare", 4: "sp_cursorexecute", 5: "sp_cursorprepexec",
    6: "sp_cursorunprepare", 7: "sp_cursorfetch", 8: "sp_cursoroption", 9: "sp_cursorclose",
    10: "sp_executesql", 11: "sp_prepare", 12: "sp_execute", 13: "sp_prepexec", 14: "sp_prepexecrpc",
    15: "sp_unprepare",
}  # fmt: skip
"""Number of a procedure -> its name, for calls by number [MS-TDS 2.2.6.6]."""


class UnsupportedRequestError(Exception):
    """Error for a valid request that is not simulated. The text names the request."""


class InvalidParameterError(Exception):
    """Error for a parameter whose value does not fit its type. Arguments for message 8023: number, name and type."""


def _skip_headers(reader: PacketReader, tds: int) -> None:
    """Skip ALL_HEADERS [MS-TDS 2.2.5.3] of TDS 7.2 and later. The headers are not needed here."""
    if tds >= TDS_7_2:
        length = reader.read_number("I")
        reader.read_bytes(length - 4)


def read_batch(body: bytes, tds: int) -> SqlRequest:
    """Parse an SQLBatch message. Raises MalformedPacketError."""
    reader = PacketReader(body)
    _skip_headers(reader, tds)
    return SqlRequest(reader.read_text(reader.remaining_bytes // 2))


_ISOLATION_LEVELS: Final = {
    1: "READ UNCOMMITTED",
    2: "READ COMMITTED",
    3: "REPEATABLE READ",
    4: "SERIALIZABLE",
    5: "SNAPSHOT",
}
_BEGIN, _COMMIT, _ROLLBACK, _SAVE = 5, 7, 8, 9


def read_transaction(body: bytes, tds: int) -> SqlRequest:
    """Parse a transaction manager request. Raises MalformedPacketError, UnsupportedRequestError."""
    reader = PacketReader(body)
    _skip_headers(reader, tds)
    number = reader.read_number("H")
    if number == _BEGIN:
        return SqlRequest(_build_begin_transaction(reader))
    if number not in (_COMMIT, _ROLLBACK, _SAVE):
        raise UnsupportedRequestError("distributed transactions")
    name = reader.read_text(reader.read_number("B") // 2)
    if number == _SAVE:
        return SqlRequest(f"SAVE TRANSACTION {_quote_name(name)}")
    text = "COMMIT TRANSACTION" if number == _COMMIT else f"ROLLBACK TRANSACTION {_quote_name(name)}".rstrip()
    if reader.remaining_bytes and reader.read_number("B") & 1:
        text += f"; {_build_begin_transaction(reader)}"
    return SqlRequest(
        f"IF @@TRANCOUNT > 0 {text}" if number == _ROLLBACK and not name and ";" not in text else text
    )


def _build_begin_transaction(reader: PacketReader) -> str:
    level = _ISOLATION_LEVELS.get(reader.read_number("B"), "")
    name = reader.read_text(reader.read_number("B") // 2) if reader.remaining_bytes else ""
    set_level = f"SET TRANSACTION ISOLATION LEVEL {level}; " if level else ""
    return f"{set_level}BEGIN TRANSACTION {_quote_name(name)}".rstrip()


def _quote_name(name: str) -> str:
    return f"[{name.replace(']', ']]')}]" if name else ""


# --- calls ------------------------------------------------------------------------------------------------


class RpcParameter(Struct, frozen=True):
    """Parameter of an RPC request."""

    name: str
    typed_value: TypedValue
    output: bool
    is_default: bool = False
    """True if the procedure's default replaces the value [MS-TDS 2.2.6.6, fDefaultValue]."""


class PreparedStatement(NamedTuple):
    """Prepared statement with its parameter declarations, or the name of a prepared procedure."""

    declarations: str
    text: str
    procedure: bool = False


class PreparedStatements:
    """Prepared statements of a connection, by handle."""

    def __init__(self) -> None:
        self._statements: dict[int, PreparedStatement] = {}
        self._last_handle = 0

    def store(self, statement: PreparedStatement) -> int:
        """Store a statement, and return its handle."""
        self._last_handle += 1
        self._statements[self._last_handle] = statement
        return self._last_handle

    def find(self, handle: object) -> PreparedStatement | None:
        """Return the statement with this handle, or None."""
        return self._statements.get(handle) if isinstance(handle, int) else None

    def forget(self, handle: object) -> None:
        """Remove the statement with this handle."""
        if isinstance(handle, int):
            self._statements.pop(handle, None)

    def clear(self) -> None:
        """Remove all statements."""
        self._statements.clear()


_CALL_SEPARATORS: Final = (0x80, 0xFF)
"""Bytes that separate calls in a message, before and since TDS 7.2 [MS-TDS 2.2.6.6].

A separator cannot be mistaken for the length of a name, because no name is that long.
"""


def read_calls(body: bytes, tds: int, prepared: PreparedStatements) -> list[SqlRequest]:
    """Parse the calls of an RPC message, in order. Raises MalformedPacketError, UnsupportedRequestError."""
    reader = PacketReader(body)
    _skip_headers(reader, tds)
    requests = [_read_call(reader, prepared)]
    while reader.remaining_bytes:
        reader.read_bytes(1)
        if reader.remaining_bytes:
            requests.append(_read_call(reader, prepared))
    return requests


def _read_call(reader: PacketReader, prepared: PreparedStatements) -> SqlRequest:
    length = reader.read_number("H")
    if length == 0xFFFF:
        number = reader.read_number("H")
        name = _PROCEDURES.get(number, "")
        if not name:
            raise MalformedPacketError(f"a call of the procedure with number {number}")
    else:
        name = reader.read_text(length)
    reader.read_bytes(2)
    parameters: list[RpcParameter] = []
    while reader.remaining_bytes and reader.data[reader.at] not in _CALL_SEPARATORS:
        called = reader.read_short_text()
        status = reader.read_number("B")
        try:
            typed_value = read_typed_value(reader)
        except UnsupportedTypeError as problem:
            raise UnsupportedRequestError(str(problem)) from None
        except InvalidValueError as problem:
            raise InvalidParameterError(len(parameters) + 1, called, str(problem)) from None
        parameters.append(RpcParameter(called, typed_value, bool(status & 1), bool(status & 2)))
    return _build_request(name, parameters, prepared)


def _build_request(name: str, parameters: list[RpcParameter], prepared: PreparedStatements) -> SqlRequest:
    plain_name = re.sub(r"^(?:\[?(?:sys|master)\]?\.+)*", "", name, flags=re.IGNORECASE).strip("[]").lower()
    try:
        match plain_name:
            case "sp_executesql":
                declared = _format_text(parameters[1]) if len(parameters) > 1 else ""
                return _build_execute(_format_text(parameters[0]), declared, parameters, 2)
            case "sp_prepare":
                handle = prepared.store(
                    PreparedStatement(_format_text(parameters[1]), _format_text(parameters[2]))
                )
                return SqlRequest("", call=True, handle=handle)
            case "sp_prepexec":
                handle = prepared.store(
                    PreparedStatement(_format_text(parameters[1]), _format_text(parameters[2]))
                )
                return _build_execute(
                    _format_text(parameters[2]), _format_text(parameters[1]), parameters, 3, handle
                )
            case "sp_prepexecrpc":
                handle = prepared.store(PreparedStatement("", _format_text(parameters[1]), procedure=True))
                return _build_call(_format_text(parameters[1]), parameters, 2, handle)
            case "sp_execute":
                prepared_text = prepared.find(parameters[0].typed_value.value)
                if prepared_text is None:
                    return _build_unknown_handle_error(parameters[0])
                if prepared_text.procedure:
                    return _build_call(prepared_text.text, parameters, 1)
                return _build_execute(prepared_text.text, prepared_text.declarations, parameters, 1)
            case "sp_unprepare":
                prepared.forget(parameters[0].typed_value.value)
                return SqlRequest("", call=True)
            case "sp_reset_connection":
                return SqlRequest("", call=True, resets_connection=True)
            case "sp_cursoropen" | "sp_cursorprepare" | "sp_cursorexecute" | "sp_cursorprepexec":
                return _build_cursor_request(plain_name, parameters, prepared)
            case "sp_cursorfetch":
                return SqlRequest("", call=True, fetch=_build_fetch(parameters))
            case "sp_cursorclose":
                return SqlRequest("", call=True, fetch=FetchRequest(_get_integer(parameters, 0), close=True))
            case "sp_cursoroption":
                return SqlRequest("", call=True)
            case "sp_cursorunprepare":
                prepared.forget(parameters[0].typed_value.value)
                return SqlRequest("", call=True)
            case "sp_cursor":
                raise UnsupportedRequestError("sp_cursor: driver cursors are read-only here")
    except IndexError:
        raise MalformedPacketError(f"{plain_name} without its parameters") from None
    return _build_call(name, parameters)


def _build_unknown_handle_error(handle: RpcParameter) -> SqlRequest:
    text = f"RAISERROR('Could not find prepared statement with handle {handle.typed_value.literal}.', 16, 1)"
    return SqlRequest(text, call=True)


_CURSOR_PARAMETERS: Final = {
    "sp_cursoropen": ("cursor", "text", "scroll", "concurrency", "rows", "declared"),
    "sp_cursorprepare": ("handle", "declared", "text", "options", "scroll", "concurrency"),
    "sp_cursorexecute": ("handle", "cursor", "scroll", "concurrency", "rows"),
    "sp_cursorprepexec": ("handle", "cursor", "declared", "text", "scroll", "concurrency", "rows"),
}
"""Procedure that prepares or opens cursors -> its parameters in order. The parameters of the statement follow.

[DOC: sp_cursoropen (Transact-SQL)] and related pages. The order for sp_cursorprepexec is that of drivers.
"""


def _build_cursor_request(
    procedure: str, parameters: list[RpcParameter], prepared: PreparedStatements
) -> SqlRequest:
    """Build the request for one of the procedures in `_CURSOR_PARAMETERS`.

    Raises IndexError if required parameters are missing.
    """
    names = _CURSOR_PARAMETERS[procedure]
    index_by_name = {name: number for number, name in enumerate(names) if number < len(parameters)}
    declared = _format_text(parameters[index_by_name["declared"]]) if "declared" in index_by_name else ""
    text = _format_text(parameters[names.index("text")]) if "text" in names else ""
    handle = 0
    if procedure == "sp_cursorprepare":
        return SqlRequest("", call=True, handle=prepared.store(PreparedStatement(declared, text)))
    if procedure == "sp_cursorexecute":
        prepared_text = prepared.find(parameters[0].typed_value.value)
        if prepared_text is None:
            return _build_unknown_handle_error(parameters[0])
        declared, text, _ = prepared_text
    elif procedure == "sp_cursorprepexec":
        handle = prepared.store(PreparedStatement(declared, text))
    request = _build_execute(text, declared, parameters if declared else [], len(names))
    outputs = {name: number for name, number in index_by_name.items() if parameters[number].output}
    opening = CursorOpenResponse(
        outputs,
        _get_integer(parameters, index_by_name.get("scroll", -1)),
        max(0, _get_integer(parameters, index_by_name.get("rows", -1))),
        handle,
    )
    return replace(request, text=request.text if declared else text, cursor_response=opening)


def _build_fetch(parameters: list[RpcParameter]) -> FetchRequest:
    outputs = tuple(place for place in (2, 3) if len(parameters) > place and parameters[place].output)
    count = _get_integer(parameters, 3, DEFAULT_FETCH_ROWS)
    return FetchRequest(
        _get_integer(parameters, 0),
        _get_integer(parameters, 1, FetchDirection.NEXT),
        _get_integer(parameters, 2),
        max(0, count),
        outputs,
    )


def _get_integer(parameters: list[RpcParameter], index: int, default: int = 0) -> int:
    """Return the integer value of a parameter, or *default* if the parameter is missing."""
    value = parameters[index].typed_value.value if 0 <= index < len(parameters) else None
    return value if isinstance(value, int) else default


def _format_text(parameter: RpcParameter) -> str:
    value = parameter.typed_value.value
    return value if isinstance(value, str) else ""


def _build_execute(
    text: str, declared: str, parameters: list[RpcParameter], first_index: int, handle: int | None = None
) -> SqlRequest:
    """Build a request that executes *text*. The parameters of the statement start at index *first_index*."""
    if not declared:
        return SqlRequest(f"EXEC sp_executesql {quote_literal(text)}", call=True, handle=handle)
    before, arguments, outputs = _list_arguments(parameters, first_index)
    call = ", ".join((f"EXEC sp_executesql {quote_literal(text)}", quote_literal(declared), *arguments))
    return SqlRequest(before + call + _build_output_select(outputs), tuple(outputs), call=True, handle=handle)


def _build_call(
    name: str, parameters: list[RpcParameter], first_index: int = 0, handle: int | None = None
) -> SqlRequest:
    """Build a request that calls the procedure *name*. Its parameters start at index *first_index*."""
    before, arguments, outputs = _list_arguments(parameters, first_index)
    call = f"DECLARE {OUTPUT_PREFIX}r int; {before}EXEC {OUTPUT_PREFIX}r = {name} {', '.join(arguments)}".rstrip()
    text = call + _build_output_select(outputs, f"{OUTPUT_PREFIX}r AS [{OUTPUT_PREFIX}r]")
    return SqlRequest(text, tuple(outputs), has_return_status=True, call=True, handle=handle)


def _list_arguments(
    parameters: list[RpcParameter], first_index: int = 0
) -> tuple[str, list[str], list[tuple[int, str, str]]]:
    """Return the declarations of the output variables, the arguments, and the output parameters.

    *first_index*: index of the first argument in *parameters*. The position of an output parameter
    counts from the start of *parameters* [MS-TDS 2.2.7.19, ParamOrdinal].
    """
    before, arguments, outputs = "", [], []
    for index, parameter in enumerate(parameters[first_index:], start=first_index):
        value = "DEFAULT" if parameter.is_default else parameter.typed_value.literal
        if parameter.output and parameter.is_default:
            raise UnsupportedRequestError("an output parameter with the default of the procedure")
        if parameter.output or value.startswith("CAST("):
            variable = f"{OUTPUT_PREFIX}{index}"
            before += f"DECLARE {variable} {parameter.typed_value.type}; SET {variable} = {value}; "
            value = variable
        if parameter.output:
            outputs.append((index, parameter.name, parameter.typed_value.type))
            value += " OUTPUT"
        arguments.append(f"{parameter.name} = {value}" if parameter.name else value)
    return before, arguments, outputs


def _build_output_select(outputs: list[tuple[int, str, str]], return_column: str = "") -> str:
    columns = [return_column] * bool(return_column) + [
        f"{OUTPUT_PREFIX}{index} AS [{OUTPUT_PREFIX}{index}]" for index, _, _ in outputs
    ]
    return f"; SELECT {', '.join(columns)}" if columns else ""
