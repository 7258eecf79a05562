"""Catalog views of procedures, functions and views: their definitions, options and parameters."""

import re
from collections.abc import Iterable
from typing import Final

from engine.tsql.batches import objects
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.column_types import build_type_record
from engine.tsql.catalog.schema import list_named_objects
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import Record, register_view


def _list_modules(context: StatementContext) -> Iterable[Record]:
    for _, number, item in list_named_objects(context):
        if isinstance(item, objects.UserProcedure | objects.UserView | objects.UserFunction):
            # options in the WITH clause, before the body of a module
            definition = item.definition
            options_match = _OPTIONS_PATTERN.search(definition)
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


_OPTIONS_PATTERN: Final = re.compile(
    r"\bWITH\s+((?:(?:SCHEMABINDING|RECOMPILE|ENCRYPTION|VIEW_METADATA)\b[\s,]*)+)", re.IGNORECASE
)
"""Pattern of the options in the WITH clause of a module."""


register_view("sys.sql_modules", _list_modules)
register_view("sys.all_sql_modules", _list_modules)


def _list_parameters(context: StatementContext) -> Iterable[Record]:
    for _, number, item in list_named_objects(context):
        for index, parameter in enumerate(
            item.parameters if isinstance(item, objects.UserProcedure | objects.UserFunction) else (), start=1
        ):
            yield {
                **build_type_record(parameter.type),
                "object_id": number,
                "name": parameter.name,
                "parameter_id": index,
                "is_output": int(parameter.output),
                **find_literal_columns("modules._list_parameters"),
            }


register_view("sys.parameters", _list_parameters)


def _list_routines(context: StatementContext) -> Iterable[Record]:
    for name, _, item in list_named_objects(context):
        if isinstance(item, objects.UserProcedure | objects.UserFunction):
            yield {
                "SPECIFIC_SCHEMA": name.schema,
                "SPECIFIC_NAME": name.name,
                "ROUTINE_CATALOG": context.session.database,
                "ROUTINE_SCHEMA": name.schema,
                "ROUTINE_NAME": name.name,
                "ROUTINE_TYPE": "PROCEDURE" if isinstance(item, objects.UserProcedure) else "FUNCTION",
            }


register_view("information_schema.routines", _list_routines)
