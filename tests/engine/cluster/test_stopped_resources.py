"""Stop-ClusterResource takes a resource and its dependents offline; the other resources of the role stay
online.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.model import World
from tests.engine.availability.worlds import ag_lab
from tests.engine.cluster.test_powershell import run_cmdlet
from tests.engine.cluster.worlds import fci_lab, is_served, run_until

SERVER = "SQL Server (SQLFCI1)"
NAME = "SQL Network Name (SQLFCI1)"
ADDRESS = "SQL IP Address 1 (SQLFCI1)"
STAYING: dict[str, set[str]] = {
    ADDRESS: {"Cluster Disk 1"},
    NAME: {"Cluster Disk 1", ADDRESS},
    "Cluster Disk 1": {ADDRESS, NAME},
    SERVER: {"Cluster Disk 1", ADDRESS, NAME},
}


def list_online(world: World, role: str) -> set[str]:
    rows = run_cmdlet(world, f"Get-ClusterGroup {role} | Get-ClusterResource").splitlines()[2:]
    return {row.partition("  ")[0].removesuffix(" Online") for row in rows if " Online " in row}


@pytest.mark.parametrize(
    ("build", "role", "resource", "staying"),
    [
        *((fci_lab, "SQLFCI1", resource, staying) for resource, staying in STAYING.items()),
        (ag_lab, "AG1", "AG1", {"AG1_AGL1", "AG1_AGL1 address"}),
        (ag_lab, "AG1", "AG1_AGL1", {"AG1_AGL1 address"}),
    ],
)
def test_only_dependents_go_offline(
    build: Callable[[], World], role: str, resource: str, staying: set[str]
) -> None:
    world = build()
    everything = list_online(world, role)
    run_cmdlet(world, f"Stop-ClusterResource '{resource}'")
    run_until(world, 15)
    assert list_online(world, role) == staying
    assert run_cmdlet(world, f"(Get-ClusterGroup {role}).State") == "PartialOnline"
    assert not is_served(world, "Sales")
    run_cmdlet(world, f"Stop-ClusterResource '{min(staying)}'")
    assert min(staying) not in list_online(world, role)
    run_cmdlet(world, f"Start-ClusterGroup {role}")
    run_until(world, 60)
    assert list_online(world, role) == everything
    assert is_served(world, "Sales")
