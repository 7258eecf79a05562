"""Outcome of a batch: messages and result sets, built from the engine's event."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from app.words import formatting
from app.words.language import tr, trn
from engine.events import Event, SqlData, SqlDoneData
from engine.inputs import Input
from engine.messages import Message

CANCELED_SEVERITY: Final = 11
"""Severity of the client's message after a canceled query. This message has no number."""


class Rowset(Struct, frozen=True):
    """Columns and rows of a result set."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    after_messages: int = 0
    """Number of messages that precede this result set."""


class BatchOutcome(Struct, frozen=True):
    """Outcome of a finished batch."""

    server: str
    window: str
    batch: str
    messages: tuple[Message, ...]
    results: tuple[Rowset, ...]
    started_tick: int
    elapsed_ticks: int
    stored_row_count: int | None = None
    """Number of result rows, if the rows themselves are no longer stored."""

    @property
    def failed(self) -> bool:
        """True if the batch had an error."""
        return any(message.is_error for message in self.messages)

    @property
    def canceled(self) -> bool:
        """True if the batch was canceled."""
        return any(m.number == 0 and m.severity == CANCELED_SEVERITY for m in self.messages)

    @property
    def row_count(self) -> int:
        """Total number of rows in all result sets."""
        return (
            sum(len(result.rows) for result in self.results)
            if self.stored_row_count is None
            else self.stored_row_count
        )

    @property
    def summary(self) -> str:
        """Text for the history: the first error, or the number of rows, or else the first message."""
        for message in self.messages:
            if message.is_error:
                return f"Msg {message.number}: {message.text}" if message.number else message.text
        if self.results or self.stored_row_count:
            return trn("{n} row", "{n} rows", self.row_count).format(
                n=formatting.format_number(self.row_count)
            )
        return self.messages[0].text if self.messages else ""


def summarize_outcome(outcome: BatchOutcome) -> BatchOutcome:
    """Return *outcome* without rows and printed text, which summaries in long lists do not need."""
    messages = outcome.messages[:1]
    messages += tuple(message for message in outcome.messages[1:] if message.is_error)[:1]
    if outcome.canceled:
        messages += tuple(m for m in outcome.messages if m.number == 0 and m.severity == CANCELED_SEVERITY)[
            :1
        ]
    return replace(outcome, messages=messages, results=(), stored_row_count=outcome.row_count)


def build_outcome(event: Event, batch_end: SqlDoneData) -> BatchOutcome:
    """Build the outcome of a batch from *event*, which reports the end of the batch.

    *batch_end*: data of *event*.
    """
    return BatchOutcome(
        server=event.server or "",
        window=batch_end.window,
        batch=batch_end.batch,
        messages=tuple(Message(**message) for message in batch_end.messages),
        results=tuple(
            Rowset(
                tuple(result["columns"]),
                tuple(tuple(row) for row in result["rows"]),
                result.get("after_messages", 0),
            )
            for result in batch_end.results
        ),
        started_tick=batch_end.started_tick,
        elapsed_ticks=batch_end.elapsed_ticks,
    )


def list_message_lines(outcome: BatchOutcome) -> Iterator[tuple[str, str | None, int | None]]:
    """Yield (text, color name, line number) for each message on the Messages tab.

    The text of an error is red and begins with a heading.
    """
    for message in outcome.messages:
        if message.is_error and message.number:
            head = f"Msg {message.number}, Level {message.severity}, State {message.state}"
            server = message.server or outcome.server
            yield (
                f"{head}, Server {server}, Line {message.line}\n{message.text}",
                "bad",
                message.above + message.line,
            )
        # RAISERROR with severity 0 or 10 prints only the text
        elif message.number and 0 < message.severity < 10:
            head = f"Msg {message.number}, Level {message.severity}, State {message.state}"
            yield f"{message.text}\n{head}", None, None
        else:
            yield message.text, "bad" if message.is_error else None, None


TEXT_CELL_CHARACTERS_MAX: Final = 256
"""Maximum number of characters of a value in a Results to Text page. Default of Management Studio."""

TEXT_CELLS_MAX: Final = 10_000
"""Maximum number of values in a Results to Text page."""
TEXT_MESSAGES_MAX: Final = 500
"""Maximum number of messages in a Results to Text page."""
TEXT_LINES_MAX: Final = 5_000
"""Maximum number of lines in a Results to Text page."""


def format_outcome_as_text(outcome: BatchOutcome) -> str:
    """Return the messages and result sets as text, in their original order.

    The text is limited by the constants TEXT_….
    """
    lines = [
        text[:TEXT_MESSAGE_CHARACTERS_MAX]
        for text, _, _ in islice(list_message_lines(outcome), TEXT_MESSAGES_MAX)
    ]
    parts: list[str] = []
    line_count, remaining_cells, missing = 0, TEXT_CELLS_MAX, 0
    for result in outcome.results:
        parts.append("\n".join(lines[line_count : result.after_messages]))
        line_count = max(line_count, result.after_messages)
        rows = result.rows[: remaining_cells // max(1, len(result.columns))]
        missing += len(result.rows) - len(rows)
        if remaining_cells <= 0:
            continue
        remaining_cells -= (1 + len(rows)) * len(result.columns)
        cells = [
            [formatting.format_result_cell(value)[:TEXT_CELL_CHARACTERS_MAX] for value in row] for row in rows
        ]
        parts.append(formatting.format_text_table(list(result.columns), cells))
    parts.append("\n".join(lines[line_count:]))
    if missing:
        parts.append(tr("Rows not shown here: {n}.").format(n=formatting.format_number(missing)))
    if len(outcome.messages) > TEXT_MESSAGES_MAX:
        unseen = len(outcome.messages) - TEXT_MESSAGES_MAX
        parts.append(tr("Messages not shown: {n}.").format(n=formatting.format_number(unseen)))
    shown_lines = "\n\n".join(part for part in parts if part).split("\n")
    if len(shown_lines) > TEXT_LINES_MAX:
        message = tr("Lines not shown: {n}.").format(
            n=formatting.format_number(len(shown_lines) - TEXT_LINES_MAX)
        )
        shown_lines[TEXT_LINES_MAX:] = ["", message]
    return "\n".join(shown_lines)


TEXT_MESSAGE_CHARACTERS_MAX: Final = 4_000
"""Maximum number of characters of a message in a Results to Text page. Limit of PRINT for Unicode."""


QUERY_WINDOW_PATTERN: Final = re.compile(r"[^#]+(#\d+)?")
"""Pattern of a query window's name: SERVER_A or SERVER_A#2. Other views use names such as SERVER_A#monitor."""


