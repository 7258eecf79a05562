"""What can sensibly be done to a thing now, as input lines with labels: one list for menus, toolbar and keys. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from engine.flow.sites import WORKLOADS
from engine.inputs import VERBS, Parameter, Verb
from engine.model import Copy, Server, Service, World
from engine.protocol import network


@dataclass(frozen=True, slots=True)
class Target:
    """What was chosen: a server, a link, a client application or a database."""

    kind: str
    """server, link, client or database."""
    names: tuple[str, ...]
    """One name; both ends of a link."""

    @property
    def title(self) -> str:
        return " – ".join(self.names)


@dataclass(frozen=True, slots=True)
class Offer:
    """One act that makes sense now."""

    line: str
    """Input line without its time."""
    label: str
    group: str
    """Group of the verb: fault, repair, load, chore."""
    icon: str
    danger: bool = False
    """Breaks something that works."""


_LABELS: Final = {
    "power-off": ("Cut the power", "power"),
    "power-on": ("Switch on", "power"),
    "shutdown-server": ("Shut the operating system down", "power"),
    "stop-service": ("Stop SQL Server", "stop"),
    "start-service": ("Start SQL Server", "play"),
    "restart-service": ("Restart SQL Server", "retry"),
    "hang": ("Freeze the instance", "hang"),
    "unhang": ("Unfreeze the instance", "hang"),
    "pull-cable": ("Pull all network cables", "cable"),
    "plug-cable": ("Plug all network cables", "cable"),
    "cut": ("Cut (both ends lose the carrier)", "cut"),
    "mend": ("Mend", "mend"),
    "black-hole": ("Drop all packets in silence", "cut"),
    "cut-one-way": ("Drop packets {0} → {1}", "cut"),
    "reset-link": ("Reset open connections", "retry"),
    "slow-disk": ("Slow {1} disk, factor 10", "disk"),
    "slow-cpu": ("Slow processors, factor 4", "gear"),
    "fill-log": ("Fill the log of {0}", "disk"),
    "fail-disk": ("Lose the volume of {1}", "disk"),
    "mend-disk": ("Replace the volume of {1}", "disk"),
    "workload": ("Clients: {1}", "load"),
    "stop-app": ("Stop the application", "stop"),
    "start-app": ("Start the application", "play"),
    "point-app": ("Point it at {1}", "app"),
}
"""Label and icon of each verb; a verb that is not here is labelled by its help text."""

_VARIANTS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "degrade": (
        ("Round trip 50 ms", "rtt_ms=50"),
        ("Round trip 200 ms", "rtt_ms=200"),
        ("Bandwidth 10 Mbit/s", "bandwidth_mbps=10"),
        ("Lose 1 % of packets", "loss=0.01"),
    ),
}
"""Verbs that need values are offered with these; any other value can be typed."""

_NO_OFFER: Final = {"revert-all"}
"""Concerns no single thing; it has an action of its own."""


def offers(world: World, target: Target) -> list[Offer]:
    """Everything that may be done to *target* now, repairs first."""
    found: list[Offer] = []
    for verb in VERBS.values():
        if verb.name in _NO_OFFER or verb.group in ("sql", "remark"):
            continue
        for args in _arguments(world, verb, target):
            if _makes_sense(world, verb, args):
                found += _offers_of(verb, args)
    found += _back_to_normal(world, target)
    order = ("repair", "chore", "fault", "load")
    return sorted(found, key=lambda offer: order.index(offer.group) if offer.group in order else len(order))


def _offers_of(verb: Verb, args: tuple[str, ...]) -> Iterator[Offer]:
    label, icon = _LABELS.get(verb.name, (verb.help[:1].upper() + verb.help[1:], "gear"))
    line = " ".join((verb.name, *args))
    danger = verb.group == "fault"
    if verb.name in _VARIANTS:
        for text, options in _VARIANTS[verb.name]:
            yield Offer(f"{line} {options}", text, verb.group, "load", danger)
    else:
        yield Offer(line, label.format(*args), verb.group, icon, danger)


def _arguments(world: World, verb: Verb, target: Target) -> Iterator[tuple[str, ...]]:
    """Every way to fill the verb's parameters in which the first one(s) name the target."""
    kinds = [parameter.kind for parameter in verb.parameters]
    if target.kind == "link":
        if kinds == ["name", "name"]:
            yield target.names
            if verb.name == "cut-one-way":
                yield target.names[::-1]
        return
    if not kinds or kinds[0] != target.kind:
        return
    rest = [_values(world, parameter, target) for parameter in verb.parameters[1:]]
    for values in product(*rest):
        yield (target.names[0], *values)


