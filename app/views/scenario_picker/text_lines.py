"""Word wrap for texts that the start page paints."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF


def wrapped(text: str, metrics: QFontMetricsF, width: float, lines_max: int) -> list[str]:
    """Wrap *text* into at most *lines_max* lines of that *width*; the last one is elided."""
    if metrics.horizontalAdvance(text) <= width:
        return [text]
    lines, words = [""], text.split()
    for place, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if not lines[-1] or metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        elif len(lines) < lines_max:
            lines.append(word)
        else:
            lines[-1] = " ".join((lines[-1], *words[place:]))
            break
    return [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]


@lru_cache(maxsize=2048)
def cached_lines(text: str, font_text: str, width: float, lines_max: int) -> tuple[str, ...]:
    """Return the lines of `wrapped` from a cache, because the list requests its rows on each change."""
    font = QFont()
    font.fromString(font_text)
    return tuple(wrapped(text, QFontMetricsF(font), width, lines_max))
