"""Published figures as data, and the runs of the engine that reproduce them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.published.rows import FigureRow


def fidelity_rows() -> list[FigureRow]:
    """Return every published figure and statement with our value.

    Loads the whole engine, so import it only on demand.
    """
    from engine.published import fidelity

    return fidelity.fidelity_rows()
