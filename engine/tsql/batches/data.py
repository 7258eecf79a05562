"""Connections, running batches and their tables as plain frozen data, so that a world with waiting batches can fork."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from engine.messages import Message, SqlError
from engine.tsql.language import program
from engine.tsql.language import statements as s
from engine.tsql.language.columns import ColumnDefinition, Constraint
from engine.tsql.language.instructions import Program, RunStatement
from engine.tsql.language.script import ScriptBatch, Step
from engine.tsql.query.plans import Columns
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar

Row = tuple[Scalar, ...]

AGENT_MARK: Final = "#agent:"
"""Marker in the window names of job steps: SERVER_A#agent:step:job (clients/agent.py)."""


class ConnectionLostError(Exception):
    """Error for a window that has lost its connection. `numbers` are the client's messages."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(*numbers)
        self.numbers = numbers


class Table(Struct, frozen=True):
    """Temp table or table variable with its rows."""

    columns: tuple[ColumnDefinition, ...]
    rows: tuple[Row, ...] = ()
    next_identity: int = 1
    identity_cache: tuple[str, int, int] = ("", 0, 0)
    """Server, start of its service, and last of the identity values that it has cached (tables.py)."""
    characters: int = 0
    """Number of characters in all texts of the table."""
    ids: tuple[int, ...] = ()
    """Permanent number of each row, so that connections that change different rows do not conflict."""
    next_id: int = 1
    constraints: tuple[Constraint, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    """Options of CREATE TABLE."""

    @property
    def cells(self) -> int:
        """Return the number of values. It is limited to save memory."""
        return len(self.columns) * len(self.rows)


ObjectKey = tuple[str, str, str]
"""(server, database, lowercase name) of an object that a script created."""


class RowChanges(Struct, frozen=True):
    """Changes of a transaction to the rows of a table: (row number, new row); None for a deleted row."""

    rows: tuple[tuple[int, Row | None], ...]
    next_identity: int
    next_id: int
    identity_cache: tuple[str, int, int] = ("", 0, 0)


class KeyRange(Struct, frozen=True):
    """Key-range lock of a SERIALIZABLE reader: the keys of one integer column above *low*, up to *high*.

    The index keys next to the range bound it [DOC: key-range locking]. None means unbounded.
    """

    place: ObjectKey
    column: int
    """Position of the column in the table."""
    low: int | None
    high: int | None

    def contains(self, row: Row | None) -> bool:
        """Return whether the key of *row* is in the range."""
        key = row[self.column] if row is not None and self.column < len(row) else None
        if not isinstance(key, int):
            return row is not None and self.low is None
        return (self.low is None or key > self.low) and (self.high is None or key <= self.high)


class ApplicationLock(Struct, frozen=True):
    """Lock of sp_getapplock on an application resource."""

    place: ObjectKey
    mode: str
    owner: str
    """"transaction" or "session"."""
    count: int = 1
    """Number of requests that are not released yet."""


class StatementCompletion(Struct, frozen=True):
    """End of a statement that no window shows: an assignment by SELECT, or a call of a procedure."""

    after_messages: int
    after_results: int
    """Number of messages and result sets before it."""
    rows: int | None = None
    status: int | None = None
    """Return value of the procedure."""


class ResultSet(Struct, frozen=True):
    """Displayed result set."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    types: tuple[str, ...] = ()
    """T-SQL type of each column; empty if unknown."""
    after_messages: int = 0
    """Number of messages before this result set. Messages and result sets form one stream."""
    failed: bool = False
    """True if an error ended the query after these rows."""


def merge_in_order(
    messages: Sequence[Message], results: Iterable[ResultSet]
) -> Iterator[Message | ResultSet]:
    """Yield messages and result sets in the order in which the client receives them."""
    start = 0
    for grid in results:
        yield from messages[start : grid.after_messages]
        start = grid.after_messages
        yield grid
    yield from messages[start:]


