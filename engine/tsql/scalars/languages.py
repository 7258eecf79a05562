"""Languages of SET LANGUAGE: date order, first day of the week, names of months and days.

Source: [DOC: sys.syslanguages]. No value depends on the operating system.
"""

from importlib import resources
from typing import Final

from msgspec import Struct


class Language(Struct, frozen=True, eq=False):
    """Language, a row of sys.syslanguages.

    Equality is by identity, so that a language can be part of cache keys.
    """

    number: int
    name: str
    alias: str
    dateformat: str
    datefirst: int
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    """Names of the days, Monday first."""


def _read_language(line: str) -> Language:
    number, name, alias, dateformat, datefirst, *lists = line.split("|")
    months, short_months, days = (tuple(names.split(",")) for names in lists)
    return Language(int(number), name, alias, dateformat, int(datefirst), months, short_months, days)


_TEXT: Final = resources.files("engine.tsql.scalars").joinpath("languages.txt").read_text(encoding="utf-8")
LANGUAGES: Final = tuple(map(_read_language, _TEXT.splitlines()[1:]))

ENGLISH: Final = LANGUAGES[0]

_UNSIMULATED_TEXT: Final = """
日本語,Japanese,čeština,Czech,magyar,Hungarian,polski,Polish,română,Romanian,hrvatski,Croatian,slovenčina,Slovak,
slovenski,Slovenian,ελληνικά,Greek,български,Bulgarian,русский,Russian,Türkçe,Turkish,eesti,Estonian,latviešu,Latvian,
lietuvių,Lithuanian,Português (Brasil),Brazilian,繁體中文,Traditional Chinese,한국어,Korean,简体中文,Simplified Chinese,
Arabic,ไทย,Thai,Bokmål
"""
UNSIMULATED_LANGUAGES: Final = frozenset(name.strip().casefold() for name in _UNSIMULATED_TEXT.split(","))
"""Languages of SQL Server that are not simulated."""


def find_language(name: str) -> Language | None:
    """Return the language with this name or alias; None if there is none."""
    language_name = name.casefold()
    return next(
        (
            language
            for language in LANGUAGES
            if language_name in (language.name.casefold(), language.alias.casefold())
        ),
        None,
    )


HIJRI_MONTHS: Final = (
    "محرم", "صفر", "ربيع الاول", "ربيع الثاني", "جمادى الاولى", "جمادى الثانية", "رجب", "شعبان", "رمضان",
    "شوال", "ذو القعدة", "ذو الحجة",
)  # fmt: skip
"""Month names of styles 130 and 131. Documented [DOC: CAST and CONVERT, Hijri calendar]."""
