"""Tests of the Qt binding itself, where a defect would crash the program."""

from __future__ import annotations

import sys

from PySide6.QtGui import QPen


def test_void_calls_do_not_change_the_reference_count_of_none() -> None:
    """PySide6 6.12.0 lost one reference per call. Before Python 3.12, this ends the process after some
    minutes.
    """
    pen = QPen()
    pen.setCosmetic(True)
    before = sys.getrefcount(None)
    for _ in range(1000):
        pen.setCosmetic(True)
    assert sys.getrefcount(None) > before - 500
