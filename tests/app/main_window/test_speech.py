"""Tests of the interface language: selected in the View menu, used after a restart, also for dialogs of Qt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QMenu

from app import settings
from app.main_window.start import set_language_at_start
from app.settings import WindowSettings
from app.words import language
from app.words.language import tr
from tests.assertions import require
from tests.open_window import OpenWindow


@pytest.fixture(autouse=True)
def _english_again(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(language.LANGUAGE_VARIABLE, raising=False)
    yield
    language.use_language(language.ENGLISH)
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()


def find_action(window: OpenWindow, text: str) -> QAction:
    menus = window.menus["&View"].findChildren(QMenu)
    return next(action for menu in menus for action in menu.actions() if action.text() == text)


def test_the_language_is_selected_in_the_menu_and_applies_from_the_next_start(
    qapp: QApplication, window: OpenWindow, store: WindowSettings
) -> None:
    assert require(window.findChild(QAction, "drill.quit")).text() == "Quit"
    find_action(window, "Deutsch").trigger()
    assert find_action(window, "Deutsch").isChecked()
    assert not find_action(window, "English").isChecked()
    assert tr("Quit") == "Quit"  # Visible texts keep their language until the next start.
    set_language_at_start(qapp, store)  # The next start changes the language.
    assert tr("Quit") == "Beenden"


def test_qt_dialogs_use_the_selected_language(qapp: QApplication, store: WindowSettings) -> None:
    store.set(settings.LANGUAGE, "de")
    set_language_at_start(qapp, store)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
    assert buttons.button(QDialogButtonBox.StandardButton.Cancel).text() == "Abbrechen"
    buttons.deleteLater()


def test_the_environment_variable_overrides_the_menu(
    qapp: QApplication, store: WindowSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set(settings.LANGUAGE, "de")
    monkeypatch.setenv(language.LANGUAGE_VARIABLE, "en")
    set_language_at_start(qapp, store)
    assert tr("Quit") == "Quit"
