"""Row locks between windows: waits, NOLOCK and READPAST, deadlocks, and the dynamic views."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import Answer, collect_answers, run_seconds, submit_batch
from tests.engine.worlds import P, apply_lines, build_lab
from tests.events import read_field

A, B, C = f"{P}#a", f"{P}#b", f"{P}#c"


def build_world_with_table(database: str = "Sales") -> World:
    """Create t (n, k) with rows 1 and 2, and two windows in *database*."""
    world = build_lab(workload="none")
    submit_batch(
        world,
        A,
        f"USE {database} CREATE TABLE t (n int, k int) INSERT t VALUES (1, 0) INSERT t VALUES (2, 0)",
        2,
    )
    submit_batch(world, B, f"USE {database}")
    submit_batch(world, C, f"USE {database}")
    return world


def get_spid(world: World, window: str) -> int:
    session = world.sessions[window].session
    assert session is not None
    return int(session.spid)


def is_waiting(world: World, window: str, text: str) -> bool:
    """Return whether the statement still waits after a second; its window then shows a running batch."""
    return collect_answers(world, window, text, 1) == [] and window in world.batches


def finish_blocker(world: World, window: str, blocker: str, ending: str = "COMMIT") -> Answer:
    """Return the answer of *window* after *blocker* has ended its transaction."""
    ended_answers = [
        a for a in collect_answers(world, blocker, ending, 2) if read_field(a.event, "window") == window
    ]
    return ended_answers[-1]


@pytest.mark.parametrize("database", ["Sales", "master"])
@pytest.mark.parametrize(
    "change",
    ["INSERT t VALUES (3, 0)", "UPDATE t SET k = 5 WHERE n = 1", "DELETE t WHERE n = 2", "TRUNCATE TABLE t"],
)
def test_a_reader_waits_for_a_writer_and_reads_the_result(database: str, change: str) -> None:
    for ending in ("COMMIT", "ROLLBACK"):
        world = build_world_with_table(database)
        submit_batch(world, A, f"BEGIN TRAN {change}")
        grids = submit_batch(world, A, "SELECT * FROM t").grids
        assert is_waiting(world, B, "SELECT * FROM t")
        grids_after = finish_blocker(world, B, A, ending).grids
        assert grids_after == (grids if ending == "COMMIT" else [[[1, 0], [2, 0]]])


@pytest.mark.parametrize(
    ("first_statement", "second_statement", "waiting"),
    [
        ("INSERT t VALUES (3, 0)", "INSERT t VALUES (4, 0)", False),
        ("INSERT t VALUES (3, 0)", "UPDATE t SET k = 1", True),
        ("UPDATE t SET k = 1", "DELETE t", True),
        ("UPDATE t SET k = 1", "ALTER TABLE t ADD m int", True),
        ("UPDATE t SET k = 1", "DROP TABLE t", True),
        ("ALTER TABLE t ADD m int", "INSERT t (n) VALUES (4)", True),
        ("DROP TABLE t", "SELECT * FROM t WITH (NOLOCK)", True),
        ("CREATE TABLE u (n int)", "SELECT * FROM u", True),
        ("UPDATE t SET k = 1", "SELECT * FROM t WITH (NOLOCK)", False),
        ("UPDATE t SET k = 1", "SELECT * FROM t (NOLOCK)", False),
        ("UPDATE t SET k = 1", "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED SELECT * FROM t", False),
        ("UPDATE t SET k = 1", "SELECT * FROM t WITH (READPAST)", False),
        ("UPDATE t SET k = 1", "IF EXISTS (SELECT * FROM t) PRINT 'x'", True),
        ("UPDATE t SET k = 1", "DECLARE @n int SELECT @n = COUNT(*) FROM t", True),
        ("UPDATE t SET k = 1", "DECLARE c CURSOR FOR SELECT n FROM t OPEN c", True),
        ("UPDATE t SET k = 1", "SELECT OBJECT_ID('t')", False),
        ("SELECT * FROM t", "UPDATE t SET k = 1", False),
        ("SELECT * FROM t WITH (HOLDLOCK)", "INSERT t VALUES (3, 0)", True),
        ("SELECT * FROM t WITH (HOLDLOCK)", "SELECT * FROM t", False),
        ("SELECT * FROM t WITH (UPDLOCK)", "SELECT * FROM t", False),
        ("SELECT * FROM t WITH (UPDLOCK)", "SELECT * FROM t WITH (UPDLOCK)", True),
        ("SELECT * FROM t WITH (TABLOCKX)", "SELECT * FROM t", True),
    ],
)
def test_lock_waits_follow_the_compatibility_matrix(
    first_statement: str, second_statement: str, waiting: bool
) -> None:
    world = build_world_with_table()
    submit_batch(world, A, f"BEGIN TRAN {first_statement}")
    assert is_waiting(world, B, second_statement) is waiting
    submit_batch(world, A, "ROLLBACK", 1)
    assert B not in world.batches


def test_isolation_levels_hold_read_locks() -> None:
    for level, changed in (
        ("REPEATABLE READ", "UPDATE t SET k = 1"),
        ("SERIALIZABLE", "INSERT t VALUES (3, 0)"),
    ):
        world = build_world_with_table()
        submit_batch(world, A, f"SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN SELECT * FROM t")
        assert is_waiting(world, B, changed)
        assert finish_blocker(world, B, A).numbers == []
    assert submit_batch(world, A, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT * FROM t").numbers == [
        3952
    ]


def test_dirty_reads_and_readpast_work() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 9 WHERE n = 1 INSERT t VALUES (3, 9)")
    assert submit_batch(world, B, "SELECT n, k FROM t WITH (NOLOCK)").grids == [[[1, 9], [2, 0], [3, 9]]]
    assert submit_batch(world, B, "SELECT n, k FROM t WITH (READPAST)").grids == [[[2, 0]]]
    submit_batch(world, A, "ROLLBACK")
    assert submit_batch(world, B, "SELECT n, k FROM t").grids == [[[1, 0], [2, 0]]]


def test_two_writers_of_different_rows_both_commit() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN INSERT t VALUES (3, 0)")
    submit_batch(world, B, "BEGIN TRAN INSERT t VALUES (4, 0)")
    submit_batch(world, B, "COMMIT", 1)
    submit_batch(world, A, "COMMIT", 1)
    assert submit_batch(world, C, "SELECT n FROM t").grids == [[[1], [2], [3], [4]]]


def test_a_duplicate_key_of_another_transaction_waits() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "CREATE TABLE p (id int PRIMARY KEY)", 1)
    submit_batch(world, A, "BEGIN TRAN INSERT p VALUES (1)")
    assert is_waiting(world, B, "INSERT p VALUES (1)")
    assert finish_blocker(world, B, A).numbers[0] == 2627


def test_lock_timeout_ends_the_wait_and_keeps_the_transaction() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert submit_batch(world, B, "SELECT @@LOCK_TIMEOUT").value == -1
    refused = submit_batch(
        world, B, "SET LOCK_TIMEOUT 1500 BEGIN TRAN SELECT * FROM t SELECT @@TRANCOUNT, @@LOCK_TIMEOUT", 3
    )
    assert (refused.numbers, refused.grids) == ([1222], [[[1, 1500]]])
    assert read_field(refused.event, "elapsed_ticks") in range(150, 180)
    assert submit_batch(world, B, "SET LOCK_TIMEOUT 0 DELETE t").numbers == [1222]
    assert submit_batch(world, B, "SET LOCK_TIMEOUT -1 SELECT @@LOCK_TIMEOUT").value == -1


def test_killing_the_blocker_releases_and_rolls_back() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT k FROM t")
    freed = finish_blocker(world, B, C, f"KILL {get_spid(world, A)}")
    assert freed.grids == [[[0], [0]]]
    assert submit_batch(world, A, "COMMIT").numbers == [596]


def test_a_waiting_statement_can_be_canceled() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    apply_lines(world, f"cancel {B}", wait_s=0.1)
    assert B not in world.batches
    assert submit_batch(world, B, "SELECT 1").value == 1


def test_the_cheaper_session_of_a_deadlock_is_the_victim_after_five_seconds() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "CREATE TABLE u (n int) INSERT u VALUES (1)", 1)
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1 UPDATE t SET k = 2")
    submit_batch(world, B, "BEGIN TRAN UPDATE u SET n = 2")
    assert is_waiting(world, A, "UPDATE u SET n = 3")
    assert is_waiting(world, B, "UPDATE t SET k = 3 SELECT 'not reached'")
    answers_by_window = {
        read_field(event, "window"): Answer(event)
        for event in run_seconds(world, 7)
        if event.kind == "sql_done"
    }
    assert answers_by_window[B].numbers == [1205]
    assert answers_by_window[B].grids == []
    assert answers_by_window[A].numbers == []
    assert submit_batch(world, B, "SELECT @@TRANCOUNT").value == 0
    submit_batch(world, A, "COMMIT", 1)
    assert submit_batch(world, C, "SELECT (SELECT MAX(k) FROM t), (SELECT n FROM u)").grids == [[[2, 3]]]


def test_deadlock_priority_and_catch_work() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "CREATE TABLE u (n int) INSERT u VALUES (1)", 1)
    submit_batch(world, A, "SET DEADLOCK_PRIORITY LOW BEGIN TRAN UPDATE t SET k = 1 UPDATE t SET k = 2")
    submit_batch(world, B, "BEGIN TRAN UPDATE u SET n = 2")
    caught = "BEGIN TRY UPDATE u SET n = 3 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() ROLLBACK END CATCH"
    assert is_waiting(world, A, caught)
    assert is_waiting(world, B, "UPDATE t SET k = 3")
    answers_by_window = {
        read_field(event, "window"): Answer(event)
        for event in run_seconds(world, 8)
        if event.kind == "sql_done"
    }
    assert answers_by_window[A].grids == [[[1205, -1]]]
    assert answers_by_window[B].numbers == []


def test_views_show_the_blocking_session() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1 WHERE n = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    a, b = get_spid(world, A), get_spid(world, B)
    requests = (
        f"SELECT status, blocking_session_id, wait_type FROM sys.dm_exec_requests WHERE session_id = {b}"
    )
    assert submit_batch(world, C, requests).grids == [[["suspended", a, "LCK_M_S"]]]
    assert submit_batch(world, C, f"SELECT blocked FROM sys.sysprocesses WHERE spid = {b}").value == a
    tasks = f"SELECT wait_type, blocking_session_id FROM sys.dm_os_waiting_tasks WHERE session_id = {b}"
    assert submit_batch(world, C, tasks).grids == [[["LCK_M_S", a]]]
    locks_query = """SELECT request_session_id, resource_type, request_mode, request_status FROM sys.dm_tran_locks
        WHERE resource_type <> 'DATABASE' ORDER BY 1, 2, 4"""
    assert submit_batch(world, C, locks_query).grids == [
        [
            [a, "OBJECT", "IX", "GRANT"],
            [a, "PAGE", "IX", "GRANT"],
            [a, "RID", "X", "GRANT"],
            [b, "OBJECT", "IS", "GRANT"],
            [b, "PAGE", "IS", "GRANT"],
            [b, "RID", "S", "WAIT"],
        ]
    ]
    assert len(submit_batch(world, C, "SELECT * FROM sys.dm_tran_locks").columns[0]) == 19
    grid = submit_batch(world, C, f"EXEC sp_lock {a}").grids[0]
    assert [row[4:] for row in grid if row[4] == "TAB"] == [["TAB", "", "IX", "GRANT"]]
    transactions = """SELECT s.session_id, t.transaction_type, d.database_transaction_state
        FROM sys.dm_tran_session_transactions s
        JOIN sys.dm_tran_active_transactions t ON t.transaction_id = s.transaction_id
        JOIN sys.dm_tran_database_transactions d ON d.transaction_id = s.transaction_id"""
    assert submit_batch(world, C, transactions).grids == [[[a, 1, 4]]]


def test_a_role_change_releases_all_locks() -> None:
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    events = apply_lines(world, f"sql {C}x ALTER DATABASE Sales SET PARTNER FAILOVER", wait_s=60)
    answers_by_window = {read_field(e, "window"): Answer(e) for e in events if e.kind == "sql_done"}
    assert answers_by_window[B].numbers == [10054]
    assert submit_batch(world, A, "ROLLBACK").numbers == [10054]


KEY_CASES = (
    "CREATE TABLE k (id int PRIMARY KEY, u varchar(9) UNIQUE, v int) "
    "INSERT k VALUES (1, 'a', 0) INSERT k VALUES (2, 'b', 0)"
)


@pytest.mark.parametrize(
    ("statement", "must_wait"),
    [
        ("SELECT v FROM k WHERE id = 2", False),
        ("SELECT v FROM k x WHERE x.v = 0 AND x.id = 2", False),
        ("DECLARE @i int SET @i = 2 UPDATE k SET v = 1 WHERE id = @i", False),
        ("DELETE k WHERE u = 'b'", False),
        ("SELECT v FROM k WHERE id = 7", False),
        ("SELECT v FROM k WHERE id = 1", True),
        ("UPDATE k SET v = 1 WHERE u = 'A'", True),
        ("SELECT v FROM k WHERE u = 'new'", True),
        ("SELECT v FROM k WHERE v = 0", True),
        ("SELECT v FROM k WHERE id = 2 OR v = 5", True),
        ("SELECT a.v FROM k a JOIN k b ON a.id = b.id WHERE a.id = 2", True),
    ],
)
def test_a_query_by_a_unique_key_waits_only_for_its_row(statement: str, must_wait: bool) -> None:
    """Check documented behavior: [DOC: lock compatibility]."""
    world = build_world_with_table()
    submit_batch(world, A, KEY_CASES, 2)
    submit_batch(world, A, "BEGIN TRAN UPDATE k SET v = 9, u = 'new' WHERE id = 1", 1)
    assert is_waiting(world, B, statement) is must_wait


def test_two_windows_that_lock_each_others_rows_are_a_deadlock() -> None:
    world = build_world_with_table()
    submit_batch(world, A, KEY_CASES, 2)
    for window, first in ((A, 1), (B, 2)):
        submit_batch(world, window, f"BEGIN TRAN UPDATE k SET v = {first} WHERE id = {first}", 1)
    assert is_waiting(world, B, "UPDATE k SET v = 5 WHERE id = 1")
    replies = collect_answers(world, A, "UPDATE k SET v = 6 WHERE id = 2", 8)
    assert [number for answer in replies for number in answer.numbers] == [1205]
    submit_batch(world, A, "COMMIT", 1)
    assert submit_batch(world, A, "SELECT id, v FROM k ORDER BY id", 1).grids == [[[1, 1], [2, 6]]]


RANGE_READER = (
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN SELECT * FROM p WHERE id BETWEEN 10 AND 20"
)


def build_world_with_keys() -> World:
    """Create p with keys 5, 12, 30 and 100, of which a SERIALIZABLE reader has locked the range from 10 to
    20.
    """
    world = build_world_with_table()
    submit_batch(
        world,
        A,
        "CREATE TABLE p (id int PRIMARY KEY, v int) "
        "INSERT p SELECT 5, 1 UNION ALL SELECT 12, 2 UNION ALL SELECT 30, 3 UNION ALL SELECT 100, 4",
        2,
    )
    assert submit_batch(world, A, RANGE_READER).grids == [[[12, 2]]]
    return world


@pytest.mark.parametrize(
    ("statement", "is_blocked"),
    [
        ("INSERT p VALUES (15, 0)", True),
        ("INSERT p VALUES (7, 0)", True),  # the key is in the gap before the first key that was read
        ("INSERT p VALUES (25, 0)", True),  # the key is in the gap before the next key
        ("INSERT p VALUES (500, 0)", False),
        ("INSERT p VALUES (4, 0)", False),
        ("UPDATE p SET v = 9 WHERE id = 12", True),
        ("UPDATE p SET v = 9 WHERE id = 30", True),  # the next key ends the range
        ("UPDATE p SET v = 9 WHERE id = 100", False),
        ("UPDATE p SET id = 16 WHERE id = 100", True),
        ("DELETE p WHERE id = 12", True),
        ("TRUNCATE TABLE p", True),
        ("SELECT * FROM p WHERE id = 12", False),
    ],
)
def test_a_serializable_reader_locks_a_range_of_keys(statement: str, is_blocked: bool) -> None:
    answer = submit_batch(build_world_with_keys(), B, f"SET LOCK_TIMEOUT 100 {statement}", 2)
    assert (answer.numbers == [1222]) is is_blocked, answer.texts


@pytest.mark.parametrize(
    ("condition", "inserted", "is_blocked"),
    [
        ("id = 12", 13, False),  # a condition that finds one key in a unique index locks no gap
        ("id = 60", 61, True),
        ("id = 60", 101, False),
        ("id > 50", 40, True),
        ("id > 50", 900, True),
        ("20 > id AND id >= @from", 40, False),
        ("v = 1", 900, True),  # no index begins with the column
    ],
)
def test_the_range_follows_the_condition(condition: str, inserted: int, is_blocked: bool) -> None:
    world = build_world_with_keys()
    submit_batch(
        world, A, f"COMMIT BEGIN TRAN DECLARE @from int SET @from = 6 SELECT * FROM p WHERE {condition}", 1
    )
    answer = submit_batch(world, B, f"SET LOCK_TIMEOUT 100 INSERT p VALUES ({inserted}, 0)", 2)
    assert (answer.numbers == [1222]) is is_blocked, answer.texts


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM plain {hint} WHERE k = 12",
        "SELECT * FROM every {hint} WHERE id = 12",
        "SELECT k FROM nested {hint} WHERE k = 12",
        "SELECT k FROM joined {hint} WHERE k = 12",
        "SELECT * FROM plain p {hint} JOIN q ON q.id = p.k WHERE q.id = 12",
        "SELECT * FROM (SELECT id AS k FROM p {hint}) d WHERE d.k = 12",
        "SELECT * FROM (SELECT k FROM (SELECT id AS k FROM p {hint}) a) d WHERE d.k = 12",
        "WITH d AS (SELECT * FROM p {hint}) SELECT * FROM d WHERE id = 12",
        "SELECT v, id FROM (SELECT v, id FROM p {hint} GROUP BY v, id) d WHERE id = 12",
    ],
)
def test_conditions_and_hints_of_a_query_reach_the_tables_behind_views(query: str) -> None:
    """Views and subqueries are not materialized; hints apply to all tables of a view [DOC: table hints]."""
    world = build_world_with_keys()
    views = {
        "plain": "SELECT id AS k, v FROM p",
        "every": "SELECT * FROM p",
        "nested": "SELECT k FROM plain",
        "joined": "SELECT p.id AS k FROM p JOIN q ON q.id = p.id",
    }
    submit_batch(
        world, A, "COMMIT CREATE TABLE q (id int PRIMARY KEY) INSERT q SELECT 12 UNION ALL SELECT 30", 1
    )
    for name, text in views.items():
        submit_batch(world, A, f"CREATE VIEW {name} AS {text}", 1)
    submit_batch(world, A, f"BEGIN TRAN; {query.format(hint='WITH (HOLDLOCK, UPDLOCK)')}", 1)
    changes = {"UPDATE p SET v = 9 WHERE id = 30": [], "UPDATE p SET v = 9 WHERE id = 12": [1222]}
    for change, numbers in changes.items():
        assert submit_batch(world, B, f"SET LOCK_TIMEOUT 100 {change}", 2).numbers == numbers
    answer = submit_batch(world, B, f"SET LOCK_TIMEOUT 100; {query.format(hint='WITH (NOLOCK)')}", 2)
    assert (answer.numbers, len(answer.grids[0])) == ([], 1)


def test_views_show_range_locks_and_the_insert_that_waits() -> None:
    world = build_world_with_keys()
    assert is_waiting(world, B, "INSERT p VALUES (15, 0)")
    locked = "SELECT request_mode, COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'KEY' GROUP BY request_mode"
    assert submit_batch(world, C, f"{locked} ORDER BY 1").grids == [[["RangeI-N", 1], ["RangeS-S", 2]]]
    wait = "SELECT wait_type, blocking_session_id FROM sys.dm_exec_requests WHERE blocking_session_id > 0"
    assert submit_batch(world, C, wait).grids == [[["LCK_M_RIn_NL", get_spid(world, A)]]]
    assert finish_blocker(world, B, A).texts == ["(1 row affected)"]
    assert (
        submit_batch(world, C, "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'KEY'").value
        == 0
    )


KEY_TYPES = {
    "varchar": ("k varchar(20)", "'{1}'"),
    "datetime": ("k datetime", "'2026-01-01T00:00:{0:02}'"),
    "decimal": ("k decimal(20, 5)", "{0}.5"),
    "composite": ("a int, k varchar(20)", "'{1}'"),
}
"""Type of a key -> its columns, and the value with place {0} in the order, or with text {1}."""

TEXT_KEYS = ("aa", "ab", "ba", "Bc", "bd", "be", "bz", "ca", "d")
"""Texts in the order of the collation. Rows have the texts at places 1, 3, 5 and 7; the others lie in gaps."""

READ_BY_OPERAND = {
    "{3}": ("=", {3}, set(), set()),
    "{4}": ("=", set(), {5}, {4}),
    "{3} AND {5}": ("BETWEEN", {3, 5}, {7}, {2, 4, 6}),
    "({3}, {5})": ("IN", {3, 5}, set(), set()),
    "'B%'": ("LIKE", {3, 5}, {7}, {2, 4, 6}),
    "": ("", {1, 3, 5, 7}, set(), {0, 2, 4, 6, 8}),
}
"""Operand of a condition on the key -> operator, rows read, next key, and gaps that a SERIALIZABLE reader locks.

