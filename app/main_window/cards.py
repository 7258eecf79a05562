"""Where the cards of the topology stand, by scenario, kept for the next time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app import settings
from app.settings import WindowSettings

if TYPE_CHECKING:
    from app.views.topology import Topology


def put(store: WindowSettings, topology: Topology, scenario: str) -> None:
    """Cards where somebody has put them last time in this scenario."""
    places = _places(store).get(scenario, {})
    topology.put({name: (float(x), float(y)) for name, (x, y) in places.items()})


def keep(store: WindowSettings, topology: Topology, scenario: str) -> None:
    places = _places(store)
    places[scenario] = {name: list(place) for name, place in topology.places().items()}
    store.set(settings.PLACES, json.dumps({name: cards for name, cards in places.items() if cards}))


def _places(store: WindowSettings) -> dict[str, dict[str, list[float]]]:
    """What was stored; nothing if it makes no sense any more."""
    try:
        found = json.loads(store.get(settings.PLACES))
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}
