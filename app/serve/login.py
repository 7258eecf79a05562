"""Packets [MS-TDS 2.2.3], and the messages before the first batch: PRELOGIN [2.2.6.5] and LOGIN7 [2.2.6.4]."""

import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from msgspec import Struct


class PacketKind(IntEnum):
    """Type of a TDS packet, which is the type of its message [MS-TDS 2.2.3.1.1]."""

    BATCH = 0x01
    RPC = 0x03
    RESPONSE = 0x04
    ATTENTION = 0x06
    TRANSACTION = 0x0E
    LOGIN = 0x10
    PRELOGIN = 0x12


PACKET_HEADER: Final = struct.Struct(">BBHHBB")
"""Packet header: type, status, length including the header, session ID, packet number, window."""
END_OF_MESSAGE: Final = 0x01
RESET_CONNECTION: Final = 0x08 | 0x10
"""Status bits [MS-TDS 2.2.3.1.2]. END_OF_MESSAGE: last packet of a message.

RESET_CONNECTION: reset the connection before the message. 0x10 excludes the transaction from the reset, but
here the transaction is reset as well.
"""

DEFAULT_PACKET_SIZE: Final = 4096
PACKET_SIZE_MIN, PACKET_SIZE_MAX = 512, 32767
"""Minimum and maximum packet size that a login may request, in bytes [MS-TDS 2.2.6.4]."""
MESSAGE_BYTES_MAX: Final = 16_000_000
"""Maximum size of an executed message in bytes. Assumed."""
LOGIN_BYTES_MAX: Final = 131_071
"""Maximum size of a message before login in bytes. A login is smaller than 128 KB [MS-TDS 2.2.6.4]."""
BATCH_PACKETS_MAX: Final = 65_536
"""Number of packets of the largest batch that a real server reads [Maximum capacity specifications for SQL Server].

Batches between MESSAGE_BYTES_MAX and this size are read and answered with an error.
"""


class MalformedPacketError(ValueError):
    """Error for bytes that are not valid TDS. The text names the invalid part."""


class TdsMessage(Struct, frozen=True):
    """TDS message: its type and its content."""

    kind: PacketKind
    body: bytes
    resets_connection: bool = False
    """True if the connection must be reset before the message is executed."""
    too_large: bool = False
    """True if the message exceeded the size limit, so that its body was skipped."""


def build_packet(kind: PacketKind, body: bytes) -> bytes:
    """Build a message that consists of one packet."""
    return PACKET_HEADER.pack(kind, END_OF_MESSAGE, PACKET_HEADER.size + len(body), 0, 0, 0) + body


def build_packets(body: bytes, size: int = DEFAULT_PACKET_SIZE, spid: int = 0) -> bytes:
    """Build the packets of a response, each with at most *size* bytes."""
    step = size - PACKET_HEADER.size
    parts = [body[index : index + step] for index in range(0, len(body), step)] or [b""]
    output = bytearray()
    for number, part in enumerate(parts, start=1):
        status = END_OF_MESSAGE if number == len(parts) else 0
        output += PACKET_HEADER.pack(
            PacketKind.RESPONSE, status, PACKET_HEADER.size + len(part), spid & 0xFFFF, number & 0xFF, 0
        )
        output += part
    return bytes(output)


