"""Replay on the desk: the user selects a time in the timeline, and can continue from it in a branch."""

import math
from typing import Final

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QLabel, QProgressBar, QToolButton, QWidget

from app.main_window.desk_page import DeskPage
from app.main_window.host_session import HostSession
from app.main_window.shared_parts import SharedParts, WindowPart
from app.views.charts import ChartView
from app.views.charts.export import ChartExportError
from app.views.past_time_bar import PastTimeBar
from app.widgets.docks import TimeChooser, TimeRangeView, TimeSpan, TimeSpanChooser
from app.widgets.layouts import build_row
from app.widgets.notice import NoticeBar
from app.widgets.save_file import ask_for_file
from app.words import formatting
from app.words.language import tr
from app.words.localization import describe_input
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.events import Event
from engine.model import World, to_ticks


class TimeSelection(WindowPart):
    """Selected time (seconds since the start) and time range, which all views show."""

    def __init__(self, shared: SharedParts) -> None:
        super().__init__(shared)
        self.time_s: float | None = None
        self.span: TimeSpan | None = None
        self._views: list[TimeRangeView] = []
        shared.session.drill_changed.connect(self._restore_selection)
        shared.play.run_started.connect(lambda _: self.clear())

    def connect_view(self, view: object) -> None:
        """Connect *view* if it can show or select a time.

        The protocols of these views are in `app.widgets.docks`.
        """
        if isinstance(view, TimeRangeView):
            self._views.append(view)
            view.show_time_range(self.span)
            view.show_time(self.time_s)
        if isinstance(view, TimeChooser):
            view.time_selected.connect(lambda t_s: self.move_cursor(t_s, view))
        if isinstance(view, TimeSpanChooser):
            view.span_selected.connect(lambda span: self.select_time_range(span, view))

    def move_cursor(self, t_s: float | None, source: object = None) -> None:
        """Move the time cursor of all views except *source*. None hides the cursor."""
        self.time_s = t_s
        for view in self._views:
            if view is not source:
                view.show_time(t_s)

    def select_time_range(self, span: TimeSpan | None, source: object = None) -> None:
        """Restrict all views except *source* to a time range. None shows the whole run."""
        self.span = span
        for view in self._views:
            if view is not source:
                view.show_time_range(span)

    @Slot()
    def clear(self) -> None:
        """Clear the selected time and the time range."""
        self.select_time_range(None)
        self.move_cursor(None)

    def _restore_selection(self) -> None:
        """Restore the selection after the shown time has changed."""
        if self.span is not None:
            self.select_time_range(self.span)
        if self.time_s is not None:
            self.move_cursor(self.time_s)


def save_charts(charts: ChartView, notice: NoticeBar, parent: QWidget) -> None:
    """Ask for a file and save the charts as an image."""
    kinds = ";;".join((tr("Picture (*.png)"), tr("Drawing (*.svg)"), tr("Values (*.csv)")))
    file = ask_for_file(parent, tr("Save the charts"), "charts.png", kinds)
    if file is None:
        return
    try:
        charts.export_charts(str(file))
    except ChartExportError as problem:
        notice.show_warning(str(problem))
    else:
        notice.show_info(tr("Saved: {file}").format(file=file))


TEXT_WIDTH_MIN_LINES: Final = 60
"""Minimum width of a window, in line heights, for the text of the loading bar.

A narrower window shows the text as a tooltip.
"""


class LoadingBar(QWidget):
    """Progress bar with a cancel button, visible only while a run is loaded."""

    def __init__(self, session: HostSession) -> None:
        super().__init__()
        self._session = session
        self.label = words = QLabel(tr("Working…"))
        self.bar = QProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.bar.setAccessibleName(words.text())
        self.bar.setToolTip(words.text())
        self.stop = QToolButton()
        self.stop.setText(tr("Cancel"))
        self.stop.clicked.connect(self._session.cancel_task)
        build_row(words, self.bar, self.stop, parent=self, margins=(8, 0, 0, 0))
        self._session.progress_changed.connect(self._show_progress)
        self.hide()

    def _show_progress(self, share: float) -> None:
        # the bar is indeterminate until the progress is known
        self.bar.setMaximum(1000 if share > 0.0 else 0)
        self.bar.setValue(round(share * 1000))
        self.label.setVisible(self.window().width() >= TEXT_WIDTH_MIN_LINES * self.fontMetrics().height())
        self.setVisible(share >= 0.0 and self._session.is_loading)


