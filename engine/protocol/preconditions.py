"""Preconditions of an automatic failover: whether each is met, and where a DBA can check it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import World
from engine.protocol import groups
from engine.protocol.groups import FailoverPrecondition

OTHERS: Final[list[Callable[[World, str], list[FailoverPrecondition]]]] = []
"""Functions that give preconditions for a database in no group; each kind of failover adds its own."""


def preconditions(world: World, database: str) -> list[FailoverPrecondition]:
    """Return all preconditions of an automatic failover of *database* now; empty if no other copy could take over."""
    found = next((copy for copy in world.copies_of(database) if copy.group is not None), None)
    if found is not None:
        return groups.policy(found).preconditions(world, database)
    return [condition for way in OTHERS for condition in way(world, database)]


def armed(world: World, database: str) -> bool:
    """Return whether another copy would take over automatically if the copy that writes were lost now."""
    beforehand = [
        condition for condition in preconditions(world, database) if condition.about in ("", "memory")
    ]
    targets = {condition.target for condition in beforehand}
    failing = {condition.target for condition in beforehand if not condition.holds}
    return bool(beforehand) and "" not in failing and (targets == {""} or bool(targets - failing - {""}))
