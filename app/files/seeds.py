"""Random seeds."""

from __future__ import annotations

import secrets
from typing import Final

SEED_MAX: Final = 999_999
"""Largest seed, short enough to be read out to another person."""


def any_seed() -> int:
    """Return a random seed."""
    return 1 + secrets.randbelow(SEED_MAX)
