"""Localization of the engine's texts to the interface language.

The engine writes English, so that a run is the same in every language. Its messages contain their template
and arguments. Text that intentionally stays English (see `app.words.language`) is not a `LocalizableMessage`
and is shown unchanged.
"""

from collections.abc import Mapping, Sequence
from string import Formatter

from app.words import formatting, language
from app.words.formatting import format_run_tick
from app.words.language import tr
from engine.drill.judging.mistakes import Mistake
from engine.localization import LocalizableMessage
from engine.verbs.input_lines import describe_line


def localize(text: str) -> str:
    """Localize a `LocalizableMessage` with its numbers. Return any other text unchanged."""
    if not isinstance(text, LocalizableMessage) or language.get_current_language() == language.ENGLISH:
        return text
    return _FORMATTER.vformat(tr(text.template), (), dict(text.args))


class _LocalizedFormatter(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, str):
            return localize(value)
        return formatting.localize_number(format(value, format_spec))


_FORMATTER = _LocalizedFormatter()
"""Formatter that localizes the values of a message."""


def shorten_line(line: str, letters: int) -> str:
    """Return *line* without line breaks, cut off after *letters* characters."""
    text = " ".join(line.split())
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def describe_input(line: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Describe the input line *line* in words. Any other text is returned unchanged.

    *choices*: question -> its choices.
    """
    return localize(describe_line(line, choices))


def describe_cause(mistake: Mistake) -> str:
    """Describe the cause of a mistake: the earlier action or event with its time, or what was omitted.

    Return an empty text if no cause is known.
    """
    words = localize(mistake.cause)
    if mistake.is_omission or not words:
        return words
    if mistake.cause_tick is None:
        return tr("After: {cause}").format(cause=words)
    return tr("After: {cause}, at {moment}").format(cause=words, moment=format_run_tick(mistake.cause_tick))
