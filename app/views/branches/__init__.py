"""Branches of a run as a tree, and a comparison of two of them."""

from app.views.branches.page import BranchPage

__all__ = ["BranchPage"]
