"""Verbs for nodes, votes and roles of a failover cluster, as in Failover Cluster Manager."""

from typing import Final

from engine import powershell
from engine.cluster import commands, quarantine, setup
from engine.inputs import Input
from engine.localization import build_message, mark
from engine.model import World
from engine.verbs.verb import NODE, VerbParameter, build_verb


def _find_service_objection(world: World, input_: Input, wanted: str, reason: str) -> str:
    node = world.nodes.get(input_.args[0])
    if node is None:  # the node was evicted after the fault that `revert-all` reverts
        return build_message("{node} is not a member of the cluster", node=input_.args[0])
    return reason if node.service == wanted else ""


VERBS: Final = (
    build_verb(
        "stop-cluster",
        lambda world, item: commands.stop_node(world, item.args[0]),
        effect=lambda world, fault: build_message(
            "{node} is not a member of the cluster", node=fault.args[0]
        ),
        pointless=lambda world, item: _find_service_objection(
            world, item, "stopped", build_message("the cluster service is stopped")
        ),
    ),
    build_verb(
        "start-cluster",
        lambda world, item: commands.start_node(world, item.args[0]),
        pointless=lambda world, item: (
            ""
            if quarantine.is_quarantined(world, item.args[0])
            else _find_service_objection(
                world, item, "running", build_message("the cluster service is running")
            )
        ),
    ),
    build_verb("force-quorum", lambda world, item: commands.force_quorum(world, item.args[0])),
    build_verb("prevent-quorum", lambda world, item: commands.start_node(world, item.args[0], prevent=True)),
    build_verb("evict", lambda world, item: commands.evict_node(world, item.args[0])),
    build_verb("patch", lambda world, item: setup.install_service_pack(world, item.args[0])),
    build_verb(
        "add-node",
        lambda world, item: setup.add_node(world, item.args[0], item.args[1]),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
    ),
    build_verb(
        "remove-node",
        lambda world, item: setup.remove_node(world, item.args[0], item.args[1]),
        parameters=(
            VerbParameter(mark("instance"), "role"),
            VerbParameter(mark("node"), "server", computer=True),
        ),
    ),
    build_verb(
        "set-weight",
        lambda world, item: commands.set_node_weight(world, item.args[0], int(item.args[1])),
        parameters=(NODE, VerbParameter(mark("vote"), choices=("0", "1"))),
    ),
    build_verb("move-role", lambda world, item: commands.move_role(world, item.args[0], item.args[1])),
    build_verb("stop-role", lambda world, item: commands.stop_role(world, item.args[0])),
    build_verb("start-role", lambda world, item: commands.start_role(world, item.args[0])),
    build_verb(
        "set-owners",
        lambda world, item: commands.set_possible_owners(world, item.args[0], item.args[1].split(",")),
        parameters=(VerbParameter(mark("resource"), "resource"), VerbParameter(mark("nodes"))),
    ),
    build_verb(
        "fail-resource",
        lambda world, item: commands.fail_resource(world, item.args[0]),
        effect=lambda world, fault: build_message("the cluster has detected the failure"),
    ),
    build_verb(
        "ps",
        lambda world, item: powershell.run_prompt_line(world, item.args[0], item.args[1]),
        parameters=(NODE, VerbParameter(mark("command"), "rest")),
    ),
    build_verb(
        "fail-witness",
        lambda world, item: commands.set_witness_failed(world, item.args[0], True),
        effect=lambda world, fault: build_message("the witness is not available"),
    ),
    build_verb("mend-witness", lambda world, item: commands.set_witness_failed(world, item.args[0], False)),
)
