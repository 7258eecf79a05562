"""Durations of the phases of a failover, by cause: tables 5 and 6 of the 2005 white paper [WP].

The time to detect the failure is reported separately, as in [WP]. The redo queue is not included, because the
flow model processes it step by step. Each constant states whether it is fitted, derived or assumed.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from engine.arithmetic import add_in_order, exp, log
from engine.constants import HARD_ERROR_DETECTION_RANGE_S, PARTNER_TIMEOUT_S, PING_INTERVAL_S
from engine.flow import kernel as k
from engine.flow.flow import Flow
from engine.flow.setup import ServerHardware, Workload, get_redo_threads
from engine.random_streams import RandomStream


class FailoverCause(StrEnum):
    """Cause of a failover, which selects the durations of its phases."""

    MANUAL = "manual"  # SET PARTNER FAILOVER
    NOWAIT = "nowait"  # SHUTDOWN WITH NOWAIT
    STOP_SERVICE = "stop_service"
    SHUTDOWN_SERVER = "shutdown_server"
    POWER_OFF = "power_off"
    CABLE = "cable"
    TIMEOUT = "timeout"  # soft failure: no response and no error
    FORCED = "forced"  # FORCE_SERVICE_ALLOW_DATA_LOSS


class PhaseParameters(Struct, frozen=True):
    """Parameters of the phases of a failover for one cause.

    Fixed durations are calibrated on Table 6 without load.
    """

    close_fixed_s: float = 0.0  # time that an idle principal needs to close
    ends_connections: bool = False
    writes_pages: bool = False  # a clean close writes a checkpoint first
    analysis_fixed_s: float = 0.0
    analysis_passes: float = 0.0  # number of passes over the log since the last checkpoint
    asks_witness: bool = True
    seen_by_silence: bool = False  # the witness notices the failure only by a missing ping


PHASE_PARAMETERS: Final = {
    FailoverCause.MANUAL: PhaseParameters(
        3.0, True, True, analysis_fixed_s=15.67, analysis_passes=2.0, asks_witness=False
    ),
    FailoverCause.NOWAIT: PhaseParameters(3.77, ends_connections=True),
    FailoverCause.STOP_SERVICE: PhaseParameters(1.27, ends_connections=True, writes_pages=True),
    FailoverCause.SHUTDOWN_SERVER: PhaseParameters(8.27, ends_connections=True, writes_pages=True),
    FailoverCause.POWER_OFF: PhaseParameters(seen_by_silence=True),
    FailoverCause.CABLE: PhaseParameters(seen_by_silence=True),
    FailoverCause.TIMEOUT: PhaseParameters(seen_by_silence=True),
    FailoverCause.FORCED: PhaseParameters(analysis_passes=1.0, asks_witness=False),
}
"""Parameters by cause. Fixed durations: idle rows of Table 6, minus the decision and the role change.

Assumed: the 18.67 s of a manual failover are 3 s of closing and 15.67 s of analysis. A manual failover logs
analysis and redo [WP], hence two passes.
"""

CONNECTION_END_S: Final = 0.0028
"""Time to end one connection. Fitted: SHUTDOWN WITH NOWAIT takes 2.8 s longer with 1,000 connections [WP table 6]."""

WITNESS_AGREEMENT_S: Final = 0.1
"""Time that mirror and witness need to agree after both have lost the principal. Assumed."""

RESPONSE_CHECK_INTERVAL_S: Final = 0.5
"""Interval at which a server checks whether its partners still respond. Assumed."""

PING_GRACE_S: Final = 0.31
"""Delay after which a ping counts as missed. Fitted: power off and unplugged cable under load; "around 1
second" [WP].
"""

ROLE_CHANGE_S: Final = 1.87
"""Time to bring the mirror online with nothing to redo or flush. Fitted: idle rows of power off and cable [WP
table 6].
"""

DIRTY_PAGES_FACTOR_MAX: Final = 2.0
"""Maximum number of dirty pages, relative to the mean number.

Derived: the mirror writes pages in sweeps, so 0 to 2 times the mean is dirty at a random time.
"""

UNDO_TIME_FACTOR: Final = 1.5
"""Time to undo log relative to the time to redo it. Assumed."""

FIXED_PHASE_RELATIVE_SD: Final = 0.05
PAGE_FLUSH_RELATIVE_SD: Final = 0.08
AGREEMENT_RELATIVE_SD: Final = 0.25
ROLE_CHANGE_RELATIVE_SD: Final = 0.10
"""Relative standard deviation of ROLE_CHANGE_S in repeated runs. Assumed.

