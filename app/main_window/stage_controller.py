"""Control of the stage: a failover in slow motion, its replay at any time, and the return to the desk."""

from __future__ import annotations

import subprocess
from typing import Final

import numpy as np
from msgspec.structs import replace
from PySide6.QtCore import QElapsedTimer, QSize, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from app import settings
from app.export.gif import GifWriter, Pixels
from app.export.mp4 import FRAMES_PER_S, Mp4Writer, find_encoder
from app.files import atomic_write
from app.main_window.desk_page import DeskPage
from app.main_window.shared_parts import SharedParts, WindowPart
from app.main_window.task_runner import TaskRunner
from app.view_models.failover_moment.failover_view import (
    SHORT_PHASE_WALL_MS,
    FailoverView,
    build_expected_view,
    build_failover_view,
    compute_live_speed,
    is_short_phase,
)
from app.view_models.failover_moment.missing_failover import (
    MissingFailoverView,
    explain_failover,
    find_expected_failover,
)
from app.view_models.failover_moment.replay import FailoverReplay
from app.view_models.failover_moment.stage_facts import (
    StageFacts,
    StageVote,
    capture_facts,
    find_redo_queue_kb,
)
from app.view_models.failover_moment.view import StageView, build_stage_view
from app.views.failover_stage import FailoverStage
from app.views.failover_stage.stage import (
    BACK,
    EXPORT,
    FORWARD,
    LEAVE,
    PAUSE_OR_CONTINUE,
    PRESENT,
    PRESENTATION_SCALE_MIN,
    REPLAY,
    render_stage_image,
)
from app.widgets import theme
from app.widgets.input_guard import get_input_guard
from app.widgets.notice import NoticeBar
from app.widgets.save_file import ask_for_file
from app.words import formatting
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.time.cooperative_tasks import CooperativeTask
from engine.events import AvailabilityData, Event, FailoverData
from engine.model import Failover, Tick

FILM_SIZE_PX: Final = QSize(1280, 620)
"""Width and height of an exported film in pixels: half a presentation slide. Our choice."""
FILM_FRAME_S: Final = 0.1
RESULT_DISPLAY_S: Final = 4.0
"""Seconds for which the result stays on screen before the film repeats."""


def export_film(replay: FailoverReplay, stage: FailoverStage, notice: NoticeBar) -> None:
    """Ask for a file and write the film of a failover to it. The button shows the progress."""
    button = stage.buttons[EXPORT]
    kinds = "GIF (*.gif);;MP4 (*.mp4)"
    film = ask_for_file(
        stage, tr("Export as GIF or MP4"), "failover.gif", kinds, replacing_extensions=(".mp4",)
    )
    if film is None:
        return
    file = str(film)

    def report_problem(problem: OSError) -> None:
        text = tr("{file} cannot be written: {reason}.")
        notice.show_warning(text.format(file=file, reason=problem.strerror))

    try:
        atomic_write.require_writable(film)
    except OSError as problem:
        report_problem(problem)
        return
    encoder = find_encoder() if file.endswith(".mp4") else None
    if file.endswith(".mp4") and encoder is None:
        notice.show_warning(tr("MP4 needs ffmpeg, which is not installed. Install it, or export as GIF."))
        return
    words = button.text()
    runner = TaskRunner(stage)
    button.setEnabled(False)
    runner.progress_changed.connect(
        lambda share: button.setText(tr("Exporting {share}").format(share=formatting.format_percent(share)))
    )

    def write_film(data: bytes | None) -> None:
        button.setText(words)
        button.setEnabled(True)
        if data is None:
            notice.show_warning(tr("ffmpeg could not write the MP4 file. Export as GIF instead."))
            return
        try:
            atomic_write.write_atomically(film, data)
        except OSError as problem:
            report_problem(problem)
            return
        notice.show_info(tr("Saved as {file}.").format(file=file))

    runner.start_task(
        encode_film(replay, theme.get_theme_tokens(stage.palette()), stage.canvas.has_large_text, encoder),
        write_film,
    )


