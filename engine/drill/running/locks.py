"""Locks of the story: input lines, or all lines with the same beginning, that the trainee cannot use."""

from __future__ import annotations

from engine import simulator
from engine.inputs import Input, InputError
from engine.localization import say
from engine.model import World
from engine.verbs import VERBS


def parse_lock(text: str, world: World) -> Input:
    """Parse the verb and the first arguments of *text*, in the world's spelling. Raises InputError."""
    name, *words = text.split()
    verb = VERBS.get(name.lower())
    if verb is None:
        raise InputError(say("unknown command {name!r}", name=name))
    if len(words) == 1 and verb.has_ends:
        raise InputError(
            say("to lock {verb}, name both ends of a link, or no end for all links", verb=verb.name)
        )
    if len(words) > len(verb.parameters) and "rest" not in [p.kind for p in verb.parameters]:
        raise InputError(
            say("{verb} accepts at most {n} argument(s)", verb=verb.name, n=len(verb.parameters))
        )
    item = Input(0, verb.name, tuple(words))
    return simulator.resolve(world, item) if words else item


def covers(lock: Input, item: Input) -> bool:
    """Return whether the parsed *lock* blocks *item*. The ends of a link can be in either order."""
    words = tuple(" ".join(item.args).split())
    orders = {lock.args, lock.args[::-1]} if VERBS[lock.verb].has_ends else {lock.args}
    return lock.verb == item.verb and any(words[: len(order)] == order for order in orders)
