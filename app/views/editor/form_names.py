"""Valid names for a field: those of the scenario, and those of the program. Without Qt."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final

from app.views.editor.form_words import ACT, CONDITION
from app.views.editor.input_completion import complete_condition, complete_input
from engine.drill.judging.skills import skills
from engine.flow.sites import SITES, WORKLOADS

OF_THE_TEXT: Final = {
    "server": ("server",),
    "window": ("server",),
    "database": ("database",),
    "client": ("client",),
    "goal": ("goal",),
    "name": ("server", "client"),
}
"""Kind of a name (also a kind of verb parameter) -> tables whose entries have such names."""

GO_ON: Final = {ACT: complete_input, CONDITION: complete_condition}


def names(data: Mapping[str, object], kind: str) -> list[str]:
    """Return the names that can be offered for a field, in the order of the text."""
    if kind == "site":
        return list(SITES)
    if kind == "workload":
        return list(WORKLOADS)
    if kind == "skill":
        return [skill.key for skill in skills()]
    if kind == "program":
        return _strings(data.get("programs"))
    if kind == "role":
        return _collect_names(data, "role", "key")
    found = [name for table in OF_THE_TEXT.get(kind, ()) for name in _collect_names(data, table)]
    return list(dict.fromkeys(found))


def complete_field(data: Mapping[str, object], field_kind: str, prefix: str) -> list[str]:
    """Return the completions of a field after the text *prefix*.

    Input lines and conditions are completed word by word.
    """
    if field_kind in GO_ON:
        return GO_ON[field_kind](prefix, lambda kind: names(data, kind))
    there = {word.strip() for word in prefix.split(",")[:-1]}
    return [name for name in names(data, field_kind) if name not in there]


def names_in(text: str, kind: str) -> list[str]:
    """Return the same of a scenario's text; none while that cannot be read."""
    try:
        return names(tomllib.loads(text), kind)
    except (ValueError, RecursionError):
        return []


def _collect_names(data: Mapping[str, object], table: str, key: str = "name") -> list[str]:
    entries = data.get(table)
    if not isinstance(entries, list):
        return []
    return _strings([entry.get(key) for entry in entries if isinstance(entry, Mapping)])


def _strings(values: object) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
