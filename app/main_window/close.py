"""The end of the window: a run that is played is asked about first, and what is on screen is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.main_window.appearance import Appearance
from app.main_window.confirmations import Confirmations
from app.main_window.navigation import Navigation
from app.main_window.query_drafts import QueryDrafts


class Closing(QObject):
    """Lets the window close, or asks."""

    def __init__(
        self,
        irrevocable: Confirmations,
        drafts: QueryDrafts,
        navigation: Navigation,
        appearance: Appearance,
        window: QWidget,
        is_holding_class: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._irrevocable, self._drafts = irrevocable, drafts
        self._navigation, self._appearance, self._window = navigation, appearance, window
        self._is_holding_class, self._class_may_end = is_holding_class, False

    def close(self, event: QCloseEvent) -> None:
        """Ignore the *event* if there is a question first; else keep queries, cards, layout and run."""
        asked_from_outside = event.spontaneous() and not _session_ends()
        if self._is_holding_class() and not self._class_may_end and not _session_ends():
            event.ignore()
            self._irrevocable.confirm(
                "quit_class", self._close_with_class, self._window.hide
            )  # the board stays open
            return
        if asked_from_outside and self._irrevocable.is_run_at_risk:
            event.ignore()
            self._irrevocable.confirm_if_needed("quit", self._window.close)
            return
        self._drafts.close()
        self._navigation.pause_run()
        self._appearance.keep_layout()
        self._navigation.leave_run()

    def _close_with_class(self) -> None:
        self._class_may_end = True
        self._window.close()


def _session_ends() -> bool:
    """Return whether the desktop is being shut down, which nobody wants to be asked about by every program."""
    app = QApplication.instance()
    return isinstance(app, QApplication) and app.isSavingSession()
