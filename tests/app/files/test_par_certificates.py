"""Tests of the certificates of shipped drills: each matches the current text of its drill and is acceptable."""

from __future__ import annotations

from collections import Counter
from importlib import resources

import pytest

from app import cli
from app.files import drill_difficulty, par_certificates, scenario_files
from app.files.scenario_files import ScenarioFile
from app.files.scenario_summary import DIFFICULTY_LEVELS
from engine.drill.par.certificate_types import ParCertificate, TrapScore
from tests.assertions import require

DRILL_NAMES = sorted(
    file.name.removesuffix(".json") for file in (resources.files("assets") / "par").iterdir()
)


def test_a_certificate_belongs_to_one_text() -> None:
    file = scenario_files.find_scenario_file("automatic-failover")
    certificate = par_certificates.load_certificate(file.load())
    assert certificate is not None
    assert certificate["par"]["score"] >= require(certificate["reference"]["score"])
    changed = ScenarioFile(file.name, file.file, file.text + "\n# changed\n", shipped=True)
    assert par_certificates.load_certificate(changed.load()) is None


def test_valid_certificates_report_no_problem() -> None:
    """The certificate of a drill that has changed is invalid until it is renewed."""
    holding = {
        name: par_certificates.load_certificate(scenario_files.find_scenario_file(name).load())
        for name in DRILL_NAMES
    }
    assert any(holding.values())
    for name, holder in holding.items():
        if holder is None:
            continue
        assert (
            holder["clairvoyant"]["score"] >= holder["par"]["score"] >= (holder["reference"]["score"] or 0.0)
        )
        assert par_certificates.list_certificate_warnings(holder, name) == []


@pytest.mark.parametrize(
    ("par", "reference", "idle", "messages"),
    [
        (100.0, 97.0, 85.0, []),
        (100.0, 96.9, 20.0, ["the reference solution earns 96.9"]),
        (100.0, None, 85.1, ["doing nothing earns 85.1"]),
    ],
)
def test_a_certificate_reports_problems_of_its_drill(
    par: float, reference: float | None, idle: float, messages: list[str]
) -> None:
    warnings_found = par_certificates.list_certificate_warnings(
        _build_certificate(par, reference, idle), "small.toml"
    )
    assert [
        problem.text[: len(begin)] for problem, begin in zip(warnings_found, messages, strict=True)
    ] == messages


def test_dependence_on_luck_is_reported() -> None:
    certificate = _build_certificate(100.0, 100.0, 0.0)
    certificate["luck"] = {"seeds": 4, "least": 84.9, "most": 100.0}
    (problem,) = par_certificates.list_certificate_warnings(certificate, "small.toml")
    assert problem.text.startswith("with other seeds the reference solution earns 84.9 to 100")
    certificate["luck"]["least"] = 85.0
    assert not par_certificates.list_certificate_warnings(certificate, "small.toml")


def test_an_unsolved_drill_is_reported() -> None:
    certificate = _build_certificate(60.0, 60.0, 0.0)
    assert not par_certificates.list_certificate_warnings(
        {**certificate, "shortest": ["30 power-on SERVER_A"]}, "small.toml"
    )
    nothing_costs: ParCertificate = {
        "shortest": None,
        "idle": {"score": 60.0},
        "traps": [{"name": "a", "text": "A.", "best": 60.0}],
    }
    (problem,) = par_certificates.list_certificate_warnings({**certificate, **nothing_costs}, "small.toml")
    assert problem.text == "no known plan reaches all goals; the best earns 60 points"


def test_a_trap_without_cost_is_reported() -> None:
    traps: list[TrapScore] = [
        {"name": name, "text": f"Trap {name}.", "best": best}
        for name, best in (("a", 99.6), ("b", 99.0), ("c", None))
    ]
    (problem,) = par_certificates.list_certificate_warnings(
        {**_build_certificate(100.0, 100.0, 0.0), "traps": traps}, "small.toml"
    )
    assert (
        problem.text
        == "after the trap 'Trap a.', 99.6 points are still possible; the best known plan earns 100"
    )


def test_the_details_of_a_drill_state_the_proof() -> None:
    def describe_proof(name: str) -> str:
        return drill_difficulty.describe_certificate(
            name, scenario_files.find_scenario_file(name).load().text
        )

    assert describe_proof("automatic-failover").startswith("A full score is possible")
    assert "serious mistakes" in describe_proof("false-failovers")
    assert describe_proof("lab") == ""


def test_each_level_has_about_a_quarter_of_the_drills() -> None:
    """If this fails, BLUNDER_CHANCE_BOUNDS is outdated: `python -m tests.par_proofs --blunders` prints the values."""
    counted = Counter(map(drill_difficulty.get_drill_difficulty, DRILL_NAMES))
    assert all(abs(counted[level] - len(DRILL_NAMES) / 4) <= 4 for level in DIFFICULTY_LEVELS), counted


def test_the_level_of_every_drill_is_within_one_of_the_measured_level() -> None:
    """The author rates the required knowledge. The measured level shows how easily the drill fails."""
    for file in scenario_files.list_all_files()[0]:
        measured, level = drill_difficulty.get_drill_difficulty(file.name), file.load().level
        assert not measured or abs(DIFFICULTY_LEVELS.index(measured) - DIFFICULTY_LEVELS.index(level)) <= 1, (
            file.name,
            level,
            measured,
        )


def test_check_reads_certificates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        par_certificates, "load_certificate", lambda scenario: _build_certificate(100.0, 90.0, 0.0)
    )
    assert cli.main(["check", "lab"], lambda scenario: 9) == 1
    assert "the reference solution earns 90 points" in capsys.readouterr().out


def _build_certificate(par: float, reference: float | None, idle: float) -> ParCertificate:
    return {"par": {"score": par}, "reference": {"score": reference}, "idle": {"score": idle}}
