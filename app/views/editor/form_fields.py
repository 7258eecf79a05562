"""The sections and fields of the form, read from the schema; how a value is shown as text and read back. No Qt."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app.language import mark, tr
from app.sentences import said
from engine.drill import schema
from engine.drill.expected import expected

PLAIN: Final = ""
"""Key of the section of what stands before the first table."""
FILE_NAME: Final = "name"
"""Key of a scenario that is the file's own name and need not be written."""

SECTIONS: Final = {
    PLAIN: mark("General"),
    "source": mark("Sources"),
    "settings": mark("Settings"),
    "server": mark("Servers"),
    "link": mark("Links"),
    "database": mark("Databases"),
    "session": mark("Sessions"),
    "client": mark("Clients"),
    "before": mark("Preparations"),
    "timeline": mark("Timeline"),
    "locked": mark("Locked acts"),
    "role": mark("Roles"),
    "goal": mark("Goals"),
    "forbidden": mark("Forbidden states"),
    "question": mark("Questions"),
    "predict": mark("Predictions"),
    "hint": mark("Hints"),
    "solution": mark("Solution"),
    "rubric": mark("Rubric"),
    "fidelity": mark("Fidelity"),
}
"""Titles; a table that is not named here goes by its key."""

UNITS: Final = {"s": "s", "ms": "ms", "mb": "MB", "mbps": "Mbps"}
"""Last words of keys that are units."""
WORDS: Final = {
    "at": mark("At (time)"),
    "do": mark("Do (input line)"),
    "type": mark("Type (input line)"),
    "minutes": mark("Length for a person (min)"),
    "length": mark("Ends after (time)"),
    "right": mark("Right choices (numbers)"),
    "ends": mark("Both ends"),
    "rtt_ms": mark("Round trip (ms)"),
}
"""Labels of keys that say too little by themselves."""
QUOTED_MAX: Final = 40
"""Characters of what was typed that a refusal repeats."""
_DURATION_RULE: Final = get_args(schema.Duration)[1]
"""By it a number is known to be a time that may have its unit."""


class Kind(Enum):
    """How a value is shown and changed."""

    CHOICE = auto()
    FLAG = auto()
    WHOLE = auto()
    NUMBER = auto()
    DURATION = auto()
    LINE = auto()
    TEXT = auto()
    WORDS = auto()
    """Several names or numbers, with commas between."""
    LINES = auto()
    """Several texts, one in each line."""
    GROUP = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Field:
    """One key of a table. *check* tells whether a value is right; *inner* is the table that a group holds."""

    key: str
    about: str
    kind: Kind
    item: Kind
    choices: tuple[Any, ...]
    required: bool
    default: str
    inner: type[BaseModel] | None
    check: TypeAdapter[Any] | None

    @property
    def label(self) -> str:
        """The key as words, its unit in brackets."""
        if self.key in WORDS:
            return tr(WORDS[self.key])
        *words, last = self.key.split("_")
        if words and last in UNITS:
            return f"{tr(' '.join(words).capitalize())} ({UNITS[last]})"
        return tr(" ".join([*words, last]).capitalize())


@dataclass(frozen=True)
class Section:
    """A part of the file: plain keys, one table, or (*many*) an array of tables. *models*: which table it may be."""

    key: str
    title: str
    about: str
    many: bool
    models: tuple[type[BaseModel], ...]


class Refused(ValueError):
    """What was typed cannot stand there; the text says why."""


def sections() -> tuple[Section, ...]:
    """General first, then each table of the file in the order of the schema."""
    found = [Section(PLAIN, SECTIONS[PLAIN], "", False, (schema.Scenario,))]
    for name, info in schema.Scenario.model_fields.items():
        models, many = _tables(info.annotation)
        if models:
            key = info.alias or name
            about = inspect.getdoc(models[0]) or "" if len(models) == 1 else ""
            found.append(Section(key, SECTIONS.get(key, key), about, many, models))
    return tuple(found)


@cache
def fields(model: type[BaseModel]) -> tuple[Field, ...]:
    """The fields of a table in the order of the schema, its kind first; of a scenario those outside of tables."""
    whole = model is schema.Scenario
    found = [
        _field(model, name, info)
        for name, info in model.model_fields.items()
        if not (whole and (name == FILE_NAME or _tables(info.annotation)[0]))
    ]
    return tuple(sorted(found, key=lambda field: field.key != "kind"))


