"""Result types of functions. Source: the page of each function [DOC: functions]."""

from collections.abc import Callable, Sequence
from typing import Final

from engine import arithmetic
from engine.messages import SqlError
from engine.tsql.scalars import dates
from engine.tsql.scalars.types import (
    BIGINT,
    DATETIME,
    DECIMALS,
    FLOAT,
    GUID,
    INT,
    MONEY,
    MONEYS,
    NULL,
    UNLIMITED_LENGTH,
    WIDE_TEXTS,
    SqlType,
    build_decimal_type,
    get_precision_and_scale,
    make_nvarchar,
    make_varchar,
    parse_sql_type,
)

Types = Sequence[SqlType | None]
ReturnTypeRule = Callable[[Types], SqlType | None]

_FIXED_RETURN_TYPES: Final = {
    "int": """isjson ascii charindex datalength datediff datepart day month year difference len patindex unicode isdate
        isnumeric db_id object_id schema_id user_id suser_id file_id file_idex type_id
        error_number error_severity error_state error_line xact_state is_srvrolemember is_member is_rolemember
        has_dbaccess has_perms_by_name objectproperty objectpropertyex fileproperty trigger_nestlevel @@spid
        @@trancount @@rowcount @@error @@fetch_status @@cursor_rows @@lock_timeout @@max_connections @@nestlevel
        @@options @@procid @@textsize @@microsoftversion @@cpu_busy @@idle @@io_busy @@timeticks @@total_errors
        @@connections @@packet_errors @@pack_received @@pack_sent @@total_read @@total_write cursor_status""",
    "varbinary(128)": "context_info",
    "tinyint": "@@datefirst @@max_precision",
    "bigint": "datediff_big count_big rowcount_big bit_count",
    "bit": "get_bit json_path_exists",
    "float": """sqrt square log log10 exp sin cos tan asin acos atan atn2 cot pi rand stdev stdevp var varp percent_rank
        cume_dist""",
    "datetime": "getdate getutcdate current_timestamp agent_datetime datetimefromparts",
    "datetime2(7)": "sysdatetime sysutcdatetime",
    "datetimeoffset(7)": "sysdatetimeoffset",
    "date": "eomonth datefromparts",
    "smalldatetime": "smalldatetimefromparts",
    "nvarchar(128)": """db_name object_name object_schema_name schema_name suser_sname suser_name user_name user
        current_user session_user system_user original_login host_name app_name file_name filegroup_name type_name
        original_db_name parsename error_procedure @@servername @@servicename @@language""",
    "nvarchar(32)": "applock_mode",
    "smallint": "@@langid applock_test",
    "nvarchar(258)": "quotename",
    "nvarchar(4000)": "error_message formatmessage format json_value",
    "nvarchar(300)": "@@version",
    "nvarchar(30)": "datename",
    "nchar(1)": "nchar",
    "char(1)": "char",
    "varchar(4)": "soundex",
    "uniqueidentifier": "newid newsequentialid",
    "varbinary(8000)": "hashbytes",
    "varbinary(85)": "suser_sid",
    "numeric(38,0)": "@@identity scope_identity ident_current ident_seed ident_incr",
    "nvarchar(max)": "fn_varbintohexstr object_definition json_query json_modify json_modify_raw",
}
"""Result type -> functions that always return this type."""


def _build_fixed_rule(kind: SqlType) -> ReturnTypeRule:
    return lambda types: kind


def _infer_same_type(types: Types) -> SqlType | None:
    return types[0] if types else None


def _infer_substring_type(types: Types) -> SqlType | None:
    """Return the type of SUBSTRING: binary for a binary argument, else text.

    Raises 8116 for an argument of another type. [DOC: SUBSTRING]
    """
    first_sql_type = types[0] if types else None
    if first_sql_type is None or first_sql_type.is_binary:
        return first_sql_type
    if not first_sql_type.is_text and first_sql_type.name != "sql_variant":
        raise SqlError(8116, "NULL" if first_sql_type == NULL else first_sql_type.name, 1, "substring")
    return _infer_text_type(types)


def _infer_text_type(types: Types, length: int | None = None) -> SqlType | None:
    """Return a text type with *length* or, if it is None, with the length of the first argument.

    The type is nvarchar if the first argument is Unicode, else varchar.
    """
    first_sql_type = types[0] if types else None
    if first_sql_type is None:
        return None
    size = length if length is not None else first_sql_type.length if first_sql_type.is_text else 8000
    if first_sql_type.length == UNLIMITED_LENGTH and first_sql_type.is_text:
        size = UNLIMITED_LENGTH
    return make_nvarchar(size) if first_sql_type.name in WIDE_TEXTS else make_varchar(size)


