"""Tooltips of a field: meaning, unit, range, meaning when left empty, key in the text. No Qt."""

from __future__ import annotations

from typing import Final

from app.views.editor.form_fields import Field, FieldKind
from app.words import formatting
from app.words.language import mark, tr
from app.words.localization import localize
from engine.drill.authoring.expectations import PATTERNS
from engine.drill.authoring.schema import DURATION_MAX_S

EMPTY: Final = "None: "
"""Prefix of the schema's text about a missing key."""
HOURS_MAX: Final = DURATION_MAX_S / 3600.0

HOW: Final = {
    FieldKind.DURATION: mark("Seconds, or a number with s, min or h."),
    FieldKind.WORDS: mark("Separate several with commas."),
    FieldKind.LINES: mark("One per line."),
}
UNITS: Final = {
    "_s": mark("In seconds."),
    "_ms": mark("In milliseconds."),
    "_mb": mark("In megabytes."),
    "_mbps": mark("In megabits per second."),
}
"""Suffixes of keys that are units."""


def tip(field: Field) -> str:
    """Return all of it, line by line."""
    about, meant = _split_help(field)
    left_empty = tr("Left empty: {meaning}.").format(meaning=meant) if meant else ""
    if field.required:
        left_empty = tr("Required.")
    elif field.default and not meant:
        left_empty = tr("Left empty: {meaning}.").format(meaning=default(field))
    unit = next((tr(words) for end, words in UNITS.items() if field.key.endswith(end)), "")
    how = tr(HOW[field.kind]) if field.kind in HOW else ""
    lines = (about, " ".join(filter(None, (unit, how, bounds(field)))), left_empty)
    return "\n".join([*filter(None, lines), tr("In the text: {key}").format(key=field.key)])


def format_placeholder(field: Field) -> str:
    """Return the text that an empty field shows."""
    if field.default:
        return tr("{value} (default)").format(value=default(field))
    meant = _split_help(field)[1]
    if meant:
        return meant
    return tr("required") if field.required else tr("none")


def default(field: Field) -> str:
    """Return the default value with its unit."""
    return f"{field.default} s" if field.kind is FieldKind.DURATION else field.default


def bounds(field: Field) -> str:
    """Return the permitted values as a sentence; empty if every value is permitted."""
    if field.choices or field.kind in (FieldKind.FLAG, FieldKind.GROUP, FieldKind.TABLES):
        return ""
    if FieldKind.DURATION in (field.kind, field.item):
        return tr("From {least} to {most}.").format(least="0", most=f"{formatting.plain_number(HOURS_MAX)} h")
    found = {
        name: value
        for rule in field.rules
        for name in ("ge", "gt", "le", "lt", "max_length", "pattern")
        if (value := getattr(rule, name, None)) is not None
    }
    if "pattern" in found:
        kind = next((words for start, words in PATTERNS.items() if start in str(found["pattern"])), "")
        words = localize(kind)
        return f"{words[:1].upper()}{words[1:]}." if words else ""
    least, most = found.get("ge"), found.get("le")
    if least is not None and most is not None:
        return tr("From {least} to {most}.").format(least=_number(least), most=_number(most))
    if "gt" in found and most is not None:
        return tr("More than {least}, at most {most}.").format(least=_number(found["gt"]), most=_number(most))
    if least is not None:
        return tr("At least {least}.").format(least=_number(least))
    if "max_length" in found and field.kind in (FieldKind.LINE, FieldKind.TEXT):
        return tr("At most {n} characters.").format(n=formatting.number(found["max_length"]))
    return ""


def _split_help(field: Field) -> tuple[str, str]:
    """Return the schema's text about the field, and its text about an empty field."""
    about, _, meant = tr(field.about).replace("`", "").partition(EMPTY)
    return about.strip(), meant.strip().rstrip(".")


def _number(value: float) -> str:
    return formatting.number(value) if isinstance(value, int) else formatting.plain_number(value)
