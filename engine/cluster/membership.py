"""Membership of a cluster: missed heartbeats, regroup, loss of quorum, forming and joining.

[DOC: failover clustering quorum]
"""

from itertools import combinations
from typing import Final

from msgspec.structs import replace

from engine.cluster import cluster_log, config, quarantine, quorum, roles
from engine.events import ClusterData
from engine.inputs import InputError
from engine.localization import build_message
from engine.model import Cluster, ClusterConfig, FieldOf, Handlers, Node, World, to_ticks
from engine.protocol import network, packet_loss

REGROUP_RANGE_S: Final = (1.0, 2.0)
"""Range of the time from the last missed heartbeat until the survivors agree on the members. Derived."""

VOTE_RECOUNT_DELAY_S: Final = 10.0
"""Time from a membership change until votes are recounted. A second loss before that counts as simultaneous.

Assumed. Only "10 to 30 s" is known.
"""

JOIN_RANGE_S: Final = (3.0, 5.0)
"""Range of the time until a node joins or a cluster forms, after this has become possible. Assumed."""

SERVICE_START_S: Final = 5.0
"""Time from the end of booting until the cluster service runs. Assumed."""

FORCED_QUORUM_TAG_INCREASE: Final = 1_000
"""Increase of the cluster database's version by forced quorum, which makes it the newest. Assumed."""

NEWER_TAG_LOG_LINE: Final = (
    "Quorum witness has better epoch than local node, this node must have been partitioned from the cluster"
)
"""Cluster log line of a node that finds a newer Paxos tag on the witness.

Known from public logs, except for the second half, which is assumed.
"""

NodePair = tuple[str, str]
"""Names of two nodes of a cluster."""


def detect_membership_changes(world: World) -> None:
    """Detect missing heartbeats, lost witnesses, and nodes that could join. This runs after every event."""
    for cluster in list(world.clusters.values()):
        for name in cluster.nodes:
            _watch_power(world, world.nodes[name])
        _record_silent_pairs(world, cluster)
        _record_witness_state(world, world.clusters[cluster.name])
        _log_outdated_nodes(world, world.clusters[cluster.name])
        _schedule_join(world, world.clusters[cluster.name])


def _watch_power(world: World, node: Node) -> None:
    computer = world.computers[node.name]
    powered = computer.powered
    if computer.shutting_down and node.service == "running":
        remove_exited_node(
            world,
            node.name,
            [name for name in config.list_members(world, node.partition) if name != node.name],
        )
        world.nodes[node.name] = replace(world.nodes[node.name], service="stopped")
    elif not powered and node.service != "off":
        # a node that is alone leaves its partition now, because no other member can notice the loss
        is_alone = config.list_members(world, node.partition) == [node.name]
        partition = 0 if is_alone else node.partition
        world.cancel_calls("cluster.started", node.name)
        world.nodes[node.name] = replace(
            node, service="off", prevented=False, outdated=False, partition=partition
        )
    elif powered and node.service == "off":
        # the rebooted node stays in its old partition until the other members notice the loss
        world.nodes[node.name] = replace(node, service="starting")
        world.call_after(world.settings.boot_s + SERVICE_START_S, "cluster.started", node.name)


def on_service_started(world: World, name: str) -> None:
    """Mark the cluster service as running after the computer has booted (timer handler)."""
    node = world.nodes.get(name)
    if node is not None and node.service == "starting" and world.computers[name].powered:
        world.nodes[name] = replace(node, service="running", partition=0)
        world.mark_all_logs_changed()


# --- losing members ---------------------------------------------------------------------------------------


