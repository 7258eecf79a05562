"""Parts of a class that follow one another, such as a test, a lesson and another test."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ACT = "seat_id, number, tick, line, digest, instruction"


def upgrade() -> None:
    """Add the parts of a class."""
    op.add_column("class", sa.Column("part", sa.String, nullable=False, server_default=""))
    op.add_column("class", sa.Column("current", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("instruction", sa.Column("part", sa.Integer, nullable=False, server_default=sa.text("1")))
    if op.get_bind().dialect.name == "sqlite":  # the migration changes no key of an existing table
        op.rename_table("act", "act_before")
        op.create_table(
            "act",
            sa.Column("seat_id", sa.Integer, sa.ForeignKey("seat.id"), primary_key=True),
            sa.Column("part", sa.Integer, primary_key=True),
            sa.Column("number", sa.Integer, primary_key=True),
            sa.Column("tick", sa.Integer, nullable=False),
            sa.Column("line", sa.String, nullable=False),
            sa.Column("digest", sa.String, nullable=False),
            sa.Column("instruction", sa.Integer, nullable=False),
        )
        op.execute(f"INSERT INTO act (part, {ACT}) SELECT 1, {ACT} FROM act_before")
        op.drop_table("act_before")
    else:
        op.add_column("act", sa.Column("part", sa.Integer, nullable=False, server_default=sa.text("1")))
        op.drop_constraint("act_pkey", "act", type_="primary")
        op.create_primary_key("act_pkey", "act", ["seat_id", "part", "number"])
