"""T-SQL window for tests: it sends a batch, runs the world, and reads the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine import simulator, tsql
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.internal_errors import INTERNAL_ERROR_PREFIX
from engine.model import World
from tests.events import read_field


@dataclass(frozen=True)
class Answer:
    """Answer to a submission."""

    event: Event

    @property
    def texts(self) -> list[str]:
        """Return the messages as SSMS shows them."""
        return [format_message(message) for message in read_field(self.event, "messages")]

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the numbered messages."""
        return [message["number"] for message in read_field(self.event, "messages") if message["number"]]

    @property
    def grids(self) -> list[list[list[Any]]]:
        return [grid["rows"] for grid in read_field(self.event, "results")]

    @property
    def columns(self) -> list[list[str]]:
        return [grid["columns"] for grid in read_field(self.event, "results")]

    @property
    def value(self) -> Any:
        """Return the only value of the only result set."""
        ((row,),) = self.grids
        (value,) = row
        return value


def format_message(message: dict[str, Any]) -> str:
    """Format a message: `Msg 1416, Level 16, State 1, Line 1: …`, or the text alone for information."""
    head = "Msg {number}, Level {severity}, State {state}, Line {line}: ".format(**message)
    return (
        head if message["severity"] > 10 and not message["text"].startswith("Not simulated") else ""
    ) + str(message["text"])


def run_seconds(world: World, seconds: float) -> list[Event]:
    return simulator.advance_world(world, world.tick + round(seconds * TICKS_PER_S))


def collect_unchecked_answers(world: World, window: str, text: str, wait_s: float = 0.0) -> list[Answer]:
    """Return the same answers as `collect_answers`, and also those that ended with an internal error."""
    tsql.submit_text(world, window, text)
    return [Answer(event) for event in run_seconds(world, wait_s) if event.kind == "sql_done"]


def collect_answers(world: World, window: str, text: str, wait_s: float = 0.0) -> list[Answer]:
    """Return the answers of all windows that arrive within *wait_s* after *text* is sent.

    An internal error fails the test.
    """
    found = collect_unchecked_answers(world, window, text, wait_s)
    assert not any(INTERNAL_ERROR_PREFIX in line for answer in found for line in answer.texts), text
    return found


def submit_batch(world: World, window: str, text: str, wait_s: float = 0.0) -> Answer:
    """Send *text* and return its answer, which must arrive within *wait_s*."""
    return collect_answers(world, window, text, wait_s)[-1]
