"""Execution of input lines, and the fault ledger: request, effect and end of each fault."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from engine.events import FaultData
from engine.inputs import Input
from engine.localization import say
from engine.model import Fault, Tick, World
from engine.verbs import VERBS
from engine.verbs.verb import Args, Doing, Verb, loss

UNDOES: Final[dict[str, frozenset[str]]] = {
    verb.name: frozenset(
        [*verb.undoes, *(other.name for other in VERBS.values() if other.reverse.split(" ")[0] == verb.name)]
    )
    for verb in VERBS.values()
}
"""Verb -> faults that it ends."""


def apply_input(world: World, item: Input) -> None:
    """Do one input whose names are as the world spells them. Raises InputError before anything changes."""
    verb = VERBS[item.verb]
    if verb.do is None:
        revert_all(world)
    elif verb.in_ledger:
        _enter(world, item, verb, verb.do)
    else:
        verb.do(world, item)


def _enter(world: World, item: Input, verb: Verb, do: Doing) -> None:
    """Do a fault or its reverse, with its line in the ledger."""
    known = (world.instances, world.computers)
    server = item.args[0] if item.args and any(item.args[0] in names for names in known) else None
    pointless = verb.pointless(world, item)
    if pointless:
        text = say("{input}: {why}", input=item.command_text, why=pointless)
        world.emit(FaultData(verb=verb.name, args=list(item.args), no_effect=True), text, server=server)
        return
    place, computer = len(world.outbox), _computer_meant(world, item, verb)
    before = do(world, item)
    own = None
    if verb.group != "repair" and not verb.is_own_reverse(item):
        own = world.next_id()
        options = tuple(f"{name}={value}" for name, value in item.options)
        if computer not in (None, item.args[0]):
            before = (*(before or ()), (COMPUTER, computer))
        world.faults.append(
            Fault(id=own, verb=verb.name, args=item.args + options, asked_tick=item.tick, active_tick=world.tick,
                  before=before or ())
        )  # fmt: skip
    _close(world, item, verb, own)
    world.emit(FaultData(verb=verb.name, args=list(item.args)), item.command_text, server=server)
    world.outbox.insert(place, world.outbox.pop())  # the action must precede its effects


def _close(world: World, item: Input, verb: Verb, own_fault_id: int | None) -> None:
    """Close the faults that *item* reverts, but not the fault *own_fault_id* that it has just entered."""
    computer = _computer_meant(world, item, verb)
    for index, fault in enumerate(world.faults):
        if fault.reverted_tick is not None or fault.verb not in UNDOES[verb.name] or fault.id == own_fault_id:
            continue
        what = arguments(fault)
        if computer is not None:
            same = (_computer_hit(world, fault), *what[1:]) == (computer, *item.args[1:])
        else:
            same = what == item.args or (verb.of_link and set(what) == set(item.args))
        if same:
            world.faults[index] = replace(fault, reverted_tick=world.tick)


COMPUTER: Final = "computer"
"""Key in `Fault.before` for the computer of the named instance, which may run on another one since."""


def _computer_meant(world: World, item: Input, verb: Verb) -> str | None:
    """Return the computer to which *item* is applied; None if it is not applied to a computer."""
    return world.computer_named(item.args[0]).name if verb.of_computer else None


def _computer_hit(world: World, fault: Fault) -> str:
    """Return the computer to which *fault* was applied, or on which its instance runs."""
    return str(dict(fault.before).get(COMPUTER) or world.computer_named(fault.args[0]).name)


def arguments(fault: Fault) -> Args:
    """Return the target of the fault as it was requested, without its options."""
    return tuple(arg for arg in fault.args if "=" not in arg)


def is_requested(fault: Fault, journal: Iterable[Input]) -> bool:
    """Return whether an input of the *journal* has requested *fault*."""
    wanted = (fault.asked_tick, fault.verb, arguments(fault))
    return any((item.tick, item.verb, item.args) == wanted for item in journal)


def reverse_of(fault: Fault, tick: Tick = 0) -> Input | None:
    """Return the action that reverts *fault*; None if it ends automatically or needs other work."""
    # SHUTDOWN in T-SQL is not a verb of input lines; it stops the service
    reverse = VERBS[fault.verb].reverse if fault.verb in VERBS else "start-service"
    if not reverse:
        return None
    name, *options = reverse.split(" ")
    pairs = (option.partition("=") for option in options)
    args, computer = arguments(fault), dict(fault.before).get(COMPUTER)
    if computer is not None:
        args = (str(computer), *args[1:])
    return Input(tick, name, args, tuple((key, value) for key, _, value in pairs))


def revert_all(world: World) -> None:
    """Revert every active fault, newest first. If one cannot be reverted, nothing changes."""
    _revert_each(world.fork())
    _revert_each(world)


def _revert_each(world: World) -> None:
    for fault in reversed(world.faults):
        current = next(f for f in world.faults if f.id == fault.id)
        reverse = reverse_of(fault, world.tick)
        if current.reverted_tick is None and reverse is not None:
            apply_input(world, reverse)


def note_effects(world: World) -> None:
    """Enter in the ledger which active faults have by now been felt by a client or a server."""
    for index, fault in enumerate(world.faults):
        if fault.reverted_tick is not None:
            continue
        if fault.effective_tick is None:
            effect = effect_of(world, fault)
            if effect:
                world.faults[index] = replace(fault, effective_tick=world.tick, effect=effect)
        elif fault.verb in VERBS and VERBS[fault.verb].ends_with_effect and not effect_of(world, fault):
            world.faults[index] = replace(fault, reverted_tick=world.tick)


def effect_of(world: World, fault: Fault) -> str:
    """Return the text of the evidence that the fault is effective, or "" if there is none yet."""
    verb = VERBS.get(fault.verb)
    if verb is None or verb.effect is None:
        return loss(world, fault, link=verb is not None and verb.loses == "link")
    return verb.effect(world, fault)
