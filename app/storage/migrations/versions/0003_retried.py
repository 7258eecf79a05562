"""Add columns for retries (the run went back in time, or began from a snapshot of an earlier run) and opened hints."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column that marks retried runs."""
    op.add_column("result", sa.Column("retried", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("result", sa.Column("hints", sa.Integer, nullable=False, server_default="0"))
    connection = op.get_bind()
    left = connection.execute(sa.text("SELECT run_id FROM branch WHERE parent_id IS NOT NULL"))
    branched = {run_id for (run_id,) in left}
    # One row at a time: a report has some megabytes.
    for (run_id,) in connection.execute(sa.text("SELECT run_id FROM result")).all():
        text = connection.execute(
            sa.text("SELECT report_json FROM result WHERE run_id = :id"), {"id": run_id}
        )
        retried, hints = _read(text.scalar_one())
        connection.execute(
            sa.text("UPDATE result SET retried = :retried, hints = :hints WHERE run_id = :id"),
            {"id": run_id, "retried": retried or run_id in branched, "hints": hints},
        )


def _read(report_json: str) -> tuple[bool, int]:
    """Return whether a report contains rewinds, and its number of hints. A damaged report has neither."""
    try:
        report = json.loads(report_json)
    except ValueError:
        return False, 0
    if not isinstance(report, dict):
        return False, 0
    events = report.get("events") or []
    hints = sum(isinstance(event, dict) and event.get("kind") == "hint" for event in events)
    return bool(report.get("rewinds")), hints
