"""Tests of the brief, goals and hints."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.files import scenario_files
from app.views.briefing import BriefingPanel, BriefPage, describe_goal_state
from app.views.briefing.panel import QuestionCard
from engine.drill.authoring.scenario import load_scenario
from engine.drill.authoring.schema import Goal, Scenario
from engine.drill.running.drill import Drill, DrillMode
from engine.drill.running.questions import GoalState
from tests.children import find_child
from tests.shipped_scenarios import load_shipped_scenario


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load_shipped_scenario("automatic-failover")


def build_goal(**changes: object) -> Goal:
    return Goal.model_validate({"name": "g", "text": "It serves", "when": "Sales serves", **changes})


QUESTION_SCENARIO = """
[[question]]
name = "who"
text = "Who serves Sales now?"
at = "5s"
pause = true
choices = ["SERVER_A, as ever, because nothing at all has happened to it in all this time", "SERVER_B"]
right = [1]
why = "Nothing has happened."
"""


@pytest.fixture(scope="module")
def asking() -> Scenario:
    """Return the lab with a question at 5 s."""
    return load_scenario(scenario_files.find_scenario_file("lab").text + QUESTION_SCENARIO, "lab.toml")


@pytest.mark.parametrize(
    ("state", "changes", "expected"),
    [
        (GoalState(), {}, ("○", "muted", "")),
        (GoalState(), {"within": "2min"}, ("○", "muted", "by 2:00")),
        (GoalState(since_tick=1000), {"hold": "30s"}, ("○", "muted", "met for 5 s of the required 30 s")),
        (GoalState(since_tick=1000, met_tick=1200), {}, ("✓", "ok", "met at 0:12")),
        (GoalState(missed_tick=6000), {"within": "1min"}, ("✗", "bad", "missed at 1:00")),
    ],
)
def test_a_goal_has_a_symbol_and_a_text(
    state: GoalState, changes: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert describe_goal_state(build_goal(**changes), state, 1500) == expected


def read_labels(view: BriefingPanel) -> str:
    QApplication.processEvents()
    return "\n".join(label.text() for label in view.findChildren(QLabel) if label.isVisible())


def find_hint_buttons(view: BriefingPanel) -> list[QPushButton]:
    """Return the buttons of the available hints."""
    return [button for button in view.findChildren(QPushButton) if button.isVisible() and button.isEnabled()]


@pytest.fixture
def view(qtbot: QtBot) -> BriefingPanel:
    view = BriefingPanel()
    qtbot.addWidget(view)
    view.resize(280, 600)
    view.show()
    return view


def test_goals_follow_the_drill(view: BriefingPanel, scenario: Scenario) -> None:
    drill = Drill(scenario)
    view.show_drill(drill)
    assert "SERVER_B is the principal of Sales, and the clients are connected" in read_labels(view)
    assert "reached" not in read_labels(view)
    count_before = len(drill.events)
    drill.advance_to(9000)
    view.add_events(drill.events[count_before:])
    view.show_world(drill.world)
    assert "met at" in read_labels(view)


def test_a_hint_is_requested_by_an_input_line_and_stays_shown(
    qtbot: QtBot, view: BriefingPanel, scenario: Scenario
) -> None:
    drill = Drill(scenario)
    view.show_drill(drill)
    first, second, third = find_hint_buttons(view)
    assert (first.accessibleName(), third.accessibleName()) == (
        "Where to look  (−1 point)",
        "What to type  (−3 points)",
    )
    with qtbot.waitSignal(view.requested, timeout=100) as blocker:
        qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert blocker.args == ["hint 2"]
    drill.apply_line("hint 2")
    view.add_events(drill.events[-1:])
    assert "What it means: SERVER_B was SYNCHRONIZED" in read_labels(view)
    assert [button.accessibleName().split("  ")[0] for button in find_hint_buttons(view)] == [
        "Where to look",
        "What to type",
    ]


ALL_LAYERS = ["Where to look", "What it means", "What to type"]


@pytest.mark.parametrize(("mode", "texts"), [(DrillMode.GUIDED, ALL_LAYERS), (DrillMode.EXAM, [])])
def test_hints_are_free_in_guided_mode_and_absent_in_an_exam(
    view: BriefingPanel, scenario: Scenario, mode: DrillMode, texts: list[str]
) -> None:
    view.show_drill(Drill(scenario, mode=mode))
    assert [button.accessibleName() for button in find_hint_buttons(view)] == texts


def test_the_page_before_a_drill_is_complete(qtbot: QtBot, scenario: Scenario) -> None:
    page = BriefPage()
    qtbot.addWidget(page)
    page.show_scenario(scenario)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    texts = "\n".join(label.text() for label in page.findChildren(QLabel))
    assert scenario.title in texts
    assert "about 6 minutes" in texts
    assert all(goal.text in texts for goal in scenario.goals)
    assert page.mode == "practice"
    find_child(page, QAbstractButton, "exam").setChecked(True)
    with qtbot.waitSignal(page.start_wanted, timeout=100) as started:
        qtbot.keyClick(next(b for b in page.findChildren(QPushButton) if b.isDefault()), Qt.Key.Key_Space)
    assert started.args == ["exam"]


def test_free_play_has_no_modes(qtbot: QtBot) -> None:
    page = BriefPage()
    qtbot.addWidget(page)
    page.show_scenario(load_shipped_scenario("lab"))
    page.show()
    assert page.mode == "lab"
    assert not find_child(page, QWidget, "modes").isVisible()


def ask_question(view: BriefingPanel, drill: Drill) -> QuestionCard:
    """Ask the question of the scenario, and return its card."""
    count_before = len(drill.events)
    drill.advance_to(600)
    view.add_events(drill.events[count_before:])
    QApplication.processEvents()
    (card,) = view.question_cards.cards
    return card


def test_a_question_is_answered_by_a_confirmed_choice(
    qtbot: QtBot, view: BriefingPanel, asking: Scenario
) -> None:
    drill = Drill(asking, mode=DrillMode.GUIDED)
    view.show_drill(drill)
    assert "Who serves" not in read_labels(view)
    card = ask_question(view, drill)
    assert "Who serves Sales now?" in read_labels(view)
    first, second = card.choices
    assert first.height() > 1.5 * second.height()  # The text of the button has several lines.
    lines: list[str] = []
    view.requested.connect(lines.append)
    qtbot.mouseDClick(second, Qt.MouseButton.LeftButton)
    qtbot.keyClick(second, Qt.Key.Key_Space)
    assert lines == [], "a choice is no answer yet"
    qtbot.mouseClick(card.confirm, Qt.MouseButton.LeftButton)
    card.confidence.setCurrentIndex(card.confidence.findData(80))
    qtbot.mouseClick(card.confirm, Qt.MouseButton.LeftButton)
    assert lines == ["answer who 2", "answer who 2 sure_percent=80"]
    count_before = len(drill.events)
    drill.apply_line("answer who 2")
    view.add_events(drill.events[count_before:])
    assert "Who serves Sales now? Your answer: “SERVER_B”." in read_labels(view)
    assert card.isVisible(), "nothing slides under the pointer"
    assert not any(part.isVisible() for part in (*card.choices, card.confidence)), "the result is in view"
    qtbot.mouseClick(card.confirm, Qt.MouseButton.LeftButton)
    assert not view.question_cards.isVisible()
    assert len(lines) == 2


@pytest.mark.parametrize("height", [300, 600, 1200])
def test_a_question_moves_neither_the_brief_nor_the_focus(
    qtbot: QtBot, view: BriefingPanel, asking: Scenario, height: int
) -> None:
    view.resize(280, height)
    drill = Drill(asking, mode=DrillMode.PRACTICE)
    view.show_drill(drill)
    text_edit = QPlainTextEdit(view)
    text_edit.show()
    text_edit.setFocus()
    before = focus = QApplication.focusWidget()
    QApplication.processEvents()
    places = {label: label.mapTo(view, label.rect().topLeft()) for label in view.findChildren(QLabel)}
    ask_question(view, drill)
    assert QApplication.focusWidget() is before is focus
    moved = {
        label.text() for label, place in places.items() if label.mapTo(view, label.rect().topLeft()) != place
    }
    assert not moved


def test_an_expired_question_is_labeled(view: BriefingPanel) -> None:
    text = scenario_files.find_scenario_file("lab").text + QUESTION_SCENARIO.replace(
        "pause = true", 'within = "20s"'
    )
    drill = Drill(load_scenario(text, "lab.toml"), mode=DrillMode.GUIDED)
    view.show_drill(drill)
    card = ask_question(view, drill)
    count_before = len(drill.events)
    drill.advance_to(4000)
    view.add_events(drill.events[count_before:])
    assert card.isVisible()
    assert not card.is_open
    assert "question not answered in time" in read_labels(view).lower()
