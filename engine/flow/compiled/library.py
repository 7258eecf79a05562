"""File names of the compiled libraries of the flow's step, and the fingerprint of their source."""

import hashlib
import re
from typing import Final

SUFFIXES: Final = {"Linux": "so", "Darwin": "dylib", "Windows": "dll"}
MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}


class LibraryError(Exception):
    """Error for a library that cannot be used; `str()` gives the reason."""


def get_library_name(system: str, machine: str) -> str:
    """Return the file name of the library for an operating system and processor."""
    machine = MACHINES.get(machine.lower(), machine.lower())
    return f"{system.lower()}-{machine}.{SUFFIXES.get(system, 'so')}"


def compute_fingerprint(text: str) -> str:
    """Return the SHA-256 of a source text without docstrings, comments and empty lines."""
    plain_text = re.sub(r'"""(?s:.*?)"""', "", text)
    lines = (line.partition("#")[0].rstrip() for line in plain_text.splitlines())
    return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()
