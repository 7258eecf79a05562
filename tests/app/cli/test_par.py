"""Tests of `mirrordrill par`: several processes find the same plans as one process."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app import cli
from app.cli import par
from app.cli.distributed_search import distribute_search
from app.exit_codes import INVALID_USE, SUCCESS
from engine.drill.par.certificate import CertificateBuilder
from engine.drill.par.search import ParSearch
from engine.drill.par.search_drill import SearchDrill
from engine.drill.par.trials import PlanPlayer, PlayedPlan, SearchLimits
from tests.assertions import require
from tests.engine.drill import texts
from tests.par_runs import run_search


@pytest.mark.slow
def test_two_processes_find_the_same_plans_as_one() -> None:
    small = texts.change_small_text(('length = "5min"', 'length = "2min"'))
    rules: dict[str, Any] = {"actions_max": 2, "decision_points_max": 3}
    first_search = ParSearch(small, small.seed, **rules)
    with distribute_search(small, small.seed, 2) as spread:
        two = ParSearch(small, small.seed, decision_tester=spread, **rules)
        for search in (first_search, two):
            for _ in search.run_steps():
                pass
            assert search.complete
    assert first_search.plans == two.plans
    assert (first_search.best, first_search.node_count) == (two.best, two.node_count)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--on", "moon"), "must be local or dask"),
        (("--workers", "0"), "--workers must be from 1 to"),
        (("--workers", "9"), "--workers must be from 1 to 8, not 9"),
        (("--seconds", "-1"), "--seconds must be from 0 to"),
        (("--json", "nowhere/par.json"), "there is no folder nowhere"),
        (("--from", "absent.json"), "absent.json does not exist"),
        (("--from", "small.toml"), "was not written by par --json"),
        (("--from", "other.json"), "another version or seed"),
        (("--from", "cut.json"), "was not written by par --json"),
    ],
)
def test_unusable_arguments_are_refused(
    tmp_path: Path,
    arguments: Sequence[str],
    reason: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    file = tmp_path / "small.toml"
    file.write_text(texts.SMALL_TEXT)
    of_this = hashlib.sha256(texts.SMALL_TEXT.encode()).hexdigest()
    (tmp_path / "cut.json").write_text(f'{{"seed": 3, "hashes": {{"scenario": "{of_this}"}}}}')
    (tmp_path / "other.json").write_text('{"seed": 3, "hashes": {"scenario": ""}}')
    assert cli.main(["par", str(file), *arguments], lambda scenario: 9) == INVALID_USE
    assert reason in capsys.readouterr().err


def test_an_unplayable_reference_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "small.toml"
    file.write_text(texts.SMALL_TEXT.replace("+5 power-on SERVER_A", "+5 workload Sales Nothing"))
    assert cli.main(["par", str(file), "--seconds", "0"], lambda scenario: 9) == SUCCESS
    assert "the reference solution cannot be played: " in capsys.readouterr().err


@pytest.mark.parametrize("is_interrupted", [False, True], ids=["time", "Ctrl-C"])
def test_results_are_printed_at_once_when_the_time_is_over(
    is_interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time limit, the command plays only the reference, a run without inputs, and complete runs for
    the hashes.
    """
    small = texts.change_small_text()
    plans: list[PlayedPlan] = []
    finish_plan = PlanPlayer.finish_plan

    def count_rollout(trials: PlanPlayer, run: SearchDrill, rules: SearchLimits) -> PlayedPlan:
        if is_interrupted and not plans:
            signal.raise_signal(signal.SIGINT)
        plans.append(finish_plan(trials, run, rules))
        return plans[-1]

    def fail_if_called(*_: object) -> float:
        raise AssertionError("there is no time for it")

    monkeypatch.setattr(PlanPlayer, "finish_plan", count_rollout)
    monkeypatch.setattr(CertificateBuilder, "_score_delayed", fail_if_called)
    monkeypatch.setattr("engine.drill.par.multi_seed.play_reactions", fail_if_called)
    certificate = par._search_certificate(small, small.seed, 3600.0 if is_interrupted else 0.0, None)
    assert len(plans) == 2
    assert certificate["nodes"] == 2
    assert (
        certificate["par"]["score"]
        == require(certificate["reference"]["score"])
        > certificate["idle"]["score"]
    )
    assert certificate["point_of_no_return_s"] == float(require(certificate["last_chance"])[0].split()[0])
    assert certificate["curve"]["best"] == [certificate["par"]["score"], certificate["idle"]["score"]]
    assert certificate["safest"] is None
    assert certificate["luck"]["seeds"] == 0


def test_problems_of_a_drill_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "late.toml"
    exposed = (
        '[[rubric]]\nkind = "exposed"\nname = "Time unprotected"\npoints = 20\n'
        'target = "100s"\nlimit = "200s"\nbetter = "Sooner."\n\n'
    )
    replacements = (("+5 power-on", "+150 power-on"), ("points = 40", "points = 20"))
    file.write_text(
        texts.change_text(
            *replacements, ('[[rubric]]\nkind = "downtime"', f'{exposed}[[rubric]]\nkind = "downtime"')
        )
    )
    certificate_file = tmp_path / "known.json"
    arguments = ["par", str(file), "--seconds", "0", "--json"]
    assert cli.main([*arguments, str(certificate_file)], lambda scenario: 9) == SUCCESS
    document = json.loads(certificate_file.read_text())
    assert capsys.readouterr().err == ""
    document["shortest"] = ["40 power-on SERVER_A"]
    certificate_file.write_text(json.dumps(document))
    assert cli.main([*arguments, "-", "--from", str(certificate_file)], lambda scenario: 9) == SUCCESS
    output, err = capsys.readouterr()
    assert json.loads(output)["par"] == {"score": 100.0, "plan": ["40 power-on SERVER_A"]}
    assert f"{file}:1:1: the reference solution earns 80 points" in err


def test_progress_names_the_current_search() -> None:
    search = run_search(ParSearch(texts.change_small_text(), 1, fair=False), 1)
    assert par._format_progress(search).startswith("1 nodes of the clairvoyant search, best ")
