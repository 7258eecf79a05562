"""JSON form of the messages, their checks on receipt, and the limits that both ends know."""

from types import UnionType
from typing import Annotated, Final, Generic, TypeVar, get_args

from msgspec import Meta, Struct, json

from app.classroom.log_entries import TICK_MAX

BYTES_MAX: Final = 400_000
"""Maximum bytes of a message to the host: the longest action with every character escaped.

A longer message ends the connection.
"""
WELCOME_BYTES_MAX: Final = 8_000_000
"""Maximum bytes of a message to a seat or console, which can contain a scenario or a board."""
NAME_MAX: Final = 60
"""Characters of a person's name."""
HAND_MAX: Final = 200
"""Maximum characters of the question of a raised hand."""
REFLECTION_MAX: Final = 4_000
"""Characters of each answer of a self-debrief."""
SIGNAL_S: Final = 3.0
"""Interval of the pings of a host. A silent cable is noticed after twice this time."""
PINGS_S: Final = 10.0
"""Interval of the pings of a seat, and the time limit for every answer to a ping.

A seat that is silent for twice this time counts as lost, such as a sleeping laptop."""
REFUSED: Final = 4000
"""WebSocket close code of a seat that was refused for good; the reason is a sentence. 4000 and on are private use."""
RETRY_LATER: Final = 4001
"""Close code for a seat that may try again."""

Tick = Annotated[int, Meta(ge=0, le=TICK_MAX)]
GROUP_PATTERN: Final = r"^[^\s@]{1,30}$"
"""Name of a group, also in plans."""
Group = Annotated[str, Meta(pattern=GROUP_PATTERN)]
SeatNumber = Annotated[int, Meta(ge=-(2**62), lt=2**62)]
"""Number of a seat; negative if no host assigned it. A database holds 64 bits."""
Key = Annotated[str, Meta(min_length=16, max_length=100)]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_MAX)]


class WireMessage(Struct, frozen=True, tag_field="kind"):
    """Base of all messages."""

    @property
    def kind(self) -> str:
        """Return the kind of the message."""
        return str(self.__struct_config__.tag)


class ProtocolError(Exception):
    """Invalid message; the text gives the reason."""


M = TypeVar("M", bound=WireMessage)


class MessageReader(Generic[M]):
    """Reader of the messages of a union."""

    def __init__(self, union: UnionType) -> None:
        self._decoder: json.Decoder[M] = json.Decoder(union)
        self._kinds = {kind.__struct_config__.tag for kind in get_args(union)}

    def read(self, raw: str | bytes) -> M:
        """Parse a message. Raises ProtocolError."""
        try:
            return self._decoder.decode(raw)
        except (ValueError, RecursionError) as problem:
            raise ProtocolError(str(problem)) from None

    def read_known(self, raw: str | bytes) -> M | None:
        """Parse a message; return None for a kind that only newer programs know. Raises ProtocolError."""
        try:
            return self.read(raw)
        except ProtocolError:
            try:
                kind = json.decode(raw, type=_AnyKind).kind
            except (ValueError, RecursionError):
                kind = ""
            if not kind or kind in self._kinds:
                raise
            return None


class _AnyKind(Struct):
    kind: str


def encode(message: WireMessage) -> str:
    """Return the JSON of a message."""
    return json.encode(message, enc_hook=_reduce_text).decode()


def _reduce_text(value: object) -> str:
    """Return a localizable text as a plain English string. Raises TypeError for other values."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
