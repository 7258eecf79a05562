"""Tests of hostile scenario files, which are refused with messages, and of unusual valid files, which run."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.files import scenario_files
from app.files.scenario_files import ScenarioNotFoundError
from engine.drill.authoring import limits
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from tests.engine.drill.texts import WORLD_TEXT
from tests.hostile.scenario_texts import HARMLESS_TEXTS, REFUSED_TEXTS

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("name", REFUSED_TEXTS)
def test_hostile_texts_are_refused_with_messages(name: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(REFUSED_TEXTS[name](), "hostile.toml")
    problems = caught.value.problems
    assert 1 <= len(problems) <= limits.PROBLEMS_MAX + 1
    assert all(len(str(problem)) < 1_000 and str(problem).isprintable() for problem in problems)


@pytest.mark.parametrize("name", HARMLESS_TEXTS)
def test_strange_texts_run(name: str) -> None:
    Drill(load_scenario(HARMLESS_TEXTS[name](), "hostile.toml")).advance_to(700)


def test_limits_are_checked_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_if_called(text: str) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr("engine.drill.authoring.scenario.tomllib.loads", fail_if_called)
    with pytest.raises(ScenarioError):
        load_scenario("a." * 50 + "b = 1\n", "hostile.toml")


@pytest.mark.parametrize(
    "quoted", ['"[[[[[[[[[[[[[[[[[[[["', "'''[[[[[[[[[[[[[[[[[\n[[[['''", '"""a.b.c.d.e.f.g.h.i.j.k"""']
)
def test_quoted_text_does_not_count_towards_limits(quoted: str) -> None:
    assert limits.find_exceeded_limit(f"brief = {quoted} # [[[[[[[[[[[[[[[[[[[[\n") is None


def test_an_oversized_file_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    with file.open("wb") as scenario_file:
        scenario_file.truncate(10**11)  # a sparse file: reading it would take a hundred gigabytes of memory
    with pytest.raises(ScenarioNotFoundError, match="exceeds the size limit"):
        scenario_files.find_scenario_file(str(file))


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_bytes(b"\xef\xbb\xbf" + WORLD_TEXT.replace("\n", "\r\n").encode())
    assert scenario_files.find_scenario_file(str(file)).text == WORLD_TEXT
    assert scenario_files.find_scenario_file(str(file)).load().title


def test_a_pipe_among_the_own_scenarios_does_not_block_the_list(profile_folder: Path) -> None:
    import os

    folder = profile_folder / "scenarios"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.toml")
    (folder / "folder.toml").mkdir()
    (folder / "mine.toml").write_text(WORLD_TEXT, encoding="utf-8")
    (folder / "link.toml").symlink_to("/dev/zero")
    files, problems = scenario_files.list_all_files()
    assert "mine" in [file.name for file in files]
    assert len(problems) == 3
    assert all("is not a file" in problem for problem in problems)
