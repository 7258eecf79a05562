"""Search drills and condition polling: they skip seconds without a change, with results equal to full
polling.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from engine import simulator
from engine.drill.authoring import condition_context, quantities
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.automatic_players import list_candidate_lines
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running import drill as drills
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end, play_solution
from engine.inputs import InputError
from engine.model import World, to_ticks
from engine.model.world import FieldUse, list_parts
from engine.random_streams import RandomStream
from tests.engine.drill import texts
from tests.events import read_field

SCENARIO_FILES = sorted(Path("scenarios").glob("*.toml"))
QUICK_SCENARIOS = (
    "certificate-expired",
    "choose-safety-wan",
    "ag-threshold-used-up",
    "frozen-principal",
    "isolated-principal",
    "app-real-program",
    "link-between-partners-cut",
    "monitor-thresholds",
)


class AlwaysPollingDrill(Drill):
    """Drill that polls every condition in every second."""

    def _is_unchanged(self) -> bool:
        return False

    def _may_have_changed(self) -> bool:
        return True

    def _poll_conditions(self) -> None:
        self._poll_all_conditions()


def _play_drill(drill_class: type[Drill], scenario: Scenario, seed: int) -> Drill:
    """Play the reference solution if *seed* is 0, otherwise a random player with this seed."""
    drill = drill_class(scenario, scenario.seed)
    if seed == 0:
        with suppress(InputError):
            play_solution(drill)
    else:
        chance = RandomStream.from_seed(seed)
        lines = [
            line for line in list_candidate_lines(drill.scenario) if not line.startswith(("revert", "hint"))
        ]
        for _ in range(8):
            drill.advance_to(drill.tick + to_ticks(chance.draw_uniform(0.1, 30.0)))
            with suppress(InputError):
                drill.apply_line(lines[int(chance.draw_uniform(0, len(lines) - 0.01))])
    drill.advance_to(find_default_end(drill, drill.tick))
    return drill


def _list_results(drill: Drill) -> Iterator[object]:
    yield from (
        drill.compute_score(),
        drill.compute_state_hash(),
        drill.tick,
        drill.goals,
        drill.first_held,
        drill.answers,
    )
    yield [
        (event.tick, event.kind, event.text)
        for event in drill.events
        if event.kind != "score"
        or read_field(event, "rule") is not None  # only a full drill reports rubric items
    ]


def _list_recorded_data(drill: Drill) -> Iterator[object]:
    """Yield the data that a search drill does not keep."""
    samples = drill.samples
    yield from (drill.hashes, drill.logs, drill.standings, drill.published, drill.unlike)
    yield from (table.values.tobytes() for table in (samples.sources, samples.streams))
    yield samples.ticks.tolist()


@pytest.mark.parametrize(
    ("files", "seeds"),
    [
        (QUICK_SCENARIOS, (0, 1)),
        pytest.param(
            [file.stem for file in SCENARIO_FILES],
            (0, 1, 2),
            marks=(pytest.mark.slow, pytest.mark.timeout(3600)),
        ),
    ],
    ids=("few", "all"),
)
def test_a_search_drill_behaves_like_the_full_drill(files: tuple[str, ...], seeds: tuple[int, ...]) -> None:
    for name in files:
        file = Path(f"scenarios/{name}.toml")
        scenario = load_scenario(file.read_text(encoding="utf-8"), file.name)
        for seed in seeds if scenario.scored else ():
            kinds = (AlwaysPollingDrill, Drill, SearchDrill)
            polling_run, whole_run, lean = (_play_drill(kind, scenario, seed) for kind in kinds)
            assert (
                list(_list_results(polling_run))
                == list(_list_results(whole_run))
                == list(_list_results(lean))
            ), (
                name,
                seed,
            )
            assert list(_list_recorded_data(polling_run)) == list(_list_recorded_data(whole_run)), (
                name,
                seed,
            )


@pytest.mark.parametrize("max_samples", [5, 30, 100, 250])
def test_samples_are_thinned_at_the_same_time(max_samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drills, "SAMPLES_MAX", max_samples)
    small = texts.change_small_text()
    polling_run, whole_run = (kind(small, small.seed, "lab") for kind in (AlwaysPollingDrill, Drill))
    for drill in (polling_run, whole_run):
        drill.advance_to(to_ticks(95.5))
        drill.apply_line("restart-service SERVER_B")
        drill.advance_to(to_ticks(3000.0))
    assert list(_list_recorded_data(polling_run)) == list(_list_recorded_data(whole_run))
    assert len(set(np.diff(whole_run.samples.ticks))) > 1


@pytest.mark.parametrize("kind", [Drill, SearchDrill])
def test_seconds_without_events_are_skipped(kind: type[Drill], monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = kind._poll_conditions
    monkeypatch.setattr(kind, "_poll_conditions", lambda self: (looks.append(self.tick), look(self)))
    small = texts.change_small_text()
    drill = kind(small, small.seed)
    drill.advance_to(to_ticks(15.0))
    assert len(looks) < 5, "the failure comes at 20 s"
    drill.advance_to(to_ticks(25.0))
    assert to_ticks(21.0) in looks


@pytest.mark.parametrize("name", ["link-between-partners-cut", "choose-safety-man", "standard-edition"])
def test_steadily_changing_numbers_are_not_checked_each_second(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Queues, rates and the time change steadily. `AlwaysPollingDrill` polls each second and gives equal
    results.
    """
    looks: list[int] = []
    look = SearchDrill._poll_conditions
    monkeypatch.setattr(SearchDrill, "_poll_conditions", lambda self: (looks.append(self.tick), look(self)))
    scenario = load_scenario(Path(f"scenarios/{name}.toml").read_text(encoding="utf-8"), name)
    SearchDrill(scenario, scenario.seed).advance_to(to_ticks(600.0))
    assert len(looks) < 60


