"""The moment between the end of a drill and its debrief: the desk stays, and says that it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.widgets.input_guard import guard
from app.words.language import tr

if TYPE_CHECKING:
    from app.widgets.notice import NoticeBar

WAIT_S: float = 6.0
"""Wall time for which the desk stays after a drill has ended. Assumed: enough to read two sentences."""
QUIET_S: float = 2.0
"""So long no key was pressed before the page changes: the words of a typing person go where they were meant."""


class FinishMoment(QObject):
    """Short display of the end of a run. The page changes afterwards, or at once on request."""

    def __init__(self, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._notice = notice
        self._on_done: Callable[[], object] | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._proceed_when_quiet)

    @property
    def waiting(self) -> bool:
        """Return whether the end of the run is shown before the debrief."""
        return self._on_done is not None

    def hold(self, reason: str, callback: Callable[[], object]) -> None:
        """Show the *reason* that ended the drill, and call *callback* after a while."""
        self._on_done = callback
        if WAIT_S <= 0.0:
            self.proceed()
            return
        said = tr("{what} The debrief opens in {n} s or when you stop typing.")
        self._notice.offer(said.format(what=reason, n=round(WAIT_S)), tr("Show the debrief"), self.proceed)
        self._timer.start(round(1000 * WAIT_S))

    def drop(self) -> None:
        """Cancel, because the desk was left differently."""
        self._timer.stop()
        self._on_done = None

    def proceed(self) -> None:
        """Open the debrief now."""
        then, self._on_done = self._on_done, None
        self._timer.stop()
        if then is not None:
            self._notice.clear()
            then()

    def _proceed_when_quiet(self) -> None:
        left_s = QUIET_S - guard().quiet_s
        if left_s > 0.0:
            self._timer.start(round(1000 * left_s) + 1)
        else:
            self.proceed()
