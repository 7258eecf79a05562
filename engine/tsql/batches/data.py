"""Connections, running batches and their tables as immutable data, which a fork of the world can share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from engine.messages import Message, SqlError
from engine.tsql.batches.row_locks import RowLocks
from engine.tsql.language import compiler
from engine.tsql.language import statements as s
from engine.tsql.language.columns import ColumnDefinition, Constraint
from engine.tsql.language.instructions import Program, StatementInstruction
from engine.tsql.language.script import ScriptBatch, ScriptStep
from engine.tsql.query.plans import Columns
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import Scalar

Row = tuple[Scalar, ...]
"""Values of a row in the order of its columns."""

AGENT_WINDOW_MARKER: Final = "#agent:"
"""Marker in the window names of job steps: SERVER_A#agent:step:job (clients/agent.py)."""


class ConnectionLostError(Exception):
    """Error for a connection that is lost. `numbers` are the error numbers that the client reports."""

    def __init__(self, *numbers: int) -> None:
        super().__init__(*numbers)
        self.numbers = numbers


class Table(Struct, frozen=True):
    """Table with its rows: a user table, temp table or table variable."""

    columns: tuple[ColumnDefinition, ...]
    rows: tuple[Row, ...] = ()
    next_identity: int = 1
    identity_cache: tuple[str, int, int] = ("", 0, 0)
    """Identity values that the server has cached (tables.py).

    The items are the server, the start tick of its service, and the last cached value.
    """
    characters: int = 0
    """Number of characters in all text values of the table."""
    ids: tuple[int, ...] = ()
    """Permanent number of each row, so that connections can change different rows without a conflict."""
    next_id: int = 1
    constraints: tuple[Constraint, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    """Options of CREATE TABLE."""

    @property
    def cells(self) -> int:
        """Return the number of values in the table. This number is limited to save memory."""
        return len(self.columns) * len(self.rows)


ObjectKey = tuple[str, str, str]
"""Key of an object that a script has created: (server, database, lowercase name)."""


class RowChanges(Struct, frozen=True):
    """Changes of a transaction to the rows of a table.

    *rows* contains (row number, new row). The new row is None for a deleted row.
    """

    rows: tuple[tuple[int, Row | None], ...]
    next_identity: int
    next_id: int
    identity_cache: tuple[str, int, int] = ("", 0, 0)


class ApplicationLock(Struct, frozen=True):
    """Lock of sp_getapplock on an application resource."""

    place: ObjectKey
    mode: str
    owner: str
    """Owner of the lock: "transaction" or "session"."""
    count: int = 1
    """Number of requests for the lock that are not yet released."""


class SilentCompletion(Struct, frozen=True):
    """Completion that only drivers receive, not query windows: of SELECT @x = … or of EXEC."""

    after_messages: int
    """Number of messages before the completion."""
    after_results: int
    """Number of result sets before the completion."""
    rows: int | None = None
    status: int | None = None
    """Return value of the procedure; None for an assignment."""


class ResultSet(Struct, frozen=True):
    """Result set that the client receives."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    types: tuple[str, ...] = ()
    """T-SQL type of each column; empty if unknown."""
    after_messages: int = 0
    """Number of messages before this result set. Messages and result sets form one stream."""
    failed: bool = False
    """True if an error ended the query after these rows."""
    nullable: tuple[bool, ...] = ()
    """For each column, whether it may be NULL; empty if unknown."""


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
    """Declared cursor. *rows* is None while the cursor is closed."""

    query: str
    scrolls: bool = False
    """True if FETCH can move in every direction, False if only forward."""
    counted: bool = False
    """True if OPEN determines the number of rows (STATIC, KEYSET) for @@CURSOR_ROWS, which is otherwise -1."""
    kinds: tuple[SqlType | None, ...] = ()
    """SQL types of the columns; None for an unknown type."""
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] | None = None
    position: int = -1
    characters: int = 0
    """Number of characters in all text values of the cursor's rows."""

    @property
    def cells(self) -> int:
        """Return the number of values in the cursor's rows. This number is limited to save memory."""
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
    """Type and value of a declared variable."""

    type: str
    value: Scalar = None


class SavedContext(Struct, frozen=True):
    """State to restore after a procedure or dynamic SQL: database, options, names of temp tables, SCOPE_IDENTITY."""

    database: str
    options: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    transactions: int = 0
    """@@TRANCOUNT when the procedure or dynamic SQL began."""
    principal: tuple[str, str, str, tuple[tuple[str, str, str], ...]] | None = None
    """Security context to restore if the procedure or dynamic SQL executes EXECUTE AS.

    See SqlSession.principal.
    """
    scope_identity: int | None = None


class Frame(Struct, frozen=True):
    """Stack frame of a running batch: the batch itself, a procedure, or the text of dynamic SQL."""

    text: str
    parameters: tuple[str, ...] = ()
    """Names of the variables that the frame has from its start, such as parameters."""
    position: int = 0
    variables: tuple[tuple[str, DeclaredVariable], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Table variables."""
    caught: tuple[CaughtError, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    """Variable of this frame -> variable of the calling frame that receives its value at the end."""
    insert_into: str = ""
    """Target table (and columns) of INSERT … EXEC, which receives the rows; empty without INSERT … EXEC."""
    outside: SavedContext | None = None
    """Context of the calling frame, which is restored at the end; None for the batch itself."""
    returns: str = ""
    """Variable of the calling frame that receives the return value."""
    line: int = 0
    """Line of the running or waiting statement."""
    read: int | None = None
    """Work units spent so far on compiling the text; None after compilation."""
    resolved: int = 0
    problems: tuple[CaughtError, ...] = ()
    database: str = ""
    quoting: str = ""
    known: tuple[tuple[tuple[str, SqlType], ...], tuple[tuple[str, Columns], ...]] = ((), ())
    """Declarations resolved so far: `known_types` and `known_tables` of `MutableFrame`."""
    procedure: str = ""
    """Name of the procedure whose body the text is; empty for other texts."""
    levels: int = 1
    """Number of levels that the frame adds to @@NESTLEVEL.

    It is two for sp_executesql, a procedure that runs a text.
    """


class Undo(Struct, frozen=True):
    """State that ROLLBACK restores: temp tables, and earlier changes of other objects."""

    tables: tuple[tuple[str, Table], ...]
    writes: tuple[tuple[ObjectKey, object], ...] = ()


class ClientProgram(Struct, frozen=True, kw_only=True):
    """Program that has logged in over the network, as it describes itself in the login."""

    host: str = ""
    name: str = ""
    interface: str = ""
    """Name of the program's client library."""
    database: str = "master"
    """Database at login. A reset of the connection returns to this database."""
    language: str = ""
    """Language at login, like that of `SET LANGUAGE`; empty for the server's default."""
    encrypted: bool = False
    """True if TLS encrypts the connection."""
    packet_bytes: int = 4096
    """Negotiated packet size in bytes. The default is the product's default. Documented."""


CONSOLE_PROGRAM: Final = ClientProgram(
    host="CONSOLE", name="Mirrordrill", interface=".Net SqlClient Data Provider"
)
"""Client program that servers see at the other end of a query window's connection."""


class ConnectionTarget(Struct, frozen=True, kw_only=True):
    """Target of a window's connection, as a connection string describes it."""

    source: str = ""
    """Server or listener; empty means the server in the window's name."""
    database: str = ""
    read_intent: bool = False
    """True for ApplicationIntent=ReadOnly."""


class SqlSession(Struct, frozen=True, kw_only=True):
    """SQL Server session of a window or program, with the state that survives a batch."""

    server: str
    spid: int
    login: str
    user: str = ""
    """User that EXECUTE AS USER impersonates; empty means the user of the login."""
    user_database: str = ""
    """Database of the impersonated user; empty without EXECUTE AS USER."""
    callers: tuple[tuple[str, str, str], ...] = ()
    """Security contexts before each EXECUTE AS: (login, user, database of the user). REVERT uses the last."""
    program: ClientProgram | None = None
    """Program that owns the connection; None for a query window.

    The lost connection of a program is not reopened.
    """
    database: str = "master"
    read_intent: bool = False
    """True for ApplicationIntent=ReadOnly."""
    started_tick: int = 0
    """Start tick of the instance when the connection was opened. A later start means that the connection is
    lost.
    """
    login_tick: int = 0
    transactions: int = 0
    rowcount: int = 0
    error: int = 0
    fetch_status: int = 0
    identity: int | None = None
    """Last identity value of the session: @@IDENTITY."""
    scope_identity: int | None = None
    """Last identity value of the running procedure, dynamic SQL or batch: SCOPE_IDENTITY()."""
    options: tuple[tuple[str, str], ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Temp tables."""
    cursors: tuple[tuple[str, SqlCursor], ...] = ()
    undo: Undo | None = None
    """State that ROLLBACK restores; None without an open transaction."""
    transaction_name: str = ""
    transaction_id: int = 0
    transaction_tick: int = 0
    """Start tick of the latest transaction."""
    savepoints: tuple[tuple[str, Undo], ...] = ()
    doomed: bool = False
    """True if the transaction can only be rolled back, after a caught error under XACT_ABORT."""
    writes: tuple[tuple[ObjectKey, object], ...] = ()
    """Changes of the transaction by object: RowChanges, a created object, or None for a dropped object. They
    are not in a log yet.
    """
    logs: tuple[tuple[tuple[str, str], float, float], ...] = ()
    """Log that the transaction has written: (key of the database copy, start position in KB, KB)."""
    held: tuple[tuple[ObjectKey, str], ...] = ()
    """Table locks that the session holds until the end of the transaction (locks.py): (object, mode)."""
    row_locks: tuple[RowLocks, ...] = ()
    applocks: tuple[ApplicationLock, ...] = ()
    committing: tuple[tuple[tuple[str, str], float], ...] = ()
    """Commits whose log is not hardened yet: (database copy, log position). They keep their locks."""
    last_text: str = ""
    """Text of the last batch that ended; empty before the first one."""
    last_begun_tick: int = 0
    last_ended_tick: int = 0

    @property
    def principal(self) -> tuple[str, str, str, tuple[tuple[str, str, str], ...]]:
        """Return the security context: login, user, database of the user, and callers."""
        return self.login, self.user, self.user_database, self.callers

    def __repr__(self) -> str:
        """Return the session as text for the state hash.

        The text omits rare fields that are empty. It also omits the last batch, because only views show it.
        """
        repr_names = [name for name in self.__struct_fields__ if name not in UNHASHED_SESSION_FIELDS]
        repr_names = [name for name in repr_names if name not in RARE_SESSION_FIELDS or getattr(self, name)]
        return f"Session({', '.join(f'{name}={getattr(self, name)!r}' for name in repr_names)})"


class Submission(Struct, frozen=True, kw_only=True):
    """Text that a window has sent and that is running or waiting, with its output so far."""

    id: int
    text: str
    steps: tuple[ScriptStep, ...] | None = None
    """Steps into which the text is divided; None until the division is complete."""
    read: int = 0
    """Work units spent so far on dividing the text into steps."""
    step: int = 0
    repeats: int = 0
    """Number of times that the batch of the current step has been sent (`GO n`)."""
    frames: tuple[Frame, ...] = ()
    messages: tuple[Message, ...] = ()
    results: tuple[ResultSet, ...] = ()
    """Result sets so far. They do not affect the execution."""
    started_tick: int = 0
    waiting: str = ""
    """Reason for the wait: delay, pending, busy, server, login, lock, log or commit; empty without a wait."""
    due_tick: int = 0
    since_tick: int | None = None
    """Start tick of a wait for other sessions, a lock or a commit; None without such a wait.

    During this wait, its condition is checked repeatedly.
    """
    blocked: tuple[tuple[int, ...], ObjectKey, str, int | None] = ((), ("", "", ""), "", None)
    """Lock for which the submission waits: (session IDs of the holders, object, requested mode, row)."""
    wait_id: int = 0
    """Number of the current wait. A timer with another number is ignored."""
    pending: tuple[str, tuple[object, ...]] | None = None
    """Completion handler of a pending statement, and the handler's arguments."""
    errors_from: int | None = None
    """Number of messages already checked for errors; None without `:ON ERROR EXIT`."""
    booked: bool = False
    """True if work units are already reserved for the next turn of the submission (work.py)."""
    acts: int = 0
    """Number of statements that changed the world."""
    spent: int = 0
    """Work units since the start of the submission."""
    told: bool = False
    """True if the warning that the batch has been running for a long time was already shown."""
    command: str = ""
    """Command of the running statement in sys.dm_exec_requests; empty before the first statement."""
    begun_tick: int = 0
    """Start tick of the statement in *command*."""
    said: int = 0
    """Number of characters in the messages so far."""
    characters: int = 0
    """Number of characters in the result sets so far."""
    cells: int = 0
    """Number of values in the result sets so far."""
    ends: tuple[SilentCompletion, ...] = ()
    """Statement completions, which only drivers receive."""
    counts: tuple[Message, ...] = ()
    """Row counts of a statement whose commit is still waiting. They are reported after the commit."""

    def __repr__(self) -> str:
        """Return the submission as text for the state hash, without fields that do not affect later states."""
        fields = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__struct_fields__
            if name not in UNHASHED_SUBMISSION_FIELDS
        ]
        return f"Run({', '.join(fields)})"


UNHASHED_SUBMISSION_FIELDS: Final = ("steps", "results", "command", "begun_tick", "ends", "counts")
"""Fields of Submission that the state hash omits."""
UNHASHED_SESSION_FIELDS: Final = ("last_text", "last_begun_tick", "last_ended_tick")
RARE_SESSION_FIELDS: Final = frozenset({"applocks", "row_locks", "scope_identity", "user", "user_database"})
"""Fields of SqlSession that the state hash omits if they are empty."""


def get_batch_text(run: Submission) -> str:
    """Return the text of the running or last batch, without other batches of the submission."""
    batches = [step for step in (run.steps or ())[: run.step + 1] if isinstance(step, ScriptBatch)]
    return batches[-1].text if batches else run.text


class Window(Struct, frozen=True, kw_only=True):
    """State of a query window or of a program's connection: session, sqlcmd variables, queued submissions."""

    session: SqlSession | None = None
    target: ConnectionTarget = ConnectionTarget()
    server: str = ""
    """Server or listener of the last `:CONNECT`; empty means the window's own server."""
    variables: tuple[tuple[str, str], ...] = ()
    """sqlcmd variables."""
    lost: int = 0
    """Error number for the next batch after the loss of an open transaction; 0 for no error."""
    queue: tuple[str, ...] = ()
    """Submissions that wait until the running one ends."""

    @property
    def remote(self) -> bool:
        """Return whether a program owns the connection.

        The connection of a program never reconnects, and its window ends with its session.
        """
        return self.session is not None and self.session.program is not None


FIRST_RESULT_REQUEST: Final = "first result"
"""First argument of `StatementContext.call_function` in a request for a result set description.

The description is that of the first result set that a text returns (resolution.py).
"""


def parse_parameter_declarations(text: str) -> list[tuple[str, str, bool, str]]:
    """Return (name, type, output, default) for each parameter declaration of sp_executesql. Raises 102."""
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
    """Split *text* at the commas outside parentheses. Omit empty parts."""
    parts, level = [""], 0
    for char in text:
        level += (char == "(") - (char == ")")
        if char == "," and not level:
            parts.append("")
        else:
            parts[-1] += char
    return [part for part in parts if part.strip()]


# --- mutable form of a Frame, during the execution of its batch ------------------------------------------


class MutableFrame(Struct):
    """Frame while its batch runs, as a mutable object. Fields without a description are those of Frame."""

    text: str
    version: int
    parameters: tuple[str, ...] = ()
    read: int | None = 0
    """Work units spent so far on compiling the text; None after compilation."""
    code: Program = ()
    """Instructions of the compiled text."""
    units: Program = ()
    """Instructions whose names are resolved before execution.

    They include the instructions in the body of a new procedure or function.
    """
    resolved: int = 0
    """Number of `units` whose names are resolved (resolution.py)."""
    errors: list[CaughtError] = field(default_factory=list)
    """Errors that name resolution has found."""
    database: str = ""
    """Database of the latest USE before the instruction whose names are being resolved; else empty."""
    quoting: str = ""
    """Latest SET QUOTED_IDENTIFIER (ON or OFF) before the instruction whose names are being resolved."""
    known_types: dict[str, SqlType] = field(default_factory=dict)
    """Types of the variables declared before the instruction whose names are being resolved."""
    known_tables: dict[str, Columns] = field(default_factory=dict)
    """Columns of the table variables declared before the instruction whose names are being resolved."""
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
    variable_characters: int = 0
    """Number of characters and bytes in the values of all variables."""
    procedure: str = ""
    levels: int = 1

    @classmethod
    def from_frame(cls, frame: Frame, version: int) -> MutableFrame:
        """Build the mutable form of a stored frame. *version*: version of the instance."""
        code = (
            compiler.compile_batch(frame.text, version, frozenset(frame.parameters))
            if frame.read is None
            else ()
        )
        return cls(
            frame.text,
            version,
            frame.parameters,
            frame.read,
            code,
            _list_resolvable_instructions(code),
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
            errors=list(frame.problems),
            database=frame.database,
            quoting=frame.quoting,
            known_types=dict(frame.known[0]),
            known_tables=dict(frame.known[1]),
            procedure=frame.procedure,
            levels=frame.levels,
            variable_characters=sum(
                len(d.value) for _, d in frame.variables if isinstance(d.value, str | bytes)
            ),
        )

    def compile(self, work: int) -> int:
        """Continue compiling with at most *work* units. Return the units spent. Raises SqlSyntaxError."""
        assert self.read is not None
        compiling = compiler.compile_in_steps(self.text, self.version, frozenset(self.parameters))
        if not compiling.continue_to(self.read + work):
            self.read += work
            return work
        cost = compiling.spent - self.read
        self.read = None
        self.code = compiling.get_result()
        self.units = _list_resolvable_instructions(self.code)
        self.declare_all_variables()
        return cost

    def declare_all_variables(self) -> None:
        """Declare all variables as NULL, even if their DECLARE is never reached.

        [DOC: DECLARE @local_variable]
        """
        for instruction in self.code:
            action = instruction.action
            if isinstance(action, StatementInstruction) and isinstance(action.statement, s.DeclareStatement):
                for item in action.statement.variables:
                    if item.type not in ("table", "cursor"):
                        self.variables.setdefault(item.name, DeclaredVariable(item.type))

    def to_frame(self) -> Frame:
        """Return the current state as an immutable frame, which the world can store."""
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
            problems=tuple(self.errors),
            database=self.database,
            quoting=self.quoting,
            known=(tuple(self.known_types.items()), tuple(self.known_tables.items())),
            procedure=self.procedure,
            levels=self.levels,
        )


def _list_resolvable_instructions(code: Program) -> Program:
    """Return the instructions whose names are resolved, including the body of a new procedure or function."""
    first_action = code[0].action if code else None
    if isinstance(first_action, StatementInstruction) and isinstance(
        first_action.statement, s.CreateProcedureStatement | s.CreateFunctionStatement
    ):
        return (code[0], *first_action.statement.program)
    return code
