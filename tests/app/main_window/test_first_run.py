"""Tests of the introduction by keyboard alone: five captions with figures from the run, then the first task."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import settings
from app.main_window.first_run import BOOT_SPEED, FAILOVER_SPEED
from app.settings import WindowSettings
from app.storage import Profile
from app.view_models import first_run
from app.view_models.failover_moment.view import StageView
from app.widgets import theme
from app.words import language
from tests.app.main_window.conftest import WindowUser, show_window
from tests.open_window import OpenWindow

CAPTION_TITLES = [
    "Who detected the failure?",
    "Which log was redone?",
    "Who voted?",
    "When did the clients return?",
    "How long should the failover take?",
]
FRAMES_MAX = 3_000
PAINTED_FRAMES = 5
"""Number of frames between two paint events."""


@pytest.fixture
def newcomer(qtbot: QtBot, store: WindowSettings, profile: Profile) -> OpenWindow:
    store.set(settings.INTRODUCTION_SEEN, False)
    return show_window(qtbot, profile, store)


def press_key(qtbot: QtBot, key: Qt.Key = Qt.Key.Key_Return) -> None:
    qtbot.keyClick(QApplication.focusWidget(), key)


def wait_for_mark(window: OpenWindow, title: str) -> None:
    """Run frames until the caption has the given title."""
    mark = window.first_run.coach_mark
    for number in range(FRAMES_MAX):
        if number % PAINTED_FRAMES == 0:
            QApplication.processEvents()
        if mark.isVisible() and mark.title.text().startswith(title):
            return
        window.session.on_frame(50.0)
    raise AssertionError(f"the mark {title!r} did not come, but {mark.title.text()!r}")


def test_a_new_user_watches_the_first_run_and_restores_the_server_by_keyboard(
    newcomer: OpenWindow, qtbot: QtBot, profile: Profile
) -> None:
    window, mark = newcomer, newcomer.first_run.coach_mark
    assert window.picker.top.first_run.isVisible()
    press_key(qtbot)
    texts, stage = [], window.failover_moment.stage
    for number, (title, phase) in enumerate(zip(CAPTION_TITLES, (0, 1, 2, 5, 5), strict=True), start=1):
        wait_for_mark(window, title)
        assert stage.isVisible()
        assert isinstance(stage.view, StageView)
        assert stage.view.number == phase, "the stage shows the phase that the caption explains"
        assert not stage.buttons["go"].isVisible()
        assert not window.session.is_running
        assert mark.count.text() == f"{number} of 5"
        assert mark.next.hasFocus()
        texts.append(mark.text.text())
        press_key(qtbot)
    drill = window.session.live_drill
    assert drill is not None
    (failover,) = drill.build_report()["failovers"]
    seconds = failover["detected_t_s"] - failover["failed_t_s"]
    assert f"after {seconds:.2f} s" in texts[0]
    assert f"{failover['redo_done_t_s'] - failover['detected_t_s']:.2f} s" in texts[1]
    assert f"{failover['decided_t_s'] - failover['failed_t_s']:.2f} s" in texts[2]
    assert f"online on SERVER_B after {failover['online_t_s'] - failover['failed_t_s']:.2f} s" in texts[3]
    assert f"{failover['failover_s']:.2f} s" in texts[4]
    assert f"{failover['published_s']:g} s" in texts[4]
    assert window.session.speed == FAILOVER_SPEED
    wait_for_mark(window, "Your turn: power on SERVER_A")
    assert not stage.isVisible()
    press_key(qtbot)
    assert [item.command_text for item in drill.journal] == [
        first_run.POWER_OFF_LINE,
        first_run.POWER_ON_LINE,
    ]
    wait_for_mark(window, "SERVER_A returns")
    assert window.session.speed == BOOT_SPEED
    wait_for_mark(window, "Protected again")
    assert drill.is_condition_met("Sales is SYNCHRONIZED and Sales on SERVER_A is MIRROR")
    press_key(qtbot)
    assert window.pages.currentWidget() is window.brief
    assert window.scenario is not None
    assert window.scenario.name == "automatic-failover"
    assert not mark.isVisible()
    assert list(profile.list_unfinished_runs()) == []
    assert profile.list_results() == []
    window.show_home()
    assert not window.picker.top.first_run.isVisible(), "it is offered once"
    assert window.picker.top.next.button.hasFocus()


def test_escape_leaves_the_first_run_and_restores_every_panel(newcomer: OpenWindow, qtbot: QtBot) -> None:
    window = newcomer
    docks = {name: dock.isHidden() for name, dock in window.desk.docks.items()}
    press_key(qtbot)
    wait_for_mark(window, CAPTION_TITLES[0])
    assert all(dock.isHidden() for dock in window.desk.docks.values())
    press_key(qtbot, Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.picker
    assert window.session.live_drill is None
    assert {name: dock.isHidden() for name, dock in window.desk.docks.items()} == docks
    window.actions_by_name["help.first_run"].trigger()
    wait_for_mark(window, CAPTION_TITLES[0])


def test_escape_between_two_captions_leaves_the_first_run(newcomer: OpenWindow, qtbot: QtBot) -> None:
    window = newcomer
    press_key(qtbot)
    wait_for_mark(window, CAPTION_TITLES[0])
    press_key(qtbot)
    wait_for_mark(window, CAPTION_TITLES[1])
    press_key(qtbot)
    assert not window.first_run.coach_mark.isVisible()
    press_key(qtbot, Qt.Key.Key_Escape)
    assert window.pages.currentWidget() is window.picker
    assert window.session.live_drill is None


def test_help_asks_before_leaving_a_run_and_keeps_it(
    hands: WindowUser, profile: Profile, qtbot: QtBot
) -> None:
    window = hands.window
    window.select_drill("automatic-failover")
    window.start_drill("practice")
    hands.run_frames(3.0)
    window.actions_by_name["help.first_run"].trigger()
    hands.confirm_action()
    wait_for_mark(window, CAPTION_TITLES[0])
    (run,) = profile.list_unfinished_runs()
    assert (run.scenario_name, run.tick) == ("automatic-failover", 300)
    window.resume_run(run.run_id)
    hands.finish_search()
    assert not window.first_run.coach_mark.isVisible()
    assert window.session.live_drill is not None
    assert window.session.live_drill.scenario.name == "automatic-failover"


def test_opening_another_drill_ends_the_first_run_without_a_question(
    newcomer: OpenWindow, qtbot: QtBot
) -> None:
    press_key(qtbot)
    wait_for_mark(newcomer, CAPTION_TITLES[0])
    newcomer.select_drill("automatic-failover")
    assert newcomer.pages.currentWidget() is newcomer.brief
    newcomer.start_drill("practice")
    assert not newcomer.first_run.coach_mark.isVisible()
    assert newcomer.session.is_running, "the clock of a drill never waits for the introduction"
    assert newcomer.confirmations.is_run_at_risk


def test_the_server_may_be_powered_on_in_any_way(newcomer: OpenWindow, qtbot: QtBot) -> None:
    press_key(qtbot)
    for title in CAPTION_TITLES:
        wait_for_mark(newcomer, title)
        press_key(qtbot)
    wait_for_mark(newcomer, "Your turn")
    newcomer.session.apply_input("power-on SERVER_A")
    wait_for_mark(newcomer, "SERVER_A returns")
    wait_for_mark(newcomer, "Protected again")


@pytest.fixture
def german() -> Iterator[None]:
    language.use_language(language.GERMAN)
    yield
    language.use_language(language.ENGLISH)


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_caption_stays_in_the_window_next_to_its_card(
    german: None, qapp: QApplication, qtbot: QtBot, store: WindowSettings, profile: Profile, scale: float
) -> None:
    store.set(settings.FONT_SCALE, scale)
    theme.apply_theme_choice(qapp, theme.LIGHT_THEME, scale)
    window = show_window(qtbot, profile, store)
    window.actions_by_name["help.first_run"].trigger()
    mark = window.first_run.coach_mark
    for place in ("SERVER_B", "SERVER_W", "SERVER_A", "APP"):
        window.first_run._point_at_part(
            place, "Wer hat abgestimmt?", "Wort " * 40, "Einschalten", "Überspringen", "3 von 5"
        )
        QApplication.processEvents()
        assert window.rect().contains(mark.geometry())
        card = dict(window.topology.list_card_rects())[place]
        card_area = card.translated(window.topology.mapTo(window, QPoint())) & window.rect()
        assert not mark.geometry().intersects(card_area), place
        mark_area = QRect(QPoint(), mark.size())
        for part in (mark.next, mark.skip, mark.text):
            assert mark_area.contains(part.geometry()), place
        for button in (mark.next, mark.skip):
            assert button.width() >= button.minimumSizeHint().width()
        assert mark.text.height() >= mark.text.heightForWidth(mark.text.width())
