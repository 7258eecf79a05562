"""T-SQL on the simulated instances: `submit` a batch from a window, `cancel` it, check and complete its text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import World
from engine.tsql.clients import agent, client
from engine.tsql.clients.client import cancel, submit
from engine.tsql.language.check import parse_only, parsing
from engine.tsql.language.complete import complete

__all__ = ["HANDLERS", "cancel", "check_connections", "complete", "parse_only", "parsing", "submit"]

HANDLERS: Final[dict[str, Callable[..., None]]] = {**client.HANDLERS, **agent.HANDLERS}
"""Timers that this package sets."""


def check_connections(world: World) -> None:
    """After each reaction of the protocol: connections that it ends, batches that it wakes, alerts that it answers."""
    client.check_connections(world)
    agent.watch(world)
