"""Fairness of the plans in shipped certificates: they use only events that the seat could see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.drill.authoring import condition_context
from engine.drill.par.hidden_causes import HiddenCauseChecker
from engine.drill.par.observability import find_announced_ticks, needs_no_evidence
from engine.drill.running.drill import Drill, play_inputs
from engine.drill.running.solution import find_default_end, play_reference
from engine.events import Event
from engine.model import to_ticks
from engine.verbs.input_lines import parse_script
from tests.events import read_field
from tests.shipped_scenarios import load_shipped_scenario

CERTIFICATES = sorted(Path("assets/par").resolve().glob("*.json"))
QUICK_CERTIFICATES = {
    "automatic-failover",
    "mirror-lost",
    "why-no-failover-witness",
    "ag-lease-expired",
    "app-partner-missing",
    "random-trouble-easy",
}
VISIBLE_EVENT_KINDS = {
    "alert", "client", "cluster", "detected", "errorlog", "failover", "powershell", "question", "role", "sql_done",
    "state", "trace", "witness",
}  # fmt: skip
"""Event kinds that a seat sees: answers in windows, logs, monitors and client messages.

The list is independent of the engine.
"""
MONITOR_DELAY_TICKS = to_ticks(60.0)
"""Ticks after which the monitor shows any change."""


def is_visible(event: Event) -> bool:
    return event.kind in VISIBLE_EVENT_KINDS and not (
        event.kind == "sql_done" and condition_context.is_timeline_window(str(read_field(event, "window")))
    )


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.stem, marks=[] if file.stem in QUICK_CERTIFICATES else pytest.mark.slow)
        for file in CERTIFICATES
    ],
)
def test_no_action_of_a_fair_plan_precedes_its_symptom(file: Path) -> None:
    certificate: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    scenario = load_shipped_scenario(certificate["scenario"])
    plan, problems = parse_script("\n".join(certificate["par"]["plan"]))
    assert not problems
    drill = Drill(scenario, certificate["seed"])
    play_inputs(drill, plan)
    drill.advance_to(find_default_end(drill))
    known_ticks = find_announced_ticks(drill.scenario)
    hidden = [tick for tick in drill.story_ticks if tick not in known_ticks]
    for act in (item for item in plan if not needs_no_evidence(item)):
        before = [tick for tick in hidden if tick <= act.tick]
        if not before:
            assert scenario.early or not hidden, f"{act.line_without_time}: nothing had happened yet"
            continue
        symptoms = [
            event for event in drill.events if before[-1] < event.tick <= act.tick and is_visible(event)
        ]
        assert symptoms or act.tick >= before[-1] + MONITOR_DELAY_TICKS, (
            f"{act.line_without_time}: nothing could be seen of it yet"
        )
    assert HiddenCauseChecker(scenario, certificate["seed"]).find_guess(plan) is None, (
        "another cause looks the same"
    )


def test_the_rule_finds_a_premature_action(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (file,) = [file for file in CERTIFICATES if file.stem == "mirror-lost"]
    certificate = json.loads(file.read_text(encoding="utf-8"))
    certificate["par"]["plan"] = ["1 sql SERVER_A ALTER DATABASE Sales SET PARTNER OFF"]
    early_file = tmp_path / "mirror-lost.json"
    early_file.write_text(json.dumps(certificate), encoding="utf-8")
    with pytest.raises(AssertionError, match="nothing had happened yet"):
        test_no_action_of_a_fair_plan_precedes_its_symptom(early_file)


def test_one_plan_must_serve_all_causes_until_a_query_separates_them() -> None:
    scenario = load_shipped_scenario("random-trouble-easy")
    causes = HiddenCauseChecker(scenario, scenario.seed)
    reference = play_reference(scenario).journal
    first_look, second_look, answer, *rest_of_plan = reference
    assert causes.has_alternatives
    assert causes.find_guess(reference) is None
    assert causes.find_guess([first_look, answer, *rest_of_plan]) is None, (
        "the first row shows the role of the endpoint"
    )
    assert causes.find_guess([second_look, answer, *rest_of_plan]) == answer, (
        "all accounts may connect: not which of the others"
    )
    assert causes.find_guess(rest_of_plan) == rest_of_plan[0]


def test_a_single_cause_has_no_alternatives() -> None:
    scenario = load_shipped_scenario("planned-failover")
    assert not HiddenCauseChecker(scenario, scenario.seed).has_alternatives
