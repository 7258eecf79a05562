"""Tests of the table of shortcuts: guarantees, conflicts, and stored changes."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app.main_window.actions import MENUS, fill_menu
from app.main_window.confirmations import CONFIRMATION_TEXTS
from app.views.console import QueryConsole
from app.views.lesson_bar import BUTTON_TEXTS
from app.widgets import keys
from app.words import language

SSMS = keys.resolve_keys(keys.SSMS_SCHEME)
COMMAND_NAMES = [command.name for command in keys.SHORTCUT_COMMANDS]


@pytest.mark.parametrize("language_code", [language.ENGLISH, "de"])
def test_menus_and_the_lesson_bar_share_no_access_key(language_code: str) -> None:
    """If two of them have the same access key, Qt only moves the focus."""
    language.use_language(language_code)
    try:
        letters = [
            QKeySequence.mnemonic(language.tr(text)).toString() for text in (*MENUS, *BUTTON_TEXTS.values())
        ]
    finally:
        language.use_language(language.ENGLISH)
    assert "" not in letters
    assert sorted(letters) == sorted(set(letters))


@pytest.mark.parametrize("scheme", keys.KEY_SCHEMES)
def test_no_scheme_assigns_a_key_twice(scheme: str) -> None:
    assert keys.list_key_conflicts(keys.resolve_keys(scheme)) == []


@pytest.mark.parametrize("scheme", keys.KEY_SCHEMES)
def test_no_window_key_overrides_text_fields(scheme: str) -> None:
    scheme_keys = keys.resolve_keys(scheme)
    outside = [
        name
        for name in COMMAND_NAMES
        if keys.COMMANDS_BY_NAME[name].scope in (keys.WINDOW_SCOPE, keys.DESK_SCOPE)
    ]
    assert [key for name in outside for key in scheme_keys[name] if keys.is_character_key(key)] == []


def test_names_are_unique_and_scopes_are_known() -> None:
    assert len(set(COMMAND_NAMES)) == len(COMMAND_NAMES)
    assert {command.scope for command in keys.SHORTCUT_COMMANDS} <= set(keys.FOCUS_SCOPES)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        # the manual of Management Studio lists these keys in both schemes
        ("query.run", {"F5", "Ctrl+E", "Ctrl+Shift+E", "Alt+X"}),
        ("query.parse", {"Ctrl+F5"}),
        ("query.new", {"Ctrl+N"}),
        ("query.results", {"Ctrl+R"}),
        ("query.focus", {"F6"}),
        ("query.focus_back", {"Shift+F6"}),
        ("query.grid", {"Ctrl+D", "Ctrl+Shift+D"}),
        ("query.text", {"Ctrl+T"}),
        ("query.places", {"Ctrl+Shift+M"}),
        ("query.close", {"Ctrl+F4"}),
        ("editor.comment", {"Ctrl+K, Ctrl+C"}),
        ("table.copy_headers", {"Ctrl+Shift+C"}),
        ("query.next", {"Ctrl+F6", "Ctrl+Tab"}),
        ("query.before", {"Ctrl+Shift+F6", "Ctrl+Shift+Tab"}),
        ("explorer.refresh", {"F5"}),
        ("view.explorer", {"F8"}),
        ("view.full_screen", {"Alt+Shift+Return", "F11"}),
    ],
)
def test_keys_match_management_studio(name: str, wanted: set[str]) -> None:
    assert set(SSMS[name]) == wanted


@pytest.mark.parametrize(
    ("key", "meaning"),
    [
        ("Ctrl+M", "include the actual execution plan"),
        ("Ctrl+L", "show the estimated execution plan"),
        ("Ctrl+Shift+Backspace", "delete a word, with Shift still held"),
        ("Ctrl+I", "incremental search"),
        ("Ctrl+W", "select the word"),
        ("Ctrl+Shift+Q", "design the query"),
        ("Ctrl+2", "sp_lock"),
        ("Esc", "close a list"),
    ],
)
def test_sql_windows_reserve_the_keys_of_management_studio(key: str, meaning: str) -> None:
    outside = ("window", "desk", "rest", "query")
    other_names = [
        c.name
        for c in keys.SHORTCUT_COMMANDS
        if c.scope in outside and not c.is_fixed and key in SSMS[c.name]
    ]
    assert not other_names, meaning


def test_the_other_scheme_has_only_documented_differences() -> None:
    vs_code_keys = keys.resolve_keys(keys.VS_CODE_SCHEME)
    # The key executes in VS Code and parses in Management Studio.
    assert "Ctrl+F5" not in vs_code_keys["query.parse"]
    assert vs_code_keys["editor.comment"] == SSMS["editor.comment"]


@pytest.mark.parametrize("language_code", [language.ENGLISH, language.GERMAN])
def test_each_letter_of_the_query_menu_selects_one_entry(qtbot: Any, language_code: str) -> None:
    language.use_language(language_code)
    console, menu = QueryConsole(), QMenu()
    qtbot.addWidget(console)
    qtbot.addWidget(menu)
    tools = {f"query.{name}": tool for name, tool in console.tools.items()}
    fill_menu(menu, MENUS["&Query"], tools, {})
    language.use_language(language.ENGLISH)
    for submenu in (menu, *menu.findChildren(QMenu)):
        texts = [action.text() for action in submenu.actions() if "&" in action.text()]
        letters = [QKeySequence.mnemonic(text).toString() for text in texts]
        assert len(set(letters)) == len(letters), texts
    menu_actions = {
        action for submenu_part in (menu, *menu.findChildren(QMenu)) for action in submenu_part.actions()
    }
    assert set(tools.values()) <= menu_actions


def test_tools_of_the_sql_windows_have_the_keys_of_the_table(qtbot: Any) -> None:
    console = QueryConsole()
    qtbot.addWidget(console)
    for name, action in console.tools.items():
        key_texts = tuple(
            key.toString(QKeySequence.SequenceFormat.PortableText) for key in action.shortcuts()
        )
        assert key_texts == SSMS[f"query.{name}"]
    query = {name for name in COMMAND_NAMES if name.startswith("query.")}
    assert query == {f"query.{name}" for name in console.tools}


# --- keys as text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("ctrl+k,ctrl+c", "Ctrl+K, Ctrl+C"), ("alt+shift+return", "Alt+Shift+Return"), (" f5 ", "F5")],
)
def test_keys_are_written_uniformly(text: str, wanted: str) -> None:
    assert keys.normalize_keys(text) == wanted


@pytest.mark.parametrize("text", ["", "Ctrl+Nonsense", "Ctrl+"])
def test_invalid_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no key"):
        keys.normalize_keys(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("?", True), ("Shift+A", True), ("Space", True), ("Alt+A", False), ("F5", False)]
)
def test_typing_keys_are_recognized(text: str, expected: bool) -> None:
    assert keys.is_character_key(text) is expected


# --- clashes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first_scope", "second_scope", "expected"),
    [
        ("window", "editor", True),
        ("query", "editor", True),
        ("query", "explorer", False),
        ("editor", "table", False),
        ("ledger", "table", True),
        ("desk", "ledger", True),
        ("desk", "scenario", False),
        ("explorer", "explorer", True),
    ],
)
def test_scopes_overlap_where_the_focus_can_be_in_both(
    first_scope: str, second_scope: str, expected: bool
) -> None:
    assert (
        keys.is_scope_shared(first_scope, second_scope)
        is keys.is_scope_shared(second_scope, first_scope)
        is expected
    )


@pytest.mark.parametrize(
    ("name", "text", "conflicting_names"),
    [
        ("time.step", "F5", {"desk.run", "query.run", "explorer.refresh", "edit.try", "monitor.refresh"}),
        ("explorer.query", "Ctrl+E", set()),
        ("explorer.query", "F8", {"view.explorer"}),
        ("help.palette", "Ctrl+K", {"editor.comment", "editor.uncomment", "start.search"}),
        ("help.palette", "Ctrl+K, Ctrl+C, Ctrl+X", {"editor.comment", "start.search"}),
        ("help.palette", "Ctrl+K, Ctrl+S", {"start.search"}),
        ("ledger.revert", "Ctrl+C", {"table.copy"}),
    ],
)
def test_conflicting_commands_are_found(name: str, text: str, conflicting_names: set[str]) -> None:
    clashes = keys.list_conflicts_with(SSMS, name, text)
    assert {
        clash.first_command if clash.second_command == name else clash.second_command for clash in clashes
    } == conflicting_names


def test_a_clash_names_the_common_scope() -> None:
    (clash,) = keys.list_conflicts_with(SSMS, "drill.note", "Ctrl+T")
    assert (
        clash.description
        == "Ctrl+T is assigned to both “Add a note to the run” and “Results to text” in an SQL window."
    )


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("time.step", "Ctrl+Shift+F12", ""),
        ("time.step", "Ctrl+T", ""),  # The other command loses this key.
        ("time.step", "X", "text field"),
        ("ledger.revert", "X", ""),
        ("time.step", "Ctrl+K", "cannot be changed"),
        ("editor.copy", "F12", "handles these keys directly"),
    ],
)
def test_available_keys_are_determined(name: str, text: str, reason: str) -> None:
    explanation = keys.explain_conflict(SSMS, name, text)
    assert reason in explanation
    assert bool(explanation) is bool(reason)


def test_a_conflicting_command_loses_its_keys() -> None:
    new = keys.assign_key(SSMS, "time.step", "Ctrl+E")
    assert new["time.step"] == ("Ctrl+E",)
    assert new["query.run"] == ("F5", "Ctrl+Shift+E", "Alt+X")
    assert keys.list_key_conflicts(new) == []
    more_keys = keys.assign_key(new, "time.step", "f10", add=True)
    assert more_keys["time.step"] == ("Ctrl+E", "F10")
    assert keys.assign_key(more_keys, "time.step", "Ctrl+E, Ctrl+X", add=True)["time.step"] == (
        "F10",
        "Ctrl+E, Ctrl+X",
    )


# --- changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", keys.KEY_SCHEMES)
def test_changed_keys_are_stored(scheme: str) -> None:
    changed_keys = {**keys.resolve_keys(scheme), "time.step": ("Ctrl+Shift+F10",), "query.run": ()}
    text = keys.format_key_changes(keys.list_key_changes(scheme, changed_keys))
    assert keys.parse_key_changes(text) == {"time.step": ("Ctrl+Shift+F10",), "query.run": ()}
    assert keys.resolve_keys(scheme, keys.parse_key_changes(text)) == changed_keys


def test_unchanged_keys_store_an_empty_text() -> None:
    assert (
        keys.format_key_changes(keys.list_key_changes(keys.SSMS_SCHEME, SSMS))
        == ""
        == keys.format_key_changes(keys.parse_key_changes(""))
    )


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"no.such": ["F5"]}', '{"time.step": "F5"}', '{"time.step": ["Ctrl+Nonsense"]}', "null"],
)
def test_invalid_stored_keys_are_ignored(text: str) -> None:
    assert keys.resolve_keys(keys.SSMS_SCHEME, keys.parse_key_changes(text)) == SSMS


def test_fixed_keys_cannot_be_changed() -> None:
    assert keys.resolve_keys(keys.SSMS_SCHEME, {"editor.copy": ("F12",)}) == SSMS


# --- actions ------------------------------------------------------------------------------------------------


def test_actions_get_their_keys_and_scope(qtbot: Any) -> None:
    run, step = QAction(), QAction()
    keys.bind_shortcuts(
        {"query.run": run, "time.step": step}, keys.resolve_keys(keys.SSMS_SCHEME, {"time.step": ("F12",)})
    )
    assert [key.toString() for key in run.shortcuts()] == list(SSMS["query.run"])
    assert [key.toString() for key in step.shortcuts()] == ["F12"]
    assert run.shortcutContext() is Qt.ShortcutContext.WidgetWithChildrenShortcut
    assert step.shortcutContext() is Qt.ShortcutContext.WindowShortcut
    with pytest.raises(KeyError):
        keys.bind_shortcuts({"no.such": run}, SSMS)


def test_commands_without_an_action_are_reported() -> None:
    choosable = [name for name in COMMAND_NAMES if not keys.COMMANDS_BY_NAME[name].is_fixed]
    assert {command.name for command in keys.SHORTCUT_COMMANDS if not command.is_fixed} <= set(choosable)


def test_every_pair_of_scopes_is_classified() -> None:
    assert all(keys.is_scope_shared(keys.WINDOW_SCOPE, scope) for scope in keys.FOCUS_SCOPES)
    assert sum(
        keys.is_scope_shared(scope, other_scope)
        for scope, other_scope in product(keys.FOCUS_SCOPES, repeat=2)
    ) > len(keys.FOCUS_SCOPES)


def test_the_end_of_a_drill_has_one_name() -> None:
    name = next(command.text for command in keys.SHORTCUT_COMMANDS if command.name == "drill.finish")
    assert {CONFIRMATION_TEXTS["finish"].yes, CONFIRMATION_TEXTS["finish_free"].yes, name} == {"End drill"}
