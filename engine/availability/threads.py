"""Worker threads of availability groups, and the effects of a lack of threads.

[DOC: thread usage of groups]
"""

from __future__ import annotations

from typing import Final

from engine.model import Handlers, World
from engine.protocol import errorlog

RESERVED: Final = 40
"""Worker threads that groups leave free: their pool has `max worker threads` less 40.

Documented [DOC: thread usage of groups].
"""


def watch(world: World) -> None:
    """Record instances whose worker threads became too few or sufficient after log streams changed."""
    for server in dict.fromkeys(name for name, _ in world.replicas):
        if _lacks_threads(world, server) != world.instances[server].short_of_threads:
            world.call_after(0.0, "availability.threads", server)


def _lacks_threads(world: World, server: str) -> bool:
    instance = world.instances[server]
    return instance.answering and world.flow.workers_left(instance.host) < RESERVED


def update_thread_shortage(world: World, server: str) -> None:
    """Handle a timer: log the lack of worker threads; groups at the highest failure condition level fail."""
    short = _lacks_threads(world, server)
    if short != world.instances[server].short_of_threads:
        world.update_instance(server, short_of_threads=short)
        if short:
            errorlog.write(world, server, 35217)


HANDLERS: Final[Handlers] = {"availability.threads": update_thread_shortage}
