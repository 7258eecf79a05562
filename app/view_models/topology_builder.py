"""Builder of the topology's contents: display data for every object of a world. No Qt.

The canvas, the table, tooltips, screen reader texts and tests all use these data.
"""

from collections.abc import Iterator
from typing import Final, Protocol

from msgspec.structs import replace

from app.view_models import group_topology
from app.view_models.topology_contents import (
    REDO_QUEUE,
    SEND_QUEUE,
    ClientDisplay,
    CopyDisplay,
    LinkDisplay,
    QueueDisplay,
    ServerDisplay,
    StatusIndicator,
    TopologyContents,
)
from app.words import formatting
from app.words.language import mark, tr
from engine.drill.running.modes import ModePermissions
from engine.mirroring import quorum
from engine.model import (
    Client,
    Computer,
    DatabaseCopy,
    DbState,
    Instance,
    Link,
    MirrorState,
    Role,
    Safety,
    Service,
    WitnessState,
    World,
)
from engine.protocol import clients, group_policies, network, serving

FULL_COPIES_MAX: Final = 2
"""Maximum number of databases that a server card shows in full.

If there are more, the card shows a grid of cells. Assumed: fits on a screen of 1366x768.
"""


class HasWorld(Protocol):
    """Interface of objects with a world, such as a drill."""

    @property
    def world(self) -> World:
        """Return the current world."""


class HasPermissions(HasWorld, Protocol):
    """Interface of objects with a world and the permissions of a mode, such as a drill."""

    @property
    def permissions(self) -> ModePermissions:
        """Return the permissions of the mode."""


def build_topology_contents(world: World, open_database: str = "") -> TopologyContents:
    """Return the display data of all objects in *world*.

    Copies of *open_database* are always shown in full.
    """
    return TopologyContents(
        servers=tuple(build_server_displays(world, open_database)),
        clients=tuple(build_client_displays(world)),
        links=tuple(_list_link_displays(world)),
    )


def build_server_displays(world: World, open_database: str = "") -> Iterator[ServerDisplay]:
    """Yield the display data of all instances, then of computers without an instance."""
    for index, server in enumerate(world.instances.values()):
        yield _build_server_display(world, server, index, open_database)
    yield from group_topology.list_computer_displays(world)


def build_client_displays(world: World) -> Iterator[ClientDisplay]:
    """Yield the display data of all clients."""
    return (_build_client_display(world, client) for client in world.clients.values())


def list_copy_displays(world: World, truth: bool = True) -> list[CopyDisplay]:
    """Return the display data of all copies, including those in grids.

    If *truth* is False, their states are hidden.
    """
    displays = [_build_copy_display(world, copy) for copy in world.copies.values()]
    return displays if truth else [_hide_copy_state(display) for display in displays]


def hide_unknown_facts(contents: TopologyContents) -> TopologyContents:
    """Return *contents* as an exam shows them: only facts that are visible without a query.

    These are names, the power state, and errors that users report.
    """
    return TopologyContents(
        servers=tuple(
            replace(
                display,
                status=display.status if display.status in POWERLESS_INDICATORS else _POWER_ON_INDICATOR,
                copies=tuple(_hide_copy_state(copy) for copy in display.copies),
                grid=tuple((database, _NOT_QUERIED_INDICATOR) for database, _ in display.grid),
                witness_indicators=(),
                faults=(),
                listeners=(),
            )
            for display in contents.servers
        ),
        clients=tuple(
            replace(
                face,
                status=_USERS_WORK_INDICATOR if face.status.color_name == "ok" else _USERS_COMPLAIN_INDICATOR,
                rate="",
                short_rate="",
            )
            for face in contents.clients
        ),
        links=tuple(
            replace(
                face, status=_NOT_QUERIED_INDICATOR, notes=(), measured=tr("unknown: query the servers"), active=False,
                log_kb_per_s=0.0, has_synchronous_commit=False, has_pings=False,
            )
            for face in contents.links
        ),
    )  # fmt: skip


def _hide_copy_state(copy: CopyDisplay) -> CopyDisplay:
    return CopyDisplay(
        copy.server, copy.database, _QUERY_INDICATOR, None, _NOT_QUERIED_INDICATOR, None, (), None
    )