Documented [DOC: key-range locking]: range scan, singleton fetch, fetch of nonexistent data.
"""

LOCK_BY_HINT = {
    "REPEATABLEREAD": ("S", False),
    "UPDLOCK": ("U", False),
    "XLOCK": ("X", False),
    "HOLDLOCK": ("S", True),
    "UPDLOCK, HOLDLOCK": ("U", True),
}
"""Table hints -> mode of the row locks, and whether they include key ranges [DOC: table hints]."""


@pytest.mark.parametrize(
    ("key_type", "operand"),
    [
        (key_type, operand)
        for key_type in KEY_TYPES
        for operand in READ_BY_OPERAND
        if key_type[0] in "vc" or "%" not in operand
    ],
)
def test_readers_lock_rows_and_ranges_of_keys_of_every_type(key_type: str, operand: str) -> None:
    """Readers with each hint have read by the key. A second session then tries to change rows and gaps."""
    columns, pattern = KEY_TYPES[key_type]
    is_composite = key_type == "composite"
    first_value = "1, " if is_composite else ""
    values = [pattern.format(place, text) for place, text in enumerate(TEXT_KEYS)]
    equals = ["a = 1 AND k = " * is_composite + value * is_composite or f"k = {value}" for value in values]
    world = build_world_with_table()
    key = "a, k" if is_composite else "k"
    rows = " ".join(f"INSERT q VALUES ({first_value}{values[place]}, 0)" for place in (1, 3, 5, 7))
    submit_batch(world, A, f"CREATE TABLE q ({columns}, v int, PRIMARY KEY ({key})) {rows}", 2)
    operator, read_rows, next_keys, gaps = READ_BY_OPERAND[operand]
    where = f"WHERE {'a = 1 AND ' * is_composite}k {operator} {operand.format(*values)}" * bool(operand)
    for hints, (mode, is_serializable) in LOCK_BY_HINT.items():
        submit_batch(world, A, f"BEGIN TRAN SELECT * FROM q WITH ({hints}) {where}")
        locked = read_rows | next_keys if is_serializable else read_rows
        statements: list[tuple[str, bool]] = []
        statements.append((f"SELECT v FROM q WHERE {equals[3]}", 3 in locked and mode == "X"))
        for place in (1, 3, 7):
            is_locked = place in locked
            statements += [
                (f"SELECT v FROM q WITH (UPDLOCK) WHERE {equals[place]}", is_locked and mode != "S"),
                (f"UPDATE q SET v = 1 WHERE {equals[place]}", is_locked),
            ]
        for place in (0, 2, 4, 8):
            statements.append(
                (f"INSERT q VALUES ({first_value}{values[place]}, 0)", is_serializable and place in gaps)
            )
        batch = " ".join(statement for statement, _ in statements)
        texts = submit_batch(world, B, f"SET LOCK_TIMEOUT 0 BEGIN TRAN {batch} ROLLBACK", 0.1).texts
        outcomes = [
            (statement, "1222" in text) for (statement, _), text in zip(statements, texts, strict=True)
        ]
        assert outcomes == statements, (hints, where)
        submit_batch(world, A, "ROLLBACK")


def try_statements(world: World, window: str, statements: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return each statement with the result: whether a lock of another session blocks it."""
    batch = " ".join(f"BEGIN TRAN {statement} ROLLBACK" for statement, _ in statements)
    texts = submit_batch(world, window, f"SET LOCK_TIMEOUT 0 {batch}", 0.1).texts
    return [(statement, "1222" in text) for (statement, _), text in zip(statements, texts, strict=True)]


