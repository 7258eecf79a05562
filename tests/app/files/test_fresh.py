"""Tests of generated drills: a seed determines each drill, and only drills with a proof are kept."""

from __future__ import annotations

import itertools

import pytest

from app.files import drill_difficulty, generated_drills, scenario_files
from app.files.scenario_summary import DIFFICULTY_LEVELS
from engine.drill.authoring.variants import pick_values
from engine.drill.par.certificate_types import ParCertificate
from engine.generators import run_to_completion
from tests.assertions import require
from tests.engine.drill import texts
from tests.shipped_scenarios import load_shipped_scenario


def test_a_generated_drill_is_proved_and_announced() -> None:
    generator = load_shipped_scenario("random-trouble-easy")
    result = run_to_completion(generated_drills.generate_drill([(generator, 4711)]))
    assert result is not None
    assert result.seed == 4711
    assert result.certificate["par"]["score"] >= require(result.certificate["reference"]["score"]) >= 90.0
    assert result.certificate["idle"]["score"] < 50.0
    assert result.difficulty in DIFFICULTY_LEVELS
    assert result.scenario.level == result.difficulty
    assert result.description.startswith(f"A new random drill: 6 minutes, {result.difficulty}. Checked with ")


def test_generated_drills_vary_and_match_the_wanted_level() -> None:
    scenarios = [load_shipped_scenario(name) for name in generated_drills.GENERATOR_NAMES]
    candidates = list(generated_drills.draw_candidates(scenarios, "intermediate", itertools.count().__next__))
    assert [
        scenario.name for scenario, _ in itertools.groupby(candidates, key=lambda pick: pick[0])
    ] == sorted(
        generated_drills.GENERATOR_NAMES,
        key=lambda name: DIFFICULTY_LEVELS.index(drill_difficulty.get_drill_difficulty(name)),
    )
    picks = [(scenario.name, *pick_values(scenario.variants, seed).values()) for scenario, seed in candidates]
    assert len(picks) == len({str(pick) for pick in picks}) == 6 + 8 + 42


def test_the_nearest_drill_is_offered_if_none_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = iter(("beginner", "advanced", "beginner"))
    monkeypatch.setattr(drill_difficulty, "compute_difficulty", lambda candidate: next(levels))
    monkeypatch.setattr(
        generated_drills.GeneratedDrill, "difficulty", property(lambda candidate: candidate.scenario.level)
    )
    result = run_to_completion(
        generated_drills.generate_drill([(texts.change_small_text(), seed) for seed in (3, 4, 5)], "expert")
    )
    assert result is not None
    assert (result.seed, result.scenario.level) == (4, "advanced")


def test_unproved_drills_are_not_offered() -> None:
    """The reference of the first candidate scores no more than a run without inputs."""
    bad = texts.change_small_text(("power-on SERVER_A", "power-on SERVER_W"))
    good_text = texts.change_small_text()
    result = run_to_completion(generated_drills.generate_drill([(bad, 3), (good_text, 3)]))
    assert result is not None
    assert result.scenario.solution == good_text.solution
    assert run_to_completion(generated_drills.generate_drill([(bad, 3)])) is None


@pytest.mark.parametrize(
    ("share", "acts", "actions_tried", "expected"),
    [
        (0.1, 1, 40, "beginner"),
        (0.2, 2, 40, "intermediate"),
        (0.3, 2, 40, "advanced"),
        (0.1, 12, 5, "expert"),
        (0.1, 2, 4, ""),
        (None, 2, 0, ""),
    ],
)
def test_difficulty_is_the_probability_of_a_blunder(
    share: float | None, acts: int, actions_tried: int, expected: str
) -> None:
    certificate: ParCertificate = {"blunder_share": share, "acts_tried": actions_tried, "choices": acts}
    assert drill_difficulty.compute_difficulty(certificate) == expected


def test_the_list_shows_the_difficulty_of_a_drill() -> None:
    drill = scenario_files.find_scenario_file("automatic-failover").load()
    assert drill_difficulty.get_drill_difficulty(drill.name) in DIFFICULTY_LEVELS
    assert "difficulty" not in drill_difficulty.describe_certificate(drill.name, drill.text), (
        "the level is the one difficulty shown"
    )
