"""Tests of the form of the scenario editor: one edit changes one place of the text."""

from __future__ import annotations

import difflib
import tomllib
from importlib.resources import files
from typing import Any

import pytest
from pydantic import BaseModel
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTableWidget,
)

from app.views.editor.form import ScenarioForm
from app.views.editor.form_schema import format_tip, list_fields, list_sections
from app.views.editor.form_widgets import CompletingLine
from engine.drill.authoring import schema
from engine.drill.authoring.run_scenario import find_placeholders

SCENARIO_TEXT = '''# What this is about.
title = "Old"  # the title's comment
summary = "In short."
level = "beginner"
minutes = 6
author = "Me"
brief = """
First line.

Second line.
"""

[[server]]
name = "SERVER_A"

[[server]]
name = "SERVER_B"  # the other one

[[database]]
name = "Sales"
scale = "{load}"

[[rubric]]
kind = "goals"
name = "End state"
points = 35
better = "Reach it."
'''


class RecordingForm(ScenarioForm):
    """Form that records the texts it emits."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.text_changed.connect(self.said.append)


@pytest.fixture
def form(qtbot: Any) -> RecordingForm:
    form = RecordingForm()
    qtbot.addWidget(form)
    form.show_text(SCENARIO_TEXT)
    return form


def list_texts(form: RecordingForm) -> list[str]:
    return form.said


def select_section(form: RecordingForm, key: str) -> None:
    form.sections.setCurrentRow([section.key for section in list_sections()].index(key))


def list_differences(new_text: str, old_text: str = SCENARIO_TEXT) -> list[str]:
    lines = list(difflib.unified_diff(old_text.splitlines(), new_text.splitlines(), lineterm="", n=0))[2:]
    return [line for line in lines if not line.startswith("@@")]


def type_into(form: RecordingForm, path: tuple[str | int, ...], text: str) -> None:
    line = form.page.rows[path].widget
    assert isinstance(line, QLineEdit)
    line.setText(text)
    line.editingFinished.emit()


def choose_text(form: RecordingForm, path: tuple[str | int, ...], text: str) -> None:
    box = form.page.rows[path].widget
    assert isinstance(box, QComboBox)
    index = next(position for position in range(box.count()) if box.itemText(position) == text)
    box.setCurrentIndex(index)
    box.activated.emit(index)


def test_title_changes_its_line_only_and_the_comment_stays(form: RecordingForm) -> None:
    type_into(form, ("title",), "New")
    assert [list_differences(text) for text in list_texts(form)] == [
        ['-title = "Old"  # the title\'s comment', '+title = "New"  # the title\'s comment']
    ]


def test_leaving_a_field_unchanged_changes_nothing(form: RecordingForm) -> None:
    type_into(form, ("title",), "Old")
    form.apply_pending_input()
    assert list_texts(form) == []


def test_choice_is_written_as_its_value(form: RecordingForm) -> None:
    choose_text(form, ("level",), "expert")
    assert list_differences(list_texts(form)[0]) == ['-level = "beginner"', '+level = "expert"']


def test_several_names_are_written_as_a_list(form: RecordingForm) -> None:
    type_into(form, ("skills",), "quorum, read-state")
    assert list_differences(list_texts(form)[0]) == ['+skills = ["quorum", "read-state"]']


def test_flag_is_written_at_once(form: RecordingForm) -> None:
    box = form.page.rows["allow_revert_all",].widget
    assert isinstance(box, QCheckBox)
    box.click()
    assert list_differences(list_texts(form)[0]) == ["+allow_revert_all = true"]


def test_emptying_an_optional_field_removes_its_key(form: RecordingForm) -> None:
    type_into(form, ("author",), "")
    assert list_differences(list_texts(form)[0]) == ['-author = "Me"']


def test_number_out_of_range_is_refused_with_a_reason(form: RecordingForm) -> None:
    type_into(form, ("minutes",), "6000")
    assert list_texts(form) == []
    assert "600" in form.problem.text()
    assert not form.problem.isHidden()
    type_into(form, ("minutes",), "60")
    assert list_differences(list_texts(form)[0]) == ["-minutes = 6", "+minutes = 60"]
    assert form.problem.isHidden()


def test_duration_keeps_its_unit(form: RecordingForm) -> None:
    type_into(form, ("length",), "15 parsecs")
    assert list_texts(form) == []
    type_into(form, ("length",), "15min")
    assert list_differences(list_texts(form)[0]) == ['+length = "15min"']


def test_long_text_keeps_its_lines(form: RecordingForm) -> None:
    lines = form.page.rows["brief",].widget
    assert isinstance(lines, QPlainTextEdit)
    assert lines.toPlainText() == "First line.\n\nSecond line."
    lines.setPlainText("First line.\n\nAnother line.")
    form.apply_pending_input()
    assert list_differences(list_texts(form)[0]) == ["-Second line.", "+Another line."]


def test_server_is_added_and_removed(form: RecordingForm) -> None:
    select_section(form, "server")
    form.add.click()
    assert [server["name"] for server in tomllib.loads(list_texts(form)[0])["server"]] == [
        "SERVER_A",
        "SERVER_B",
        "SERVER_1",
    ]
    assert form.entries.currentRow() == 2
    form.remove.click()
    assert len(tomllib.loads(list_texts(form)[1])["server"]) == 2
    assert "# the other one" in list_texts(form)[1]


def list_names(text: str, key: str) -> list[str]:
    return [entry["name"] for entry in tomllib.loads(text)[key]]


def click_button(form: RecordingForm, name: str) -> None:
    QTest.mouseClick(form.list.command_buttons[name], Qt.MouseButton.LeftButton)


def test_entry_is_moved_by_its_buttons_and_its_comment_with_it(form: RecordingForm) -> None:
    select_section(form, "server")
    assert (form.up.isEnabled(), form.down.isEnabled()) == (False, True)
    click_button(form, "down")
    assert list_names(list_texts(form)[0], "server") == ["SERVER_B", "SERVER_A"]
    assert '[[server]]\nname = "SERVER_B"  # the other one\n' in list_texts(form)[0]
    assert form.entries.currentRow() == 1
    assert (form.up.isEnabled(), form.down.isEnabled()) == (True, False)
    click_button(form, "up")
    assert list_texts(form)[1:] == [SCENARIO_TEXT]
    assert form.entries.currentRow() == 0


@pytest.mark.parametrize(
    ("key", "modifier", "remaining"),
    [
        (Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier, ["SERVER_B", "SERVER_A"]),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier, None),
        (Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier, ["SERVER_A", "SERVER_A_2", "SERVER_B"]),
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, ["SERVER_B"]),
        (Qt.Key.Key_Insert, Qt.KeyboardModifier.NoModifier, ["SERVER_A", "SERVER_B", "SERVER_1"]),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.NoModifier, None),
    ],
)
def test_entries_are_moved_by_keys(
    form: RecordingForm, key: Qt.Key, modifier: Qt.KeyboardModifier, remaining: list[str] | None
) -> None:
    select_section(form, "server")
    QTest.keyClick(form.entries, key, modifier)
    assert [list_names(text, "server") for text in list_texts(form)] == (
        [remaining] if remaining is not None else []
    )


def test_copy_of_an_entry_is_shown(form: RecordingForm) -> None:
    select_section(form, "rubric")
    click_button(form, "copy")
    assert list_names(list_texts(form)[0], "rubric") == ["End state", "End state 2"]
    assert form.entries.currentRow() == 1
    name = form.page.rows["rubric", 1, "name"].widget
    assert isinstance(name, QLineEdit)
    assert name.text() == "End state 2"


def test_pending_text_moves_with_its_entry(form: RecordingForm) -> None:
    select_section(form, "server")
    name = form.page.rows["server", 0, "name"].widget
    assert isinstance(name, QLineEdit)
    name.setText("ALPHA")
    click_button(form, "down")
    assert list_names(list_texts(form)[-1], "server") == ["SERVER_B", "ALPHA"]


def test_inline_list_cannot_be_reordered_and_says_why(form: RecordingForm) -> None:
    form.show_text('server = [{ name = "A" }, { name = "B" }]\n')
    select_section(form, "server")
    click_button(form, "down")
    assert list_texts(form) == []
    assert form.entries.currentRow() == 0
    assert "[[server]]" in form.problem.text()


def test_section_titles_fit_at_twice_the_text_size(form: RecordingForm, qtbot: Any) -> None:
    form.show()
    qtbot.waitExposed(form)
    font = form.font()
    font.setPointSizeF(2 * font.pointSizeF())
    form.setFont(font)
    widest = max(
        form.sections.fontMetrics().horizontalAdvance(form.sections.item(index).text())
        for index in range(form.sections.count())
    )
    assert form.sections.viewport().width() >= widest


def test_fields_move_below_their_labels_without_room(form: RecordingForm, qtbot: Any) -> None:
    form.show()
    qtbot.waitExposed(form)
    font = form.font()
    font.setPointSizeF(2 * font.pointSizeF())
    form.setFont(font)
    form.resize(1, 500)  # This is the minimum width.
    row = form.page.rows["level",]
    page_widget = form.page.widget()
    assert page_widget is not None
    layout = page_widget.findChild(QFormLayout)
    assert layout is not None
    label = layout.labelForField(row.widget)
    qtbot.waitUntil(lambda: row.widget.y() > label.geometry().bottom())
    page = form.page
    assert page_widget.width() == page.viewport().width() + page.horizontalScrollBar().maximum()
    has_scroll_bar = page.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    assert has_scroll_bar, "what is wider than the page cannot be reached"


def test_entry_can_be_added_to_every_list(form: RecordingForm) -> None:
    keys = [section.key for section in list_sections() if section.is_list]
    for key in keys:
        select_section(form, key)
        form.add.click()
        assert form.problem.isHidden(), (key, form.problem.text())
        before = tomllib.loads(SCENARIO_TEXT).get(key, [])
        assert len(tomllib.loads(list_texts(form)[-1])[key]) == len(before) + 1
    assert len(list_texts(form)) == len(keys)


def test_a_new_entry_uses_unused_names_and_asks_for_its_texts(form: RecordingForm) -> None:
    select_section(form, "database")
    form.add.click()
    assert form.page.rows["database", 1, "name"].widget.property("text") == "DATABASE_1"
    for key in (
        "session",
        "session",
        "goal",
        "goal",
        "hint",
        "hint",
        "question",
        "rubric",
        "rubric",
        "predict",
        "rubric",
    ):
        select_section(form, key)
        form.add.click()
    document = tomllib.loads(list_texts(form)[-1])
    assert [session["database"] for session in document["session"]] == ["Sales", "DATABASE_1"]
    assert [hint["goal"] for hint in document["hint"]] == [goal["name"] for goal in document["goal"]]
    assert [rule["kind"] for rule in document["rubric"]] == ["goals", "diagnosis", "downtime", "prediction"]
    assert document["rubric"][1]["points"] == 65  # These points complete the sum of 100.
    assert document["rubric"][1]["name"] == "Questions answered"
    assert document["hint"][0]["look"] == "TO WRITE: place to look at, such as a view or a log"
    named = {path[:1] for path, _ in find_placeholders(document)}
    assert {("hint",), ("goal",), ("question",), ("predict",)} <= named


def test_a_new_entry_precedes_the_comment_of_the_next(form: RecordingForm) -> None:
    form.show_text(SCENARIO_TEXT.replace("[[database]]", "# What is mirrored.\n[[database]]"))
    select_section(form, "server")
    form.add.click()
    text = list_texts(form)[-1]
    assert '[[server]]\nname = "SERVER_1"\n\n# What is mirrored.\n[[database]]' in text
    form.remove.click()
    assert "# What is mirrored.\n[[database]]" in list_texts(form)[-1]


def test_selecting_or_changing_an_entry_is_signaled(form: RecordingForm) -> None:
    choices: list[Any] = []
    form.path_chosen.connect(choices.append)
    select_section(form, "server")
    form.entries.setCurrentRow(1)
    type_into(form, ("server", 1, "name"), "SERVER_C")
    assert choices == [("server", 0), ("server", 1), ("server", 1, "name")]
    form.show_path(("database", 0))  # Another view has selected the entry.
    assert len(choices) == 3
    assert form.page.find_path(form.page.rows["database", 0, "name"].widget) == ("database", 0, "name")


def test_empty_field_shows_the_schemas_default_text(form: RecordingForm) -> None:
    select_section(form, "server")
    line = form.page.rows["server", 0, "cores"].widget
    assert isinstance(line, QLineEdit)
    assert line.placeholderText() == "as many as the hardware profile has"


def test_nested_table_is_created_and_removed_with_its_last_key(form: RecordingForm) -> None:
    select_section(form, "server")
    form.entries.setCurrentRow(1)
    type_into(form, ("server", 1, "endpoint", "port"), "5023")
    assert tomllib.loads(list_texts(form)[0])["server"][1]["endpoint"] == {"port": 5023}
    type_into(form, ("server", 1, "endpoint", "port"), "")
    assert "endpoint" not in tomllib.loads(list_texts(form)[1])["server"][1]


def test_variant_is_shown_and_accepted_in_a_number_field(form: RecordingForm) -> None:
    select_section(form, "database")
    line = form.page.rows["database", 0, "scale"].widget
    assert isinstance(line, QLineEdit)
    assert line.text() == "{load}"
    type_into(form, ("database", 0, "scale"), "{pace}")
    assert list_differences(list_texts(form)[0]) == ['-scale = "{load}"', '+scale = "{pace}"']


def test_kind_of_a_rule_determines_its_fields(form: RecordingForm) -> None:
    select_section(form, "rubric")
    assert ("rubric", 0, "target") not in form.page.rows
    choose_text(form, ("rubric", 0, "kind"), "Downtime")
    assert ("rubric", 0, "target") in form.page.rows
    assert list_differences(list_texts(form)[0]) == ['-kind = "goals"', '+kind = "downtime"']


def test_kind_is_selected_by_keys(form: RecordingForm, qtbot: Any) -> None:
    select_section(form, "rubric")
    QTest.keyClick(form.page.rows["rubric", 0, "kind"].widget, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: len(list_texts(form)) == 1)
    assert tomllib.loads(list_texts(form)[0])["rubric"][0]["kind"] == "downtime"


def test_fields_are_disabled_while_the_text_is_invalid(form: RecordingForm) -> None:
    form.show_text("title = [")
    assert not form.page.isEnabled()
    assert "not valid TOML" in form.problem.text()
    form.show_text(SCENARIO_TEXT)
    assert form.page.isEnabled()
    assert form.problem.isHidden()
    assert list_texts(form) == []


def test_section_entry_and_cursor_survive_a_refresh(form: RecordingForm, qtbot: Any) -> None:
    select_section(form, "server")
    form.entries.setCurrentRow(1)
    line = form.page.rows["server", 1, "name"].widget
    assert isinstance(line, QLineEdit)
    form.show()
    qtbot.waitExposed(form)
    line.setFocus()
    line.setCursorPosition(3)
    form.show_text(SCENARIO_TEXT.replace('"SERVER_B"', '"SERVER_C"'))
    assert form.page.rows["server", 1, "name"].widget is line
    assert (line.text(), line.cursorPosition(), form.entries.currentRow()) == ("SERVER_C", 3, 1)


def test_typed_text_is_applied_when_the_field_is_left(form: RecordingForm) -> None:
    line = form.page.rows["title",].widget
    assert isinstance(line, QLineEdit)
    line.selectAll()
    QTest.keyClicks(line, "By keys\r")
    assert tomllib.loads(list_texts(form)[0])["title"] == "By keys"


def test_every_key_of_the_schema_has_a_field() -> None:
    reached = set[tuple[str, str]]()

    def collect_fields(model: type[BaseModel]) -> None:
        for field in list_fields(model):
            reached.add((model.__name__, field.key))
            if field.inner_model is not None:
                collect_fields(field.inner_model)

    for section in list_sections():
        for model in section.models:
            collect_fields(model)
        reached.add(("Scenario", section.key))
    wanted = {
        (part.__name__, info.alias or name)
        for part in vars(schema).values()
        if isinstance(part, type)
        and issubclass(part, schema.ScenarioTable)
        and part not in (schema.ScenarioTable, schema.RubricRule)
        for name, info in part.model_fields.items()
    }
    assert wanted - reached == {("Scenario", "name")}  # the scenario's name is the file name


def test_every_field_has_a_label_and_a_meaning() -> None:
    for section in list_sections():
        for model in section.models:
            for field in list_fields(model):
                assert field.description or field.key == "kind", (model.__name__, field.key)
                assert field.label != field.key, (model.__name__, field.key)


@pytest.mark.parametrize(
    ("model", "key", "tip_texts"),
    [
        (schema.Scenario, "minutes", ("Allowed: 1 to 600.", "Required.", "Key in the TOML text: minutes")),
        (schema.Scenario, "length", ("with s, min or h", "Allowed: 0 to 24 h.")),
        (schema.Scenario, "title", ("At most 200 characters.",)),
        (schema.LinkSpec, "rtt_ms", ("In milliseconds.", "Allowed: 0 to 10,000.", "If left empty: 0.2.")),
        (schema.DatabaseSpec, "log_backup_every", ("If left empty: 900 s.",)),
        (
            schema.ServerSpec,
            "cores",
            ("Allowed: 1 to 256.", "If left empty: as many as the hardware profile has."),
        ),
        (schema.ServerSpec, "name", ("A name such as SERVER_A",)),
        (schema.Goal, "weight", ("Allowed: more than 0, at most 100.", "If left empty: 1.")),
        (schema.ClientSpec, "databases", ("Separate several values with commas.",)),
    ],
)
def test_tip_shows_unit_range_and_default(
    model: type[BaseModel], key: str, tip_texts: tuple[str, ...]
) -> None:
    (field,) = (field for field in list_fields(model) if field.key == key)
    for words in tip_texts:
        assert words in format_tip(field)


@pytest.mark.parametrize(
    ("path", "typed", "message"),
    [
        (
            ("minutes",),
            "soon",
            "Playing time for a learner, in minutes: “soon” is not valid; expected a whole number.",
        ),
        (
            ("minutes",),
            "6000",
            "Playing time for a learner, in minutes: “6000” is not valid; expected at most 600.",
        ),
        (
            ("length",),
            "15 parsecs",
            "Drill ends after (time): “15 parsecs” is not valid; expected seconds (30) or a",
        ),
        (("skills",), "Read State, x y", "expected a name such as back-in-service"),
        (("seed",), "9" * 60, "“" + "9" * 39 + "…” is not valid; expected less than 9223372036854775808."),
        (("title",), "a\u202eb", "expected text without invisible characters; character 2 is U+202E."),
    ],
)
def test_a_refusal_names_value_position_and_expectation(
    form: RecordingForm, path: tuple[str, ...], typed: str, message: str
) -> None:
    type_into(form, path, typed)
    assert list_texts(form) == []
    assert message in form.problem.text()
    assert "nput should" not in form.problem.text()


def test_actions_that_cost_points_are_added_and_removed(form: RecordingForm, qtbot: Any) -> None:
    text = SCENARIO_TEXT.replace('kind = "goals"', 'kind = "conduct"')
    form.show_text(text)
    select_section(form, "rubric")
    click_inside(form, "Add to Actions that cost points")
    type_into(form, ("rubric", 0, "price", 0, "when"), 'ran "SET PARTNER OFF"')
    type_into(form, ("rubric", 0, "price", 0, "price"), "5")
    click_inside(form, "Add to Actions that cost points")
    prices = tomllib.loads(list_texts(form)[-1])["rubric"][0]["price"]
    assert [price["price"] for price in prices] == [5, 10]
    assert prices[0]["when"] == 'ran "SET PARTNER OFF"'
    click_inside(form, "Remove Actions that cost points: 1")
    assert [price["price"] for price in tomllib.loads(list_texts(form)[-1])["rubric"][0]["price"]] == [10]
    click_inside(form, "Remove Actions that cost points: 1")
    assert tomllib.loads(list_texts(form)[-1]) == tomllib.loads(text)


def test_expectations_of_a_prediction_are_edited_in_the_form(form: RecordingForm) -> None:
    select_section(form, "predict")
    form.add.click()
    type_into(form, ("predict", 0, "choice", 1, "text"), "The witness goes")
    click_inside(form, "Add to Possible outcomes")
    choices = tomllib.loads(list_texts(form)[-1])["predict"][0]["choice"]
    assert [choice["text"] for choice in choices] == [
        "TO WRITE: text of the outcome",
        "The witness goes",
        "TO WRITE: text of the outcome",
    ]


def click_inside(form: RecordingForm, name: str) -> None:
    page_widget = form.page.widget()
    assert page_widget is not None
    (button,) = (
        button for button in page_widget.findChildren(QPushButton) if button.accessibleName() == name
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_pools_of_variants_are_created_changed_grouped_and_removed(form: RecordingForm) -> None:
    select_section(form, "variants")
    assert not form.pools.isHidden()
    assert form.page.isHidden()
    table = form.pools.table
    form.pools.add.click()
    assert tomllib.loads(list_texts(form)[-1])["variants"] == {"pool_1": [10, 20]}
    set_cell(table, 0, 0, "load")
    set_cell(table, 0, 1, "1 | 2.5|4")
    QTest.keyClick(table, Qt.Key.Key_Insert)
    set_cell(table, 1, 0, "city")
    set_cell(table, 1, 1, "Bern, CH | Oslo, NO")
    assert tomllib.loads(list_texts(form)[-1])["variants"] == {
        "load": [1.0, 2.5, 4.0],
        "city": ["Bern, CH", "Oslo, NO"],
    }
    set_cell(table, 1, 2, "place")
    assert tomllib.loads(list_texts(form)[-1])["variants"]["place"] == {"city": ["Bern, CH", "Oslo, NO"]}
    count = len(list_texts(form))
    set_cell(table, 0, 1, "1")
    assert len(list_texts(form)) == count
    assert "two entries" in form.problem.text()
    cell = table.item(0, 1)
    assert cell is not None
    assert cell.text() == "1.0 | 2.5 | 4.0"
    for _ in range(2):
        QTest.keyClick(table, Qt.Key.Key_Delete)
    assert tomllib.loads(list_texts(form)[-1]) == tomllib.loads(SCENARIO_TEXT)


def set_cell(table: QTableWidget, row: int, column: int, text: str) -> None:
    item = table.item(row, column)
    assert item is not None
    item.setText(text)


def test_existing_names_are_offered_and_others_accepted(form: RecordingForm) -> None:
    select_section(form, "session")
    form.add.click()
    box = form.page.rows["session", 0, "witness"].widget
    assert isinstance(box, QComboBox)
    assert [box.itemText(index) for index in range(box.count())] == ["SERVER_A", "SERVER_B"]
    line = box.lineEdit()
    assert line is not None
    line.setText("SERVER_B")
    line.editingFinished.emit()
    assert tomllib.loads(list_texts(form)[-1])["session"][0]["witness"] == "SERVER_B"
    select_section(form, "")
    skills = form.page.rows["skills",].widget
    assert isinstance(skills, CompletingLine)
    assert "read-state" in skills.completion.complete_text("quorum, read")
    assert "quorum" not in skills.completion.complete_text("quorum, read")


@pytest.mark.parametrize(
    ("path", "section", "entry"),
    [
        (("minutes",), "", None),
        (("server", 1, "name"), "server", 1),
        (("server", 1, "endpoint", "port"), "server", 1),
        (("database",), "database", 0),
    ],
)
def test_a_position_in_the_text_leads_to_its_field(
    form: RecordingForm, qtbot: Any, path: tuple[str | int, ...], section: str, entry: int | None
) -> None:
    form.resize(900, 600)
    with qtbot.waitExposed(form):
        form.show()
    assert form.show_path(path, take_focus=True)
    assert form.section.key == section
    assert entry is None or form.entries.currentRow() == entry
    if path in form.page.rows:
        assert form.focusWidget() is form.page.rows[path].widget


def test_at_twice_the_text_size_sections_move_above_and_the_page_fits(
    form: RecordingForm, qtbot: Any
) -> None:
    font = form.font()
    font.setPointSizeF(2 * font.pointSizeF())
    form.setFont(font)
    form.resize(34 * form.fontMetrics().averageCharWidth(), 500)
    with qtbot.waitExposed(form):
        form.show()
    qtbot.waitUntil(lambda: form.page.horizontalScrollBar().maximum() == 0)
    assert form.section_choice.isVisible()
    assert not form.sections.isVisible()
    row = next(index for index, section in enumerate(list_sections()) if section.key == "predict")
    form.section_choice.setCurrentIndex(row)
    form.section_choice.activated.emit(row)
    assert form.section.key == "predict"
    assert form.sections_field is form.section_choice
    form.add.click()
    assert form.section_choice.currentText() == "Predictions (1)"
    qtbot.waitUntil(lambda: form.add.y() > form.entries.geometry().bottom())
    qtbot.waitUntil(lambda: form.page.horizontalScrollBar().maximum() == 0)
    form.resize(2000, 500)
    assert form.sections.isVisible()
    assert not form.section_choice.isVisible()


def test_an_invalid_field_is_marked_with_the_reason(form: RecordingForm) -> None:
    form.show_problems({("minutes",): "At most 600."})
    row = form.page.rows["minutes",]
    assert row.widget.property("wrong") == "true"
    assert row.widget.toolTip().startswith("At most 600.")
    form.show_problems({("skills", 0): "There is no such skill."})
    assert form.page.rows["skills",].widget.property("wrong") == "true"
    form.show_problems({})
    assert row.widget.property("wrong") is None
    assert not row.widget.toolTip().startswith("At most")


SHIPPED_NAMES = sorted(path.name for path in files("scenarios").iterdir() if path.name.endswith(".toml"))


@pytest.mark.parametrize(
    "scenario_names", [SHIPPED_NAMES[::10], pytest.param(SHIPPED_NAMES, marks=pytest.mark.slow)], ids=len
)
def test_every_shipped_scenario_is_shown_without_a_problem(
    form: RecordingForm, scenario_names: list[str]
) -> None:
    assert scenario_names
    for name in scenario_names:
        text = files("scenarios").joinpath(name).read_text("utf-8")
        read = tomllib.loads(text)
        form.show_text(text)
        assert form.problem.isHidden(), name
        for index, section in enumerate(list_sections()):
            form.sections.setCurrentRow(index)
            assert all(row.widget.accessibleName() for row in form.page.rows.values())
            count = len(read.get(section.key, ())) if section.is_list else 0
            assert form.entries.count() == count or not section.is_list, (name, section.key)
            form.apply_pending_input()
    assert list_texts(form) == []
