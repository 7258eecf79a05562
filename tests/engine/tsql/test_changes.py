"""Statements that change data and tables: OUTPUT, MERGE, ALTER TABLE and indexes; also KILL."""

from __future__ import annotations

import pytest

from tests.engine.tsql.console import collect_answers, submit_batch
from tests.engine.worlds import P, build_lab

TABLE = "CREATE TABLE #t (id int IDENTITY(1, 1), n varchar(9)) INSERT #t (n) SELECT 'a' UNION ALL SELECT 'b' "


def test_output_returns_inserted_and_deleted_rows() -> None:
    text = """INSERT #t (n) OUTPUT inserted.id, inserted.n SELECT 'c'
        UPDATE #t SET n = n + '!' OUTPUT deleted.n AS before, inserted.n WHERE id < 3
        DELETE FROM #t OUTPUT deleted.* WHERE id = 3"""
    answer = submit_batch(build_lab(), P, TABLE + text)
    assert answer.grids == [[[3, "c"]], [["a", "a!"], ["b", "b!"]], [[3, "c"]]]
    assert answer.columns[1] == ["before", "n"]


def test_output_into_a_table_returns_no_rows() -> None:
    text = """DECLARE @ids TABLE (id int) INSERT #t (n) OUTPUT inserted.id INTO @ids VALUES ('c')
        DELETE #t OUTPUT deleted.id INTO @ids (id) WHERE id = 1 SELECT id FROM @ids ORDER BY id"""
    world = build_lab()
    world.update_instance(P, version=2008)
    assert submit_batch(world, P, TABLE + text).grids == [[[1], [3]]]


MERGE = """CREATE TABLE #m (k int, v int) INSERT #m SELECT 1, 1 UNION SELECT 2, 2 UNION SELECT 4, 4
MERGE #m AS t USING (SELECT 2 AS k, 20 AS v UNION SELECT 3, 30 UNION SELECT 4, 0) AS s ON t.k = s.k
WHEN MATCHED AND s.v > 0 THEN UPDATE SET v = s.v
WHEN MATCHED THEN DELETE
WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = -1
OUTPUT $action, inserted.k, deleted.k;
SELECT k, v FROM #m ORDER BY k"""


def test_merge_uses_the_first_matching_branch_per_row() -> None:
    world = build_lab()
    world.update_instance(P, version=2008)
    actions, rows = submit_batch(world, P, MERGE).grids
    assert sorted(map(str, actions)) == sorted(
        map(str, [["UPDATE", 2, 2], ["UPDATE", 1, 1], ["DELETE", None, 4], ["INSERT", 3, None]])
    )
    assert rows == [[1, -1], [2, 20], [3, 30]]


def test_merge_needs_a_semicolon_and_one_match_per_row() -> None:
    world = build_lab()
    world.update_instance(P, version=2008)
    assert submit_batch(world, P, MERGE.replace("deleted.k;", "deleted.k")).numbers == [10713]
    twice = """CREATE TABLE #m (k int) INSERT #m SELECT 1 MERGE #m AS t USING (VALUES (1, 1), (1, 2)) AS s (k, v)
        ON t.k = s.k WHEN MATCHED THEN DELETE;"""
    assert submit_batch(world, P, twice).numbers == [8672]


def test_columns_are_added_and_dropped() -> None:
    text = "ALTER TABLE #t ADD size int NOT NULL DEFAULT 7 ALTER TABLE #t DROP COLUMN n SELECT * FROM #t"
    assert submit_batch(build_lab(), P, TABLE + text).grids == [[[1, 7], [2, 7]]]
    assert submit_batch(build_lab(), P, "ALTER TABLE #none ADD size int").numbers == [4902]
    assert submit_batch(build_lab(), P, TABLE + "ALTER TABLE #t DROP COLUMN no").numbers == [4924]


def test_an_index_needs_its_table() -> None:
    assert (
        submit_batch(build_lab(), P, TABLE + "CREATE CLUSTERED INDEX i ON #t (id)").texts[-1]
        == "(2 rows affected)"
    )
    assert submit_batch(build_lab(), P, "CREATE INDEX i ON #none (id)").numbers == [1088]


def test_column_names_after_a_derived_table_apply() -> None:
    assert submit_batch(build_lab(), P, "SELECT s.k FROM (SELECT 1 UNION SELECT 2) AS s (k)").grids == [
        [[1], [2]]
    ]


def test_kill_ends_the_connection_of_another_window() -> None:
    world = build_lab(workload="none")
    submit_batch(world, f"{P}#2", "CREATE TABLE #gone (n int)")
    spid = submit_batch(world, f"{P}#2", "SELECT @@SPID").value
    collect_answers(world, f"{P}#2", "WAITFOR DELAY '01:00:00' PRINT 'not reached'")
    assert [answer.numbers for answer in collect_answers(world, P, f"KILL {spid}", 1)] == [[596], []]
    assert submit_batch(world, f"{P}#2", "SELECT * FROM #gone").numbers == [208]


def test_kill_of_oneself_the_system_or_a_missing_session_is_refused() -> None:
    world = build_lab()
    own_spid = submit_batch(world, P, "SELECT @@SPID").value
    assert [submit_batch(world, P, f"KILL {spid}").numbers for spid in (own_spid, 5, 99)] == [
        [6104],
        [6107],
        [6106],
    ]


def test_service_broker_and_namespaces_end_the_batch() -> None:
    for text in (
        "SEND ON CONVERSATION 'x' MESSAGE TYPE m;",
        "WAITFOR (RECEIVE TOP (1) * FROM q), TIMEOUT 1;",
    ):
        answer = submit_batch(build_lab(), P, f"{text} PRINT 'on'")
        assert [text[:14] for text in answer.texts] == ["Not simulated:"]
    assert submit_batch(build_lab(), P, "WITH XMLNAMESPACES ('u' AS n) SELECT 1").texts == [
        "Not simulated: WITH XMLNAMESPACES"
    ]


@pytest.mark.parametrize(
    ("statement", "numbers"),
    [
        ("DECLARE @t TABLE (a int) INSERT @t SELECT 1/0", [8134, 3621]),
        ("CREATE TABLE t (a tinyint) INSERT t VALUES (300)", [220, 3621]),
        ("DECLARE @t TABLE (a decimal(3, 1)) INSERT @t VALUES (123.4)", [8115, 3621]),
        (
            "DECLARE @t TABLE (a int) INSERT @t VALUES (1) UPDATE @t SET a = (SELECT 1 UNION SELECT 2)",
            [512, 3621],
        ),
        ("DECLARE @t TABLE (a int) INSERT @t VALUES ('x')", [245]),
        ("SELECT 1/0", [8134]),
        ("DECLARE @a int SET @a = 1/0", [8134]),
    ],
)
def test_a_wrong_value_ends_a_changing_statement(statement: str, numbers: list[int]) -> None:
    assert submit_batch(build_lab(workload="none"), P, statement).numbers == numbers
