"""Documented rules of votes, heartbeats, forced quorum and failover cluster instances, each checked by a run."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Final

from engine.cluster.quorum import WINDOWS_VERSIONS
from engine.events import ClusterData
from engine.model import Computer, World
from engine.published.clusters import (
    CLUSTER,
    NODES,
    build_cluster_world,
    build_instance_world,
    find_first_s,
    find_primary,
    get_cluster_config,
    get_role,
    has_running_partition,
)
from engine.published.figure_rows import FigureRow, build_published_number_row, build_statement_row
from engine.published.measurements import play_script
from engine.published.whitepaper_failover import PUBLISHED_FAILOVER_TIMES_S

FOUR_NODES: Final = NODES[:4]
FAULT_S: Final = 5.0
MIRRORING_OUTAGE_S: Final = PUBLISHED_FAILOVER_TIMES_S["power-off"][2]
"""Outage of a mirrored database after a power failure, for comparison with a failover cluster instance."""


@cache
def _measure_outage_s(input_line: str, seed: int = 1) -> float:
    """Return the seconds from the input line *input_line* until the database is open again."""
    world = build_instance_world(seed=seed)
    play_script(world, f"{FAULT_S} {input_line}\n", FAULT_S + 120.0)
    return world.availability["Users"].down_ticks / 100.0


@cache
def _find_detection_s(input_line: str) -> float:
    detection_time_s = find_first_s(
        play_script(build_instance_world(), f"{FAULT_S} {input_line}\n", 100.0),
        ClusterData,
        event_change="role-failed",
    )
    return (detection_time_s or 10**9) - FAULT_S


def _get_host(world: World) -> str:
    return world.instances["FCI"].computer


def _build_restart_row() -> FigureRow:
    """Return the row about repeated failures of an instance.

    After the first failure, the instance restarts on the same node. After the second, it moves to another
    node.
    """
    world = build_instance_world()
    play_script(world, "5 stop-service FCI\n", 60.0)
    first_host = _get_host(world)
    play_script(world, "60 stop-service FCI\n", 120.0)
    return build_statement_row(
        "FCI.restart",
        (first_host, _get_host(world)) == ("NODE_1", "NODE_2"),
        f"on {first_host}, then on {_get_host(world)}",
    )


def _build_threshold_row(nodes: int) -> FigureRow:
    world, moves, at_s = build_instance_world(FOUR_NODES[:nodes], FOUR_NODES[:nodes]), 0, 5.0
    while get_role(world).state.value != "Failed" and at_s < 2000.0:
        before = _get_host(world)
        play_script(world, f"{at_s} fail-resource SQL Server (FCI)\n", at_s + 60.0)
        moves += _get_host(world) != before
        at_s += 60.0
    return build_published_number_row(f"FCI.threshold.{nodes}", moves)  # fmt: skip


def _build_owner_rows() -> list[FigureRow]:
    world = build_instance_world(NODES[:2], NODES[:2])
    world.computers["NODE_3"] = Computer(name="NODE_3", site="ssd")
    play_script(world, "5 add-node FCI NODE_3\n", 20.0)
    kinds = {resource.kind for resource in get_role(world).resources if "NODE_3" in resource.owners}
    other_kinds = {resource.kind for resource in get_role(world).resources} - kinds

    narrow = build_instance_world()
    play_script(narrow, "5 set-owners SQL Server (FCI) NODE_1\n10 power-off NODE_1\n", 90.0)
    stays = not find_primary(narrow)

    patched = build_instance_world()
    play_script(patched, "5 patch NODE_2\n", 400.0)
    passive_s = patched.availability["Users"].down_ticks / 100.0
    play_script(patched, "400 move-role FCI NODE_2\n500 patch NODE_1\n", 900.0)
    whole_s = patched.availability["Users"].down_ticks / 100.0
    return [
        build_statement_row(
            "FCI.owners.joined", other_kinds == {"Physical Disk"}, f"all but {', '.join(sorted(other_kinds))}"
        ),
        build_statement_row(
            "FCI.owners.none", stays, "online nowhere" if stays else f"online on {_get_host(narrow)}"
        ),
        build_statement_row("FCI.patch.passive", passive_s == 0.0, f"{passive_s:g} s"),
        build_published_number_row("FCI.patch.whole", whole_s),
    ]


def _build_quorum_row() -> FigureRow:
    world = build_instance_world(NODES[:2], FOUR_NODES)
    play_script(world, "5 fail-witness CLUSTER\n6 power-off NODE_3\n6 power-off NODE_4\n", 60.0)
    is_stopped = not world.instances["FCI"].running
    return build_statement_row("FCI.quorum", is_stopped, "offline" if is_stopped else "it runs on")  # fmt: skip


def build_instance_rows() -> list[FigureRow]:
    """Return the rows about failover cluster instances."""
    crash_s = _measure_outage_s("power-off NODE_1")
    return [
        build_published_number_row("FCI.move", _measure_outage_s("move-role FCI NODE_2")),
        build_statement_row("FCI.crash", crash_s > MIRRORING_OUTAGE_S, f"{crash_s:.1f} s"),
        build_published_number_row("FCI.health", _find_detection_s("hang FCI")),
        build_published_number_row("FCI.looksalive", _find_detection_s("stop-service FCI")),
        _build_restart_row(),
        _build_threshold_row(2),
        _build_threshold_row(3),
        *_build_owner_rows(),
        _build_quorum_row(),
    ]


SURVIVAL_VERDICTS: Final = {
    (2, False): ("50/50", "No", "No"),
    (2, True): ("Yes", "No", "No"),
    (3, False): ("Yes", "50/50", "No"),
    (3, True): ("Yes", "Yes", "No"),
    (4, False): ("Yes", "Yes", "50/50"),
    (4, True): ("Yes", "Yes", "Yes"),
    (5, False): ("Yes", "Yes", "Yes"),
}
"""(nodes, witness) -> documented answers to three questions. Does the cluster survive the loss of one node,
of two nodes one after the other, and of two nodes at the same time?
"""

LOSS_INTERVAL_S: Final = 60.0
"""Seconds between two consecutive losses of a node, long enough for the cluster to adjust the votes."""


@cache
def _can_survive(nodes: int, witness: bool, lost_nodes: tuple[str, ...], apart_s: float) -> bool:
    world = build_cluster_world(NODES[:nodes], witness=witness)
    lines = "".join(f"{5 + number * apart_s} power-off {name}\n" for number, name in enumerate(lost_nodes))
    play_script(world, lines, 5.0 + apart_s * len(lost_nodes) + 30.0)
    return has_running_partition(world)


def _format_verdict(outcomes: set[bool]) -> str:
    return "50/50" if len(outcomes) == 2 else "Yes" if outcomes == {True} else "No"


def _build_survival_rows() -> list[FigureRow]:
    """Return rows that compare SURVIVAL_VERDICTS with runs for every choice of failed nodes.

    The verdict is Yes if the cluster survives all choices, No if it survives none, else "50/50".
    """
    survival = []
    for (nodes, witness), published in SURVIVAL_VERDICTS.items():
        names = NODES[:nodes]
        cases: tuple[tuple[str, Sequence[tuple[str, ...]], float], ...] = (
            ("one", [(name,) for name in names], 0.0),
            ("then", list(permutations(names, 2)), LOSS_INTERVAL_S),
            ("both", list(combinations(names, 2)), 0.0),
        )
        for (id, choices, apart_s), text in zip(cases, published, strict=True):
            outcomes = [_can_survive(nodes, witness, lost_nodes, apart_s) for lost_nodes in choices]
            ours, row = (
                f"in {outcomes.count(True)} of {len(outcomes)} ways",
                f"CLU.{nodes}{'W' if witness else ''}.{id}",
            )
            survival.append(build_statement_row(row, _format_verdict(set(outcomes)) == text, ours))
    return survival


@cache
def _is_node_removed(windows: str, across_subnets: bool, outage_s: float) -> bool:
    """Return whether NODE_3 is removed from the cluster's membership after *outage_s* without network."""
    subnets = ("10.0.1", "10.0.1", "10.0.2" if across_subnets else "10.0.1")
    world = build_cluster_world(NODES[:3], windows, subnets=subnets)
    events = play_script(world, f"5 pull-cable NODE_3\n{5 + outage_s} plug-cable NODE_3\n", 60.0)
    return find_first_s(events, ClusterData, event_change="node removed", node="NODE_3") is not None


