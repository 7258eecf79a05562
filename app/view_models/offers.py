"""What can sensibly be done to a thing now, as input lines with labels: one list for menus, toolbar and keys. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from app.words.language import mark, tr
from engine import simulator
from engine.flow.sites import WORKLOADS
from engine.inputs import VERBS, InputProblem, Parameter, Verb, parse_line
from engine.model import Server, World
from engine.protocol import network, quorum, volumes


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
    section: str = ""
    """Submenu in which it stands; empty for the menu itself."""
    english: str = ""
    """Its label in English, by which it is found in any language."""

    @property
    def danger(self) -> bool:
        """It breaks something that works."""
        return self.group == "fault"


_DISKS, _ROOM, _NETWORK = (
    mark("Disks and processors"),
    mark("Files and drives"),
    mark("Network and security"),
)
_PEOPLE, _SETUP, _LINE, _CLIENTS = (
    mark("Logins and jobs"),
    mark("Installation"),
    mark("Degrade the line"),
    mark("Workload"),
)

_LABELS: Final = {
    "power-off": (mark("Cut the power"), "power", ""),
    "power-on": (mark("Switch on"), "power", ""),
    "shutdown-server": (mark("Shut the operating system down"), "power", ""),
    "stop-service": (mark("Stop SQL Server"), "stop", ""),
    "start-service": (mark("Start SQL Server"), "play", ""),
    "restart-service": (mark("Restart SQL Server"), "retry", ""),
    "hang": (mark("Freeze the instance"), "hang", ""),
    "unhang": (mark("Unfreeze the instance"), "hang", ""),
    "pull-cable": (mark("Pull all network cables"), "cable", ""),
    "plug-cable": (mark("Plug all network cables"), "cable", ""),
    "cut": (mark("Cut (both ends lose the carrier)"), "cut", ""),
    "mend": (mark("Repair"), "mend", ""),
    "black-hole": (mark("Drop all packets silently"), "cut", ""),
    "cut-one-way": (mark("Drop packets {0} → {1}"), "cut", ""),
    "reset-link": (mark("Reset open connections"), "retry", ""),
    "degrade": ("{options}", "load", _LINE),
    "slow-disk": (mark("Slow {1} disk, factor 10"), "disk", _DISKS),
    "slow-cpu": (mark("Slow processors, factor 4"), "gear", _DISKS),
    "fail-disk": (mark("Lose the volume of {1}"), "disk", _DISKS),
    "mend-disk": (mark("Replace the volume of {1}"), "disk", ""),
    "fail-volume": (mark("Lose drive {1}: with all its files"), "disk", _DISKS),
    "mend-volume": (mark("Replace drive {1}:"), "disk", ""),
    "corrupt-page": (mark("Damage a page of {1}"), "disk", _DISKS),
    "mend-page": (mark("Restore damaged pages of {1}"), "disk", _DISKS),
    "fill-log": (mark("Fill the log of {0}"), "disk", ""),
    "open-transaction": (mark("Leave a transaction open in {0}"), "disk", ""),
    "end-transaction": (mark("End the open transaction in {0}"), "mend", ""),
    "close-firewall": (mark("Close port {1} in the firewall"), "cut", _NETWORK),
    "open-firewall": (mark("Open port {1} in the firewall"), "mend", ""),
    "disable-tcp": (mark("Disable TCP/IP (from the next start)"), "cut", _NETWORK),
    "enable-tcp": (mark("Enable TCP/IP (from the next start)"), "mend", ""),
    "expire-certificate": (mark("Let the endpoint's certificate expire"), "warning", _NETWORK),
    "renew-certificate": (mark("Restore the expiry date of the endpoint's certificate"), "mend", _NETWORK),
    "stop-agent": (mark("Stop SQL Server Agent"), "stop", _PEOPLE),
    "start-agent": (mark("Start SQL Server Agent"), "play", ""),
    "transfer-logins": (mark("Transfer logins to {1}"), "app", _PEOPLE),
    "copy-jobs": (mark("Copy jobs to {1}, disabled"), "app", _PEOPLE),
    "enable-jobs": (mark("Enable all jobs"), "play", _PEOPLE),
    "disable-jobs": (mark("Disable all jobs"), "pause", _PEOPLE),
    "create-linked-server": (mark("Create the linked server {1}"), "app", _PEOPLE),
    "copy-linked-servers": (mark("Copy linked servers to {1}"), "app", _PEOPLE),
    "copy-file": (mark("Copy {2} to {1}"), "note", _ROOM),
    "delete-file": (mark("Delete {1}"), "close", _ROOM),
    "add-drive": (mark("Add a drive {1}: of 100 GB"), "disk", _ROOM),
    "grow-volume": (mark("Double drive {1}:"), "disk", _ROOM),
    "upgrade": (mark("Install SQL Server {1} (service pack, or upgrade)"), "gear", _SETUP),
    "workload": ("{1}", "load", _CLIENTS),
    "stop-app": (mark("Stop the application"), "stop", ""),
    "start-app": (mark("Start the application"), "play", ""),
    "point-app": (mark("Connect it to {1}"), "app", ""),
}
"""Label, icon and section of each verb; a verb that is not here is labelled by its help text."""

_VARIANTS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "degrade": (
        (mark("Round trip 50 ms"), "rtt_ms=50"),
        (mark("Round trip 200 ms"), "rtt_ms=200"),
        (mark("Bandwidth 10 Mbit/s"), "bandwidth_mbps=10"),
        (mark("Packet loss 1 %"), "loss=0.01"),
    ),
}
"""Verbs that need values are offered with these; any other value can be typed."""

_NO_OFFER: Final = {"revert-all"}
"""Concerns no single thing; it has an action of its own."""

DATABASES_OFFERED: Final = 8
"""With more databases on a server its menu has only those that were opened or are damaged. Ours: what can be read."""

_ORDER: Final = ("repair", "chore", "fault", "load")


def offers(world: World, target: Target, truth: bool = True, opened: str = "") -> list[Offer]:
    """Everything that may be done to *target* now, repairs first; of many databases only to the one that is *opened*.

    Whether an act can be done is found by doing it to a copy of the world. Without *truth*, as in an exam, everything
    is offered that might ever be done to such a thing: what stands in the menu tells nothing of what is broken.
    """
    found: list[Offer] = []
    for verb in VERBS.values():
        if verb.group in _ORDER and verb.name not in _NO_OFFER:
            for args in _arguments(world, verb, target, truth, opened):
                if not truth or _makes_sense(world, verb, args):
                    found += _offers_of(world, verb, args)
    found += _back_to_normal(world, target, truth)
    if truth:
        found = [offer for offer in found if _works(world, offer.line)]
    return sorted(found, key=lambda offer: (_ORDER.index(offer.group), bool(offer.section), offer.section))


def _offers_of(world: World, verb: Verb, args: tuple[str, ...]) -> Iterator[Offer]:
    label, icon, section = _LABELS.get(verb.name, (verb.help, "gear", ""))
    line = " ".join((verb.name, *args))
    if verb.name == "grow-volume":
        line += f" size_gb={2.0 * _drive_gb(world, args[0], args[1]):g}"
    words = tr(label)
    words = words[:1].upper() + words[1:]
    for text, options in _VARIANTS.get(verb.name, (("", ""),)):
        yield Offer(
            f"{line} {options}".strip(),
            words.format(*args, options=tr(text)),
            verb.group,
            icon,
            tr(section),
            label.format(*args, options=text),
        )


def _works(world: World, line: str) -> bool:
    copy = world.fork()
    try:
        item = simulator.resolve(copy, parse_line(line, copy.tick))
        simulator.VERB_HANDLERS[item.verb](
            copy, item
        )  # nobody has to take note of it: that takes long with 200
    except InputProblem:
        return False
    return not any(event.get("no_effect") for event in copy.outbox)


# --- what the verbs may be given ----------------------------------------------------------------------------


def _arguments(
    world: World, verb: Verb, target: Target, truth: bool, opened: str
) -> Iterator[tuple[str, ...]]:
    """Every way to fill the verb's parameters in which the first one(s) name the target."""
    needed = [parameter for parameter in verb.parameters if not parameter.optional]
    kinds = [parameter.kind for parameter in needed]
    if target.kind == "link":
        if kinds == ["name", "name"]:
            yield target.names
            if verb.name == "cut-one-way":
                yield target.names[::-1]
    elif kinds and kinds[0] == target.kind:
        rest = [list(_values(world, verb, parameter, target, truth, opened)) for parameter in needed[1:]]
        for values in product(*rest):
            yield (target.names[0], *values)


