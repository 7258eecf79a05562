"""Findings of the scenario editor: problems with their lines, automatic fixes, and scores of trial runs."""

from collections.abc import Sequence
from threading import Event as ThreadEvent
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, Qt, QThreadPool, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QPushButton, QWidget

from app.widgets import theme
from app.widgets.layouts import build_row, build_widget_column
from app.widgets.scroll_container import SIZE_UNLIMITED
from app.words import formatting
from app.words.language import mark, tr, trn
from app.words.localization import localize
from engine.constants import TICKS_PER_S
from engine.drill.authoring.lint import list_static_warnings, list_warnings
from engine.drill.authoring.problems import FileProblem, KeyPath, ScenarioError, find_positions, format_path
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.score import Score
from engine.drill.running.drill import Drill
from engine.drill.running.solution import DrillStarter, play_idle, play_reference
from engine.events import Event
from engine.inputs import InputError
from engine.model import Tick
from engine.overrides import override

CANCEL_CHECK_TICKS: Final = 10 * TICKS_PER_S
"""Ticks between two checks whether a trial run is canceled. A scenario may take minutes to play."""


class CheckCanceledError(Exception):
    """Error that ends a trial run because the text changed or the window closes."""


class ParsingResult(Struct, frozen=True):
    """Result of parsing a scenario text.

    If the text is valid, it contains the scenario and remarks for the author, otherwise the problems of the
    text.
    """

    text: str
    scenario: Scenario | None
    problems: tuple[FileProblem, ...]
    remarks: tuple[FileProblem, ...] = ()
    """Remarks of `mirrordrill check` that do not need a simulation."""


class TrialResult(Struct, frozen=True):
    """Result of a trial: scores of the reference solution and of a run without inputs, and remarks.

    The remarks are only those that need a simulation.
    """

    text: str
    reference_score: Score | None
    idle_score: Score | None
    problems: tuple[FileProblem, ...]
    failure_reason: str = ""
    """Reason why there is no score, or an empty string."""


def read_scenario(text: str, file: str) -> ParsingResult:
    """Read a scenario text and collect its problems."""
    try:
        scenario = load_scenario(text, file)
        return ParsingResult(text, scenario, (), tuple(list_static_warnings(scenario, file)))
    except ScenarioError as error:
        return ParsingResult(text, None, error.problems)


def find_problem_path(text: str, problem: FileProblem) -> KeyPath:
    """Return the path of the problem in the tables of *text*. It is empty if the text is not valid TOML."""
    try:
        positions = find_positions(text)
    except (AssertionError, ValueError, IndexError):  # the text is not valid TOML
        return ()
    paths = (path for path in positions if format_path(path) == problem.where)
    nearest = (
        path
        for path, text_position in positions.items()
        if (problem.line, problem.column)
        in (
            (text_position.line, text_position.column),
            (text_position.value_line, text_position.value_column),
        )
    )
    return next(paths, max(nearest, key=len, default=()))


