"""SERVERPROPERTY, DATABASEPROPERTYEX and similar functions about servers, databases, logins and columns."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from engine import arithmetic
from engine.availability import replicas
from engine.constants import DATABASE_FILE_VERSIONS, PRODUCT_VERSIONS
from engine.messages import SqlError
from engine.protocol import startup, volumes
from engine.tsql import catalog
from engine.tsql.batches import objects, tables
from engine.tsql.batches.context import StatementContext
from engine.tsql.batches.data import Table
from engine.tsql.catalog import availability
from engine.tsql.query.plans import UnsimulatedFeatureError
from engine.tsql.scalars.types import FIXED_LENGTHS, parse_sql_type
from engine.tsql.scalars.values import Scalar, to_text

_EDITION_IDS: Final = {
    "Enterprise": 1804890536,
    "Standard": -1534726760,
    "Developer": -2117995310,
    "Express": -1592396055,
    "Workgroup": 1333529388,
}
"""Edition -> EditionID of SERVERPROPERTY. Documented [DOC: SERVERPROPERTY]."""

ENGINE_EDITIONS: Final = {"Standard": 2, "Workgroup": 2, "Enterprise": 3, "Developer": 3, "Express": 4}
"""Edition -> EngineEdition of SERVERPROPERTY."""


_ABSENT_FEATURE_PROPERTIES: Final = {
    "isadvancedanalyticsinstalled": 2016, "ispolybaseinstalled": 2016, "istempdbmetadatamemoryoptimized": 2019,
    "isbigdatacluster": 2019, "isexternalgovernanceenabled": 2022, "isserversuspendedforsnapshotbackup": 2022,
    "suspendeddatabasecount": 2022,
}  # fmt: skip
"""Property of a feature that no simulated instance has -> first version with the property.