def _record_silent_pairs(world: World, cluster: Cluster) -> None:
    silent_pairs = dict(cluster.silent)
    silent: dict[NodePair, int] = {}
    for partition in config.list_partitions(world, cluster.name):
        for member_pair in combinations(config.list_members(world, partition), 2):
            if not config.has_heartbeat(world, *member_pair):
                silent[member_pair] = min(silent_pairs.get(member_pair, world.tick), world.tick)
            elif _get_received_share(world, *member_pair) <= 1.0 - packet_loss.LOSS_MIN:
                silent[member_pair] = silent_pairs.get(member_pair, -1)
                if silent[member_pair] < 0:
                    silent[member_pair] = _draw_silent_tick(world, cluster, member_pair)
    if silent == silent_pairs:
        return
    world.clusters[cluster.name] = replace(cluster, silent=tuple(sorted(silent.items())))
    for member_pair in sorted(silent_pairs.keys() - silent.keys()):
        a, b = (world.nodes.get(name) for name in member_pair)
        if a is not None and b is not None and a.partition and a.partition == b.partition:
            synchronize_config(world, list(member_pair))
    for member_pair, since_tick in silent.items():
        if since_tick != silent_pairs.get(member_pair):
            agreed = since_tick + to_ticks(
                _compute_silence_limit_s(world, cluster, member_pair)
                + world.chance.draw_uniform(*REGROUP_RANGE_S)
            )
            world.call_at(agreed, "cluster.regroup", cluster.name)


def _get_received_share(world: World, a: str, b: str) -> float:
    """Return the share of heartbeats between two nodes that are answered."""
    out_loss, back_loss = network.get_packet_losses(world, a, b)
    return (1.0 - out_loss) * (1.0 - back_loss)


def _draw_silent_tick(world: World, cluster: Cluster, pair: NodePair) -> int:
    """Draw the tick from which so many heartbeats in a row are lost that the nodes lose each other."""
    threshold = round(_compute_silence_limit_s(world, cluster, pair) / cluster.heartbeat_s)
    received = _get_received_share(world, *pair)
    return world.tick + to_ticks(
        packet_loss.draw_heartbeat_silence_s(world.chance, received, cluster.heartbeat_s, threshold)
    )


def _record_witness_state(world: World, cluster: Cluster) -> None:
    """Record whether the witness was lost or has returned, and schedule a recount of the votes."""
    parts = [
        config.list_members(world, partition) for partition in config.list_partitions(world, cluster.name)
    ]
    living = [[name for name in part if config.is_running(world, world.nodes[name])] for part in parts]
    watching = max(
        (part for part in living if part), key=lambda part: _find_newest_config(world, part).epoch, default=[]
    )
    if not watching:
        return
    newest_config = _find_newest_config(world, watching)
    is_present = config.is_witness_reachable(world, newest_config.witness, watching)
    if is_present != cluster.witness_there:
        world.clusters[cluster.name] = replace(cluster, witness_there=is_present)
        if is_present:
            config.write_to_witnesses(world, cluster.name, newest_config, watching, (newest_config.witness,))
        if newest_config.witness is not None:
            text = build_message("the witness of {cluster} has failed", cluster=cluster.name)
            if is_present:
                text = build_message("the witness of {cluster} is available again", cluster=cluster.name)
            world.emit(ClusterData(what="witness", there=is_present), text)
            if not is_present:
                world.call_after(world.chance.draw_uniform(*REGROUP_RANGE_S), "cluster.regroup", cluster.name)
        world.call_after(VOTE_RECOUNT_DELAY_S, "cluster.count", cluster.name)


def _compute_silence_limit_s(world: World, cluster: Cluster, pair: NodePair) -> float:
    """Return the time without heartbeats that two nodes tolerate, in seconds."""
    a, b = (world.nodes[name].subnet for name in pair)
    return cluster.heartbeat_s * (cluster.threshold if a == b else cluster.cross_threshold)


def determine_survivors(world: World, name: str) -> None:
    """Determine the surviving members of each partition, and whether they may continue (timer handler)."""
    cluster = world.clusters[name]
    pairs = {
        silent_pair
        for silent_pair, since_tick in cluster.silent
        if world.tick - since_tick >= to_ticks(_compute_silence_limit_s(world, cluster, silent_pair))
    }
    # nodes of pairs that have lost their heartbeats, but not yet for longer than the limit
    missed = {node for silent_pair in dict(cluster.silent).keys() - pairs for node in silent_pair}
    for partition in config.list_partitions(world, name):
        old_members = config.list_members(world, partition)
        nodes = [node for node in old_members if config.is_running(world, world.nodes[node])]
        living = [node for node in old_members if node in nodes or (nodes and node in missed)]
        sides = _group_connected_nodes(living, pairs)
        if [old_members] != sides or not _can_continue(world, old_members):
            _split_partition(world, old_members, living, sides)


