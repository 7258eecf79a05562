"""Tests that the window starts in every locale and ignores it, and that a damaged window.ini does not prevent
the start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.settings import THEME, WindowSettings
from tests.matrix import COMPILED_LOCALES

LOCALES = ("tr_TR", *(pytest.param(name, marks=pytest.mark.slow) for name in ("de_DE", "ja_JP", "C")))
"""Tested locales. Turkish converts I to a dotless small letter, which reveals careless case conversion."""

START_SCRIPT = """
import locale
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    raise SystemExit("not installed")
from PySide6.QtWidgets import QListWidget
from app import main_window
from engine.tsql.scalars.date_values import US_CULTURE
from engine.tsql.scalars.dates import evaluate_datename

class Shown(main_window.MainWindow):
    def run_waiting_requests(self):
        super().run_waiting_requests()
        drills = max(found.count() for found in self.picker.findChildren(QListWidget))
        print(self.isVisible(), drills > 50, locale.str(1.5), evaluate_datename(US_CULTURE, "month", "2005-10-22"))
        self.close()

main_window.MainWindow = Shown
raise SystemExit(main_window.open_window(None))
"""


@pytest.mark.parametrize("name", LOCALES)
def test_the_program_starts_in_every_locale(name: str, tmp_path: Path) -> None:
    """The test starts the real window."""
    surroundings = {
        **os.environ,
        "LC_ALL": f"{name}.UTF-8",
        "QT_QPA_PLATFORM": "offscreen",
        "MIRRORDRILL_PROFILE": str(tmp_path / "profile"),
    }
    if COMPILED_LOCALES.exists():
        surroundings["LOCPATH"] = str(COMPILED_LOCALES)
    process = subprocess.run(
        [sys.executable, "-c", START_SCRIPT],
        capture_output=True, text=True, cwd=Path(__file__).parents[2], env=surroundings, check=False,
    )  # fmt: skip
    if process.stderr == "not installed\n":
        pytest.skip(f"{name} is not installed")
    assert (process.stdout, process.returncode) == ("True True 1.5 October\n", 0), process.stderr


@pytest.mark.parametrize(
    "value",
    [
        r"@Variant(\0\0\0\x9\x7f\xff\xff\xff)",
        r'"@Variant(\0\0\0\x9\x7f\xff\xff\xff)"',
        r"\x40Variant(\0\0\0\x9\x7f\xff\xff\xff)",
        r"\x40V\x61riant(\0\0\0\x9\x7f\xff\xff\xff)",
        "\\\n@Variant(\\0\\0\\0\\x9\\x7f\\xff\\xff\\xff)",
        r"dark, @Variant(\0\0\0\x9\x7f\xff\xff\xff)",
        r"@DateTime(\0\0\0\x9\x7f\xff\xff\xff)",
    ],
)
def test_a_damaged_locale_value_is_ignored(
    value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    file = tmp_path / "window.ini"
    file.write_text(
        f"[General]\nother=kept\n[look]\ntheme={value}\n[window]\nlayout=@ByteArray(\\0\\x1\\xff)\n",
        encoding="utf-8",
    )
    assert WindowSettings().get(THEME) == THEME.default
    settings = QSettings(str(file), QSettings.Format.IniFormat)
    assert settings.value("other") == "kept"
    assert bytes(settings.value("window/layout").data()) == b"\0\x01\xff"


def test_a_valid_settings_file_is_unchanged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    WindowSettings().set(THEME, "dark")
    before = (tmp_path / "window.ini").read_bytes() if (tmp_path / "window.ini").exists() else b""
    assert WindowSettings().get(THEME) == "dark"
    assert before == b"" or (tmp_path / "window.ini").read_bytes() == before
