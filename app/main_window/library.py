"""Data of the list pages: scenarios with the user's best results, interrupted runs, and finished runs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from app.files import scenario_files, summary_cache
from app.files.learning_paths import MIRRORING
from app.files.scenario_files import ScenarioNotFoundError
from app.files.scenario_summary import ScenarioSummary, get_sort_key
from app.storage import Profile, ResultRow, RunId, StorageError, UnfinishedRun
from app.view_models import progress
from app.view_models.progress import LearnerProgress
from app.view_models.start_page import DrillCard, InterruptedRun, NextDrill, recommend_next_drill
from app.views.history import FinishedRunRow
from app.words.language import tr, trn
from engine.constants import TICKS_PER_S
from engine.drill.authoring.problems import ScenarioError
from engine.drill.authoring.scenario import Scenario
from engine.drill.judging.report import compute_calibration
from engine.drill.judging.report_types import Calibration

INTERRUPTED_RUNS_SHOWN_MAX: Final = 3
"""Maximum number of interrupted runs on the start page, newest first."""


class ScenarioLibrary:
    """Playable scenarios by name, with the results of the profile."""

    def __init__(self, profile: Profile | None) -> None:
        self._profile = profile
        self.scenarios: dict[str, Scenario] = {}
        """Loaded scenarios by name."""
        self.summaries: dict[str, ScenarioSummary] = {}
        """Summaries of all playable scenarios by name."""
        self.problems: list[str] = []
        self._summary_cache: dict[str, ScenarioSummary] = {}
        """Summaries that were read in this session. Without a profile, no file stores them."""

    def read_scenarios(self) -> None:
        """Find all scenarios again."""
        files, self.problems = scenario_files.list_all_files()
        folder = self._profile.file.parent if self._profile is not None else None
        scenario_summaries, problems = summary_cache.read_summaries(files, folder, self._summary_cache)
        self.summaries = {summary.name: summary for summary in scenario_summaries}
        self.problems += problems
        if self._profile is not None:
            try:
                self.problems += self._profile.list_lost_run_messages()
            except StorageError as problem:
                self._report_problem(problem)
        self.scenarios = {}

    def find_scenario(self, name: str) -> Scenario | None:
        """Return the scenario *name*, or None if it does not exist or is unreadable."""
        if name not in self.scenarios:
            try:
                self.scenarios[name] = scenario_files.find_scenario_file(name).load()
            except (ScenarioNotFoundError, ScenarioError):
                return None
        return self.scenarios[name]

    def get_title(self, name: str) -> str:
        """Return the title of a scenario, or its name."""
        scenario = self.scenarios.get(name) or self.summaries.get(name)
        return scenario.title if scenario is not None else name

    def build_cards(self) -> list[DrillCard]:
        """Return a card for each playable scenario, in the order of the start page."""
        order = sorted(self.summaries.values(), key=get_sort_key)
        learner_progress, begun_scenarios = self.read_progress(), self._load_begun_scenarios()
        return [self._build_card(summary, learner_progress, begun_scenarios) for summary in order]

    def read_progress(self, current_time: datetime | None = None) -> LearnerProgress:
        """Return the learner's progress at *current_time*; None for the current time."""
        return progress.compute_progress(
            self._read_results(), self.summaries.values(), current_time or datetime.now(UTC)
        )

    def read_calibration(self) -> Calibration | None:
        """Return the learner's calibration: confidence compared with the share of correct answers.

        None if unavailable.
        """
        try:
            return compute_calibration(self._profile.list_answers()) if self._profile is not None else None
        except StorageError as problem:
            self._report_problem(problem)
            return None

    def _read_results(self) -> list[ResultRow]:
        try:
            return self._profile.list_results() if self._profile is not None else []
        except StorageError as problem:
            self._report_problem(problem)
            return []

    def _report_problem(self, problem: StorageError) -> None:
        """Show the problem, but only once for each page."""
        if str(problem) not in self.problems:
            self.problems.append(str(problem))

    def _load_begun_scenarios(self) -> frozenset[str]:
        """Load the names of all scenarios that the learner has ever started."""
        try:
            return self._profile.list_started_scenarios() if self._profile is not None else frozenset()
        except StorageError as problem:
            self._report_problem(problem)
            return frozenset()

    def _build_card(
        self, summary: ScenarioSummary, learner_progress: LearnerProgress, begun_scenarios: frozenset[str]
    ) -> DrillCard:
        record = learner_progress.records.get(summary.name)
        best = record.best if record is not None else None
        return DrillCard.from_summary(
            summary,
            has_results=True,
            best=best.score if best is not None else None,
            last=record.latest_run.score if record is not None else None,
            tries=len(record.runs) if record is not None else 0,
            is_due=summary.name in learner_progress.due_scenarios,
            was_begun=summary.name in begun_scenarios,
        )

    def find_recommended_drill(self, cards: Sequence[DrillCard]) -> NextDrill | None:
        """Return the recommended next drill, or None."""
        return recommend_next_drill(cards, self.read_progress())

    def is_new_user(self) -> bool:
        """Return whether no run was ever started."""
        return not self._load_begun_scenarios()

    def list_interrupted_runs(self) -> list[InterruptedRun]:
        """Return the runs that can be resumed, newest first. Runs whose clock never ran are omitted."""
        try:
            runs = self._profile.list_unfinished_runs() if self._profile is not None else []
        except StorageError as problem:
            self._report_problem(problem)
            return []
        unfinished_runs = [run for run in runs if run.tick > 0 or run.lines or run.problem]
        return [self._describe_interrupted_run(run) for run in unfinished_runs[:INTERRUPTED_RUNS_SHOWN_MAX]]

    def _describe_interrupted_run(self, run: UnfinishedRun) -> InterruptedRun:
        summary = self.summaries.get(run.scenario_name)
        return InterruptedRun(
            run_id=run.run_id,
            name=run.scenario_name,
            title=self.get_title(run.scenario_name),
            technology=summary.technology if summary is not None else MIRRORING,
            mode=run.mode,
            t_s=run.tick / TICKS_PER_S,
            time_text=self._describe_goals(run.run_id)
            or tr("started {date}").format(date=run.started_at.astimezone().strftime("%Y-%m-%d %H:%M")),
            problem=run.problem,
        )

    def _describe_goals(self, run_id: RunId) -> str:
        """Return the number of met goals of a run as text; empty if it is not available."""
        try:
            goals = self._profile.load_goals(run_id) if self._profile is not None else None
        except StorageError as problem:
            self._report_problem(problem)
            return ""
        if goals is None:
            return ""
        return trn("{met} of {n} goal met", "{met} of {n} goals met", goals[1]).format(
            met=goals[0], n=goals[1]
        )

    def list_finished_runs(self) -> list[FinishedRunRow]:
        """Return finished runs, newest first."""
        return [
            FinishedRunRow(
                run_id=row.run_id,
                finished_at=row.finished_at,
                title=self.get_title(row.scenario_name),
                mode=row.mode,
                score=row.score,
                downtime_s=row.downtime_s,
                lost_transactions=row.lost_transactions,
                scenario_name=row.scenario_name,
                was_rewound=row.retried,
            )
            for row in self._read_results()
        ]
