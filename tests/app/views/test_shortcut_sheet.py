"""Tests of the shortcut sheet: contents, search and printing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QPushButton

from app.views.shortcut_sheet import MISSING_KEYS, ShortcutSheet, build_sheet_html, search_commands
from app.widgets import keys, theme

SSMS = keys.resolve_keys(keys.SSMS_SCHEME)


@pytest.fixture
def sheet(qtbot: Any) -> ShortcutSheet:
    sheet = ShortcutSheet()
    qtbot.addWidget(sheet)
    with qtbot.waitActive(sheet):
        sheet.show()
        sheet.activateWindow()
    return sheet


def get_text(sheet: ShortcutSheet) -> str:
    return sheet.sheet.toPlainText().replace("\u2060", "").replace("\u00a0", " ")


def test_every_command_is_listed_with_its_keys(sheet: ShortcutSheet) -> None:
    sheet_text = get_text(sheet)
    for command in keys.SHORTCUT_COMMANDS:
        assert command.text in sheet_text
        for key in SSMS[command.name]:
            assert all(keys.format_native_keys(stroke) in sheet_text for stroke in key.split(", "))


@pytest.mark.parametrize(
    ("query", "listed_text", "absent_text"),
    [
        ("f10", "Advance by 10 ms", "Faster"),
        ("ledger", "Undo the selected fault", "Execute"),
        ("ctrl+k", "Comment out", "Undo the last change"),
        ("results grid", "Results to grid", "Results to text"),
    ],
)
def test_typing_searches_names_groups_and_keys(
    qtbot: Any, sheet: ShortcutSheet, query: str, listed_text: str, absent_text: str
) -> None:
    qtbot.keyClicks(sheet.field, query)
    assert listed_text in get_text(sheet)
    assert absent_text not in get_text(sheet)


def test_no_match_is_reported(qtbot: Any, sheet: ShortcutSheet) -> None:
    qtbot.keyClicks(sheet.field, "zebra")
    assert "No matching commands or shortcuts." in get_text(sheet)


def test_custom_keys_are_listed(sheet: ShortcutSheet) -> None:
    sheet.show_keys(
        keys.VS_CODE_SCHEME, keys.resolve_keys(keys.VS_CODE_SCHEME, {"time.step": ("Ctrl+Shift+F12",)})
    )
    assert "VS Code" in sheet.windowTitle()
    assert "Ctrl+Shift+F12" in get_text(sheet)


def test_escape_closes_the_sheet_and_the_button_opens_the_key_editor(
    qtbot: Any, sheet: ShortcutSheet
) -> None:
    (change,) = [button for button in sheet.findChildren(QPushButton) if "hange" in button.text()]
    with qtbot.waitSignal(sheet.change_wanted):
        qtbot.mouseClick(change, Qt.MouseButton.LeftButton)
    qtbot.keyClick(sheet.field, Qt.Key.Key_Escape)
    assert sheet.isHidden()


def test_sheet_is_printed(sheet: ShortcutSheet, tmp_path: Path) -> None:
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "keys.pdf"))
    sheet.print_to(printer)
    assert (tmp_path / "keys.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_contain_everything_once_in_order(columns: int) -> None:
    html = build_sheet_html(search_commands("", SSMS), SSMS, theme.build_light_theme(), columns)
    places = [html.index(f">{command.group}</b>") for command in keys.SHORTCUT_COMMANDS]
    assert places == sorted(places)
    assert html.count('style="padding-right:28px"') == columns


def test_a_key_with_another_scope_names_it(sheet: ShortcutSheet) -> None:
    """F8 is listed among global keys and must name its own scope."""
    lines = get_text(sheet).splitlines()
    assert any("Object Explorer" in line and "during a run" in line for line in lines)
    assert not any("Topology" in line and "during a run" in line for line in lines)


def test_unused_keys_of_management_studio_are_listed_and_reserved(
    sheet: ShortcutSheet,
) -> None:
    used_keys = {key for names in SSMS.values() for key in names}
    assert "Management Studio shortcuts without a function in Mirrordrill" in get_text(sheet)
    for key, reason in MISSING_KEYS:
        assert key not in used_keys
        assert keys.format_native_keys(key) in get_text(sheet)
        assert reason in get_text(sheet)
