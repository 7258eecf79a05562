"""Tables of a class, its seats, their actions, and the instructions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "class",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("code", sa.String, nullable=False),
        sa.Column("secret", sa.String, nullable=False),
        sa.Column("certificate", sa.String, nullable=False),
        sa.Column("key", sa.String, nullable=False),
        sa.Column("address", sa.String, nullable=False),
        sa.Column("scenario_name", sa.String, nullable=False),
        sa.Column("scenario_text", sa.String, nullable=False),
        sa.Column("scenario_hash", sa.String, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("plan", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.CheckConstraint("state IN ('running', 'frozen', 'over')", name="class_state_known"),
    )
    op.create_table(
        "seat",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("token_hash", sa.String, nullable=False, unique=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("consent", sa.Boolean, nullable=False),
        sa.Column("acknowledged", sa.Integer, nullable=False),
        sa.Column("tick", sa.Integer, nullable=False),
    )
    op.create_table(
        "act",
        sa.Column("seat_id", sa.Integer, sa.ForeignKey("seat.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("tick", sa.Integer, nullable=False),
        sa.Column("line", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("instruction", sa.Integer, nullable=False),
    )
    op.create_table(
        "instruction",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("seat_id", sa.Integer, sa.ForeignKey("seat.id"), nullable=True),
        sa.Column("tick", sa.Integer, nullable=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        sa.CheckConstraint("kind IN ('message', 'inject')", name="instruction_kind_known"),
    )
