"""Catalog procedures that drivers call: sp_tables, sp_columns, sp_pkeys and others.

Columns and codes are documented for each procedure [DOC: catalog stored procedures]. The type codes are those
of ODBC.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from engine.tsql import catalog
from engine.tsql.batches import first_result, undeclared_parameters
from engine.tsql.catalog.column_types import TYPE_IDS
from engine.tsql.procedures.call import ProcedureCall, Procedures
from engine.tsql.scalars.like_patterns import evaluate_like
from engine.tsql.scalars.types import SCALED_TIME_TYPES
from engine.tsql.scalars.values import Scalar, make_text_key, to_text

Record = dict[str, Scalar]

ODBC_TYPES: Final = {
    # name -> ODBC code, datetime subcode, precision (0: as declared), bytes, scale, radix, literal prefix,
    # TDS type
    "bigint": (-5, None, 19, 8, 0, 10, "", 108),
    "binary": (-2, None, 0, 0, None, None, "0x", 37),
    "bit": (-7, None, 1, 1, None, None, "", 50),
    "char": (1, None, 0, 0, None, None, "'", 39),
    "date": (-9, None, 10, 20, None, None, "'", 0),
    "datetime": (11, 3, 23, 16, 3, None, "'", 111),
    "datetime2": (-9, None, 27, 54, None, None, "'", 0),
    "datetimeoffset": (-9, None, 34, 68, None, None, "'", 0),
    "decimal": (3, None, 0, 0, 0, 10, "", 106),
    "float": (6, None, 15, 8, None, 10, "", 109),
    "image": (-4, None, 2147483647, 2147483647, None, None, "0x", 34),
    "int": (4, None, 10, 4, 0, 10, "", 56),
    "money": (3, None, 19, 21, 4, 10, "$", 110),
    "nchar": (-8, None, 0, 0, None, None, "N'", 39),
    "ntext": (-10, None, 1073741823, 2147483646, None, None, "N'", 35),
    "numeric": (2, None, 0, 0, 0, 10, "", 108),
    "nvarchar": (-9, None, 0, 0, None, None, "N'", 39),
    "real": (7, None, 7, 4, None, 10, "", 109),
    "smalldatetime": (11, 3, 16, 16, 0, None, "'", 111),
    "smallint": (5, None, 5, 2, 0, 10, "", 52),
    "smallmoney": (3, None, 10, 12, 4, 10, "$", 110),
    "sql_variant": (-150, None, 8000, 8000, None, None, "", 39),
    "sysname": (-9, None, 128, 256, None, None, "N'", 39),
    "text": (-1, None, 2147483647, 2147483647, None, None, "'", 35),
    "time": (-9, None, 16, 32, None, None, "'", 0),
    "timestamp": (-2, None, 8, 8, None, None, "0x", 45),
    "tinyint": (-6, None, 3, 1, 0, 10, "", 48),
    "uniqueidentifier": (-11, None, 36, 16, None, None, "'", 37),
    "varbinary": (-3, None, 0, 0, None, None, "0x", 37),
    "varchar": (12, None, 0, 0, None, None, "'", 39),
    "xml": (-10, None, 0, 0, None, None, "N'", 0),
}
ODBC_3_OLD_DATE_TYPES: Final = dict.fromkeys(("datetime", "smalldatetime"), (93, 3))
ODBC_3_DATE_TYPES: Final = {
    **ODBC_3_OLD_DATE_TYPES,
    "date": (91, 1),
    "time": (-154, None),
    "datetime2": (93, 3),
    "datetimeoffset": (-155, None),
}
"""Date and time type -> (ODBC code, datetime subcode) for ODBC version 3 (@ODBCVer).

