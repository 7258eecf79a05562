"""Pipeline of commands: parser, objects that pass along it, and the layout of PowerShell's tables and errors."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

TOKEN: Final = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|(\||,)|(\{[^{}]*\}|[^\s|,'"]+))""")
"""Token: a quoted text, a punctuation mark, a script block or a word."""

SWITCHES: Final = """
fixquorum forcequorum fq preventquorum pq drain force ignoreoffline uselocaltime clearquarantine cq nowitness
nodemajority cloudwitness ignorepersistentstate ips autosize wrap descending quiet whatif wi confirm cf ignorelocked
choosebestnode forcedrain cleanupdisks passthru nowait verbose vb debug db
"""
"""Parameters without a value."""


class ShellError(Exception):
    """Error that PowerShell shows in red. Arguments: cmdlet, text, category, id, target, exception."""

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
            f"{cmdlet} : {text}\n"
            f"    + CategoryInfo          : {category}: ({target}) [{cmdlet}], {exception}\n"
            f"    + FullyQualifiedErrorId : {id or cmdlet}"
        )


class CommandNotSimulatedError(Exception):
    """Command or argument that the real PowerShell supports and this prompt does not simulate."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not simulated.")


class CmdletCall(Struct, frozen=True):
    """Command with its arguments: named ones, with lowercase names, and positional ones."""

    name: str
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    plain: tuple[tuple[str, ...], ...] = ()

    def value(self, name: str, position: int | None = None) -> str:
        """Return the value of a parameter, by its name or position; "" if it is omitted."""
        return next(iter(self.values(name, position)), "")

    def values(self, name: str, position: int | None = None) -> tuple[str, ...]:
        """Return the values of a parameter, by its name or its position; none if it is omitted."""
        found = self.named.get(name.lower())
        if found is None and position is not None and position < len(self.plain):
            return self.plain[position]
        return found or ()

    def has_switch(self, *switches: str) -> bool:
        """Return whether one of the switches is given."""
        return any(switch in self.named for switch in switches)


def parse_pipeline(line: str) -> list[CmdletCall]:
    """Parse the commands of one pipeline, in order. Raises ShellError for an invalid line."""
    calls: list[list[tuple[str, bool]]] = [[]]
    position, text = 0, line.strip()
    while position < len(text):
        found = TOKEN.match(text, position)
        if found is None:
            raise ShellError(
                "ParserError", f"Unexpected token '{text[position:]}' in expression or statement."
            )
        position = found.end()
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
            waiting, joined = ("" if name in SWITCHES.split() or value else name), False
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


class PipelineTable(Struct, frozen=True):
    """Objects that pass along a pipeline: each with all its properties, and the columns that are shown."""

    kind: str
    """Kind of objects: node, group, resource, or one that no other cmdlet accepts."""
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


# --- cmdlets that process the objects of a pipeline -------------------------------------------------------
# They filter, sort, count or format. [DOC: about pipelines]

CONDITION: Final = re.compile(
    r"\(?\s*\$(?:_|PSItem)\.(\w+)(?:\.Name)?\s+-c?(\w+)\s+['\"]?([^'\"]*?)['\"]?\s*\)?", re.IGNORECASE
)
"""Comparison in a script block, such as $_.State -eq 'Online'."""

COMPARISONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "like": fnmatchcase,
    "notlike": lambda value, wanted: not fnmatchcase(value, wanted),
    "match": lambda value, wanted: re.search(wanted, value) is not None,
    "notmatch": lambda value, wanted: re.search(wanted, value) is None,
    "gt": lambda value, wanted: _number(value) > _number(wanted),
    "ge": lambda value, wanted: _number(value) >= _number(wanted),
    "lt": lambda value, wanted: _number(value) < _number(wanted),
    "le": lambda value, wanted: _number(value) <= _number(wanted),
}
"""Comparisons of lowercase texts; PowerShell ignores case."""


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else 0.0


def _value(row: Row, name: str) -> str:
    return next((value for key, value in row.items() if key.lower() == name.lower()), "")


def _keeps(call: CmdletCall, row: Row, name: str, comparison: str, wanted: str) -> bool:
    holds = COMPARISONS.get(comparison.lower())
    if holds is None:
        raise ShellError(call.name, f"The comparison -{comparison} is not simulated.")
    return holds(_value(row, name).lower(), wanted.lower())


def _conditions(call: CmdletCall) -> list[tuple[str, str, str]]:
    """Return (property, comparison, value) of all conditions, which must all hold."""
    script = call.value("filterscript", 0)
    if not script.startswith("{"):
        found = [(key, values[0]) for key, values in call.named.items() if key in COMPARISONS and values]
        name = call.value("property", 0)
        return [(name, key, value) for key, value in found] if len(found) == 1 and name else []
    parts = re.split(r"\s-and\s", script[1:-1], flags=re.IGNORECASE)
    read = [CONDITION.fullmatch(part.strip()) for part in parts]
    return [(one[1], one[2], one[3]) for one in read if one is not None] if all(read) else []


def where_object(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Where-Object with a script block or a comparison."""
    conditions = _conditions(call)
    if not conditions:
        raise CommandNotSimulatedError(f"{call.name} with this condition")
    table = piped or PipelineTable("nothing")
    rows = tuple(row for row in table.rows if all(_keeps(call, row, *condition) for condition in conditions))
    return replace(table, rows=rows)


