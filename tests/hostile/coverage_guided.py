"""Coverage-guided fuzzing: `python -m tests.hostile.coverage_guided TARGET [libFuzzer options] FOLDER`, run
manually.

The script needs atheris, which is not a dependency of the project. Save findings in corpus/ as
TARGET-NAME.txt or TARGET-NAME.bin.
"""

from __future__ import annotations

import sys

INSTRUMENTED_MODULES = [
    "app.files.bundle",
    "app.files.run_files",
    "zipfile",
    "json",
    "engine.tsql",
    "engine.drill",
    "engine.inputs",
    "engine.verbs",
    "engine.simulator",
    "engine.protocol",
    "tomllib",
]
"""Modules that atheris instruments, all except engine.flow."""


def main() -> None:
    import atheris

    import engine.flow  # noqa: F401 before atheris instruments modules

    with atheris.instrument_imports(include=INSTRUMENTED_MODULES):
        from tests.hostile.targets import BYTES_TARGETS, TARGETS
    name = sys.argv.pop(1)
    if name in BYTES_TARGETS:
        atheris.Setup(sys.argv, BYTES_TARGETS[name])
    else:
        target = TARGETS[name]
        atheris.Setup(sys.argv, lambda raw: target(raw.decode("utf-8", errors="replace")))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
