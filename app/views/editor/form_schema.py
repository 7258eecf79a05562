"""Sections and fields of the form, derived from the schema: titles, kinds, ranges, defaults.

Independent of Qt.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import cache
from itertools import chain
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from msgspec import Struct, structs
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.drill.authoring import schema
from engine.drill.authoring.problems import PATTERNS, describe_expected_value
from engine.drill.authoring.schema import DRILL_LENGTH_MAX_S, tasks, world
from engine.tables import read_table

PLAIN_KEYS_SECTION: Final = ""
"""Key of the section for the keys before the first table."""
VARIANTS_SECTION: Final = "variants"
"""Key of the section with the variant pools. This section has no fields."""

_FORM_TEXT_ROWS: Final = read_table("app.views.editor", "form_words.tsv")


def _list_texts(table: str) -> Mapping[str, str]:
    """Return key -> text for the rows of *table* in form_words.tsv, the file with the texts of the form."""
    return {row["key"]: row["text"] for row in _FORM_TEXT_ROWS if row["of"] == table}


SECTION_TITLES: Final = _list_texts("section")
"""Key of a section -> title. A section without a title shows its key."""

KEY_LABELS: Final = _list_texts("label")
"""Key -> label. If a key has several meanings, the schema class precedes the key."""

RUBRIC_KIND_LABELS: Final = _list_texts("rule")
"""Kind of a rubric item -> label."""

INPUT_LINE_KIND, CONDITION_KIND = "act", "condition"
"""Kinds of text that are not names: an input line and a condition. They are completed word by word."""

NAME_KINDS_BY_KEY: Final = {
    "do": INPUT_LINE_KIND,
    "type": INPUT_LINE_KIND,
    "when": CONDITION_KIND,
    "ClientSpec.data_source": "server",
    "ClientSpec.databases": "database",
    "ClientSpec.failover_partner": "server",
    "DatabaseSpec.restored_on": "server",
    "DatabaseSpec.server": "server",
    "DatabaseSpec.workload": "workload",
    "DowntimeRule.database": "database",
    "ExposedRule.database": "database",
    "Hint.goal": "goal",
    "StoryRole.does": INPUT_LINE_KIND,
    "StoryRole.servers": "server",
    "LinkSpec.ends": "name",
    "LostRule.database": "database",
    "Scenario.skills": "skill",
    "ServerSpec.jobs_for": "database",
    "ServerSpec.site": "site",
    "SessionSpec.database": "database",
    "SessionSpec.mirror": "server",
    "SessionSpec.principal": "server",
    "SessionSpec.witness": "server",
}
"""Key, or schema class and key -> kind of names that are valid for this key."""


QUOTED_LENGTH_MAX: Final = 40
"""Maximum number of characters of the input that an error message quotes."""


class FieldKind(Enum):
    """Kind of a field: how it shows and edits its value."""

    CHOICE = auto()
    FLAG = auto()
    WHOLE = auto()
    NUMBER = auto()
    DURATION = auto()
    LINE = auto()
    TEXT = auto()
    WORDS = auto()
    """Several names or numbers, separated by commas."""
    LINES = auto()
    """Several texts, one per line."""
    GROUP = auto()
    """Nested table."""
    TABLES = auto()
    """Several nested tables."""


class FormField(Struct, frozen=True):
    """Field for one key of a table."""

    table: str
    """Name of the schema class."""
    key: str
    description: str
    """Description from the schema."""
    kind: FieldKind
    item_kind: FieldKind
    """Kind of each item, if the field has several values."""
    choices: tuple[object, ...]
    required: bool
    default: str
    inner_model: type[BaseModel] | None
    """Schema class of the nested table or tables."""
    validator: TypeAdapter[object] | None
    """Validator of a value."""
    constraints: tuple[object, ...] = ()
    """Constraints from pydantic on the value. If the field has several values, also on each item."""

    @property
    def label(self) -> str:
        """Label of the field, with its unit in parentheses."""
        words = KEY_LABELS.get(f"{self.table}.{self.key}", KEY_LABELS.get(self.key))
        return self.key if words is None else tr(words)

    @property
    def offered_kind(self) -> str:
        """Kind of names or texts that completion offers in the field. Empty if any text is allowed."""
        return NAME_KINDS_BY_KEY.get(f"{self.table}.{self.key}", NAME_KINDS_BY_KEY.get(self.key, ""))


class FormSection(Struct, frozen=True):
    """Section of the form: the plain keys, one table, or an array of tables."""

    key: str
    title: str
    is_list: bool
    """True if the file may contain several tables of the section."""
    models: tuple[type[BaseModel], ...]
    """Schema classes that an entry of the section may have. Empty for the pools of variants."""


class FieldValueError(ValueError):
    """Error for a typed value that a field cannot accept. Its text states the reason."""


def format_field(field: FormField, value: object) -> str:
    """Return *value* as the text that *field* shows."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        separator = "\n" if field.kind is FieldKind.LINES else ", "
        return separator.join(_format_value(item) for item in value)
    return _format_value(value)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def parse_field(field: FormField, typed_text: str) -> object:
    """Parse the text *typed_text* in *field*. Return None for an empty text.

    Raises FieldValueError.
    """
    if not typed_text.strip():
        return None
    if field.kind is FieldKind.WORDS:
        value: object = [
            _parse_scalar(field.item_kind, part) for part in typed_text.split(",") if part.strip()
        ]
    elif field.kind is FieldKind.LINES:
        value = [line.strip() for line in typed_text.splitlines() if line.strip()]
    else:
        value = _parse_scalar(field.kind, typed_text)
    if (
        field.validator is None or "{" in typed_text
    ):  # placeholders like {name} get their values only in a run
        return value
    try:
        field.validator.validate_python(tuple(value) if isinstance(value, list) else value, strict=True)
    except ValidationError as error:
        expected_texts = dict.fromkeys(
            localize(describe_expected_value(error_details))
            for error_details in error.errors(include_url=False)
        )
        sentence = tr("{field}: {value} is not valid; expected {expected}.")
        raise FieldValueError(
            sentence.format(
                field=field.label, value=_quote_short(typed_text), expected="; ".join(expected_texts)
            )
        ) from error
    return value


