"""Inputs of a run, and their text form `TIME VERB ARGUMENTS`.

Buttons, menus, scenario timelines, journals, the text console and tests all use this form. `engine.verbs`
defines the verbs and parses the lines.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.localization import LocalizableMessage, build_message, shorten_text

ERROR_CHARACTERS_MAX: Final = 500
"""Maximum length of an error message about a line, in characters, because a line may contain a very long
word. Assumed.
"""


class InputError(ValueError):
    """Error for an invalid input line. The text states the problem, its position and the expected value."""

    def __init__(self, text: str) -> None:
        super().__init__(shorten_text(text, ERROR_CHARACTERS_MAX))


def append_existing_names(problem: LocalizableMessage, names: Iterable[str]) -> LocalizableMessage:
    """Append a list of the existing *names* to *problem*, which reports an unknown name."""
    known_names = ", ".join(names)
    if not known_names:
        return build_message("{problem}; none is available", problem=problem)
    return build_message("{problem}; available: {names}", problem=problem, names=known_names)


class Input(Struct, frozen=True):
    """Input of a run: a parsed line with its *tick*."""

    tick: int
    verb: str
    args: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    by: str = ""
    """Key of the team role that enters the input; empty outside teams."""

    def get_option(self, name: str, default: float) -> float:
        """Return the number in the option `name=value`; *default* without this option."""
        return next((float(value) for key, value in self.options if key == name), default)

    @property
    def line_without_time(self) -> str:
        """Return the line without its time."""
        return f"@{self.by} {self.command_text}" if self.by else self.command_text

    @property
    def command_text(self) -> str:
        """Return the line without its time and role."""
        parts = [self.verb, *self.args, *(f"{name}={value}" for name, value in self.options)]
        return " ".join(part for part in parts if part).replace("\n", "\n    ")

    @property
    def line(self) -> str:
        """Return the line as in journals. Continuation lines of SQL are indented."""
        return f"{format_time(self.tick)} {self.line_without_time}"


def format_time(tick: int) -> str:
    """Format the time of *tick* in seconds, with as many decimals as needed: 41.25, 30."""
    return f"{tick / TICKS_PER_S:.2f}".rstrip("0").rstrip(".")
