"""Answers of SQL Server: each line of answers/*.txt is `statement => answer`.

An answer is `a | b / c | d` (rows of all result sets in order), `"text" "text"` (messages), or `Msg n, n`. A
line with # names the page of the documentation. A line with ? is known to fail. `@2005 statement` runs in
that version, others in 2014.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.tsql.console import Answer, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

ROW_COUNT_TEXT = re.compile(r"\(\d+ rows? affected\)")
IGNORED_MESSAGES = {3621, 5701, 5703}
"""Numbers of accompanying messages that are not compared."""


def list_cases() -> Iterator[object]:
    for path in sorted((Path(__file__).parent / "answers").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                statement, _, answer = line.removeprefix("? ").partition(" =>")
                marks = [pytest.mark.xfail(strict=True)] if line.startswith("?") else []
                yield pytest.param(statement, answer.removeprefix(" "), marks=marks)


def format_answer(answer: Answer, wanted: str) -> str:
    """Format the answer in the form of *wanted*."""
    if wanted.startswith("Msg"):
        shown_errors = [
            m
            for m in read_field(answer.event, "messages")
            if m["severity"] > 10 and m["number"] not in IGNORED_MESSAGES
        ]
        return "Msg " + ", ".join(str(m["number"]) for m in shown_errors)
    if wanted.startswith('"'):
        shown_texts = [
            m["text"] for m in read_field(answer.event, "messages") if m["number"] not in IGNORED_MESSAGES
        ]
        return " ".join(f'"{text}"' for text in shown_texts if not ROW_COUNT_TEXT.fullmatch(text))
    errors = [
        m["text"]
        for m in read_field(answer.event, "messages")
        if m["severity"] > 10 or "Not sim" in m["text"]
    ]
    rows = [" | ".join(format_cell(value) for value in row) for grid in answer.grids for row in grid]
    return " / ".join([*rows, *errors])


def format_cell(value: object) -> str:
    if value is None:
        return "NULL"
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


@pytest.mark.parametrize(("statement", "wanted"), list(list_cases()))
def test_the_result_matches_sql_server(statement: str, wanted: str) -> None:
    world = build_lab(workload="none")
    version = re.match(r"@(\d{4}) ", statement)
    world.update_instance(P, version=int(version[1]) if version else 2014)
    query = statement[version.end() :] if version else statement
    assert format_answer(submit_batch(world, P, query, wait_s=3), wanted) == wanted


@pytest.mark.parametrize(
    ("statement", "state"),
    [
        ("CREATE TABLE t (a int) CREATE TABLE t (a int)", 6),
        ("EXEC ('CREATE PROC p AS SELECT 1') EXEC ('CREATE PROC p AS SELECT 1')", 3),
        ("DROP TABLE nope", 5),
        ("EXEC nope", 62),
        ("SELECT 1 FROM nope", 1),
        ("SELECT CAST('x' AS uniqueidentifier)", 2),
        ("SELECT CAST(300 AS tinyint)", 2),
        ("SELECT CAST(40000 AS smallint)", 1),
        ("SELECT CAST('31/12/2024' AS datetime)", 3),
        ("SELECT CAST(123456 AS decimal(5, 2))", 8),
        ("SELECT LEFT('a', -1)", 3),
        ("SELECT 1 WHERE NEWID() = 5", 2),
        ("SELECT nofunc(1)", 10),
        ("SELECT * FROM a.b.c.d", 2),
        ("SELECT a FROM (SELECT 1) t", 2),
        ("EXEC sp_executesql 'SELECT 1'", 2),
        ("RESTORE FILELISTONLY FROM DISK = 'nofile.bak'", 2),
        (r"CREATE DATABASE x ON (FILENAME = 'C:\nofile.mdf') FOR ATTACH", 101),
    ],
)
def test_the_error_state_matches_public_outputs(statement: str, state: int) -> None:
    messages = read_field(submit_batch(build_lab(workload="none"), P, statement, wait_s=3).event, "messages")
    assert [message["state"] for message in messages if message["number"] not in (0, 3013)] == [state]
