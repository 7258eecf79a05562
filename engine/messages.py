"""SQL Server's messages: number, severity and text by product version, as clients and ERRORLOGs show them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
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
    above: int = 0
    """Lines of what was submitted above the batch from whose first line *line* counts."""

    @property
    def is_error(self) -> bool:
        return self.severity > 10


class SqlError(Exception):
    """A refusal by the simulated server: message *number* with its arguments; the player's mistake."""

    def __init__(
        self,
        number: int,
        *args: object,
        state: int = 1,
        also: tuple[int, ...] = (),
        title: str = "RESTORE DATABASE",
    ) -> None:
        super().__init__(number, *args)
        self.title = title
        """The statement that 3013 names."""
        self.number = number
        self.parameters = args
        self.state = state
        self.also = also
        """Numbers of messages that follow this one (3013 after a failed RESTORE)."""


def text_of(number: int, *args: object, version: int = 2005) -> tuple[int, str]:
    """Severity and text of message *number*; KeyError for a number that is not in the table."""
    severity, template = LATER.get((number, version >= 2012), TEXTS[number])
    return severity, template.format(*args)


def _read(*sections: str) -> dict[int, tuple[int, str]]:
    table = tomllib.loads(resources.files("engine").joinpath("messages.toml").read_text(encoding="utf-8"))
    chosen = sections or tuple(name for name in table if name != "later")
    return {
        int(number): (severity, text) for name in chosen for number, (severity, text) in table[name].items()
    }


TEXTS: Final[dict[int, tuple[int, str]]] = _read()
"""number: (severity, text with {0}, {1} …)."""

LATER: Final[dict[tuple[int, bool], tuple[int, str]]] = {
    (number, True): entry for number, entry in _read("later").items()
}
"""(number, True): wording from 2012 on."""
