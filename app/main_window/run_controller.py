"""Life cycle of the window's runs: start, resume, rewind, branch, watch, and storage in the profile."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.files.generated_drills import draw_seed
from app.host import NullRecorder, RecordingError, RunRecorder
from app.main_window import recorder
from app.main_window.host_session import HostSession
from app.main_window.recorder import ClassRunRecorder, ProfileRecorder, RetryingRecorder
from app.storage import Profile, RunId, StorageError, StoredBranch, UnfinishedRun
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario, load_scenario, select_variant
from engine.drill.judging.report_types import Report
from engine.drill.par.regret import find_retry_start
from engine.drill.par.regret_analysis import SegmentWithBest
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.running.modes import PERMISSIONS_BY_MODE
from engine.drill.running.solution import find_default_end, play_solution_in_slices
from engine.drill.time.branches import Branch, BranchError, BranchPoint, BranchTree
from engine.drill.time.cooperative_tasks import replay_inputs
from engine.drill.time.history import History
from engine.events import Event
from engine.inputs import InputError
from engine.model import Tick, to_ticks
from engine.verbs.input_lines import parse_script

SEED_DRAWS_MAX: Final = 20
"""Maximum number of seeds that are tried. If no seed has a usable variant, the seed of the file is used."""

RETRY_SPEED_MAX: Final = 1.0
"""Maximum speed after a retry, in simulated seconds per second. The mistake is only seconds away."""


class RunController(QObject):
    """Controller that executes the pages' requests about runs and stores runs in the profile.

    If the profile is None, nothing is stored.
    """

    run_started = Signal(object)
    """Signal: the drill that is in the session, ready to run."""
    message_ready = Signal(str)
    """Signal: message to the user."""
    branches_changed = Signal()
    run_rewound = Signal(int, str)
    """Signal: tick at which a branch continues, and a message about it."""
    reflection_finished = Signal(object)
    """Signal: the person's `Reflection` on the run, or None."""
    recording_recovered = Signal(object)
    """Signal: drill whose recording failed at its start and is now complete."""

    def __init__(self, session: HostSession, profile: Profile | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._profile = profile
        self._then: Callable[[History], None] | None = None
        self._begun_scenarios: set[str] = set()
        """Names of scenarios that were started in this session. They replace the profile if there is none."""
        self._runs: dict[str, RunId] = {}
        """Branch -> its run in the profile."""
        self.branches: BranchTree | None = None
        """Tree of the current run with all its branches."""
        self._unrecorded_reason = ""
        """Reason why the run that is about to open is not recorded; empty if it is recorded."""
        self.is_watching = False
        """True while the reference solution or the best continuation is shown, not the user's own run."""
        self.is_introducing = False
        """True while the introduction is on screen, which is not recorded."""
        self.best: SegmentWithBest | None = None
        """Best continuation that is shown; None if none is shown."""
        self.is_practicing = False
        """True while a lesson is on screen, which is not recorded."""
        self.asks_for_reflection = False
        """True if the class asks for a reflection before the points are shown."""
        self.is_in_class = False
        """True if the run belongs to a seat of a class. The class records such a run."""
        self.is_ended_by_instructor = False
        """True if the instructor of the class has ended the run."""
        session.run_loaded.connect(self._on_loaded)
        session.events_occurred.connect(self._store_goals)

    @property
    def run_id(self) -> RunId | None:
        """ID of the current branch's run in the profile; None if it is not recorded."""
        return self._runs.get(self.branches.current) if self.branches is not None else None

    @property
    def first_run_id(self) -> RunId | None:
        """ID of the run from which all branches of the current run descend; None if it is not recorded."""
        tree = self.branches
        return self._runs.get(tree.list_names()[0]) if tree is not None else None

    def _store_goals(self, events: Sequence[Event]) -> None:
        """Store the met goals of a recorded run after each change. Exams are excluded."""
        drill, run_id = self._session.live_drill, self.run_id
        if self._profile is None or drill is None or run_id is None or not drill.permissions.shows_truth:
            return
        if any(event.kind == "goal" for event in events):
            met_count = sum(state.is_reached for state in drill.goals.values())
            with suppress(StorageError):
                self._profile.store_goals(run_id, met_count, len(drill.goals))

    # --- start of a run -------------------------------------------------------------------------------------

    def choose_seed(self, scenario: Scenario) -> int:
        """Return the seed of a new run.

        Free play and the first run of a drill use the seed of the file. Later runs use a random seed. Thus
        all members of a class start with equal values, and a repeated drill differs.
        """
        if not scenario.scored or not self._has_earlier_run(scenario.name):
            return scenario.seed
        for _ in range(SEED_DRAWS_MAX):
            seed = draw_seed()
            try:
                select_variant(scenario, seed)
            except ScenarioError:
                continue
            return seed
        return scenario.seed

    def choose_variant(self, scenario: Scenario) -> tuple[Scenario, int]:
        """Return the variant and the seed that a new run of *scenario* would have."""
        seed = self.choose_seed(scenario)
        return select_variant(scenario, seed), seed

    def begin_run(self, scenario: Scenario, mode: str, seed: int | None = None) -> None:
        """Start a run of *scenario*.

        *seed*: None to let `choose_seed` select it. The same seed results in the same random values.
        """
        self.leave_run()
        history = History(
            Drill(scenario, self.choose_seed(scenario) if seed is None else seed, DrillMode(mode))
        )
        self._begun_scenarios.add(scenario.name)
        self.branches = BranchTree(history)
        self._open_run(history, self._create_run_recorder(history.drill))

    def start_class_run(self, history: History, recorder: RunRecorder, reflects: bool = False) -> None:
        """Start a run of a class, which *recorder* records and which cannot be rewound.

        The profile also receives the finished run, except for an exam. Only the class reports the result of
        an exam.
        *reflects*: ask for a reflection before the points are shown.
        """
        if self._profile is not None and history.drill.permissions.shows_truth:
            recorder = ClassRunRecorder(recorder, self._profile, history.drill)
        self.leave_run()
        self.is_in_class, self.asks_for_reflection = True, reflects
        self.is_ended_by_instructor = False
        self._open_run(history, recorder)

    def resume_run(self, run: UnfinishedRun) -> None:
        """Resume an interrupted run at the last tick that it had reached."""
        self.leave_run()
        try:
            scenario = load_scenario(run.scenario_text, f"{run.scenario_name}.toml")
        except ScenarioError as problem:
            text = tr("This run cannot be continued: this version cannot read its scenario ({problem}).")
            self.message_ready.emit(text.format(problem=localize(str(problem))))
            return
        inputs, problems = parse_script("\n".join(line.text for line in run.lines))
        if problems:
            text = tr("This run cannot be continued: its journal is inconsistent ({problem}).")
            self.message_ready.emit(text.format(problem=localize(problems[0])))
            return
        hashes = [(checkpoint.tick, checkpoint.state_hash) for checkpoint in run.checkpoints]
        self._then = lambda history: self._on_resumed(history, run.run_id)
        self._session.load_run(scenario, run.seed, DrillMode(run.mode), inputs, run.tick, hashes)

    def reopen_run(
        self,
        report: Report,
        scenario: Scenario,
        run_id: RunId | None,
        callback: Callable[[Drill | None], None],
    ) -> None:
        """Replay a finished run with its branches for viewing, then call *callback*.

        A long replay shows its progress and can be canceled. If the inputs are invalid in this version, the
        user gets a message and *callback* gets None.
        """
        self.leave_run()
        inputs, problems = parse_script("\n".join(report["inputs"]))
        if problems:
            text = tr("The run cannot be replayed: {problem}.")
            self.message_ready.emit(text.format(problem=localize("; ".join(problems))))
            callback(None)
            return

        def on_reopened(history: History) -> None:
            self._load_tree(history, run_id)
            callback(history.drill)

        self._then = on_reopened
        tick = to_ticks(report["ended_at_s"])
        mode = DrillMode(report["mode"])
        self._session.load_run(
            scenario,
            int(report["seed"]),
            mode,
            inputs,
            tick,
            skips_refused_inputs=True,
            immediate_task_s=None,
        )

    # --- earlier moments ------------------------------------------------------------------------------------

    def branch_at(self, tick: Tick, before_inputs: bool = False, message: str = "") -> None:
        """Start a branch at *tick*, log the rewind in it, and show *message*.

        *before_inputs*: exclude the inputs of this tick.
        """
        if self.branches is None:
            return

        def on_forked(history: History) -> None:
            self._open_run(history, self._create_run_recorder(history.drill))
            self._store_tree()
            self.branches_changed.emit()
            self.run_rewound.emit(history.drill.tick, message)

        self._session.run_task(
            self.branches.fork_in_slices(tick, before_inputs=before_inputs),
            on_forked,
            on_error=self._report_problem,
        )

    def retry_run(self, t_s: float, message: str = "") -> None:
        """Retry the run from *t_s* and show *message*. A retry from the start is a new run.

        An exam becomes a practice run.
        """
        if self.branches is None:
            return
        self._slow_down()
        drill = self.branches.history.drill
        if t_s <= 0.0:
            mode = drill.mode if PERMISSIONS_BY_MODE[drill.mode].rewind else DrillMode.PRACTICE
            self.begin_run(drill.scenario, mode, drill.seed)
        else:
            self.branch_at(to_ticks(t_s), before_inputs=True, message=message)

    # --- branches -------------------------------------------------------------------------------------------

    def switch_branch(self, name: str) -> None:
        """Continue the branch *name* at its last position. For a finished branch, show its debrief."""
        tree = self.branches
        if tree is None:
            return

        def open_branch(_: None) -> None:
            try:
                history = tree.switch_branch(name)
            except (BranchError, InputError) as problem:
                self._report_problem(problem)
                return
            run_id = self._runs.get(name)
            is_over = history.drill.finished or run_id is None
            self._open_run(
                history, NullRecorder() if is_over or run_id is None else self._get_recorder(run_id)
            )
            self.branches_changed.emit()

        self._session.run_task(tree.replay_stored_branches(name), open_branch, on_error=self._report_problem)

    def rename_branch(self, name: str, new_name: str) -> None:
        """Rename a branch of the run."""
        self._change_branches(lambda tree: tree.rename(name, new_name))
        if name in self._runs and self.branches is not None and name not in self.branches.list_names():
            self._runs[" ".join(new_name.split())] = self._runs.pop(name)
        self._store_tree()

    def remove_branch(self, name: str) -> None:
        """Remove a branch and its descendants from the tree. Their runs stay in the history."""
        self._change_branches(lambda tree: tree.remove_branch(name))
        names = self.branches.list_names() if self.branches is not None else []
        for run in [name for name in self._runs if name not in names]:
            run_id = self._runs.pop(run)
            self._write_to_profile(partial(_give_up_branch, run_id=run_id))

    def _change_branches(self, change: Callable[[BranchTree], None]) -> None:
        if self.branches is None:
            return
        try:
            change(self.branches)
        except BranchError as problem:
            self._report_problem(problem)
        self.branches_changed.emit()

    def _store_tree(self) -> None:
        """Store the parent of each branch. A run without branches needs no entry."""
        tree = self.branches
        if tree is None or len(self._runs) < 2:
            return
        first_run = self._runs.get(tree.list_names()[0])
        for name, run_id in self._runs.items():
            root = tree.get_branch_point(name)
            parent = self._runs.get(root.parent or "")
            if first_run is not None:
                self._write_to_profile(
                    partial(_store_branch, ids=(run_id, first_run, parent), name=name, branch_point=root)
                )

    # --- watching -------------------------------------------------------------------------------------------

    def watch_reference(self, scenario: Scenario, seed: int | None = None) -> None:
        """Show the reference solution step by step. Nothing is recorded."""
        history = History(Drill(scenario, seed, DrillMode.GUIDED))

        def start_watching(_: None) -> None:
            self.leave_run()  # not earlier, because a canceled start must keep the run on screen
            self.is_watching = True
            self.run_started.emit(history.drill)
            self._session.watch_run(history, at_each_input=True)

        text = tr("The reference solution cannot be played: {problem}.")
        self._session.run_task(
            play_solution_in_slices(history),
            start_watching,
            on_error=lambda problem: self.message_ready.emit(text.format(problem=localize(str(problem)))),
        )

    def start_first_run(self, scenario: Scenario, tick: Tick) -> None:
        """Open *scenario* at *tick* with the seed of its file, for the introduction. Nothing is recorded."""
        history = History(Drill(scenario, scenario.seed, DrillMode.LAB))

        def open_run(_: History) -> None:
            self.leave_run()
            self.is_introducing = True
            self._open_run(history, NullRecorder())

        self._session.run_task(replay_inputs(history, (), tick), open_run, on_error=self._report_problem)

    def watch_best_continuation(self, scenario: Scenario, seed: int, best: SegmentWithBest) -> None:
        """Show the best known continuation step by step, from the time at which it starts.

        Nothing is recorded until the user takes over.
        """
        history = History(Drill(scenario, seed, DrillMode.PRACTICE))
        begin, due_tick = find_retry_start(
            best
        )  # begin leaves a person who takes over enough time to type the action
        end = find_default_end(history.drill, max([due_tick, *(item.tick for item in best.plan)]))

        def start_watching(_: History) -> None:
            self.leave_run()
            self.is_watching, self.best = True, best
            self.run_started.emit(history.drill)
            self._session.watch_run(history, at_each_input=True, tick=begin)

        self._session.run_task(
            replay_inputs(history, best.plan, end, skip_refused=True),
            start_watching,
            on_error=self._report_problem,
        )

    def open_lesson_position(self, drill: Drill, best: SegmentWithBest, callback: Callable[[], None]) -> None:
        """Open the position before a mistake, so that the user can try another action.

        Then call *callback*. *best*: the mistake with its best continuation.
        """
        history = History(Drill(drill.scenario, drill.seed, DrillMode.PRACTICE))
        self._slow_down()

        def open_position(_: History) -> None:
            self.leave_run()
            self.is_practicing = True
            self.run_started.emit(history.drill)
            self._session.open_run(history, NullRecorder())
            callback()

        own_inputs = best.plan[: best.shared_input_count]
        self._session.run_task(
            replay_inputs(history, own_inputs, best.tick, skip_refused=True),
            open_position,
            on_error=self._report_problem,
        )

    def record_practice(self) -> None:
        """Record the practice of a mistake as a separate run, from the current time on."""
        history = self._session.history
        if history is None or not self.is_practicing:
            return
        self.is_practicing = False
        self.branches = BranchTree(history)
        self._open_run(history, self._create_run_recorder(history.drill))
        self.run_rewound.emit(history.drill.tick, "")

    def take_over_continuation(self, tick: Tick) -> None:
        """Continue the watched continuation by hand from *tick*, as a run that was rewound to this time."""
        watched = self._session.history
        if watched is None or self.best is None:
            return
        self._slow_down()

        def on_forked(history: History) -> None:
            self.leave_run()
            self.branches = BranchTree(history)
            self._open_run(history, self._create_run_recorder(history.drill))
            self.run_rewound.emit(history.drill.tick, "")

        self._session.run_task(watched.fork_in_slices(tick), on_forked, on_error=self._report_problem)

    def _slow_down(self) -> None:
        """Reduce the speed so that a person can act.

        Runs are often watched faster than they are played.
        """
        self._session.set_speed(min(self._session.speed, RETRY_SPEED_MAX))

    def replay_from(self, tick: Tick = 0) -> None:
        """Show the finished run again from *tick*."""
        if self.branches is not None:
            history = self.branches.history
            self.run_started.emit(history.drill)
            self._session.watch_run(history, tick=tick)

    # --- end of a run ---------------------------------------------------------------------------------------

    def leave_run(self) -> None:
        """Close the current run. An unfinished run can be resumed later."""
        self._then = None
        self.is_watching = self.is_in_class = self.asks_for_reflection = False
        self.is_introducing = self.is_practicing = False
        self.best = None
        self.branches = None
        self._runs = {}
        self._session.close()

    def give_up_run(self, run_id: int) -> None:
        """End an interrupted run without a result."""
        self._write_to_profile(lambda profile: profile.abandon_run(RunId(run_id)))

    def list_unfinished_runs(self) -> Sequence[UnfinishedRun]:
        """Return the runs that can be resumed."""
        try:
            return self._profile.list_unfinished_runs() if self._profile is not None else ()
        except StorageError as problem:
            self.message_ready.emit(str(problem))
            return ()

    # --- private helpers ------------------------------------------------------------------------------------

    def _has_earlier_run(self, name: str) -> bool:
        if name in self._begun_scenarios or self._profile is None:
            return name in self._begun_scenarios
        try:
            return self._profile.has_run_of(name)
        except StorageError as problem:
            self.message_ready.emit(str(problem))
            return False

    def _on_loaded(self, history: History) -> None:
        callback, self._then = self._then, None
        if callback is not None:
            callback(history)

    def _on_resumed(self, history: History, run_id: RunId) -> None:
        self._load_tree(history, run_id)
        self._open_run(history, self._get_recorder(run_id))

    def _load_tree(self, history: History, run_id: RunId | None) -> None:
        """Load the branches of a run from the profile. *history* becomes the current branch."""
        stored: list[StoredBranch] = []
        if run_id is not None and self._profile is not None:
            try:
                stored = self._profile.list_branches(run_id)
            except StorageError as problem:
                self.message_ready.emit(str(problem))
        names = {branch.run_id: branch.name for branch in stored}
        if run_id is not None and run_id in names:
            self.branches = BranchTree(
                history, [_build_branch(branch, names) for branch in stored], names[run_id]
            )
            self._runs = {name: branch_id for branch_id, name in names.items()}
        else:
            self.branches = BranchTree(history)
            self._runs = {self.branches.current: run_id} if run_id is not None else {}
        self.branches_changed.emit()

    def _create_run_recorder(self, drill: Drill) -> RunRecorder:
        """Create a run in the profile for the current branch, and return its recorder."""
        assert self.branches is not None
        if self._profile is None:
            return NullRecorder()
        try:
            return self._create_recorder(self._profile, drill)
        except RecordingError as problem:
            text = tr(
                "{problem} Recording is paused until the problem is solved. Then the whole run is recorded."
            )
            self._unrecorded_reason = text.format(problem=problem)
            return RetryingRecorder(partial(self._record_late, self._profile, self.branches.history))

    def _create_recorder(self, profile: Profile, drill: Drill) -> ProfileRecorder:
        assert self.branches is not None
        run = recorder.begin_recording(profile, drill)
        self._runs[self.branches.current] = run.run_id
        return run

    def _record_late(self, profile: Profile, history: History) -> ProfileRecorder:
        run = self._create_recorder(profile, history.drill)
        self._store_tree()
        self.recording_recovered.emit(history.drill)
        return run

    def _get_recorder(self, run_id: RunId) -> RunRecorder:
        return ProfileRecorder(self._profile, run_id) if self._profile is not None else NullRecorder()

    def _open_run(self, history: History, run: RunRecorder) -> None:
        self.is_watching, self.best = False, None
        self.run_started.emit(history.drill)
        self._session.open_run(history, run)
        notice, self._unrecorded_reason = self._unrecorded_reason, ""
        if notice:  # not earlier, because the start of a run clears the previous message
            self.message_ready.emit(notice)

    def _write_to_profile(self, change: Callable[[Profile], None]) -> None:
        try:
            if self._profile is not None:
                change(self._profile)
        except StorageError as problem:
            self.message_ready.emit(str(problem))

    def _report_problem(self, problem: Exception) -> None:
        text = localize(str(problem))
        self.message_ready.emit(f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else "."))


def _give_up_branch(profile: Profile, run_id: RunId) -> None:
    profile.remove_branch(run_id)
    if any(run.run_id == run_id for run in profile.list_unfinished_runs()):
        profile.abandon_run(run_id)


def _store_branch(
    profile: Profile, ids: tuple[RunId, RunId, RunId | None], name: str, branch_point: BranchPoint
) -> None:
    """Store a branch. *ids*: IDs of its run, of the first run of its tree, and of its parent run."""
    profile.store_branch(*ids, name, branch_point.tick, branch_point.inputs)


def _build_branch(stored: StoredBranch, names: Mapping[RunId, str]) -> Branch:
    root = BranchPoint(
        names.get(stored.parent_id) if stored.parent_id is not None else None, stored.tick, stored.inputs
    )
    lines = tuple(line.text for line in stored.lines[stored.inputs :])
    return Branch(stored.name, root, DrillMode(stored.mode), lines, stored.until_tick)
