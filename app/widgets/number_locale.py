"""Number formats in the language of the interface, independent of the system's locale."""

import locale

from PySide6.QtCore import QLocale

from app.words import language


def build_number_locale() -> QLocale:
    """Return the locale for `setLocale` of a field; English for unknown languages, such as the pseudo-locale."""
    is_known = language.get_current_language() in language.LANGUAGES
    return QLocale(language.get_current_language() if is_known else language.ENGLISH)


def reset_c_locale() -> None:
    """Reset the C locale, which Qt changes when the application begins.

    In Turkish the lowercase i gets a dotted capital, so PySide finds no property `interval`. Call it after
    the QApplication exists.
    """
    for name in ("C.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        return
