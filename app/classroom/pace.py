"""Freezes, time limits, breaks and clock of a class, with the estimated time until its end. No Qt."""

import time
from collections.abc import Iterable, Sequence
from statistics import median_low
from typing import Final, Protocol

from app.classroom.log_entries import TICK_MAX
from app.classroom.messages import requests
from app.classroom.messages.replies import ClassClock, PaceState
from app.classroom.models import FROZEN, OVER, RUNNING, ClassPart
from app.words.language import tr
from engine.constants import TICKS_PER_S
from engine.drill.authoring.schema import Scenario
from engine.drill.running.drill import Drill
from engine.drill.running.solution import find_default_end

ColumnValues = dict[str, str | int | float | bool | None]
"""Column of a database table -> its new value."""
SPEED_SMOOTHING_WEIGHT: Final = 0.2
"""Weight of the latest measurement in the smoothed speed of a seat. Assumed."""
SPEED_INTERVAL_LIMITS_S: Final = (1.0, 30.0)
"""Minimum and maximum wall time between two reports of a seat that are used to measure its speed.

A longer gap is a network failure.
"""


PAUSED_AFTER_S: Final = 10.0
"""Wall time without progress after which a run counts as paused.

A running seat reports several times within this time. Assumed.
"""


class SeatSpeed:
    """Smoothed speed of a seat, computed from the positions that it reports."""

    def __init__(self) -> None:
        self.speed: float | None = None
        """Simulated seconds per second; None before the first measurement."""
        self._previous: tuple[float, int] | None = None

    def record_position(self, tick: int, is_idle: bool) -> None:
        """Record the position of a seat.

        *is_idle*: True if the seat is frozen or over, so that this time does not count.
        """
        now_s = time.monotonic()
        if is_idle:
            self._previous = None
        elif self._previous is None:
            self._previous = (now_s, tick)
        elif (span_s := now_s - self._previous[0]) >= SPEED_INTERVAL_LIMITS_S[0]:
            if span_s <= SPEED_INTERVAL_LIMITS_S[1]:
                speed = (tick - self._previous[1]) / TICKS_PER_S / span_s
                self.speed = (
                    speed
                    if self.speed is None
                    else self.speed + SPEED_SMOOTHING_WEIGHT * (speed - self.speed)
                )
            self._previous = (now_s, tick)


class PauseDetector:
    """Detector of runs that their participants have paused. It uses the positions that the host knows."""

    def __init__(self) -> None:
        self.is_paused = False
        self._tick, self._moved_at_s = -1, 0.0

    def record_position(self, tick: int, may_run: bool) -> bool:
        """Record the position of a seat. Return whether `is_paused` has changed.

        *may_run*: False if something other than the participant stops the run, such as a freeze.
        """
        now_s, was_paused = time.monotonic(), self.is_paused
        if tick != self._tick or not may_run:
            self._tick, self._moved_at_s = tick, now_s
        self.is_paused = now_s - self._moved_at_s >= PAUSED_AFTER_S
        return self.is_paused != was_paused


class PacedSeat(Protocol):
    """Interface of a seat with the fields that ClassPace needs."""

    number: int
    tick: int
    group: str
    stopped: bool
    """True if the instructor has frozen the seat."""
    until: int | None
    """Tick at which the seat stops; None if the limit of the class applies."""
    over: bool
    """True if the seat's run has ended."""
    progress: SeatSpeed