# --- servers ------------------------------------------------------------------------------------------------

RUNNING_INDICATOR: Final = StatusIndicator(mark("running"), "ok", "dot")
_SERVICE_INDICATORS: Final = {
    Service.RUNNING: RUNNING_INDICATOR,
    Service.STARTING: StatusIndicator(mark("starting"), "warn", "hourglass"),
    Service.STOPPING: StatusIndicator(mark("stopping"), "warn", "hourglass"),
    Service.STOPPED: StatusIndicator(mark("service stopped"), "bad", "bar"),
}
POWER_OFF_INDICATOR: Final = StatusIndicator(mark("power off"), "bad", "cross")
NODE_DOWN_INDICATOR: Final = StatusIndicator(mark("node is down"), "bad", "cross")
"""Status of a failover cluster instance whose node is powered off."""
POWERLESS_INDICATORS: Final = (POWER_OFF_INDICATOR, NODE_DOWN_INDICATOR)
"""Indicators of servers without power."""
HUNG_INDICATOR: Final = StatusIndicator(mark("does not respond"), "bad", "hourglass")
_POWER_ON_INDICATOR: Final = StatusIndicator(mark("power on"), "idle", "dot")
_QUERY_INDICATOR: Final = StatusIndicator(mark("unknown: query the server"), "idle", "single")
_NOT_QUERIED_INDICATOR: Final = StatusIndicator(mark("not queried"), "idle", "ring")
_USERS_WORK_INDICATOR: Final = StatusIndicator(mark("users can work"), "ok", "dot")
_USERS_COMPLAIN_INDICATOR: Final = StatusIndicator(mark("users complain"), "bad", "warning")
BOOTING_INDICATOR: Final = StatusIndicator(mark("booting"), "warn", "hourglass")


def get_status_indicator(world: World, server: Instance) -> StatusIndicator:
    """Return one indicator for power, service and responsiveness."""
    if not world.computers[server.computer].powered:
        return NODE_DOWN_INDICATOR if server.clustered else POWER_OFF_INDICATOR
    if server.hung:
        return HUNG_INDICATOR
    if server.service is Service.STOPPED and _has_boot_timer(world, server.name):
        return BOOTING_INDICATOR
    return _SERVICE_INDICATORS[server.service]


def _has_boot_timer(world: World, name: str) -> bool:
    return any(handler == "service.start" and args[0] == name for _, _, handler, args in world.timers)


def _build_server_display(world: World, server: Instance, index: int, open_database: str) -> ServerDisplay:
    copies = [copy for copy in world.copies.values() if copy.server == server.name]
    duties = [
        StatusIndicator(
            (tr("sees {server}") if sees_partner else tr("does not see {server}")).format(server=partner),
            "ok" if sees_partner else "bad",
            "check" if sees_partner else "cross",
            partner,
        )
        for partner, sees_partner in _list_witness_views(world, server)
    ]
    shows_all = len(copies) <= FULL_COPIES_MAX
    return ServerDisplay(
        name=server.name,
        kind=group_topology.get_server_kind(world, server) or ("witness" if not copies else "partner"),
        color=index,
        status=get_status_indicator(world, server),
        version=server.version,
        copies=tuple(
            _build_copy_display(world, copy) for copy in copies if shows_all or copy.database == open_database
        ),
        grid=() if shows_all else tuple((copy.database, _get_cell_indicator(world, copy)) for copy in copies),
        witness_indicators=tuple(duties),
        faults=(
            *group_topology.list_host_node_notes(world, server),
            *_list_faults(world.computers[server.computer]),
        ),
        host_node=group_topology.format_host_node(world, server),
        listeners=tuple(group_topology.list_listener_indicators(world, server)),
    )


def _list_witness_views(world: World, server: Instance) -> list[tuple[str, bool]]:
    """Return (partner, connected) for each partner of the sessions in which *server* is the witness."""
    if not server.answering:
        return []
    seen_partners: dict[str, bool] = {}
    for (witness, guid), record in sorted(world.witnesses.items()):
        if witness == server.name:
            for partner in sorted((record.principal, record.mirror)):
                sees_partner = quorum.get_contact(world, guid, witness, partner).connected
                seen_partners[partner] = seen_partners.get(partner, True) and sees_partner
    return list(seen_partners.items())


