"""Connections between instances: reachability, detection of a loss, and reconnection.

Single pings are not simulated, because they change nothing while the network does not change. After a
physical change, `schedule_detections` computes what each end of each connection will detect, and when.
"""

from typing import Final, Literal

from msgspec.structs import replace

from engine.constants import (
    HARD_ERROR_DETECTION_RANGE_S,
    PING_DELAY_PER_DATABASE_S,
    PING_DELAY_PER_SLOWDOWN_S,
    PING_INTERVAL_S,
    RECONNECT_RANGE_S,
    RUN_TIME_MAX_S,
    SESSION_CLOSE_DELAY_S,
)
from engine.model import Contact, Link, Service, World, to_ticks
from engine.protocol import group_policies, packet_loss, security
from engine.random_streams import RandomStream

PeerSignal = Literal["ok", "hard", "closed", "silent", "lossy"]
"""Kind of signals that one end of a connection receives from the other.

ok: normal traffic. hard: the network stack reports an error. closed: the other end has closed the connection.
silent: no packets arrive. lossy: so many packets are lost that pings can be late.
"""

_HEALTHY: Final = Link()


def get_link(world: World, a: str, b: str) -> Link:
    """Return the link from *a* to *b*, which are clients or instances. A link connects their computers."""
    return world.links.get((_get_link_end(world, a), _get_link_end(world, b)), _HEALTHY)


def _get_link_end(world: World, name: str) -> str:
    instance = world.instances.get(name)
    return name if instance is None else instance.computer


def has_cables(world: World, name: str) -> bool:
    """Return whether the cables of a server are plugged in. The cables of a client always are."""
    return _is_plugged_in(world, _get_link_end(world, name))


def _is_plugged_in(world: World, end: str) -> bool:
    computer = world.computers.get(end)
    return computer is None or computer.nic_up


def get_packet_losses(world: World, a: str, b: str) -> tuple[float, float]:
    """Return the shares of packets that are lost from *a* to *b* and back."""
    return get_link(world, a, b).loss, get_link(world, b, a).loss


def forget_lossy_timers(world: World, a: str, b: str) -> None:
    """Forget the random times of timeouts on the link between two computers.

    Callers do this when the packet loss of the link changes.
    """
    for key, contact in list(world.contacts.items()):
        if contact.pending in ("lossy", "retry") and {_get_link_end(world, name) for name in key[1:]} == {
            a,
            b,
        }:
            world.contacts[key] = replace(contact, pending="", epoch=contact.epoch + 1)
    for name, cluster in list(world.clusters.items()):
        silent = tuple(
            (pair, tick) for pair, tick in cluster.silent if tick <= world.tick or set(pair) != {a, b}
        )
        if silent != cluster.silent:
            world.clusters[name] = replace(cluster, silent=silent)


def can_exchange_packets(world: World, a: str, b: str) -> bool:
    """Return whether packets pass in both directions between *a* and *b*, as TCP requires."""
    links = _find_links(world, a, b)
    return links is not None and all(map(_delivers_packets, links))


def _delivers_packets(link: Link) -> bool:
    return link.passing and link.loss < packet_loss.SILENT_LOSS_MIN


def _find_links(world: World, a: str, b: str) -> tuple[Link, Link] | None:
    """Return the links from *a* to *b* and back; None if an end is unplugged or a link is down."""
    first_end, second_end = _get_link_end(world, a), _get_link_end(world, b)
    if not (_is_plugged_in(world, first_end) and _is_plugged_in(world, second_end)):
        return None
    outgoing, returning = (
        world.links.get((first_end, second_end), _HEALTHY),
        world.links.get((second_end, first_end), _HEALTHY),
    )
    return (outgoing, returning) if outgoing.up and returning.up else None


