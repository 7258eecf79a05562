"""Runner for a cooperative task between frames. The window stays responsive, and the task can be canceled."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from app.host.playback import BackgroundTask
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.inputs import InputError

TASK_TIME_PER_FRAME_S: Final = 0.008
"""Wall time for the task per frame: half a frame."""


Result = TypeVar("Result")


class TaskRunner(QObject):
    """Runner for one cooperative task at a time. A new task replaces the previous task."""

    progress_changed = Signal(float)
    """Signal: progress from 0 to 1."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._task: BackgroundTask[object] | None = None
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._run_turn)

    @property
    def is_running(self) -> bool:
        """Return True while a task is not finished."""
        return self._task is not None

    def start_task(
        self,
        slices: CooperativeTask[Result],
        callback: Callable[[Result], None],
        immediate_task_s: float = 0.0,
    ) -> None:
        """Run the task *slices*, and pass its result to *callback*.

        *immediate_task_s*: wall time in seconds that the task may use at once, before the first frame.
        """
        self.cancel_task()
        self._task = BackgroundTask(slices, callback, lambda: None, lambda _: None, (InputError,))
        if immediate_task_s > 0.0:
            self._run_turn(immediate_task_s)
        if self._task is not None:
            self._timer.start()

    def cancel_task(self) -> None:
        """Stop the task and discard its result."""
        task, self._task = self._task, None
        self._timer.stop()
        if task is not None:
            task.cancel()

    def _run_turn(self, turn_s: float = TASK_TIME_PER_FRAME_S) -> None:
        task, deadline_s = self._task, time.perf_counter() + turn_s
        if task is None:
            return
        is_over = True
        try:
            is_over = task.run_slices(lambda: time.perf_counter() < deadline_s)
        finally:
            if is_over and self._task is task:
                self._task = None
                self._timer.stop()
        if is_over:
            task.deliver_result()
        else:
            self.progress_changed.emit(task.share)
