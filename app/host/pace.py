"""Conversion of wall time into simulated time. Without Qt."""

from __future__ import annotations

from typing import Final

from engine.constants import TICKS_PER_S

SPEED_MIN, SPEED_MAX = 0.1, 1000.0
"""Range of speeds in simulated seconds per second of wall time."""
ELAPSED_MS_MAX: Final = 250.0
"""Maximum wall time that a frame makes up for, so that a resumed laptop does not jump an hour ahead."""
LAG_SHARE: Final = 0.9
"""Share of the requested speed below which the run lags."""


class RunPace:
    """Ticks due at a speed. Ticks that a frame could not run are dropped."""

    def __init__(self) -> None:
        self.speed = 1.0
        """Simulated seconds per second of wall time."""
        self._owed_ticks = 0.0

    def set_speed(self, speed: float) -> bool:
        """Keep the speed within SPEED_MIN to SPEED_MAX; False if it is that already."""
        speed = min(SPEED_MAX, max(SPEED_MIN, speed))
        changed, self.speed = speed != self.speed, speed
        if changed:
            self.reset()
        return changed

    def reset(self) -> None:
        """Reset the time owed."""
        self._owed_ticks = 0.0

    def due_ticks(self, elapsed_ms: float) -> int:
        """Return whole ticks due after *elapsed_ms* more of wall time, of which ELAPSED_MS_MAX count at most."""
        self._owed_ticks += min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0 * self.speed * TICKS_PER_S
        return int(self._owed_ticks)

    def reached(self, done_ticks: int, due_ticks: int, elapsed_ms: float) -> float:
        """Take *done* ticks off the *due* ones; the speed that was reached if the run lags, else 0."""
        self._owed_ticks = 0.0 if done_ticks < due_ticks else self._owed_ticks - due_ticks
        elapsed_s = min(elapsed_ms, ELAPSED_MS_MAX) / 1000.0
        return (
            done_ticks / TICKS_PER_S / elapsed_s if done_ticks < due_ticks * LAG_SHARE and elapsed_s else 0.0
        )
