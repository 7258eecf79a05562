"""Execution of the batches of a submission until it ends or waits.

While a submission waits, it is stored as plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from msgspec.structs import replace

from engine import arithmetic
from engine.internal_errors import describe_internal_error
from engine.messages import SqlError
from engine.model import World
from engine.overrides import override
from engine.protocol import log_space, statements
from engine.tsql.batches import (
    cursors,
    locks,
    objects,
    queries,
    resolution,
    sources,
    statement_gate,
    stored_messages,
    transactions,
    waitfor,
)
from engine.tsql.batches.data import (
    CaughtError,
    ConnectionLostError,
    MutableFrame,
    Row,
    SavedContext,
    SqlSession,
    Submission,
)
from engine.tsql.batches.environment import GLOBAL_VARIABLES
from engine.tsql.batches.machine import (
    BATCH_ENDING_ERRORS,
    CONVERSION_ERRORS,
    DATA_CHANGE_ENDING_ERRORS,
    FRAME_ENDING_ERRORS,
    NOT_SIMULATED_PREFIX,
    STATEMENT_ENDING_ERRORS,
    ExecutionMachine,
    get_request_command,
)
from engine.tsql.batches.work import WorkMeter
from engine.tsql.language import statements as s
from engine.tsql.language.instructions import (
    BranchInstruction,
    EndCatchInstruction,
    InstructionAction,
    JumpInstruction,
    StatementInstruction,
)
from engine.tsql.language.lexer import (
    BatchTooLongError,
    SqlSyntaxError,
    convert_double_quotes,
    get_name,
    has_only_selects,
    tokenize,
)
from engine.tsql.query import planner
from engine.tsql.query.plans import BindingContext, Columns, QueryPlan, TableRef, UnsimulatedFeatureError
from engine.tsql.query.scratch_database import SCRATCH_OPENING_WORK, ScratchDatabase, open_scratch_database
from engine.tsql.scalars.types import INT, SqlType, make_nvarchar, make_varchar
from engine.tsql.scalars.values import Scalar

WORK_PER_INSTRUCTION: Final = 10
"""Work units (work.py) of the execution of an instruction. Measured."""
SUBMISSION_CONVERSION_WORK: Final = 150
"""Work units of converting a submission to plain data. Measured."""
COMPILE_ERROR_WORK: Final = 100
"""Work units of a compilation error. Measured."""

FMTONLY_STATEMENTS: Final = (
    s.SetSessionOptionStatement,
    s.QueryStatement,
    s.ExecuteProcedureStatement,
    s.DeclareStatement,
    s.UseStatement,
)
"""Statements that are executed under SET FMTONLY ON. Queries and procedures return only columns.

