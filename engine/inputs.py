"""Input of a run, and its text in one line: `TIME VERB ARGUMENTS`.

Buttons, menus, scenario timelines, journals, the text console and tests all use these lines. `engine.verbs` defines
the verbs and parses them.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from engine.constants import TICKS_PER_S
from engine.localization import LocalizableMessage, build_message, shorten

ERROR_LENGTH_MAX: Final = 500
"""Maximum length of an error about a line, in characters. A line may contain a word of a million letters. Assumed."""


class InputError(ValueError):
    """An input line is invalid; the text states the problem, its place and the expected value."""

    def __init__(self, text: str) -> None:
        super().__init__(shorten(text, ERROR_LENGTH_MAX))


def append_existing_names(problem: LocalizableMessage, names: Iterable[str]) -> LocalizableMessage:
    """Return *problem*, which is about an unknown name, with a list of the existing *names*."""
    known_names = ", ".join(names)
    if not known_names:
        return build_message("{problem}; none is available", problem=problem)
    return build_message("{problem}; available: {names}", problem=problem, names=known_names)


class Input(Struct, frozen=True):
    """Parsed input line with its *tick*."""

    tick: int
    verb: str
    args: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    by: str = ""
    """Key of the team role that acts; empty outside teams."""

    def get_option(self, name: str, default: float) -> float:
        """Return the number of an option `name=value`, or *default*."""
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
        """Return the line as journals contain it. Continuation lines of SQL are indented."""
        return f"{format_time(self.tick)} {self.line_without_time}"


def format_time(tick: int) -> str:
    """Format the seconds of *tick* with as many decimals as needed: 41.25, 30."""
    return f"{tick / TICKS_PER_S:.2f}".rstrip("0").rstrip(".")
