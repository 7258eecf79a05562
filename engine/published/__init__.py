"""The papers' figures as data, and the runs of the real engine that reproduce them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.published.rows import FigureRow


def fidelity_rows() -> list[FigureRow]:
    """Every published figure and statement beside ours. Loads the whole engine, so only when it is asked for."""
    from engine.published import fidelity

    return fidelity.fidelity_rows()
