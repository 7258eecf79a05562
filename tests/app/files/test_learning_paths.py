"""Tests that every shipped drill is in exactly one learning path, and that other drills are classified by
contents.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from app.files import scenario_files, summary_cache
from app.files import scenario_summary as summary
from app.files.learning_paths import find_technology, find_version, get_position_in_path, load_learning_paths
from engine.drill.authoring.scenario import Scenario
from tests.error_numbers import find_error_numbers

KEYS = ["mirroring", "ag", "fci", "clients", "restore", "team"]


@pytest.fixture(scope="module")
def drills() -> dict[str, Scenario]:
    return {file.name: file.load() for file in scenario_files.list_all_files()[0] if file.shipped}


def test_every_shipped_drill_is_in_one_path(drills: dict[str, Scenario]) -> None:
    listed = [name for path in load_learning_paths().values() for name in path.drills]
    assert list(load_learning_paths()) == KEYS
    assert len(listed) == len(set(listed))
    assert set(listed) == set(drills), "add a new drill to engine/drill/judging/learning_paths.toml"


def test_technology_matches_the_contents_of_the_drill(drills: dict[str, Scenario]) -> None:
    for name, drill in drills.items():
        technology, contents = find_technology(drill, shipped=True), find_technology(drill, shipped=False)
        assert technology in KEYS
        if technology in ("fci", "team"):
            assert contents == technology, name
        elif technology in ("mirroring", "ag"):
            assert contents == technology or drill.sessions, name
        assert (contents == "team") == (technology == "team"), name
        assert (contents == "fci") == (technology == "fci"), name
        assert find_version(drill) in {"2005", "2008", "2012", "2014", "2016", "2017", "2019", "2022"}


def test_paths_never_step_back_by_more_than_one_level(drills: dict[str, Scenario]) -> None:
    for path in load_learning_paths().values():
        first = drills[path.drills[0]]
        assert summary.DIFFICULTY_LEVELS.index(first.level) <= 1, "a path begins with what a newcomer can do"
        assert [get_position_in_path(name) for name in path.drills] == list(range(1, len(path.drills) + 1))
    assert get_position_in_path("no-such-drill") > len(drills)


@pytest.mark.parametrize(
    ("term", "drill"),
    [
        ("1418", "random-trouble-easy"),
        ("824", "page-repair"),
        ("1480", "ag-automatic-failover"),
        ("35202", "ag-secondary-lost"),
        ("sys.dm_hadr_database_replica_states", "ag-not-ready"),
        ("mirroring_state_desc", "automatic-failover"),
        ("power-on", "automatic-failover"),
        ("witness", "why-no-failover-witness"),
        ("commits", "ag-secondary-lost"),
    ],
)
def test_the_search_index_has_errors_views_commands_and_symptoms(
    drills: dict[str, Scenario], term: str, drill: str
) -> None:
    summary = summary_cache.build_summary(drills[drill], shipped=True)
    assert term in f"{summary.title} {summary.summary} {summary.words}".lower()


def test_a_stored_summary_with_an_unknown_technology_is_ignored(
    drills: dict[str, Scenario], tmp_path: Path
) -> None:
    files = [scenario_files.find_scenario_file("lab")]
    (first,), _ = summary_cache.read_summaries(files, tmp_path)
    text = (tmp_path / summary.CACHE_FILE_NAME).read_text()
    assert asdict(first)["technology"] == "mirroring"
    (tmp_path / summary.CACHE_FILE_NAME).write_text(
        text.replace('"technology": "mirroring"', '"technology": "x"')
    )
    assert summary.load_summaries(tmp_path) == {}
    assert summary_cache.read_summaries(files, tmp_path)[0] == [first]


@pytest.mark.parametrize("name", ["automatic-failover", "page-repair"])
def test_error_numbers_are_those_of_the_reference_solution(drills: dict[str, Scenario], name: str) -> None:
    assert set(summary_cache.read_error_numbers()) == set(drills), "run python -m tests.error_numbers"
    assert summary_cache.read_error_numbers()[name] == find_error_numbers(drills[name])


@pytest.mark.slow
def test_all_error_numbers_are_those_of_the_reference_solutions(drills: dict[str, Scenario]) -> None:
    for name, drill in drills.items():
        assert summary_cache.read_error_numbers()[name] == find_error_numbers(drill), name
