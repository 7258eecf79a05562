"""Record of a verb: its effect, reverse, description and menu entry. Texts and constants are in verbs.tsv."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final, Literal, TypedDict, Unpack, cast

from msgspec import Struct, field
from msgspec.structs import replace

from engine.flow.failover_times import FailoverCause
from engine.inputs import Input, InputError
from engine.localization import build_message, mark
from engine.model import Client, Computer, Fault, Instance, TimerName, World
from engine.tables import read_table

Args = tuple[str, ...]
SavedValues = tuple[tuple[str, object], ...]
"""Values that the reversal of a fault restores (`Fault.before`)."""
VerbFunction = Callable[[World, Input], SavedValues | None]
ValueLister = Callable[[World, str, bool], Iterable[str]]
"""Function that returns the values of an argument.

Its arguments are the world, the first argument, and whether the true state may be shown.
"""
VariantLister = Callable[[World, Args], Iterable[tuple[str, str]]]
"""Function that returns the variants in menus as (label or "", options as text), for a world and arguments."""
LostPart = Literal["", "server", "link"]
VerbGroup = Literal["fault", "repair", "load", "sql", "chore", "remark"]


class VerbParameter(Struct, frozen=True):
    """Parameter of a verb. *kind* limits its values."""

    name: str
    kind: str = "word"
    """server, node, role, cluster, resource, database, client, name (server or client), window, workload,
    word, number, or rest (of the line).
    """
    optional: bool = False
    computer: bool = False
    """True if the parameter names a computer, including one without an instance."""
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float] | None = None
    """Minimum and maximum of a number. If None, the verb checks the value."""
    title: str = ""
    """Label in the editor; empty if the label is the parameter's name."""
    values: ValueLister | None = None
    """Function that returns the values for menus. If None, the user types the value."""


def is_always_offered(world: World, args: Args) -> bool:
    """Return True, because menus always offer the action."""
    return True


def find_no_objection(world: World, input_: Input) -> str:
    """Return "", because the action is never a no-op: it has an effect or raises an error."""
    return ""


def list_single_variant(world: World, args: Args) -> Iterable[tuple[str, str]]:
    """Return one variant without options, so that menus offer the action once."""
    return (("", ""),)