class SqlCursor(Struct, frozen=True):
    """Declared cursor. *rows* is None until it is opened."""

    query: str
    scrolls: bool = False
    """True if it can be read in every direction. False: only forward."""
    counted: bool = False
    """True if its rows are known when it is opened (STATIC, KEYSET). @@CURSOR_ROWS is then their number,
    otherwise -1.
    """
    kinds: tuple[SqlType | None, ...] = ()
    """Types of the columns."""
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] | None = None
    position: int = -1
    characters: int = 0
    """Number of characters in all texts of the cursor."""

    @property
    def cells(self) -> int:
        """Return the number of values. It is limited to save memory."""
        return len(self.columns) * len(self.rows or ())


class CaughtError(Struct, frozen=True):
    """Error that a CATCH block handles."""

    number: int
    severity: int
    state: int
    line: int
    text: str
    procedure: str = ""


class DeclaredVariable(Struct, frozen=True):
    """Variable with its type and value."""

    type: str
    value: Scalar = None


class SavedContext(Struct, frozen=True):
    """State to restore after a procedure or dynamic SQL: database context, options, existing temp tables."""

    database: str
    options: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    transactions: int = 0
    """@@TRANCOUNT at its beginning."""
    principal: tuple[str, str, str, tuple[tuple[str, str, str], ...]] | None = None
    """Principal before the procedure: login, user, the user's database, callers. An EXECUTE AS in a procedure
    or dynamic SQL ends with it.
    """


