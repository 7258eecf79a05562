"""Add a table for people's reflections on their runs, written before the points were shown."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table of reflections."""
    op.create_table(
        "reflection",
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("happened", sa.String, nullable=False),
        sa.Column("otherwise", sa.String, nullable=False),
        sa.Column("expected_score", sa.Double, nullable=True),
    )
