"""Tables 1 to 3 and 7 and figures 1 to 15 of the 2005 white paper, compared with our model."""

from itertools import pairwise
from typing import Final

from engine.constants import TICKS_PER_S
from engine.flow import Flow, FlowStopCondition, SafetyMode, Workload, add_mirroring_setup, run_flow
from engine.flow.setup import GB_KB, build_bulk_load, build_index_operation
from engine.flow.sites import WORKLOAD1, WORKLOAD2
from engine.planning import NETWORK_RTT_RANGES_MS
from engine.published.figure_rows import FigureRow, build_published_number_row, build_statement_row
from engine.published.measurements import (
    MeanValues,
    build_unlimited_setup,
    measure_means,
    measure_queue_growth,
    measure_setup,
    run_operation,
    run_seconds,
    run_to_steady_state,
)

# --- tables 1 to 3 of the 2005 white paper ----------------------------------------------------------------
# The tables compare two workloads without mirroring, with safety OFF and with FULL.

WP: Final = "Database Mirroring Best Practices and Performance Considerations (2006)"

MODES: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)

MEASURES: Final = ("cpu", "writes", "log", "tps", "response")


def build_load_rows() -> list[FigureRow]:
    """Return the rows of tables 1 to 3."""
    return [*_build_table_1_rows(), *_build_table_2_and_3_rows(), *_build_text_rows()]


def _get_measured_value(means: MeanValues, measure: str, mirror: bool, workload: Workload) -> float:
    values = {
        "cpu": means.mirror_cpu_percent if mirror else means.cpu_percent,
        "writes": means.mirror_writes_kb_per_s if mirror else means.writes_kb_per_s,
        "log": means.sent_kb_per_s if mirror else means.log_kb_per_s,
        "tps": means.transactions_per_s,
        "response": means.response_s * workload.transactions_per_business_transaction,
    }
    return values[measure]


def _build_table_1_rows() -> list[FigureRow]:
    rows_found = []
    for workload in (WORKLOAD1, WORKLOAD2):
        means, name = measure_setup(build_unlimited_setup(workload, SafetyMode.NONE)), f"T1.{workload.name}"
        rows_found += [
            build_published_number_row(f"{name}.connections", workload.connections),
            build_published_number_row(f"{name}.think", workload.think_s),
        ]
        rows_found += [
            build_published_number_row(f"{name}.{key}", _get_measured_value(means, key, False, workload))
            for key in MEASURES[:4]
        ]
    return rows_found


def _build_table_2_and_3_rows() -> list[FigureRow]:
    return [
        build_published_number_row(
            f"T{table}.{key}.{mode.name}",
            _get_measured_value(measure_setup(build_unlimited_setup(workload, mode)), key, mirror, workload),
        )
        for mirror, tables in ((False, ("2a", "3a")), (True, ("2b", "3b")))
        for table, workload in zip(tables, (WORKLOAD1, WORKLOAD2), strict=True)
        for key in (MEASURES[:3] if mirror else MEASURES)
        for mode in (MODES[1:] if mirror else MODES)
    ]


