"""Record of a class in a database, SQLite by default. Acknowledged data survives any crash."""

from __future__ import annotations

import copy
import re
import sqlite3
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import tomlkit
from msgspec.structs import asdict
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    literal,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import Session

from app.classroom.log_entries import LogEntry
from app.classroom.models import (
    INJECT,
    MARK,
    ClassInstruction,
    ClassPart,
    Seat,
    StoredLogEntry,
    StoredReflection,
)
from app.learning.reflection import Reflection
from app.words.language import tr

MIGRATIONS_FOLDER: Final = Path(__file__).with_name("migrations")
BUSY_TIMEOUT_S: Final = 5.0
"""Time that a reader waits for a writer, and a writer for a reader."""

MIGRATION_LOCK_NUMBER: Final = 7443
"""Number of the advisory lock that a database server holds during a migration. The number is arbitrary."""


SQLITE_AUTOMATIC_KEY: Final = "INTEGER NOT NULL PRIMARY KEY"
"""Column declaration of an auto-increment key in SQLite. PostgreSQL needs another declaration."""

DATABASE_SYSTEMS: Final = ("sqlite", "postgresql")
"""Database systems that can store a class."""

ERASED_TOKEN_PREFIX: Final = "erased "
"""Prefix of the text that replaces the token hash of an erased person."""


class RecordUnavailableError(Exception):
    """Error for a database that cannot be used. The text gives the reason."""


def build_url(location: str) -> str:
    """Return *location* if it is a database URL.

    Otherwise, treat it as the path of an SQLite file and return its URL.
    """
    return location if "://" in location else f"sqlite:///{location}"