FIXED_PHASE_RELATIVE_SD and similar constants apply to the other phases.
"""


class FailoverTimes(Struct, frozen=True):
    """Duration of each phase of one failover in seconds, in the order of the phases.

    During *close_s* the mirror has lost the session, but the witness still sees the principal's process. The
    decision must wait. *decision_s* begins after *close_s*, or at the mirror's detection if there is no such
    wait. It ends when mirror and witness agree, and includes the witness's own detection by ping. The flow
    model adds the redo.
    """

    detection_s: float  # time from the failure to its detection by the mirror; not part of `failover_s`
    close_s: float
    decision_s: float
    page_flush_s: float
    analysis_s: float
    role_change_s: float
    undo_s: float  # time of undo after the database is open; not part of `failover_s`

    @property
    def failover_s(self) -> float:
        """Return the time from the mirror's detection to its new role, without redo, in seconds."""
        return self.close_s + self.decision_s + self.page_flush_s + self.analysis_s + self.role_change_s


def draw_failover_times(
    flow: Flow,
    stream: int,
    cause: FailoverCause,
    random_stream: RandomStream,
    timeout_s: float = PARTNER_TIMEOUT_S,
) -> FailoverTimes:
    """Draw the phases of a failover that begins now, to the target of *stream*. The flow is not changed."""
    source, mechanism = flow.get_stream_source(stream), PHASE_PARAMETERS[cause]
    state, close_s = flow.sources[source], _draw_close_s(flow, source, mechanism, random_stream)
    decision_s = 0.0
    if mechanism.asks_witness:
        decision_s = WITNESS_AGREEMENT_S * random_stream.draw_lognormal(1.0, AGREEMENT_RELATIVE_SD)
        if mechanism.seen_by_silence:
            decision_s += _draw_witness_lag_s(
                float(flow.streams[stream, k.STREAM_SMOOTH + k.MESSAGES]), random_stream
            )
    redo_kb_per_s = _get_redo_kb_per_s(flow, stream)
    since_kb = float(state[k.GENERATED] - state[k.CHECKPOINT_LOG])
    return FailoverTimes(
        detection_s=_draw_detection_s(cause, timeout_s, random_stream),
        close_s=close_s,
        decision_s=decision_s,
        page_flush_s=_draw_page_flush_s(flow, stream, close_s + decision_s, random_stream),
        analysis_s=mechanism.analysis_fixed_s * random_stream.draw_lognormal(1.0, FIXED_PHASE_RELATIVE_SD)
        + mechanism.analysis_passes * since_kb / redo_kb_per_s,
        role_change_s=random_stream.draw_lognormal(ROLE_CHANGE_S, ROLE_CHANGE_RELATIVE_SD),
        undo_s=compute_undo_s(flow, stream, compute_open_log_kb(flow, source)),
    )


def draw_closing_s(flow: Flow, stream: int, cause: FailoverCause, random_stream: RandomStream) -> float:
    """Draw only `close_s` of `draw_failover_times`. The random numbers of the other phases are skipped."""
    mechanism = PHASE_PARAMETERS[cause]
    close_s = _draw_close_s(flow, flow.get_stream_source(stream), mechanism, random_stream)
    random_stream.skip(
        2 * mechanism.asks_witness + 4 * (mechanism.asks_witness and mechanism.seen_by_silence)
    )
    random_stream.skip(cause not in (FailoverCause.MANUAL, FailoverCause.FORCED))
    # skip the random numbers of the page flush (1), the analysis (2) and the role change (2)
    random_stream.skip(1 + 2 + 2)
    return close_s


def _draw_close_s(flow: Flow, source: int, mechanism: PhaseParameters, random_stream: RandomStream) -> float:
    setup, state = flow.get_source_setup(source), flow.sources[source]
    close_s = mechanism.close_fixed_s * random_stream.draw_lognormal(1.0, FIXED_PHASE_RELATIVE_SD)
    if mechanism.ends_connections:
        close_s += setup.workload.connections * setup.scale * CONNECTION_END_S
    if mechanism.writes_pages:
        pages = float(state[k.DIRTY] + state[k.CHECKPOINT_BACKLOG]) * random_stream.draw_lognormal(
            1.0, PAGE_FLUSH_RELATIVE_SD
        )
        close_s += pages * max(1.0, setup.data_disk_factor) / setup.site.checkpoint_pages_per_s
    return close_s


