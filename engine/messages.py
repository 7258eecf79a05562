"""SQL Server's messages: number, severity and text by product version, as clients and ERRORLOGs show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the Messages tab. Severity 0 with number 0 is plain text (PRINT, rows affected)."""

    number: int
    severity: int
    state: int
    line: int
    text: str
    server: str = ""

    @property
    def is_error(self) -> bool:
        return self.severity > 10


class SqlError(Exception):
    """A refusal by the simulated server: message *number* with its arguments. The player's mistake, not ours."""

    def __init__(self, number: int, *args: object, state: int = 1, also: tuple[int, ...] = ()) -> None:
        super().__init__(number, *args)
        self.number = number
        self.parameters = args
        self.state = state
        self.also = also
        """Numbers of messages that follow this one (3013 after a failed RESTORE)."""


TEXTS: Final[dict[int, tuple[int, str]]] = {
    # number: (severity, text with {0}, {1} …)
}


def text_of(number: int, *args: object, version: int = 2005) -> tuple[int, str]:
    """Severity and text of message *number*; KeyError for a number that is not in the table."""
    severity, template = LATER.get((number, version >= 2012), TEXTS[number])
    return severity, template.format(*args)


LATER: Final[dict[tuple[int, bool], tuple[int, str]]] = {
    # (number, True): wording from 2012 on
}
