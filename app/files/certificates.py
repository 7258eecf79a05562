"""What `mirrordrill par` has proved of the shipped drills: assets/par/NAME.json, as `par NAME --json` wrote it."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from typing import Any, Final

from app.words.language import tr
from engine.drill.authoring.problems import Problem
from engine.drill.authoring.scenario import Scenario
from engine.drill.running.state import DrillState
from engine.inputs import Input
from engine.verbs.lines import parse_script

BETTER_MAX: Final = 3.0
"""Points by which par may beat the reference; above it the drill or its rubric is wrong. Assumed."""

WORTH_MIN: Final = 15.0
"""Points that doing nothing has to lose at least: as many as a blunder costs."""

Certificate = dict[str, Any]


def kept(scenario: Scenario) -> Certificate | None:
    """The certificate of just this text; None: there is none, or the drill was changed since."""
    file = resources.files("assets").joinpath("par", f"{scenario.name}.json")
    try:
        found: Certificate = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    same = found["hashes"]["scenario"] == hashlib.sha256(scenario.text.encode()).hexdigest()
    return found if same else None


def plans(drill: DrillState) -> list[list[Input]]:
    """The best plan that is known for just this drill and seed, if one is."""
    proved = kept(drill.scenario)
    if proved is None or proved["seed"] != drill.seed:
        return []
    return [parse_script("\n".join(proved["par"]["plan"]))[0]]


def warnings(found: Certificate, file: str) -> list[Problem]:
    """What a certificate has against the drill in *file*."""
    par, reference, idle = (found[name]["score"] for name in ("par", "reference", "idle"))
    said = []
    if reference is not None and reference < par - BETTER_MAX:
        text = tr("the reference solution earns {points:g} points, a plan that was found {par:g}")
        said.append((text.format(points=reference, par=par), tr("a reference that is as good as any plan")))
    if idle > par - WORTH_MIN:
        text = tr("doing nothing earns {points:g} points, the best plan that was found {par:g}")
        said.append((text.format(points=idle, par=par), tr("points that need an action")))
    return [Problem(file, 1, 1, "", text, expected) for text, expected in said]
