"""Constraints and indexes: results of statements, and rows afterwards."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab

SETUP = """USE Sales
CREATE TABLE p (id int PRIMARY KEY, n varchar(10) UNIQUE)
CREATE TABLE c (a int, b int, CONSTRAINT pk_c PRIMARY KEY (a, b), x int CHECK (x > 0), y AS x * 2,
    pid int REFERENCES p(id), i int IDENTITY(5, 5))
INSERT p SELECT 1, 'a' UNION ALL SELECT 2, 'b'
INSERT c (a, b, x, pid) VALUES (1, 1, 5, 1)
"""

REFUSED_CHANGES = (
    ("INSERT c (a, b, x) VALUES (1, 1, 6)", 2627, "Violation of PRIMARY KEY constraint 'pk_c'"),
    ("INSERT p VALUES (3, 'A')", 2627, "Violation of UNIQUE KEY constraint 'UQ__p__"),
    ("INSERT c (a, b, x) VALUES (2, 1, -6)", 547, "INSERT statement conflicted with the CHECK constraint"),
    ("UPDATE c SET x = -1", 547, "UPDATE statement conflicted with the CHECK constraint"),
    ("INSERT c (a, b, x, pid) VALUES (2, 1, 6, 9)", 547, "table \"dbo.p\", column 'id'"),
    ("DELETE p WHERE id = 1", 547, "DELETE statement conflicted with the REFERENCE constraint"),
    ("UPDATE c SET y = 1", 271, "computed column"),
    ("UPDATE c SET i = 1", 8102, "identity column 'i'"),
    ("INSERT c (a, b, i) VALUES (2, 1, 6)", 544, "IDENTITY_INSERT is set to OFF"),
    ("INSERT c VALUES (2, 1, 6, 1, 9)", 8101, "column list"),
    ("CREATE TABLE q (a int REFERENCES nosuch(a))", 1767, "invalid table 'nosuch'"),
    ("CREATE TABLE q (a int REFERENCES c(x))", 1776, "no primary or candidate keys"),
    ("CREATE TABLE q (a int PRIMARY KEY, b int PRIMARY KEY)", 8110, "multiple PRIMARY KEY"),
    ("CREATE UNIQUE INDEX ix ON p (nocol)", 1911, "nocol"),
    ("ALTER TABLE c ADD CONSTRAINT k CHECK (x > 5)", 547, "ALTER TABLE statement conflicted"),
    ("ALTER TABLE c DROP COLUMN x", 5074, "is dependent on column 'x'"),
    ("ALTER TABLE c DROP CONSTRAINT nosuch", 3728, "'nosuch' is not a constraint"),
    ("ALTER TABLE c ADD z int NOT NULL", 4901, "Column 'z'"),
    ("SET IDENTITY_INSERT p ON", 8106, "identity property"),
)


@pytest.mark.parametrize(
    ("text", "number", "message"), REFUSED_CHANGES, ids=[str(case[:1]) for case in REFUSED_CHANGES]
)
def test_a_constraint_violation_is_refused_and_changes_nothing(text: str, number: int, message: str) -> None:
    world = build_lab(workload="none")
    assert submit_batch(world, P, SETUP, wait_s=60).numbers == []
    answer = submit_batch(world, P, text, wait_s=60)
    assert answer.numbers[0] == number
    assert message in " ".join(answer.texts)
    result = submit_batch(world, P, "SELECT a, b, x, y, pid, i FROM c SELECT id, n FROM p", wait_s=60)
    assert result.grids == [[[1, 1, 5, 10, 1, 5]], [[1, "a"], [2, "b"]]]


VALID_CHANGES = (
    ("UPDATE c SET x = 7 SELECT x, y FROM c", [[7, 14]]),
    ("INSERT c (a, b) VALUES (1, 2) SELECT a, b, x, y FROM c WHERE b = 2", [[1, 2, None, None]]),
    ("SET IDENTITY_INSERT c ON INSERT c (a, b, i) VALUES (2, 1, 60) SET IDENTITY_INSERT c OFF "
     "INSERT c (a, b) VALUES (3, 3) SELECT i FROM c ORDER BY i", [[5], [60], [65]]),
    ("CREATE TABLE #i (a int PRIMARY KEY WITH (IGNORE_DUP_KEY = ON)) INSERT #i SELECT 1 UNION ALL SELECT 1 "
     "SELECT @@ROWCOUNT, a FROM #i", [[1, 1]]),
    ("CREATE TABLE #k (o nchar(9), c int, [t] int PRIMARY KEY(o, c)) INSERT #k VALUES ('a', 1, 1) "
     "INSERT #k VALUES ('a', 2, 1) SELECT COUNT(*) FROM #k", [[2]]),
    ("ALTER TABLE c ADD z int NOT NULL DEFAULT 4 EXEC ('SELECT z FROM c')", [[4]]),
    ("DELETE c DELETE p WHERE id = 1 SELECT id FROM p", [[2]]),
    ("DECLARE @t TABLE (a int, b AS a + 1) INSERT @t (a) VALUES (1) SELECT b FROM @t", [[2]]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "rows"), VALID_CHANGES, ids=[case[0][:40] for case in VALID_CHANGES])
def test_valid_changes_are_accepted(text: str, rows: list[list[object]]) -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, SETUP, wait_s=60)
    answer = submit_batch(world, P, text, wait_s=60)
    assert (answer.grids[-1], [number for number in answer.numbers if number != 3604]) == (rows, [])


def test_a_foreign_key_with_cascading_changes_is_refused_by_name() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, SETUP, wait_s=60)
    text = "ALTER TABLE c ADD CONSTRAINT f FOREIGN KEY (b) REFERENCES p (id) ON DELETE CASCADE"
    assert submit_batch(world, P, text).texts == [
        "Not simulated: foreign keys with ON DELETE or ON UPDATE CASCADE"
    ]


def test_keys_and_indexes_are_in_the_catalog() -> None:
    world = build_lab(workload="none")
    submit_batch(world, P, f"{SETUP} CREATE INDEX ix ON p (n)", wait_s=60)
    text = """SELECT t.name, i.index_id, i.type_desc, i.is_primary_key, i.is_unique
        FROM sys.tables t JOIN sys.indexes i ON i.object_id = t.object_id ORDER BY t.name, i.index_id"""
    assert submit_batch(world, P, text).grids == [
        [
            ["c", 1, "CLUSTERED", 1, 1],
            ["p", 1, "CLUSTERED", 1, 1],
            ["p", 3, "NONCLUSTERED", 0, 1],
            ["p", 4, "NONCLUSTERED", 0, 0],
        ]
    ]
    assert submit_batch(world, P, "SELECT SCHEMA_ID('nope'), SCHEMA_ID('sys'), DB_NAME(0)").grids == [
        [[None, 4, "Sales"]]
    ]