def model_of(section: Section, entry: Mapping[str, Any]) -> type[BaseModel]:
    """The table that *entry* is: where there are several, its `kind` says which."""
    for model in section.models:
        kind = model.model_fields.get("kind")
        if kind is not None and entry.get("kind") in get_args(kind.annotation):
            return model
    return section.models[0]


def kinds(section: Section) -> tuple[str, ...]:
    """The words that `kind` may have in *section*; none where it is but one table."""
    if len(section.models) == 1:
        return ()
    return tuple(get_args(model.model_fields["kind"].annotation)[0] for model in section.models)


def shown(field: Field, value: Any) -> str:
    """*value* as it stands in its field."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        between = "\n" if field.kind is Kind.LINES else ", "
        return between.join(_said(each) for each in value)
    return _said(value)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def read(field: Field, typed: str) -> Any:
    """The value that *typed* stands for; None: nothing. Raises Refused."""
    if not typed.strip():
        return None
    if field.kind is Kind.WORDS:
        value: Any = [_plain(field.item, part) for part in typed.split(",") if part.strip()]
    elif field.kind is Kind.LINES:
        value = [line.strip() for line in typed.splitlines() if line.strip()]
    else:
        value = _plain(field.kind, typed)
    if field.check is None or "{" in typed:  # what the seed picks is known only in a run
        return value
    try:
        field.check.validate_python(value, strict=True)
    except ValidationError as error:
        wanted = dict.fromkeys(said(expected(each)) for each in error.errors(include_url=False))
        sentence = tr("{field}: {value} does not fit; expected {expected}.")
        raise Refused(
            sentence.format(field=field.label, value=_short(typed), expected="; ".join(wanted))
        ) from error
    return value


def _short(typed: str) -> str:
    """What was typed, as it is quoted in a sentence."""
    line = " ".join(typed.split())
    return f"“{line if len(line) <= QUOTED_MAX else line[: QUOTED_MAX - 1] + '…'}”"


def spoken(entry: Mapping[str, Any]) -> str:
    """One line for an entry of a list."""
    for key in ("name", "title", "text", "do", "paper", "goal", "database", "ends"):
        value = entry.get(key)
        if isinstance(value, (list, tuple)):
            return " – ".join(str(each) for each in value)
        if value:
            return str(value).strip().splitlines()[0]
    return next((str(value) for value in entry.values() if isinstance(value, str)), "…")


# --- a new entry --------------------------------------------------------------------------------------------


def new_entry(section: Section, data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that an entry of *section* must have, with values to begin from; *data* is the scenario so far."""
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
        "do": f"+5 sql {server} SELECT 1" if section.key == "solution" else f"power-off {server}",
        "choices": ["…", "……"],
        "choice": [{"text": "…", "when": f"{database} is SYNCHRONIZED"}] * 2,
        "right": [1],
    }
    model = section.models[0]
    made: dict[str, Any] = {}
    for field in fields(model):
        if field.required:
            made[field.key] = known.get(field.key, _beginning(field, section, data))
    if section.key in ("timeline", "question", "predict"):
        made["at"] = "60s"
    if section.key == "database":
        made["server"] = server
    return made


def _beginning(field: Field, section: Section, data: Mapping[str, Any]) -> Any:
    if field.key == "name":
        upper = section.key in ("server", "database", "client")
        taken, number = _names(data, section.key), 1
        while (found := f"{section.key.upper()}_{number}" if upper else f"{section.key}-{number}") in taken:
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


# --- the schema read ----------------------------------------------------------------------------------------


def _field(model: type[BaseModel], name: str, info: FieldInfo) -> Field:
    key = info.alias or name
    bare = _bare(info.annotation)
    kind, item = _kind(bare, info, key)
    default = "" if info.is_required() else info.get_default(call_default_factory=True)
    choices = get_args(bare) if get_origin(bare) is Literal else ()
    made = Field(
        key=key,
        about=_docstrings().get((model.__name__, name), ""),
        kind=kind,
        item=item,
        choices=choices,
        required=info.is_required(),
        default="",
        inner=bare if kind is Kind.GROUP else None,
        check=None if kind in (Kind.GROUP, Kind.OTHER) else _adapter(info),
    )
    if default is None or default is PydanticUndefined or kind in (Kind.GROUP, Kind.OTHER):
        return made
    return Field(**{**made.__dict__, "default": shown(made, default)})


