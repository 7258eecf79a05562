"""Spoken announcements for screen readers: events, changes of the clock, and the state of the drill on request."""

from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QAccessible

from app.main_window.shared_parts import SharedParts, WindowPart
from app.view_models.debrief.model import describe_result
from app.view_models.topology_builder import build_topology_contents, hide_unknown_facts
from app.views.briefing import describe_goal_state
from app.views.time_controls import format_speed_text
from app.widgets.screen_reader import announce_text
from app.words import formatting
from app.words.announcements import describe_events, select_announced_kinds
from app.words.language import tr
from engine.drill.judging.report_types import Report
from engine.drill.running.drill import Drill
from engine.events import Event

ANNOUNCEMENT_INTERVAL_MS: Final = 1200
"""Minimum wall time between two announcements, so that they do not interrupt each other.

Later events are announced together.
"""


class Announcer(WindowPart):
    """Announcer of the events of a run. It does nothing while no screen reader runs."""

    message_ready = Signal(str)
    """Signal with the announced text."""

    def __init__(self, shared: SharedParts) -> None:
        """Create the announcer and connect it to the session."""
        super().__init__(shared)
        session = shared.session
        self._events: list[Event] = []
        self._time = ""
        """Pending announcement about the clock (paused, running, speed); empty if there is none."""
        self._searching = False
        self._interval_timer = QTimer(self, singleShot=True, interval=ANNOUNCEMENT_INTERVAL_MS)
        self._interval_timer.timeout.connect(self._announce_pending)
        session.events_occurred.connect(self._add_events)
        session.running_changed.connect(self._show_running)
        session.speed_changed.connect(lambda speed: self._announce_time(format_speed_text(speed)))
        session.progress_changed.connect(self._show_progress)
        session.drill_changed.connect(lambda _: self._announce_shown_time())
        session.run_finished.connect(self._show_end)
        shared.play.run_started.connect(lambda _: self._discard_pending())

    # --- texts to announce ----------------------------------------------------------------------------------

    def _add_events(self, events: list[Event]) -> None:
        drill = self._session.drill
        if drill is not None and QAccessible.isActive():
            kinds = select_announced_kinds(drill.permissions)
            matching_events = [event for event in events if event.kind in kinds]
            self._events += matching_events
            if matching_events:
                self._schedule_announcement()

    def _show_running(self, running: bool) -> None:
        drill = self._session.drill
        if drill is None or drill.finished:
            return
        if running:
            self._announce_time(
                tr("The clock is running at {speed}.").format(speed=format_speed_text(self._session.speed))
            )
        else:
            self._announce_time(_describe_pause(drill))

    def _show_progress(self, share: float) -> None:
        """Announce the current time when a search ends. *share*: progress of the search; negative without a search."""
        was_searching, self._searching = self._searching, share >= 0.0
        drill = self._session.drill
        if was_searching and not self._searching and drill is not None and not drill.finished:
            self._announce_time(_describe_pause(drill))

    def _announce_shown_time(self) -> None:
        drill, live = self._session.drill, self._session.live_drill
        if self._session.is_showing_past and drill is not None and live is not None:
            text = tr("Showing {moment}; the run is at {now}.")
            moment, live_moment = (
                formatting.format_run_time(shown_run.world.t_s, 1) for shown_run in (drill, live)
            )
            self._announce_time(text.format(moment=moment, now=live_moment))

    def _show_end(self, report: Report) -> None:
        """Announce the points and the result of the run."""
        self._discard_pending()
        score = report["score"]
        words = describe_result(report)
        if score["scored"] and score["total"] is not None:
            words = " ".join(
                (
                    tr("{points} of 100 points.").format(
                        points=formatting.format_plain_number(score["total"])
                    ),
                    words,
                )
            )
        self._announce_time(words)

    def _announce_time(self, text: str) -> None:
        if QAccessible.isActive():
            self._time = text
            self._schedule_announcement()

    # --- announcements --------------------------------------------------------------------------------------

    def _schedule_announcement(self) -> None:
        if not self._interval_timer.isActive():
            self._interval_timer.start(0)

    def _announce_pending(self) -> None:
        """Announce all events since the last announcement, and the latest change of the clock."""
        parts = [describe_events(self._events), self._time]
        words = " ".join(part for part in parts if part)
        self._events, self._time = [], ""
        if words:
            announce_text(self._window, words)
            self.message_ready.emit(words)
            self._interval_timer.start(ANNOUNCEMENT_INTERVAL_MS)

    def _discard_pending(self) -> None:
        """Discard pending announcements, because another run is shown."""
        self._events, self._time, self._searching = [], "", False

    def announce_state(self) -> None:
        """Show and announce the state of the run."""
        drill = self._session.drill
        if drill is not None:
            words = describe_state(drill, self._session.is_running)
            self._notice.show_info(words)
            self.message_ready.emit(words)


def _describe_pause(drill: Drill) -> str:
    return tr("Paused at {time}.").format(time=formatting.format_run_time(drill.world.t_s, 1))


def describe_state(drill: Drill, running: bool) -> str:
    """Describe time, open questions, visible goals, and everything that the topology shows."""
    time_text = formatting.format_run_time(drill.world.t_s, 1)
    parts = [tr("{time}, running.").format(time=time_text) if running else _describe_pause(drill)]
    parts += [tr("Question: {text}").format(text=question.text) for question in drill.list_open_questions()]
    if drill.permissions.reports_progress:
        for goal in drill.scenario.goals:
            words = describe_goal_state(goal, drill.goals[goal.name], drill.tick)[2] or tr("not met yet")
            parts.append(tr("Goal: {goal}, {state}.").format(goal=goal.text, state=words))
    picture = build_topology_contents(drill.world)
    parts.append((picture if drill.permissions.shows_truth else hide_unknown_facts(picture)).spoken)
    return " ".join(parts)
