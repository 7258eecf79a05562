"""Tests of modules that load in the background: they load completely, and loading stops when the window
closes.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.main_window.start import BACKGROUND_MODULES, ModulePreloader


@pytest.fixture
def preload(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModulePreloader]:
    # The objects of other tests must stay collectable.
    monkeypatch.setattr("app.main_window.start.freeze_objects", lambda: None)
    preload = ModulePreloader()
    yield preload
    preload.stop_preloading()


def test_preloading_reports_no_error(preload: ModulePreloader, qtbot: QtBot) -> None:
    with qtbot.waitSignal(preload.preloading_finished, timeout=60_000):
        preload.start_preloading()
        assert preload.is_busy
    assert not preload.is_busy


def test_preloading_ends_with_the_window(preload: ModulePreloader) -> None:
    before = set(threading.enumerate())
    preload.start_preloading()
    preload.stop_preloading()
    assert not preload.is_busy
    assert set(threading.enumerate()) <= before


IMPORT_SCRIPT = """
import sys
from importlib import import_module
from app.main_window.start import BACKGROUND_MODULES
if sys.argv[1:]:
    for name in BACKGROUND_MODULES:
        import_module(name)
    from engine.flow import load_compiled_step
    load_compiled_step()
from app.files import scenario_files
from tests.shipped_scenarios import load_shipped_scenario
from engine import simulator
from engine.drill.running.drill import Drill
found = load_shipped_scenario("lab")
before = set(sys.modules)
drill = Drill(found)
for text in ("SELECT name FROM sys.databases", "EXEC sp_who", "ALTER DATABASE Sales SET PARTNER SUSPEND"):
    drill.apply_line("sql SERVER_A " + text)
drill.advance_to(100)
light = {"encodings.utf_16_le"}  # 0.2 ms
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before - light} | {"nothing"}))
print(*sorted(name for name in set(sys.modules) - before if name in BACKGROUND_MODULES))
"""


def test_the_first_drill_and_query_import_no_further_module() -> None:
    """BACKGROUND_MODULES is complete and minimal.

    After preloading, the first drill and query import no large module. Without preloading, they import
    exactly its modules.
    """
    processes = [
        subprocess.Popen([sys.executable, "-c", IMPORT_SCRIPT, *arguments], stdout=subprocess.PIPE, text=True)
        for arguments in ([], ["preload"])
    ]
    loaded = [[set(line.split()) for line in process.communicate()[0].splitlines()] for process in processes]
    assert loaded[0][1] == set(BACKGROUND_MODULES)
    assert {"sqlglot", "lark"} <= loaded[0][0]
    assert loaded[1] == [{"nothing"}, set()]
