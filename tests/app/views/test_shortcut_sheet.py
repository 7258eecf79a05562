"""The sheet of keys: what it shows, finds and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtPrintSupport import QPrinter
from PySide6.QtWidgets import QPushButton

from app.views.shortcut_sheet import ABSENT, ShortcutSheet, search, sheet_html
from app.widgets import keys, theme

SSMS = keys.keys_of(keys.SSMS)


@pytest.fixture
def sheet(qtbot: Any) -> ShortcutSheet:
    made = ShortcutSheet()
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def text(sheet: ShortcutSheet) -> str:
    return sheet.sheet.toPlainText().replace("\u2060", "").replace("\u00a0", " ")


def test_every_command_stands_on_it_with_its_keys(sheet: ShortcutSheet) -> None:
    shown = text(sheet)
    for command in keys.COMMANDS:
        assert command.text in shown
        for key in SSMS[command.name]:
            assert all(keys.format_native(stroke) in shown for stroke in key.split(", "))


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("f10", "One step of 10 ms", "Faster"),
        ("ledger", "Undo the selected fault", "Execute"),
        ("ctrl+k", "Comment out", "Undo"),
        ("results grid", "Results to grid", "Results to text"),
    ],
)
def test_typing_searches_names_groups_and_keys(
    qtbot: Any, sheet: ShortcutSheet, query: str, there: str, not_there: str
) -> None:
    qtbot.keyClicks(sheet.field, query)
    assert there in text(sheet)
    assert not_there not in text(sheet)


def test_nothing_found_says_so(qtbot: Any, sheet: ShortcutSheet) -> None:
    qtbot.keyClicks(sheet.field, "zebra")
    assert "No matching commands or shortcuts." in text(sheet)


def test_chosen_keys_stand_on_it(sheet: ShortcutSheet) -> None:
    sheet.show_keys(keys.VS_CODE, keys.keys_of(keys.VS_CODE, {"time.step": ("Ctrl+Shift+F12",)}))
    assert "VS Code" in sheet.windowTitle()
    assert "Ctrl+Shift+F12" in text(sheet)


def test_escape_closes_it_and_the_button_asks_for_other_keys(qtbot: Any, sheet: ShortcutSheet) -> None:
    (change,) = [button for button in sheet.findChildren(QPushButton) if "hange" in button.text()]
    with qtbot.waitSignal(sheet.change_wanted):
        qtbot.mouseClick(change, Qt.MouseButton.LeftButton)
    qtbot.keyClick(sheet.field, Qt.Key.Key_Escape)
    assert sheet.isHidden()


def test_print(sheet: ShortcutSheet, tmp_path: Path) -> None:
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setOutputFormat(QPrinter.OutputFormat.PdfFormat)
    printer.setOutputFileName(str(tmp_path / "keys.pdf"))
    sheet.print_to(printer)
    assert (tmp_path / "keys.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_columns_hold_everything_once_and_in_order(columns: int) -> None:
    html = sheet_html(search("", SSMS), SSMS, theme.light(), columns)
    places = [html.index(f">{command.group}</b>") for command in keys.COMMANDS]
    assert places == sorted(places)
    assert html.count('style="padding-right:28px"') == columns


def test_a_key_that_works_elsewhere_than_its_group_says_where(sheet: ShortcutSheet) -> None:
    """F8 stands among keys that work anywhere."""
    lines = text(sheet).splitlines()
    assert any("Object Explorer" in line and "on the desk" in line for line in lines)
    assert not any("Topology" in line and "on the desk" in line for line in lines)


def test_keys_of_management_studio_that_do_nothing_are_told_and_are_nobody_elses(
    sheet: ShortcutSheet,
) -> None:
    taken = {key for names in SSMS.values() for key in names}
    assert "Management Studio shortcuts without a function here" in text(sheet)
    for key, why in ABSENT:
        assert key not in taken
        assert keys.format_native(key) in text(sheet)
        assert why in text(sheet)
