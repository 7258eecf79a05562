"""Initial contents of a new entry in a list. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from app.views.editor.form_schema import KINDS, Field, FieldKind, Section, fields, kinds, model_of
from engine.drill.authoring.run_scenario import TO_WRITE

ASKED_FOR: Final = {"diagnosis": "question", "prediction": "predict", "forbidden": "forbidden"}
"""Kind of a rule -> list whose entries score nothing without it."""
POINTS: Final = 100.0
"""Total points of a drill."""
SPARE: Final = {"database": "Sales", "goal": "goal-1"}
"""Default names for objects that do not exist yet."""


def new_entry(section: Section, data: Mapping[str, object]) -> dict[str, object]:
    """Return the required keys of an entry of *section*, with initial values. *data*: the scenario so far."""
    made = build_initial_values(_model(section, data), section.key, data)
    if section.key == "timeline":
        made = {"at": "60s", **made}
    elif section.key in ("question", "predict"):
        made["at"] = "60s"
    elif section.key == "database":
        made["server"] = (_names(data, "server") or ["SERVER_A"])[0]
    elif section.key == "session":
        made["database"] = _find_names_without_entry(data, "database", "session")[0]
    elif section.key == "hint":
        made["goal"] = _find_names_without_entry(data, "goal", "hint")[0]
    elif section.key == "rubric":
        left = POINTS - sum(_numbers(data, "rubric", "points"))
        made["points"] = left if left > 0 else made["points"]
        title = KINDS.get(str(made["kind"]), made["kind"])
        made["name"] = title if title not in _names(data, "rubric") else made["name"]
    return made


def _model(section: Section, data: Mapping[str, object]) -> type[BaseModel]:
    """Return the first of several kinds that is missing, preferably one that the scenario refers to."""
    there = _collect_texts(data, section.key, "kind")
    wanted = [kind for kind, table in ASKED_FOR.items() if data.get(table)]
    order = [*(kind for kind in wanted if kind in kinds(section)), *kinds(section)]
    kind = next((kind for kind in order if kind not in there), None)
    return model_of(section, {"kind": kind})


def _find_names_without_entry(data: Mapping[str, object], key: str, other_key: str) -> list[str]:
    """Return names of the list *key* without an entry in the list *other_key*; all of them if there is none."""
    there = _collect_texts(data, other_key, key)
    found = _names(data, key) or [SPARE[key]]
    return [name for name in found if name not in there] or found


def build_initial_values(model: type[BaseModel], key: str, data: Mapping[str, object]) -> dict[str, object]:
    """Return the keys that the table *model* at *key* must have, with values to begin from."""
    servers, databases, goals = (_names(data, key) for key in ("server", "database", "goal"))
    server = servers[0] if servers else "SERVER_A"
    database = databases[0] if databases else "Sales"
    known: dict[str, object] = {
        "principal": server,
        "mirror": servers[1] if len(servers) > 1 else "SERVER_B",
        "ends": [server, servers[1] if len(servers) > 1 else "SERVER_B"],
        "data_source": server,
        "database": database,
        "databases": [database],
        "goal": goals[0] if goals else "goal-1",
        "when": f"{database} is SYNCHRONIZED",
        "do": f"+5 sql {server} SELECT 1" if key == "solution" else f"power-off {server}",
        "choices": [f"{TO_WRITE}one answer", f"{TO_WRITE}another answer"],
        "choice": [
            {"text": f"{TO_WRITE}text of the outcome", "when": f"{database} is SYNCHRONIZED"},
            {"text": f"{TO_WRITE}text of the other outcome", "when": f"not {database} is SYNCHRONIZED"},
        ],
        "right": [1],
    }
    return {
        field.key: known.get(field.key, _beginning(field, key, data))
        for field in fields(model)
        if field.required
    }


def _beginning(field: Field, key: str, data: Mapping[str, object]) -> object:
    if field.key == "name":
        upper = key in ("server", "database", "client")
        taken, number = _names(data, key), 1
        while (found := f"{key.upper()}_{number}" if upper else f"{key}-{number}") in taken:
            number += 1
        return found
    if field.choices:
        return field.choices[0]
    return {FieldKind.WHOLE: 1, FieldKind.NUMBER: 10, FieldKind.DURATION: "60s"}.get(
        field.kind, _to_write(field)
    )


def _to_write(field: Field) -> str:
    """Return a placeholder text that only the author can replace; `check` reports it until then."""
    about = field.about.partition(". ")[0].partition(": ")[0].rstrip(".")
    return f"{TO_WRITE}{about[:1].lower()}{about[1:]}"


def _names(data: Mapping[str, object], key: str) -> list[str]:
    return _collect_texts(data, key, "name")


def _collect_texts(data: Mapping[str, object], key: str, inner: str) -> list[str]:
    """Return the texts at the key *inner* in the entries of the list *key*, without empty ones."""
    entries = data.get(key)
    if not isinstance(entries, list):
        return []
    return [str(entry[inner]) for entry in entries if isinstance(entry, Mapping) and inner in entry]


def _numbers(data: Mapping[str, object], key: str, inner: str) -> list[float]:
    return [float(word) for word in _collect_texts(data, key, inner) if word.replace(".", "", 1).isdigit()]