def encode_film(
    replay: FailoverReplay, colors: theme.ThemeTokens, large_text: bool, encoder: str | None = None
) -> CooperativeTask[bytes | None]:
    """Encode the replay as a GIF, or as an MP4 with *encoder*. Return None on failure.

    Each slice of the task renders one frame.
    """
    samples = []
    for number in range(replay.begun_phase_count):
        samples.append(_render_pixels(replay.build_phase_view(number), colors, large_text))
        yield 0.0
    frame_s = 1.0 / FRAMES_PER_S if encoder else FILM_FRAME_S
    count = max(1, round(replay.length_s / frame_s))
    try:
        writer = (
            Mp4Writer(encoder, FILM_SIZE_PX.width(), FILM_SIZE_PX.height()) if encoder else GifWriter(samples)
        )
        for number in range(count):
            writer.add_frame(
                _render_pixels(replay.build_view_at(number * frame_s), colors, large_text),
                round(100 * frame_s),
            )
            yield number / count
        writer.add_frame(samples[-1], round(100 * RESULT_DISPLAY_S))
        return writer.finish()
    except (OSError, subprocess.TimeoutExpired):
        return None


def _render_pixels(view: StageView, colors: theme.ThemeTokens, large_text: bool) -> Pixels:
    picture = render_stage_image(view, FILM_SIZE_PX, colors, large_text).convertToFormat(
        QImage.Format.Format_RGB888
    )
    rows = np.frombuffer(picture.constBits(), np.uint8).reshape(picture.height(), picture.bytesPerLine())
    return rows[:, : 3 * picture.width()].reshape(picture.height(), picture.width(), 3).copy()


TYPING_TIMEOUT_S: Final = 3.0
"""Time after a key press during which the person counts as typing. The stage then takes no focus. Our choice."""
STAGE_WAIT_MAX_S: Final = 30.0
"""Simulated time after which the stage no longer waits for a failover, or for clients to connect again.

Our choice.
"""
REPLAY_FRAME_INTERVAL_MS: Final = 33
LIVE, STEP, REPLAYING, FINISHED, REQUIREMENTS = "live", "step", "replay", "over", "why"
REVEAL_INTERVAL_MS: Final = 700
"""Wall time between two requirements that are revealed. Our choice."""

WATCH_OFFER_S: Final = 20.0
"""Wall time for which a notice offers to show a failover that starts while the person types. Assumed."""


