"""Compiler of the step on this computer. The loader imports this module only if no prebuilt library fits."""

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from engine.flow import kernel
from engine.flow.compiled.library import SUFFIXES, LibraryError, fingerprint
from engine.flow.compiled.translate import TranslationError, translate

_USERS: Final = (
    os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/.cache")
)
CACHE_FOLDERS: tuple[Path, ...] = (Path(__file__).parent / "__pycache__", Path(_USERS) / "mirrordrill")
"""Folders for libraries compiled on this computer: next to the program, or the user's. The first writable one
is used.
"""

FLAGS: Final = (
    "-O3", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden",
)  # fmt: skip
"""Flags for every compiler. Contraction is off, because a fused multiply-add changes the last bit."""

COMPILE_S_MAX: Final = 60.0


def compiled_library(text: str) -> Path:
    """Return a library that is or was compiled on this computer. Raise LibraryError."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        raise LibraryError("this computer has no C compiler")
    name = f"kernel-{fingerprint(text)[:16]}.{SUFFIXES.get(platform.system(), 'so')}"
    for folder in CACHE_FOLDERS:
        path = folder / name
        if path.exists():
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as place:
                os.replace(compile_c(translate(text, vars(kernel)), Path(place), compiler), path)
        except OSError:
            continue
        except TranslationError as problem:
            raise LibraryError(str(problem)) from problem
        return path
    raise LibraryError("no folder for a compiled library can be written")


def compile_c(text: str, folder: Path, compiler: str, *flags: str) -> Path:
    """Compile *text* in *folder*; *flags* come after the usual ones. Raise LibraryError or OSError."""
    c_file, library = folder / "kernel.c", folder / f"kernel.{SUFFIXES.get(platform.system(), 'so')}"
    c_file.write_text(text, encoding="utf-8")
    command = [compiler, *FLAGS, *flags, "-o", str(library), str(c_file)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=COMPILE_S_MAX)
    except subprocess.SubprocessError as problem:
        raise LibraryError(f"{Path(compiler).name} cannot compile the kernel") from problem
    return library
