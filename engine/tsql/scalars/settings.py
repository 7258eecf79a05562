"""SET options of a connection that change the results of queries."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from engine.messages import SqlError
from engine.tsql.scalars import languages
from engine.tsql.scalars.date_values import US_CULTURE, Culture
from engine.tsql.scalars.types import UNLIMITED_LENGTH, SqlType
from engine.tsql.scalars.values import Scalar

SetOptions = tuple[tuple[str, str], ...]
"""SET options of a connection that differ from the default, as (name, value)."""

DEADLOCK_PRIORITIES: Final = frozenset({"LOW", "NORMAL", "HIGH", *map(str, range(-10, 11))})
"""Values of SET DEADLOCK_PRIORITY. Documented [DOC: SET DEADLOCK_PRIORITY]."""

DATEFORMATS: Final = frozenset({"mdy", "dmy", "ymd", "ydm", "myd", "dym"})
"""Values of SET DATEFORMAT. Documented [DOC: SET DATEFORMAT]."""


class SessionSettings(Struct, frozen=True):
    """SET options that affect the result of a query."""

    culture: Culture = US_CULTURE
    ansi_nulls: bool = True
    """If False, `= NULL` and `<> NULL` compare like IS NULL and IS NOT NULL."""
    concat_null: bool = True
    """If True, the concatenation with NULL is NULL; if False, NULL counts as an empty text."""
    quoted_identifier: bool = True
    """If False, "x" is a string instead of a name."""
    ignores_arithmetic_errors: bool = False
    """True if ARITHABORT and ANSI_WARNINGS are OFF: overflow and division by zero return NULL and print a
    warning.
    """


DEFAULTS: Final = SessionSettings()


@lru_cache(maxsize=128)
def build_settings(options: SetOptions) -> SessionSettings:
    """Return the settings of a connection with these SET options."""
    option_values = dict(options)

    def is_enabled(name: str) -> bool:
        return option_values.get(name, "ON") != "OFF"

    ansi = option_values.get("ANSI_DEFAULTS", "ON") != "OFF"
    return SessionSettings(
        culture=_build_culture(
            option_values.get("LANGUAGE", ""),
            option_values.get("DATEFORMAT", ""),
            option_values.get("DATEFIRST", ""),
        ),
        ansi_nulls=is_enabled("ANSI_NULLS") and ansi,
        concat_null=is_enabled("CONCAT_NULL_YIELDS_NULL"),
        quoted_identifier=is_enabled("QUOTED_IDENTIFIER") and ansi,
        ignores_arithmetic_errors=not is_enabled("ARITHABORT") and not is_enabled("ANSI_WARNINGS"),
    )


def _build_culture(language: str, dateformat: str, datefirst: str) -> Culture:
    selected_language = languages.find_language(language) or languages.ENGLISH
    first = int(datefirst) if datefirst else selected_language.datefirst
    return Culture(selected_language, dateformat or selected_language.dateformat, first)


CONTEXT_BYTES: Final = 128
"""Length of CONTEXT_INFO in bytes [DOC: SET CONTEXT_INFO]. Padding of shorter values with zeros is seen in
public output.
"""


def get_context_info(options: SetOptions) -> bytes | None:
    """Return the value of SET CONTEXT_INFO; None if the connection has not set it."""
    stored = dict(options).get("CONTEXT_INFO")
    return None if stored is None else bytes.fromhex(stored)


def parse_deadlock_priority(setting: str) -> int:
    """Convert the value of SET DEADLOCK_PRIORITY to a number from -10 to 10 [DOC: SET DEADLOCK_PRIORITY]."""
    named_priorities = {"LOW": -5, "NORMAL": 0, "HIGH": 5}
    return (
        named_priorities[setting]
        if setting in named_priorities
        else int(setting)
        if setting.lstrip("-").isdigit()
        else 0
    )


TEXT_BYTES_MAX: Final = 2**31 - 1


def get_text_size(options: SetOptions) -> int:
    """Return the maximum number of bytes that a client receives of a long value [DOC: SET TEXTSIZE]."""
    size = int(dict(options).get("TEXTSIZE", TEXT_BYTES_MAX))
    return {0: 4096, -1: TEXT_BYTES_MAX}.get(size, size)


def truncate_long_values(
    rows: list[tuple[Scalar, ...]], kinds: Sequence[SqlType | None], options: SetOptions
) -> list[tuple[Scalar, ...]]:
    """Cut the values of (max) and text types in *rows* to TEXTSIZE bytes."""
    size = get_text_size(options)
    if size == TEXT_BYTES_MAX or not kinds:
        return rows
    sizes = [_get_size_in_characters(kind, size) for kind in kinds]
    return [
        tuple(v[:count] if isinstance(v, str | bytes) else v for v, count in zip(row, sizes, strict=True))
        for row in rows
    ]


def _get_size_in_characters(kind: SqlType | None, size: int) -> int | None:
    if kind is None or not (kind.length == UNLIMITED_LENGTH or kind.name in ("text", "ntext", "image")):
        return None
    return size // 2 if kind.name.startswith("n") else size


class UnsimulatedValueError(Exception):
    """Error for a value that SQL Server supports but this simulation does not."""


def check_setting(name: str, value: str) -> str:
    """Check the value of SET *name* and return it in its stored form.

    Raises 2740, 2741, 2742 or 2755, or UnsimulatedValueError.
    """
    if name == "LANGUAGE":
        language = languages.find_language(value)
        if language is None:
            raise (
                UnsimulatedValueError
                if value.casefold() in languages.UNSIMULATED_LANGUAGES
                else SqlError(2740, value)
            )
        return language.name
    if name == "DATEFORMAT":
        if value.lower() not in DATEFORMATS:
            raise SqlError(2741, value)
        return value.lower()
    if name == "DATEFIRST":
        if not (value.isdecimal() and 1 <= int(value[:3]) <= 7):
            raise SqlError(2742, value)
        return value
    if name == "DEADLOCK_PRIORITY" and value.upper() not in DEADLOCK_PRIORITIES:
        raise SqlError(2755, -10, 10)
    return value


EFFECTIVE_OPTIONS: Final = frozenset(
    {
        "LANGUAGE", "DATEFORMAT", "DATEFIRST", "ANSI_NULLS", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER",
        "ARITHABORT", "ANSI_WARNINGS", "ANSI_DEFAULTS", "NOCOUNT", "ROWCOUNT", "XACT_ABORT", "NOEXEC", "PARSEONLY",
        "IDENTITY_INSERT", "IMPLICIT_TRANSACTIONS", "LOCK_TIMEOUT", "DEADLOCK_PRIORITY", "TRANSACTION", "TEXTSIZE",
        "ANSI_PADDING", "ANSI_NULL_DFLT_ON", "ANSI_NULL_DFLT_OFF", "CURSOR_CLOSE_ON_COMMIT", "NO_BROWSETABLE",
        "QUERY_GOVERNOR_COST_LIMIT", "CONTEXT_INFO", "STATISTICS", "FMTONLY", "OFFSETS", "ARITHIGNORE",
        "NUMERIC_ROUNDABORT", "FORCEPLAN", "SHOWPLAN_ALL", "SHOWPLAN_TEXT", "SHOWPLAN_XML", "REMOTE_PROC_TRANSACTIONS",
        "DISABLE_DEF_CNST_CHK", "FIPS_FLAGGER",
    }
)  # fmt: skip
"""SET options that have an effect in the simulation. Documented [DOC: SET statements]."""

OPTIONS_WITHOUT_EFFECT: Final = {
    "NUMERIC_ROUNDABORT": "OFF", "FORCEPLAN": "OFF", "SHOWPLAN_ALL": "OFF", "SHOWPLAN_TEXT": "OFF",
    "SHOWPLAN_XML": "OFF", "ARITHIGNORE": "OFF", "CURSOR_CLOSE_ON_COMMIT": "OFF",
    "STATISTICS": "OFF", "ANSI_NULL_DFLT_OFF": "OFF", "ANSI_PADDING": "ON", "REMOTE_PROC_TRANSACTIONS": "OFF",
    "IDENTITY_INSERT": "OFF", "OFFSETS": "OFF", "FIPS_FLAGGER": "OFF",
    "QUERY_GOVERNOR_COST_LIMIT": "0", "DISABLE_DEF_CNST_CHK": "OFF",
}  # fmt: skip
"""Option without an effect here -> only value that is accepted. Other values are reported as not simulated."""

PARTLY_SIMULATED_OPTIONS: Final = {
    "ANSI_WARNINGS": "SET ANSI_WARNINGS OFF for texts that are too long: they stay refused",
    "ANSI_DEFAULTS": "SET ANSI_DEFAULTS for more than ANSI_NULLS and QUOTED_IDENTIFIER",
}
"""Partly simulated option -> its part that is not simulated."""
