"""Reading, checking and playing of a scenario's text in a thread, so that typing never waits."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event as Flag
from typing import Final

from PySide6.QtCore import QObject, QThreadPool, Signal, SignalInstance

from engine.constants import TICKS_PER_S
from engine.drill.authoring.lint import check_without_playing, lint
from engine.drill.authoring.problems import Path, Problem, ScenarioError, find_positions, format_path
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.score import Score
from engine.drill.running.drill import Drill
from engine.drill.running.solution import Begin, play_idle, play_reference
from engine.events import Event
from engine.inputs import InputError
from engine.model import Tick

SLICE: Final = 10 * TICKS_PER_S
"""Ticks between two checks whether a trial is still needed: a scenario may take minutes to play."""


class CheckCancelledError(Exception):
    """The text changed or the window closes, so the trial is useless."""


@dataclass(frozen=True, slots=True)
class ScenarioReading:
    """Result of reading a text: a scenario with remarks for its author, or the problems that prevent one."""

    text: str
    scenario: Scenario | None
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()
    """Remarks of `mirrordrill check` that need no simulation."""


@dataclass(frozen=True, slots=True)
class SolutionTrial:
    """Results of the reference solution and of inaction, with remaining problems for the author."""

    text: str
    reference: Score | None
    nothing: Score | None
    problems: tuple[Problem, ...]
    said: str = ""
    """Reason why there is no score."""


def read(text: str, file: str) -> ScenarioReading:
    """Read a scenario and collect its problems."""
    try:
        scenario = load_scenario(text, file)
        return ScenarioReading(text, scenario, (), tuple(check_without_playing(scenario, file)))
    except ScenarioError as found:
        return ScenarioReading(text, None, found.problems)


def path_of(text: str, problem: Problem) -> Path:
    """Return the path of the problem in the tables of *text*; empty if the text is no TOML."""
    try:
        found = find_positions(text)
    except (AssertionError, ValueError, IndexError):  # the text is not valid TOML
        return ()
    here = (path for path in found if format_path(path) == problem.where)
    nearest = (
        path
        for path, place in found.items()
        if (problem.line, problem.column)
        in ((place.line, place.column), (place.value_line, place.value_column))
    )
    return next(here, max(nearest, key=len, default=()))


def stoppable(stop: Flag) -> Begin:
    """Return drills that raise Unwanted within 10 s of theirs after *stop* is set."""

    class Stoppable(Drill):
        def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
            first = len(self.events)
            while self.tick < tick and not self.finished and not (to_event and len(self.events) > first):
                if stop.is_set():
                    raise CheckCancelledError
                super().advance_to(min(tick, (self.tick // SLICE + 1) * SLICE), to_event)
            return self.events[first:]

    return Stoppable


def try_out(scenario: Scenario, file: str, begin: Begin = Drill) -> SolutionTrial:
    """Play *scenario* with its solution and without any input; takes as long as the simulation.

    Raises CheckCancelledError if *begin* makes drills that do.
    """
    problems = tuple(lint(scenario, file, begin))
    if not scenario.scored:
        return SolutionTrial(scenario.text, None, None, problems)
    try:
        reference, nothing = play_reference(scenario, begin=begin), play_idle(scenario, begin=begin)
        return SolutionTrial(scenario.text, reference.score(), nothing.score(), problems)
    except InputError as problem:
        return SolutionTrial(scenario.text, None, None, problems, str(problem))


class Checker(QObject):
    """Reader of one text and player of one scenario at a time; of several waiting ones only the last is processed."""

    was_read = Signal(object)
    """Signal: a ScenarioReading."""
    was_tried = Signal(object)
    """Signal: a SolutionTrial."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._readings, self._trials = QThreadPool(self), QThreadPool(self)
        for pool in (self._readings, self._trials):
            pool.setMaxThreadCount(1)
        self._stop = Flag()

    def read(self, text: str, file: str) -> None:
        """Read the text in the background."""
        self._readings.clear()
        self._readings.start(lambda: self._emit_result(self.was_read, read(text, file)))

    def try_out(self, scenario: Scenario, file: str) -> None:
        """Play the solution in the background."""
        self.give_up_trial()
        self._stop = stop = Flag()
        self._trials.start(lambda: self._run_trial(scenario, file, stop))

    def give_up_trial(self) -> None:
        """Stop the trial because its text is no longer the current text."""
        self._stop.set()
        self._trials.clear()

    def wait_until_idle(self) -> None:
        """Wait until the checker is idle, and drop waiting requests."""
        self.give_up_trial()
        self._readings.clear()
        for pool in (self._readings, self._trials):
            pool.waitForDone()

    def read_now(self, text: str, file: str) -> None:
        """Parse at once, for a click that refers to the current text."""
        self._readings.clear()
        self.was_read.emit(read(text, file))

    def _run_trial(self, scenario: Scenario, file: str, stop: Flag) -> None:
        try:
            trial = try_out(scenario, file, stoppable(stop))
        except CheckCancelledError:
            return
        self._emit_result(self.was_tried, trial)

    @staticmethod
    def _emit_result(signal: SignalInstance, result: ScenarioReading | SolutionTrial) -> None:
        signal.emit(result)
