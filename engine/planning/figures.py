"""Curves that our model computes for figures of the Microsoft papers, with measured points from the papers.

The figures in the papers are pictures without numbers. The points are values from the papers' tables or
texts.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from engine import arithmetic
from engine.constants import TICKS_PER_S
from engine.flow import (
    Flow,
    FlowStopCondition,
    Operation,
    SafetyMode,
    Samples,
    Workload,
    add_mirroring_setup,
    run_flow,
    warm_start,
)
from engine.flow.setup import build_bulk_load, build_index_operation
from engine.flow.sites import STOCK_EXCHANGE, UNISYS, WORKLOAD1, WORKLOAD2
from engine.localization import LocalizableMessage, build_message
from engine.planning.plan import MirroringPlan, build_plan_setup
from engine.planning.steady_state import compute_steady_states
from engine.planning.sweep import Sweep, sweep_values
from engine.tables import read_table

WP: Final = "Database Mirroring Best Practices and Performance Considerations"
COMPRESSION: Final = "SQLCAT guide, log compression"

RTT_MS: Final = arithmetic.build_geometric_progression(0.2, 200.0, 31)
MBPS: Final = arithmetic.build_geometric_progression(1.0, 1000.0, 31)
LOW_MBPS: Final = arithmetic.build_geometric_progression(0.056, 1000.0, 37)
COMPRESSION_MBPS: Final = arithmetic.build_geometric_progression(10.0, 1000.0, 25)

QUEUE_FIGURE_LENGTH_S: Final = 1800.0
"""Time over which figures 11 and 15 show a send queue."""

SAMPLE_S: Final = 5.0
OPERATION_S_MAX: Final = 100 * 3600.0
"""Maximum simulated duration of an operation. A longer one indicates a defect."""

Values = tuple[float, ...]


class FigureLine(Struct, frozen=True):
    """Curve or, if *points* is True, single points. *measured* is True for values from a paper."""

    name: str
    x: Values
    y: Values
    has_points: bool = False
    is_measured: bool = False
    spread: tuple[tuple[float, float], ...] = ()  # 5% and 95% percentiles of many runs, for each point
    labels: tuple[str, ...] = ()  # tooltip of each point


class FigurePanel(Struct, frozen=True):
    """Lines with a common vertical scale."""

    title: str
    unit: str
    lines: tuple[FigureLine, ...]
    logarithmic: bool = False


class Figure(Struct, frozen=True):
    """Figure of one or more panels with a common horizontal axis."""

    title: str
    source: str
    conclusion: str  # conclusion in the paper
    x_title: str
    panels: tuple[FigurePanel, ...]
    logarithmic_x: bool = True
    categories: tuple[str, ...] = ()  # names of the positions 0, 1, 2 … on an axis without numbers


TITLES: Final = {
    "transactions_per_s": ("Transactions", "/s"),
    "response_s": ("Response time", "s"),
    "principal_cpu_percent": ("Principal CPU", "%"),
    "mirror_cpu_percent": ("Mirror CPU", "%"),
    "send_queue_growth_kb_per_s": ("Send queue growth", "KB/s"),
}
SAFETY_NAMES: Final = {
    SafetyMode.NONE: "no mirroring",
    SafetyMode.OFF: "safety OFF",
    SafetyMode.FULL: "safety FULL",
}
SAFETY_MODES: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)


# --- figures 8 to 15: the network ---------------------------------------------------------------------------


_CAPTIONS: Final = {row["figure"]: row for row in read_table("engine.planning", "captions.tsv")}


def _find_caption_texts(number: str) -> tuple[str, str, str]:
    """Return the title, the source and the caption of a figure."""
    row = _CAPTIONS[number]
    return f"{number}: {row['title']}", WP, row["caption"]


def _build_network_figure(
    number: str,
    plan: MirroringPlan,
    axis: str,
    values: Sequence[float],
    columns: Sequence[str],
    logarithmic: Sequence[str] = (),
) -> Figure:
    ours = sweep_values(plan, axis, values)
    unmirrored = sweep_values(plan, axis, values, SafetyMode.NONE)
    panels = []
    for column in columns:
        lines = [_build_line(SAFETY_NAMES[plan.safety], ours, column)]
        if column != "send_queue_growth_kb_per_s":
            lines.append(_build_line(SAFETY_NAMES[SafetyMode.NONE], unmirrored, column))
        lines += [
            FigureLine(
                f"measured, {point.source}",
                (getattr(plan, axis),),
                (point.value,),
                has_points=True,
                is_measured=True,
            )
            for point in find_measured_points(plan.workload, plan.safety, column)
        ]
        panels.append(FigurePanel(*TITLES[column], tuple(lines), column in logarithmic))
    x_title = "Round trip, ms" if axis == "rtt_ms" else "Bandwidth, Mbps"
    return Figure(*_find_caption_texts(number), x_title, tuple(panels))


def _build_line(name: str, sweep_result: Sweep, column: str) -> FigureLine:
    return FigureLine(name, sweep_result.x, tuple(sweep_result.read_column(column).tolist()))


def _build_queue_figure(number: str, plan: MirroringPlan) -> Figure:
    """Draw the send queue over time. The session is synchronized at the start."""
    flow = Flow.create_empty()
    add_mirroring_setup(flow, build_plan_setup(plan))
    warm_start(flow, 0)
    samples = Samples(every=round(SAMPLE_S * TICKS_PER_S))
    run_flow(flow, round(QUEUE_FIGURE_LENGTH_S * TICKS_PER_S), samples)
    x, queue = _read_counter_over_time(samples, "send_queue_kb")
    panel = FigurePanel("Send queue", "KB", (FigureLine(SAFETY_NAMES[plan.safety], x, queue),))
    return Figure(*_find_caption_texts(number), "Time, min", (panel,), logarithmic_x=False)


def _read_counter_over_time(samples: Samples, counter: str) -> tuple[Values, Values]:
    """Return the minutes since the first tick and the values of *counter*."""
    values = samples.read_column(0, counter)
    return tuple((samples.ticks / TICKS_PER_S / 60.0).tolist()), tuple(values.tolist())


def _build_encryption_figure(number: str, column: str) -> Figure:
    """Draw Workload1 with and without encryption of the endpoints."""
    modes = (SafetyMode.OFF, SafetyMode.FULL)
    setups = [
        build_plan_setup(MirroringPlan(encryption=is_encrypted), mode)
        for mode in modes
        for is_encrypted in (False, True)
    ]
    values = [getattr(steady_state, column) for steady_state in compute_steady_states(tuple(setups))]
    lines = tuple(
        FigureLine(SAFETY_NAMES[mode], (0.0, 1.0), tuple(values[2 * index : 2 * index + 2]), has_points=True)
        for index, mode in enumerate(modes)
    )
    title, unit = TITLES[column]
    return Figure(
        f"{number}: endpoint encryption, {title.lower()}, Workload1",
        WP,
        "Marginal impact.",
        "",
        (FigurePanel(title, unit, lines),),
        logarithmic_x=False,
        categories=("not encrypted", "encrypted"),
    )


# --- figures 1 to 4: long operations ------------------------------------------------------------------------


def _run_operation(
    operation: Operation, mode: SafetyMode, samples: Samples | None = None
) -> tuple[Flow, float]:
    """Simulate *operation* in a database without clients. Return the flow and the duration in seconds."""
    flow = Flow.create_empty()
    workload = replace(
        WORKLOAD1, connections=0.0
    )  # no clients, but the workload's pages still determine the redo rate
    add_mirroring_setup(
        flow, build_plan_setup(MirroringPlan(workload=workload), mode).with_changes(operation=operation)
    )
    flow.watch_source(0, FlowStopCondition.OPERATION_DONE)
    took_s = _run_until_threshold(flow, samples)
    flow.watch_source(0, FlowStopCondition(0))
    return flow, took_s


def _run_until_threshold(flow: Flow, samples: Samples | None = None) -> float:
    """Run *flow* until one of its stop conditions is met. Return the duration in seconds.

    The caller sets the stop conditions first.
    """
    ticks, sources, streams = run_flow(flow, round(OPERATION_S_MAX * TICKS_PER_S), samples)
    assert sources or streams, f"the crossing did not come about within {OPERATION_S_MAX:g} s"
    return ticks / TICKS_PER_S


def _build_index_figure(number: str, online: Sequence[bool]) -> Figure:
    kinds = [(clustered, is_online) for clustered in (True, False) for is_online in online]
    names = tuple(
        f"{'clustered' if clustered else 'nonclustered'}{_format_online(is_online, online)}"
        for clustered, is_online in kinds
    )
    x = tuple(float(index) for index in range(len(kinds)))
    lines = []
    for mode in SAFETY_MODES:
        minutes = [_run_operation(build_index_operation(1.0, *kind), mode)[1] / 60.0 for kind in kinds]
        lines.append(FigureLine(SAFETY_NAMES[mode], x, tuple(minutes), has_points=True))
    panel = FigurePanel("Time", "min", tuple(lines))
    return Figure(*_find_caption_texts(number), "Index", (panel,), logarithmic_x=False, categories=names)


def _format_online(is_online: bool, variants: Sequence[bool]) -> str:
    return "" if len(variants) < 2 else ", ONLINE" if is_online else ", OFFLINE"


def _build_rebuild_figure() -> Figure:
    samples = Samples(every=round(SAMPLE_S * TICKS_PER_S))
    flow, took_s = _run_operation(build_index_operation(1.0, True, True), SafetyMode.OFF, samples)
    for crossing in (FlowStopCondition.SEND_DONE, FlowStopCondition.REDO_DONE):
        flow.watch_stream(0, crossing)
        _run_until_threshold(flow, samples)
    lines = []
    for name, counter in (("send queue", "send_queue_kb"), ("redo queue", "redo_queue_kb")):
        lines.append(FigureLine(name, *_read_counter_over_time(samples, counter)))
    drained = ((took_s + 220.0) / 60.0,)
    lines.append(
        FigureLine(
            "send queue empty, 3:40 after the rebuild", drained, (0.0,), has_points=True, is_measured=True
        )
    )
    return Figure(
        "Figure 3: send and redo queue of an ONLINE rebuild, safety OFF",
        WP,
        "Send queue and redo queue grow during the whole operation; the redo queue takes much longer to drain.",
        "Time, min",
        (FigurePanel("Queues", "KB", tuple(lines)),),
        logarithmic_x=False,
    )


def _build_bulk_insert_figure() -> Figure:
    batches = (100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0)
    lines = []
    for mode in SAFETY_MODES:
        hours = [_run_operation(build_bulk_load(93e6, batch), mode)[1] / 3600.0 for batch in batches]
        lines.append(FigureLine(SAFETY_NAMES[mode], batches, tuple(hours)))
    return Figure(
        "Figure 4: bulk insert of 93 million rows",
        WP,
        "A bulk insert takes longer with smaller batches; safety FULL costs most at 100 rows per batch.",
        "Rows per batch",
        (FigurePanel("Time", "h", tuple(lines), logarithmic=True),),
    )


# --- compression --------------------------------------------------------------------------------------------


def _build_compression_figure(safety: SafetyMode, columns: Sequence[str], caption: str) -> Figure:
    plan = MirroringPlan(workload=STOCK_EXCHANGE, site=UNISYS, safety=safety, version=2008)
    raw = sweep_values(plan, "bandwidth_mbps", COMPRESSION_MBPS)
    packed = sweep_values(
        plan.with_changes(compression_ratio=STOCK_EXCHANGE.compression_ratio),
        "bandwidth_mbps",
        COMPRESSION_MBPS,
    )
    panels = tuple(
        FigurePanel(
            *TITLES[column],
            (_build_line("compressed", packed, column), _build_line("not compressed", raw, column)),
        )
        for column in columns
    )
    return Figure(f"Log compression, {SAFETY_NAMES[safety]}", COMPRESSION, caption, "Bandwidth, Mbps", panels)


# --- all figures --------------------------------------------------------------------------------------------

LOAD_COLUMNS: Final = ("transactions_per_s", "response_s")
FIGURE_BUILDERS: Final[dict[str, Callable[[], Figure]]] = {
    "Figure 1": partial(_build_index_figure, "Figure 1", (False,)),
    "Figure 2": partial(_build_index_figure, "Figure 2", (True, False)),
    "Figure 3": _build_rebuild_figure,
    "Figure 4": _build_bulk_insert_figure,
    "Figure 6": partial(_build_encryption_figure, "Figure 6", "transactions_per_s"),
    "Figure 7": partial(_build_encryption_figure, "Figure 7", "response_s"),
    "Figure 8": partial(
        _build_network_figure, "Figure 8", MirroringPlan(), "rtt_ms", RTT_MS, LOAD_COLUMNS, ("response_s",)
    ),
    "Figure 9": partial(
        _build_network_figure,
        "Figure 9",
        MirroringPlan(workload=WORKLOAD2),
        "rtt_ms",
        RTT_MS,
        (*LOAD_COLUMNS, "principal_cpu_percent"),
        ("response_s",),
    ),
    "Figure 10": partial(
        _build_network_figure,
        "Figure 10",
        MirroringPlan(safety=SafetyMode.OFF),
        "rtt_ms",
        RTT_MS,
        (*LOAD_COLUMNS, "send_queue_growth_kb_per_s"),
    ),
    "Figure 11": partial(
        _build_queue_figure, "Figure 11", MirroringPlan(safety=SafetyMode.OFF, rtt_ms=100.0)
    ),
    "Figure 12": partial(
        _build_network_figure,
        "Figure 12",
        MirroringPlan(workload=WORKLOAD2, safety=SafetyMode.OFF),
        "rtt_ms",
        RTT_MS,
        (*LOAD_COLUMNS, "send_queue_growth_kb_per_s"),
    ),
    "Figure 13": partial(
        _build_network_figure,
        "Figure 13",
        MirroringPlan(),
        "bandwidth_mbps",
        MBPS,
        LOAD_COLUMNS,
        ("response_s",),
    ),
    "Figure 14": partial(
        _build_network_figure,
        "Figure 14",
        MirroringPlan(safety=SafetyMode.OFF),
        "bandwidth_mbps",
        LOW_MBPS,
        (*LOAD_COLUMNS, "send_queue_growth_kb_per_s"),
    ),
    "Figure 15": partial(
        _build_queue_figure, "Figure 15", MirroringPlan(safety=SafetyMode.OFF, bandwidth_mbps=1.0)
    ),
    "Compression, FULL": partial(
        _build_compression_figure,
        SafetyMode.FULL,
        ("transactions_per_s", "principal_cpu_percent", "mirror_cpu_percent"),
        "Compression raises throughput at every bandwidth, most at low bandwidth. It can double the CPU usage.",
    ),
    "Compression, OFF": partial(
        _build_compression_figure,
        SafetyMode.OFF,
        ("transactions_per_s", "send_queue_growth_kb_per_s", "principal_cpu_percent"),
        "Compression leaves throughput unchanged, shortens the send queue and needs slightly more CPU.",
    ),
}
"""Number of a figure -> function that computes it, in well under a second."""


# --- statements of the 2005 white paper about its network figures, as points on a sweep -------------------


class PaperStatement(Struct, frozen=True):
    """Statement of a paper about one workload and safety level, with its position on the axis."""

    figure: str
    workload: str  # name of the workload
    safety: SafetyMode
    axis: str  # name of a field of MirroringPlan
    axis_value: float
    text: LocalizableMessage


PAPER_STATEMENTS: Final = tuple(
    PaperStatement(figure, workload, SafetyMode[safety], axis, float(at), build_message(text))
    for figure, workload, safety, axis, at, text in (
        row.values() for row in read_table("engine.planning", "statements.tsv")
    )
)
"""Statements in [WP] about the network.

