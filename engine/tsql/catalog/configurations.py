"""Configuration options of the instance, which sp_configure and sys.configurations show."""

from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Final, Literal

from msgspec import Struct

from engine.tsql.batches import stored_tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.view import Record, register_view

_OPTION_LINES: Final = (
    resources.files("engine.tsql.catalog").joinpath("configurations.txt").read_text(encoding="utf-8")
)
"""One option per line: ID, name, first version or (negative) last version; minimum, maximum, default; flags
(a: advanced, d: dynamic); description.

Documented [DOC: server configuration options; sys.configurations].
"""


class ServerOption(Struct, frozen=True):
    """Option of sp_configure."""

    number: int
    name: str
    minimum: int
    maximum: int
    default: int
    advanced: bool
    dynamic: bool
    description: str


@lru_cache(maxsize=8)
def list_options(version: int) -> tuple[ServerOption, ...]:
    """Return the options of a version in the order of their IDs."""
    option_list = []
    for line in _OPTION_LINES.strip().split("\n"):
        head, minimum, maximum, default, marks, description = line.split("|")
        number, name = head.split(" ", 1)
        name, _, edge = name.rpartition(" ") if name[-4:].isdigit() else (name, "", "2005")
        if version > -int(edge) if edge.startswith("-") else version < int(edge):
            continue
        bounds = int(minimum), int(maximum), int(default)
        option_list.append(ServerOption(int(number), name, *bounds, "a" in marks, "d" in marks, description))
    return tuple(option_list)


def get_option_value(context: StatementContext, name: str) -> int:
    """Return the value in use of a configuration option."""
    if name == "max worker threads":
        return context.server.max_worker_threads
    return _get_stored_value(context, name, "in_use")


def get_configured_value(context: StatementContext, name: str) -> int:
    """Return the configured value of an option. RECONFIGURE puts this value into use."""
    row = stored_tables.OPTIONS.find_row(context.world, context.server.name, "name", name)
    return get_option_value(context, name) if row is None else int(str(row["value"]))


def _get_stored_value(context: StatementContext, name: str, column: Literal["value", "in_use"]) -> int:
    """Return the configured value (*column*: value) or the value in use (in_use) of an option."""
    row = stored_tables.OPTIONS.find_row(context.world, context.server.name, "name", name)
    default = next(option.default for option in list_options(context.version) if option.name == name)
    if row is None:
        return default
    waits = row.get("at_start")
    if column == "in_use" and waits is not None and context.server.started_tick > int(str(row["tick"])):
        return int(str(waits))  # RECONFIGURE had deferred the value to this start
    return int(str(row[column]))


def _list_configurations(context: StatementContext) -> Iterable[Record]:
    for option in list_options(context.version):
        yield {
            "configuration_id": option.number,
            "name": option.name,
            "value": get_configured_value(context, option.name),
            "minimum": option.minimum,
            "maximum": option.maximum,
            "value_in_use": get_option_value(context, option.name),
            "description": option.description,
            "is_dynamic": int(option.dynamic),
            "is_advanced": int(option.advanced),
        }


register_view("sys.configurations", _list_configurations)
