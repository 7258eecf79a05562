"""Modes of a drill and their permissions."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from engine import simulator
from engine.inputs import Input, InputError
from engine.localization import build_message
from engine.model import World
from engine.verbs import VERBS


class DrillMode(StrEnum):
    """Mode in which a drill is played."""

    GUIDED = "guided"
    PRACTICE = "practice"
    EXAM = "exam"
    LAB = "lab"
    """Free play: no score, no locks, no end."""


class ModePermissions(Struct, frozen=True, kw_only=True):
    """Permissions of a mode."""

    hints: bool
    hints_cost: bool
    rewind: bool
    """True if rewinding is allowed. In scored drills it is recorded."""
    rewind_cost: float = 0.0
    """Points that each rewind costs."""
    progress: bool
    """True if the drill reports progress while it runs."""
    answers_at_once: bool
    """True if an answer is marked correct or wrong immediately, and not only after the end of the drill."""
    truth: bool
    """True if the instructor's view is available, which shows the true state without asking a server."""


TERMS: Final[dict[DrillMode, ModePermissions]] = {
    DrillMode.GUIDED: ModePermissions(
        hints=True, hints_cost=False, rewind=True, progress=True, answers_at_once=True, truth=True
    ),
    DrillMode.PRACTICE: ModePermissions(
        hints=True,
        hints_cost=True,
        rewind=True,
        rewind_cost=2.0,
        progress=True,
        answers_at_once=False,
        truth=True,
    ),
    DrillMode.EXAM: ModePermissions(
        hints=False, hints_cost=False, rewind=False, progress=False, answers_at_once=False, truth=False
    ),
    DrillMode.LAB: ModePermissions(
        hints=True, hints_cost=False, rewind=True, progress=False, answers_at_once=True, truth=True
    ),
}
"""Permissions of each mode.

Guided teaches; practice charges for hints; an exam has a fixed pace and no hints; a lab has no score.
"""


# --- locks of the scenario -----------------------------------------------------------------------------------
# The trainee cannot use a locked input line, or any line with a locked beginning.


def parse_lock(text: str, world: World) -> Input:
    """Parse *text*, a verb with its first arguments, into an input with the world's spelling. Raises InputError."""
    name, *words = text.split()
    verb = VERBS.get(name.lower())
    if verb is None:
        raise InputError(build_message("unknown command {name!r}", name=name))
    if len(words) == 1 and verb.has_ends:
        raise InputError(
            build_message("to lock {verb}, name both ends of a link, or no end for all links", verb=verb.name)
        )
    if len(words) > len(verb.parameters) and "rest" not in [p.kind for p in verb.parameters]:
        raise InputError(
            build_message("{verb} accepts at most {n} argument(s)", verb=verb.name, n=len(verb.parameters))
        )
    item = Input(0, verb.name, tuple(words))
    return simulator.resolve_names(world, item) if words else item


def is_blocked_by(lock: Input, input_: Input) -> bool:
    """Return whether *lock* blocks *input_*. The ends of a link may be in either order."""
    words = tuple(" ".join(input_.args).split())
    orders = {lock.args, lock.args[::-1]} if VERBS[lock.verb].has_ends else {lock.args}
    return lock.verb == input_.verb and any(words[: len(order)] == order for order in orders)
