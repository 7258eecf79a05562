"""Tests of the start page: cards at any width, filters, Continue and Recommended, all by keyboard."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.files import scenario_files, summary_cache
from app.files.scenario_summary import ScenarioSummary
from app.view_models.start_page import DrillCard, DrillFilters, InterruptedRun, NextDrill, list_path_progress
from app.views.scenario_picker import StartPageView
from app.views.scenario_picker.page import FilterBar
from app.views.scenario_picker.path_buttons import PathButtons
from app.views.scenario_picker.top_cards import wrap_text
from app.widgets.scroll_container import ScrollContainer
from tests import painted
from tests.assertions import require
from tests.children import find_child


@pytest.fixture(scope="module")
def drills() -> list[ScenarioSummary]:
    return summary_cache.read_summaries(
        [file for file in scenario_files.list_all_files()[0] if file.shipped], None
    )[0]


@pytest.fixture
def cards(drills: list[ScenarioSummary]) -> list[DrillCard]:
    return [DrillCard.from_summary(drill, has_results=True) for drill in drills]


@pytest.fixture
def picker(qtbot: QtBot, cards: list[DrillCard]) -> StartPageView:
    picker = StartPageView()
    qtbot.addWidget(picker)
    picker.show_cards(cards)
    first = next(card for card in cards if card.name == "automatic-failover")
    picker.show_recommendation(NextDrill(first, "Because."))
    picker.resize(1366, 700)
    picker.show()
    return picker


def list_cards(picker: StartPageView) -> list[str]:
    return [picker.grid.item(row).data(Qt.ItemDataRole.UserRole).name for row in range(picker.grid.count())]


def build_interrupted_run(number: int, problem: str | None = None) -> InterruptedRun:
    return InterruptedRun(
        number, "lab", f"Run {number}", "mirroring", "practice", 92.0, "begun today", problem
    )


def test_the_focus_in_the_first_screen_shows_the_page_from_its_top(
    picker: StartPageView, qtbot: QtBot
) -> None:
    area = find_child(picker, ScrollContainer)
    picker.take_focus()
    QApplication.processEvents()
    area.verticalScrollBar().setValue(90)
    qtbot.waitUntil(lambda: area.verticalScrollBar().value() == 90)
    picker.resize(1366, 600)
    qtbot.waitUntil(lambda: area.verticalScrollBar().value() == 0)


@pytest.mark.parametrize("height", [360, 700])
def test_matches_begin_below_the_search_however_many_there_are(
    picker: StartPageView, qtbot: QtBot, height: int
) -> None:
    picker.resize(900, height)
    places = set()
    for text in ("mirroring", "principal loses power", "synchronous secondary commits stop", "zzz"):
        picker.search.setFocus()
        picker.search.clear()
        qtbot.keyClicks(picker.search, text)
        QApplication.processEvents()
        places.add(find_child(picker, FilterBar).mapTo(picker, QPoint()).y())
        assert not picker.paths.isVisible()
    assert len(places) == 1
    assert 0 < max(places) < 180
    picker.search.clear()
    assert picker.paths.isVisible()


def test_text_wraps_into_fitting_lines(qapp: QApplication) -> None:
    metrics = QFontMetricsF(qapp.font())
    text = "Two endpoints have each other's role and nobody has seen it"
    width = metrics.horizontalAdvance(text) * 0.6
    lines = wrap_text(text, metrics, width, 2)
    assert " ".join(lines) == text
    assert len(lines) == 2
    (short,) = wrap_text(text, metrics, width, 1)
    assert short.endswith("…")
    assert text.startswith(short[:-1])
    assert wrap_text("", metrics, width, 2) == [""]
    assert all(metrics.horizontalAdvance(line) <= width for line in (*lines, short))


@pytest.mark.parametrize("units", [11.5, 12.5, 14.0])
def test_no_title_of_a_learning_path_is_cut(qtbot: QtBot, cards: list[DrillCard], units: float) -> None:
    """Each of the six buttons in a row is at least 11.5 line heights wide."""
    paths = PathButtons()
    qtbot.addWidget(paths)
    paths.resize(round(6 * units * paths.fontMetrics().height()) + 40, 200)
    paths.show_paths(list_path_progress(cards), None)
    paths.show()
    QApplication.processEvents()
    shown = [text.content for text in painted.list_texts(paths)]
    assert len(shown) > 18
    assert not [words for words in shown if "…" in words]


def test_cards_never_overlap_and_fill_the_width(picker: StartPageView) -> None:
    grid = picker.grid
    columns = []
    for width in (1900, 1366, 700, 1900):
        picker.resize(width, 900)
        QApplication.processEvents()
        boxes = [grid.visualItemRect(grid.item(row)) for row in range(grid.count())]
        assert not any(box.intersects(next_box) for box, next_box in itertools.pairwise(boxes))
        assert max(box.bottom() for box in boxes) <= grid.height()
        assert max(box.right() for box in boxes) <= grid.width()
        columns.append(sum(box.top() == boxes[0].top() for box in boxes))
        assert columns[-1] == grid.columns
    assert columns[0] == columns[3] > columns[1] > columns[2] >= 1


@pytest.mark.parametrize("search", ["", "synchronous secondary commits stop"])
def test_head_and_content_end_at_the_same_place(picker: StartPageView, qtbot: QtBot, search: str) -> None:
    """The right edges of head and content agree with and without a scroll bar."""
    picker.search.setText(search)

    def find_ends() -> set[int]:
        parts = (picker.top, picker.paths, picker.grid)
        return {part.mapTo(picker, part.rect().topRight()).x() for part in parts}

    qtbot.waitUntil(lambda: find_ends() == {picker.width() - 25})


def test_enter_opens_the_recommended_drill(picker: StartPageView, qtbot: QtBot) -> None:
    picker.take_focus()
    with qtbot.waitSignal(picker.drill_chosen) as wanted:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert wanted.args == ["automatic-failover"]


def test_a_new_user_is_offered_the_first_run_with_enter(picker: StartPageView, qtbot: QtBot) -> None:
    picker.show_recommendation(picker.top.recommendation, is_new_user=True)
    picker.take_focus()
    with qtbot.waitSignal(picker.introduction_wanted):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)


def test_a_drill_is_found_and_opened_by_keyboard(picker: StartPageView, qtbot: QtBot) -> None:
    picker.take_focus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert picker.search.hasFocus()
    qtbot.keyClicks(picker.search, "commits pause")
    assert list_cards(picker)[0] == "ag-secondary-lost"
    qtbot.keyClick(picker.search, Qt.Key.Key_Return)
    with qtbot.waitSignal(picker.drill_chosen) as wanted:
        qtbot.keyClick(picker.grid, Qt.Key.Key_Return)
    assert wanted.args == ["ag-secondary-lost"]


def test_tab_visits_top_paths_filters_and_cards(picker: StartPageView, qtbot: QtBot) -> None:
    picker.show_interrupted([build_interrupted_run(1)])
    picker.search.setFocus()
    parts = (picker.top.resume.button, picker.top.next.button, *picker.paths.buttons.values(), picker.grid)
    focused_parts = []
    for _ in range(40):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        focused_parts += [part for part in parts if part.hasFocus()]
    assert list(dict.fromkeys(focused_parts)) == list(parts)


def test_space_on_a_path_filters_and_again_shows_all(picker: StartPageView, qtbot: QtBot) -> None:
    everything = len(list_cards(picker))
    button = picker.paths.buttons["team"]
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(list_cards(picker)) == 4
    assert find_child(picker, FilterBar).technology.text().startswith("Teams")
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(list_cards(picker)) == everything
    qtbot.keyClick(button, Qt.Key.Key_Space)
    find_child(picker, FilterBar).clear.click()
    assert picker.filters == DrillFilters()
    assert not button.isChecked()


def test_selecting_a_hidden_drill_clears_the_filters(
    picker: StartPageView, cards: list[DrillCard], qtbot: QtBot
) -> None:
    qtbot.keyClicks(picker.search, "zzz")
    assert list_cards(picker) == []
    assert find_child(picker, QLabel, "empty").isVisible()
    picker.select_drill("page-repair")
    current = picker.get_current_card()
    assert current is not None
    assert current.name == "page-repair"
    picker.show_cards(cards)
    assert picker.get_current_card() == current, "the selected drill stays selected"


def test_the_selected_card_scrolls_into_view(picker: StartPageView, qtbot: QtBot) -> None:
    picker.grid.setFocus()
    qtbot.keyClick(picker.grid, Qt.Key.Key_End)

    def assert_card_visible() -> None:
        box = picker.grid.get_card_rect()
        view = find_child(picker, ScrollContainer).viewport()
        top_left = picker.grid.viewport().mapTo(view, box.topLeft())
        assert view.rect().contains(QRect(top_left, box.size()).adjusted(2, 2, -2, -2))

    qtbot.waitUntil(assert_card_visible)


def test_continue_offers_the_newest_run_and_lists_the_others(picker: StartPageView, qtbot: QtBot) -> None:
    card = picker.top.resume
    assert not card.isVisible()
    picker.show_interrupted([build_interrupted_run(2), build_interrupted_run(1), build_interrupted_run(0)])
    assert card.isVisible()
    assert card.button.text() == "Continue at 1:32"
    with qtbot.waitSignal(picker.resume_wanted) as wanted:
        card.button.click()
    assert wanted.args == [2]
    menu = require(picker.top.resume.more.menu())
    menu.aboutToShow.emit()
    actions = {action.text(): action for action in menu.actions()}
    with qtbot.waitSignal(picker.resume_wanted) as wanted:
        actions["Continue at 1:32: Run 0"].trigger()
    assert wanted.args == [0]
    with qtbot.waitSignal(picker.give_up_wanted) as wanted:
        actions["Give up: Run 2"].trigger()
    assert wanted.args == [2]
    picker.show_interrupted([build_interrupted_run(3, "It is damaged.")])
    assert not card.button.isVisible()
    assert card.text.text() == "It is damaged."
    picker.show_interrupted([])
    assert not card.isVisible()
