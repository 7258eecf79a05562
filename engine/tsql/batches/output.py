"""Output of a submission to its window: messages and results, within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from engine.messages import Message, SqlError, fill_message
from engine.model import FieldOf, World
from engine.tsql.batches.context import Context
from engine.tsql.batches.data import Caught, ResultSet, Row, Scope, SqlSession, Submission
from engine.tsql.batches.work import Meter
from engine.tsql.language.script import ScriptBatch
from engine.tsql.scalars.types import SqlType
from engine.tsql.scalars.values import format_value

NOT_SIMULATED: Final = "Not simulated: "
"""Beginning of each message about something that the program does not simulate."""

OUTPUT_MAX: Final = 5_000
"""Maximum messages and result sets of one submission. Assumed."""

SAID_MAX: Final = 1_000_000
"""Maximum characters of all messages of one submission. Assumed."""

CHARACTERS_MAX: Final = 5_000_000
"""Maximum characters in all result sets of one submission: a little more than one of the largest. Assumed."""

CELLS_MAX: Final = 150_000
"""Maximum values in all result sets of one submission. Assumed."""


BATCH_ENDS: Final = frozenset(
    {
        137,
        924,
        241,
        242,
        245,
        248,
        911,
        1087,
        8114,
        8169,
        927,
        942,
        945,
        952,
        954,
        955,
        956,
        921,
        922,
        2714,
        3930,
    }
)
"""Errors that end the batch. From the product's known behavior; the documentation is incomplete."""

CONVERSIONS: Final = frozenset({241, 242, 245, 248, 8114, 8169})
"""Batch-ending errors of values that cannot be converted, with which the transaction is lost.

In a TRY block the transaction can only be rolled back (3930, 3998). Seen in public client output for 245 and 8169,
the others are derived.
"""

SCOPE_ENDS: Final = frozenset(
    {
        207, 208, 209, 4104, 4121, 195, 174, 189, 205, 116, 141, 147, 104, 107, 108, 127, 130, 144, 145, 164, 206, 243,
        402, 408, 529, 1011, 1013, 1015, 1033, 1062, 4902, 8116, 8117, 8120, 8121, 8127, 8133, 8155, 8156, 8158, 8159,
        10709,
    }
)  # fmt: skip
"""Errors of names at compilation: they end the batch or the text of an EXEC."""

STATEMENT_ENDS: Final = frozenset({515, 547, 2601, 2627, 2628, 8152})
"""Errors in rows that terminate only the statement, with a message to the client."""

RUN_TIME_ERRORS: Final = frozenset(
    {
        220, 232, 235, 241, 242, 244, 245, 248, 289, 295, 512, 517, 530, 535, 536, 537, 3623, 8114, 8115, 8134, 8169,
        8170, 9400, 9819, 13607, 13608, 13609, 13611, 13623, 13624, 13625,
    }
)  # fmt: skip
"""Errors of values, before which a SELECT has already returned its columns."""

VALUE_ERRORS: Final = frozenset({220, 232, 512, 517, 535, 536, 537, 3623, 8115, 8134})
"""Errors in values, after which this message follows unless the statement only selects."""


