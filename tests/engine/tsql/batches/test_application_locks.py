"""Application locks between windows: waits, return codes, deadlocks, ends of connections."""

from __future__ import annotations

import pytest

from engine import tsql
from engine.model import World
from tests.engine.tsql.console import collect_answers, run_seconds, submit_batch
from tests.engine.worlds import P, build_lab
from tests.events import read_field

A, B = f"{P}#a", f"{P}#b"


def format_acquire_text(resource: str, mode: str = "Exclusive", arguments: str = "") -> str:
    """Return a batch that acquires a lock owned by the session and shows the return code."""
    return f"DECLARE @r int EXEC @r = sp_getapplock '{resource}', '{mode}', 'Session'{arguments} SELECT @r"


def hold_lock(mode: str) -> World:
    world = build_lab(workload="none")
    assert submit_batch(world, A, format_acquire_text("x", mode)).value == 0
    return world


@pytest.mark.parametrize(
    ("held_mode", "wanted_mode", "code"),
    [
        ("Exclusive", "IntentShared", -1),
        ("Shared", "Shared", 0),
        ("Shared", "Update", 0),
        ("Shared", "IntentExclusive", -1),
        ("Update", "Update", -1),
        ("Update", "Shared", 0),
        ("IntentExclusive", "IntentExclusive", 0),
        ("IntentShared", "Exclusive", -1),
    ],
)
def test_lock_modes_conflict_as_documented(held_mode: str, wanted_mode: str, code: int) -> None:
    assert (
        submit_batch(hold_lock(held_mode), B, format_acquire_text("x", wanted_mode, ", 0"), 1).value == code
    )


def test_a_waiter_gets_the_lock_when_it_is_released() -> None:
    world = hold_lock("Exclusive")
    assert collect_answers(world, B, format_acquire_text("x"), 5) == []
    blocker = "SELECT blocking_session_id, wait_type FROM sys.dm_exec_requests WHERE session_id = 52"
    assert submit_batch(world, A, blocker).grids == [[[51, "LCK_M_X"]]]
    replies = collect_answers(world, A, "EXEC sp_releaseapplock 'x', 'Session'", 2)
    assert [answer.value for answer in replies if answer.grids] == [1]


def test_a_lock_wait_ends_with_its_timeout() -> None:
    world = hold_lock("Exclusive")
    assert submit_batch(world, B, format_acquire_text("x", arguments=", 2000"), 4).value == -1
    assert submit_batch(world, B, "SET LOCK_TIMEOUT 500 " + format_acquire_text("x"), 4).value == -1


def test_a_deadlock_victim_gets_a_code_and_keeps_its_transaction() -> None:
    world = hold_lock("Exclusive")
    submit_batch(world, B, format_acquire_text("y"))
    assert collect_answers(world, A, format_acquire_text("y"), 1) == []
    victim = submit_batch(world, B, "BEGIN TRAN " + format_acquire_text("x") + ", @@TRANCOUNT", 12)
    assert victim.grids == [[[-3, 1]]]


def test_the_end_of_the_connection_releases_the_lock() -> None:
    world = hold_lock("Exclusive")
    tsql.submit_text(world, B, "KILL 51")
    run_seconds(world, 1)
    assert submit_batch(world, B, format_acquire_text("x", arguments=", 0"), 1).value == 0


@pytest.mark.parametrize(
    ("arguments", "number", "text"),
    [
        (
            "'x', 'Exclusive'",
            15626,
            "You attempted to acquire a transactional application lock without an active transaction.",
        ),
        ("'x', 'Odd', 'Session'", 15625, "Option 'Odd' not recognized for '@LockMode' parameter."),
        ("'x', 'Shared', 'Odd'", 15625, "Option 'Odd' not recognized for '@LockOwner' parameter."),
    ],
)
def test_a_refused_request_prints_an_informational_message(arguments: str, number: int, text: str) -> None:
    """Both numbers have severity 10 [DOC: Database Engine events and errors], so TRY and drivers see no error."""
    answer = submit_batch(build_lab(), A, f"DECLARE @r int EXEC @r = sp_getapplock {arguments} SELECT @r")
    assert answer.value == -999
    messages = [
        (message["number"], message["severity"], message["text"])
        for message in read_field(answer.event, "messages")
    ]
    assert (number, 10, text) in messages
