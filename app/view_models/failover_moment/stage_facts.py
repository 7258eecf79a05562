"""Facts of the world that the failover stage shows at one tick: cards, votes, wires, redo queue. No Qt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from app.view_models import topology_builder
from app.view_models.failover_moment.phases import CLIENT, DISK, FROM, RESOURCE_MILESTONES, TO, WITNESS
from app.view_models.topology_contents import ClientDisplay, ServerDisplay, StatusIndicator
from app.words.language import mark, tr
from engine.availability import replicas
from engine.cluster import config, instances, roles
from engine.drill.running.published_comparison import GROUP, INSTANCE, MIRRORING
from engine.mirroring import quorum
from engine.model import (
    AvailabilityGroup,
    Cluster,
    ClusterConfig,
    DatabaseCopy,
    Failover,
    Tick,
    Witness,
    World,
)
from engine.protocol import network

OTHER_CARDS_MAX: Final = 2
"""Maximum number of cards for servers that neither failed nor took over."""

VOTE_CAST, VOTE_LOST, VOTE_NOT_COUNTED = "yes", "lost", "none"
"""States of a vote: cast, lost, not counted."""


class StageVote(Struct, frozen=True):
    """Vote on the stage: its owner, and whether the vote counts."""

    name: str
    color: int
    state: str
    """VOTE_CAST, VOTE_LOST or VOTE_NOT_COUNTED."""


def shorten_names(names: Sequence[str]) -> list[str]:
    """Return a label of one or two letters for each of *names*. The labels differ if possible."""
    ends = [name.replace("-", "_").rpartition("_")[2] for name in names]
    choices = (
        [end if len(end) <= 2 else name[0] for name, end in zip(names, ends, strict=True)],
        [name[:2].title() for name in names],
        [name[0] + name[-1] for name in names],
    )
    return [
        next((labels[index] for labels in choices if labels.count(labels[index]) == 1), names[index][:2])
        for index in range(len(names))
    ]


class StageCard(Struct, frozen=True):
    """Card of a server, node, witness or application on the stage."""

    name: str
    color: int | None
    status: StatusIndicator
    note: str = ""
    """Text below the name."""
    database: str = ""
    role: StatusIndicator | None = None
    badges: tuple[StatusIndicator, ...] = ()
    """Additional indicators on the card."""
    resources: tuple[tuple[str, str], ...] = ()
    """(name, kind) of each resource of the instance, on the card of its new node; otherwise empty."""


class StageWire(Struct, frozen=True):
    """Connection between two positions on the stage."""

    ends: tuple[str, str]
    is_interrupted: bool
    """True if the connection is interrupted."""
    is_used: bool
    """True if the connection is currently used."""
    label: str = ""


class StageFacts(Struct, frozen=True):
    """State of the simulated servers that the stage shows at one tick."""

    tick: Tick
    cards: Mapping[str, StageCard] = field(default_factory=dict)
    """Position on the stage -> card."""
    votes: tuple[StageVote, ...] = ()
    wires: tuple[StageWire, ...] = ()
    redo_kb: float | None = None
    """Redo queue of the copy that takes over; None if the failover has no redo queue."""
    listener: str = ""
    listener_at: str = ""
    """Position of the server to which the listener points; empty if the listener points to none."""
    disk: str = ""
    owner: str = ""
    """Node that owns the shared disks of the failover cluster instance."""
    instance: str = ""
    cluster: str = ""
    more_clients: int = 0
    """Number of clients that the stage does not show."""
    more_databases: int = 0
    """Number of databases that the stage does not show."""

    def replace_voters(self, previous_votes: tuple[StageVote, ...]) -> StageFacts:
        """Return a copy of these facts with the voters of *previous_votes*, from before a server was lost.

        The cluster adjusts votes after a loss, but the stage keeps showing the previous voters.
        """
        current_votes = {vote.name: vote for vote in self.votes}
        votes = tuple(
            vote
            if vote.state == VOTE_NOT_COUNTED
            else replace(vote, state=_find_vote_state(current_votes.get(vote.name)))
            for vote in previous_votes
        )
        return replace(self, votes=votes) if votes else self

    def restore_vote(self, name: str) -> StageFacts:
        """Return a copy of these facts in which the vote of *name* is still cast.

        The copy shows the vote as it was before the loss of *name* was noticed.
        """
        counted_votes = (replace(vote, state=VOTE_CAST) if vote.name == name else vote for vote in self.votes)
        return replace(self, votes=tuple(counted_votes))


def _find_vote_state(vote: StageVote | None) -> str:
    return VOTE_LOST if vote is None or vote.state == VOTE_LOST else VOTE_CAST


def capture_facts(world: World, failover: Failover, technology: str) -> StageFacts:
    """Return the facts of *world* that the stage shows."""
    servers = {
        display.name: display for display in topology_builder.build_server_displays(world, failover.database)
    }
    displays = topology_builder.build_client_displays(world)
    clients = [face for face in displays if failover.database in world.clients[face.name].databases]
    places = _find_places(world, failover, technology, servers)
    cards = {place: _make_card(world, servers[name], failover, technology) for place, name in places.items()}
    if clients:
        places[CLIENT] = clients[0].name
        cards[CLIENT] = _make_client_card(world, clients[0])
    group = _find_group(world, failover) if technology == GROUP else None
    listener = group.listener.name if group is not None and group.listener is not None else ""
    address_server = world.listeners.get(listener) if listener else None
    role = (
        instances.find_instance_role(world, _find_instance(world, failover))
        if technology == INSTANCE
        else None
    )
    cluster = next(iter(world.clusters.values()), None) if technology != MIRRORING else None
    return StageFacts(
        world.tick,
        cards,
        tuple(_list_votes(world, failover, cluster, servers)),
        tuple(_list_wires(world, places, technology, role.owner if role is not None else "")),
        find_redo_queue_kb(world, failover),
        listener,
        next((place for place, name in places.items() if name == address_server), ""),
        next((r.name for r in role.resources if r.kind == "Physical Disk"), "") if role is not None else "",
        role.owner if role is not None else "",
        role.name if role is not None else "",
        cluster.name if cluster is not None else "",
        max(0, len(clients) - 1),
        len({name for _, name in world.copies} - {failover.database}),
    )


def _find_places(
    world: World, failover: Failover, technology: str, servers: Mapping[str, ServerDisplay]
) -> dict[str, str]:
    """Return position on the stage -> server, for positions whose server is in *servers*."""
    places_by_role = {FROM: failover.from_server, TO: failover.to_server}
    if technology == MIRRORING:
        copy = world.copies.get((failover.to_server, failover.database))
        witness = copy.mirroring.witness if copy is not None else None
        if witness is not None:
            places_by_role[WITNESS] = witness
        return {place: name for place, name in places_by_role.items() if name in servers}
    nodes = [name for name in servers if name in world.nodes or world.list_instances_on(name)]
    if technology == GROUP:
        group = _find_group(world, failover)
        nodes = [replica.server for replica in group.replicas] if group is not None else []
    share = next((w.name for w in _list_witnesses(world) if w.name in servers), None)
    if share is not None:
        places_by_role[WITNESS] = share
    other_nodes = [name for name in nodes if name not in places_by_role.values() and name in servers]
    places_by_role |= {
        f"other{number}": name for number, name in enumerate(other_nodes[:OTHER_CARDS_MAX], start=1)
    }
    return {place: name for place, name in places_by_role.items() if name in servers}


def _list_witnesses(world: World) -> Iterator[Witness]:
    yield from (node.config.witness for node in world.nodes.values() if node.config.witness is not None)


def _find_group(world: World, failover: Failover) -> AvailabilityGroup | None:
    copy = next((c for c in world.list_copies_of(failover.database) if c.availability.guid is not None), None)
    if copy is None or copy.availability.guid is None:
        return None
    guid = copy.availability.guid
    return next(
        (group for server in (failover.to_server, failover.from_server)
         if (group := replicas.find_group_config(world, server, guid)) is not None), None,
    )  # fmt: skip


def _find_instance(world: World, failover: Failover) -> str:
    return next(
        (c.server for c in world.list_copies_of(failover.database) if world.instances[c.server].clustered), ""
    )


OWNER_NOTE: Final = mark("owns {instance}")
"""Note on the card of the node that owns the instance."""
VOTER_NOTE: Final = mark("votes only")
"""Note on the card of a node that owns no instance."""
WITNESS_NOTE: Final = {
    MIRRORING: mark("witness"),
    GROUP: mark("file share witness"),
    INSTANCE: mark("file share witness"),
}
"""Technology -> note on the card of the witness."""


def _make_card(world: World, display: ServerDisplay, failover: Failover, technology: str) -> StageCard:
    if technology == INSTANCE and display.kind in ("node", "computer", "partner"):
        return _make_node_card(world, display, failover)
    copy = next((c for c in display.copies if c.database == failover.database), None)
    if copy is None:
        return StageCard(display.name, display.color, display.status, tr(WITNESS_NOTE[technology]))
    role = copy.role
    if display.name == failover.from_server and copy.state is None:
        old_role = "PRIMARY" if technology == GROUP else "PRINCIPAL"
        role = StatusIndicator(tr("was {role}").format(role=old_role), "idle", "principal")
    badges = tuple(indicator for indicator in (copy.state, copy.db_state) if indicator is not None)
    extra = tuple(
        s
        for s in copy.indicators
        if s.text in ("unprotected", "asynchronous", "not failover ready", "failover ready")
    )
    return StageCard(
        display.name, display.color, display.status, "", copy.database, role, (*badges[:2], *extra[:1])[:3]
    )


def _make_node_card(world: World, display: ServerDisplay, failover: Failover) -> StageCard:
    role = instances.find_instance_role(world, _find_instance(world, failover))
    rows: tuple[tuple[str, str], ...] = ()
    note = ""
    if role is not None:
        owned = [
            other.name
            for _, other in roles.iterate_roles(world)
            if other.owner == display.name and other.kind == "instance"
        ]
        note = tr(OWNER_NOTE if owned else VOTER_NOTE).format(instance=", ".join(owned))
        if display.name == failover.from_server and role.owner != display.name:
            note = tr("owned {instance}").format(instance=role.name)
        if display.name == failover.to_server:
            rows = tuple(
                (resource.name.partition(" (")[0], resource.kind)
                for resource in role.resources
                if resource.kind in RESOURCE_MILESTONES
            )
    return StageCard(display.name, display.color, display.status, note, resources=rows)


def _make_client_card(world: World, display: ClientDisplay) -> StageCard:
    client = world.clients[display.name]
    return StageCard(
        display.name, None, display.status, tr("connects to {server}").format(server=client.data_source)
    )


# --- votes ------------------------------------------------------------------------------------------------


def _list_votes(
    world: World, failover: Failover, cluster: Cluster | None, servers: Mapping[str, ServerDisplay]
) -> Iterator[StageVote]:
    if cluster is None:
        yield from _list_session_votes(world, failover, servers)
        return
    nodes = [node for node in world.nodes.values() if node.partition and config.is_running(world, node)]
    known_config: ClusterConfig | None = nodes[0].config if nodes else None
    for index, name in enumerate(cluster.nodes):
        is_present = any(node.name == name for node in nodes) and world.computers[name].powered
        weight = known_config.get_weight(name) if known_config is not None else 1
        yield StageVote(
            name,
            _get_color(servers, name, index),
            (VOTE_CAST if is_present else VOTE_LOST) if weight else VOTE_NOT_COUNTED,
        )
    if known_config is not None and known_config.witness is not None:
        counts = VOTE_CAST if cluster.witness_there else VOTE_LOST
        yield StageVote(known_config.witness.name, _get_color(servers, known_config.witness.name, len(cluster.nodes)),
                   counts if known_config.witness_counts else VOTE_NOT_COUNTED)  # fmt: skip


def _list_session_votes(
    world: World, failover: Failover, servers: Mapping[str, ServerDisplay]
) -> Iterator[StageVote]:
    copy = world.copies.get((failover.to_server, failover.database))
    if copy is None or copy.mirroring.witness is None:
        return
    sees_old = quorum.is_connected_to_partner(world, copy)
    witness_sees_old = quorum.is_connected_from_witness(world, copy, failover.from_server)
    yield StageVote(copy.mirroring.partner or failover.from_server, _get_color(servers, failover.from_server, 0),
               VOTE_CAST if sees_old or witness_sees_old else VOTE_LOST)  # fmt: skip
    yield StageVote(copy.server, _get_color(servers, copy.server, 1), VOTE_CAST)
    yield StageVote(copy.mirroring.witness, _get_color(servers, copy.mirroring.witness, 2),
               VOTE_CAST if quorum.is_connected_to_witness(world, copy) else VOTE_LOST)  # fmt: skip


def _get_color(servers: Mapping[str, ServerDisplay], name: str, default: int) -> int:
    return servers[name].color if name in servers else default


# --- wires and queue ----------------------------------------------------------------------------------------

_WIRES: Final[Mapping[str, tuple[tuple[str, str, str], ...]]] = {
    MIRRORING: (
        (FROM, WITNESS, ""), (WITNESS, TO, ""), (FROM, TO, mark("log stream")), (CLIENT, FROM, ""), (CLIENT, TO, ""),
    ),
    GROUP: (
        (FROM, WITNESS, ""), (WITNESS, TO, ""), (FROM, TO, ""), (TO, "other1", ""),
    ),
    INSTANCE: ((FROM, DISK, ""), (DISK, TO, ""), (CLIENT, TO, "")),
}  # fmt: skip
"""Technology -> (position, position, label) of each connection that the stage draws."""


def _list_wires(world: World, places: Mapping[str, str], technology: str, owner: str) -> Iterator[StageWire]:
    for a, b, label in _WIRES[technology]:
        first_location, second_place = places.get(a, ""), places.get(b, "")
        if DISK in (a, b):
            node = second_place if a == DISK else first_location
            is_powered = node in world.computers and world.computers[node].powered
            yield StageWire((a, b), not is_powered, is_powered and node == owner)
        elif first_location and second_place:
            yield _make_wire(world, (a, b), (first_location, second_place), label, technology)


def _make_wire(
    world: World, ends: tuple[str, str], names: tuple[str, str], label: str, technology: str
) -> StageWire:
    client = world.clients.get(names[0])
    if client is not None:
        server_name = client.connected_to
        target = names[1]
        is_target_server = server_name == target or (
            server_name is not None
            and technology == INSTANCE
            and world.instances[server_name].computer == target
        )
        used = is_target_server and client.lost_since is None
        return StageWire(ends, is_target_server and not used, used)
    has_power = all(world.get_computer(name).powered for name in names)
    if (
        technology == MIRRORING or WITNESS not in ends
    ):  # the connection of a cluster to its witness does not need SQL Server
        has_power = has_power and all(
            world.instances[name].running for name in names if name in world.instances
        )
    passing = (
        has_power
        and network.can_exchange_packets(world, *names)
        and network.can_exchange_packets(world, *reversed(names))
    )
    return StageWire(ends, not passing, passing, tr(label) if label else "")


def find_redo_queue_kb(world: World, failover: Failover) -> float | None:
    """Return the redo queue of the copy that takes over in *failover*; None if the copy has no log stream."""
    copy: DatabaseCopy | None = world.copies.get((failover.to_server, failover.database))
    if copy is None or copy.stream is None:
        return None
    return world.flow.read_stream(copy.stream).redo_queue_kb
