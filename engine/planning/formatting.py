"""Sizes, times and rates in sentences, with as many digits as a plan needs."""

from __future__ import annotations

import math

from engine.localization import LocalizableMessage, format_quantity, say


def format_figure(value: float, digits: int = 3, unit: str = "") -> LocalizableMessage:
    """Format about *digits* significant digits without exponent: 0.0123, 1.23, 123, 1,234."""
    if not math.isfinite(value):
        return say("unlimited {unit}", unit=unit) if unit else say("unlimited")
    if value == 0.0:
        return format_quantity(0, "d", unit)
    decimals = max(0, digits - 1 - int(f"{abs(value):e}".partition("e")[2]))
    _, _, fraction = f"{value:.{min(decimals, 6)}f}".partition(".")
    return format_quantity(value, f",.{len(fraction.rstrip('0'))}f", unit)


def format_size(kb: float) -> LocalizableMessage:
    """Format KB, MB or GB of 1,024 each."""
    for unit in ("KB", "MB"):
        if abs(kb) < 999.5:
            return format_figure(kb, unit=unit)
        kb /= 1024.0
    return format_figure(kb, unit="GB")


def format_duration(seconds: float) -> LocalizableMessage:
    """Format 12 ms, 3.4 s, 5 min, 2.1 h or 3.2 days."""
    if not math.isfinite(seconds):
        return say("forever")
    if seconds < 0.9995:
        return format_figure(1000.0 * seconds, 2, "ms")
    for length, unit, most in ((1.0, "s", 120.0), (60.0, "min", 120.0), (3600.0, "h", 48.0)):
        if seconds < length * most:
            return format_figure(seconds / length, 2 if seconds < 10.0 * length else 3, unit)
    return say("{figure} days", figure=format_figure(seconds / 86_400.0))


def format_percent(share: float) -> LocalizableMessage:
    """Format 0.256 as 26%, 0.054 as 5.4%."""
    value = 100.0 * share
    whole = abs(value) >= 9.95 or f"{value:.1f}".endswith(".0")
    return format_quantity(value, ".0f" if whole else ".1f", "%")