class ClassRecord:
    """Record of one class in one database.

    Only hosts of the class write to it; an SQLite file has one host. Exports read it. Methods refer to the
    current part, or to the part that was passed to `select_part`.
    """

    def __init__(self, location: str, create: bool = True) -> None:
        """Open the database at *location*. *create*: create it if it does not exist.

        Raises RecordUnavailableError.
        """
        self._selected_part_id: int | None = None
        try:
            self._engine = _create_engine(build_url(location), create)
            with ExitStack() as refused:
                refused.callback(self.close)
                with _lock_migration(self._engine), self._engine.connect() as connection:
                    if not _migrate(connection):
                        raise RecordUnavailableError(
                            tr(
                                "A newer version of Mirrordrill or another program created the database {place}"
                            ).format(place=_mask_password(location))
                        )
                refused.pop_all()
        except (SQLAlchemyError, sqlite3.Error, ImportError, OSError) as problem:
            reason, location = _format_problem(problem), _mask_password(location)
            raise RecordUnavailableError(
                tr("Cannot use the database {place}: {why}").format(place=location, why=reason)
            ) from problem

    @property
    def is_shared(self) -> bool:
        """Return whether several hosts can use the database at the same time."""
        return self._engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    # --- the class

    def select_part(self, part: int) -> ClassRecord:
        """Return this record limited to *part*.

        When the class has moved to another part, the returned record refuses to store actions.
        """
        twin = copy.copy(self)
        twin._selected_part_id = part
        return twin

    @property
    def _part(self) -> ColumnElement[int]:
        """SQL expression: number of the part that the methods read and change."""
        return literal(self._selected_part_id) if self._selected_part_id is not None else _CURRENT_PART_ID

    def read_class(self) -> ClassPart | None:
        """Return the current part of the class, or None if there is no class."""
        with Session(self._engine) as session:
            return session.scalar(select(ClassPart).where(ClassPart.current))

    def read_parts(self) -> list[ClassPart]:
        """Return all parts in order, including parts that were not started."""
        with Session(self._engine) as session:
            return list(session.scalars(select(ClassPart).order_by(ClassPart.id)))

    def store_new_class(self, *parts: ClassPart, instructions: Iterable[ClassInstruction] = ()) -> None:
        """Store the parts and the prepared instructions of a new class."""
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            session.add_all(parts)
            session.add_all(instructions)

    def start_next_part(self) -> bool:
        """Make the next part current, with an empty log for each seat. Return False if there is no next part."""
        with Session(self._engine) as session, session.begin():
            class_part = session.scalar(select(ClassPart).where(ClassPart.current).with_for_update())
            assert class_part is not None
            if self._selected_part_id not in (None, class_part.id):
                return True  # another host has already started the next part
            next_part = session.get(ClassPart, class_part.id + 1)
            if next_part is None:
                return False
            class_part.current, next_part.current = False, True
            next_part.address, next_part.clock_at = class_part.address, time.time()
            session.execute(
                update(Seat).values(acknowledged=0, tick=0, stopped=False, until=None, taken=False)
            )
            return True

    def change_part_columns(self, **columns: str | int | float | bool | None) -> None:
        """Change columns of the current part of the class."""
        with self._engine.begin() as connection:
            connection.execute(update(ClassPart).where(ClassPart.id == self._part).values(columns))

    def change_addresses(self, change: Callable[[list[str]], list[str]]) -> None:
        """Replace the addresses of the class's hosts by the result of *change*."""
        with Session(self._engine) as session, session.begin():
            the_class = session.scalar(select(ClassPart).where(ClassPart.current).with_for_update())
            assert the_class is not None
            the_class.address = ",".join(change(the_class.addresses))

    # --- seats and their acts

    def change_seat_columns(self, seats: Iterable[int], **columns: str | int | float | bool | None) -> None:
        """Change columns of *seats*."""
        with self._engine.begin() as connection:
            connection.execute(update(Seat).where(Seat.id.in_(list(seats))).values(columns))

    def read_seats(self) -> list[Seat]:
        """Return all seats."""
        with Session(self._engine) as session:
            return list(session.scalars(select(Seat).order_by(Seat.id)))

    def find_seat(self, number: int) -> Seat | None:
        """Return the seat with this number, or None."""
        with Session(self._engine) as session:
            return session.get(Seat, number)

    def find_seat_by_token(self, token_hash: str) -> Seat | None:
        """Return the seat with this token hash, or None."""
        with Session(self._engine) as session:
            return session.scalar(select(Seat).where(Seat.token_hash == token_hash))

    def store_seats_and_entries(self, seats: Sequence[Seat], logs: Mapping[int, Sequence[LogEntry]]) -> None:
        """Store new *seats* and assign their numbers, and store the new entries in *logs*, in one transaction."""
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            current = select(ClassPart.id).where(ClassPart.current).with_for_update(read=True)
            part = session.scalar(current) if logs or self._selected_part_id is not None else None
            if self._selected_part_id not in (None, part):
                raise RecordUnavailableError(tr("this part is no longer the current part of the class"))
            rows = [
                {"seat_id": seat, "part": part, **act._asdict()}
                for seat, acts in logs.items()
                for act in acts
            ]
            session.add_all(seats)
            session.flush()
            if rows:
                connection = session.connection()
                connection.execute(insert(StoredLogEntry), rows)
                connection.execute(
                    update(Seat).where(Seat.id == bindparam("seat")),
                    [
                        {"seat": seat, "acknowledged": acts[-1].number, "tick": acts[-1].tick}
                        for seat, acts in logs.items()
                    ],
                )

    def read_entries(
        self, seat: int, first_number: int = 1, last_number: int | None = None
    ) -> list[LogEntry]:
        """Return the entries of a seat from *first_number* to *last_number*.

        *last_number*: None to include the last entry.
        """
        columns = (
            StoredLogEntry.number,
            StoredLogEntry.tick,
            StoredLogEntry.line,
            StoredLogEntry.digest,
            StoredLogEntry.instruction,
        )
        query = select(*columns).where(
            StoredLogEntry.seat_id == seat,
            StoredLogEntry.part == self._part,
            StoredLogEntry.number >= first_number,
        )
        if last_number is not None:
            query = query.where(StoredLogEntry.number <= last_number)
        with self._engine.connect() as connection:
            return [LogEntry(*row) for row in connection.execute(query.order_by(StoredLogEntry.number))]

    def store_reflection(self, seat: int, reflection: Reflection) -> None:
        """Store the reflection of a seat's person on the run. It replaces an earlier reflection."""
        with Session(self._engine) as session, session.begin():
            part = session.scalar(select(self._part)) or 1
            session.merge(StoredReflection(seat_id=seat, part=part, **asdict(reflection)))

    def read_reflections(self) -> dict[int, Reflection]:
        """Return the reflections by seat."""
        with Session(self._engine) as session:
            query = select(StoredReflection).where(StoredReflection.part == self._part)
            return {
                reflection.seat_id: Reflection(
                    reflection.happened, reflection.otherwise, reflection.expected_score
                )
                for reflection in session.scalars(query)
            }

    def erase_people(self, seats: Iterable[int]) -> None:
        """Remove names, actions, tokens, groups and messages of *seats*. Their numbers and progress remain.

        In messages to other seats and in the plan, numbers replace the names, unless a remaining person has
        the same name. Injects for other seats are unchanged, because runs depend on them. SQLite removes the
        data from its files. PostgreSQL keeps the data until its next VACUUM. Raises RecordUnavailableError if
        another process reads the file.
        """
        numbers, seats_left = set(seats), self.read_seats()
        staying = {seat.name.casefold() for seat in seats_left if seat.id not in numbers}
        people = {
            seat.id: seat.name
            for seat in seats_left
            if seat.id in numbers and seat.name and seat.name.casefold() not in staying
        }
        with self._engine.begin() as connection:
            connection.execute(delete(StoredLogEntry).where(StoredLogEntry.seat_id.in_(numbers)))
            connection.execute(delete(StoredReflection).where(StoredReflection.seat_id.in_(numbers)))
            connection.execute(delete(ClassInstruction).where(ClassInstruction.seat_id.in_(numbers)))
            for (
                number
            ) in numbers:  # replaces the token hash, which must be unique, by a text with the seat number
                unknown_person = {
                    "name": "", "token_hash": f"{ERASED_TOKEN_PREFIX}{number}", "group_name": "", "acknowledged": 0,
                }  # fmt: skip
                connection.execute(update(Seat).where(Seat.id == number).values(unknown_person))
            query = select(ClassInstruction.number, ClassInstruction.text).where(
                ClassInstruction.kind != INJECT
            )
            for order, words in connection.execute(query).all():
                change = update(ClassInstruction).where(ClassInstruction.number == order)
                connection.execute(change.values(text=_replace_names(words, people)))
            plan = connection.scalar(select(ClassPart.plan)) or ""
            connection.execute(update(ClassPart).values(plan=_remove_names(plan, people)))
        if self._engine.dialect.name == "sqlite":
            self._vacuum_file()

    def _vacuum_file(self) -> None:
        """Rewrite the SQLite file without deleted data. Raises RecordUnavailableError."""
        try:
            with self._engine.connect() as connection:
                autocommit_connection = connection.execution_options(isolation_level="AUTOCOMMIT")
                autocommit_connection.execute(text("VACUUM"))
                busy = autocommit_connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).scalar_one()
        except SQLAlchemyError:
            busy = 1
        if busy:
            raise RecordUnavailableError(
                tr(
                    "erased data is still in the file because another program reads it. End that "
                    "program and erase again."
                )
            )

    # --- instructions

    def read_instructions(self) -> list[ClassInstruction]:
        """Return all instructions to seats, ordered by number."""
        return self._read_instructions(ClassInstruction.kind != MARK)

    def read_marks(self) -> list[ClassInstruction]:
        """Return the marks of the instructor, ordered by number."""
        return self._read_instructions(ClassInstruction.kind == MARK)

    def _read_instructions(self, selected: ColumnElement[bool]) -> list[ClassInstruction]:
        with Session(self._engine) as session:
            query = select(ClassInstruction).where(ClassInstruction.part == self._part, selected)
            return list(session.scalars(query.order_by(ClassInstruction.number)))

    def store_instructions(self, instructions: Sequence[ClassInstruction]) -> list[ClassInstruction]:
        """Store instructions, assign their numbers, and return them."""
        with Session(self._engine, expire_on_commit=False) as session, session.begin():
            part = session.scalar(select(self._part))
            for instruction in instructions:
                instruction.part = part or 1
            session.add_all(instructions)
        return list(instructions)