def _build_text_rows() -> list[FigureRow]:
    """Return the rows for statements in the text about tables 1 to 3."""
    w1 = {mode: measure_setup(build_unlimited_setup(WORKLOAD1, mode)) for mode in MODES}
    w2 = {mode: measure_setup(build_unlimited_setup(WORKLOAD2, mode)) for mode in MODES}
    loss = {
        mode: 100 * (1 - w2[mode].transactions_per_s / w2[SafetyMode.NONE].transactions_per_s) for mode in w2
    }
    slower = {mode: w2[mode].response_s - w2[SafetyMode.NONE].response_s for mode in w2}
    factor = WORKLOAD2.transactions_per_business_transaction
    w1_loss = 100 * (1 - w1[SafetyMode.FULL].transactions_per_s / w1[SafetyMode.NONE].transactions_per_s)
    return [
        build_statement_row(
            "text.OFF.W1",
            abs(w1[SafetyMode.OFF].transactions_per_s / w1[SafetyMode.NONE].transactions_per_s - 1) < 0.005
            and abs(w1[SafetyMode.OFF].response_s - w1[SafetyMode.NONE].response_s) < 0.005,
            f"{w1[SafetyMode.OFF].transactions_per_s:.1f} against {w1[SafetyMode.NONE].transactions_per_s:.1f} per s, "
            f"{w1[SafetyMode.OFF].response_s:.4f} against {w1[SafetyMode.NONE].response_s:.4f} s",
        ),
        build_statement_row("text.FULL.W1", 0 < w1_loss < 3, f"{w1_loss:.1f}% fewer transactions"),
        build_statement_row(
            "text.OFF.W2", abs(loss[SafetyMode.OFF] - 2.0) <= 0.5, f"{loss[SafetyMode.OFF]:.1f}%"
        ),
        build_published_number_row("text.FULL.W2.loss", loss[SafetyMode.FULL]),
        build_published_number_row("text.FULL.W2.response", slower[SafetyMode.FULL] * factor),
        build_statement_row(
            "text.mirror.writes",
            w1[SafetyMode.FULL].mirror_writes_kb_per_s > 3 * w1[SafetyMode.FULL].writes_kb_per_s
            and w2[SafetyMode.FULL].mirror_writes_kb_per_s > 3 * w2[SafetyMode.FULL].writes_kb_per_s,
            f"{w1[SafetyMode.FULL].mirror_writes_kb_per_s:.0f} against {w1[SafetyMode.FULL].writes_kb_per_s:.0f} KB/s",
        ),
        build_statement_row(
            "text.connections",
            w1_loss < loss[SafetyMode.FULL],
            f"{w1_loss:.1f}% with 1,000 connections, {loss[SafetyMode.FULL]:.1f}% with 20",
        ),
    ]


# --- figures 6 to 15 and table 7 of the 2005 white paper: encryption, round trips, bandwidth --------------
# The figures are pictures without values, so the rows compare statements of the text.

TABLE_7_RTTS_MS: Final = (0.2, 2.0, 10.0, 20.0, 50.0, 100.0, 150.0, 200.0)
"""Round trips of table 7, from a local to a wide area network."""

MBPS: Final = (1000.0, 100.0, 10.0, 5.0, 1.0)
SLOW_LINK_MBPS: Final = (1000.0, 100.0, 10.0, 1.0, 0.056)

STABLE_GROWTH_MAX_KB_PER_S: Final = 1.0
"""Maximum growth of a queue that counts as stable."""


def build_network_rows() -> list[FigureRow]:
    """Return the rows of figures 6 to 15 and table 7."""
    return [
        *_build_encryption_rows(),
        *_build_network_type_rows(),
        *_build_full_by_rtt_rows(),
        *_build_off_by_rtt_rows(),
        *_build_bandwidth_rows(),
    ]


def _measure_at_rtt(workload: Workload, mode: SafetyMode, rtt_ms: float) -> MeanValues:
    return measure_setup(build_unlimited_setup(workload, mode, rtt_ms=rtt_ms), 60.0)


def _measure_at_mbps(workload: Workload, mode: SafetyMode, mbps: float) -> MeanValues:
    return measure_setup(build_unlimited_setup(workload, mode, bandwidth_mbps=mbps), 60.0)


def _format_values(values: list[float], decimals: int = 0) -> str:
    return " / ".join(f"{value:.{decimals}f}" for value in values)


def _build_encryption_rows() -> list[FigureRow]:
    rows_found = []
    for mode in (SafetyMode.OFF, SafetyMode.FULL):
        unencrypted, secret = (
            measure_setup(build_unlimited_setup(WORKLOAD1, mode, encryption=is_encrypted))
            for is_encrypted in (False, True)
        )
        loss = 100 * (1 - secret.transactions_per_s / unencrypted.transactions_per_s)
        longer_ms = 1000 * (secret.response_s - unencrypted.response_s)
        rows_found += [
            build_statement_row(f"F6.{mode.name}", -0.1 < loss < 1.0, f"{loss:.3f}% fewer transactions"),
            build_statement_row(f"F7.{mode.name}", -0.001 < longer_ms < 2.0, f"{longer_ms:.3f} ms longer"),
        ]
    return rows_found


def _build_network_type_rows() -> list[FigureRow]:
    return [
        build_published_number_row(f"T7.{name}", longest_ms) for name, _, longest_ms in NETWORK_RTT_RANGES_MS
    ]


