"""Authentication between two instances: endpoints, encryption, certificates and the permission to connect.

The caller opens a connection and the acceptor checks it. Either side of a session may call, so one working
direction keeps a session alive. The setup of a session needs both directions.
"""

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine.messages import SqlError
from engine.model import Certificate, Endpoint, EndpointState, Instance, Login, User, World
from engine.protocol import errorlog

ENCRYPTION_COMPATIBILITY: Final = {
    ("DISABLED", "DISABLED"): True,
    ("DISABLED", "SUPPORTED"): True,
    ("DISABLED", "REQUIRED"): False,
    ("SUPPORTED", "SUPPORTED"): True,
    ("SUPPORTED", "REQUIRED"): True,
    ("REQUIRED", "REQUIRED"): True,
}
"""(encryption settings of both endpoints, in either order) -> whether they allow a connection.

Documented [WP; DOC: CREATE ENDPOINT].
"""

TRANSPORT_NAME: Final = "Database Mirroring"
"""Name of the mirroring endpoint's transport in messages (%S_MSG)."""

FIRST_USER_ID: Final = 5
"""principal_id of the first created user in a database; dbo, guest, INFORMATION_SCHEMA and sys have 1 to 4.

Documented.
"""

LOCAL_ACCOUNTS: Final = ("localsystem", "local system", "nt authority\\system", "nt authority\\local service")
"""Service accounts without an identity on the network. They need certificates.

Documented [DOC: set up login accounts].
"""

MACHINE_ACCOUNT_PREFIXES: Final = ("nt authority\\network service", "network service", "nt service\\")
r"""First words of service accounts that appear on the network as the computer's account, DOMAIN\HOST$.

Documented [DOC: set up login accounts].
"""

NO_AUTHENTICATION_TEXT: Final = (
    "Connection handshake failed. There is no compatible authentication protocol. State 21."
)
NO_ALGORITHM_TEXT: Final = (
    "Connection handshake failed. There is no compatible encryption algorithm. State 22."
)
NO_LOGON_TEXT: Final = (
    "Connection handshake failed. An OS call failed: "
    "(8009030c) 0x8009030c(The logon attempt failed). State 67."
)
NO_CONNECT_TEXT: Final = (
    "Connection handshake failed. The login '{}' does not have CONNECT permission on the endpoint. State 84."
)
BAD_PEER_CERTIFICATE_TEXT: Final = (
    "Connection handshake failed. The certificate used by the peer is invalid due to the following reason: {}. "
    "State 89."
)
BAD_OWN_CERTIFICATE_TEXT: Final = (
    "Connection handshake failed. The certificate used by this endpoint was not found: {}. State 85."
)
"""Text of a handshake that fails because the endpoint's own certificate is missing.

The handshake texts of states 21, 67, 85 and 89 are from memory. Those of states 22 and 84 were seen in logs.
"""


class ConnectionRefusal(Struct, frozen=True):
    """Reason for a failed connection. *user* is the user that the refusing side recognized; empty if none."""

    reason: str
    user: str = ""
    reached_server: bool = True
    """False if no server answered. Then no ERRORLOG has an entry."""
    ended_by_caller: bool = False
    """True if the caller ended the attempt. Then the caller's ERRORLOG has the lines."""
    preceding_message: tuple[int, int] | None = None
    """(number, argument) of a message that precedes the refusal in the ERRORLOG."""


# --- listening -------------------------------------------------------------------------------------


LOOPBACK: Final = "127.0.0.1"


def is_listening(server: Instance) -> bool:
    """Return whether TCP/IP is enabled and the instance has a started endpoint with a local address."""
    end = server.endpoint
    if end is None or end.state is not EndpointState.STARTED or not server.tcp_listening:
        return False
    return end.ip == "ALL" or end.ip in (LOOPBACK, get_own_ip(server))


def get_own_ip(server: Instance) -> str:
    """Return the IP address of a server in its network."""
    return f"10.0.0.{server.host + 11}"


def has_open_port(world: World, a: str, b: str) -> bool:
    """Return whether both instances listen and at least one can reach the other's port through firewalls."""
    instance, acceptor_instance = world.instances[a], world.instances[b]
    if not (is_listening(instance) and is_listening(acceptor_instance)):
        return False
    return _is_port_open(world, instance) or _is_port_open(world, acceptor_instance)


def has_reachable_port(world: World, server: str) -> bool:
    """Return whether other computers can connect to the endpoint of *server*."""
    state = world.instances[server]
    return is_listening(state) and _is_port_open(world, state)


