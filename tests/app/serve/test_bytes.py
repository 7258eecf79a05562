"""Tests of encoding and decoding of the wire protocol, without sockets."""

from __future__ import annotations

import struct

import pytest

from app.serve.login import (
    TDS_7_1,
    TDS_7_2,
    TDS_7_3,
    TDS_7_4,
    MalformedPacketError,
    MessageAssembler,
    PacketKind,
    PacketReader,
    build_packets,
    negotiate_version,
    read_prelogin,
)
from app.serve.parameters import read_typed_value
from app.serve.requests import PreparedStatements, SqlRequest, read_batch, read_calls
from app.serve.session import encode_response
from app.serve.tds_types import build_column, encode_message, encode_result_set
from engine.tsql.scalars.values import Scalar


def test_a_message_is_complete_with_its_last_packet() -> None:
    first = struct.pack(">BBHHBB", PacketKind.BATCH, 0, 10, 0, 1, 0) + b"ab"
    last = struct.pack(">BBHHBB", PacketKind.BATCH, 9, 10, 0, 2, 0) + b"cd"
    assembler = MessageAssembler()
    assert assembler.add_bytes(first + last[:5]) == []
    (message,) = assembler.add_bytes(last[5:])
    assert (message.kind, message.body, message.resets_connection) == (PacketKind.BATCH, b"abcd", False)


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.1\r\n", b"\x01\x01\x00\x03\0\0\0\0", b"\x04\x01\x00\x08\0\0\0\0"]
)
def test_invalid_packets_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedPacketError):
        MessageAssembler().add_bytes(data)


def test_a_response_is_split_into_packets_of_the_negotiated_size() -> None:
    packet_bytes = build_packets(bytes(1000), 512)
    assert [struct.unpack(">H", packet_bytes[offset + 2 : offset + 4])[0] for offset in (0, 512)] == [
        512,
        504,
    ]
    assert (packet_bytes[1], packet_bytes[513]) == (0, 1)


@pytest.mark.parametrize(
    ("client_version", "product", "expected"),
    [
        (0x74000004, 2005, TDS_7_2),
        (0x74000004, 2008, TDS_7_3),
        (0x74000004, 2014, TDS_7_4),
        (0x71000001, 2014, TDS_7_1),
    ],
)
def test_the_newest_common_version_is_used(client_version: int, product: int, expected: int) -> None:
    assert negotiate_version(client_version, product) == expected


def test_a_prelogin_offset_outside_the_packet_is_refused() -> None:
    with pytest.raises(MalformedPacketError):
        read_prelogin(b"\0\xff\xff\0\x06\xff")


@pytest.mark.parametrize(
    ("type_name", "value", "expected"),
    [
        ("int", -2, b"\x04\xfe\xff\xff\xff"),
        ("bit", 1, b"\x01\x01"),
        ("numeric(5,2)", "-1.50", b"\x11\x00\x96" + bytes(15)),
        ("money", "1.25", b"\x08\0\0\0\0\xd4\x30\0\0"),
        ("varbinary(4)", "0x12AB", b"\x02\0\x12\xab"),
        ("nvarchar(5)", "ü", b"\x02\0\xfc\0"),
        ("date", "0001-01-02", b"\x03\x01\0\0"),
        ("int", None, b"\0"),
        ("nvarchar(5)", None, b"\xff\xff"),
        ("varchar(max)", None, b"\xff" * 8),
        ("varchar(3)", "\x90€", b"\x02\0\x90\x80"),
        ("xml", None, b"\xff" * 8),
        ("sql_variant", None, bytes(4)),
        ("sql_variant", 7, b"\x06\0\0\0\x38\0\x07\0\0\0"),
        ("sql_variant:bit", 1, b"\x03\0\0\0\x32\0\x01"),
        ("sql_variant:numeric(5,2)", "-1.50", b"\x15\0\0\0\x6c\x02\x05\x02\0\x96" + bytes(15)),
        ("sql_variant:date", "0001-01-02", b"\x05\0\0\0\x28\0\x01\0\0"),
        ("sql_variant:varbinary(4)", "0x12AB", b"\x06\0\0\0\xa5\x02\x04\0\x12\xab"),
        (
            "sql_variant:nvarchar(5)",
            "ü",
            b"\x0b\0\0\0\xe7\x07" + bytes.fromhex("0904d00034") + b"\x0a\0\xfc\0",
        ),
        (
            "sql_variant:date",
            "no date",
            b"\x17\0\0\0\xe7\x07" + bytes.fromhex("0904d00034") + b"\x40\x1f" + "no date".encode("utf-16-le"),
        ),
    ],
)
def test_values_are_encoded_by_type(type_name: str, value: Scalar, expected: bytes) -> None:
    assert build_column(type_name, [value], TDS_7_4).encode_value(value) == expected


