"""Tests of completions of actions and conditions: all are valid, and form and text offer the same ones."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.views.editor.form import ScenarioForm
from app.views.editor.form_widgets import CompletingLine, TextArea
from app.views.editor.input_completion import complete_condition, complete_input, find_completions
from engine.drill.authoring import condition_context
from engine.drill.authoring.condition_context import ConditionNames
from engine.drill.authoring.conditions import ConditionError, parse

NAMES = {
    "server": ["SERVER_A", "SERVER_B"],
    "database": ["Sales", "Order Desk"],
    "client": ["APP"],
    "program": ["pay"],
}
CONDITION_NAMES = ConditionNames(
    servers=("SERVER_A", "SERVER_B"), databases=("Sales", "Order Desk"), clients=("APP",), programs=("pay",)
)

TEXT = """
[[server]]
name = "SERVER_A"
[[server]]
name = "SERVER_B"
[[database]]
name = "Sales"
[[client]]
name = "APP"
[[timeline]]
at = "30s"
do = "power-off SERVER_A"
[[goal]]
name = "serves"
text = "Sales serves"
when = "Sales serves"
"""


def list_names(kind: str) -> list[str]:
    return NAMES.get(kind, [])


@pytest.mark.parametrize(
    ("prefix", "expected", "unexpected"),
    [
        ("", ["Sales", "[Order Desk]", "SERVER_A", "APP", "witness", "downtime_s(", "ran", "not"], ["is"]),
        ("Sa", ["Sales"], ["is"]),
        ("Sales ", ["is", "on", "serves"], ["Sales", "of"]),
        ("SERVER_A ", ["is"], ["on", "serves"]),
        ("Sales is ", ["SYNCHRONIZED", "ARMED", "not"], ["RUNNING", "MIRROR"]),
        ("Sales is not ", ["SYNCHRONIZED"], ["not"]),
        ("SERVER_A is ", ["RUNNING", "UNPLUGGED"], ["SYNCHRONIZED"]),
        ("Sales on ", ["SERVER_A", "SERVER_B"], ["Sales"]),
        ("Sales on SERVER_B is ", ["MIRROR", "PRINCIPAL"], ["RUNNING"]),
        ("APP on SERVER_B is ", ["CONNECTED"], ["MIRROR"]),
        ("witness of ", ["Sales"], ["SERVER_A"]),
        ("witness of Sales is ", ["CONNECTED", "DISCONNECTED"], ["RUNNING"]),
        ("safety of Sales is ", ["FULL", "OFF"], ["CONNECTED"]),
        ("not ", ["Sales", "witness"], ["not"]),
        ("(Sales is SYNCHRONIZED) ", ["and", "or"], ["is"]),
        ("Sales serves ", ["on", "and", "or"], ["is"]),
        ("downtime_s(", ["Sales"], ["SERVER_A"]),
        ("enabled_jobs(", ["SERVER_B"], ["Sales"]),
        ("downtime_s(Sales) ", ["<=", ">"], ["and"]),
        ("downtime_s(Sales) <= ", ["exposed_s("], ["Sales"]),
        ("downtime_s(Sales) <= 30 ", ["and", "or"], ["is"]),
        ('ran "SET PARTNER OFF" ', ["on", "and"], ["is"]),
        ('ran "SET ', [], ["Sales", "and"]),
        ("error 1418 on ", ["SERVER_A"], ["Sales"]),
    ],
)
def test_a_condition_is_completed_word_by_word(
    prefix: str, expected: list[str], unexpected: list[str]
) -> None:
    proposals = complete_condition(prefix, list_names)
    assert set(expected) <= set(proposals), proposals
    assert not set(unexpected) & set(proposals), proposals


def is_valid_prefix(text: str) -> bool:
    try:
        parse(text, CONDITION_NAMES)
    except ConditionError as problem:
        return problem.column > len(text) or problem.text.endswith("needs a name")
    return True


def test_completion_never_offers_an_invalid_word() -> None:
    """With an offered word, the condition is valid or can still be completed to a valid condition."""
    chance, seen_texts = random.Random(7), set()
    for _ in range(60):
        before = ""
        for _ in range(chance.randrange(2, 14)):
            words = complete_condition(before, list_names)
            filled = [word for word in words if not word.endswith("(")] or words
            if before.rstrip()[-1:] in "<>=" and before.strip() and chance.random() < 0.7:
                word = "30"
            elif not words:
                word = {"n": '"SET PARTNER OFF"', "d": '"SET PARTNER OFF"', "r": "1418"}[before.rstrip()[-1]]
            else:
                word = chance.choice(words if chance.random() < 0.5 else filled)
            completed_text = before + word
            assert is_valid_prefix(completed_text), completed_text
            seen_texts.add(word)
            closed = ")" if before.endswith("(") and word != ")" else ""
            before = completed_text if word.endswith("(") else f"{completed_text}{closed} "
    assert len(seen_texts) > 30
    assert set(complete_condition("Sales is ", list_names)) == {
        *condition_context.DATABASE_STATE_WORDS,
        "not",
    }


def test_an_action_is_completed_with_or_without_its_time() -> None:
    assert "power-off" in complete_input("+5 pow", list_names)
    assert complete_input("+5 fail-disk SERVER_A ", list_names) == ["Sales", "Order Desk"]
    assert complete_input("degrade SERVER_A SERVER_B loss=0.1 ", lambda _: []) == [
        "rtt_ms=",
        "jitter_ms=",
        "bandwidth_mbps=",
    ]
    assert complete_input("sql SERVER_A SELECT ", list_names) == []


@pytest.mark.parametrize(
    ("line", "completion"),
    [
        ('when = "Sales on SERVER_B is not MIR', "MIRROR"),
        ('when = \'ran "SET PARTNER OFF" on ', "SERVER_A"),
        ('goal = "', "serves"),
        ('principal = "', "SERVER_B"),
        ('ends = ["SERVER_A", "', "APP"),
        ('workload = "', "Workload1"),
    ],
)
def test_text_and_form_offer_the_same_words(line: str, completion: str) -> None:
    text = f"{TEXT}{line}"
    assert completion in find_completions(text, len(text))
    assert find_completions(f'{TEXT}when = "Sales is SYNCHRONIZED" ', len(TEXT) + 31) == []


@pytest.fixture
def form(qtbot: Any) -> ScenarioForm:
    form = ScenarioForm()
    qtbot.addWidget(form)
    form.resize(700, 600)
    with qtbot.waitActive(form):
        form.show()
        form.activateWindow()
    form.show_text(TEXT)
    return form


def find_field(form: ScenarioForm, *path: str | int) -> QWidget:
    assert form.show_path(path, take_focus=True)
    return form.page.rows[path].widget


@pytest.mark.qt_log_ignore("This plugin does not support")  # the offscreen plugin cannot grab the keyboard
def test_actions_and_conditions_are_completed_in_the_form(form: ScenarioForm) -> None:
    texts: list[str] = []
    form.text_changed.connect(texts.append)
    act = find_field(form, "timeline", 0, "do")
    assert isinstance(act, TextArea)
    act.selectAll()
    QTest.keyClicks(act, "+5 pull")
    popup = act.completion.popup
    assert popup.isVisible()
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert act.toPlainText() == "+5 pull-cable"
    QTest.keyClicks(act, " server_b")
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert act.toPlainText() == "+5 pull-cable SERVER_B"
    assert not popup.isVisible()

    form.apply_pending_input()
    when_field = find_field(form, "goal", 0, "when")
    assert isinstance(when_field, CompletingLine)
    assert 'do = "+5 pull-cable SERVER_B"' in texts[-1]
    count = len(texts)
    when_field.setCursorPosition(len("Sales"))
    QTest.keyClicks(when_field, " on SERVER_B is MI")
    popup = when_field.completion.popup
    assert popup.isVisible()
    # In the middle of the text, the completion keeps the text after the cursor.
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert when_field.text() == "Sales on SERVER_B is MIRROR serves"
    assert len(texts) == count
    QTest.keyClicks(when_field, " and ")
    assert popup.isVisible()
    QTest.keyClick(popup, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert when_field.hasFocus()
    QTest.keyClick(when_field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert popup.isVisible()
    popup.hide()
    when_field.setText("Sales is SYNCHRONIZED")
    QTest.keyClick(when_field, Qt.Key.Key_Return)
    assert 'when = "Sales is SYNCHRONIZED"' in texts[-1]


def test_a_placeholder_text_is_replaced_wherever_clicked(form: ScenarioForm, qtbot: Any) -> None:
    for key in ("look", "text"):
        form.show_path(("hint",) if key == "look" else ("goal",))
        form.add.click()
        row = form.entries.currentRow()
        line = find_field(form, form.section.key, row, key)
        form.sections.setFocus()
        target_widget = line.viewport() if isinstance(line, TextArea) else line
        qtbot.mouseClick(target_widget, Qt.MouseButton.LeftButton)
        QTest.qWait(0)
        QTest.keyClicks(line, "Now")
        assert (line.toPlainText() if isinstance(line, TextArea) else line.property("text")) == "Now"
