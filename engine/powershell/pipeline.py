"""One pipeline of commands, read; and what passes along it, written as PowerShell writes tables and errors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

TOKEN: Final = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|(\||,)|(\{[^{}]*\}|[^\s|,'"]+))""")
"""A text in single or in double quotes, a sign, a script block or a word."""

SWITCHES: Final = frozenset(
    {
        *("fixquorum", "forcequorum", "fq", "preventquorum", "pq", "drain", "force", "ignoreoffline"),
        *(
            "uselocaltime",
            "clearquarantine",
            "cq",
            "nowitness",
            "nodemajority",
            "ignorepersistentstate",
            "autosize",
            "wrap",
            "descending",
            "quiet",
        ),
    }
)
"""Parameters without a value."""


class ShellError(Exception):
    """Error that PowerShell shows in red: cmdlet, text, category, id."""

    def __init__(self, cmdlet: str, text: str, category: str = "NotSpecified", id: str = "") -> None:
        super().__init__(
            f"{cmdlet} : {text}\n"
            f"    + CategoryInfo          : {category}: (:) [{cmdlet}], ClusterCmdletException\n"
            f"    + FullyQualifiedErrorId : {id or cmdlet}"
        )


class CommandNotSimulatedError(Exception):
    """Command, or command with certain arguments, that the real PowerShell runs and this one does not simulate."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not simulated.")


@dataclass(frozen=True, slots=True)
class CmdletCall:
    """A command with its arguments: those with a name, in lower letters, and those by position."""

    name: str
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plain: tuple[tuple[str, ...], ...] = ()
    used: set[str] = field(default_factory=set, compare=False)
    """Named parameters that the cmdlet has looked at."""

    @property
    def unused(self) -> list[str]:
        """Named parameters that the cmdlet has not looked at."""
        return sorted(set(self.named) - self.used)

    def value(self, name: str, position: int | None = None) -> str:
        """Return the value of a parameter, by its name or position; "" if it is left out."""
        return next(iter(self.values(name, position)), "")

    def values(self, name: str, position: int | None = None) -> tuple[str, ...]:
        """Return the values of a parameter, by its name or by its position; none if it is left out."""
        self.used.add(name.lower())
        found = self.named.get(name.lower())
        if found is None and position is not None and position < len(self.plain):
            return self.plain[position]
        return found or ()

    def has_switch(self, *switches: str) -> bool:
        """Return whether one of the switches is given."""
        self.used.update(switches)
        return any(switch in self.named for switch in switches)


def parse_pipeline(line: str) -> list[CmdletCall]:
    """Parse the commands of one pipeline, in order. Raises ShellError for an invalid line."""
    calls: list[list[tuple[str, bool]]] = [[]]
    place, text = 0, line.strip()
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise ShellError("ParserError", f"Unexpected token '{text[place:]}' in expression or statement.")
        place = found.end()
        single, double, sign, word = found.groups()
        if sign == "|":
            calls.append([])
        elif sign == ",":
            calls[-1].append((",", False))
        else:
            quoted = word is None
            calls[-1].append(
                (single if single is not None else double if double is not None else word, quoted)
            )
    if not all(calls):
        raise ShellError("ParserError", "An empty pipe element is not allowed.", id="EmptyPipeElement")
    return [_parse_call(words) for words in calls]


def _parse_call(tokens: Sequence[tuple[str, bool]]) -> CmdletCall:
    named: dict[str, tuple[str, ...]] = {}
    plain: list[tuple[str, ...]] = []
    waiting, joined = "", False
    for word, quoted in tokens[1:]:
        if word == "," and not quoted:
            joined = True
        elif word.startswith("-") and not quoted and len(word) > 1:
            name, _, value = word[1:].lower().partition(":")
            named[name] = (value,) if value else ()
            waiting, joined = ("" if name in SWITCHES or value else name), False
        elif joined and waiting == "" and plain:
            plain[-1] = (*plain[-1], word)
            joined = False
        elif waiting and (joined or not named[waiting]):
            named[waiting] = (*named[waiting], word)
            joined = False
        else:
            waiting = ""
            plain.append((word,))
    return CmdletCall(tokens[0][0], named, tuple(plain))


Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PipelineTable:
    """Objects on their way along a pipeline: each with all its properties, and the columns that are shown."""

    kind: str
    """node, group, resource or something that no other cmdlet takes."""
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    as_list: bool = False
    text: str = ""
    """Text that replaces the table."""

    def render(self) -> str:
        """Format the table as text."""
        if self.text or not self.rows:
            return self.text
        if self.as_list:
            width = max(map(len, self.columns))
            return "\n\n".join(
                "\n".join(f"{name:<{width}} : {row.get(name, '')}" for name in self.columns)
                for row in self.rows
            )
        cells = [[row.get(name, "") for name in self.columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells, strict=True)]
        lines = [list(self.columns), ["-" * len(name) for name in self.columns], *cells]
        return "\n".join(
            " ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
