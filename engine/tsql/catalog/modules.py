"""Catalog views of procedures, functions and views: their texts, options and parameters."""

import re
from collections.abc import Iterable
from typing import Final

from engine.tsql.batches import objects
from engine.tsql.batches.context import Context
from engine.tsql.catalog.column_types import type_record
from engine.tsql.catalog.schema import items_of
from engine.tsql.catalog.shapes import literals
from engine.tsql.catalog.view import Record, view


def _modules(context: Context) -> Iterable[Record]:
    for _, number, item in items_of(context):
        if isinstance(item, objects.UserProcedure | objects.UserView | objects.UserFunction):
            # the options of WITH before the body of a module
            definition = item.definition
            options_match = _OPTIONS.search(definition)
            words = (
                set(options_match[1].upper().replace(",", " ").split())
                if options_match is not None
                else set()
            )
            yield {
                "object_id": number,
                "definition": item.definition,
                "is_schema_bound": int("SCHEMABINDING" in words),
                "is_recompiled": int("RECOMPILE" in words),
            }


_OPTIONS: Final = re.compile(
    r"\bWITH\s+((?:(?:SCHEMABINDING|RECOMPILE|ENCRYPTION|VIEW_METADATA)\b[\s,]*)+)", re.IGNORECASE
)
"""Pattern of the options before the AS of a module."""


view("sys.sql_modules", _modules)
view("sys.all_sql_modules", _modules)


def _parameters(context: Context) -> Iterable[Record]:
    for _, number, item in items_of(context):
        for index, parameter in enumerate(
            item.parameters if isinstance(item, objects.UserProcedure | objects.UserFunction) else (), start=1
        ):
            yield {
                **type_record(parameter.type),
                "object_id": number,
                "name": parameter.name,
                "parameter_id": index,
                "is_output": int(parameter.output),
                **literals("modules._parameters"),
            }


view("sys.parameters", _parameters)


def _routines(context: Context) -> Iterable[Record]:
    for name, _, item in items_of(context):
        if isinstance(item, objects.UserProcedure | objects.UserFunction):
            yield {
                "SPECIFIC_SCHEMA": name.schema,
                "SPECIFIC_NAME": name.name,
                "ROUTINE_CATALOG": context.session.database,
                "ROUTINE_SCHEMA": name.schema,
                "ROUTINE_NAME": name.name,
                "ROUTINE_TYPE": "PROCEDURE" if isinstance(item, objects.UserProcedure) else "FUNCTION",
            }


view("information_schema.routines", _routines)
