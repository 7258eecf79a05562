"""Contents of Failover Cluster Manager on one node, and the input lines of its actions, without Qt."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from app.words import formatting
from app.words.language import mark, tr, trn
from engine.cluster import config
from engine.model import ClusterRole, Node, Resource, ResourceState, World

RESOURCE_STATE_COLORS: Final = {
    ResourceState.ONLINE: "ok",
    ResourceState.FAILED: "bad",
    ResourceState.OFFLINE: "bad",
}
"""State of a role, resource or witness -> color name. Other states have the color name "warn"."""


NODE_STATE_COLORS: Final = {mark("Up"): "ok", mark("Paused"): "warn", mark("Down"): "bad"}
"""State of a node -> color name."""


class ClusterRow(Struct, frozen=True):
    """Row of the cluster tree: a node, role, resource or witness, with the texts of its columns."""

    kind: str
    """node, role, resource or witness."""
    name: str
    state: str
    color_name: str
    owner: str
    """Text of the owner column: owner node of a role or resource; for a node, its number of votes."""
    details: str
    """Preferred or possible owners; for a resource, also its kind."""


class ClusterAction(Struct, frozen=True):
    """Menu action of Failover Cluster Manager."""

    label: str
    line: str
    """Input line of the action."""
    warning: str = ""
    """Text of the confirmation before an irreversible action; empty if none is needed."""


def list_usable_nodes(world: World) -> list[str]:
    """Return the nodes on which Failover Cluster Manager can open: those with power and a connected network."""
    return [name for name in world.nodes if world.computers[name].powered and world.computers[name].nic_up]


def find_running_node(world: World, name: str) -> Node | None:
    """Return the node *name* if its cluster service runs and its partition has quorum; otherwise None."""
    node = world.nodes.get(name)
    return node if node is not None and config.is_running(world, node) and node.partition else None


def format_cluster_title(world: World, name: str) -> str:
    """Return the window title: the cluster, its votes and its witness, as node *name* knows them."""
    node = world.nodes.get(name)
    if node is None:
        return tr("This drill has no cluster.")
    if find_running_node(world, name) is None:
        return tr(
            "{node}: the cluster service is stopped or waits for quorum. No other information is "
            "available here."
        ).format(node=name)
    known_config = node.config
    votes = len(known_config.counted) + known_config.witness_counts
    forced = tr(" (forced quorum)") if known_config.forced else ""
    witness = (
        f"{known_config.witness.kind} ({known_config.witness.name})"
        if known_config.witness is not None
        else tr("no witness")
    )
    votes_text = trn("{n} vote", "{n} votes", votes).format(n=votes)
    return f"{node.cluster}: {votes_text}, {witness}{forced}"


def list_cluster_rows(world: World, name: str) -> list[ClusterRow]:
    """Return the nodes, roles, resources and witness that node *name* knows.

    If its cluster service does not run, the node knows only itself.
    """
    node = world.nodes.get(name)
    if node is None:
        return []
    if find_running_node(world, name) is None:
        return [ClusterRow("node", name, tr("Down"), "bad", "", "")]
    return list(_list_rows(world, node))


def _list_rows(world: World, node: Node) -> Iterator[ClusterRow]:
    known_config = node.config
    for name, weight in known_config.weights:
        state = config.read_node_state(world, node.name, name)
        vote = tr("assigned vote {assigned}, current vote {counted}").format(
            assigned=weight, counted=int(name in known_config.counted)
        )
        yield ClusterRow("node", name, tr(state), NODE_STATE_COLORS[state], "", vote)
    if known_config.witness is not None:
        reached = world.clusters[node.cluster].witness_there
        witness_state = ResourceState.ONLINE if reached else ResourceState.FAILED
        vote = tr("current vote {counted}").format(counted=int(known_config.witness_counts))
        color_name = RESOURCE_STATE_COLORS[witness_state]
        yield ClusterRow(
            "witness",
            known_config.witness.name,
            witness_state.value,
            color_name,
            known_config.witness.kind,
            vote,
        )
    for role in known_config.roles:
        preferred = tr("preferred owners: {nodes}").format(
            nodes=", ".join(role.preferred) or formatting.NO_VALUE
        )
        yield ClusterRow(
            "role",
            role.name,
            role_state := config.read_role_state(world, role),
            RESOURCE_STATE_COLORS.get(ResourceState.FAILED if role_state == "Failed" else role.state, "warn"),
            config.read_owner(world, node.name, role),
            preferred,
        )
        for resource in role.resources:
            yield _build_resource_row(world, node.name, role, resource)


def _build_resource_row(world: World, node: str, role: ClusterRole, resource: Resource) -> ClusterRow:
    state = config.read_resource_state(world, role, resource)
    possible = tr("possible owners: {nodes}").format(nodes=", ".join(resource.owners) or formatting.NO_VALUE)
    return ClusterRow(
        "resource",
        resource.name,
        state.value,
        RESOURCE_STATE_COLORS.get(state, "warn"),
        config.read_owner(world, node, role),
        f"{resource.kind} · {possible}",
    )


EVICT_WARNING: Final = mark("Evict {name} from the cluster? Its replicas stay configured.")
"""Text of the confirmation before a node is evicted."""
FORCE_QUORUM_WARNING: Final = mark(
    "Force quorum on {name}? The node forms the cluster without the others, which may have newer data."
)
"""Text of the confirmation before quorum is forced."""


def list_cluster_actions(world: World, name: str, row: ClusterRow) -> list[ClusterAction]:
    """Return the actions that the manager on node *name* offers for *row*, including harmful actions."""
    node = world.nodes.get(name)
    if node is None:
        return []
    if row.kind == "node":
        return list(_list_node_actions(node, row.name, find_running_node(world, name) is not None))
    if row.kind == "role":
        moves = [other_node for other_node, _ in node.config.weights if other_node != row.owner]
        return [
            *(
                ClusterAction(
                    tr("Move the role to {node}").format(node=other_move),
                    f"move-role {row.name} {other_move}",
                )
                for other_move in moves
            ),
            ClusterAction(tr("Take offline"), f"stop-role {row.name}"),
            ClusterAction(tr("Bring online"), f"start-role {row.name}"),
        ]
    if row.kind == "resource":
        return list(_list_resource_actions(node, row.name))
    return []


def _list_node_actions(node: Node, name: str, is_member: bool) -> Iterator[ClusterAction]:
    yield ClusterAction(tr("Stop the cluster service"), f"stop-cluster {name}")
    yield ClusterAction(tr("Start the cluster service"), f"start-cluster {name}")
    yield ClusterAction(
        tr("Force quorum"), f"force-quorum {name}", tr(FORCE_QUORUM_WARNING).format(name=name)
    )
    if is_member:
        weight = 1 - node.config.get_weight(name)
        words = tr("Assign a vote") if weight else tr("Remove the vote")
        yield ClusterAction(words, f"set-weight {name} {weight}")
        yield ClusterAction(tr("Evict"), f"evict {name}", tr(EVICT_WARNING).format(name=name))


def _list_resource_actions(node: Node, name: str) -> Iterator[ClusterAction]:
    resource = next(
        (candidate for role in node.config.roles for candidate in role.resources if candidate.name == name),
        None,
    )
    for other_node, _ in node.config.weights if resource is not None else ():
        owners = [owner for owner in resource.owners if owner != other_node] if resource is not None else []
        words = tr("Remove {node} from the possible owners")
        if resource is not None and other_node not in resource.owners:
            owners, words = [*resource.owners, other_node], tr("Add {node} to the possible owners")
        if owners:
            yield ClusterAction(words.format(node=other_node), f"set-owners {name} {','.join(owners)}")
    yield ClusterAction(tr("Simulate a failure"), f"fail-resource {name}")
