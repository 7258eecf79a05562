"""Topology picture for one role of a team, reduced to the facts that the role can see."""

from typing import Final

from msgspec.structs import replace

from app.view_models import group_picture
from app.view_models.faces import ClientFace, LinkFace, Picture, ServerFace, StatusSign
from app.view_models.picture import HUNG, POWERLESS_SIGNS
from app.words.language import mark, tr
from engine.drill.authoring.schema import RoleSpec
from engine.drill.team.view import is_responding
from engine.model import World

NOT_VISIBLE: Final = StatusSign(mark("not visible"), "idle", "ring")
_UNSEEN_LINK: Final = StatusSign("–", "idle", "ring")
_ON: Final = StatusSign(mark("power on"), "ok", "dot")


def limit_to_role(picture: Picture, world: World, role: RoleSpec) -> Picture:
    """Return *picture* with only the facts that *role* can see."""
    return Picture(
        servers=tuple(_limit_server(face, world, role) for face in picture.servers),
        clients=tuple(_limit_client(face, role) for face in picture.clients),
        links=tuple(_limit_link(face, world, role) for face in picture.links),
    )


def _limit_server(face: ServerFace, world: World, role: RoleSpec) -> ServerFace:
    is_own = face.name in role.servers
    power, queries = is_own and "power" in role.sees, is_own and "databases" in role.sees
    answering = queries and is_responding(world, face.name)
    if power and face.status in POWERLESS_SIGNS:
        status = face.status
    elif queries:
        status = face.status if answering else HUNG
    else:
        status = _ON if power else NOT_VISIBLE
    unplugged = power and face.name in world.instances and not world.get_computer(face.name).nic_up
    instance = world.instances.get(face.name)
    copies = (
        face.copies if "queues" in role.sees else tuple(replace(copy, queue=None) for copy in face.copies)
    )
    return replace(
        face,
        status=status,
        copies=copies if answering else (),
        grid=face.grid if answering else (),
        witness_signs=face.witness_signs if answering else (),
        faults=(
            *(
                group_picture.list_host_node_notes(world, instance)
                if answering and instance is not None
                else ()
            ),
            *((tr("network cables unplugged"),) if unplugged else ()),
        ),
        listeners=face.listeners if answering else (),
        host_node=face.host_node if is_own else "",
    )


def _limit_client(face: ClientFace, role: RoleSpec) -> ClientFace:
    return face if "clients" in role.sees else replace(face, status=NOT_VISIBLE, rate="", short_rate="")


def _limit_link(face: LinkFace, world: World, role: RoleSpec) -> LinkFace:
    if face.a in world.clients or face.b in world.clients:
        is_seen = "clients" in role.sees
    else:
        is_seen = "links" in role.sees and {face.a, face.b} <= set(role.servers)
    if is_seen:
        return face
    return replace(
        face, status=_UNSEEN_LINK, notes=(), measured="", active=False, log_kb_per_s=0.0, acknowledged=False,
        pinged=False,
    )  # fmt: skip
