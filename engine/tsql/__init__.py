"""T-SQL on the simulated instances: `submit` a batch from a window, `cancel` it, complete and check text."""

from __future__ import annotations

from engine.tsql.client import HANDLERS, cancel, check_connections, submit

__all__ = ["HANDLERS", "cancel", "check_connections", "submit"]