@pytest.mark.parametrize(
    ("type_name", "value", "kind", "raw"),
    [
        ("nvarchar(max)", "Ω" * 9000, 0x63, "Ω".encode("utf-16-le") * 9000),
        ("varchar(max)", "x" * 9000, 0x23, b"x" * 9000),
        ("varbinary(max)", "0x" + "01" * 9000, 0x22, b"\1" * 9000),
    ],
)
def test_before_tds_7_2_large_values_are_sent_as_text_and_image(
    type_name: str, value: str, kind: int, raw: bytes
) -> None:
    old = build_column(type_name, [value, None], TDS_7_1)
    assert old.type_info[0] == kind
    assert old.encode_value(value).endswith(struct.pack("<I", len(raw)) + raw)
    assert old.encode_value(None) == b"\0"
    assert build_column(type_name, [value], TDS_7_2).type_info[0] != kind


def test_a_value_of_another_type_is_sent_as_text() -> None:
    assert build_column("int", ["many"], TDS_7_4).kind.name == "nvarchar"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("numeric(5,2)", "-1.50"),
        ("datetime", "2020-01-02 03:04:05.000"),
        ("datetime2(3)", "2020-01-02 03:04:05.120"),
        ("uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF"),
        ("varbinary(4)", "0x12ab"),
        ("nvarchar(5)", "ü"),
        ("money", "1.2500"),
    ],
)
def test_a_variant_as_a_parameter_keeps_its_base_type(written: str, value: str) -> None:
    column_type = build_column(f"sql_variant:{written}", [value], TDS_7_4)
    typed = read_typed_value(PacketReader(column_type.type_info + column_type.encode_value(value)))
    assert typed.type == "sql_variant"
    assert typed.literal.removeprefix("CAST(").lstrip("N'").lower().startswith(value.lower())
    assert typed.literal.endswith(f" AS {written.replace('numeric', 'decimal')})")


def test_parameters_become_literals() -> None:
    assert read_typed_value(PacketReader(b"\x26\x04\x04\x05\0\0\0")).literal == "5"
    text = "a'b".encode("utf-16-le")
    raw = b"\xe7\x0a\0" + bytes(5) + struct.pack("<H", len(text)) + text
    assert (read_typed_value(PacketReader(raw)).literal, read_typed_value(PacketReader(raw)).type) == (
        "N'a''b'",
        "nvarchar(5)",
    )


def test_a_batch_is_the_text_after_its_headers() -> None:
    assert read_batch(b"\x04\0\0\0" + "SELECT 1".encode("utf-16-le"), TDS_7_4).text == "SELECT 1"


def test_a_call_is_shown_as_in_a_trace() -> None:
    def encode_text(statement: str) -> bytes:
        raw = statement.encode("utf-16-le")
        return b"\0\0\xe7\x40\x1f" + bytes(5) + struct.pack("<H", len(raw)) + raw

    body = b"\x04\0\0\0\xff\xff\x0a\0\0\0" + encode_text("SELECT @p") + encode_text("@p int")
    body += b"\x02" + "@p".encode("utf-16-le") + b"\0\x26\x04\x04\x07\0\0\0"
    assert (
        read_calls(body, TDS_7_4, PreparedStatements())[0].text
        == "EXEC sp_executesql N'SELECT @p', N'@p int', @p = 7"
    )


@pytest.mark.parametrize(
    ("procedure", "leading_parameters"),
    [(10, ("SELECT @p", "@p int OUTPUT")), (13, (0, "@p int OUTPUT", "SELECT @p"))],
)
def test_an_output_value_is_at_the_position_of_its_parameter(
    procedure: int, leading_parameters: tuple[int | str, ...]
) -> None:
    """sp_executesql has two parameters before those of the batch, sp_prepexec three. JDBC fails at any other
    position.
    """

    def encode_parameter(value: int | str) -> bytes:
        if isinstance(value, int):
            return b"\0\1\x26\x04\0"
        raw = value.encode("utf-16-le")
        return b"\0\0\xe7\x40\x1f" + bytes(5) + struct.pack("<H", len(raw)) + raw

    body = (
        b"\x04\0\0\0\xff\xff"
        + struct.pack("<HH", procedure, 0)
        + b"".join(map(encode_parameter, leading_parameters))
    )
    body += b"\x02" + "@p".encode("utf-16-le") + b"\1\x26\x04\x04\x07\0\0\0"
    (call,) = read_calls(body, TDS_7_4, PreparedStatements())
    assert call.outputs == ((len(leading_parameters), "@p", "int"),)


