"""Names that may stand in a field: those of the scenario, and those that the program knows. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.drill.skills import skills
from engine.flow.sites import SITES, WORKLOADS

OF_THE_TEXT: Final = {
    "server": ("server",),
    "database": ("database",),
    "goal": ("goal",),
    "end": ("server", "client"),
}
"""Of what the names are -> tables whose entries have them."""


def names(data: Mapping[str, Any], of: str) -> list[str]:
    """What may be offered for a field, in the order of the text."""
    if of == "site":
        return list(SITES)
    if of == "workload":
        return list(WORKLOADS)
    if of == "skill":
        return [skill.key for skill in skills()]
    return [name for table in OF_THE_TEXT.get(of, ()) for name in _of(data, table)]


def _of(data: Mapping[str, Any], table: str) -> list[str]:
    entries = data.get(table)
    if not isinstance(entries, list):
        return []
    found = (entry.get("name") for entry in entries if isinstance(entry, Mapping))
    return [name for name in found if isinstance(name, str)]
