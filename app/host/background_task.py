"""Long work between two frames of the window: its progress, its result, and its cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.drill.time.cooperative_tasks import Slices


class BackgroundTask:
    """Runs *slices* to their end; the result goes to *then*, an error to *failed*."""

    def __init__(
        self,
        slices: Slices[Any],
        then: Callable[[Any], None],
        stopped: Callable[[], None],
        failed: Callable[[Exception], None],
        faults: tuple[type[Exception], ...],
    ) -> None:
        """Begin a task.

        *stopped*: the user cancels. *faults*: expected exceptions; any other one is a defect.
        """
        self._slices = slices
        self._on_done, self._failed = then, failed
        self._faults = faults
        self.stopped = stopped
        self.share = 0.0
        """Completed share of the task, 0 to 1."""
        self._tell: Callable[[], None] | None = None

    def run_slices(self, in_time: Callable[[], bool]) -> bool:
        """Run at least one slice, and more while *in_time*; return True when done, and `tell` has the result."""
        try:
            self.share = next(self._slices)
            while in_time():
                self.share = next(self._slices)
        except StopIteration as end:
            result = end.value
            self._tell = lambda: self._on_done(result)
        except self._faults as fault:
            problem = fault
            self._tell = lambda: self._failed(problem)
        return self._tell is not None

    def tell(self) -> None:
        """Hand on what it has come to."""
        assert self._tell is not None
        self._tell()

    def give_up(self) -> None:
        """Stop before the next slice and release resources."""
        self._slices.close()
