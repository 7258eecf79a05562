"""T-SQL on the simulated instances: `submit` a batch from a window, `cancel` it, check and complete its text."""

from __future__ import annotations

from engine.tsql.check import parse_only
from engine.tsql.client import HANDLERS, cancel, check_connections, submit
from engine.tsql.complete import complete

__all__ = ["HANDLERS", "cancel", "check_connections", "complete", "parse_only", "submit"]
