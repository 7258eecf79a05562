"""Timer handlers of connections and SQL Server Agent, and checks after each change of the world."""

from typing import Final

from engine.model import Handlers, World
from engine.tsql.clients import agent, client

HANDLERS: Final[Handlers] = {**client.HANDLERS, **agent.HANDLERS}
"""Timer names of connections and SQL Server Agent -> handler."""


def check_connections(world: World) -> None:
    """Update connections, waiting batches and alerts after a change of the world."""
    client.check_connections(world)
    agent.run_alerts(world)
