"""Conditions: their evaluation, the validity of results, and positions of errors."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from engine.drill.authoring import conditions
from engine.drill.authoring.condition_context import ConditionContext, ConditionNames, SentBatch
from engine.drill.authoring.conditions import ConditionError
from engine.model import Program, World
from engine.simulator import advance_world
from tests.assertions import require
from tests.engine.worlds import DB, P, W, apply_lines, build_lab

NAMES = ConditionNames(("Sales",), ("SERVER_A", "SERVER_B", "SERVER_W"), ("APP",), programs=("orders",))


def is_true(text: str, world: World, *batches: SentBatch) -> bool:
    return conditions.parse(text, NAMES).is_met(ConditionContext(world, batches))


@pytest.fixture(scope="module")
def healthy() -> World:
    return build_lab()


@pytest.fixture(scope="module")
def failed_over() -> World:
    world = build_lab()
    apply_lines(world, "power-off SERVER_A", wait_s=30.0)
    return world


@pytest.mark.parametrize(
    ("text", "initial_result", "failover_result"),
    [
        ("Sales is SYNCHRONIZED", True, False),
        ("Sales is not SYNCHRONIZED", False, True),
        ("sales IS disconnected", False, True),
        ("Sales is NONE", False, False),
        ("Sales on SERVER_B is PRINCIPAL", False, True),
        ("Sales on SERVER_B is RESTORING", True, False),
        ("Sales on SERVER_W is ABSENT", True, True),
        ("Sales serves", True, True),
        ("Sales serves on SERVER_A", True, False),
        ("witness of Sales is CONNECTED", True, True),
        ("safety of Sales is FULL", True, True),
        ("SERVER_A is RUNNING", True, False),
        ("SERVER_A is OFF", False, True),
        ("APP is CONNECTED", True, True),
        ("APP on SERVER_B is CONNECTED", False, True),
        ("downtime_s(Sales) > 2", False, True),
        ("exposed_s(Sales) > 10", False, True),
        ("lost_transactions(Sales) == 0", True, True),
        ("automatic_failovers(Sales) >= 1 and manual_failovers(Sales) == 0", False, True),
        ("time_s() >= 30", False, True),
        ("transactions_per_s(Sales) > 200", True, True),
        ("timeout_s(Sales) == 10", True, True),
        ("log_used_percent(Sales) < 5", True, True),
        ("Sales serves and not (SERVER_A is OFF or SERVER_B is OFF)", True, False),
        ("Sales is SUSPENDED or Sales serves and SERVER_A is RUNNING", True, False),
    ],
)
def test_conditions_are_evaluated(
    text: str, initial_result: bool, failover_result: bool, healthy: World, failed_over: World
) -> None:
    assert is_true(text, healthy) is initial_result
    assert is_true(text, failed_over) is failover_result


def test_a_database_without_a_session_is_none_despite_the_mirrors_belief() -> None:
    world = build_lab()
    apply_lines(world, "power-off SERVER_B", wait_s=5.0)
    from engine.mirroring import commands

    commands.remove_session(world, "SERVER_A", DB)
    assert is_true("Sales is NONE and Sales serves", world)


# --- batches that were sent ---------------------------------------------------------------------------------


def build_batch(sql: str, *errors: int, server: str = "SERVER_A") -> SentBatch:
    return SentBatch(0, server, sql, list(errors))


SET_PARTNER_OFF = "ALTER DATABASE [Sales]\n  set  partner OFF"


@pytest.mark.parametrize(
    ("text", "statement_event", "expected"),
    [
        ('ran "SET PARTNER OFF"', build_batch(SET_PARTNER_OFF), True),
        ('ran "SET PARTNER OFF" on SERVER_A', build_batch(SET_PARTNER_OFF), True),
        ('ran "SET PARTNER OFF" on SERVER_B', build_batch(SET_PARTNER_OFF), False),
        ('ran "SET PARTNER OFF"', build_batch(SET_PARTNER_OFF, 1404), False),
        ('tried "SET PARTNER OFF"', build_batch(SET_PARTNER_OFF, 1404), True),
        ("error 1404", build_batch(SET_PARTNER_OFF, 1404), True),
        ("error 1404 on SERVER_B", build_batch(SET_PARTNER_OFF, 1404), False),
        ("error 1431", build_batch(SET_PARTNER_OFF, 1404), False),
        ('ran "SET PARTNER OFF"', build_batch("-- SET PARTNER OFF"), False),
        ('ran "SET PARTNER OFF"', build_batch("/* SET PARTNER OFF */ SELECT 1"), False),
        ('ran "SET PARTNER OFF"', build_batch("PRINT 'SET PARTNER OFF'"), False),
        ("""ran "SET WITNESS = 'TCP'" """, build_batch("ALTER DATABASE Sales SET WITNESS = 'tcp'"), True),
    ],
)
def test_sent_statements_are_found(
    text: str, statement_event: SentBatch, expected: bool, healthy: World
) -> None:
    assert is_true(text, healthy, statement_event) is expected


# --- problems -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("Sales is SYNCRONIZED", 10, "SYNCHRONIZED"),
        ("Sale is SYNCHRONIZED", 1, "Sales"),
        ("Sales is", 9, "a name"),
        ("Sales ~ 3", 7, "is"),
        ("downtim_s(Sales) < 3", 1, "downtime_s"),
        ("downtime_s() < 3", 1, "downtime_s(database)"),
        ("downtime_s(SERVER_A) < 3", 12, "Sales"),
        ("time_s(Sales) > 1", 8, "time_s()"),
        ("downtime_s(Sales)", 18, "<"),
        ("(Sales serves", 14, ")"),
        ("Sales serves Sales", 14, "and"),
        ("Sales on APP is PRINCIPAL", 10, "SERVER_A"),
        ("SERVER_A is SYNCHRONIZED", 13, "RUNNING"),
        ("APP is RUNNING", 8, "CONNECTED"),
        ('ran ""', 5, "T-SQL"),
        ("", 1, "a name"),
        ("__import__('os')", 12, "a name"),
        ("Sales serves " * 60, 600, "600"),
    ],
)
def test_invalid_conditions_are_reported(text: str, column: int, expected: str) -> None:
    with pytest.raises(ConditionError) as caught:
        conditions.parse(text, NAMES)
    assert caught.value.column == column
    assert expected in caught.value.expected


def test_deep_nesting_is_parsed_and_limited(healthy: World) -> None:
    text = "not " * 140 + "Sales serves"
    assert is_true(text, healthy)
    assert is_true("(" * 290 + "Sales serves" + ")" * 290, healthy)


def test_names_in_brackets_are_parsed() -> None:
    names = ConditionNames(("My-DB",), ("A",), ())
    world = build_lab()
    assert conditions.parse("[my-db] is NONE", names).text == "[my-db] is NONE"
    assert not conditions.parse(f"{W} is OFF", NAMES).is_met(ConditionContext(world, ()))


def test_every_quantity_can_be_evaluated(healthy: World) -> None:
    from engine.drill.authoring.quantities import QUANTITIES

    healthy.programs["orders"] = Program()
    for name, quantity in QUANTITIES.items():
        argument = {None: "", "database": "Sales", "server": P, "client": "APP", "program": "orders"}.get(
            quantity.object_kind
        )
        if argument is None:  # facts about roles: tests/engine/drill/test_team.py
            continue
        assert is_true(f"{name}({argument}) >= 0", healthy), name
        assert quantity.help


def test_worker_threads_are_set_or_automatic() -> None:
    world = build_lab()
    assert is_true("worker_threads(SERVER_A) == 576", world)
    world.update_instance(P, max_worker_threads=400)
    assert is_true("worker_threads(SERVER_A) == 400 and worker_threads(SERVER_B) == 576", world)


def test_armed_is_evaluated_from_the_mirror_too(healthy: World) -> None:
    assert is_true("Sales is ARMED", healthy)
    world = build_lab()
    apply_lines(world, f"cut SERVER_B {W}", wait_s=5.0)
    assert is_true("Sales is SYNCHRONIZED and witness of Sales is CONNECTED and not Sales is ARMED", world)


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("Sales serves and transactions_per_s(Sales) > -1 and manual_failovers(Sales) == 0", None),
        ("Sales is ARMED", None),
        ("time_s() > 15", 15),
        ("15 < time_s()", 15),
        ("time_s() > 15.5", 15),
        ("time_s() == 7", 7),
        ("time_s() < 3", None),
        ("time_s() > 3", None),
        ("not time_s() > 15", 15),
        ("time_s() > 15 and time_s() > 40", 40),
        ("time_s() > 15 or time_s() > 40", 15),
        ("time_s() > 2 and time_s() < 40", 40),
        ("time_s() > 15 and SERVER_A is OFF", None),
        ("time_s() > 15 and SERVER_A is RUNNING", 15),
        ("SERVER_A is RUNNING or time_s() > 15", None),
        ("downtime_s(Sales) > 30", 35),
        ("downtime_s(Sales) > time_s()", 6),
        ("time_s() > downtime_s(Sales)", 6),
        ("monitor_age_s(SERVER_A) <= 75", None),
        ("send_queue_kb(Sales) > redo_queue_kb(Sales)", 6),
    ],
)
def test_a_condition_result_states_how_long_it_is_valid(text: str, second: int | None) -> None:
    world = build_lab()
    advance_world(world, 500)
    condition, facts = conditions.parse(text, NAMES), ConditionContext(world, ())
    answer = (
        conditions.ConditionResult(condition.test(facts))
        if condition.evaluate is None
        else condition.evaluate(facts)
    )
    assert answer.holds == condition.test(facts)
    assert answer.valid_until_tick == (conditions.UNREACHED_TICK if second is None else 100 * second)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("send_queue_kb(Sales) > 100", [("send_queue_kb", 0.0, ">", 100.0, False)]),
        ("100 <= send_queue_kb(Sales)", [("send_queue_kb", 0.0, ">=", 100.0, False)]),
        ("not transactions_per_s(Sales) != 0", [("transactions_per_s", 0.0, "!=", 0.0, True)]),
        ("log_used_percent(Sales) < 40", [("log_used_kb", 41_943_040.0, "<", 40.0, True)]),
        ("response_s(Sales) < 9 and commit_delay_ms(Sales) > timeout_s(Sales)", [
            ("response_s", 0.0, "<", 9.0, True), ("commit_delay_ms", 0.0, ">", 10.0, True),
        ]),
        ("response_s(Sales) > 9 and log_used_kb(Sales) < 0", [("response_s", 0.0, ">", 9.0, False)]),
        ("response_s(Sales) > 9 and SERVER_A is OFF", []),
        ("response_s(Sales) < 9 or SERVER_A is OFF", [("response_s", 0.0, "<", 9.0, True)]),
    ],
)  # fmt: skip
def test_a_result_is_valid_until_the_flow_passes_a_level(
    healthy: World, text: str, levels: list[tuple[object, ...]]
) -> None:
    answer = require(conditions.parse(text, NAMES).evaluate)(ConditionContext(healthy, ()))
    assert answer.valid_until_tick == conditions.UNREACHED_TICK
    assert [
        (level.counter, level.whole, level.sign, level.level, level.held) for level in answer.thresholds
    ] == levels


def test_a_database_without_a_log_has_no_level(healthy: World) -> None:
    condition = conditions.parse("send_queue_kb(Stock) < 1", replace(NAMES, databases=("Sales", "Stock")))
    assert require(condition.evaluate)(ConditionContext(healthy, ())) == conditions.ConditionResult(
        holds=True
    )