class ClassPace:
    """Pace of a class: its clock, breaks and limits as stored in the record. Only the host changes them."""

    def __init__(self, the_class: ClassPart, scenario: Scenario) -> None:
        self._class = the_class
        self._end = find_default_end(Drill(scenario, the_class.seed, the_class.mode))

    # --- current state

    def get_clock_tick(self) -> float | None:
        """Return the time of the class clock in ticks, or None without a class clock."""
        the_class = self._class
        if the_class.clock_speed is None:
            return None
        gone_s = time.time() - the_class.clock_at if the_class.state == RUNNING else 0.0
        return the_class.clock_tick + max(0.0, gone_s) * the_class.clock_speed * TICKS_PER_S

    def get_class_tick(self, seats: Iterable[PacedSeat]) -> int:
        """Return the time of the class: its clock, or else the median position of the seats that are not over."""
        tick = self.get_clock_tick()
        if tick is not None:
            return int(tick)
        return median_low([seat.tick for seat in seats if not seat.over] or [0])

    def get_clock_s(self) -> float | None:
        """Return the time of the class clock in seconds, or None without a class clock."""
        tick = self.get_clock_tick()
        return None if tick is None else tick / TICKS_PER_S

    def get_break_s(self) -> float | None:
        """Return the remaining wall time of the break in seconds, or None without a break."""
        break_end = self._class.break_until
        return None if break_end is None else max(0.0, break_end - time.time())

    def is_break_over(self) -> bool:
        """Return True if a break has reached its end."""
        return self._class.break_until is not None and time.time() >= self._class.break_until

    def get_stop_tick(self, seat: PacedSeat) -> int | None:
        """Return the tick at which a seat must stop, or None without a limit."""
        return self._class.until if seat.until is None else seat.until

    def get_limit_s(self, seat: PacedSeat) -> float | None:
        """Return the limit of a seat in simulated seconds, or None without a limit."""
        stop_tick = self.get_stop_tick(seat)
        return None if stop_tick is None or stop_tick >= TICK_MAX else stop_tick / TICKS_PER_S

    def should_freeze(self, seat: PacedSeat) -> bool:
        """Return whether the seat should be frozen: individually, with the class, or at its limit."""
        stop_tick = self.get_stop_tick(seat)
        return (
            self._class.state == FROZEN or seat.stopped or (stop_tick is not None and seat.tick >= stop_tick)
        )

    def estimate_remaining_s(self, seat: PacedSeat) -> float | None:
        """Return the estimated wall time in seconds until a seat ends, or None if it is unknown."""
        speed = seat.progress.speed
        if seat.over or not speed or speed <= 0.0:
            return None
        return max(0.0, self._end - seat.tick) / TICKS_PER_S / speed

    def estimate_class_remaining_s(self, seats: Iterable[PacedSeat]) -> float | None:
        """Return the estimated wall time in seconds until the last of *seats* ends, or None if it is unknown."""
        ends = [end for seat in seats if (end := self.estimate_remaining_s(seat)) is not None]
        return max(ends) + (self.get_break_s() or 0.0) if ends else None

    def build_state_message(self, seat: PacedSeat) -> PaceState:
        """Build the message with the state of the class and the limit of *seat*."""
        the_class = self._class
        state = FROZEN if the_class.state == RUNNING and seat.stopped else the_class.state
        clock: ClassClock | None = None
        if (tick := self.get_clock_tick()) is not None:
            speed = the_class.clock_speed if the_class.state == RUNNING else 0.0
            clock = ClassClock(tick=int(tick), speed=speed or 0.0)
        hosts = the_class.addresses if len(the_class.addresses) > 1 else []
        return PaceState(
            state=state,
            until=self.get_stop_tick(seat),
            clock=clock,
            break_s=self.get_break_s(),
            hosts=hosts,
        )

    # --- required state

    def plan_changes(
        self, message: requests.PaceRequest, all_seats: Sequence[PacedSeat]
    ) -> tuple[ColumnValues, list[tuple[ColumnValues, list[PacedSeat]]]]:
        """Return the new column values of the class, and those of seats, that *message* requires.

        Each item of the list contains column values and the seats to which they apply. Raises ValueError with
        the reason for an impossible change.
        """
        if self._class.state == OVER:
            raise ValueError(tr("the class has ended"))
        seats, applies_to_all = (
            list(all_seats),
            isinstance(message, requests.SeatTarget) and message.seat is None and message.group is None,
        )
        match message:
            case requests.FinishClass():
                return self._build_state_columns(OVER), []
            case requests.StartBreak():
                return self._build_state_columns(FROZEN, time.time() + 60.0 * message.minutes), []
            case requests.ChangeClock():
                tick = self.get_clock_tick()
                start_tick = max([seat.tick for seat in seats], default=0) if tick is None else tick
                return {
                    "clock_speed": message.speed,
                    "clock_tick": int(start_tick),
                    "clock_at": time.time(),
                }, []
            case requests.AssignGroup():
                return {}, [({"group_name": message.name}, seats)]
            case requests.FreezeSeats(tick=None):
                return (
                    (self._build_state_columns(FROZEN), [])
                    if applies_to_all
                    else ({}, [({"stopped": True}, seats)])
                )
            case requests.FreezeSeats():
                return (
                    ({"until": message.tick}, [({"until": None}, seats)])
                    if applies_to_all
                    else ({}, [({"until": message.tick}, seats)])
                )
            case requests.ContinueClass():
                return self._plan_resumption(seats, applies_to_all)
            case requests.ExtendLimit():
                return self._plan_limit_extension(seats, message.ticks, applies_to_all)
            case _:
                raise ValueError(message.kind)

    def _build_state_columns(self, state: str, break_until: float | None = None) -> ColumnValues:
        tick = self.get_clock_tick()
        clock: ColumnValues = {} if tick is None else {"clock_tick": int(tick), "clock_at": time.time()}
        return {"state": state, "break_until": break_until, **clock}

    def _plan_resumption(
        self, paced_seats: list[PacedSeat], to_all: bool
    ) -> tuple[ColumnValues, list[tuple[ColumnValues, list[PacedSeat]]]]:
        """Return the column changes that resume seats and remove the limits that they have reached.

        If *to_all* is True, the class is resumed as well, with its clock at the time of the freeze.
        """
        at_stop = [
            seat
            for seat in paced_seats
            if (stop_tick := self.get_stop_tick(seat)) is not None and seat.tick >= stop_tick
        ]
        seats: list[tuple[ColumnValues, list[PacedSeat]]] = (
            [({"until": TICK_MAX}, at_stop)] if at_stop else []
        )
        seats.append(({"stopped": False}, paced_seats))
        return (self._build_state_columns(RUNNING) if to_all else {}), seats

    def _plan_limit_extension(
        self, paced_seats: list[PacedSeat], ticks: int, to_all: bool
    ) -> tuple[ColumnValues, list[tuple[ColumnValues, list[PacedSeat]]]]:
        of_class: ColumnValues = {}
        if to_all and self._class.until is not None:
            of_class["until"] = min(TICK_MAX, self._class.until + ticks)
        limits = [
            (seat, limit_tick)
            for seat in paced_seats
            if (limit_tick := seat.until if to_all else self.get_stop_tick(seat)) is not None
        ]
        if not of_class and not limits:
            raise ValueError(tr("this run has no time limit to extend"))
        return of_class, [
            ({"until": min(TICK_MAX, limit_tick + ticks)}, [seat]) for seat, limit_tick in limits
        ]
