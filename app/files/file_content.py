"""Reading of files that the user names, with a size limit and an error message for each failure. Without Qt."""

import codecs
from pathlib import Path
from typing import Final

from app.words.language import tr
from engine.drill.authoring.scenario import escape_invisible

_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks that Management Studio, Notepad and the redirection of PowerShell write."""


class UnreadableFileError(Exception):
    """Error for a file that cannot be read. The text is a sentence for the user, without its final period."""


def read_bytes(file: Path, bytes_max: int) -> bytes:
    """Return the content of a regular file of at most *bytes_max* bytes. Raises UnreadableFileError."""
    name = escape_invisible(str(file))
    try:
        if not file.is_file():  # opening a pipe would block, and reading a device would never end
            sentence = tr("{file} is not a file") if file.exists() else tr("{file} does not exist")
            raise UnreadableFileError(sentence.format(file=name))
        with file.open("rb") as opened:
            content = opened.read(bytes_max + 1)
    except OSError as error:
        raise UnreadableFileError(
            tr("{file} cannot be read: {why}").format(file=name, why=error.strerror)
        ) from error
    except ValueError as error:  # the name contains a null character
        raise UnreadableFileError(tr("{file} is not a file").format(file=name)) from error
    if len(content) > bytes_max:
        raise UnreadableFileError(
            tr("{file} exceeds the size limit of {most} MB").format(file=name, most=f"{bytes_max / 1e6:g}")
        )
    return content


def decode_text(content: bytes, name: str) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark. Raises UnreadableFileError."""
    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFileError(
            tr("{file} is not UTF-8 text (byte {start})").format(
                file=escape_invisible(name), start=error.start + 1
            )
        ) from error
