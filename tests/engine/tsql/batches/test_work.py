"""T-SQL runs in turns of counted work, which is equal on every machine and independent of caches."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from engine import simulator, tsql
from engine.messages import SqlError
from engine.model import World
from engine.tsql.batches import work
from engine.tsql.language import compiler, lexer, script
from tests.engine.tsql.console import run_seconds, submit_batch
from tests.engine.worlds import M, P, build_lab
from tests.events import read_field

LONG_BATCH = "DECLARE @i int SET @i = 0\n" + "SET @i = @i + 1\n" * 400 + "SELECT @i"


def _list_ended_batches(world: World, ticks: int = 2_000) -> list[tuple[int, str]]:
    events = simulator.advance_world(world, world.tick + ticks)
    return [(event.tick, str(read_field(event, "results"))) for event in events if event.kind == "sql_done"]


def _clear_caches() -> None:
    """Clear all caches, as in a new process."""
    for cache in (lexer._TOKEN_CACHE, compiler._PROGRAM_CACHE, script._SPLIT_CACHE):
        cache.clear()


def test_a_long_batch_takes_the_same_ticks_with_and_without_a_cache() -> None:
    straight, interrupted = build_lab(), build_lab()
    _clear_caches()
    tsql.submit_text(straight, P, LONG_BATCH)
    expected = _list_ended_batches(straight)
    assert expected[0][0] > 50
    assert "400" in expected[0][1]
    tsql.submit_text(interrupted, P, LONG_BATCH)  # the caches contain everything by now
    for _ in range(expected[0][0] - 1):
        _clear_caches()
        assert not _list_ended_batches(interrupted, 1)
    fork = interrupted.fork()
    _clear_caches()
    assert _list_ended_batches(interrupted) == expected
    _clear_caches()
    assert _list_ended_batches(fork) == expected
    assert fork.compute_state_hash() == interrupted.compute_state_hash()


def test_a_syntax_error_at_the_end_of_a_long_batch_prevents_its_run() -> None:
    world = build_lab()
    tsql.submit_text(world, P, "CREATE TABLE t (a int)\n" + "PRINT 1\n" * 5_000 + "SELECT FROM")
    (done_event,) = (e for e in run_seconds(world, 60) if e.kind == "sql_done")
    assert [message["number"] for message in read_field(done_event, "messages")] == [156]
    assert submit_batch(world, P, "SELECT OBJECT_ID('t')", wait_s=5).value is None


def test_a_canceled_compilation_ends() -> None:
    world = build_lab()
    tsql.submit_text(world, P, LONG_BATCH * 20)
    run_seconds(world, 0.1)
    tsql.cancel_batches(world, P)
    assert P not in world.batches
    assert submit_batch(world, P, "SELECT 1", wait_s=1).value == 1


def test_endless_loops_take_turns_and_leave_room_for_a_query() -> None:
    world = build_lab()
    windows = [f"{P}#{number}" for number in range(2, 22)]
    for window in windows:
        tsql.submit_text(world, window, "DECLARE @i int SET @i = 0 WHILE 1 = 1 SET @i = @i + 1")
    run_seconds(world, 5)
    spent = [world.batches[window].spent for window in windows]
    assert max(spent) < 2 * min(spent)
    assert submit_batch(world, M, "SELECT 1").value == 1
    assert world.sql_work - world.tick * work.WORK_PER_TICK < 20 * work.TURN_WORK_MAX + 2 * work.BURST_WORK


@pytest.mark.slow
def test_work_per_tick_is_limited() -> None:
    world = build_lab()
    for number in range(100):
        tsql.submit_text(world, f"{P}#{number}", "SELECT name FROM sys.databases " * 20)
    assert world.batches
    assert world.sql_work < work.BACKLOG_WORK_MAX + 100 * work.TURN_WORK_MAX + 2 * work.BURST_WORK
    run_seconds(world, 30)
    assert not world.batches


def _run_steps(costs: list[int], fails: bool = False) -> Generator[int, None, str]:
    yield from costs
    if fails:
        raise SqlError(102, "x")
    return "done"


@pytest.mark.parametrize("stops", [[0, 5, 6, 100], [5, 6], [100], [6], [0, 1, 2, 3, 4, 5, 6]])
def test_the_cost_of_a_result_does_not_depend_on_the_time_of_request(stops: list[int]) -> None:
    stepwise = work.ResumableComputation(_run_steps([1, 2, 3]))
    for stop in stops:
        assert stepwise.continue_to(stop) == (stop >= 6)
    assert not stepwise.continue_to(5)
    assert stepwise.get_result() == "done"


def test_a_failure_is_cached_too() -> None:
    stepwise = work.ResumableComputation(_run_steps([4], fails=True))
    assert not stepwise.continue_to(3)
    assert stepwise.continue_to(4)
    for _ in range(2):
        with pytest.raises(SqlError):
            stepwise.get_result()


def test_the_cache_is_limited() -> None:
    recall: work.ResultCache[int] = work.ResultCache(1_000)
    texts: list[str] = []

    def compute_text(text: str) -> int:
        texts.append(text)
        return len(texts)

    def get_cached(text: str) -> int:
        return recall.get(text, len(text), lambda: compute_text(text))

    assert get_cached("a") == get_cached("a") == 1
    get_cached("b" * 900)
    get_cached("a")
    assert texts == ["a", "b" * 900, "a"]


@pytest.mark.parametrize(
    "text", ["WHILE 1 = 1 DECLARE @n int", "DECLARE @n int SET @n = 0 WHILE @n < 10 PRINT 'x'", "a: GOTO a"]
)
def test_an_endless_batch_is_reported_once(text: str) -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, P, text)
    note_events = [event for event in run_seconds(world, 29) if event.kind in ("note", "sql_done")]
    assert note_events == []
    note_events = [event for event in run_seconds(world, 10) if event.kind in ("note", "sql_done")]
    assert [event.text for event in note_events] == [f"the batch in {P} has been executing for 30 s"]
    tsql.cancel_batches(world, P)
    (done_event,) = [event for event in run_seconds(world, 1) if event.kind == "sql_done"]
    assert sum("has been executing" in message["text"] for message in read_field(done_event, "messages")) == 1


def test_a_waiting_batch_is_not_reported() -> None:
    world = build_lab(workload="none")
    tsql.submit_text(world, P, "WHILE 1 = 1 WAITFOR DELAY '00:00:05'")
    assert [event.kind for event in run_seconds(world, 120) if event.kind in ("note", "sql_done")] == []


@pytest.mark.parametrize(
    "call", ["CASE WHEN t LIKE p THEN 1 END", "PATINDEX(p, t)", "LEN(REPLACE(t, p, ''))"]
)
def test_a_large_text_search_is_charged(call: str) -> None:
    """Otherwise the search would block a tick for its whole duration."""
    end_ticks = []
    for times in (3, 3_500):
        world = build_lab(workload="none")
        values = f"REPLICATE('ab', 4000) AS t, REPLICATE('ab', {times}) AS p"
        tsql.submit_text(world, P, f"SELECT COUNT({call}) FROM (SELECT TOP 400 {values} FROM sys.messages) x")
        end_ticks.append(_list_ended_batches(world)[0][0])
    assert end_ticks[0] == 0
    assert end_ticks[1] > 5