def _is_port_open(world: World, server: Instance) -> bool:
    """Return whether no loopback address and no firewall blocks the endpoint's port for other computers."""
    end = server.endpoint
    if end is None or end.ip == LOOPBACK:
        return False
    return end.port not in world.computers[server.computer].blocked_ports


def has_endpoint_role(server: Instance, witness: bool) -> bool:
    """Return whether the endpoint's role permits a witness (or, with *witness* False, a partner)."""
    return server.endpoint is not None and server.endpoint.role in (
        "ALL",
        "WITNESS" if witness else "PARTNER",
    )


# --- handshake -------------------------------------------------------------------------------------


def find_handshake_refusal(world: World, caller: str, acceptor: str) -> ConnectionRefusal | None:
    """Return the reason why *acceptor* refuses a mirroring connection of *caller*, or None if it accepts."""
    a, b = world.instances[caller], world.instances[acceptor]
    if not (is_listening(a) and has_reachable_port(world, acceptor)):
        return ConnectionRefusal("The endpoint is not reachable.", reached_server=False)
    assert a.endpoint is not None and b.endpoint is not None
    methods = _list_common_methods(a.endpoint, b.endpoint)
    if not methods:
        return ConnectionRefusal(NO_AUTHENTICATION_TEXT)
    if not is_encryption_compatible(a.endpoint, b.endpoint):
        return ConnectionRefusal(NO_ALGORITHM_TEXT, user=_find_shown_account(world, a, b, methods))
    refusal = None
    for method in methods:
        check = _find_certificate_refusal if method == "CERTIFICATE" else _find_account_refusal
        refusal = check(world, a, b)
        if refusal is None:
            return None
    return refusal


def _find_shown_account(world: World, a: Instance, b: Instance, methods: list[str]) -> str:
    """Return the Windows account that the caller *a* shows to *b*; empty if *b* does not recognize it.

    The result is also empty unless the first of the authentication *methods* is WINDOWS.
    """
    identity = find_network_identity(world, a) or ""
    is_known = identity.partition("\\")[0].lower() == world.computers[b.computer].domain.lower()
    return identity if methods[0] == "WINDOWS" and is_known else ""


def is_encryption_compatible(a: Endpoint, b: Endpoint) -> bool:
    """Return whether the two encryption settings allow a connection."""
    if not ENCRYPTION_COMPATIBILITY.get(
        (a.encryption, b.encryption), ENCRYPTION_COMPATIBILITY.get((b.encryption, a.encryption))
    ):
        return False
    clear = "DISABLED" in (a.encryption, b.encryption)
    return clear or bool(set(a.algorithms) & set(b.algorithms))


def is_encrypted(world: World, a: str, b: str) -> bool:
    """Return whether a connection between the two servers is encrypted."""
    ends = world.instances[a].endpoint, world.instances[b].endpoint
    return all(end is not None and end.encryption != "DISABLED" for end in ends)


def _list_methods(end: Endpoint) -> list[tuple[str, str]]:
    """Return the endpoint's authentication methods in the order of attempts.

    Each is ("WINDOWS", protocol) or ("CERTIFICATE", "").
    """
    words = end.authentication.upper().split()
    methods: list[tuple[str, str]] = []
    for word in words:
        if word in ("WINDOWS", "CERTIFICATE"):
            methods.append((word, "NEGOTIATE" if word == "WINDOWS" else ""))
        elif word in ("NTLM", "KERBEROS") and methods:
            methods[-1] = (methods[-1][0], word)
    return methods


def _list_common_methods(a: Endpoint, b: Endpoint) -> list[str]:
    theirs = dict(_list_methods(b))
    return [
        name
        for name, protocol in _list_methods(a)
        if name in theirs and (protocol == theirs[name] or "NEGOTIATE" in (protocol, theirs[name]))
    ]


# --- Windows accounts ------------------------------------------------------------------------------


def find_network_identity(world: World, server: Instance) -> str | None:
    """Return the Windows account under which the instance appears on the network; None if it has none."""
    account = server.service_account
    low = account.lower()
    domain, _, _ = account.partition("\\")
    own_domain = world.computers[server.computer].domain
    if not own_domain or low in LOCAL_ACCOUNTS:
        return None
    if low.startswith(MACHINE_ACCOUNT_PREFIXES):
        return f"{own_domain}\\{server.name}$"
    if "\\" not in account or domain in (".", server.name):
        return None
    return account


