"""The course of the drill that runs, as a strip beside the time controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.course import Course
from app.strip import Strip
from engine.constants import TICKS_PER_S
from engine.events import Event
from engine.model import World

if TYPE_CHECKING:
    from engine.drill.drill import Drill


class Timeline(Strip):
    """A strip that follows a drill."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._followed = Course((), ())

    @Slot(object)
    def show_drill(self, drill: Drill) -> None:
        mirrored = [s.database for s in drill.scenario.sessions if s.state == "SYNCHRONIZED"]
        self._followed = Course(drill.world.availability, mirrored)
        self._followed.add(event.as_json() for event in drill.events)
        length_s = None if drill.end_tick is None else drill.end_tick / TICKS_PER_S
        self.show_course(self._followed, drill.world.t_s, length_s, truth=drill.terms.truth)

    @Slot(object)
    def show_world(self, world: World) -> None:
        self.show_now(world.t_s)

    @Slot(list)
    def add_events(self, events: Sequence[Event]) -> None:
        self._followed.add(event.as_json() for event in events)
        self.show_more()
