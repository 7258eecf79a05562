"""Host of a run: it converts wall time into ticks, and requests into input lines.

Each input line is recorded before its effect is shown. While a past time is on screen, inputs are refused.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from app.host import inbox
from app.host.inbox import HostSignal, Inbox, InputRequest, InputResult, build_sentence
from app.host.playback import (
    CONDITION_CHECK_INTERVAL_TICKS,
    SEARCH_TICKS_MAX,
    SEARCHED_EVENT_KINDS,
    STATE_EVENT_KINDS,
    BackgroundTask,
    EventSearch,
    Playback,
    RunPace,
    is_alarm,
)
from app.host.recorder import NullRecorder, RecordingError, RecordingSchedule, RunRecorder
from app.words import formatting
from app.words.language import tr
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.authoring.conditions import ConditionError
from engine.drill.authoring.schema import Scenario
from engine.drill.judging.report_types import Report
from engine.drill.running import rewind
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.time.branches import BranchError
from engine.drill.time.cooperative_tasks import CooperativeTask, replay_inputs
from engine.drill.time.history import History
from engine.events import Event, QuestionData
from engine.inputs import Input, InputError
from engine.model import Tick, World

Result = TypeVar("Result")
StopCondition = Callable[[Sequence[Event]], bool]

FRAME_BUDGET_S: Final = 0.010
"""Maximum wall time of the engine per frame. The rest of the frame is for drawing."""
SLICE_TICKS: Final = 50
"""Ticks between two checks of the wall clock: well below a millisecond at 5 us per tick."""
SQL_SLICE_TICKS: Final = 5
"""Ticks per slice while T-SQL exceeds its share of work. Each tick takes some ms (engine/tsql/batches/work.py)."""
IMMEDIATE_TASK_DEFAULT_S: Final = 0.05
"""Default wall time that a background task may use before a progress bar is shown: three frames. Assumed."""


class RunHost:
    """Host of one run: it advances by the wall clock and applies inputs. A timer, loop or test calls `on_frame`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Create a host. *clock* returns the wall time in seconds."""
        self.drill_changed: HostSignal[Drill | None] = HostSignal()
        """Signal: drill to show from the start, which may be another time of the same run. None if there is no run."""
        self.world_changed: HostSignal[World] = HostSignal()
        self.events_occurred: HostSignal[list[Event]] = HostSignal()
        self.input_refused: HostSignal[str] = HostSignal()
        """Signal: reason for a refusal, as one sentence."""
        self.speed_changed: HostSignal[float] = HostSignal()
        self.running_changed: HostSignal[bool] = HostSignal()
        self.lag_reported: HostSignal[float] = HostSignal()
        """Signal: actual speed if it is lower than the requested speed, otherwise 0."""
        self.progress_changed: HostSignal[float] = HostSignal()
        """Signal: progress of a search or background task, from 0 to 1; -1 at its end."""
        self.run_finished: HostSignal[Report] = HostSignal()
        """Signal: report of the drill, which has ended. The recorder has received it."""
        self.past_time_shown: HostSignal[bool] = HostSignal()
        """Signal: True if a past time is on screen. It follows `drill_changed`."""
        self.run_loaded: HostSignal[History] = HostSignal()
        """Signal: history that `load_run` has replayed."""
        self.frames_due: HostSignal[bool] = HostSignal()
        """Signal: True if `on_frame` has more to do than the inbox."""

        self.inbox = Inbox()
        """Requests of other threads, which the next frame processes."""
        self.immediate_task_s = IMMEDIATE_TASK_DEFAULT_S
        """Maximum wall time that a background task runs before a progress bar is shown."""
        self.history: History | None = None
        """Run with access to every past time; None if there is no run."""
        self._playback: Playback | None = None
        """Playback on screen instead of the live run; None for the live run."""
        self._record = RecordingSchedule(NullRecorder())
        self._clock = clock
        self._pace = RunPace()
        self._running = self._lagging = False
        self._search: EventSearch | None = None
        self._task: BackgroundTask[object] | None = None
        self._requested_time: tuple[Tick, bool] | None = None
        """Arguments of the last `show_time`, while its background task runs; otherwise None."""
        self._is_held = False
        """True while a question has paused a clock that ran before."""
        self._since_recorded_ticks = 0
        """Ticks since the position was last recorded. Used only in exams."""

    # --- drill on screen ------------------------------------------------------------------------------------

    @property
    def drill(self) -> Drill | None:
        """Drill on screen: the live run, or its state at a past time. None if there is no run."""
        return self._playback.drill if self._playback is not None else self.live_drill

    @property
    def live_drill(self) -> Drill | None:
        """Run in its latest state; None if there is no run."""
        return self.history.drill if self.history is not None else None

    def open_run(self, run: Drill | History, recorder: RunRecorder) -> None:
        """Show *run*, paused. Inputs are recorded by *recorder*."""
        self._adopt_run(run, recorder)
        self._show_playback(None)
        if self.history is not None and self.history.drill.finished:
            self._finish_run(self.history.drill)

    def watch_run(self, run: History, at_each_input: bool = False, tick: Tick = 0) -> None:
        """Show a finished run from *tick*, read-only. *at_each_input*: pause after each input."""
        self._adopt_run(run, NullRecorder())
        drill = run.seek(tick, before_inputs=True)
        self._show_playback(Playback(run, drill, stays_at_end=True, at_each_input=at_each_input))

    def _adopt_run(self, run: Drill | History, recorder: RunRecorder) -> None:
        self._stop_all_work()
        self.inbox.refuse_all(tr(inbox.RUN_ENDED_TEXT))
        self.history = run if isinstance(run, History) else History(run)
        self._record = RecordingSchedule(recorder)
        self._pace.reset()
        self._report_lag()

    def close(self) -> None:
        """Close the run. Its record does not change."""
        self._stop_all_work()
        self.inbox.refuse_all(tr(inbox.RUN_ENDED_TEXT))
        self.history = None
        self._record = RecordingSchedule(NullRecorder())
        if self._playback is not None:
            self._playback = None
            self.past_time_shown.emit(False)

    # --- past moments ---------------------------------------------------------------------------------------

    @property
    def is_showing_past(self) -> bool:
        """True if a past time is on screen. Inputs are then refused."""
        return self._playback is not None

    def show_time(self, tick: Tick, before_inputs: bool = False) -> bool:
        """Show the run at *tick*, after all inputs of that tick.

        With *before_inputs*, show it before these inputs. A newer request replaces an older one. If the
        run cannot go back, emit `input_refused` and return False.
        """
        history, work = self.history, self._task
        if history is None or (work is not None and self._requested_time is None):
            return False
        if work is not None and self._requested_time == (tick, before_inputs):
            return True
        try:
            slices = history.seek_in_slices(tick, before_inputs)
        except InputError as problem:
            self._report_refusal(problem)
            return False
        self.run_task(slices, lambda snapshot: self._show_past(history, snapshot, before_inputs))
        self._requested_time = (tick, before_inputs) if self._task is not None else None
        return True

    def _show_past(self, history: History, past_drill: Drill, before_inputs: bool) -> None:
        playback = self._playback
        watched = playback is not None and playback.is_read_only
        if past_drill.tick >= history.drill.tick and not before_inputs and not watched:
            self._show_playback(None)
        else:
            steps = playback.at_each_input if playback is not None else False
            self._show_playback(Playback(history, past_drill, stays_at_end=watched, at_each_input=steps))

    def show_latest(self) -> None:
        """Show the run at its latest time again."""
        if self._playback is not None:
            self._stop_all_work()
            self._show_playback(None)

    def _show_playback(self, playback: Playback | None) -> None:
        looked, self._playback = self._playback is not None, playback
        self.drill_changed.emit(self.drill)
        if looked or playback is not None:
            self.past_time_shown.emit(playback is not None)

    def load_run(
        self,
        scenario: Scenario,
        seed: int,
        mode: DrillMode,
        inputs: Sequence[Input],
        tick: int,
        hashes: Sequence[tuple[int, str]] = (),
        skips_refused_inputs: bool = False,
        immediate_task_s: float | None = 0.0,
    ) -> None:
        """Play *inputs* up to *tick* as a background task, then emit `run_loaded` with the history.

        A difference from *hashes* is an error. *skips_refused_inputs*: True to skip inputs that are refused.
        *immediate_task_s*: as for `run_task`.
        """
        history = History(Drill(scenario, seed, mode))
        slices = replay_inputs(history, inputs, tick, hashes, skips_refused_inputs)
        text = tr("The journal cannot be replayed: {problem}")
        on_error = partial(self._report_refusal, template=text)
        self.run_task(slices, self.run_loaded.emit, on_error=on_error, immediate_task_s=immediate_task_s)

    def run_task(
        self,
        slices: CooperativeTask[Result],
        on_result: Callable[[Result], None],
        on_cancel: Callable[[], None] = lambda: None,
        on_error: Callable[[Exception], None] | None = None,
        immediate_task_s: float | None = None,
    ) -> None:
        """Run the background task *slices* between frames, and pass its result to *on_result*.

        Emit `progress_changed` meanwhile. Time is stopped and inputs are refused. *on_cancel* is called if
        the user cancels. *on_error* receives an expected error; by default, the error is shown.
        *immediate_task_s*: wall time that the task may use at once, before the next frame; None for the
        default of the host.
        """
        self._stop_all_work()
        on_error = on_error or self._report_refusal
        work = self._task = BackgroundTask(slices, on_result, on_cancel, on_error, (InputError, BranchError))
        immediate_task_s = self.immediate_task_s if immediate_task_s is None else immediate_task_s
        if immediate_task_s > 0.0:
            self._continue_task(work, immediate_task_s)
        if self._task is work:
            self.progress_changed.emit(work.share)
            self.frames_due.emit(self._running or self.is_busy)

    def _report_refusal(self, problem: Exception, template: str = "{problem}") -> None:
        self.input_refused.emit(build_sentence(template.format(problem=localize(str(problem)))))

    # --- time -----------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Return whether the clock of the run is running."""
        return self._running

    @property
    def is_busy(self) -> bool:
        """Return whether a search for an event, or a background task, runs."""
        return self._search is not None or self._task is not None

    @property
    def is_loading(self) -> bool:
        """Return whether a background task runs, such as the replay of a run."""
        return self._task is not None

    @property
    def speed(self) -> float:
        """Simulated seconds per second of wall time."""
        return self._pace.speed

    def play(self) -> None:
        """Start the clock of the run."""
        if not self._may_advance() or self.drill is None:
            return
        if not self._report_open_question(self.drill):
            self._set_running(True)

    def pause(self) -> None:
        """Stop the clock of the run."""
        if self._running:
            self._set_running(False)
            self._record_progress()

    def toggle_clock(self) -> None:
        """Stop the clock, or the search for an event, if either is running. Otherwise, start the clock."""
        if self.is_busy:
            self.cancel_task()
        elif self._running:
            self.pause()
        else:
            self.play()

    def set_speed(self, speed: float) -> None:
        """Set the speed in simulated seconds per second."""
        if self._pace.set_speed(speed):
            self.speed_changed.emit(self._pace.speed)

    def advance_one_tick(self) -> None:
        """Advance one tick (10 ms)."""
        self.pause()
        if self.drill is not None and not self._report_open_question(self.drill) and self._may_advance():
            self._advance(1, SLICE_TICKS)
            self._record_progress()

    def run_to_event(self) -> None:
        """Run at full speed until the next event."""
        self._begin_search(SEARCHED_EVENT_KINDS)

    def run_to_state(self) -> None:
        """Run at full speed until the role or state of a copy changes.

        A change of a witness connection or of the service also stops the run.
        """
        self._begin_search(STATE_EVENT_KINDS)

    def run_to_alarm(self) -> None:
        """Run at full speed until a monitor threshold is crossed or a server logs an error."""
        self._begin_search(frozenset({"alert", "errorlog"}), is_match=is_alarm)

    def run_until(self, condition: str) -> None:
        """Run at full speed until *condition* is true, checked ten times per simulated second."""
        drill = self.drill
        if drill is None:
            return
        try:
            rewind.require_visible_truth(drill)
            if drill.is_condition_met(condition):
                text = tr("The condition is already met: {condition}")
                self.input_refused.emit(text.format(condition=condition))
                return
        except (ConditionError, InputError) as problem:
            self._report_refusal(problem)
            return
        self._begin_search(frozenset(), condition=condition)

    def run_to(self, tick: int) -> None:
        """Run at full speed to *tick*."""
        self._begin_search(frozenset(), tick)

    def cancel_task(self) -> None:
        """Cancel the search for an event, or the background task, whichever runs."""
        work = self._task
        self._cancel_tasks()
        if work is not None:
            work.on_cancel()

    def _stop_all_work(self) -> None:
        """Stop the clock, the background task and the search."""
        self.pause()
        self._cancel_tasks()

    def _cancel_tasks(self) -> None:
        if self.is_busy:
            work, self._task, self._search, self._requested_time = self._task, None, None, None
            if work is not None:
                work.cancel()
            self.progress_changed.emit(-1.0)
            self.frames_due.emit(self._running or self.is_busy)

    # --- inputs ---------------------------------------------------------------------------------------------

    def apply_input(self, line: str) -> bool:
        """Apply an input line now.

        The line is on disk before its effects are shown. On failure, emit `input_refused` and return False.
        """
        problem = self._apply_line(line)
        if problem:
            self.input_refused.emit(problem)
        return not problem

    def _apply_line(self, line: str, request: InputRequest | None = None) -> str:
        """Apply a line and return the reason for a refusal, or an empty text. *request* receives the result."""
        history = self.history
        if history is None:
            return tr(inbox.NO_RUN_TEXT)
        if self._playback is not None:
            reason = inbox.RUN_ENDED_TEXT if self._playback.is_read_only else inbox.READ_ONLY_TEXT
            return tr(reason).format(moment=formatting.format_run_time(self._playback.drill.world.t_s))
        if self._task is not None:
            return tr(inbox.LOADING_TEXT)
        drill = history.drill
        event_count = len(drill.events)
        try:
            item = history.apply_line(line)
        except InputError as problem:
            return build_sentence(localize(str(problem)))
        try:
            self._record.recorder.record_input(item.tick, item.line)
        except RecordingError as problem:
            self._set_running(False)
            history.undo_last_input()
            self.drill_changed.emit(history.drill)
            return str(problem)
        if request is not None:
            if item.verb in inbox.RESULT_EVENT_BY_VERB:
                self.inbox.register_result_event(request, item)
            else:
                request.result_future.set_result(InputResult(item))
        self._show_events(drill.events[event_count:])
        if self._is_held and not self._is_waiting_for_answer(drill):
            self.play()
        return ""

    def process_inbox(self) -> None:
        """Process queued requests within the budget of a frame. If requests remain, wake the host again."""
        deadline = self._clock() + FRAME_BUDGET_S
        for request in self.inbox.take_requests():
            try:
                problem = self._apply_line(request.line, request)
            # an internal error is also reported to the caller that waits for the result
            except Exception as fault:
                request.result_future.set_exception(fault)
                raise
            if problem:
                request.result_future.set_result(InputResult(refusal=problem))
            if self._clock() >= deadline:
                self.inbox.wake_if_queued()
                break

    # --- frames ---------------------------------------------------------------------------------------------

    def on_frame(self, elapsed_ms: float) -> None:
        """Process the inbox, then the work due after *elapsed_ms* of wall time, within the budget of a frame."""
        self.process_inbox()
        if self._task is not None:
            self._continue_task(self._task)
        elif self._search is not None:
            self._continue_search(self._search)
            self._record_progress(elapsed_ms)
        elif self._running:
            due_ticks = self._pace.compute_due_ticks(elapsed_ms)
            done_ticks = self._advance_recorded(due_ticks)
            self._report_lag(self._pace.record_done_ticks(done_ticks, due_ticks, elapsed_ms))
            self._record_progress(elapsed_ms)

    def _advance_recorded(
        self, ticks: int, slice_ticks: int = SLICE_TICKS, stop: StopCondition | None = None
    ) -> int:
        """Advance up to *ticks*, and return the number of ticks done.

        In an exam, write each second to disk before the next second starts. *slice_ticks* and *stop*: as
        for `_advance`.
        """
        if self.live_drill is None or self.live_drill.permissions.rewind or self._playback is not None:
            return self._advance(ticks, slice_ticks, stop)
        done_ticks, deadline = 0, self._clock() + FRAME_BUDGET_S
        while done_ticks < ticks:
            step_ticks = min(TICKS_PER_S, ticks - done_ticks)
            step = self._advance(step_ticks, slice_ticks, stop)
            done_ticks += step
            running = self._running or self._search is not None
            self._since_recorded_ticks += step
            if self._since_recorded_ticks >= TICKS_PER_S:
                self._since_recorded_ticks = 0
                self._record_progress()
            if step < step_ticks or not running or self._clock() >= deadline:
                break
        return done_ticks

    def _advance(self, ticks: int, slice_ticks: int, stop: StopCondition | None = None) -> int:
        """Advance up to *ticks* within the time budget of a frame, in slices of *slice_ticks*.

        *stop*: function of the new events that returns True to stop after a slice.
        """
        if self.history is None or self.drill is None or ticks <= 0:
            return 0
        run = self._playback or self.history
        drill, deadline = run.drill, self._clock() + FRAME_BUDGET_S
        start = drill.tick
        # A search for kinds of events must end exactly at the event.
        to_event = self._search is not None and bool(self._search.kinds)
        events: list[Event] = []
        while drill.tick < start + ticks and not self._is_at_end():
            # slices end at whole seconds, when questions are asked
            second = (drill.tick // TICKS_PER_S + 1) * TICKS_PER_S
            busy = any(batch.waiting == "busy" for batch in drill.world.batches.values())
            stride = min(slice_ticks, SQL_SLICE_TICKS) if busy else slice_ticks
            new = run.advance_to(min(start + ticks, drill.tick + stride, second), to_event)
            events += new
            if self._playback is None and any(isinstance(e.data, QuestionData) and e.data.pause for e in new):
                ran = self._running
                self._stop_all_work()
                self._is_held = ran  # a clock that ran continues after the answer
                break
            if self._playback is not None and self._playback.take_pause_request():
                self._stop_all_work()
                break
            if self._clock() >= deadline or (stop is not None and stop(new)):
                break
        self._show_events(events)
        return ticks if self._is_at_end() else drill.tick - start

    def _is_at_end(self) -> bool:
        """Return whether the shown run cannot advance further."""
        if self._playback is not None:
            return self._playback.has_finished
        return self.history is None or self.history.drill.finished

    def _show_events(self, events: list[Event]) -> None:
        drill = self.drill
        assert drill is not None
        if events:
            self.inbox.process_events(events)
            self.events_occurred.emit(events)
        self.world_changed.emit(drill.world)
        if self._playback is not None and self._playback.has_finished:
            self._stop_all_work()
            if not self._playback.is_read_only:
                self._show_playback(None)
        elif self._playback is None and drill.finished:
            self._finish_run(drill)

    def _finish_run(self, drill: Drill) -> None:
        self._set_running(False)
        self._cancel_tasks()
        report = drill.build_report()
        try:
            self._record.recorder.finish(report)
        except RecordingError as problem:
            self.input_refused.emit(str(problem))
        self._record = RecordingSchedule(NullRecorder())
        self.run_finished.emit(report)

    def _is_waiting_for_answer(self, drill: Drill) -> bool:
        """Return whether the clock is stopped until the player answers a question."""
        holding = {inquiry.name for inquiry in drill.scenario.inquiries if inquiry.pause}
        return self._playback is None and any(item.name in holding for item in drill.list_open_questions())

    def _report_open_question(self, drill: Drill) -> bool:
        """Return whether an open question stops the clock. If so, emit `input_refused`."""
        if holds := self._is_waiting_for_answer(drill):
            self.input_refused.emit(tr(inbox.ANSWER_FIRST_TEXT))
        return holds

    def _may_advance(self) -> bool:
        return self.history is not None and not self._is_at_end() and not self.is_busy

    # --- searching ------------------------------------------------------------------------------------------

    def _begin_search(
        self,
        kinds: frozenset[str],
        to_tick: int | None = None,
        is_match: Callable[[Event], bool] = lambda _: True,
        condition: str = "",
    ) -> None:
        if not self._may_advance() or self.drill is None or self._report_open_question(self.drill):
            return
        # in an exam, the stop time would reveal that something happened
        if to_tick is None and self.drill.is_truth_hidden:
            self.input_refused.emit(build_sentence(localize(rewind.TRUTH_REFUSAL)))
            return
        self.pause()
        start = self.drill.tick
        end_tick = to_tick if to_tick is not None else start + SEARCH_TICKS_MAX
        self._search = EventSearch(kinds, start, end_tick, is_match, condition)
        self.progress_changed.emit(0.0)
        self.frames_due.emit(self._running or self.is_busy)

    def _continue_search(self, search: EventSearch) -> None:
        assert self.drill is not None
        remaining_ticks = search.until_tick - self.drill.tick
        slice_ticks = CONDITION_CHECK_INTERVAL_TICKS if search.condition else SLICE_TICKS
        self._advance_recorded(remaining_ticks, slice_ticks, lambda new: search.is_satisfied(new, self.drill))
        if self._search is None:
            return  # the drill has ended meanwhile
        if search.is_found or self.drill.tick >= search.until_tick:
            self._cancel_tasks()
            self._record_progress()
            if search.condition and not search.is_found:
                self.input_refused.emit(tr("The condition was not met within an hour of simulated time."))
            elif search.kinds and not search.is_found:
                self.input_refused.emit(tr("No event within an hour of simulated time."))
        else:
            searched_ticks = self.drill.tick - search.start_tick
            self.progress_changed.emit(searched_ticks / (search.until_tick - search.start_tick))

    # --- background tasks -----------------------------------------------------------------------------------

    def _continue_task(self, task: BackgroundTask[object], budget_s: float = FRAME_BUDGET_S) -> None:
        deadline = self._clock() + budget_s
        if task.run_slices(lambda: self._clock() < deadline):
            self._cancel_tasks()
            task.deliver_result()
        else:
            self.progress_changed.emit(task.share)

    # --- record ---------------------------------------------------------------------------------------------

    def _record_progress(self, elapsed_ms: float | None = None) -> None:
        """Report the position of the run to the recorder if a report is due.

        *elapsed_ms*: wall time since the last call; None to report now.
        """
        drill = self.live_drill
        if drill is None or drill.finished:
            return
        try:
            self._record.advance(drill, elapsed_ms)
        except RecordingError as problem:
            self._set_running(False)
            self.input_refused.emit(str(problem))

    def _set_running(self, running: bool) -> None:
        if running == self._running:
            return
        self._running, self._is_held = running, False
        self._pace.reset()
        self.frames_due.emit(self._running or self.is_busy)
        if not running:
            self._report_lag()
        self.running_changed.emit(running)

    def _report_lag(self, reached_speed: float = 0.0) -> None:
        if reached_speed or self._lagging:
            self._lagging = reached_speed > 0.0
            self.lag_reported.emit(reached_speed)