def _values(
    world: World, verb: Verb, parameter: Parameter, target: Target, truth: bool, opened: str
) -> Iterator[str]:
    name = target.names[0]
    if parameter.choices:
        yield from parameter.choices
    elif parameter.kind == "server":
        yield from (server for server in world.servers if server != name)
    elif parameter.kind == "database":
        yield from _databases_offered(world, name, truth, opened)
    elif not truth and verb.name == "open-firewall":
        yield from _endpoint_port(world.servers[name])  # which ports are closed is to be found out
    elif (verb.name, parameter.name) in _KNOWN_VALUES:
        yield from _KNOWN_VALUES[verb.name, parameter.name](world, name)


_KNOWN_VALUES: Final[dict[tuple[str, str], Callable[[World, str], list[str]]]] = {
    ("workload", "workload"): lambda w, name: sorted(WORKLOADS),
    ("close-firewall", "port"): lambda w, name: _endpoint_port(w.servers[name]),
    ("open-firewall", "port"): lambda w, name: [str(port) for port in w.servers[name].blocked_ports],
    ("copy-file", "path"): lambda w, name: sorted(path for server, path in w.files if server == name),
    ("delete-file", "path"): lambda w, name: sorted(path for server, path in w.files if server == name),
    ("create-linked-server", "name"): lambda w, name: [other for other in w.servers if other != name],
    ("add-drive", "drive"): lambda w, name: sorted({v.letter for s in w.servers.values() for v in s.volumes}),
    ("grow-volume", "drive"): lambda w, name: [volume.letter for volume in w.servers[name].volumes],
    ("fail-volume", "drive"): lambda w, name: _drives_with_files(w, name),
    ("mend-volume", "drive"): lambda w, name: _drives_with_files(w, name),
}
"""Values worth offering for parameters that any word could fill; others can only be typed."""


