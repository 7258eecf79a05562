"""PARSE and TRY_PARSE: numbers and dates in the notation of a .NET culture [DOC: PARSE]."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.messages import SqlError
from engine.tsql.scalars import languages
from engine.tsql.scalars.date_values import Culture
from engine.tsql.scalars.types import MONEYS, type_of
from engine.tsql.scalars.values import Scalar, convert, to_text

CULTURES: Final = {
    "en-us": ("us_english", "mdy", ",", "."),
    "en-gb": ("us_english", "dmy", ",", "."),
    "de-de": ("Deutsch", "dmy", ".", ","),
    "es-es": ("Español", "dmy", ".", ","),
    "it-it": ("Italiano", "dmy", ".", ","),
}
"""Language, order of dates, thousands separator and decimal separator of cultures in the documented list."""

_OF_LANGUAGES: Final = {"us_english": "en-us", "Deutsch": "de-de", "Español": "es-es", "Italiano": "it-it"}


def parse(culture: Culture, value: Scalar, kind: Scalar, name: Scalar = None) -> Scalar:
    """Parse *value* as the type *kind* in the culture *name*, else in that of the session.

    Raises 9818, 9819, 10761.
    """
    target = type_of(to_text(kind))
    if not (target.is_number or target.is_moment):
        raise SqlError(10761, target.name, "parse")
    shown = to_text(name) if name is not None else _OF_LANGUAGES.get(culture.language.name, "")
    if shown.lower() not in CULTURES:
        raise SqlError(0, f"Not simulated: PARSE with the culture {shown or culture.language.name}")
    if value is None:
        return None
    language, order, between, point = CULTURES[shown.lower()]
    text = to_text(value).strip()
    found = languages.find(language)
    assert found is not None
    there = replace(culture, language=found, dateformat=order)
    if target.is_number:
        text = text.replace(between, "").replace(point, ".")
        if target.is_integer and target.name != "bit":
            text = text.removesuffix(".").removesuffix(".0") or " "
        if target.name not in MONEYS and "$" in text:
            text = " "
    try:
        if not text.strip():
            raise SqlError(9819, value, target.name, name or "")
        return convert(text, target, culture=there)
    except SqlError:
        raise SqlError(9819, value, target.name, name or "") from None


def try_parse(culture: Culture, value: Scalar, kind: Scalar, name: Scalar = None) -> Scalar:
    """Return the same; NULL for a text that is none of the type."""
    try:
        return parse(culture, value, kind, name)
    except SqlError as problem:
        if problem.number != 9819:
            raise
        return None