def schedule_regroup(world: World, members: list[str]) -> None:
    """Schedule a regroup if the remaining members have no majority after an orderly exit."""
    if members and not _can_continue(world, members):
        world.call_after(REGROUP_RANGE_S[1], "cluster.regroup", world.nodes[members[0]].cluster)


def _can_continue(world: World, members: list[str]) -> bool:
    """Return whether the partition with *members* still has quorum.

    The partition has lost no node, but it may have lost the vote of the witness.
    """
    known_config = world.nodes[members[0]].config
    return known_config.forced or quorum.has_majority(
        known_config, members, config.has_witness_vote(world, known_config, members)
    )


def _group_connected_nodes(living: list[str], lost_pairs: set[NodePair]) -> list[list[str]]:
    """Divide the living members into groups whose members all reach each other.

    A node that reaches only some nodes joins the first matching group.
    """
    sides: list[list[str]] = []
    for node in living:
        for member_group in sides:
            if all(
                (other_node, node) not in lost_pairs and (node, other_node) not in lost_pairs
                for other_node in member_group
            ):
                member_group.append(node)
                break
        else:
            sides.append([node])
    return sides


def _split_partition(world: World, old_members: list[str], living: list[str], sides: list[list[str]]) -> None:
    if not living:
        for node in old_members:
            world.nodes[node] = replace(world.nodes[node], partition=0)
        return
    holder = config.find_core_owner(world, old_members[0])
    is_free = True  # the witness votes for one side only; the owner of the core resources is first
    winner: list[str] | None = None
    for member_group in sorted(sides, key=lambda members: (holder not in members, -len(members), members)):
        newest_config = _find_newest_config(world, member_group)
        has_witness = is_free and config.has_witness_vote(world, newest_config, member_group)
        if winner is None and (
            quorum.has_majority(newest_config, member_group, has_witness) or newest_config.forced
        ):
            winner = member_group
            is_free = is_free and not has_witness
    for node in old_members:
        if winner is None or node not in winner:
            _remove_lost_node(world, node, winner)
    if winner is not None:
        _continue_partition(world, winner, [node for node in old_members if node not in winner])


def _remove_lost_node(world: World, name: str, winner: list[str] | None) -> None:
    node = world.nodes[name]
    world.nodes[name] = replace(node, partition=0)
    if config.is_running(world, node):
        for other_node in winner or ():
            _log_unreachable(world, name, other_node)
        cluster_log.write_cluster_log_line(
            world, name, "WARN", "QUORUM", f"Node {node.number}: Lost quorum ({node.number})"
        )
        cluster_log.write_cluster_log_line(
            world, name, "WARN", "RHS", "lost quorum (status = 5925), executing OnStop"
        )
        terminated = "Cluster service has terminated. Cluster.Service.Running.Event got signaled."
        cluster_log.write_cluster_log_line(world, name, "WARN", "RHS", terminated)
        world.emit(
            ClusterData(what="quorum lost"), build_message("{node} has lost quorum", node=name), server=name
        )
        roles.on_node_left(world, name)


def _log_unreachable(world: World, node: str, lost_node: str) -> None:
    """Log that *node* has received no heartbeats from *lost_node* within the threshold.

    [DOC: group health events].
    """
    number = world.nodes[lost_node].number
    ends = [f"{config.get_computer_address(world, name)}:~3343~" for name in (lost_node, node)]
    reason = f"Reason GracefulClose(1226)' because of 'channel to remote endpoint {ends[0]} is closed'"
    for level, component, text in (
        ("INFO", "IM", f"got event: Remote endpoint {ends[0]} unreachable from {ends[1]}"),
        ("WARN", "NDP", f"All routes for route (virtual) local {ends[1]} to remote {ends[0]} are down"),
        ("WARN", "NODE", f"Node {world.nodes[node].number}: Connection to Node {number} is broken. {reason}"),
    ):
        cluster_log.write_cluster_log_line(world, node, level, component, text)


