"""Definition of a catalog view (its schema and the function for its rows), and lookup of a view by name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, Generic, TypeVar

from msgspec import Struct

from engine.messages import SqlError
from engine.overrides import override
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.shapes import VIEW_SCHEMAS, ViewColumn, ViewSchema, list_view_columns
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.values import Scalar

Record = Mapping[str, Scalar]
"""Row of a view: column -> value. A column that no row contains is not simulated and is NULL."""

UNSIMULATED_COLUMNS_KEY: Final = "?"
"""Key in a row. The value names the columns that are NULL only because they are not simulated in this row."""

RowLister = Callable[[StatementContext], Iterable[Record]]
"""Function that returns the rows of a view for a connection."""

T = TypeVar("T")

ColumnFunctions = Mapping[str, Callable[[StatementContext, T], Scalar]]
"""Column of a view -> function that computes it from the object that the row describes."""


class ComputedRecord(Mapping[str, Scalar], Generic[T]):
    """Row of a view with many columns. A column is computed only when it is read."""

    def __init__(
        self, context: StatementContext, item: T, columns: ColumnFunctions[T], constants: Record
    ) -> None:
        self._context = context
        self._item = item
        self._columns = columns
        self._constants = constants

    @override
    def __getitem__(self, name: str) -> Scalar:
        compute = self._columns.get(name)
        return self._constants[name] if compute is None else compute(self._context, self._item)

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._columns or name in self._constants

    @override
    def __iter__(self) -> Iterator[str]:
        return iter({**self._constants, **self._columns})

    @override
    def __len__(self) -> int:
        return len({**self._constants, **self._columns})


class CatalogView(Struct, frozen=True):
    """Catalog view, table-valued function or system table."""

    shape: ViewSchema
    rows: RowLister | None = None
    """Function that returns the rows. None means that the rows are not simulated. A query then reports this."""

    @property
    def name(self) -> str:
        """Return the full name of the view in lowercase."""
        return self.shape.name

    @property
    def first_version(self) -> int:
        """Return the first version of SQL Server that has the view."""
        return self.shape.since

    def list_version_columns(self, version: int) -> tuple[ViewColumn, ...]:
        """Return the columns of the view in *version*, in the order of SELECT *."""
        return list_view_columns(self.shape, version)


CATALOG_VIEWS: Final[dict[str, CatalogView]] = {
    name: CatalogView(shape) for name, shape in VIEW_SCHEMAS.items()
}
"""Full lowercase name, such as sys.databases or msdb.dbo.sysjobs -> view."""


SYSTEM_PROCEDURES: Final[dict[str, str]] = {}
"""System procedure -> the only database that has it, or "" for all databases. The package `procedures` fills
it.
"""


def register_view(name: str, rows: RowLister) -> CatalogView:
    """Register the function that returns the rows of a view."""
    catalog_view = CatalogView(VIEW_SCHEMAS[name], rows)
    CATALOG_VIEWS[name] = catalog_view
    return catalog_view


@cache
def list_views(version: int) -> tuple[CatalogView, ...]:
    """Return the views and table functions of schema sys in a version, by name."""
    return tuple(
        catalog_view
        for name, catalog_view in sorted(CATALOG_VIEWS.items())
        if name.startswith("sys.") and catalog_view.first_version <= version
    )


def list_no_rows(context: StatementContext) -> Iterable[Record]:
    """Return no rows, for a view of objects that do not exist in the simulation."""
    return ()


_EMPTY_VIEWS: Final = """
sys.server_triggers sys.triggers sys.synonyms sys.credentials sys.sequences information_schema.sequences
sys.backup_devices sys.server_audits sys.server_audit_specifications sys.database_audit_specifications
sys.dm_server_memory_dumps sys.change_tracking_databases sys.asymmetric_keys
sys.cryptographic_providers sys.service_broker_endpoints sys.dm_broker_connections sys.transmission_queue
sys.fulltext_catalogs sys.dm_exec_query_memory_grants
sys.column_encryption_keys sys.column_master_keys sys.dm_exec_function_stats sys.fn_pagerescracker()
sys.extended_properties sys.fn_listextendedproperty() sys.assembly_types
sys.partition_schemes sys.partition_functions sys.index_resumable_operations
sys.linked_logins sys.dm_repl_articles msdb.dbo.log_shipping_primary_databases
msdb.dbo.log_shipping_secondary_databases msdb.dbo.log_shipping_secondary
msdb.dbo.log_shipping_monitor_primary msdb.dbo.log_shipping_monitor_secondary msdb.dbo.sysproxies
msdb.dbo.sysdbmaintplans msdb.dbo.sysmaintplan_plans msdb.dbo.sysmaintplan_subplans
msdb.dbo.sysmail_sentitems msdb.dbo.sysmail_faileditems msdb.dbo.sysmail_event_log msdb.dbo.sysmail_server
"""
"""Views of object types that no simulated instance has, such as audits, triggers or sent mail.

