"""Connections, running batches and their tables as plain frozen data, so that worlds fork and hash while they wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from engine.messages import Message
from engine.tsql.language.columns import ColumnDefinition, Constraint
from engine.tsql.language.script import ScriptBatch, Step
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar

Row = tuple[Scalar, ...]

AGENT_MARK: Final = "#agent:"
"""In the names of windows in which job steps run: SERVER_A#agent:step:job (clients/agent.py)."""


class ConnectionLostError(Exception):
    """The connection of the window is gone; *numbers* are the messages that the client shows."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(*numbers)
        self.numbers = numbers


class Table(Struct, frozen=True):
    """A temp table or table variable with its rows."""

    columns: tuple[ColumnDefinition, ...]
    rows: tuple[Row, ...] = ()
    next_identity: int = 1
    characters: int = 0
    """In all its texts."""
    ids: tuple[int, ...] = ()
    """A number for each row, which it keeps: connections that change different rows do not meet."""
    next_id: int = 1
    constraints: tuple[Constraint, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    """Options of CREATE TABLE."""

    @property
    def cells(self) -> int:
        """Return the number of cells, which limits memory."""
        return len(self.columns) * len(self.rows)


Place = tuple[str, str, str]
"""(server, database, name in small letters) of an object that a script has made."""


class RowChanges(Struct, frozen=True):
    """Changes of a transaction to the rows of a table: (row number, current row, None if deleted)."""

    rows: tuple[tuple[int, Row | None], ...]
    next_identity: int
    next_id: int


class ApplicationLock(Struct, frozen=True):
    """A lock of sp_getapplock on an application resource."""

    place: Place
    mode: str
    owner: str
    """transaction or session."""
    count: int = 1
    """Requests that have not been released."""


class ResultSet(Struct, frozen=True):
    """One grid of results, as it is shown."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    types: tuple[str, ...] = ()
    """Of each column as T-SQL writes it; empty where it is not known."""
    after_messages: int = 0
    """Messages of the submission that came before it: messages and grids are one stream."""


def in_order(messages: Sequence[Message], results: Iterable[ResultSet]) -> Iterator[Message | ResultSet]:
    """Yield messages and grids as the client gets them."""
    told = 0
    for grid in results:
        yield from messages[told : grid.after_messages]
        told = grid.after_messages
        yield grid
    yield from messages[told:]


class SqlCursor(Struct, frozen=True):
    """A declared cursor; *rows* is None until it is opened."""

    query: str
    scrolls: bool = False
    """It may be read in every direction, not only forward."""
    counted: bool = False
    """Its rows are known when it is opened (STATIC, KEYSET): @@CURSOR_ROWS says how many, else -1."""
    kinds: tuple[SqlType | None, ...] = ()
    """Types of its columns."""
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] | None = None
    position: int = -1
    characters: int = 0
    """In all its texts."""

    @property
    def cells(self) -> int:
        """Return the number of cells, which limits memory."""
        return len(self.columns) * len(self.rows or ())


class Caught(Struct, frozen=True):
    """The error that a CATCH block is about."""

    number: int
    severity: int
    state: int
    line: int
    text: str
    procedure: str = ""


class Declared(Struct, frozen=True):
    """A variable with its type and value."""

    type: str
    value: Scalar = None


class Outside(Struct, frozen=True):
    """State that a procedure or dynamic SQL restores at its end: database context, options, existing temp tables."""

    database: str
    options: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    transactions: int = 0
    """@@TRANCOUNT when it was entered."""
    principal: tuple[str, str, str, tuple[tuple[str, str, str], ...]] | None = None
    """Login, user, its database and callers: EXECUTE AS ends with the text that gave it."""


