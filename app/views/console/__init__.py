"""SQL windows that resemble Management Studio."""

from app.views.console.console import Console

__all__ = ["Console"]
