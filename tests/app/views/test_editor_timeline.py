"""Tests of the timeline of the scenario editor: parsing, geometry, and edits by mouse and keys."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit

from app.files.scenario_edit import ScenarioEditError
from app.views.editor.input_completion import list_names_in_text
from app.views.editor.timeline_entries import (
    CONDITIONAL_FAULT,
    ENTRY_END,
    ENTRY_START,
    TIMED_FAULT,
    WHOLE_ENTRY,
    WINDOW_FAULT,
    Path,
    TimeAxisScale,
    TimelineEntry,
    add_fault,
    describe_entry,
    drag_span,
    find_dragged_part,
    format_time,
    lay_out_faults,
    lay_out_flow,
    move_entry,
    move_span,
    parse_timeline,
    space_apart,
)
from app.views.editor.timeline_view import TimelineView
from tests.cases import sample_cases

Key = Qt.Key
SHIFT, CTRL, NONE = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.NoModifier,
)
LEFT_BUTTON = Qt.MouseButton.LeftButton

SCENARIO_TEXT = """\
# A drill for tests
length = "10min"   # not long

[[server]]
name = "SERVER_A"

[[server]]
name = "SERVER_B"

[[database]]
name = "Sales"

[[client]]
name = "Shop"

[[timeline]]
at = "2min"   # the second minute
do = "power-off SERVER_A"
note = "The plug."

# A window
[[timeline]]
between = ["240s", 300]   # some time
do = "cut SERVER_A SERVER_B"

[[timeline]]
when = "Sales serves on SERVER_B"
after = "10s"
do = "power-on SERVER_A"

[[timeline]]
at = 30
do = "hang SERVER_B"

[[solution]]
do = "95 sql SERVER_B SELECT 1"
why = "a look"

[[solution]]
do = "+5 unhang SERVER_B"
why = "mends it"

