"""What is loaded beside the idle window is there, and ends with it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QProcess
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.main_window.preload import LATER, Ahead


@pytest.fixture
def ahead(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ahead]:
    monkeypatch.setattr(
        "app.main_window.preload.settle", lambda: None
    )  # the tests' own objects shall go again
    ahead = Ahead()
    yield ahead
    ahead.end()


def test_compiles_and_loads_without_a_fault(ahead: Ahead, qtbot: QtBot) -> None:
    ahead.begin()
    assert ahead.busy
    with qtbot.waitSignal(ahead.compiler.finished, timeout=120_000):
        pass
    assert ahead.compiler.exitCode() == 0
    qtbot.waitUntil(lambda: not ahead.busy, timeout=60_000)


def test_does_not_outlive_the_window(ahead: Ahead) -> None:
    ahead.begin()
    ahead.end()
    assert ahead.compiler.state() is QProcess.ProcessState.NotRunning
    assert not ahead.busy
    assert not any(thread.is_alive() for thread in ahead._threads)


FIRST_BATCHES = """
import sys
from importlib import import_module
from app.main_window.preload import LATER
if sys.argv[1:]:
    for name in LATER:
        import_module(name)
    from engine.flow import warm_up
    warm_up()
from app.files import scenario_files
from engine import simulator
from engine.drill.running.drill import Drill
found = scenario_files.find("lab").load()
before = set(sys.modules)
drill = Drill(found)
for text in ("SELECT name FROM sys.databases", "EXEC sp_who", "ALTER DATABASE Sales SET PARTNER SUSPEND"):
    drill.do("sql SERVER_A " + text)
drill.advance_to(100)
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} | {"nothing"}))
print(*sorted(name for name in set(sys.modules) - before if name in LATER))
"""


def test_the_first_drill_and_query_load_nothing_more() -> None:
    """The list is whole: without it they load exactly what is on it, with it nothing of weight."""
    both = [
        subprocess.Popen([sys.executable, "-c", FIRST_BATCHES, *arguments], stdout=subprocess.PIPE, text=True)
        for arguments in ([], ["ahead"])
    ]
    loaded = [[set(line.split()) for line in each.communicate()[0].splitlines()] for each in both]
    assert loaded[0][1] == set(LATER)
    assert {"sqlglot", "llvmlite"} <= loaded[0][0]
    assert loaded[1] == [{"nothing"}, set()]
