"""Tests of `mirrordrill sweep`: its runs and their order do not depend on the number of processes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app import cli
from app.cli import processes, sweep
from app.cli.command_helpers import UsageError
from app.exit_codes import INTERRUPTED, INVALID_USE, SUCCESS
from engine.drill.judging.sweep import RunOutcome
from tests.engine.drill import texts


def run_sweep(*arguments: str) -> int:
    return cli.main(["sweep", *arguments], lambda scenario: 9)


@pytest.mark.slow
def test_one_worker_and_two_print_the_same_table() -> None:
    jobs = sweep.list_jobs([texts.change_small_text()], ["reference", "idle"], range(1, 4))
    first_outcomes, two = (sweep.run_jobs(jobs, workers=workers) for workers in (1, 2))
    assert first_outcomes == two
    assert [(outcome.player, outcome.seed) for outcome in first_outcomes] == [job[2:] for job in jobs]


def test_rows_and_runs_are_written_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    small, file = tmp_path / "small.toml", tmp_path / "sweep.json"
    small.write_text(texts.SMALL_TEXT)
    assert run_sweep(str(small), "--seeds", "3-4", "--players", "idle,worst", "--json", str(file)) == SUCCESS
    document = json.loads(file.read_text())
    assert [(row["player"], row["runs"]) for row in document["rows"]] == [("idle", 2), ("worst", 2)]
    assert [run["seed"] for run in document["runs"]] == [3, 4, 3, 4]


def test_ctrl_c_keeps_finished_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    played_job = sweep.play_job

    def play_job(job: sweep.SweepJob) -> RunOutcome:
        if job[-1] == 4:
            signal.raise_signal(signal.SIGINT)
        return played_job(job)

    monkeypatch.setattr(sweep, "play_job", play_job)
    small = tmp_path / "small.toml"
    small.write_text(texts.SMALL_TEXT)
    assert run_sweep(str(small), "--seeds", "3-999", "--players", "idle", "--json", "-") == INTERRUPTED
    output, err = capsys.readouterr()
    assert [run["seed"] for run in json.loads(output)["runs"]] == [3, 4]
    assert err == "ended after 2 of 997 runs\n"


def test_the_share_of_fast_failovers_is_printed_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    small, file = tmp_path / "small.toml", tmp_path / "sweep.svg"
    small.write_text(texts.SMALL_TEXT)
    options = ("--seeds", "3-5", "--within", "failover_s=10", "--plot", str(file))
    assert run_sweep(str(small), *options) == SUCCESS
    assert (
        "small, reference: failover_s at most 10 in 3 of 3 runs with this measure "
        "(100.0%; 95% confidence: 43.9% to 100.0%)" in (capsys.readouterr().out)
    )
    svg_root = ElementTree.fromstring(file.read_text())
    assert "small, reference (3)" in [
        element.text for element in svg_root.iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.parametrize(("text", "expected"), [("7", range(7, 8)), ("1-50", range(1, 51))])
def test_seed_ranges_are_parsed(text: str, expected: range) -> None:
    assert sweep.parse_seeds(text) == expected


@pytest.mark.parametrize("text", ["", "5-4", "a-b", "-3", "1-", "1-99999999999999999999"])
def test_invalid_seeds_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        sweep.parse_seeds(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--players", "nobody"), "unknown player 'nobody'"),
        (("--on", "moon"), "must be local or dask"),
        (("--on", "dask://moon"), "must be local or dask"),
        (("--within", "speed=3"), "unknown measure 'speed'"),
        (("--within", "failover_s=soon"), "must be MEASURE=NUMBER"),
        (("--within", "failover_s=inf"), "must be MEASURE=NUMBER"),
        (("--json", "nowhere/runs.json"), "there is no folder nowhere"),
        (("--plot", "."), "it is a folder"),
        (("--measure", "speed"), "unknown measure 'speed'"),
        (("--seeds", f"0-{2**63 - 1}"), "9223372036854775808 runs exceed the limit of 1000000"),
    ],
)
def test_unusable_arguments_are_reported(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_sweep("lab", "--seeds", "1", *arguments) == INVALID_USE
    assert message in capsys.readouterr().err


class StubCluster:
    """Stub of a Dask client: it reports a number of workers, and every job fails."""

    def __init__(self, workers: int, error: Exception | None = None) -> None:
        self.workers, self.error = workers, error

    def wait_for_workers(self, worker_count: int, timeout: float) -> None:
        if worker_count > self.workers:
            raise TimeoutError

    def run(self, function: Callable[[str], None], text: str) -> None:
        if self.error is not None:
            raise self.error
        function(text)

    run_on_scheduler = run


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (StubCluster(0), "has no worker"),
        (StubCluster(1, ModuleNotFoundError("No module named 'app'")), "Mirrordrill must be installed where"),
    ],
)
def test_an_unusable_cluster_is_reported_at_once(cluster: StubCluster, message: str) -> None:
    processes._check_cluster(StubCluster(1), "moon:8786")
    with pytest.raises(UsageError, match=message):
        processes._check_cluster(cluster, "moon:8786")


def test_duplicate_arguments_are_played_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Repeated runs are identical and would make the statistics look more reliable than they are."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    small, other_file = tmp_path / "small.toml", tmp_path / "b" / "small.toml"
    other_file.parent.mkdir()
    small.write_text(texts.SMALL_TEXT)
    other_file.write_text(texts.change_text(("+5 power-on", "+50 power-on")))
    assert (
        run_sweep(str(small), str(small), "--seeds", "3", "--players", "idle,idle", "--json", "-") == SUCCESS
    )
    assert [row["runs"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1]
    assert run_sweep(str(small), str(other_file), "--seeds", "3") == INVALID_USE
    assert "two different scenarios are called small" in capsys.readouterr().err
