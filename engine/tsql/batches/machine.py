"""Interface of a submission for the statements that it runs, and output of the submission.

Statements use only this interface. `SubmissionRunner` (runner.py) is its only implementation.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.messages import Message, SqlError, fill_message
from engine.model import FieldOf, World
from engine.protocol import errorlog, statements
from engine.tsql.batches.context import StatementContext, is_sysadmin
from engine.tsql.batches.data import (
    CaughtError,
    DeclaredVariable,
    MutableFrame,
    ResultSet,
    Row,
    SavedContext,
    SilentCompletion,
    SqlCursor,
    SqlSession,
    Submission,
    Table,
)
from engine.tsql.batches.work import WorkMeter
from engine.tsql.language import statements as s
from engine.tsql.language.lexer import restore_spelling
from engine.tsql.language.script import ScriptBatch
from engine.tsql.query.plans import BindingContext, QueryPlan, TableRef, UnsimulatedFeatureError
from engine.tsql.scalars.settings import SessionSettings, build_settings, truncate_long_values
from engine.tsql.scalars.types import SqlType, check_conversion, make_variant, parse_sql_type
from engine.tsql.scalars.values import Scalar, convert_value, format_value, to_text

# --- output of a submission to its window: messages and results, within limits ---------------------------

NOT_SIMULATED_PREFIX: Final = "Not simulated: "
"""Prefix of messages about unsimulated features."""

OUTPUT_ITEMS_MAX: Final = 5_000
"""Maximum number of messages and result sets of one submission. Assumed."""

MESSAGE_CHARACTERS_MAX: Final = 1_000_000
"""Maximum number of characters in all messages of one submission. Assumed."""

RESULT_CHARACTERS_MAX: Final = 5_000_000
"""Maximum number of characters in all result sets of one submission.

Assumed: slightly more than the largest result set has.
"""

RESULT_CELLS_MAX: Final = 150_000
"""Maximum number of values in all result sets of one submission. Assumed."""


BATCH_ENDING_ERRORS: Final = frozenset(
    {
        137, 924, 241, 242, 245, 248, 911, 1087, 8114, 8169, 927, 942, 945, 952, 954, 955, 956, 921,
        922, 2714, 3930,
    }
)  # fmt: skip
"""Errors that end the batch. Known from the product's behavior, because the documentation is incomplete."""

CONVERSION_ERRORS: Final = frozenset({241, 242, 245, 248, 8114, 8169})
"""Conversion errors that end the batch and the transaction.

In a TRY block, they doom the transaction instead (3930, 3998). Seen in public client output for 245 and
8169; the others are derived.
"""

FRAME_ENDING_ERRORS: Final = frozenset(
    {
        207, 208, 209, 4104, 4121, 195, 174, 189, 205, 116, 141, 147, 104, 107, 108, 127, 130, 144, 145, 164, 206, 243,
        402, 408, 529, 1011, 1013, 1015, 1033, 1062, 4902, 8116, 8117, 8120, 8121, 8127, 8133, 8155, 8156, 8158, 8159,
        10709,
    }
)  # fmt: skip
"""Compilation errors that end the batch or the text of an EXEC."""

STATEMENT_ENDING_ERRORS: Final = frozenset({515, 547, 2601, 2627, 2628, 8152})
"""Errors about rows that terminate only the statement. Message 3621 about the termination follows."""

RUN_TIME_ERRORS: Final = frozenset(
    {
        220, 232, 235, 241, 242, 244, 245, 248, 289, 295, 512, 517, 530, 535, 536, 537, 3623, 8114, 8115, 8134, 8169,
        8170, 9400, 9819, 13607, 13608, 13609, 13611, 13623, 13624, 13625,
    }
)  # fmt: skip
"""Errors about values. A SELECT that fails with one has already returned its column names."""

DATA_CHANGE_ENDING_ERRORS: Final = frozenset({220, 232, 512, 517, 535, 536, 537, 3623, 8115, 8134})
"""Errors about values that terminate a statement which changes data.

Message 3621 about the termination follows them. It does not follow in a SELECT.
"""


