"""Seeded random numbers. The state of a stream is one integer, so it can be copied, hashed and compared."""

from __future__ import annotations

import math
from functools import cache

from msgspec import Struct

from engine.arithmetic import cos, exp, log

_MASK = (1 << 64) - 1
_GOLDEN_INCREMENT = 0x9E3779B97F4A7C15  # splitmix64 increment (Steele, Lea, Flood 2014)


class RandomStream(Struct):
    """Random stream by splitmix64. *state* is its complete state, so a copy draws the same numbers."""

    state: int

    @classmethod
    def from_seed(cls, seed: int) -> RandomStream:
        """Return a stream for a seed of any size."""
        return cls(seed & _MASK)

    def fork(self) -> RandomStream:
        """Return a copy that draws the same numbers, independently of this stream."""
        return RandomStream(self.state)

    def draw_bits(self) -> int:
        """Return the next 64 random bits as an integer."""
        self.state = (self.state + _GOLDEN_INCREMENT) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def draw_uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a uniformly distributed number from *low* (inclusive) to *high* (exclusive)."""
        return low + (high - low) * ((self.draw_bits() >> 11) / (1 << 53))

    def draw_integer(self, low: int, high: int) -> int:
        """Return a uniformly distributed integer from *low* to *high*, both inclusive."""
        return low + self.draw_bits() % (high - low + 1)

    def draw_normal(self) -> float:
        """Return a standard normal number, by the Box-Muller method."""
        u = 1.0 - self.draw_uniform()
        return math.sqrt(-2.0 * log(u)) * cos(2.0 * math.pi * self.draw_uniform())

    def draw_lognormal(self, mean: float, relative_sd: float) -> float:
        """Return a lognormal number with the given mean and relative standard deviation."""
        sigma, half_sigma2 = _compute_log_parameters(relative_sd)
        return mean * exp(sigma * self.draw_normal() - half_sigma2)

    def skip(self, count: int) -> None:
        """Skip *count* draws of 64 bits. A uniform number needs one draw, a normal or lognormal number two."""
        self.state = (self.state + count * _GOLDEN_INCREMENT) & _MASK


@cache
def _compute_log_parameters(relative_sd: float) -> tuple[float, float]:
    """Return (standard deviation, half the variance) of the logarithm of a lognormal number.

    *relative_sd*: standard deviation of the number itself, divided by its mean.
    """
    sigma2 = log(1.0 + relative_sd * relative_sd)
    return math.sqrt(sigma2), sigma2 / 2.0
