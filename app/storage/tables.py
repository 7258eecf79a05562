"""Tables of a profile after the newest migration. Change this module only together with a new migration."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

RUNNING, FINISHED, ABANDONED = "running", "finished", "abandoned"

TABLES: Final[Mapping[str, Mapping[str, type]]] = {
    # A started run. With its journal lines, it can be replayed completely.
    "run": {
        "id": int,  # IDs are never reused, so their order is the order of time
        "scenario_name": str,
        "scenario_text": str,  # complete text of the scenario: resuming needs no file
        "scenario_hash": str,
        "seed": int,
        "engine_version": str,
        "mode": str,
        "status": str,
        "started_at": datetime,  # for display only: clocks may change, so runs are ordered by ID
        "tick": int,  # last tick that the run is known to have reached
        "line_count": int,
        "line_chain": int,  # CRC-32 of all journal lines: SQLite does not check the contents of its pages
    },
    # One input line of a run's journal, numbered from 1.
    "line": {"run_id": int, "number": int, "tick": int, "text": str},
    # State hash of the world at a tick. A resumed run must produce the same hash.
    "checkpoint": {"run_id": int, "tick": int, "state_hash": str},
    # Point at which a run branched off from its parent. Both share the past. The first run of a tree has no
    # parent.
    "branch": {
        "run_id": int,
        "tree_id": int,  # first run of its tree
        "parent_id": int,
        "name": str,
        "tick": int,
        "inputs": int,  # number of journal lines shared with the parent
    },
    # Result of a finished run. The totals are copied from the report, so that the history page need not parse
    # it.
    "result": {
        "run_id": int,
        "finished_at": datetime,
        "state_hash": str,
        "score": float,  # 0-100; NULL if nothing is scored
        "downtime_s": float,
        "lost_transactions": int,
        # the run was rewound, or began at a time inside an earlier run: it never counts as the best run
        "retried": bool,
        "hints": int,  # number of opened hint levels
        "report_json": str,
    },
    # Self-assessment before the points are shown.
    "reflection": {
        "run_id": int,
        "happened": str,
        "otherwise": str,  # changes that the learner would make next time
        "expected_score": float,  # 0-100; NULL if the learner gave no number
    },
    # Unsaved text of one window.
    "draft": {"key": str, "text": str},
    "setting": {"key": str, "value_json": str},
}
"""Table -> columns in order, with the Python type of their values."""
NULLABLE_COLUMNS: Final = frozenset(
    {("branch", "parent_id"), ("result", "score"), ("reflection", "expected_score")}
)
"""(table, column) of the columns that allow NULL."""
LONG_TABLES: Final = frozenset({"line", "checkpoint"})
"""Tables with many rows per run."""


def format_utc_now() -> str:
    """Return the current time in UTC, in the stored format without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def parse_utc_time(stored: str) -> datetime:
    """Return the time of a stored text, with the time zone UTC. Raises ValueError for an invalid text."""
    return datetime.fromisoformat(stored).replace(tzinfo=UTC)