class Frame(Struct, frozen=True):
    """One level of a running batch: the batch itself, or text that EXEC or sp_executesql runs."""

    text: str
    parameters: tuple[str, ...] = ()
    """Variables that were declared from outside (sp_executesql)."""
    position: int = 0
    variables: tuple[tuple[str, Declared], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Table variables."""
    caught: tuple[Caught, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    """Variables here -> variables of the frame below that take their values at the end."""
    insert_into: str = ""
    """INSERT … EXEC: the table (and columns) that take the rows."""
    outside: Outside | None = None
    """State to restore at the end; None for the batch itself, which keeps all changes."""
    returns: str = ""
    """Variable of the frame below that takes the return value."""
    line: int = 0
    """Line of the statement that runs or waits."""
    read: int | None = None
    """Work that has gone into compiling the text; None once that is done."""
    resolved: int = 0
    problems: tuple[Caught, ...] = ()
    database: str = ""
    quoting: str = ""
    known: tuple[
        tuple[tuple[str, SqlType], ...], tuple[tuple[str, tuple[tuple[str, SqlType | None], ...]], ...]
    ] = ((), ())
    """Progress of the name lookup and its results so far: fields of Scope."""
    procedure: str = ""
    """Its name, if the text is that of a procedure."""


class Undo(Struct, frozen=True):
    """State that ROLLBACK restores: the temp tables, and earlier changes to other objects."""

    tables: tuple[tuple[str, Table], ...]
    writes: tuple[tuple[Place, Any], ...] = ()


class ClientProgram(Struct, frozen=True, kw_only=True):
    """A program that has logged in over the network, as its login names it."""

    host: str = ""
    name: str = ""
    interface: str = ""
    """The library by which it connects."""
    database: str = "master"
    """The one it has logged in to: a reset of the connection returns there."""
    language: str = ""
    """The one it has asked for, as `SET LANGUAGE` does; empty: that of the login."""
    encrypted: bool = False
    """TLS hides all that goes over the connection."""
    packet_bytes: int = 4096
    """As agreed at the login; the default of the product. Documented."""


CONSOLE: Final = ClientProgram(host="CONSOLE", name="Mirrordrill", interface=".Net SqlClient Data Provider")
"""Client program that a server sees for the windows of the simulation."""


class ConnectionTarget(Struct, frozen=True, kw_only=True):
    """Target of a window's connection, as in its connection string."""

    source: str = ""
    """Server or listener; empty for the server of the window's name."""
    database: str = ""
    read_intent: bool = False
    """ApplicationIntent=ReadOnly."""


class SqlSession(Struct, frozen=True, kw_only=True):
    """The SQL connection of a window."""

    server: str
    spid: int
    login: str
    user: str = ""
    user_database: str = ""
    """User whose place EXECUTE AS USER has taken, and its database; empty: the user of the login."""
    callers: tuple[tuple[str, str, str], ...] = ()
    """Login, user and database that each EXECUTE AS has left, to which REVERT returns."""
    program: ClientProgram | None = None
    """At the other end; None for a window of the simulation itself. A program's connection that is lost stays lost."""
    database: str = "master"
    read_intent: bool = False
    """ApplicationIntent=ReadOnly."""
    started_tick: int = 0
    """Start tick of the connected instance. A later start of the instance means that the connection is lost."""
    login_tick: int = 0
    transactions: int = 0
    rowcount: int = 0
    error: int = 0
    fetch_status: int = 0
    identity: int | None = None
    options: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Temp tables."""
    cursors: tuple[tuple[str, SqlCursor], ...] = ()
    undo: Undo | None = None
    """While a transaction is open."""
    transaction_name: str = ""
    transaction_id: int = 0
    transaction_tick: int = 0
    """Number of the latest transaction, and when it began."""
    savepoints: tuple[tuple[str, Undo], ...] = ()
    doomed: bool = False
    """An error under XACT_ABORT has been caught: the transaction can only be rolled back."""
    writes: tuple[tuple[Place, Any], ...] = ()
    """Changes of the transaction by object: RowChanges, a created object, or None for a dropped object. No log
    contains them yet: the end of the connection undoes them.
    """
    logs: tuple[tuple[tuple[str, str], float, float], ...] = ()
    """Log that it has written: (copy, where it begins, KB)."""
    held: tuple[tuple[Place, str], ...] = ()
    """Locks on whole tables that it keeps until the end of the transaction (locks.py)."""
    applocks: tuple[ApplicationLock, ...] = ()
    committing: tuple[tuple[tuple[str, str], float], ...] = ()
    """(copy, position) of commits whose log is not yet hardened where it has to be; until then it keeps its locks."""
    last_text: str = ""
    """Text of the last batch that ended; empty before the first one."""
    last_begun_tick: int = 0
    last_ended_tick: int = 0

    @property
    def principal(self) -> tuple[str, str, str, tuple[tuple[str, str, str], ...]]:
        """Login, user, its database and callers."""
        return self.login, self.user, self.user_database, self.callers

    def __repr__(self) -> str:
        """Leave out the last batch, which only views show, and rare parts that are empty: the hash reads this."""
        known = [name for name in self.__struct_fields__ if name not in UNSAID_OF_SESSION]
        known = [name for name in known if name not in RARE_IN_SESSION or getattr(self, name)]
        return f"Session({', '.join(f'{name}={getattr(self, name)!r}' for name in known)})"


class Submission(Struct, frozen=True, kw_only=True):
    """A submission that is under way in a window, with what it has printed so far."""

    id: int
    text: str
    steps: tuple[Step, ...] | None = None
    """None while the text is still being taken apart; the text decides what they are."""
    read: int = 0
    """Work that has gone into that."""
    step: int = 0
    repeats: int = 0
    """Number of times that the batch of this step has been sent."""
    frames: tuple[Frame, ...] = ()
    messages: tuple[Message, ...] = ()
    results: tuple[ResultSet, ...] = ()
    """Displayed results; they do not affect execution."""
    started_tick: int = 0
    waiting: str = ""
    """Reason for the wait: delay, pending, busy, server, login, lock, log, commit; empty without a wait."""
    due_tick: int = 0
    since_tick: int | None = None
    """Start tick of the wait for a lock or commit, which is checked repeatedly."""
    blocked: tuple[tuple[int, ...], Place, str] = ((), ("", "", ""), "")
    """The sessions that have the lock it waits for, the object, and the mode that it wants."""
    wait_id: int = 0
    """Number of the wait; a timer of an older one is void."""
    pending: tuple[str, tuple[object, ...]] | None = None
    """The statement's completion, while it is pending."""
    errors_from: int | None = None
    """With `:ON ERROR EXIT` an error among the messages from here on ends the submission."""
    booked: bool = False
    """The time that it waits for is a turn of work (work.py)."""
    acts: int = 0
    """Statements so far that have done something to the world."""
    spent: int = 0
    """Work done since the submission began."""
    told: bool = False
    """A note has said that it goes on and on."""
    command: str = ""
    """Kind of the statement that runs, as in sys.dm_exec_requests; empty before the first one."""
    begun_tick: int = 0
    """Tick at which that statement began."""
    said: int = 0
    """Characters of its messages so far."""
    characters: int = 0
    cells: int = 0
    """Characters and values in the results so far."""
    counts: tuple[Message, ...] = ()
    """Counts of rows of a statement whose commit still waits: the client gets them when it is done."""

    def __repr__(self) -> str:
        """Return the text for the state's hash, without fields that do not affect the future."""
        said = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in UNSAID]
        return f"Run({', '.join(said)})"