[DOC: SET FMTONLY] Assumed: only the branch whose condition is true is executed.
"""

NOT_SIMULATED_ERROR_NUMBER: Final = 50000
"""Error number of a statement that is not simulated, in @@ERROR and for the client."""


class SubmissionRunner(ExecutionMachine):
    """Executor of a submission's instructions.

    After the execution, the attributes `run` and `session` contain the changed submission and session.
    """

    def __init__(
        self,
        world: World,
        run: Submission,
        session: SqlSession,
        execute: Callable[[ExecutionMachine, s.Statement], None],
        meter: WorkMeter,
    ) -> None:
        """Create a runner. *execute* executes a statement (execute_statement). *meter* counts the work."""
        super().__init__(world, run, session, meter)
        self._perform_statement = execute
        self._scratch: ScratchDatabase | None = None
        self._statement: s.Statement | None = None
        """Statement that is running."""

    @override
    def create_sibling_machine(
        self, run: Submission, session: SqlSession, meter: WorkMeter
    ) -> SubmissionRunner:
        return SubmissionRunner(self.world, run, session, self._perform_statement, meter)

    @override
    def perform_statement(self, statement: s.Statement) -> None:
        self._perform_statement(self, statement)

    # -- main loop

    def run_until_wait(self) -> bool:
        """Run until the batch ends or waits. Return True if it has ended. Raises ConnectionLostError."""
        try:
            while self.scopes:
                if self.meter.is_exhausted:
                    self.run = replace(self.run, waiting="busy")
                    return False
                if not self._advance_innermost_frame(self.scopes[-1]):
                    return False
            self._end_doomed_transaction()
            return True
        finally:
            self.release_resources()

    def _advance_innermost_frame(self, scope: MutableFrame) -> bool:
        """Compile, resolve, continue or leave the innermost frame. Return False if the batch waits."""
        with self._end_batch_after_internal_error():
            if scope.read is not None:
                self._compile_frame(scope)
            elif scope.resolved < len(scope.units):
                self._resolve_frame(scope)
            elif scope.position >= len(scope.code):
                self._leave_frame()
            else:
                self._run_instruction(scope)
                if not self.world.instances[self.session.server].running:
                    raise ConnectionLostError
                return not self.run.waiting
        return True

    @contextmanager
    def _end_batch_after_internal_error(self) -> Iterator[None]:
        """Convert an unexpected exception into an error that ends the batch and dooms an open transaction."""
        try:
            yield
        except ConnectionLostError:
            raise
        except Exception as problem:  # an internal error must not end the run
            text = f"{NOT_SIMULATED_PREFIX}this form of the statement; {describe_internal_error(problem)}"
            self.append_message(text, severity=16, state=1, line=self.line)
            is_doomed = bool(self.session.transactions)
            self.change_session(error=NOT_SIMULATED_ERROR_NUMBER, rowcount=0, doomed=is_doomed)
            self.end_batch()

    @override
    def release_resources(self) -> None:
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    def _end_doomed_transaction(self) -> None:
        """Roll back a doomed transaction at the end of the batch [DOC: TRY…CATCH].

        Report 3998 if no error was reported.
        """
        if self.session.doomed:
            transactions.roll_back_transaction(self)
            if not (self.messages and self.messages[-1].is_error):
                self.handle_error(SqlError(3998), line=1)

    def _run_instruction(self, scope: MutableFrame) -> None:
        instruction = scope.code[scope.position]
        scope.position += 1
        scope.line = instruction.line
        if not self.meter.nesting:
            self.meter.begin_statement()
        self.meter.count_units(WORK_PER_INSTRUCTION)
        self._run_with_retry(instruction.action)
        if not self.run.waiting and self.run.since_tick is not None:
            self.run = replace(self.run, since_tick=None)

    def _compile_frame(self, scope: MutableFrame) -> None:
        try:
            self.meter.count_units(scope.compile(max(1, self.meter.allowance - self.meter.spent)))
        except SqlSyntaxError as problem:
            self._reject_frame(scope, self.build_errors(problem, problem.line))
            if isinstance(problem, BatchTooLongError):
                self.report_unsimulated(problem.limit)

    def _resolve_frame(self, scope: MutableFrame) -> None:
        if resolution.is_only_parsed(self, scope):
            scope.resolved = len(scope.units)
            return
        resolution.resolve_next_instruction(self, scope)
        if scope.resolved == len(scope.units) and scope.errors:
            self._reject_frame(scope, scope.errors)

    def _reject_frame(self, scope: MutableFrame, errors: list[CaughtError]) -> None:
        """End the frame after compilation errors. A CATCH block of an outer frame may handle them."""
        self.meter.count_units(COMPILE_ERROR_WORK)
        self.scopes.pop()
        self._restore_context(scope.outside)
        worst = replace(errors[-1], procedure=scope.procedure)
        if self.scopes and self._jump_to_catch(worst, len(self.scopes) - 1):
            return
        for error in errors:
            self.append_message(error.text, error.number, error.severity, error.state, error.line)
        self.change_session(error=errors[-1].number, rowcount=0)

    def begin_batch(self, text: str) -> None:
        """Make *text* the running batch. If its compilation fails, no part of it runs."""
        self.scopes = [MutableFrame(text, self.context.version)]

    def build_submission(self) -> Submission:
        """Return the submission in its current state, as plain data."""
        self.meter.count_units(SUBMISSION_CONVERSION_WORK + (len(self.messages) + len(self.results)) // 100)
        command, begin_tick = self.run.command, self.run.begun_tick
        if self._statement is not None:
            command, begin_tick = get_request_command(self._statement), self.world.tick
        return replace(
            self.run,
            command=command,
            begun_tick=begin_tick,
            frames=tuple(scope.to_frame() for scope in self.scopes),
            messages=tuple(self.messages),
            results=tuple(self.results),
        )

    def schedule_check(self, reason: str) -> None:
        """Schedule the next check of a wait. Checks become less frequent during a long wait."""
        since_tick = self.world.tick if self.run.since_tick is None else self.run.since_tick
        self.run = replace(self.run, since_tick=since_tick)
        self.wait(reason, waitfor.compute_next_poll_tick(self.world.tick, since_tick))

    def resume_after_wait(self) -> None:
        """End a wait. Complete a pending statement or commit. The caller then calls `run_until_wait`."""
        reason, pending = self.run.waiting, self.run.pending
        self.run = replace(self.run, waiting="", pending=None)
        with self._end_batch_after_internal_error():
            if reason == "commit":
                transactions.wait_for_log(self)
            elif reason == "log":
                transactions.commit_statement(self)
            elif pending is not None:
                handler, arguments = pending
                self._run_atomically(
                    lambda: self.report_outcome(
                        statements.COMPLETION_HANDLERS[handler](self.world, self.session.server, *arguments)
                    )
                )

    def _run_with_retry(self, action: InstructionAction) -> None:
        if isinstance(action, JumpInstruction):
            self.scopes[-1].position = action.target
        elif isinstance(action, EndCatchInstruction):
            self.scopes[-1].caught.pop()
        else:
            self._run_atomically(lambda: self._execute_action(action))

    def _run_atomically(self, callback: Callable[[], None]) -> None:
        """Run *callback* completely, or undo its changes. Errors go to a CATCH block or to the client."""
        before, tables, message_count = dict(self.context.writes), self.session.tables, len(self.messages)
        try:
            callback()
            if self.session.doomed and (dict(self.context.writes), self.session.tables) != (before, tables):
                self.change_session(tables=tables)
                raise SqlError(3930)
        except locks.LockConflictError as error:
            self.context.writes = before
            locks.wait_for_lock(self, error)
        except log_space.LogTakenOverError:
            self.context.writes = before
            self.scope.position -= 1
            self.schedule_check("log")
        except SqlError as problem:
            self.context.writes = before
            if self.used_identity is not None:
                sources.store_table(self, *self.used_identity)
                self.used_identity = None
            if problem.number:
                self.handle_error(problem)
            else:
                self.reject_statement(str(problem.parameters[0]).removeprefix(NOT_SIMULATED_PREFIX))
        except UnsimulatedFeatureError as problem:
            self.context.writes = before
            self.reject_statement(str(problem))
        except Exception:
            self.context.writes = before
            raise
        finally:
            transactions.commit_statement(self, message_count)

    def _execute_action(self, action: StatementInstruction | BranchInstruction) -> None:
        scope = self.scopes[-1]
        options = dict(self.session.options)
        is_skipped = "ON" in (options.get("NOEXEC"), options.get("PARSEONLY"))
        shows_plan = "ON" in (options.get(f"SHOWPLAN_{form}") for form in ("ALL", "TEXT", "XML"))
        if isinstance(action, BranchInstruction):
            try:
                holds = self.evaluate_condition(action.condition)
            except UnsimulatedFeatureError as problem:
                feature = f"{problem}; what depends on it is not known, the rest of the batch is not run"
                self.reject_statement(feature)
                return
            self.change_session(error=0, rowcount=0)
            if not holds:
                scope.position = action.target
            return
        if (is_skipped or shows_plan) and not isinstance(action.statement, s.SetSessionOptionStatement):
            if shows_plan:
                self.report_unsimulated("the plan of a statement; it is not run")
            return
        if self.returns_only_columns and not isinstance(action.statement, FMTONLY_STATEMENTS):
            return
        self._statement = action.statement
        self.perform_statement(action.statement)

    def _leave_frame(self) -> None:
        """End the innermost frame and assign its outputs to variables of the calling frame."""
        scope = self.scopes.pop()
        if self.session.cursors:
            cursors.remove_local_cursors(self)
        self._restore_context(scope.outside)
        if self.scopes:
            self._run_atomically(lambda: self._return_outputs(scope))
        if scope.procedure and len(self.scopes) == 1:
            self.record_completion(status=scope.result)
        before, open_count = scope.outside.transactions if scope.outside else 0, self.session.transactions
        if self.scopes and before != open_count:
            line = 0 if scope.procedure else self.line
            for error in self.build_errors(SqlError(266, before, open_count, state=2), line):
                self.append_message(error.text, 266, error.severity, 2, error.line, procedure=scope.procedure)
            self.change_session(error=266)

    def _return_outputs(self, finished_scope: MutableFrame) -> None:
        """Assign a frame's return value and outputs to variables of the calling frame.

        Raise an error for a value that does not fit its variable.
        """
        scope = self.scopes[-1]
        if finished_scope.returns:
            # sp_executesql returns the last @@ERROR of its text [DOC: sp_executesql]
            result = finished_scope.result if finished_scope.procedure else self.session.error
            self.set_variable(finished_scope.returns, result)
        for inner, outer in finished_scope.outputs:
            if inner in finished_scope.variables and outer in scope.variables:
                self.set_variable(outer, finished_scope.variables[inner].value)

    def _restore_context(self, saved_context: SavedContext | None) -> None:
        """Restore the database, options and temp tables after a procedure or dynamic SQL."""
        if saved_context is None:
            return
        tables = sources.restore_temp_tables(self.session.tables, saved_context.tables)
        changes: dict[str, object] = {"scope_identity": saved_context.scope_identity}
        principal = saved_context.principal
        if principal is not None and principal != self.session.principal:
            changes |= zip(("login", "user", "user_database", "callers"), principal, strict=True)
        if saved_context.database.lower() != self.session.database.lower():
            changes["database"] = saved_context.database
        kept_options = tuple(pair for pair in self.session.options if pair[0] == "CONTEXT_INFO")
        options = tuple(pair for pair in saved_context.options if pair[0] != "CONTEXT_INFO")
        self.change_session(options=options + kept_options, tables=tables, **changes)

    # -- errors

    def handle_error(self, problem: SqlError, line: int | None = None, ends_batch: bool = False) -> None:
        """Pass an error of the running statement to the CATCH block, or report it to the client.

        Some reported errors end the batch. With *ends_batch*, every reported error ends it.
        """
        errors = self.build_errors(problem, self.line if line is None else line)
        server = self.session.server
        for error in errors:
            if self.can_change_world and stored_messages.is_message_logged(self.world, server, error.number):
                self.log_message(error.number, error.severity, error.state, error.text)
        self.handle_errors(errors, ends_batch)

    def handle_errors(
        self, errors: list[CaughtError], ends_batch: bool = False, can_abort: bool = True
    ) -> None:
        """Pass errors to the CATCH block, or report them to the client.

        *ends_batch*: reported errors end the batch. *can_abort*: XACT_ABORT also applies, if it is ON.
        """
        worst = max(error.severity for error in errors)
        # Compilation errors bypass the CATCH blocks of their own frame [DOC: TRY…CATCH].
        innermost = len(self.scopes) - 1 - (errors[-1].number in FRAME_ENDING_ERRORS)
        if 10 < worst < 20 and self._jump_to_catch(errors[-1], innermost):
            return
        for error in errors:
            self.append_message(
                error.text, error.number, error.severity, error.state, error.line, procedure=error.procedure
            )
        if worst <= 10:
            return
        number = errors[0].number
        self.change_session(error=errors[-1].number, rowcount=0)
        if worst >= 20:
            raise ConnectionLostError(*((596,) if number == 2745 else ()))
        aborts = can_abort and dict(self.session.options).get("XACT_ABORT") == "ON"
        changes = isinstance(self._statement, s.QueryStatement) and not has_only_selects(self._statement.text)
        ends = number in STATEMENT_ENDING_ERRORS and not (
            number == 547 and isinstance(self._statement, s.AlterTableStatement)
        )
        if (ends or (changes and number in DATA_CHANGE_ENDING_ERRORS)) and not aborts:
            self.append_numbered_message(3621)
        if (aborts or _ends_transaction(errors[0])) and self.session.transactions:
            transactions.roll_back_transaction(self)
        if aborts or ends_batch or number in BATCH_ENDING_ERRORS:
            self.end_batch()
        elif number in FRAME_ENDING_ERRORS:
            self.scopes[-1].position = len(self.scopes[-1].code)

    def reject_statement(self, feature: str) -> None:
        """Refuse an unsimulated statement with an error that no CATCH block handles.

        The error ends the batch and dooms an open transaction. Otherwise, a program could assume that the
        rest was executed. After two kinds of statements, the batch continues: a SELECT without changes, and
        SET (drivers send it at login).
        """
        scope = self.scopes[-1] if self.scopes else None
        action = scope.code[scope.position - 1].action if scope is not None and scope.position else None
        statement = action.statement if isinstance(action, StatementInstruction) else None
        if isinstance(statement, s.SetSessionOptionStatement):
            self.report_unsimulated(feature)
            return
        self.append_message(f"{NOT_SIMULATED_PREFIX}{feature}", severity=16, state=1, line=self.line)
        self.change_session(error=NOT_SIMULATED_ERROR_NUMBER, rowcount=0)
        if not statement_gate.is_read_only_statement(statement):
            self.change_session(doomed=bool(self.session.transactions))
            self.end_batch()

    def abort_as_deadlock_victim(self) -> None:
        """Roll back the transaction as deadlock victim. End the batch unless it catches the error."""
        self.handle_error(SqlError(1205, self.session.spid, "lock"), ends_batch=True)
        if self.scopes:
            self.change_session(doomed=bool(self.session.transactions))
        elif self.session.transactions:
            transactions.roll_back_transaction(self)

    def _jump_to_catch(self, error: CaughtError, innermost_depth: int) -> bool:
        """Continue at the CATCH block of frame *innermost_depth* or, without one, of the nearest outer frame.

        Return False if there is no such CATCH block.
        """
        raised_in = error.procedure or next((x.procedure for x in reversed(self.scopes) if x.procedure), "")
        for depth in range(innermost_depth, -1, -1):
            scope = self.scopes[depth]
            handler = scope.code[scope.position - 1].handler if scope.position else None
            if handler is None:
                continue
            if len(self.scopes) > depth + 1:
                self._restore_context(self.scopes[depth + 1].outside)
            del self.scopes[depth + 1 :]
            scope.position = handler
            scope.caught.append(replace(error, procedure=raised_in))
            is_lost = _ends_transaction(error) or dict(self.session.options).get("XACT_ABORT") == "ON"
            if self.session.transactions and is_lost:
                self.change_session(doomed=True)
            self.change_session(error=error.number)
            return True
        return False

    def end_batch(self) -> None:
        """End the running batch without executing the rest of its statements."""
        if len(self.scopes) > 1:
            self._restore_context(self.scopes[1].outside)
        self.scopes = []
        if self.session.cursors:
            cursors.remove_local_cursors(self)

    def add_result(
        self,
        columns: Iterable[str],
        rows: Iterable[Row],
        kinds: Sequence[SqlType | None] = (),
        nullable: tuple[bool, ...] = (),
    ) -> None:
        """Append a result set, or pass its rows to the target table of INSERT … EXEC."""
        if self.insert_exec_target:
            fixed = [tuple(row) for row in rows]
            self.meter.count_units(len(fixed) * (1 + len(fixed[0]) // 2) if fixed else 1)
            queries.insert_captured_rows(self, self.insert_exec_target, fixed)
        else:
            super().add_result(columns, rows, kinds, nullable)

    # -- values

    def get_scratch_database(self) -> ScratchDatabase:
        """Return the SQLite database in which this runner executes queries. Open it if necessary."""
        if self._scratch is not None and self._scratch.forgiving != self.settings.ignores_arithmetic_errors:
            self._scratch.close()
            self._scratch = None
        if self._scratch is None:
            self.meter.count_units(SCRATCH_OPENING_WORK)
            fetch_source = partial(sources.fetch_source, self)
            self._scratch = open_scratch_database(self.context, fetch_source, self.meter)
        self.context.session = self.session
        self.context.call_function = partial(resolution.call_from_sqlite, self)
        if self.scopes:
            self.context.nesting_level = self._compute_nesting_level()
            self.context.caught_error = next((x.caught[-1] for x in reversed(self.scopes) if x.caught), None)
        return self._scratch

    def _compute_nesting_level(self) -> int:
        """Compute @@NESTLEVEL [DOC: @@NESTLEVEL]."""
        return arithmetic.add_in_order(scope.levels for scope in self.scopes[1:])

    def get_variable_value(self, name: str) -> Scalar:
        """Return the value of `@name` or `@@name`. Raise 137 for an undeclared variable."""
        if name.startswith("@@"):
            function = GLOBAL_VARIABLES.get(name)
            if function is None:
                if name in self.scope.variables:
                    return self.scope.variables[name].value
                raise SqlError(137, name)
            self.context.session = self.session
            self.context.nesting_level = self._compute_nesting_level()
            running = next((scope.procedure for scope in reversed(self.scopes) if scope.procedure), "")
            self.context.procedure_id = objects.compute_object_id(running) if running else 0
            return function(self.context)
        if name not in self.scope.variables:
            raise SqlError(137, name)
        return self.scope.variables[name].value

    def get_bindings(self, kind: str, text: str) -> BindingContext:
        """Return the tables and variables of *text*, with their current columns and types."""
        text = resolution.expand_function_calls(self, text)
        references = planner.find_references(kind, text)
        return BindingContext(
            tuple((ref.key, self._find_columns(ref)) for ref in references.tables),
            tuple((name, self.get_variable_type(name)) for name in references.variables),
            self.settings,
        )

    def _find_columns(self, ref: TableRef) -> Columns | None:
        """Return the columns of a table; None if they are unknown.

        Raise 208 or a similar error if the table does not exist.
        """
        try:
            return sources.describe_columns(self, ref)
        except UnsimulatedFeatureError:
            return None

    def plan_text(self, kind: str, text: str, names: BindingContext | None = None) -> QueryPlan:
        """Return the plan of *text*, bound to *names* or else to the names that the statement can use."""
        if not self.settings.quoted_identifier and '"' in text:
            text = convert_double_quotes(text)
        elif '""' in text and any(token.text == '""' for token in tokenize(text)):
            raise SqlError(1038)
        text = resolution.expand_function_calls(self, text)
        return planner.plan_text(kind, text, self.get_bindings(kind, text) if names is None else names)

    def evaluate_expression(self, text: str) -> Scalar:
        """Return the value of an expression."""
        return self.evaluate_with_type(text)[0]

    def evaluate_with_type(self, text: str) -> tuple[Scalar, SqlType | None]:
        """Return the value of an expression and its type."""
        tokens = tokenize(text)
        if len(tokens) == 2:  # a single token, followed by the end marker
            token = tokens[0]
            if token.kind == "variable" and not token.text.startswith("@@"):
                return self.get_variable_value(token.text.lower()), self.get_variable_type(token.text.lower())
            if token.kind == "string":
                value = get_name(token)
                wide = token.text[0] in "Nn"
                return value, make_nvarchar(len(value)) if wide else make_varchar(len(value))
            if token.kind == "number" and token.text.isdigit() and len(token.text) < 10:
                return int(token.text), INT
        plan = self.plan_text("expression", text)
        _, rows = self.run_select(plan)
        return (rows[0][0] if rows else None), plan.kinds[0] if plan.kinds else None

    @override
    def evaluate_condition(self, condition: str) -> bool:
        _, rows = self.run_select(self.plan_text("condition", condition))
        return bool(rows and rows[0][0])

    @override
    def run_select(self, plan: QueryPlan) -> tuple[tuple[str, ...], list[Row]]:
        scratch = self.get_scratch_database()
        scratch.warnings.clear()
        try:
            names, rows = scratch.run_query(plan, self.get_variable_value)
            sources.report_constant_counters(self, plan, rows)
            return names, rows
        except UnsimulatedFeatureError:
            blocked, self.blocked = self.blocked, None
            if blocked is not None:
                raise blocked from None
            raise
        finally:
            for number in sorted(scratch.warnings):
                self.append_numbered_message(number)


def _ends_transaction(error: CaughtError) -> bool:
    """Return whether an error ends the transaction.

    Conversion errors end it. So does the error of CREATE TABLE for an existing name.
    """
    return error.number in CONVERSION_ERRORS or (error.number, error.state) == (2714, 6)
