"""Labels of losses, by the lost points."""

from __future__ import annotations

from typing import Final

BLUNDER: Final = 15.0
MISTAKE: Final = 10.0
INACCURACY: Final = 5.0
"""Minimum lost points [Lichess, Advice.scala: 0.3, 0.2 and 0.1 of -1 to 1, which are 15, 10 and 5 of 100 points]."""

SIZES: Final = ((BLUNDER, "blunder"), (MISTAKE, "mistake"), (INACCURACY, "inaccuracy"))
"""Minimum points and label, the largest first."""
