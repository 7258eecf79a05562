"""Sections and fields of the form, derived from the schema: titles, kinds, ranges, defaults. Without Qt."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app.views.editor.form_fields import Field, FieldKind, Section, format_field
from app.views.editor.form_words import PLAIN, SECTIONS, VARIANTS
from engine.drill.authoring import schema
from engine.drill.authoring.schema import cluster, rubric, scenario_file, story, world

FILE_NAME: Final = "name"
"""Key of a scenario's name, which is the file name and optional in the text."""
_DURATION_RULE: Final = get_args(schema.Duration)[1]
"""Constraint that marks a number as a time with an optional unit."""


def sections() -> tuple[Section, ...]:
    """Return General, then each table of the file in the order of the schema."""
    found = [Section(PLAIN, SECTIONS[PLAIN], False, (schema.Scenario,))]
    for name, info in schema.Scenario.model_fields.items():
        models, many = tables(info.annotation)
        key = info.alias or name
        if models or key == VARIANTS:
            found.append(Section(key, SECTIONS.get(key, key), many, models))
    return tuple(found)


def get_section_help(section: Section, model: type[BaseModel] | None) -> str:
    """Return the schema's text for the table that is shown; for a rule, the text for its kind."""
    if section.key == PLAIN:
        return ""
    if model is None:
        return docstrings()[schema.Scenario.__name__, section.key]
    return inspect.getdoc(model) or ""


@cache
def fields(model: type[BaseModel]) -> tuple[Field, ...]:
    """Return the fields of a table in the order of the schema, its kind first.

    Of a scenario those outside of tables.
    """
    whole = model is schema.Scenario
    found = [
        _field(model, name, info)
        for name, info in model.model_fields.items()
        if not (whole and (name in (FILE_NAME, VARIANTS) or tables(info.annotation)[0]))
    ]
    return tuple(sorted(found, key=lambda field: field.key != "kind"))


def model_of(section: Section, entry: Mapping[str, object]) -> type[BaseModel]:
    """Return the table that *entry* is: where there are several, its `kind` says which."""
    for model in section.models:
        kind = model.model_fields.get("kind")
        if kind is not None and entry.get("kind") in get_args(kind.annotation):
            return model
    return section.models[0]


def kinds(section: Section) -> tuple[str, ...]:
    """Return the words that `kind` may have in *section*; none where it is but one table."""
    if len(section.models) == 1:
        return ()
    return tuple(get_args(model.model_fields["kind"].annotation)[0] for model in section.models)


def _field(model: type[BaseModel], name: str, info: FieldInfo) -> Field:
    key = info.alias or name
    bare = _strip_type(info.annotation)
    kind, item = _kind(bare, info, key)
    inner = (
        (bare,)
        if kind is FieldKind.GROUP
        else tables(info.annotation)[0]
        if kind is FieldKind.TABLES
        else (None,)
    )
    default = "" if info.is_required() else info.get_default(call_default_factory=True)
    choices = get_args(bare) if get_origin(bare) is Literal else ()
    made = Field(
        table=model.__name__,
        key=key,
        about=next((it for base in model.__mro__ if (it := docstrings().get((base.__name__, name)))), ""),
        kind=kind,
        item=item,
        choices=choices,
        required=info.is_required(),
        default="",
        inner=inner[0],
        check=None if kind in (FieldKind.GROUP, FieldKind.TABLES) else _adapter(info),
        rules=tuple(_flat([*info.metadata, *_rules(info.annotation)])),
    )
    if default is None or default is PydanticUndefined or kind in (FieldKind.GROUP, FieldKind.TABLES):
        return made
    return Field(**{**made.__dict__, "default": format_field(made, default)})


def _adapter(info: FieldInfo) -> TypeAdapter[object]:
    whole: Any = info.annotation
    rules = [rule for rule in info.metadata if type(rule).__name__ != "WithJsonSchema"]
    for rule in rules:
        whole = Annotated[whole, rule]
    return TypeAdapter(whole)


