"""Listener of a group: ADD, MODIFY, RESTART and REMOVE LISTENER.

[DOC: ALTER AVAILABILITY GROUP; availability group listeners]
"""

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from engine.availability import failover, replicas
from engine.availability.commands import configuration
from engine.availability.commands.configuration import Options
from engine.availability.role import build_role
from engine.cluster import config, roles
from engine.messages import Message, SqlError
from engine.model import AvailabilityGroup, AvailabilityListener, World
from engine.protocol import errorlog

DNS_NAME_CHARACTERS_MAX: Final = 63
"""Maximum length of a DNS name. [DOC: availability group listeners]"""

DNS_NAME_PATTERN: Final = re.compile(r"[A-Za-z0-9_-]+")
"""Pattern of a DNS name. [DOC: ALTER AVAILABILITY GROUP]"""


SUBNET_MASK: Final = "255.255.255.0"
"""Subnet mask of each network of a simulated cluster, as Get-ClusterNetwork shows it. Assumed."""


def check_syntax(verb: str, options: Options) -> None:
    """Raise 102 or 156 if the options do not match *verb*.

    ADD needs WITH IP or WITH DHCP. MODIFY needs exactly one of ADD IP and PORT.
    """
    names = [name for name, _ in options]
    if verb == "ADD":
        if not names or names[0] not in ("WITH IP", "DHCP"):
            raise SqlError(102, names[0] if names else "LISTENER")
        later_names = [name for name in names if name != names[0]]
        if later_names not in ([], ["PORT"]):
            raise SqlError(102, ",")
    elif verb == "MODIFY":
        if not names or names[0] in ("WITH IP", "DHCP"):
            raise SqlError(156, "WITH") if names else SqlError(102, "LISTENER")
        if len(names) > 1:
            raise SqlError(102, ",")
    elif names:
        raise SqlError(102, "(")
    if any(not value for name, value in options if name.endswith("IP")):
        raise SqlError(102, ")")


def _parse_port(options: Options, default: int) -> int:
    option = next((str(value) for name, value in options if name == "PORT"), None)
    port = default if option is None else int(option)
    if not 1 <= port <= configuration.PORT_MAX:
        raise SqlError(19482, port)
    return port


