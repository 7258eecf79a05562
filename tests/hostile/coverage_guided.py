"""Coverage-guided fuzzing: `python -m tests.hostile.coverage_guided TARGET [libFuzzer options] FOLDER`, by hand.

Needs atheris, which is not a dependency of the project. Findings go to corpus/ as TARGET-NAME.txt or .bin.
"""

from __future__ import annotations

import sys

INSTRUMENTED = [
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
"""Instrumented modules; engine.flow is left out."""


def main() -> None:
    import atheris

    import engine.flow  # noqa: F401  before anything is instrumented

    with atheris.instrument_imports(include=INSTRUMENTED):
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
