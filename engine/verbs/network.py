"""Verbs for firewall ports, TCP/IP and certificates of a server."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from engine.inputs import Input, InputError, but_there_are
from engine.localization import mark, say
from engine.model import Fault, Instance, World
from engine.protocol import network, security
from engine.verbs.verb import COMPUTER, SERVER, Doing, SavedValues, VerbParameter, check_server, verb

# --- firewall ---------------------------------------------------------------------------------------------


def _make_firewall_switch(closed: bool) -> Doing:
    def do(world: World, item: Input) -> None:
        server, port = item.args[0], _port(item)
        computer = world.computer_named(server)
        before = computer.blocked_ports
        if closed == (port in before):
            blocks, allows = (
                mark("the firewall of {server} already blocks port {port}"),
                mark("the firewall of {server} already allows port {port}"),
            )
            raise InputError(say(blocks if closed else allows, server=server, port=port))
        new_ports = (*before, port) if closed else tuple(p for p in before if p != port)
        world.update_computer(computer.name, blocked_ports=new_ports)
        for instance in world.instances_on(computer.name):
            world.update_instance(instance, refused=())
        network.reassess(world)

    return do


def _port(item: Input) -> int:
    digits = item.args[1]
    if not digits.isdecimal() or len(digits) > 5 or not 1 <= int(digits) <= 65_535:
        raise InputError(say("a port must be a number from 1 to 65535, not {name}", name=item.args[1]))
    return int(item.args[1])


def _endpoint_port(world: World, server: str, truth: bool) -> Iterable[str]:
    instances = world.instances_on(world.computer_named(server).name)
    endpoints = (world.instances[instance].endpoint for instance in instances)
    return (str(endpoint.port) for endpoint in endpoints if endpoint is not None)


def _closed_ports(world: World, server: str, truth: bool) -> Iterable[str]:
    """Offer the usual port while the true state is hidden, because the player must diagnose which port is closed."""
    if not truth:
        return _endpoint_port(world, server, truth)
    return map(str, world.computer_named(server).blocked_ports)


# --- certificates -----------------------------------------------------------------------------------------


def _certificate_name(server: Instance, item: Input) -> str:
    certificate = security.endpoint_certificate(server)
    found_certificate = security.certificate_of(server, item.args[1]) if item.args[1:] else certificate
    if found_certificate is None:
        problem = say("this certificate does not exist on {server}", server=server.name)
        raise InputError(but_there_are(problem, (c.name for c in server.certificates)))
    return found_certificate.name


def _set_expiry(world: World, thumbprint: int, tick: int) -> None:
    """Set the same dates for a certificate and for all copies of it."""
    for name, server in world.instances.items():
        if any(c.thumbprint == thumbprint for c in server.certificates):
            dated = tuple(
                replace(c, expires_tick=tick) if c.thumbprint == thumbprint else c
                for c in server.certificates
            )
            world.update_instance(name, certificates=dated, refused=())
    network.reassess(world)


def _expire(world: World, item: Input) -> SavedValues:
    server = world.instances[item.args[0]]
    certificate = security.certificate_of(server, _certificate_name(server, item))
    assert certificate is not None
    _set_expiry(world, certificate.thumbprint, world.tick)
    return (("thumbprint", certificate.thumbprint), ("expires_tick", certificate.expires_tick))


def _renew(world: World, item: Input) -> None:
    server = world.instances[item.args[0]]
    name = _certificate_name(server, item)
    certificate = security.certificate_of(server, name)
    assert certificate is not None
    for index, fault in enumerate(world.faults):
        before = dict(fault.before)
        active = fault.verb == "expire-certificate" and fault.reverted_tick is None
        if active and before["thumbprint"] == certificate.thumbprint:
            expires_tick = before["expires_tick"]
            assert isinstance(expires_tick, int)
            _set_expiry(world, certificate.thumbprint, expires_tick)
            world.faults[index] = replace(fault, reverted_tick=world.tick)
            return
    raise InputError(
        say(
            "the expiry date of {name} on {server} was not changed by a fault; create a new certificate",
            name=name,
            server=server.name,
        )
    )


def _describe_refusal(world: World, fault: Fault) -> str:
    refused = any("expired" in reason for s in world.instances.values() for _, reason in s.refused)
    return say("a connection was refused") if refused else ""


# --- TCP/IP -----------------------------------------------------------------------------------------------


def _tcp(enabled: bool) -> Doing:
    def do(world: World, item: Input) -> None:
        world.update_instance(item.args[0], tcp_enabled=enabled)

    return do


def _describe_disabled_tcp(world: World, fault: Fault) -> str:
    name = fault.args[0]
    return (
        say("{server} does not listen on TCP/IP", server=name)
        if not world.instances[name].tcp_listening
        else ""
    )


PORT: Final = VerbParameter(mark("port"), "number", values=_endpoint_port)
CERTIFICATE: Final = VerbParameter(mark("certificate"), optional=True)

VERBS: Final = (
    verb(
        "close-firewall",
        _make_firewall_switch(closed=True),
        parameters=(COMPUTER, PORT),
        effect=lambda world, fault: say(
            "no connection can reach port {port} of {server}", port=fault.args[1], server=fault.args[0]
        ),
    ),
    verb(
        "open-firewall",
        _make_firewall_switch(closed=False),
        parameters=(COMPUTER, replace(PORT, values=_closed_ports)),
    ),
    verb(
        "disable-tcp",
        _tcp(enabled=False),
        effect=_describe_disabled_tcp,
        sensible=check_server(lambda server: server.tcp_enabled),
    ),
    verb("enable-tcp", _tcp(enabled=True), sensible=check_server(lambda server: not server.tcp_enabled)),
    verb("expire-certificate", _expire, parameters=(SERVER, CERTIFICATE), effect=_describe_refusal),
    verb("renew-certificate", _renew, parameters=(SERVER, CERTIFICATE)),
)