REGROUP_S_MAX: Final = 2.5
"""Maximum time from the heartbeat threshold until the remaining nodes agree on a membership."""


def _build_heartbeat_rows() -> list[FigureRow]:
    heartbeats = []
    for windows in WINDOWS_VERSIONS:
        since_2016 = WINDOWS_VERSIONS.index(windows) >= WINDOWS_VERSIONS.index("2016")
        for is_cross_subnet, missed in ((False, 10 if since_2016 else 5), (True, 20 if since_2016 else 5)):
            short, long = missed - 0.5, missed + REGROUP_S_MAX
            stays, is_removed = (
                _is_node_removed(windows, is_cross_subnet, short),
                _is_node_removed(windows, is_cross_subnet, long),
            )
            id = f"CLU.heartbeat.{windows.replace(' ', '')}.{'cross' if is_cross_subnet else 'same'}"
            short_result, long_result = (
                "removed" if is_gone_node else "kept" for is_gone_node in (stays, is_removed)
            )
            heartbeats.append(
                build_statement_row(
                    id,
                    not stays and is_removed,
                    f"{short_result} after {short:g} s, {long_result} after {long:g} s",
                )
            )
    return heartbeats


def _count_votes(world: World, lines: str) -> tuple[int, int]:
    """Play the input *lines* until 60 s. Return the numbers of counted node votes and witness votes."""
    play_script(world, lines, 60.0)
    config = get_cluster_config(world)
    return len(config.counted), int(config.witness_counts)


