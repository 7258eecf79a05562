"""Runs with their journals, results, drafts and settings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPLICATION_ID = 0x4D524452  # as in database.py; repeated, because a migration never changes once released


def upgrade() -> None:
    """Create the tables."""
    op.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    op.create_table(
        "run",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("scenario_name", sa.String, nullable=False),
        sa.Column("scenario_text", sa.String, nullable=False),
        sa.Column("scenario_hash", sa.String, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("engine_version", sa.String, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("started_at", sa.DateTime, nullable=False),
        sa.Column("tick", sa.Integer, nullable=False),
        sa.Column("line_count", sa.Integer, nullable=False),
        sa.Column("line_chain", sa.Integer, nullable=False),
        sa.CheckConstraint("status IN ('running', 'finished', 'abandoned')", name="run_status_known"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "line",
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("tick", sa.Integer, nullable=False),
        sa.Column("text", sa.String, nullable=False),
    )
    op.create_table(
        "checkpoint",
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("tick", sa.Integer, primary_key=True),
        sa.Column("state_hash", sa.String, nullable=False),
    )
    op.create_table(
        "result",
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("finished_at", sa.DateTime, nullable=False),
        sa.Column("state_hash", sa.String, nullable=False),
        sa.Column("score", sa.Double, nullable=True),
        sa.Column("downtime_s", sa.Double, nullable=False),
        sa.Column("lost_transactions", sa.Integer, nullable=False),
        sa.Column("report_json", sa.String, nullable=False),
    )
    op.create_table(
        "draft",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("text", sa.String, nullable=False),
    )
    op.create_table(
        "setting",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("value_json", sa.String, nullable=False),
    )
