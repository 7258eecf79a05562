"""Tests of the journal file of a run: the part written before a kill replays to the same states."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.files import run_files, scenario_files
from app.files.journal_file import JournalFileRecorder
from app.host import RunHost
from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.drill import Drill
from engine.drill.time import replay_verification

LOGIN = '{"login": "sa", "password": "right", "database": "Sales"}'


@pytest.fixture
def truncated_file(tmp_path: Path) -> Path:
    """Return the file of a run of three seconds, cut off by a kill during a write."""
    file = tmp_path / "run.json"
    drill = Drill(load_scenario(scenario_files.find_scenario_file("lab").text, "lab.toml"), None)
    host = RunHost()
    record = JournalFileRecorder(drill, str(file))
    host.open_run(drill, record)
    host.play()
    for line in (f"connect SERVER_A#tds1 {LOGIN}", 'batch SERVER_A#tds1 "CREATE TABLE t (a int)"'):
        host.inbox.post(line)
        for _ in range(6):
            host.on_frame(250.0)
    record.close()
    with file.open("a", encoding="utf-8") as log_file:
        log_file.write('{"tick": 999, "li')
    return file


def test_an_interrupted_run_replays_to_the_same_states(truncated_file: Path) -> None:
    report, text = run_files.read_run(truncated_file)
    assert [line.split()[1] for line in report["inputs"]] == ["connect", "batch"]
    assert report["ended_at_s"] == 3.0
    scenario = load_scenario(text, "lab.toml")
    assert len(report["hashes"]) >= 2
    assert replay_verification.verify_report(scenario, report) is None


def test_a_different_state_is_detected(truncated_file: Path) -> None:
    digest = run_files.read_run(truncated_file)[0]["hashes"][-1]["hash"]
    truncated_file.write_text(
        truncated_file.read_text(encoding="utf-8").replace(digest, "0" * len(digest)), encoding="utf-8"
    )
    report, text = run_files.read_run(truncated_file)
    assert replay_verification.verify_report(load_scenario(text, "lab.toml"), report) is not None


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    for text in ('{"begun": 5}\n', '{"begun": {"scenario": "lab"}}\n', '{"begun": {}}\n[]\n'):
        file = tmp_path / "run.json"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(run_files.RunFileError):
            run_files.read_run(file)