def _build_national_rule(argument_indexes: Sequence[int]) -> ReturnTypeRule:
    def rule(types: Types) -> SqlType | None:
        sql_types = [types[index] for index in argument_indexes if index < len(types)]
        if any(kind is None for kind in sql_types):
            return None
        kinds = [kind for kind in sql_types if kind is not None]
        wide = any(kind.name in WIDE_TEXTS for kind in kinds)
        size = (
            UNLIMITED_LENGTH
            if any(kind.length == UNLIMITED_LENGTH and kind.is_text for kind in kinds)
            else 8000
        )
        return make_nvarchar(size) if wide else make_varchar(size)

    return rule


def _infer_concat_type(types: Types) -> SqlType | None:
    if any(kind is None for kind in types):
        return None
    sql_types = [kind for kind in types if kind is not None]
    wide = any(kind.name in WIDE_TEXTS for kind in sql_types)
    if any(kind.length == UNLIMITED_LENGTH for kind in sql_types):
        return make_nvarchar(UNLIMITED_LENGTH) if wide else make_varchar(UNLIMITED_LENGTH)
    size = arithmetic.add_in_order(
        kind.length if kind.is_text or kind.is_binary else 40 for kind in sql_types if kind != NULL
    )
    return make_nvarchar(size) if wide else make_varchar(size)


def _infer_number_type(types: Types) -> SqlType | None:
    """Return the result type of ROUND and similar functions, usually the type of the argument.

    Text becomes float, small integers become int.
    """
    first_sql_type = types[0] if types else None
    if first_sql_type is None or first_sql_type.is_binary:
        return None
    if first_sql_type.name in ("bit", "tinyint", "smallint"):
        return INT
    if first_sql_type.name == "smallmoney":
        return MONEY
    if first_sql_type == NULL or first_sql_type.is_text or first_sql_type.name == "real":
        return FLOAT
    return first_sql_type if first_sql_type.is_number else None


def _infer_abs_type(types: Types) -> SqlType | None:
    """Return the type of ABS. Unlike ROUND, it keeps real [DOC: ABS]."""
    return (
        types[0] if types and types[0] is not None and types[0].name == "real" else _infer_number_type(types)
    )


def _infer_integral_type(types: Types) -> SqlType | None:
    """Return the type of FLOOR and CEILING: for a decimal, the same precision without fractional digits."""
    kind = _infer_number_type(types)
    return build_decimal_type(kind.precision, 0) if kind is not None and kind.name in DECIMALS else kind


def _infer_angle_type(types: Types) -> SqlType | None:
    """Return the type of DEGREES and RADIANS: for a decimal, numeric(38, 18)."""
    kind = _infer_number_type(types)
    return build_decimal_type(38, 18) if kind is not None and kind.name in DECIMALS else kind


def _infer_power_type(types: Types) -> SqlType | None:
    kind = _infer_number_type(types)
    return build_decimal_type(38, kind.scale) if kind is not None and kind.name in DECIMALS else kind


def _infer_offset_type(types: Types) -> SqlType | None:
    """Return datetimeoffset with the fractional digits of the argument [DOC: SWITCHOFFSET; TODATETIMEOFFSET]."""
    kind = types[0] if types else None
    scale = 7
    if kind is not None and kind.is_date_time:
        scale = {"datetime": 3, "smalldatetime": 0, "date": 0}.get(kind.name, kind.scale)
    return SqlType("datetimeoffset", scale=scale)


def _infer_dateadd_type(types: Types) -> SqlType | None:
    count, kind = types[1:3] if len(types) > 2 else (None, None)
    if count is not None and (count.is_text or count.is_date_time or count == GUID):
        raise SqlError(8116, count.name, 2, "dateadd")
    if kind is None:
        return None
    return kind if kind.is_date_time else DATETIME


def _infer_datetrunc_type(types: Types) -> SqlType | None:
    kind = types[1] if len(types) > 1 else None
    if kind is None or kind.is_date_time:
        return kind
    if not kind.is_text and kind != NULL:
        raise SqlError(8116, kind.name, 2, "datetrunc")
    return SqlType("datetime2", scale=7)


def _infer_date_bucket_type(types: Types) -> SqlType | None:
    """Return the type of DATE_BUCKET: the type of its value. Raises 8116 unless the origin has the same type."""
    kind = types[2] if len(types) > 2 else None
    for index, other_sql_type in enumerate(types[2:4], 3):
        if other_sql_type is not None and (
            not other_sql_type.is_date_time or (kind is not None and other_sql_type.name != kind.name)
        ):
            raise SqlError(
                8116, "NULL" if other_sql_type == NULL else other_sql_type.name, index, "date_bucket"
            )
    return kind