def create_stoppable_drill_class(stop: ThreadEvent) -> DrillStarter:
    """Return a subclass of Drill whose runs can be stopped.

    A run raises CheckCanceledError within 10 simulated seconds after *stop* is set.
    """

    class Stoppable(Drill):
        """Drill that ends with CheckCanceledError when the stop flag is set."""

        def advance_to(self, tick: Tick, to_event: bool = False) -> list[Event]:
            event_count = len(self.events)
            while (
                self.tick < tick and not self.finished and not (to_event and len(self.events) > event_count)
            ):
                if stop.is_set():
                    raise CheckCanceledError
                super().advance_to(
                    min(tick, (self.tick // CANCEL_CHECK_TICKS + 1) * CANCEL_CHECK_TICKS), to_event
                )
            return self.events[event_count:]

    return Stoppable


def play_trial(scenario: Scenario, file: str, drill_class: DrillStarter = Drill) -> TrialResult:
    """Play *scenario* with its reference solution and without inputs. This can take minutes.

    *drill_class* creates the drills. Raises CheckCanceledError if these drills raise it.
    """
    problems = tuple(list_warnings(scenario, file, drill_class))
    if not scenario.scored:
        return TrialResult(scenario.text, None, None, problems)
    try:
        reference_run, idle_run = (
            play_reference(scenario, begin=drill_class),
            play_idle(scenario, begin=drill_class),
        )
        return TrialResult(scenario.text, reference_run.compute_score(), idle_run.compute_score(), problems)
    except InputError as problem:
        return TrialResult(scenario.text, None, None, problems, str(problem))


class ScenarioChecker(QObject):
    """Background worker that parses a text or plays a scenario, one at a time.

    Of several waiting requests, only the last is processed.
    """

    text_parsed = Signal(object)
    """Signal: a `ParsingResult`."""
    solution_played = Signal(object)
    """Signal: a `TrialResult`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._readings, self._trials = QThreadPool(self), QThreadPool(self)
        for pool in (self._readings, self._trials):
            pool.setMaxThreadCount(1)
        self._stop = ThreadEvent()

    def parse_text(self, text: str, file: str) -> None:
        """Parse *text* in the background."""
        self._readings.clear()
        self._readings.start(lambda: self._emit_result(self.text_parsed, read_scenario(text, file)))

    def play_solution(self, scenario: Scenario, file: str) -> None:
        """Play the reference solution in the background."""
        self.cancel_trial()
        self._stop = stop = ThreadEvent()
        self._trials.start(lambda: self._run_trial(scenario, file, stop))

    def cancel_trial(self) -> None:
        """Cancel the trial run, because the text has changed."""
        self._stop.set()
        self._trials.clear()

    def wait_until_idle(self) -> None:
        """Cancel all requests and wait until the worker is idle."""
        self.cancel_trial()
        self._readings.clear()
        for pool in (self._readings, self._trials):
            pool.waitForDone()

    def parse_text_now(self, text: str, file: str) -> None:
        """Parse *text* immediately, for an action that refers to the current text."""
        self._readings.clear()
        self.text_parsed.emit(read_scenario(text, file))

    def _run_trial(self, scenario: Scenario, file: str, stop: ThreadEvent) -> None:
        try:
            trial = play_trial(scenario, file, create_stoppable_drill_class(stop))
        except CheckCanceledError:
            return
        self._emit_result(self.solution_played, trial)

    @staticmethod
    def _emit_result(signal: SignalInstance, result: ParsingResult | TrialResult) -> None:
        signal.emit(result)


class ProblemFix(Struct, frozen=True):
    """Automatic fix of a problem."""

    label: str
    added_text: str
    """Text to append to the scenario."""


_RUBRIC_TEMPLATE: Final = '\n[[rubric]]\nkind = "{kind}"\nname = "{name}"\npoints = 10\n'

PROBLEM_FIXES: Final = {
    ("this earns no points", "question"): ProblemFix(
        mark("Add a scoring rule for questions"),
        _RUBRIC_TEMPLATE.format(kind="diagnosis", name="Questions answered"),
    ),
    ("this earns no points", "predict"): ProblemFix(
        mark("Add a scoring rule for predictions"),
        _RUBRIC_TEMPLATE.format(kind="prediction", name="Predictions"),
    ),
}
"""(text of the problem, table of the problem) -> automatic fix."""


def find_fix(problem: FileProblem) -> ProblemFix | None:
    """Return the automatic fix of a problem, or None."""
    return PROBLEM_FIXES.get((problem.text, problem.where.partition("[")[0]))


def apply_fix(text: str, fix: ProblemFix) -> str:
    """Return the scenario text with *fix* applied."""
    return text.rstrip("\n") + "\n" + fix.added_text


_PROBLEM_ROLE: Final = Qt.ItemDataRole.UserRole
ROWS_SHOWN_MAX: Final = 6
"""Maximum number of visible rows until the user enlarges the list."""


class ProblemList(QWidget):
    """List of problems. Without problems, it shrinks to one line.

    A click shows the location of a problem, and Enter moves the focus there.
    """

    problem_selected = Signal(object, bool)
    """Signal: a `FileProblem`, and whether the focus should move to its location."""
    fix_wanted = Signal(object)
    """Signal: a `ProblemFix` to apply to the text."""
    height_changed = Signal()
    """Signal: the number of rows and the wanted height changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fix: ProblemFix | None = None
        self._heading = QLabel()
        self._heading.setFont(theme.resize_font(self.font(), 1.0, bold=True))
        self._heading.setWordWrap(True)
        self.rows = QListWidget()
        self.rows.setAccessibleName(tr("Findings"))
        self.rows.setWordWrap(True)
        self.rows.itemActivated.connect(lambda row: self._choose_row(row, True))
        self.rows.itemClicked.connect(lambda row: self._choose_row(row, False))
        self.rows.setToolTip(
            tr(
                "Click a problem to show its location, or press Enter to go there. F8: next problem, Shift+F8: "
                "previous problem."
            )
        )
        self.fix = QPushButton()
        self.fix.setProperty("small", "true")
        self.fix.clicked.connect(self._apply_fix)
        self.rows.currentItemChanged.connect(lambda *_: self._show_fix())
        self.fix.hide()
        head = build_row((self._heading, 1), self.fix)
        build_widget_column(head, (self.rows, 1), parent=self, margins=(12, 6, 12, 8))
        self._fit_height()

    @property
    def problems(self) -> list[FileProblem]:
        """Problems in the order of the rows."""
        row_problems = (self.rows.item(row).data(_PROBLEM_ROLE) for row in range(self.rows.count()))
        return [problem for problem in row_problems if problem is not None]

    @property
    def wanted_height(self) -> int:
        """Height in pixels for the heading and a limited number of rows."""
        layout = self.layout()
        margins = layout.contentsMargins() if layout is not None else self.contentsMargins()
        line = self.fontMetrics().height()
        room = max(1, self.width() - margins.left() - margins.right())
        height = self._heading.heightForWidth(room) + margins.top() + margins.bottom()
        if not self.rows.count():
            return height
        return height + min(self.rows.count(), ROWS_SHOWN_MAX) * round(line * 1.35) + line

    def select_next_problem(self, offset: int) -> bool:
        """Select the next problem, or the previous problem if *offset* is negative.

        The last problem is followed by the first one. Return False if there are no problems.
        """
        with_problem = [row for row in range(self.rows.count()) if self.rows.item(row).data(_PROBLEM_ROLE)]
        if not with_problem:
            return False
        current_row = self.rows.currentRow()
        later_rows = [row for row in with_problem if (row > current_row if offset > 0 else row < current_row)]
        row = (later_rows or with_problem)[0 if offset > 0 else -1]
        self.rows.setCurrentRow(row)
        self._choose_row(self.rows.item(row), False)
        return True

    @property
    def heading(self) -> str:
        """Heading with the number of problems."""
        return self._heading.text()

    def show_parsing_result(self, parsing_result: ParsingResult) -> None:
        """Show the problems of the text."""
        listed_problems = self.problems
        read_problems = [*parsing_result.problems, *parsing_result.remarks]
        if listed_problems != read_problems or len(listed_problems) != self.rows.count():
            current_row = self.rows.currentRow()
            self.rows.clear()
            self._add_problems(read_problems)
            self.rows.setCurrentRow(min(current_row, self.rows.count() - 1))
        count = len(parsing_result.problems)
        if count:
            text = trn("{n} problem prevents playing", "{n} problems prevent playing", count)
            self._heading.setText(text.format(n=count))
        elif parsing_result.remarks:
            text = trn(
                "The scenario is playable; {n} problem left. “Run the solution” checks the rest.",
                "The scenario is playable; {n} problems left. “Run the solution” checks the rest.",
                len(parsing_result.remarks),
            )
            self._heading.setText(text.format(n=len(parsing_result.remarks)))
        else:
            self._heading.setText(tr("No problems found in the text. “Run the solution” checks the rest."))
        self._fit_height()

    def show_trial_running(self) -> None:
        """Show that a trial run is in progress."""
        self._heading.setText(tr("Playing the solution …"))

    def show_trial_result(self, trial: TrialResult) -> None:
        """Show the result of a trial run."""
        self.rows.clear()
        self._heading.setText(_format_verdict(trial))
        if trial.reference_score is not None:
            for item in trial.reference_score.items:
                points = formatting.format_plain_number(item.points)
                points += f" / {formatting.format_plain_number(item.max)}" if item.max else ""
                better = f"  →  {localize(item.better)}" if item.better and item.points < item.max else ""
                self.rows.addItem(f"{localize(item.name)}: {points}  –  {localize(item.reason)}{better}")
        self._add_problems(trial.problems)
        self._fit_height()

    def _add_problems(self, problems: Sequence[FileProblem]) -> None:
        for problem in problems:
            place_prefix = f"{problem.where}: " if problem.where else ""
            row = QListWidgetItem(
                f"{problem.line}:{problem.column}  {place_prefix}{describe_problem(problem)}"
            )
            row.setData(_PROBLEM_ROLE, problem)
            self.rows.addItem(row)

    def _show_fix(self) -> None:
        """Show the button that fixes the selected problem, or else the first problem that has a fix."""
        row = self.rows.currentItem()
        selected = (
            [row.data(_PROBLEM_ROLE)] if row is not None and row.data(_PROBLEM_ROLE) is not None else []
        )
        fix = next((fix for fix in map(find_fix, [*selected, *self.problems]) if fix is not None), None)
        self._fix = fix
        self.fix.setText(tr(fix.label) if fix is not None else "")
        self.fix.setVisible(fix is not None)

    def _apply_fix(self) -> None:
        if self._fix is not None:
            self.fix_wanted.emit(self._fix)

    def _fit_height(self) -> None:
        """Shrink to one line while the list is empty."""
        self._show_fix()
        empty = not self.rows.count()
        self.rows.setVisible(not empty)
        self.setMaximumHeight(self.wanted_height if empty else SIZE_UNLIMITED)
        self.height_changed.emit()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit_height()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._heading.setFont(theme.resize_font(self.font(), 1.0, bold=True))
            self._fit_height()

    def _choose_row(self, row: QListWidgetItem, take_focus: bool) -> None:
        if row.data(_PROBLEM_ROLE) is not None:
            self.problem_selected.emit(row.data(_PROBLEM_ROLE), take_focus)


def describe_problem(problem: FileProblem) -> str:
    """Describe the problem and the expected value in the interface language."""
    expected = tr("; expected: {what}").format(what=localize(problem.expected)) if problem.expected else ""
    return f"{localize(problem.text)}{expected}"


def _format_verdict(trial: TrialResult) -> str:
    if trial.failure_reason:
        return tr("The solution cannot be played: {reason}").format(reason=localize(trial.failure_reason))
    if trial.reference_score is None or trial.idle_score is None:
        return tr("Free play: no score.")
    return tr("The solution earns {solution} of 100 points. Doing nothing earns {nothing}.").format(
        solution=_format_total(trial.reference_score), nothing=_format_total(trial.idle_score)
    )


def _format_total(score: Score) -> str:
    return formatting.format_plain_number(score.total)
