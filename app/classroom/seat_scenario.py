"""Scenario text that the host sends to a seat. In an exam, it reveals nothing about the solution. No Qt.

The timeline, the conditions of goals and the predictable events remain in the text, because the run depends
on them. In an exam, no view of the program shows them (engine/drill/running/rewind.py). Comments of the text
are removed.
"""

import tomllib
from typing import Final

import tomlkit

from app.classroom.models import ClassPart
from app.classroom.seat_log import UNASSIGNED_SEAT, SeatAssignment
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.running.modes import DrillMode

OMITTED_KEYS: Final = ("solution", "hint", "facilitator", "source", "fidelity", "early")
"""Tables and keys of a scenario that a run does not need."""
HIDDEN_TEXT: Final = "-"
RUBRIC_KIND_BY_TABLE: Final = {"goal": "goals", "question": "diagnosis", "predict": "prediction"}
"""Table of a scenario -> kind of the rubric item that gives points for this table.

A rubric item of a kind is invalid in a scenario without the corresponding table.
"""


def build_seat_scenario_text(scenario: Scenario, mode: DrillMode) -> str:
    """Return the text of *scenario* that the host sends to a seat."""
    return scenario.text if mode is not DrillMode.EXAM else strip_answers(scenario)


def strip_answers(scenario: Scenario) -> str:
    """Return the text of *scenario* without solution, hints, notes and right answers.

    A run of the returned text simulates the same events as a run of *scenario*.
    """
    return tomlkit.dumps(_remove_answers(scenario))


def _remove_answers(scenario: Scenario) -> dict[str, object]:
    data = {key: part for key, part in tomllib.loads(scenario.text).items() if key not in OMITTED_KEYS}
    for inject in data.get("timeline", ()):
        inject.pop("note", None)
    for question in data.get("question", ()):
        question.pop("instead", None)
        question |= {"right": [1], "why": HIDDEN_TEXT}
    for prediction in data.get("predict", ()):
        prediction["why"] = HIDDEN_TEXT
    ending = [forbidden for forbidden in data.pop("forbidden", ()) if forbidden.get("ends")]
    if ending:
        data["forbidden"] = [{**rule, "text": HIDDEN_TEXT, "better": HIDDEN_TEXT} for rule in ending]
    if data.pop("rubric", None):
        kinds = [kind for table, kind in RUBRIC_KIND_BY_TABLE.items() if table in data]
        # arbitrary points that add up to 100
        points = [100 - 10 * (len(kinds) - 1), *[10] * (len(kinds) - 1)]
        data["rubric"] = [
            {"kind": kind, "name": kind, "points": point_list, "better": HIDDEN_TEXT}
            for kind, point_list in zip(kinds, points, strict=True)
        ]
    content = repr({key: part for key, part in data.items() if key != "variants"})
    for columns in data.get("variants", {}).values():
        if isinstance(
            columns, dict
        ):  # in a multi-column draw, columns that only the fault uses would reveal the fault
            first, *other_columns = sorted(columns, key=lambda name: f"{{{name}}}" not in content)
            # If no text uses a value of this draw, replace the values by numbers. The number of rows must
            # stay, so that the draw has the same result.
            if f"{{{first}}}" not in content:
                columns[first] = list(range(len(columns[first])))
            for name in other_columns:
                if f"{{{name}}}" not in content:
                    del columns[name]
    return data


def build_assignment(the_class: ClassPart, scenario: Scenario) -> SeatAssignment:
    """Build the assignment that every seat of a class plays."""
    text = build_seat_scenario_text(scenario, DrillMode(the_class.mode))
    return SeatAssignment(
        UNASSIGNED_SEAT, "", the_class.scenario_name, text, the_class.seed, the_class.mode, the_class.id
    )


def parse_scenario(text: str, name: str) -> Scenario:
    """Parse the text of a scenario that was received or stored. Raises ScenarioError."""
    return load_scenario(text, f"{name}.toml")
