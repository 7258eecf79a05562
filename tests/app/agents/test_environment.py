"""Tests of the drill environment for agents: Gymnasium interface, limits of a seat's knowledge, and exact
replays.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from gymnasium.error import InvalidAction
from gymnasium.utils.env_checker import check_env

from app.agents.baseline import choose_best_line, choose_random_line, play_game
from app.agents.environment import WAIT_ACTION, DrillEnv
from engine import simulator
from engine.drill.running.drill import replay
from engine.verbs.input_lines import parse_input_line
from tests import par_drills
from tests.engine.drill import texts


@pytest.fixture
def env() -> DrillEnv:
    return DrillEnv(texts.change_small_text())


def test_gymnasium_check_env_passes(env: DrillEnv) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check=True)


def test_a_seat_sees_symptoms_but_not_the_fault(env: DrillEnv) -> None:
    observation, _ = env.reset(seed=3)
    assert observation["told"] == ()
    env.step(WAIT_ACTION)
    started, *_ = env.step(WAIT_ACTION)
    waited, *_ = env.step(WAIT_ACTION)
    assert (started["time_s"], waited["time_s"]) == (20.0, 30.0)
    assert not any("power-off" in text for text in (*started["told"], *waited["told"])), (
        "the fault is the story's"
    )
    assert any("lost its connections" in text for text in waited["told"])
    assert env.render().splitlines() == list(waited["told"])


def test_a_batch_returns_its_rows_and_messages(env: DrillEnv) -> None:
    _, info = env.reset(seed=3)
    assert info["brief"] == env.scenario.brief
    assert info["goals"] == [goal.text for goal in env.scenario.goals]
    observation, *_ = env.step("sql SERVER_B SELECT 1 AS a, NULL AS b; SELECT N'\u65e5' AS c; SELECT 1/0")
    assert [text.partition(" SERVER_B ")[2] for text in observation["told"]] == [
        "a\tb\n1\tNULL",
        "(1 row affected)",
        "c\n?",
        "(1 row affected)",
        "(No column name)",
        "Msg 8134, Level 16, State 1, Line 1: Divide by zero error encountered.",
    ]
    assert env.observation_space.contains(observation)


def test_rewards_sum_to_the_total_and_a_wrong_line_is_reported(env: DrillEnv) -> None:
    env.reset(seed=3)
    observation, _, is_ended, cut, info = env.step("power-on SERVER_X")
    assert observation["told"][0].startswith("power-on SERVER_X: there is no server 'SERVER_X'")
    assert info["refused"].startswith("there is no server 'SERVER_X'")
    gained = 0.0
    for line in [WAIT_ACTION] * 4 + ["power-on SERVER_A"] + [WAIT_ACTION] * 30:
        _, reward, is_ended, cut, info = env.step(line)
        gained += reward
        if is_ended:
            break
    assert is_ended
    assert not cut
    assert gained == pytest.approx(info["total"])
    assert info["total"] > 90.0
    drill = replay(env.scenario, 3, "practice", info["journal"])
    drill.advance_to(env.drill.tick)
    assert drill.compute_state_hash() == env.drill.compute_state_hash()
    *_, last_info = env.step("power-off SERVER_A")
    assert last_info == info | {"refused": "the episode is over; call reset to begin the next one"}


def test_a_game_reports_the_seed_that_replays_it(env: DrillEnv) -> None:
    env.reset(seed=2**63 - 1)
    with pytest.raises(ValueError, match=r"must be from 0 to 2\*\*63 - 1"):
        env.reset(seed=2**63)


@pytest.mark.parametrize("step_s", [0.0, -1.0, 0.001, float("nan"), float("inf")])
def test_every_step_advances_time(step_s: float) -> None:
    with pytest.raises(ValueError, match=r"must be from 0\.01 to"):
        DrillEnv(texts.change_small_text(), step_s)


@pytest.mark.parametrize("action", [None, 3, b"power-on SERVER_A"])
def test_an_action_is_an_input_line(env: DrillEnv, action: Any) -> None:
    with pytest.raises(InvalidAction, match="an action is an input line"):
        env.step(action)


def test_the_greedy_agent_beats_the_random_agent(env: DrillEnv) -> None:
    assert play_game(env, choose_best_line, 3) > play_game(env, choose_random_line, 3)


@pytest.mark.parametrize(
    ("name", "required_lines"),
    [
        (
            "group",
            [
                "sql N2 ALTER AVAILABILITY GROUP [AG1] FAILOVER",
                "sql N3 ALTER DATABASE [Sales] SET HADR RESUME",
            ],
        ),
        ("cluster", ["power-on N1", "start-cluster N2", "move-role SQLFCI1 N2", "start-service SQLFCI1"]),
        ("forced", ["plug-cable A1", "mend A1 B1"]),
    ],
)
def test_the_vocabulary_covers_groups_and_clusters_and_every_word_parses(
    name: str, required_lines: list[str]
) -> None:
    env = DrillEnv(next(scenario for scenario in par_drills.list_scenarios() if scenario.name == name))
    lines = env.list_lines()
    assert set(required_lines) <= set(lines)
    assert len(set(lines)) == len(lines)
    for line in lines:
        if line != WAIT_ACTION:
            simulator.resolve_names(env.drill.world, parse_input_line(line))