def _quote_short(typed_text: str) -> str:
    """Return the typed text in quotation marks, shortened for an error message."""
    line = " ".join(typed_text.split())
    return f"“{line if len(line) <= QUOTED_LENGTH_MAX else line[: QUOTED_LENGTH_MAX - 1] + '…'}”"


def format_entry(entry: Mapping[str, object]) -> str:
    """Return a line that describes *entry* in a list."""
    for key in ("name", "title", "text", "do", "paper", "goal", "database", "ends"):
        value = entry.get(key)
        if isinstance(value, (list, tuple)):
            return " – ".join(str(item) for item in value)
        if value:
            return str(value).strip().splitlines()[0]
    return next((str(value) for value in entry.values() if isinstance(value, str)), "…")


def _parse_scalar(kind: FieldKind, typed_text: str) -> object:
    """Return a number if *kind* requires one and the text is a number. Otherwise return the text."""
    text = typed_text if kind is FieldKind.TEXT else typed_text.strip()
    if kind in (FieldKind.WHOLE, FieldKind.NUMBER, FieldKind.DURATION):
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
    return text


EMPTY_MEANING_PREFIX: Final = "None: "
"""Text in a schema description that precedes the meaning of a missing key."""
DURATION_MAX_HOURS: Final = DRILL_LENGTH_MAX_S / 3600.0

FORMAT_HINTS: Final = {
    FieldKind.DURATION: mark("Seconds, or a number with s, min or h."),
    FieldKind.WORDS: mark("Separate several values with commas."),
    FieldKind.LINES: mark("Enter one value per line."),
}
UNIT_HINTS: Final = {
    "_s": mark("In seconds."),
    "_ms": mark("In milliseconds."),
    "_mb": mark("In megabytes."),
    "_mbps": mark("In megabits per second."),
}
"""Suffix of a key -> text about its unit."""