def _databases_offered(world: World, server: str, truth: bool, opened: str) -> list[str]:
    here = {database: copy for (at, database), copy in world.copies.items() if at == server}
    if len(here) <= DATABASES_OFFERED:
        return list(here)
    return [
        name
        for name, copy in here.items()
        if name == opened or (truth and (copy.disk_failed or copy.bad_pages))
    ]


def _drives_with_files(world: World, server: str) -> list[str]:
    """Drives on which a database of the server has files."""
    here = [copy for (at, _), copy in world.copies.items() if at == server]
    return sorted({file.drive.upper() for copy in here for file in volumes.files_of(copy)})


def _endpoint_port(server: Server) -> list[str]:
    return [str(server.endpoint.port)] if server.endpoint is not None else []


def _drive_gb(world: World, server: str, letter: str) -> float:
    return next(v.size_kb for v in world.servers[server].volumes if v.letter == letter) / (1024.0 * 1024.0)


def _back_to_normal(world: World, target: Target, truth: bool) -> Iterator[Offer]:
    """Slow-downs are taken back by the factor 1."""
    if target.kind != "server":
        return
    server = world.servers[target.names[0]]
    for line, factor, label in (
        (
            f"slow-disk {server.name} log factor=1",
            server.log_disk_factor,
            mark("Log disk back to full speed"),
        ),
        (
            f"slow-disk {server.name} data factor=1",
            server.data_disk_factor,
            mark("Data disk back to full speed"),
        ),
        (f"slow-cpu {server.name} factor=1", server.cpu_factor, mark("Processors back to full speed")),
    ):
        if factor > 1.0 or not truth:
            yield Offer(line, tr(label), "repair", "mend", english=label)


# --- what would do nothing, although it can be done ----------------------------------------------------------


def _makes_sense(world: World, verb: Verb, args: tuple[str, ...]) -> bool:
    rule = _RULES.get(verb.name)
    return rule is None or rule(world, args)


Rule = Callable[[World, tuple[str, ...]], bool]