The procedures without the suffix _100 existed before version 2008. They return the new types of 2008 as
texts [DOC: data type support for date and time].
"""
WIDE_TYPES: Final = frozenset({"nchar", "nvarchar"})


def _list_rows(call: ProcedureCall, view: str) -> list[Record]:
    """Return the rows of a view. A column that does not exist in a row is None."""
    return [defaultdict(lambda: None, row) for row in catalog.list_view_rows(call.machine.context, view)]


def _matches_pattern(pattern: Scalar, name: Scalar) -> bool:
    return (
        pattern is None
        or pattern == ""
        or bool(evaluate_like(make_text_key(to_text(pattern)), make_text_key(to_text(name))))
    )


def _is_name_match(wanted: Scalar, name: Scalar) -> bool:
    return wanted is None or make_text_key(to_text(wanted)) == make_text_key(to_text(name))


def _map_schemas(call: ProcedureCall) -> dict[Scalar, Scalar]:
    """Return schema_id -> name of each schema in the current database."""
    return {row["schema_id"]: row["name"] for row in _list_rows(call, "sys.schemas")}


def _map_objects(
    call: ProcedureCall, kinds: Iterable[str] = ("U", "V")
) -> dict[Scalar, tuple[Scalar, Scalar, str]]:
    """Return (schema, name, kind) of each object of the given *kinds*, by object id."""
    schemas = _map_schemas(call)
    return {
        row["object_id"]: (schemas.get(row["schema_id"]), row["name"], to_text(row["type"]).strip())
        for row in _list_rows(call, "sys.objects")
        if to_text(row["type"]).strip() in kinds
    }


def _require_current_database(call: ProcedureCall) -> str:
    return call.database or call.machine.session.database


def _show_columns(call: ProcedureCall) -> None:
    """Execute sp_columns."""
    added_types = () if call.name == "sp_columns" else UDT_AND_XML_COLUMNS
    sparse = SPARSE_COLUMNS if call.name == "sp_columns_100" else ()
    names = (
        "TABLE_QUALIFIER", "TABLE_OWNER", "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "PRECISION", "LENGTH",
        "SCALE", "RADIX", "NULLABLE", "REMARKS", "COLUMN_DEF", "SQL_DATA_TYPE", "SQL_DATETIME_SUB",
        "CHAR_OCTET_LENGTH", "ORDINAL_POSITION", "IS_NULLABLE", *sparse, *added_types,
        "SS_DATA_TYPE",
    )  # fmt: skip
    tables, types = _map_objects(call), _map_type_names(call)
    defaults = {
        (row["parent_object_id"], row["parent_column_id"]): row["definition"]
        for row in _list_rows(call, "sys.default_constraints")
    }
    rows: list[tuple[Scalar, ...]] = []
    for row in _list_rows(call, "sys.columns"):
        schema, table, _ = tables.get(row["object_id"], (None, None, ""))
        if table is None or not (
            _matches_pattern(call.arguments.get("@table_name"), table)
            and _matches_pattern(call.arguments.get("@table_owner"), schema)
            and _matches_pattern(call.arguments.get("@column_name"), row["name"])
        ):
            continue
        index = int(str(row["column_id"]))
        null = bool(row["is_nullable"])
        default = defaults.get((row["object_id"], row["column_id"]))
        code, sub, precision, length, scale, radix, octets, tds = _describe_odbc_type(call, types, row)
        type_name = f"{types.get(row['user_type_id'])}{' identity' if row['is_identity'] else ''}"
        kinds = (0, 0, row["is_computed"], row["is_identity"])
        rows.append(
            (_require_current_database(call), schema, table, row["name"], code, type_name, precision, length, scale,
             radix, int(null), None,
             default, 9 if sub else code, sub, octets, index, "YES" if null else "NO",
             *(kinds if sparse else ()), *(None for _ in added_types), tds)
        )  # fmt: skip
    call.show_rows(names, sorted(rows, key=lambda row: (to_text(row[1]), to_text(row[2]), int(str(row[16])))))


SPARSE_COLUMNS: Final = ("SS_IS_SPARSE", "SS_IS_COLUMN_SET", "SS_IS_COMPUTED", "SS_IS_IDENTITY")
UDT_AND_XML_COLUMNS: Final = (
    "SS_UDT_CATALOG_NAME", "SS_UDT_SCHEMA_NAME", "SS_UDT_ASSEMBLY_TYPE_NAME", "SS_XML_SCHEMACOLLECTION_CATALOG_NAME",
    "SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", "SS_XML_SCHEMACOLLECTION_NAME",
)  # fmt: skip
"""Columns about UDT and xml types, before the last column of the variants _90 and _100.