def _list_faults(computer: Computer) -> Iterator[str]:
    if not computer.nic_up:
        yield tr("network cables unplugged")
    for name, factor in (
        (tr("log disk"), computer.log_disk_factor),
        (tr("data disk"), computer.data_disk_factor),
        (tr("processors"), computer.cpu_factor),
    ):
        if factor > 1.0:
            yield tr("{what} {factor}× slower").format(
                what=name, factor=formatting.format_significant(factor)
            )
    for port in computer.blocked_ports:
        yield tr("firewall blocks port {port}").format(port=port)


# --- copies -------------------------------------------------------------------------------------------------

_ROLE_INDICATORS: Final = {
    Role.PRINCIPAL: StatusIndicator("PRINCIPAL", "info", "principal"),
    Role.MIRROR: StatusIndicator("MIRROR", "info", "mirror"),
    None: StatusIndicator(mark("no mirroring"), "idle", "single"),
}
_STATE_INDICATORS: Final = {
    MirrorState.SYNCHRONIZED: StatusIndicator("SYNCHRONIZED", "ok", "check"),
    MirrorState.SYNCHRONIZING: StatusIndicator("SYNCHRONIZING", "info", "cycle"),
    MirrorState.SUSPENDED: StatusIndicator("SUSPENDED", "warn", "pause"),
    MirrorState.DISCONNECTED: StatusIndicator("DISCONNECTED", "bad", "cross"),
    MirrorState.PENDING_FAILOVER: StatusIndicator("PENDING FAILOVER", "warn", "swap"),
}
_DATABASE_STATE_INDICATORS: Final = {
    DbState.ONLINE: StatusIndicator("ONLINE", "ok", "dot"),
    DbState.RESTORING: StatusIndicator("RESTORING", "idle", "ring"),
    DbState.RECOVERING: StatusIndicator("IN RECOVERY", "warn", "hourglass"),
    DbState.RECOVERY_PENDING: StatusIndicator("RECOVERY PENDING", "bad", "warning"),
    DbState.SUSPECT: StatusIndicator("SUSPECT", "bad", "warning"),
    DbState.EMERGENCY: StatusIndicator("EMERGENCY", "bad", "warning"),
    DbState.OFFLINE: StatusIndicator("OFFLINE", "idle", "bar"),
}
_NO_INSTANCE_INDICATOR: Final = StatusIndicator(mark("instance is down"), "idle", "bar")


def _build_copy_display(world: World, copy: DatabaseCopy) -> CopyDisplay:
    role = group_topology.get_role_indicator(copy) or _ROLE_INDICATORS[copy.mirroring.role]
    if role is _ROLE_INDICATORS[None] and not group_topology.uses_mirroring(world):
        role = replace(role, text="")  # no running instance reports the role
    running = world.instances[copy.server].running
    if not running:
        if copy.availability.guid is not None and copy.mirroring.role is None:
            role = replace(role, text="")  # no running instance can be asked for the role
        indicator = StatusIndicator(
            tr("was {role}").format(role=role.label) if copy.mirroring.role else role.label,
            "idle",
            role.shape,
        )
        return CopyDisplay(
            copy.server, copy.database, indicator, None, _NO_INSTANCE_INDICATOR, None, (), None
        )
    return CopyDisplay(
        server=copy.server,
        database=copy.database,
        role=role,
        state=_get_state_indicator(world, copy),
        db_state=_DATABASE_STATE_INDICATORS[copy.db_state],
        safety=copy.mirroring.safety.name
        if copy.mirroring.guid is not None and copy.mirroring.safety is not Safety.UNKNOWN
        else None,
        indicators=tuple(_list_copy_indicators(world, copy)),
        queue=_build_queue_display(world, copy),
    )


def _get_state_indicator(world: World, copy: DatabaseCopy) -> StatusIndicator | None:
    """Return the state of the copy in its mirroring session or availability group; None if it is in neither."""
    return (
        _STATE_INDICATORS[copy.mirroring.state]
        if copy.mirroring.state is not None
        else group_topology.get_state_indicator(world, copy)
    )


