"""CREATE, ALTER and DROP ENDPOINT, the owner of an endpoint, and the permission to connect.

Each function takes the server of the statement and raises SqlError with SQL Server's error number. See facts
1.3 in docs/facts.md.
"""

from typing import Final

from msgspec.structs import replace

from engine.constants import ENDPOINT_RECONNECT_DELAY_S, WITNESS_ONLY_EDITIONS
from engine.messages import Message, SqlError
from engine.model import Endpoint, EndpointState, Handlers, Instance, World
from engine.protocol import errorlog, group_policies, network, security

ADDRESS_NOT_AVAILABLE: Final = 0x2741
"""Windows Sockets error 10049: the address does not belong to this computer. Documented."""


def get_default_algorithms(version: int) -> tuple[str, ...]:
    """Return the encryption algorithms of an endpoint for which none are specified.

    Documented [DOC: CREATE ENDPOINT].
    """
    return ("AES",) if version >= 2016 else ("RC4",)


def create_endpoint(
    world: World,
    server: str,
    name: str,
    *,
    port: int,
    role: str,
    owner: str | None = None,
    state: str | None = None,
    ip: str | None = None,
    authentication: str | None = None,
    certificate: str | None = None,
    encryption: str | None = None,
    algorithms: tuple[str, ...] = (),
    login: str = "sa",
) -> list[Message]:
    """Create an endpoint FOR DATABASE_MIRRORING.

    *login* runs the statement and is the default of *owner*.

    None and () mean that the statement omits an option, so that its default is used: STOPPED, ALL addresses,
    WINDOWS NEGOTIATE, and REQUIRED with the algorithm of the version.
    """
    instance = world.instances[server]
    if instance.endpoint is not None:
        raise SqlError(7862)
    if owner is not None and owner.lower() != "sa" and instance.find_login(owner) is None:
        raise SqlError(15151, "find", "login", owner)
    endpoint = Endpoint(
        name=name,
        port=port,
        ip=ip or "ALL",
        state=EndpointState[(state or "STOPPED").upper()],
        role=role.upper(),
        encryption=(encryption or "REQUIRED").upper(),
        algorithms=tuple(word.upper() for word in algorithms) or get_default_algorithms(instance.version),
        authentication=(authentication or "WINDOWS NEGOTIATE").upper(),
        certificate=certificate,
        owner=owner or login,
    )
    _check_endpoint(world, instance, endpoint)
    _store_endpoint(world, server, endpoint)
    if endpoint.state is EndpointState.STARTED:
        _log_start(world, server)
    network.schedule_detections(world)
    return []


def alter_endpoint(
    world: World,
    server: str,
    name: str,
    *,
    state: str | None = None,
    port: int | None = None,
    ip: str | None = None,
    role: str | None = None,
    authentication: str | None = None,
    certificate: str | None = None,
    encryption: str | None = None,
    algorithms: tuple[str, ...] = (),
) -> list[Message]:
    """Change an endpoint; None or () leaves a setting unchanged.

    Each change except a start closes the endpoint's connections. They are opened again if the settings of
    both endpoints still match.
    """
    before = _require_endpoint(world, server, name, "alter")
    words = {"role": role, "encryption": encryption, "authentication": authentication}
    fields: dict[str, object] = {key: word.upper() for key, word in words.items() if word is not None}
    values = {"port": port, "ip": ip, "certificate": certificate}
    fields |= {key: value for key, value in values.items() if value is not None}
    if algorithms:
        fields["algorithms"] = tuple(word.upper() for word in algorithms)
    if authentication is not None and "CERTIFICATE" not in authentication.upper().split():
        fields["certificate"] = None
    new_endpoint = replace(
        before, **fields, state=before.state if state is None else EndpointState[state.upper()]
    )
    _check_endpoint(world, world.instances[server], new_endpoint)
    _store_endpoint(world, server, new_endpoint)
    if new_endpoint.state is not before.state:
        is_started = new_endpoint.state is EndpointState.STARTED
        if is_started:
            _log_start(world, server)
        elif before.state is EndpointState.STARTED:
            errorlog.write_message(world, server, 9691, security.TRANSPORT_NAME)
    elif fields and new_endpoint.state is EndpointState.STARTED:
        # close the connections and open them again with the new settings
        for (guid, owner, peer), contact in list(world.contacts.items()):
            if owner == server and contact.connected:
                group_policies.on_connection_lost(world, guid, owner, peer, contact.epoch, "closed")
        world.call_after(ENDPOINT_RECONNECT_DELAY_S, "endpoint.redial", server)
    network.schedule_detections(world)
    return []


