"""Atomic writing of a file: after any failure the old content is still there. Without Qt."""

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from app.files.folders import is_special_file
from app.words.language import tr

ENDING: Final = ".unfinished"


def write(file: Path, content: bytes | str) -> None:
    """Write *content* to *file*, on disk when this returns; text as UTF-8.

    The new file is written in the same folder and then put in place. A link is replaced, not followed; a
    write-protected file and other objects are left alone. Raises OSError, whose `strerror` is text for people.
    """
    # Qt strings may contain half a surrogate pair; replace it and keep the rest.
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    mode, aside = _prepare(file)
    try:
        with aside.open("xb") as temporary_file:  # follow no link and open no pipe
            temporary_file.write(raw)
            temporary_file.flush()
            os.fsync(temporary_file.fileno())
        if mode is not None:
            aside.chmod(mode)
        os.replace(aside, file)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    _sync_folder(file.parent)


def check(file: Path) -> None:
    """Raise the OSError that `write` would raise for *file*, before its content is computed; change nothing."""
    _, aside = _prepare(file)
    aside.touch(exist_ok=False)
    aside.unlink()


def write_all(contents: Mapping[Path, str]) -> None:
    """Write several files. If one of them cannot be written, write none. Raises OSError."""
    for file in contents:
        check(file)
    for file, content in contents.items():
        write(file, content)


def add_extension(chosen_file: str, extension: str, replace: bool = False) -> Path:
    """Return a file chosen in a dialog, with *extension* if it has none; *replace*: instead of another extension."""
    file = Path(chosen_file)
    if file.suffix and not (replace and file.suffix.lower() != extension):
        return file
    return file.with_suffix(extension)


def _prepare(file: Path) -> tuple[int | None, Path]:
    """Return the permissions of an existing *file*, and the place for the new content. Raises OSError."""
    if is_special_file(file):
        raise OSError(errno.EINVAL, tr("not a file"))
    # The name contains the process ID, so that two concurrent writers do not mix. A file left by a killed
    # process does no harm.
    aside = file.with_name(f".{file.name[:40]}.{os.getpid()}{ENDING}")
    mode = _read_mode(file)
    aside.unlink(missing_ok=True)
    return mode, aside


def _read_mode(file: Path) -> int | None:
    """Return the permissions of the existing file, which the new file keeps; None if there is no file.

    Raises OSError.
    """
    if not os.path.lexists(file) or file.is_symlink():
        return None
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(file.stat().st_mode)


def _sync_folder(folder: Path) -> None:
    """Make the rename survive a power cut, on systems that can sync folders."""
    if os.name == "nt":
        return
    with suppress(OSError):  # the file exists and is complete
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