Apart from these, the paper has measured values only for its own network.
"""


class MeasuredPoint(Struct, frozen=True):
    """Value that a paper measured on its local network. The computed curve should pass through this point."""

    source: str
    workload: str
    safety: SafetyMode
    column: str  # one of `steady.COLUMNS`
    value: float


_MEASURED_ROWS: Final = (
    # source, workload, safety, transactions/s, response s, principal CPU %, mirror CPU %
    ("Table 2a", WORKLOAD1, SafetyMode.NONE, 241.0, 0.13, 4.0, None),
    ("Tables 2a, 2b", WORKLOAD1, SafetyMode.OFF, 241.0, 0.13, 6.0, 3.9),
    ("Tables 2a, 2b", WORKLOAD1, SafetyMode.FULL, 238.0, 0.19, 6.4, 4.0),
    ("Table 3a", WORKLOAD2, SafetyMode.NONE, 215.0, 6.4, 39.6, None),
    ("Tables 3a, 3b", WORKLOAD2, SafetyMode.OFF, 211.0, 6.7, 47.4, 13.6),
    ("Tables 3a, 3b", WORKLOAD2, SafetyMode.FULL, 158.0, 8.8, 37.7, 10.841),
)
_TABLE_COLUMNS: Final = ("transactions_per_s", "response_s", "principal_cpu_percent", "mirror_cpu_percent")

MEASURED_POINTS: Final = tuple(
    MeasuredPoint(source, workload.name, safety, column, value)
    for source, workload, safety, *values in _MEASURED_ROWS
    for column, value in zip(_TABLE_COLUMNS, values, strict=True)
    if value is not None
)
"""Values measured on a local network of 1 Gbps, without packet loss and compression [WP tables 2 and 3]."""


def find_measured_points(workload: Workload, safety: SafetyMode, column: str) -> list[MeasuredPoint]:
    """Return the measured values of *column* for a workload and safety level."""
    return [
        point
        for point in MEASURED_POINTS
        if point.workload == workload.name and point.safety is safety and point.column == column
    ]


def find_paper_statements(workload: Workload, safety: SafetyMode, axis: str) -> list[PaperStatement]:
    """Return the papers' statements about a workload and safety level on the axis *axis*."""
    return [
        statement
        for statement in PAPER_STATEMENTS
        if statement.workload == workload.name and statement.safety is safety and statement.axis == axis
    ]
