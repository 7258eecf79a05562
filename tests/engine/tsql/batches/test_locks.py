"""Row locks between windows: waits, NOLOCK and READPAST, deadlocks, and the dynamic views."""

from __future__ import annotations

import pytest

from engine.model import World
from tests.engine.tsql.console import Answer, answers, ask, run_on
from tests.engine.worlds import P, do, lab
from tests.events import read_field

A, B, C = f"{P}#a", f"{P}#b", f"{P}#c"


def build_world_with_table(database: str = "Sales") -> World:
    """Create t (n, k) with rows 1 and 2, and two windows in *database*."""
    world = lab(workload="none")
    ask(
        world,
        A,
        f"USE {database} CREATE TABLE t (n int, k int) INSERT t VALUES (1, 0) INSERT t VALUES (2, 0)",
        2,
    )
    ask(world, B, f"USE {database}")
    ask(world, C, f"USE {database}")
    return world


def get_spid(world: World, window: str) -> int:
    session = world.sessions[window].session
    assert session is not None
    return int(session.spid)


def is_waiting(world: World, window: str, text: str) -> bool:
    """Return whether the statement does not end within a second; its window then shows a running batch."""
    return answers(world, window, text, 1) == [] and window in world.batches


def finish_blocker(world: World, window: str, blocker: str, ending: str = "COMMIT") -> Answer:
    """Return the answer of *window* after *blocker* has ended its transaction."""
    ended_answers = [a for a in answers(world, blocker, ending, 2) if read_field(a.event, "window") == window]
    return ended_answers[-1]


@pytest.mark.parametrize("database", ["Sales", "master"])
@pytest.mark.parametrize(
    "change",
    ["INSERT t VALUES (3, 0)", "UPDATE t SET k = 5 WHERE n = 1", "DELETE t WHERE n = 2", "TRUNCATE TABLE t"],
)
def test_a_reader_waits_for_a_writer_and_reads_the_result(database: str, change: str) -> None:
    for ending in ("COMMIT", "ROLLBACK"):
        world = build_world_with_table(database)
        ask(world, A, f"BEGIN TRAN {change}")
        grids = ask(world, A, "SELECT * FROM t").grids
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
    ask(world, A, f"BEGIN TRAN {first_statement}")
    assert is_waiting(world, B, second_statement) is waiting
    ask(world, A, "ROLLBACK", 1)
    assert B not in world.batches


