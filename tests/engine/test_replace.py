"""A part of a world with changes is what `dataclasses.replace` makes of it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from engine.events import Event
from engine.model import Availability
from engine.replace import maker, replaced


def test_a_part_is_replaced_like_any_dataclass() -> None:
    old = Availability(database="Sales", since_tick=5, serving=True)
    new = replaced(old, since_tick=7, down_ticks=2)
    assert new == replace(old, since_tick=7, down_ticks=2)
    assert (old.since_tick, old.down_ticks) == (5, 0)
    with pytest.raises(FrozenInstanceError):
        new.serving = False  # type: ignore[misc]
    with pytest.raises(TypeError, match="Availability has no field"):
        replaced(old, sold=True)


def test_a_part_is_made_from_the_values_of_its_fields() -> None:
    made = maker(Event)(7, "note", None, "Sales", "a text", (("number", 1),))
    assert made == Event(7, "note", None, "Sales", "a text", (("number", 1),))
    assert type(made) is Event
    with pytest.raises(FrozenInstanceError):
        made.kind = "hint"  # type: ignore[misc]
    with pytest.raises(TypeError):
        maker(Event)(7, "note")