class NetworkPath:
    """Cached state of the network between two instances at one time, for all sessions between them."""

    __slots__ = ("_ends", "_listen", "_refusals", "carrier", "losses", "passing", "slow")

    def __init__(self, world: World, a: str, b: str) -> None:
        links = _find_links(world, a, b)
        self.losses: dict[tuple[str, str], float] = {}
        if links is not None and max(links[0].loss, links[1].loss) >= packet_loss.LOSS_MIN:
            self.losses = {(a, b): links[0].loss, (b, a): links[1].loss}
        self.carrier = links is not None
        self.passing = links is not None and all(map(_delivers_packets, links))
        self.slow = world.get_computer_of(a).cpu_factor > 1.0 or world.get_computer_of(b).cpu_factor > 1.0
        self._ends = a, b
        self._listen: bool | None = None
        self._refusals: dict[str, security.ConnectionRefusal | None] = {}

    def has_listeners(self, world: World) -> bool:
        """Return whether both endpoints listen and one can reach the other's port."""
        if self._listen is None:
            self._listen = security.has_open_port(world, *self._ends)
        return self._listen

    def find_refusal(self, world: World, caller: str, acceptor: str) -> security.ConnectionRefusal | None:
        """Return the reason why *acceptor* refuses a connection of *caller*, or None."""
        if caller not in self._refusals:
            self._refusals[caller] = security.find_handshake_refusal(world, caller, acceptor)
        return self._refusals[caller]


def detect_peer_signal(world: World, guid: int, server: str, peer: str, path: NetworkPath) -> PeerSignal:
    """Return the signals that *server* currently receives from *peer* in session *guid*."""
    instance = world.instances[peer]
    if not path.carrier or not world.computers[instance.computer].powered:
        return "hard"
    if not path.passing:
        return "silent"
    if instance.service is Service.STOPPING and _is_data_available_on_both(world, guid, server, peer):
        return "closed"  # a stopping instance closes its databases immediately, but still responds to the witness
    if instance.service not in (Service.RUNNING, Service.STOPPING):
        return "closed"
    if not path.has_listeners(world) or _has_failed_disk(world, guid, peer):
        return "closed"
    if instance.hung:
        return "silent"
    if path.slow and is_overloaded(world, guid, server, peer):
        return "silent"
    other_contact = world.contacts.get((guid, peer, server))
    if other_contact is None or not other_contact.connected:
        return "closed"
    return "lossy" if path.losses else "ok"


def can_connect(world: World, guid: int, server: str, peer: str, path: NetworkPath | None = None) -> bool:
    """Return whether a new connection between *server* and *peer* would succeed now."""
    if not (world.instances[server].answering and world.instances[peer].answering):
        return False
    path = path or NetworkPath(world, server, peer)
    if not path.passing or path.find_refusal(world, server, peer) is not None:
        return False
    policy = group_policies.get_group_policy(world, guid)
    return (
        not (path.slow and is_overloaded(world, guid, server, peer))
        and all(
            security.has_endpoint_role(world.instances[name], policy.is_without_data(world, guid, name))
            for name in (server, peer)
        )
        and security.is_address_of(world, policy.get_address(world, guid, server, peer), peer)
        and not _has_failed_disk(world, guid, server)
        and not _has_failed_disk(world, guid, peer)
    )


def is_overloaded(world: World, guid: int, server: str, peer: str) -> bool:
    """Return whether a busy processor delays the pings between the two instances beyond the timeout.

    A server must send and receive a ping within the timeout. At the same load, more databases mean longer
    delays. See facts 5 in docs/facts.md [MANY].
    """
    for name in (server, peer):
        slower = world.get_computer_of(name).cpu_factor - 1.0
        sessions = {number for number, me, _ in world.contacts if me == name} if slower > 0.0 else set()
        delay_s = slower * (PING_DELAY_PER_SLOWDOWN_S + PING_DELAY_PER_DATABASE_S * len(sessions))
        if slower > 0.0 and delay_s >= get_timeout_s(world, guid, server, peer):
            return True
    return False


def _has_failed_disk(world: World, guid: int, server: str) -> bool:
    copy = world.find_copy_in_session(guid, server)
    return copy is not None and copy.disk_failed


