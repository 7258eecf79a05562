"""Object Explorer: the latest answer of each server."""

from app.views.object_explorer.explorer import ObjectExplorer

__all__ = ["ObjectExplorer"]
