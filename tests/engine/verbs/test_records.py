"""Records of verbs: they are consistent, and other modules do not name faults."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from engine.protocol import loss_causes
from engine.simulator import TIMER_HANDLERS
from engine.verbs import FAMILIES, VERBS
from engine.verbs.input_lines import REVERTED_FAULTS, parse_input_line
from engine.verbs.verb import Verb

SQL_FAULTS = {"shutdown", "shutdown-nowait"}
"""Faults that a T-SQL statement records in the fault ledger."""


def test_verb_names_are_unique() -> None:
    assert len(VERBS) == sum(len(family.VERBS) for family in FAMILIES)


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)
def test_the_reverse_of_a_verb_accepts_the_same_arguments(verb: Verb) -> None:
    assert set(verb.undoes) <= VERBS.keys() | SQL_FAULTS
    if verb.reverse:
        name, *options = verb.reverse.split(" ")
        reverse_verb = VERBS[name]
        assert verb.kinds == reverse_verb.kinds[: len(verb.kinds)]
        assert {option.partition("=")[0] for option in options} <= reverse_verb.options.keys()
        assert verb.name in REVERTED_FAULTS[name]


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)
def test_a_record_has_no_unused_field(verb: Verb) -> None:
    assert verb.do is not None or verb.name == "revert-all"
    if not verb.is_in_ledger:
        assert (verb.loses, verb.effect, verb.undoes, verb.ends_with_effect) == ("", None, (), False)
    assert verb.back_label is None or verb.reverse.startswith(f"{verb.name} ")
    assert not verb.directed or verb.applies_to_link
    assert verb.loses != "link" or verb.applies_to_link
    assert all(TIMER_HANDLERS[name] is timer for name, timer in verb.timers.items())


def test_failovers_are_attributed_as_the_records_state() -> None:
    assert {name for name, loses in loss_causes.LOST_PART_BY_FAULT.items() if loses} == SQL_FAULTS | {
        verb.name for verb in VERBS.values() if verb.loses
    }
    assert VERBS["pull-cable"].mechanism is loss_causes.FAILOVER_CAUSE_BY_FAULT["pull-cable"]


def test_only_a_slowdown_of_1_is_a_repair() -> None:
    healing = [
        line
        for line in ("slow-cpu A factor=1", "slow-cpu A factor=1.0", "slow-cpu A factor=2", "slow-cpu A")
        if VERBS["slow-cpu"].is_own_reverse(parse_input_line(line))
    ]
    assert healing == ["slow-cpu A factor=1", "slow-cpu A factor=1.0"]
    assert not VERBS["cut"].is_own_reverse(parse_input_line("cut A B"))


# --- names of faults in other modules -----------------------------------------------------------------------

ROOT = Path(__file__).parents[3]

CAUSING_PACKAGES = ("verbs", "published")
"""Packages that cause faults: the verbs, and the reproductions of published measurements."""
FAULTS_BY_MODULE = {
    "engine/availability/estimates.py": {
        "hang",
        "slow-cpu",
    },  # the health check and the lease detect these faults
    # faults that the agents try
    "engine/drill/judging/automatic_players.py": {"power-off", "pull-cable", "stop-service"},
    "engine/protocol/clients.py": {"cut"},  # connections that are closed
    "engine/protocol/disks.py": {"fail-disk"},  # a drive returns without the volume of one database on it
    "engine/protocol/service.py": {"power-off"},  # a stop has the same consequences
    "engine/tsql/scalars/functions.py": {"cut"},  # a T-SQL function of that name
    "engine/drill/judging/report.py": {"cut"},  # connections that are closed
    "engine/drill/judging/sweep.py": {
        "hang",
        "pull-cable",
        "power-off",
        "stop-service",
    },  # planned causes
    "engine/powershell/prompt.py": {"stop-service"},  # the cmdlet Stop-Service
    "app/agents/environment.py": {"stop-service"},  # faults that an agent may use
    "app/main_window/class_controller.py": {"power-off"},  # events that a class offers without a plan
    # titles of faults
    "app/view_models/failover_moment/view.py": {"hang", "pull-cable", "power-off", "stop-service"},
    "app/view_models/first_run.py": {"power-off"},  # the fault of the first run
    "app/views/planner/failover_times.py": {
        "hang",
        "pull-cable",
        "power-off",
        "stop-service",
    },  # planned causes
    "app/view_models/topology_builder.py": {"cut", "degrade"},  # states of a link
    # entries of the explorer's menus
    "app/views/object_explorer/explorer.py": {"stop-agent", "stop-service"},
}
"""Module -> faults that it names in its own texts. The comments state the reasons."""


@pytest.mark.slow
def test_no_other_module_names_a_fault() -> None:
    faults = {verb.name for verb in VERBS.values() if verb.group == "fault"}
    values_by_name: dict[str, set[str]] = {}
    for room in ("engine", "app"):
        for path in (ROOT / room).rglob("*.py"):
            source = path.read_text("utf-8")
            if path.parent.name in CAUSING_PACKAGES or not any(fault in source for fault in faults):
                continue  # most modules name no fault and need no parsing
            constants = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
            if faults & constants:
                values_by_name[path.relative_to(ROOT).as_posix()] = faults & constants
    assert values_by_name == FAULTS_BY_MODULE