def _is_data_available_on_both(world: World, guid: int, own_server: str, peer: str) -> bool:
    policy = group_policies.get_group_policy(world, guid)
    return not any(policy.is_without_data(world, guid, server) for server in (own_server, peer))


def open_contact(world: World, guid: int, a: str, b: str, connected: bool = True) -> None:
    """Open both ends of a connection between two instances for session *guid*.

    With *connected* False, store two disconnected ends.
    """
    for server, peer in ((a, b), (b, a)):
        old_contact = world.contacts.get((guid, server, peer))
        epoch = old_contact.epoch + 1 if old_contact else 0
        contact = replace(
            old_contact or Contact(), connected=connected, pending="", epoch=epoch, since_tick=world.tick
        )
        world.store_contact((guid, server, peer), contact)
    if connected:
        security.forget_refusals(world, a, b)


def close_lost_connection(world: World, guid: int, server: str, peer: str, epoch: int) -> bool:
    """Close *server*'s end of its lost connection to *peer*.

    Return False if *server* does not respond or has no connection, or if the connection has changed since
    *epoch*.
    """
    contact = world.contacts.get((guid, server, peer))
    if contact is None or contact.epoch != epoch or not contact.connected:
        return False
    if not world.instances[server].answering:
        return False
    world.contacts[guid, server, peer] = replace(
        contact, connected=False, pending="", epoch=epoch + 1, since_tick=world.tick
    )
    return True


def is_silent(world: World, guid: int, server: str, peer: str) -> bool:
    """Return whether *server* has a connection to *peer* over which it receives nothing.

    The server still considers it connected: it notices the loss after the session timeout.
    """
    contact = world.contacts.get((guid, server, peer))
    if contact is None or not contact.connected:
        return False
    other_contact = world.contacts.get((guid, peer, server))
    is_open = other_contact is not None and other_contact.connected
    return not (is_open and world.instances[peer].answering and can_exchange_packets(world, server, peer))


def remove_contacts(world: World, guid: int, server: str) -> None:
    """Remove all connections of *server* for session *guid*.

    The other servers then detect closed connections.
    """
    for key, _ in world.list_contacts(guid):
        if key[1] == server:
            world.remove_contact(key)


def close_server_connections(world: World, server: str) -> None:
    """Close all connections of an instance that was stopped or restarted."""
    for guid in sorted(world.contact_keys):
        close_session_connections(world, guid, server)


def close_session_connections(world: World, guid: int, server: str) -> None:
    """Close *server*'s ends of its connections for session *guid* immediately, without a delay for detection."""
    for key, contact in world.list_contacts(guid):
        if key[1] == server and (contact.connected or contact.pending):
            closed_contact = replace(
                contact, connected=False, pending="", epoch=contact.epoch + 1, since_tick=world.tick
            )
            world.contacts[key] = closed_contact


def _log_refusal(
    world: World, guid: int, caller: str, acceptor: str, refusal: security.ConnectionRefusal | None
) -> None:
    """Log the reason why *acceptor* refuses *caller*, or why *caller* calls a wrong address."""
    policy = group_policies.get_group_policy(world, guid)
    address = policy.get_address(world, guid, caller, acceptor)
    if address is not None and not security.is_address_of(world, address, acceptor):
        if not policy.is_without_data(
            world, guid, caller
        ):  # a witness does not call; it waits for a connection
            security.log_dead_address(world, caller, address)
    elif refusal is not None:
        security.log_refusal(world, caller, acceptor, refusal)


def get_timeout_s(world: World, guid: int, server: str, peer: str) -> int:
    """Return the time in seconds after which *server* treats a silent *peer* as lost."""
    return group_policies.get_group_policy(world, guid).get_timeout_s(world, guid, server, peer)


def on_sessions_changed(world: World, guid: int) -> None:
    """Recompute detections after session *guid* was added, removed or given another witness.

    The change also affects the number of pings of other sessions. This matters only for busy processors.
    """
    busy = any(computer.cpu_factor > 1.0 for computer in world.computers.values())
    schedule_detections(world, None if busy else guid)


