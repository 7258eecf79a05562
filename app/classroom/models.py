"""Database tables of a class. Every change needs a new numbered migration."""

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

RUNNING, FROZEN, OVER = "running", "frozen", "over"
MESSAGE, INJECT, REWIND, MARK = "message", "inject", "back", "mark"


class Base(DeclarativeBase):
    """Base class of the tables."""


class ClassPart(Base):
    """Part of a class with the data that all seats share.

    A database holds one class, and most classes have one part.
    """

    __tablename__ = "class"

    id: Mapped[int] = mapped_column(primary_key=True)  # number of the part
    # kind of the part (app/classroom/lesson_plan.py); empty for a class with one part
    part: Mapped[str] = mapped_column(default="")
    current: Mapped[bool] = mapped_column(default=True)  # the class is in this part
    code: Mapped[str]  # join code without the address, as shown on the class dashboard
    secret: Mapped[str]  # secret with which a console proves that it may control the class
    certificate: Mapped[str]  # PEM; the join code contains its fingerprint
    key: Mapped[str]  # PEM
    address: Mapped[str]  # HOST:PORT of each host, separated by commas
    scenario_name: Mapped[str]
    scenario_text: Mapped[str]  # complete scenario file
    scenario_hash: Mapped[str]
    mode: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    plan: Mapped[str]  # lesson plan in TOML, unchanged
    state: Mapped[str] = mapped_column(default=RUNNING)
    until: Mapped[int | None]
    """Tick at which all seats stop; None if there is no limit."""
    # end of the break in UTC seconds since 1970; the class then continues automatically
    break_until: Mapped[float | None]
    # simulated seconds per second of the class clock; None means each seat has its own pace
    clock_speed: Mapped[float | None]
    # tick of the class clock when it last started or stopped
    clock_tick: Mapped[int] = mapped_column(default=0)
    clock_at: Mapped[float] = mapped_column(default=0.0)  # time of that start or stop, in UTC seconds

    @property
    def addresses(self) -> list[str]:
        """HOST:PORT of each host."""
        return [address for address in self.address.split(",") if address]


class Seat(Base):
    """Person or program that takes part in the class.

    `acknowledged` and `tick` describe its log in the current part.
    """

    __tablename__ = "seat"

    id: Mapped[int] = mapped_column(primary_key=True)
    # SHA-256 hash of the token, which only the seat knows
    token_hash: Mapped[str] = mapped_column(unique=True)
    name: Mapped[str]
    consent: Mapped[bool] = mapped_column(default=False)  # the person agrees to live observation
    acknowledged: Mapped[int] = mapped_column(default=0)
    tick: Mapped[int] = mapped_column(default=0)
    group_name: Mapped[str] = mapped_column(default="")
    # frozen by the instructor individually, not with the whole class
    stopped: Mapped[bool] = mapped_column(default=False)
    until: Mapped[int | None]
    """Tick at which the seat stops; None if the limit of the class applies."""
    taken: Mapped[bool] = mapped_column(default=False)  # the instructor has taken control
    # program version of the seat; empty if it was never reported
    version: Mapped[str] = mapped_column(default="")


class StoredLogEntry(Base):
    """Stored entry of a seat's log, in the form of app/classroom/log_entries.py."""

    __tablename__ = "act"

    seat_id: Mapped[int] = mapped_column(ForeignKey("seat.id"), primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    tick: Mapped[int]
    line: Mapped[str]
    digest: Mapped[str]
    instruction: Mapped[int]


class ClassInstruction(Base):
    """Instruction of the instructor: a text, an input line that the seat applies, a rewind, or a mark.

    A mark has no recipient. It names a time of a seat or of the class.
    """

    __tablename__ = "instruction"

    number: Mapped[int] = mapped_column(primary_key=True)
    part: Mapped[int] = mapped_column(default=1)
    # number of the seat; None for every seat, including seats that join later
    seat_id: Mapped[int | None] = mapped_column(ForeignKey("seat.id"))
    group_name: Mapped[str | None]  # name of the group; None for all groups
    tick: Mapped[int | None]  # time of the instruction, or target of a rewind; None: applied on arrival
    kind: Mapped[str]
    text: Mapped[str]


class StoredReflection(Base):
    """Stored reflection of a person on the run (app/learning/reflection.py).

    The person wrote it before the points were shown.
    """

    __tablename__ = "reflection"

    seat_id: Mapped[int] = mapped_column(ForeignKey("seat.id"), primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    happened: Mapped[str]
    otherwise: Mapped[str]
    """Answer to the question of what the person would do differently."""
    expected_score: Mapped[float | None]
