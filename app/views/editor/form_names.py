"""Names that may stand in a field: those of the scenario, and those that the program knows. No Qt."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Final

from app.views.editor.act_words import act_words, condition_words
from app.views.editor.form_words import ACT, CONDITION
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
"""Of what the names are (a kind of parameter of a verb is one) -> tables whose entries have them."""

GO_ON: Final = {ACT: act_words, CONDITION: condition_words}


def names(data: Mapping[str, object], of: str) -> list[str]:
    """What may be offered for a field, in the order of the text."""
    if of == "site":
        return list(SITES)
    if of == "workload":
        return list(WORKLOADS)
    if of == "skill":
        return [skill.key for skill in skills()]
    if of == "program":
        return _strings(data.get("programs"))
    if of == "role":
        return _of(data, "role", "key")
    found = [name for table in OF_THE_TEXT.get(of, ()) for name in _of(data, table)]
    return list(dict.fromkeys(found))


def words_behind(data: Mapping[str, object], of: str, before: str) -> list[str]:
    """What may stand in such a field behind the text *before*: an act and a condition go on word by word."""
    if of in GO_ON:
        return GO_ON[of](before, lambda kind: names(data, kind))
    there = {word.strip() for word in before.split(",")[:-1]}
    return [name for name in names(data, of) if name not in there]


def names_in(text: str, of: str) -> list[str]:
    """The same of a scenario's text; none while that cannot be read."""
    try:
        return names(tomllib.loads(text), of)
    except (ValueError, RecursionError):
        return []


def _of(data: Mapping[str, object], table: str, key: str = "name") -> list[str]:
    entries = data.get(table)
    if not isinstance(entries, list):
        return []
    return _strings([entry.get(key) for entry in entries if isinstance(entry, Mapping)])


def _strings(values: object) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
