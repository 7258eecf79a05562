"""Data types as the catalog shows them (IDs, lengths, precision, scale), and system objects with columns.

[DOC: sys.types]
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from engine.messages import SqlError
from engine.tables import read_table
from engine.tsql.batches import objects
from engine.tsql.batches.context import StatementContext
from engine.tsql.catalog.shapes import find_literal_columns
from engine.tsql.catalog.view import CATALOG_VIEWS, Record, register_view
from engine.tsql.scalars.types import FIXED_LENGTHS, SqlType, get_precision_and_scale, parse_sql_type

TYPE_IDS: Final = {
    "image": 34, "text": 35, "uniqueidentifier": 36, "date": 40, "time": 41, "datetime2": 42, "datetimeoffset": 43,
    "tinyint": 48, "smallint": 52, "int": 56, "smalldatetime": 58, "real": 59, "money": 60, "datetime": 61,
    "float": 62, "sql_variant": 98, "ntext": 99, "bit": 104, "decimal": 106, "numeric": 108, "smallmoney": 122,
    "bigint": 127, "varbinary": 165, "varchar": 167, "binary": 173, "char": 175, "timestamp": 189, "nvarchar": 231,
    "nchar": 239, "xml": 241,
}  # fmt: skip
"""Name of a type -> system_type_id. Documented [DOC: sys.types]."""


def build_type_record(type_text: str) -> Record:
    """Return the columns that describe a T-SQL type, in views such as sys.columns and sys.types."""
    try:
        kind = parse_sql_type(type_text, 1)
    except SqlError:
        kind = SqlType("sql_variant")
    precision, scale = (
        get_precision_and_scale(kind) if kind.is_number and kind.name != "bit" else _get_datetime_digits(kind)
    )
    if kind.name in ("float", "real"):
        precision, scale = (53 if kind.name == "float" else 24), 0
    length = kind.length * 2 if kind.name in ("nchar", "nvarchar") and kind.length > 0 else kind.length
    size = 5 if precision <= 9 else 9 if precision <= 19 else 13 if precision <= 28 else 17
    name = "decimal" if type_text.lstrip("[").lower().startswith("dec") else kind.name
    number = TYPE_IDS.get(name, 98)
    return {
        "system_type_id": number,
        "user_type_id": 256 if type_text.strip("[]").lower() == "sysname" else number,
        "max_length": _POINTER_LENGTHS.get(kind.name)
        or length
        or (size if kind.name == "numeric" else _get_fixed_length(kind)),
        "precision": precision,
        "scale": scale,
        "collation_name": "SQL_Latin1_General_CP1_CI_AS" if kind.is_text else None,
        "DATA_TYPE": name,
        "COLLATION_NAME": "SQL_Latin1_General_CP1_CI_AS" if kind.is_text else None,
        "CHARACTER_SET_NAME": (
            None if not kind.is_text else "UNICODE" if kind.name in _WIDE_TEXTS else "iso_1"
        ),
        "DATETIME_PRECISION": _get_fraction_digits(kind),
        "NUMERIC_PRECISION_RADIX": _get_radix(kind),
        "CHARACTER_MAXIMUM_LENGTH": _LENGTH_LIMITS.get(kind.name, kind.length)
        if kind.is_text or kind.is_binary
        else None,
        "CHARACTER_OCTET_LENGTH": (
            2**31 - 1 - (kind.name == "ntext") if kind.name in _LENGTH_LIMITS else length
        )
        if kind.is_text or kind.is_binary
        else None,
        "NUMERIC_PRECISION": precision if kind.is_number and kind.name != "bit" else None,
        "NUMERIC_SCALE": scale if kind.is_number and kind.name not in ("float", "real") else None,
    }


_SCALED_LENGTHS: Final = {"time": 3, "datetime2": 6, "datetimeoffset": 8}
"""Name of a type -> length in bytes with up to two digits of fractional seconds. [DOC: data types]"""


def _get_fixed_length(kind: SqlType) -> int:
    """Return max_length of a type that is declared without a length.

    [DOC: data types]
    """
    if kind.name in _SCALED_LENGTHS:
        return _SCALED_LENGTHS[kind.name] + (kind.scale > 2) + (kind.scale > 4)
    return FIXED_LENGTHS.get(kind.name, -1)


_POINTER_LENGTHS: Final = {**dict.fromkeys(("text", "ntext", "image"), 16), "sql_variant": 8016}
"""Name of a type -> max_length. For text types, this is the length of the pointer to the value."""
_LENGTH_LIMITS: Final = {"text": 2**31 - 1, "ntext": 2**30 - 1, "image": 2**31 - 1}
"""Name of a type -> maximum number of characters or bytes in a value."""
_WIDE_TEXTS: Final = frozenset({"nchar", "nvarchar", "ntext", "sysname"})
"""Text types with two bytes per character."""
_DATETIME_DIGITS: Final = {"datetime": (23, 3), "smalldatetime": (16, 0), "date": (10, 0)}
"""Date or time type -> (precision, scale) in sys.columns. Documented [DOC: sys.types]."""
_WHOLE_SECOND_PRECISION: Final = {"time": 8, "datetime2": 19, "datetimeoffset": 26}
"""Date or time type -> precision without fractional seconds."""


def _get_radix(kind: SqlType) -> int | None:
    if not kind.is_number or kind.name == "bit":
        return None
    return 2 if kind.name in ("float", "real") else 10


def _get_fraction_digits(kind: SqlType) -> int | None:
    """Return DATETIME_PRECISION, the number of digits of fractional seconds; None for other types.

    Documented [DOC: each view].
    """
    if kind.name in _DATETIME_DIGITS:
        return _DATETIME_DIGITS[kind.name][1]
    return kind.scale if kind.name in _WHOLE_SECOND_PRECISION else None


def _get_datetime_digits(kind: SqlType) -> tuple[int, int]:
    """Return (precision, scale) of a date or time type in sys.columns."""
    if kind.name in _WHOLE_SECOND_PRECISION:
        return _WHOLE_SECOND_PRECISION[kind.name] + (kind.scale + 1 if kind.scale else 0), kind.scale
    return _DATETIME_DIGITS.get(kind.name, (1, 0) if kind.name == "bit" else (0, 0))


# --- tables and views of the product in master and msdb, as objects with columns [DOC: system tables] -----


def list_shipped_tables(context: StatementContext) -> Iterator[tuple[str, str]]:
    """Yield (name, full name) of each product table and view in the schema dbo of the current database."""
    prefix = f"{context.session.database.lower()}.dbo."
    for name, view in sorted(CATALOG_VIEWS.items()):
        if name.startswith(prefix) and view.first_version <= context.version:
            yield name.removeprefix(prefix), name


_SHIPPED_VIEWS: Final = re.compile(
    r"_view$|^sysmail_(?!mailitems)\w+items$|^sysmail_(event_log|mailattachments)$"
)


BUILD_TIMES: Final = {
    2005: "2005-10-14 01:36:15.910", 2008: "2008-07-09 16:19:59.477", 2012: "2012-02-10 20:15:58.693",
    2014: "2014-02-20 20:48:35.270", 2016: "2016-04-30 00:44:20.000", 2017: "2017-08-22 19:38:02.290",
    2019: "2019-09-24 14:21:42.270", 2022: "2022-10-08 06:32:45.927",
}  # fmt: skip
"""Version -> create_date of system objects, which is the build time of the version. Seen in public output."""

_BASE_TYPES: Final = {"S": "SYSTEM_TABLE", "SQ": "SERVICE_QUEUE", "IT": "INTERNAL_TABLE"}
"""Type of a base object -> type_desc."""


@cache
def _load_base_tables() -> tuple[dict[str, str], ...]:
    """Return the rows of base_tables.tsv as column -> text."""
    return tuple(read_table("engine.tsql.catalog", "base_tables.tsv"))


def list_base_objects(database: str, version: int) -> Iterator[Record]:
    """Yield the system base tables and predefined queues of a database. [DOC: system base tables]."""
    built = BUILD_TIMES[max(year for year in BUILD_TIMES if year <= version)]
    for row in _load_base_tables():
        if row["database"] in ("", database.lower()):
            number, schema_id = int(row["object_id"]), 1 if row["type"] == "SQ" else 4
            yield {
                "name": row["name"],
                "object_id": number,
                "schema_id": schema_id,
                "parent_object_id": int(row["parent"] or 0),
                "type": f"{row['type']:2}",
                "type_desc": _BASE_TYPES[row["type"]],
                **find_literal_columns("column_types.base_objects"),
                **dict.fromkeys(("create_date", "modify_date"), built),
            }


def list_shipped_objects(context: StatementContext) -> Iterable[Record]:
    """Yield the system base tables, and the product's tables and views in the current database.

    [DOC: system tables].
    """
    yield from list_base_objects(context.session.database, context.version)
    for name, full_name in list_shipped_tables(context):
        kind = "V " if _SHIPPED_VIEWS.search(name) else "U "
        yield {
            "name": name,
            "object_id": -objects.compute_object_id(full_name),
            **find_literal_columns("column_types.list_shipped_objects"),
            "type": kind,
            "type_desc": "USER_TABLE" if kind == "U " else "VIEW",
            "TABLE_CATALOG": context.session.database,
            "TABLE_NAME": name,
            "TABLE_TYPE": "BASE TABLE" if kind == "U " else "VIEW",
        }


def list_shipped_columns(context: StatementContext) -> Iterable[Record]:
    """Yield the columns of the product's tables and views. The nullability of some is not documented."""
    for name, full_name in list_shipped_tables(context):
        for index, column in enumerate(
            CATALOG_VIEWS[full_name].list_version_columns(context.version), start=1
        ):
            if not column.name.startswith("asked_"):
                yield {
                    **build_type_record(column.type),
                    "TABLE_CATALOG": context.session.database,
                    "TABLE_SCHEMA": "dbo",
                    "TABLE_NAME": name,
                    "COLUMN_NAME": column.name,
                    "ORDINAL_POSITION": index,
                    "object_id": -objects.compute_object_id(full_name),
                    "name": column.name,
                    "column_id": index,
                }


def _list_types(context: StatementContext) -> Iterable[Record]:
    for name, number in TYPE_IDS.items():
        if not (context.version < 2008 and name in ("date", "time", "datetime2", "datetimeoffset")):
            record = build_type_record("decimal(38, 38)" if name in ("decimal", "numeric") else name)
            longest = (
                8000 if record["max_length"] in (1, 2) and name in _LENGTH_TYPES else record["max_length"]
            )
            yield {
                **record,
                **_TYPE_CONSTANTS,
                "name": name,
                "system_type_id": number,
                "user_type_id": number,
                "max_length": longest,
            }
    yield {**build_type_record("sysname"), **_TYPE_CONSTANTS, "name": "sysname", "is_nullable": 0}


_LENGTH_TYPES: Final = frozenset({"nvarchar", "nchar", "varchar", "char", "varbinary", "binary"})
_TYPE_CONSTANTS: Final[Record] = {
    "schema_id": 4, "is_user_defined": 0, "is_assembly_type": 0, "is_nullable": 1, "is_table_type": 0,
}  # fmt: skip

register_view("sys.types", _list_types)
