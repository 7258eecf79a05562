"""SQL windows as in Management Studio."""

from app.views.console.console import Console

__all__ = ["Console"]