def format_tip(field: FormField) -> str:
    """Return the tooltip of a field: description, unit, format, bounds and default."""
    description, empty_meaning = _split_help(field)
    left_empty = tr("If left empty: {meaning}.").format(meaning=empty_meaning) if empty_meaning else ""
    if field.required:
        left_empty = tr("Required.")
    elif field.default and not empty_meaning:
        left_empty = tr("If left empty: {meaning}.").format(meaning=format_default(field))
    unit = next((tr(words) for end, words in UNIT_HINTS.items() if field.key.endswith(end)), "")
    instruction = tr(FORMAT_HINTS[field.kind]) if field.kind in FORMAT_HINTS else ""
    lines = (description, " ".join(filter(None, (unit, instruction, describe_bounds(field)))), left_empty)
    return "\n".join([*filter(None, lines), tr("Key in the TOML text: {key}").format(key=field.key)])


def format_placeholder(field: FormField) -> str:
    """Return the text that an empty field shows."""
    if field.default:
        return tr("{value} (default)").format(value=format_default(field))
    empty_meaning = _split_help(field)[1]
    if empty_meaning:
        return empty_meaning
    return tr("required") if field.required else tr("none")


def format_default(field: FormField) -> str:
    """Return the default value with its unit."""
    return f"{field.default} s" if field.kind is FieldKind.DURATION else field.default


def describe_bounds(field: FormField) -> str:
    """Describe the permitted values. Return an empty string if every value is permitted."""
    if field.choices or field.kind in (FieldKind.FLAG, FieldKind.GROUP, FieldKind.TABLES):
        return ""
    if FieldKind.DURATION in (field.kind, field.item_kind):
        return tr("Allowed: {least} to {most}.").format(
            least="0", most=f"{formatting.format_plain_number(DURATION_MAX_HOURS)} h"
        )
    limits = {
        name: value
        for rule in field.constraints
        for name in ("ge", "gt", "le", "lt", "max_length", "pattern")
        if (value := getattr(rule, name, None)) is not None
    }
    if "pattern" in limits:
        kind = next((words for start, words in PATTERNS.items() if start in str(limits["pattern"])), "")
        words = localize(kind)
        return f"{words[:1].upper()}{words[1:]}." if words else ""
    minimum, maximum = limits.get("ge"), limits.get("le")
    if minimum is not None and maximum is not None:
        return tr("Allowed: {least} to {most}.").format(
            least=_format_number(minimum), most=_format_number(maximum)
        )
    if "gt" in limits and maximum is not None:
        return tr("Allowed: more than {least}, at most {most}.").format(
            least=_format_number(limits["gt"]), most=_format_number(maximum)
        )
    if minimum is not None:
        return tr("At least {least}.").format(least=_format_number(minimum))
    if "max_length" in limits and field.kind in (FieldKind.LINE, FieldKind.TEXT):
        return tr("At most {n} characters.").format(n=formatting.format_number(limits["max_length"]))
    return ""


def _split_help(field: FormField) -> tuple[str, str]:
    """Return the schema's description of the field, and the meaning of an empty field."""
    description, _, empty_meaning = tr(field.description).replace("`", "").partition(EMPTY_MEANING_PREFIX)
    return description.strip(), empty_meaning.strip().rstrip(".")


def _format_number(value: float) -> str:
    return (
        formatting.format_number(value) if isinstance(value, int) else formatting.format_plain_number(value)
    )


SCENARIO_NAME_KEY: Final = "name"
"""Key of the scenario's name. It has no field, because it normally follows from the file name."""
_DURATION_RULE: Final = get_args(schema.Duration)[1]
"""Constraint of a number that may have a time unit."""


