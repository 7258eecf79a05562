"""Modules that `tests.forked` imports before it forks: the programs of a class, and the compiled flow model."""

import gc
from importlib import import_module

from engine.drill.running.drill import Drill
from tests.shipped_scenarios import load_shipped_scenario

for module in (
    "cli",
    "classroom.console",
    "classroom.seat",
    "classroom.service",
    "classroom.team.world",
    "serve.service",
):
    import_module(f"app.{module}")
Drill(load_shipped_scenario("planned-failover"))
gc.freeze()  # Exclude existing objects from garbage collection in each fork.
