"""Object Explorer: what each server answered when it was last asked."""

from app.views.object_explorer.explorer import ObjectExplorer

__all__ = ["ObjectExplorer"]
