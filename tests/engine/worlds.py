"""Lab for engine tests, with or without a witness, and functions that apply inputs to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from engine.events import Event
from engine.model import World
from engine.published import measurements
from engine.published.measurements import play_script

__all__ = [
    "DB",
    "MIRROR",
    "PRINCIPAL",
    "M",
    "P",
    "W",
    "apply_lines",
    "build_lab",
    "format_events",
    "play_script",
]

P, M, W, DB = "SERVER_A", "SERVER_B", "SERVER_W", "Sales"
PRINCIPAL, MIRROR = (P, DB), (M, DB)

_build_cached_lab = cache(measurements.build_lab_world)


def build_lab(seed: int = 1, **options: Any) -> World:
    """Return `engine.published.measurements.build_lab_world`, cached by its *options*."""
    return _build_cached_lab(seed, **options).fork()


def apply_lines(world: World, *lines: str, wait_s: float = 20.0) -> list[Event]:
    """Apply *lines* in order at the current time, and run for *wait_s*."""
    script = "\n".join(f"{world.t_s} {line}" for line in lines)
    return play_script(world, script, world.t_s + wait_s)


def format_events(events: Sequence[Event], *kinds: str) -> list[str]:
    """Return texts such as `SERVER_A Synchronized …` for the events of the given *kinds*."""
    return [f"{e.server} {e.text}" for e in events if e.kind in kinds]
