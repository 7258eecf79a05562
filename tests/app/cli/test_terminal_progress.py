"""Tests of the progress display at a terminal, and of Ctrl-C while a command works."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Iterator

import pytest

from app.cli.terminal_progress import (
    REPORT_INTERVAL_S,
    ProgressPrinter,
    catch_interrupts,
    count_with_progress,
    run_with_progress,
)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the clock by one that returns the first number of the returned list."""
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    return clock


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_printed_only_to_a_terminal(
    is_terminal: bool, clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)

    def yield_progress() -> Generator[float, None, str]:
        for _ in range(5):
            clock[0] += REPORT_INTERVAL_S / 2
            yield (clock[0] - 100.0) / 20.0
        return "done"

    assert run_with_progress(yield_progress(), lambda share: f"{share:.0%}") == "done"
    assert capsys.readouterr().err == ("5 s: 25%\n10 s: 50%\n" if is_terminal else "")


def test_progress_names_the_total(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = ProgressPrinter()
    clock[0] += 7.0
    progress.report("3 nodes", " of 60 s")
    assert capsys.readouterr().err == "7 s of 60 s: 3 nodes\n"


def test_remaining_time_is_estimated_from_finished_jobs(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The estimate leaves out the first job, because this includes the start of the processes."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def yield_jobs() -> Iterator[int]:
        for number, seconds in enumerate((60.0, 4.0, 4.0)):
            clock[0] += seconds
            yield number

    assert list(count_with_progress(yield_jobs(), 32, "runs")) == [0, 1, 2]
    assert capsys.readouterr().err == "8 s: 3 of 32 runs, about 1:56 left\n"


@pytest.fixture
def keyboard_interrupts() -> Iterator[None]:
    """Deliver SIGINT to this process. Tests that a shell starts in the background ignore SIGINT by default."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("keyboard_interrupts")
def test_the_first_ctrl_c_requests_the_end_and_the_second_forces_it() -> None:
    before = signal.getsignal(signal.SIGINT)
    with catch_interrupts() as stop:
        assert not stop()
        signal.raise_signal(signal.SIGINT)
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
