"""Brief, goals and hints."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app import scenario_files
from app.views.briefing import Briefing, BriefPage, goal_state
from app.wrap_button import WrapButton
from engine.drill.drill import Drill, Mode
from engine.drill.goals import GoalState
from engine.drill.scenario import load_scenario
from engine.drill.schema import Goal, Scenario


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenario_files.find("automatic-failover").load()


def goal(**changes: object) -> Goal:
    return Goal.model_validate({"name": "g", "text": "It serves", "when": "Sales serves", **changes})


ASKING = """
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
    """The lab, which asks a question at 5 s."""
    return load_scenario(scenario_files.find("lab").text + ASKING, "lab.toml")


@pytest.mark.parametrize(
    ("state", "changes", "expected"),
    [
        (GoalState(), {}, ("○", "muted", "")),
        (GoalState(), {"within": "2min"}, ("○", "muted", "by 2:00")),
        (GoalState(since_tick=1000), {"hold": "30s"}, ("○", "muted", "holds for 5 of 30 s")),
        (GoalState(since_tick=1000, met_tick=1200), {}, ("✓", "ok", "reached at 0:12")),
        (GoalState(missed_tick=6000), {"within": "1min"}, ("✗", "bad", "missed at 1:00")),
    ],
)
def test_a_goal_has_a_mark_and_words(
    state: GoalState, changes: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert goal_state(goal(**changes), state, 1500) == expected


def shown(view: Briefing) -> str:
    QApplication.processEvents()
    return "\n".join(label.text() for label in view.findChildren(QLabel) if label.isVisible())


def hint_buttons(view: Briefing) -> list[QPushButton]:
    return [button for button in view.findChildren(QPushButton) if button.isVisible()]


@pytest.fixture
def view(qtbot: QtBot) -> Briefing:
    made = Briefing()
    qtbot.addWidget(made)
    made.resize(280, 600)
    made.show()
    return made


def test_goals_follow_the_drill(view: Briefing, scenario: Scenario) -> None:
    drill = Drill(scenario)
    view.show_drill(drill)
    assert "Sales is served by SERVER_B" in shown(view)
    assert "reached" not in shown(view)
    known = len(drill.events)
    drill.advance_to(9000)
    view.add_events(drill.events[known:])
    view.show_world(drill.world)
    assert "reached at" in shown(view)


def test_a_hint_is_asked_for_by_an_input_line_and_then_stands_there(
    qtbot: QtBot, view: Briefing, scenario: Scenario
) -> None:
    drill = Drill(scenario)
    view.show_drill(drill)
    first, second, third = hint_buttons(view)
    assert (first.accessibleName(), third.accessibleName()) == (
        "Where to look  (−1 point)",
        "What to type  (−3 points)",
    )
    with qtbot.waitSignal(view.requested, timeout=100) as asked:
        qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    assert asked.args == ["hint 2"]
    drill.do("hint 2")
    view.add_events(drill.events[-1:])
    assert "What it means: SERVER_B was SYNCHRONIZED" in shown(view)
    assert [button.accessibleName().split("  ")[0] for button in hint_buttons(view)] == [
        "Where to look",
        "What to type",
    ]


ALL_LAYERS = ["Where to look", "What it means", "What to type"]


@pytest.mark.parametrize(("mode", "texts"), [(Mode.GUIDED, ALL_LAYERS), (Mode.EXAM, [])])
def test_hints_cost_nothing_guided_and_there_are_none_in_an_exam(
    view: Briefing, scenario: Scenario, mode: Mode, texts: list[str]
) -> None:
    view.show_drill(Drill(scenario, mode=mode))
    assert [button.accessibleName() for button in hint_buttons(view)] == texts


def test_the_page_before_a_drill(qtbot: QtBot, scenario: Scenario) -> None:
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
    next(button for button in page._modes.buttons() if button.objectName() == "exam").setChecked(True)
    with qtbot.waitSignal(page.started, timeout=100) as started:
        qtbot.keyClick(page._start, Qt.Key.Key_Space)
    assert started.args == ["exam"]


def test_free_play_has_no_modes(qtbot: QtBot) -> None:
    page = BriefPage()
    qtbot.addWidget(page)
    page.show_scenario(scenario_files.find("lab").load())
    page.show()
    assert page.mode == "lab"
    assert not page._mode_box.isVisible()


def test_a_question_is_answered_by_an_input_line(qtbot: QtBot, view: Briefing, asking: Scenario) -> None:
    drill = Drill(asking, mode=Mode.GUIDED)
    view.show_drill(drill)
    assert "Who serves" not in shown(view)
    known = len(drill.events)
    drill.advance_to(600)
    view.add_events(drill.events[known:])
    assert "Who serves Sales now?" in shown(view)
    (box,) = view._asked
    first, second = box.findChildren(WrapButton)
    assert first.height() > 1.5 * second.height()  # its text has several lines
    stops = [view.nextInFocusChain()]
    while stops[-1] is not view:
        stops.append(stops[-1].nextInFocusChain())
    assert [stop for stop in stops if isinstance(stop, QPushButton)][:2] == [first, second], "before any hint"
    with qtbot.waitSignal(view.requested, timeout=100) as asked:
        qtbot.keyClick(second, Qt.Key.Key_Space)
    assert asked.args == ["answer who 2"]
    known = len(drill.events)
    view.activateWindow()
    second.setFocus()
    qtbot.waitUntil(second.hasFocus)
    drill.do("answer who 2")
    view.add_events(drill.events[known:])
    assert "Who serves Sales now? You said: “SERVER_B”." in shown(view)
    assert not box.isVisible()
    assert view._asked == []
    assert view.hasFocus(), "not a hint, which the next space would buy"