def _build_vote_rows() -> list[FigureRow]:
    """Return the rows about dynamic quorum and dynamic witness."""
    lose = "5 power-off NODE_2\n"
    no_witness = f"5 fail-witness {CLUSTER}\n"
    cases = (
        ("witness.even", "2016", 4, True, "", (4, 1)),
        ("witness.odd", "2016", 3, True, "", (3, 0)),
        ("even", "2016", 4, False, "", (3, 0)),
        ("odd", "2016", 3, False, "", (3, 0)),
        ("witness.comes", "2016", 3, True, lose, (2, 1)),
        ("witness.lost", "2016", 4, True, no_witness, (3, 0)),
        ("2012", "2012", 3, True, "", (3, 1)),
        ("2008R2", "2008 R2", 5, False, lose, (5, 0)),
        ("dynamic", "2016", 5, False, lose, (3, 0)),
    )
    rows_found = []
    for id, windows, nodes, witness, lines, votes in cases:
        counted_votes = _count_votes(build_cluster_world(NODES[:nodes], windows, witness=witness), lines)
        ours = f"votes: {counted_votes[0]} of nodes, {counted_votes[1]} of the witness"
        rows_found.append(build_statement_row(f"CLU.votes.{id}", counted_votes == votes, ours))
    return rows_found


def _count_last_nodes(windows: str, dynamic: bool = True) -> int:
    """Power off the nodes of a five-node cluster in turn. Return how many run just before it loses quorum.

    Nodes without a counted vote are powered off first. The result is 1 if the last node keeps quorum.
    """
    world = build_cluster_world(NODES, windows, dynamic=dynamic)
    remaining_nodes = list(NODES)
    while len(remaining_nodes) > 1:
        counted_nodes = get_cluster_config(world).counted
        removed_text = next(
            (name for name in remaining_nodes if name not in counted_nodes), remaining_nodes[-1]
        )
        time_s = world.tick / 100
        play_script(world, f"{time_s + 1} power-off {removed_text}\n", time_s + LOSS_INTERVAL_S)
        if not has_running_partition(world):
            break
        remaining_nodes.remove(removed_text)
    return len(remaining_nodes)


def _build_quorum_option_rows() -> list[FigureRow]:
    pinned = _collect_config(build_cluster_world(NODES[:4], lower="NODE_2"))
    weightless = _collect_config(build_cluster_world(NODES[:3], without_vote=("NODE_3",)))
    half_world = build_cluster_world(NODES[:4], "2008 R2")
    play_script(half_world, "5 power-off NODE_3\n5 power-off NODE_4\n", 40.0)
    graceful = []
    for name in NODES[:2]:
        world = build_cluster_world(NODES[:2])
        play_script(world, f"5 stop-cluster {name}\n", 40.0)
        graceful.append(has_running_partition(world))
    return [
        build_published_number_row("CLU.lastman", _count_last_nodes("2016")),
        build_published_number_row("CLU.static", _count_last_nodes("2008 R2")),
        build_published_number_row("CLU.static.2016", _count_last_nodes("2016", dynamic=False)),
        build_statement_row(
            "CLU.half",
            not has_running_partition(half_world),
            "up" if has_running_partition(half_world) else "down",
        ),
        build_statement_row(
            "CLU.lower", pinned == {"NODE_1", "NODE_3", "NODE_4"}, f"votes: {', '.join(sorted(pinned))}"
        ),
        build_statement_row(
            "CLU.weight", "NODE_3" not in weightless, f"votes: {', '.join(sorted(weightless))}"
        ),
        build_statement_row(
            "CLU.graceful", all(graceful), f"in {graceful.count(True)} of {len(graceful)} ways"
        ),
    ]


