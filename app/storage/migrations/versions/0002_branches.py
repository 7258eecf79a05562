"""Add runs with a common past: the parent of each, and the point where it left."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the branches of runs."""
    op.create_table(
        "branch",
        sa.Column("run_id", sa.Integer, sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("tree_id", sa.Integer, sa.ForeignKey("run.id"), nullable=False),
        sa.Column("parent_id", sa.Integer, sa.ForeignKey("run.id"), nullable=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("tick", sa.Integer, nullable=False),
        sa.Column("inputs", sa.Integer, nullable=False),
    )
