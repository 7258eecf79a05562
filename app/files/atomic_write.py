"""Atomic writing of files: after any failure, the old content still exists. Without Qt."""

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from app.files.folders import is_special_file
from app.words.language import tr

TEMPORARY_SUFFIX: Final = ".unfinished"


def write_atomically(file: Path, content: bytes | str) -> None:
    """Write *content* to *file* and flush it to disk. Text is encoded as UTF-8.

    A new file is written in the same folder and then renamed. A link is replaced, not followed. A
    write-protected file and special files are left unchanged. Raises OSError, whose `strerror` is a text for
    users.
    """
    # Qt strings may contain half of a surrogate pair, which is replaced.
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    mode, aside = _prepare_temporary_file(file)
    try:
        with aside.open("xb") as temporary_file:  # this mode follows no link and opens no pipe
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


def require_writable(file: Path) -> None:
    """Raise the OSError that `write_atomically` would raise for *file*.

    Call this before a long computation. Nothing changes.
    """
    _, aside = _prepare_temporary_file(file)
    aside.touch(exist_ok=False)
    aside.unlink()


def write_all_atomically(contents: Mapping[Path, str]) -> None:
    """Write several files. If one of them is not writable, write none. Raises OSError."""
    for file in contents:
        require_writable(file)
    for file, content in contents.items():
        write_atomically(file, content)


def add_extension(chosen_file: str, extension: str, replace: bool = False) -> Path:
    """Return the chosen file with *extension* if it has no extension. *replace*: also replace another extension."""
    file = Path(chosen_file)
    if file.suffix and not (replace and file.suffix.lower() != extension):
        return file
    return file.with_suffix(extension)


def _prepare_temporary_file(file: Path) -> tuple[int | None, Path]:
    """Return the permissions of an existing *file*, and the path of the temporary file. Raises OSError."""
    if is_special_file(file):
        raise OSError(errno.EINVAL, tr("not a file"))
    # The name contains the process ID, so that two concurrent writers use different files. A file that a
    # killed process leaves is harmless.
    aside = file.with_name(f".{file.name[:40]}.{os.getpid()}{TEMPORARY_SUFFIX}")
    mode = _read_permissions(file)
    aside.unlink(missing_ok=True)
    return mode, aside


def _read_permissions(file: Path) -> int | None:
    """Return the permissions of an existing file, which the new file receives. Return None if there is no file.

    Raises OSError.
    """
    if not os.path.lexists(file) or file.is_symlink():
        return None
    if not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(file.stat().st_mode)


def _sync_folder(folder: Path) -> None:
    """Flush the renaming of a file in *folder* to disk, so that it survives a power failure.

    Do nothing on systems that cannot sync folders.
    """
    if os.name == "nt":
        return
    with suppress(OSError):  # an error is harmless, because the file exists and is complete
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
