"""State transitions come from one table: the help page is drawn from it, what is missing changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model import MirrorState
from engine.protocol import roles
from tests.engine.worlds import PRINCIPAL, lab

PAGE = Path(__file__).parents[3] / "assets" / "help" / "mirroring_states.md"


def test_help_page_is_drawn_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == roles.transitions_page()


def test_a_move_that_is_not_in_the_table_is_an_error_and_changes_nothing() -> None:
    world = lab()
    before = world.copies[PRINCIPAL]
    with pytest.raises(KeyError):
        roles.move(world, PRINCIPAL, roles.Cause.RESUME)
    assert world.copies[PRINCIPAL] is before


def test_every_state_can_be_left_and_reached() -> None:
    changes = {(old, new) for (old, _), new in roles.NEXT_STATE.items() if old is not new}
    assert {old for old, _ in changes} == {new for _, new in changes} == set(MirrorState)
