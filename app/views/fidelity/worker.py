"""Thread that computes the comparison in cancellable steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QThread, Signal

from app.views.fidelity.display_names import FAILOVERS
from engine.overrides import override
from engine.planning.figures import FIGURES, Figure
from engine.published import whitepaper_failover
from engine.published.fidelity import EXCEPTIONS, SECTIONS
from engine.published.rows import FigureRow, explain
from engine.published.whitepaper_failover import FAILOVER_S


@dataclass(frozen=True)
class StepResult:
    """Result of a step: rows of a section, a figure by its name, or only preparation."""

    rows: tuple[FigureRow, ...] = ()
    figures: tuple[tuple[str, Figure], ...] = ()


@dataclass(frozen=True)
class FidelityStep:
    """Unit of work of well under a second."""

    name: str
    do: Callable[[], StepResult]


def steps() -> tuple[FidelityStep, ...]:
    """Return quick sections and curves first, then the failovers, which take longest, by cause."""
    sections = {name: FidelityStep(name, partial(_rows, name)) for name in SECTIONS}
    curves = [FidelityStep(name, partial(_figure, name)) for name in FIGURES]
    slow = next(name for name, make in SECTIONS.items() if make is whitepaper_failover.rows)
    seeds = [
        FidelityStep(f"{FAILOVERS}{cause}", partial(_fail, cause, loaded))
        for cause in FAILOVER_S
        for loaded in (False, True)
    ]
    quick = [step for name, step in sections.items() if name != slow]
    return (*quick, *curves, *seeds, sections[slow])


def _rows(section: str) -> StepResult:
    return StepResult(rows=tuple(explain(row, section, EXCEPTIONS) for row in SECTIONS[section]()))


def _figure(name: str) -> StepResult:
    return StepResult(figures=((name, FIGURES[name]()),))


def _fail(cause: str, loaded: bool) -> StepResult:
    whitepaper_failover.failovers(cause, loaded)  # cached for the rows of its section
    return StepResult()


class FidelityWorker(QThread):
    """Worker through *todo*; `stop` ends it after the present step."""

    began = Signal(int, str)
    """Signal: number of finished steps, and the name of the next one."""
    found = Signal(object)

    def __init__(self, todo: Sequence[FidelityStep], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._todo = tuple(todo)
        self.done = 0

    @override
    def run(self) -> None:
        for step in self._todo[self.done :]:
            if self.isInterruptionRequested():
                return
            self.began.emit(self.done, step.name)
            self.found.emit(step.do())
            self.done += 1

    @property
    def complete(self) -> bool:
        """Return whether all steps are done."""
        return self.done == len(self._todo)

    def stop(self) -> None:
        """Stop and wait until nothing runs any more."""
        self.requestInterruption()
        self.wait()
