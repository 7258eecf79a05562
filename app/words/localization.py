"""Localization of the engine's texts into the language of the interface.

The engine writes English, so that a run is the same in every language. Its messages contain their template and
arguments. Text that intentionally stays English (see `app.words.language`) is no `LocalizableMessage` and is shown
unchanged.
"""

from __future__ import annotations

from string import Formatter

from app.words import formatting, language
from app.words.language import tr
from engine.localization import LocalizableMessage


def localize(text: str) -> str:
    """Localize *text* with its numbers; return anything but a `LocalizableMessage` unchanged."""
    if not isinstance(text, LocalizableMessage) or language.current() == language.ENGLISH:
        return text
    return _FIELDS.vformat(tr(text.template), (), dict(text.args))


class _Fields(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, str):
            return localize(value)
        return formatting.local(format(value, format_spec))


_FIELDS = _Fields()
