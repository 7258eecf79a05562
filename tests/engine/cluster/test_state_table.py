"""States of nodes, votes, roles and preconditions in many situations, compared with a recorded table.

Each situation is described at several times of a change. `pytest --rewrite` records state_table.txt anew;
review the diff.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from engine.cluster import config, failure_limits, instances, quarantine, roles
from engine.model import World
from engine.protocol import group_policies, serving
from tests import recordings
from tests.engine.availability.worlds import build_ag_lab
from tests.engine.cluster.worlds import build_cluster_world, build_fci_lab, build_pair, run_until

TABLE: Final = Path(__file__).parent / "state_table.txt"

SITUATIONS: Final[dict[str, tuple[Callable[[], World], recordings.Steps]]] = {
    "node-lost": (
        build_fci_lab,
        (("power-off NODE_1", 2.0), ("", 18.0), ("power-on NODE_1", 30.0), ("", 120.0)),
    ),
    "service-stopped": (
        build_fci_lab,
        (("stop-cluster NODE_3", 0.1), ("", 30.0), ("start-cluster NODE_3", 1.0), ("", 30.0)),
    ),
    "halves": (
        build_fci_lab,
        (
            ("fail-witness CLU1", 1.0),
            ("cut NODE_1 NODE_3", 2.0),
            ("cut NODE_1 NODE_4", 30.0),
            ("cut NODE_2 NODE_3", 1.0),
            ("cut NODE_2 NODE_4", 30.0),
            ("force-quorum NODE_1", 30.0),
            ("mend NODE_1 NODE_3", 30.0),
            ("mend-witness CLU1", 30.0),
        ),
    ),
    "role-moved": (
        build_fci_lab,
        (("move-role SQLFCI1 NODE_2", 1.0), ("", 5.0), ("", 30.0), ("move-role SQLFCI1 NODE_1", 60.0)),
    ),
    "role-failed": (
        build_fci_lab,
        (
            ("fail-resource SQL Server (SQLFCI1)", 0.3),
            ("", 10.0),
            ("fail-resource SQL Server (SQLFCI1)", 1.0),
            ("", 60.0),
            ("fail-resource SQL Server (SQLFCI1)", 30.0),
            ("fail-resource SQL Server (SQLFCI1)", 60.0),
            ("fail-resource SQL Server (SQLFCI1)", 60.0),
            ("start-role SQLFCI1", 60.0),
        ),
    ),
    "restart-period": (
        build_fci_lab,
        (
            ("fail-resource SQL Server (SQLFCI1)", 899.99),
            ("", 0.01),
            ("fail-resource SQL Server (SQLFCI1)", 60.0),
        ),
    ),
    "moving": (
        build_fci_lab,
        (
            ("move-role SQLFCI1 NODE_2", 0.2),
            ("start-role SQLFCI1", 0.2),
            ("move-role SQLFCI1 NODE_1", 0.2),
            ("stop-role SQLFCI1", 10.0),
            ("power-off NODE_2", 1.0),
            ("start-role SQLFCI1", 60.0),
        ),
    ),
    "weights": (
        build_fci_lab,
        (
            ("set-weight NODE_1 0", 5.0),
            ("power-off NODE_2", 30.0),
            ("power-off NODE_3", 30.0),
            ("power-off NODE_4", 30.0),
        ),
    ),
    "owners": (
        build_fci_lab,
        (
            ("set-owners SQL Server (SQLFCI1) NODE_1", 1.0),
            ("power-off NODE_1", 40.0),
            ("power-on NODE_1", 150.0),
        ),
    ),
    "evicted": (build_fci_lab, (("evict NODE_1", 1.0), ("", 60.0))),
    "flapping": (
        build_cluster_world,
        (
            ("stop-cluster N2", 5.0),
            ("start-cluster N2", 60.0),
            ("power-off N2", 30.0),
            ("power-on N2", 150.0),
            ("cut N1 N2", 30.0),
            ("mend N1 N2", 60.0),
        ),
    ),
    **{
        f"pair-{witness}-{windows}": (
            lambda witness=witness, windows=windows: build_pair(witness, windows),  # type: ignore[misc]
            (
                ("power-off N2", 3.0),
                ("", 30.0),
                ("power-on N2", 150.0),
                ("cut N1 N2", 40.0),
                ("mend N1 N2", 30.0),
                ("power-off N1", 60.0),
            ),
        )
        for witness, windows in (
            ("disk", "2008 R2"),
            ("disk", "2012"),
            ("file share", "2012 R2"),
            ("cloud", "2019"),
            ("none", "2016"),
            ("none", "2012"),
        )
    },
    "group": (
        build_ag_lab,
        (
            ("hang NODE_1", 5.0),
            ("", 60.0),
            ("stop-role AG1", 1.0),
            ("start-role AG1", 30.0),
            ("power-off FSW", 30.0),
            ("power-off NODE_2", 40.0),
        ),
    ),
}


def describe_node(world: World, name: str) -> str:
    node = world.nodes[name]
    known_config = node.config
    stated = {
        "runs": config.is_running(world, node),
        "member": bool(node.partition),
        "writes": bool(node.partition) and config.can_write_config(world, name),
        "quarantined": quarantine.is_quarantined(world, name),
        "forced": known_config.forced,
        "prevented": node.prevented,
        "witness-counts": known_config.witness_counts,
    }
    states = "".join(config.read_node_state(world, name, peer)[:1] for peer in world.nodes)
    words = [
        name,
        node.service,
        f"counted={'+'.join(known_config.counted)}",
        f"sees={states}",
        f"core={known_config.core_owner}",
    ]
    return " ".join([*words, *(word for word, true in stated.items() if true)])


def describe_roles(world: World) -> list[str]:
    rows = []
    for node, role in roles.iterate_roles(world):
        words = [role.name, f"on {role.owner}", f"as {node.name} knows", config.read_role_state(world, role)]
        words.append(f"owner={config.read_owner(world, node.name, role)}")
        words.append("used=" + "/".join(map(str, roles.count_failures(world, role.name))))
        words.append(f"restarts={failure_limits.count_restarts(world, role)}")
        words.append(
            "can=" + "+".join(name for name in world.nodes if roles.can_come_online(world, node, role, name))
        )
        words += [
            f"{resource.name}:{config.read_resource_state(world, role, resource).name}"
            for resource in role.resources
        ]
        rows.append(" ".join(words))
    for server, instance in world.instances.items():
        words = [
            server,
            f"at {instance.computer}",
            f"nodes={'+'.join(instances.list_possible_nodes(world, server))}",
        ]
        rows.append(" ".join([*words, f"quorum={config.has_quorum(world, server)}", instance.service.name]))
    for database in world.availability:
        serving_key = serving.find_serving_key(world, database)
        unmet = [
            f"{condition.name}@{condition.target}"
            for condition in group_policies.list_preconditions(world, database)
            if not condition.holds
        ]
        rows.append(f"{database} served={serving_key and serving_key[0]} unmet: " + "; ".join(unmet))
    return rows


def describe_states(name: str) -> list[str]:
    """Return the states after each step, without lines that equal those of the step before."""
    build, steps = SITUATIONS[name]
    world = build()
    run_until(world, 10.0)
    return [f"# {name}", *recordings.play_steps(world, (("", 0.0), *steps), describe_world)]


def describe_world(world: World) -> list[str]:
    return [*(describe_node(world, node) for node in world.nodes), *describe_roles(world)]


def test_states_are_as_in_the_table(request: pytest.FixtureRequest) -> None:
    rows = [row for name in SITUATIONS for row in describe_states(name)]
    recordings.compare_lines(TABLE, rows, request)
