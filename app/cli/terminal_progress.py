"""Progress lines in a terminal, and Ctrl+C as a request to finish early."""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from app.words.formatting import format_run_time
from engine.drill.time.cooperative_tasks import CooperativeTask

REPORT_INTERVAL_S: Final = 5.0
"""Seconds between two progress lines."""

Result = TypeVar("Result")
Item = TypeVar("Item")


class ProgressPrinter:
    """Printer of progress lines. It prints only to a terminal."""

    def __init__(self) -> None:
        self._start_s = self._last_report_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._start_s

    def report(self, text: str, total_text: str = "") -> None:
        """Print the elapsed time and *text*, at most once per REPORT_INTERVAL_S.

        *total_text*: text directly after the elapsed time, such as the total time.
        """
        if sys.stderr.isatty() and time.monotonic() - self._last_report_s >= REPORT_INTERVAL_S:
            self._last_report_s = time.monotonic()
            print(f"{self.elapsed_s:.0f} s{total_text}: {text}", file=sys.stderr)


def run_with_progress(slices: CooperativeTask[Result], describe: Callable[[float], str]) -> Result:
    """Run *slices* and return its result. Meanwhile, print the progress as text from *describe*."""
    progress = ProgressPrinter()
    while True:
        try:
            progress.report(describe(next(slices)))
        except StopIteration as end:
            result: Result = end.value
            return result


def count_with_progress(source: Iterable[Item], count: int, label: str) -> Iterator[Item]:
    """Yield each item of *source*, and print progress and remaining time. *count*: expected number of items."""
    progress = None  # created after the first item, whose time includes the start of the processes
    for before, item in enumerate(source):
        yield item
        if progress is None:
            progress = ProgressPrinter()
        else:
            left_s = progress.elapsed_s / before * (count - before - 1)
            progress.report(f"{before + 1} of {count} {label}, about {format_run_time(left_s)} left")


@contextmanager
def catch_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl+C was pressed.

    The first Ctrl+C only makes this function return True. A second Ctrl+C interrupts the program.
    """
    signals: list[object] = []
    before = signal.signal(signal.SIGINT, lambda *_: signals.append(signal.signal(signal.SIGINT, before)))
    try:
        yield lambda: bool(signals)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Let processes that are started in this context ignore Ctrl+C.

    A terminal sends Ctrl+C to all processes, but only the main process should react.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
