"""Groups, frozen or taken-over seats, limits, breaks, the class clock, and rewinds."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KIND = "instruction_kind_known"
KINDS = "kind IN ('message', 'inject', 'back')"
INSTRUCTION = "number, seat_id, tick, kind, text"


def upgrade() -> None:
    """Add the columns of the pace."""
    for column in (
        sa.Column("until", sa.Integer, nullable=True),
        sa.Column("break_until", sa.Float, nullable=True),
        sa.Column("clock_speed", sa.Float, nullable=True),
        sa.Column("clock_tick", sa.Integer, nullable=False, server_default=sa.text("0")),
        sa.Column("clock_at", sa.Float, nullable=False, server_default=sa.text("0")),
    ):
        op.add_column("class", column)
    for column in (
        sa.Column("group_name", sa.String, nullable=False, server_default=""),
        sa.Column("stopped", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("until", sa.Integer, nullable=True),
        sa.Column("taken", sa.Boolean, nullable=False, server_default=sa.false()),
    ):
        op.add_column("seat", column)
    if op.get_bind().dialect.name == "sqlite":  # the migration changes no constraint of an existing table
        op.rename_table("instruction", "instruction_before")
        op.create_table(
            "instruction",
            sa.Column("number", sa.Integer, primary_key=True),
            sa.Column("seat_id", sa.Integer, sa.ForeignKey("seat.id"), nullable=True),
            sa.Column("group_name", sa.String, nullable=True),
            sa.Column("tick", sa.Integer, nullable=True),
            sa.Column("kind", sa.String, nullable=False),
            sa.Column("text", sa.String, nullable=False),
            sa.CheckConstraint(KINDS, name=KIND),
        )
        op.execute(f"INSERT INTO instruction ({INSTRUCTION}) SELECT {INSTRUCTION} FROM instruction_before")
        op.drop_table("instruction_before")
    else:
        op.add_column("instruction", sa.Column("group_name", sa.String, nullable=True))
        op.drop_constraint(KIND, "instruction", type_="check")
        op.create_check_constraint(KIND, "instruction", KINDS)
