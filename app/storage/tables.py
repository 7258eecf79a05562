"""Tables of a profile after the newest migration. Change them only together with a new migration."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

RUNNING, FINISHED, ABANDONED = "running", "finished", "abandoned"

TABLES: Final[Mapping[str, Mapping[str, type]]] = {
    # A drill that was started. Together with its lines it can be replayed completely.
    "run": {
        "id": int,  # never reused, so ids follow the order in time
        "scenario_name": str,
        "scenario_text": str,  # complete file: resuming needs no file
        "scenario_hash": str,
        "seed": int,
        "engine_version": str,
        "mode": str,
        "status": str,
        "started_at": datetime,  # for display only: clocks may change, so the order is by id
        "tick": int,  # last tick that was certainly reached
        "line_count": int,
        "line_chain": int,  # CRC over all lines: SQLite does not check the contents of its pages
    },
    # One input line of a run's journal, numbered from 1.
    "line": {"run_id": int, "number": int, "tick": int, "text": str},
    # State hash of the world at a tick. A resumed run must produce the same hash.
    "checkpoint": {"run_id": int, "tick": int, "state_hash": str},
    # Point where a run left its parent, whose past it shares. The first run of a tree has no parent.
    "branch": {
        "run_id": int,
        "tree_id": int,  # first run of its tree
        "parent_id": int,
        "name": str,
        "tick": int,
        "inputs": int,  # number of the parent's journal lines that it shares
    },
    # How a run ended. The totals are copied from the report so that the history page need not parse it.
    "result": {
        "run_id": int,
        "finished_at": datetime,
        "state_hash": str,
        "score": float,  # 0-100; NULL if nothing is scored
        "downtime_s": float,
        "lost_transactions": int,
        # the run was rewound, or began at a moment of an earlier run: never counts as the best
        "retried": bool,
        "hints": int,  # number of opened hint levels
        "report_json": str,
    },
    # Self-assessment before the points are shown.
    "reflection": {
        "run_id": int,
        "happened": str,
        "otherwise": str,  # what the person would do differently
        "expected_score": float,  # 0-100; NULL if none was given
    },
    # Unsaved text of one window.
    "draft": {"key": str, "text": str},
    "setting": {"key": str, "value_json": str},
}
"""Table -> its columns in order, with the type of their values."""
NULLABLE: Final = frozenset({("branch", "parent_id"), ("result", "score"), ("reflection", "expected_score")})
LONG: Final = frozenset({"line", "checkpoint"})
"""Tables with many rows per run."""


def format_utc_now() -> str:
    """Return the time as it is stored: UTC, without a zone."""
    return datetime.now(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def parse_time(stored: str) -> datetime:
    """Parse a stored time with its zone. Raises ValueError for an invalid one."""
    return datetime.fromisoformat(stored).replace(tzinfo=UTC)
