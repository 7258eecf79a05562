"""Verbs for nodes, votes and roles of a failover cluster, as in Failover Cluster Manager."""

from typing import Final

from engine import powershell
from engine.cluster import commands, quarantine, setup
from engine.inputs import Input
from engine.localization import mark, say
from engine.model import World
from engine.verbs.verb import NODE, VerbParameter, verb


def _service(world: World, item: Input, wanted: str, reason: str) -> str:
    return reason if world.nodes[item.args[0]].service == wanted else ""


VERBS: Final = (
    verb(
        "stop-cluster",
        lambda world, item: commands.stop(world, item.args[0]),
        effect=lambda world, fault: say("{node} is not a member of the cluster", node=fault.args[0]),
        pointless=lambda world, item: _service(world, item, "stopped", say("the cluster service is stopped")),
    ),
    verb(
        "start-cluster",
        lambda world, item: commands.start(world, item.args[0]),
        pointless=lambda world, item: (
            ""
            if quarantine.is_quarantined(world, item.args[0])
            else _service(world, item, "running", say("the cluster service is running"))
        ),
    ),
    verb("force-quorum", lambda world, item: commands.force_quorum(world, item.args[0])),
    verb("prevent-quorum", lambda world, item: commands.start(world, item.args[0], prevent=True)),
    verb("evict", lambda world, item: commands.evict(world, item.args[0])),
    verb("patch", lambda world, item: setup.patch(world, item.args[0])),
    verb(
        "add-node",
        lambda world, item: setup.add_node(world, item.args[0], item.args[1]),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
    ),
    verb(
        "remove-node",
        lambda world, item: setup.remove_node(world, item.args[0], item.args[1]),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
    ),
    verb(
        "set-weight",
        lambda world, item: commands.set_weight(world, item.args[0], int(item.args[1])),
        parameters=(NODE, VerbParameter(mark("vote"), choices=("0", "1"))),
    ),
    verb("move-role", lambda world, item: commands.move(world, item.args[0], item.args[1])),
    verb("stop-role", lambda world, item: commands.stop_role(world, item.args[0])),
    verb("start-role", lambda world, item: commands.start_role(world, item.args[0])),
    verb(
        "set-owners",
        lambda world, item: commands.set_owners(world, item.args[0], item.args[1].split(",")),
        parameters=(VerbParameter(mark("resource"), "resource"), VerbParameter(mark("nodes"))),
    ),
    verb(
        "fail-resource",
        lambda world, item: commands.fail_resource(world, item.args[0]),
        effect=lambda world, fault: say("the cluster has detected it"),
    ),
    verb(
        "ps",
        lambda world, item: powershell.run(world, item.args[0], item.args[1]),
        parameters=(NODE, VerbParameter(mark("command"), "rest")),
    ),
    verb(
        "fail-witness",
        lambda world, item: commands.set_witness_failed(world, item.args[0], True),
        effect=lambda world, fault: say("the witness is not available"),
    ),
    verb("mend-witness", lambda world, item: commands.set_witness_failed(world, item.args[0], False)),
)