def list_sections() -> tuple[FormSection, ...]:
    """Return the section General, then a section for each table in the order of the schema."""
    section_list = [
        FormSection(PLAIN_KEYS_SECTION, SECTION_TITLES[PLAIN_KEYS_SECTION], False, (schema.Scenario,))
    ]
    for name, info in schema.Scenario.model_fields.items():
        models, is_list = list_tables(info.annotation)
        key = info.alias or name
        if models or key == VARIANTS_SECTION:
            section_list.append(FormSection(key, SECTION_TITLES.get(key, key), is_list, models))
    return tuple(section_list)


def get_section_help(section: FormSection, model: type[BaseModel] | None) -> str:
    """Return the schema's description of *model*, or of *section* if *model* is None.

    Return an empty string for the section of plain keys.
    """
    if section.key == PLAIN_KEYS_SECTION:
        return ""
    if model is None:
        return read_docstrings()[schema.Scenario.__name__, section.key]
    return inspect.getdoc(model) or ""


@cache
def list_fields(model: type[BaseModel]) -> tuple[FormField, ...]:
    """Return the fields of a table in schema order, with `kind` first.

    For the whole file, return only the keys that are not tables.
    """
    is_whole_file = model is schema.Scenario
    field_list = [
        _build_field(model, name, info)
        for name, info in model.model_fields.items()
        if not (
            is_whole_file
            and (name in (SCENARIO_NAME_KEY, VARIANTS_SECTION) or list_tables(info.annotation)[0])
        )
    ]
    return tuple(sorted(field_list, key=lambda field: field.key != "kind"))


def find_model(section: FormSection, entry: Mapping[str, object]) -> type[BaseModel]:
    """Return the schema class of *entry*. If *section* has several classes, the entry's `kind` decides."""
    for model in section.models:
        kind = model.model_fields.get("kind")
        if kind is not None and entry.get("kind") in get_args(kind.annotation):
            return model
    return section.models[0]


def list_kinds(section: FormSection) -> tuple[str, ...]:
    """Return the values that `kind` may have in *section*. Return none if it has only one schema class."""
    if len(section.models) == 1:
        return ()
    return tuple(get_args(model.model_fields["kind"].annotation)[0] for model in section.models)


def _build_field(model: type[BaseModel], name: str, info: FieldInfo) -> FormField:
    key = info.alias or name
    bare_type = _strip_type(info.annotation)
    kind, item = _find_kind(bare_type, info, key)
    inner = (
        (bare_type,)
        if kind is FieldKind.GROUP
        else list_tables(info.annotation)[0]
        if kind is FieldKind.TABLES
        else (None,)
    )
    default = "" if info.is_required() else info.get_default(call_default_factory=True)
    choices = get_args(bare_type) if get_origin(bare_type) is Literal else ()
    field = FormField(
        table=model.__name__,
        key=key,
        description=next(
            (
                docstring
                for base in model.__mro__
                if (docstring := read_docstrings().get((base.__name__, name)))
            ),
            "",
        ),
        kind=kind,
        item_kind=item,
        choices=choices,
        required=info.is_required(),
        default="",
        inner_model=inner[0],
        validator=None if kind in (FieldKind.GROUP, FieldKind.TABLES) else _build_adapter(info),
        constraints=tuple(_flatten_constraints([*info.metadata, *_list_constraints(info.annotation)])),
    )
    if default is None or default is PydanticUndefined or kind in (FieldKind.GROUP, FieldKind.TABLES):
        return field
    return structs.replace(field, default=format_field(field, default))


def _build_adapter(info: FieldInfo) -> TypeAdapter[object]:
    annotation: Any = info.annotation
    rules = [rule for rule in info.metadata if type(rule).__name__ != "WithJsonSchema"]
    for rule in rules:
        annotation = Annotated[annotation, rule]
    return TypeAdapter(annotation)


def _find_kind(value_type: object, info: FieldInfo, key: str) -> tuple[FieldKind, FieldKind]:
    """Return the kind of a field of *value_type*, and the kind of each item if it has several values."""
    rules = [*info.metadata, *_list_constraints(info.annotation)]
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
            FieldKind.TEXT if _find_max_length(rules) >= 1000 or key in ("do", "summary") else FieldKind.LINE
        ), FieldKind.LINE
    if get_origin(value_type) is tuple:
        return _find_list_kind(get_args(value_type)[0])
    if isinstance(value_type, type) and issubclass(value_type, BaseModel):
        return FieldKind.GROUP, FieldKind.LINE
    raise TypeError(f"no kind of field shows a {value_type}")


