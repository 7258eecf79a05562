"""Pipeline of commands: its parser, the objects that pass through it, and the layout of tables and errors."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

TOKEN_PATTERN: Final = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|(\||,)|(\{[^{}]*\}|[^\s|,'"]+))""")
"""Pattern of a token: a quoted text, a punctuation mark, a script block or a word."""

PARAMETER_PATTERN: Final = re.compile(r"-(?![\d.])\S")
"""Pattern of the start of a parameter. A minus sign before a digit begins a number instead."""


class ShellError(Exception):
    """Error that PowerShell displays in red.

    Arguments: cmdlet (empty for an operator), text, category, id, target, exception.
    """

    def __init__(
        self,
        cmdlet: str,
        text: str,
        category: str = "NotSpecified",
        id: str = "",
        target: str = ":",
        exception: str = "ClusterCmdletException",
    ) -> None:
        super().__init__(
            (f"{cmdlet} : {text}\n" if cmdlet else f"{text}\n")
            + f"    + CategoryInfo          : {category}: ({target}) [{cmdlet}], {exception}\n"
            f"    + FullyQualifiedErrorId : {id or cmdlet}"
        )


class CommandNotSimulatedError(Exception):
    """Error for a command or argument that PowerShell supports and this prompt does not simulate."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not simulated.")


class CmdletCall(Struct, frozen=True):
    """Command with its named and positional arguments.

    Names are as typed until `parameters.resolve_parameters` replaces them with full names in lowercase.
    """

    name: str
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of a parameter -> its values."""
    positional_values: tuple[tuple[str, ...], ...] = ()
    """Values without a parameter name, in order."""

    def get_value(self, name: str, position: int | None = None) -> str:
        """Return the value of a parameter by its name or position; "" if it is omitted."""
        return next(iter(self.get_values(name, position)), "")

    def get_values(self, name: str, position: int | None = None) -> tuple[str, ...]:
        """Return the values of a parameter by its name or position; empty if it is omitted."""
        named_values = self.named.get(name.lower())
        if named_values is None and position is not None and position < len(self.positional_values):
            return self.positional_values[position]
        return named_values or ()

    def has_switch(self, *switches: str) -> bool:
        """Return whether one of the switches is present."""
        return any(switch in self.named for switch in switches)


def parse_pipeline(line: str, is_switch: Callable[[str, str], bool]) -> list[CmdletCall]:
    """Parse the commands of one pipeline, in order. Raise ShellError for an invalid line.

    *is_switch* returns whether a parameter of a cmdlet has no value.
    """
    calls: list[list[tuple[str, bool]]] = [[]]
    position, text = 0, line.strip()
    while position < len(text):
        token_match = TOKEN_PATTERN.match(text, position)
        if token_match is None:
            raise ShellError(
                "ParserError", f"Unexpected token '{text[position:]}' in expression or statement."
            )
        position = token_match.end()
        single, double, sign, word = token_match.groups()
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
    return [_parse_call(words, is_switch) for words in calls]


def _parse_call(tokens: Sequence[tuple[str, bool]], is_switch: Callable[[str, str], bool]) -> CmdletCall:
    values_by_name: dict[str, tuple[str, ...]] = {}
    positional_values: list[tuple[str, ...]] = []
    waiting, is_joined = "", False
    for word, quoted in tokens[1:]:
        if word == "," and not quoted:
            is_joined = True
        elif PARAMETER_PATTERN.match(word) and not quoted:
            name, _, value = word[1:].partition(":")
            values_by_name[name] = (value,) if value else ()
            waiting, is_joined = ("" if value or is_switch(tokens[0][0], name) else name), False
        elif is_joined and waiting == "" and positional_values:
            positional_values[-1] = (*positional_values[-1], word)
            is_joined = False
        elif waiting and (is_joined or not values_by_name[waiting]):
            values_by_name[waiting] = (*values_by_name[waiting], word)
            is_joined = False
        else:
            waiting = ""
            positional_values.append((word,))
    return CmdletCall(tokens[0][0], values_by_name, tuple(positional_values))


Row = Mapping[str, str]


class PipelineTable(Struct, frozen=True):
    """Objects that pass through a pipeline, with all their properties, and the columns to display."""

    kind: str
    """Kind of the objects: node, group, resource, or a kind that no other cmdlet accepts."""
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    as_list: bool = False
    text: str = ""
    """Text that is displayed instead of a table."""

    def render(self) -> str:
        """Return the table as displayed text."""
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
