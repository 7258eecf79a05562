"""Entry point of `mirrordrill` and `python -m app`. Only this module imports the window."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Final

from app import qt_probe
from app.exit_codes import INTERRUPTED, INVALID_USE, NEGATIVE_ANSWER

if TYPE_CHECKING:
    from engine.drill.authoring.scenario import Scenario


DISK_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Error numbers of a failed write, if standard output is redirected to a file."""


def open_window(scenario: Scenario | None) -> int:
    """Show the window, with *scenario* if one is given, and return the exit code.

    If Qt cannot start, print a message and return exit code 2.
    """
    trying = qt_probe.start_probe()
    missing: ImportError | None = None
    try:
        from app.main_window import (
            open_window as open_main_window,  # late import, because only this command needs Qt
        )
    except ImportError as error:  # finish_probe finds the same error and explains it to the user
        missing = error
    problem = qt_probe.finish_probe(trying).problem
    if problem is not None:
        print(problem, file=sys.stderr)
        return INVALID_USE
    if missing is not None:
        raise missing
    return open_main_window(scenario)


def main() -> int:
    """Run the command line and return the exit code."""
    if len(sys.argv) == 1:
        return open_window(None)  # start quickly: skip the imports that only commands need
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # prevent errors on terminals without UTF-8; standard error already works this way
    try:
        from app import cli  # late import, because it takes a second

        code = cli.main(sys.argv[1:], open_window)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("mirrordrill: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed the pipe (`| head`)
        _discard_output()
        return NEGATIVE_ANSWER
    except OSError as problem:
        if problem.errno not in DISK_ERRORS:
            raise
        print(f"mirrordrill: the output cannot be written: {problem.strerror}", file=sys.stderr)
        _discard_output()
        return INVALID_USE


def _discard_output() -> None:
    """Discard the buffered output, because Python would try to write it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
