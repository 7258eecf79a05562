"""The interface's words in the user's language. Text of scenarios and of SQL Server stays as it was written."""

from __future__ import annotations


def tr(text: str) -> str:
    """*text* in the language of the interface."""
    return text
