"""Rate limit for join codes. Each wrong code delays further attempts from its address."""

import hmac
from collections.abc import Callable
from typing import Final

BURST_ATTEMPTS: Final = 40
"""Number of wrong codes that an address may try without delay.

Assumed: enough for the typing errors of a class behind one router.
"""
ATTEMPTS_PER_S: Final = 2.0
"""Number of wrong codes per second that an address may try after the burst. Assumed."""
TRACKED_ADDRESSES_MAX: Final = 10_000
"""Maximum number of remembered addresses. Above it, addresses that no longer need to wait are forgotten."""


class RateLimiter:
    """Token bucket of wrong attempts for each address. The bucket refills over time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tries: dict[str, tuple[float, float]] = {}
        """Address -> remaining attempts, and the time at which they were counted."""

    def is_allowed(self, address: str) -> bool:
        """Return whether a code from *address* may be checked now."""
        return self._count_remaining_tries(address) >= 1.0

    def record_failure(self, address: str) -> None:
        """Record a wrong code."""
        if len(self._tries) >= TRACKED_ADDRESSES_MAX:
            self._tries = {
                address: tries
                for address, tries in self._tries.items()
                if self._count_remaining_tries(address) < BURST_ATTEMPTS
            }
        self._tries[address] = (self._count_remaining_tries(address) - 1.0, self._clock())

    def _count_remaining_tries(self, address: str) -> float:
        remaining_tries, start_s = self._tries.get(address, (float(BURST_ATTEMPTS), self._clock()))
        return min(float(BURST_ATTEMPTS), remaining_tries + (self._clock() - start_s) * ATTEMPTS_PER_S)


def is_same_secret(secret: str, candidate: str) -> bool:
    """Return whether two secrets are equal. The duration of the comparison reveals nothing."""
    return hmac.compare_digest(secret.encode(), candidate.encode())
