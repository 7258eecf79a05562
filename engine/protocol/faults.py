"""Faults and their reverse: what each verb does, and the ledger that says when it was asked for and took hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from engine.inputs import VERBS, Input, InputProblem
from engine.model import Client, Fault, Link, Service, Tick, World
from engine.protocol import chores, disks, logspace, network, service

# --- doing -----------------------------------------------------------------------------------------


def _link_change(
    world: World, a: str, b: str, changes: dict[str, Any], both: bool = True
) -> tuple[tuple[str, Any], ...]:
    """Change the link(s); returns what they were before."""
    directions = ((a, b), (b, a)) if both else ((a, b),)
    before = tuple((f"{x}>{y}", network.link(world, x, y)) for x, y in directions)
    for x, y in directions:
        world.links[x, y] = replace(network.link(world, x, y), **changes)
    network.reassess(world)
    return before


def _mend(world: World, a: str, b: str, healthy: dict[tuple[str, str], Link]) -> None:
    for x, y in ((a, b), (b, a)):
        world.links[x, y] = healthy.get((x, y), network.link(world, x, y))  # what is whole stays as it is
    network.reassess(world)


def _reset_link(world: World, a: str, b: str) -> None:
    for (guid, me, peer), contact in list(world.contacts.items()):
        if {me, peer} == {a, b} and contact.connected:
            world.contacts[guid, me, peer] = contact = replace(
                contact, pending="hard", epoch=contact.epoch + 1
            )
            world.after(0.05, "contact.lost", guid, me, peer, contact.epoch, "hard")


def _degrade(world: World, item: Input) -> tuple[tuple[str, Any], ...]:
    changes = {name: float(value) for name, value in item.options}
    if changes.get("loss", 0.0) >= 1.0:
        raise InputProblem("degrade: loss is a share below 1; a link that loses everything is black-hole")
    if changes.get("bandwidth_mbps", 1.0) <= 0.0:
        raise InputProblem("degrade: bandwidth_mbps must be above 0; use cut or black-hole")
    return _link_change(world, item.args[0], item.args[1], changes)


def _slow(world: World, server: str, field: str, factor: float) -> tuple[tuple[str, Any], ...]:
    if factor < 1.0:
        raise InputProblem("factor is 1 (healthy) or above")
    before = ((field, getattr(world.servers[server], field)),)
    world.update_server(server, **{field: factor})
    if field == "cpu_factor":
        network.reassess(world)  # pings that come too late
    return before


Doing = Callable[[World, Input], Any]

DO: Final[dict[str, Doing]] = {
    "power-off": lambda w, i: service.power_off(w, i.args[0]),
    "power-on": lambda w, i: service.power_on(w, i.args[0]),
    "shutdown-server": lambda w, i: service.stop(
        w, i.args[0], "shutdown-server", "power-off", ((17147, ()),)
    ),
    "stop-service": lambda w, i: service.stop(w, i.args[0], "stop-service", "", ((17148, ()),)),
    "start-service": lambda w, i: service.start(w, i.args[0]),
    "restart-service": lambda w, i: service.stop(w, i.args[0], "stop-service", "restart", ((17148, ()),)),
    "hang": lambda w, i: service.hang(w, i.args[0]),
    "unhang": lambda w, i: service.unhang(w, i.args[0]),
    "pull-cable": lambda w, i: service.set_cables(w, i.args[0], plugged=False),
    "plug-cable": lambda w, i: service.set_cables(w, i.args[0], plugged=True),
    "cut": lambda w, i: _link_change(w, i.args[0], i.args[1], {"up": False}),
    "black-hole": lambda w, i: _link_change(w, i.args[0], i.args[1], {"passing": False}),
    "cut-one-way": lambda w, i: _link_change(w, i.args[0], i.args[1], {"passing": False}, both=False),
    "reset-link": lambda w, i: _reset_link(w, i.args[0], i.args[1]),
    "degrade": _degrade,
    "mend": lambda w, i: _mend(w, i.args[0], i.args[1], _healthy_links(w)),
    "slow-disk": lambda w, i: _slow(w, i.args[0], f"{i.args[1]}_disk_factor", i.option("factor", 10.0)),
    "fail-disk": lambda w, i: disks.fail_disk(w, i.args[0], i.args[1]),
    "mend-disk": lambda w, i: disks.mend_disk(w, i.args[0], i.args[1]),
    "fail-volume": lambda w, i: disks.fail_volume(w, i.args[0], i.args[1]),
    "mend-volume": lambda w, i: disks.mend_volume(w, i.args[0], i.args[1]),
    "fill-log": lambda w, i: logspace.fill(w, i.args[0]),
    "slow-cpu": lambda w, i: _slow(w, i.args[0], "cpu_factor", i.option("factor", 4.0)),
    **chores.DO,
}
"""What each verb of faults and repairs does to the world."""


def _healthy_links(world: World) -> dict[tuple[str, str], Link]:
    """Links as they were before any fault that is still active changed them."""
    healthy: dict[tuple[str, str], Link] = {}
    for fault in world.faults:
        if fault.reverted_tick is None:
            for name, before in fault.before:
                if isinstance(before, Link):
                    a, _, b = name.partition(">")
                    healthy.setdefault((a, b), before)
    return healthy


# --- ledger ----------------------------------------------------------------------------------------


def apply(world: World, item: Input) -> None:
    """Do a fault or its reverse, with its line in the ledger. Raises InputProblem before anything changes."""
    verb = VERBS[item.verb]
    if verb.name == "revert-all":
        revert_all(world)
        return
    pointless = _pointless(world, item)
    if pointless:
        world.emit("fault", f"{item.words}: {pointless}", server=_server(world, item), verb=verb.name,
                   args=list(item.args), no_effect=True)  # fmt: skip
        return
    place = len(world.outbox)
    before = DO[verb.name](world, item)
    if (verb.group == "fault" and not _heals(item)) or verb.name == "restart-service":
        options = tuple(f"{name}={value}" for name, value in item.options)
        fault = Fault(
            id=world.next_id(), verb=verb.name, args=item.args + options, asked_tick=item.tick, active_tick=world.tick,
            before=before or (),
        )  # fmt: skip
        world.faults.append(fault)
    _close_ledger(world, item)
    world.emit("fault", item.words, server=_server(world, item), verb=verb.name, args=list(item.args))
    world.outbox.insert(place, world.outbox.pop())  # the act comes before what it brought about


def _server(world: World, item: Input) -> str | None:
    return item.args[0] if item.args and item.args[0] in world.servers else None


def _pointless(world: World, item: Input) -> str | None:
    """Why the act would change nothing, or None."""
    if not item.args or item.args[0] not in world.servers:
        return None
    server = world.servers[item.args[0]]
    running = server.running
    rules: dict[str, tuple[bool, str]] = {
        "power-off": (not server.powered, "the server is off"),
        "power-on": (server.powered and not server.shutting_down, "the server is on"),
        "shutdown-server": (not running, "SQL Server is not running there"),
        "stop-service": (not running, "the service is not running"),
        "restart-service": (not running, "the service is not running"),
        "start-service": (
            not server.powered or server.service in (Service.RUNNING, Service.STARTING),
            "the server is off, or the service is up already",
        ),
        "hang": (not running or server.hung, "the instance is not running, or hangs already"),
        "unhang": (not server.hung, "the instance does not hang"),
        "pull-cable": (not server.nic_up, "the cables are pulled"),
        "plug-cable": (server.nic_up, "the cables are plugged"),
        "fail-volume": (_letter(item) in server.failed_drives, "the drive is lost already"),
        "mend-volume": (_letter(item) not in server.failed_drives, "the drive is there"),
    }
    void, why = rules.get(item.verb, (False, ""))
    return why if void else None


def _letter(item: Input) -> str:
    """The drive that an act names last, if it names one."""
    return item.args[-1].strip(":\\").upper()


REVERSES: Final[dict[str, tuple[str, ...]]] = {
    "power-on": ("power-off", "shutdown-server", "shutdown", "shutdown-nowait", "stop-service"),
    "start-service": ("stop-service", "shutdown", "shutdown-nowait", "restart-service"),
    "unhang": ("hang",),
    "power-off": ("hang",),
    "plug-cable": ("pull-cable",),
    "mend": ("cut", "black-hole", "cut-one-way", "degrade", "reset-link"),
    "mend-disk": ("fail-disk",),
    "mend-volume": ("fail-volume",),
    "slow-disk": ("slow-disk",),
    "slow-cpu": ("slow-cpu",),
    **chores.REVERSES,
}
"""Which active faults a verb takes back."""


def _heals(item: Input) -> bool:
    """A slow-down by the factor 1 is none: it takes back the one before."""
    return item.verb in ("slow-disk", "slow-cpu") and item.option("factor", 10.0) == 1.0


def _close_ledger(world: World, item: Input) -> None:
    closes = REVERSES.get(item.verb, ())
    newest = world.faults[-1] if world.faults and not _heals(item) else None
    own = newest.id if newest is not None and newest.verb == item.verb else None
    for index, fault in enumerate(world.faults):
        if fault.reverted_tick is not None or fault.verb not in closes or fault.id == own:
            continue
        what = tuple(arg for arg in fault.args if "=" not in arg)
        if what == item.args or (item.verb == "mend" and set(what) == set(item.args)):
            world.faults[index] = replace(fault, reverted_tick=world.tick)


def reverse_of(fault: Fault, tick: Tick = 0) -> Input | None:
    """The act that takes *fault* back; None for one that passes by itself, or that only other work mends."""
    if fault.verb in ("slow-disk", "slow-cpu"):
        args = fault.args[:2] if fault.verb == "slow-disk" else fault.args[:1]
        return Input(tick, fault.verb, args, (("factor", "1"),))
    # SHUTDOWN in T-SQL is no verb of input lines; it stops the service
    verb = VERBS[fault.verb].reverse if fault.verb in VERBS else "start-service"
    return Input(tick, verb, tuple(arg for arg in fault.args if "=" not in arg)) if verb is not None else None


def revert_all(world: World) -> None:
    """Take back every active fault, newest first."""
    for fault in reversed(world.faults):
        current = next(f for f in world.faults if f.id == fault.id)
        reverse = reverse_of(fault, world.tick)
        if current.reverted_tick is None and reverse is not None:
            apply(world, reverse)


def note_effects(world: World) -> None:
    """Enter in the ledger which active faults have by now been felt by somebody."""
    for index, fault in enumerate(world.faults):
        if fault.effective_tick is None and fault.reverted_tick is None:
            effect = effect_of(world, fault)
            if effect:
                world.faults[index] = replace(fault, effective_tick=world.tick, effect=effect)
        elif fault.verb == "fill-log" and fault.reverted_tick is None and not effect_of(world, fault):
            world.faults[index] = replace(fault, reverted_tick=world.tick)  # other work has made room


def effect_of(world: World, fault: Fault) -> str:
    """What proves that the fault has taken hold, in words; empty if nothing does yet."""
    if fault.verb in chores.DO:
        return chores.effect_of(world, fault)
    if fault.verb == "fill-log":
        full = [copy.server for copy in world.copies_of(fault.args[0]) if copy.log_full]
        return f"the log of {fault.args[0]} is full on {full[0]}" if full else ""
    if fault.verb in ("fail-disk", "fail-volume"):
        hit = [
            copy.database
            for (server, _), copy in sorted(world.copies.items())
            if server == fault.args[0] and (copy.disk_failed or copy.data_failed_tick is not None)
        ]
        return f"{hit[0]} on {fault.args[0]} meets I/O errors" if hit else ""
    names = set(fault.args[:2])
    if fault.verb in ("slow-disk", "slow-cpu", "degrade"):
        return "takes effect at the next write or packet"
    link = fault.verb in ("cut", "black-hole", "cut-one-way", "reset-link")
    lost = [
        key
        for key, contact in world.contacts.items()
        if not contact.connected
        and contact.since_tick >= fault.active_tick
        and (set(key[1:]) == names if link else key[2] == fault.args[0])
    ]
    if lost:
        _, me, peer = min(lost)
        return f"{me} has lost {peer}"
    for client in world.clients.values():
        if _client_feels(client, fault, names, link):
            return f"{client.name} has lost its connections"
    return ""


def _client_feels(client: Client, fault: Fault, names: set[str], link: bool) -> bool:
    if client.connected_to is not None or client.lost_since is None or client.lost_since < fault.active_tick:
        return False
    return client.name in names if link else client.data_source == fault.args[0]
