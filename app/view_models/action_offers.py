"""Possible actions on an object, as input lines with labels, without Qt.

Menus, toolbar and keyboard shortcuts all use this list.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Final

from msgspec import Struct

from app.words.language import tr
from engine import simulator
from engine.cluster import roles
from engine.events import FaultData
from engine.inputs import InputError
from engine.model import World
from engine.verbs import VERBS
from engine.verbs.input_lines import execute_input, parse_input_line
from engine.verbs.verb import Args, Verb, VerbParameter, list_other_servers


class ActionTarget(Struct, frozen=True):
    """Object that the user has selected for an action: a server, link, client application or database."""

    kind: str
    """server, link, client or database."""
    names: tuple[str, ...]
    """Name of the object; for a link, the names of both ends."""

    @property
    def title(self) -> str:
        """Return the title for menus."""
        return " – ".join(self.names)


class ActionOffer(Struct, frozen=True):
    """Action that is currently possible."""

    line: str
    """Input line without its time."""
    label: str
    group: str
    """Group of the verb: fault, repair, load or chore."""
    icon: str
    section: str = ""
    """Submenu of the action; empty if the action is in the main menu."""
    english: str = ""
    """English label. A search finds the action by this label in any interface language."""


OFFERED_DATABASES_MAX: Final = 8
"""Maximum number of databases in a server's menu. If there are more, only open or damaged databases are
listed.

Assumed: more entries would not be readable.
"""

_GROUP_ORDER: Final = ("repair", "chore", "fault", "load")
"""Groups of verbs in the order of a menu."""


CONNECTION_STRING_VERBS: Final = frozenset({"point-app"})
"""Verbs that change the connection string. Menus omit them, because the user edits the string instead."""


def list_action_offers(
    world: World, target: ActionTarget, reveals_state: bool = True, open_database: str = ""
) -> list[ActionOffer]:
    """Return all possible actions on *target*, repairs first.

    If a server has many databases, only *open_database* and damaged databases are offered.

    Each action is tested on a copy of the world. If *reveals_state* is False, as in an exam, every action for
    this kind of target is listed. The menu then does not reveal what is broken.
    """
    offers: list[ActionOffer] = []
    repair_offers: list[ActionOffer] = []
    for verb in VERBS.values():
        offered = verb.group in _GROUP_ORDER and verb.name not in CONNECTION_STRING_VERBS
        for args in _list_arguments(world, verb, target, reveals_state, open_database) if offered else ():
            if not reveals_state or verb.sensible(world, args):
                offers += _list_offers(world, verb, args)
            if verb.back_label is not None and (not reveals_state or not verb.sensible(world, args)):
                name, _, options = verb.reverse.partition(" ")
                line, label = " ".join((name, *args, options)), verb.back_label(args)
                repair_offers.append(ActionOffer(line, tr(label), "repair", "mend", english=label))
    offers += repair_offers
    if reveals_state:
        offers = [offer for offer in offers if _is_effective(world, offer.line)]
    return sorted(
        offers, key=lambda offer: (_GROUP_ORDER.index(offer.group), bool(offer.section), offer.section)
    )


def _list_offers(world: World, verb: Verb, args: Args) -> Iterator[ActionOffer]:
    words = tr(verb.label or verb.help)
    words = words[:1].upper() + words[1:]
    for text, options in verb.variants(world, args):
        yield ActionOffer(
            " ".join(filter(None, (verb.name, *args, options))),
            words.format(*args, options=tr(text)),
            verb.group,
            verb.icon,
            tr(verb.section),
            (verb.label or verb.help).format(*args, options=text),
        )


def _is_effective(world: World, line: str) -> bool:
    copy = world.fork()
    try:
        item = simulator.resolve_names(copy, parse_input_line(line, copy.tick))
        # execute_input does not propagate the change in this copy, which takes long with 200 databases.
        execute_input(copy, item)
    except InputError:
        return False
    return not any(isinstance(event.data, FaultData) and event.data.no_effect for event in copy.outbox)


# --- arguments of verbs -------------------------------------------------------------------------------------


def _list_arguments(
    world: World, verb: Verb, target: ActionTarget, truth: bool, open_database: str
) -> Iterator[Args]:
    """Yield every argument list for *verb* that begins with *target*.

    *truth*: False to ignore the true state, as in an exam. *open_database*: database that is always offered.
    """
    if target.kind == "link":
        if verb.applies_to_link:
            yield target.names
            if verb.directed:
                yield target.names[::-1]
    elif target.names[0] in world.nodes and verb.kinds[:1] and verb.kinds[0] in NODE_ARGUMENTS:
        for name in NODE_ARGUMENTS[verb.kinds[0]](world, target.names[0]):
            if verb.kinds in ((verb.kinds[0],), (verb.kinds[0], "node")):
                yield (name, target.names[0])[: len(verb.kinds)]
    elif _is_target_accepted(world, verb, target):
        parameters = [parameter for parameter in verb.parameters if not parameter.optional]
        argument_choices = [
            list(_list_values(world, parameter, target, truth, open_database)) for parameter in parameters[1:]
        ]
        for values in product(*argument_choices):
            yield (target.names[0], *values)


NODE_ARGUMENTS: Final[dict[str, Callable[[World, str], Iterable[str]]]] = {
    "cluster": lambda world, node: (world.nodes[node].cluster,),
    "role": lambda world, node: dict.fromkeys(role.name for _, role in roles.iterate_roles(world)),
    "resource": lambda world, node: (
        resource.name
        for _, role in roles.iterate_roles(world)
        for resource in role.resources
        if role.owner == node and " " not in resource.name
    ),
}
"""Parameter kind -> function that lists the arguments offered in a node's menu.

The arguments are clusters, roles and resources. Resource names with spaces are omitted and must be typed.
"""


def _is_target_accepted(world: World, verb: Verb, target: ActionTarget) -> bool:
    """Return whether *target* can be the first argument of *verb*.

    A node or a computer without an instance counts as a server.
    """
    if verb.kinds[:1] == ("node",):
        return target.kind == "server" and target.names[0] in world.nodes
    if verb.kinds[:1] != (target.kind,):
        return False
    return target.kind != "server" or target.names[0] in world.instances or verb.parameters[0].computer


def _list_values(
    world: World, parameter: VerbParameter, target: ActionTarget, truth: bool, open_database: str
) -> Iterable[str]:
    name = target.names[0]
    if parameter.values is not None:
        return parameter.values(world, name, truth)
    if parameter.kind == "server":
        return list_other_servers(world, name, truth)
    if parameter.kind == "database":
        return _list_offered_databases(world, name, truth, open_database)
    return parameter.choices


def _list_offered_databases(world: World, server: str, truth: bool, open_database: str) -> list[str]:
    copies_here = {
        database: copy for (copy_server, database), copy in world.copies.items() if copy_server == server
    }
    if len(copies_here) <= OFFERED_DATABASES_MAX:
        return list(copies_here)
    return [
        name
        for name, copy in copies_here.items()
        if name == open_database or (truth and (copy.disk_failed or copy.bad_pages))
    ]
