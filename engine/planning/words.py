"""Figures in sentences: sizes, times and rates with as many digits as a plan deserves."""

from __future__ import annotations

import math


def figure(value: float, digits: int = 3) -> str:
    """About *digits* significant digits without exponent: 0.0123, 1.23, 123, 1,234."""
    if not math.isfinite(value):
        return "endless"
    if value == 0.0:
        return "0"
    decimals = max(0, digits - 1 - int(f"{abs(value):e}".partition("e")[2]))
    text = f"{value:,.{min(decimals, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def size(kb: float) -> str:
    """KB, MB or GB of 1,024 each."""
    for unit in ("KB", "MB"):
        if abs(kb) < 999.5:
            return f"{figure(kb)} {unit}"
        kb /= 1024.0
    return f"{figure(kb)} GB"


def duration(seconds: float) -> str:
    """12 ms, 3.4 s, 5 min, 2.1 h or 3.2 days."""
    if not math.isfinite(seconds):
        return "for ever"
    if seconds < 0.9995:
        return f"{figure(1000.0 * seconds, 2)} ms"
    for length, unit, most in ((1.0, "s", 120.0), (60.0, "min", 120.0), (3600.0, "h", 48.0)):
        if seconds < length * most:
            return f"{figure(seconds / length, 2 if seconds < 10.0 * length else 3)} {unit}"
    return f"{figure(seconds / 86_400.0)} days"


def percent(share: float) -> str:
    """0.256 -> 26 %; 0.054 -> 5.4 %."""
    value = 100.0 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:.1f}".removesuffix(".0") + " %"
