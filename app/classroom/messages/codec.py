"""Conversion of messages to and from JSON, with the checks on receipt and the limits that both ends share."""

from types import UnionType
from typing import Annotated, Final, Generic, TypeVar, get_args

from msgspec import Meta, Struct, json

from app.classroom.log_entries import TICK_MAX

HOST_MESSAGE_BYTES_MAX: Final = 400_000
"""Maximum size of a message to the host in bytes: the longest action with every character escaped.

A longer message closes the connection.
"""
CLIENT_MESSAGE_BYTES_MAX: Final = 8_000_000
"""Maximum size of a message to a seat or console in bytes. It can contain a scenario or a dashboard."""
NAME_LENGTH_MAX: Final = 60
"""Maximum number of characters of a person's name."""
QUESTION_LENGTH_MAX: Final = 200
"""Maximum number of characters of a question to the instructor."""
REFLECTION_LENGTH_MAX: Final = 4_000
"""Maximum number of characters of each answer of a reflection."""
HOST_PING_INTERVAL_S: Final = 3.0
"""Interval of the pings of a host. A silent connection is detected after twice this time."""
SEAT_PING_INTERVAL_S: Final = 10.0
"""Interval of the pings of a seat, and the time limit for each answer.

A seat that is silent for twice this time, such as a sleeping laptop, counts as lost.
"""
REFUSED_CLOSE_CODE: Final = 4000
"""WebSocket close code for a seat that is refused permanently. The reason is a sentence.

Codes from 4000 are for private use.
"""
RETRY_LATER_CLOSE_CODE: Final = 4001
"""WebSocket close code for a seat that may try again."""

Tick = Annotated[int, Meta(ge=0, le=TICK_MAX)]
"""Tick of a run, from 0 to TICK_MAX."""
GROUP_PATTERN: Final = r"^[^\s@]{1,30}$"
"""Regular expression for the name of a group, also in lesson plans."""
GroupName = Annotated[str, Meta(pattern=GROUP_PATTERN)]
"""Name of a group."""
SeatNumber = Annotated[int, Meta(ge=-(2**62), lt=2**62)]
"""Number of a seat; negative if no host assigned it. It must fit into the 64 bits of a database column."""
TokenText = Annotated[str, Meta(min_length=16, max_length=100)]
"""Token or secret that identifies its owner, 16 to 100 characters long."""
PersonName = Annotated[str, Meta(min_length=1, max_length=NAME_LENGTH_MAX)]
"""Name of a person."""


class WireMessage(Struct, frozen=True, tag_field="kind"):
    """Base of all messages."""

    @property
    def kind(self) -> str:
        """Tag of the message class, which identifies the message in JSON."""
        return str(self.__struct_config__.tag)


class ProtocolError(Exception):
    """Error for an invalid message. The text gives the reason."""


class UnknownKindError(ProtocolError):
    """Error for a message of another kind, from a newer program or from a client of another service."""


MessageType = TypeVar("MessageType", bound=WireMessage)


class MessageReader(Generic[MessageType]):
    """Parser of JSON messages for one union of message classes."""

    def __init__(self, union: UnionType) -> None:
        self._decoder: json.Decoder[MessageType] = json.Decoder(union)
        self._kinds = {kind.__struct_config__.tag for kind in get_args(union)}

    def read(self, raw: str | bytes) -> MessageType:
        """Parse a message. Raises ProtocolError, UnknownKindError."""
        try:
            return self._decoder.decode(raw)
        except (ValueError, RecursionError) as problem:
            reason = str(problem)
        try:
            kind = json.decode(raw, type=_AnyKind).kind
        except (ValueError, RecursionError):
            kind = ""
        raise UnknownKindError(reason) if kind and kind not in self._kinds else ProtocolError(reason)

    def read_known(self, raw: str | bytes) -> MessageType | None:
        """Parse a message. Return None for an unknown kind, which newer programs may send. Raises ProtocolError."""
        try:
            return self.read(raw)
        except UnknownKindError:
            return None


class _AnyKind(Struct):
    kind: str


def encode(message: WireMessage) -> str:
    """Encode a message as JSON."""
    return json.encode(message, enc_hook=_reduce_text).decode()


def _reduce_text(value: object) -> str:
    """Convert a localizable text to a plain English string. Raises TypeError for other values."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
