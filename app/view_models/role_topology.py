"""Topology for one role of a team, reduced to the facts that the role can see."""

from typing import Final

from msgspec.structs import replace

from app.view_models import group_topology
from app.view_models.topology_builder import HUNG_INDICATOR, POWERLESS_INDICATORS
from app.view_models.topology_contents import (
    ClientDisplay,
    LinkDisplay,
    ServerDisplay,
    StatusIndicator,
    TopologyContents,
)
from app.words.language import mark, tr
from engine.drill.authoring.schema import RoleSpec
from engine.drill.team.role_view import is_responding
from engine.model import World

NOT_VISIBLE_INDICATOR: Final = StatusIndicator(mark("not visible"), "idle", "ring")
_UNSEEN_LINK_INDICATOR: Final = StatusIndicator("–", "idle", "ring")
_POWER_ON_INDICATOR: Final = StatusIndicator(mark("power on"), "ok", "dot")


def limit_to_role(contents: TopologyContents, world: World, role: RoleSpec) -> TopologyContents:
    """Return *contents* with only the facts that *role* can see."""
    return TopologyContents(
        servers=tuple(_limit_server(display, world, role) for display in contents.servers),
        clients=tuple(_limit_client(face, role) for face in contents.clients),
        links=tuple(_limit_link(face, world, role) for face in contents.links),
    )


def _limit_server(display: ServerDisplay, world: World, role: RoleSpec) -> ServerDisplay:
    belongs_to_role = display.name in role.servers
    power, queries = belongs_to_role and "power" in role.sees, belongs_to_role and "databases" in role.sees
    answering = queries and is_responding(world, display.name)
    if power and display.status in POWERLESS_INDICATORS:
        status = display.status
    elif queries:
        status = display.status if answering else HUNG_INDICATOR
    else:
        status = _POWER_ON_INDICATOR if power else NOT_VISIBLE_INDICATOR
    unplugged = power and display.name in world.instances and not world.get_computer(display.name).nic_up
    instance = world.instances.get(display.name)
    copies = (
        display.copies
        if "queues" in role.sees
        else tuple(replace(copy, queue=None) for copy in display.copies)
    )
    return replace(
        display,
        status=status,
        copies=copies if answering else (),
        grid=display.grid if answering else (),
        witness_indicators=display.witness_indicators if answering else (),
        faults=(
            *(
                group_topology.list_host_node_notes(world, instance)
                if answering and instance is not None
                else ()
            ),
            *((tr("network cables unplugged"),) if unplugged else ()),
        ),
        listeners=display.listeners if answering else (),
        host_node=display.host_node if belongs_to_role else "",
    )


def _limit_client(display: ClientDisplay, role: RoleSpec) -> ClientDisplay:
    return (
        display
        if "clients" in role.sees
        else replace(display, status=NOT_VISIBLE_INDICATOR, rate="", short_rate="")
    )


def _limit_link(display: LinkDisplay, world: World, role: RoleSpec) -> LinkDisplay:
    if display.a in world.clients or display.b in world.clients:
        is_seen = "clients" in role.sees
    else:
        is_seen = "links" in role.sees and {display.a, display.b} <= set(role.servers)
    if is_seen:
        return display
    return replace(
        display, status=_UNSEEN_LINK_INDICATOR, notes=(), measured="", active=False, log_kb_per_s=0.0,
        has_synchronous_commit=False, has_pings=False,
    )  # fmt: skip
