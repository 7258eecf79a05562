"""Figures 6 to 15 and table 7 of the 2005 white paper: encryption, round trips, bandwidth.

The figures are pictures without values, so the rows compare the statements of the text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from engine.flow import SafetyMode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.planning import NETWORKS
from engine.published.measure import Means, measured, queue_growth, setup_of
from engine.published.rows import FigureRow, number, statement

RTTS_MS: Final = (0.2, 2.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0)
"""Round trips of table 7: local to wide area network."""

MBPS: Final = (1000.0, 100.0, 10.0, 5.0, 1.0)
THIN_MBPS: Final = (1000.0, 100.0, 10.0, 1.0, 0.056)

LITTLE_KB_PER_S: Final = 1.0
"""Growth below which a queue counts as stable."""


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    return [*_encryption(), *_networks(), *_full_by_rtt(), *_off_by_rtt(), *_by_bandwidth()]


def _at_rtt(workload: Workload, mode: SafetyMode, rtt_ms: float) -> Means:
    return measured(setup_of(workload, mode, rtt_ms=rtt_ms), 60.0)


def _at_mbps(workload: Workload, mode: SafetyMode, mbps: float) -> Means:
    return measured(setup_of(workload, mode, bandwidth_mbps=mbps), 60.0)


def _list(values: list[float], places: int = 0) -> str:
    return " / ".join(f"{value:.{places}f}" for value in values)


def _encryption() -> list[FigureRow]:
    found = []
    for mode in (SafetyMode.OFF, SafetyMode.FULL):
        plain, secret = (measured(setup_of(WORKLOAD1, mode, encryption=on)) for on in (False, True))
        loss = 100 * (1 - secret.transactions_per_s / plain.transactions_per_s)
        longer_ms = 1000 * (secret.response_s - plain.response_s)
        found += [
            statement(f"F6.{mode.name}", -0.1 < loss < 1.0, f"{loss:.3f} % fewer transactions"),
            statement(f"F7.{mode.name}", -0.001 < longer_ms < 2.0, f"{longer_ms:.3f} ms longer"),
        ]
    return found


def _networks() -> list[FigureRow]:
    return [number(f"T7.{name}", longest_ms) for name, _, longest_ms in NETWORKS]


def _full_by_rtt() -> list[FigureRow]:
    w1 = {rtt: _at_rtt(WORKLOAD1, SafetyMode.FULL, rtt) for rtt in RTTS_MS}
    w2 = {rtt: _at_rtt(WORKLOAD2, SafetyMode.FULL, rtt) for rtt in RTTS_MS}
    tps = [m.transactions_per_s for m in w2.values()]
    cpu = [m.cpu_percent for m in w2.values()]
    loss_20 = 100 * (1 - w1[20.0].transactions_per_s / w1[0.2].transactions_per_s)
    longer_20_ms = 1000 * (w1[20.0].response_s - w1[0.2].response_s)
    far = [w1[rtt] for rtt in (50.0, 100.0, 200.0)]
    return [
        statement(
            "F8.below20",
            loss_20 < 2.0 and longer_20_ms < 30.0,
            f"at 20 ms {loss_20:.1f} % fewer transactions, {longer_20_ms:.0f} ms longer",
        ),
        statement(
            "F8.above20",
            far[2].transactions_per_s < 0.95 * w1[20.0].transactions_per_s
            and w1[20.0].response_s < far[0].response_s < far[1].response_s < far[2].response_s,
            f"50/100/200 ms: {_list([m.transactions_per_s for m in far])} per s, "
            f"{_list([m.response_s for m in far], 2)} s",
        ),
        statement(
            "F9.tps",
            all(later < earlier for earlier, later in pairwise(tps)),
            f"{_list(tps)} per s at {_list(list(RTTS_MS), 1)} ms",
        ),
        statement("F9.cpu", all(later < earlier for earlier, later in pairwise(cpu)), f"{_list(cpu, 1)} %"),
    ]


def _off_by_rtt() -> list[FigureRow]:
    w1 = {rtt: _at_rtt(WORKLOAD1, SafetyMode.OFF, rtt) for rtt in RTTS_MS}
    w2 = {rtt: _at_rtt(WORKLOAD2, SafetyMode.OFF, rtt) for rtt in RTTS_MS}
    base, far = w1[0.2], [w1[150.0], w1[200.0]]
    near = [w1[rtt].transactions_per_s for rtt in RTTS_MS if rtt <= 100.0]
    responses = [m.response_s for m in w1.values()]
    loss = 100 * (1 - min(m.transactions_per_s for m in far) / base.transactions_per_s)
    growth = {rtt: queue_growth(setup_of(WORKLOAD1, SafetyMode.OFF, rtt_ms=rtt))[1] for rtt in RTTS_MS}
    growth2 = {rtt: queue_growth(setup_of(WORKLOAD2, SafetyMode.OFF, rtt_ms=rtt))[1] for rtt in (0.2, 2.0)}
    w2_tps = [m.transactions_per_s for m in w2.values()]
    return [
        statement("F10.same", max(near) - min(near) < 0.005 * max(near), f"{_list(near, 1)} per s"),
        statement("F10.marginal", 0.0 <= round(loss, 2) < 2.0, f"{loss:.2f} % fewer transactions"),
        statement("F10.response", max(responses) - min(responses) < 0.005, f"{_list(responses, 3)} s"),
        statement(
            "F11.low",
            max(growth[rtt] for rtt in RTTS_MS if rtt <= 50.0) < LITTLE_KB_PER_S,
            f"grows {growth[50.0]:.1f} KB/s at 50 ms",
        ),
        statement(
            "F11.builds",
            LITTLE_KB_PER_S < growth[100.0] < growth[150.0] < growth[200.0],
            f"grows {_list([growth[r] for r in (100.0, 150.0, 200.0)])} KB/s at 100/150/200 ms",
        ),
        statement("F12.tps", max(w2_tps) - min(w2_tps) < 0.01 * max(w2_tps), f"{_list(w2_tps, 1)} per s"),
        statement(
            "F12.queue",
            growth2[0.2] < LITTLE_KB_PER_S < growth2[2.0],
            f"grows {growth2[0.2]:.0f} KB/s on the LAN, {growth2[2.0]:.0f} at 2 ms",
        ),
    ]


def _by_bandwidth() -> list[FigureRow]:
    full = {mbps: _at_mbps(WORKLOAD1, SafetyMode.FULL, mbps) for mbps in MBPS}
    off = {mbps: _at_mbps(WORKLOAD1, SafetyMode.OFF, mbps) for mbps in THIN_MBPS}
    good = [full[mbps] for mbps in (1000.0, 100.0, 10.0)]
    off_tps = [m.transactions_per_s for m in off.values()]
    rise_ms = 1000 * (off[0.056].response_s - off[1000.0].response_s)
    queue_kb, growth = queue_growth(setup_of(WORKLOAD1, SafetyMode.OFF, bandwidth_mbps=1.0), 3600.0)
    first_kb, first = queue_growth(setup_of(WORKLOAD1, SafetyMode.OFF, bandwidth_mbps=1.0), 600.0)
    log = measured(setup_of(WORKLOAD1, SafetyMode.NONE)).log_kb_per_s
    return [
        statement(
            "F13.good",
            min(m.transactions_per_s for m in good) > 0.98 * good[0].transactions_per_s
            and max(m.response_s for m in good) < 1.1 * good[0].response_s,
            f"1000/100/10 Mbps: {_list([m.transactions_per_s for m in good], 1)} per s, "
            f"{_list([m.response_s for m in good], 3)} s",
        ),
        statement(
            "F13.bad",
            full[1.0].transactions_per_s < 0.3 * good[0].transactions_per_s
            and full[5.0].transactions_per_s < 0.9 * good[0].transactions_per_s,
            f"5/1 Mbps: {full[5.0].transactions_per_s:.0f} / {full[1.0].transactions_per_s:.0f} per s, "
            f"{full[5.0].response_s:.1f} / {full[1.0].response_s:.1f} s",
        ),
        statement(
            "F14.tps", max(off_tps) - min(off_tps) < 0.005 * max(off_tps), f"{_list(off_tps, 1)} per s"
        ),
        statement(
            "F14.response", -0.1 < rise_ms < 10.0, f"{rise_ms:.2f} ms longer at 56 kbps than at 1 Gbps"
        ),
        statement(
            "F15.queue",
            queue_kb > 5 * first_kb and abs(growth / first - 1) < 0.05,
            f"{growth:.0f} KB/s, {queue_kb / 1024**2:.1f} GB after an hour",
        ),
        number("text.mbps", log * 8 / 1024),
    ]