def test_isolation_levels_hold_read_locks() -> None:
    for level, changed in (
        ("REPEATABLE READ", "UPDATE t SET k = 1"),
        ("SERIALIZABLE", "INSERT t VALUES (3, 0)"),
    ):
        world = build_world_with_table()
        ask(world, A, f"SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN SELECT * FROM t")
        assert is_waiting(world, B, changed)
        assert finish_blocker(world, B, A).numbers == []
    assert ask(world, A, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT * FROM t").numbers == [3952]


def test_dirty_reads_and_readpast_work() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 9 WHERE n = 1 INSERT t VALUES (3, 9)")
    assert ask(world, B, "SELECT n, k FROM t WITH (NOLOCK)").grids == [[[1, 9], [2, 0], [3, 9]]]
    assert ask(world, B, "SELECT n, k FROM t WITH (READPAST)").grids == [[[2, 0]]]
    ask(world, A, "ROLLBACK")
    assert ask(world, B, "SELECT n, k FROM t").grids == [[[1, 0], [2, 0]]]


def test_two_writers_of_different_rows_both_commit() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN INSERT t VALUES (3, 0)")
    ask(world, B, "BEGIN TRAN INSERT t VALUES (4, 0)")
    ask(world, B, "COMMIT", 1)
    ask(world, A, "COMMIT", 1)
    assert ask(world, C, "SELECT n FROM t").grids == [[[1], [2], [3], [4]]]


def test_a_duplicate_key_of_another_transaction_waits() -> None:
    world = build_world_with_table()
    ask(world, A, "CREATE TABLE p (id int PRIMARY KEY)", 1)
    ask(world, A, "BEGIN TRAN INSERT p VALUES (1)")
    assert is_waiting(world, B, "INSERT p VALUES (1)")
    assert finish_blocker(world, B, A).numbers[0] == 2627


def test_lock_timeout_ends_the_wait_and_keeps_the_transaction() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert ask(world, B, "SELECT @@LOCK_TIMEOUT").value == -1
    refused = ask(
        world, B, "SET LOCK_TIMEOUT 1500 BEGIN TRAN SELECT * FROM t SELECT @@TRANCOUNT, @@LOCK_TIMEOUT", 3
    )
    assert (refused.numbers, refused.grids) == ([1222], [[[1, 1500]]])
    assert read_field(refused.event, "elapsed_ticks") in range(150, 180)
    assert ask(world, B, "SET LOCK_TIMEOUT 0 DELETE t").numbers == [1222]
    assert ask(world, B, "SET LOCK_TIMEOUT -1 SELECT @@LOCK_TIMEOUT").value == -1


def test_killing_the_blocker_releases_and_rolls_back() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT k FROM t")
    freed = finish_blocker(world, B, C, f"KILL {get_spid(world, A)}")
    assert freed.grids == [[[0], [0]]]
    assert ask(world, A, "COMMIT").numbers == [596]


def test_a_waiting_statement_can_be_canceled() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    do(world, f"cancel {B}", then_s=0.1)
    assert B not in world.batches
    assert ask(world, B, "SELECT 1").value == 1


def test_the_cheaper_session_of_a_deadlock_is_the_victim_after_five_seconds() -> None:
    world = build_world_with_table()
    ask(world, A, "CREATE TABLE u (n int) INSERT u VALUES (1)", 1)
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1 UPDATE t SET k = 2")
    ask(world, B, "BEGIN TRAN UPDATE u SET n = 2")
    assert is_waiting(world, A, "UPDATE u SET n = 3")
    assert is_waiting(world, B, "UPDATE t SET k = 3 SELECT 'not reached'")
    answers_by_window = {
        read_field(event, "window"): Answer(event) for event in run_on(world, 7) if event.kind == "sql_done"
    }
    assert answers_by_window[B].numbers == [1205]
    assert answers_by_window[B].grids == []
    assert answers_by_window[A].numbers == []
    assert ask(world, B, "SELECT @@TRANCOUNT").value == 0
    ask(world, A, "COMMIT", 1)
    assert ask(world, C, "SELECT (SELECT MAX(k) FROM t), (SELECT n FROM u)").grids == [[[2, 3]]]


def test_deadlock_priority_and_catch_work() -> None:
    world = build_world_with_table()
    ask(world, A, "CREATE TABLE u (n int) INSERT u VALUES (1)", 1)
    ask(world, A, "SET DEADLOCK_PRIORITY LOW BEGIN TRAN UPDATE t SET k = 1 UPDATE t SET k = 2")
    ask(world, B, "BEGIN TRAN UPDATE u SET n = 2")
    caught = "BEGIN TRY UPDATE u SET n = 3 END TRY BEGIN CATCH SELECT ERROR_NUMBER(), XACT_STATE() ROLLBACK END CATCH"
    assert is_waiting(world, A, caught)
    assert is_waiting(world, B, "UPDATE t SET k = 3")
    answers_by_window = {
        read_field(event, "window"): Answer(event) for event in run_on(world, 8) if event.kind == "sql_done"
    }
    assert answers_by_window[A].grids == [[[1205, -1]]]
    assert answers_by_window[B].numbers == []


def test_views_show_the_blocking_session() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1 WHERE n = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    a, b = get_spid(world, A), get_spid(world, B)
    requests = (
        f"SELECT status, blocking_session_id, wait_type FROM sys.dm_exec_requests WHERE session_id = {b}"
    )
    assert ask(world, C, requests).grids == [[["suspended", a, "LCK_M_S"]]]
    assert ask(world, C, f"SELECT blocked FROM sys.sysprocesses WHERE spid = {b}").value == a
    tasks = f"SELECT wait_type, blocking_session_id FROM sys.dm_os_waiting_tasks WHERE session_id = {b}"
    assert ask(world, C, tasks).grids == [[["LCK_M_S", a]]]
    locks_query = """SELECT request_session_id, resource_type, request_mode, request_status FROM sys.dm_tran_locks
        WHERE resource_type <> 'DATABASE' ORDER BY 1, 2, 4"""
    assert ask(world, C, locks_query).grids == [
        [
            [a, "OBJECT", "IX", "GRANT"],
            [a, "PAGE", "IX", "GRANT"],
            [a, "RID", "X", "GRANT"],
            [b, "OBJECT", "IS", "GRANT"],
            [b, "PAGE", "IS", "GRANT"],
            [b, "RID", "S", "WAIT"],
        ]
    ]
    assert len(ask(world, C, "SELECT * FROM sys.dm_tran_locks").columns[0]) == 19
    grid = ask(world, C, f"EXEC sp_lock {a}").grids[0]
    assert [row[4:] for row in grid if row[4] == "TAB"] == [["TAB", "", "IX", "GRANT"]]
    transactions = """SELECT s.session_id, t.transaction_type, d.database_transaction_state
        FROM sys.dm_tran_session_transactions s
        JOIN sys.dm_tran_active_transactions t ON t.transaction_id = s.transaction_id
        JOIN sys.dm_tran_database_transactions d ON d.transaction_id = s.transaction_id"""
    assert ask(world, C, transactions).grids == [[[a, 1, 4]]]


def test_a_role_change_releases_all_locks() -> None:
    world = build_world_with_table()
    ask(world, A, "BEGIN TRAN UPDATE t SET k = 1")
    assert is_waiting(world, B, "SELECT * FROM t")
    events = do(world, f"sql {C}x ALTER DATABASE Sales SET PARTNER FAILOVER", then_s=60)
    answers_by_window = {read_field(e, "window"): Answer(e) for e in events if e.kind == "sql_done"}
    assert answers_by_window[B].numbers == [10054]
    assert ask(world, A, "ROLLBACK").numbers == [10054]


KEYED = (
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
    ask(world, A, KEYED, 2)
    ask(world, A, "BEGIN TRAN UPDATE k SET v = 9, u = 'new' WHERE id = 1", 1)
    assert is_waiting(world, B, statement) is must_wait


def test_two_windows_that_lock_each_others_rows_are_a_deadlock() -> None:
    world = build_world_with_table()
    ask(world, A, KEYED, 2)
    for window, first in ((A, 1), (B, 2)):
        ask(world, window, f"BEGIN TRAN UPDATE k SET v = {first} WHERE id = {first}", 1)
    assert is_waiting(world, B, "UPDATE k SET v = 5 WHERE id = 1")
    replies = answers(world, A, "UPDATE k SET v = 6 WHERE id = 2", 8)
    assert [number for answer in replies for number in answer.numbers] == [1205]
    ask(world, A, "COMMIT", 1)
    assert ask(world, A, "SELECT id, v FROM k ORDER BY id", 1).grids == [[[1, 1], [2, 6]]]


RANGE_READER = (
    "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE BEGIN TRAN SELECT * FROM p WHERE id BETWEEN 10 AND 20"
)


def build_world_with_keys() -> World:
    """Create p with keys 5, 12, 30 and 100, which a SERIALIZABLE reader of 10 to 20 has locked in part."""
    world = build_world_with_table()
    ask(
        world,
        A,
        "CREATE TABLE p (id int PRIMARY KEY, v int) "
        "INSERT p SELECT 5, 1 UNION ALL SELECT 12, 2 UNION ALL SELECT 30, 3 UNION ALL SELECT 100, 4",
        2,
    )
    assert ask(world, A, RANGE_READER).grids == [[[12, 2]]]
    return world


@pytest.mark.parametrize(
    ("statement", "is_blocked"),
    [
        ("INSERT p VALUES (15, 0)", True),
        ("INSERT p VALUES (7, 0)", True),  # in the gap before the first key that was read
        ("INSERT p VALUES (25, 0)", True),  # in the gap before the next key
        ("INSERT p VALUES (500, 0)", False),
        ("INSERT p VALUES (4, 0)", False),
        ("UPDATE p SET v = 9 WHERE id = 12", True),
        ("UPDATE p SET v = 9 WHERE id = 30", True),  # the next key bounds the range
        ("UPDATE p SET v = 9 WHERE id = 100", False),
        ("UPDATE p SET id = 16 WHERE id = 100", True),
        ("DELETE p WHERE id = 12", True),
        ("TRUNCATE TABLE p", True),
        ("SELECT * FROM p WHERE id = 12", False),
    ],
)
def test_a_serializable_reader_locks_a_range_of_keys(statement: str, is_blocked: bool) -> None:
    answer = ask(build_world_with_keys(), B, f"SET LOCK_TIMEOUT 100 {statement}", 2)
    assert (answer.numbers == [1222]) is is_blocked, answer.texts


@pytest.mark.parametrize(
    ("condition", "inserted", "is_blocked"),
    [
        ("id = 12", 13, False),  # a key that a unique index finds locks no gap
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
    ask(world, A, f"COMMIT BEGIN TRAN DECLARE @from int SET @from = 6 SELECT * FROM p WHERE {condition}", 1)
    answer = ask(world, B, f"SET LOCK_TIMEOUT 100 INSERT p VALUES ({inserted}, 0)", 2)
    assert (answer.numbers == [1222]) is is_blocked, answer.texts


def test_views_show_range_locks_and_the_insert_that_waits() -> None:
    world = build_world_with_keys()
    assert is_waiting(world, B, "INSERT p VALUES (15, 0)")
    locked = "SELECT request_mode, COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'KEY' GROUP BY request_mode"
    assert ask(world, C, f"{locked} ORDER BY 1").grids == [[["RangeI-N", 1], ["RangeS-S", 2]]]
    wait = "SELECT wait_type, blocking_session_id FROM sys.dm_exec_requests WHERE blocking_session_id > 0"
    assert ask(world, C, wait).grids == [[["LCK_M_RIn_NL", get_spid(world, A)]]]
    assert finish_blocker(world, B, A).texts == ["(1 row affected)"]
    assert ask(world, C, "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'KEY'").value == 0