class Frame(Struct, frozen=True):
    """Level of a running batch: the batch itself, or text executed by EXEC or sp_executesql."""

    text: str
    parameters: tuple[str, ...] = ()
    """Variables that the caller declares (sp_executesql)."""
    position: int = 0
    variables: tuple[tuple[str, DeclaredVariable], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Table variables."""
    caught: tuple[CaughtError, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    """Variable in this frame -> variable of the calling frame that receives its value at the end."""
    insert_into: str = ""
    """Target table (and columns) of INSERT … EXEC for the rows; else empty."""
    outside: SavedContext | None = None
    """Context that is restored at the end; None for the batch itself."""
    returns: str = ""
    """Variable of the calling frame that receives the return value."""
    line: int = 0
    """Line of the running or waiting statement."""
    read: int | None = None
    """Work that was spent on compiling the text; None after compilation is complete."""
    resolved: int = 0
    problems: tuple[CaughtError, ...] = ()
    database: str = ""
    quoting: str = ""
    known: tuple[
        tuple[tuple[str, SqlType], ...], tuple[tuple[str, tuple[tuple[str, SqlType | None], ...]], ...]
    ] = ((), ())
    """Names resolved so far: the variables and tables of `Scope`."""
    procedure: str = ""
    """Name of the procedure whose text this is; else empty."""
    levels: int = 1
    """Levels of @@NESTLEVEL: two for sp_executesql, which is a procedure that runs a text."""


class Undo(Struct, frozen=True):
    """State that ROLLBACK restores: the temp tables, and earlier changes of other objects."""

    tables: tuple[tuple[str, Table], ...]
    writes: tuple[tuple[ObjectKey, object], ...] = ()


class ClientProgram(Struct, frozen=True, kw_only=True):
    """Program that has logged in over the network. Its login names it."""

    host: str = ""
    name: str = ""
    interface: str = ""
    """Client library of the connection."""
    database: str = "master"
    """Database of the login. A reset of the connection returns to it."""
    language: str = ""
    """Requested language, as by `SET LANGUAGE`; empty means the login's default."""
    encrypted: bool = False
    """True if TLS encrypts the connection."""
    packet_bytes: int = 4096
    """Negotiated packet size in bytes. The default is that of the product. Documented."""


CONSOLE: Final = ClientProgram(host="CONSOLE", name="Mirrordrill", interface=".Net SqlClient Data Provider")
"""Client program that servers see for the windows of the simulation."""


class ConnectionTarget(Struct, frozen=True, kw_only=True):
    """Target of a window's connection, as in a connection string."""

    source: str = ""
    """Server or listener; empty means the server in the window's name."""
    database: str = ""
    read_intent: bool = False
    """True for ApplicationIntent=ReadOnly."""


class SqlSession(Struct, frozen=True, kw_only=True):
    """SQL connection of a window."""

    server: str
    spid: int
    login: str
    user: str = ""
    user_database: str = ""
    """User and database before EXECUTE AS USER; empty means the user of the login."""
    callers: tuple[tuple[str, str, str], ...] = ()
    """Logins before each EXECUTE AS. REVERT returns to them."""
    program: ClientProgram | None = None
    """Program at the other end; None for a window of the simulation. A program's connection is not reopened
    after a loss.
    """
    database: str = "master"
    read_intent: bool = False
    """True for ApplicationIntent=ReadOnly."""
    started_tick: int = 0
    """Start tick of the connected instance. If the instance has started later, the connection is lost."""
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
    """State for ROLLBACK while a transaction is open; None otherwise."""
    transaction_name: str = ""
    transaction_id: int = 0
    transaction_tick: int = 0
    """Start tick of the latest transaction."""
    savepoints: tuple[tuple[str, Undo], ...] = ()
    doomed: bool = False
    """True after a caught error under XACT_ABORT: only a rollback is possible."""
    writes: tuple[tuple[ObjectKey, object], ...] = ()
    """Changes of the transaction by object: RowChanges, a created object, or None for a dropped object. No
    log contains them yet, so the end of the connection undoes them.
    """
    logs: tuple[tuple[tuple[str, str], float, float], ...] = ()
    """Log that the transaction has written: (copy, start position, KB)."""
    held: tuple[tuple[ObjectKey, str], ...] = ()
    """Locks on whole tables that last until the end of the transaction (locks.py)."""
    ranges: tuple[KeyRange, ...] = ()
    applocks: tuple[ApplicationLock, ...] = ()
    committing: tuple[tuple[tuple[str, str], float], ...] = ()
    """Commits (copy, position) whose log is not hardened yet. Locks last until then."""
    last_text: str = ""
    """Text of the last batch that ended; empty before the first one."""
    last_begun_tick: int = 0
    last_ended_tick: int = 0

    @property
    def principal(self) -> tuple[str, str, str, tuple[tuple[str, str, str], ...]]:
        """Return login, user, the user's database and callers."""
        return self.login, self.user, self.user_database, self.callers

    def __repr__(self) -> str:
        """Return the text for the state hash.

        The last batch, which only views show, and rare empty parts are left out.
        """
        repr_names = [name for name in self.__struct_fields__ if name not in UNSAID_OF_SESSION]
        repr_names = [name for name in repr_names if name not in RARE_IN_SESSION or getattr(self, name)]
        return f"Session({', '.join(f'{name}={getattr(self, name)!r}' for name in repr_names)})"


class Submission(Struct, frozen=True, kw_only=True):
    """Submission of a window that is running, with its output so far."""

    id: int
    text: str
    steps: tuple[Step, ...] | None = None
    """Steps into which the text is divided; None until the division is complete."""
    read: int = 0
    """Work units spent so far on dividing the text into steps."""
    step: int = 0
    repeats: int = 0
    """Number of times that the batch of the current step has been sent."""
    frames: tuple[Frame, ...] = ()
    messages: tuple[Message, ...] = ()
    results: tuple[ResultSet, ...] = ()
    """Displayed results. They do not affect execution."""
    started_tick: int = 0
    waiting: str = ""
    """Reason for the wait: delay, pending, busy, server, login, lock, log, commit; empty while it does not wait."""
    due_tick: int = 0
    since_tick: int | None = None
    """Start tick of the wait for a lock or a commit, which is checked repeatedly."""
    blocked: tuple[tuple[int, ...], ObjectKey, str] = ((), ("", "", ""), "")
    """(sessions that have the lock, object, requested mode) of the lock for which it waits."""
    wait_id: int = 0
    """Number of the wait. A timer with an older number is ignored."""
    pending: tuple[str, tuple[object, ...]] | None = None
    """Completion handler of a pending statement, with its arguments."""
    errors_from: int | None = None
    """Index from which an error message ends the submission, with `:ON ERROR EXIT`; else None."""
    booked: bool = False
    """True if it waits for its next share of work (work.py)."""
    acts: int = 0
    """Number of statements that changed the world."""
    spent: int = 0
    """Work units since the start of the submission."""
    told: bool = False
    """True if a message has already reported its long duration."""
    command: str = ""
    """Kind of the running statement, as in sys.dm_exec_requests; empty before the first."""
    begun_tick: int = 0
    """Tick at which that statement began."""
    said: int = 0
    """Number of characters in the messages so far."""
    characters: int = 0
    cells: int = 0
    """Number of characters and values in the results so far."""
    ends: tuple[StatementCompletion, ...] = ()
    """Ends of statements that only drivers receive."""
    counts: tuple[Message, ...] = ()
    """Row counts of a statement whose commit still waits. They are shown afterwards."""

    def __repr__(self) -> str:
        """Return the text for the state hash, without fields that do not affect the future."""
        fields = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in UNSAID]
        return f"Run({', '.join(fields)})"