def _values(world: World, parameter: Parameter, target: Target) -> list[str]:
    if parameter.choices:
        return list(parameter.choices)
    if parameter.kind == "server":
        return list(world.servers)
    if parameter.kind == "database":
        on_server = [database for server, database in world.copies if server == target.names[0]]
        return on_server if target.kind == "server" else world.databases()
    if parameter.name == "workload":
        return sorted(WORKLOADS)
    return []


def _back_to_normal(world: World, target: Target) -> Iterator[Offer]:
    """Slow-downs are taken back by the factor 1."""
    if target.kind != "server":
        return
    server = world.servers[target.names[0]]
    for line, factor, what in (
        (f"slow-disk {server.name} log factor=1", server.log_disk_factor, "log disk"),
        (f"slow-disk {server.name} data factor=1", server.data_disk_factor, "data disk"),
        (f"slow-cpu {server.name} factor=1", server.cpu_factor, "processors"),
    ):
        if factor > 1.0:
            yield Offer(line, f"{what[0].upper()}{what[1:]} at full speed again", "repair", "mend")


# --- what makes sense now -----------------------------------------------------------------------------------


def _makes_sense(world: World, verb: Verb, args: tuple[str, ...]) -> bool:
    on_server = _SERVER_RULES.get(verb.name)
    on_link = _LINK_RULES.get(verb.name)
    other = _OTHER_RULES.get(verb.name)
    return (
        (on_server is None or on_server(world.servers[args[0]]))
        and (on_link is None or on_link(world, args[0], args[1]))
        and (other is None or other(world, args))
    )


_SERVER_RULES: Final[dict[str, Callable[[Server], bool]]] = {
    "power-off": lambda s: s.powered,
    "power-on": lambda s: not s.powered,
    "shutdown-server": lambda s: s.running,
    "stop-service": lambda s: s.running,
    "start-service": lambda s: s.powered and s.service is Service.STOPPED,
    "restart-service": lambda s: s.running,
    "hang": lambda s: s.running and not s.hung,
    "unhang": lambda s: s.hung,
    "pull-cable": lambda s: s.nic_up,
    "plug-cable": lambda s: not s.nic_up,
    "slow-disk": lambda s: s.powered,
    "slow-cpu": lambda s: s.powered and s.cpu_factor == 1.0,
}

_LINK_RULES: Final[dict[str, Callable[[World, str, str], bool]]] = {
    "cut": lambda w, a, b: network.link(w, a, b).up and network.link(w, b, a).up,
    "mend": lambda w, a, b: _link_changed(w, a, b),
    "black-hole": lambda w, a, b: network.link(w, a, b).passing and network.link(w, b, a).passing,
    "cut-one-way": lambda w, a, b: network.passing(w, a, b),
    "reset-link": lambda w, a, b: any(
        {a, b} == {m, p} and c.connected for (_, m, p), c in w.contacts.items()
    ),
    "degrade": lambda w, a, b: network.passing(w, a, b),
}

_OTHER_RULES: Final[dict[str, Callable[[World, tuple[str, ...]], bool]]] = {
    "slow-disk": lambda w, args: getattr(w.servers[args[0]], f"{args[1]}_disk_factor") == 1.0,
    "fill-log": lambda w, args: any(
        copy.row is not None and not copy.log_full for copy in w.copies_of(args[0])
    ),
    "fail-disk": lambda w, args: not _copy(w, args).disk_failed,
    "mend-disk": lambda w, args: _copy(w, args).disk_failed,
    "workload": lambda w, args: all(copy.workload != args[1] for copy in w.copies_of(args[0])),
    "stop-app": lambda w, args: _app_runs(w, args[0]),
    "start-app": lambda w, args: not _app_runs(w, args[0]),
    "point-app": lambda w, args: (
        w.clients[args[0]].data_source != args[1]
        and any((args[1], database) in w.copies for database in w.clients[args[0]].databases)
    ),
}


def _copy(world: World, args: tuple[str, ...]) -> Copy:
    return world.copies[args[0], args[1]]


def _app_runs(world: World, name: str) -> bool:
    """It is connected or looks for a server."""
    looking = any(handler == "client.try" and args[0] == name for _, _, handler, args in world.timers)
    return world.clients[name].connected_to is not None or looking


def _link_changed(world: World, a: str, b: str) -> bool:
    active = {frozenset(f.args[:2]) for f in world.faults if f.reverted_tick is None}
    broken = not all(
        network.link(world, x, y).up and network.link(world, x, y).passing for x, y in ((a, b), (b, a))
    )
    return broken or frozenset((a, b)) in active
