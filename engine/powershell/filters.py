"""Cmdlets that process the objects of a pipeline: filter, sort, count or format them.

[DOC: about pipelines]
"""

import re
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from engine.powershell import conversions
from engine.powershell.pipeline import CmdletCall, CommandNotSimulatedError, PipelineTable, Row

CONDITION_PATTERN: Final = re.compile(
    r"\(?\s*\$(?:_|PSItem)\.(\w+)(?:\.Name)?\s+-(\w+)\s+['\"]?([^'\"]*?)['\"]?\s*\)?", re.IGNORECASE
)
"""Pattern of a comparison in a script block, such as $_.State -eq 'Online'."""

COMPARISON_FUNCTIONS: Final[dict[str, Callable[[str, str], bool]]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "gt": lambda value, wanted: _parse_number(value) > _parse_number(wanted),
    "ge": lambda value, wanted: _parse_number(value) >= _parse_number(wanted),
    "lt": lambda value, wanted: _parse_number(value) < _parse_number(wanted),
    "le": lambda value, wanted: _parse_number(value) <= _parse_number(wanted),
}
"""Comparison operator -> function of two lowercase texts, because PowerShell ignores case."""

PATTERN_OPERATORS: Final = ("like", "notlike", "match", "notmatch")
"""Comparison operators whose right side is a wildcard pattern or a regular expression."""


def _has_match(cmdlet: str, comparison: str, value: str, pattern: str) -> bool:
    """Return whether the comparison of the value with the pattern is true.

    Raise ShellError for an invalid pattern.
    """
    if comparison.endswith("like"):
        match = conversions.compile_wildcard(cmdlet, pattern).fullmatch(value)
    else:
        match = conversions.compile_regular_expression(pattern).search(value)
    return (match is None) is comparison.startswith("not")


def _parse_number(text: str) -> float:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else 0.0


def _get_property(row: Row, name: str) -> str:
    return next((value for key, value in row.items() if key.lower() == name.lower()), "")


def _passes_filter(call: CmdletCall, row: Row, name: str, comparison: str, wanted: str) -> bool:
    value = _get_property(row, name)
    if comparison in PATTERN_OPERATORS:
        return _has_match(call.name, comparison, value, wanted)
    holds = COMPARISON_FUNCTIONS.get(comparison)
    if holds is None:
        raise CommandNotSimulatedError(f"The comparison -{comparison}")
    return holds(value.lower(), wanted.lower())


def _read_conditions(call: CmdletCall) -> list[tuple[str, str, str]]:
    """Return (property, comparison, value) of all conditions. An object must meet all of them."""
    script = call.get_value("filterscript", 0)
    if not script.startswith("{"):
        keys = (*COMPARISON_FUNCTIONS, *PATTERN_OPERATORS)
        values_found = [(key, values[0]) for key, values in call.named.items() if key in keys and values]
        name = call.get_value("property", 0)
        return [(name, key, value) for key, value in values_found] if len(values_found) == 1 and name else []
    parts = re.split(r"\s-and\s", script[1:-1], flags=re.IGNORECASE)
    read = [CONDITION_PATTERN.fullmatch(part.strip()) for part in parts]
    return (
        [(match[1], match[2].lower(), match[3]) for match in read if match is not None] if all(read) else []
    )


def filter_objects(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Where-Object with a script block or a comparison."""
    conditions = _read_conditions(call)
    if not conditions:
        raise CommandNotSimulatedError(f"{call.name} with this condition")
    table = piped or PipelineTable("nothing")
    rows = tuple(
        row for row in table.rows if all(_passes_filter(call, row, *condition) for condition in conditions)
    )
    return replace(table, rows=rows)


def sort_objects(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Sort-Object."""
    table, names = piped or PipelineTable("nothing"), call.get_values("property", 0)
    rows = sorted(
        table.rows, key=lambda row: [_get_property(row, name).lower() for name in names or table.columns[:1]]
    )
    return replace(table, rows=tuple(reversed(rows) if call.has_switch("descending") else rows))


def measure_objects(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute Measure-Object."""
    return PipelineTable(
        "measure", ("Count",), ({"Count": str(len(piped.rows) if piped is not None else 0)},), as_list=True
    )


def _find_properties(cmdlet: str, table: PipelineTable, wanted: str) -> list[str]:
    """Return the properties of the table that match *wanted*, which is a name or a wildcard pattern."""
    pattern = conversions.compile_wildcard(cmdlet, wanted)
    return [key for key in table.rows[0] if pattern.fullmatch(key)] or [wanted]


def build_format_cmdlet(as_list: bool) -> Callable[[CmdletCall, PipelineTable | None], PipelineTable]:
    """Build the cmdlet Format-List (*as_list*) or Format-Table."""

    def format_objects(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
        if piped is None or not piped.rows:
            return piped or PipelineTable("nothing")
        expanded = call.get_value("expandproperty")
        if expanded:
            return PipelineTable("text", text="\n".join(_get_property(row, expanded) for row in piped.rows))
        property_names = [name for names in call.positional_values for name in names] or list(
            call.get_values("property")
        )
        columns = tuple(
            dict.fromkeys(key for name in property_names for key in _find_properties(call.name, piped, name))
        )
        rows = piped.rows[: int(call.get_value("first") or len(piped.rows))]
        return PipelineTable(piped.kind, columns or piped.columns, rows, as_list)

    return format_objects


def select_property(call: CmdletCall, piped: PipelineTable | None) -> PipelineTable:
    """Execute ForEach-Object { $_.Name } or ForEach-Object Name. It returns one property of each object."""
    script_match = PROPERTY_SCRIPT.fullmatch(call.get_value("process", 0) or call.get_value("membername", 0))
    if script_match is None or len(call.positional_values) > 1:
        raise CommandNotSimulatedError(f"{call.name} with this script")
    rows = piped.rows if piped is not None else ()
    return PipelineTable(
        "text", text="\n".join(_get_property(row, script_match[1] or script_match[2]) for row in rows)
    )


PROPERTY_SCRIPT: Final = re.compile(r"\{\s*\$_\.(\w+)\s*\}|(\w+)")

FILTER_CMDLETS: Final[dict[str, Callable[[CmdletCall, PipelineTable | None], PipelineTable]]] = {
    "where-object": filter_objects,
    "foreach-object": select_property,
    "sort-object": sort_objects,
    "measure-object": measure_objects,
    "format-table": build_format_cmdlet(as_list=False),
    "select-object": build_format_cmdlet(as_list=False),
    "format-list": build_format_cmdlet(as_list=True),
}
"""Lowercase name -> cmdlet that processes the objects of a pipeline."""

ALIASES: Final = {
    "where": "Where-Object", "?": "Where-Object", "foreach": "ForEach-Object", "%": "ForEach-Object",
    "sort": "Sort-Object", "measure": "Measure-Object", "ft": "Format-Table", "fl": "Format-List",
    "select": "Select-Object",
}  # fmt: skip
