"""Notes, spotlight and find on the topology from anywhere in the window, and notes kept with their scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from app import settings
from app.main_window import actions
from app.views.monitor import Monitor
from app.views.topology.notes import Note
from app.words.language import tr

if TYPE_CHECKING:
    from app.main_window.window import MainWindow
    from app.settings import WindowSettings
    from engine.drill.running.drill import Drill


class Teaching:
    """What an instructor does to the picture. Notes are written down when a drill is left."""

    def __init__(self, window: MainWindow, store: WindowSettings) -> None:
        self._window, self._store = window, store
        self._scenario = ""
        window.play.began.connect(self._put)
        window.session.finished.connect(lambda _: self._keep())
        window.session.drill_changed.connect(lambda _: self._keep())
        window.closing.connect(self._keep)
        window.pages.currentChanged.connect(lambda _: self._keep())

    def _put(self, drill: Drill) -> None:
        """The notes of this scenario, and no light that was for another one."""
        self._scenario = drill.scenario.name
        self._window.topology.put_notes(_notes(self._store).get(self._scenario, []))
        self._window.topology.light(())

    def _keep(self) -> None:
        if not self._scenario:
            return
        kept = _notes(self._store)
        kept[self._scenario] = self._window.topology.notes()
        self._store.set(settings.NOTES, json.dumps({name: notes for name, notes in kept.items() if notes}))


def _notes(store: WindowSettings) -> dict[str, list[Note]]:
    """What was stored; nothing of it that makes no sense any more."""
    found = store.json(settings.NOTES)
    if not isinstance(found, dict):
        return {}
    return {
        name: [(text, float(x), float(y)) for text, x, y in filter(_is_note, notes)]
        for name, notes in found.items()
        if isinstance(notes, list)
    }


def _is_note(found: Any) -> bool:
    if not isinstance(found, list) or len(found) != 3 or not isinstance(found[0], str):
        return False
    return all(type(part) in (int, float) and abs(part) <= settings.FAR for part in found[1:])


def attach(window: MainWindow) -> None:
    """Keys that work wherever the keyboard is."""
    Teaching(window, window.store)  # its connections keep it
    topology = window.topology
    added = actions.add(
        window,
        {
            "teach.note": topology.add_note,
            "teach.spotlight": topology.spotlight,
            "teach.bright": lambda: topology.light(()),
            "teach.find": topology.find_thing,
        },
    )
    menu = window.menus["&View"]
    menu.addSeparator()
    menu.addMenu(tr("Teachin&g tools")).addActions(list(added.values()))
    topology.database_chosen.connect(window.charts.show_database)
    topology.database_chosen.connect(window.desk.part(Monitor).show_database)