[DOC: SERVERPROPERTY]
"""


def _evaluate_serverproperty(context: StatementContext, name: Scalar) -> Scalar:
    number, level, product = PRODUCT_VERSIONS[context.version]
    enabled = replicas.is_always_on_enabled(context.world, context.session.server)
    manager = int(availability.has_quorum(context)) if enabled else 2
    table: dict[str, Scalar] = {
        "servername": context.server.name,
        "machinename": context.server.name,
        "computernamephysicalnetbios": context.server.computer,
        "instancename": None,
        "edition": f"{context.server.edition} Edition (64-bit)",
        "engineedition": ENGINE_EDITIONS.get(context.server.edition, 3),
        "productversion": number,
        "productlevel": level,
        "collation": "SQL_Latin1_General_CP1_CI_AS",
        "isclustered": int(context.server.clustered),
        "isintegratedsecurityonly": 0,
        "issingleuser": 0,
        "isfulltextinstalled": 0,
        "processid": 1200 + context.server.host,
        "isxtpsupported": 1 if context.version >= 2014 else None,
        "ishadrenabled": int(enabled) if context.version >= 2012 else None,
        "hadrmanagerstatus": manager if context.version >= 2012 else None,
        "instancedefaultdatapath": "D:\\Data\\" if context.version >= 2012 else None,
        "instancedefaultlogpath": "L:\\Log\\" if context.version >= 2012 else None,
        "errorlogfilename": startup.get_log_path(context.server),
        "islocaldb": 0 if context.version >= 2012 else None,
        "editionid": _EDITION_IDS.get(context.server.edition),
        "lcid": 1033,
        "collationid": 872468488,
        "comparisonstyle": 196609,
        "sqlcharset": 1,
        "sqlcharsetname": "iso_1",
        "sqlsortorder": 52,
        "sqlsortordername": "nocase_iso",
        "licensetype": "DISABLED",
        "numlicenses": None,
        "buildclrversion": "v2.0.50727" if context.version < 2012 else "v4.0.30319",
        "resourceversion": number,
        "filestreamconfiguredlevel": 0,
        "filestreameffectivelevel": 0,
        "filestreamsharename": None,
        **{name: 0 for name, feature in _ABSENT_FEATURE_PROPERTIES.items() if feature <= context.version},
        "instancedefaultbackuppath": volumes.BACKUP_FOLDER if context.version >= 2019 else None,
        "pathseparator": "\\" if context.version >= 2017 else None,
    }
    update = re.search(r"-(CU\d+)\) \((KB\d+)\)", product)
    if update is not None:
        table.update(zip(("productupdatelevel", "productupdatereference"), update.groups(), strict=True))
    if context.version >= 2014:
        parts = zip(
            ("productmajorversion", "productminorversion", "productbuild"), number.split("."), strict=False
        )
        table.update(parts)
    return table.get(to_text(name).lower())


def _evaluate_connectionproperty(context: StatementContext, name: Scalar) -> Scalar:
    """Evaluate CONNECTIONPROPERTY: return a column of sys.dm_exec_connections for the own connection.

    [DOC: CONNECTIONPROPERTY]
    """
    rows = catalog.list_view_rows(context, "sys.dm_exec_connections")
    own_row = next(row for row in rows if row["session_id"] == context.session.spid)
    property_name = to_text(name).lower()
    property_names = {
        "net_transport",
        "protocol_type",
        "auth_scheme",
        "local_net_address",
        "local_tcp_port",
        "client_net_address",
    }
    return (
        own_row["net_transport" if property_name == "physical_net_transport" else property_name]
        if property_name in property_names | {"physical_net_transport"}
        else None
    )


def _evaluate_databasepropertyex(context: StatementContext, database: Scalar, name: Scalar) -> Scalar:
    database_name = to_text(database).lower()
    rows = (
        row
        for row in catalog.list_view_rows(context, "sys.databases")
        if str(row["name"]).lower() == database_name
    )
    row = next(rows, None)
    if row is None:
        return None
    is_read_only = (
        row["is_read_only"] or availability.evaluate_is_primary_replica(context, database_name) == 0
    )
    key = to_text(name).lower()
    if key in _DATABASE_COLUMNS:
        return row[_DATABASE_COLUMNS[key]]
    table = {
        "status": row["state_desc"],
        "recovery": row["recovery_model_desc"],
        "useraccess": row["user_access_desc"],
        "updateability": "READ_ONLY" if is_read_only else "READ_WRITE",
        "collation": row["collation_name"],
        "version": DATABASE_FILE_VERSIONS[context.version],
        "isinstandby": row["is_in_standby"],
        "istornpagedetectionenabled": int(row["page_verify_option_desc"] == "TORN_PAGE_DETECTION"),
        "lcid": None if row["collation_name"] is None else 1033,
    }
    if key in _UNSIMULATED_PROPERTIES and context.version >= _UNSIMULATED_PROPERTIES[key]:
        raise UnsimulatedFeatureError(f"DATABASEPROPERTYEX of {to_text(name)}")
    return table.get(key)


_UNSIMULATED_PROPERTIES: Final = {"lastgoodcheckdbtime": 2016, "sqlsortorder": 2005, "comparisonstyle": 2005}
"""Documented property that is not simulated -> first version with the property. [DOC: DATABASEPROPERTYEX]"""

_DATABASE_COLUMNS: Final = {
    "isansinulldefault": "is_ansi_null_default_on", "isansinullsenabled": "is_ansi_nulls_on",
    "isansipaddingenabled": "is_ansi_padding_on", "isansiwarningsenabled": "is_ansi_warnings_on",
    "isarithmeticabortenabled": "is_arithabort_on", "isautoclose": "is_auto_close_on",
    "isautocreatestatistics": "is_auto_create_stats_on", "isautoshrink": "is_auto_shrink_on",
    "isautoupdatestatistics": "is_auto_update_stats_on",
    "isclosecursorsoncommitenabled": "is_cursor_close_on_commit_on", "isfulltextenabled": "is_fulltext_enabled",
    "islocalcursorsdefault": "is_local_cursor_default", "ismergepublished": "is_merge_published",
    "isnullconcat": "is_concat_null_yields_null_on", "isnumericroundabortenabled": "is_numeric_roundabort_on",
    "isparameterizationforced": "is_parameterization_forced", "ispublished": "is_published",
    "isquotedidentifiersenabled": "is_quoted_identifier_on",
    "isrecursivetriggersenabled": "is_recursive_triggers_on", "issubscribed": "is_subscribed",
    "issyncwithbackup": "is_sync_with_backup",
}  # fmt: skip
"""Property of DATABASEPROPERTYEX -> equal column of sys.databases. Documented [DOC: DATABASEPROPERTYEX]."""

_STATE_PROPERTIES: Final = {
    "isemergencymode": "EMERGENCY", "isinload": "RESTORING", "isinrecovery": "RECOVERING", "isoffline": "OFFLINE",
    "issuspect": "SUSPECT", "isnotrecovered": "RECOVERY_PENDING",
}  # fmt: skip
"""Property of DATABASEPROPERTY -> database state in which its value is 1."""


def _evaluate_databaseproperty(context: StatementContext, database: Scalar, name: Scalar) -> Scalar:
    """Evaluate the older DATABASEPROPERTY: 1 or 0 for a state or mode, else the DATABASEPROPERTYEX value.

    [DOC: DATABASEPROPERTY]
    """

    def evaluate_ex(wanted: str) -> Scalar:
        return _evaluate_databasepropertyex(context, database, wanted)

    key = to_text(name).lower()
    if evaluate_ex("Status") is None:
        return None
    if key in _STATE_PROPERTIES:
        return int(evaluate_ex("Status") == _STATE_PROPERTIES[key])
    if key in ("issingleuser", "isdboonly"):
        return int(
            evaluate_ex("UserAccess") == ("SINGLE_USER" if key == "issingleuser" else "RESTRICTED_USER")
        )
    values = {
        "isreadonly": evaluate_ex("Updateability") == "READ_ONLY",
        "istrunclog": evaluate_ex("Recovery") == "SIMPLE",
        "isbulkcopy": evaluate_ex("Recovery") != "FULL",
        "isshutdown": False,
    }
    return int(values[key]) if key in values else evaluate_ex(key)


def _evaluate_loginproperty(context: StatementContext, login: Scalar, name: Scalar) -> Scalar:
    """Evaluate LOGINPROPERTY for a login with a password. A simulated login is never locked or expired.

    [DOC: LOGINPROPERTY]
    """
    login_name = to_text(login).casefold()
    rows = catalog.list_view_rows(context, "sys.sql_logins")
    row = next((row for row in rows if to_text(row["name"]).casefold() == login_name), None)
    if row is None:
        return None
    table = {
        **dict.fromkeys(("badpasswordcount", "historylength", "isexpired", "islocked", "ismustchange"), 0),
        **dict.fromkeys(("badpasswordtime", "lockouttime"), "1900-01-01 00:00:00.000"),
        "defaultdatabase": row["default_database_name"],
        "defaultlanguage": row["default_language_name"],
        "passwordhash": row["password_hash"],
        "passwordlastsettime": row["modify_date"],
        "passwordhashalgorithm": 1 if context.version < 2012 else 2,
    }
    return table.get(to_text(name).lower())


# --- functions about columns, indexes and identity columns [DOC: metadata functions] ----------------------


def _list_columns(context: StatementContext, number: Scalar) -> list[catalog.Record]:
    """Return the columns of the table or view (including system views) with the object ID *number*."""
    rows = [row for row in catalog.list_view_rows(context, "sys.columns") if row["object_id"] == number]
    if rows:
        return rows
    view_rows = (
        row for row in catalog.list_view_rows(context, "sys.system_views") if row["object_id"] == number
    )
    return [
        {"name": column.name, "column_id": index, "max_length": _get_length(column.type)}
        for row in view_rows
        for index, column in enumerate(_list_columns_of_view(context, to_text(row["name"])), start=1)
    ]


def _list_columns_of_view(context: StatementContext, name: str) -> Iterable[catalog.ViewColumn]:
    try:
        return catalog.find_view(context, ("sys", name)).list_version_columns(context.version)
    except SqlError:
        return ()


def _get_length(type_text: str) -> int | None:
    """Return the maximum length of a type in bytes; None for an unknown type."""
    try:
        kind = parse_sql_type(type_text, 1)
    except SqlError:
        return None
    if kind.length and kind.name in ("nchar", "nvarchar") and kind.length > 0:
        return kind.length * 2
    return kind.length or FIXED_LENGTHS.get(kind.name)


def _find_column(context: StatementContext, number: Scalar, name: Scalar) -> catalog.Record:
    column_name = to_text(name).lower()
    return next(
        (row for row in _list_columns(context, number) if to_text(row["name"]).lower() == column_name), {}
    )


def _evaluate_col_length(context: StatementContext, table: Scalar, column: Scalar) -> Scalar:
    if table is None or column is None:
        return None
    number = catalog.get_object_id(context, to_text(table))
    context = catalog.build_named_context(context, to_text(table))
    return _find_column(context, number, column).get("max_length")


def _evaluate_col_name(context: StatementContext, number: Scalar, column_id: Scalar) -> Scalar:
    return next(
        (row["name"] for row in _list_columns(context, number) if row["column_id"] == column_id), None
    )


_COLUMN_PROPERTIES: Final = {
    "allowsnull": "is_nullable",
    "isidentity": "is_identity",
    "iscomputed": "is_computed",
    "columnid": "column_id",
    "precision": "precision",
    "scale": "scale",
}
"""Property of COLUMNPROPERTY -> equivalent column of sys.columns."""


_TWO_BYTE_TYPE_IDS, _ONE_BYTE_TYPE_IDS = frozenset({231, 239}), frozenset({165, 167, 173, 175})
"""system_type_id of types with two bytes per character (nvarchar, nchar), and with one byte (varbinary, varchar,
binary, char). Documented [DOC: sys.types].
"""


_CONSTANT_COLUMN_PROPERTIES: Final = {
    "isrowguidcol": 0,
    "isidnotforrepl": 0,
    "isfulltextindexed": 0,
    "fulltexttypecolumn": 0,
    "statisticalsemantics": 0,
    "issparse": 0,
    "iscolumnset": 0,
    "ishidden": 0,
    "generatedalwaystype": 0,
    "usesansitrim": 1,
}
"""Property of COLUMNPROPERTY -> value that all simulated columns have."""


def _evaluate_columnproperty(
    context: StatementContext, number: Scalar, name: Scalar, property_name: Scalar
) -> Scalar:
    row, key = _find_column(context, number, name), to_text(property_name).lower()
    if row and key == "charmaxlen":
        # the length of a column in characters or bytes; -1 for max, NULL for types without a length
        length, kind = row.get("max_length"), row.get("system_type_id")
        if kind in _TWO_BYTE_TYPE_IDS and isinstance(length, int) and length > 0:
            return length // 2
        return length if kind in _TWO_BYTE_TYPE_IDS | _ONE_BYTE_TYPE_IDS else None
    if row and key in _CONSTANT_COLUMN_PROPERTIES:
        return _CONSTANT_COLUMN_PROPERTIES[key]
    if row and key not in _COLUMN_PROPERTIES:
        raise UnsimulatedFeatureError(f"the property {to_text(property_name)} of COLUMNPROPERTY")
    return row.get(_COLUMN_PROPERTIES[key]) if row else None


_INDEX_PROPERTIES: Final[dict[str, str | int]] = {
    "indexid": "index_id",
    "isunique": "is_unique",
    "isclustered": "type",
    "isautostatistics": 0,
    "isdisabled": 0,
    "isfulltextkey": 0,
    "ishypothetical": 0,
    "ispadindex": 0,
    "ispagelockdisallowed": 0,
    "isrowlockdisallowed": 0,
    "isstatistics": 0,
    "iscolumnstore": 0,
    "isoptimizedforsequentialkey": 0,
    "indexfillfactor": 0,
}
"""Property of INDEXPROPERTY -> column of sys.indexes, or a value that all simulated indexes have."""


def _evaluate_indexproperty(
    context: StatementContext, number: Scalar, name: Scalar, property_name: Scalar
) -> Scalar:
    for row in catalog.list_view_rows(context, "sys.indexes"):
        if row["object_id"] == number and to_text(row["name"] or "").lower() == to_text(name).lower():
            index_property = _INDEX_PROPERTIES.get(to_text(property_name).lower())
            if index_property == "type":
                return int(row["type"] == 1)
            return row[index_property] if isinstance(index_property, str) else index_property
    return None


def _evaluate_stats_date(context: StatementContext, number: Scalar, _statistics: Scalar) -> Scalar:
    """Evaluate STATS_DATE: NULL, because the simulation never builds statistics."""
    return None


_COLLATION_LOCALES: Final = {
    "latin1_general": (1252, 1033), "sql_latin1_general_cp1": (1252, 1033), "sql_latin1_general_cp437": (437, 1033),
    "sql_latin1_general_cp850": (850, 1033), "finnish_swedish": (1252, 1053), "modern_spanish": (1252, 3082),
    "traditional_spanish": (1252, 1034), "french": (1252, 1036), "danish_norwegian": (1252, 1030),
    "german_phonebook": (1252, 66567), "cyrillic_general": (1251, 1049), "polish": (1250, 1045),
    "czech": (1250, 1029), "hungarian": (1250, 1038), "greek": (1253, 1032), "turkish": (1254, 1055),
    "hebrew": (1255, 1037), "arabic": (1256, 1025), "vietnamese": (1258, 1066), "thai": (874, 1054),
    "chinese_prc": (936, 2052), "japanese": (932, 1041), "korean_wansung": (949, 1042),
}  # fmt: skip
"""Collation without its sensitivity suffixes -> (code page, locale ID). [DOC: Windows collation name]"""
_COLLATION_PATTERN: Final = re.compile(
    r"(?P<locale>\w+?)(?P<version>_90|_100|_140)?(?P<binary>_BIN2?)?"
    r"(?(binary)|_C(?P<case>[IS])_A(?P<accent>[IS])(?P<kana>_KS)?(?P<width>_WS)?(?:_SC)?(?:_VSS)?)(?P<utf8>_UTF8)?",
    re.IGNORECASE,
)
"""Pattern of a collation name: locale, version and sensitivity suffixes."""
_COLLATION_VERSIONS: Final = {"_90": 1, "_100": 2, "_140": 3}
"""Version suffix of a collation -> value of the property Version."""


def _evaluate_collationproperty(context: StatementContext, name: Scalar, property_name: Scalar) -> Scalar:
    """Evaluate COLLATIONPROPERTY; NULL for an unknown collation or property. [DOC: COLLATIONPROPERTY]."""
    match = _COLLATION_PATTERN.fullmatch(to_text(name))
    key = to_text(property_name).lower()
    if match is None or key not in ("codepage", "lcid", "comparisonstyle", "version"):
        return None
    if match["locale"].lower() not in _COLLATION_LOCALES:
        raise UnsimulatedFeatureError(f"COLLATIONPROPERTY of {to_text(name)}")
    code_page, locale = _COLLATION_LOCALES[match["locale"].lower()]
    if key == "comparisonstyle":
        ignored = [(match["case"], 1), (match["accent"], 2)]
        letters = arithmetic.add_in_order(bit for letter, bit in ignored if letter and letter.upper() == "I")
        return (
            0 if match["binary"] else letters + 65_536 * (not match["kana"]) + 131_072 * (not match["width"])
        )
    if key == "version":
        return _COLLATION_VERSIONS.get(match["version"] or "", 0)
    return (65_001 if match["utf8"] else code_page) if key == "codepage" else locale


def _build_identity_function(
    compute: Callable[[tuple[int, int], int], int],
) -> Callable[[StatementContext, Scalar], Scalar]:
    """Build a T-SQL function such as IDENT_CURRENT.

    *compute* returns the value of the function. Its arguments are (seed, increment) of the table's identity
    column, and the next identity value.
    """

    def evaluate(context: StatementContext, table: Scalar) -> Scalar:
        name = to_text(table)
        number = None if table is None else catalog.get_object_id(context, name)
        parts = tuple(part.strip('[]"') for part in name.split("."))
        temporary = {
            table_name: table_item for _, table_name, table_item in objects.list_temporary_tables(context)
        }
        table_object = (
            None
            if number is None
            else temporary.get(number) or objects.find_object(context, parts, waits=False)
        )
        if not isinstance(table_object, Table):
            return None
        table_object = tables.skip_lost_identity_values(table_object, context.server)
        identity = next(
            (column.identity for column in table_object.columns if column.identity is not None), None
        )
        return None if identity is None else compute(identity, table_object.next_identity)

    return evaluate


PROPERTY_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    "serverproperty": _evaluate_serverproperty,
    "connectionproperty": _evaluate_connectionproperty,
    "databasepropertyex": _evaluate_databasepropertyex,
    "databaseproperty": _evaluate_databaseproperty,
    "collationproperty": _evaluate_collationproperty,
    "loginproperty": _evaluate_loginproperty,
    "col_length": _evaluate_col_length,
    "col_name": _evaluate_col_name,
    "columnproperty": _evaluate_columnproperty,
    "indexproperty": _evaluate_indexproperty,
    "stats_date": _evaluate_stats_date,
    "ident_current": _build_identity_function(
        lambda column, value: value - column[1] if value != column[0] else column[0]
    ),
    "ident_seed": _build_identity_function(lambda column, _: column[0]),
    "ident_incr": _build_identity_function(lambda column, _: column[1]),
}
"""Name of a T-SQL function -> function that evaluates it."""
