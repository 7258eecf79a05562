"""Tables 1 to 3 of the 2005 white paper: two workloads without mirroring, with safety OFF and FULL."""

from __future__ import annotations

from typing import Final

from engine.flow import SafetyMode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.published.measure import Means, measured, setup_of
from engine.published.rows import FigureRow, number, statement

WP: Final = "Database Mirroring Best Practices and Performance Considerations (2006)"

MODES: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)

MEASURES: Final = ("cpu", "writes", "log", "tps", "response")


def rows() -> list[FigureRow]:
    """Return the rows of this section."""
    return [*_table_1(), *_tables_2_and_3(), *_text()]


def _value(means: Means, measure: str, mirror: bool, workload: Workload) -> float:
    values = {
        "cpu": means.mirror_cpu_percent if mirror else means.cpu_percent,
        "writes": means.mirror_writes_kb_per_s if mirror else means.writes_kb_per_s,
        "log": means.sent_kb_per_s if mirror else means.log_kb_per_s,
        "tps": means.transactions_per_s,
        "response": means.response_s * workload.transactions_per_business_transaction,
    }
    return values[measure]


def _table_1() -> list[FigureRow]:
    found = []
    for workload in (WORKLOAD1, WORKLOAD2):
        means, name = measured(setup_of(workload, SafetyMode.NONE)), f"T1.{workload.name}"
        found += [
            number(f"{name}.connections", workload.connections),
            number(f"{name}.think", workload.think_s),
        ]
        found += [number(f"{name}.{key}", _value(means, key, False, workload)) for key in MEASURES[:4]]
    return found


def _tables_2_and_3() -> list[FigureRow]:
    return [
        number(
            f"T{table}.{key}.{mode.name}", _value(measured(setup_of(workload, mode)), key, mirror, workload)
        )
        for mirror, tables in ((False, ("2a", "3a")), (True, ("2b", "3b")))
        for table, workload in zip(tables, (WORKLOAD1, WORKLOAD2), strict=True)
        for key in (MEASURES[:3] if mirror else MEASURES)
        for mode in (MODES[1:] if mirror else MODES)
    ]


def _text() -> list[FigureRow]:
    """Return rows for statements of the text about these tables."""
    w1 = {mode: measured(setup_of(WORKLOAD1, mode)) for mode in MODES}
    w2 = {mode: measured(setup_of(WORKLOAD2, mode)) for mode in MODES}
    loss = {
        mode: 100 * (1 - w2[mode].transactions_per_s / w2[SafetyMode.NONE].transactions_per_s) for mode in w2
    }
    slower = {mode: w2[mode].response_s - w2[SafetyMode.NONE].response_s for mode in w2}
    factor = WORKLOAD2.transactions_per_business_transaction
    w1_loss = 100 * (1 - w1[SafetyMode.FULL].transactions_per_s / w1[SafetyMode.NONE].transactions_per_s)
    return [
        statement(
            "text.OFF.W1",
            abs(w1[SafetyMode.OFF].transactions_per_s / w1[SafetyMode.NONE].transactions_per_s - 1) < 0.005
            and abs(w1[SafetyMode.OFF].response_s - w1[SafetyMode.NONE].response_s) < 0.005,
            f"{w1[SafetyMode.OFF].transactions_per_s:.1f} against {w1[SafetyMode.NONE].transactions_per_s:.1f} per s, "
            f"{w1[SafetyMode.OFF].response_s:.4f} against {w1[SafetyMode.NONE].response_s:.4f} s",
        ),
        statement("text.FULL.W1", 0 < w1_loss < 3, f"{w1_loss:.1f} % fewer transactions"),
        statement("text.OFF.W2", abs(loss[SafetyMode.OFF] - 2.0) <= 0.5, f"{loss[SafetyMode.OFF]:.1f} %"),
        number("text.FULL.W2.loss", loss[SafetyMode.FULL]),
        number("text.FULL.W2.response", slower[SafetyMode.FULL] * factor),
        statement(
            "text.mirror.writes",
            w1[SafetyMode.FULL].mirror_writes_kb_per_s > 3 * w1[SafetyMode.FULL].writes_kb_per_s
            and w2[SafetyMode.FULL].mirror_writes_kb_per_s > 3 * w2[SafetyMode.FULL].writes_kb_per_s,
            f"{w1[SafetyMode.FULL].mirror_writes_kb_per_s:.0f} against {w1[SafetyMode.FULL].writes_kb_per_s:.0f} KB/s",
        ),
        statement(
            "text.connections",
            w1_loss < loss[SafetyMode.FULL],
            f"{w1_loss:.1f} % with 1,000 connections, {loss[SafetyMode.FULL]:.1f} % with 20",
        ),
    ]