These columns are NULL here.
"""


def _map_type_names(call: ProcedureCall) -> dict[Scalar, str]:
    """Return user_type_id -> name of each type."""
    return {row["user_type_id"]: to_text(row["name"]) for row in _list_rows(call, "sys.types")}


def _get_odbc_codes(call: ProcedureCall, name: str) -> tuple[int, int | None]:
    """Return the ODBC code and the datetime subcode of a type, for the ODBC version in @odbcver."""
    newer = ODBC_3_DATE_TYPES if call.name.endswith("_100") else ODBC_3_OLD_DATE_TYPES
    if call.get_number("@odbcver") >= 3 and name in newer:
        return newer[name]
    code, sub, *_ = ODBC_TYPES.get(name, ODBC_TYPES["sql_variant"])
    return code, sub


def _describe_odbc_type(call: ProcedureCall, types: dict[Scalar, str], row: Record) -> tuple[Scalar, ...]:
    """Return the ODBC description of a column's type.

    The items are code, datetime subcode, precision, length, scale, radix, octet length of strings, and TDS
    type.
    """
    name = types.get(row["user_type_id"], "")
    code, sub = _get_odbc_codes(call, name)
    _, _, precision, length, scale, radix, _, tds = ODBC_TYPES.get(name, ODBC_TYPES["sql_variant"])
    size, octets = int(str(row["max_length"])), None
    if not precision and name in ("decimal", "numeric"):
        precision, length, scale = (
            int(str(row["precision"])),
            int(str(row["precision"])) + 2,
            int(str(row["scale"])),
        )
    elif name in SCALED_TIME_TYPES:
        digits, scale = int(str(row["precision"])), int(str(row["scale"]))
        precision, length = digits, digits * 2 if length == 2 * (precision or 0) else length
    elif not precision:
        length = octets = size if size >= 0 else 2147483647
        precision = length // 2 if name in WIDE_TYPES else length
    return code, sub, precision, length, scale, radix, octets, tds


def _show_types(call: ProcedureCall) -> None:
    """Execute sp_datatype_info."""
    names = (
        "TYPE_NAME", "DATA_TYPE", "PRECISION", "LITERAL_PREFIX", "LITERAL_SUFFIX", "CREATE_PARAMS", "NULLABLE",
        "CASE_SENSITIVE", "SEARCHABLE", "UNSIGNED_ATTRIBUTE", "MONEY", "AUTO_INCREMENT", "LOCAL_TYPE_NAME",
        "MINIMUM_SCALE", "MAXIMUM_SCALE", "SQL_DATA_TYPE", "SQL_DATETIME_SUB", "NUM_PREC_RADIX", "INTERVAL_PRECISION",
        "USERTYPE",
    )  # fmt: skip
    wanted_type = call.get_number("@data_type")
    known_names = set(_map_type_names(call).values())
    rows: list[tuple[Scalar, ...]] = []
    for name, (_, _, precision, _, scale, radix, prefix, _) in ODBC_TYPES.items():
        code, sub = _get_odbc_codes(call, name)
        if name not in known_names or wanted_type not in (0, code):
            continue
        characters = name.endswith(("char", "text")) or name == "sysname"
        declared = (
            None if precision else "precision,scale" if radix else "max length" if characters else "length"
        )
        suffix = "'" if prefix.endswith("'") else None
        number = radix is not None
        size_max = precision or (38 if radix else 4000 if name in WIDE_TYPES else 8000)
        rows.append(
            (name, code, size_max, prefix or None, suffix, declared, 1, 0, 3 if characters else 2,
             int(name == "tinyint") if number else None, int("money" in name), 0 if number else None, name,
             scale, 38 if declared == "precision,scale" else scale, 9 if sub else code, sub, radix, None, 0)
        )  # fmt: skip
        if name in IDENTITY_TYPES and wanted_type in (0, code):
            exact = name in ("decimal", "numeric")
            identity_name = f"{name}{'()' if exact else ''} identity"
            changes = {
                0: identity_name,
                5: "precision" if exact else None,
                6: 0,
                11: 1,
                12: identity_name,
                14: 0,
            }
            rows.append(tuple(changes.get(index, value) for index, value in enumerate(rows[-1])))
    call.show_rows(
        names,
        sorted(rows, key=lambda row: (int(str(row[1])), row[11] or 0, -int(str(row[2])), to_text(row[0]))),
    )


IDENTITY_TYPES: Final = frozenset({"tinyint", "smallint", "int", "bigint", "decimal", "numeric"})
"""Types that an identity column can have. sp_datatype_info lists each one twice.

