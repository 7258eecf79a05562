"""SQL windows that resemble Management Studio."""

from app.views.console.console import QueryConsole

__all__ = ["QueryConsole"]
