"""Log compression (SQL Server 2008) in the SQLCAT guide: throughput and CPU by bandwidth, FULL and OFF."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from engine.flow import Pair, SafetyMode
from engine.flow.setup import wire_ratio
from engine.flow.sites import STOCK_EXCHANGE, UNISYS
from engine.published.measure import Means, measured, queue_growth, setup_of
from engine.published.rows import FigureRow, statement

MBPS: Final = (1000.0, 100.0, 50.0, 20.0, 10.0)
QUEUE_KB: Final = 2 * 1024.0 * 1024.0


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    return [*_synchronous(), *_asynchronous(), *_rule()]


def _case(mode: SafetyMode, mbps: float, ratio: float) -> Pair:
    return setup_of(STOCK_EXCHANGE, mode, UNISYS, version=2008, bandwidth_mbps=mbps, compression_ratio=ratio)


def _pair(mode: SafetyMode, mbps: float) -> tuple[Means, Means]:
    """Return the results without and with compression."""
    raw = measured(_case(mode, mbps, 1.0), 60.0)
    return raw, measured(_case(mode, mbps, STOCK_EXCHANGE.compression_ratio), 60.0)


def _synchronous() -> list[FigureRow]:
    found, gains, cpu, mirror_cpu = [], [], [], []
    for mbps in MBPS:
        raw, packed = _pair(SafetyMode.FULL, mbps)
        gains.append(100 * (packed.transactions_per_s / raw.transactions_per_s - 1))
        cpu.append(packed.cpu_percent / raw.cpu_percent)
        mirror_cpu.append(packed.mirror_cpu_percent / raw.mirror_cpu_percent)
        found.append(
            statement(
                f"COMP.sync.{mbps:g}",
                packed.transactions_per_s > raw.transactions_per_s,
                f"{raw.transactions_per_s:.0f} to {packed.transactions_per_s:.0f} per s",
            )
        )
    shown = " / ".join(f"{gain:+.0f}" for gain in gains)
    factors = [*cpu, *mirror_cpu]
    return [
        *found,
        statement(
            "COMP.gain",
            all(later >= earlier - 0.5 for earlier, later in pairwise(gains)),
            f"{shown} % at 1000 / 100 / 50 / 20 / 10 Mbps",
        ),
        statement(
            "COMP.cpu.up", min(factors) > 1.02, f"principal {_factors(cpu)}, mirror {_factors(mirror_cpu)}"
        ),
        statement("COMP.cpu.twice", 1.6 <= max(factors) <= 2.2, f"x{max(factors):.2f}"),
    ]


def _factors(values: list[float]) -> str:
    return " / ".join(f"x{value:.2f}" for value in values)


def _asynchronous() -> list[FigureRow]:
    raw_growth, packed_growth, changes, cpu, mirror_cpu = [], [], [], [], []
    for mbps in MBPS:
        raw, packed = _pair(SafetyMode.OFF, mbps)
        changes.append(abs(packed.transactions_per_s / raw.transactions_per_s - 1))
        cpu.append(packed.cpu_percent / raw.cpu_percent)
        mirror_cpu.append(packed.mirror_cpu_percent / raw.mirror_cpu_percent)
        raw_growth.append(queue_growth(_case(SafetyMode.OFF, mbps, 1.0))[1])
        packed_growth.append(queue_growth(_case(SafetyMode.OFF, mbps, STOCK_EXCHANGE.compression_ratio))[1])
    smaller = all(b <= a + 1.0 for a, b in zip(raw_growth, packed_growth, strict=True))
    drain = [_drain_s(ratio) for ratio in (1.0, STOCK_EXCHANGE.compression_ratio)]
    return [
        statement(
            "COMP.async.queue",
            smaller and packed_growth[2] < 0.1 * raw_growth[2],
            " / ".join(f"{a:.0f} to {b:.0f}" for a, b in zip(raw_growth, packed_growth, strict=True))
            + " KB/s",
        ),
        statement("COMP.async.tps", max(changes) < 0.01, f"at most {100 * max(changes):.2f} % apart"),
        statement(
            "COMP.async.cpu",
            min(cpu) > 1.0 and max(cpu) < 1.25 and min(mirror_cpu) > 1.0 and max(mirror_cpu) < 1.5,
            f"principal {_factors(cpu)}, mirror {_factors(mirror_cpu)}",
        ),
        statement("COMP.async.drain", drain[1] < 0.4 * drain[0], f"{drain[0]:.0f} to {drain[1]:.0f} s"),
    ]


def _drain_s(ratio: float) -> float:
    """Return the seconds in which an idle principal sends 2 GB of unsent log."""
    rate = measured(_case(SafetyMode.OFF, 10.0, ratio), 60.0).sent_kb_per_s
    return QUEUE_KB / rate


def _rule() -> list[FigureRow]:
    kept, used = wire_ratio(0.88, 2008), wire_ratio(0.87, 2008)
    off = wire_ratio(0.27, 2005)
    raw, tried = (measured(_case(SafetyMode.FULL, 1000.0, ratio), 60.0) for ratio in (1.0, 0.95))
    return [
        statement(
            "COMP.rule",
            kept == 1.0 and used == 0.87,
            f"12 % saved: {kept:g}, 13 % saved: {used:g} wire bytes a byte",
        ),
        statement(
            "COMP.rule.cpu",
            tried.cpu_percent > raw.cpu_percent + 0.5
            and abs(tried.mirror_cpu_percent / raw.mirror_cpu_percent - 1) < 0.01,
            f"principal {raw.cpu_percent:.1f} to {tried.cpu_percent:.1f} %, "
            f"mirror {raw.mirror_cpu_percent:.1f} to {tried.mirror_cpu_percent:.1f} %",
        ),
        statement("COMP.2005", off == 1.0, f"2005 sends {off:g} wire bytes a byte"),
    ]
