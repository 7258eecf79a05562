"""Scripts and results as text: files of Management Studio, and tables for spreadsheets. Without Qt."""

import codecs
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from app.export.sheets import as_csv
from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.scenario import escape_invisible

SUFFIX: Final = ".sql"
SIZE_MAX: Final = 4_000_000
"""Maximum bytes of a script: a million characters, the limit of a query, at four bytes each."""
CHARACTERS_MAX: Final = 1_000_000

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of files from Management Studio."""


class ScriptFileError(Exception):
    """A file is not a script; the text gives the reason."""


def read(file: Path) -> str:
    """Return the text of a script: UTF-8, UTF-16 with its mark, or Windows-1252. Raises ScriptFileError."""
    name = escape_invisible(file.name)
    try:
        if not file.is_file():
            raise ScriptFileError(tr("{file} is not a file").format(file=name))
        with file.open("rb") as script_file:
            content = script_file.read(SIZE_MAX + 1)
    except OSError as error:
        message = tr("{file} cannot be read: {why}")
        raise ScriptFileError(message.format(file=name, why=error.strerror)) from error
    text = _decode(content)
    if "\0" in text:
        raise ScriptFileError(tr("{file} is not text").format(file=name))
    if len(content) > SIZE_MAX or len(text) > CHARACTERS_MAX:
        message = tr("{file} has more than {n} characters")
        raise ScriptFileError(message.format(file=name, n=formatting.number(CHARACTERS_MAX)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decode(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


Results = Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]]
"""(columns, rows) of every result set."""


def results_as_csv(results: Results) -> str:
    """Return one table after the other, an empty line between two."""
    return "\r\n".join(as_csv(columns, map(_cells, rows)) for columns, rows in results)


def results_as_text(results: Results, messages: Iterable[str]) -> str:
    """Format results like "results to text", without a limit; then the messages."""
    tables = (formatting.text_table(list(columns), [*map(_cells, rows)]) for columns, rows in results)
    return "\n\n".join((*tables, *messages)) + "\n"


def _cells(row: Sequence[object]) -> list[str]:
    return [formatting.cell(value) for value in row]