def _adapter(info: FieldInfo) -> TypeAdapter[Any]:
    whole: Any = info.annotation
    rules = [rule for rule in info.metadata if type(rule).__name__ != "WithJsonSchema"]
    for rule in rules:
        whole = Annotated[whole, rule]
    return TypeAdapter(whole)


def _kind(bare: Any, info: FieldInfo, key: str) -> tuple[Kind, Kind]:
    """How a value of the type *bare* is shown; and, of several, how each is read."""
    rules = [*info.metadata, *_rules(info.annotation)]
    if get_origin(bare) is Literal:
        return Kind.CHOICE, Kind.LINE
    if bare is bool:
        return Kind.FLAG, Kind.LINE
    if bare is int:
        return Kind.WHOLE, Kind.LINE
    if bare is float:
        return (Kind.DURATION if _is_duration(rules) else Kind.NUMBER), Kind.LINE
    if bare is str:
        return (Kind.TEXT if _longest(rules) >= 1000 or key in ("do", "summary") else Kind.LINE), Kind.LINE
    if get_origin(bare) is tuple:
        return _several(get_args(bare)[0])
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return Kind.GROUP, Kind.LINE
    return Kind.OTHER, Kind.LINE


def _several(inner: Any) -> tuple[Kind, Kind]:
    bare, rules = _bare(inner), _rules(inner)
    if bare is int:
        return Kind.WORDS, Kind.WHOLE
    if bare is float:
        return Kind.WORDS, Kind.DURATION if _is_duration(rules) else Kind.NUMBER
    if get_origin(bare) is Literal:
        return Kind.WORDS, Kind.LINE
    if bare is str:
        named = any(getattr(rule, "pattern", None) for rule in rules)
        return (Kind.WORDS if named else Kind.LINES), Kind.LINE
    return Kind.OTHER, Kind.LINE


def _bare(annotation: Any) -> Any:
    """The type without `| None` and without rules."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, UnionType):
            left = [part for part in get_args(annotation) if part is not NoneType]
            if len(left) != 1:
                return annotation
            annotation = left[0]
        else:
            return annotation


def _rules(annotation: Any) -> list[Any]:
    """The rules of a type and of what stands beside its `| None`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *rules = get_args(annotation)
        return [*_rules(inner), *rules]
    if origin in (Union, UnionType):
        return [rule for part in get_args(annotation) for rule in _rules(part)]
    return []


def _is_duration(rules: list[Any]) -> bool:
    return _DURATION_RULE in rules


def _longest(rules: list[Any]) -> int:
    return max((getattr(rule, "max_length", None) or 0 for rule in rules), default=0)


def _tables(annotation: Any) -> tuple[tuple[type[BaseModel], ...], bool]:
    """The tables that a field of the scenario may hold, and whether it may hold several."""
    bare = _bare(annotation)
    many = get_origin(bare) is tuple
    inner = _bare(get_args(bare)[0]) if many else bare
    parts = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    models = tuple(part for part in parts if isinstance(part, type) and issubclass(part, BaseModel))
    return models, many


def _plain(kind: Kind, typed: str) -> Any:
    """A number if it is meant and is one, else the words as they are."""
    text = typed if kind is Kind.TEXT else typed.strip()
    if kind in (Kind.WHOLE, Kind.NUMBER, Kind.DURATION):
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
    return text


@cache
def _docstrings() -> dict[tuple[str, str], str]:
    """What the schema says below each field, by class and field; nothing where its source is not at hand."""
    try:
        tree = ast.parse(inspect.getsource(schema))
    except OSError:
        return {}
    found = {}
    for part in tree.body:
        if not isinstance(part, ast.ClassDef):
            continue
        for field, below in zip(part.body, part.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        found[part.name, field.target.id] = inspect.cleandoc(said).replace("\n", " ")
    return found