def infer_sum_type(kind: SqlType | None) -> SqlType | None:
    """Return the type of SUM. Raises 8117 for a type that cannot be added."""
    if kind is None:
        return None
    if kind == NULL or not kind.is_number or kind.name == "bit":
        raise SqlError(8117, "NULL" if kind == NULL else kind.name, "sum")
    if kind.name in DECIMALS:
        return build_decimal_type(38, kind.scale)
    if kind.name in MONEYS:
        return MONEY
    if kind.is_integer:
        return BIGINT if kind.name == "bigint" else INT
    return FLOAT


def infer_average_type(kind: SqlType | None) -> SqlType | None:
    """Return the type of AVG. Raises 8117 for a type that cannot be added."""
    if kind is None:
        return None
    if kind == NULL or not kind.is_number or kind.name == "bit":
        raise SqlError(8117, "NULL" if kind == NULL else kind.name, "avg")
    if kind.name in DECIMALS:
        return SqlType("numeric", precision=38, scale=max(6, get_precision_and_scale(kind)[1]))
    return infer_sum_type(kind)


RETURN_TYPE_RULES: Final[dict[str, ReturnTypeRule]] = {
    **{
        name: _build_fixed_rule(parse_sql_type(written))
        for written, names in _FIXED_RETURN_TYPES.items()
        for name in names.split()
    },
    **dict.fromkeys(
        ("upper", "lower", "ltrim", "rtrim", "trim", "reverse", "left", "right"), _infer_text_type
    ),
    "substring": _infer_substring_type,
    "replicate": lambda types: _infer_text_type(types, 8000),
    "space": lambda types: make_varchar(8000),
    "str": lambda types: make_varchar(8000),
    "replace": _build_national_rule((0, 1, 2)),
    "replace_each": lambda types: _build_national_rule(tuple(range(len(types))))(types),
    "stuff": _build_national_rule((0, 3)),
    "concat": _infer_concat_type,
    "concat_ws": _infer_concat_type,
    "abs": _infer_abs_type,
    "sign": _infer_number_type,
    "round": _infer_number_type,
    "floor": _infer_integral_type,
    "ceiling": _infer_integral_type,
    "power": _infer_power_type,
    "degrees": _infer_angle_type,
    "radians": _infer_angle_type,
    "dateadd": _infer_dateadd_type,
    "switchoffset": _infer_offset_type,
    "todatetimeoffset": _infer_offset_type,
    "datetrunc": _infer_datetrunc_type,
    "date_bucket": _infer_date_bucket_type,
    **dict.fromkeys(("left_shift", "right_shift", "set_bit"), _infer_same_type),
    "datetime2fromparts": lambda types: None,
    **dict.fromkeys(
        [
            "serverproperty",
            "databasepropertyex",
            "sessionproperty",
            "connectionproperty",
            "sql_variant_property",
            "collationproperty",
        ],
        _build_fixed_rule(SqlType("sql_variant")),
    ),
    "decimal_text": lambda types: make_varchar(40),
    "newid": lambda types: GUID,
    "text": lambda types: make_nvarchar(4000),
    "at_time_zone": lambda types: dates.infer_at_time_zone_type(types[0] if types else None),
    "isnull": _infer_same_type,
}
"""Function -> rule that infers its result type from its argument types. The type of other functions is
unknown.
"""

TEXT_ARGUMENTS: Final = {
    **dict.fromkeys(("upper", "lower", "ltrim", "rtrim", "trim", "reverse", "len", "left", "right", "quotename"), (0,)),
    **dict.fromkeys(("replicate", "ascii", "unicode"), (0,)),
    "charindex": (0, 1), "patindex": (0, 1), "replace": (0, 1, 2), "stuff": (0, 3),
    "concat": tuple(range(254)), "replace_each": tuple(range(100)), "db_id": (0,), "parsename": (0,), "soundex": (0,),
}  # fmt: skip
"""Function -> indexes of the arguments that it converts to text by the rules of their types."""

RANGE_CHECKED_FUNCTIONS: Final = frozenset(
    {"round", "power", "abs", "sign", "floor", "ceiling", "degrees", "radians"}
)
"""Functions that raise 8115 or 232 if the result does not fit its type."""

UNORDERED_TYPES: Final = frozenset({"xml", "text", "ntext", "image", "geography", "geometry", "hierarchyid"})
"""Types whose values cannot be compared, for example by GREATEST and LEAST. Documented [DOC: GREATEST]."""
