"""Table of messages: wordings by version, and callers that pass all arguments of a message."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import engine
from engine.messages import (
    LEADING_ARGUMENTS,
    MESSAGES,
    PLACEHOLDER_PATTERN,
    count_placeholders,
    fill_message,
    list_messages,
)
from tests.sources import parse_source

SOURCES = sorted(Path(engine.__file__).parent.rglob("*.py"))
NUMBER_INDEX = {"SqlError": 0, "SqlSyntaxError": 1, "write_message": 2, "append_numbered_message": 0}
"""Function that takes a message number -> index of this argument. The arguments of the message follow it."""


@cache
def find_raised_numbers() -> list[tuple[str, int, int]]:
    """Return (source position, number, argument count) of every call with a literal number."""
    calls = []
    for path in SOURCES:
        for node in ast.walk(parse_source(path)):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first_argument = NUMBER_INDEX.get(name)
            if (
                first_argument is None
                or len(node.args) <= first_argument
                or any(isinstance(a, ast.Starred) for a in node.args)
            ):
                continue
            number = node.args[first_argument]
            if isinstance(number, ast.Constant) and isinstance(number.value, int):
                calls.append(
                    (f"{path.name}:{node.lineno}", number.value, len(node.args) - first_argument - 1)
                )
    return calls


def test_raised_message_numbers_are_found_in_the_code() -> None:
    assert len(find_raised_numbers()) > 150


def test_every_raised_number_is_in_the_table() -> None:
    assert [use for use in find_raised_numbers() if use[1] not in MESSAGES] == []


def count_arguments(number: int) -> int:
    """Return the number of arguments that all wordings of a message need. A final %.*ls may stay empty."""
    texts = [(row.since, re.sub(r"(?:\s*%\.\*ls)+$", "", row.text)) for row in MESSAGES[number]]
    return max(
        count_placeholders(text) - len(LEADING_ARGUMENTS.get((number, version), ()))
        for version, text in texts
    )


def test_every_raise_provides_the_arguments_of_its_text() -> None:
    short = [
        use
        for use in find_raised_numbers()
        if use[2] < count_arguments(use[1]) and use[1] not in COMPOSED_NUMBERS
    ]
    assert short == []


COMPOSED_NUMBERS = {0, 3013, 10054, 64, 53, 2}
"""Numbers of messages whose text another module composes."""


@pytest.mark.parametrize("number", [9002, 1408, 1468, 1480, 3104])
def test_texts_changed_in_2012_are_versioned(number: int) -> None:
    arguments = ("Sales", "PRINCIPAL", "MIRROR", "Failover")
    old, new = (
        fill_message(number, *arguments, version=2008)[1],
        fill_message(number, *arguments, version=2012)[1],
    )
    assert old != new
    assert fill_message(number, *arguments, version=2005)[1] == old


# number, severity, whether it is logged, part of the text. [DOC: Database Engine events and errors, 0-999,
# 1000-1999, 3000-3999, 9000-9999, 16000-17999, 28000-30999]
DOCUMENTED_ROWS = [
    (
        823,
        24,
        True,
        "The operating system returned error %ls to SQL Server during a %S_MSG at offset %#016I64x",
    ),
    (127, 15, False, "A TOP N value may not be negative."),
    (402, 16, False, "The data types %s and %s are incompatible in the %s operator."),
    (
        544,
        16,
        False,
        "Cannot insert explicit value for identity column in table '%.*ls' when IDENTITY_INSERT is set to OFF.",
    ),
    (547, 16, False, "The %ls statement conflicted with the %ls constraint"),
    (948, 20, True, "A downgrade path is not supported."),
    (954, 14, False, 'The database "%.*ls" cannot be opened. It is acting as a mirror database.'),
    (1403, 16, True, "received error response %d (state %d) from server instance %.*ls for database %.*ls."),
    (1416, 16, False, 'Database "%.*ls" is not configured for database mirroring.'),
    (1424, 16, False, "has a more recent value for the property '%.*ls'. Property value not changed."),
    (1438, 16, True, "can be of use for diagnostics by Microsoft. This is a transient error"),
    (1440, 10, True, "Database mirroring is active with database '%.*ls' as the principal copy."),
    (1443, 10, True, "Database mirroring has been terminated for database '%.*ls'."),
    (1445, 10, True, "figure out what has changed in the session configuration and undo the change."),
    (1453, 17, True, "or remove mirroring and re-establish the mirror server instance."),
    (1454, 17, True, "encountered error %d, state %d, severity %d when it was acting as a mirroring partner"),
    (1463, 16, False, "Database mirroring is not available in the edition of this SQL Server instance."),
    (1478, 16, False, "has not been taken or has not been restored on the mirror database."),
    (1480, 10, False, 'is changing roles from "%ls" to "%ls" due to %S_MSG.'),
    (1902, 16, False, "Cannot create more than one clustered index on %S_MSG '%.*ls'."),
    (2601, 14, False, "Cannot insert duplicate key row in object '%.*ls' with unique index '%.*ls'."),
    (2741, 16, False, "SET DATEFORMAT date order '%.*ls' is invalid."),
    (3041, 16, True, "BACKUP failed to complete the command %.*ls."),
    (4901, 16, False, "it does not satisfy these conditions."),
    (4922, 16, False, "%ls %.*ls failed because one or more objects access this column."),
    (8120, 16, False, "Column '%.*ls.%.*ls' is invalid in the select list because"),
    (8127, 16, False, 'Column "%.*ls.%.*ls" is invalid in the ORDER BY clause because'),
    (9002, 17, True, "see the log_reuse_wait_desc column in sys.databases"),
    (17053, 16, True, "%ls: Operating system error %ls encountered."),
    (17126, 10, True, "SQL Server is now ready for client connections."),
    (28025, 16, True, "The security certificate bound to database principal (Id: %i) has expired."),
    (28034, 10, False, "does not have CONNECT permission on the endpoint. State %d."),
    (28048, 10, True, "%S_MSG login attempt by user '%.*ls' failed with error: '%.*ls'. %.*ls"),
]


@pytest.mark.parametrize(("number", "severity", "logged", "piece"), DOCUMENTED_ROWS)
def test_rows_match_the_message_tables(number: int, severity: int, logged: bool, piece: str) -> None:
    row = next(row for row in list_messages(2005) if row.number == number)
    assert (row.severity, row.logged) == (severity, logged)
    assert piece in row.text


def test_complete_ranges_are_present() -> None:
    assert len([row for row in list_messages(2005) if 1401 <= row.number <= 1499]) >= 85
    assert {row.number for row in list_messages(2014)} >= {
        *range(28027, 28044),
        *range(17162, 17165),
        976,
        1487,
    }
    assert 976 not in {row.number for row in list_messages(2008)}


def test_own_wordings_are_not_listed_as_official() -> None:
    ours = {row[0].number for row in MESSAGES.values() if row[0].source not in ("doc", "log")}
    assert ours
    assert not ours & {row.number for row in list_messages(2014)}


def test_numbers_are_formatted_by_their_placeholders() -> None:
    text = fill_message(823, "2(not found)", "read", 8192, "D:\\Data\\Sales.mdf")[1]
    assert "during a read at offset 0x00000000002000 in file 'D:" in text
    assert fill_message(3450, "Sales", 5, 100, 0, 3)[1].startswith(
        "Recovery of database 'Sales' (5) is 100% complete"
    )
    assert fill_message(3014, "BACKUP LOG", 12, 0, 7, 3, 40)[1].endswith("in 0.007 seconds (3.040 MB/sec).")


def test_no_text_keeps_a_foreign_placeholder() -> None:
    left = [row.number for rows in MESSAGES.values() for row in rows if re.search(r"\{\d\}", row.text)]
    assert left == []
    assert PLACEHOLDER_PATTERN.search("%S_PGID")


def test_an_unknown_number_is_an_internal_error() -> None:
    with pytest.raises(KeyError):
        fill_message(999_999)


@pytest.mark.parametrize(
    ("number", "version", "part"),
    [
        (3908, 2005, "bypass recovery mode"),
        (3908, 2014, "emergency mode or is damaged"),
        (19476, 2014, "failed. The WSFC service"),
        (19476, 2022, "failed. If this is a WSFC availability group"),
        (443, 2005, "time-dependent operator in"),
        (443, 2008, "a side-effecting operator"),
    ],
)
def test_a_text_depends_on_the_version(number: int, version: int, part: str) -> None:
    assert part in fill_message(number, "x", version=version)[1]
