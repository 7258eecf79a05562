"""An instructor's notes on the topology, kept with their scenario."""

from __future__ import annotations

import json

from PySide6.QtCore import QObject

from app import settings
from app.main_window.run_controller import RunController
from app.main_window.session import HostSession
from app.settings import WindowSettings
from app.views.topology import Topology
from app.views.topology.notes import Note
from app.widgets.scroll_container import Pages
from engine.drill.running.drill import Drill


class TopologyNotes(QObject):
    """Notes on the picture, put there as a drill begins and written down when it is left."""

    def __init__(
        self,
        topology: Topology,
        session: HostSession,
        play: RunController,
        pages: Pages,
        store: WindowSettings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._topology, self._store = topology, store
        self._scenario = ""
        play.began.connect(self._put)
        session.finished.connect(lambda _: self.keep())
        session.drill_changed.connect(lambda _: self.keep())
        pages.currentChanged.connect(lambda _: self.keep())

    def _put(self, drill: Drill) -> None:
        """Show the notes of this scenario and clear spotlights of another one."""
        self._scenario = drill.scenario.name
        self._topology.put_notes(_notes(self._store).get(self._scenario, []))
        self._topology.light(())

    def keep(self) -> None:
        """Store the notes of the scenario."""
        if not self._scenario:
            return
        kept = _notes(self._store)
        kept[self._scenario] = self._topology.notes()
        self._store.set(settings.NOTES, json.dumps({name: notes for name, notes in kept.items() if notes}))


def _notes(store: WindowSettings) -> dict[str, list[Note]]:
    """Return the stored notes without the invalid ones."""
    found = store.json(settings.NOTES)
    if not isinstance(found, dict):
        return {}
    return {
        name: [(text, float(x), float(y)) for text, x, y in filter(_is_note, notes)]
        for name, notes in found.items()
        if isinstance(notes, list)
    }


def _is_note(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str):
        return False
    return all(type(part) in (int, float) and abs(part) <= settings.FAR for part in value[1:])