class SubmissionOutput:
    """Connection, running submission, and its output."""

    def __init__(self, world: World, run: Submission, session: SqlSession, meter: Meter) -> None:
        self.world = world
        self.meter = meter
        self.run = run
        self.session = session
        self.context = Context(world, session)
        self.scopes = [Scope.from_frame(frame, self.context.version) for frame in run.frames]
        self.messages = list(run.messages)
        self.results = list(run.results)

    @property
    def line(self) -> int:
        """Return the line of the running statement in its batch."""
        return self.scopes[-1].line if self.scopes else 0

    @property
    def _lines_above(self) -> int:
        """Lines of the submission above the batch that runs."""
        steps = self.run.steps or ()
        step = steps[self.run.step] if self.run.step < len(steps) else None
        return step.above if isinstance(step, ScriptBatch) else 0

    def note(self, **changes: FieldOf[SqlSession]) -> None:
        """Change the connection."""
        self.session = replace(self.session, **changes)
        self.context.session = self.session

    def tell(
        self,
        text: str,
        number: int = 0,
        severity: int = 0,
        state: int = 0,
        line: int = 0,
        rows: int | None = None,
    ) -> None:
        """Append a message."""
        self.run = replace(self.run, said=self.run.said + len(text))
        room = self.run.said <= SAID_MAX
        if room and len(self.messages) + len(self.results) < OUTPUT_MAX:
            called = next((scope.procedure for scope in reversed(self.scopes) if scope.procedure), "")
            said = Message(
                number, severity, state, line, text, self.session.server, self._lines_above, rows, called
            )
            self.messages.append(said)
        elif not self.messages or self.messages[-1].text != _TOO_MUCH:
            self.messages.append(Message(0, 0, 0, 0, _TOO_MUCH, self.session.server))

    def say_number(self, number: int, *arguments: object, state: int = 1) -> None:
        """Report message *number* as information."""
        severity, text = fill_message(number, *arguments, version=self.context.version)
        self.tell(text, number, severity, state, self.line)

    def say_rows(self, count: int) -> None:
        """Report `(n rows affected)`, unless SET NOCOUNT ON."""
        self.note(rowcount=count, error=0)
        if dict(self.session.options).get("NOCOUNT") != "ON":
            said = f"({count} row affected)" if count == 1 else f"({count} rows affected)"
            self.tell(said, rows=count)

    def hold_counts(self, begin: int) -> None:
        """Keep back the counts of rows among the messages from *begin* on, until `tell_counts`."""
        held = [message for message in self.messages[begin:] if message.rows is not None]
        self.messages[begin:] = [message for message in self.messages[begin:] if message.rows is None]
        self.run = replace(self.run, counts=tuple(held))

    def tell_counts(self) -> None:
        """Show the deferred row counts."""
        if self.run.counts:
            self.messages += self.run.counts
            self.run = replace(self.run, counts=())

    def say_messages(self, messages: Iterable[Message]) -> None:
        """Append messages at the current line."""
        for message in messages:
            line = message.line or (self.line if message.number else 0)
            self.tell(message.text, message.number, message.severity, message.state, line)

    def report_unsimulated(self, feature: str) -> None:
        """Append "Not simulated: *feature*"."""
        self.tell(f"{NOT_SIMULATED}{feature}", severity=10)

    def remark(self, notice: str) -> None:
        """Report, once per submission, a part of an executed statement that is not simulated.

        It is not an error, so that a program that waits for a result continues.
        """
        text = f"{NOT_SIMULATED}{notice}"
        if all(message.text != text for message in self.messages):
            self.tell(text)

    def errors(self, problem: SqlError, line: int) -> list[Caught]:
        """Append the messages of an error; return them for a CATCH block."""
        version = self.world.instances[self.session.server].version
        severity, text = fill_message(problem.number, *problem.parameters, version=version)
        errors = [Caught(problem.number, severity, problem.state, line, text)]
        for other in problem.problems[1:]:
            severity, text = fill_message(other.number, *other.parameters, version=version)
            errors.append(Caught(other.number, severity, other.state, line, text))
        for number in problem.also:
            severity, text = fill_message(number, *_trailer_arguments(number, problem), version=version)
            follows = number in _FOLLOWING
            errors.append(Caught(number, 16 if follows else severity, 0 if follows else 1, line, text))
        return errors

    def add_result(
        self, columns: Iterable[str], rows: Iterable[Row], kinds: Sequence[SqlType | None] = ()
    ) -> None:
        """Add a grid of results with the types of its columns."""
        fixed = [tuple(row) for row in rows]
        self.meter.add(len(fixed) * (1 + len(fixed[0]) // 2) if fixed else 1)
        shown_rows = tuple(tuple(format_value(value) for value in row) for row in fixed)
        size = sum(len(str(value)) for row in shown_rows for value in row)
        cells = len(shown_rows) * len(shown_rows[0]) if shown_rows else 0
        if self.run.characters + size > CHARACTERS_MAX or self.run.cells + cells > CELLS_MAX:
            if not self.messages or self.messages[-1].text != _TOO_MUCH:
                self.tell(_TOO_MUCH)
        elif len(self.results) < OUTPUT_MAX:
            self.run = replace(self.run, characters=self.run.characters + size, cells=self.run.cells + cells)
            named = tuple(columns)
            types = tuple("" if kind is None else str(kind) for kind in kinds or (None,) * len(named))
            self.results.append(ResultSet(named, shown_rows, types, len(self.messages)))


_FOLLOWING: Final = frozenset({1750, 3727})
"""Messages of severity 10 that clients get as errors of level 16, state 0. Seen in public client output."""

_TOO_MUCH: Final = (
    f"Not simulated: more than {OUTPUT_MAX} messages and results of one submission, "
    f"more than {SAID_MAX} characters in its messages, "
    f"or more than {CELLS_MAX} values or {CHARACTERS_MAX} characters in them."
)


def _trailer_arguments(number: int, problem: SqlError) -> tuple[object, ...]:
    if number == 4922:
        action = problem.title if problem.title.startswith("ALTER") else "ALTER TABLE DROP COLUMN"
        return action, problem.parameters[-1], "column"
    return (getattr(problem, "title", "RESTORE DATABASE"),) if number == 3013 else problem.parameters