CREATE_INDEXED_TABLE = (
    "CREATE TABLE x (id int PRIMARY KEY, grade int, name varchar(9), v int) CREATE INDEX by_grade ON x (grade) "
    "CREATE INDEX by_name ON x (name DESC) INSERT x SELECT 1, 10, 'a', 1 UNION ALL SELECT 2, 10, 'b', 2 "
    "UNION ALL SELECT 3, 20, 'c', 3 UNION ALL SELECT 4, 30, 'd', 4"
)


@pytest.mark.parametrize(
    ("holder", "statements"),
    [
        (  # [DOC: SET TRANSACTION ISOLATION LEVEL]: a scan reads all rows and keeps the locks of all of them
            "SELECT * FROM x WITH (REPEATABLEREAD) WHERE v = 1",
            [("UPDATE x SET v = 9 WHERE id = 4", True), ("INSERT x VALUES (9, 9, 'z', 9)", False)],
        ),
        (  # a scan keeps update locks only on matching rows, but another scan must lock these rows, too
            "SELECT * FROM x WITH (UPDLOCK) WHERE v = 1",
            [
                ("UPDATE x SET v = 9 WHERE id = 4", False),
                ("UPDATE x SET v = 9 WHERE id = 1", True),
                ("SELECT * FROM x WITH (UPDLOCK) WHERE v = 4", True),
                ("SELECT * FROM x WITH (UPDLOCK, READPAST) WHERE v = 4", False),
            ],
        ),
        (  # an index that is not unique: equal keys have gaps around them
            "SELECT * FROM x WITH (HOLDLOCK) WHERE grade = 10",
            [
                ("INSERT x VALUES (9, 10, 'z', 9)", True),
                ("INSERT x VALUES (9, 15, 'z', 9)", True),
                ("INSERT x VALUES (9, 25, 'z', 9)", False),
                ("UPDATE x SET v = 9 WHERE id = 3", True),
                ("UPDATE x SET v = 9 WHERE id = 4", False),
                ("UPDATE x SET grade = 10 WHERE id = 4", True),
            ],
        ),
        (  # a descending index, and a condition on its first column only
            "SELECT * FROM x WITH (HOLDLOCK) WHERE name = 'c'",
            [
                ("INSERT x VALUES (9, 9, 'c', 9)", True),
                ("INSERT x VALUES (9, 9, 'bb', 9)", True),
                ("INSERT x VALUES (9, 9, 'aa', 9)", False),
                ("UPDATE x SET v = 9 WHERE id = 2", True),
                ("UPDATE x SET v = 9 WHERE id = 4", False),
            ],
        ),
        (  # a reader of a range waits only for changes of its rows
            "UPDATE x SET v = 9 WHERE id = 4",
            [
                ("SELECT * FROM x WHERE id < 4", False),
                ("SELECT * FROM x WHERE id > 2", True),
                ("SELECT TOP 2 * FROM x ORDER BY id", False),
                ("SELECT TOP 2 * FROM x ORDER BY id DESC", True),
                ("SELECT * FROM x WHERE id IN (1, 3)", False),
                ("SELECT * FROM x WITH (TABLOCK) WHERE id = 1", True),
                ("UPDATE x SET v = 9 WHERE id + 0 = 1", True),
            ],
        ),
        (
            "SELECT * FROM x WITH (TABLOCK, HOLDLOCK) WHERE id = 1",
            [("UPDATE x SET v = 9 WHERE id = 4", True), ("SELECT * FROM x WITH (TABLOCK)", False)],
        ),
        (  # UPDLOCK on a whole table is an exclusive lock [DOC: table hints]
            "SELECT * FROM x WITH (TABLOCK, UPDLOCK) WHERE id = 1",
            [("SELECT * FROM x WHERE id = 4", True), ("SELECT * FROM x WITH (NOLOCK)", False)],
        ),
        (
            "UPDATE x WITH (SERIALIZABLE) SET v = 9 WHERE id BETWEEN 2 AND 3",
            [
                ("SELECT * FROM x WHERE id = 4", False),
                ("UPDATE x SET v = 9 WHERE id = 4", True),
                ("UPDATE x SET v = 9 WHERE id = 1", False),
            ],
        ),
    ],
)
def test_locks_follow_the_index_or_the_scan(holder: str, statements: list[tuple[str, bool]]) -> None:
    world = build_world_with_table()
    submit_batch(world, A, CREATE_INDEXED_TABLE, 2)
    submit_batch(world, A, f"BEGIN TRAN {holder}")
    assert try_statements(world, B, statements) == statements


