"""Small scored scenario as text, and functions that change and play it."""

from __future__ import annotations

from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.running.drill import Drill, DrillMode

WORLD_TEXT = """
title = "Small"
summary = "A scenario for tests."
level = "beginner"
minutes = 5
skills = ["read-state"]
seed = 3
length = "5min"
brief = "SERVER_A will lose its power."

[[source]]
paper = "Nobody's"
section = "None"

[[server]]
name = "SERVER_A"

[[server]]
name = "SERVER_B"

[[server]]
name = "SERVER_W"

[[database]]
name = "Sales"
workload = "Workload1"

[[session]]
database = "Sales"
principal = "SERVER_A"
mirror = "SERVER_B"
witness = "SERVER_W"

[[client]]
name = "APP"
databases = ["Sales"]
data_source = "SERVER_A"
failover_partner = "SERVER_B"
"""

COURSE_TEXT = """
[[timeline]]
at = "20s"
do = "power-off SERVER_A"

[[goal]]
name = "served"
text = "SERVER_B serves"
when = "Sales serves on SERVER_B"

[[goal]]
name = "protected"
text = "SERVER_A is the mirror again"
when = "Sales is SYNCHRONIZED and Sales on SERVER_A is MIRROR"
hold = "3s"
weight = 3

[[hint]]
goal = "served"
look = "Look at SERVER_B."
means = "It can take over."
type = "Wait."

[[hint]]
goal = "protected"
look = "Look at SERVER_A."
means = "It is off."
type = "power-on SERVER_A"
cost = [1, 2, 30]

[[solution]]
when = "Sales serves on SERVER_B"
do = "+5 power-on SERVER_A"
why = "It joins as the mirror by itself."

[[rubric]]
kind = "goals"
name = "End state"
points = 40
better = "Switch SERVER_A on."

[[rubric]]
kind = "downtime"
name = "Downtime"
points = 30
target = "10s"
limit = "60s"
better = "Let it fail over."

[[rubric]]
kind = "conduct"
name = "Conduct"
points = 30
refused = 4
better = "No command is needed."

[[rubric.price]]
when = 'ran "SET PARTNER OFF"'
price = 20
why = "The session was removed."
better = "keep it."
"""

TEXTS = """
facilitator = "Ask who notices first."

[fidelity]
modelled = "All of it."
simplified = "Some of it."
absent = "None of it."
"""

SMALL_TEXT = TEXTS.split("\n\n")[0] + WORLD_TEXT + COURSE_TEXT + "\n[fidelity]" + TEXTS.split("[fidelity]")[1]
"""Text of the small scenario. `lint` finds no problem in it."""

FREE_PLAY_TEXT = WORLD_TEXT.replace('length = "5min"\n', "")
"""Text of a lab without timeline, goals and score."""


def change_small_text(*changes: tuple[str, str], text: str = SMALL_TEXT) -> Scenario:
    """Return the small scenario with each old text replaced by its new text. Each old text must exist."""
    return load_scenario(change_text(*changes, text=text), "small.toml")


def change_text(*changes: tuple[str, str], text: str = SMALL_TEXT) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def build_drill(*changes: tuple[str, str], text: str = SMALL_TEXT, mode: DrillMode | None = None) -> Drill:
    return Drill(change_small_text(*changes, text=text), mode=mode)


def advance_drill(drill: Drill, until_s: float) -> Drill:
    drill.advance_to(round(until_s * 100))
    return drill


def open_next_hint(drill: Drill, layer: int) -> str:
    """Open a layer of the next hint and return its text.

    *layer*: 1 for where to look, 2 for the meaning, 3 for the command.
    """
    hint = drill.find_next_hint()
    drill.apply_line(f"hint {layer}")
    assert hint is not None
    return (hint.look, hint.means, hint.type)[layer - 1]
