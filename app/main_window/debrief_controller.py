"""Actions after a run: its debrief and analysis, another attempt, the reference solution, and earlier runs."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, cast

from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from app.export import csv_tables, runbook
from app.export.page import build_debrief_html
from app.export.pdf import PdfWriteError, write_debrief_pdf
from app.export.source import ExportSource
from app.files import atomic_write, par_certificates, run_files
from app.files.learning_paths import load_learning_paths
from app.files.run_files import RunFileError
from app.learning.reflection import Reflection
from app.main_window import export_signature
from app.main_window.navigation import PageNavigation
from app.main_window.quarantine import QuarantineGate
from app.main_window.shared_parts import SharedParts, WindowPart
from app.main_window.task_runner import TaskRunner
from app.settings import REFLECT_FIRST
from app.storage import RunId, StorageError
from app.view_models.debrief.model import DebriefModel, describe_result
from app.views.debrief import DebriefView
from app.widgets.input_guard import get_input_guard
from app.widgets.notice import NoticeBar
from app.widgets.save_file import ask_for_file, confirm_replacement
from app.words.language import tr
from app.words.localization import localize
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario, load_scenario
from engine.drill.judging.report import get_program_version
from engine.drill.judging.report_types import ENDED_BY_INSTRUCTOR, Report
from engine.drill.judging.review import Review, review_run_in_slices
from engine.drill.par.lessons import (
    attribute_loss_to_command,
    convert_reference_steps,
    find_lessons,
    use_reference_times,
)
from engine.drill.par.regret import LONGER_SEARCH_FACTOR, SEARCH_PLANS_MAX, analyze_regret, exclude_finish
from engine.drill.par.regret_analysis import RegretAnalysis, RunSegment, SegmentWithBest
from engine.drill.par.search_drill import SearchDrill
from engine.drill.running.drill import Drill, DrillEndReason
from engine.drill.time import replay_verification
from engine.drill.time.cooperative_tasks import CooperativeTask, scale_progress
from engine.drill.time.replay_verification import ReplayDivergence

FINISH_NOTICE_S: float = 6.0
"""Wall time for which the desk stays on screen after a drill has ended. Assumed: time to read two sentences."""
TYPING_PAUSE_S: float = 2.0
"""Wall time without a key press before the page changes, so that typed text does not reach the wrong page."""


class FinishNotice(QObject):
    """Short notice about the end of a run. The debrief opens after a delay, or immediately on request."""

    def __init__(self, notice: NoticeBar, parent: QObject) -> None:
        super().__init__(parent)
        self._notice = notice
        self._on_done: Callable[[], object] | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._proceed_when_quiet)

    def show_reason(self, reason: str, callback: Callable[[], object]) -> None:
        """Show the *reason* for the end of the drill, and call *callback* after FINISH_NOTICE_S."""
        self._on_done = callback
        if FINISH_NOTICE_S <= 0.0:
            self.open_debrief()
            return
        text = tr("{what} The debrief opens in {n} s, or later if you are still typing.")
        self._notice.show_offer(
            text.format(what=reason, n=round(FINISH_NOTICE_S)), tr("Show the debrief"), self.open_debrief
        )
        self._timer.start(round(1000 * FINISH_NOTICE_S))

    def cancel(self) -> None:
        """Cancel the notice, because the user has left the desk."""
        self._timer.stop()
        self._on_done = None

    def open_debrief(self) -> None:
        """Open the debrief now."""
        callback, self._on_done = self._on_done, None
        self._timer.stop()
        if callback is not None:
            self._notice.hide_notice()
            callback()

    def _proceed_when_quiet(self) -> None:
        left_s = TYPING_PAUSE_S - get_input_guard().since_last_key_s
        if left_s > 0.0:
            self._timer.start(round(1000 * left_s) + 1)
        else:
            self.open_debrief()


REVIEW_BUDGET_S: Final = 0.02
"""Wall time that the review of a run may take before the debrief page is shown.