JOINED = [
    ("UPDATE TOP (1) x SET v = 8 WHERE id < 3", False),
    ("DELETE TOP (1) FROM x", False),
    ("DELETE TOP (4) FROM x", True),
    ("UPDATE x SET v = 8 FROM x JOIN y ON x.id = y.k WHERE x.id = 1", False),
    ("UPDATE x SET v = 8 FROM x JOIN y ON x.id = y.k WHERE y.k = 1", False),
    ("UPDATE x SET v = 8 FROM x JOIN y ON x.id = y.k", True),
    ("DELETE x FROM x JOIN y ON x.id = y.k WHERE y.k > 2", True),
    ("DELETE x FROM x JOIN y ON x.id = y.k WHERE y.k > 9", False),
    ("SELECT * FROM y JOIN x ON x.id = y.k AND y.k = 1", False),
    ("SELECT * FROM y LEFT JOIN x ON x.id = y.k WHERE y.k = 1", False),
    ("SELECT * FROM x LEFT JOIN y ON x.id = y.k AND x.id = 1", True),
    ("SELECT * FROM x RIGHT JOIN y ON x.id = y.k AND x.id = 1", True),
    ("SELECT * FROM y WHERE k = 1 AND EXISTS (SELECT 1 FROM x WHERE x.id = y.k)", False),
    ("MERGE x USING (VALUES (1, 5)) s (i, w) ON x.id = s.i WHEN MATCHED THEN UPDATE SET v = w;", False),
    ("MERGE x USING (SELECT @i AS i) s ON x.id = s.i WHEN NOT MATCHED THEN INSERT (id) VALUES (i);", False),
    ("MERGE x USING (SELECT 4 AS i) s ON x.id = s.i WHEN NOT MATCHED THEN INSERT (id) VALUES (i);", True),
    ("MERGE x USING (SELECT k FROM y WHERE k = 1) s ON x.id = s.k WHEN MATCHED THEN DELETE;", False),
    ("MERGE x USING y ON x.id = y.k WHEN MATCHED THEN DELETE;", True),
]
"""Statement with TOP, joins or MERGE -> whether a change of the row with id 4 blocks it."""


