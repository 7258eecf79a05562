"""Outcome of a batch: messages and result sets from the event of the engine."""

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
    """Number of messages before it."""


class BatchOutcome(Struct, frozen=True):
    """Finished batch."""

    server: str
    window: str
    batch: str
    messages: tuple[Message, ...]
    results: tuple[Rowset, ...]
    started_tick: int
    elapsed_ticks: int
    counted: int | None = None
    """Number of result rows, if the rows themselves are no longer stored."""

    @property
    def failed(self) -> bool:
        """Return whether the batch had an error."""
        return any(message.is_error for message in self.messages)

    @property
    def canceled(self) -> bool:
        """Return whether the batch was canceled."""
        return any(m.number == 0 and m.severity == CANCELED_SEVERITY for m in self.messages)

    @property
    def row_count(self) -> int:
        """Rows of all result sets together."""
        return sum(len(result.rows) for result in self.results) if self.counted is None else self.counted

    @property
    def summary(self) -> str:
        """One line for the history: the first error, else the number of rows."""
        for message in self.messages:
            if message.is_error:
                return f"Msg {message.number}: {message.text}" if message.number else message.text
        if self.results or self.counted:
            return trn("{n} row", "{n} rows", self.row_count).format(
                n=formatting.format_number(self.row_count)
            )
        return self.messages[0].text if self.messages else ""


def summarize_outcome(outcome: BatchOutcome) -> BatchOutcome:
    """Reduce *outcome* to the parts that a summary needs, without rows and printed text, for lists of many batches."""
    messages = outcome.messages[:1]
    messages += tuple(message for message in outcome.messages[1:] if message.is_error)[:1]
    if outcome.canceled:
        messages += tuple(m for m in outcome.messages if m.number == 0 and m.severity == CANCELED_SEVERITY)[
            :1
        ]
    return replace(outcome, messages=messages, results=(), counted=outcome.row_count)


def from_event(event: Event, batch_end: SqlDoneData) -> BatchOutcome:
    """Return the outcome of a batch that has ended."""
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
    """Yield (text, tone, line number) as in the Messages tab: a red heading and the text for an error."""
    for message in outcome.messages:
        if message.is_error and message.number:
            head = f"Msg {message.number}, Level {message.severity}, State {message.state}"
            server = message.server or outcome.server
            yield (
                f"{head}, Server {server}, Line {message.line}\n{message.text}",
                "bad",
                message.above + message.line,
            )
        # RAISERROR with severity 0 or 10 prints the text alone
        elif message.number and 0 < message.severity < 10:
            head = f"Msg {message.number}, Level {message.severity}, State {message.state}"
            yield f"{message.text}\n{head}", None, None
        else:
            yield message.text, "bad" if message.is_error else None, None


TEXT_CHARACTERS: Final = 256
"""Maximum characters of a value in results to text. Default of Management Studio."""

TEXT_CELLS: Final = 10_000
TEXT_MESSAGES: Final = 500
TEXT_LINES: Final = 5_000
"""Maximum number of values, messages and lines in results to text."""


def as_text(outcome: BatchOutcome) -> str:
    """Return messages and results in order, up to the amount that a person reads."""
    lines = [
        text[:TEXT_MESSAGE_CHARACTERS] for text, _, _ in islice(list_message_lines(outcome), TEXT_MESSAGES)
    ]
    parts: list[str] = []
    line_count, remaining_cells, missing = 0, TEXT_CELLS, 0
    for result in outcome.results:
        parts.append("\n".join(lines[line_count : result.after_messages]))
        line_count = max(line_count, result.after_messages)
        rows = result.rows[: remaining_cells // max(1, len(result.columns))]
        missing += len(result.rows) - len(rows)
        if remaining_cells <= 0:
            continue
        remaining_cells -= (1 + len(rows)) * len(result.columns)
        cells = [[formatting.format_cell(value)[:TEXT_CHARACTERS] for value in row] for row in rows]
        parts.append(formatting.format_text_table(list(result.columns), cells))
    parts.append("\n".join(lines[line_count:]))
    if missing:
        parts.append(tr("Rows not shown here: {n}.").format(n=formatting.format_number(missing)))
    if len(outcome.messages) > TEXT_MESSAGES:
        unseen = len(outcome.messages) - TEXT_MESSAGES
        parts.append(tr("Messages not shown: {n}.").format(n=formatting.format_number(unseen)))
    shown_lines = "\n\n".join(part for part in parts if part).split("\n")
    if len(shown_lines) > TEXT_LINES:
        message = tr("Lines not shown: {n}.").format(
            n=formatting.format_number(len(shown_lines) - TEXT_LINES)
        )
        shown_lines[TEXT_LINES:] = ["", message]
    return "\n".join(shown_lines)


TEXT_MESSAGE_CHARACTERS: Final = 4_000
"""Maximum characters of a message in results to text: the limit of PRINT for Unicode."""


QUERY_WINDOW: Final = re.compile(r"[^#]+(#\d+)?")
"""Pattern of a query window: SERVER_A or SERVER_A#2. Other views have their own connections (SERVER_A#monitor)."""


class QueryBatch(Struct):
    """Batch with its result once it has ended."""

    tick: int
    window: str
    text: str
    run: int
    """Number given by the engine."""
    outcome: BatchOutcome | None = None


class Batches:
    """Batches of the trainee, separated from those of the scenario, which must stay hidden.

    The journal contains only inputs of the trainee, and each of its batches is matched with one event.
    """

    def __init__(self, journal: Sequence[Input] = ()) -> None:
        self._journal = journal
        self._read = 0
        self._awaited: Counter[tuple[str, ...]] = Counter()
        self._running: dict[str, QueryBatch] = {}

    def record_start(self, event: Event, batch_start: SqlData) -> QueryBatch | None:
        """Return the batch that begins; None if it does not belong to the trainee."""
        for item in self._journal[self._read :]:
            if item.verb == "sql" and QUERY_WINDOW.fullmatch(item.args[0]):
                self._awaited[item.args] += 1
        self._read = len(self._journal)
        window = batch_start.window
        if not self._awaited[window, event.text]:
            return None
        self._awaited[window, event.text] -= 1
        batch = self._running[window] = QueryBatch(event.tick, window, event.text, batch_start.batch)
        return batch

    def finish_batch(self, event: Event, batch_end: SqlDoneData) -> QueryBatch | None:
        """Return the batch that ends, with its outcome; None if it does not belong to the trainee."""
        batch = self._running.get(batch_end.window)
        if batch is None or batch.run != batch_end.run:
            return None
        del self._running[batch.window]
        batch.outcome = from_event(event, batch_end)
        return batch
