"""Verbs for nodes, votes and roles of a failover cluster, as in Failover Cluster Manager."""

from __future__ import annotations

from typing import Final

from engine import powershell
from engine.cluster import commands, quarantine, setup
from engine.inputs import Input
from engine.localization import mark, say
from engine.model import World
from engine.verbs.verb import NODE, ROLE, Verb, VerbParameter

SECTION: Final = mark("Cluster")


def _service(world: World, item: Input, wanted: str, reason: str) -> str:
    return reason if world.nodes[item.args[0]].service == wanted else ""


VERBS: Final = (
    Verb(
        name="stop-cluster",
        parameters=(NODE,),
        help=mark("stop the cluster service of a node; its roles move"),
        group="fault",
        do=lambda world, item: commands.stop(world, item.args[0]),
        reverse="start-cluster",
        pointless=lambda world, item: _service(world, item, "stopped", say("the cluster service is stopped")),
        effect=lambda world, fault: say("{node} is not a member of the cluster", node=fault.args[0]),
        label=mark("Stop the cluster service"),
        icon="stop",
        section=SECTION,
    ),
    Verb(
        name="start-cluster",
        parameters=(NODE,),
        help=mark("start the cluster service of a node"),
        group="repair",
        do=lambda world, item: commands.start(world, item.args[0]),
        pointless=lambda world, item: (
            ""
            if quarantine.is_quarantined(world, item.args[0])
            else _service(world, item, "running", say("the cluster service is running"))
        ),
        label=mark("Start the cluster service"),
        icon="play",
        section=SECTION,
    ),
    Verb(
        name="force-quorum",
        parameters=(NODE,),
        help=mark("start the cluster service of a node with forced quorum"),
        group="chore",
        do=lambda world, item: commands.force_quorum(world, item.args[0]),
        label=mark("Force quorum"),
        icon="warning",
        section=SECTION,
    ),
    Verb(
        name="prevent-quorum",
        parameters=(NODE,),
        help=mark("start the cluster service of a node so that it can join a cluster but not form one"),
        group="chore",
        do=lambda world, item: commands.start(world, item.args[0], prevent=True),
        label=mark("Start with PreventQuorum"),
        icon="play",
        section=SECTION,
    ),
    Verb(
        name="evict",
        parameters=(NODE,),
        help=mark("evict a node from its cluster"),
        group="chore",
        do=lambda world, item: commands.evict(world, item.args[0]),
        label=mark("Evict"),
        icon="cut",
        section=SECTION,
    ),
    Verb(
        name="patch",
        parameters=(NODE,),
        help=mark(
            "install a SQL Server service pack on a node; its instances are down during the installation"
        ),
        group="chore",
        do=lambda world, item: setup.patch(world, item.args[0]),
        label=mark("Install a service pack"),
        icon="gear",
        section=SECTION,
    ),
    Verb(
        name="add-node",
        told=mark("Add {node} to {instance}"),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
        help=mark("add a node to a failover cluster instance with Setup"),
        group="chore",
        do=lambda world, item: setup.add_node(world, item.args[0], item.args[1]),
        label=mark("Add {1} to {0}"),
        icon="gear",
        section=SECTION,
    ),
    Verb(
        name="remove-node",
        told=mark("Remove {node} from {instance}"),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
        help=mark("remove a node from a failover cluster instance with Setup"),
        group="chore",
        do=lambda world, item: setup.remove_node(world, item.args[0], item.args[1]),
        label=mark("Remove {1} from {0}"),
        icon="gear",
        section=SECTION,
    ),
    Verb(
        name="set-weight",
        told=mark("Set NodeWeight of {node} to {vote}"),
        parameters=(NODE, VerbParameter(mark("vote"), choices=("0", "1"))),
        help=mark("assign the vote of a node (1) or remove it (0)"),
        group="chore",
        do=lambda world, item: commands.set_weight(world, item.args[0], int(item.args[1])),
        label=mark("Set NodeWeight {1}"),
        icon="gear",
        section=SECTION,
    ),
    Verb(
        name="move-role",
        told=mark("Move {role} to {node}"),
        parameters=(ROLE, NODE),
        help=mark("move a cluster role to a node"),
        group="chore",
        do=lambda world, item: commands.move(world, item.args[0], item.args[1]),
        label=mark("Move to {1}"),
        icon="retry",
        section=SECTION,
    ),
    Verb(
        name="stop-role",
        parameters=(ROLE,),
        help=mark("take a role offline"),
        group="chore",
        do=lambda world, item: commands.stop_role(world, item.args[0]),
        label=mark("Take offline"),
        icon="stop",
        section=SECTION,
    ),
    Verb(
        name="start-role",
        parameters=(ROLE,),
        help=mark("bring a role online"),
        group="chore",
        do=lambda world, item: commands.start_role(world, item.args[0]),
        label=mark("Bring online"),
        icon="play",
        section=SECTION,
    ),
    Verb(
        name="set-owners",
        told=mark("Set the possible owners of {resource} to {nodes}"),
        parameters=(VerbParameter(mark("resource"), "resource"), VerbParameter(mark("nodes"))),
        help=mark("set the possible owners of a resource: nodes, separated by commas"),
        group="chore",
        do=lambda world, item: commands.set_owners(world, item.args[0], item.args[1].split(",")),
        label=mark("Set possible owners"),
        icon="gear",
        section=SECTION,
    ),
    Verb(
        name="fail-resource",
        told=mark("Simulate a failure of {resource}"),
        parameters=(VerbParameter(mark("resource"), "resource"),),
        help=mark("simulate the failure of a cluster resource"),
        group="fault",
        do=lambda world, item: commands.fail_resource(world, item.args[0]),
        effect=lambda world, fault: say("the cluster has detected it"),
        label=mark("Simulate a failure of {0}"),
        icon="warning",
        section=SECTION,
    ),
    Verb(
        name="ps",
        told=mark("{command} on {node}"),
        parameters=(NODE, VerbParameter(mark("command"), "rest")),
        help=mark("run a PowerShell command on a node"),
        group="chore",
        by_person=True,
        do=lambda world, item: powershell.run(world, item.args[0], item.args[1]),
        section=SECTION,
    ),
    Verb(
        name="fail-witness",
        parameters=(VerbParameter(mark("cluster"), "cluster"),),
        help=mark("make the witness of a cluster fail: its disk or file share"),
        group="fault",
        do=lambda world, item: commands.set_witness_failed(world, item.args[0], True),
        reverse="mend-witness",
        effect=lambda world, fault: say("the witness is not available"),
        label=mark("Fail the witness"),
        icon="cut",
        section=SECTION,
    ),
    Verb(
        name="mend-witness",
        parameters=(VerbParameter(mark("cluster"), "cluster"),),
        help=mark("restore the witness of a cluster"),
        group="repair",
        do=lambda world, item: commands.set_witness_failed(world, item.args[0], False),
        label=mark("Restore the witness"),
        icon="mend",
        section=SECTION,
    ),
)