def _find_list_kind(inner: object) -> tuple[FieldKind, FieldKind]:
    """Return the kind of a field with several values of the type *inner*, and the kind of each value.

    Raises TypeError if no kind of field can show such values.
    """
    bare_type, rules = _strip_type(inner), _list_constraints(inner)
    if bare_type is int:
        return FieldKind.WORDS, FieldKind.WHOLE
    if bare_type is float:
        return FieldKind.WORDS, FieldKind.DURATION if _is_duration(rules) else FieldKind.NUMBER
    if get_origin(bare_type) is Literal:
        return FieldKind.WORDS, FieldKind.LINE
    if bare_type is str:
        has_pattern = any(getattr(rule, "pattern", None) for rule in rules)
        return (FieldKind.WORDS if has_pattern else FieldKind.LINES), FieldKind.LINE
    if isinstance(bare_type, type) and issubclass(bare_type, BaseModel):
        return FieldKind.TABLES, FieldKind.LINE
    raise TypeError(f"no kind of field shows several {bare_type}")


def _strip_type(annotation: object) -> Any:
    """Return the type without `| None` and without constraints."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, UnionType):
            other_types = [part for part in get_args(annotation) if part is not NoneType]
            if len(other_types) != 1:
                return annotation
            annotation = other_types[0]
        else:
            return annotation


def _list_constraints(annotation: object) -> list[object]:
    """Return the constraints of a type, also if it has the form `… | None`."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *rules = get_args(annotation)
        return [*_list_constraints(inner), *rules]
    if origin in (Union, UnionType):
        return [rule for part in get_args(annotation) for rule in _list_constraints(part)]
    return []


def _flatten_constraints(rules: Iterable[object]) -> Iterator[object]:
    """Yield each constraint separately. A Field() may contain several."""
    for rule in rules:
        if isinstance(rule, FieldInfo):
            yield from _flatten_constraints(rule.metadata)
        else:
            yield rule


def _is_duration(rules: list[object]) -> bool:
    return _DURATION_RULE in rules


def _find_max_length(rules: list[object]) -> int:
    return max((getattr(rule, "max_length", None) or 0 for rule in rules), default=0)


def list_tables(annotation: object) -> tuple[tuple[type[BaseModel], ...], bool]:
    """Return the schema classes of tables that a field accepts, and whether it accepts a list of tables."""
    bare_type = _strip_type(annotation)
    is_list = get_origin(bare_type) is tuple
    inner = _strip_type(get_args(bare_type)[0]) if is_list else bare_type
    parts = get_args(inner) if get_origin(inner) in (Union, UnionType) else (inner,)
    models = tuple(part for part in parts if isinstance(part, type) and issubclass(part, BaseModel))
    return models, is_list


@cache
def read_docstrings() -> dict[tuple[str, str], str]:
    """Return (class, field) -> description below the field in the schema's source code.

    It is empty if the source is not available. Pydantic could keep these texts (`use_attribute_docstrings`),
    but it reads them at import, which adds 30 ms to each start.
    """
    docstrings_by_field = {}
    for part in chain.from_iterable(
        _parse_tree(module).body for module in (world, world, tasks, tasks, tasks)
    ):
        if not isinstance(part, ast.ClassDef):
            continue
        for field, statement in zip(part.body, part.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match statement:
                    case ast.Expr(value=ast.Constant(value=str(docstring))):
                        docstrings_by_field[part.name, field.target.id] = inspect.cleandoc(docstring).replace(
                            "\n", " "
                        )
    return docstrings_by_field


def _parse_tree(module: ModuleType) -> ast.Module:
    try:
        return ast.parse(inspect.getsource(module))
    except OSError:
        return ast.Module([], [])
