"""Text of a job step's messages in the job history."""

import re
from collections.abc import Iterable
from typing import Final

from engine.messages import Message

_SQLSTATES: Final = {
    **dict.fromkeys((515, 547, 2601, 2627), "23000"),
    8134: "22012",
    8152: "22001",
    2628: "22001",
    8115: "22003",
    220: "22003",
    232: "22003",
    241: "22007",
    242: "22007",
    245: "22018",
    8114: "42000",
    208: "42S02",
    207: "42S22",
    2714: "42S01",
    1205: "40001",
}
"""Error number -> SQLSTATE to which ODBC maps it. All other errors have 42000."""
_OMITTED_NUMBERS: Final = frozenset({5701, 5703, 3621})
"""Numbers of messages that the job history omits."""
_OMITTED_TEXT_PATTERN: Final = re.compile(
    r"^\(\d+ rows? affected\)$|^\(\d+ row\(s\) affected\)$|^Commands completed successfully\.$"
)
"""Pattern of row counts and completion messages, which the job history omits."""


def join_messages(messages: Iterable[Message]) -> str:
    """Join messages as in public job histories: `boo [SQLSTATE 42000] (Error 50000)`.

    [DOC: sysjobhistory].
    """
    parts = []
    for message in messages:
        if (
            message.number in _OMITTED_NUMBERS
            or _OMITTED_TEXT_PATTERN.match(message.text)
            or not message.text.strip()
        ):
            continue
        kind = "Error" if message.is_error else "Message"
        state = _SQLSTATES.get(message.number, "42000") if message.is_error else "01000"
        parts.append(f"{message.text} [SQLSTATE {state}] ({kind} {message.number}).")
    return "  ".join(parts)
