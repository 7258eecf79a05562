"""A learner's reflection on a run, written before the points are shown."""

from msgspec import Struct


class Reflection(Struct, frozen=True):
    """Reflection in the learner's own words; each field may be empty."""

    happened: str
    """Description of what happened in the run."""
    otherwise: str
    """Changes that the learner would make next time."""
    expected_score: float | None
    """Score that the learner expects, 0 to 100; None if not stated."""