def _find_account_refusal(world: World, a: Instance, b: Instance) -> ConnectionRefusal | None:
    identity = find_network_identity(world, a)
    if identity is None or identity.partition("\\")[0].lower() != world.computers[b.computer].domain.lower():
        return ConnectionRefusal(NO_LOGON_TEXT)  # the simulated domains have no trust relationships
    if identity.lower() == b.service_account.lower():
        return None
    login = b.find_login(identity)
    if login is None or not can_login_connect(b, login):
        return ConnectionRefusal(NO_CONNECT_TEXT.format(identity), user=identity)
    return None


def can_login_connect(server: Instance, login: Login) -> bool:
    """Return whether the login may connect to the mirroring endpoint of *server*.

    It must own the endpoint or have CONNECT, directly or through public.
    """
    end = server.endpoint
    if end is None or login.disabled:
        return False
    granted = [name.lower() for name in end.granted]
    return login.name.lower() in (end.owner.lower(), *granted) or "public" in granted


# --- certificates ----------------------------------------------------------------------------------


def _find_certificate_refusal(world: World, a: Instance, b: Instance) -> ConnectionRefusal | None:
    """Check the certificates of both sides; return the reason for a refusal, or None.

    Each side must have a copy of the other side's certificate. The owner of this copy must be a login that
    may connect.
    """
    own_certificate, theirs = find_endpoint_certificate(a), find_endpoint_certificate(b)
    if own_certificate is None:
        return ConnectionRefusal(
            BAD_OWN_CERTIFICATE_TEXT.format("Certificate not found"), ended_by_caller=True
        )
    if theirs is None:
        return ConnectionRefusal(BAD_OWN_CERTIFICATE_TEXT.format("Certificate not found"))
    presented = ((theirs, BAD_OWN_CERTIFICATE_TEXT, b), (own_certificate, BAD_PEER_CERTIFICATE_TEXT, a))
    for certificate, form, owner_of in presented:
        number = _find_validity_error(world, certificate)
        if number is not None:
            reason = "Certificate expired" if number == 28025 else "Certificate not yet valid"
            return ConnectionRefusal(
                form.format(reason), preceding_message=(number, get_user_id(owner_of, certificate.owner))
            )
    refusal = _find_peer_certificate_refusal(b, own_certificate)
    if refusal is not None:
        return refusal
    refusal = _find_peer_certificate_refusal(a, theirs)
    return None if refusal is None else replace(refusal, ended_by_caller=True)


def find_endpoint_certificate(server: Instance) -> Certificate | None:
    """Return the certificate that the endpoint uses for authentication."""
    name = server.endpoint.certificate if server.endpoint is not None else None
    return find_certificate(server, name) if name is not None else None


def find_certificate(server: Instance, name: str) -> Certificate | None:
    """Return the certificate named *name* in master, or None. Case does not matter."""
    return next((c for c in server.certificates if c.name.lower() == name.lower()), None)


def _find_validity_error(world: World, certificate: Certificate) -> int | None:
    """Return 28024 if the certificate is not yet valid, 28025 if it has expired, None if it is valid."""
    if world.tick < certificate.valid_from_tick:
        return 28024
    return 28025 if world.tick >= certificate.expires_tick else None


def _find_peer_certificate_refusal(server: Instance, certificate: Certificate) -> ConnectionRefusal | None:
    """Return the reason why *server* rejects the certificate of the other end, or None."""
    held_certificate = next((c for c in server.certificates if c.thumbprint == certificate.thumbprint), None)
    if held_certificate is None:
        return ConnectionRefusal(BAD_PEER_CERTIFICATE_TEXT.format("Certificate not found"))
    if held_certificate.owner == "dbo":
        return None
    user = next(
        (u for u in server.users if u.database == "master" and u.name == held_certificate.owner), None
    )
    login = find_login_of_user(server, user) if user is not None else None
    if login is None or not can_login_connect(server, login):
        name = login.name if login is not None else held_certificate.owner
        return ConnectionRefusal(NO_CONNECT_TEXT.format(name), user=name)
    return None


def get_user_id(server: Instance, name: str) -> int:
    """Return the principal_id of a user of master. Created users are numbered from FIRST_USER_ID; dbo is 1."""
    user_names = [user.name for user in server.users]
    return FIRST_USER_ID + user_names.index(name) if name in user_names else 1


def find_login_of_user(server: Instance, user: User) -> Login | None:
    """Return the login with the SID of the database user, or None."""
    return next((login for login in server.logins if login.sid == user.sid), None)


# --- ERRORLOG --------------------------------------------------------------------------------------


def get_displayed_ip(world: World, server: str) -> str:
    """Return the IP address of a server, as ERRORLOG lines show it."""
    return get_own_ip(world.instances[server])


