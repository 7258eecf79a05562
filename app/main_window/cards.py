"""Where the cards of the topology stand, by scenario, kept for the next time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
    found = store.json(settings.PLACES)
    if not isinstance(found, dict):
        return {}
    return {
        scenario: {name: place for name, place in cards.items() if _is_place(place)}
        for scenario, cards in found.items()
        if isinstance(cards, dict)
    }


def _is_place(found: Any) -> bool:
    return (
        isinstance(found, list)
        and len(found) == 2
        and all(type(part) in (int, float) and abs(part) <= settings.FAR for part in found)
    )