def sort(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Sort-Object."""
    table, names = piped or PipelineTable("nothing"), call.values("property", 0)
    rows = sorted(
        table.rows, key=lambda row: [_value(row, name).lower() for name in names or table.columns[:1]]
    )
    return replace(table, rows=tuple(reversed(rows) if call.has_switch("descending") else rows))


def measure(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Measure-Object."""
    return PipelineTable(
        "measure", ("Count",), ({"Count": str(len(piped.rows) if piped is not None else 0)},), as_list=True
    )


def _spelled(table: PipelineTable, wanted: str) -> list[str]:
    """Return the properties of the table that match *wanted*, which may contain *."""
    keys = [key for key in table.rows[0] if fnmatchcase(key.lower(), wanted.lower())]
    return keys or [wanted]


def shape(as_list: bool) -> Callable[[CmdletCall, PipelineTable | None], PipelineTable]:
    """Build Format-List (*as_list*) or Format-Table."""

    def shaped(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        if piped is None or not piped.rows:
            return piped or PipelineTable("nothing")
        expanded = call.value("expandproperty")
        if expanded:
            return PipelineTable("text", text="\n".join(_value(row, expanded) for row in piped.rows))
        wanted = [name for names in call.plain for name in names] or list(call.values("property"))
        columns = tuple(dict.fromkeys(key for name in wanted for key in _spelled(piped, name)))
        rows = piped.rows[: int(call.value("first") or len(piped.rows))]
        return PipelineTable(piped.kind, columns or piped.columns, rows, as_list)

    return shaped


def foreach_object(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute ForEach-Object { $_.Name } or ForEach-Object Name, which returns one property of each object."""
    found = PROPERTY_SCRIPT.fullmatch(call.value("process", 0) or call.value("membername", 0))
    if found is None or len(call.plain) > 1:
        raise CommandNotSimulatedError(f"{call.name} with this script")
    rows = piped.rows if piped is not None else ()
    return PipelineTable("text", text="\n".join(_value(row, found[1] or found[2]) for row in rows))


PROPERTY_SCRIPT: Final = re.compile(r"\{\s*\$_\.(\w+)\s*\}|(\w+)")

FILTERS: Final[dict[str, Callable[[CmdletCall, PipelineTable | None], PipelineTable]]] = {
    **dict.fromkeys(("where-object", "where", "?"), where_object),
    **dict.fromkeys(("foreach-object", "foreach", "%"), foreach_object),
    **dict.fromkeys(("sort-object", "sort"), sort),
    **dict.fromkeys(("measure-object", "measure"), measure),
    **dict.fromkeys(("format-table", "ft", "select-object", "select"), shape(as_list=False)),
    **dict.fromkeys(("format-list", "fl"), shape(as_list=True)),
}
"""Cmdlets that process objects of a pipeline, by lowercase name and alias."""
