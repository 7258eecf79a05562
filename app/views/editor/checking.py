"""Reads, judges and plays a scenario's text beside the window, so that typing never waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal

from engine.drill.lint import lint
from engine.drill.problems import Problem, ScenarioProblems
from engine.drill.scenario import Scenario, load_scenario
from engine.drill.score import Score
from engine.drill.solution import left_alone, played
from engine.inputs import InputProblem


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text is: a scenario, or problems that keep it from being one."""

    text: str
    scenario: Scenario | None
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """The reference solution and nobody's play of a scenario, and what an author should still mend."""

    text: str
    reference: Score | None
    nothing: Score | None
    problems: tuple[Problem, ...]
    said: str = ""
    """Why there is no score."""


def read(text: str, file: str) -> Reading:
    try:
        return Reading(text, load_scenario(text, file), ())
    except ScenarioProblems as found:
        return Reading(text, None, found.problems)


def try_out(scenario: Scenario, file: str) -> Trial:
    """Play *scenario* with its solution and left alone; takes as long as the drill takes to simulate."""
    problems = tuple(lint(scenario, file))
    if not scenario.scored:
        return Trial(scenario.text, None, None, problems)
    try:
        return Trial(scenario.text, played(scenario).score(), left_alone(scenario).score(), problems)
    except InputProblem as problem:
        return Trial(scenario.text, None, None, problems, str(problem))


class Checker(QObject):
    """One piece of work at a time; of several that wait only the last is done."""

    was_read = Signal(object)
    """A Reading."""
    was_tried = Signal(object)
    """A Trial."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)

    def read(self, text: str, file: str) -> None:
        self._pool.clear()
        self._pool.start(lambda: self._tell(self.was_read, read(text, file)))

    def try_out(self, scenario: Scenario, file: str) -> None:
        self._pool.clear()
        self._pool.start(lambda: self._tell(self.was_tried, try_out(scenario, file)))

    def wait(self) -> None:
        """Until nothing is being done any more; what waited is dropped."""
        self._pool.clear()
        self._pool.waitForDone()

    def read_now(self, text: str, file: str) -> None:
        """Read at once, for a click that means the text as it stands."""
        self.wait()
        self.was_read.emit(read(text, file))

    @staticmethod
    def _tell(signal: Any, what: Reading | Trial) -> None:
        signal.emit(what)
