"""What chores share: they say what they have done, and refuse where SQL Server does not answer."""

from __future__ import annotations

from typing import Any

from engine.inputs import InputProblem
from engine.model import World
from engine.words import say


def tell(world: World, server: str, text: str, **data: Any) -> None:
    world.emit("chore", text, server=server, **data)


def need_running(world: World, *names: str) -> None:
    for name in names:
        if not world.instances[name].answering:
            raise InputProblem(say("SQL Server on {server} does not answer", server=name))