class SubmissionOutput:
    """Output of a running submission: messages, result sets, row counts and changes of its session."""

    def __init__(self, world: World, run: Submission, session: SqlSession, meter: WorkMeter) -> None:
        self.world = world
        self.meter = meter
        self.run = run
        self.session = session
        self.context = StatementContext(world, session)
        self.scopes = [MutableFrame.from_frame(frame, self.context.version) for frame in run.frames]
        self.messages = list(run.messages)
        self.results = list(run.results)

    @property
    def line(self) -> int:
        """Return the line of the running statement in its batch."""
        return self.scopes[-1].line if self.scopes else 0

    @property
    def _lines_above(self) -> int:
        """Return the number of lines of the submission that precede the running batch."""
        steps = self.run.steps or ()
        step = steps[self.run.step] if self.run.step < len(steps) else None
        return step.above if isinstance(step, ScriptBatch) else 0

    def change_session(self, **changes: FieldOf[SqlSession]) -> None:
        """Change fields of the session."""
        self.session = replace(self.session, **changes)
        self.context.session = self.session

    def append_message(
        self,
        text: str,
        number: int = 0,
        severity: int = 0,
        state: int = 0,
        line: int = 0,
        rows: int | None = None,
        procedure: str = "",
    ) -> None:
        """Append a message. *procedure*: the procedure that raised the message (default: the running one)."""
        self.run = replace(self.run, said=self.run.said + len(text))
        room = self.run.said <= MESSAGE_CHARACTERS_MAX
        if room and len(self.messages) + len(self.results) < OUTPUT_ITEMS_MAX:
            running = (scope.procedure for scope in reversed(self.scopes) if scope.procedure)
            called = procedure or next(running, "")
            message = Message(
                number, severity, state, line, text, self.session.server, self._lines_above, rows, called
            )
            self.messages.append(message)
        elif not self.messages or self.messages[-1].text != _OUTPUT_LIMIT_TEXT:
            self.messages.append(Message(0, 0, 0, 0, _OUTPUT_LIMIT_TEXT, self.session.server))

    def append_numbered_message(self, number: int, *arguments: object, state: int = 1) -> None:
        """Append the message *number* with the severity that the product defines for it."""
        severity, text = fill_message(number, *arguments, version=self.context.version)
        self.append_message(text, number, severity, state, self.line)

    def append_row_count(self, count: int) -> None:
        """Set @@ROWCOUNT, and append `(n rows affected)` unless SET NOCOUNT is ON."""
        self.change_session(rowcount=count, error=0)
        if dict(self.session.options).get("NOCOUNT") != "ON":
            text = f"({count} row affected)" if count == 1 else f"({count} rows affected)"
            self.append_message(text, rows=count)

    def record_completion(self, rows: int | None = None, status: int | None = None) -> None:
        """Record the completion of a statement for drivers.

        *status*: return code of a procedure. Without a *status*, NOCOUNT suppresses the completion.
        """
        quiet = status is None and dict(self.session.options).get("NOCOUNT") == "ON"
        if not quiet and len(self.run.ends) < OUTPUT_ITEMS_MAX:
            end = SilentCompletion(len(self.messages), len(self.results), rows, status)
            self.run = replace(self.run, ends=(*self.run.ends, end))

    def withhold_row_counts(self, first_index: int) -> None:
        """Remove the row counts from the messages since *first_index*, and store them for `append_row_counts`."""
        counted_messages = [message for message in self.messages[first_index:] if message.rows is not None]
        self.messages[first_index:] = [
            message for message in self.messages[first_index:] if message.rows is None
        ]
        self.run = replace(self.run, counts=tuple(counted_messages))

    def append_row_counts(self) -> None:
        """Append the row counts that `withhold_row_counts` has stored."""
        if self.run.counts:
            self.messages += self.run.counts
            self.run = replace(self.run, counts=())

    def append_messages(self, messages: Iterable[Message]) -> None:
        """Append messages. Those without a line number get the current line."""
        for message in messages:
            line = message.line or (self.line if message.number else 0)
            self.append_message(message.text, message.number, message.severity, message.state, line)

    def report_unsimulated(self, feature: str) -> None:
        """Append the message "Not simulated: *feature*"."""
        self.append_message(f"{NOT_SIMULATED_PREFIX}{feature}", severity=10)

    def report_partly_simulated(self, notice: str) -> None:
        """Report that a part of a statement is not simulated.

        *notice*: text of the report. It is not an error, and appears once per submission.
        """
        text = f"{NOT_SIMULATED_PREFIX}{notice}"
        if all(message.text != text for message in self.messages):
            self.append_message(text)

    def build_errors(self, problem: SqlError, line: int) -> list[CaughtError]:
        """Return the messages of an error, for a CATCH block or for the client.

        *line*: line number in the messages, which is 0 for an error in a call.
        """
        version = self.world.instances[self.session.server].version
        if problem.number in _TEXT_QUOTING_ERRORS and problem.parameters:
            text = self.scopes[-1].text if self.scopes else ""
            problem.parameters = (restore_spelling(problem.parameters[0], text), *problem.parameters[1:])
        line = 0 if problem.in_call else line
        severity, text = fill_message(problem.number, *problem.parameters, version=version)
        errors = [CaughtError(problem.number, severity, problem.state, line, text, problem.procedure)]
        for other_error in problem.problems[1:]:
            severity, text = fill_message(other_error.number, *other_error.parameters, version=version)
            errors.append(CaughtError(other_error.number, severity, other_error.state, line, text))
        for number in problem.also:
            severity, text = fill_message(
                number, *_build_second_error_arguments(number, problem), version=version
            )
            follows = number in _FOLLOWING_ERRORS
            errors.append(CaughtError(number, 16 if follows else severity, 0 if follows else 1, line, text))
        return errors

    def add_result(
        self,
        columns: Iterable[str],
        rows: Iterable[Row],
        kinds: Sequence[SqlType | None] = (),
        nullable: tuple[bool, ...] = (),
    ) -> None:
        """Append a result set. *kinds*: types of its columns; None for an unknown type."""
        fixed = truncate_long_values([tuple(row) for row in rows], kinds, self.session.options)
        self.meter.count_units(len(fixed) * (1 + len(fixed[0]) // 2) if fixed else 1)
        shown_rows = tuple(tuple(format_value(value) for value in row) for row in fixed)
        size = sum(len(str(value)) for row in shown_rows for value in row)
        cells = len(shown_rows) * len(shown_rows[0]) if shown_rows else 0
        if self.run.characters + size > RESULT_CHARACTERS_MAX or self.run.cells + cells > RESULT_CELLS_MAX:
            if not self.messages or self.messages[-1].text != _OUTPUT_LIMIT_TEXT:
                self.append_message(_OUTPUT_LIMIT_TEXT)
        elif len(self.results) < OUTPUT_ITEMS_MAX:
            self.run = replace(self.run, characters=self.run.characters + size, cells=self.run.cells + cells)
            column_names = tuple(columns)
            types = tuple("" if kind is None else str(kind) for kind in kinds or (None,) * len(column_names))
            self.results.append(
                ResultSet(column_names, shown_rows, types, len(self.messages), nullable=nullable)
            )


_TEXT_QUOTING_ERRORS: Final = frozenset({102, 155, 156, 308})
"""Errors whose message quotes a word of the batch, in the spelling of the batch."""

_FOLLOWING_ERRORS: Final = frozenset({1750, 3727, 4916})
"""Messages that follow an error. Clients receive them with severity 16 and state 0.

Seen in public client output.
"""

_OUTPUT_LIMIT_TEXT: Final = (
    f"Not simulated: more than {OUTPUT_ITEMS_MAX} messages and results of one submission, "
    f"more than {MESSAGE_CHARACTERS_MAX} characters in its messages, "
    f"or more than {RESULT_CELLS_MAX} values or {RESULT_CHARACTERS_MAX} characters in them."
)
"""Message that replaces output beyond the limits."""


def _build_second_error_arguments(number: int, problem: SqlError) -> tuple[object, ...]:
    """Return the arguments of error *number*, which follows the error *problem*."""
    if number == 4922:
        action = problem.title if problem.title.startswith("ALTER") else "ALTER TABLE DROP COLUMN"
        return action, problem.parameters[-1], "column"
    has_title = number in (3013, 4413)
    return (getattr(problem, "title", "RESTORE DATABASE"),) if has_title else problem.parameters


# --- interface between statements and the submission that runs them -----------------------------------------


PROCEDURE_NESTING_MAX: Final = 32
"""Maximum nesting of procedures. A deeper call raises 217. Documented."""

NESTED_TEXT_CHARACTERS_MAX: Final = 1_500_000
"""Maximum number of characters in the texts of all frames of one submission. Assumed."""

CONNECTION_CELLS_MAX: Final = 500_000
"""Maximum number of values in all tables and cursors of a connection. Assumed."""
CONNECTION_CHARACTERS_MAX: Final = 20_000_000
"""Maximum number of characters in the tables and cursors of a connection, and in its variables. Assumed."""

CHANGING_STATEMENTS_MAX: Final = 5_000
"""Maximum number of statements of one submission that change the world. Assumed."""


class ExecutionMachine(SubmissionOutput):
    """Interface for the execution of a submission.

    After the execution, the attributes `run` and `session` contain the changed submission and session.
    """

    def __init__(self, world: World, run: Submission, session: SqlSession, meter: WorkMeter) -> None:
        """Create a machine. *meter* counts its work."""
        super().__init__(world, run, session, meter)
        self.capture = ""
        """Target table of INSERT … EXEC while a system procedure or remote text runs; else empty."""
        self.changing = ""
        """Table that the running UPDATE or DELETE changes; else empty."""
        self.chained = False
        """True while the rows of a view are computed. The permissions of its owner then apply."""
        self.used_identity: tuple[TableRef, Table] | None = None
        """Table of a failed INSERT, with its next identity value after the INSERT; None without one."""
        self.touched: list[tuple[str, Row | None, Row | None]] = []
        """Rows that the last change of a table has affected: (action, old row, new row)."""
        self.output_values: list[Row] = []
        """Values of the source tables' columns in an OUTPUT clause, for each of these rows."""
        self.output_count = 0
        """Number of these values."""
        self.pseudo: dict[str, Table] = {}
        """Tables "inserted" and "deleted" while an OUTPUT clause is computed, and rows of a checked constraint."""
        self.blocked: Exception | None = None
        """Lock conflict in a function that the running query calls; None without one."""

    @abstractmethod
    def create_sibling_machine(
        self, run: Submission, session: SqlSession, meter: WorkMeter
    ) -> ExecutionMachine:
        """Return a new machine of the same class that executes *run* on the connection *session*."""

    @abstractmethod
    def begin_batch(self, text: str) -> None:
        """Make *text* the running batch. If its compilation fails, no part of it runs."""

    @abstractmethod
    def run_until_wait(self) -> bool:
        """Run until the batch ends or waits. Return True if it has ended. Raises ConnectionLostError."""

    @abstractmethod
    def release_resources(self) -> None:
        """Release the resources of this machine's queries."""

    @abstractmethod
    def perform_statement(self, statement: s.Statement) -> None:
        """Execute a statement. Raises SqlError."""

    @abstractmethod
    def schedule_check(self, reason: str) -> None:
        """Schedule the next check of a wait. Checks become less frequent during a long wait."""

    @abstractmethod
    def handle_error(self, problem: SqlError, line: int | None = None, ends_batch: bool = False) -> None:
        """Pass an error of the running statement to the CATCH block, or report it to the client.

        Some reported errors end the batch. With *ends_batch*, every reported error ends it.
        """

    @abstractmethod
    def handle_errors(
        self, errors: list[CaughtError], ends_batch: bool = False, can_abort: bool = True
    ) -> None:
        """Pass errors to the CATCH block, or report them to the client.

        *ends_batch*: reported errors end the batch. *can_abort*: XACT_ABORT also applies, if it is ON.
        """

    @abstractmethod
    def abort_as_deadlock_victim(self) -> None:
        """Roll back the transaction as deadlock victim. End the batch unless it catches the error."""

    @abstractmethod
    def end_batch(self) -> None:
        """End the running batch without executing the rest of its statements."""

    @abstractmethod
    def get_variable_value(self, name: str) -> Scalar:
        """Return the value of `@name` or `@@name`. Raise 137 for an undeclared variable."""

    @abstractmethod
    def plan_text(self, kind: str, text: str, names: BindingContext | None = None) -> QueryPlan:
        """Return the plan of *text*, which is a statement, expression or condition according to *kind*.

        The plan is bound to *names*, by default to the names that the running statement can use. Raises the
        errors of plans.plan.
        """

    @abstractmethod
    def get_bindings(self, kind: str, text: str) -> BindingContext:
        """Return the current bindings of the names in *text*."""

    @abstractmethod
    def evaluate_expression(self, text: str) -> Scalar:
        """Return the value of an expression."""

    @abstractmethod
    def evaluate_with_type(self, text: str) -> tuple[Scalar, SqlType | None]:
        """Return the value of an expression and its type."""

    @abstractmethod
    def evaluate_condition(self, condition: str) -> bool:
        """Return whether the condition is true. False and unknown return False."""

    @abstractmethod
    def run_select(self, plan: QueryPlan) -> tuple[tuple[str, ...], list[Row]]:
        """Return the column names and the rows of the plan's result."""

    def wait(self, reason: str, due_tick: int, pending: tuple[str, tuple[object, ...]] | None = None) -> None:
        """Let the submission wait until *due_tick*. *reason* and *pending*: see Submission."""
        number = self.world.next_id()
        self.run = replace(self.run, waiting=reason, due_tick=due_tick, wait_id=number, pending=pending)

    def enter_frame(
        self,
        text: str,
        variables: dict[str, DeclaredVariable] | None = None,
        outputs: tuple[tuple[str, str], ...] = (),
        insert_into: str = "",
        returns: str = "",
        database: str = "",
        procedure: str = "",
        levels: int = 1,
    ) -> None:
        """Run the text of a procedure or of dynamic SQL before the rest of the batch.

        *database*: database in which the text runs (default: the current one). The other parameters are
        fields of Frame.
        """
        target = self.context.open_database(database) if database else ""
        if len(self.scopes) > PROCEDURE_NESTING_MAX:
            raise SqlError(217, PROCEDURE_NESTING_MAX)
        initial_values = variables or {}
        if len(text) + sum(len(scope.text) for scope in self.scopes) > NESTED_TEXT_CHARACTERS_MAX:
            raise UnsimulatedFeatureError(
                f"dynamic SQL of more than {NESTED_TEXT_CHARACTERS_MAX} characters, including the calling batches"
            )
        tables = tuple(name for name, _ in self.session.tables)
        scope = MutableFrame(
            text,
            self.context.version,
            tuple(initial_values),
            variables=dict(initial_values),
            outputs=outputs,
            insert_into=insert_into,
            procedure=procedure,
            levels=levels,
        )
        scope.outside = SavedContext(
            self.session.database,
            self.session.options,
            tables,
            self.session.transactions,
            self.session.principal,
            self.session.scope_identity,
        )
        self.change_session(scope_identity=None)
        scope.returns, scope.line = returns, self.line
        self.scopes.append(scope)
        if target:
            self.change_session(database=target)

    @property
    def insert_exec_target(self) -> str:
        """Return the target table (and columns) of the enclosing INSERT … EXEC; empty without one."""
        return self.capture or next(
            (scope.insert_into for scope in reversed(self.scopes) if scope.insert_into), ""
        )

    @property
    def checks_permissions(self) -> bool:
        """Return whether the login needs permissions on the objects that the statement uses.

        A member of sysadmin needs none. No login needs any in a procedure or view that dbo owns.
        """
        chained = self.chained or bool(self.scopes and self.scopes[-1].procedure)
        return not chained and not is_sysadmin(self.context)

    @property
    def is_in_try(self) -> bool:
        """Return whether a CATCH block would handle an error of the running statement."""
        return any(
            scope.position and scope.code[scope.position - 1].handler is not None for scope in self.scopes
        )

    @property
    def scope(self) -> MutableFrame:
        """Return the running frame in its mutable form."""
        return self.scopes[-1]

    def resolve_value(self, value: s.Value) -> Scalar:
        """Return the value of a literal or variable."""
        return self.get_variable_value(value.name) if isinstance(value, s.VariableReference) else value

    def resolve_text(self, value: s.Value) -> str:
        """Return the value of a literal or variable as text."""
        return to_text(self.resolve_value(value))

    def set_variable(self, name: str, value: Scalar, source: SqlType | None = None) -> None:
        """Assign *value*, converted to the variable's type. *source*: type of *value*.

        Raise 137 for an undeclared variable.
        """
        if name not in self.scope.variables:
            raise SqlError(137, name)
        old = self.scope.variables[name]
        if source is not None and not old.type.lower().startswith(("sql_variant", "cursor")):
            check_conversion(source, parse_sql_type(old.type, 1), explicit=False)
        new = convert_value(value, old.type, default_length=1, source=source, culture=self.settings.culture)
        self.scope.variable_characters += _count_characters(new) - _count_characters(old.value)
        if (
            arithmetic.add_in_order(scope.variable_characters for scope in self.scopes)
            > CONNECTION_CHARACTERS_MAX
        ):
            raise UnsimulatedFeatureError(
                f"variables of more than {CONNECTION_CHARACTERS_MAX} characters together"
            )
        kind = str(make_variant(source)) if old.type.lower().startswith("sql_variant") else old.type
        self.scope.variables[name] = DeclaredVariable(kind, new)

    @property
    def returns_only_columns(self) -> bool:
        """Return whether SET FMTONLY is ON. Statements then return columns without rows."""
        return dict(self.session.options).get("FMTONLY") == "ON"

    @property
    def settings(self) -> SessionSettings:
        """Return the SET options of this connection that affect queries."""
        return build_settings(self.session.options)

    def get_variable_type(self, name: str) -> SqlType | None:
        """Return the type of a variable.

        Return None for an undeclared variable, and for a sql_variant without a value.
        """
        declared = self.scopes[-1].variables.get(name) if self.scopes else None
        if declared is None:
            return None
        kind = parse_sql_type(declared.type, 1)
        return None if kind.name == "sql_variant" and kind.base is None else kind

    def check_capacity(self, new_item: Table | SqlCursor) -> None:
        """Raise UnsimulatedFeatureError if *new_item* makes the connection's tables and cursors too large."""
        held_objects: list[Table | SqlCursor] = [new_item, *dict(self.session.tables).values()]
        held_objects += dict(self.session.cursors).values()
        for scope in self.scopes:
            held_objects += scope.tables.values()
        if arithmetic.add_in_order(item.cells for item in held_objects) > CONNECTION_CELLS_MAX:
            raise UnsimulatedFeatureError(
                f"more than {CONNECTION_CELLS_MAX} values in all tables and cursors of a connection"
            )
        if arithmetic.add_in_order(item.characters for item in held_objects) > CONNECTION_CHARACTERS_MAX:
            raise UnsimulatedFeatureError(
                f"more than {CONNECTION_CHARACTERS_MAX} characters in all tables and cursors of a connection"
            )

    @property
    def can_change_world(self) -> bool:
        """Return whether the submission may execute another statement that changes the world."""
        return self.run.acts < CHANGING_STATEMENTS_MAX

    def count_change(self) -> None:
        """Count a statement that changes the world. Raises UnsimulatedFeatureError after too many of them."""
        if not self.can_change_world:
            raise UnsimulatedFeatureError(f"more than {CHANGING_STATEMENTS_MAX} commands of one submission")
        self.run = replace(self.run, acts=self.run.acts + 1)

    def report_outcome(self, outcome: statements.Outcome) -> None:
        """Append the messages of a protocol command, or wait for its completion."""
        if isinstance(outcome, statements.PendingStatement):
            self.wait("pending", outcome.tick, (outcome.handler, outcome.args))
            return
        self.append_messages(outcome)
        self.change_session(error=0, rowcount=0)

    def log_message(self, number: int, severity: int, state: int, text: str) -> None:
        """Write a message into the ERRORLOG."""
        self.count_change()
        errorlog.write_line(self.world, self.session.server, number, severity, state, text)


def _count_characters(value: Scalar) -> int:
    return len(value) if isinstance(value, str | bytes) else 0


# --- names of statements in the column `command` [DOC: sys.dm_exec_requests] -----------------------------

_COMMANDS_BY_CLASS: Final[dict[type[s.Statement], str]] = {
    s.SetDatabaseOptionStatement: "ALTER DATABASE",
    s.AlterDatabaseFilesStatement: "ALTER DATABASE",
    s.CreateEncryptionKeyStatement: "CREATE DATABASE ENCRYPTION KEY",
    s.ExecuteDynamicSqlStatement: "EXECUTE",
    s.InsertExecStatement: "INSERT",
    s.CursorStatement: "OPEN CURSOR",
    s.DropStatement: "DROP OBJECT",
    s.UseStatement: "USE DATABASE",
    s.ExecuteProcedureStatement: "EXECUTE",
    **{
        kind: re.sub("(?<!^)(?=[A-Z])", " ", kind.__name__.removesuffix("Statement")).upper()
        for kind in (
            s.CreateDatabaseStatement, s.CreateTableStatement, s.AlterTableStatement, s.CreateIndexStatement,
            s.DropIndexStatement, s.CreateProcedureStatement, s.CreateFunctionStatement, s.CreateViewStatement,
            s.CreateSchemaStatement, s.CreateLoginStatement, s.AlterLoginStatement,
            s.CreateUserStatement, s.AlterUserStatement, s.CreateEndpointStatement, s.AlterEndpointStatement,
            s.WaitforStatement, s.CheckpointStatement, s.KillStatement, s.ShutdownStatement, s.ReconfigureStatement,
            s.FetchCursorStatement,
        )
    },
}  # fmt: skip
"""Class of a statement -> command in sys.dm_exec_requests."""

PAGE_CHECK_COMMANDS: Final = frozenset({"CHECKDB", "CHECKALLOC", "CHECKTABLE", "CHECKFILEGROUP"})
"""DBCC commands that read pages. sys.dm_exec_requests shows them as DBCC TABLE CHECK.

Known from public output.
"""

_TRANSACTION_COMMANDS: Final = {
    "COMMIT": "COMMIT TRANSACTION",
    "ROLLBACK": "ROLLBACK TRANSACTION",
    "BEGIN": "BEGIN TRANSACTION",
}
"""Verb of a transaction statement -> command in sys.dm_exec_requests."""


def get_request_command(statement: s.Statement) -> str:
    """Return the command of *statement* as sys.dm_exec_requests shows it, such as SELECT."""
    if isinstance(statement, s.QueryStatement):
        first = statement.text.split(None, 1)[0].upper() if statement.text.strip() else "SELECT"
        return "SELECT" if first in ("WITH", "(") or first.startswith("(") else first
    if isinstance(statement, s.BackupStatement | s.RestoreStatement | s.RestoreInformationStatement):
        return statement.title
    if isinstance(statement, s.DbccStatement):
        return "DBCC TABLE CHECK" if statement.command.upper() in PAGE_CHECK_COMMANDS else "DBCC"
    if isinstance(statement, s.TransactionStatement):
        return _TRANSACTION_COMMANDS.get(statement.verb.upper(), "SAVE TRANSACTION")
    return _COMMANDS_BY_CLASS.get(type(statement), "SELECT")