def test_only_a_statement_without_rows_sends_its_row_count() -> None:
    """JDBC would interpret a row count after a SELECT as the count of an update."""
    counted = {"number": 0, "severity": 0, "state": 0, "line": 0, "text": "(1 row affected)", "rows": 1}
    grid = {"columns": ["a"], "types": ["int"], "rows": [[1]], "after_messages": 1}
    answer = encode_response(SqlRequest(""), [counted, counted], [grid], "SERVER_A", TDS_7_4)
    assert answer.startswith(struct.pack("<BHHQ", 0xFD, 0x11, 0xC3, 1))
    # No token follows the final DONE token.
    assert answer.endswith(struct.pack("<BHHQ", 0xFD, 0x10, 0xC1, 1))


def test_an_assignment_and_a_call_in_a_batch_each_send_a_done_token() -> None:
    """SqlClient skips the row count of a SELECT without columns. python-tds reads the return status of a
    call.
    """
    grid = {"columns": ["a"], "types": ["int"], "rows": [[1]], "after_messages": 0}
    counted = {"number": 0, "severity": 0, "state": 0, "line": 0, "text": "(1 row affected)", "rows": 1}
    ends = [
        {"after_messages": 0, "after_results": 0, "rows": 1, "status": None},
        {"after_messages": 1, "after_results": 1, "rows": None, "status": 46},
    ]
    answer = encode_response(SqlRequest(""), [counted], [grid], "SERVER_A", TDS_7_4, ends=ends)
    assert answer.startswith(struct.pack("<BHHQ", 0xFD, 0x11, 0xC1, 1) + b"\x81")
    assert answer.endswith(
        struct.pack("<BHHQ", 0xFD, 0x11, 0xC1, 1) + b"\x79\x2e\0\0\0" + struct.pack("<BHHQ", 0xFE, 0, 0, 0)
    )
    called = encode_response(SqlRequest("", call=True), [counted], [grid], "SERVER_A", TDS_7_4, ends=ends)
    assert called.count(b"\x79\x2e") == 0


@pytest.mark.parametrize(
    ("base", "properties", "data"),
    [
        (0x28, b"", bytes(300)),
        (0x6A, b"\x05\x02", bytes(300)),
        (0x24, b"", bytes(17)),
        (0x38, b"", bytes(5)),
        (0x62, b"", bytes(20)),
        (0xE7, b"", bytes(2)),
        (0xE7, bytes(7), bytes(70_000)),
    ],
)
def test_a_malformed_variant_is_refused(base: int, properties: bytes, data: bytes) -> None:
    body = bytes([base, len(properties)]) + properties + data
    with pytest.raises(MalformedPacketError):
        read_typed_value(PacketReader(b"\x62" + bytes(4) + struct.pack("<I", len(body)) + body))


@pytest.mark.parametrize(
    ("number", "state", "line", "procedure", "sent"),
    [(547, 0, 3, "", (0, 3)), (201, 4, 0, "p", (4, 0)), (18456, 1, 0, "", (1, 1)), (0, 0, 0, "", (1, 1))],
)
def test_state_zero_and_line_zero_of_a_failed_call_are_sent(
    number: int, state: int, line: int, procedure: str, sent: tuple[int, int]
) -> None:
    row = {
        "number": number,
        "severity": 16,
        "state": state,
        "line": line,
        "text": "x",
        "procedure": procedure,
    }
    data = encode_message(row, "S", TDS_7_4)
    assert (data[7], struct.unpack("<I", data[-4:])[0]) == sent


def test_a_column_without_null_is_sent_as_not_nullable() -> None:
    result = {"columns": ["a"], "types": ["int"], "rows": []}
    flags = [
        struct.unpack("<H", encode_result_set({**result, **extra}, TDS_7_4)[7:9])[0] & 1
        for extra in ({}, {"nullable": [True]}, {"nullable": [False]})
    ]
    assert flags == [1, 1, 0]
