"""The window starts in every locale of the system, and nothing follows it; a damaged window.ini does not stop it."""

from __future__ import annotations

import locale
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.settings import THEME, WindowSettings

LOCALES = ("de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8", "ar_EG.UTF-8", "C.UTF-8")

START = """
import locale
from PySide6.QtWidgets import QApplication
from PySide6.QtCore import QTimer
app = QApplication([])
from app.widgets.number_locale import plain_locale
plain_locale()
assert f"{locale.str(1.5)} {'%n' and locale.localeconv()['decimal_point']}" == "1.5 ."
timer = QTimer(interval=5)
from engine.tsql.date_values import US
from engine.tsql.dates import datename
assert datename(US, "month", "2005-10-22") == "October"
print("started", timer.interval())
"""


@pytest.mark.parametrize("name", LOCALES)
def test_starts_in(name: str) -> None:
    try:
        before = locale.setlocale(locale.LC_ALL)
        locale.setlocale(locale.LC_ALL, name)
        locale.setlocale(locale.LC_ALL, before)
    except locale.Error:
        pytest.skip(f"{name} is not installed")
    surroundings = {**os.environ, "LC_ALL": name, "LANG": name, "QT_QPA_PLATFORM": "offscreen"}
    root = Path(__file__).parents[2]
    told = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, cwd=root, env=surroundings, check=False
    )
    assert told.stdout == "started 5\n", told.stderr


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
def test_a_damaged_value_is_left_out(value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    file = tmp_path / "window.ini"
    file.write_text(
        f"[General]\nother=kept\n[look]\ntheme={value}\n[window]\nlayout=@ByteArray(\\0\\x1\\xff)\n",
        encoding="utf-8",
    )
    assert WindowSettings().get(THEME) == THEME.default
    kept = QSettings(str(file), QSettings.Format.IniFormat)
    assert kept.value("other") == "kept"
    assert bytes(kept.value("window/layout").data()) == b"\0\x01\xff"


def test_a_sound_file_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIRRORDRILL_PROFILE", str(tmp_path))
    WindowSettings().set(THEME, "dark")
    before = (tmp_path / "window.ini").read_bytes() if (tmp_path / "window.ini").exists() else b""
    assert WindowSettings().get(THEME) == "dark"
    assert before == b"" or (tmp_path / "window.ini").read_bytes() == before
