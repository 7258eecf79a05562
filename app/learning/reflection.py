"""Person's reflection on a run, made before the points are shown."""

from msgspec import Struct


class Reflection(Struct, frozen=True):
    """Reflection in the person's own words; each field may be empty."""

    happened: str
    otherwise: str
    """Changes that the person would make next time."""
    expected_score: float | None
    """Score that the person expects, 0 to 100."""