def _server(wanted: Callable[[Server], bool]) -> Rule:
    return lambda world, args: wanted(world.servers[args[0]])


def _healthy_link(world: World, args: tuple[str, ...]) -> bool:
    return network.passing(world, args[0], args[1])


_RULES: Final[dict[str, Rule]] = {
    "slow-disk": lambda w, args: getattr(w.servers[args[0]], f"{args[1]}_disk_factor") == 1.0,
    "slow-cpu": _server(lambda s: s.cpu_factor == 1.0),
    "disable-tcp": _server(lambda s: s.tcp_enabled),
    "enable-tcp": _server(lambda s: not s.tcp_enabled),
    "stop-agent": _server(lambda s: s.agent_running and s.running),
    "start-agent": _server(lambda s: not s.agent_running),
    "enable-jobs": _server(lambda s: any(not job.enabled for job in s.jobs)),
    "disable-jobs": _server(lambda s: any(job.enabled for job in s.jobs)),
    "copy-jobs": lambda w, args: bool(_new_jobs(w, args)),
    "copy-linked-servers": lambda w, args: bool(_new_linked_servers(w, args)),
    "create-linked-server": _server(lambda s: s.running),
    "transfer-logins": lambda w, args: bool(_new_logins(w, args)),
    "copy-file": lambda w, args: (args[1], args[2]) not in w.files,
    "cut": _healthy_link,
    "black-hole": _healthy_link,
    "cut-one-way": _healthy_link,
    "degrade": _healthy_link,
    "mend": lambda w, args: _link_changed(w, args[0], args[1]),
    "reset-link": lambda w, args: any(
        {me, peer} == set(args) and contact.connected for (_, me, peer), contact in w.contacts.items()
    ),
    "fill-log": lambda w, args: any(c.source is not None and not c.log_full for c in w.copies_of(args[0])),
    "open-transaction": lambda w, args: (
        any(quorum.serves(w, (c.server, c.database)) for c in w.copies_of(args[0])) and not _held(w, args[0])
    ),
    "end-transaction": lambda w, args: _held(w, args[0]),
    "fail-disk": lambda w, args: not w.copies[args[0], args[1]].disk_failed,
    "mend-disk": lambda w, args: w.copies[args[0], args[1]].disk_failed,
    "corrupt-page": lambda w, args: not w.copies[args[0], args[1]].bad_pages,
    "mend-page": lambda w, args: bool(w.copies[args[0], args[1]].bad_pages),
    "workload": lambda w, args: all(copy.workload != args[1] for copy in w.copies_of(args[0])),
    "stop-app": lambda w, args: _app_runs(w, args[0]),
    "start-app": lambda w, args: not _app_runs(w, args[0]),
    "point-app": lambda w, args: (
        w.clients[args[0]].data_source != args[1]
        and any((args[1], database) in w.copies for database in w.clients[args[0]].databases)
    ),
}


def _held(world: World, database: str) -> bool:
    """A transaction is open in a copy of the database."""
    return any(copy.active_from_kb is not None for copy in world.copies_of(database))


def _new_logins(world: World, args: tuple[str, ...]) -> set[str]:
    names = {login.name for login in world.servers[args[0]].logins if login.kind != "CERTIFICATE"}
    return names - {login.name for login in world.servers[args[1]].logins}


def _new_jobs(world: World, args: tuple[str, ...]) -> set[str]:
    return {j.name for j in world.servers[args[0]].jobs} - {j.name for j in world.servers[args[1]].jobs}


def _new_linked_servers(world: World, args: tuple[str, ...]) -> set[str]:
    return set(world.servers[args[0]].linked_servers) - set(world.servers[args[1]].linked_servers)


def _app_runs(world: World, name: str) -> bool:
    """It is connected or looks for a server."""
    looking = any(handler == "client.try" and args[0] == name for _, _, handler, args in world.timers)
    return world.clients[name].connected_to is not None or looking


def _link_changed(world: World, a: str, b: str) -> bool:
    active = {frozenset(f.args[:2]) for f in world.faults if f.reverted_tick is None}
    whole = all(
        network.link(world, x, y).up and network.link(world, x, y).passing for x, y in ((a, b), (b, a))
    )
    return not whole or frozenset((a, b)) in active
