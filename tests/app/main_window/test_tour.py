"""The tour: offered once, walked with the keyboard while the clock is paused, repeated on demand."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtWidgets import QApplication

from app import settings
from app.settings import WindowSettings
from app.widgets import theme
from app.words import language
from tests.app.main_window.conftest import Hands, shown
from tests.open_window import OpenWindow


@pytest.fixture(autouse=True)
def _newcomer(store: WindowSettings) -> None:
    store.set(settings.TOUR_SEEN, False)


@pytest.fixture
def toured(window: OpenWindow) -> OpenWindow:
    window.choose("lab")
    window.brief.started.emit("lab")
    window.session.pause()
    return window


def test_it_is_offered_once_while_the_clock_runs(
    qtbot: Any, window: OpenWindow, store: WindowSettings, profile: Any
) -> None:
    window.choose("lab")
    window.brief.started.emit("lab")
    assert window.session.running, "an offer does not stop the clock"
    assert not window.tour.isVisible()
    assert "tour" in window.notice.text
    assert window.console.current is not None
    typed_into = window.console.current.editor
    typed_into.setFocus()
    offer = window.notice.offer_button
    assert offer is not None
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    tour = window.tour
    assert tour.isVisible()
    assert tour.next.hasFocus(), "Enter continues"
    assert not window.session.running
    assert tour.count.text() == "1 of 7"
    tour._go(1)
    window.actions_by_name["help.tour"].trigger()
    assert tour.count.text() == "2 of 7", "it continues where it was"
    qtbot.keyClick(tour, Qt.Key.Key_Escape)
    assert not tour.isVisible()
    assert window.session.running, "the clock runs again"
    again = shown(qtbot, profile, store)
    again.choose("lab")
    again.brief.started.emit("lab")
    assert "tour" not in again.notice.text


def test_a_click_leaves_the_keyboard_and_escape_ends_it_wherever_that_is(
    qtbot: Any, toured: OpenWindow
) -> None:
    tour = toured.tour
    assert toured.console.current is not None
    editor = toured.console.current.editor
    toured.actions_by_name["help.tour"].trigger()
    editor.setFocus()
    qtbot.mouseClick(tour.title, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tour.next, Qt.MouseButton.LeftButton)
    assert tour.count.text().startswith("2 of 7")
    assert editor.hasFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert not tour.isVisible()
    assert editor.hasFocus()


class Layouts(QObject):
    """Counts the layouts that are asked of what it watches."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


@pytest.mark.slow
def test_the_window_comes_to_rest_while_it_stands(toured: OpenWindow) -> None:
    """Placing the bubble asked for a layout, which placed the bubble: a processor was busy as long as it stood."""
    toured.actions_by_name["help.tour"].trigger()
    for _ in range(20):
        QApplication.processEvents()
    layouts = Layouts()
    toured.installEventFilter(layouts)
    for _ in range(20):
        QApplication.processEvents()
    assert toured.tour.isVisible()
    assert layouts.count == 0


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("words", [language.ENGLISH, language.GERMAN])
def test_it_points_at_what_is_in_sight_and_stays_in_the_window(
    qtbot: Any, qapp: QApplication, store: WindowSettings, profile: Any, words: str, scale: float
) -> None:
    language.use(words)
    store.set(settings.FONT_SCALE, scale)
    theme.apply(qapp, theme.LIGHT, scale)
    toured = shown(qtbot, profile, store)
    toured.choose("lab")
    toured.brief.started.emit("lab")
    toured.session.pause()
    toured.desk.docks["timing"].raise_()  # so that the monitor is behind it
    tour, titles = toured.tour, []
    toured.actions_by_name["help.tour"].trigger()
    QApplication.processEvents()
    while tour.isVisible():
        titles.append(tour.title.text())
        widget = tour.stop_shown.widget()
        assert widget is not None
        assert widget.isVisible()
        assert toured.rect().contains(tour.geometry()), titles[-1]
        ring = tour._ring.geometry()
        assert min(ring.width(), ring.height()) > 20, titles[-1]
        middle = widget.mapFrom(toured, ring.center())
        assert widget.rect().contains(middle), titles[-1]
        assert tour.text.height() >= tour.text.heightForWidth(tour.text.width())
        lines = tour.text.fontMetrics().boundingRect(
            QRect(0, 0, tour.text.width(), 9_999), Qt.TextFlag.TextWordWrap, tour.text.text()
        )
        assert tour.text.height() <= lines.height() + tour.text.fontMetrics().height(), titles[-1]
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
        QApplication.processEvents()
    language.use(language.ENGLISH)
    assert len(titles) == 7
    assert len(set(titles)) == len(titles)


def test_keys_go_back_and_end_it_and_the_window_works_meanwhile(qtbot: Any, toured: OpenWindow) -> None:
    tour = toured.tour
    toured.actions_by_name["help.tour"].trigger()
    first = tour.title.text()
    qtbot.keyClick(tour, Qt.Key.Key_Right)
    assert tour.title.text() != first
    toured.session.do("power-off SERVER_A")
    qtbot.keyClick(tour, Qt.Key.Key_Left)
    assert tour.title.text() == first
    qtbot.keyClick(tour, Qt.Key.Key_Escape)
    assert not tour.isVisible()
    assert toured.session.drill is not None
    assert not toured.session.drill.world.computers["SERVER_A"].powered


@pytest.mark.slow
def test_it_goes_with_the_desk(hands: Hands, toured: OpenWindow) -> None:
    toured.actions_by_name["help.tour"].trigger()
    toured.show_home()
    assert not toured.tour.isVisible()
    assert not toured.session.running
    toured.actions_by_name["help.tour"].trigger()
    assert not toured.tour.isVisible()
    assert "Open a drill" in toured.notice.text