The second row is the type with IDENTITY. Documented [DOC: sp_datatype_info].
"""


def _list_index_keys(call: ProcedureCall) -> list[tuple[tuple[Scalar, ...], Record, list[Scalar]]]:
    """Return the index keys of the requested tables: (schema and table, index row, key columns in order)."""
    tables = _map_objects(call, ("U",))
    columns = {(row["object_id"], row["column_id"]): row["name"] for row in _list_rows(call, "sys.columns")}
    parts = sorted(
        _list_rows(call, "sys.index_columns"),
        key=lambda row: int(str(row["key_ordinal"] or row["index_column_id"])),
    )
    key_rows: list[tuple[tuple[Scalar, ...], Record, list[Scalar]]] = []
    for index in _list_rows(call, "sys.indexes"):
        schema, table, _ = tables.get(index["object_id"], (None, None, ""))
        if table is None or not _is_name_match(call.arguments.get("@table_name"), table):
            continue
        key_parts = [
            columns[part["object_id"], part["column_id"]]
            for part in parts
            if (part["object_id"], part["index_id"]) == (index["object_id"], index["index_id"])
            and not part["is_included_column"]
        ]
        key_rows.append(((schema, table), index, key_parts))
    return key_rows


def _show_procedure_columns(call: ProcedureCall) -> None:
    """Execute sp_sproc_columns: show the return value of each procedure, then its parameters."""
    added_types = () if call.name == "sp_sproc_columns" else UDT_AND_XML_COLUMNS
    type_columns = (
        ("SS_TYPE_CATALOG_NAME", "SS_TYPE_SCHEMA_NAME") if call.name == "sp_sproc_columns_100" else ()
    )
    names = (
        "PROCEDURE_QUALIFIER", "PROCEDURE_OWNER", "PROCEDURE_NAME", "COLUMN_NAME", "COLUMN_TYPE", "DATA_TYPE",
        "TYPE_NAME", "PRECISION", "LENGTH", "SCALE", "RADIX", "NULLABLE", "REMARKS", "COLUMN_DEF", "SQL_DATA_TYPE",
        "SQL_DATETIME_SUB", "CHAR_OCTET_LENGTH", "ORDINAL_POSITION", "IS_NULLABLE", *type_columns, *added_types,
        "SS_DATA_TYPE",
    )  # fmt: skip
    types, procedures = _map_type_names(call), _map_objects(call, ("P",))
    returned: Record = {
        "name": "@RETURN_VALUE",
        "user_type_id": TYPE_IDS["int"],
        "max_length": 4,
        "parameter_id": 0,
    }
    parameters: dict[Scalar, list[Record]] = defaultdict(list)
    for row in _list_rows(call, "sys.parameters"):
        parameters[row["object_id"]].append(row)
    rows: list[tuple[Scalar, ...]] = []
    for number, (schema, name, _) in procedures.items():
        if not (
            _matches_pattern(call.arguments.get("@procedure_name"), name)
            and _matches_pattern(call.arguments.get("@procedure_owner"), schema)
        ):
            continue
        for row in (returned, *parameters[number]):
            if not _matches_pattern(call.arguments.get("@column_name"), row["name"]):
                continue
            code, sub, precision, length, scale, radix, octets, tds = _describe_odbc_type(call, types, row)
            index = int(str(row["parameter_id"]))
            column_type = 5 if not index else 2 if row["is_output"] else 1
            rows.append(
                (_require_current_database(call), schema, f"{to_text(name)};1", row["name"], column_type, code,
                 types.get(row["user_type_id"]), precision, length, scale, radix, int(index > 0), None, None,
                 9 if sub else code, sub, octets, index, "YES" if index else "NO",
                 *(None for _ in (*type_columns, *added_types)), tds)
            )  # fmt: skip
    call.show_rows(names, sorted(rows, key=lambda row: (to_text(row[1]), to_text(row[2]), int(str(row[17])))))


def _show_special_columns(call: ProcedureCall) -> None:
    """Execute sp_special_columns: show the columns of a unique index, which identify a row."""
    names = (
        "SCOPE",
        "COLUMN_NAME",
        "DATA_TYPE",
        "TYPE_NAME",
        "PRECISION",
        "LENGTH",
        "SCALE",
        "PSEUDO_COLUMN",
    )
    types = _map_type_names(call)
    by_name = {(row["object_id"], row["name"]): row for row in _list_rows(call, "sys.columns")}
    unique = [(index, columns) for _, index, columns in _list_index_keys(call) if index["is_unique"]]
    best = min(unique, key=lambda match: (not match[0]["is_primary_key"], len(match[1])), default=None)
    rows: list[tuple[Scalar, ...]] = []
    if best is not None and to_text(call.arguments.get("@col_type") or "R").upper() == "R":
        for name in best[1]:
            row = by_name[best[0]["object_id"], name]
            code, _, precision, length, scale, *_ = _describe_odbc_type(call, types, row)
            rows.append((0, name, code, types.get(row["user_type_id"]), precision, length, scale, 1))
    call.show_rows(names, rows)


# --- sp_describe_first_result_set, which drivers call before they run a batch -----------------------------
# [DOC: sp_describe_first_result_set]


def _describe_first_result(call: ProcedureCall) -> None:
    machine = call.machine
    rows, errors = first_result.describe_first_result(
        machine, call.get_text("@tsql"), call.get_text("@params")
    )
    for note in errors:
        machine.append_message(note.text, note.number, note.severity, note.state, machine.line)
        machine.change_session(error=note.number)
    if not errors:
        columns = [name for name in first_result.DESCRIPTION_COLUMNS if not name.startswith("error_")]
        columns += first_result.TDS_COLUMNS
        call.show_rows(columns, [tuple(row.get(column) for column in columns) for row in rows])


def _describe_undeclared_parameters(call: ProcedureCall) -> None:
    rows = undeclared_parameters.describe_undeclared_parameters(
        call.machine, call.get_text("@tsql"), call.get_text("@params")
    )
    call.show_rows(
        undeclared_parameters.UNDECLARED_PARAMETER_COLUMNS,
        [
            tuple(row.get(column) for column in undeclared_parameters.UNDECLARED_PARAMETER_COLUMNS)
            for row in rows
        ],
    )


PROCEDURES: Final[Procedures] = {
    "sp_describe_undeclared_parameters": _describe_undeclared_parameters,
    **dict.fromkeys(("sp_columns", "sp_columns_90", "sp_columns_100"), _show_columns),
    **dict.fromkeys(("sp_datatype_info", "sp_datatype_info_90", "sp_datatype_info_100"), _show_types),
    **dict.fromkeys(
        ("sp_special_columns", "sp_special_columns_90", "sp_special_columns_100"), _show_special_columns
    ),
    **dict.fromkeys(
        ("sp_sproc_columns", "sp_sproc_columns_90", "sp_sproc_columns_100"), _show_procedure_columns
    ),
    "sp_describe_first_result_set": _describe_first_result,
}
