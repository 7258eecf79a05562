"""Main window with the start page. assembly.py adds all other parts."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QSizeGrip, QWidget

from app import settings
from app.files import folders, scenario_summary
from app.main_window.actions import MENUS
from app.settings import WindowSettings
from app.view_models.start_page import DrillCard
from app.views.scenario_picker import StartPageView
from app.widgets.input_guard import get_input_guard
from app.widgets.layouts import build_widget_column
from app.widgets.notice import NoticeBar
from app.widgets.scroll_container import (
    PageStack,
    fit_on_screen,
    set_readable_minimum_size,
    wrap_in_scroll_area,
)
from app.words.language import tr
from engine.overrides import override

FIT_CHECK_DELAYS_MS: Final = (300, 1_000, 3_000)
"""Delays after the window appears, at which its position is checked.

A window manager adds its frame before the last check. Assumed.
"""


class ScreenFitter(QObject):
    """Fitter that moves and shrinks a window to fit the screen when it is first shown.

    Later changes are left alone.
    """

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window, self._was_shown = window, False
        self._check_timers = [
            QTimer(self, singleShot=True, interval=after_ms) for after_ms in FIT_CHECK_DELAYS_MS
        ]
        for look in self._check_timers:
            look.timeout.connect(self.fit_to_screen)
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() is QEvent.Type.Show:
            if not self._was_shown:
                for look in self._check_timers:
                    look.start()
            self._was_shown = True
        elif watched is self._window and event.type() is QEvent.Type.Close:
            for look in self._check_timers:
                look.stop()
        return False

    def fit_to_screen(self) -> None:
        """Move and shrink the window to fit the available screen."""
        window = self._window
        if window.isMaximized() or window.isFullScreen() or not window.isVisible():
            return
        room, frame, box = window.screen().availableGeometry(), window.frameGeometry(), window.geometry()
        wanted_rect = constrain_rect(frame, room)
        if wanted_rect != frame:
            window.setGeometry(
                wanted_rect.adjusted(
                    box.left() - frame.left(),
                    box.top() - frame.top(),
                    box.right() - frame.right(),
                    box.bottom() - frame.bottom(),
                )
            )


def constrain_rect(frame: QRect, bounds: QRect) -> QRect:
    """Return *frame*, moved and shrunk to lie inside *bounds*."""
    size = frame.size().boundedTo(bounds.size())
    left = max(bounds.left(), min(frame.left(), bounds.right() - size.width() + 1))
    top = max(bounds.top(), min(frame.top(), bounds.bottom() - size.height() + 1))
    return QRect(left, top, size.width(), size.height())


WINDOW_TITLE: Final = "Mirrordrill"
INITIAL_SIZE_MAX_PX: Final = (1600, 960)
"""Maximum initial width and height in pixels."""

SIZE_MIN_UNITS: Final = (48, 28)
"""Minimum width and height in line heights. In a smaller window, pages consist of little more than scroll bars."""


class MainWindow(QMainWindow):
    """Window of one learner: menus, pages, notice and status bar. Its parts provide the contents."""

    parts_needed = Signal()
    """Signal: a part of the window that is not loaded yet is required immediately."""
    parts_loaded = Signal()
    """Signal: all parts are loaded."""
    scenario_given = Signal(object)
    """Signal: scenario that was given when the program was started."""
    theme_changed = Signal()
    """Signal: the colors of the desktop have changed."""
    exception_raised = Signal()
    """Signal: a slot has raised an exception."""
    close_wanted = Signal(object)
    """Signal: QCloseEvent, which a receiver may ignore to keep the window open."""
    closing = Signal()
    """Signal: the window closes, so background tasks must stop."""

    def __init__(self, store: WindowSettings) -> None:
        """Create the window with the start page."""
        super().__init__()
        self.store = store
        self.is_ready = False
        self.last_inputs: Callable[[int], list[str]] = lambda _: []
        """Function that returns the last inputs of the run on screen. Its argument is their maximum number."""
        self._pending_calls: list[Callable[[], None]] = []
        self.menus = {title: self.menuBar().addMenu(tr(title)) for title in MENUS}
        for menu in self.menus.values():
            menu.aboutToShow.connect(self.parts_needed)
        self.picker, self.pages = StartPageView(), PageStack()
        self.pages.addWidget(self.picker)
        self.pages.page_shown.connect(self._show_title)
        middle = QWidget()
        self.notice = NoticeBar(middle)
        build_widget_column(wrap_in_scroll_area(self.pages), parent=middle, margins=0, spacing=0)
        self.setCentralWidget(middle)
        self.setWindowTitle(WINDOW_TITLE)
        self.statusBar().hide()
        self.statusBar().messageChanged.connect(lambda _: self.show_status_bar())
        self._set_size()
        for signal in (self.picker.drill_chosen, self.picker.edit_wanted, self.picker.generated_drill_wanted):
            signal.connect(lambda name, signal_chosen=signal: self._repeat_when_ready(signal_chosen, name))
        start_page_view = self.picker
        for wanted_signal in (
            start_page_view.history_wanted,
            start_page_view.progress_wanted,
            start_page_view.file_wanted,
            start_page_view.introduction_wanted,
        ):
            wanted_signal.connect(partial(self._repeat_when_ready, wanted_signal))
        summaries = sorted(
            scenario_summary.load_summaries(folders.get_profile_folder()).values(),
            key=scenario_summary.get_sort_key,
        )
        self.picker.show_cards([DrillCard.from_summary(summary) for summary in summaries], [])
        self.picker.take_focus()

    def _set_size(self) -> None:
        geometry = self.store.get(settings.WINDOW_GEOMETRY)
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            fit_on_screen(self, *INITIAL_SIZE_MAX_PX)
        set_readable_minimum_size(self, *SIZE_MIN_UNITS)
        ScreenFitter(self)

    def _repeat_when_ready(self, signal: SignalInstance, *argument: str) -> None:
        """Emit a signal of the start page again when all parts are loaded.

        If all parts are loaded already, do nothing.
        """
        if not self.is_ready:
            self.call_when_ready(partial(signal.emit, *argument))

    def call_when_ready(self, callback: Callable[[], None]) -> None:
        """Call *callback* now if all parts are loaded, otherwise as soon as they are loaded."""
        if self.is_ready:
            callback()
        else:
            self._pending_calls.append(callback)
            self.statusBar().showMessage(tr("Mirrordrill is still loading. Try again in a moment."))

    def run_waiting_requests(self) -> None:
        """Execute the requests that waited for the parts of the window."""
        self.is_ready = True
        self.statusBar().clearMessage()
        self.parts_loaded.emit()
        callbacks, self._pending_calls = self._pending_calls, []
        for do in callbacks:
            do()

    def show_status_bar(self) -> None:
        """Show the status bar only while it has contents. An empty bar would take space from the pages."""
        bar = self.statusBar()
        parts = bar.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        is_full = any(not part.isHidden() for part in parts if not isinstance(part, QSizeGrip))
        bar.setVisible(is_full or bool(bar.currentMessage()))

    def _show_title(self, _: QWidget, title: str) -> None:
        self.setWindowTitle(title or WINDOW_TITLE)  # Qt appends the program name, as for dialogs

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ThemeChange:
            self.theme_changed.emit()
        elif event.type() == QEvent.Type.FontChange:
            set_readable_minimum_size(self, *SIZE_MIN_UNITS)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        get_input_guard()  # create the guard only now: it sees the thousands of events of building a window
        super().showEvent(event)

    @override
    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_wanted.emit(event)
        if event.isAccepted():
            self.closing.emit()
            self.store.set(settings.WINDOW_GEOMETRY, self.saveGeometry())
            self.store.sync()
            super().closeEvent(event)
