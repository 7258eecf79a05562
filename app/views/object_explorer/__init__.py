"""View that imitates Object Explorer. It shows the last answer of each server."""

from app.views.object_explorer.explorer import ObjectExplorer

__all__ = ["ObjectExplorer"]
