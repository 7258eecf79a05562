"""Transactions: ROLLBACK, XACT_ABORT, and TRY … CATCH with a doomed transaction."""

from __future__ import annotations

from engine.model import World
from tests.engine.tsql.console import submit_batch
from tests.engine.worlds import P, build_lab


def build_world_with_table() -> World:
    world = build_lab(workload="none")
    submit_batch(
        world, P, "CREATE TABLE master.dbo.kept (n int) CREATE TABLE #mine (n int) INSERT #mine SELECT 1"
    )
    return world


def count_rows(world: World) -> list[object]:
    query = "SELECT (SELECT COUNT(*) FROM master.dbo.kept), (SELECT COUNT(*) FROM #mine), @@TRANCOUNT, XACT_STATE()"
    return list(submit_batch(world, P, query).grids[0][0])


def test_rows_tables_and_drops_are_rolled_back() -> None:
    world = build_world_with_table()
    submit_batch(
        world, P, "BEGIN TRAN INSERT master.dbo.kept VALUES (1) DELETE #mine CREATE TABLE #new (n int)"
    )
    assert count_rows(world) == [1, 0, 1, 1]
    submit_batch(world, P, "ROLLBACK")
    assert count_rows(world) == [0, 1, 0, 0]
    assert submit_batch(world, P, "SELECT * FROM #new").numbers == [208]
    submit_batch(world, P, "BEGIN TRAN DROP TABLE master.dbo.kept ROLLBACK")
    assert count_rows(world)[0] == 0


def test_only_the_outer_commit_makes_changes_durable() -> None:
    world = build_world_with_table()
    submit_batch(world, P, "BEGIN TRAN BEGIN TRAN INSERT master.dbo.kept VALUES (1) COMMIT")
    assert count_rows(world) == [1, 1, 1, 1]
    submit_batch(world, P, "ROLLBACK")
    assert count_rows(world) == [0, 1, 0, 0]
    submit_batch(world, P, "BEGIN TRAN INSERT master.dbo.kept VALUES (1) COMMIT")
    assert count_rows(world) == [1, 1, 0, 0]


def test_table_variables_survive_a_rollback() -> None:
    text = "DECLARE @t TABLE (n int) BEGIN TRAN INSERT @t VALUES (1) ROLLBACK SELECT COUNT(*) FROM @t"
    assert submit_batch(build_lab(), P, text).value == 1


def test_a_savepoint_keeps_earlier_changes() -> None:
    world = build_world_with_table()
    text = """BEGIN TRAN t INSERT master.dbo.kept VALUES (1) SAVE TRAN s INSERT master.dbo.kept VALUES (2)
        INSERT #mine VALUES (2) ROLLBACK TRAN s"""
    submit_batch(world, P, text)
    assert count_rows(world) == [1, 1, 1, 1]
    assert submit_batch(world, P, "ROLLBACK TRAN nowhere").numbers == [6401]
    submit_batch(world, P, "ROLLBACK TRAN t")
    assert count_rows(world) == [0, 1, 0, 0]


def test_an_error_under_xact_abort_rolls_back_or_dooms_the_transaction() -> None:
    world = build_world_with_table()
    submit_batch(world, P, "SET XACT_ABORT ON BEGIN TRAN INSERT master.dbo.kept VALUES (1) SELECT 1/0")
    assert count_rows(world) == [0, 1, 0, 0]
    caught = """BEGIN TRY BEGIN TRAN INSERT master.dbo.kept VALUES (1) SELECT 1/0 END TRY
        BEGIN CATCH SELECT XACT_STATE() END CATCH COMMIT"""
    answer = submit_batch(world, P, caught)
    assert answer.grids[-1] == [[-1]]
    assert 3930 in answer.numbers


def test_another_connection_is_not_affected_by_a_rollback() -> None:
    world = build_world_with_table()
    submit_batch(world, P, "CREATE TABLE master.dbo.others (n int)")
    submit_batch(world, P, "BEGIN TRAN INSERT master.dbo.kept VALUES (1)")
    submit_batch(world, f"{P}#2", "INSERT master.dbo.others VALUES (7)")
    submit_batch(world, P, "ROLLBACK")
    assert submit_batch(world, P, "SELECT n FROM master.dbo.others").value == 7
