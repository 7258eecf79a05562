"""Tests of the palette in German: it finds panels, actions, drills and themes by German and by English words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.settings import WindowSettings
from app.storage import Profile
from app.widgets import theme
from app.words import language
from tests.app.main_window.conftest import WindowUser, show_window
from tests.open_window import OpenWindow

CTRL_SHIFT = (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, profile: Profile, store: WindowSettings) -> Iterator[OpenWindow]:
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME)
    language.use_language(language.GERMAN)
    yield show_window(qtbot, profile, store)
    language.use_language(language.ENGLISH)


def search_palette(hands: WindowUser, query: str) -> list[str]:
    """Type *query* into the palette, and return its results in order."""
    hands.press_key(Qt.Key.Key_P, *CTRL_SHIFT)
    hands.window.palette_of_commands.field.clear()
    hands.qtbot.keyClicks(QApplication.focusWidget(), query)
    return [entry.text for entry in hands.window.palette_of_commands.model.entries][:4]


EXPECTED_FIRST_RESULTS = (
    ("ausschalten server_b", "SERVER_B: Ausschalten"),
    ("power off server_b", "SERVER_B: Ausschalten"),
    ("power-off server_b", "SERVER_B: Ausschalten"),
    ("object expl", "Objekt-Explorer"),
    ("fault ledger", "Störungsliste"),
    ("execute", "Abfrage: Ausführen"),
    ("link planner", "Extras: Leitungsplaner"),
    ("dark", "Design: Dunkel"),
    ("principal loses its net", "Übung öffnen: Principal loses its network"),
)
"""Pairs of a query and the expected first result."""


@pytest.mark.slow
def test_german_and_english_terms_find_the_same_entries(hands: WindowUser) -> None:
    hands.window.select_drill("lab")
    hands.window.brief.start_wanted.emit("lab")
    hands.window.session.pause()
    for query, first in EXPECTED_FIRST_RESULTS:
        assert search_palette(hands, query)[0] == first
        hands.press_key(Qt.Key.Key_Escape)


def test_an_opened_drill_is_listed_first_from_then_on(hands: WindowUser) -> None:
    hands.window.select_drill("lab")
    hands.window.brief.start_wanted.emit("lab")
    assert search_palette(hands, "loses its network")
    hands.press_key(Qt.Key.Key_Return)
    assert not hands.window.session.is_running
    hands.confirm_action()
    assert hands.window.pages.currentWidget() is hands.window.brief
    assert search_palette(hands, "")[0] == "Übung öffnen: Principal loses its network"
