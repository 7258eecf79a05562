"""Variants: selection by seed, linked pools, substitution in all texts, and findings of `check`."""

from __future__ import annotations

import json

import pytest

from engine.drill.authoring.lint import list_warnings
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario, select_variant
from engine.drill.authoring.variants import iterate_combinations, pick_values
from engine.drill.running.drill import Drill, replay
from engine.drill.running.solution import play_reference
from tests.engine.drill.texts import change_text

POOLS = """
[variants]
at_s = [18, 20, 22]
database = ["Sales", "Orders", "Stock"]

[variants.site]
principal = ["SERVER_A", "BERN"]
mirror = ["SERVER_B", "BASEL"]

[[source]]"""
TEXT = change_text(
    ("\n[[source]]", POOLS),
    ('at = "20s"', 'at = "{at_s}"'),
    ("SERVER_A", "{principal}"),
    ("SERVER_B", "{mirror}"),
    ('principal = ["{principal}"', 'principal = ["SERVER_A"'),
    ('mirror = ["{mirror}"', 'mirror = ["SERVER_B"'),
    ("Sales", "{database}"),
    ('database = ["{database}"', 'database = ["Sales"'),
    ('at = "{at_s}"', 'at = "{at_s}s"'),
)


def load_drill(text: str = TEXT, seed: int | None = None) -> Drill:
    return Drill(load_scenario(text, "small.toml"), seed)


def test_the_seed_selects_linked_pools_together() -> None:
    names_seen = set()
    for seed in range(40):
        drill = load_drill(seed=seed)
        names = [server.name for server in drill.scenario.servers[:2]]
        assert names in (["SERVER_A", "SERVER_B"], ["BERN", "BASEL"])
        names_seen.add((names[0], drill.scenario.databases[0].name, drill.scenario.timeline[0].at))
        assert load_drill(seed=seed).scenario == drill.scenario
    assert len(names_seen) > 12, "18 combinations, and hardly any comes up"


def test_every_text_follows_the_variant() -> None:
    drill = load_drill(
        seed=next(
            s for s in range(99) if pick_values(load_drill().scenario.variants, s)["principal"] == "BERN"
        )
    )
    assert "BERN will lose its power" in drill.scenario.brief
    assert drill.scenario.timeline[0].do == "power-off BERN"
    assert "SERVER_A" not in str(drill.scenario.model_dump(exclude={"variants"}))
    assert drill.scenario.solution[0].do == "+5 power-on BERN"


@pytest.mark.parametrize("seed", range(6))
def test_the_solution_solves_each_variant_and_replays_identically(seed: int) -> None:
    drill = play_reference(load_drill().scenario, seed)
    assert drill.compute_score().total == 100.0
    replayed = replay(
        load_drill().scenario, seed, drill.mode, [item.line for item in drill.journal], drill.tick
    )
    assert replayed.build_report() == drill.build_report()
    of_the_variant = replay(
        drill.scenario, seed, drill.mode, [item.line for item in drill.journal], drill.tick
    )
    assert of_the_variant.build_report() == drill.build_report(), "a variant is varied to itself"


def test_a_placeholder_takes_the_type_of_its_value() -> None:
    text = change_text(("\n[[source]]", '\n[variants]\nsize = [100, 200]\n\n[[source]]'),
                   ('workload = "Workload1"', 'workload = "Workload1"\nsize_mb = "{size}"'))  # fmt: skip
    with pytest.raises(ScenarioError, match="a number"):
        load_scenario(text.replace("[100, 200]", '["100", "200"]'), "small.toml")
    sizes = {
        load_drill(text.replace("[100, 200]", "[100.0, 200.0]"), seed).scenario.databases[0].size_mb
        for seed in range(9)
    }
    assert sizes == {100.0, 200.0}


def test_a_file_without_variants_keeps_its_braces() -> None:
    text = change_text(("lose its power", "lose its {power}"))
    scenario = load_scenario(text, "small.toml")
    assert "{power}" in scenario.brief
    assert select_variant(scenario, 99) is scenario


@pytest.mark.parametrize(
    ("old_text", "new_text", "message"),
    [
        ("at_s = [18, 20, 22]", "at_s = 18", "the value is not a pool"),
        ("at_s = [18, 20, 22]", "at_s = [18]", "the value is not a pool"),
        ("at_s = [18, 20, 22]", 'at_s = [18, "20"]', "have different types"),
        ("at_s = [18, 20, 22]", f'at_s = ["{"x" * 201}", "20"]', "too long"),
        ("at_s = [18, 20, 22]", "AtS = [18, 20]", "not a valid name of a pool"),
        ('mirror = ["SERVER_B", "BASEL"]', 'mirror = ["SERVER_B"]', "the value is not a pool"),
        ('mirror = ["SERVER_B", "BASEL"]', 'mirror = ["SERVER_B", "BASEL", "BRIG"]', "different lengths"),
        (
            'database = ["Sales"',
            'principal = ["X", "Y"]\ndatabase = ["Sales"',
            "two pools have the name 'principal'",
        ),
        ("power-off {principal}", "power-off {principel}", "no pool 'principel'"),
    ],
)
def test_problems_of_variants_are_reported(old_text: str, new_text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message) as caught:
        load_scenario(change_text((old_text, new_text), text=TEXT), "small.toml")
    assert all(problem.line > 5 for problem in caught.value.problems)


def test_check_tries_every_combination() -> None:
    assert list_warnings(load_scenario(TEXT, "small.toml"), "small.toml") == []
    unused = change_text(("at_s = [18, 20, 22]", 'at_s = [18, 20, 22]\nnever = ["a", "b"]'), text=TEXT)
    (problem,) = list_warnings(load_scenario(unused, "small.toml"), "small.toml")
    assert "uses the pool 'never'" in problem.text
    clash = change_text(('principal = ["SERVER_A", "BERN"]', 'principal = ["SERVER_A", "BASEL"]'), text=TEXT)
    seed = next(
        s for s in range(99) if pick_values(load_drill().scenario.variants, s)["principal"] == "SERVER_A"
    )
    scenario = load_scenario(clash.replace("seed = 3", f"seed = {seed}"), "small.toml")
    assert any(
        "BASEL" in problem.text and "twice" in problem.text
        for problem in list_warnings(scenario, "small.toml")
    )


def test_with_many_combinations_every_value_is_tried() -> None:
    pools = {f"pool_{n}": list(range(5)) for n in range(6)}
    tried = list(iterate_combinations(pools))
    assert len(tried) == 5
    assert all({picks[name] for picks in tried} == set(range(5)) for name in pools)
    assert json.dumps(tried)