The page of a short run is thus complete when it appears.
"""


class DebriefController(WindowPart):
    """Controller of the debrief page and its actions."""

    drill_wanted = Signal(str)
    """Signal: name of the next drill to play."""
    lessons_wanted = Signal(object, object)
    """Signal: the `DebriefModel` of the run, and its mistakes to practice."""

    def __init__(
        self, shared: SharedParts, page: DebriefView, navigation: PageNavigation, gate: QuarantineGate
    ) -> None:
        super().__init__(shared)
        self._page, self._navigation = page, navigation
        self._gate = gate
        self._analysis = TaskRunner(self)
        self._analysis.progress_changed.connect(page.show_progress)
        self._pending_exports: list[Callable[[], None]] = []
        """Exports that wait for the analysis."""
        self._report: Report | None = None
        self._drill: Drill | None = None
        """Replayed run of the report; None if this version cannot replay it."""
        self._source: ExportSource | None = None
        self._regret_analysis: RegretAnalysis | None = None
        self._lessons: tuple[RunSegment, ...] | None = None
        """Lessons with continuations that a person can apply; None until the analysis is finished."""
        self._provisional = False
        """True if the regret analysis is not complete yet."""
        self._search_effort = SEARCH_PLANS_MAX
        """Maximum number of plans that each search tries."""
        self._scenario: Scenario | None = None
        self._run_id: RunId | None = None
        """ID of the run in the profile; None if it is not stored there."""
        self._asks_for_reflection = False
        """True if the page asks for a reflection before it shows results."""
        self._next_scenario = ""
        """Name of the recommended next drill; empty if there is none."""
        self.stage_controller = FinishNotice(shared.notice, self)
        shared.play.run_started.connect(self.stage_controller.cancel)
        shared.session.run_finished.connect(self._show_finished)
        page.retry_wanted.connect(shared.play.retry_run)
        page.new_seed_wanted.connect(self._begin_with_new_seed)
        page.solution_wanted.connect(self._watch_reference)
        page.watch_wanted.connect(self._replay_from)
        page.longer_search_wanted.connect(self._search_longer)
        page.next_wanted.connect(lambda: self.drill_wanted.emit(self._next_scenario))
        page.learn_wanted.connect(self._start_lessons)
        page.best_continuation_wanted.connect(self._watch_best)
        page.reflected.connect(self._on_reflected)
        page.reflection_toggled.connect(partial(shared.store.set, REFLECT_FIRST))
        page.export_wanted.connect(self.export_run)
        page.leave_wanted.connect(navigation.show_home)
        page.history_wanted.connect(navigation.show_history)

    @property
    def drill(self) -> Drill | None:
        """Replayed run that the debrief page shows; None if this version cannot replay it."""
        return self._drill

    # --- run on screen --------------------------------------------------------------------------------------

    def _show_finished(self, report: Report) -> None:
        live = self._session.live_drill
        if self._play.is_practicing:
            return  # after a lesson, the debrief of the run before it is shown
        if self._play.is_in_class and live is not None and not live.permissions.shows_truth:
            return  # only the class host has the rubric of an exam
        if self._play.is_in_class and self._play.is_ended_by_instructor:
            report["ended_by"] = ENDED_BY_INSTRUCTOR
        self._report = report
        self._navigation.pause_run()
        self._drill = self._session.live_drill
        self._scenario = self._drill.scenario if self._drill is not None else None
        self._run_id = self._play.run_id
        asks_for_reflection = self._store.get(REFLECT_FIRST) or self._play.asks_for_reflection
        self._asks_for_reflection = bool(report["score"]["scored"]) and asks_for_reflection
        is_requested = self._drill is not None and self._drill.ended_by is DrillEndReason.ASKED
        if is_requested or not self._navigation.is_desk_shown:
            self._notice.hide_notice()
            self._show_run(report)
        else:
            self.stage_controller.show_reason(describe_result(report), lambda: self._show_run(report))

    def show_stored(self, run_id: int) -> None:
        """Show the debrief of the finished run *run_id* from the profile."""
        self._asks_for_reflection = False
        profile = self._profile
        if profile is None:
            return
        try:
            report = json.loads(profile.read_report(RunId(run_id)))
            text = profile.read_scenario_text(RunId(run_id))
        except StorageError as problem:
            self._notice.show_warning(str(problem))
            return
        altered = profile.find_contradictions(RunId(run_id))

        def report_differences() -> None:
            if altered:
                self._notice.show_warning(" ".join(altered))
            elif report.get("version") == get_program_version():
                self._compare_with_recording(report, RunId(run_id))

        self._replay_and_show(report, text, RunId(run_id), report_differences)

    def open_file(self, file: Path) -> None:
        """Open a run from a JSON file, and report whether its replay matches the recorded states."""
        self._asks_for_reflection = False
        try:
            report, text = run_files.read_run(file)
        except RunFileError as problem:
            self._notice.show_warning(str(problem))
            return
        try:
            scenario = load_scenario(text, f"{report['scenario']}.toml", int(report["seed"]))
        except ScenarioError as problem:
            message = tr("This version cannot read the scenario of this run ({problem}).")
            self._notice.show_warning(message.format(problem=localize(str(problem.problems[0]))))
            return
        self._gate.admit_run(report, scenario, str(file), partial(self._open_report, report, text))

    def _open_report(self, report: Report, text: str) -> None:
        self._replay_and_show(report, text, None, partial(self._compare_with_recording, report))

    def _compare_with_recording(self, report: Report, run_id: RunId | None = None) -> None:
        """Report whether the replay matches the recorded states. For a run of the profile, report only a mismatch."""
        drill = self._drill
        if drill is None:
            return

        def compared(divergence: ReplayDivergence | None) -> None:
            if divergence is None and run_id is not None:
                return
            if divergence is None:
                text = tr("The replay matches the recorded run: {count} states were compared.")
                self._notice.show_info(text.format(count=len(drill.hashes)))
            else:
                text = tr("The replay differs from the recorded run: {problem}.")
                self._notice.show_warning(text.format(problem=localize(str(divergence))))

        self._session.run_task(replay_verification.find_divergence_in_slices(drill, report), compared)

    def _replay_and_show(
        self, report: Report, text: str, run_id: RunId | None, callback: Callable[[], None] = lambda: None
    ) -> None:
        """Replay the run of *report* and show it. If its scenario is unreadable, show only the report."""
        self._navigation.leave_run()
        self._drill = self._scenario = None
        self._run_id = run_id
        try:
            self._scenario = load_scenario(text, f"{report['scenario']}.toml", int(report["seed"]))
        except ScenarioError as problem:
            message = tr("This version cannot read the scenario of this run ({problem}).")
            self._notice.show_warning(message.format(problem=localize(str(problem.problems[0]))))
            self._show_run(report, callback)
        else:
            self._play.reopen_run(
                report, self._scenario, run_id, partial(self._on_reopened, report, callback)
            )

    def _on_reopened(self, report: Report, callback: Callable[[], None], drill: Drill | None) -> None:
        self._drill = drill
        if self._run_id is None:  # show the figures of the replay, not the figures in a foreign file
            if drill is None:  # the reason for the failed replay has already been shown
                self._navigation.show_home()
                return
            report = drill.build_report()
        elif drill is not None:
            report = _select_localizable_parts(report, drill.build_report())
        self._show_run(report, callback)

    def return_to_debrief(self) -> None:
        """Return from a finished run on the desk to its debrief. Without a debrief, return to the start page."""
        self._session.pause()
        if self._report is None:
            self._navigation.show_home()
        elif (self._play.is_watching or self._play.is_practicing) and self._scenario is not None:
            reopen = partial(self._on_reopened, self._report, lambda: None)
            self._play.reopen_run(self._report, self._scenario, self._run_id, reopen)
        else:
            self._show_run(self._report)

    def _show_run(self, report: Report, callback: Callable[[], None] = lambda: None) -> None:
        """Show the run, and then analyze it in the background."""
        drill, source = self._drill, self._source
        if source is not None and drill is not None and _is_same_run(source.drill, drill):
            self._source = replace(source, drill=drill)
        else:
            self._forget_analysis()
        self._report = report
        self._next_scenario = self._suggest_next(report)
        self._page.show_run(self._build_model(), self._asks_for_reflection, self._store.get(REFLECT_FIRST))
        self._navigation.show_page(self._page, str(report.get("title") or report["scenario"]))
        self._page.take_focus()
        callback()
        self._analyze()

    def _build_model(self) -> DebriefModel:
        assert self._report is not None
        source = self._source
        return DebriefModel(
            self._report,
            self._scenario if self._drill is not None else None,
            source.review if source is not None else None,
            self._regret_analysis,
            self._lessons,
            self._provisional,
            self._analysis.is_running or self._is_pending(),
            self._read_reflection(),
            self._library.get_title(self._next_scenario) if self._next_scenario else "",
        )

    def _is_pending(self) -> bool:
        """Return True if the analysis is about to begin."""
        if self._drill is None or self._source is None:
            return self._drill is not None
        return bool(self._source.report["score"]["scored"]) and self._regret_analysis is None

    def _suggest_next(self, report: Report) -> str:
        """Return the recommended next drill, or else the next drill of the learning path.

        The text is empty if neither exists.
        """
        if self._play.is_in_class:
            return ""
        name = report["scenario"]
        recommendation = self._library.find_recommended_drill(self._library.build_cards())
        if recommendation is not None and recommendation.card.name != name:
            return recommendation.card.name
        path = next((path.drills for path in load_learning_paths().values() if name in path.drills), ())
        later_drills = path[path.index(name) + 1 :] if path else ()
        return next((drill for drill in later_drills if drill in self._library.summaries), "")

    # --- analysis -------------------------------------------------------------------------------------------

    def _forget_analysis(self) -> None:
        self._analysis.cancel_task()
        self._source = self._regret_analysis = self._lessons = None
        self._provisional, self._search_effort = False, SEARCH_PLANS_MAX
        self._pending_exports = []

    def handle_page_change(self) -> None:
        """Cancel the analysis if a page other than the debrief is shown."""
        if self._navigation.is_page_shown(self._page) or not self._analysis.is_running:
            return
        self._analysis.cancel_task()
        self._provisional = self._regret_analysis is not None
        self._write_pending_export()

    def _analyze(self) -> None:
        """Start the next part of the analysis that has no result yet: the review, then the regret analysis."""
        drill, source = self._drill, self._source
        if drill is None:
            return
        if source is None:
            self._analysis.start_task(
                review_run_in_slices(drill), partial(self._receive_review, drill), REVIEW_BUDGET_S
            )
        elif source.report["score"]["scored"] and (self._regret_analysis is None or self._provisional):
            self._analysis.start_task(
                self._analyze_regret(drill, source.review, SEARCH_PLANS_MAX), self._receive_analysis
            )
        self._page.update_run(self._build_model())

    def _receive_review(self, drill: Drill, review: Review) -> None:
        self._source = ExportSource(drill, review, drill.build_report())
        if not self._source.report["score"]["scored"]:
            self._finish_analysis()
        else:
            self._analyze()

    def _analyze_regret(
        self, drill: Drill, review: Review, effort: int
    ) -> CooperativeTask[tuple[RegretAnalysis, tuple[RunSegment, ...]]]:
        """Compute the regret analysis and the mistakes of the run.

        Each mistake includes a better continuation, whose times leave a person enough time to act.
        """
        plans = list(par_certificates.load_certified_plans(drill))
        if effort > SEARCH_PLANS_MAX and self._regret_analysis is not None:
            # known plans contain the run's own inputs, such as injected faults, which must not be repeated
            own_lines = {item.line for item in drill.journal}
            known_moves = [move.best for move in self._regret_analysis.moves if move.plan]
            plans += [[item for item in best if item.line not in own_lines] for best in known_moves]
            work = analyze_regret(drill, plans, node_limit=effort)
        else:
            work = analyze_regret(drill, plans, on_progress=self._show_partial_analysis, node_limit=effort)
        regret_analysis = yield from scale_progress(work, 0.0, 0.95)
        steps = review.reference.steps if review.reference is not None else ()
        reference = convert_reference_steps([(step.tick, step.line) for step in steps])
        regret_analysis, lessons = self._exclude_instructor_end(regret_analysis), []
        new = partial(SearchDrill, drill.scenario, drill.seed)
        for loss in find_lessons(regret_analysis):
            blamed = attribute_loss_to_command(new(), loss, regret_analysis, drill.journal)
            lesson = yield from scale_progress(blamed, 0.95, 1.0)
            retimed = use_reference_times(new(), lesson, reference)
            lessons.append((yield from scale_progress(retimed, 0.95, 1.0)))
        return regret_analysis, tuple(lessons)

    def _exclude_instructor_end(self, regret_analysis: RegretAnalysis) -> RegretAnalysis:
        """Return the analysis without the input that ended the run, if the instructor of a class ended it."""
        is_foreign = self._report is not None and self._report["ended_by"] == ENDED_BY_INSTRUCTOR
        return exclude_finish(regret_analysis) if is_foreign else regret_analysis

    def _show_partial_analysis(self, regret_analysis: RegretAnalysis) -> None:
        """Show a provisional result while the search continues."""
        self._regret_analysis, self._provisional = self._exclude_instructor_end(regret_analysis), True
        self._page.update_run(self._build_model())

    def _receive_analysis(self, result: tuple[RegretAnalysis, tuple[RunSegment, ...]]) -> None:
        self._regret_analysis, self._lessons = result
        self._provisional = False
        self._finish_analysis()

    def _finish_analysis(self) -> None:
        self._page.update_run(self._build_model())
        self._write_pending_export()

    def _search_longer(self) -> None:
        """Repeat the regret analysis with a larger search budget."""
        drill, source = self._drill, self._source
        if drill is None or source is None or self._analysis.is_running:
            return
        self._search_effort *= LONGER_SEARCH_FACTOR
        self._analysis.start_task(
            self._analyze_regret(drill, source.review, self._search_effort), self._receive_analysis
        )
        self._page.update_run(self._build_model())

    # --- reflection -----------------------------------------------------------------------------------------

    def _read_reflection(self) -> Reflection | None:
        if self._profile is None or self._run_id is None:
            return None
        try:
            return self._profile.read_reflection(self._run_id)
        except StorageError:
            return None

    def _on_reflected(self, reflection: Reflection | None) -> None:
        """Store the person's reflection, if there is one, and show the points."""
        self._asks_for_reflection = False
        self._play.reflection_finished.emit(reflection)
        if reflection is not None and self._profile is not None and self._run_id is not None:
            try:
                self._profile.store_reflection(self._run_id, reflection)
            except StorageError as problem:
                self._notice.show_warning(str(problem))
        if self._report is not None:
            self._page.show_run(self._build_model(), False, self._store.get(REFLECT_FIRST))
            self._page.take_focus()

    # --- actions ----------------------------------------------------------------------------------------------

    def _begin_with_new_seed(self) -> None:
        """Start the same drill with a new random seed."""
        if self._scenario is not None and self._report is not None:
            self._play.begin_run(self._scenario, self._report["mode"])

    def _watch_reference(self) -> None:
        if self._scenario is not None and self._report is not None:
            self._play.watch_reference(self._scenario, int(self._report["seed"]))

    def _start_lessons(self) -> None:
        """Start to practice better answers to the mistakes of the run, one by one."""
        model = self._build_model()
        verdict = model.build_verdict()
        if self._drill is not None and verdict is not None and verdict.lessons:
            self.lessons_wanted.emit(model, verdict.lessons)

    def _watch_best(self, best: SegmentWithBest) -> None:
        if self._drill is not None:
            self._play.watch_best_continuation(self._drill.scenario, self._drill.seed, best)

    def _replay_from(self, t_s: float) -> None:
        self._play.replay_from(round(t_s * 100))

    def export_run(self, kind: str) -> None:
        """Ask for a file, and write the run to it in the format *kind*, a key of `EXPORT_LABELS`.

        If the format needs results of a running analysis, the file is written after the analysis.
        """
        report = self._report
        if report is None or self._drill is None:
            self._notice.show_warning(tr("This run cannot be exported because it cannot be replayed here."))
            return
        extension, _ = EXPORT_WRITERS[kind]
        name = f"{report['scenario']}-{report['seed']}{extension}"
        file = ask_for_file(self._window, tr("Save the debrief"), name, f"*{extension}")
        if file is None:
            return
        needed_part = self._regret_analysis if kind in CURVE_EXPORT_KINDS else self._source
        if self._analysis.is_running and (needed_part is None or self._provisional):
            self._pending_exports.append(partial(self._write_export, kind, file))
            self._notice.show_info(tr("The file is written when the analysis is finished."))
        else:
            self._write_export(kind, file)

    def _write_pending_export(self) -> None:
        waiting, self._pending_exports = self._pending_exports, []
        for write in waiting:
            write()

    def _write_export(self, kind: str, file: Path) -> None:
        if self._source is None:
            self._notice.show_warning(tr("The analysis was canceled, so the file was not written."))
            return
        player, finish_time = export_signature.get_player_name(self._store), self._format_finish_time()
        source = replace(
            self._source,
            player=player,
            played_at=finish_time,
            regret_analysis=self._regret_analysis,
            lessons=self._lessons,
        )
        _, write = EXPORT_WRITERS[kind]
        if kind == "csv" and not confirm_replacement(
            self._window, tr("Save the debrief"), _list_files(kind, source, file)
        ):
            return
        try:
            write(source, file)
        except OSError as error:
            text = tr("{file} cannot be written: {reason}.")
            self._notice.show_warning(text.format(file=file, reason=error.strerror))
        except PdfWriteError as problem:
            self._notice.show_warning(f"{problem}.")
        else:
            paths_text = ", ".join(str(path) for path in _list_files(kind, source, file))
            text = tr("Saved under the name {name}: {file}").format(name=source.player, file=paths_text)
            self._notice.show_offer(
                text,
                tr("Change name…"),
                lambda: export_signature.ask_for_player_name(self._window, self._store),
            )

    def _format_finish_time(self) -> str:
        """Format the end time of the run. For a run that has just ended, format the current time.

        For any other unrecorded run, return an empty text.
        """
        rows = [run for run in self._library.list_finished_runs() if run.run_id == self._run_id]
        if rows:
            return export_signature.format_local_time(rows[0].finished_at)
        live = self._session.live_drill
        has_just_ended = live is not None and live is self._drill and live.finished
        return export_signature.format_local_time() if has_just_ended else ""