def _choose_listener_addresses(
    world: World, server: str, options: Options, existing_addresses: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the addresses of the listener.

    Raise 19483 without an address, 19484 if one is named twice, 19451 for two in one subnet, 19457 for one in
    no network of the cluster, 19456 if none is in the server's subnet. Raise 19476 for an address in use,
    because the IP Address resource would not come online. Derived.
    """
    addresses = list(existing_addresses)
    node = config.find_server_node(world, server)
    nodes = world.clusters[node.cluster].nodes if node is not None else ()
    networks = {world.nodes[name].subnet for name in nodes}
    used = _list_used_addresses(world, server)
    for name, value in options:
        if not name.endswith("IP"):
            continue
        address = value[0]
        _check_address(value)
        if address in addresses:
            raise SqlError(19484, address)
        same_subnet_address = next(
            (candidate for candidate in addresses if _get_subnet(candidate) == _get_subnet(address)), None
        )
        if same_subnet_address is not None:
            raise SqlError(19451, same_subnet_address, address)
        if address in used:
            raise SqlError(19476)
        if value[1:] and (_get_subnet(address) not in networks or value[1] != SUBNET_MASK):
            raise SqlError(19457, address)
        addresses.append(address)
    static = [address for address in addresses if ":" not in address]
    if static and node is not None and node.subnet not in map(_get_subnet, static):
        raise SqlError(19456, server)
    return tuple(addresses)


def _check_address(value: Sequence[str]) -> None:
    """Raise 19483 unless *value* is an IPv4 address with its mask, or an IPv6 address."""
    address, *mask = value
    invalid_address = address
    try:
        if ":" in address:
            # accept a superfluous :: in an address with eight groups, because the documentation shows such an
            # address
            ipaddress.IPv6Address(address.replace("::", ":") if address.count(":") == 8 else address)
            return
        ipaddress.IPv4Address(address)
        if mask:
            invalid_address = mask[0]
            ipaddress.IPv4Address(invalid_address)
            ipaddress.IPv4Network(f"{address}/{invalid_address}", strict=False)
            return
    except ValueError:
        pass
    raise SqlError(19483, invalid_address)


def _check_dhcp(world: World, server: str, group: AvailabilityGroup, options: Options) -> None:
    """Check that the listener can get an address by DHCP.

    Raise 19483, 19456 if the server is not in the given subnet, 19458 if the nodes are in several subnets.
    """
    option = next((value for name, value in options if name == "DHCP"), None)
    if option is None:
        return
    nodes = [config.find_server_node(world, replica.server) for replica in group.replicas]
    subnets = {node.subnet for node in nodes if node is not None}
    if len(subnets) > 1:
        raise SqlError(19458)
    if option:
        _check_address(option)
        if _get_subnet(option[0]) not in subnets or option[1:] not in ((), (SUBNET_MASK,), [SUBNET_MASK]):
            raise SqlError(19456, server)


def _list_used_addresses(world: World, server: str) -> set[str]:
    """Return the addresses of all computers, and of all listeners in the cluster of *server*."""
    known_config = config.find_known_config(world, server)
    listeners = (
        [group.listener for group in known_config.groups if group.listener is not None]
        if known_config is not None
        else []
    )
    computers = {config.get_computer_address(world, computer) for computer in world.computers}
    return computers | {address for listener in listeners for address in listener.addresses}


def _get_subnet(address: str) -> str:
    """Return the first three numbers of an IPv4 address, which identify a subnet in the simulation."""
    return address.rpartition(".")[0] or address.rpartition(":")[0]


def build_listener(
    world: World, server: str, group: AvailabilityGroup, name: str, options: Options
) -> AvailabilityListener:
    """Return the listener that the options describe.

    Raise 19485, 19476, 19471, 19482, or an error of its addresses.
    """
    if not 1 <= len(name) <= DNS_NAME_CHARACTERS_MAX:
        raise SqlError(19485, name)
    if not DNS_NAME_PATTERN.fullmatch(name):
        raise SqlError(19476)
    _check_dhcp(world, server, group, options)
    if any(
        network_name.lower() == name.lower()
        for network_name in (*world.listeners, *world.computers, *world.clusters)
    ):
        raise SqlError(19471, name)
    return AvailabilityListener(
        name=name,
        port=_parse_port(options, 1433),
        addresses=_choose_listener_addresses(world, server, options, ()),
    )


def create_listener(
    world: World, server: str, group: AvailabilityGroup, listener: AvailabilityListener
) -> None:
    """Create the listener of the group: its name and its resources."""
    replicas.change_group(world, server, group.guid, lambda old: replace(old, listener=listener))
    world.listeners[listener.name] = None
    _update_resources(world, replace(group, listener=listener))


def _update_resources(world: World, group: AvailabilityGroup) -> None:
    """Add or remove resources of the group's role so that they match the listener."""
    group_role = roles.find_role(world, group.name, group.primary)
    if group_role is None:
        return
    node, role = group_role
    cluster_role = build_role(group.name, group.listener, role.resources[-1].owners, role.owner)
    config.update_role(world, node.name, role.name, resources=cluster_role.resources)


def _find_listener(
    world: World, server: str, name: str, verb: str, listener: str
) -> tuple[AvailabilityGroup, AvailabilityListener]:
    """Return (group, listener). *server* must be the group's primary.

    Raise 19469 if no listener has that name.
    """
    group = configuration.require_primary(world, server, name, verb, "listener")
    if group.listener is None or group.listener.name.lower() != listener.lower():
        raise SqlError(19469, listener, group.name)
    return group, group.listener


def add_listener(world: World, server: str, name: str, listener: str, options: Options) -> list[Message]:
    """Execute ADD LISTENER. The listener is online immediately.

    Raise 19477 if the group already has a listener.
    """
    check_syntax("ADD", options)
    group = configuration.require_primary(world, server, name, "add", "listener")
    if group.listener is not None:
        raise SqlError(19477, group.name, group.listener.name)
    create_listener(world, server, group, build_listener(world, server, group, listener, options))
    world.call_after(failover.LISTENER_ONLINE_S, "availability.listener", group.guid)
    _check_port(world, server, listener, group)
    return []


def _check_port(world: World, server: str, listener: str, group: AvailabilityGroup) -> None:
    """Raise 19486 if the instance's endpoint listens on the new port, which the listener then cannot use."""
    known_group = replicas.find_group_config(world, server, group.guid)
    availability_listener = known_group.listener if known_group is not None else None
    if availability_listener is not None and failover.is_port_taken(
        world, server, availability_listener.port
    ):
        raise SqlError(19486, listener, availability_listener.port)


def modify_listener(world: World, server: str, name: str, listener: str, options: Options) -> list[Message]:
    """Execute MODIFY LISTENER with PORT or ADD IP. Raise 19460 if its address comes from DHCP."""
    check_syntax("MODIFY", options)
    group, old = _find_listener(world, server, name, "modify", listener)
    if any(option == "ADD IP" for option, _ in options) and not old.addresses:
        raise SqlError(19460, old.name)
    port = _parse_port(options, old.port)
    if port == old.port and any(option == "PORT" for option, _ in options):
        raise SqlError(19468, old.name, group.name, port)
    new = replace(old, port=port, addresses=_choose_listener_addresses(world, server, options, old.addresses))
    replicas.change_group(world, server, group.guid, lambda config: replace(config, listener=new))
    _update_resources(world, replace(group, listener=new))
    if new.addresses != old.addresses and world.listeners.get(old.name) == server:
        failover.register_in_dns(world, server, new)
    if new.port != old.port:
        failover.bring_listener_online(world, server, new)
    _check_port(world, server, old.name, group)
    return []


def restart_listener(world: World, server: str, name: str, listener: str, options: Options) -> list[Message]:
    """Execute RESTART LISTENER. The name and the addresses go offline and come back online."""
    group, old = _find_listener(world, server, name, "restart", listener)
    errorlog.write_message(world, server, 26070, old.name)
    world.listeners[old.name] = None
    world.call_after(failover.LISTENER_ONLINE_S, "availability.listener", group.guid)
    return []


def remove_listener(world: World, server: str, name: str, listener: str, options: Options) -> list[Message]:
    """Execute REMOVE LISTENER. Clients can no longer connect to its name."""
    check_syntax("REMOVE", options)
    group, old = _find_listener(world, server, name, "remove", listener)
    errorlog.write_message(world, server, 26070, old.name)
    replicas.change_group(world, server, group.guid, lambda config: replace(config, listener=None))
    world.listeners.pop(old.name, None)
    world.records.pop(old.name, None)
    _update_resources(world, replace(group, listener=None))
    return []


LISTENER_ACTIONS: Final[dict[str, Callable[..., list[Message]]]] = {
    "ADD": add_listener,
    "MODIFY": modify_listener,
    "RESTART": restart_listener,
    "REMOVE": remove_listener,
}