It is correct that these views are empty. Views of objects that a real instance has (plans, memory clerks) are
reported as not simulated instead.
"""
for _name in _EMPTY_VIEWS.split():
    register_view(_name, list_no_rows)


# --- views of the product that are not simulated ----------------------------------------------------------
# The columns of these views are undocumented, or the views are newer than 2014. The views and their first
# versions are documented [DOC: system catalog views; dynamic management views]. dm_db_script_level and
# dm_db_mirroring_past_actions are from memory; dm_db_database_page_allocations is known from public output.

_UNSIMULATED_VIEWS_TEXT: Final = (
    resources.files("engine.tsql.catalog").joinpath("unsimulated_views.txt").read_text(encoding="utf-8")
)
_UNSIMULATED_VIEW_VERSIONS: Final = {
    name: int(since)
    for since, names in re.findall(r"^(\d+):\n((?: .*\n)*)", _UNSIMULATED_VIEWS_TEXT, re.MULTILINE)
    for name in names.split()
}
"""View that is not simulated -> first version."""


def has_view(name: str, version: int) -> bool:
    """Return whether *version* has this view or table-valued function.

    *name*: full lowercase name, `sys.x` or `sys.f()`.
    """
    return _UNSIMULATED_VIEW_VERSIONS.get(name, 9999) <= version


def find_view(context: StatementContext, parts: tuple[str, ...]) -> CatalogView:
    """Return the view with a name of up to three parts.

    Raises 208, 7202, or an error for a database that cannot be opened. Raises UnsimulatedFeatureError for a
    view that is not simulated.
    """
    names = [part.lower() for part in parts]
    if len(names) > 3:
        raise SqlError(7202, parts[0])
    database = find_database(context, parts)
    if database is None:
        raise SqlError(208, ".".join(parts))
    schema, name = names[-2] if len(names) > 1 else "", names[-1]
    for key in _list_candidates(database.lower(), schema, name):
        catalog_view = CATALOG_VIEWS.get(key)
        if catalog_view is not None and catalog_view.first_version <= context.version:
            return catalog_view
        if catalog_view is None and has_view(key, context.version):
            raise UnsimulatedFeatureError(f"the view {'.'.join(parts)}")
    function = f"{schema}.{name}()"
    if function in CATALOG_VIEWS or has_view(function, context.version):
        raise SqlError(216, ".".join(parts))
    raise SqlError(208, ".".join(parts).removesuffix("()"))


def find_database(context: StatementContext, parts: Sequence[str]) -> str | None:
    """Return the database in a name of up to three parts; None if the database does not exist.

    A shorter name means the current database. Raises an error for a database that cannot be opened.
    """
    if len(parts) < 3:
        return context.session.database
    return None if context.find_database_id(parts[0]) is None else context.open_database(parts[0])


def _list_candidates(database: str, schema: str, name: str) -> Iterable[str]:
    """Yield the full names of the views that a name can mean."""
    if schema in ("sys", "information_schema"):
        yield f"{schema}.{name}"
    if schema in ("dbo", ""):
        yield f"{database}.dbo.{name}"
        if name.startswith("sys"):  # the compatibility views of SQL Server 2000 can be used without a schema
            yield f"sys.{name}"
