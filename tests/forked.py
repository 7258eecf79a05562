"""Start of `mirrordrill …` as forks of a process that has imported and compiled everything.

A normal start costs two seconds of processor time, and a class needs several programs. The forks come from
the module `tests.forked_from`. Tests of the command line start the real program.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[1]
STANDARD_FILES: Final = ("stdin", "stdout", "stderr")

_forks: Final = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.forked_from"])


@atexit.register
def _kill_remaining_programs() -> None:
    """Kill the remaining programs at exit, because Python would wait for them."""
    for process in multiprocessing.active_children():
        process.kill()


def replace_get_context(_: str | None = None) -> ForkServerContext:
    """Replace `multiprocessing.get_context`, so that worker processes are forks, too."""
    return _forks


def _begin_program(
    arguments: list[str], environment: dict[str, str], files: Mapping[int, Connection | str]
) -> None:
    """Run the program in the fork. *files*: number of a standard descriptor -> connection or path."""
    import app.__main__ as program

    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in files.items():
        descriptor = os.open(file, os.O_RDWR) if isinstance(file, str) else file.fileno()
        os.dup2(descriptor, number)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.modules["__main__"] = program  # Workers start in the same way as with `python -m app`.
    if sys.version_info < (3, 14):  # If a forked process cannot fork again, its workers start normally.
        forkserver._forkserver.ensure_running = resource_tracker.ensure_running  # type: ignore[method-assign]
        multiprocessing.get_context = replace_get_context  # type: ignore[assignment]
    sys.argv = ["mirrordrill", *arguments]
    code = program.main()
    # End like any process. Otherwise `multiprocessing` would wait for workers first.
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.main_thread():
            thread.join()
    sys.exit(code)


class Program:
    """Forked program with the required part of the interface of `subprocess.Popen`. Errors go to the tests'
    own stderr.
    """

    def __init__(self, *arguments: object, environment: Mapping[str, str] = os.environ) -> None:
        read, writing_end = _forks.Pipe(duplex=False)
        output, output_pipe = _forks.Pipe(duplex=False)
        self._process = _start_process(arguments, environment, {0: read, 1: output_pipe})
        for theirs in (read, output_pipe):
            theirs.close()
        self.stdin, self.stdout = _get_text(writing_end, "w"), _get_text(output, "r")

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait(60.0)

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self, timeout_s: float) -> int:
        self._process.join(timeout_s)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("mirrordrill", timeout_s)
        for file in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):  # The receiver has not read everything.
                file.close()
        return self._process.exitcode


def run_program(
    *arguments: object, lines: str = "", environment: Mapping[str, str] = os.environ, timeout_s: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run the program with *lines* as its input, and return its output and exit code."""
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in STANDARD_FILES]
        for place in places:
            place.write_text(lines if place.name == "stdin" else "")
        process = _start_process(arguments, environment, dict(enumerate(map(str, places))))
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(map(str, arguments)), timeout_s)
        _, output, errors = (place.read_text() for place in places)
    return subprocess.CompletedProcess([*map(str, arguments)], process.exitcode, output, errors)


def _start_process(
    arguments: tuple[object, ...], environment: Mapping[str, str], files: Mapping[int, Connection | str]
) -> ForkServerProcess:
    process = _forks.Process(
        target=_begin_program, args=([*map(str, arguments)], dict(environment), files), daemon=False
    )
    process.start()
    return process


def _get_text(end: Connection, mode: str) -> IO[str]:
    descriptor = os.dup(end.fileno())
    end.close()
    return open(descriptor, mode)