def _build_full_by_rtt_rows() -> list[FigureRow]:
    w1 = {rtt: _measure_at_rtt(WORKLOAD1, SafetyMode.FULL, rtt) for rtt in TABLE_7_RTTS_MS}
    w2 = {rtt: _measure_at_rtt(WORKLOAD2, SafetyMode.FULL, rtt) for rtt in TABLE_7_RTTS_MS}
    tps = [m.transactions_per_s for m in w2.values()]
    cpu = [m.cpu_percent for m in w2.values()]
    loss_20 = 100 * (1 - w1[20.0].transactions_per_s / w1[0.2].transactions_per_s)
    longer_20_ms = 1000 * (w1[20.0].response_s - w1[0.2].response_s)
    far_rates = [w1[rtt] for rtt in (50.0, 100.0, 200.0)]
    return [
        build_statement_row(
            "F8.below20",
            loss_20 < 2.0 and longer_20_ms < 30.0,
            f"at 20 ms {loss_20:.1f}% fewer transactions, {longer_20_ms:.0f} ms longer",
        ),
        build_statement_row(
            "F8.above20",
            far_rates[2].transactions_per_s < 0.95 * w1[20.0].transactions_per_s
            and w1[20.0].response_s
            < far_rates[0].response_s
            < far_rates[1].response_s
            < far_rates[2].response_s,
            f"50/100/200 ms: {_format_values([m.transactions_per_s for m in far_rates])} per s, "
            f"{_format_values([m.response_s for m in far_rates], 2)} s",
        ),
        build_statement_row(
            "F9.tps",
            all(second_value < first_value for first_value, second_value in pairwise(tps)),
            f"{_format_values(tps)} per s at {_format_values(list(TABLE_7_RTTS_MS), 1)} ms",
        ),
        build_statement_row(
            "F9.cpu",
            all(second_value < first_value for first_value, second_value in pairwise(cpu)),
            f"{_format_values(cpu, 1)}%",
        ),
    ]


def _build_off_by_rtt_rows() -> list[FigureRow]:
    w1 = {rtt: _measure_at_rtt(WORKLOAD1, SafetyMode.OFF, rtt) for rtt in TABLE_7_RTTS_MS}
    w2 = {rtt: _measure_at_rtt(WORKLOAD2, SafetyMode.OFF, rtt) for rtt in TABLE_7_RTTS_MS}
    base, far_rates = w1[0.2], [w1[150.0], w1[200.0]]
    near_tps = [w1[rtt].transactions_per_s for rtt in TABLE_7_RTTS_MS if rtt <= 100.0]
    responses = [m.response_s for m in w1.values()]
    loss = 100 * (1 - min(m.transactions_per_s for m in far_rates) / base.transactions_per_s)
    growth = {
        rtt: measure_queue_growth(build_unlimited_setup(WORKLOAD1, SafetyMode.OFF, rtt_ms=rtt))[1]
        for rtt in TABLE_7_RTTS_MS
    }
    growth2 = {
        rtt: measure_queue_growth(build_unlimited_setup(WORKLOAD2, SafetyMode.OFF, rtt_ms=rtt))[1]
        for rtt in (0.2, 2.0)
    }
    w2_tps = [m.transactions_per_s for m in w2.values()]
    return [
        build_statement_row(
            "F10.same",
            max(near_tps) - min(near_tps) < 0.005 * max(near_tps),
            f"{_format_values(near_tps, 1)} per s",
        ),
        build_statement_row("F10.marginal", 0.0 <= round(loss, 2) < 2.0, f"{loss:.2f}% fewer transactions"),
        build_statement_row(
            "F10.response", max(responses) - min(responses) < 0.005, f"{_format_values(responses, 3)} s"
        ),
        build_statement_row(
            "F11.low",
            max(growth[rtt] for rtt in TABLE_7_RTTS_MS if rtt <= 50.0) < STABLE_GROWTH_MAX_KB_PER_S,
            f"grows {growth[50.0]:.1f} KB/s at 50 ms",
        ),
        build_statement_row(
            "F11.builds",
            STABLE_GROWTH_MAX_KB_PER_S < growth[100.0] < growth[150.0] < growth[200.0],
            f"grows {_format_values([growth[r] for r in (100.0, 150.0, 200.0)])} KB/s at 100/150/200 ms",
        ),
        build_statement_row(
            "F12.tps", max(w2_tps) - min(w2_tps) < 0.01 * max(w2_tps), f"{_format_values(w2_tps, 1)} per s"
        ),
        build_statement_row(
            "F12.queue",
            growth2[0.2] < STABLE_GROWTH_MAX_KB_PER_S < growth2[2.0],
            f"grows {growth2[0.2]:.0f} KB/s on the LAN, {growth2[2.0]:.0f} at 2 ms",
        ),
    ]


