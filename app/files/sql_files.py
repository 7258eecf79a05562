"""Script files of Management Studio, and query results as text or CSV. Without Qt."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from app.export.csv_tables import format_csv_table
from app.files.file_content import UnreadableFileError, decode_text, read_bytes
from app.words import formatting
from app.words.language import tr
from engine.drill.authoring.scenario import escape_invisible

SCRIPT_SUFFIX: Final = ".sql"
SCRIPT_BYTES_MAX: Final = 4_000_000
"""Maximum size of a script in bytes: a million characters, the limit of a query, at four bytes each."""
SCRIPT_CHARACTERS_MAX: Final = 1_000_000


class ScriptFileError(Exception):
    """Error for a file that is not a script. The text gives the reason."""


def read_script(file: Path) -> str:
    """Return the text of a script in UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises ScriptFileError."""
    name = escape_invisible(file.name)
    try:
        content = read_bytes(file, SCRIPT_BYTES_MAX)
    except UnreadableFileError as error:
        raise ScriptFileError(str(error)) from error
    try:
        text = decode_text(content, name)
    except UnreadableFileError:
        text = content.decode("cp1252", "replace")
    if "\0" in text:
        raise ScriptFileError(tr("{file} is not text").format(file=name))
    if len(text) > SCRIPT_CHARACTERS_MAX:
        message = tr("{file} has more than {n} characters")
        raise ScriptFileError(message.format(file=name, n=formatting.format_number(SCRIPT_CHARACTERS_MAX)))
    return text.replace("\r\n", "\n").replace("\r", "\n")


ResultSets = Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]]
"""Column names and rows of each result set."""


def format_results_as_csv(results: ResultSets) -> str:
    """Format all result sets as CSV tables, separated by an empty line."""
    return "\r\n".join(format_csv_table(columns, map(_format_cells, rows)) for columns, rows in results)


def format_results_as_text(results: ResultSets, messages: Iterable[str]) -> str:
    """Format results like "Results to Text" in Management Studio, but without its length limit.

    The messages follow after the results.
    """
    tables = (
        formatting.format_text_table(list(columns), [*map(_format_cells, rows)]) for columns, rows in results
    )
    return "\n\n".join((*tables, *messages)) + "\n"


def _format_cells(row: Sequence[object]) -> list[str]:
    return [formatting.format_result_cell(value) for value in row]
