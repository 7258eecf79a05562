"""Timer handlers of connections and SQL Server Agent, and their checks after each reaction of the protocol."""

from typing import Final

from engine.model import Handlers, World
from engine.tsql.clients import agent, client

HANDLERS: Final[Handlers] = {**client.HANDLERS, **agent.HANDLERS}
"""Timer names of connections and SQL Server Agent -> handler."""


def check_connections(world: World) -> None:
    """Update connections, waiting batches and alerts after each reaction of the protocol."""
    client.check_connections(world)
    agent.run_alerts(world)