def _collect_config(world: World) -> set[str]:
    play_script(world, "", 20.0)
    return set(get_cluster_config(world).counted)


def _build_forced_quorum_rows() -> list[FigureRow]:
    outage_lines = "5 power-off NODE_2\n5 power-off NODE_3\n"
    world = build_cluster_world(NODES[:3])
    play_script(world, outage_lines, 40.0)
    waits = not has_running_partition(world)
    play_script(world, "40 stop-cluster NODE_1\n41 force-quorum NODE_1\n", 60.0)
    is_alone = has_running_partition(world) and get_cluster_config(world).forced
    play_script(world, "60 power-on NODE_2\n60 power-on NODE_3\n", 240.0)
    normal = has_running_partition(world) and not get_cluster_config(world).forced

    split = build_cluster_world(NODES[:3])
    cut_lines = "".join(f"5 black-hole NODE_1 {name}\n" for name in NODES[1:3])
    play_script(split, cut_lines + "30 stop-cluster NODE_1\n31 force-quorum NODE_1\n", 60.0)
    islands = len({node.partition for node in split.nodes.values() if node.partition})

    prevented = build_cluster_world(NODES[:3])
    stop = "".join(f"5 stop-cluster {name}\n" for name in reversed(NODES[:3]))
    play_script(prevented, stop + "".join(f"30 prevent-quorum {name}\n" for name in NODES[1:3]), 60.0)
    has_waited = not has_running_partition(prevented)
    play_script(prevented, "60 force-quorum NODE_1\n", 90.0)
    joined_count = len([node for node in prevented.nodes.values() if node.partition])
    return [
        build_statement_row("CLU.forced.waits", waits, "it stays down" if waits else "it continues"),
        build_statement_row("CLU.forced.alone", is_alone, "FORCED_QUORUM" if is_alone else "no quorum"),
        build_statement_row("CLU.forced.normal", normal, "NORMAL_QUORUM" if normal else "forced"),
        build_statement_row("CLU.forced.split", islands == 2, f"{islands} sets of nodes with quorum"),
        build_statement_row(
            "CLU.prevent",
            has_waited and joined_count == 3,
            f"{'none' if has_waited else 'one'} formed; {joined_count} nodes in the forced one",
        ),
    ]


def _build_stale_cluster(kind: str, windows: str) -> World:
    """Return a world in which NODE_2 starts with a stale configuration while NODE_1 is off.

    NODE_2 fails, NODE_1 continues and fails, then NODE_2 starts. Only the witness is available to
    NODE_2. *kind*: kind of the witness.
    """
    world = build_cluster_world(NODES[:2], windows, witness=True, witness_kind=kind)
    play_script(world, "5 power-off NODE_2\n60 power-off NODE_1\n90 power-on NODE_2\n", 240.0)
    return world


def _build_partition_in_time_rows() -> list[FigureRow]:
    partition = []
    for id, kind, windows in (
        ("share", "File Share Witness", "2008 R2"),
        ("share.2016", "File Share Witness", "2016"),
        ("cloud.2016", "Cloud Witness", "2016"),
    ):
        world = _build_stale_cluster(kind, windows)
        waits = not has_running_partition(world)
        ours = "it waits" if waits else "it formed the cluster"
        partition.append(build_statement_row(f"CLU.time.{id}", waits, ours))
        play_script(world, "240 power-on NODE_1\n", 400.0)
        node_count = len([node for node in world.nodes.values() if node.partition])
        partition.append(build_statement_row(f"CLU.time.{id}.newer", node_count == 2, f"{node_count} nodes"))
        forced = _build_stale_cluster(kind, windows)
        play_script(forced, "240 force-quorum NODE_2\n", 300.0)
        is_alone = has_running_partition(forced)
        partition.append(build_statement_row(f"CLU.time.{id}.forced", is_alone, "up" if is_alone else "down"))
    disk = _build_stale_cluster("Physical Disk", "2008 R2")
    newest = max(store.tag for store in disk.clusters[CLUSTER].stores)
    ok = has_running_partition(disk) and disk.nodes["NODE_2"].config.epoch >= newest
    partition.append(
        build_statement_row("CLU.time.disk", ok, "it started with the newer database" if ok else "it did not")
    )
    return partition


def build_rows() -> list[FigureRow]:
    """Return the rows about votes, heartbeats and forced quorum."""
    return [
        *_build_survival_rows(),
        *_build_heartbeat_rows(),
        *_build_vote_rows(),
        *_build_quorum_option_rows(),
        *_build_forced_quorum_rows(),
        *_build_partition_in_time_rows(),
    ]
