"""Seeded random numbers. The state is one integer, so it can be forked, hashed and compared with the world."""

from __future__ import annotations

import math
from functools import cache

from msgspec import Struct

from engine.arithmetic import cos, exp, log

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15  # splitmix64 increment (Steele, Lea, Flood 2014)


class RandomStream(Struct):
    """A splitmix64 random stream. *state* is its complete state, so a copy continues identically."""

    state: int

    @classmethod
    def from_seed(cls, seed: int) -> RandomStream:
        """Return a generator for a seed of any size."""
        return cls(seed & _MASK)

    def fork(self) -> RandomStream:
        """Return a copy that continues identically and independently."""
        return RandomStream(self.state)

    def draw_bits(self) -> int:
        """Return the next 64 random bits."""
        self.state = (self.state + _GOLDEN) & _MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def draw_uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number in [low, high)."""
        return low + (high - low) * ((self.draw_bits() >> 11) / (1 << 53))

    def draw_integer(self, low: int, high: int) -> int:
        """Return a whole number in [low, high]."""
        return low + self.draw_bits() % (high - low + 1)

    def draw_normal(self) -> float:
        """Draw a standard normal number by Box-Muller."""
        u = 1.0 - self.draw_uniform()
        return math.sqrt(-2.0 * log(u)) * cos(2.0 * math.pi * self.draw_uniform())

    def draw_lognormal(self, mean: float, relative_sd: float) -> float:
        """Return a positive number with the given mean and relative standard deviation."""
        sigma, half_sigma2 = _compute_log_parameters(relative_sd)
        return mean * exp(sigma * self.draw_normal() - half_sigma2)

    def skip(self, count: int) -> None:
        """Skip *count* 64-bit numbers. A uniform number uses one of them, a normal or lognormal number two."""
        self.state = (self.state + count * _GOLDEN) & _MASK


@cache
def _compute_log_parameters(relative_sd: float) -> tuple[float, float]:
    """Return the parameters of a lognormal number's logarithm: standard deviation and half the variance."""
    sigma2 = log(1.0 + relative_sd * relative_sd)
    return math.sqrt(sigma2), sigma2 / 2.0