def _get_cell_indicator(world: World, copy: DatabaseCopy) -> StatusIndicator:
    """Return the one indicator that represents a copy in a grid of cells."""
    if not world.instances[copy.server].running:
        return _NO_INSTANCE_INDICATOR
    return _get_state_indicator(world, copy) or _DATABASE_STATE_INDICATORS[copy.db_state]


def _list_copy_indicators(world: World, copy: DatabaseCopy) -> Iterator[StatusIndicator]:
    # a copy that was restored but not joined to a session or group
    is_unjoined = copy.group is None and copy.db_state is DbState.RESTORING
    if copy.stream is None and copy.mirroring.role is not Role.MIRROR and not is_unjoined:
        yield _build_service_indicator(world, copy)
    yield from group_topology.list_secondary_indicators(world, copy)
    if copy.mirroring.guid is not None and copy.mirroring.witness is not None:
        agreed = quorum.has_quorum(world, copy)
        yield StatusIndicator(
            mark("quorum") if agreed else mark("no quorum"),
            "ok" if agreed else "bad",
            "check" if agreed else "cross",
        )
        sees_witness = copy.mirroring.witness_state is WitnessState.CONNECTED
        yield StatusIndicator(
            mark("witness") if sees_witness else mark("no witness"),
            "ok" if sees_witness else "warn",
            "check" if sees_witness else "cross",
        )


def _build_service_indicator(world: World, copy: DatabaseCopy) -> StatusIndicator:
    if copy.log_full:
        return StatusIndicator(mark("log full"), "bad", "warning")
    if not serving.is_serving(world, copy.key):
        return StatusIndicator(mark("down"), "bad", "bar")
    if copy.group_kind and not group_policies.get_policy(copy).has_synchronized_copy(copy):
        return StatusIndicator(mark("unprotected"), "warn", "warning")
    if copy.mirroring.role is Role.PRINCIPAL and copy.mirroring.safety is Safety.OFF:
        queue = _build_queue_display(world, copy)
        queue_text = formatting.format_kb(round(queue.kb)) if queue is not None and queue.kb >= 1.0 else ""
        words = (
            tr("asynchronous, {size} not sent").format(size=queue_text)
            if queue_text
            else mark("asynchronous")
        )
        return StatusIndicator(words, "warn", "warning")
    return StatusIndicator(mark("in service"), "ok", "dot")


def _build_queue_display(world: World, copy: DatabaseCopy) -> QueueDisplay | None:
    flow = world.flow
    if copy.source is not None and (copy.mirroring.role is Role.PRINCIPAL or copy.availability.peers):
        queues = [flow.read_stream(stream).send_queue_kb for stream in flow.list_source_streams(copy.source)]
        return QueueDisplay(SEND_QUEUE, max(queues, default=0.0))
    if copy.stream is not None:
        return QueueDisplay(REDO_QUEUE, flow.read_stream(copy.stream).redo_queue_kb)
    return None


# --- clients ------------------------------------------------------------------------------------------------


def _build_client_display(world: World, client: Client) -> ClientDisplay:
    if client.connected_to is None:
        looking = any(h == "client.try" and args[0] == client.name for _, _, h, args in world.timers)
        status = (
            StatusIndicator(mark("looking for a server"), "warn", "hourglass")
            if looking
            else StatusIndicator(mark("stopped"), "idle", "bar")
        )
        return _add_rate(client, status, 0.0)
    copies = [world.copies.get((client.connected_to, database)) for database in client.databases]
    sources = [copy.source for copy in copies if copy is not None and copy.source is not None]
    rate = (
        0.0
        if client.read_only
        else sum(world.flow.read_source(source).transactions_per_s for source in sources)
    )
    is_disconnected = client.lost_since is not None
    status = (
        StatusIndicator(tr("lost {server}").format(server=client.connected_to), "bad", "cross")
        if is_disconnected
        else StatusIndicator(tr("on {server}").format(server=client.connected_to), "ok", "dot")
    )
    return _add_rate(client, status, 0.0 if is_disconnected else rate)


