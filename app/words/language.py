"""Texts of the interface in the user's language: `tr("Text with {name}").format(name=…)`, no f-strings.

Some texts are English in every language, because DBAs know them in English or an author wrote them in
English:
- output of SQL Server: messages, T-SQL, lines of the ERRORLOG and of traces, warnings of the monitor, results
  in a SQL window, words and columns of catalog views (SYNCHRONIZED), names of counters;
- input lines and their verbs, keys of scenario files, the command line and its report, names of CSV columns;
- texts of scenarios; rows and figures of the papers. All other texts are in the language of the interface.
Texts that the engine composes (events, refusals, reasons of a score, findings of the scenario checker and the
planner) are `LocalizableMessage` objects, which `app.words.localization` translates. Numbers in the interface
follow the language (`app.words.formatting`). Numbers in results, files and server clocks keep SQL Server's
form.

The catalogs are gettext's (`assets/languages/*.po`, compiled to `.mo`); `make words` updates them.
"""

import gettext
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from engine.localization import mark as mark

ENGLISH: Final = "en"
"""Language of the texts in the code."""
GERMAN: Final = "de"
PSEUDO_LANGUAGE: Final = "pseudo"
"""Pseudo language: English with accents, brackets and 40% more length. It reveals unmarked and cut texts."""
LANGUAGES: Final = {ENGLISH: "English", GERMAN: "Deutsch"}
"""Selectable languages -> their own names."""
LANGUAGE_VARIABLE: Final = "MIRRORDRILL_LANGUAGE"
"""Environment variable that overrides the setting: `en`, `de` or `pseudo`."""

_ADDED_LENGTH: Final = 0.4
"""Additional length of the pseudo language, similar to German, Finnish and Russian labels compared with English."""
_OPENING_MARK: Final = "[!!! "
_UNCHANGED_PARTS: Final = re.compile(r"\{[^{}]*\}|<[^<>]*>|&#?\w+;|&(?=\w)|\\.")
"""Pattern of placeholders, tags, entities and access key marks, which the pseudo language does not change."""
_ACCENTS: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž",
)


def tr(text: str) -> str:
    """Translate *text* to the interface language. Without an entry in the catalog, return it unchanged."""
    return _current_catalog.gettext(text) if text else ""


def trn(singular: str, plural: str, n: int) -> str:
    """Translate a text such as "{n} thing" or "{n} things" in the plural form for the number *n*.

    The interface language determines the plural form.
    """
    return _current_catalog.ngettext(singular, plural, n)


def get_current_language() -> str:
    """Return the name of the current interface language."""
    return _current_language


def use_language(name: str) -> None:
    """Use the language *name* for `tr` from now on. An unknown name selects English."""
    global _current_catalog, _current_language
    _current_language = name if name in LANGUAGES or name == PSEUDO_LANGUAGE else ENGLISH
    _current_catalog = _load_catalog(_current_language)


@cache
def _load_catalog(name: str) -> gettext.NullTranslations:
    if name == PSEUDO_LANGUAGE:
        return _PseudoTranslations()
    if name == ENGLISH:
        return gettext.NullTranslations()
    with files("assets").joinpath("languages", f"{name}.mo").open("rb") as compiled:
        return gettext.GNUTranslations(compiled)


def choose_language(by_environment: str, by_setting: str, by_system: str) -> str:
    """Return the first argument that names an available language, or else English.

    *by_system*: name of a locale, such as `de_AT`, of which only the language is compared.
    """
    for name in (by_environment, by_setting, by_system.replace("-", "_").partition("_")[0]):
        if name in LANGUAGES or (name == PSEUDO_LANGUAGE and name == by_environment):
            return name
    return ENGLISH


def translate_to_pseudo(text: str) -> str:
    """Return *text* in the pseudo language: readable, longer, and visibly translated.

    A text that is already in the pseudo language is unchanged.
    """
    if text.startswith(_OPENING_MARK):
        return text
    words = "".join(_accent(text))
    padding = round(len(text) * _ADDED_LENGTH)
    return f"{_OPENING_MARK}{words} {'·' * padding} !!!]" if padding else f"{_OPENING_MARK}{words} !!!]"


def _accent(text: str) -> Iterator[str]:
    index = 0
    for match in _UNCHANGED_PARTS.finditer(text):
        yield text[index : match.start()].translate(_ACCENTS)
        yield match.group()
        index = match.end()
    yield text[index:].translate(_ACCENTS)


class _PseudoTranslations(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return translate_to_pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return translate_to_pseudo(msgid1 if n == 1 else msgid2)


_current_catalog: gettext.NullTranslations = gettext.NullTranslations()
_current_language: str = ENGLISH
