"""Options of SET and of cursors."""

from __future__ import annotations

from typing import Final

SWITCHES: Final = frozenset(
    {
        "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "FMTONLY", "FORCEPLAN",
        "IMPLICIT_TRANSACTIONS", "NOCOUNT", "NOEXEC", "NUMERIC_ROUNDABORT", "PARSEONLY", "QUOTED_IDENTIFIER",
        "XACT_ABORT",
    }
)  # fmt: skip
"""Options of SET that are ON or OFF. Documented [DOC: SET statements]."""


LEVELS: Final = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SNAPSHOT", "SERIALIZABLE")


EXCLUSIVE: Final = (
    ("LOCAL", "GLOBAL"),
    ("FORWARD_ONLY", "SCROLL"),
    ("FAST_FORWARD", "SCROLL"),
    ("STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"),
    ("READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"),
)
"""Groups of mutually exclusive options of a cursor. Documented [DOC: DECLARE CURSOR]."""