def _build_bandwidth_rows() -> list[FigureRow]:
    full_rates = {mbps: _measure_at_mbps(WORKLOAD1, SafetyMode.FULL, mbps) for mbps in MBPS}
    off_rates = {mbps: _measure_at_mbps(WORKLOAD1, SafetyMode.OFF, mbps) for mbps in SLOW_LINK_MBPS}
    wide_link_tps = [full_rates[mbps] for mbps in (1000.0, 100.0, 10.0)]
    off_tps = [m.transactions_per_s for m in off_rates.values()]
    rise_ms = 1000 * (off_rates[0.056].response_s - off_rates[1000.0].response_s)
    queue_kb, growth = measure_queue_growth(
        build_unlimited_setup(WORKLOAD1, SafetyMode.OFF, bandwidth_mbps=1.0), 3600.0
    )
    first_kb, first = measure_queue_growth(
        build_unlimited_setup(WORKLOAD1, SafetyMode.OFF, bandwidth_mbps=1.0), 600.0
    )
    log = measure_setup(build_unlimited_setup(WORKLOAD1, SafetyMode.NONE)).log_kb_per_s
    return [
        build_statement_row(
            "F13.good",
            min(m.transactions_per_s for m in wide_link_tps) > 0.98 * wide_link_tps[0].transactions_per_s
            and max(m.response_s for m in wide_link_tps) < 1.1 * wide_link_tps[0].response_s,
            f"1000/100/10 Mbps: {_format_values([m.transactions_per_s for m in wide_link_tps], 1)} per s, "
            f"{_format_values([m.response_s for m in wide_link_tps], 3)} s",
        ),
        build_statement_row(
            "F13.bad",
            full_rates[1.0].transactions_per_s < 0.3 * wide_link_tps[0].transactions_per_s
            and full_rates[5.0].transactions_per_s < 0.9 * wide_link_tps[0].transactions_per_s,
            f"5/1 Mbps: {full_rates[5.0].transactions_per_s:.0f} / {full_rates[1.0].transactions_per_s:.0f} per s, "
            f"{full_rates[5.0].response_s:.1f} / {full_rates[1.0].response_s:.1f} s",
        ),
        build_statement_row(
            "F14.tps",
            max(off_tps) - min(off_tps) < 0.005 * max(off_tps),
            f"{_format_values(off_tps, 1)} per s",
        ),
        build_statement_row(
            "F14.response", -0.1 < rise_ms < 10.0, f"{rise_ms:.2f} ms longer at 56 kbps than at 1 Gbps"
        ),
        build_statement_row(
            "F15.queue",
            queue_kb > 5 * first_kb and abs(growth / first - 1) < 0.05,
            f"{growth:.0f} KB/s, {queue_kb / 1024**2:.1f} GB after an hour",
        ),
        build_published_number_row("text.mbps", log * 8 / 1024),
    ]


# --- figures 1 to 4 of the 2005 white paper, and bulk loads while the session is suspended -----------------
# The figures show long operations and a full log disk.

OPERATION_MODES: Final = (SafetyMode.NONE, SafetyMode.OFF, SafetyMode.FULL)
BATCHES: Final = (100.0, 1000.0, 1e6)
BULK_LOAD_ROWS: Final = 93e6
LOG_DISK_KB: Final = 40 * GB_KB


def build_operation_rows() -> list[FigureRow]:
    """Return the rows of figures 1 to 4, and the rows about a suspended session."""
    return [*_build_index_rows(), *_build_rebuild_rows(), *_build_bulk_load_rows(), *_build_suspended_rows()]


def _measure_times(clustered: bool, online: bool) -> dict[SafetyMode, float]:
    """Return safety mode -> seconds that the index operation takes."""
    operation = build_index_operation(1.0, clustered, online)
    return {mode: run_operation(operation, mode, WORKLOAD1).duration_s for mode in OPERATION_MODES}


def _format_times(times: dict[SafetyMode, float]) -> str:
    return " / ".join(f"{times[mode]:.0f}" for mode in OPERATION_MODES) + " s with none / OFF / FULL"


