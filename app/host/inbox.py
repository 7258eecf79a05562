"""Queue of requests from other threads (SQL clients, a class, standard input), and their results. Without Qt."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

from msgspec import Struct

from app.words.language import mark
from engine.events import Event, SessionData, SqlDoneData
from engine.inputs import Input
from engine.verbs import VERBS

READ_ONLY_TEXT: Final = mark(
    "You are viewing {moment}. To act, choose “Return to now” or “Continue from here”."
)
NO_RUN_TEXT: Final = mark("Open a run first to use this command.")
RUN_ENDED_TEXT: Final = mark("This run has ended. You can view it but not change it.")
LOADING_TEXT: Final = mark("A run is being replayed. Wait, or cancel it.")
ANSWER_FIRST_TEXT: Final = mark("The clock is paused until you answer the question in the brief.")


def build_sentence(text: str) -> str:
    """Capitalize *text* and end it with a period.

    If *text* begins with the verb of an input line, keep its spelling.
    """
    text = text.strip()
    begins_with_verb = text.partition(" ")[0].rstrip(":") in VERBS
    start = text[:1] if begins_with_verb else text[:1].upper()
    return f"{start}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


Emitted = TypeVar("Emitted")


class HostSignal(Generic[Emitted]):
    """Signal that passes messages of one type to its listeners.

    A listener receives every message that is emitted after it was connected.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[Emitted], object]] = []

    def connect(self, listener: Callable[[Emitted], object]) -> None:
        """Connect a listener."""
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[[Emitted], object]) -> None:
        """Disconnect a listener. Raises ValueError if it is not connected."""
        self._listeners.remove(listener)

    def emit(self, message: Emitted) -> None:
        """Call every listener. A listener that is disconnected meanwhile is called at most once more."""
        for listener in tuple(self._listeners):
            listener(message)


RESULT_EVENT_BY_VERB: Final = {"sql": "sql_done", "batch": "sql_done", "connect": "session"}
"""Verb whose result is delayed -> kind of the event that contains the result.

Inputs with other verbs complete immediately.
"""


class InputResult(Struct, frozen=True):
    """Result of an `InputRequest`."""

    journal_input: Input | None = None
    """Input as stored in the journal; None if the input was refused."""
    end_data: SqlDoneData | SessionData | None = None
    """Data of the event in RESULT_EVENT_BY_VERB; for T-SQL, they contain messages and result sets.

    None if the batch was lost.
    """
    refusal: str = ""
    """Reason for the refusal as one sentence; empty if the input was accepted."""


@dataclass(frozen=True, slots=True)
class InputRequest:
    """Input line from another thread."""

    number: int
    line: str
    result_future: Future[InputResult] = field(default_factory=Future, compare=False)
    """Future for the result: complete immediately for most inputs, and after the last result set for T-SQL."""


class Inbox:
    """Queue of requests. Any thread may post, and the host's thread processes the requests."""

    def __init__(self) -> None:
        self.wake: Callable[[], object] = lambda: None
        """Function that wakes the host's thread. Any thread may call it."""
        self._numbers = count(1)  # the call of next() is atomic
        self._posted: SimpleQueue[InputRequest] = SimpleQueue()
        self._waiting: dict[tuple[str, str], deque[tuple[InputRequest, Input]]] = {}
        """Event kind and query window -> open requests, oldest first. A window executes one batch after another."""

    def post(self, line: str) -> InputRequest:
        """Queue *line*. The host applies it when it processes its inbox."""
        request = InputRequest(next(self._numbers), line)
        self._posted.put(request)
        self.wake()
        return request

    def wake_if_queued(self) -> None:
        """Wake the host if requests are queued."""
        if not self._posted.empty():
            self.wake()

    def take_requests(self) -> Iterator[InputRequest]:
        """Remove and yield the queued requests, oldest first."""
        while True:
            try:
                yield self._posted.get_nowait()
            except Empty:
                return

    def register_result_event(self, request: InputRequest, input_: Input) -> None:
        """Complete *request* when the next result event occurs in the query window of *input_*.

        RESULT_EVENT_BY_VERB determines the kind of the event.
        """
        self._waiting.setdefault((RESULT_EVENT_BY_VERB[input_.verb], input_.args[0]), deque()).append(
            (request, input_)
        )

    def process_events(self, events: list[Event]) -> None:
        """Complete the requests whose result event is in *events*."""
        for event in events:
            end = event.data
            if isinstance(end, SqlDoneData | SessionData) and (
                waiting := self._waiting.get((end.kind, end.window))
            ):
                # A batch with a run number completes the oldest request. Other events complete the newest
                # request.
                in_turn = isinstance(end, SqlDoneData) and end.run
                request, item = waiting.popleft() if in_turn else waiting.pop()
                request.result_future.set_result(InputResult(item, end))

    def refuse_all(self, reason: str) -> None:
        """Refuse all open requests with *reason*, because the run was closed.

        The result of an applied input is lost, as after a broken connection.
        """
        for request in self.take_requests():
            request.result_future.set_result(InputResult(refusal=reason))
        for waiting in self._waiting.values():
            for request, item in waiting:
                request.result_future.set_result(InputResult(item, refusal=reason))
        self._waiting.clear()
