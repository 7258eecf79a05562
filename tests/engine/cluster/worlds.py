"""Builders of worlds with failover cluster instances, and functions that inspect these worlds."""

from __future__ import annotations

from engine.drill.authoring.scenario import load_scenario
from engine.drill.running.world_builder import build_world
from engine.model import ClusterRole, World
from engine.protocol import serving
from tests.engine.availability.worlds import SCENARIOS, apply_lines, run_until

__all__ = ["apply_lines", "build_cluster_world", "build_fci_lab", "get_role", "is_served", "run_until"]


def build_fci_lab(seed: int = 1) -> World:
    """Return the lab with a disk witness: SQLFCI1 can run on NODE_1 and NODE_2, SQLFCI2 on NODE_3 and NODE_4."""
    return build_world(
        load_scenario((SCENARIOS / "fci-lab.toml").read_text(encoding="utf-8"), "fci-lab"), seed
    )


FEW_NODES_TEXT = """
title = "A few nodes"
summary = "A few nodes with one failover cluster instance."
level = "beginner"
minutes = 5
seed = 1
brief = "A few nodes with one failover cluster instance."

[[source]]
paper = "SQL Server documentation"
section = "Failover cluster instances"

{servers}
[[cluster]]
name = "CLU1"
nodes = ["N1", "N2"]
witness = "Quorum"
witness_kind = "disk"
windows = "{windows}"

[[instance]]
name = "FCI"
owners = ["N1", "N2"]
{instance}

[[database]]
name = "Sales"
server = "FCI"
workload = "Workload1"
scale = 0.1

[[client]]
name = "APP"
databases = ["Sales"]
data_source = "FCI"
"""


def build_cluster_world(*, instance: str = "", windows: str = "2012 R2") -> World:
    """Return a world in which instance FCI with Sales can run on N1 and N2; N3 is outside the cluster."""
    servers = "\n".join(f'[[server]]\nname = "{name}"\nsql = false' for name in ("N1", "N2", "N3"))
    text = FEW_NODES_TEXT.format(servers=servers, instance=instance, windows=windows)
    return build_world(load_scenario(text, "few"), 1)


def get_role(world: World, name: str) -> ClusterRole:
    """Return the role from the newest copy of the cluster database."""
    configs = sorted((node.config for node in world.nodes.values()), key=lambda config: config.epoch)
    role = configs[-1].find_role(name)
    assert role is not None
    return role


def is_served(world: World, database: str = "Sales") -> bool:
    return serving.find_serving_key(world, database) is not None


PAIR_TEXT = """
title = "Two nodes with a group"
summary = "Two nodes with an availability group."
level = "beginner"
minutes = 5
seed = 1
brief = "Two nodes with an availability group."

[[source]]
paper = "SQL Server documentation"
section = "Availability groups"

[[server]]
name = "N1"
version = {version}

[[server]]
name = "N2"
version = {version}

[[server]]
name = "FSW"
sql = false

[[cluster]]
name = "CLU1"
nodes = ["N1", "N2"]
windows = "{windows}"
{witness}

[[database]]
name = "Sales"
workload = "Workload1"
scale = 0.1

[[availability_group]]
name = "AG1"
databases = ["Sales"]
primary = "N1"
listener = "AGL1"

[[availability_group.replica]]
server = "N1"
failover = "AUTOMATIC"

[[availability_group.replica]]
server = "N2"
failover = "AUTOMATIC"

[[client]]
name = "APP"
databases = ["Sales"]
data_source = "AGL1"
"""

SITES = ("N1", "N2"), ("N3", "N4")
"""Two sites: automatic replicas in the first, asynchronous ones in the second."""

REMOTE_REPLICAS = "".join(
    f'[[availability_group.replica]]\nserver = "{name}"\nmode = "ASYNCHRONOUS_COMMIT"\n\n'
    for name in SITES[1]
)


def build_sites(windows: str = "2016", seed: int = 1) -> World:
    """Return `build_pair` with a file share witness and two asynchronous replicas on N3 and N4."""
    version = 2014 if windows in ("2008 R2", "2012", "2012 R2") else 2019
    text = PAIR_TEXT.format(version=version, windows=windows, witness=WITNESSES["file share"])
    servers = "".join(f'[[server]]\nname = "{name}"\nversion = {version}\n\n' for name in SITES[1])
    text = text.replace("[[cluster]]", servers + "[[cluster]]").replace(
        '["N1", "N2"]', '["N1", "N2", "N3", "N4"]'
    )
    return build_world(
        load_scenario(text.replace("[[client]]", REMOTE_REPLICAS + "[[client]]"), "sites"), seed
    )


WITNESSES = {
    "disk": 'witness = "Quorum"\nwitness_kind = "disk"',
    "file share": 'witness = "FSW"',
    "cloud": 'witness = "account"\nwitness_kind = "cloud"',
    "none": "",
}


def build_pair(witness: str, windows: str = "2016", seed: int = 1) -> World:
    """Return a world with the primary N1 and the synchronous secondary N2 with automatic failover.

    *witness*: kind of the witness, or none.
    """
    version = 2014 if windows in ("2008 R2", "2012", "2012 R2") else 2019
    text = PAIR_TEXT.format(version=version, windows=windows, witness=WITNESSES[witness])
    return build_world(load_scenario(text, "pair"), seed)
