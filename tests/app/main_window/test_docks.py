"""The table of docks: each row is a view that can be made, is in the menus, and has its keys and a help page."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.main_window.desk import PLACES
from app.views.help import text_of
from app.widgets import keys
from app.widgets.docks import DOCKS, MIDDLE, NAMES, PROFILES, Dock
from tests.open_window import OpenWindow

SLOTS = ("requested", "show_drill", "show_world", "add_events")


@pytest.mark.parametrize("dock", DOCKS, ids=lambda dock: dock.name)
def test_each_view_has_what_the_desk_gives_and_hears(dock: Dock, qtbot: QtBot) -> None:
    made = resolve_name(dock.view)()
    qtbot.addWidget(made)
    assert isinstance(made, QWidget)
    assert [name for name in SLOTS if not hasattr(made, name)] == []
    assert set(dock.profiles) <= set(PROFILES)
    assert text_of(dock.page)


def test_one_view_is_in_the_middle() -> None:
    assert len(PLACES) == len(DOCKS) - 1
    assert [dock.name for dock in DOCKS if dock.area is MIDDLE] == ["topology"]
    assert len(set(NAMES)) == len(NAMES)


def test_each_is_in_the_menus_and_the_table_of_keys(window: OpenWindow) -> None:
    for dock in DOCKS:
        action = window.actions_by_name[f"view.{dock.name}"]
        assert action.associatedObjects(), dock.name
        assert keys.BY_NAME[f"view.{dock.name}"].ssms == (tuple(dock.keys.split(" | ")) if dock.keys else ())
