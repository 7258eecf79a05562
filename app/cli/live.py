"""`mirrordrill run --speed`: a drill in real time in a terminal, without a window."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TextIO

from app.host import Host, NoRecorder, RequestResult
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.events import Event
from engine.model import ticks

FRAME_S: Final = 0.016
"""Wall time between two frames without requests."""
QUIET: Final = frozenset({"sql", "errorlog", "trace"})
"""Events that repeat others or the typed line."""


def live(
    drill: Drill,
    speed: float,
    until_s: float | None,
    lines: TextIO,
    show: Callable[[str], object],
) -> None:
    """Play *drill* at *speed* simulated seconds a second until it is over, or *until_s*, or *lines* end.

    A line is an input without its time; it is done at once. What happens, and why a line cannot be done, is shown.
    """
    asked = threading.Event()
    host = Host()
    host.inbox.wake = asked.set
    host.happened.connect(lambda events: [show(_line(event)) for event in events if event.kind not in QUIET])
    host.open(drill, NoRecorder())
    host.set_speed(speed)
    reading = threading.Thread(target=_read, args=(host, lines, show), daemon=True)
    reading.start()
    host.play()
    last = time.perf_counter()
    end = None if until_s is None else ticks(until_s)
    while not drill.finished and (reading.is_alive() if end is None else drill.tick < end):
        asked.wait(FRAME_S)
        asked.clear()
        now, all_read = time.perf_counter(), not reading.is_alive()
        host.on_frame((now - last) * 1000.0)
        last = now
        if all_read and not host.running:
            break  # a question stops the clock, and no input line is left to answer it
    host.on_frame(0.0)  # process the requests of the last line
    host.close()


def _read(host: Host, lines: TextIO, show: Callable[[str], object]) -> None:
    def say(future: Future[RequestResult]) -> None:
        if future.result().refused:
            show(future.result().refused)

    for line in lines:
        if line.strip():
            host.inbox.post(line.strip()).answer.add_done_callback(say)


def _line(event: Event) -> str:
    place = " ".join(name for name in (event.server, event.database) if name)
    return f"{event.tick / TICKS_PER_S:9.2f} s  {place:24} {event.text}"