UNSAID: Final = ("steps", "results", "command", "begun_tick", "counts")
UNSAID_OF_SESSION: Final = ("last_text", "last_begun_tick", "last_ended_tick")
RARE_IN_SESSION: Final = frozenset({"applocks", "user", "user_database"})


def batch_text(run: Submission) -> str:
    """Return the text of the batch that runs, or of the last one, without the others of its submission."""
    batches = [step for step in (run.steps or ())[: run.step + 1] if isinstance(step, ScriptBatch)]
    return batches[-1].text if batches else run.text


class Window(Struct, frozen=True, kw_only=True):
    """A T-SQL window: its connection, what it has been told, and what waits behind the running batch."""

    session: SqlSession | None = None
    target: ConnectionTarget = ConnectionTarget()
    server: str = ""
    """Server or listener that `:CONNECT` has chosen; empty for the window's own."""
    variables: tuple[tuple[str, str], ...] = ()
    """sqlcmd variables."""
    lost: int = 0
    """A connection with an open transaction has broken since: the next batch meets this error, then all is new."""
    queue: tuple[str, ...] = ()
    """Submissions that wait until the running one is done."""

    @property
    def remote(self) -> bool:
        """It is the connection of a program: never made anew unseen, and gone with its session."""
        return self.session is not None and self.session.program is not None
