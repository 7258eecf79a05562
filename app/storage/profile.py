"""Access to all stored data of a learner.

Each call is one transaction, which is on disk when the call returns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from app.files.folders import get_profile_folder
from app.learning.reflection import Reflection
from app.storage import results, runs, storage_errors
from app.storage.database import ProfileDatabase, check_integrity, open_database
from app.storage.results import ResultRow
from app.storage.runs import JournalLine, RunId, StoredBranch, UnfinishedRun
from app.storage.settings import DraftStore, ProfileSettings, SettingKey
from engine.drill.judging.report_types import ReportRow


def open_profile(folder: Path | None = None) -> Profile:
    """Open the profile in *folder*; create or migrate it as needed. Raises StorageError with a message."""
    return Profile(open_database(folder or get_profile_folder()))


MET_GOALS_SETTING: Final = SettingKey("runs/goals_met", "{}")
"""Setting with JSON: run ID -> [number of met goals, number of all goals]."""
RUNS_WITH_GOALS_MAX: Final = 100
"""Number of latest runs for which the numbers of goals are kept."""


class Profile:
    """Runs, results, drafts and settings of a learner. Only the thread that opened the profile may use it.

    Any call may raise StorageError: the disk is full, read-only or broken.
    """

    def __init__(self, database: ProfileDatabase) -> None:
        self._database = database
        self.file = database.file
        self._stored_mark = storage_errors.read_journal_mark(self.file.parent)
        """Length of the current run's journal when the program last ended."""
        self.settings = ProfileSettings(database)
        self.drafts = DraftStore(database)

    def begin_run(
        self,
        scenario_name: str,
        scenario_text: str,
        scenario_hash: str,
        seed: int,
        engine_version: str,
        mode: str,
        journal: Sequence[JournalLine] = (),
        tick: int = 0,
    ) -> RunId:
        """Record a new run. The run stays unfinished until `finish_run` or `abandon_run`.

        If the run is already in progress, pass its *journal* and current *tick*; all is stored in one
        transaction. Raises ValueError unless 0 <= *seed* < 2**63.
        """
        with self._database.run_transaction() as db:
            run_id = runs.create_run(
                db,
                scenario_name=scenario_name,
                scenario_text=scenario_text,
                scenario_hash=scenario_hash,
                seed=seed,
                engine_version=engine_version,
                mode=mode,
            )
            for line in journal:
                runs.append_line(db, run_id, line.tick, line.text)
            runs.store_position(db, run_id, tick)
        if journal:
            storage_errors.write_journal_mark(self.file.parent, run_id, len(journal))
        return run_id

    def append_line(self, run_id: RunId, tick: int, line: str) -> None:
        """Store one input line.

        After this call returns, the line survives a power failure. Show the effect of the line only then.
        """
        with self._database.run_transaction() as db:
            lines = runs.append_line(db, run_id, tick, line)
        storage_errors.write_journal_mark(self.file.parent, run_id, lines)

    def store_hash(self, run_id: RunId, tick: int, state_hash: str) -> None:
        """Store the hash of the simulated state at *tick*.

        A resumed run must have the same hash at this tick.
        """
        with self._database.run_transaction() as db:
            runs.store_hash(db, run_id, tick, state_hash)

    def store_position(self, run_id: RunId, tick: int) -> None:
        """Store that the run has reached *tick*.

        The value survives a crash of the process. A power failure may lose the latest values.
        """
        with self._suspend_synchronization(), self._database.run_transaction() as db:
            runs.store_position(db, run_id, tick)

    def finish_run(
        self, run_id: RunId, tick: int, state_hash: str, report_json: str, score: float | None
    ) -> None:
        """End a run with its report and score (0 to 100; None if nothing is scored).

        The report has the form of `run --json`. Its "availability" contains the total downtime_s and
        lost_transactions.
        """
        with self._database.run_transaction() as db:
            results.store_result(db, run_id, tick, state_hash, report_json, score)

    def abandon_run(self, run_id: RunId) -> None:
        """End a run without a result. Its journal remains stored."""
        with self._database.run_transaction() as db:
            runs.abandon_run(db, run_id)

    def delete_finished_runs(self, run_ids: Iterable[RunId]) -> None:
        """Delete finished runs, all or none. Raises ValueError if one of the runs is not finished."""
        doomed = list(run_ids)
        with self._database.run_transaction() as db:
            for run_id in doomed:
                runs.delete_finished_run(db, run_id)
            mark = storage_errors.read_journal_mark(self.file.parent)
            if (
                mark is not None and mark.run_id in doomed
            ):  # inside the transaction: a mark without its run would be reported as a lost run at the next start
                storage_errors.remove_journal_mark(self.file.parent)
        if self._stored_mark is not None and self._stored_mark.run_id in doomed:
            self._stored_mark = None

    def list_unfinished_runs(self) -> list[UnfinishedRun]:
        """Return the unfinished runs of killed processes, newest first.

        For each tree of branches, only the newest run can be in the list. To resume a run, pass its ID to
        `append_line`.
        """
        with self._database.run_transaction() as db:
            superseded_runs = runs.find_superseded_runs(db)
            return [
                run
                for run in runs.list_unfinished_runs(db, self._stored_mark)
                if run.run_id not in superseded_runs
            ]

    def store_goals(self, run_id: RunId, met_count: int, total: int) -> None:
        """Store the number of met goals of a run. The offer to continue the run shows this number."""
        kept_goals = {
            key: value for key, value in self._read_goals().items() if int(key) > run_id - RUNS_WITH_GOALS_MAX
        }
        self.settings.set(MET_GOALS_SETTING, json.dumps({**kept_goals, str(run_id): [met_count, total]}))

    def load_goals(self, run_id: RunId) -> tuple[int, int] | None:
        """Return the number of met goals and of all goals of a run; None if they are not known."""
        goal = self._read_goals().get(str(run_id))
        return (goal[0], goal[1]) if goal is not None else None

    def _read_goals(self) -> dict[str, list[int]]:
        try:
            stored = json.loads(self.settings.get(MET_GOALS_SETTING))
            return {str(int(key)): [int(met_count), int(total)] for key, (met_count, total) in stored.items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def list_lost_run_messages(self) -> list[str]:
        """Return a message if the database lacks the run that was last in progress; otherwise []."""
        if self._stored_mark is None:
            return []
        with self._database.run_transaction() as db:
            return runs.find_lost_runs(db, self._stored_mark)

    def read_journal(self, run_id: RunId) -> tuple[JournalLine, ...]:
        """Return the input lines of a run in order."""
        with self._database.run_transaction() as db:
            return runs.read_journal(db, run_id)

    def find_last_run(self) -> RunId | None:
        """Return the ID of the run that was started last; None before the first run."""
        with self._database.run_transaction() as db:
            return runs.find_last_run_id(db)

    def list_results(self) -> list[ResultRow]:
        """Return every finished run, newest first."""
        with self._database.run_transaction() as db:
            return results.list_finished_runs(db)

    def list_answers(self) -> list[ReportRow]:
        """Return all questions that the learner answered with a confidence, from runs without a rewind."""
        with self._database.run_transaction() as db:
            return results.list_answers(db)

    def find_best_run(self, scenario_name: str) -> ResultRow | None:
        """Return the best run of a scenario: most points, then shortest downtime. Rewound runs do not count."""
        with self._database.run_transaction() as db:
            return results.find_best_run(db, scenario_name)

    def has_run_with_state(self, state_hash: str) -> bool:
        """Return whether a run of this profile ended in the state with this hash."""
        with self._database.run_transaction() as db:
            return results.has_run_with_state(db, state_hash)

    def read_report(self, run_id: RunId) -> str:
        """Return the JSON report of a finished run."""
        with self._database.run_transaction() as db:
            return results.read_report(db, run_id)

    def find_contradictions(self, run_id: RunId) -> list[str]:
        """Return the contradictions in the stored data of a finished run, as sentences.

        The result is empty if there are none.
        """
        with self._database.run_transaction() as db:
            return results.list_altered_run_messages(db, run_id)

    def has_run_of(self, scenario_name: str) -> bool:
        """Return whether a run of this scenario was ever started."""
        with self._database.run_transaction() as db:
            return runs.has_run_of(db, scenario_name)

    def list_started_scenarios(self) -> frozenset[str]:
        """Return the names of all scenarios that were ever started."""
        with self._database.run_transaction() as db:
            return runs.list_started_scenarios(db)

    def read_scenario_text(self, run_id: RunId) -> str:
        """Return the text of the scenario file with which a run was played."""
        with self._database.run_transaction() as db:
            return runs.read_scenario_text(db, run_id)

    def store_branch(
        self, run_id: RunId, tree_id: RunId, parent_id: RunId | None, name: str, tick: int, inputs: int
    ) -> None:
        """Store that a run branched off from its parent at *tick*, or rename a branch.

        *inputs*: number of journal lines that the run shares with its parent.
        """
        with self._database.run_transaction() as db:
            runs.store_branch(db, run_id, tree_id, parent_id, name, tick, inputs)

    def remove_branch(self, run_id: RunId) -> None:
        """Remove a run from its tree. The run itself remains stored."""
        with self._database.run_transaction() as db:
            runs.remove_branch(db, run_id)

    def list_branches(self, run_id: RunId) -> list[StoredBranch]:
        """Return the runs of the tree to which a run belongs, parents first; empty if the run has no tree."""
        with self._database.run_transaction() as db:
            return runs.list_branches(db, run_id)

    def store_reflection(self, run_id: RunId, reflection: Reflection) -> None:
        """Store the learner's reflection on a run, which was written before the points were shown."""
        with self._database.run_transaction() as db:
            runs.store_reflection(db, run_id, reflection)

    def read_reflection(self, run_id: RunId) -> Reflection | None:
        """Return the reflection; None if the learner was not asked or skipped the questions."""
        with self._database.run_transaction() as db:
            return runs.read_reflection(db, run_id)

    def find_data_faults(self) -> list[str]:
        """Return all faults in the stored data.

        If SQLite's full check finds no fault, the finished runs and the journals are checked, too.
        """
        problems_found = check_integrity(self._database.connection)
        if not problems_found:  # the rows of a broken file cannot be read reliably
            with self._database.run_transaction() as db:
                problems_found = [*runs.list_damaged_run_messages(db), *results.list_altered_run_messages(db)]
        return problems_found

    def close(self) -> None:
        """Close the file. If a process ends without this call, the next start checks the whole file.

        No data are lost.
        """
        self._database.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _suspend_synchronization(self) -> Iterator[None]:
        """Commit inside the `with` block without waiting for the disk.

        This is for frequent writes whose loss does little harm.
        """
        self._database.connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._database.connection.execute("PRAGMA synchronous = FULL")
