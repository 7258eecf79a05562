"""The tables of a class. Change them only together with a new numbered migration."""

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

RUNNING, FROZEN, OVER = "running", "frozen", "over"
MESSAGE, INJECT, BACK, MARK = "message", "inject", "back", "mark"


class Base(DeclarativeBase):
    """Base of the tables."""


class ClassPart(Base):
    """Data that all seats share in one part of the class. A database holds one class; most have one part."""

    __tablename__ = "class"

    id: Mapped[int] = mapped_column(primary_key=True)  # number of the part
    # kind of the part (app/classroom/plan.py); empty for a class with one part
    part: Mapped[str] = mapped_column(default="")
    current: Mapped[bool] = mapped_column(default=True)  # the class is in this part
    code: Mapped[str]  # code as shown on the class dashboard, without the address
    secret: Mapped[str]  # secret that proves that a console may control the class
    certificate: Mapped[str]  # PEM; the code holds its fingerprint
    key: Mapped[str]  # PEM
    address: Mapped[str]  # HOST:PORT where the host listens; several are separated by commas
    scenario_name: Mapped[str]
    scenario_text: Mapped[str]  # complete scenario file
    scenario_hash: Mapped[str]
    mode: Mapped[str]
    seed: Mapped[int] = mapped_column(BigInteger)
    plan: Mapped[str]  # lesson plan in TOML, unchanged
    state: Mapped[str] = mapped_column(default=RUNNING)
    until: Mapped[int | None]  # tick at which every seat stops; None means no such tick
    """Tick at which all seats stop; None means no limit."""
    break_until: Mapped[float | None]  # UTC in seconds since 1970; the class continues automatically then
    clock_speed: Mapped[
        float | None
    ]  # simulated seconds per second of the class clock; None means each seat has its own pace
    # tick of the class clock when it last started or stopped
    clock_tick: Mapped[int] = mapped_column(default=0)
    clock_at: Mapped[float] = mapped_column(default=0.0)  # time of that start or stop, in UTC seconds

    @property
    def addresses(self) -> list[str]:
        """HOST:PORT of each host."""
        return [address for address in self.address.split(",") if address]


class Seat(Base):
    """A person or a program that takes part.

    `acknowledged` and `tick` summarize its actions in the current part.
    """

    __tablename__ = "seat"

    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(unique=True)  # SHA-256 of the token; only the seat has the token
    name: Mapped[str]
    consent: Mapped[bool] = mapped_column(default=False)  # the person agrees to live observation
    acknowledged: Mapped[int] = mapped_column(default=0)
    tick: Mapped[int] = mapped_column(default=0)
    group_name: Mapped[str] = mapped_column(default="")
    stopped: Mapped[bool] = mapped_column(default=False)  # frozen individually, not with the whole class
    """True if the instructor has frozen the seat."""
    until: Mapped[int | None]  # tick at which the seat stops; overrides that of the class
    """Tick at which the seat stops; None means no limit."""
    taken: Mapped[bool] = mapped_column(default=False)  # the instructor has taken control
    version: Mapped[str] = mapped_column(default="")  # version of the seat; empty if it was never reported


class KeptAct(Base):
    """An action of a seat's log, in the form of app/classroom/log_entries.py."""

    __tablename__ = "act"

    seat_id: Mapped[int] = mapped_column(ForeignKey("seat.id"), primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    tick: Mapped[int]
    line: Mapped[str]
    digest: Mapped[str]
    instruction: Mapped[int]


class ClassInstruction(Base):
    """Instruction of the instructor: a text, an input line that the seat applies, or a rewind.

    A mark has no addressee: it names a time of a seat, or of the class.
    """

    __tablename__ = "instruction"

    number: Mapped[int] = mapped_column(primary_key=True)
    part: Mapped[int] = mapped_column(default=1)
    # number of the seat; None means every seat, including later ones
    seat_id: Mapped[int | None] = mapped_column(ForeignKey("seat.id"))
    group_name: Mapped[str | None]  # name of the group; None means any group
    tick: Mapped[int | None]  # tick of the instruction, or the target of a rewind; None means on arrival
    kind: Mapped[str]
    text: Mapped[str]


class KeptReflection(Base):
    """Reflection of a person on the run before its points were shown (app/learning/reflection.py)."""

    __tablename__ = "reflection"

    seat_id: Mapped[int] = mapped_column(ForeignKey("seat.id"), primary_key=True)
    part: Mapped[int] = mapped_column(primary_key=True)
    happened: Mapped[str]
    otherwise: Mapped[str]
    """Answer to the question what the person would do otherwise."""
    expected_score: Mapped[float | None]
