"""Durations of failovers on a planned link: the same failure in many runs of the planned world."""

from __future__ import annotations

from typing import Final

from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.sweep import RunOutcome, play_outcome
from engine.drill.time.cooperative_tasks import Slices
from engine.flow import SafetyMode
from engine.flow.sites import SITES, WORKLOADS
from engine.planning import MirroringPlan

CAUSES: Final = ("power-off", "stop-service", "hang", "pull-cable")
"""Faults that can hit the principal."""

LENGTH_S: Final = 180
"""Length of a run, with the failure between 20 and 40 s. Assumed: longer than any automatic failover."""

TEMPLATE: Final = """
title = "Failover on a planned link"
summary = "The principal fails, and the mirror takes over."
level = "expert"
minutes = 3
seed = 1
length = "{length}s"
brief = "Nobody does anything."

{servers}{links}
[[database]]
name = "Planned"
workload = "{workload}"
scale = {scale!r}
compression_ratio = {compression_ratio!r}

[[session]]
database = "Planned"
principal = "PRINCIPAL"
mirror = "MIRROR"
witness = "WITNESS"

[[client]]
name = "APP"
databases = ["Planned"]
data_source = "PRINCIPAL"
failover_partner = "MIRROR"

[[timeline]]
between = ["20s", "40s"]
do = "{cause} PRINCIPAL"
"""

SERVER: Final = """
[[server]]
name = "{name}"
site = "{site}"
version = {version}
endpoint.encryption = "{encryption}"
"""

LINK: Final = """
[[link]]
ends = ["PRINCIPAL", "{end}"]
rtt_ms = {rtt_ms!r}
bandwidth_mbps = {bandwidth_mbps!r}
loss = {loss!r}
"""
"""Link of the witness, which is near the mirror; near the principal it would fail with the principal's site."""


def scenario_of(plan: MirroringPlan, cause: str) -> Scenario | None:
    """Build a world according to *plan*, in which one of CAUSES happens.

    Return None if no automatic failover follows, or if the workload is user-defined: of these only the rates are
    known.
    """
    site = next((name for name, each in SITES.items() if each == plan.site), None)
    if (
        plan.safety is not SafetyMode.FULL
        or site is None
        or WORKLOADS.get(plan.workload.name) != plan.workload
    ):
        return None
    encryption = "REQUIRED" if plan.encryption else "DISABLED"
    servers = [
        SERVER.format(name=name, site=site, version=plan.version, encryption=encryption)
        for name in ("PRINCIPAL", "MIRROR", "WITNESS")
    ]
    links = [
        LINK.format(end=end, rtt_ms=plan.rtt_ms, bandwidth_mbps=plan.bandwidth_mbps, loss=plan.loss)
        for end in ("MIRROR", "WITNESS")
    ]
    text = TEMPLATE.format(
        length=LENGTH_S,
        servers="".join(servers),
        links="".join(links),
        workload=plan.workload.name,
        scale=plan.scale,
        compression_ratio=plan.compression_ratio,
        cause=cause,
    )
    return load_scenario(text, "planned.toml")


def failover_times(scenario: Scenario, runs: int) -> Slices[list[RunOutcome]]:
    """Play *runs* of *scenario* without inputs, with seeds from 1 on; a slice is a run."""
    found: list[RunOutcome] = []
    for seed in range(1, runs + 1):
        found.append(play_outcome(scenario, "idle", seed))
        yield len(found) / runs
    return found