def _continue_partition(world: World, side_nodes: list[str], lost_nodes: list[str]) -> None:
    first = side_nodes[0]
    synchronize_config(world, side_nodes)
    # write the cluster database again, because this side is now the whole partition
    config.update_config(world, first)
    for lost_node in lost_nodes:
        for node in side_nodes:
            _log_unreachable(world, node, lost_node)
        text = build_message("{node} was removed from the active cluster membership", node=lost_node)
        world.emit(ClusterData(what="node removed", node=lost_node), text, server=first)
        quarantine.record_exit(world, first, lost_node)
    world.call_after(VOTE_RECOUNT_DELAY_S, "cluster.count", world.nodes[first].cluster)
    roles.on_owners_lost(world, first, lost_nodes)


def synchronize_config(world: World, side_nodes: list[str]) -> None:
    """Copy the newest cluster database among *side_nodes* to all of them."""
    newest_config = _find_newest_config(world, side_nodes)
    for name in side_nodes:
        world.nodes[name] = replace(world.nodes[name], config=newest_config)


def recount_votes(world: World, name: str) -> None:
    """Recount the votes of the current members if quorum is dynamic (timer handler)."""
    cluster = world.clusters[name]
    for partition in config.list_partitions(world, name):
        members = config.list_members(world, partition)
        node = config.find_writing_node(world, partition)
        if node is None or any(
            since_tick <= world.tick and not set(members).isdisjoint(silent_pair)
            for silent_pair, since_tick in cluster.silent
        ):
            continue
        known_config = node.config
        counted_nodes, witness = quorum.count_votes(
            cluster, known_config, members, config.has_witness_vote(world, known_config, members)
        )
        forced = known_config.forced and 2 * len(members) <= len(cluster.nodes)
        if counted_nodes and (counted_nodes, witness, forced) != (
            known_config.counted,
            known_config.witness_counts,
            known_config.forced,
        ):
            config.update_config(
                world, node.name, counted=counted_nodes, witness_counts=witness, forced=forced
            )


def change_votes(world: World, node: str, **changes: FieldOf[ClusterConfig]) -> None:
    """Change the quorum configuration from *node*, and recount the votes in the same write.

    Raise InputError if its partition would lose quorum.
    """
    living_nodes, cluster = (
        config.list_members(world, world.nodes[node].partition),
        world.clusters[world.nodes[node].cluster],
    )
    known_config = replace(world.nodes[node].config, **changes)
    votes = config.has_witness_vote(world, known_config, living_nodes)
    counted_nodes, witness = quorum.count_votes(cluster, known_config, living_nodes, votes)
    known_config = replace(known_config, counted=counted_nodes, witness_counts=witness)
    if not known_config.forced and not quorum.has_majority(known_config, living_nodes, votes):
        raise InputError(
            build_message("with this change, cluster {cluster} would lose quorum", cluster=cluster.name)
        )
    config.update_config(world, node, counted=counted_nodes, witness_counts=witness, **changes)


# --- joining and forming ----------------------------------------------------------------------------------


def recount_votes_without(world: World, name: str) -> None:
    """Recount the votes without the node *name*, which leaves in an orderly way. The last vote is kept.

    [DOC: failover clustering quorum]
    """
    node = world.nodes[name]
    cluster, remaining_nodes = world.clusters[node.cluster], config.list_members(world, node.partition)
    remaining_nodes = [other_node for other_node in remaining_nodes if other_node != name]
    if remaining_nodes and config.is_running(world, node):
        known_config = node.config
        counted_nodes, witness = quorum.count_votes(
            cluster,
            known_config,
            remaining_nodes,
            config.has_witness_vote(world, known_config, remaining_nodes),
        )
        if counted_nodes and (counted_nodes, witness) != (known_config.counted, known_config.witness_counts):
            config.update_config(world, name, counted=counted_nodes, witness_counts=witness)


