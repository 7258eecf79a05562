"""Cmdlets that process the objects of a pipeline: choose, sort, count, show.

[DOC: about pipelines]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, Row, ShellError

CONDITION: Final = re.compile(
    r"\(?\s*\$(?:_|PSItem)\.(\w+)(?:\.Name)?\s+-c?(\w+)\s+['\"]?([^'\"]*?)['\"]?\s*\)?", re.IGNORECASE
)
"""$_.State -eq 'Online', and the same with other comparisons."""

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
"""Of texts in lower letters: PowerShell compares without regard to case."""


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
    kept = tuple(row for row in table.rows if all(_keeps(call, row, *condition) for condition in conditions))
    return replace(table, rows=kept)


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
    """Return the properties that match a name, which may contain *."""
    known = [key for key in table.rows[0] if fnmatchcase(key.lower(), wanted.lower())]
    return known or [wanted]


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
    """Execute ForEach-Object { $_.Name } or ForEach-Object Name: return one property of each object."""
    found = EACH.fullmatch(call.value("process", 0) or call.value("membername", 0))
    if found is None or len(call.plain) > 1:
        raise CommandNotSimulatedError(f"{call.name} with this script")
    rows = piped.rows if piped is not None else ()
    return PipelineTable("text", text="\n".join(_value(row, found[1] or found[2]) for row in rows))


EACH: Final = re.compile(r"\{\s*\$_\.(\w+)\s*\}|(\w+)")

FILTERS: Final[dict[str, Callable[[CmdletCall, PipelineTable | None], PipelineTable]]] = {
    **dict.fromkeys(("where-object", "where", "?"), where_object),
    **dict.fromkeys(("foreach-object", "foreach", "%"), foreach_object),
    **dict.fromkeys(("sort-object", "sort"), sort),
    **dict.fromkeys(("measure-object", "measure"), measure),
    **dict.fromkeys(("format-table", "ft", "select-object", "select"), shape(as_list=False)),
    **dict.fromkeys(("format-list", "fl"), shape(as_list=True)),
}
"""By their names and short names, in lower letters."""
