"""How fields write numbers: as the language of the interface does, whatever the system's language is."""

from __future__ import annotations

from PySide6.QtCore import QLocale

from app import language


def number_locale() -> QLocale:
    """For `setLocale` of a field; English where the language is none of ours, as for the pseudo-locale."""
    known = language.current() in language.LANGUAGES
    return QLocale(language.current() if known else language.ENGLISH)
