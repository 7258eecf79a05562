"""Messages of SQL Server: number, severity and text by version, as clients and ERRORLOGs show them."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class Message(Struct, frozen=True):
    """Entry on the Messages tab. Number 0 with severity 0 is plain text, such as the output of PRINT."""

    number: int
    severity: int
    state: int
    line: int
    text: str
    server: str = ""
    above: int = 0
    """Number of lines above the batch in the submission. *line* counts from the first line of the batch."""
    rows: int | None = None
    """Number of rows in `(n rows affected)`; None for other messages."""
    procedure: str = ""
    """Stored procedure, trigger or function that raised the message; empty outside of these."""

    @property
    def is_error(self) -> bool:
        """Return whether the message is an error: its severity is 11 or more."""
        return self.severity > 10


MESSAGE_STATES: Final = {
    137: 2, 195: 10, 201: 4, 206: 2, 214: 2, 229: 5, 232: 3, 235: 0, 242: 3, 468: 9, 515: 2, 529: 2, 537: 3, 547: 0,
    1222: 51, 1412: 0, 1801: 3, 2714: 6, 2812: 62, 3156: 4, 3701: 5, 3702: 4, 5120: 101, 7202: 2, 8114: 5, 8115: 2,
    8144: 2, 8146: 2, 8152: 14, 8155: 2, 8162: 2, 8169: 2, 9002: 2,
}  # fmt: skip
"""Message number -> state of the message, if it is not 1.

Seen in public client output, because no documentation lists the states.
"""


MESSAGE_STATES_BY_TYPE: Final = {(220, "tinyint"): 2, (8115, "numeric"): 8, (8115, "decimal"): 8}
"""(message number, data type among its arguments) -> state of the message. Seen in public client output."""


class SqlError(Exception):
    """Error that the simulated server raises: message *number* with its arguments."""

    def __init__(
        self,
        number: int,
        *args: object,
        state: int | None = None,
        also: tuple[int, ...] = (),
        title: str = "RESTORE DATABASE",
    ) -> None:
        super().__init__(number, *args)
        self.title = title
        """Name of the statement in message 3013."""
        self.number = number
        self.parameters = args
        default_state = next(
            (
                type_state
                for argument in args
                if (type_state := MESSAGE_STATES_BY_TYPE.get((number, str(argument)))) is not None
            ),
            None,
        )
        self.state = (
            state
            if state is not None
            else MESSAGE_STATES.get(number, 1)
            if default_state is None
            else default_state
        )
        self.also = also
        """Numbers of the messages that follow this one, such as 3013 after a failed RESTORE."""
        self.rows_before: tuple[tuple[str, ...], Sequence[tuple[int | float | str | bytes | None, ...]]] = (
            (),
            (),
        )
        """Column names and rows that a query returned before it failed."""
        self.procedure = ""
        """System procedure that raised the error, or procedure whose call failed before its first statement."""
        self.in_call = False
        """True if the call failed before its first statement, so that the error is on line 0."""
        self.problems: tuple[SqlError, ...] = ()
        """All errors that SQL Server reports together with this one, which is the first."""


class MessageWording(Struct, frozen=True):
    """Wording of a message in sys.messages, from version *since* on."""

    number: int
    since: int
    """First version of SQL Server with this text."""
    severity: int
    logged: bool
    """Column is_event_logged: True if the message is also written to the ERRORLOG and the Windows application
    log.
    """
    source: str
    """Origin of the text: doc (Microsoft's tables), log (public output), derived (our derivation), client (a
    client library), or own (not a message of SQL Server).
    """
    text: str
    """Text with the placeholders of SQL Server: %d, %ls, %.*ls, %S_MSG …"""


def _read_messages() -> dict[int, tuple[MessageWording, ...]]:
    """Return message number -> its wordings in messages.tsv, in the order of the file."""
    messages_by_number: dict[int, tuple[MessageWording, ...]] = {}
    lines = resources.files("engine").joinpath("messages.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        number, first_version, severity, logged, source, text = line.split("\t")
        wording = MessageWording(int(number), int(first_version), int(severity), logged == "1", source, text)
        messages_by_number[wording.number] = (*messages_by_number.get(wording.number, ()), wording)
    return messages_by_number


MESSAGES: Final[dict[int, tuple[MessageWording, ...]]] = _read_messages()
"""Message number -> its wordings, oldest first.