class Verb(Struct, frozen=True, kw_only=True):
    """Verb of input lines, with all its properties. The defaults describe an action without special rules."""

    name: str
    parameters: tuple[VerbParameter, ...] = ()
    options: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Options of the form name=number -> minimum and maximum.

    Outside these bounds, the model has no meaning or needs unlimited time. All bounds are assumed.
    """
    help: str
    sentence: str = ""
    """Template that describes the line, with parameter names in braces.

    If it is empty or has an unknown argument, the menu text is used instead (`engine.verbs.input_lines`).
    """
    group: VerbGroup
    """Group in menus and scores. The fault ledger records verbs of the groups "fault" and "repair"."""
    do: VerbFunction | None
    """Function that executes the verb and returns the values that a reversal restores.

    It raises InputError before any change. None for `revert-all`, which `engine.verbs.input_lines` executes.
    """

    # -- shown in the fault list
    reverse: str = ""
    """Verb, with options if needed, that reverts this one with the same arguments.

    If empty, the action ends automatically or needs other repairs.
    """
    undoes: tuple[str, ...] = ()
    """Faults that the verb ends, in addition to the faults that name this verb as *reverse*."""
    pointless: Callable[[World, Input], str] = find_no_objection
    """Function that returns the reason why the action would have no effect now, or "". With a reason, the
    action is recorded as a no-op.
    """
    loses: LostPart = ""
    """Part whose outage is attributed to the fault: the server of the first argument, or the link of the
    first two arguments; empty for none.
    """
    mechanism: FailoverCause = FailoverCause.POWER_OFF
    """Cause that decides the phase durations of a failover that the fault starts."""
    effect: Callable[[World, Fault], str] | None = None
    """Function that returns the evidence that the fault has taken effect, or "". If None, the evidence is the
    outage of the part in *loses*.
    """
    ends_with_effect: bool = False
    """True if the fault ends when its effect ends, for example after a repair by T-SQL."""
    cure: bool = False
    """True for maintenance that interrupts the service briefly. The fault ledger records it."""
    by_person: bool = False
    """True if only people can enter the verb. Scenario timelines and runbooks cannot contain it."""
    timers: Mapping[TimerName, Callable[..., None]] = field(default_factory=dict)
    """Handlers of the verb's timers, by name."""

    # -- shown in menus
    label: str = ""
    """Menu label, with {0}, {1} … for arguments and {options} for a variant. If empty, the help text is the
    label.
    """
    icon: str = "gear"
    section: str = ""
    """Submenu; empty for the top level."""
    same_end: bool = False
    """True if both ends of the link may be the same."""
    sensible: Callable[[World, Args], bool] = is_always_offered
    """Function that returns whether menus offer the action, because it is possible and useful."""
    variants: VariantLister = list_single_variant
    """Function that returns the variants in menus of a verb that needs values. Users can also type other
    values.
    """
    back_label: Callable[[Args], str] | None = None
    """Function that returns the label of the reverse action, if it is the same verb with other options. Menus
    show it when the action would have no effect.
    """
    directed: bool = False
    """True if the direction of the link matters."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of the parameters."""
        return tuple(parameter.kind for parameter in self.parameters if not parameter.optional)

    @property
    def applies_to_link(self) -> bool:
        """Return whether the verb applies to one link."""
        return self.kinds == ("name", "name")

    @property
    def applies_to_computer(self) -> bool:
        """Return whether the verb applies to one computer."""
        return bool(self.parameters) and self.parameters[0].computer

    @property
    def has_ends(self) -> bool:
        """Return whether the action applies to a link between two ends."""
        return tuple(parameter.name for parameter in self.parameters[:2]) == ("from", "to")

    @property
    def is_in_ledger(self) -> bool:
        """Return whether the fault ledger records the verb."""
        return self.do is not None and (self.group in ("fault", "repair") or self.cure)

    def is_own_reverse(self, input_: Input) -> bool:
        """Return whether *input_*, an input with this verb, reverts a fault of the same verb.

        For example, a slowdown by the factor 1 reverts a slowdown.
        """
        name, *options = self.reverse.split() or [""]
        pairs = (option.split("=") for option in options)
        return name == self.name and all(
            input_.get_option(key, math.nan) == float(value) for key, value in pairs
        )


# --- common parameters ------------------------------------------------------------------------------------

SERVER: Final = VerbParameter(mark("server"), "server")
COMPUTER: Final = VerbParameter(mark("server"), "server", computer=True)
NODE: Final = VerbParameter(mark("node"), "node")
ROLE: Final = VerbParameter(mark("role"), "role")
DATABASE: Final = VerbParameter(mark("database"), "database")
CLIENT: Final = VerbParameter(mark("client"), "client")
LINK: Final = (VerbParameter(mark("from"), "name"), VerbParameter(mark("to"), "name"))
SERVERS: Final = (VerbParameter("from", "server"), VerbParameter("to", "server"))

PARAMETERS: Final[Mapping[str, tuple[VerbParameter, ...]]] = {
    "server": (SERVER,), "computer": (COMPUTER,), "node": (NODE,), "role": (ROLE,), "database": (DATABASE,),
    "client": (CLIENT,), "link": LINK, "servers": SERVERS, "text": (VerbParameter("text", "rest"),),
    "resource": (VerbParameter(mark("resource"), "resource"),), "cluster": (VerbParameter(mark("cluster"), "cluster"),),
    "instance": (VerbParameter(mark("instance"), "role"),),
}  # fmt: skip
"""Parameter lists by their name in verbs.tsv."""


# --- the table of verbs -----------------------------------------------------------------------------------


class VerbCode(TypedDict, total=False):
    """Fields of a verb that are code and cannot be in verbs.tsv, or that replace values of verbs.tsv."""

    parameters: tuple[VerbParameter, ...]
    effect: Callable[[World, Fault], str]
    sensible: Callable[[World, Args], bool]
    pointless: Callable[[World, Input], str]
    variants: VariantLister
    back_label: Callable[[Args], str]
    timers: Mapping[TimerName, Callable[..., None]]
    label: str