def test_a_quantity_lowered_at_a_full_second_is_polled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def set_log_reuse(world: World) -> None:
        world.flow.set_log_reuse_kb(0, world.flow.read_source_positions(0).generated_kb)

    monkeypatch.setitem(simulator.TIMER_HANDLERS, "redo.replay", set_log_reuse)
    small = texts.change_small_text(('"Sales serves on SERVER_B"', '"log_used_kb(Sales) < 1"'))
    news = []
    for kind in (AlwaysPollingDrill, SearchDrill):
        drill = kind(small, small.seed)
        drill.world.call_at(to_ticks(5.0), "redo.replay")
        drill.advance_to(to_ticks(8.0))
        news.append(
            [(event.t_s, read_field(event, "news")) for event in drill.events if event.kind == "goal"]
        )
    assert news == [[(5.0, "met"), (6.0, "lost")]] * 2


def test_the_facts_of_a_world_are_compared_before_evaluation() -> None:
    sources = inspect.getsource(condition_context) + inspect.getsource(quantities)
    read = set(re.findall(r"world\.(\w+)", sources)) & {field.name for field in fields(World)}
    assert read - {*list_parts(FieldUse.ASK)} == {"clients", "tick"}


def test_an_action_without_an_effect_on_conditions_is_detected() -> None:
    """The drill has one question, and only its answer affects the conditions."""
    question = 'name = "q"\ntext = "t"\nat = "30s"\nchoices = ["a", "b"]\nright = [1]\nwhy = "w"'
    asking = texts.change_small_text(
        ("[[solution]]", f"[[question]]\n{question}\n\n[[solution]]"),
        ('kind = "downtime"', 'kind = "diagnosis"'),
        ('target = "10s"\nlimit = "60s"\n', ""),
    )
    ends = []
    for kind in (Drill, SearchDrill):
        drill = kind(asking)
        drill.advance_to(to_ticks(40.0))
        drill.apply_line("power-on SERVER_A")
        drill.advance_to(to_ticks(250.0))
        assert all(state.is_reached for state in drill.goals.values())
        assert not drill.finished
        drill.advance_to(to_ticks(250.5))
        drill.apply_line("answer q 1")
        drill.advance_to(to_ticks(260.0))
        ends.append(drill.tick)
    assert ends == [to_ticks(251.0)] * 2