class MessageAssembler:
    """Assembler of messages from received bytes."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._body = bytearray()
        self._kind: int | None = None
        self._resets = False
        self.message_bytes_max = LOGIN_BYTES_MAX
        """Maximum size of a message in bytes."""
        self._skipped_count = 0
        """Number of skipped bytes of a message that is too large."""

    def add_bytes(self, data: bytes) -> list[TdsMessage]:
        """Add received bytes. Return the messages that are complete now. Raises MalformedPacketError."""
        self._waiting += data
        messages: list[TdsMessage] = []
        while len(self._waiting) >= PACKET_HEADER.size:
            kind, status, length, *_ = PACKET_HEADER.unpack_from(self._waiting)
            if kind not in PacketKind.__members__.values() or kind == PacketKind.RESPONSE:
                raise MalformedPacketError(f"invalid packet type {kind:#04x}")
            if length < PACKET_HEADER.size or self._kind not in (None, kind):
                raise MalformedPacketError(
                    f"invalid length of {length} bytes in a packet of type {kind:#04x}"
                )
            if len(self._body) + length > self.message_bytes_max:
                if self.message_bytes_max < MESSAGE_BYTES_MAX:
                    raise MalformedPacketError(
                        f"the message before the login has more than {self.message_bytes_max} bytes"
                    )
                self._skipped_count += len(self._body)
                self._body.clear()
            if len(self._waiting) < length:
                break
            if self._kind is None:
                self._kind, self._resets = kind, bool(status & RESET_CONNECTION)
            if self._skipped_count:
                self._skipped_count += length
                if self._skipped_count > BATCH_PACKETS_MAX * PACKET_SIZE_MAX:
                    raise MalformedPacketError("the message has no end")
            else:
                self._body += self._waiting[PACKET_HEADER.size : length]
            del self._waiting[:length]
            if status & END_OF_MESSAGE:
                too_large = bool(self._skipped_count)
                messages.append(TdsMessage(PacketKind(kind), bytes(self._body), self._resets, too_large))
                self._body.clear()
                self._kind, self._skipped_count = None, 0
        return messages


class PacketReader:
    """Reader of the values in one message."""

    def __init__(self, data: bytes, start: int = 0) -> None:
        self.data, self.at = data, start

    @property
    def remaining_bytes(self) -> int:
        """Return the number of unread bytes."""
        return len(self.data) - self.at

    def read_bytes(self, count: int) -> bytes:
        """Return the next *count* bytes. Raises MalformedPacketError if there are fewer."""
        if count < 0 or count > self.remaining_bytes:
            raise MalformedPacketError(f"expected {count} bytes at position {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def read_number(self, form: str) -> int:
        """Read a little-endian number. *form*: format character of the module struct."""
        (value,) = struct.unpack(f"<{form}", self.read_bytes(struct.calcsize(f"<{form}")))
        return int(value)

    def read_text(self, characters: int) -> str:
        """Read *characters* UTF-16 code units as text."""
        return self.read_bytes(2 * characters).decode("utf-16-le", "replace")

    def read_short_text(self) -> str:
        """Read a B_VARCHAR value [MS-TDS 2.2.5.1.2]."""
        return self.read_text(self.read_number("B"))


VERSION, ENCRYPTION, INSTANCE, THREAD, MARS = range(5)
"""Option numbers of a PRELOGIN message."""


class EncryptionOption(IntEnum):
    """Encryption option of one side in PRELOGIN [MS-TDS 2.2.6.5]."""

    LOGIN = 0
    """ENCRYPT_OFF: only the login is encrypted."""
    ON = 1
    NONE = 2
    """ENCRYPT_NOT_SUP: this side has no TLS."""
    REQUIRED = 3


TDS_7_1, TDS_7_2, TDS_7_3, TDS_7_4, TDS_8 = 0x71000001, 0x72090002, 0x730B0003, 0x74000004, 0x08000000
"""TDS versions as numbers of LOGINACK [MS-TDS 2.2.7.14]."""
NEWEST_TDS_BY_PRODUCT: Final = {2005: TDS_7_2, 2008: TDS_7_3}
"""Product version -> its newest TDS version. Later products use 7.4 [MS-TDS Appendix A]."""

NAME_LENGTH_MAX: Final = 128
"""Maximum number of characters of a name [MS-TDS 2.2.6.4]."""


def negotiate_version(client_version: int, product: int) -> int:
    """Return the TDS version to use. *client_version*: requested version.

    *product*: SQL Server version, such as 2005.
    """
    newest = NEWEST_TDS_BY_PRODUCT.get(product, TDS_7_4)
    client_version = TDS_7_4 if client_version == TDS_8 else client_version  # inside TLS, TDS 8.0 equals 7.4
    return max(
        (
            version
            for version in (TDS_7_1, TDS_7_2, TDS_7_3, TDS_7_4)
            if version <= min(client_version, newest)
        ),
        default=TDS_7_1,
    )


def negotiate_encryption(client_encryption: int) -> EncryptionOption:
    """Return the response of a server that supports TLS and does not require it (table in [MS-TDS 2.2.6.5])."""
    if client_encryption in (EncryptionOption.ON, EncryptionOption.REQUIRED):
        return EncryptionOption.ON
    return EncryptionOption.LOGIN if client_encryption == EncryptionOption.LOGIN else EncryptionOption.NONE


def read_prelogin(body: bytes) -> tuple[int, bool]:
    """Return the TLS option of a PRELOGIN message (see `EncryptionOption`), and whether it requests MARS.

    A message without the TLS option means no TLS. Raises MalformedPacketError.
    """
    reader, encryption, mars = PacketReader(body), int(EncryptionOption.NONE), False
    while (option := reader.read_number("B")) != 0xFF:
        offset, length = struct.unpack(">HH", reader.read_bytes(4))
        value = PacketReader(body, offset).read_bytes(length)
        if option == ENCRYPTION and value:
            encryption = value[0]
        mars = mars or (option == MARS and value == b"\1")
    return encryption, mars


def build_prelogin_answer(encryption: EncryptionOption, build: str, mars: bool = False) -> bytes:
    """Build the response to a PRELOGIN message. *build*: product version of the server (9.00.5000.00)."""
    major, minor, number = parse_build(build)
    options = (
        (VERSION, struct.pack(">BBHH", major, minor, number, 0)),
        (ENCRYPTION, bytes([encryption])),
        (INSTANCE, b"\0"),
        (THREAD, b""),
        (MARS, bytes([mars])),
    )
    head, data = b"", b""
    for option, value in options:
        head += struct.pack(">BHH", option, 5 * len(options) + 1 + len(data), len(value))
        data += value
    return head + b"\xff" + data


def parse_build(product: str) -> tuple[int, int, int]:
    """Return major, minor and build number of a product version such as 9.00.5000.00."""
    major, minor, number = (int(part) for part in product.split(".")[:3])
    return major, minor, number


@dataclass(frozen=True, slots=True)
class LoginPacket:
    """LOGIN7 message, limited to the fields that the simulation uses."""

    tds_version: int
    """TDS version that the client requests."""
    packet_size: int = DEFAULT_PACKET_SIZE
    host: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    program: str = ""
    server: str = ""
    library: str = ""
    language: str = ""
    database: str = ""
    uses_windows_authentication: bool = False
    """True if the client requests Windows authentication, which is not supported."""
    changes_password: bool = False
    """True if the login request also changes the password (fChangePassword)."""
    read_only: bool = False
    """True for ApplicationIntent=ReadOnly (fReadOnlyIntent in the type flags)."""


_TEXT_FIELDS: Final = (
    "host", "user", "password", "program", "server", "extension", "library", "language", "database",
)  # fmt: skip
"""Text fields in the order of their offsets."""


def read_login(body: bytes) -> LoginPacket:
    """Parse a LOGIN7 message. Raises MalformedPacketError."""
    reader = PacketReader(body)
    length, tds, size = reader.read_number("I"), reader.read_number("I"), reader.read_number("I")
    if length != len(body) or length < 86:
        raise MalformedPacketError(f"the login gives a length of {length} bytes, but has {len(body)}")
    windows, kind, flags = body[25:28]
    texts: dict[str, str] = {}
    for index, name in enumerate(_TEXT_FIELDS):
        offset, count = struct.unpack_from("<HH", body, 36 + 4 * index)
        if name == "extension" or not count:
            continue
        if count > NAME_LENGTH_MAX:
            raise MalformedPacketError(f"{name} of a login has {count} characters")
        raw = PacketReader(body, offset).read_bytes(2 * count)
        if name == "password":
            raw = bytes(_unscramble(byte) for byte in raw)
        texts[name] = raw.decode("utf-16-le", "replace")
    packet_size = min(max(size or DEFAULT_PACKET_SIZE, PACKET_SIZE_MIN), PACKET_SIZE_MAX)
    return LoginPacket(
        tds_version=tds,
        packet_size=packet_size,
        uses_windows_authentication=bool(windows & 0x80),
        read_only=bool(kind & 0x20),
        changes_password=bool(flags & 0x01),
        **texts,
    )


def _unscramble(byte: int) -> int:
    """Decode a byte of the password.

    The client obfuscates each byte: it swaps both halves of the byte, and then applies XOR with 0xA5.
    """
    byte ^= 0xA5
    return (byte << 4 | byte >> 4) & 0xFF
