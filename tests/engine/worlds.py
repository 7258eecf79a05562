"""The lab for engine tests, with or without witness, and short ways to let things happen in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from engine.events import Event
from engine.model import World
from engine.published import measure
from engine.published.measure import play

__all__ = ["DB", "MIRROR", "PRINCIPAL", "M", "P", "W", "do", "lab", "play", "texts"]

P, M, W, DB = "SERVER_A", "SERVER_B", "SERVER_W", "Sales"
PRINCIPAL, MIRROR = (P, DB), (M, DB)

_made = cache(measure.lab)


def lab(seed: int = 1, **options: Any) -> World:
    """`engine.published.measure.lab`, made once for each of its *options*."""
    return _made(seed, **options).fork()


def do(world: World, *lines: str, then_s: float = 20.0) -> list[Event]:
    """Do *lines* at this moment, one after another, and run on for *then_s*."""
    script = "\n".join(f"{world.t_s} {line}" for line in lines)
    return play(world, script, world.t_s + then_s)


def texts(events: Sequence[Event], *kinds: str) -> list[str]:
    """`SERVER_A Synchronized …` of the events of these kinds."""
    return [f"{e.server} {e.text}" for e in events if e.kind in kinds]