def test_joins_merge_and_top_lock_only_the_rows_that_they_seek() -> None:
    world = build_world_with_table()
    world.update_instance(P, version=2019)
    submit_batch(
        world,
        A,
        f"{CREATE_INDEXED_TABLE} CREATE TABLE y (k int PRIMARY KEY) INSERT y VALUES (1), (2), (4)",
        2,
    )
    submit_batch(world, A, "BEGIN TRAN UPDATE x SET v = 9 WHERE id = 4")
    lines = "".join(f"\nBEGIN TRAN {statement} ROLLBACK" for statement, _ in JOINED)
    answer = submit_batch(world, B, f"SET LOCK_TIMEOUT 0 DECLARE @i int = 1{lines}", 2)
    errors = [message for message in read_field(answer.event, "messages") if message["severity"] > 10]
    assert {message["number"] for message in errors} == {1222}
    blocked_lines = {message["line"] - 2 for message in errors}
    assert [(JOINED[i][0], i in blocked_lines) for i in range(len(JOINED))] == JOINED


def test_two_readers_take_different_rows_of_a_queue() -> None:
    """Check the work queue of two consumers: [DOC: table hints], READPAST."""
    world = build_world_with_table()
    submit_batch(world, A, CREATE_INDEXED_TABLE, 2)
    take = "BEGIN TRAN SELECT TOP (1) id FROM x WITH (UPDLOCK, READPAST, ROWLOCK) WHERE grade >= 10 ORDER BY grade, id"
    assert [submit_batch(world, window, take).value for window in (A, B, C)] == [1, 2, 3]
    submit_batch(world, A, "DELETE x WHERE id = 1 COMMIT", 1)
    assert submit_batch(world, A, take).value == 4
    assert submit_batch(world, B, "DELETE TOP (1) FROM x WITH (READPAST) OUTPUT deleted.id").value == 2