def log_refusal(
    world: World, caller: str, acceptor: str, refusal: ConnectionRefusal, *, explicit: bool = False
) -> None:
    """Log a refused connection. The same reason is logged only once until a connection succeeds.

    An *explicit* call (SET PARTNER, SET WITNESS) is always logged.
    """
    logging_server, peer_server = (caller, acceptor) if refusal.ended_by_caller else (acceptor, caller)
    refused = world.instances[logging_server].refused
    if not refusal.reached_server or ((peer_server, refusal.reason) in refused and not explicit):
        return
    entries = tuple(entry for entry in refused if entry[0] != peer_server)
    world.update_instance(logging_server, refused=(*entries, (peer_server, refusal.reason)))
    if refusal.preceding_message is not None:
        errorlog.write_message(world, logging_server, *refusal.preceding_message)
    client = get_displayed_ip(world, peer_server)
    if refusal.user:
        errorlog.write_message(
            world,
            logging_server,
            28048,
            TRANSPORT_NAME,
            f"{refusal.user}.",
            refusal.reason,
            f"[CLIENT: {client}]",
        )
    else:
        errorlog.write_message(
            world, logging_server, 28047, TRANSPORT_NAME, refusal.reason, f"[CLIENT: {client}]"
        )
    end = world.instances[acceptor].endpoint
    address = f"TCP://{acceptor}:{end.port}" if end is not None else acceptor
    errorlog.write_message(
        world, caller, 1474, 4, "64(The specified network name is no longer available.)", address
    )
    errorlog.write_message(world, caller, 9642, 8474, 11, "Initiator", address)


def forget_refusals(world: World, a: str, b: str) -> None:
    """Forget the logged refusals of two connected instances, so that the next refusal is logged."""
    for server, peer in ((a, b), (b, a)):
        if any(name == peer for name, _ in world.instances[server].refused):
            entries = tuple(entry for entry in world.instances[server].refused if entry[0] != peer)
            world.update_instance(server, refused=entries)


# --- network addresses of mirroring endpoints (`TCP://host:port`) -----------------------------------------
# An address may name a server that does not listen.

ADDRESS_PATTERN: Final = re.compile(
    r"tcp://(?P<host>[^:/\s]+|\[[0-9a-f:]+\]):(?P<port>\d{1,5})/?$", re.IGNORECASE
)
IP_PATTERN: Final = re.compile(r"\d{1,3}(\.\d{1,3}){3}$")

CONNECTION_REFUSED_TEXT: Final = (
    "Connection attempt failed with error: '10061(No connection could be made because the target machine actively "
    "refused it.)'."
)
NO_SUCH_HOST_TEXT: Final = "DNS lookup failed with error: '11001(No such host is known.)'."
"""Text of error 2 (unknown host) in message 1474, from memory. CONNECTION_REFUSED_TEXT was seen in logs."""


def _match_address(address: str) -> re.Match[str]:
    match = ADDRESS_PATTERN.match(address.strip())
    if match is None:
        raise SqlError(1449)
    return match


def find_host(world: World, address: str) -> str | None:
    """Return the server that *address* names by its short name, full name or IP address, or None.

    Raise 1449 for an invalid address.
    """
    name = _match_address(address)["host"].lower()
    for server, instance in world.instances.items():
        if name == server.lower() or name == get_own_ip(instance) or name.startswith(f"{server.lower()}."):
            return server
    return None


def is_address_of(world: World, address: str | None, server: str) -> bool:
    """Return whether a connection to *address* reaches the mirroring endpoint of *server*.

    None means that no address was set; the result is then True. An IP address reaches only an endpoint that
    listens on exactly that address (LISTENER_IP) [DOC: server network address].
    """
    if address is None:
        return True
    match = ADDRESS_PATTERN.match(address.strip())
    end = world.instances[server].endpoint
    if match is None or end is None or find_host(world, address) != server or int(match["port"]) != end.port:
        return False
    return IP_PATTERN.match(match["host"]) is None or match["host"] == end.ip


def log_dead_address(world: World, caller: str, address: str, *, explicit: bool = False) -> None:
    """Log 1474 on *caller*, which cannot connect to *address*.

    The line is logged only once until the caller's endpoint changes. With *explicit* True, it is always
    logged.
    """
    server = world.instances[caller]
    if (address, CONNECTION_REFUSED_TEXT) in server.refused and not explicit:
        return
    world.update_instance(caller, refused=(*server.refused, (address, CONNECTION_REFUSED_TEXT)))
    reason = NO_SUCH_HOST_TEXT if find_host(world, address) is None else CONNECTION_REFUSED_TEXT
    errorlog.write_message(world, caller, 1474, 2, reason, address)