class StageController(WindowPart):
    """Controller that shows and hides the stage.

    It may change the speed of the clock or pause it, but changes nothing else in the run.
    """

    introduction_left = Signal()
    """Signal: the user has left the stage of the introduction."""
    presenting_wanted = Signal()
    """Signal: request to start or stop the presenter mode."""

    def __init__(self, shared: SharedParts, page: DeskPage) -> None:
        super().__init__(shared)
        session = shared.session
        self._page = page
        self.stage = FailoverStage()
        page.add_stage(self.stage)
        self.state = ""
        """State of the stage: LIVE, STEP, REPLAYING, OVER or WHY; empty while the desk is on screen."""
        self._failover_view: FailoverView | None = None
        self._facts: StageFacts | None = None
        self._replay: FailoverReplay | None = None
        self._number: int | None = None
        """Index of the failover on stage; None while the failover is only expected."""
        self._expected_failover: tuple[Failover, str] | None = None
        self._shown_count = 0
        """Index of the phase on screen."""
        self._held_phase: int | None = None
        """Index of the phase that a caption explains; None to follow the run."""
        self._before_kb = 0.0
        self._base_votes: tuple[StageVote, ...] = ()
        """Votes that counted at the time of the failure."""
        self._previous_pace: tuple[float, bool] = (1.0, False)
        """Speed of the clock, and whether it ran, before the stage was shown."""
        self._keys: QWidget | None = None
        self._hold_timer = QTimer(self, singleShot=True)
        self._hold_timer.timeout.connect(self._end_hold)
        self._frame = QTimer(self, interval=REPLAY_FRAME_INTERVAL_MS)
        self._frame.timeout.connect(self._show_replay)
        self._missing_failover_view: MissingFailoverView | None = None
        self._reveal = QTimer(self, interval=REVEAL_INTERVAL_MS)
        self._reveal.timeout.connect(
            lambda: self._reveal_to(
                1 if self._missing_failover_view is None else self._missing_failover_view.revealed + 1
            )
        )
        self._elapsed = QElapsedTimer()
        self._elapsed_before_pause_s = 0.0
        """Wall time of the replay until it was last paused."""
        self.stage.button_pressed.connect(self._handle_button)
        self.stage.phase_wanted.connect(self._show_phase)
        session.events_occurred.connect(self._on_events)
        session.world_changed.connect(lambda _: self._follow_run())
        session.running_changed.connect(self._show_running)
        shared.play.run_started.connect(lambda _: self.close_stage())

    # --- start ----------------------------------------------------------------------------------------------

    def _should_stage_now(self, drill: Drill) -> bool:
        """Return whether to show a failover on the stage now.

        The stage must be permitted, time must run, and no background task may run.
        """
        return self._is_staging_allowed(drill) and self._session.is_running and not self._session.is_busy

    def _is_staging_allowed(self, drill: Drill) -> bool:
        """Return whether the setting and the run permit staged failovers.

        Exams, runs of a class, watched runs and past times do not permit them. The introduction always does.
        """
        if self._play.is_introducing:
            return True
        choice = self._store.get(settings.FAILOVER_STAGING)
        presenting = bool(self._store.get(settings.STATE_BEFORE_PRESENTING))
        if choice == settings.NEVER or (choice == settings.PRESENTING and not presenting):
            return False
        hands_off = self._play.is_watching or self._play.is_in_class or self._session.is_showing_past
        return drill.permissions.shows_truth and not hands_off

    def _on_events(self, events: list[Event]) -> None:
        drill = self._session.live_drill
        if drill is None or self._session.drill is not drill:
            return
        if self.state:
            self._facts = None  # discard the facts, so that the stage captures them again
            return
        number = _find_running_failover(drill)
        began = [
            e
            for e in events
            if isinstance(e.data, FailoverData)
            or (isinstance(e.data, AvailabilityData) and e.data.serving is False)
        ]
        if not began or not self._page.isVisible() or not self._is_staging_allowed(drill):
            return
        expected = None
        if number is None:
            down = {name for name, standing in drill.world.availability.items() if not standing.serving}
            databases = [e.database for e in began if e.kind == "availability" and e.database in down]
            candidates = (find_expected_failover(drill, name) for name in databases)
            expected = next((candidate for candidate in candidates if candidate is not None), None)
            if expected is None:
                self._offer_reasons(databases)
                return
        if not self._should_stage_now(drill):  # the failure occurred during a jump to a later event
            return
        if _is_typing():
            words = tr("A failover has begun.")
            self._notice.show_offer(words, tr("Watch it"), self.show_failover, duration_s=WATCH_OFFER_S)
            return
        self._begin_live(drill, number, expected)

    def _begin_live(self, drill: Drill, number: int | None, expected: tuple[Failover, str] | None) -> None:
        self._number, self._expected_failover = number, expected
        self._facts = self._replay = None
        self._shown_count, self._before_kb, self._base_votes = 0, 0.0, ()
        self._held_phase = None
        self._open_stage()
        self.state = LIVE
        self._follow_run()

    def hold_phase(self, number: int | None) -> None:
        """Keep phase *number* on stage while a caption explains the phase.

        *number*: -1 for the last phase, None to follow the run.
        """
        self._held_phase = number
        self._follow_run()

    def show_failover(self) -> None:
        """Show the failover in progress on the stage, or replay the last failover."""
        drill = self._session.live_drill
        if drill is None or self.state:
            return
        if not drill.permissions.shows_truth and not drill.finished:
            self._notice.show_info(tr("Not available in an exam."))
            return
        failovers = drill.world.failovers
        if not failovers:
            self._notice.show_info(tr("No failover has happened in this run yet."))
            return
        number = len(failovers) - 1
        if _is_running(failovers[number]) and not self._session.is_showing_past:
            self._begin_live(drill, number, None)
            return
        self._number, self._expected_failover = number, None
        self._open_stage()
        self._session.pause()
        self._start_replay()

    def _offer_reasons(self, databases: list[str]) -> None:
        """Offer to explain why no copy of the first of *databases* takes over."""
        if databases and not _is_typing():
            text = tr("{database} is down, and no automatic failover will take over.")
            words = text.format(database=databases[0])
            self._notice.show_offer(words, tr("Why not?"), self.explain_missing_failover)

    def explain_missing_failover(self) -> None:
        """Show the requirements of an automatic failover one after another."""
        drill, history = self._session.live_drill, self._session.history
        if drill is None or history is None:
            return
        if not drill.permissions.shows_truth and not drill.finished:
            self._notice.show_info(tr("Not available in an exam."))
            return
        self.leave_stage()
        self._missing_failover_view = explain_failover(history)
        if self._missing_failover_view is None:
            return
        self._open_stage()
        self._session.pause()
        self.state = REQUIREMENTS
        has_reduced_motion = bool(self._store.get(settings.REDUCED_MOTION))
        self._reveal_to(len(self._missing_failover_view.rows) if has_reduced_motion else 0)
        self._set_reveal_running(not has_reduced_motion)

    def _reveal_to(self, count: int) -> None:
        if self.state != REQUIREMENTS or self._missing_failover_view is None:
            self._reveal.stop()
            return
        self._missing_failover_view = self._missing_failover_view.reveal(count)
        self.stage.show_view(self._missing_failover_view)
        if self._missing_failover_view.is_complete:
            self._set_reveal_running(False)

    def _set_reveal_running(self, running: bool) -> None:
        self._reveal.start() if running else self._reveal.stop()
        self.stage.show_running(running)

    def _handle_requirements_button(self, name: str) -> None:
        """Handle a key or button while requirements are on stage."""
        assert self._missing_failover_view is not None
        if name in (BACK, FORWARD):
            self._set_reveal_running(False)
            self._reveal_to(self._missing_failover_view.revealed + (1 if name == FORWARD else -1))
        elif name == REPLAY:
            self._reveal_to(0)
            self._set_reveal_running(True)
        elif name == PAUSE_OR_CONTINUE and not self._missing_failover_view.is_complete:
            self._set_reveal_running(not self._reveal.isActive())
        elif name in (PAUSE_OR_CONTINUE, LEAVE):
            self.leave_stage()

    def _open_stage(self) -> None:
        session = self._session
        self._previous_pace = (session.speed, session.is_running)
        self._keys = QApplication.focusWidget()
        self._notice.hide_notice()
        self.show_appearance()
        self.stage.set_guided(self._play.is_introducing)
        self.stage.show_running(session.is_running)
        self._page.show_stage(True)
        self.stage.canvas.setFocus()
        get_input_guard().record_appearance(self.stage)

    def show_appearance(self) -> None:
        """Apply the current text size, presenter mode and motion to the stage."""
        presenting = bool(self._store.get(settings.STATE_BEFORE_PRESENTING))
        is_presenting = presenting or self._store.get(settings.FONT_SCALE) >= PRESENTATION_SCALE_MIN
        self.stage.set_appearance(is_presenting, self._store.get(settings.REDUCED_MOTION), presenting)

    def close_stage(self) -> None:
        """Hide the stage. The clock does not change."""
        if not self.state:
            return
        self.state = ""
        self._hold_timer.stop()
        self._frame.stop()
        self._reveal.stop()
        self._failover_view = self._replay = self._facts = None
        self._page.show_stage(False)
        if self._keys is not None and self._keys.isVisible():
            self._keys.setFocus()
        self._keys = None

    def leave_stage(self) -> None:
        """Return to the desk. Restore the speed of the clock, and let it run if it ran before."""
        if not self.state:
            return
        speed, ran = self._previous_pace
        self.close_stage()
        self._session.set_speed(speed)
        if ran and not self._session.is_running:
            self._session.play()

    # --- live -----------------------------------------------------------------------------------------------

    def _follow_run(self) -> None:
        """Update the stage, the speed and the pauses from the current state of the run."""
        drill = self._session.live_drill
        if self.state != LIVE or drill is None or self._hold_timer.isActive():
            return
        moment = self._update_failover_view(drill)
        if moment is None:
            return
        target = moment.find_phase(drill.tick)
        if (
            self._play.is_introducing
        ):  # in the introduction, the captions control how long each phase is shown
            held_phase = self._held_phase
            self._shown_count = target = target if held_phase is None else held_phase % len(moment.phases)
        while self._shown_count < target:
            self._shown_count += 1
            phase = moment.phases[self._shown_count]
            if self._shown_count < target and is_short_phase(phase):
                self._show_stage(drill, moment, self._shown_count)
                self._session.pause()
                self._hold_timer.start(SHORT_PHASE_WALL_MS)
                return
        self._show_stage(drill, moment, self._shown_count)
        if moment.is_complete or drill.tick > self._compute_deadline(moment):
            self._pause_after_failover()
        elif self._session.is_running:
            self._session.set_speed(compute_live_speed(moment.phases[self._shown_count], drill.tick))

    def _update_failover_view(self, drill: Drill) -> FailoverView | None:
        """Return the current state of the failover. Return None if an expected failover can no longer occur.

        When an expected failover starts, it becomes the staged failover.
        """
        if self._number is None:
            self._number = _find_running_failover(drill)
        if self._number is not None:
            self._failover_view = build_failover_view(drill, self._number)
        elif self._expected_failover is not None:
            failover, technology = self._expected_failover
            if drill.world.availability[failover.database].serving:
                self.leave_stage()
                return None
            self._failover_view = build_expected_view(drill, failover, technology)
        return self._failover_view

    @staticmethod
    def _compute_deadline(failover_view: FailoverView) -> Tick:
        """Return the tick after which the stage stops waiting."""
        ticks = [p.start_tick for p in failover_view.phases if p.start_tick is not None]
        return max(ticks) + round(STAGE_WAIT_MAX_S * TICKS_PER_S)

    def _show_stage(self, drill: Drill, failover_view: FailoverView, number: int) -> None:
        if self._facts is None:
            votes = self._base_votes
            self._facts = capture_facts(
                drill.world, failover_view.failover, failover_view.technology
            ).replace_voters(votes)
            self._base_votes = votes if votes else self._facts.votes
        redo_kb = find_redo_queue_kb(drill.world, failover_view.failover)
        facts = self._facts if redo_kb is None else replace(self._facts, redo_kb=redo_kb)
        self._before_kb = max(self._before_kb, redo_kb or 0.0)
        self.stage.show_view(build_stage_view(failover_view, facts, drill.tick, self._before_kb, number))

    def _end_hold(self) -> None:
        if self.state == LIVE:
            self._session.play()
            self._follow_run()

    def _pause_after_failover(self) -> None:
        """Pause the clock, so that the user can see the result."""
        self.state = FINISHED
        self._session.pause()
        self._session.set_speed(self._previous_pace[0])
        self.stage.show_running(False)

    # --- replay, phase by phase -----------------------------------------------------------------------------

    def _prepare_replay(self) -> FailoverReplay | None:
        history = self._session.history
        if self._replay is None and history is not None and self._number is not None:
            self._replay = FailoverReplay(history, self._number)
        return self._replay

    def _start_replay(self) -> None:
        if self._prepare_replay() is None:
            return
        self._session.pause()
        self.state, self._elapsed_before_pause_s = REPLAYING, 0.0
        self._elapsed.start()
        self._frame.start()
        self.stage.show_running(True)
        self._show_replay()

    def _show_replay(self) -> None:
        replay = self._replay
        if self.state != REPLAYING or replay is None:
            self._frame.stop()
            return
        wall_s = self._elapsed_before_pause_s + self._elapsed.elapsed() / 1000.0
        self.stage.show_view(replay.build_view_at(wall_s))
        self._shown_count = replay.find_phase(wall_s)
        if wall_s >= replay.length_s:
            self._frame.stop()
            self.state = FINISHED
            self.stage.show_running(False)

    def _show_phase(self, number: int) -> None:
        """Show the end of phase *number*, or its latest state if it has not ended."""
        replay = self._prepare_replay()
        if replay is None or not 0 <= number < replay.begun_phase_count:
            return
        self._frame.stop()
        self._hold_timer.stop()
        self._session.pause()
        self.state, self._shown_count = STEP, number
        self.stage.show_view(replay.build_phase_view(number))
        self.stage.show_running(False)

    # --- keys and buttons -----------------------------------------------------------------------------------

    def _handle_button(self, name: str) -> None:
        if self._play.is_introducing:
            self.introduction_left.emit()
            return
        if name == PRESENT:
            self.presenting_wanted.emit()
            return
        if self.state == REQUIREMENTS:
            self._handle_requirements_button(name)
            return
        acts = {
            BACK: lambda: self._show_phase(max(0, self._shown_count - 1)),
            FORWARD: self._step_forward,
            PAUSE_OR_CONTINUE: self._toggle_animation,
            REPLAY: self._start_replay,
            EXPORT: self._export_film,
            LEAVE: self.leave_stage,
        }
        acts[name]()

    def _step_forward(self) -> None:
        replay = self._prepare_replay()
        if replay is None:
            return
        if self._shown_count + 1 < replay.begun_phase_count:
            self._show_phase(self._shown_count + 1)
        elif not replay.failover_view.is_complete and self._previous_pace[1]:
            self._return_to_live()

    def _return_to_live(self) -> None:
        self.state, self._replay = LIVE, None
        self._session.play()
        self._follow_run()

    def _toggle_animation(self) -> None:
        """Pause or continue the animation. At its end, return to the desk."""
        if self.state == FINISHED:
            self.leave_stage()
        elif self.state == LIVE:
            self._session.toggle_clock()
        elif self.state == REPLAYING and self._frame.isActive():
            self._elapsed_before_pause_s += self._elapsed.elapsed() / 1000.0
            self._frame.stop()
            self.stage.show_running(False)
        elif self.state == REPLAYING:
            self._elapsed.restart()
            self._frame.start()
            self.stage.show_running(True)
        elif self._replay is not None and not self._replay.failover_view.is_complete:
            self._return_to_live()
        else:
            self._start_replay()

    def _show_running(self, running: bool) -> None:
        if self.state == LIVE and not self._hold_timer.isActive():
            self.stage.show_running(running)

    def _export_film(self) -> None:
        replay = self._prepare_replay()
        if replay is not None:
            self._frame.stop()
            export_film(replay, self.stage, self._notice)


def _find_running_failover(drill: Drill) -> int | None:
    failovers = drill.world.failovers
    return next((n for n in reversed(range(len(failovers))) if _is_running(failovers[n])), None)


def _is_running(failover: Failover) -> bool:
    return failover.online_tick is None and not failover.canceled


def _is_typing() -> bool:
    """Return whether a person is typing now."""
    text = isinstance(QApplication.focusWidget(), (QLineEdit, QPlainTextEdit, QTextEdit))
    return text and get_input_guard().since_last_key_s < TYPING_TIMEOUT_S
