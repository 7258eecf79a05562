"""Preview of the immediate effects of an action, applied to a fork of the world, without Qt.

Later consequences are not shown, because foreseeing them is part of the drill.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import fields

from app.view_models.action_offers import ActionTarget
from app.view_models.topology_builder import build_topology_contents, list_copy_displays
from app.view_models.topology_contents import ClientDisplay, LinkDisplay, ServerDisplay, TopologyContents
from app.words import formatting
from app.words.language import trn
from engine import simulator
from engine.inputs import InputError
from engine.model import World
from engine.verbs.input_lines import parse_input_line

NAMED_DATABASES_MAX: Final = 4
"""Maximum number of databases that are listed by name.

Further databases are only counted, because their names would cover the topology.
"""


class ImpactPreview(Struct, frozen=True):
    """Objects that an action affects."""

    targets: tuple[ActionTarget, ...]
    """Servers, links and applications that change, and servers and applications that the action names."""
    databases: tuple[str, ...]
    """Databases of which at least one copy changes."""

    @property
    def summary(self) -> str:
        """All affected objects in one line. Many databases are only counted."""
        has_many_databases = len(self.databases) > NAMED_DATABASES_MAX
        count = trn("{n} database", "{n} databases", len(self.databases)).format(
            n=formatting.format_number(len(self.databases))
        )
        databases = [count] if has_many_databases else self.databases
        return ", ".join([*(target.title for target in self.targets), *databases])


def preview_impact(world: World, line: str, truth: bool = True) -> ImpactPreview:
    """Return the objects that *line* would affect now.

    If *truth* is False, as in an exam, return only the objects that *line* names.
    """
    item = parse_input_line(line, world.tick)
    before = build_topology_contents(world)
    named_objects = set(item.args)
    if not truth:
        return ImpactPreview(
            tuple(target for target in _list_targets(before) if named_objects & set(target.names)), ()
        )
    copy = world.fork()
    try:
        simulator.apply_input(copy, item)
    except InputError:
        return ImpactPreview((), ())
    new_picture = build_topology_contents(copy)
    changed_targets = {
        target
        for target, display in _collect_displays(before).items()
        if _collect_displays(new_picture).get(target) != display
    }
    changed_targets |= {
        ActionTarget("link", link_pair) for link_pair in _list_pairs(new_picture) - _list_pairs(before)
    }
    targets = [
        target
        for target in _list_targets(before)
        if target in changed_targets
        or (target.kind in ("server", "client") and target.names[0] in named_objects)
    ]
    copies_before, copies_after = list_copy_displays(world), list_copy_displays(copy)
    databases = dict.fromkeys(a.database for a, b in zip(copies_before, copies_after, strict=False) if a != b)
    databases |= dict.fromkeys(name for name in world.list_databases() if name in named_objects)
    return ImpactPreview(tuple(targets), tuple(databases))


def _collect_displays(contents: TopologyContents) -> dict[ActionTarget, tuple[object, ...]]:
    """Return object -> values that determine its appearance, for each object of the topology."""
    displays: dict[ActionTarget, tuple[object, ...]] = {}
    for server in contents.servers:
        displays[ActionTarget("server", (server.name,))] = _collect_content(server)
    for client in contents.clients:
        displays[ActionTarget("client", (client.name,))] = _collect_content(client)
    for link in contents.links:
        displays[ActionTarget("link", (link.a, link.b))] = _collect_content(link)
    return displays


def _collect_content(display: ServerDisplay | ClientDisplay | LinkDisplay) -> tuple[object, ...]:
    """Return the values of all fields of *display*, to compare them before and after an action."""
    return tuple(getattr(display, field.name) for field in fields(display))


def _list_targets(contents: TopologyContents) -> list[ActionTarget]:
    return list(_collect_displays(contents))


def _list_pairs(contents: TopologyContents) -> set[tuple[str, str]]:
    return {(link.a, link.b) for link in contents.links}
