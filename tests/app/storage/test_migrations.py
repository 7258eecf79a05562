"""Tests that a profile of every released version opens with its data, and that the program keeps a backup of
it.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.storage import Profile, database, group_results_by_scenario, open_profile
from app.storage.database import list_backup_files
from tests.app.storage.test_results import build_report, record_run

MIGRATIONS = sorted(database.MIGRATIONS_FOLDER.glob("*.sql"))
RELEASED_REVISIONS = [database.parse_revision(migration) for migration in MIGRATIONS[:-1]]
TOTALS = json.loads(build_report())["availability"]
REPORTS = {
    1: {
        "availability": TOTALS,
        "rewinds": [],
        "events": [{"kind": "hint"}, {"kind": "state"}, {"kind": "hint"}],
    },
    2: {"availability": TOTALS, "rewinds": [{"from_s": 9.0, "to_s": 2.0}], "events": []},
    3: {"availability": TOTALS},
    4: {"availability": TOTALS},
}
"""Number of a run -> its report.

The second run has a rewind, the third is damaged, and the fourth is a branch if the version has branches.
"""


def create_profile_of_version(folder: Path, revision: str) -> None:
    """Create a profile as *revision* wrote it, with four finished runs."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / database.PROFILE_FILE_NAME
    with closing(sqlite3.connect(file)) as writer:
        for migration in MIGRATIONS:
            if database.parse_revision(migration) <= revision:
                writer.executescript(migration.read_text(encoding="utf-8"))
        writer.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
        for run_id, report_fields in REPORTS.items():
            text = json.dumps(report_fields) if run_id != 3 else "{damaged"
            writer.execute(
                "INSERT INTO run VALUES (?, 'lab', '', 'h', 7, '0.1', 'practice', 'finished', "
                "'2026-01-01 10:00:00.000000', 100, 0, 0)",
                (run_id,),
            )
            writer.execute(
                "INSERT INTO result (run_id, finished_at, state_hash, score, downtime_s, lost_transactions, "
                "report_json) VALUES (?, '2026-01-01 10:00:00.000000', 'f00d', ?, 2.0, 0, ?)",
                (run_id, 50.0 + 10.0 * run_id, text),
            )
        if revision > "0002":  # From this version on, the result has these two columns.
            writer.execute("UPDATE result SET retried = run_id IN (2, 4), hints = 2 * (run_id = 1)")
        if revision > "0001":
            writer.execute("INSERT INTO branch VALUES (1, 1, NULL, 'main', 0, 0), (4, 1, 1, 'other', 50, 0)")
        writer.commit()


@pytest.mark.parametrize("revision", RELEASED_REVISIONS)
def test_data_of_older_versions_is_kept(profile_folder: Path, revision: str) -> None:
    create_profile_of_version(profile_folder, revision)
    with open_profile(profile_folder) as profile:
        rows = {row.run_id: row for row in profile.list_results()}
        assert len(rows) == 4
        retried = {run_id for run_id, row in rows.items() if row.retried}
        assert retried == ({2, 4} if revision > "0001" else {2})
        assert [rows[run_id].hints for run_id in sorted(rows)] == [2, 0, 0, 0]
        best = profile.find_best_run("lab")
        assert best is not None
        assert best.run_id == (3 if revision > "0001" else 4)
    with closing(sqlite3.connect(list_backup_files(profile.file)[0])) as backup:
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == (revision,)
        assert backup.execute("SELECT count(*) FROM result").fetchone() == (4,)


def test_a_rewound_run_never_counts_as_best(profile: Profile) -> None:
    record_run(profile, "lab", 70)
    old_report = json.dumps({"availability": TOTALS, "rewinds": [{"from_s": 9.0, "to_s": 2.0}]})
    run_id = profile.begin_run("lab", "", "h", 7, "0.1", "practice")
    profile.finish_run(run_id, 10, "f00d", old_report, 100.0)
    best = profile.find_best_run("lab")
    assert best is not None
    assert best.score == 70
    (record,) = group_results_by_scenario(profile.list_results()).values()
    assert record.best is not None
    assert record.best.score == 70
    assert record.latest_run.score == 100
    assert record.latest_run.retried


def test_a_branched_run_never_counts_as_best(profile: Profile) -> None:
    first = record_run(profile, "lab", 70)
    branch = profile.begin_run("lab", "", "h", 7, "0.1", "practice")
    profile.store_branch(branch, first, first, "other", 50, 0)
    profile.finish_run(branch, 10, "f00d", build_report(), 100.0)
    best = profile.find_best_run("lab")
    assert best is not None
    assert best.run_id == first