def drop_endpoint(world: World, server: str, name: str) -> list[Message]:
    """Drop an endpoint. The sessions of the instance remain but are disconnected."""
    before = _require_endpoint(world, server, name, "drop")
    _store_endpoint(world, server, None)
    if before.state is EndpointState.STARTED:
        errorlog.write_message(world, server, 9691, security.TRANSPORT_NAME)
    network.schedule_detections(world)
    return []


def set_endpoint_owner(world: World, server: str, name: str, owner: str) -> list[Message]:
    """Set the owner of an endpoint. This removes the permissions that the old owner granted."""
    before = _require_endpoint(world, server, name, "find")
    if owner.lower() != "sa" and world.instances[server].find_login(owner) is None:
        raise SqlError(15151, "find", "login", owner)
    _store_endpoint(world, server, replace(before, owner=owner, granted=()))
    network.schedule_detections(world)
    return []


def change_connect_permission(
    world: World, server: str, name: str, verb: str, grantees: tuple[str, ...]
) -> list[Message]:
    """Grant, revoke or deny CONNECT on an endpoint.

    Open connections stay open; only later connections are affected.
    """
    before = _require_endpoint(world, server, name, "find")
    instance = world.instances[server]
    logins = []
    for grantee in grantees:
        login = instance.find_login(grantee)
        if login is None and grantee.lower() not in ("public", "sa"):
            raise SqlError(15151, "find", "login", grantee)
        logins.append(login.name if login is not None else grantee.lower())
    kept_logins = tuple(login for login in before.granted if login not in logins)
    granted = (*kept_logins, *logins) if verb.upper() == "GRANT" else kept_logins
    _store_endpoint(world, server, replace(before, granted=granted))
    network.schedule_detections(world)
    return []


# --- helpers ---------------------------------------------------------------------------------------


def _require_endpoint(world: World, server: str, name: str, verb: str) -> Endpoint:
    end = world.instances[server].endpoint
    if end is None or end.name.lower() != name.lower():
        raise SqlError(15151, verb, "endpoint", name)
    return end


def _check_endpoint(world: World, server: Instance, end: Endpoint) -> None:
    if server.edition in WITNESS_ONLY_EDITIONS and end.role != "WITNESS":
        raise SqlError(7878, "CREATE")
    if end.certificate is not None:
        certificate = security.find_certificate(server, end.certificate)
        if certificate is None:
            raise SqlError(15151, "find", "certificate", end.certificate)
        if not certificate.has_private_key:
            raise SqlError(28055, end.certificate)
    if end.state is EndpointState.STARTED and end.port in world.computers[server.computer].used_ports:
        raise SqlError(9692, security.TRANSPORT_NAME, end.port)


def _log_start(world: World, server: str) -> None:
    """Log 9690 for a started endpoint, or 26024 if LISTENER_IP is not an address of this computer."""
    instance = world.instances[server]
    assert instance.endpoint is not None
    if instance.endpoint.ip not in ("ALL", security.LOOPBACK, security.get_own_ip(instance)):
        errorlog.write_message(
            world, server, 26024, instance.endpoint.ip, "ipv4", instance.endpoint.port, ADDRESS_NOT_AVAILABLE
        )
    else:
        errorlog.write_message(world, server, 9690, security.TRANSPORT_NAME)


def _store_endpoint(world: World, server: str, end: Endpoint | None) -> None:
    world.update_instance(server, endpoint=end, refused=())


def reconnect_partners(world: World, server: str) -> None:
    """Reconnect the instance to each partner to which it has lost its connection (timer handler)."""
    for (guid, owner, peer), contact in list(world.contacts.items()):
        waiting = server in (owner, peer) and not contact.connected
        unchanged = world.contacts.get((guid, owner, peer)) == contact
        if waiting and unchanged and network.can_connect(world, guid, owner, peer):
            group_policies.on_connection_made(world, guid, owner, peer, contact.epoch)


HANDLERS: Final[Handlers] = {"endpoint.redial": reconnect_partners}