def _kind(value_type: object, info: FieldInfo, key: str) -> tuple[FieldKind, FieldKind]:
    """Return the kind of a field of *value_type* and, for several values, the kind of each item."""
    rules = [*info.metadata, *_rules(info.annotation)]
    if get_origin(value_type) is Literal:
        return FieldKind.CHOICE, FieldKind.LINE
    if value_type is bool:
        return FieldKind.FLAG, FieldKind.LINE
    if value_type is int:
        return FieldKind.WHOLE, FieldKind.LINE
    if value_type is float:
        return (FieldKind.DURATION if _is_duration(rules) else FieldKind.NUMBER), FieldKind.LINE
    if value_type is str:
        return (
            FieldKind.TEXT if _longest(rules) >= 1000 or key in ("do", "summary") else FieldKind.LINE
        ), FieldKind.LINE
    if get_origin(value_type) is tuple:
        return _find_list_kind(get_args(value_type)[0])
    if isinstance(value_type, type) and issubclass(value_type, BaseModel):
        return FieldKind.GROUP, FieldKind.LINE
    raise TypeError(f"no kind of field shows a {value_type}")


def _find_list_kind(inner: object) -> tuple[FieldKind, FieldKind]:
    bare, rules = _strip_type(inner), _rules(inner)
    if bare is int:
        return FieldKind.WORDS, FieldKind.WHOLE
    if bare is float:
        return FieldKind.WORDS, FieldKind.DURATION if _is_duration(rules) else FieldKind.NUMBER
    if get_origin(bare) is Literal:
        return FieldKind.WORDS, FieldKind.LINE
    if bare is str:
        named = any(getattr(rule, "pattern", None) for rule in rules)
        return (FieldKind.WORDS if named else FieldKind.LINES), FieldKind.LINE
    if isinstance(bare, type) and issubclass(bare, BaseModel):
        return FieldKind.TABLES, FieldKind.LINE
    raise TypeError(f"no kind of field shows several {bare}")


def _strip_type(annotation: object) -> Any:
    """Return the type without `| None` and without rules."""
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


def _rules(annotation: object) -> list[object]:
    """Return the rules of a type and of what stands beside its `| None`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *rules = get_args(annotation)
        return [*_rules(inner), *rules]
    if origin in (Union, UnionType):
        return [rule for part in get_args(annotation) for rule in _rules(part)]
    return []


def _flat(rules: Iterable[object]) -> Iterator[object]:
    """Yield the single rules: those that a Field() holds, one by one."""
    for rule in rules:
        if isinstance(rule, FieldInfo):
            yield from _flat(rule.metadata)
        else:
            yield rule


def _is_duration(rules: list[object]) -> bool:
    return _DURATION_RULE in rules


def _longest(rules: list[object]) -> int:
    return max((getattr(rule, "max_length", None) or 0 for rule in rules), default=0)


def tables(annotation: object) -> tuple[tuple[type[BaseModel], ...], bool]:
    """Return the tables that a field of the scenario may hold, and whether it may hold several."""
    bare = _strip_type(annotation)
    many = get_origin(bare) is tuple
    inner = _strip_type(get_args(bare)[0]) if many else bare
    parts = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    models = tuple(part for part in parts if isinstance(part, type) and issubclass(part, BaseModel))
    return models, many


@cache
def docstrings() -> dict[tuple[str, str], str]:
    """Return the schema's text below each field, by class and field; empty if the source is not available.

    Pydantic can keep these texts (`use_attribute_docstrings`), but reads them at import, which adds 30 ms to
    each start.
    """
    found = {}
    for part in chain.from_iterable(
        _tree(module).body for module in (world, cluster, story, rubric, scenario_file)
    ):
        if not isinstance(part, ast.ClassDef):
            continue
        for field, below in zip(part.body, part.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match below:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        found[part.name, field.target.id] = inspect.cleandoc(said).replace("\n", " ")
    return found


def _tree(module: ModuleType) -> ast.Module:
    try:
        return ast.parse(inspect.getsource(module))
    except OSError:
        return ast.Module([], [])
