"""Positions of the cards in the topology, stored per scenario for the next run."""

from __future__ import annotations

import json

from PySide6.QtCore import QObject

from app import settings
from app.settings import WindowSettings
from app.views.topology import Topology
from engine.drill.running.drill import Drill


class TopologyLayout(QObject):
    """Positions of the cards as the user left them in the same scenario."""

    def __init__(self, topology: Topology, store: WindowSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._topology, self._store = topology, store

    def put(self, drill: Drill) -> None:
        """Restore the card positions of the drill."""
        places = _places(self._store).get(drill.scenario.name, {})
        self._topology.put({name: (float(x), float(y)) for name, (x, y) in places.items()})

    def keep(self, drill: Drill) -> None:
        """Store the card positions of the drill."""
        places = _places(self._store)
        places[drill.scenario.name] = {name: list(place) for name, place in self._topology.places().items()}
        self._store.set(settings.PLACES, json.dumps({name: cards for name, cards in places.items() if cards}))


def _places(store: WindowSettings) -> dict[str, dict[str, list[float]]]:
    """Return the stored positions without the invalid ones; nothing if the setting is invalid."""
    found = store.json(settings.PLACES)
    if not isinstance(found, dict):
        return {}
    return {
        scenario: {name: place for name, place in cards.items() if _is_position(place)}
        for scenario, cards in found.items()
        if isinstance(cards, dict)
    }


def _is_position(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(part) in (int, float) and abs(part) <= settings.FAR for part in value)
    )