DETECTION_DELAYS_S: Final = {
    "hard": HARD_ERROR_DETECTION_RANGE_S,
    "silent": (0.0, PING_INTERVAL_S),
    "reconnect": RECONNECT_RANGE_S,
}
"""Kind of detection -> (minimum, maximum) delay of the detection. For a silent peer, the timeout is added."""


def _draw_delays_s(random_stream: RandomStream) -> dict[str, float]:
    """Return kind of detection -> its delay in seconds, drawn from DETECTION_DELAYS_S."""
    drawn_s = {kind: random_stream.draw_uniform(*range_s) for kind, range_s in DETECTION_DELAYS_S.items()}
    return {"closed": SESSION_CLOSE_DELAY_S, **drawn_s}


def schedule_detections(
    world: World, session_guid: int | None = None, resumed_server: str | None = None
) -> None:
    """Schedule the detections at the ends of connections after a change.

    *session_guid*: only connections of this session; None means all sessions. *resumed_server*:
    instance that has just stopped hanging. It detects closed connections immediately.
    """
    chance = world.chance.fork()
    lossy_chance = RandomStream.from_seed(chance.state + world.tick)
    delays_s: dict[str, float] = {}
    world.chance.skip(len(DETECTION_DELAYS_S))
    paths: dict[tuple[str, str], NetworkPath] = {}
    for key, contact in (
        list(world.contacts.items()) if session_guid is None else world.list_contacts(session_guid)
    ):
        guid, server, peer = key
        if not world.instances[server].answering:
            continue
        path_pair = paths.get((server, peer))
        if (
            path_pair is None
        ):  # one path per pair: the ERRORLOG lines that this loop writes do not change the path
            path_pair = paths[server, peer] = paths[peer, server] = NetworkPath(world, server, peer)
        if contact.connected:
            link_state: str = detect_peer_signal(world, guid, server, peer, path_pair)
        else:
            link_state = "reconnect" if can_connect(world, guid, server, peer, path_pair) else "ok"
            if link_state == "ok" and path_pair.passing and world.instances[peer].answering:
                _log_refusal(world, guid, server, peer, path_pair.find_refusal(world, server, peer))
        link_state = "" if link_state == "ok" else link_state
        if link_state == "reconnect" and path_pair.losses:
            link_state = "retry"
        if link_state == contact.pending:
            continue
        contact = world.contacts[key] = replace(contact, pending=link_state, epoch=contact.epoch + 1)
        delays_s = delays_s or _draw_delays_s(chance)
        if link_state == "silent":
            silence_s = get_timeout_s(world, guid, server, peer) + delays_s[link_state]
            world.call_after(silence_s, "contact.lost", *key, contact.epoch, link_state)
        elif link_state == "lossy":
            timeout_s = get_timeout_s(world, guid, server, peer)
            silence_s = packet_loss.draw_silence_s(lossy_chance, path_pair.losses[peer, server], timeout_s)
            if silence_s < RUN_TIME_MAX_S:
                world.call_after(
                    silence_s + delays_s["silent"], "contact.lost", *key, contact.epoch, "silent"
                )
        elif link_state == "retry":
            losses = path_pair.losses[server, peer], path_pair.losses[peer, server]
            delay_s = delays_s["reconnect"] + packet_loss.draw_connect_delay_s(lossy_chance, *losses)
            if delay_s < RUN_TIME_MAX_S:
                world.call_after(delay_s, "contact.made", *key, contact.epoch)
        elif link_state == "reconnect":
            world.call_at(world.tick + to_ticks(delays_s[link_state]), "contact.made", *key, contact.epoch)
        elif link_state:
            delay_s = 0.0 if server == resumed_server else delays_s[link_state]
            world.call_after(delay_s, "contact.lost", *key, contact.epoch, link_state)
    world.mark_all_logs_changed() if session_guid is None else world.mark_session_changed(session_guid)
