"""A seat's run: a drill whose every act is in the seat's log before anything goes on, and that obeys the instructor."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty
from typing import Final

from app.classroom.kept import Kept
from app.classroom.link import Link
from app.classroom.models import FROZEN, INJECT, OVER
from app.classroom.scenario import loaded
from app.classroom.shapes import Instruction
from app.classroom.verdict import NOT_IN_A_CLASS
from engine.constants import TICKS_PER_S
from engine.drill.running.drill import Drill
from engine.drill.time.slices import stride
from engine.events import Event
from engine.inputs import Input, InputProblem
from engine.model import Tick
from engine.words import say

MARK_TICKS: Final = 10 * TICKS_PER_S
"""Between two entries of a log that only say how far the run has come. Assumed: so old is the board at most."""
STEP_S: Final = 0.1
"""Wall time after which a run that is paced looks what the instructor wants."""
STEP_TICKS: Final = 10 * TICKS_PER_S
"""The same in ticks for one that runs as fast as it goes: some milliseconds."""
FROZEN_S: Final = 0.05


class ClassOver(Exception):
    """The instructor has ended the class, or the host has refused this seat."""


class SeatRun:
    """A run as the engine's players take it: a drill that is told what to do, and lets time pass."""

    def __init__(
        self, kept: Kept, link: Link, speed: float | None, show: Callable[[Instruction], object]
    ) -> None:
        """Play again what *kept* holds. *speed*: simulated seconds a second, None as fast as it goes. *show* gets the
        instructor's messages."""
        given = kept.given
        assert given is not None, "the host has said what is played"
        self.drill = Drill(loaded(given.text, given.scenario), given.seed, given.mode)
        self._kept, self._link, self._speed, self._show = kept, link, speed, show
        self._frozen = False
        self._pending: dict[int, tuple[Tick, Instruction]] = {}
        self._answered = {act.instruction for act in kept.acts}
        for act in kept.acts:
            self.drill.advance_to(act.tick)
            if act.line:
                self.drill.do(act.line)
        self._started, self._from = time.monotonic(), self.drill.tick

    # --- as a player sees it

    def do(self, line: str, instruction: int = 0) -> Input:
        """Do an input line now; it is in the log when this returns. Raises InputProblem."""
        if line.split(maxsplit=1)[0].lower() in NOT_IN_A_CLASS:
            raise InputProblem(say("a class cannot go back in time"))
        item = self.drill.do(line)
        self._note(item.words if not instruction else line, instruction)
        return item

    def advance_to(self, tick: Tick) -> list[Event]:
        """Let time pass. Raises ClassOver."""
        drill, known = self.drill, len(self.drill.events)
        while drill.tick < tick and not drill.finished:
            self.obey()
            due = [tick for tick, _ in self._pending.values() if tick > drill.tick]
            mark = (drill.tick // MARK_TICKS + 1) * MARK_TICKS
            drill.advance_to(min(tick, mark, drill.tick + self._step(), *due))
            if drill.tick == mark:
                self._note()
            self._pace()
        self.obey()
        return drill.events[known:]

    def end(self) -> None:
        """Note where the run has ended."""
        last = self._kept.acts[-1] if self._kept.acts else None
        if last is None or last.line or last.tick != self.drill.tick:
            self._note()
        self._link.over = True
        self._link.wake()

    # --- the instructor

    def obey(self) -> None:
        """Do what the instructor wants; returns once the class is not frozen. Raises ClassOver."""
        self._hear()
        while self._frozen:
            self._tell()
            time.sleep(FROZEN_S)
            self._hear()
            self._started, self._from = time.monotonic(), self.drill.tick
        for number, (tick, one) in sorted(self._pending.items(), key=lambda entry: (entry[1][0], entry[0])):
            if tick <= self.drill.tick and not self.drill.finished:
                del self._pending[number]
                self._carry_out(number, one)
        self._tell()

    def _hear(self) -> None:
        while True:
            try:
                said = self._link.incoming.get_nowait()
            except Empty:
                return
            if said["kind"] == "refused":
                raise ClassOver
            if said["kind"] == "welcome" and not self.drill.terms.rewind:
                self.drill.advance_to(said["tick"])  # in an exam a kill gives no time back
            if said["kind"] == "welcome" or said["kind"] == "state":
                if said["state"] == OVER:
                    raise ClassOver
                self._frozen = said["state"] == FROZEN
            elif said["kind"] == "instruction" and said["number"] not in self._answered | set(self._pending):
                self._pending[said["number"]] = (said["tick"] or 0, said)

    def _carry_out(self, number: int, one: Instruction) -> None:
        """An inject happens, a message is shown; the log says so, with an empty line for what could not be done."""
        self._answered.add(number)
        if one["what"] == INJECT:
            try:
                self.do(one["text"], number)
                return
            except InputProblem:
                pass
        else:
            self._show(one)
        self._note("", number)

    # --- inside

    def _note(self, line: str = "", instruction: int = 0) -> None:
        self._kept.append(self.drill.tick, line, self.drill.state_hash(), instruction)
        self._link.wake()

    def _tell(self) -> None:
        link, changed = self._link, self._link.frozen != self._frozen
        link.tick, link.frozen = self.drill.tick, self._frozen
        if changed:
            link.wake()

    def _step(self) -> int:
        most = STEP_TICKS if self._speed is None else max(1, int(STEP_S * self._speed * TICKS_PER_S))
        return stride(self.drill, most)

    def _pace(self) -> None:
        if self._speed is not None:
            due = self._started + (self.drill.tick - self._from) / TICKS_PER_S / self._speed
            time.sleep(max(0.0, due - time.monotonic()))