def _build_index_rows() -> list[FigureRow]:
    rows_found = []
    for id, online in (("F1", False), ("F2", False), ("F2.online", True)):
        clustered, nonclustered = _measure_times(True, online), _measure_times(False, online)
        penalty = {
            "clustered": clustered[SafetyMode.FULL] / clustered[SafetyMode.OFF],
            "nonclustered": nonclustered[SafetyMode.FULL] / nonclustered[SafetyMode.OFF],
        }
        rows_found += [
            build_statement_row(f"{id}.slower", penalty["clustered"] > 1.05, _format_times(clustered)),
            build_statement_row(
                f"{id}.clustered",
                penalty["clustered"] > penalty["nonclustered"] >= 1.0,
                f"x{penalty['clustered']:.2f} against x{penalty['nonclustered']:.2f}; "
                f"nonclustered {_format_times(nonclustered)}",
            ),
        ]
    return rows_found


def _build_rebuild_rows() -> list[FigureRow]:
    online = run_operation(build_index_operation(1.0, True, online=True), SafetyMode.OFF, WORKLOAD1)
    return [
        build_statement_row(
            "F3.builds",
            online.send_queue_kb > GB_KB and online.redo_queue_kb > GB_KB,
            f"{online.send_queue_kb / GB_KB:.1f} and {online.redo_queue_kb / GB_KB:.1f} GB "
            f"after {online.duration_s:.0f} s",
        ),
        build_published_number_row("F3.drain", online.send_drain_s),
        build_statement_row(
            "F3.redo", online.redo_drain_s > 1.5 * online.send_drain_s, f"{online.redo_drain_s:.0f} s"
        ),
    ]


def _build_bulk_load_rows() -> list[FigureRow]:
    hours = {
        (batch, mode): run_operation(build_bulk_load(BULK_LOAD_ROWS, batch), mode, WORKLOAD1).duration_s
        / 3600.0
        for batch in BATCHES
        for mode in OPERATION_MODES
    }
    rows_found = []
    for mode in OPERATION_MODES:
        times = [hours[batch, mode] for batch in BATCHES]
        rows_found.append(
            build_statement_row(
                f"F4.batch.{mode.name}",
                times[0] > times[1] > times[2],
                " / ".join(f"{time:.2f}" for time in times) + " h for 100 / 1,000 / 1,000,000",
            )
        )
    penalty = [hours[batch, SafetyMode.FULL] / hours[batch, SafetyMode.NONE] for batch in BATCHES]
    rows_found.append(
        build_statement_row(
            "F4.full",
            penalty[0] > penalty[1] > penalty[2] >= 1.0,
            " / ".join(f"x{factor:.2f}" for factor in penalty),
        )
    )
    return rows_found


def _build_suspended_rows() -> list[FigureRow]:
    suspended = build_unlimited_setup(WORKLOAD1, SafetyMode.FULL, sending=False)
    flow = run_to_steady_state(suspended)
    before_kb = flow.read_stream(0).send_queue_kb
    suspended_means = measure_means(flow, 60.0)
    queue = flow.read_stream(0).send_queue_kb - before_kb
    unmirrored = measure_setup(build_unlimited_setup(WORKLOAD1, SafetyMode.NONE))
    hours, halted = _measure_log_disk_filling()
    return [
        build_statement_row(
            "suspend.rate",
            abs(suspended_means.transactions_per_s / unmirrored.transactions_per_s - 1) < 0.005
            and queue > 40_000,
            f"{suspended_means.transactions_per_s:.0f} transactions/s, {queue:.0f} KB unsent after a minute",
        ),
        build_published_number_row("suspend.40GB", hours),
        build_statement_row(
            "suspend.halt", halted, "no transaction commits" if halted else "transactions continue"
        ),
    ]


def _measure_log_disk_filling() -> tuple[float, bool]:
    """Return the hours until a 40 GB log disk is full, and whether commits then stop."""
    flow = Flow.create_empty()
    load = build_bulk_load(1e9)
    setup = build_unlimited_setup(
        WORKLOAD1, SafetyMode.FULL, sending=False, operation=load, log_max_kb=LOG_DISK_KB
    )
    add_mirroring_setup(flow, setup.with_changes(scale=0.0))
    flow.watch_source(0, FlowStopCondition.LOG_FULL)
    ticks, _, _ = run_flow(flow, 24 * 3600 * TICKS_PER_S)
    flow.watch_source(0, FlowStopCondition(0))
    flow.update_setups({0: setup.source})
    run_seconds(flow, 5.0)
    before = flow.read_source_totals(0).transactions
    run_seconds(flow, 60.0)
    return ticks / TICKS_PER_S / 3600.0, flow.read_source_totals(0).transactions - before < 1.0
