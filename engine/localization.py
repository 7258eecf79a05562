"""English texts that the interface translates: marked texts, and messages with arguments."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

Argument = str | float
"""Value of a template field: a text (also a `LocalizableMessage`) or a number."""


class LocalizableMessage(str):
    """English text with its template and arguments, so that it can be translated.

    In all other respects, it behaves as a str: equality, hash and output are those of its text.
    """

    __slots__ = ("args", "template")
    template: str
    """Template for `str.format`. Its fields may have number formats, such as `{size_mb:,.0f} MB`."""
    args: tuple[tuple[str, Argument], ...]
    """Name and value of each template field."""

    def __str__(self) -> str:
        return self  # `str(problem)` of an exception must return the message

    def __reduce__(self) -> tuple[object, ...]:
        return _build_message, (self.template, self.args)


def mark(text: str) -> str:
    """Return *text* unchanged. The collector of translations finds it, and the interface translates it."""
    return text


def build_message(template: str, /, **args: Argument) -> LocalizableMessage:
    """Return the message of *template* with *args*. The collector of translations finds the template."""
    sentence = LocalizableMessage(template.format_map(args))
    sentence.template, sentence.args = template, tuple(args.items())
    return sentence


def shorten_text(text: str, length: int) -> str:
    """Cut *text* to *length* characters, including an ellipsis. In a `LocalizableMessage`, cut the arguments."""
    if len(text) <= length:
        return text
    if isinstance(text, LocalizableMessage):
        allowed = length
        while allowed:
            args = tuple(
                (name, shorten_text(value, allowed) if isinstance(value, str) else value)
                for name, value in text.args
            )
            short_text = _build_message(text.template, args)
            if len(short_text) <= length:
                return short_text
            allowed //= 2
    return f"{text[:length]}…"


def join_messages(separator: str, parts: Iterable[str]) -> LocalizableMessage:
    """Join *parts*, which are messages or names, with the punctuation *separator*."""
    numbered = tuple((f"part_{number}", part) for number, part in enumerate(parts))
    return _build_message(separator.join(f"{{{name}}}" for name, _ in numbered), numbered)


def format_quantity(value: float, form: str, unit: str = "") -> LocalizableMessage:
    """Format *value* with the number format *form*: 1,234.5 MB. *unit* is the same in all languages."""
    return _build_message(f"{{value:{form}}}{f' {unit}' if unit else ''}", (("value", value),))


@lru_cache(1024)  # cached, because a search formats the same durations repeatedly
def format_duration(seconds: float, form: str = "g") -> LocalizableMessage:
    """Format a duration: 2.63 s below one minute, 1:05 below one hour, 1:05:09 for longer durations.

    *form*: number format below one minute. With "g", whole minutes and hours are 2 min and 1 h.
    """
    if abs(float(format(seconds, form))) < 60.0:
        return format_quantity(seconds, form, "s")
    minutes, rest_s = divmod(round(abs(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if seconds < 0 else ""
    if form == "g" and not rest_s and not (hours and minutes):
        return format_quantity(float(f"{sign}{hours or minutes}"), ",.0f", "h" if hours else "min")
    if not hours:
        return _build_message(f"{sign}{{minutes:d}}:{{rest:02d}}", (("minutes", minutes), ("rest", rest_s)))
    args = ("hours", hours), ("minutes", minutes), ("rest", rest_s)
    return _build_message(f"{sign}{{hours:,d}}:{{minutes:02d}}:{{rest:02d}}", args)


def format_run_time(t_s: float, decimals: int = 0) -> LocalizableMessage:
    """Format seconds since the start of the run: 0:41, 1:02:03 or, with one decimal, 0:41.2."""
    hours, rest_s = divmod(round(abs(t_s), decimals), 3600)  # rounded first, to avoid 0:60
    minutes, seconds = divmod(rest_s, 60)
    template = "{hours:.0f}:{minutes:02.0f}:" if hours else "{minutes:.0f}:"
    template += f"{{seconds:0{3 + decimals if decimals else 2}.{decimals}f}}"
    args = ("hours", hours), ("minutes", minutes), ("seconds", seconds)
    return _build_message(f"{'-' if t_s < 0 else ''}{template}", args)


def convert_to_json(text: str) -> Any:
    """Convert *text* to JSON types, from which `restore_from_json` restores it, for example in another process."""
    if not isinstance(text, LocalizableMessage):
        return text
    args = {name: convert_to_json(value) if isinstance(value, str) else value for name, value in text.args}
    return {"template": text.template, "args": args}


def restore_from_json(value: object) -> Any:
    """Restore the text that `convert_to_json` has converted to *value*."""
    if not isinstance(value, dict):
        return value
    return _build_message(
        value["template"], tuple((name, restore_from_json(arg)) for name, arg in value["args"].items())
    )


def _build_message(template: str, args: tuple[tuple[str, Argument], ...]) -> LocalizableMessage:
    sentence = build_message(template, **dict(args))
    sentence.args = args
    return sentence