[[solution]]
when = "Sales is SYNCHRONIZED"
do = "+10 note done"
why = "waits"
"""

SHIPPED_NAMES = sorted(entry.name for entry in files("scenarios").iterdir() if entry.name.endswith(".toml"))


def find_changed_lines(old_text: str, new_text: str) -> list[tuple[str, str]]:
    """Return the differing lines of two texts with equal numbers of lines."""
    return [
        (old, new)
        for old, new in zip(old_text.splitlines(), new_text.splitlines(), strict=True)
        if old != new
    ]


def find_entry(text: str, *path: str | int) -> TimelineEntry:
    entry = parse_timeline(text).find_entry(path)
    assert entry is not None
    return entry


# --- reading, without Qt ------------------------------------------------------------------------------------


def test_faults_are_in_time_order_followed_by_conditional_ones() -> None:
    plan = parse_timeline(SCENARIO_TEXT)
    assert plan.length_s == 600.0
    assert [(entry.path[1], entry.kind, entry.span) for entry in plan.faults] == [
        (3, TIMED_FAULT, (30.0, 30.0)),
        (0, TIMED_FAULT, (120.0, 120.0)),
        (1, WINDOW_FAULT, (240.0, 300.0)),
        (2, CONDITIONAL_FAULT, (10.0, 10.0)),
    ]


def test_steps_count_from_the_previous_one_and_keep_their_order() -> None:
    steps = parse_timeline(SCENARIO_TEXT).steps
    assert [(step.line, step.is_time_known) for step in steps] == [
        ("sql SERVER_B SELECT 1", True),
        ("unhang SERVER_B", True),
        ("note done", False),
    ]
    # The last time is halfway between 100 s and the end.
    assert [step.span[0] for step in steps] == [
        95.0,
        100.0,
        350.0,
    ]


def test_without_a_length_the_axis_extends_beyond_the_last_fault() -> None:
    assert parse_timeline('[[timeline]]\nat = "10min"\ndo = "x"\n').length_s == 660.0
    assert parse_timeline("").length_s == 120.0


@pytest.mark.parametrize(
    "text",
    [
        "timeline = 3\nsolution = 'x'",
        "timeline = [1, {at = true}, {at = 'soon', do = 4}, {between = [1]}, {between = 7}]",
        "length = nan\n[[timeline]]\nat = inf\nafter = 'x'\nwhen = 1",
        "[[solution]]\ndo = '1e9'\n[[solution]]\nwhen = 'x'\n[[solution]]\ndo = '99999999999 x'",
        "server = 'x'\ntimeline.a = 1",
    ],
)
def test_an_invalid_timeline_is_read_without_an_error(text: str) -> None:
    plan = parse_timeline(text)
    assert all(describe_entry(entry) for entry in plan.entries)
    assert not any(entry.is_movable for entry in plan.faults)


@pytest.mark.parametrize("text", ["at = ", "[[timeline]", "a = " + "[" * 5000])
def test_invalid_toml_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"at line|at end|nested"):
        parse_timeline(text)


def test_names_are_offered_by_kind() -> None:
    assert list_names_in_text(SCENARIO_TEXT, "server") == ["SERVER_A", "SERVER_B"]
    assert list_names_in_text(SCENARIO_TEXT, "name") == ["SERVER_A", "SERVER_B", "Shop"]
    assert list_names_in_text(SCENARIO_TEXT, "database") == ["Sales"]
    assert list_names_in_text(SCENARIO_TEXT, "number") == []
    assert list_names_in_text("[[", "server") == []


def test_an_entry_is_described_in_words() -> None:
    descriptions = [describe_entry(entry) for entry in parse_timeline(SCENARIO_TEXT).entries]
    assert descriptions[0] == "At 0:30: hang SERVER_B"
    assert descriptions[2] == "Between 4:00 and 5:00: cut SERVER_A SERVER_B"
    assert descriptions[3] == "10 s after Sales serves on SERVER_B: power-on SERVER_A"
    assert descriptions[4] == "Solution step 1, at 1:35: sql SERVER_B SELECT 1"
    assert descriptions[6] == "Solution step 3, 10 s after Sales is SYNCHRONIZED: note done"


@pytest.mark.parametrize(
    ("t_s", "template", "expected"),
    [
        (95.0, 30, 95),
        (95.5, 30, 95.5),
        (95.0, "30s", "95s"),
        (120.0, "30s", "120s"),
        (95.0, "30", "95"),
        (300.0, "2min", "5min"),
        (125.0, "2min", "125s"),
        (300.0, "2 min", "5 min"),
        (7200.0, "1h", "2h"),
        (5400.0, "1h", "90min"),
        (5401.0, "1h", "5401s"),
        (0.0, "2min", "0s"),
        (7.5, "6.5s", "7.5s"),
    ],
)
def test_a_time_keeps_its_notation(t_s: float, template: Any, expected: Any) -> None:
    formatted_time = format_time(t_s, template)
    assert formatted_time == expected
    assert type(formatted_time) is type(expected)


def test_moving_an_entry_changes_one_line_and_keeps_its_comment() -> None:
    text = move_entry(SCENARIO_TEXT, find_entry(SCENARIO_TEXT, "timeline", 0), (180.0, 180.0))
    assert find_changed_lines(SCENARIO_TEXT, text) == [
        ('at = "2min"   # the second minute', 'at = "3min"   # the second minute')
    ]
    text = move_entry(SCENARIO_TEXT, find_entry(SCENARIO_TEXT, "timeline", 1), (240.0, 310.0))
    assert find_changed_lines(SCENARIO_TEXT, text) == [
        ('between = ["240s", 300]   # some time', 'between = ["240s", 310]   # some time')
    ]


def test_a_reversed_window_keeps_its_order() -> None:
    text = '[[timeline]]\nbetween = ["80s", "40s"]\ndo = "x"\n'
    assert 'between = ["90s", "50s"]' in move_entry(text, find_entry(text, "timeline", 0), (50.0, 90.0))


def test_a_missing_delay_is_added() -> None:
    text = '[[timeline]]\nwhen = "A is UP"\ndo = "x"\n'
    assert move_entry(text, find_entry(text, "timeline", 0), (5.0, 5.0)) == text + 'after = "5s"\n'


def test_an_inline_timeline_is_not_extended() -> None:
    with pytest.raises(ScenarioEditError):
        add_fault('timeline = [{at = 3, do = "x"}]', {"at": 4}, "hang A", "")


# --- geometry, without Qt -----------------------------------------------------------------------------------


def test_time_scale_converts_both_ways_within_the_drill() -> None:
    scale = TimeAxisScale(10.0, 600.0, 300.0)
    assert scale.compute_x(150.0) == 310.0
    assert scale.compute_time(310.0) == 150.0
    assert scale.compute_time(-50.0) == 0.0
    assert scale.compute_time(5000.0) == 300.0


def test_a_coarse_axis_snaps_to_five_seconds() -> None:
    assert TimeAxisScale(0.0, 600.0, 300.0).step_s == 1.0
    assert TimeAxisScale(0.0, 600.0, 600.0).step_s == 5.0


def test_colliding_labels_are_stacked_in_rows() -> None:
    scale = TimeAxisScale(0.0, 1000.0, 1000.0)
    bars = lay_out_faults([(100, 100), (150, 150), (400, 400), (990, 990)], [100, 100, 100, 100], scale)
    assert [bar.row for bar in bars] == [0, 1, 0, 0]
    assert bars[3].label_x + bars[3].label_width < bars[3].start_x  # The label has no room on the right.


def test_a_wide_window_contains_its_label() -> None:
    (bar,) = lay_out_faults([(100, 400)], [100], TimeAxisScale(0.0, 1000.0, 1000.0))
    assert bar.start_x < bar.label_x
    assert bar.label_x + bar.label_width < bar.end_x


def test_grip_distinguishes_ends_from_the_middle() -> None:
    (bar,) = lay_out_faults([(100, 200)], [300], TimeAxisScale(0.0, 1000.0, 1000.0))
    assert [find_dragged_part(bar, x) for x in (80, 98, 103, 150, 198, 203, 400, 900)] == [
        None,
        ENTRY_START,
        ENTRY_START,
        WHOLE_ENTRY,
        ENTRY_END,
        ENTRY_END,
        WHOLE_ENTRY,
        None,
    ]


def test_items_wrap_like_words() -> None:
    assert lay_out_flow([50, 50, 90, 200], 120.0, 10.0) == [(0, 0.0), (0, 60.0), (1, 0.0), (2, 0.0)]


def test_colliding_discs_are_pushed_apart_within_the_axis() -> None:
    assert space_apart([0, 5, 50, 98, 99], 10.0, 0.0, 100.0) == [0.0, 10.0, 50.0, 90.0, 100.0]
    assert space_apart([50, 50, 50], 80.0, 0.0, 100.0) == [0.0, 50.0, 100.0]
    assert space_apart([], 10.0, 0.0, 100.0) == []


@pytest.mark.parametrize(
    ("part", "by_s", "expected"),
    [
        (WHOLE_ENTRY, 12.0, (55.0, 75.0)),
        (WHOLE_ENTRY, -100.0, (0.0, 20.0)),
        (WHOLE_ENTRY, 500.0, (80.0, 100.0)),
        (ENTRY_START, 8.0, (50.0, 62.0)),
        (ENTRY_START, 80.0, (62.0, 62.0)),
        (ENTRY_END, 8.0, (42.0, 70.0)),
        (ENTRY_END, -80.0, (42.0, 42.0)),
        (ENTRY_END, 500.0, (42.0, 100.0)),
    ],
)
def test_a_drag_snaps_and_stays_within_the_axis(
    part: str, by_s: float, expected: tuple[float, float]
) -> None:
    lasts = expected[1] - expected[0]
    assert drag_span((42.0, 62.0), part, by_s, 5.0, 100.0) == expected
    assert part != WHOLE_ENTRY or lasts == 20.0


def test_keys_move_without_snapping() -> None:
    assert move_span((42.5, 42.5), WHOLE_ENTRY, 1.0, 100.0) == (43.5, 43.5)
    assert move_span((95.0, 98.0), WHOLE_ENTRY, 10.0, 100.0) == (97.0, 100.0)
    assert move_span((3.0, 8.0), WHOLE_ENTRY, -10.0, 100.0) == (0.0, 5.0)
    assert move_span((3.0, 8.0), ENTRY_END, -10.0, 100.0) == (3.0, 3.0)


# --- timeline view ------------------------------------------------------------------------------------------


class ViewListener:
    """Recorder of the signals of a view."""

    def __init__(self, view: TimelineView) -> None:
        self.texts: list[str] = []
        self.paths: list[Path] = []
        view.text_changed.connect(self.texts.append)
        view.path_chosen.connect(self.paths.append)


@pytest.fixture
def view(qtbot: Any) -> TimelineView:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1400, 500)
    view.show_text(SCENARIO_TEXT)
    view.show()
    return view


@pytest.fixture
def listener(view: TimelineView) -> ViewListener:
    return ViewListener(view)


def find_point(view: TimelineView, t_s: float, *path: str | int) -> QPoint:
    """Return the point of *t_s* on the canvas, in the row of the entry at *path*."""
    box = view.canvas.compute_box(path)
    assert box is not None
    return QPoint(round(view.canvas.scale.compute_x(t_s)), round(box.center().y()))


def drag_by(view: TimelineView, start: QPoint, by_px: int) -> None:
    QTest.mousePress(view.canvas, LEFT_BUTTON, NONE, start)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(view.canvas, start + QPoint(round(by_px * share), 0))
    QTest.mouseRelease(view.canvas, LEFT_BUTTON, NONE, start + QPoint(by_px, 0))


def convert_to_pixels(view: TimelineView, seconds: float) -> int:
    scale = view.canvas.scale
    return round(scale.compute_x(seconds) - scale.compute_x(0.0))


def test_showing_an_entry_emits_no_signal(view: TimelineView, listener: ViewListener) -> None:
    view.show_text(SCENARIO_TEXT.replace('"2min"', '"3min"'))
    assert listener.texts == []
    assert listener.paths == []
    assert view.list.item(1).text() == "At 3:00: power-off SERVER_A"


def test_a_drag_changes_one_line_at_release(view: TimelineView, listener: ViewListener) -> None:
    start = find_point(view, 120.0, "timeline", 0)
    QTest.mousePress(view.canvas, LEFT_BUTTON, NONE, start)
    QTest.mouseMove(view.canvas, start + QPoint(convert_to_pixels(view, 40.0), 0))
    QTest.mouseMove(view.canvas, start + QPoint(convert_to_pixels(view, 60.0), 0))
    assert listener.texts == []
    QTest.mouseRelease(view.canvas, LEFT_BUTTON, NONE, start + QPoint(convert_to_pixels(view, 60.0), 0))
    (text,) = listener.texts
    assert find_changed_lines(SCENARIO_TEXT, text) == [
        ('at = "2min"   # the second minute', 'at = "3min"   # the second minute')
    ]
    assert listener.paths == [("timeline", 0)]
    assert view.list.currentItem().text() == "At 3:00: power-off SERVER_A"


@pytest.mark.parametrize(
    ("hold_s", "by_s", "line"),
    [
        (240.0, 20.0, 'between = ["260s", 300]   # some time'),
        (300.0, 60.0, 'between = ["240s", 360]   # some time'),
        (270.0, -40.0, 'between = ["200s", 260]   # some time'),
    ],
)
def test_a_window_is_dragged_by_its_ends_or_as_a_whole(
    view: TimelineView, listener: ViewListener, hold_s: float, by_s: float, line: str
) -> None:
    drag_by(view, find_point(view, hold_s, "timeline", 1), convert_to_pixels(view, by_s))
    (text,) = listener.texts
    assert [new for _, new in find_changed_lines(SCENARIO_TEXT, text)] == [line]


def test_a_click_selects_and_changes_nothing(view: TimelineView, listener: ViewListener) -> None:
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, find_point(view, 30.0, "timeline", 3))
    box = view.canvas.compute_box(("timeline", 2))
    assert box is not None
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, box.center().toPoint())
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, find_point(view, 95.0, "solution", 0))
    assert listener.paths == [("timeline", 3), ("timeline", 2), ("solution", 0)]
    assert listener.texts == []


def test_escape_cancels_a_drag(view: TimelineView, listener: ViewListener) -> None:
    start = find_point(view, 120.0, "timeline", 0)
    QTest.mousePress(view.canvas, LEFT_BUTTON, NONE, start)
    QTest.mouseMove(view.canvas, start + QPoint(200, 0))
    QTest.keyClick(view.canvas, Key.Key_Escape)
    QTest.mouseRelease(view.canvas, LEFT_BUTTON, NONE, start + QPoint(200, 0))
    assert listener.texts == []
    assert find_point(view, 120.0, "timeline", 0) == start


def test_solution_steps_cannot_be_dragged(view: TimelineView, listener: ViewListener) -> None:
    drag_by(view, find_point(view, 95.0, "solution", 0), 150)
    QTest.keyClick(view.canvas, Key.Key_Right)
    QTest.keyClick(view.canvas, Key.Key_Delete)
    assert listener.texts == []
    assert not view.remove_button.isEnabled()


@pytest.mark.parametrize("widget_name", ["list", "canvas"])
@pytest.mark.parametrize(
    ("key", "modifiers", "line"),
    [
        (Key.Key_Right, NONE, "at = 31"),
        (Key.Key_Left, NONE, "at = 29"),
        (Key.Key_Right, SHIFT, "at = 40"),
        (Key.Key_Left, SHIFT, "at = 20"),
    ],
)
def test_arrow_keys_move_the_selected_fault(
    view: TimelineView,
    listener: ViewListener,
    widget_name: str,
    key: Qt.Key,
    modifiers: Qt.KeyboardModifier,
    line: str,
) -> None:
    view.list.setCurrentRow(0)
    QTest.keyClick(getattr(view, widget_name), key, modifiers)
    (text,) = listener.texts
    assert find_changed_lines(SCENARIO_TEXT, text) == [("at = 30", line)]


def test_keys_change_the_end_of_a_window_and_a_delay(view: TimelineView, listener: ViewListener) -> None:
    view.list.setCurrentRow(2)
    QTest.keyClick(view.list, Key.Key_Right, CTRL)
    assert 'between = ["240s", 301]   # some time' in listener.texts[-1]
    view.list.setCurrentRow(3)
    QTest.keyClick(view.list, Key.Key_Left, SHIFT)
    assert 'after = "0s"' in listener.texts[-1]
    QTest.keyClick(view.list, Key.Key_Left)
    assert len(listener.texts) == 2  # 0 s is the earliest time


def test_tab_steps_through_entries_and_leaves_after_the_last(
    view: TimelineView, listener: ViewListener
) -> None:
    view.canvas.setFocus()
    for _ in range(7):
        QTest.keyClick(view.canvas, Key.Key_Tab)
    assert listener.paths == [
        ("timeline", 3),
        ("timeline", 0),
        ("timeline", 1),
        ("timeline", 2),
        ("solution", 0),
        ("solution", 1),
        ("solution", 2),
    ]
    assert view.canvas.hasFocus()
    QTest.keyClick(view.canvas, Key.Key_Up)
    assert listener.paths[-1] == ("solution", 1)
    QTest.keyClick(view.canvas, Key.Key_Down)
    QTest.keyClick(view.canvas, Key.Key_Tab)
    assert not view.canvas.hasFocus()


def test_delete_removes_the_selected_fault_and_selects_the_next(
    view: TimelineView, listener: ViewListener
) -> None:
    view.list.setCurrentRow(1)
    QTest.keyClick(view.list, Key.Key_Delete)
    (text,) = listener.texts
    entry_text = (
        '[[timeline]]\nat = "2min"   # the second minute\ndo = "power-off SERVER_A"\nnote = "The plug."\n\n'
    )
    assert entry_text in SCENARIO_TEXT
    assert parse_timeline(text).faults == tuple(
        TimelineEntry(
            ("timeline", int(e.path[1]) - (int(e.path[1]) > 0)),
            e.kind,
            e.line,
            e.span,
            e.condition,
            e.note,
            e.is_time_known,
        )
        for e in parse_timeline(SCENARIO_TEXT).faults
        if e.path != ("timeline", 0)
    )
    assert set(SCENARIO_TEXT.splitlines()) - set(text.splitlines()) <= {
        *entry_text.splitlines(),
        "# A window",
    }
    assert view.list.currentItem().text() == "Between 4:00 and 5:00: cut SERVER_A SERVER_B"
    for _ in range(3):
        QTest.keyClick(view.list, Key.Key_Delete)
    assert parse_timeline(listener.texts[-1]).faults == ()
    assert parse_timeline(listener.texts[-1]).steps


MOVED_LINES = [
    ("at = 30", "at = 40"),
    ('at = "2min"   # the second minute', 'at = "130s"   # the second minute'),
]


def list_selected_paths(view: TimelineView) -> list[tuple[str | int, ...]]:
    return [entry.path for entry in view.selected_entries]


def test_several_entries_are_selected_with_ctrl_and_dragged_together(
    view: TimelineView, listener: ViewListener
) -> None:
    first, second = find_point(view, 30.0, "timeline", 3), find_point(view, 120.0, "timeline", 0)
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, first)
    QTest.mouseClick(view.canvas, LEFT_BUTTON, CTRL, second)
    assert list_selected_paths(view) == [("timeline", 3), ("timeline", 0)]
    assert "2 selected" in view.canvas.accessibleDescription()
    drag_by(view, second, convert_to_pixels(view, 10.0))
    (text,) = listener.texts
    assert sorted(find_changed_lines(SCENARIO_TEXT, text)) == sorted(MOVED_LINES)
    assert len(list_selected_paths(view)) == 2
    QTest.mouseClick(view.canvas, LEFT_BUTTON, CTRL, find_point(view, 40.0, "timeline", 3))
    assert list_selected_paths(view) == [("timeline", 0)]


def test_several_entries_are_selected_moved_and_removed_by_keys(
    view: TimelineView, listener: ViewListener
) -> None:
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Key.Key_Down)
    QTest.keyClick(view.canvas, Key.Key_Down, SHIFT)
    assert list_selected_paths(view) == [("timeline", 3), ("timeline", 0)]
    QTest.keyClick(view.canvas, Key.Key_Right, SHIFT)
    (text,) = listener.texts
    assert sorted(find_changed_lines(SCENARIO_TEXT, text)) == sorted(MOVED_LINES)
    QTest.keyClick(view.canvas, Key.Key_Delete)
    assert [entry.line for entry in parse_timeline(listener.texts[1]).faults] == [
        "cut SERVER_A SERVER_B",
        "power-on SERVER_A",
    ]
    assert len(listener.texts) == 2


def test_deleting_all_faults_keeps_the_solution(view: TimelineView, listener: ViewListener) -> None:
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Key.Key_A, CTRL)
    QTest.keyClick(view.canvas, Key.Key_Delete)
    (text,) = listener.texts
    assert parse_timeline(text).faults == ()
    assert len(parse_timeline(text).steps) == 3


def test_a_copy_of_a_fault_follows_it_and_is_selected(view: TimelineView, listener: ViewListener) -> None:
    view.list.setCurrentRow(1)
    QTest.keyClick(view.list, Key.Key_D, CTRL)
    (text,) = listener.texts
    assert text.count('do = "power-off SERVER_A"') == 2
    assert list_selected_paths(view) == [("timeline", 1)]


def test_the_menu_matches_the_keys(qtbot: Any, view: TimelineView, listener: ViewListener) -> None:
    view.list.setCurrentRow(4)
    words = {action.text().partition("\t")[0]: action for action in view.build_menu().actions()}
    assert not words["Remove"].isEnabled()  # a step of the solution cannot be removed here
    view.list.setCurrentRow(0)
    words = {action.text().partition("\t")[0]: action for action in view.build_menu(77.0).actions()}
    with qtbot.waitSignal(view.edit_in_text_wanted) as wanted:
        words["Show in the text"].trigger()
    assert wanted.args == [("timeline", 3)]
    words["Add fault…"].trigger()
    assert view.add_fault_form.from_time.text() == "77s"
    view.add_fault_form.close_wanted.emit()
    words["Remove"].trigger()
    assert 'do = "hang SERVER_B"' not in listener.texts[-1]


def test_a_right_click_requests_the_menu_of_the_entry(qtbot: Any, view: TimelineView) -> None:
    view.canvas.menu_wanted.disconnect()
    position = find_point(view, 120.0, "timeline", 0)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, position, view.canvas.mapToGlobal(position))
    with qtbot.waitSignal(view.canvas.menu_wanted) as wanted:
        view.canvas.contextMenuEvent(event)
    assert wanted.args is not None
    assert wanted.args[1] == ("timeline", 0)


def choose_verb(view: TimelineView, name: str, *arguments: str) -> None:
    view.add_fault_form.verb.setCurrentText(name)
    for (_, _, field), word in zip(view.add_fault_form.fields, arguments, strict=False):
        if isinstance(field, QComboBox):
            field.setCurrentText(word)
        else:
            assert isinstance(field, QLineEdit)
            field.setText(word)


def test_insert_adds_a_fault_at_the_cursor(view: TimelineView, listener: ViewListener) -> None:
    x = round(view.canvas.scale.compute_x(400.0))
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, QPoint(x, view.canvas.height() - 2))
    QTest.keyClick(view.canvas, Key.Key_Insert)
    assert view.add_fault_form.isVisible()
    assert not view.list.isVisible()
    at_s = view.canvas.cursor_s
    assert at_s is not None
    assert abs(at_s - 400.0) <= 1.0
    choose_verb(view, "degrade", "SERVER_A", "SERVER_B", "60")
    view.add_fault_form.note.setText("The carrier.")
    QTest.keyClick(view.add_fault_form.note, Key.Key_Return)
    (text,) = listener.texts
    entry = f'[[timeline]]\nat = "{at_s:.0f}s"\ndo = "degrade SERVER_A SERVER_B rtt_ms=60"\nnote = "The carrier."\n\n'
    assert text.replace(entry, "") == SCENARIO_TEXT
    assert listener.paths == [("timeline", 4)]
    assert view.list.isVisible()
    assert "degrade" in view.list.currentItem().text()


def test_a_double_click_on_empty_space_opens_the_form_there(
    view: TimelineView, listener: ViewListener
) -> None:
    x = round(view.canvas.scale.compute_x(200.0))
    QTest.mouseDClick(view.canvas, LEFT_BUTTON, NONE, QPoint(x, view.canvas.height() - 2))
    assert view.add_fault_form.isVisible()
    assert view.add_fault_form.from_time.text() == f"{round(view.canvas.scale.compute_time(x))}s"
    view.add_fault_form.close_wanted.emit()
    QTest.mouseDClick(view.canvas, LEFT_BUTTON, NONE, find_point(view, 120.0, "timeline", 0))
    assert not view.add_fault_form.isVisible()
    assert listener.texts == []


def test_return_in_any_field_adds_one_entry(view: TimelineView, listener: ViewListener) -> None:
    for field_number in (0, 1):
        view.begin_adding(60.0)
        choose_verb(view, "degrade", "SERVER_A", "SERVER_B")
        QTest.keyClick(view.add_fault_form.fields[2 * field_number][2], Key.Key_Return)
        assert len(listener.texts) == field_number + 1


def test_faults_with_a_window_or_a_condition_are_added(view: TimelineView, listener: ViewListener) -> None:
    view.begin_adding(60.0)
    view.add_fault_form.start_kind.setCurrentIndex(1)
    view.add_fault_form.from_time.setText("60")
    view.add_fault_form.to_time.setText("2min")
    choose_verb(view, "fill-log", "Sales")
    view.add_fault_form.add.click()
    assert '[[timeline]]\nbetween = [60, "2min"]\ndo = "fill-log Sales"\n' in listener.texts[-1]
    view.add_button.click()
    view.add_fault_form.start_kind.setCurrentIndex(2)
    view.add_fault_form.condition.setText("Sales is SUSPENDED")
    view.add_fault_form.condition_delay.setText("10s")
    choose_verb(view, "sql", "SERVER_A", "SELECT 1")
    view.add_fault_form.add.click()
    entry_text = '[[timeline]]\nwhen = "Sales is SUSPENDED"\nafter = "10s"\ndo = "sql SERVER_A SELECT 1"\n'
    assert entry_text in listener.texts[-1]
    assert len(listener.texts) == 2


@pytest.mark.parametrize(
    ("time", "verb", "arguments", "message"),
    [
        ("soon", "hang", ("SERVER_A",), "soon is not a time"),
        ("", "hang", ("SERVER_A",), "is not a time"),
        ("nan", "hang", ("SERVER_A",), "nan is not a time"),
        ("30", "degrade", ("SERVER_A", "SERVER_B", "fast"), "rtt_ms must be a number"),
        ("30", "hang", ("",), "expects 1 argument"),
    ],
)
def test_invalid_input_is_reported_and_not_added(
    view: TimelineView, listener: ViewListener, time: str, verb: str, arguments: tuple[str, ...], message: str
) -> None:
    view.begin_adding(60.0)
    view.add_fault_form.from_time.setText(time)
    choose_verb(view, verb, *arguments)
    view.add_fault_form.add.click()
    assert message in view.add_fault_form.message.text()
    assert listener.texts == []
    assert view.add_fault_form.isVisible()
    QTest.keyClick(view.add_fault_form.note, Key.Key_Escape)
    assert view.list.isVisible()


def test_the_form_has_room_for_its_fields(qtbot: Any, view: TimelineView) -> None:
    view.resize(900, 320)
    view.begin_adding(60.0)
    choose_verb(view, "degrade")
    qtbot.waitUntil(lambda: view.add_fault_form.height() >= view.add_fault_form.minimumSizeHint().height())
    options = [field for parameter, _, field in view.add_fault_form.fields if parameter is None]
    assert len(options) == 4
    assert all(field.height() >= field.minimumSizeHint().height() for field in options)
    assert view.minimumSizeHint().width() < 600


def test_names_are_offered_from_the_text(view: TimelineView) -> None:
    view.begin_adding(60.0)
    choose_verb(view, "fail-disk")
    offered = [
        [field.itemText(n) for n in range(field.count())]
        for _, _, field in view.add_fault_form.fields
        if isinstance(field, QComboBox)
    ]
    assert offered == [["SERVER_A", "SERVER_B"], ["Sales"]]


def test_an_inline_timeline_reports_why_it_is_not_extended(
    view: TimelineView, listener: ViewListener
) -> None:
    view.show_text('timeline = [{at = 3, do = "x"}]\n')
    view.begin_adding(60.0)
    choose_verb(view, "revert-all")
    view.add_fault_form.add.click()
    assert "[[timeline]]" in view.add_fault_form.message.text()
    assert listener.texts == []


def test_invalid_toml_grays_the_timeline_until_it_is_valid(
    view: TimelineView, listener: ViewListener
) -> None:
    view.list.setCurrentRow(1)
    before = view.list.count()
    view.show_text(SCENARIO_TEXT + "[[timeline")
    assert not view.body.isEnabled()
    assert not view.add_button.isEnabled()
    assert "not valid TOML" in view.message.text()
    assert view.list.count() == before
    view.begin_adding(10.0)
    assert not view.add_fault_form.isVisible()
    view.show_text(SCENARIO_TEXT)
    assert view.body.isEnabled()
    assert view.add_button.isEnabled()
    assert view.list.currentItem().text() == "At 2:00: power-off SERVER_A"
    assert listener.texts == []


def test_invalid_toml_is_reported_while_the_form_is_open(view: TimelineView, listener: ViewListener) -> None:
    view.begin_adding(10.0)
    assert not view.message.isVisible()
    view.show_text("[[timeline")
    assert view.message.isVisible()
    assert "not valid TOML" in view.message.text()
    view.show_text(SCENARIO_TEXT)
    assert not view.message.isVisible()
    assert view.add_fault_form.isVisible()  # the typed text is kept


def test_the_selected_entry_is_kept_while_it_exists(view: TimelineView, listener: ViewListener) -> None:
    view.list.setCurrentRow(0)
    view.show_text(SCENARIO_TEXT.replace("at = 30", "at = 500"))
    assert view.list.currentItem().text() == "At 8:20: hang SERVER_B"
    view.show_text("title = 'nothing'")
    assert view.list.count() == 0
    assert not view.remove_button.isEnabled()
    assert listener.paths == [("timeline", 3)]


def test_zoom_keeps_the_position_under_the_pointer(view: TimelineView) -> None:
    full_width = view.canvas.width()
    QTest.keyClick(view.canvas, Key.Key_Plus)
    assert view.canvas.width() == pytest.approx(full_width * 1.5, abs=2)
    QTest.keyClick(view.canvas, Key.Key_0)
    assert view.canvas.width() == full_width
    viewport = view.area.viewport()
    pos = QPointF(1000.0, 60.0)
    before = view.canvas.scale.compute_time(pos.x())
    wheel = QWheelEvent(
        pos,
        QPointF(viewport.mapToGlobal(pos.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        CTRL,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.area.wheelEvent(wheel)
    assert view.canvas.width() > full_width
    time_after = view.canvas.scale.compute_time(pos.x() + view.area.horizontalScrollBar().value())
    assert time_after == pytest.approx(before, abs=4.0)


def test_entries_without_a_time_stay_visible_while_scrolling(
    view: TimelineView, listener: ViewListener
) -> None:
    view.area.zoom_by(8.0)
    view.area.horizontalScrollBar().setValue(5000)
    box = view.canvas.compute_box(("timeline", 2))
    assert box is not None
    assert 5000 <= box.left() < 5000 + view.area.viewport().width()
    QTest.mouseClick(view.canvas, LEFT_BUTTON, NONE, box.center().toPoint())
    assert listener.paths == [("timeline", 2)]


def test_selecting_in_the_list_scrolls_the_axis(view: TimelineView) -> None:
    view.area.zoom_by(8.0)
    view.area.horizontalScrollBar().setValue(0)
    view.list.setCurrentRow(2)
    box = view.canvas.compute_box(("timeline", 1))
    assert box is not None
    scroll_value = view.area.horizontalScrollBar().value()
    assert scroll_value <= box.center().x() <= scroll_value + view.area.viewport().width()


def test_the_axis_height_follows_its_lanes_until_changed(view: TimelineView) -> None:
    before = view.body.sizes()[0]
    assert before >= view.canvas.minimumHeight()
    crowd = "".join(f'\n[[timeline]]\nat = {n}\ndo = "hang SERVER_A"\n' for n in range(40, 45))
    view.show_text(SCENARIO_TEXT + crowd)
    assert view.body.sizes()[0] > before
    view.body.splitterMoved.emit(200, 1)
    view.body.setSizes([200, 250])
    sizes = view.body.sizes()
    view.show_text(SCENARIO_TEXT)
    assert view.body.sizes() == sizes


def test_a_zoomed_axis_is_dragged_by_seconds(view: TimelineView, listener: ViewListener) -> None:
    view.area.zoom_by(8.0)
    drag_by(view, find_point(view, 30.0, "timeline", 3), convert_to_pixels(view, 7.0))
    assert find_changed_lines(SCENARIO_TEXT, listener.texts[0]) == [("at = 30", "at = 37")]


def test_every_entry_has_an_accessible_name(view: TimelineView) -> None:
    assert view.canvas.accessibleName()
    assert view.list.accessibleName()
    accessible_text = view.list.item(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert accessible_text == "At 2:00: power-off SERVER_A. The plug."
    view.list.setCurrentRow(1)
    assert view.canvas.accessibleDescription() == "At 2:00: power-off SERVER_A"
    view.begin_adding(10.0)
    choose_verb(view, "degrade")
    assert all(field.accessibleName() for _, _, field in view.add_fault_form.fields)


@pytest.mark.parametrize("name", sample_cases(5, SHIPPED_NAMES))
def test_every_shipped_scenario_is_shown(view: TimelineView, listener: ViewListener, name: str) -> None:
    text = (files("scenarios") / name).read_text(encoding="utf-8")
    view.show_text(text)
    view.grab()
    assert listener.texts == []
    assert listener.paths == []
    plan = parse_timeline(text)
    assert len(plan.faults) == text.count("\n[[timeline]]")
    assert len(plan.steps) == text.count("\n[[solution]]")
    assert view.list.count() == len(plan.entries)
    assert all(entry.is_movable for entry in plan.faults)
    assert all(view.canvas.compute_box(entry.path) is not None for entry in plan.entries)