def _add_rate(client: Client, status: StatusIndicator, rate: float) -> ClientDisplay:
    number = formatting.format_number(rate)
    text, short = tr("{rate} transactions/s"), tr("{rate}/s")
    return ClientDisplay(client.name, status, text.format(rate=number), short.format(rate=number))


# --- links --------------------------------------------------------------------------------------------------


def _list_link_displays(world: World) -> Iterator[LinkDisplay]:
    drawn_links: set[tuple[str, str]] = set()
    believed: dict[tuple[str, str], list[bool]] = {}
    for (_, server, peer), contact in world.contacts.items():
        believed.setdefault(_sort_ends(server, peer), []).append(contact.connected)
    pairs = (
        *_list_session_pairs(world),
        *group_topology.list_linked_pairs(world),
        *_list_client_pairs(world),
        *_list_changed_pairs(world),
    )
    for a, b, kind in pairs:
        ends = _sort_ends(a, b)
        if ends not in drawn_links:
            drawn_links.add(ends)
            yield _build_link_display(world, a, b, kind, believed.get(ends, []))


def _sort_ends(a: str, b: str) -> tuple[str, str]:
    """Return the ends of a link in alphabetical order, as a key that does not depend on the direction."""
    return (a, b) if a < b else (b, a)


def _list_session_pairs(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield (server, server, kind) for each mirroring session.

    Pairs of partners come before pairs with a witness, because a link gets the kind of its first pair.
    """
    partners: dict[tuple[str, str], int] = {}
    witnesses: dict[tuple[str, str], int] = {}
    for copy in world.copies.values():
        if copy.mirroring.guid is None:
            continue
        for peer, pairs in ((copy.mirroring.partner, partners), (copy.mirroring.witness, witnesses)):
            if peer in world.instances and pairs.get((copy.server, str(peer))) != SERVING_RANK:
                server_pair = (copy.server, str(peer))
                pairs[server_pair] = min(
                    _get_precedence(world, copy), pairs.get(server_pair, NOT_PRINCIPAL_RANK)
                )
    for kind, pairs in (("mirroring", partners), ("witness", witnesses)):
        for a, b in sorted(pairs, key=pairs.__getitem__):
            yield a, b, kind


SERVING_RANK, PRINCIPAL_RANK, NOT_PRINCIPAL_RANK = range(3)
"""Ranks of the ends of a session: open principal, other principal, not a principal. The lowest rank is first."""


def _get_precedence(world: World, copy: DatabaseCopy) -> int:
    if copy.mirroring.role is not Role.PRINCIPAL:
        return NOT_PRINCIPAL_RANK
    return SERVING_RANK if serving.is_serving(world, copy.key) else PRINCIPAL_RANK


def _list_client_pairs(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield (client, server, "client") for each server that a client uses or knows."""
    for client in world.clients.values():
        target_server = (
            client.connected_to or clients.resolve_client_login(world, client, client.data_source)[0]
        )
        source_server = client.data_source if client.data_source in world.instances else target_server
        for server in (source_server, target_server, client.failover_partner, client.known_partner):
            if server in world.instances:
                yield client.name, str(server), "client"


def _list_changed_pairs(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield (end, end, kind) of each link whose properties the user has changed.

    Links that no session uses are included.
    """
    for a, b in sorted(world.links):
        if world.links[a, b] != Link() or world.links.get((b, a), Link()) != Link():
            yield a, b, "client" if a in world.clients or b in world.clients else "witness"


LOG_LINK_KINDS: Final = ("mirroring", "replica")
"""Kinds of links that carry log."""


def _build_link_display(
    world: World, a: str, b: str, kind: str, beliefs_connected: list[bool]
) -> LinkDisplay:
    """Return the display data of a link.

    *beliefs_connected*: for each end of each session, True if this end considers the other one connected.
    """
    status = _get_link_status(world, a, b)
    passing = status.color_name != "bad"
    log_kb_per_s = _get_log_rate_kb_per_s(world, a, b) if kind in LOG_LINK_KINDS and passing else 0.0
    if kind == "client":
        active = world.clients[a].connected_to == b if a in world.clients else False
    else:
        active = any(beliefs_connected)
        if passing and beliefs_connected and not all(beliefs_connected):
            status = StatusIndicator(mark("not connected"), "warn", "ring")
        elif not passing and active:
            status = StatusIndicator(
                tr("{state}, not detected yet").format(state=status.label), status.color_name, status.shape
            )
    return LinkDisplay(
        a=a,
        b=b,
        kind=kind,
        status=status,
        notes=tuple(_list_link_notes(world, a, b, kind, passing and active, log_kb_per_s)),
        measured=_format_link_properties(network.get_link(world, a, b)) if passing else tr("no traffic"),
        active=active,
        log_kb_per_s=log_kb_per_s,
        has_synchronous_commit=log_kb_per_s > 0.0
        and (_get_safety(world, a, b) is Safety.FULL or group_topology.is_synchronous(world, a, b)),
        has_pings=kind != "client" and passing and all(beliefs_connected) and bool(beliefs_connected),
    )


def _get_link_status(world: World, a: str, b: str) -> StatusIndicator:
    link, reverse_link = network.get_link(world, a, b), network.get_link(world, b, a)
    for end in (a, b):
        is_shown_end = end in world.instances or end in world.computers
        if is_shown_end and not world.get_computer(end).powered:
            return StatusIndicator(mark("power off"), "bad", "cross")
        if not network.has_cables(world, end):
            return StatusIndicator(mark("cable pulled"), "bad", "cross")
    if not (link.up and reverse_link.up):
        return StatusIndicator(mark("cut"), "bad", "cross")
    if not link.passing and not reverse_link.passing:
        return StatusIndicator(mark("drops all packets"), "bad", "ring")
    if not link.passing or not reverse_link.passing:
        return StatusIndicator(
            tr("no packets in direction {way}").format(
                way=f"{a} → {b}" if reverse_link.passing else f"{b} → {a}"
            ),
            "bad",
            "bar",
        )
    if any(_list_degraded_flags(world, a, b)):
        return StatusIndicator(mark("degraded"), "warn", "warning")
    return StatusIndicator(mark("ok"), "ok", "check")


def _list_degraded_flags(world: World, a: str, b: str) -> Iterator[bool]:
    for fault in world.faults:
        if fault.verb == "degrade" and fault.reverted_tick is None:
            yield {a, b} == set(fault.args[:2])


def _list_link_notes(
    world: World, a: str, b: str, kind: str, active: bool, log_kb_per_s: float
) -> Iterator[str]:
    if kind == "mirroring" and active:
        yield tr("safety {safety}").format(safety=_get_safety(world, a, b).name)
    if kind == "replica" and active:
        yield tr("synchronous") if group_topology.is_synchronous(world, a, b) else tr("asynchronous")
    measured = _format_link_properties(network.get_link(world, a, b))
    if kind in LOG_LINK_KINDS and active:
        yield f"{measured} · " + tr("log {rate}").format(rate=formatting.format_kb_per_s(round(log_kb_per_s)))
    elif active and any(_list_degraded_flags(world, a, b)):
        yield measured


def _format_link_properties(link: Link) -> str:
    parts = [f"{formatting.format_significant(link.rtt_ms, 2)} ms"]
    if link.bandwidth_mbps != Link().bandwidth_mbps:
        parts.append(f"{formatting.format_significant(link.bandwidth_mbps)} Mbit/s")
    if link.loss:
        parts.append(tr("{share} lost").format(share=formatting.format_percent(link.loss, 1)))
    return " · ".join(parts)


def _get_log_rate_kb_per_s(world: World, a: str, b: str) -> float:
    return sum(
        world.flow.read_stream(stream).log_send_kb_per_s
        for stream, receiver in world.streams.items()
        if receiver is not None
        and receiver[0] == b
        and world.sources[world.flow.get_stream_source(stream)][0] == a
    )


def _get_safety(world: World, a: str, b: str) -> Safety:
    return next(
        (c.mirroring.safety for c in world.copies.values() if c.server == a and c.mirroring.partner == b),
        Safety.UNKNOWN,
    )