@cache
def _read_rows() -> dict[str, dict[str, str]]:
    """Return name of a verb -> its row in verbs.tsv."""
    return {row["name"]: row for row in read_table("engine.verbs", "verbs.tsv")}


def build_verb(name: str, do: VerbFunction | None, **code: Unpack[VerbCode]) -> Verb:
    """Build a verb from its row in verbs.tsv, its function *do*, and other fields."""
    row, options = _read_rows()[name], {}
    flags = row["flags"].split()
    for option in filter(None, row["options"].split(", ")):
        key, minimum, maximum = option.split()
        options[key] = float(minimum), float(maximum)
    new_verb = Verb(
        name=name,
        parameters=tuple(p for key in row["parameters"].split() for p in PARAMETERS[key]),
        options=options,
        help=row["help"],
        sentence=row["sentence"],
        group=cast(VerbGroup, row["group"]),
        do=do,
        reverse=row["reverse"],
        undoes=tuple(row["undoes"].split()),
        loses=cast(LostPart, row["loses"]),
        mechanism=FailoverCause[row["mechanism"] or "POWER_OFF"],
        label=row["label"],
        icon=row["icon"] or "gear",
        section=row["section"],
        by_person="by_person" in flags,
        ends_with_effect="ends_with_effect" in flags,
        same_end="same_end" in flags,
        directed="directed" in flags,
        cure="cure" in flags,
    )
    return replace(new_verb, **code)


# --- common rules -----------------------------------------------------------------------------------------


def build_server_check(predicate: Callable[[Instance], bool]) -> Callable[[World, Args], bool]:
    """Build a check that is true if the server in the first argument meets *predicate*."""
    return lambda world, args: predicate(world.instances[args[0]])


def build_server_objection(
    reason: str, condition: Callable[[Instance], bool]
) -> Callable[[World, Input], str]:
    """Build a no-op check that returns *reason* if the server in the first argument meets *condition*."""
    return lambda world, item: reason if condition(world.instances[item.args[0]]) else ""


def build_computer_objection(
    reason: str, condition: Callable[[Computer], bool]
) -> Callable[[World, Input], str]:
    """Build a no-op check that returns *reason* if the computer in the first argument meets *condition*."""
    return lambda world, item: reason if condition(world.get_computer(item.args[0])) else ""


def list_other_servers(world: World, name: str, truth: bool) -> Iterable[str]:
    """Return all servers except *name*."""
    return (server for server in world.instances if server != name)


# --- effects ------------------------------------------------------------------------------------------------


def describe_pending_effect(world: World, fault: Fault) -> str:
    """Return the text for a fault that has not taken effect yet."""
    return build_message("the fault takes effect at the next disk write or network packet")


def describe_loss(world: World, fault: Fault, link: bool) -> str:
    """Describe a server or client that has lost contact since the fault began; "" if there is none.

    The lost contact is with the server in the first argument or, with *link*, between the ends of the
    link.
    """
    names = set(fault.args[:2]) if link else {fault.args[0], *world.list_instances_on(fault.args[0])}
    keys = [
        key
        for key, contact in world.contacts.items()
        if not contact.connected
        and contact.since_tick >= fault.active_tick
        and (set(key[1:]) == names if link else key[2] in names)
    ]
    if keys:
        _, server, peer = min(keys)
        return build_message("{server} has lost its connection to {other}", server=server, other=peer)
    for client in world.clients.values():
        if _is_affected(client, fault, names, link):
            return build_message("{client} has lost its connections", client=client.name)
    return ""


def _is_affected(client: Client, fault: Fault, names: set[str], link: bool) -> bool:
    if client.connected_to is not None or client.lost_since is None or client.lost_since < fault.active_tick:
        return False
    return (client.name if link else client.data_source) in names


# --- common check of manual steps: SQL Server must run ----------------------------------------------------


def require_running_servers(world: World, *names: str) -> None:
    """Raise InputError unless SQL Server runs on all servers in *names*."""
    for name in names:
        if not world.instances[name].answering:
            raise InputError(build_message("SQL Server on {server} does not respond", server=name))
