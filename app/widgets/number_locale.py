"""Number formats in the interface language, independent of the system's locale."""

import locale

from PySide6.QtCore import QLocale

from app.words import language


def build_number_locale() -> QLocale:
    """Return the locale for a number field. Unknown languages, such as the pseudo-locale, use English."""
    is_known = language.get_current_language() in language.LANGUAGES
    return QLocale(language.get_current_language() if is_known else language.ENGLISH)


def reset_c_locale() -> None:
    """Reset the C locale.

    Call this after the application was created, because Qt changes the C locale then.

    In a Turkish locale, the uppercase form of i has a dot, so PySide does not find the property `interval`.
    """
    for name in ("C.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        return
