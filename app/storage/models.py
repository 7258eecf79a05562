"""The tables of a profile. Change them only together with a new numbered migration."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

RUNNING, FINISHED, ABANDONED = "running", "finished", "abandoned"


class Base(DeclarativeBase):
    pass


class Run(Base):
    """A drill somebody plays or played. With its lines it is all that is needed to play it again."""

    __tablename__ = "run"
    __table_args__ = (
        CheckConstraint("status IN ('running', 'finished', 'abandoned')", name="run_status_known"),
        {"sqlite_autoincrement": True},  # an id is never used twice, so ids are also the order in time
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    scenario_name: Mapped[str]
    scenario_text: Mapped[str] = mapped_column(deferred=True)  # the whole file: a resume needs no file
    scenario_hash: Mapped[str]
    seed: Mapped[int]
    engine_version: Mapped[str]
    mode: Mapped[str]
    status: Mapped[str] = mapped_column(default=RUNNING)
    started_at: Mapped[datetime]  # UTC, for people only: clocks get changed, order is by id
    tick: Mapped[int] = mapped_column(default=0)  # the last one known to be reached
    line_count: Mapped[int] = mapped_column(default=0)
    line_chain: Mapped[int] = mapped_column(
        default=0
    )  # CRC over all lines: SQLite itself checks no page contents


class Line(Base):
    """One input line of a run's journal, numbered from 1."""

    __tablename__ = "line"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    tick: Mapped[int]
    text: Mapped[str]


class Checkpoint(Base):
    """The hash that the world had at a tick: a resumed run must come by with the same one."""

    __tablename__ = "checkpoint"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    tick: Mapped[int] = mapped_column(primary_key=True)
    state_hash: Mapped[str]


class Branch(Base):
    """Where a run left another one whose past it shares. The first run of a tree has no parent."""

    __tablename__ = "branch"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    tree_id: Mapped[int] = mapped_column(ForeignKey("run.id"))  # the first run of its tree
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("run.id"))
    name: Mapped[str]
    tick: Mapped[int]
    inputs: Mapped[int]  # lines of the parent's journal that it shares


class Result(Base):
    """How a run ended. The totals are copied from the report so that the history page need not parse it."""

    __tablename__ = "result"

    run_id: Mapped[int] = mapped_column(ForeignKey("run.id"), primary_key=True)
    finished_at: Mapped[datetime]  # UTC
    state_hash: Mapped[str]
    score: Mapped[float | None]  # 0-100; None where nothing is scored
    downtime_s: Mapped[float]
    lost_transactions: Mapped[int]
    retried: Mapped[bool]  # it went back in time, or began at a moment of an earlier run: it is no one's best
    hints: Mapped[int]  # layers that were opened
    report_json: Mapped[str] = mapped_column(deferred=True)


class Draft(Base):
    """Unsaved text of one window."""

    __tablename__ = "draft"

    key: Mapped[str] = mapped_column(primary_key=True)
    text: Mapped[str]


class Setting(Base):
    __tablename__ = "setting"

    key: Mapped[str] = mapped_column(primary_key=True)
    value_json: Mapped[str]