_CURRENT_PART_ID: Final = select(ClassPart.id).where(ClassPart.current).scalar_subquery()


def _mask_password(location: str) -> str:
    """Return the location of a record without its password."""
    return make_url(build_url(location)).render_as_string().removeprefix("sqlite:///")


def _format_problem(problem: Exception) -> str:
    """Return the message of the database without the class name that SQLAlchemy adds."""
    return str(getattr(problem, "orig", None) or problem).splitlines()[0]


def _remove_names(plan: str, people: Mapping[int, str]) -> str:
    """Replace the names of *people* in a plan by numbers, ignoring case.

    If any name occurs, also remove all comments.
    """
    erased = {name.casefold() for name in people.values()}
    if not any(name in plan.casefold() for name in erased):
        return plan
    document = tomllib.loads(plan)
    for group in document.get("group", ()):
        group["people"] = [name for name in group.get("people", ()) if name.casefold() not in erased]
    for message in document.get("message", ()):
        message["text"] = _replace_names(message["text"], people)
    if "title" in document:
        document["title"] = _replace_names(document["title"], people)
    return tomlkit.dumps(document)


def _replace_names(text: str, people: Mapping[int, str]) -> str:
    """Replace the names of people in *text* by seat numbers."""
    for number, name in people.items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"seat {number}", text, flags=re.IGNORECASE)
    return text