SCRUB_INTERVAL_MS: Final = 40
"""Minimum interval between two times that are shown while the user drags the timeline."""

MARK_TOLERANCE_S: Final = 0.005
"""Maximum distance at which a timeline mark and the shown time count as equal: half a tick."""


class ReplayController(WindowPart):
    """Controller of the timeline and of the bar for past times. It shows the time that the user selects."""

    debrief_requested = Signal()
    """Signal: the user returns from a finished run to its debrief."""

    def __init__(self, shared: SharedParts, page: DeskPage) -> None:
        super().__init__(shared)
        self._timeline = page.timeline
        self._shown_position: tuple[int, int] | None = None
        """Identity of the run on the timeline, and the number of its events that the timeline shows."""
        self.bar = PastTimeBar()
        page.insert_bar(self.bar)
        self._wanted_s = 0.0
        self._scrub_timer = QTimer(self, singleShot=True, interval=SCRUB_INTERVAL_MS)
        self._scrub_timer.timeout.connect(lambda: self.show_time(self._wanted_s))
        self._stepped_s: float | None = None
        """Time that keys have selected since the last update of the window; None for no time, infinity for the
        latest time.
        """
        self._last_announcement = ""
        """Message about the start of a branch, shown until the clock of the branch runs."""
        self._catching_up = QTimer(self, singleShot=True, interval=0)
        self._catching_up.timeout.connect(self._show_latest_request)
        self._connect()

    def _connect(self) -> None:
        session = self._session
        session.drill_changed.connect(self._show_drill)
        session.world_changed.connect(self._show_world)
        session.events_occurred.connect(self._add_events)
        session.past_time_shown.connect(lambda looking: self._show_world(None))
        self._timeline.time_clicked.connect(self._choose_time)
        self._timeline.time_dragged.connect(self._drag_to_time)
        self.bar.return_wanted.connect(session.show_latest)
        self.bar.continue_wanted.connect(self.branch_from_shown_time)
        self.bar.step_wanted.connect(self.step_solution)
        self.bar.leave_wanted.connect(self.debrief_requested)
        self._play.branches_changed.connect(lambda: self._show_world(None))
        self._play.run_rewound.connect(self._announce_position)
        session.running_changed.connect(lambda running: self.hide_announced_position() if running else None)

    # --- navigation in time ---------------------------------------------------------------------------------

    def show_time(self, t_s: float) -> None:
        """Show the run at the time *t_s*, in seconds."""
        if self._session.show_time(to_ticks(t_s)):
            self._notice.hide_notice()

    def _choose_time(self, t_s: float) -> None:
        self._scrub_timer.stop()
        self.show_time(t_s)

    def _drag_to_time(self, t_s: float) -> None:
        self._wanted_s = t_s
        if not self._scrub_timer.isActive():
            self._scrub_timer.start()

    def go_to_mark(self, forward: bool) -> None:
        """Go to the next mark of the timeline if *forward*, otherwise to the previous mark.

        A held key repeats faster than times can be shown. Therefore only the latest request is executed.
        """
        drill = self._session.drill
        if drill is None:
            return
        at_s = drill.world.t_s if self._stepped_s is None else self._stepped_s
        times = sorted({marker.t_s for marker in self._timeline.markers} | {0.0})
        if forward:
            next_s = next((t_s for t_s in times if t_s > at_s + MARK_TOLERANCE_S), None)
            looking = self._session.is_showing_past or self._stepped_s is not None
            wanted_s = next_s if next_s is not None and looking else math.inf
        else:
            wanted_s = next((t_s for t_s in reversed(times) if t_s < at_s - MARK_TOLERANCE_S), at_s)
        if self._catching_up.isActive():
            self._stepped_s = wanted_s
        elif wanted_s != at_s:
            self._show_requested_time(wanted_s)

    def _show_requested_time(self, t_s: float) -> None:
        """Show a time of the run.

        While a background task runs, `_show_latest_request` executes the request later.
        """
        if math.isinf(t_s):
            self._session.show_latest()
        else:
            self.show_time(t_s)
        self._catching_up.start()

    def _show_latest_request(self) -> None:
        wanted_s, self._stepped_s = self._stepped_s, None
        if wanted_s is not None:
            self._show_requested_time(wanted_s)

    def step_solution(self, offset: int) -> None:
        """Go to the next or previous step of the reference solution."""
        drill, live_drill = self._session.drill, self._session.live_drill
        if drill is None or live_drill is None:
            return
        input_count = len(drill.journal) + offset
        if input_count <= 0:
            self._session.show_time(0, before_inputs=True)
        elif input_count <= len(live_drill.journal):
            self._session.show_time(live_drill.journal[input_count - 1].tick)

    def branch_from_shown_time(self) -> None:
        """Start a branch from the shown time."""
        drill = self._session.drill
        if drill is None or not self._session.is_showing_past:
            return
        if self._play.best is not None:
            self._play.take_over_continuation(drill.tick)
        elif not self._play.is_watching:
            self._play.branch_at(drill.tick)

    def _announce_position(self, tick: int, details: str) -> None:
        """Announce the position to screen readers. *details*: additional text."""
        text = tr("Resumed at {moment}. The clock is paused; press Run to start it.")
        text_here = text.format(moment=formatting.format_run_time(tick / TICKS_PER_S, 1))
        self._last_announcement = f"{text_here} {details}".rstrip()
        self._notice.show_info(self._last_announcement, duration_ms=0)

    def hide_announced_position(self) -> None:
        """Hide the notice about the announced position, because the clock runs or another page is shown."""
        if self._last_announcement and self._notice.text == self._last_announcement:
            self._notice.hide_notice()
        self._last_announcement = ""

    # --- display --------------------------------------------------------------------------------------------

    def _show_drill(self, drill: Drill | None) -> None:
        live = self._session.live_drill
        if drill is None or live is None:
            return
        seen_state = (id(live), len(live.events))
        if not self._session.is_showing_past or seen_state != self._shown_position:
            self._timeline.show_drill(live)
            self._shown_position = seen_state
        self._show_world(None)

    def _add_events(self, events: list[Event]) -> None:
        live = self._session.live_drill
        if live is not None and not self._session.is_showing_past:
            self._timeline.add_events(events)
            self._shown_position = (id(live), len(live.events))

    def _show_world(self, _: World | None) -> None:
        """Update the bar and the timeline mark of the shown time."""
        drill, live = self._session.drill, self._session.live_drill
        looking = self._session.is_showing_past and drill is not None and live is not None
        if not looking or drill is None or live is None:
            self.bar.hide()
            self._timeline.show_past_time(None)
            if live is not None:
                self._timeline.show_current_time(live.world.t_s)
            return
        t_s = drill.world.t_s
        self._timeline.show_past_time(t_s)
        if self._play.is_watching:
            choices = {inquiry.name: inquiry.texts for inquiry in drill.scenario.inquiries}
            lines = [describe_input(item.line_without_time, choices) for item in live.journal]
            if (best := self._play.best) is not None:
                self.bar.show_best_continuation(best.shared_input_count, len(drill.journal), lines, t_s)
            else:
                self.bar.show_reference_step(len(drill.journal), drill.scenario.solution, lines, t_s)
        elif live.finished:
            self.bar.show_finished_run(t_s, live.tick / TICKS_PER_S, self._play.branches is not None)
        else:
            self.bar.show_past_time(t_s, live.tick / TICKS_PER_S, live.permissions.rewind)
