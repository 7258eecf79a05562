"""Worker threads of availability groups, and the effects of a lack of threads.

[DOC: thread usage of groups]
"""

from typing import Final

from engine.model import Handlers, World
from engine.protocol import errorlog

RESERVED_THREAD_COUNT: Final = 40
"""Number of worker threads that groups leave free: they may use `max worker threads` minus this number.

Documented [DOC: thread usage of groups].
"""


def schedule_shortage_updates(world: World) -> None:
    """Schedule an update for each instance that now has too few worker threads, or again has enough."""
    for server in dict.fromkeys(name for name, _ in world.replicas):
        if _lacks_threads(world, server) != world.instances[server].short_of_threads:
            world.call_after(0.0, "availability.threads", server)


def _lacks_threads(world: World, server: str) -> bool:
    instance = world.instances[server]
    return instance.answering and world.flow.count_free_workers(instance.host) < RESERVED_THREAD_COUNT


def update_thread_shortage(world: World, server: str) -> None:
    """Update and log the lack of worker threads (timer handler).

    Groups with the highest failure condition level then fail.
    """
    short = _lacks_threads(world, server)
    if short != world.instances[server].short_of_threads:
        world.update_instance(server, short_of_threads=short)
        if short:
            errorlog.write_message(world, server, 35217)


HANDLERS: Final[Handlers] = {"availability.threads": update_thread_shortage}
