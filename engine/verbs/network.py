"""Verbs for firewall ports, certificates and TCP/IP of a server."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from engine.inputs import Input, InputError, append_existing_names
from engine.localization import build_message, mark
from engine.model import Fault, Instance, World
from engine.protocol import network, security
from engine.verbs.verb import (
    COMPUTER,
    SERVER,
    SavedValues,
    VerbFunction,
    VerbParameter,
    build_server_check,
    build_verb,
)

# --- firewall ---------------------------------------------------------------------------------------------


def _build_firewall_action(closed: bool) -> VerbFunction:
    def execute_verb(world: World, input_: Input) -> None:
        server, port = input_.args[0], _parse_port(input_)
        computer = world.get_computer(server)
        before = computer.blocked_ports
        if closed == (port in before):
            blocks, allows = (
                mark("the firewall of {server} already blocks port {port}"),
                mark("the firewall of {server} already allows port {port}"),
            )
            raise InputError(build_message(blocks if closed else allows, server=server, port=port))
        new_ports = (*before, port) if closed else tuple(p for p in before if p != port)
        world.update_computer(computer.name, blocked_ports=new_ports)
        for instance in world.list_instances_on(computer.name):
            world.update_instance(instance, refused=())
        network.schedule_detections(world)

    return execute_verb


def _parse_port(input_: Input) -> int:
    digits = input_.args[1]
    if not digits.isdecimal() or len(digits) > 5 or not 1 <= int(digits) <= 65_535:
        raise InputError(
            build_message("a port must be a number from 1 to 65535, not {name}", name=input_.args[1])
        )
    return int(input_.args[1])


def _list_endpoint_ports(world: World, server: str, truth: bool) -> Iterable[str]:
    instances = world.list_instances_on(world.get_computer(server).name)
    endpoints = (world.instances[instance].endpoint for instance in instances)
    return (str(endpoint.port) for endpoint in endpoints if endpoint is not None)


def _list_closed_ports(world: World, server: str, truth: bool) -> Iterable[str]:
    """Return the closed ports of the computer of *server*.

    If the true state is hidden (*truth* is False), return the usual port instead. The player must
    then diagnose the problem.
    """
    if not truth:
        return _list_endpoint_ports(world, server, truth)
    return map(str, world.get_computer(server).blocked_ports)


# --- certificates -----------------------------------------------------------------------------------------


def _get_certificate_name(server: Instance, input_: Input) -> str:
    certificate = security.find_endpoint_certificate(server)
    found_certificate = security.find_certificate(server, input_.args[1]) if input_.args[1:] else certificate
    if found_certificate is None:
        problem = build_message("{server} does not have this certificate", server=server.name)
        raise InputError(append_existing_names(problem, (c.name for c in server.certificates)))
    return found_certificate.name


def _set_expiry(world: World, thumbprint: int, tick: int) -> None:
    """Set the expiry date of a certificate and of all its copies."""
    for name, server in world.instances.items():
        if any(c.thumbprint == thumbprint for c in server.certificates):
            dated = tuple(
                replace(c, expires_tick=tick) if c.thumbprint == thumbprint else c
                for c in server.certificates
            )
            world.update_instance(name, certificates=dated, refused=())
    network.schedule_detections(world)


def _expire_certificate(world: World, input_: Input) -> SavedValues:
    server = world.instances[input_.args[0]]
    certificate = security.find_certificate(server, _get_certificate_name(server, input_))
    assert certificate is not None
    _set_expiry(world, certificate.thumbprint, world.tick)
    return (("thumbprint", certificate.thumbprint), ("expires_tick", certificate.expires_tick))


def _renew_certificate(world: World, input_: Input) -> None:
    server = world.instances[input_.args[0]]
    name = _get_certificate_name(server, input_)
    certificate = security.find_certificate(server, name)
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
        build_message(
            "the expiry date of {name} on {server} was not changed by a fault; create a new certificate",
            name=name,
            server=server.name,
        )
    )


def _describe_refusal(world: World, fault: Fault) -> str:
    refused = any("expired" in reason for s in world.instances.values() for _, reason in s.refused)
    return build_message("a connection was refused") if refused else ""


# --- TCP/IP -----------------------------------------------------------------------------------------------


def _build_tcp_action(enabled: bool) -> VerbFunction:
    def execute_verb(world: World, input_: Input) -> None:
        world.update_instance(input_.args[0], tcp_enabled=enabled)

    return execute_verb


def _describe_disabled_tcp(world: World, fault: Fault) -> str:
    name = fault.args[0]
    return (
        build_message("{server} does not listen on TCP/IP", server=name)
        if not world.instances[name].tcp_listening
        else ""
    )


PORT: Final = VerbParameter(mark("port"), "number", values=_list_endpoint_ports)
CERTIFICATE: Final = VerbParameter(mark("certificate"), optional=True)

VERBS: Final = (
    build_verb(
        "close-firewall",
        _build_firewall_action(closed=True),
        parameters=(COMPUTER, PORT),
        effect=lambda world, fault: build_message(
            "no connection can reach port {port} of {server}", port=fault.args[1], server=fault.args[0]
        ),
    ),
    build_verb(
        "open-firewall",
        _build_firewall_action(closed=False),
        parameters=(COMPUTER, replace(PORT, values=_list_closed_ports)),
    ),
    build_verb(
        "disable-tcp",
        _build_tcp_action(enabled=False),
        effect=_describe_disabled_tcp,
        sensible=build_server_check(lambda server: server.tcp_enabled),
    ),
    build_verb(
        "enable-tcp",
        _build_tcp_action(enabled=True),
        sensible=build_server_check(lambda server: not server.tcp_enabled),
    ),
    build_verb(
        "expire-certificate", _expire_certificate, parameters=(SERVER, CERTIFICATE), effect=_describe_refusal
    ),
    build_verb("renew-certificate", _renew_certificate, parameters=(SERVER, CERTIFICATE)),
)
