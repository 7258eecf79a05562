"""Texts of the comparison that are ours, not the papers': sections, axes, lines. The engine has them in English."""

from __future__ import annotations

from typing import Final

from app.words.language import tr
from engine.tables import read_table

FAILOVERS: Final = "failovers: "
"""Prefix of the names of steps that compute failovers. The cause follows, as Table 6 is indexed."""

WORDS: Final = frozenset(row["text"] for row in read_table("app.views.fidelity", "display_names.tsv"))
"""Texts translated on display. Rows and titles of figures stay as in the papers."""


def name_of(step: str) -> str:
    """Return the name of a step in the language of the interface."""
    if step == f"{FAILOVERS}manual":
        return tr("manual failovers")
    if step.startswith(FAILOVERS):
        return tr("failovers after {cause}").format(cause=step.removeprefix(FAILOVERS))
    return tr(step)