UNSAID: Final = ("steps", "results", "command", "begun_tick", "ends", "counts")
UNSAID_OF_SESSION: Final = ("last_text", "last_begun_tick", "last_ended_tick")
RARE_IN_SESSION: Final = frozenset({"applocks", "ranges", "user", "user_database"})


def get_batch_text(run: Submission) -> str:
    """Return the text of the running batch, or of the last one, without the other batches of its submission."""
    batches = [step for step in (run.steps or ())[: run.step + 1] if isinstance(step, ScriptBatch)]
    return batches[-1].text if batches else run.text


class Window(Struct, frozen=True, kw_only=True):
    """T-SQL window: its connection, its sqlcmd state, and its queue of submissions."""

    session: SqlSession | None = None
    target: ConnectionTarget = ConnectionTarget()
    server: str = ""
    """Server or listener of the last `:CONNECT`; empty means the window's own server."""
    variables: tuple[tuple[str, str], ...] = ()
    """sqlcmd variables."""
    lost: int = 0
    """Error number for the next batch after an open transaction was lost with its connection. The session is
    then new.
    """
    queue: tuple[str, ...] = ()
    """Submissions that wait until the running one ends."""

    @property
    def remote(self) -> bool:
        """Return whether a program owns the connection: it is never reconnected silently, and ends with its session."""
        return self.session is not None and self.session.program is not None


DESCRIPTION: Final = "first result"
"""First argument of a call for the description of a text's first result (resolution.py)."""


def parse_declarations(text: str) -> list[tuple[str, str, bool, str]]:
    """Return (name, type, output, default) of each parameter in a declaration of sp_executesql."""
    declared = []
    for part in _split_at_commas(text):
        words = part.split(None, 1)
        if len(words) != 2 or not words[0].startswith("@"):
            raise SqlError(102, part.strip() or "@")
        kind = words[1].strip().lower().removeprefix("as ")
        output = kind.split()[-1] in ("output", "out")
        kind = kind.rsplit(None, 1)[0] if output else kind
        kind, _, default = kind.partition("=")
        declared.append((words[0].lower(), kind.strip(), output, default.strip()))
    return declared


def _split_at_commas(text: str) -> list[str]:
    """Return the parts of *text* between commas outside parentheses."""
    parts, level = [""], 0
    for char in text:
        level += (char == "(") - (char == ")")
        if char == "," and not level:
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part.strip()]


# --- frame of a running batch during its execution; a waiting batch has a Frame ---------------------------


