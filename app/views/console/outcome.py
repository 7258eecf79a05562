"""What a batch has brought: messages and result sets, as the engine's event tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app import formatting
from app.language import trn
from engine.events import Event
from engine.messages import Message

CANCELLED_SEVERITY: Final = 11
"""What the client says when somebody has cancelled: no number, this severity."""


@dataclass(frozen=True, slots=True)
class Rowset:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A batch that has ended."""

    server: str
    window: str
    batch: str
    messages: tuple[Message, ...]
    results: tuple[Rowset, ...]
    started_tick: int
    elapsed_ticks: int

    @property
    def failed(self) -> bool:
        return any(message.is_error for message in self.messages)

    @property
    def cancelled(self) -> bool:
        return any(m.number == 0 and m.severity == CANCELLED_SEVERITY for m in self.messages)

    @property
    def row_count(self) -> int:
        """Rows of all result sets together."""
        return sum(len(result.rows) for result in self.results)

    @property
    def summary(self) -> str:
        """One line for the history: the first error, else the number of rows."""
        for message in self.messages:
            if message.is_error:
                return f"Msg {message.number}: {message.text}" if message.number else message.text
        if self.results:
            return trn("{n} row", "{n} rows", self.row_count).format(n=formatting.number(self.row_count))
        return self.messages[0].text if self.messages else ""


def from_event(event: Event) -> Outcome:
    """The outcome that an event of kind "sql_done" tells."""
    return Outcome(
        server=event.get("server") or event.server or "",
        window=event.get("window"),
        batch=event.get("batch"),
        messages=tuple(Message(**message) for message in event.get("messages", ())),
        results=tuple(
            Rowset(tuple(result["columns"]), tuple(tuple(row) for row in result["rows"]))
            for result in event.get("results", ())
        ),
        started_tick=event.get("started_tick"),
        elapsed_ticks=event.get("elapsed_ticks"),
    )


def message_lines(outcome: Outcome) -> Iterator[tuple[str, str | None, int | None]]:
    """(text, tone, line of what was sent) as the Messages tab prints it: a red head and text for an error."""
    for message in outcome.messages:
        if message.is_error and message.number:
            head = f"Msg {message.number}, Level {message.severity}, State {message.state}"
            server = message.server or outcome.server
            yield (
                f"{head}, Server {server}, Line {message.line}\n{message.text}",
                "bad",
                message.above + message.line,
            )
        else:
            yield message.text, "bad" if message.is_error else None, None


def as_text(outcome: Outcome) -> str:
    """Everything as results to text show it."""
    parts = [
        formatting.text_table(
            list(result.columns), [[formatting.cell(value) for value in row] for row in result.rows]
        )
        for result in outcome.results
    ]
    return "\n\n".join([*parts, *(text for text, _, _ in message_lines(outcome))])