def compute_undo_s(flow: Flow, stream: int, open_kb: float) -> float:
    """Return the time that the target of *stream* needs to roll back open transactions with *open_kb* of log."""
    return UNDO_TIME_FACTOR * open_kb / _get_redo_kb_per_s(flow, stream)


def _draw_detection_s(cause: FailoverCause, timeout_s: float, random_stream: RandomStream) -> float:
    """Draw the time until the mirror detects the failure.

    A hard error takes about a second. A soft failure takes the partner timeout plus at most one ping
    interval.
    """
    if cause in (FailoverCause.MANUAL, FailoverCause.FORCED):
        return 0.0
    if cause is FailoverCause.TIMEOUT:
        return timeout_s + random_stream.draw_uniform(0.0, PING_INTERVAL_S)
    return random_stream.draw_uniform(*HARD_ERROR_DETECTION_RANGE_S)


def _draw_witness_lag_s(messages_per_s: float, random_stream: RandomStream) -> float:
    """Draw the delay of the witness's detection relative to the mirror's detection.

    The principal pings both from one timer. Without load both miss the same ping and differ only in the time
    of their check. Under load the mirror misses the next log message first, while the witness receives only
    pings.
    """
    missed_ping_s = PING_GRACE_S + random_stream.draw_uniform(0.0, PING_INTERVAL_S)
    witness_looks_s = random_stream.draw_uniform(0.0, RESPONSE_CHECK_INTERVAL_S)
    mirror_looks_s = random_stream.draw_uniform(0.0, RESPONSE_CHECK_INTERVAL_S)
    next_message = -log(1.0 - random_stream.draw_uniform())
    mirror_s = missed_ping_s + mirror_looks_s
    if messages_per_s > 0.0:
        mirror_s = min(mirror_s, next_message / messages_per_s + mirror_looks_s)
    return max(0.0, missed_ping_s + witness_looks_s - mirror_s)


def _draw_page_flush_s(flow: Flow, stream: int, after_s: float, random_stream: RandomStream) -> float:
    """Draw the time in which a mirror writes all dirty pages before it goes online.

    Only pages that are still dirty *after_s* from now count. The phase of the mirror's sweep over its pages
    is random.
    """
    setup = flow.get_stream_setup(stream)
    phase = random_stream.draw_uniform(0.0, DIRTY_PAGES_FACTOR_MAX)
    if setup.log_pool:
        return 0.0  # a secondary replica is already online and flushes no pages before its failover
    slow = max(1.0, setup.target_data_disk_factor)
    dirty_pages = float(flow.streams[stream, k.TARGET_DIRTY]) * exp(
        -after_s / (setup.site.mirror_flush_s * slow)
    )
    return phase * dirty_pages * slow / setup.site.mirror_flush_pages_per_s


def _get_redo_kb_per_s(flow: Flow, stream: int) -> float:
    setup = flow.get_stream_setup(stream)
    load = flow.get_source_setup(flow.get_stream_source(stream)).workload
    return compute_redo_kb_per_s(setup.site, load, get_redo_threads(setup), setup.target_cpu_factor)


def compute_redo_kb_per_s(
    site: ServerHardware, load: Workload, threads: int, cpu_factor: float = 1.0
) -> float:
    """Return the rate at which a server redoes the log of a workload, in KB/s."""
    touch_s = site.redo_cpu_us_per_touch / 1e6 * max(1.0, cpu_factor)
    per_kb = touch_s * load.page_touches / load.log_kb_per_transaction
    return threads / max(per_kb, 1e-9)


def compute_open_log_kb(flow: Flow, source: int) -> float:
    """Return the amount of log of open transactions, in KB.

    It includes the uncommitted log of the long operation. On average, half of each transaction's log is
    written.
    """
    setup, state = flow.get_source_setup(source), flow.sources[source]
    inner_kb = add_in_order(float(state[column]) for column in (k.IN_OTHER, k.ON_CPU, k.BLOCKED, k.WAITING))
    log_kb = inner_kb * setup.workload.log_kb_per_transaction / 2.0
    operation = setup.operation
    if operation is not None and state[k.OPERATION_LEFT] > 0.0:
        done_kb = operation.log_kb - float(state[k.OPERATION_LEFT])
        log_kb += min(done_kb, operation.batch_kb) if operation.batch_kb > 0.0 else done_kb
    return log_kb
