"""Handling of exceptions in Qt slots: they are logged with the last inputs of the run and shown.

The program continues.
"""

import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox

from app.files import folders
from app.main_window.window import WINDOW_TITLE, MainWindow
from app.words.language import tr

LOG_FILE_NAME: Final = "errors.log"
"""Name of the log file in the profile folder."""
LOG_BYTES_MAX: Final = 1_000_000
"""Size in bytes at which a new log replaces the old one, so that a repeated error cannot fill the disk."""
LOGGED_INPUTS_MAX: Final = 20
"""Number of the run's last inputs that are logged with an error."""
REPEAT_SUPPRESSION_S: Final = 30.0
"""Wall time for which another error at the same place in the code is not shown."""

ExceptionHook = Callable[[type[BaseException], BaseException, TracebackType | None], object]
"""Exception hook, as in `sys.excepthook`."""


class SlotErrorHook:
    """Exception hook that keeps the program running and remembers the last shown error."""

    def __init__(
        self,
        window: MainWindow,
        original_hook: ExceptionHook,
        log: Path | None = None,
        is_recorded: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create the hook.

        *original_hook* prints an error. *log*: path of the log file; None for the profile folder.
        *is_recorded* returns whether the run is recorded.
        """
        self._is_recorded = is_recorded
        self._window, self._original_hook = window, original_hook
        self._log = log
        self._box: QMessageBox | None = None
        self._shown_times: dict[str, float] = {}
        """Location in the code -> monotonic time at which an error there was last shown, in seconds."""

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Print, log and show the error.

        End the program if the window is not loaded completely, or after Ctrl+C.
        """
        self._original_hook(kind, error, trace)
        if not issubclass(kind, Exception):
            QApplication.exit(1)
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        self._window.exception_raised.emit()  # pauses the run before its last inputs are read for the log
        path = self._append_to_log(details)
        if not self._window.is_ready:
            self._stop_program(error, details)
            return
        location = _format_location(trace)
        if (
            self._box is not None
            or monotonic() - self._shown_times.get(location, -REPEAT_SUPPRESSION_S) < REPEAT_SUPPRESSION_S
        ):
            return
        self._shown_times[location] = monotonic()
        self._show_error(error, details, path)

    def _show_error(self, error: BaseException, details: str, log_path: Path | None) -> None:
        text = tr("An internal error occurred: {error!r}.").format(error=error)
        box = self._box = QMessageBox(QMessageBox.Icon.Critical, WINDOW_TITLE, text, parent=self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        advice_text = tr("The run is paused. If the window looks wrong, leave the run.")
        if self._is_recorded():
            advice_text += " " + tr("The run is recorded. You can resume it from the start page.")
        if log_path is not None:
            advice_text += "\n" + tr("Details are in {file}.").format(file=log_path)
        box.setInformativeText(advice_text)
        box.setDetailedText(details)
        box.finished.connect(self._forget_box)
        box.open()

    def _forget_box(self) -> None:
        if self._box is not None:
            self._box.deleteLater()
        self._box = None

    def _stop_program(self, error: BaseException, details: str) -> None:
        """Show the error and end the program with exit code 1, because the window is incomplete."""
        sys.excepthook = self._original_hook
        text = tr("Mirrordrill stops because of an internal error: {error!r}.").format(error=error)
        box = QMessageBox(QMessageBox.Icon.Critical, WINDOW_TITLE, text)
        box.setDetailedText(details)
        box.exec()
        QApplication.exit(1)

    def _append_to_log(self, details: str) -> Path | None:
        """Append the error and the last inputs to the log. Return its path, or None if it cannot be written."""
        inputs = "\n".join(self._window.last_inputs(LOGGED_INPUTS_MAX))
        text = f"{datetime.now(UTC).isoformat()}\n{details}last inputs:\n{inputs}\n\n"
        try:
            log = self._log or folders.get_profile_folder() / LOG_FILE_NAME
            log.parent.mkdir(parents=True, exist_ok=True)
            is_log_full = log.exists() and log.stat().st_size + len(text) > LOG_BYTES_MAX
            with log.open("w" if is_log_full else "a", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            return None
        return log


def _format_location(trace: TracebackType | None) -> str:
    """Return the file and the line in which the error was raised."""
    frames = traceback.extract_tb(trace)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
