"""Mapping of SQLite's errors to those of SQL Server."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engine.messages import SqlError
from engine.tsql.query.plans import (
    QueryPlan,
    UnsimulatedFeatureError,
)
from engine.tsql.scalars.functions import KNOWN

_Make = Callable[["re.Match[str]", QueryPlan], "SqlError | UnsimulatedFeatureError"]


def _no_column(match: re.Match[str], plan: QueryPlan) -> SqlError:
    name = match[1].replace("`", "")
    return SqlError(4104, name) if "." in name else SqlError(207, name)


def _no_function(match: re.Match[str], plan: QueryPlan) -> SqlError | UnsimulatedFeatureError:
    name = match[1]
    if name.removeprefix("t_").lower() in KNOWN:
        return UnsimulatedFeatureError(f"the function {name.removeprefix('t_')}")
    if name.startswith("t_fn_"):
        return SqlError(4121, "sys", f"sys.{name.removeprefix('t_')}")
    written = dict(plan.functions).get(name)
    if written is not None:
        return SqlError(4121, written.split(".")[0], written)
    return SqlError(195, name.removeprefix("t_"), "built-in function name")


def _no_position(match: re.Match[str], plan: QueryPlan) -> SqlError:
    """ORDER BY 7 of six columns: 108 with the number that stands there."""
    terms = plan.sql.rpartition("ORDER BY")[2].split(",")
    place = int(match[1]) - 1
    number = re.match(r"\s*(\d+)", terms[place]) if place < len(terms) else None
    return SqlError(108, int(number[1]) if number else place + 1)


COMPLAINTS: Final[tuple[tuple[str, _Make], ...]] = (
    (r"no such column: (.+)", _no_column),
    (r"ambiguous column name: (?:.*\.)?(.+)", lambda match, plan: SqlError(209, match[1])),
    (r"no such function: (.+)", _no_function),
    (r"wrong number of arguments to function (\w+)", lambda match, plan: SqlError(174, match[1].lower(), 1)),
    (r"SELECTs to the left and right of .* do not have the same number", lambda match, plan: SqlError(205)),
    (r"sub-select returns \d+ columns", lambda match, plan: SqlError(116)),
    (r"misuse of aggregate", lambda match, plan: SqlError(147)),
    (
        r"near \"(?:WITH|SETS)\": syntax error",
        lambda match, plan: UnsimulatedFeatureError("this form of GROUP BY"),
    ),
    (r"misuse of window function", lambda match, plan: SqlError(4108)),
    (r"user-defined aggregate's 'step' method raised error", lambda match, plan: SqlError(512)),
    (r"no such table: (.+)", lambda match, plan: SqlError(208, match[1])),
    (r"interrupted", lambda match, plan: SqlError(8624)),
    (
        r"Expression tree is too large|parser stack overflow|too many terms",
        lambda match, plan: SqlError(8623),
    ),
    (r"too big|out of memory", lambda match, plan: SqlError(8152)),
    (r"(\d+)\w\w ORDER BY term (?:out of range|does not match)", _no_position),
    (r"integer overflow|too large to convert", lambda match, plan: SqlError(8115, "expression", "bigint")),
)
