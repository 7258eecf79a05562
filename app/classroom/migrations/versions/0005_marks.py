"""Marks of the instructor on times of seats and of the class."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

KIND = "instruction_kind_known"
KINDS = "kind IN ('message', 'inject', 'back', 'mark')"
INSTRUCTION = "number, part, seat_id, group_name, tick, kind, text"


def upgrade() -> None:
    """Allow marks in the table of instructions."""
    if op.get_bind().dialect.name == "sqlite":  # it changes no constraint of a table that is there
        op.rename_table("instruction", "instruction_before")
        op.create_table(
            "instruction",
            sa.Column("number", sa.Integer, primary_key=True),
            sa.Column("part", sa.Integer, nullable=False, server_default=sa.text("1")),
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
        op.drop_constraint(KIND, "instruction", type_="check")
        op.create_check_constraint(KIND, "instruction", KINDS)