def _create_engine(url: str, create: bool) -> Engine:
    try:
        name = make_url(url).get_backend_name()
        if name not in DATABASE_SYSTEMS:
            raise RecordUnavailableError(
                tr("A class is stored in SQLite or PostgreSQL, not in {name}").format(name=name)
            )
        # a restarted database server has closed all connections
        engine = create_engine(url, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as problem:
        raise RecordUnavailableError(
            tr("{url} is not a database URL: {why}").format(url=url, why=problem)
        ) from problem
    if engine.dialect.name == "sqlite":
        file = engine.url.database
        if not create and not (file and Path(file).is_file()):
            raise RecordUnavailableError(tr("Database {file} does not exist").format(file=file))

        @event.listens_for(engine, "connect")
        def configure_connection(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # acknowledged data must survive a power failure
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")  # overwrites deleted data
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000:.0f}")

    return engine


@contextmanager
def _lock_migration(engine: Engine) -> Iterator[None]:
    """Lock out migrations of the same database by other hosts.

    An SQLite file needs no lock, because it has one host.
    """
    if engine.dialect.name != "postgresql":
        yield
        return
    with engine.begin() as connection:
        connection.execute(select(func.pg_advisory_xact_lock(MIGRATION_LOCK_NUMBER)))
        yield


def _migrate(connection: Connection) -> bool:
    """Update the tables, each version in one transaction. Return False if the version of the tables is unknown.

    The version table is named `alembic_version`, because earlier versions of the program used Alembic.
    """
    system = connection.dialect.name
    other_suffixes = tuple(f"_{other_system}" for other_system in DATABASE_SYSTEMS if other_system != system)
    scripts = [
        file for file in sorted(MIGRATIONS_FOLDER.glob("*.sql")) if not file.stem.endswith(other_suffixes)
    ]
    versions = sorted({file.stem.partition("_")[0] for file in scripts})
    has_tables = inspect(connection).has_table("alembic_version")
    revision = connection.scalar(text("SELECT version_num FROM alembic_version")) if has_tables else None
    connection.rollback()
    if revision is not None and revision not in versions:
        return False
    for number in versions:
        if revision is None or number > revision:
            _run_migration(connection, number, [file for file in scripts if file.name.startswith(number)])
    return True


def _run_migration(connection: Connection, number: str, scripts: Iterable[Path]) -> None:
    """Run the statements of a version and store its number, in one transaction."""
    if connection.dialect.name == "sqlite":  # the driver starts no transaction for CREATE or ALTER
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    for script in scripts:
        for statement in script.read_text(encoding="utf-8").rstrip().rstrip(";").split(";\n"):
            if connection.dialect.name == "postgresql":
                statement = statement.replace(SQLITE_AUTOMATIC_KEY, "SERIAL PRIMARY KEY")
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql("DELETE FROM alembic_version")
    connection.execute(text("INSERT INTO alembic_version VALUES (:number)"), {"number": number})
    connection.commit()
