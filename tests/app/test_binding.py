"""The Qt binding itself, where a fault of it would end the program."""

from __future__ import annotations

import sys

from PySide6.QtGui import QPen


def test_calls_that_return_nothing_cost_no_reference_to_none() -> None:
    """PySide6 6.12.0 dropped one in every call; before Python 3.12 that ends the process after some minutes."""
    pen = QPen()
    pen.setCosmetic(True)
    before = sys.getrefcount(None)
    for _ in range(1000):
        pen.setCosmetic(True)
    assert sys.getrefcount(None) > before - 500