class QueryBatch(Struct):
    """Executed batch, and its outcome after it has ended."""

    tick: int
    window: str
    text: str
    run: int
    """Batch number from the engine."""
    outcome: BatchOutcome | None = None


class TraineeBatchFilter:
    """Filter that keeps the trainee's batches and hides the batches of the scenario.

    It matches each batch in the journal with one start event. The journal contains only inputs of the
    trainee.
    """

    def __init__(self, journal: Sequence[Input] = ()) -> None:
        self._journal = journal
        self._read_input_count = 0
        self._awaited: Counter[tuple[str, ...]] = Counter()
        self._running: dict[str, QueryBatch] = {}

    def record_start(self, event: Event, batch_start: SqlData) -> QueryBatch | None:
        """Return the batch that begins, or None if it is not the trainee's."""
        for item in self._journal[self._read_input_count :]:
            if item.verb == "sql" and QUERY_WINDOW_PATTERN.fullmatch(item.args[0]):
                self._awaited[item.args] += 1
        self._read_input_count = len(self._journal)
        window = batch_start.window
        if not self._awaited[window, event.text]:
            return None
        self._awaited[window, event.text] -= 1
        batch = self._running[window] = QueryBatch(event.tick, window, event.text, batch_start.batch)
        return batch

    def finish_batch(self, event: Event, batch_end: SqlDoneData) -> QueryBatch | None:
        """Return the batch that ends, with its outcome, or None if it is not the trainee's."""
        batch = self._running.get(batch_end.window)
        if batch is None or batch.run != batch_end.run:
            return None
        del self._running[batch.window]
        batch.outcome = build_outcome(event, batch_end)
        return batch