class Scope(Struct):
    """Frame of a batch while it is executed."""

    text: str
    version: int
    parameters: tuple[str, ...] = ()
    read: int | None = 0
    """Work that was spent on compiling the text; None after `code` is complete."""
    code: Program = ()
    units: Program = ()
    """Instructions whose names must be resolved before execution, such as those of a new procedure."""
    resolved: int = 0
    """Number of `units` whose names are resolved (resolution.py)."""
    problems: list[CaughtError] = field(default_factory=list)
    """Errors found by the name resolution."""
    database: str = ""
    """Database of the latest USE before the instruction that is being resolved."""
    quoting: str = ""
    """Latest SET QUOTED_IDENTIFIER (ON or OFF) before that instruction."""
    known_types: dict[str, SqlType] = field(default_factory=dict)
    known_tables: dict[str, Columns] = field(default_factory=dict)
    """Variables and table variables that are declared before that instruction."""
    position: int = 0
    variables: dict[str, DeclaredVariable] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    caught: list[CaughtError] = field(default_factory=list)
    outputs: tuple[tuple[str, str], ...] = ()
    insert_into: str = ""
    outside: SavedContext | None = None
    returns: str = ""
    line: int = 0
    result: int = 0
    """Return value of the procedure."""
    held: int = 0
    """Number of characters in all variables."""
    procedure: str = ""
    levels: int = 1

    @classmethod
    def from_frame(cls, frame: Frame, version: int) -> Scope:
        """Restore the scope from a stored frame."""
        code = (
            program.compile_batch(frame.text, version, frozenset(frame.parameters))
            if frame.read is None
            else ()
        )
        return cls(
            frame.text,
            version,
            frame.parameters,
            frame.read,
            code,
            _list_program_units(code),
            position=frame.position,
            variables=dict(frame.variables),
            tables=dict(frame.tables),
            caught=list(frame.caught),
            outputs=frame.outputs,
            insert_into=frame.insert_into,
            outside=frame.outside,
            returns=frame.returns,
            line=frame.line,
            resolved=frame.resolved,
            problems=list(frame.problems),
            database=frame.database,
            quoting=frame.quoting,
            known_types=dict(frame.known[0]),
            known_tables=dict(frame.known[1]),
            procedure=frame.procedure,
            levels=frame.levels,
            held=sum(len(d.value) for _, d in frame.variables if isinstance(d.value, str | bytes)),
        )

    def compile(self, work: int) -> int:
        """Continue compiling the text, spending at most *work*. Return the work done. Raises SqlSyntaxError."""
        assert self.read is not None
        compiling = program.compile_in_steps(self.text, self.version, frozenset(self.parameters))
        if not compiling.continue_to(self.read + work):
            self.read += work
            return work
        cost = compiling.spent - self.read
        self.read = None
        self.code = compiling.get_result()
        self.units = _list_program_units(self.code)
        self.declare_all()
        return cost

    def declare_all(self) -> None:
        """Declare all variables as NULL, even if their DECLARE is never reached [DOC: DECLARE @local_variable]."""
        for instruction in self.code:
            action = instruction.action
            if isinstance(action, RunStatement) and isinstance(action.statement, s.Declare):
                for item in action.statement.variables:
                    if item.type not in ("table", "cursor"):
                        self.variables.setdefault(item.name, DeclaredVariable(item.type))

    def to_frame(self) -> Frame:
        """Return the scope as a frame, which can be stored."""
        return Frame(
            text=self.text,
            parameters=self.parameters,
            position=self.position,
            variables=tuple(self.variables.items()),
            tables=tuple(self.tables.items()),
            caught=tuple(self.caught),
            outputs=self.outputs,
            insert_into=self.insert_into,
            outside=self.outside,
            returns=self.returns,
            line=self.line,
            read=self.read,
            resolved=self.resolved,
            problems=tuple(self.problems),
            database=self.database,
            quoting=self.quoting,
            known=(tuple(self.known_types.items()), tuple(self.known_tables.items())),
            procedure=self.procedure,
            levels=self.levels,
        )


def _list_program_units(code: Program) -> Program:
    first_action = code[0].action if code else None
    if isinstance(first_action, RunStatement) and isinstance(
        first_action.statement, s.CreateProcedure | s.CreateFunction
    ):
        return (code[0], *first_action.statement.program)
    return code