def remove_exited_node(world: World, name: str, members: list[str]) -> None:
    """Remove the node *name* from its partition after an orderly exit; *members* are the other members."""
    recount_votes_without(world, name)
    world.nodes[name] = replace(world.nodes[name], partition=0)
    roles.on_node_left(world, name)
    living = [node for node in members if config.is_running(world, world.nodes[node])]
    if not living:
        return
    synchronize_config(world, living)
    first_node = world.nodes[living[0]]
    recount_votes(world, first_node.cluster)
    schedule_regroup(world, living)
    world.emit(
        ClusterData(what="left", node=name),
        build_message("{node} has left the cluster", node=name),
        server=first_node.name,
    )
    roles.on_owners_lost(world, first_node.name, [name])


def _list_waiting_nodes(world: World, cluster: Cluster) -> list[str]:
    nodes = (world.nodes[name] for name in cluster.nodes)
    waiting_nodes = [node.name for node in nodes if config.is_running(world, node) and not node.partition]
    return [name for name in waiting_nodes if not quarantine.is_quarantined(world, name)]


def _schedule_join(world: World, cluster: Cluster) -> None:
    if cluster.gathering or not (
        _list_joinable_nodes(world, cluster)
        or _list_formable_groups(world, cluster)
        or _find_reunited_members(world, cluster)
    ):
        return
    world.clusters[cluster.name] = replace(cluster, gathering=True)
    world.call_after(world.chance.draw_uniform(*JOIN_RANGE_S), "cluster.gather", cluster.name)


def _list_joinable_nodes(world: World, cluster: Cluster) -> list[tuple[str, int]]:
    """Return (node, partition) for each node that can now join a partition, because it reaches all members."""
    joinable_nodes = []
    for node in _list_waiting_nodes(world, cluster):
        for partition in config.list_partitions(world, cluster.name):
            members = config.list_members(world, partition)
            if all(config.has_heartbeat(world, node, member) for member in members):
                joinable_nodes.append((node, partition))
                break
    return joinable_nodes


def _find_separate_groups(world: World, cluster: Cluster) -> list[list[str]]:
    """Return groups of waiting nodes that reach each other but no member of a partition.

    A node that reaches a member would join its partition instead.
    """
    waiting = _list_waiting_nodes(world, cluster)
    lost_pairs = {
        node_pair for node_pair in combinations(waiting, 2) if not config.has_heartbeat(world, *node_pair)
    }
    members = [node.name for node in world.nodes.values() if node.cluster == cluster.name and node.partition]
    return [
        node_group
        for node_group in _group_connected_nodes(waiting, lost_pairs)
        if not any(config.has_heartbeat(world, node, member) for node in node_group for member in members)
    ]


def _list_formable_groups(world: World, cluster: Cluster) -> list[tuple[list[str], ClusterConfig]]:
    """Return (waiting nodes with a majority, newest cluster database that they can read).

    If a share or a storage account has a newer Paxos tag, its database cannot be read, and the nodes wait.
    """
    formable_nodes = []
    for group in _find_separate_groups(world, cluster):
        database = config.read_newer_database(world, _find_newest_config(world, group), group)
        allowed_nodes = [node for node in group if not world.nodes[node].prevented]
        if allowed_nodes and quorum.has_majority(
            database, group, config.has_witness_vote(world, database, group)
        ):
            formable_nodes.append((group, database))
    return formable_nodes


def _log_outdated_nodes(world: World, cluster: Cluster) -> None:
    """Log that waiting nodes have found a newer Paxos tag on the witness. [DOC: manage quorum]."""
    for group in _find_separate_groups(world, cluster):
        database = config.read_newer_database(world, _find_newest_config(world, group), group)
        newer = config.read_paxos_tag(world, database, group) > database.epoch
        for name in group:
            node = world.nodes[name]
            if newer and not node.outdated:
                cluster_log.write_cluster_log_line(world, name, "ERR", "QUORUM", NEWER_TAG_LOG_LINE)
                text = build_message(
                    "{node} cannot form the cluster: the witness has a newer Paxos tag", node=name
                )
                world.emit(ClusterData(what="outdated"), text, server=name)
            if newer != node.outdated:
                world.nodes[name] = replace(world.nodes[name], outdated=newer)


