"""Tables 1 to 3 of the 2005 white paper: two workloads without mirroring, with safety OFF and FULL."""

from __future__ import annotations

from typing import Final

from engine.flow import SafetyMode, Workload
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.published.measure import Means, measured, setup_of
from engine.published.rows import FigureClass, FigureRow, build_number_row, number, statement

WP: Final = "Database Mirroring Best Practices and Performance Considerations (2006)"

C, S, P, I = FigureClass.CALIBRATED, FigureClass.SHARED, FigureClass.PREDICTED, FigureClass.INPUT  # noqa: E741

COLUMNS: Final = {
    SafetyMode.NONE: "no mirroring",
    SafetyMode.OFF: "safety OFF",
    SafetyMode.FULL: "safety FULL",
}

Cell = tuple[float, FigureClass] | None

MEASURES: Final = {
    "cpu": ("% CPU", "%"),
    "writes": ("data disk write rate", "KB/s"),
    "log": ("log disk write rate", "KB/s"),
    "tps": ("transactions / sec", "1/s"),
    "response": ("transaction response time", "s"),
}

PRINCIPAL: Final[dict[str, dict[str, tuple[Cell, Cell, Cell]]]] = {
    # table: measure: none, OFF, FULL, each with its class in the model
    "2a": {
        "cpu": ((4.0, C), (6.0, S), (6.4, S)),
        "writes": ((4500, C), (4500, P), (4500, P)),
        "log": ((720, C), (720, P), (709, P)),
        "tps": ((241, C), (241, P), (238, P)),
        "response": ((0.13, C), (0.13, P), (0.19, P)),
    },
    "3a": {
        "cpu": ((39.6, C), (47.4, S), (37.7, S)),
        "writes": ((1500, C), (1175, P), (1217, P)),
        "log": ((12000, S), (11850, S), (8720, S)),
        "tps": ((215, C), (211, C), (158, C)),
        "response": ((6.4, S), (6.7, S), (8.8, S)),
    },
}

MIRROR: Final[dict[str, dict[str, tuple[Cell, Cell, Cell]]]] = {
    "2b": {
        "cpu": (None, (3.9, S), (4.0, S)),
        "writes": (None, (19640, C), (19300, P)),
        "log": (None, (720, P), (709, P)),
    },
    "3b": {
        "cpu": (None, (13.6, S), (10.841, S)),
        "writes": (None, (37143, C), (30036, C)),
        "log": (None, (11856, S), (8727, S)),
    },
}

WORKLOAD_OF: Final = {"2a": WORKLOAD1, "2b": WORKLOAD1, "3a": WORKLOAD2, "3b": WORKLOAD2}

PROFILE: Final = {
    # table 1: characteristic: unit, Workload1, Workload2, class
    "connections": ("", 1000, 20, I),
    "think": ("s", 4, 0, I),
    "cpu": ("%", 4, 40, S),
    "writes": ("KB/s", 4500, 1500, C),
    "log": ("KB/s", 720, 12000, S),
    "tps": ("1/s", 241, 215, C),
}


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
    for number_, workload in enumerate((WORKLOAD1, WORKLOAD2)):
        means = measured(setup_of(workload, SafetyMode.NONE))
        ours = {"connections": workload.connections, "think": workload.think_s}
        for name, (unit, *published, kind) in PROFILE.items():
            value = ours.get(name) if name in ours else _value(means, name, False, workload)
            assert value is not None
            what = f"{workload.name}: {name}"
            source = f"{WP}, table 1"
            found.append(
                build_number_row(
                    f"T1.{workload.name}.{name}",
                    source,
                    what,
                    unit,
                    published[number_],
                    value,
                    kind,
                    cpu=name == "cpu",
                )
            )
    return found


def _tables_2_and_3() -> list[FigureRow]:
    found = []
    for mirror, tables in ((False, PRINCIPAL), (True, MIRROR)):
        for table, measures in tables.items():
            workload = WORKLOAD_OF[table]
            for measure, cells in measures.items():
                for mode, cell in zip(COLUMNS, cells, strict=True):
                    if cell is None:
                        continue
                    published, kind = cell
                    name, unit = MEASURES[measure]
                    ours = _value(measured(setup_of(workload, mode)), measure, mirror, workload)
                    where = "mirror" if mirror else "principal"
                    what = f"{workload.name}, {COLUMNS[mode]}, {where}: {name}"
                    id = f"T{table}.{measure}.{mode.name}"
                    source = f"{WP}, table {table}"
                    found.append(
                        build_number_row(id, source, what, unit, published, ours, kind, cpu=measure == "cpu")
                    )
    return found


def _text() -> list[FigureRow]:
    """Return rows for statements of the text about these tables."""
    w1 = {mode: measured(setup_of(WORKLOAD1, mode)) for mode in COLUMNS}
    w2 = {mode: measured(setup_of(WORKLOAD2, mode)) for mode in COLUMNS}
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