def _is_same_run(first_drill: Drill, second_drill: Drill) -> bool:
    """Return whether both drills replay the same run, so that results for one are valid for the other."""
    if first_drill is second_drill:
        return True
    drills = (first_drill, second_drill)
    first, second = ((drill.scenario.name, drill.seed, drill.tick, drill.journal) for drill in drills)
    return first == second and first_drill.compute_state_hash() == second_drill.compute_state_hash()


def _list_files(kind: str, source: ExportSource, file: Path) -> list[Path]:
    """Return the files that the export writes.

    An export of tables writes several files, whose names begin with the name of *file*.
    """
    if kind != "csv":
        return [file]
    return [file.with_name(f"{file.stem}-{name}") for name in csv_tables.build_csv_tables(source)]


def _write_tables(source: ExportSource, file: Path) -> None:
    atomic_write.write_all_atomically(
        dict(zip(_list_files("csv", source, file), csv_tables.build_csv_tables(source).values(), strict=True))
    )


def _write_pdf(source: ExportSource, file: Path) -> None:
    write_debrief_pdf(source, file)


def _select_localizable_parts(recorded: Report, replayed: Report) -> Report:
    """Return *recorded*, with the parts of *replayed* wherever both reports are equal.

    Messages from a file exist only in English. Messages of a replay can be localized.
    """
    report: Mapping[str, object] = replayed
    fields = {name: report[name] if report.get(name) == part else part for name, part in recorded.items()}
    return cast(Report, fields)


EXPORT_WRITERS: Final[dict[str, tuple[str, Callable[[ExportSource, Path], None]]]] = {
    "html": (".html", lambda source, file: atomic_write.write_atomically(file, build_debrief_html(source))),
    "pdf": (".pdf", _write_pdf),
    "csv": (".csv", _write_tables),
    "json": (".json", lambda source, file: atomic_write.write_atomically(file, run_files.format_run(source))),
    "runbook": (
        ".sql",
        lambda source, file: atomic_write.write_atomically(file, runbook.build_runbook(source)),
    ),
    "reference": (
        ".sql",
        lambda source, file: atomic_write.write_atomically(file, runbook.build_reference_runbook(source)),
    ),
}
"""Kind of export -> file extension, and function that writes the file."""

CURVE_EXPORT_KINDS: Final = frozenset({"html", "pdf", "csv"})
"""Kinds of exports that contain the value curve."""
