"""Verbs for the link between two servers or applications."""

from typing import Final

from msgspec.structs import replace

from engine.inputs import Input, InputError
from engine.localization import build_message, mark
from engine.model import FieldOf, Link, World
from engine.protocol import network
from engine.verbs.verb import Args, SavedValues, build_verb, describe_pending_effect


def _change_link(
    world: World, input_: Input, both_directions: bool = True, **changes: FieldOf[Link]
) -> SavedValues:
    """Change the link that *input_* names, and return its former values.

    *both_directions*: also change the opposite direction.
    """
    a, b = input_.args
    directions = ((a, b), (b, a)) if both_directions else ((a, b),)
    before = tuple((f"{x}>{y}", network.get_link(world, x, y)) for x, y in directions)
    for x, y in directions:
        world.links[x, y] = replace(network.get_link(world, x, y), **changes)
    network.forget_lossy_timers(world, a, b)
    network.schedule_detections(world)
    return before


def _repair_link(world: World, input_: Input) -> None:
    a, b = input_.args
    healthy = _build_healthy_links(world)
    for x, y in ((a, b), (b, a)):
        # links without faults remain unchanged
        world.links[x, y] = healthy.get((x, y), network.get_link(world, x, y))
    network.schedule_detections(world)


def _build_healthy_links(world: World) -> dict[tuple[str, str], Link]:
    """Return the original values of all links that active faults have changed."""
    healthy: dict[tuple[str, str], Link] = {}
    for fault in world.faults:
        if fault.reverted_tick is None:
            for name, before in fault.before:
                if isinstance(before, Link):
                    a, _, b = name.partition(">")
                    healthy.setdefault((a, b), before)
    return healthy


def _reset_link(world: World, input_: Input) -> None:
    for (guid, server, peer), contact in list(world.contacts.items()):
        if {server, peer} == set(input_.args) and contact.connected:
            world.contacts[guid, server, peer] = contact = replace(
                contact, pending="hard", epoch=contact.epoch + 1
            )
            world.call_after(0.05, "contact.lost", guid, server, peer, contact.epoch, "hard")


def _degrade_link(world: World, input_: Input) -> SavedValues:
    changes: dict[str, float] = {name: float(value) for name, value in input_.options}
    if changes.get("loss", 0.0) >= 1.0:
        raise InputError(build_message("degrade: loss must be below 1; to lose all packets, use black-hole"))
    if changes.get("bandwidth_mbps", 1.0) <= 0.0:
        raise InputError(
            build_message(
                "degrade: bandwidth_mbps must be above 0; to stop all traffic, use cut or black-hole"
            )
        )
    return _change_link(world, input_, True, **changes)


FLAPPING_PERIOD_S: Final = 2.0
"""Period of a flapping link: one phase down and one phase up. Assumed: the time to detect both."""


def _start_flapping(world: World, input_: Input) -> SavedValues:
    half_s = input_.get_option("period_s", FLAPPING_PERIOD_S) / 2.0
    world.call_after(half_s, "link.flap", *input_.args, half_s, len(world.faults))
    return _change_link(world, input_, up=False)


def _toggle_link(world: World, a: str, b: str, half_s: float, fault_index: int) -> None:
    """Timer handler: start the next half of a flapping period. *half_s*: length of a half in seconds.

    Flapping stops when the fault at *fault_index* ends or is requested again.
    """
    active = [f for f in world.faults if f.reverted_tick is None and set(f.args[:2]) == {a, b}]
    flapping = [f for f in active if f.verb == "flap-link"]
    if not flapping or flapping[-1] is not world.faults[fault_index]:
        return
    becomes_up = not network.get_link(world, a, b).up and all(f.verb != "cut" for f in active)
    for x, y in ((a, b), (b, a)):
        world.links[x, y] = replace(network.get_link(world, x, y), up=becomes_up)
    network.schedule_detections(world)
    world.call_after(half_s, "link.flap", a, b, half_s, fault_index)


def _is_link_passing(world: World, args: Args) -> bool:
    return network.can_exchange_packets(world, args[0], args[1])


def _is_link_used(world: World, args: Args) -> bool:
    return any(
        {end, peer} == set(args) and contact.connected for (_, end, peer), contact in world.contacts.items()
    )


def _is_link_changed(world: World, args: Args) -> bool:
    a, b = args
    active = {frozenset(f.args[:2]) for f in world.faults if f.reverted_tick is None}
    is_unchanged = all(
        network.get_link(world, x, y).up and network.get_link(world, x, y).passing
        for x, y in ((a, b), (b, a))
    )
    return not is_unchanged or frozenset(args) in active


DEGRADE_VARIANTS: Final = (
    (mark("Round trip 50 ms"), "rtt_ms=50"),
    (mark("Round trip 200 ms"), "rtt_ms=200"),
    (mark("Bandwidth 10 Mbps"), "bandwidth_mbps=10"),
    (mark("Packet loss 1%"), "loss=0.01"),
)

VERBS: Final = (
    build_verb("cut", lambda world, item: _change_link(world, item, up=False), sensible=_is_link_passing),
    build_verb("mend", _repair_link, sensible=_is_link_changed),
    build_verb(
        "black-hole", lambda world, item: _change_link(world, item, passing=False), sensible=_is_link_passing
    ),
    build_verb(
        "cut-one-way",
        lambda world, item: _change_link(world, item, both_directions=False, passing=False),
        sensible=_is_link_passing,
    ),
    build_verb("flap-link", _start_flapping, sensible=_is_link_passing, timers={"link.flap": _toggle_link}),
    build_verb("reset-link", _reset_link, sensible=_is_link_used),
    # no bandwidth of 0, because `cut` and `black-hole` stop a link
    build_verb(
        "degrade",
        _degrade_link,
        label="{options}",
        effect=describe_pending_effect,
        sensible=_is_link_passing,
        variants=lambda world, args: DEGRADE_VARIANTS,
    ),
)
