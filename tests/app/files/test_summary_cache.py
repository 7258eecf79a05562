"""Tests that the list of scenarios is equal with and without its cache, even if the cache is damaged."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from app.files import scenario_files, summary_cache
from app.files import scenario_summary as summary
from app.files.scenario_files import ScenarioFile
from tests.error_numbers import build_summaries


@pytest.fixture
def files() -> list[ScenarioFile]:
    return [scenario_files.find_scenario_file(name) for name in ("lab", "automatic-failover")]


def refuse_to_load(self: ScenarioFile) -> None:
    raise AssertionError(f"{self.name} was read although it is known")


def test_cached_summaries_are_not_parsed_again(
    files: list[ScenarioFile], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = summary_cache.read_summaries(files, tmp_path)
    assert [summary.title for summary in first[0]] == [
        "Database mirroring lab",
        "Mirroring: principal loses power",
    ]
    monkeypatch.setattr(ScenarioFile, "load", refuse_to_load)
    assert summary_cache.read_summaries(files, tmp_path) == first


def test_without_a_folder_the_cache_is_in_memory(
    files: list[ScenarioFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory: dict[str, summary.ScenarioSummary] = {}
    first = summary_cache.read_summaries(files, None, memory)
    assert summary_cache.read_summaries(files[:1], None, memory)[0] == first[0][:1]
    assert len(memory) == 1, "what is gone is forgotten"
    monkeypatch.setattr(ScenarioFile, "load", refuse_to_load)
    assert summary_cache.read_summaries(files[:1], None, memory)[0] == first[0][:1]


def test_a_changed_text_is_parsed_and_the_old_entry_dropped(
    files: list[ScenarioFile], tmp_path: Path
) -> None:
    summary_cache.read_summaries(files, tmp_path)
    lab = files[0]
    changed = ScenarioFile(
        lab.name, lab.file, lab.text.replace("Database mirroring lab", "My lab", 1), lab.shipped
    )
    (changed_summary,), _ = summary_cache.read_summaries([changed], tmp_path)
    assert changed_summary.title == "My lab"
    assert "Database mirroring lab" not in (tmp_path / summary.CACHE_FILE_NAME).read_text()


@pytest.mark.parametrize("cache_text", ["", "{", "[]", '{"a": {"name": 1}}', '{"a": 3}', "\x00" * 99])
def test_an_invalid_cache_file_is_ignored(files: list[ScenarioFile], tmp_path: Path, cache_text: str) -> None:
    (tmp_path / summary.CACHE_FILE_NAME).write_text(cache_text)
    summaries_read, problems = summary_cache.read_summaries(files, tmp_path)
    assert [summary.name for summary in summaries_read] == ["lab", "automatic-failover"]
    assert problems == []


@pytest.mark.parametrize(
    "invalid_fields", [{"level": "wizard"}, {"skills": [1]}, {"skills": 3}, {"minutes": "5"}, {"x": 1}]
)
def test_an_unusable_cache_entry_is_ignored(
    files: list[ScenarioFile], tmp_path: Path, invalid_fields: dict[str, object]
) -> None:
    first = summary_cache.read_summaries(files, tmp_path)
    assert list(summary.load_summaries(tmp_path).values()) == first[0]
    entries = json.loads((tmp_path / summary.CACHE_FILE_NAME).read_text())
    entries[next(iter(entries))] |= invalid_fields
    (tmp_path / summary.CACHE_FILE_NAME).write_text(json.dumps(entries))
    assert summary.load_summaries(tmp_path) == {}
    assert summary_cache.read_summaries(files, tmp_path) == first


def test_a_broken_scenario_is_reported_each_time(tmp_path: Path) -> None:
    broken = ScenarioFile("bad", "bad.toml", "title = 3", shipped=False)
    for _ in range(2):
        summaries_read, (problem,) = summary_cache.read_summaries([broken], tmp_path)
        assert not summaries_read
        assert problem.startswith("bad.toml cannot be played")


def test_without_a_folder_nothing_is_stored(files: list[ScenarioFile], tmp_path: Path) -> None:
    summary_cache.read_summaries(files, None)
    summary_cache.read_summaries(files, tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_the_shipped_summaries_are_current() -> None:
    """If this fails, `python -m tests.error_numbers --summaries` renews the summaries."""
    current = resources.files("assets").joinpath(summary.CACHE_FILE_NAME).read_text("utf-8")
    assert current == build_summaries()


def test_a_first_start_parses_no_shipped_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = [file for file in scenario_files.list_all_files()[0] if file.shipped]
    monkeypatch.setattr(ScenarioFile, "load", refuse_to_load)
    summaries_read, problems = summary_cache.read_summaries(shipped, tmp_path)
    assert [summary.name for summary in summaries_read] == [file.name for file in shipped]
    assert not problems
    assert summary_cache.read_summaries(shipped, tmp_path)[0] == summaries_read
