"""Descriptions of input lines for people."""

from __future__ import annotations

from string import Formatter

import pytest

from engine.verbs import VERBS
from engine.verbs.input_lines import describe_line

CHOICES_BY_QUESTION = {"cause": ["The witness.", "The cable."]}


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("power-on SERVER_A", "SERVER_A ▸ Power on"),
        ("mend SERVER_A SERVER_B", "SERVER_A – SERVER_B ▸ Repair"),
        ("sql SERVER_A#2 SELECT 1\n    FROM x", "SELECT 1 FROM x on SERVER_A"),
        ("ps NODE_1 Get-ClusterNode", "Get-ClusterNode on NODE_1"),
        ('batch TOY1#tds1 "SELECT 1"', "SELECT 1 on TOY1"),
        ('connect TOY1#tds1 {"login": "sa", "password": "right"}', "Log in to TOY1 over the network"),
        ("enable-jobs SERVER_A", "SERVER_A ▸ Enable all jobs"),
        ("enable-jobs SERVER_A Back up", "Enable the job Back up on SERVER_A"),
        ("slow-disk SERVER_A log factor=5", "Slow the log disk of SERVER_A (factor=5)"),
        ("upgrade SERVER_A 2014 Enterprise", "Install SQL Server 2014 on SERVER_A (Enterprise)"),
        ("@room plug-cable PAY1", "PAY1 ▸ Plug in all network cables (by room)"),
        ("answer cause 2", "answer “The cable”"),
        ("answer cause 7", "Answer cause (7)"),
        ("finish", "End drill"),
        ("no line at all", "no line at all"),
    ],
)
def test_an_input_line_is_described(line: str, description: str) -> None:
    assert describe_line(line, CHOICES_BY_QUESTION) == description


def test_each_description_names_the_object_of_its_verb() -> None:
    """Each description names the object of its verb, and templates contain only permitted names."""
    for verb in VERBS.values():
        names = {parameter.name for parameter in verb.parameters}
        fields = {name for _, name, _, _ in Formatter().parse(verb.sentence) if name}
        assert fields <= names, verb.name
        assert verb.sentence or verb.label, f"{verb.name} has no words"
        assert verb.sentence or "{" not in verb.label, f"{verb.name} is told by a label with gaps"