@pytest.mark.parametrize(
    ("statement", "numbers"),
    [
        ("SELECT * FROM t WITH (UPDLOCK, NOWAIT)", [1222]),
        ("SELECT * FROM t WITH (NOWAIT)", [1222]),
        ("SELECT * FROM t WITH (READPAST, HOLDLOCK)", [650]),
        ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE SELECT * FROM t WITH (READPAST)", [650]),
        ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ SELECT * FROM t WITH (READPAST)", []),
    ],
)
def test_hints_refuse_to_wait_or_to_skip_rows(statement: str, numbers: list[int]) -> None:
    """Check documented behavior: [DOC: table hints]."""
    world = build_world_with_table()
    submit_batch(world, A, "BEGIN TRAN UPDATE t SET k = 1 WHERE n = 1")
    assert submit_batch(world, B, statement).numbers == numbers


def test_five_thousand_row_locks_become_a_table_lock() -> None:
    """Check documented behavior: [DOC: lock escalation]."""
    world = build_world_with_table()
    submit_batch(world, A, "CREATE TABLE e (n int PRIMARY KEY)", 2)
    locks = """SELECT resource_type, request_mode, COUNT(*) FROM sys.dm_tran_locks
        WHERE resource_type IN ('KEY', 'OBJECT') GROUP BY resource_type, request_mode"""
    many = """WITH c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000)
        INSERT e SELECT n FROM c OPTION (MAXRECURSION 0)"""
    submit_batch(world, A, f"BEGIN TRAN; {many}", 1)
    assert submit_batch(world, C, locks).grids == [[["OBJECT", "X", 1]]]


def test_views_show_update_range_and_row_locks() -> None:
    world = build_world_with_table()
    submit_batch(world, A, CREATE_INDEXED_TABLE, 2)
    submit_batch(world, A, "BEGIN TRAN SELECT * FROM x WITH (UPDLOCK, HOLDLOCK) WHERE id > 3")
    locks = """SELECT resource_type, request_mode, request_status FROM sys.dm_tran_locks
        WHERE resource_type <> 'DATABASE' ORDER BY request_session_id, 1, 2"""
    held = [["KEY", "RangeS-U"], ["KEY", "RangeS-U"], ["OBJECT", "IX"], ["PAGE", "IU"]]
    assert submit_batch(world, C, locks).grids == [[[*row, "GRANT"] for row in held]]
    assert is_waiting(world, B, "SELECT * FROM x WITH (HOLDLOCK, UPDLOCK) WHERE id = 9")
    wait = "SELECT wait_type FROM sys.dm_exec_requests WHERE blocking_session_id > 0"
    assert submit_batch(world, C, wait).value == "LCK_M_RS_U"