Documented [DOC: Database Engine events and errors]; see MessageWording.source.
"""

PLACEHOLDER_PATTERN: Final = re.compile(
    r"%%|%[-+#0 ]*(?:[1-9]\d*|\*)?(?:\.(?:\d+|\*))?(?:S_[A-Z]+|(?:I64|I32|l|h)?[a-zA-Z])"
)
"""Pattern of a placeholder, or of %% (a percent sign)."""

LEADING_ARGUMENTS: Final[dict[tuple[int, int], tuple[str, ...]]] = {(1480, 2012): ("mirroring",)}
"""(message number, version) -> additional first arguments that the wording of this version needs."""

CACHED_TEXTS_MAX: Final = 4_096
"""Maximum number of cached message texts, because an ERRORLOG often repeats them. Assumed."""

ALWAYS_ON_RENAMED_VERSION: Final = 2016
"""First version whose messages contain "Always On" instead of "AlwaysOn". Seen in public ERRORLOGs."""


def find_wording(number: int, version: int = 2005) -> MessageWording:
    """Return the wording of message *number* in *version*; the oldest wording if *version* is even older.

    Raises KeyError for an unknown number.
    """
    message = MESSAGES[number]
    found_wording = next(
        (candidate for candidate in reversed(message) if candidate.since <= version), message[0]
    )
    if version >= ALWAYS_ON_RENAMED_VERSION and "AlwaysOn" in found_wording.text:
        return replace(found_wording, text=found_wording.text.replace("AlwaysOn", "Always On"))
    return found_wording


def count_placeholders(text: str) -> int:
    """Return the number of placeholders in a text."""
    return sum(match.group() != "%%" for match in PLACEHOLDER_PATTERN.finditer(text))


@lru_cache(CACHED_TEXTS_MAX, typed=True)
def fill_message(number: int, *args: object, version: int = 2005) -> tuple[int, str]:
    """Return (severity, filled text) of message *number* in *version*, with *args* as arguments.

    Raises KeyError for an unknown number. Surplus arguments are ignored, because a later wording may use more
    than an earlier one. Missing arguments become empty text, because SQL Server usually leaves a final %.*ls
    empty.
    """
    found_wording = find_wording(number, version)
    return found_wording.severity, fill_placeholders(
        found_wording.text, (*LEADING_ARGUMENTS.get((number, found_wording.since), ()), *args)
    )


def fill_placeholders(text: str, args: Iterable[object]) -> str:
    """Fill the placeholders of a text from left to right."""
    remaining_arguments = iter(args)

    def format_match(match: re.Match[str]) -> str:
        return (
            "%" if match.group() == "%%" else _format_argument(match.group(), next(remaining_arguments, ""))
        )

    return PLACEHOLDER_PATTERN.sub(format_match, text)


def _format_argument(placeholder: str, value: object) -> str:
    """Format a number by its placeholder, such as %#x, %03d or %#016I64x. Return other values as text."""
    kind = placeholder[-1]
    if not isinstance(value, int) or kind not in "dxXui" or "S_" in placeholder:
        return str(value)
    form = re.sub(r"I64|I32|l|h", "", placeholder).replace("u", "d").replace("i", "d")
    return form % value


def list_messages(version: int) -> list[MessageWording]:
    """Return the rows of sys.messages in *version*: messages that are documented or seen in public output."""
    return [
        find_wording(number, version)
        for number, wordings in sorted(MESSAGES.items())
        if wordings[0].since <= version and wordings[0].source in ("doc", "log")
    ]