def _find_reunited_members(world: World, cluster: Cluster) -> list[str]:
    """Return the nodes that must leave their partition for a partition with a later forced quorum.

    They now reach members of that partition, and join it.
    """
    parts = [
        config.find_writing_node(world, partition)
        for partition in config.list_partitions(world, cluster.name)
    ]
    living = [node for node in parts if node is not None]
    if len(living) < 2:
        return []
    first_node = max(living, key=lambda node: node.config.epoch)
    other_members = [
        node.name
        for node in world.nodes.values()
        if node.cluster == cluster.name and node.partition not in (0, first_node.partition)
    ]
    strong = config.list_members(world, first_node.partition)
    return [
        node for node in other_members if any(config.has_heartbeat(world, node, member) for member in strong)
    ]


def _find_newest_config(world: World, side_nodes: list[str]) -> ClusterConfig:
    return max((world.nodes[node].config for node in side_nodes), key=lambda knowledge: knowledge.epoch)


def join_or_form(world: World, name: str) -> None:
    """Let nodes join or form a cluster if they can, and dissolve weaker partitions (timer handler)."""
    world.clusters[name] = replace(world.clusters[name], gathering=False)
    for node in _find_reunited_members(world, world.clusters[name]):
        world.nodes[node] = replace(world.nodes[node], partition=0)
        text = build_message(
            "{node} leaves its partition and joins the cluster with forced quorum", node=node
        )
        world.emit(ClusterData(what="gave way"), text, server=node)
        roles.on_node_left(world, node)
    while formable := _list_formable_groups(world, world.clusters[name]):
        form_cluster(world, *formable[0])
    for node, partition in _list_joinable_nodes(world, world.clusters[name]):
        if all(
            _reaches_over_lossy_link(world, node, member) for member in config.list_members(world, partition)
        ):
            _join_partition(world, node, partition)


def _reaches_over_lossy_link(world: World, a: str, b: str) -> bool:
    """Return whether one connection request from a joining node succeeds.

    The result is random if packets are lost.
    """
    losses = network.get_packet_losses(world, a, b)
    if max(losses) < packet_loss.LOSS_MIN:
        return True
    return world.chance.draw_uniform() < packet_loss.compute_connect_chance(*losses)


def form_cluster(world: World, side_nodes: list[str], cluster_config: ClusterConfig) -> None:
    """Form a partition with quorum of *side_nodes*, which use the cluster database *cluster_config*."""
    partition = world.next_id()
    newest = max(side_nodes, key=lambda name: world.nodes[name].config.epoch)
    for node in side_nodes:
        world.nodes[node] = replace(
            world.nodes[node], partition=partition, config=cluster_config, outdated=False
        )
    world.emit(
        ClusterData(what="formed"), build_message("{node} has formed the cluster", node=newest), server=newest
    )
    config.update_config(world, side_nodes[0])
    world.call_after(VOTE_RECOUNT_DELAY_S, "cluster.count", world.nodes[side_nodes[0]].cluster)
    for node in side_nodes:
        roles.on_node_joined(world, node)
    roles.restore_roles(world, side_nodes[0])


def _join_partition(world: World, node: str, partition: int) -> None:
    writer = config.find_writing_node(world, partition)
    assert writer is not None
    world.nodes[node] = replace(world.nodes[node], partition=partition, config=writer.config, outdated=False)
    config.update_config(world, node)
    world.emit(
        ClusterData(what="joined"), build_message("{node} has joined the cluster", node=node), server=node
    )
    world.call_after(VOTE_RECOUNT_DELAY_S, "cluster.count", writer.cluster)
    roles.on_node_joined(world, node)


HANDLERS: Final[Handlers] = {
    "cluster.started": on_service_started,
    "cluster.regroup": determine_survivors,
    "cluster.count": recount_votes,
    "cluster.gather": join_or_form,
    **quarantine.HANDLERS,
}
