"""Runs from beginning to end: begun, taken up again, tried once more, watched, given up. Knows session and profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.main_window import recorder
from app.main_window.recorder import ProfileRecorder
from app.recording import NoRecorder, NotRecorded, Recorder
from app.session import Session
from app.storage import Profile, RunId, StorageProblem, UnfinishedRun
from engine.drill import rewind
from engine.drill.drill import Drill, Mode, play_inputs
from engine.drill.modes import TERMS
from engine.drill.problems import ScenarioProblems
from engine.drill.scenario import Scenario, load_scenario
from engine.drill.solution import play_solution
from engine.inputs import Input, InputProblem, parse_script
from engine.model import ticks


class Play(QObject):
    """What the pages ask for, done with the session and written into the profile (None: nothing is kept)."""

    began = Signal(object)
    """A drill is in the session, ready to run."""
    said = Signal(str)
    """One sentence for the user."""

    def __init__(self, session: Session, profile: Profile | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._profile = profile
        self._then: Callable[[Drill], None] | None = None
        self.watching = False
        """The reference solution is being shown, not somebody's own run."""
        session.loaded.connect(self._on_loaded)

    # --- beginning ------------------------------------------------------------------------------------------

    def begin(self, scenario: Scenario, mode: str, seed: int | None = None) -> None:
        """A new run of *scenario*."""
        self.leave()
        self._open_new(Drill(scenario, seed, Mode(mode)))

    def resume(self, run: UnfinishedRun) -> None:
        """Go on with a run that was interrupted, at the tick that it had reached."""
        self.leave()
        try:
            scenario = load_scenario(run.scenario_text, f"{run.scenario_name}.toml")
        except ScenarioProblems as problem:
            self.said.emit(
                f"This run cannot be continued: this version does not take its scenario ({problem})."
            )
            return
        inputs, problems = parse_script("\n".join(line.text for line in run.lines))
        if problems:
            self.said.emit(f"This run cannot be continued: its journal does not make sense ({problems[0]}).")
            return
        hashes = [(known.tick, known.state_hash) for known in run.checkpoints]
        self._then = lambda drill: self._open(drill, self._recorder_of(run.run_id))
        self._session.load(scenario, run.seed, Mode(run.mode), inputs, run.tick, hashes)

    def retry(self, scenario: Scenario, report: Mapping[str, Any], t_s: float) -> None:
        """The run of *report* once more from *t_s* on, as a new run that begins with its past.

        That somebody came back, and what is known since, is written into it. An exam becomes practice.
        """
        self.leave()
        mode = Mode(report["mode"])
        mode = mode if TERMS[mode].rewind else Mode.PRACTICE
        played, _ = parse_script("\n".join(report["inputs"]))
        kept = [item for item in played if item.verb != "finish" and item.tick < ticks(t_s)]
        end = ticks(report["ended_at_s"])
        self._then = lambda drill: self._open_again(drill, played, end)
        self._session.load(scenario, int(report["seed"]), mode, kept, ticks(t_s))

    def watch(self, scenario: Scenario, seed: int | None = None) -> None:
        """Show the reference solution, step by step with its reasons; nothing is recorded."""
        self.leave()
        try:
            script = _solution(scenario, seed)
        except InputProblem as problem:
            self.said.emit(f"The reference solution cannot be played: {problem}.")
            return
        self.watching = True
        self._open(Drill(scenario, seed, Mode.GUIDED), NoRecorder())
        self._session.follow(script)

    # --- ending ---------------------------------------------------------------------------------------------

    def leave(self) -> None:
        """Let go of the run; unless it is finished it can be taken up again."""
        self._then = None
        self.watching = False
        self._session.close()

    def give_up(self, run_id: RunId) -> None:
        """End an interrupted run without a result."""
        try:
            if self._profile is not None:
                self._profile.abandon(run_id)
        except StorageProblem as problem:
            self.said.emit(str(problem))

    def unfinished(self) -> Sequence[UnfinishedRun]:
        return self._profile.unfinished() if self._profile is not None else ()

    # --- inside ---------------------------------------------------------------------------------------------

    def _on_loaded(self, drill: Drill) -> None:
        then, self._then = self._then, None
        if then is not None:
            then(drill)

    def _open_new(self, drill: Drill) -> None:
        run: Recorder = NoRecorder()
        if self._profile is not None:
            try:
                run = recorder.begin(self._profile, drill)
            except NotRecorded as problem:
                self.said.emit(f"{problem} Nothing of this run will be kept.")
        self._open(drill, run)

    def _open_again(self, drill: Drill, played: Sequence[Input], end: int) -> None:
        """Begin a run at the moment of *drill*; it is told what was learnt by those who *played* to the *end*."""
        self._open_new(drill)
        if drill.tick > 0:
            lost = Drill(drill.scenario, drill.seed, drill.mode)
            play_inputs(lost, [item for item in played if item.verb != "finish"], lambda *_: None)
            lost.advance_to(end)
            self._session.do(rewind.line(lost, drill))

    def _recorder_of(self, run_id: RunId) -> Recorder:
        return ProfileRecorder(self._profile, run_id) if self._profile is not None else NoRecorder()

    def _open(self, drill: Drill, run: Recorder) -> None:
        self.began.emit(drill)
        self._session.open(drill, run)


def _solution(scenario: Scenario, seed: int | None) -> list[tuple[Input, str]]:
    """Each step of the solution at the tick at which it comes, and why. Raises InputProblem."""
    drill = Drill(scenario, seed, Mode.GUIDED)
    play_solution(drill)
    return [(item, step.why) for item, step in zip(drill.journal, scenario.solution, strict=False)]
