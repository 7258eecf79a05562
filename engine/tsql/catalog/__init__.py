"""Catalog views and system tables: lookup by name, and the rows that the queried server knows."""

from collections.abc import Iterable
from typing import Final

from engine.messages import SqlError
from engine.tsql.batches import objects
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog import (
    activity,
    availability,
    column_types,
    configurations,
    counters,
    databases,
    group_databases,
    group_replicas,
    host,
    instance,
    mirroring,
    modules,
    msdb,
    schema,
    security,
    table_functions,
)
from engine.tsql.catalog.shapes import ViewColumn, find_constant_columns
from engine.tsql.catalog.view import (
    CATALOG_VIEWS,
    SYSTEM_PROCEDURES,
    CatalogView,
    Record,
    find_database,
    find_view,
)
from engine.tsql.query.plans import UnsimulatedFeatureError

__all__ = [
    "CATALOG_VIEWS",
    "CatalogView",
    "Record",
    "ViewColumn",
    "find_constant_columns",
    "find_database",
    "find_view",
    "get_object_id",
    "list_view_names",
    "list_view_rows",
]  # fmt: skip

_VIEW_MODULES: Final = (
    activity, msdb, availability, availability, configurations, counters, databases, databases,
    group_databases, group_replicas, instance, host, instance, mirroring, msdb, table_functions,
    schema, modules, security,
)  # fmt: skip
"""Modules that register views when they are imported."""


def list_view_rows(context: StatementContext, name: str) -> Iterable[Record]:
    """Return the rows of the view with the full lowercase name *name*.

    The rows omit columns that have a constant value.
    """
    rows = CATALOG_VIEWS[name].rows
    return () if rows is None else rows(context)


def list_view_names(version: int) -> list[str]:
    """Return the full names of all views in a version, for code completion."""
    return sorted(view.name for view in CATALOG_VIEWS.values() if view.first_version <= version)


def _find_constraint_id(context: StatementContext, parts: list[str]) -> int | None:
    """Return the object ID of a constraint in the current database; None if there is no such constraint."""
    schema = objects.list_schemas(context).get(parts[-2] if len(parts) > 1 and parts[-2] else "dbo")
    for view in (
        "sys.key_constraints",
        "sys.check_constraints",
        "sys.default_constraints",
        "sys.foreign_keys",
    ):
        for row in list_view_rows(context, view):
            has_same_name = str(row["name"]).lower() == parts[-1].lower()
            if has_same_name and schema is not None and row["schema_id"] == schema.number:
                return int(str(row["object_id"]))
    return None


def build_named_context(context: StatementContext, name: str) -> StatementContext:
    """Return the context in the database that *name* names.

    If *name* does not have three parts, return *context* itself.
    """
    parts = [part.strip('[]"') for part in name.split(".")]
    return context.build_database_context(parts[-3]) if len(parts) > 2 and parts[-3] else context


def get_object_id(context: StatementContext, name: str) -> int | None:
    """Return the value of OBJECT_ID for a name; None if there is no such object."""
    parts = [part.strip('[]"') for part in name.split(".")]
    if not parts[-1] or len(parts) > 3:
        return None
    if parts[-1].startswith("#"):
        database = parts[-3] if len(parts) > 2 else context.session.database
        numbers_by_name = {name: number for name, number, _ in objects.list_temporary_tables(context)}
        return numbers_by_name.get(parts[-1].lower()) if database.lower() == "tempdb" else None
    if objects.find_object(context, tuple(parts), waits=False) is not None:
        return objects.compute_object_id(objects.make_object_key(tuple(parts)))
    if len(parts) < 3 or parts[-3].lower() == context.session.database.lower():
        constraint = _find_constraint_id(context, parts)
        if constraint is not None:
            return constraint
        for row in column_types.list_base_objects(context.session.database, context.version):
            schemas = ("", "dbo") if row["schema_id"] == 1 else ("", "sys")
            if str(row["name"]).lower() == parts[-1].lower() and ["", *parts][-2].lower() in schemas:
                return int(str(row["object_id"]))
    for name in (parts[-1], f"{parts[-1]}()"):
        try:
            view = find_view(context, (*parts[:-1], name))
        except SqlError:
            continue
        except UnsimulatedFeatureError:
            return -objects.compute_object_id(name)
        return -objects.compute_object_id(view.name)
    if len(parts) > 1 and parts[-2].lower() not in ("", "dbo", "sys"):
        return None
    home = SYSTEM_PROCEDURES.get(parts[-1].lower())
    database_name = parts[-3] if len(parts) > 2 else context.session.database
    return (
        -objects.compute_object_id(parts[-1])
        if home is not None and home in ("", database_name.lower())
        else None
    )
