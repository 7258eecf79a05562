"""Reflections of people on their run before its points were shown."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the table of reflections."""
    op.create_table(
        "reflection",
        sa.Column("seat_id", sa.Integer, sa.ForeignKey("seat.id"), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True),
        sa.Column("happened", sa.String, nullable=False),
        sa.Column("otherwise", sa.String, nullable=False),
        sa.Column("expected_score", sa.Float, nullable=True),
    )
