"""The interface's words in the user's language: `tr("Text with {name}").format(name=…)`, never an f-string in it.

English in every language, because it is what a DBA meets at work, or what an author wrote:
- what SQL Server says or shows: messages, T-SQL, lines of the ERRORLOG and of traces, warnings of the monitor, what
  a SQL window answers, words and columns of the catalog views (SYNCHRONIZED), names of counters;
- input lines and their verbs, keys of scenario files, the command line and its report, names of CSV columns;
- texts of scenarios; rows and figures of the papers.
Everything else is said in the language of the interface. What the engine puts together (events, refusals, reasons of
a score, findings of the scenario checker and of the planner) is a `Sentence`, which `app.localization.sentences` shows.
Numbers that the interface composes are written as the language does (`app.localization.formatting`); those of
results, of files and of the servers' clocks keep SQL Server's form.

Catalogues are gettext's (`assets/languages/*.po`, compiled to `.mo`); `make words` brings them up to date.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

from engine.localization import mark as mark

ENGLISH: Final = "en"
"""The language in which the texts stand in the code."""
GERMAN: Final = "de"
PSEUDO: Final = "pseudo"
"""No language: English with accents, brackets and 40 % more of it. What is not marked for translation, and what
has no room, shows itself in it."""
LANGUAGES: Final = {ENGLISH: "English", GERMAN: "Deutsch"}
"""Languages that can be chosen, each named in itself."""
ENVIRONMENT: Final = "MIRRORDRILL_LANGUAGE"
"""Environment variable that goes before the setting: `en`, `de` or `pseudo`."""

_LONGER: Final = 0.4
"""German, Finnish and Russian labels are about that much longer than English ones."""
_OPENED: Final = "[!!! "
_KEPT: Final = re.compile(r"\{[^{}]*\}|<[^<>]*>|&#?\w+;|&(?=\w)|\\.")
"""Placeholders, tags, entities and marks of access keys: not words."""
_ACCENTED: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŠŢÛṼŴẊÝŽåƀçðéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž",
)


def tr(text: str) -> str:
    """Translate *text* to the interface language; return it unchanged if the catalog has no entry."""
    return _catalogue.gettext(text) if text else ""


def trn(singular: str, plural: str, n: int) -> str:
    """Return the form of "{n} thing", "{n} things" that goes with *n* in the language of the interface."""
    return _catalogue.ngettext(singular, plural, n)


def current() -> str:
    """Name of the language in use."""
    return _name


def use(name: str) -> None:
    """Use the language *name* for `tr` from now on; an unknown one means English."""
    global _catalogue, _name
    _name = name if name in LANGUAGES or name == PSEUDO else ENGLISH
    _catalogue = _catalogue_of(_name)


@cache
def _catalogue_of(name: str) -> gettext.NullTranslations:
    if name == PSEUDO:
        return _Pseudo()
    if name == ENGLISH:
        return gettext.NullTranslations()
    with files("assets").joinpath("languages", f"{name}.mo").open("rb") as compiled:
        return gettext.GNUTranslations(compiled)


def choose_language(by_environment: str, by_setting: str, by_system: str) -> str:
    """Return the first of the three that names a language there is, else English.

    *by_system* is a locale's name such as `de_AT`; only its first part counts.
    """
    for name in (by_environment, by_setting, by_system.replace("-", "_").partition("_")[0]):
        if name in LANGUAGES or (name == PSEUDO and name == by_environment):
            return name
    return ENGLISH


def pseudo(text: str) -> str:
    """Return *text* in the pseudo-locale: readable, longer, and visibly translated, once at most."""
    if text.startswith(_OPENED):
        return text
    words = "".join(_accented(text))
    more = round(len(text) * _LONGER)
    return f"{_OPENED}{words} {'·' * more} !!!]" if more else f"{_OPENED}{words} !!!]"


def _accented(text: str) -> Iterator[str]:
    at = 0
    for kept in _KEPT.finditer(text):
        yield text[at : kept.start()].translate(_ACCENTED)
        yield kept.group()
        at = kept.end()
    yield text[at:].translate(_ACCENTED)


class _Pseudo(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return pseudo(msgid1 if n == 1 else msgid2)


_catalogue: gettext.NullTranslations = gettext.NullTranslations()
_name: str = ENGLISH
