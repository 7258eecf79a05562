"""Closing of the window: confirmation while a run is in progress, and storage of the window's state."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication

from app import settings
from app.main_window.appearance import AppearanceSettings
from app.main_window.navigation import PageNavigation
from app.main_window.query_drafts import QueryDraftStore
from app.main_window.shared_parts import SharedParts, WindowPart


class CloseGuard(WindowPart):
    """Guard that decides whether the window may close or must ask first."""

    def __init__(
        self,
        shared: SharedParts,
        drafts: QueryDraftStore,
        navigation: PageNavigation,
        appearance: AppearanceSettings,
        find_hosted: Callable[[], str],
    ) -> None:
        super().__init__(shared)
        self._drafts = drafts
        self._navigation, self._appearance = navigation, appearance
        self._find_hosted, self._hosted_may_end = find_hosted, False
        """Function that returns the question about a hosted class or team, and whether the user has agreed to end
        it.
        """

    def handle_close_event(self, event: QCloseEvent) -> None:
        """Ignore *event* if the user must answer a question first.

        Otherwise, store query drafts, card positions, layout and run.
        """
        asked_from_outside = event.spontaneous() and not _is_session_ending()
        hosted = self._find_hosted()
        if hosted and not self._hosted_may_end and not _is_session_ending():
            event.ignore()
            hide = (
                self._window.hide if hosted == "quit_class" else None
            )  # with the third answer, the window is hidden and the instructor station stays open
            self._confirmations.confirm(hosted, self._close_with_hosted, hide)
            return
        if asked_from_outside and self._confirmations.is_run_at_risk:
            event.ignore()
            self._confirmations.confirm_if_needed("quit", self._window.close)
            return
        self._drafts.save_and_close()
        self._navigation.pause_run()
        self._appearance.store_layout()
        self._navigation.leave_run()

    def _close_with_hosted(self) -> None:
        self._hosted_may_end = True
        self._window.close()


def _is_session_ending() -> bool:
    """Return whether the desktop session is ending. No program should then ask a question."""
    app = QApplication.instance()
    return isinstance(app, QApplication) and app.isSavingSession()


SETTINGS_WRITE_DELAY_MS: Final = 300
"""Pause after the last change before the settings are written, because changes come in bursts."""


class SettingsWriter(WindowPart):
    """Writer of the settings file. It exists as long as the window."""

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        self._is_reported = False
        self._write_timer = QTimer(self, singleShot=True, interval=SETTINGS_WRITE_DELAY_MS)
        self._write_timer.timeout.connect(self.write)
        shared.store.changed = self._write_timer.start

    def write(self) -> None:
        """Write the settings to disk now. Report each problem only once."""
        problem = self._store.write_problem
        if problem and not self._is_reported:
            self._notice.show_warning(problem)
        self._is_reported = bool(problem)

    def stop_writing(self) -> None:
        """Stop writing after each change, because the closing window writes its final settings itself."""
        self._write_timer.stop()
        self._store.changed = lambda: None

    def write_at_start(self) -> None:
        """Write the settings at the start, when the user can still fix a problem."""
        self._store.set(settings.WINDOW_GEOMETRY, self._window.saveGeometry())
        self.write()
