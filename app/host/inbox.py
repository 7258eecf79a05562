"""Requests to a run from other threads (SQL clients, a class, standard input), and their answers. Without Qt."""

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

READ_ONLY: Final = mark("You are viewing {moment}. To act, return to now or continue from here.")
NO_RUN: Final = mark("Open a run first to use this command.")
OVER: Final = mark("This run has ended. You can view it but not change it.")
NOT_YET: Final = mark("A run is being replayed. Wait, or cancel it.")
ANSWER_FIRST: Final = mark("The clock is paused until you answer the question in the brief.")


def build_sentence(text: str) -> str:
    """Begin *text* with a capital letter and end it with a period; the name of a verb keeps its spelling."""
    text = text.strip()
    begins_with_verb = text.partition(" ")[0].rstrip(":") in VERBS
    start = text[:1] if begins_with_verb else text[:1].upper()
    return f"{start}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


Emitted = TypeVar("Emitted")


class HostSignal(Generic[Emitted]):
    """Signal of one kind; a listener receives everything emitted after its connection."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Emitted], object]] = []

    def connect(self, listener: Callable[[Emitted], object]) -> None:
        """Connect a listener."""
        self._listeners.append(listener)

    def disconnect(self, listener: Callable[[Emitted], object]) -> None:
        """Disconnect a listener. Raises ValueError for one that was not connected."""
        self._listeners.remove(listener)

    def emit(self, message: Emitted) -> None:
        """Notify every subscriber; one that unsubscribes meanwhile is notified at most once more."""
        for listener in tuple(self._listeners):
            listener(message)


ENDS: Final = {"sql": "sql_done", "batch": "sql_done", "connect": "session"}
"""Verbs with a delayed answer -> kind of the event that contains it; all others complete at once."""


class RequestResult(Struct, frozen=True):
    """Result of a request."""

    item: Input | None = None
    """Input in the journal; None if it was refused."""
    end_data: SqlDoneData | SessionData | None = None
    """Fields of the event in ENDS: for T-SQL its `sql_done` with messages and results. None if the batch was lost."""
    refused: str = ""
    """Reason for the refusal as one sentence; empty means accepted."""


@dataclass(frozen=True, slots=True)
class Request:
    """Input line from another thread."""

    number: int
    line: str
    answer: Future[RequestResult] = field(default_factory=Future, compare=False)
    """Answer, set once: immediately for most inputs, with the last result for T-SQL."""


class Inbox:
    """Queue that any thread fills and the host's thread empties. The posting thread calls `wake`."""

    def __init__(self) -> None:
        self.wake: Callable[[], object] = lambda: None
        """Function that wakes the host's thread; it must be callable from any thread."""
        self._numbers = count(1)  # next() is atomic
        self._posted: SimpleQueue[Request] = SimpleQueue()
        self._waiting: dict[tuple[str, str], deque[tuple[Request, Input]]] = {}
        """Requests without an answer yet, by kind and window, oldest first: a window runs batch after batch."""

    def post(self, line: str) -> Request:
        """Queue *line*; it is applied when the host processes its inbox."""
        request = Request(next(self._numbers), line)
        self._posted.put(request)
        self.wake()
        return request

    def wake_if_any(self) -> None:
        """Wake the host if requests are still waiting."""
        if not self._posted.empty():
            self.wake()

    def take_requests(self) -> Iterator[Request]:
        """Yield the requests that wait, oldest first."""
        while True:
            try:
                yield self._posted.get_nowait()
            except Empty:
                return

    def await_end(self, request: Request, input_: Input) -> None:
        """Let the next event in ENDS of its window answer *request*."""
        self._waiting.setdefault((ENDS[input_.verb], input_.args[0]), deque()).append((request, input_))

    def process_events(self, events: list[Event]) -> None:
        """Answer the requests whose last event is in *events*."""
        for event in events:
            end = event.data
            if isinstance(end, SqlDoneData | SessionData) and (
                waiting := self._waiting.get((end.kind, end.window))
            ):
                # a batch without a run number (0) completes its own request; the others complete in the order
                # of their requests
                in_turn = isinstance(end, SqlDoneData) and end.run
                request, item = waiting.popleft() if in_turn else waiting.pop()
                request.answer.set_result(RequestResult(item, end))

    def refuse_all(self, reason: str) -> None:
        """Refuse every waiting request like a broken connection, because the run is gone."""
        for request in self.take_requests():
            request.answer.set_result(RequestResult(refused=reason))
        for waiting in self._waiting.values():
            for request, item in waiting:
                request.answer.set_result(RequestResult(item, refused=reason))
        self._waiting.clear()
