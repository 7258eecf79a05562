"""Fields of the form, and the conversion of their values to text and back. Without Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from app.views.editor.form_words import LABELS, OFFERED
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.expectations import format_expected

QUOTED_MAX: Final = 40
"""Maximum characters of the input that a refusal repeats."""


class FieldKind(Enum):
    """Way to show and edit a value."""

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


@dataclass(frozen=True)
class Field:
    """Key of a table. *check* validates a value; *inner* is the nested table, single or repeated."""

    table: str
    """Class of the schema."""
    key: str
    about: str
    kind: FieldKind
    item: FieldKind
    choices: tuple[object, ...]
    required: bool
    default: str
    inner: type[BaseModel] | None
    check: TypeAdapter[object] | None
    rules: tuple[object, ...] = ()
    """Constraints from pydantic on the value, and on each item if the field holds several."""

    @property
    def label(self) -> str:
        """The key in an author's words, its unit in brackets."""
        words = LABELS.get(f"{self.table}.{self.key}", LABELS.get(self.key))
        return self.key if words is None else tr(words)

    @property
    def offered(self) -> str:
        """Of what the names are that may stand there, or that it is an act or a condition; empty: anything may."""
        return OFFERED.get(f"{self.table}.{self.key}", OFFERED.get(self.key, ""))


@dataclass(frozen=True)
class Section:
    """Part of the file: plain keys, one table, or (*many*) an array of tables.

    *models*: possible tables; none for the pools of variants.
    """

    key: str
    title: str
    many: bool
    models: tuple[type[BaseModel], ...]


class FieldValueError(ValueError):
    """A field cannot accept the typed value; the text gives the reason."""


def format_field(field: Field, value: object) -> str:
    """Format *value* for its field."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        between = "\n" if field.kind is FieldKind.LINES else ", "
        return between.join(_format_value(each) for each in value)
    return _format_value(value)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def read(field: Field, typed: str) -> object:
    """Return the value that *typed* stands for; None: nothing. Raises Refused."""
    if not typed.strip():
        return None
    if field.kind is FieldKind.WORDS:
        value: object = [_parse_scalar(field.item, part) for part in typed.split(",") if part.strip()]
    elif field.kind is FieldKind.LINES:
        value = [line.strip() for line in typed.splitlines() if line.strip()]
    else:
        value = _parse_scalar(field.kind, typed)
    if field.check is None or "{" in typed:  # values picked by the seed are known only in a run
        return value
    try:
        field.check.validate_python(tuple(value) if isinstance(value, list) else value, strict=True)
    except ValidationError as error:
        wanted = dict.fromkeys(localize(format_expected(each)) for each in error.errors(include_url=False))
        sentence = tr("{field}: {value} is not valid; expected {expected}.")
        raise FieldValueError(
            sentence.format(field=field.label, value=_short(typed), expected="; ".join(wanted))
        ) from error
    return value


def _short(typed: str) -> str:
    """Return the typed text as a short quotation for a sentence."""
    line = " ".join(typed.split())
    return f"“{line if len(line) <= QUOTED_MAX else line[: QUOTED_MAX - 1] + '…'}”"


def format_entry(entry: Mapping[str, object]) -> str:
    """Format one line for an entry of a list."""
    for key in ("name", "title", "text", "do", "paper", "goal", "database", "ends"):
        value = entry.get(key)
        if isinstance(value, (list, tuple)):
            return " – ".join(str(each) for each in value)
        if value:
            return str(value).strip().splitlines()[0]
    return next((str(value) for value in entry.values() if isinstance(value, str)), "…")


def _parse_scalar(kind: FieldKind, typed: str) -> object:
    """Return a number if it is meant and is one, else the words as they are."""
    text = typed if kind is FieldKind.TEXT else typed.strip()
    if kind in (FieldKind.WHOLE, FieldKind.NUMBER, FieldKind.DURATION):
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
    return text
