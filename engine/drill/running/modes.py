"""Modes of a drill, their permissions, and the locks of a scenario."""

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
    """Free play without score, locks and end."""


class ModePermissions(Struct, frozen=True, kw_only=True):
    """Permissions of a mode."""

    hints: bool
    """True if hints are available."""
    hints_cost: bool
    """True if hints cost points."""
    rewind: bool
    """True if rewinds are allowed. Scored drills record them."""
    rewind_cost: float = 0.0
    """Points that each rewind costs."""
    reports_progress: bool
    """True if the drill reports progress while it runs."""
    judges_immediately: bool
    """True if an answer is judged immediately; False if only after the end of the drill."""
    shows_truth: bool
    """True if the true state is available without a query to a server (instructor's view)."""


PERMISSIONS_BY_MODE: Final[dict[DrillMode, ModePermissions]] = {
    DrillMode.GUIDED: ModePermissions(
        hints=True,
        hints_cost=False,
        rewind=True,
        reports_progress=True,
        judges_immediately=True,
        shows_truth=True,
    ),
    DrillMode.PRACTICE: ModePermissions(
        hints=True,
        hints_cost=True,
        rewind=True,
        rewind_cost=2.0,
        reports_progress=True,
        judges_immediately=False,
        shows_truth=True,
    ),
    DrillMode.EXAM: ModePermissions(
        hints=False,
        hints_cost=False,
        rewind=False,
        reports_progress=False,
        judges_immediately=False,
        shows_truth=False,
    ),
    DrillMode.LAB: ModePermissions(
        hints=True,
        hints_cost=False,
        rewind=True,
        reports_progress=False,
        judges_immediately=True,
        shows_truth=True,
    ),
}
"""Mode -> permissions.

The guided mode teaches. Practice deducts points for hints. An exam has a fixed pace and no hints. A lab has
no score.
"""


# --- locks of the scenario
# -----------------------------------------------------------------------------------
# A lock is the beginning of an input line. The trainee cannot use lines with this beginning.


def parse_lock(text: str, world: World) -> Input:
    """Parse *text*, a verb with its first arguments. Return an input with names as the world spells them.

    Raises InputError.
    """
    name, *words = text.split()
    verb = VERBS.get(name.lower())
    if verb is None:
        raise InputError(build_message("unknown command {name!r}", name=name))
    if len(words) == 1 and verb.has_ends:
        raise InputError(
            build_message(
                "to lock {verb} for one link, name both ends; to lock it for all links, name no end",
                verb=verb.name,
            )
        )
    if len(words) > len(verb.parameters) and "rest" not in [p.kind for p in verb.parameters]:
        raise InputError(
            build_message("{verb} accepts at most {n} argument(s)", verb=verb.name, n=len(verb.parameters))
        )
    item = Input(0, verb.name, tuple(words))
    return simulator.resolve_names(world, item) if words else item


def is_input_blocked(lock: Input, input_: Input) -> bool:
    """Return whether *lock* makes *input_* unavailable. The order of the ends of a link does not matter."""
    words = tuple(" ".join(input_.args).split())
    orders = {lock.args, lock.args[::-1]} if VERBS[lock.verb].has_ends else {lock.args}
    return lock.verb == input_.verb and any(words[: len(order)] == order for order in orders)
