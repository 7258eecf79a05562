"""Build of the prebuilt libraries of the step function for every system: `make kernel` (python -m
tests.kernel_libraries).

The compiler comes from the package `ziglang`, which cross-compiles for all systems. The libraries use no C
library, so they run with every version of it. The same source and compiler give the same bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from engine.flow import kernel
from engine.flow.compiled.library import get_library_name
from engine.flow.compiled.loader import COMPILER_FLAGS, LIBRARIES, read_kernel_source
from engine.flow.compiled.translate import translate

ZIG: Final = Path(__file__).parents[1] / "build" / "zig" / "ziglang" / "zig"
STANDALONE_FLAGS: Final = ("-nostdlib", "-fno-builtin")
"""Flags to link without a C library. On macOS, every library links to the system's C library."""

TARGETS: Final = {
    ("Linux", "x86_64"): ("x86_64-linux-gnu.2.17", *STANDALONE_FLAGS),
    ("Linux", "aarch64"): ("aarch64-linux-gnu.2.17", *STANDALONE_FLAGS),
    ("Windows", "x86_64"): ("x86_64-windows-gnu", *STANDALONE_FLAGS, "-Wl,--entry=DllMainCRTStartup"),
    ("Darwin", "x86_64"): ("x86_64-macos.11.0", "-fno-builtin"),
    ("Darwin", "aarch64"): ("aarch64-macos.11.0", "-fno-builtin"),
}
"""(system, processor) -> compiler target, and flags."""


def build_library(system: str, machine: str, folder: Path) -> Path:
    """Build the library for *system* on *machine* in *folder*."""
    target, *flags = TARGETS[system, machine]
    text = folder / "kernel.c"
    text.write_text(translate(read_kernel_source(), vars(kernel)), encoding="utf-8")
    library = folder / get_library_name(system, machine)
    command = [
        str(ZIG),
        "cc",
        "-target",
        target,
        *COMPILER_FLAGS,
        *flags,
        "-s",
        "-o",
        library.name,
        text.name,
    ]
    subprocess.run(command, check=True, cwd=folder)
    return library


def main() -> None:
    for system, machine in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            library = build_library(system, machine, Path(folder))
            is_same_file = (LIBRARIES / library.name).exists() and (
                LIBRARIES / library.name
            ).read_bytes() == library.read_bytes()
            (LIBRARIES / library.name).write_bytes(library.read_bytes())
            os.chmod(LIBRARIES / library.name, 0o644)
            print(f"{library.name}: {library.stat().st_size} bytes{', as before' if is_same_file else ''}")


if __name__ == "__main__":
    sys.exit(main())
