"""Stop-ClusterResource takes a resource and its dependents offline; the other resources of the role stay
online.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.model import World
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.cluster.test_powershell import run_cmdlet
from tests.engine.cluster.worlds import build_fci_lab, is_served, run_until

SERVER_RESOURCE = "SQL Server (SQLFCI1)"
NETWORK_NAME_RESOURCE = "SQL Network Name (SQLFCI1)"
ADDRESS_RESOURCE = "SQL IP Address 1 (SQLFCI1)"
ONLINE_AFTER_STOP: dict[str, set[str]] = {
    ADDRESS_RESOURCE: {"Cluster Disk 1"},
    NETWORK_NAME_RESOURCE: {"Cluster Disk 1", ADDRESS_RESOURCE},
    "Cluster Disk 1": {ADDRESS_RESOURCE, NETWORK_NAME_RESOURCE},
    SERVER_RESOURCE: {"Cluster Disk 1", ADDRESS_RESOURCE, NETWORK_NAME_RESOURCE},
}


def list_online_resources(world: World, role: str) -> set[str]:
    rows = run_cmdlet(world, f"Get-ClusterGroup {role} | Get-ClusterResource").splitlines()[2:]
    return {row.partition("  ")[0].removesuffix(" Online") for row in rows if " Online " in row}


@pytest.mark.parametrize(
    ("build", "role", "resource", "online_resources"),
    [
        *((build_fci_lab, "SQLFCI1", resource, staying) for resource, staying in ONLINE_AFTER_STOP.items()),
        (build_ag_lab, "AG1", "AG1", {"AG1_AGL1", "AG1_AGL1 address"}),
        (build_ag_lab, "AG1", "AG1_AGL1", {"AG1_AGL1 address"}),
    ],
)
def test_only_dependents_go_offline(
    build: Callable[[], World], role: str, resource: str, online_resources: set[str]
) -> None:
    world = build()
    everything = list_online_resources(world, role)
    run_cmdlet(world, f"Stop-ClusterResource '{resource}'")
    run_until(world, 15)
    assert list_online_resources(world, role) == online_resources
    assert run_cmdlet(world, f"(Get-ClusterGroup {role}).State") == "PartialOnline"
    assert not is_served(world, "Sales")
    run_cmdlet(world, f"Stop-ClusterResource '{min(online_resources)}'")
    assert min(online_resources) not in list_online_resources(world, role)
    run_cmdlet(world, f"Start-ClusterGroup {role}")
    run_until(world, 60)
    assert list_online_resources(world, role) == everything
    assert is_served(world, "Sales")
