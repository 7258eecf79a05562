"""T-SQL on the simulated instances.

`submit` a batch from a window, `cancel` it, check and complete its text; `connect`, `batch`, `reset` and
`disconnect` programs that log in over the network.

This facade loads its hundred modules with the first world that runs. A module that needs only the facade, such as
the views of a window, loads at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from engine.tsql.batches.context import SYSTEM_DATABASES
    from engine.tsql.clients.client import cancel, submit
    from engine.tsql.clients.connections import reachable
    from engine.tsql.clients.logins import batch, connect, disconnect, is_connection_idle, reset
    from engine.tsql.clients.targets import change_connection
    from engine.tsql.clients.upkeep import HANDLERS, check_connections
    from engine.tsql.language.check import parse_only, parsing
    from engine.tsql.language.complete import complete

__all__ = [
    "HANDLERS",
    "SYSTEM_DATABASES",
    "batch",
    "cancel",
    "change_connection",
    "check_connections",
    "complete",
    "connect",
    "disconnect",
    "is_connection_idle",
    "parse_only",
    "parsing",
    "reachable",
    "reset",
    "submit",
]

_PLACES: Final = {
    "SYSTEM_DATABASES": "batches.context",
    "cancel": "clients.client",
    "change_connection": "clients.targets",
    "reachable": "clients.connections",
    "submit": "clients.client",
    "is_connection_idle": "clients.logins",
    "batch": "clients.logins",
    "connect": "clients.logins",
    "disconnect": "clients.logins",
    "reset": "clients.logins",
    "HANDLERS": "clients.upkeep",
    "check_connections": "clients.upkeep",
    "parse_only": "language.check",
    "parsing": "language.check",
    "complete": "language.complete",
}
"""Name -> module of this package that has it."""


def __getattr__(name: str) -> object:
    """Load a name on its first use and keep it in this module."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return found
