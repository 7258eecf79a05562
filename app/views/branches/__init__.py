"""Branches of a run as a tree, and two of them side by side."""

from app.views.branches.page import BranchPage

__all__ = ["BranchPage"]
