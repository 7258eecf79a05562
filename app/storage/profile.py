"""Access to all stored data. Every call is one transaction, which is on disk when it returns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from app.files.folders import get_default_folder
from app.learning.reflection import Reflection
from app.storage import problems, results, runs
from app.storage.database import ProfileDatabase, check_integrity, open_database
from app.storage.results import ResultRow
from app.storage.runs import JournalLine, RunId, StoredBranch, UnfinishedRun
from app.storage.settings import DraftStore, ProfileSettings, SettingKey
from engine.drill.judging.shapes import Row


def open_profile(folder: Path | None = None) -> Profile:
    """Open the profile in *folder*; create or migrate it as needed. Raises StorageError with a message."""
    return Profile(open_database(folder or get_default_folder()))


GOALS_MET: Final = SettingKey("runs/goals_met", "{}")
"""JSON: run -> [met goals, all goals]."""
RUNS_WITH_GOALS_MAX: Final = 100
"""Number of latest runs whose goals are kept."""


class Profile:
    """Runs, results, drafts and settings of a learner. Use it only in the thread that opened it.

    Any call may raise StorageError: the disk is full, read-only or broken.
    """

    def __init__(self, database: ProfileDatabase) -> None:
        self._database = database
        self.file = database.file
        self._stored_mark = problems.read(self.file.parent)
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
        """Record a new run, unfinished until `finish` or `abandon`.

        A run in progress is recorded with its *journal* and current *tick*, or not at all. Raises ValueError
        unless 0 <= *seed* < 2**63.
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
                runs.append_lines(db, run_id, line.tick, line.text)
            runs.store_position(db, run_id, tick)
        if journal:
            problems.write(self.file.parent, run_id, len(journal))
        return run_id

    def append(self, run_id: RunId, tick: int, line: str) -> None:
        """Write one input line. When this returns it survives a power cut, so show its effect only then."""
        with self._database.run_transaction() as db:
            lines = runs.append_lines(db, run_id, tick, line)
        problems.write(self.file.parent, run_id, lines)

    def store_hash(self, run_id: RunId, tick: int, state_hash: str) -> None:
        """Store the world's hash at *tick*; a resumed run is compared with it."""
        with self._database.run_transaction() as db:
            runs.store_hash(db, run_id, tick, state_hash)

    def store_position(self, run_id: RunId, tick: int) -> None:
        """Store that *tick* was reached.

        This survives a crash of the process; a power failure may lose the latest values.
        """
        with self._suspend_synchronization(), self._database.run_transaction() as db:
            runs.store_position(db, run_id, tick)

    def finish(
        self, run_id: RunId, tick: int, state_hash: str, report_json: str, score: float | None
    ) -> None:
        """End a run with its report and score (0-100, None if nothing is scored).

        The report is that of `run --json`: its "availability" contains the total downtime_s and
        lost_transactions.
        """
        with self._database.run_transaction() as db:
            results.store_result(db, run_id, tick, state_hash, report_json, score)

    def abandon(self, run_id: RunId) -> None:
        """End a run without a result; its journal stays."""
        with self._database.run_transaction() as db:
            runs.abandon_run(db, run_id)

    def delete_finished(self, run_ids: Iterable[RunId]) -> None:
        """Delete finished runs, all or none. Raises ValueError if one of them is not finished."""
        doomed = list(run_ids)
        with self._database.run_transaction() as db:
            for run_id in doomed:
                runs.delete_finished(db, run_id)
            mark = problems.read(self.file.parent)
            if (
                mark is not None and mark.run_id in doomed
            ):  # before the end: otherwise it would be missing at the next start
                problems.remove(self.file.parent)
        if self._stored_mark is not None and self._stored_mark.run_id in doomed:
            self._stored_mark = None

    def list_unfinished_runs(self) -> list[UnfinishedRun]:
        """Return the runs of killed processes, newest first; of a tree only the newest.

        To resume one, append to its ID.
        """
        with self._database.run_transaction() as db:
            superseded_runs = runs.find_superseded_runs(db)
            return [
                run
                for run in runs.list_unfinished_runs(db, self._stored_mark)
                if run.run_id not in superseded_runs
            ]

    def store_goals(self, run_id: RunId, met_count: int, total: int) -> None:
        """Store how many goals of a run are met, for the offer to continue it."""
        kept_goals = {
            key: value for key, value in self._read_goals().items() if int(key) > run_id - RUNS_WITH_GOALS_MAX
        }
        self.settings.set(GOALS_MET, json.dumps({**kept_goals, str(run_id): [met_count, total]}))

    def load_goals(self, run_id: RunId) -> tuple[int, int] | None:
        """Return the number of met goals and of all goals of a run; None if they are not known."""
        goal = self._read_goals().get(str(run_id))
        return (goal[0], goal[1]) if goal is not None else None

    def _read_goals(self) -> dict[str, list[int]]:
        try:
            stored = json.loads(self.settings.get(GOALS_MET))
            return {str(int(key)): [int(met_count), int(total)] for key, (met_count, total) in stored.items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def find_lost_runs(self) -> list[str]:
        """Return a message if the last run in progress is missing in the database; empty otherwise."""
        if self._stored_mark is None:
            return []
        with self._database.run_transaction() as db:
            return runs.find_lost_runs(db, self._stored_mark)

    def read_journal(self, run_id: RunId) -> tuple[JournalLine, ...]:
        """Return the input lines of any run, in their order."""
        with self._database.run_transaction() as db:
            return runs.read_journal(db, run_id)

    def find_last_run(self) -> RunId | None:
        """Return the number of the run that was started last; None before the first run."""
        with self._database.run_transaction() as db:
            return runs.find_last_run_id(db)

    def list_results(self) -> list[ResultRow]:
        """Return every finished run, newest first."""
        with self._database.run_transaction() as db:
            return results.list_finished_runs(db)

    def list_answers(self) -> list[Row]:
        """Return the questions of all finished runs that have an answer with a confidence."""
        with self._database.run_transaction() as db:
            return results.list_answers(db)

    def find_best_run(self, scenario_name: str) -> ResultRow | None:
        """Return the best scored run of a scenario: most points, then least downtime."""
        with self._database.run_transaction() as db:
            return results.find_best_run(db, scenario_name)

    def has_run_with_state(self, state_hash: str) -> bool:
        """Return whether a run of this profile ended in that state."""
        with self._database.run_transaction() as db:
            return results.has_run_with_state(db, state_hash)

    def read_report(self, run_id: RunId) -> str:
        """Return the JSON report of a finished run."""
        with self._database.run_transaction() as db:
            return results.read_report(db, run_id)

    def find_contradictions(self, run_id: RunId) -> list[str]:
        """Return the contradictions in a finished run's record, as sentences; empty if there are none."""
        with self._database.run_transaction() as db:
            return results.list_altered_runs(db, run_id)

    def has_run_of(self, scenario_name: str) -> bool:
        """Return whether a run of that scenario was ever started."""
        with self._database.run_transaction() as db:
            return runs.has_run_of(db, scenario_name)

    def list_started_scenarios(self) -> frozenset[str]:
        """Return names of the scenarios of which a run was ever begun."""
        with self._database.run_transaction() as db:
            return runs.list_started_scenarios(db)

    def read_scenario_text(self, run_id: RunId) -> str:
        """Return the scenario file that a run was played with."""
        with self._database.run_transaction() as db:
            return runs.read_scenario_text(db, run_id)

    def store_branch(
        self, run_id: RunId, tree_id: RunId, parent_id: RunId | None, name: str, tick: int, inputs: int
    ) -> None:
        """Record that a run left its parent at *tick* and shares *inputs* lines; also renames a branch."""
        with self._database.run_transaction() as db:
            runs.store_branch(db, run_id, tree_id, parent_id, name, tick, inputs)

    def remove_branch(self, run_id: RunId) -> None:
        """Take a run out of its tree."""
        with self._database.run_transaction() as db:
            runs.remove_branch(db, run_id)

    def list_branches(self, run_id: RunId) -> list[StoredBranch]:
        """Return the runs of the tree to which a run belongs, parents first; empty without a tree."""
        with self._database.run_transaction() as db:
            return runs.list_branches(db, run_id)

    def store_reflection(self, run_id: RunId, reflection: Reflection) -> None:
        """Save the person's reflection on a run, made before its points were shown."""
        with self._database.run_transaction() as db:
            runs.store_reflection(db, run_id, reflection)

    def read_reflection(self, run_id: RunId) -> Reflection | None:
        """Return the reflection; None if the person was not asked or skipped it."""
        with self._database.run_transaction() as db:
            return runs.read_reflection(db, run_id)

    def find_faults(self) -> list[str]:
        """Return everything wrong with the stored data, by SQLite's full check and the journals' checksums."""
        problems_found = check_integrity(self._database.connection)
        if not problems_found:  # reading rows of a broken file is useless
            with self._database.run_transaction() as db:
                problems_found = [*runs.list_damaged_runs(db), *results.list_altered_runs(db)]
        return problems_found

    def close(self) -> None:
        """Close the file. A missing close loses nothing, but the next start checks the whole file."""
        self._database.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _suspend_synchronization(self) -> Iterator[None]:
        """Commit without waiting for the disk, for frequent writes of which a loss does little harm."""
        self._database.connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._database.connection.execute("PRAGMA synchronous = FULL")
