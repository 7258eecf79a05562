"""Start times of retries: early enough to look, think and type. Earlier actions are kept if there is time."""

from __future__ import annotations

import pytest

from engine.drill.judging.counterfactual import QUERY_S, RETRY_LEAD_S_MAX, find_retry_tick
from engine.inputs import Input
from engine.model import to_ticks

MISTAKE_TICK = to_ticks(200.0)
SHORT_INPUT = Input(MISTAKE_TICK, "sql", ("SERVER_A", "SELECT 1"))


def build_earlier_input(at_s: float, verb: str = "power-on", *args: str) -> Input:
    return Input(MISTAKE_TICK - to_ticks(at_s), verb, args or ("SERVER_A",))


def test_longer_texts_start_earlier_up_to_a_limit() -> None:
    longer = Input(
        MISTAKE_TICK, "sql", ("SERVER_A", "ALTER DATABASE Sales SET PARTNER FORCE_SERVICE_ALLOW_DATA_LOSS")
    )
    endless = Input(MISTAKE_TICK, "sql", ("SERVER_A", "SELECT 1 " * 1000))
    retry_ticks = [find_retry_tick(MISTAKE_TICK, act, ()) for act in (None, SHORT_INPUT, longer, endless)]
    assert retry_ticks == sorted(retry_ticks, reverse=True)
    assert MISTAKE_TICK - retry_ticks[0] > to_ticks(QUERY_S)
    assert MISTAKE_TICK - retry_ticks[1] == to_ticks(5.0 + 1.35 + 8 * 0.28)
    assert MISTAKE_TICK - retry_ticks[2] > to_ticks(20.0)
    assert MISTAKE_TICK - retry_ticks[3] == to_ticks(RETRY_LEAD_S_MAX)


def test_the_start_of_the_run_is_the_earliest_retry() -> None:
    assert find_retry_tick(300, None, ()) == 0


@pytest.mark.parametrize(
    ("earlier_input", "is_included"),
    [
        (build_earlier_input(7.0), True),
        (build_earlier_input(QUERY_S - 1.0), False),
        (build_earlier_input(7.0, "note", "x"), False),
        (build_earlier_input(7.0, "sql", "SERVER_A", "SELECT 1"), False),
        (build_earlier_input(60.0), False),
    ],
)
def test_an_earlier_action_is_kept_if_there_is_time_to_look(earlier_input: Input, is_included: bool) -> None:
    default_tick = find_retry_tick(MISTAKE_TICK, SHORT_INPUT, ())
    assert find_retry_tick(MISTAKE_TICK, SHORT_INPUT, [earlier_input]) == (
        earlier_input.tick + 1 if is_included else default_tick
    )
