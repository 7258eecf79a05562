"""What a new entry of a list begins with. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from app.views.editor.form_fields import Field, Kind, Section
from app.views.editor.form_schema import fields


def new_entry(section: Section, data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that an entry of *section* must have, with values to begin from; *data* is the scenario so far."""
    made = begun(section.models[0], section.key, data)
    if section.key in ("timeline", "question", "predict"):
        made["at"] = "60s"
    if section.key == "database":
        made["server"] = (_names(data, "server") or ["SERVER_A"])[0]
    return made


def begun(model: type[BaseModel], key: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that the table *model* at *key* must have, with values to begin from."""
    servers, databases, goals = (_names(data, key) for key in ("server", "database", "goal"))
    server = servers[0] if servers else "SERVER_A"
    database = databases[0] if databases else "Sales"
    known: dict[str, Any] = {
        "principal": server,
        "mirror": servers[1] if len(servers) > 1 else "SERVER_B",
        "ends": [server, servers[1] if len(servers) > 1 else "SERVER_B"],
        "data_source": server,
        "database": database,
        "databases": [database],
        "goal": goals[0] if goals else "goal-1",
        "when": f"{database} is SYNCHRONIZED",
        "do": f"+5 sql {server} SELECT 1" if key == "solution" else f"power-off {server}",
        "choices": ["…", "……"],
        "choice": [{"text": "…", "when": f"{database} is SYNCHRONIZED"}] * 2,
        "right": [1],
    }
    return {
        field.key: known.get(field.key, _beginning(field, key, data))
        for field in fields(model)
        if field.required
    }


def _beginning(field: Field, key: str, data: Mapping[str, Any]) -> Any:
    if field.key == "name":
        upper = key in ("server", "database", "client")
        taken, number = _names(data, key), 1
        while (found := f"{key.upper()}_{number}" if upper else f"{key}-{number}") in taken:
            number += 1
        return found
    if field.choices:
        return field.choices[0]
    return {Kind.WHOLE: 1, Kind.NUMBER: 10, Kind.DURATION: "60s"}.get(field.kind, "…")


def _names(data: Mapping[str, Any], key: str) -> list[str]:
    entries = data.get(key)
    if not isinstance(entries, list):
        return []
    return [str(entry["name"]) for entry in entries if isinstance(entry, Mapping) and "name" in entry]
